//! Building row groups from batches and from Arrow; metadata and its damage; statistics.

mod storage_support;

use arrow_array::types::{Date32Type, Decimal128Type, Float64Type, Int32Type, Int64Type, TimestampMillisecondType};
use arrow_array::{
    ArrayRef, BinaryArray, BooleanArray, LargeStringArray, PrimitiveArray, RecordBatch, StringArray, StringViewArray,
};
use gingham_column_store::storage::{
    ChunkCache, ColumnScan, Encoding, ExtentReader, GROUP_ROWS_MAX, RowGroupBuilder, RowGroupMeta, ScanGroup,
    TableStatisticsBuilder,
};
use gingham_column_store::vector::{Batch, Data, TextVector, Vector};
use gingham_column_store::{Error, Result};
use gingham_types::{SqlType, Value};
use std::rc::Rc;
use std::sync::Arc;
use storage_support::*;

fn read(bytes: Vec<u8>, meta: RowGroupMeta, types: &[SqlType]) -> Result<Vec<Vec<Value>>> {
    let mut extents = Extents::default();
    extents.add(bytes);
    let request = gingham_column_store::storage::ScanRequest {
        types: types.to_vec(),
        columns: (0..types.len()).collect(),
        ..Default::default()
    };
    let group = ScanGroup { meta: Arc::new(meta), deleted: None };
    let cache = Arc::new(ChunkCache::new(0));
    let reader: Rc<dyn ExtentReader> = Rc::new(extents);
    let mut scan = ColumnScan::new(request, vec![group], reader, cache, Rc::new(naive_filter), Arc::default());
    drain(&mut scan, types)
}

fn finish(builder: &mut RowGroupBuilder) -> (Vec<u8>, RowGroupMeta) {
    let mut group = builder.finish().expect("some rows");
    let bytes = std::mem::take(&mut group.bytes);
    let extent = Extents::default().add(bytes.clone());
    (bytes, group.into_meta(extent, 1, b"tag".to_vec()))
}

#[test]
fn arrow_arrays_of_all_types_are_taken() {
    let types = [
        SqlType::Integer,
        SqlType::BigInt,
        SqlType::decimal(15, 2),
        SqlType::Date,
        SqlType::Timestamp,
        SqlType::Text,
        SqlType::Text,
        SqlType::Text,
        SqlType::Boolean,
        SqlType::Double,
        SqlType::Blob,
        SqlType::BigInt,
    ];
    let texts = [Some("a"), None, Some("a rather long text beyond twelve bytes")];
    let decimals = PrimitiveArray::<Decimal128Type>::from(vec![Some(1250), Some(-5), None]);
    let arrays: Vec<ArrayRef> = vec![
        Arc::new(PrimitiveArray::<Int32Type>::from(vec![Some(1), None, Some(-3)])),
        Arc::new(PrimitiveArray::<Int64Type>::from(vec![Some(1 << 40), None, Some(i64::MIN)])),
        Arc::new(decimals.with_precision_and_scale(15, 2).expect("valid")),
        Arc::new(PrimitiveArray::<Date32Type>::from(vec![Some(9000), None, Some(-1)])),
        Arc::new(PrimitiveArray::<TimestampMillisecondType>::from(vec![Some(5), None, Some(-5)])),
        Arc::new(StringArray::from(texts.to_vec())),
        Arc::new(LargeStringArray::from(texts.to_vec())),
        Arc::new(StringViewArray::from(texts.to_vec())),
        Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])),
        Arc::new(PrimitiveArray::<Float64Type>::from(vec![Some(0.5), None, Some(f64::INFINITY)])),
        Arc::new(BinaryArray::from(vec![Some(&b"\xff\x00"[..]), None, Some(b"")])),
        Arc::new(PrimitiveArray::<Int32Type>::from(vec![7, 8, 9])),
    ];
    let names: Vec<(String, ArrayRef)> = arrays.into_iter().enumerate().map(|(at, a)| (at.to_string(), a)).collect();
    let batch = RecordBatch::try_from_iter_with_nullable(names.into_iter().map(|(n, a)| (n, a, true))).expect("valid");
    let mut builder = RowGroupBuilder::new(&types);
    assert_eq!(builder.append_arrow(&batch, 1).expect("supported types"), 2);
    assert_eq!(builder.append_arrow(&batch, 0).expect("supported types"), 3);
    let (bytes, meta) = finish(&mut builder);
    let text = |v: &str| Value::Text(v.into());
    let long = "a rather long text beyond twelve bytes";
    let first = vec![
        Value::Int(1),
        Value::Int(1 << 40),
        Value::Decimal { unscaled: 1250, scale: 2 },
        Value::Date(9000),
        Value::Timestamp(5000),
        text("a"),
        text("a"),
        text("a"),
        Value::Boolean(true),
        Value::Double(0.5),
        Value::Blob(vec![255, 0]),
        Value::Int(7),
    ];
    let mut second = vec![Value::Null; 11];
    second.push(Value::Int(8));
    second[2] = Value::Decimal { unscaled: -5, scale: 2 };
    let third = vec![
        Value::Int(-3),
        Value::Int(i64::MIN),
        Value::Null,
        Value::Date(-1),
        Value::Timestamp(-5000),
        text(long),
        text(long),
        text(long),
        Value::Boolean(false),
        Value::Double(f64::INFINITY),
        Value::Blob(vec![]),
        Value::Int(9),
    ];
    let wanted = vec![second.clone(), third.clone(), first, second, third];
    assert_eq!(read(bytes, meta, &types).expect("undamaged"), wanted);
}

#[test]
fn arrays_of_other_types_and_values_out_of_range_are_refused() {
    let batch = |array: ArrayRef| RecordBatch::try_from_iter([("a", array)]).expect("valid");
    let refuse = |ty: SqlType, array: ArrayRef| RowGroupBuilder::new(&[ty]).append_arrow(&batch(array), 0).is_err();
    let longs = Arc::new(PrimitiveArray::<Int64Type>::from(vec![1 << 40]));
    assert!(refuse(SqlType::Integer, longs.clone()));
    assert!(refuse(SqlType::Text, longs.clone()));
    let decimals = PrimitiveArray::<Decimal128Type>::from(vec![123]).with_precision_and_scale(5, 3).expect("valid");
    assert!(refuse(SqlType::decimal(5, 2), Arc::new(decimals)));
    assert!(RowGroupBuilder::new(&[]).append_arrow(&batch(longs), 0).is_err());
}

#[test]
fn a_full_group_leaves_the_rest_to_the_next() {
    let rows = GROUP_ROWS_MAX + 1000;
    let keys = Vector::new(Data::Int64((0..rows as i64).collect()));
    let names: Vec<String> = (0..rows).map(|row| format!("name {}", row % 10)).collect();
    let names = TextVector::from_strings(names.iter().map(String::as_bytes)).expect("small");
    let batch = Batch::new(vec![Arc::new(keys), Arc::new(Vector::new(Data::Text(names)))], rows);
    let mut builder = RowGroupBuilder::new(&[SqlType::BigInt, SqlType::Text]);
    assert_eq!(builder.append(&batch, 0).expect("right types"), GROUP_ROWS_MAX);
    assert!(builder.is_full());
    assert_eq!(builder.append(&batch, GROUP_ROWS_MAX).expect("right types"), 0);
    let (_, meta) = finish(&mut builder);
    assert_eq!(meta.columns[0].encoding, Encoding::Delta);
    assert_eq!((meta.columns[1].encoding, meta.columns[1].distinct_estimate), (Encoding::Dictionary, 10));
    assert!(builder.is_empty() && builder.finish().is_err());
    assert_eq!(builder.append(&batch, GROUP_ROWS_MAX).expect("right types"), 1000);
    assert_eq!(finish(&mut builder).1.rows, 1000);
}

fn mixed_group(seed: u64) -> (Vec<u8>, RowGroupMeta, Vec<SqlType>) {
    let mut random = Random(seed);
    let types = vec![SqlType::BigInt, SqlType::Text, SqlType::Double, SqlType::decimal(38, 2), SqlType::Boolean];
    let mut builder = RowGroupBuilder::new(&types);
    for row in 0..500i64 {
        let text = ["x", "yy", "zzz"][random.below(3) as usize].repeat(1 + (row % 40) as usize);
        let values = [
            Value::Int(row * 3),
            Value::Text(text),
            Value::Double(row as f64 / 10.0),
            Value::Decimal { unscaled: i128::MAX / (i128::from(row) + 1), scale: 2 },
            if random.below(5) == 0 { Value::Null } else { Value::Boolean(row % 2 == 0) },
        ];
        builder.append_row(&values).expect("right types");
    }
    let (bytes, meta) = finish(&mut builder);
    (bytes, meta, types)
}

#[test]
fn metadata_round_trips_and_its_damage_is_found() {
    let (_, meta, _) = mixed_group(1);
    let record = meta.encode();
    assert_eq!(RowGroupMeta::decode(&record).expect("just encoded"), meta);
    for at in 0..record.len() {
        for bit in [0, 3, 7] {
            let mut damaged = record.clone();
            damaged[at] ^= 1 << bit;
            assert!(matches!(RowGroupMeta::decode(&damaged), Err(Error::Corrupt(_))), "byte {at}, bit {bit}");
        }
        assert!(RowGroupMeta::decode(&record[..at]).is_err());
    }
}

#[test]
fn damage_in_a_chunk_is_found_and_elsewhere_harmless() {
    let (bytes, meta, types) = mixed_group(2);
    let wanted = format!("{:?}", read(bytes.clone(), meta.clone(), &types).expect("undamaged"));
    let mut random = Random(7);
    for _ in 0..300 {
        let mut damaged = bytes.clone();
        let at = random.below(bytes.len() as u64);
        damaged[at as usize] ^= 1 << random.below(8);
        let in_chunk = meta.columns.iter().any(|c| (c.offset..c.offset + u64::from(c.bytes)).contains(&at));
        match read(damaged, meta.clone(), &types) {
            Err(Error::Corrupt(_)) => assert!(in_chunk),
            Ok(rows) => assert!(!in_chunk && format!("{rows:?}") == wanted),
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn statistics_of_groups_merge() {
    let rows: Vec<Vec<Value>> = (0..20_000i64)
        .map(|row| {
            let key = if row % 100 == 0 { Value::Null } else { Value::Int(row) };
            vec![key, Value::Text(["A", "N", "R"][(row % 3) as usize].into()), Value::Date((row / 4000) as i32)]
        })
        .collect();
    let table = Table::new(&[SqlType::Integer, SqlType::Text, SqlType::Date], rows, 3000);
    let mut builder = TableStatisticsBuilder::new(4);
    table.groups.iter().for_each(|group| builder.add(&group.meta));
    assert_eq!((builder.rows(), builder.groups()), (20_000, 7));
    let columns = builder.finish();
    assert_eq!((&columns[0].min, &columns[0].max), (&Some(Value::Int(1)), &Some(Value::Int(19_999))));
    assert_eq!(columns[0].nulls, 200);
    assert!(columns[0].distinct.abs_diff(19_800) < 2500, "{}", columns[0].distinct);
    assert_eq!((columns[1].distinct, &columns[1].max), (3, &Some(Value::Text("R".into()))));
    assert_eq!((columns[2].distinct, &columns[2].max), (5, &Some(Value::Date(4))));
    assert!(columns[1].bytes_mean > 0.0 && columns[1].bytes_mean < 1.0);
    assert_eq!((columns[3].nulls, &columns[3].min), (20_000, &None));
}
