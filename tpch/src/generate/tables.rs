//! From the generator's rows to columns, one function a table.

use super::{ColumnData, TextColumn};
use crate::scale::ScaleFactor;
use crate::schema::Table;
use tpchgen::generators::{
    Customer, CustomerGenerator, LineItem, LineItemGenerator, Nation, NationGenerator, Order, OrderGenerator, Part,
    PartGenerator, PartSupp, PartSuppGenerator, Region, RegionGenerator, Supplier, SupplierGenerator,
};

/// A function that returns the next `rows_max` rows of `table` at each call, fewer where
/// the table ends, none after it.
pub(super) fn column_source(table: Table, scale: ScaleFactor, rows_max: usize) -> Box<dyn FnMut() -> Vec<ColumnData>> {
    let scale = scale.value();
    match table {
        Table::Region => {
            let mut rows = RegionGenerator::new(scale, 1, 1).iter();
            Box::new(move || region(rows.by_ref().take(rows_max)))
        }
        Table::Nation => {
            let mut rows = NationGenerator::new(scale, 1, 1).iter();
            Box::new(move || nation(rows.by_ref().take(rows_max)))
        }
        Table::Supplier => {
            let mut rows = SupplierGenerator::new(scale, 1, 1).iter();
            Box::new(move || supplier(rows.by_ref().take(rows_max)))
        }
        Table::Customer => {
            let mut rows = CustomerGenerator::new(scale, 1, 1).iter();
            Box::new(move || customer(rows.by_ref().take(rows_max)))
        }
        Table::Part => {
            let mut rows = PartGenerator::new(scale, 1, 1).iter();
            Box::new(move || part(rows.by_ref().take(rows_max)))
        }
        Table::PartSupp => {
            let mut rows = PartSuppGenerator::new(scale, 1, 1).iter();
            Box::new(move || part_supplier(rows.by_ref().take(rows_max)))
        }
        Table::Orders => {
            let mut rows = OrderGenerator::new(scale, 1, 1).iter();
            Box::new(move || orders(rows.by_ref().take(rows_max)))
        }
        Table::LineItem => {
            let mut rows = LineItemGenerator::new(scale, 1, 1).iter();
            Box::new(move || line_item(rows.by_ref().take(rows_max)))
        }
    }
}

/// A key as INTEGER holds it.
fn key(value: i64) -> i32 {
    i32::try_from(value).expect("keys fit INTEGER up to ScaleFactor::MAX")
}

fn region<'a>(rows: impl Iterator<Item = Region<'a>>) -> Vec<ColumnData> {
    let mut keys = Vec::new();
    let mut names = TextColumn::new();
    let mut comments = TextColumn::new();
    for row in rows {
        keys.push(key(row.r_regionkey));
        names.push(row.r_name);
        comments.push(row.r_comment);
    }
    vec![ColumnData::Int32(keys), ColumnData::Text(names), ColumnData::Text(comments)]
}

fn nation<'a>(rows: impl Iterator<Item = Nation<'a>>) -> Vec<ColumnData> {
    let mut keys = Vec::new();
    let mut names = TextColumn::new();
    let mut region_keys = Vec::new();
    let mut comments = TextColumn::new();
    for row in rows {
        keys.push(key(row.n_nationkey));
        names.push(row.n_name);
        region_keys.push(key(row.n_regionkey));
        comments.push(row.n_comment);
    }
    vec![ColumnData::Int32(keys), ColumnData::Text(names), ColumnData::Int32(region_keys), ColumnData::Text(comments)]
}

fn supplier(rows: impl Iterator<Item = Supplier>) -> Vec<ColumnData> {
    let mut keys = Vec::new();
    let mut names = TextColumn::new();
    let mut addresses = TextColumn::new();
    let mut nation_keys = Vec::new();
    let mut phones = TextColumn::new();
    let mut account_balances = Vec::new();
    let mut comments = TextColumn::new();
    for row in rows {
        keys.push(key(row.s_suppkey));
        names.push_display(row.s_name);
        addresses.push_display(row.s_address);
        nation_keys.push(key(row.s_nationkey));
        phones.push_display(row.s_phone);
        account_balances.push(row.s_acctbal.into_inner());
        comments.push(&row.s_comment);
    }
    vec![
        ColumnData::Int32(keys),
        ColumnData::Text(names),
        ColumnData::Text(addresses),
        ColumnData::Int32(nation_keys),
        ColumnData::Text(phones),
        ColumnData::Decimal(account_balances),
        ColumnData::Text(comments),
    ]
}

fn customer<'a>(rows: impl Iterator<Item = Customer<'a>>) -> Vec<ColumnData> {
    let mut keys = Vec::new();
    let mut names = TextColumn::new();
    let mut addresses = TextColumn::new();
    let mut nation_keys = Vec::new();
    let mut phones = TextColumn::new();
    let mut account_balances = Vec::new();
    let mut market_segments = TextColumn::new();
    let mut comments = TextColumn::new();
    for row in rows {
        keys.push(key(row.c_custkey));
        names.push_display(row.c_name);
        addresses.push_display(row.c_address);
        nation_keys.push(key(row.c_nationkey));
        phones.push_display(row.c_phone);
        account_balances.push(row.c_acctbal.into_inner());
        market_segments.push(row.c_mktsegment);
        comments.push(row.c_comment);
    }
    vec![
        ColumnData::Int32(keys),
        ColumnData::Text(names),
        ColumnData::Text(addresses),
        ColumnData::Int32(nation_keys),
        ColumnData::Text(phones),
        ColumnData::Decimal(account_balances),
        ColumnData::Text(market_segments),
        ColumnData::Text(comments),
    ]
}

fn part<'a>(rows: impl Iterator<Item = Part<'a>>) -> Vec<ColumnData> {
    let mut keys = Vec::new();
    let mut names = TextColumn::new();
    let mut manufacturers = TextColumn::new();
    let mut brands = TextColumn::new();
    let mut part_types = TextColumn::new();
    let mut sizes = Vec::new();
    let mut containers = TextColumn::new();
    let mut retail_prices = Vec::new();
    let mut comments = TextColumn::new();
    for row in rows {
        keys.push(key(row.p_partkey));
        names.push_display(row.p_name);
        manufacturers.push_display(row.p_mfgr);
        brands.push_display(row.p_brand);
        part_types.push(row.p_type);
        sizes.push(row.p_size);
        containers.push(row.p_container);
        retail_prices.push(row.p_retailprice.into_inner());
        comments.push(row.p_comment);
    }
    vec![
        ColumnData::Int32(keys),
        ColumnData::Text(names),
        ColumnData::Text(manufacturers),
        ColumnData::Text(brands),
        ColumnData::Text(part_types),
        ColumnData::Int32(sizes),
        ColumnData::Text(containers),
        ColumnData::Decimal(retail_prices),
        ColumnData::Text(comments),
    ]
}

fn part_supplier<'a>(rows: impl Iterator<Item = PartSupp<'a>>) -> Vec<ColumnData> {
    let mut part_keys = Vec::new();
    let mut supplier_keys = Vec::new();
    let mut available_quantities = Vec::new();
    let mut supply_costs = Vec::new();
    let mut comments = TextColumn::new();
    for row in rows {
        part_keys.push(key(row.ps_partkey));
        supplier_keys.push(key(row.ps_suppkey));
        available_quantities.push(row.ps_availqty);
        supply_costs.push(row.ps_supplycost.into_inner());
        comments.push(row.ps_comment);
    }
    vec![
        ColumnData::Int32(part_keys),
        ColumnData::Int32(supplier_keys),
        ColumnData::Int32(available_quantities),
        ColumnData::Decimal(supply_costs),
        ColumnData::Text(comments),
    ]
}

fn orders<'a>(rows: impl Iterator<Item = Order<'a>>) -> Vec<ColumnData> {
    let mut keys = Vec::new();
    let mut customer_keys = Vec::new();
    let mut statuses = TextColumn::new();
    let mut total_prices = Vec::new();
    let mut order_dates = Vec::new();
    let mut priorities = TextColumn::new();
    let mut clerks = TextColumn::new();
    let mut ship_priorities = Vec::new();
    let mut comments = TextColumn::new();
    for row in rows {
        keys.push(key(row.o_orderkey));
        customer_keys.push(key(row.o_custkey));
        statuses.push(row.o_orderstatus.as_str());
        total_prices.push(row.o_totalprice.into_inner());
        order_dates.push(row.o_orderdate.to_unix_epoch());
        priorities.push(row.o_orderpriority);
        clerks.push_display(row.o_clerk);
        ship_priorities.push(row.o_shippriority);
        comments.push(row.o_comment);
    }
    vec![
        ColumnData::Int32(keys),
        ColumnData::Int32(customer_keys),
        ColumnData::Text(statuses),
        ColumnData::Decimal(total_prices),
        ColumnData::Date(order_dates),
        ColumnData::Text(priorities),
        ColumnData::Text(clerks),
        ColumnData::Int32(ship_priorities),
        ColumnData::Text(comments),
    ]
}

fn line_item<'a>(rows: impl Iterator<Item = LineItem<'a>>) -> Vec<ColumnData> {
    let mut order_keys = Vec::new();
    let mut part_keys = Vec::new();
    let mut supplier_keys = Vec::new();
    let mut line_numbers = Vec::new();
    let mut quantities = Vec::new();
    let mut extended_prices = Vec::new();
    let mut discounts = Vec::new();
    let mut taxes = Vec::new();
    let mut return_flags = TextColumn::new();
    let mut line_statuses = TextColumn::new();
    let mut ship_dates = Vec::new();
    let mut commit_dates = Vec::new();
    let mut receipt_dates = Vec::new();
    let mut ship_instructions = TextColumn::new();
    let mut ship_modes = TextColumn::new();
    let mut comments = TextColumn::new();
    for row in rows {
        order_keys.push(key(row.l_orderkey));
        part_keys.push(key(row.l_partkey));
        supplier_keys.push(key(row.l_suppkey));
        line_numbers.push(row.l_linenumber);
        quantities.push(row.l_quantity * 100);
        extended_prices.push(row.l_extendedprice.into_inner());
        discounts.push(row.l_discount.into_inner());
        taxes.push(row.l_tax.into_inner());
        return_flags.push(row.l_returnflag);
        line_statuses.push(row.l_linestatus);
        ship_dates.push(row.l_shipdate.to_unix_epoch());
        commit_dates.push(row.l_commitdate.to_unix_epoch());
        receipt_dates.push(row.l_receiptdate.to_unix_epoch());
        ship_instructions.push(row.l_shipinstruct);
        ship_modes.push(row.l_shipmode);
        comments.push(row.l_comment);
    }
    vec![
        ColumnData::Int32(order_keys),
        ColumnData::Int32(part_keys),
        ColumnData::Int32(supplier_keys),
        ColumnData::Int32(line_numbers),
        ColumnData::Decimal(quantities),
        ColumnData::Decimal(extended_prices),
        ColumnData::Decimal(discounts),
        ColumnData::Decimal(taxes),
        ColumnData::Text(return_flags),
        ColumnData::Text(line_statuses),
        ColumnData::Date(ship_dates),
        ColumnData::Date(commit_dates),
        ColumnData::Date(receipt_dates),
        ColumnData::Text(ship_instructions),
        ColumnData::Text(ship_modes),
        ColumnData::Text(comments),
    ]
}
