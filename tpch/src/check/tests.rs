//! The checker accepts the answer itself, and nothing that differs from it.

use super::*;
use crate::{QueryNumber, ScaleFactor};
use gingham_types::SqlType;

fn answer(number: u8, scale: ScaleFactor) -> Answer {
    let query = QueryNumber::new(number).expect("in range");
    Answer::of(query, scale).expect("readable")
}

/// The answer as a result that a database might return.
fn result_of(answer: &Answer) -> ResultSet {
    let column = |column: &ResultColumn| {
        let sql_type = match column.kind {
            ResultKind::Text => SqlType::Text,
            ResultKind::Date => SqlType::Date,
            ResultKind::Integer => SqlType::BigInt,
            ResultKind::Exact => SqlType::decimal(38, 4),
            ResultKind::Approximate => SqlType::Double,
        };
        (column.name.to_owned(), sql_type)
    };
    let columns = Shape::of(answer.query).columns.iter().map(column).collect();
    ResultSet { columns, rows: answer.rows.clone() }
}

/// A value that differs as little as the checker must notice.
fn changed(value: &Value) -> Value {
    match value {
        Value::Int(v) => Value::Int(v + 1),
        // A double's last digits depend on the order of adding: a change in the sixth
        // digit after the point is beyond them.
        Value::Decimal { unscaled, scale } if *scale > 6 => {
            Value::Decimal { unscaled: unscaled + 10i128.pow(u32::from(*scale) - 6), scale: *scale }
        }
        Value::Decimal { unscaled, scale } => Value::Decimal { unscaled: unscaled + 2, scale: *scale },
        Value::Text(text) => Value::Text(format!("{text}.")),
        Value::Date(days) => Value::Date(days + 1),
        Value::Null => Value::Double(0.0),
        other => other.clone(),
    }
}

const SCALES: [ScaleFactor; 3] = [ScaleFactor::HUNDREDTH, ScaleFactor::TENTH, ScaleFactor::ONE];

#[test]
fn every_answer_is_accepted_as_its_own_result() {
    for scale in SCALES {
        for query in QueryNumber::all() {
            let answer = answer(query.number(), scale);
            assert_eq!(check(&answer, &result_of(&answer)), Ok(()), "{query} at {scale}");
        }
    }
}

#[test]
fn a_changed_value_is_found_in_every_column_of_every_query() {
    for scale in SCALES {
        for query in QueryNumber::all() {
            let answer = answer(query.number(), scale);
            let row = answer.rows.len() / 2;
            for (position, column) in Shape::of(query).columns.iter().enumerate() {
                let mut result = result_of(&answer);
                result.rows[row][position] = changed(&answer.rows[row][position]);
                match check(&answer, &result) {
                    Err(Difference::Value { row: found, column: name, .. }) => {
                        assert_eq!((found, name.as_str()), (row + 1, column.name), "{query} at {scale}");
                    }
                    other => panic!("{query} at {scale}, {}: {other:?}", column.name),
                }
            }
        }
    }
}

#[test]
fn a_missing_row_is_found_wherever_it_was() {
    let answer = answer(4, ScaleFactor::HUNDREDTH);
    for row in 0..answer.rows.len() {
        let mut result = result_of(&answer);
        result.rows.remove(row);
        match check(&answer, &result) {
            Err(Difference::RowCount { expected: 5, found: 4, first }) => match *first {
                Difference::Value { row: at, .. } | Difference::MissingRow { row: at, .. } => assert_eq!(at, row + 1),
                other => panic!("{other:?}"),
            },
            other => panic!("row {row}: {other:?}"),
        }
    }
}

#[test]
fn a_row_too_many_is_found() {
    let answer = answer(6, ScaleFactor::HUNDREDTH);
    let mut result = result_of(&answer);
    result.rows.push(answer.rows[0].clone());
    let difference = check(&answer, &result).expect_err("one row too many");
    assert_eq!(difference.to_string(), "expected 1 row, found 2; row 2 is one too many: 1193053.2253");
    result.rows.clear();
    let difference = check(&answer, &result).expect_err("no row");
    assert_eq!(difference.to_string(), "expected 1 row, found 0; row 1 is missing: 1193053.2253");
}

#[test]
fn swapped_rows_are_found_where_the_order_is_determined() {
    for query in QueryNumber::all() {
        let answer = answer(query.number(), ScaleFactor::HUNDREDTH);
        if answer.rows.len() < 2 {
            continue;
        }
        let mut result = result_of(&answer);
        result.rows.swap(0, 1);
        let difference = check(&answer, &result).expect_err("rows 1 and 2 are swapped");
        assert!(matches!(difference, Difference::Value { row: 1, .. }), "{query}: {difference}");
    }
}

#[test]
fn rows_with_equal_sort_keys_may_come_in_any_order_but_all_must_come() {
    let mut answer = answer(10, ScaleFactor::HUNDREDTH);
    // Q10 orders by revenue alone: three customers with the same revenue.
    for row in 6..8 {
        answer.rows[row][2] = answer.rows[5][2].clone();
    }
    let mut result = result_of(&answer);
    result.rows[5..8].rotate_left(1);
    assert_eq!(check(&answer, &result), Ok(()));
    result.rows[5] = result.rows[6].clone();
    assert!(matches!(check(&answer, &result), Err(Difference::Value { row: 7, .. })), "one row came twice");
    let mut result = result_of(&answer);
    result.rows.swap(7, 8);
    assert!(check(&answer, &result).is_err(), "a row left its run");
}

#[test]
fn wrong_columns_are_found() {
    let answer = answer(1, ScaleFactor::HUNDREDTH);
    let mut result = result_of(&answer);
    result.columns[2].1 = SqlType::Double;
    assert_eq!(
        check(&answer, &result).expect_err("a sum of decimals is exact").to_string(),
        "column sum_qty: expected an exact decimal, found type DOUBLE"
    );
    result.columns.pop();
    assert_eq!(check(&answer, &result), Err(Difference::ColumnCount { expected: 10, found: 9 }));
    let mut result = result_of(&answer);
    result.rows[3].pop();
    assert_eq!(check(&answer, &result), Err(Difference::ColumnCount { expected: 10, found: 9 }));
}

#[test]
fn a_difference_reads_well() {
    let answer = answer(20, ScaleFactor::HUNDREDTH);
    let mut result = result_of(&answer);
    result.rows[0][1] = Value::Text("HK71HQyWoqRWOX8GI ".into());
    assert_eq!(
        check(&answer, &result).expect_err("an address is cut").to_string(),
        "row 1, column s_address: expected \"HK71HQyWoqRWOX8GI FpgAifW,2PoH\", found \"HK71HQyWoqRWOX8GI \""
    );
}
