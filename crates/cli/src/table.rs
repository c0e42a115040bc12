//! The tables on the terminal, of the summary of a run.

use comfy_table::{Cell, CellAlignment, Table};
use serde_json::Value;
use tidemark_record::fields::{Column, Declared as _};
use tidemark_record::{BearerResult, FlowResult, NetworkCellResult, RouterResult, UeResult};
use tidemark_terminal::table::{number, table, text};

/// Rows beyond this many are left to the files and the report.
const MAX_ROWS: usize = 24;

/// All tables of a run, in their order.
pub(crate) fn all(summary: &Value) -> Vec<String> {
    let of = |name| list(summary, name);
    let mut tables = vec![flows(of("flows"))];
    tables.extend(rows(&UeResult::STRUCT.terminal_columns(), &of("ues").iter().collect::<Vec<_>>()));
    tables.extend(parts(of("flows"), "media"));
    tables.extend(parts(of("flows"), "transfers"));
    tables.extend(bearers(of("bearers")));
    tables.extend(rows(&RouterResult::STRUCT.terminal_columns(), &of("routers").iter().collect::<Vec<_>>()));
    tables.extend(rows(&NetworkCellResult::STRUCT.terminal_columns(), &of("cells").iter().collect::<Vec<_>>()));
    tables.push(cell(summary));
    tables
}

/// Draws a row a flow, and below the parts of each flow's mean one-way delay.
fn flows(flows: &[Value]) -> String {
    let table = rows(&FlowResult::STRUCT.terminal_columns(), &flows.iter().collect::<Vec<_>>()).unwrap_or_default();
    let splits = flows.iter().take(MAX_ROWS).filter_map(|flow| {
        let split = flow["split_ms"].as_object()?;
        let part = |name: &str| split.get(name).and_then(Value::as_f64);
        let parts = SPLIT.iter().filter_map(|(name, shown)| Some(format!("{shown} {:.1}", part(name)?)));
        Some(format!("  {}: {}\n", flow["name"].as_str()?, parts.collect::<Vec<_>>().join(" + ")))
    });
    let splits: String = splits.collect();
    if splits.is_empty() { table } else { format!("{table}mean one-way delay in ms:\n{splits}") }
}

/// Parts of a delay, in their order on the way.
const SPLIT: [(&str, &str); 8] = [
    ("propagation", "propagation"),
    ("router", "router"),
    ("cu", "CU"),
    ("queuing", "queuing"),
    ("scheduling", "scheduling"),
    ("harq", "HARQ"),
    ("rlc", "RLC"),
    ("reordering", "reordering"),
];

/// Draws the names of flows beside one of their fields, for those that have it; `None` where none has it.
fn parts(flows: &[Value], field: &'static str) -> Option<String> {
    let having: Vec<_> = flows.iter().filter(|flow| flow[field].is_object()).collect();
    let names = FlowResult::STRUCT.terminal_columns().into_iter().filter(|column| column.is_text);
    rows(&names.chain(FlowResult::STRUCT.terminal_columns_of(field)).collect::<Vec<_>>(), &having)
}

/// Draws the bearers of UEs that have several; `None` where all have one.
fn bearers(bearers: &[Value]) -> Option<String> {
    let several = |ue: &Value| bearers.iter().any(|of| of["ue"] == *ue && of["drb"].as_u64() > Some(1));
    let of_several: Vec<_> = bearers.iter().filter(|bearer| several(&bearer["ue"])).collect();
    rows(&BearerResult::STRUCT.terminal_columns(), &of_several)
}

/// Writes a line on the cell, or on all cells of a network together, with the count of packets; of the count alone where there is no UE.
fn cell(summary: &Value) -> String {
    let cell = &summary["cell"];
    let counted = cell["conservation"].as_str().unwrap_or_default();
    if list(summary, "ues").is_empty() {
        return counted.into();
    }
    let percent = |field: &str| cell[field].as_f64().map_or("–".into(), |share| format!("{:.1} %", share * 100.0));
    let what = if list(summary, "cells").is_empty() { "cell" } else { "all cells" };
    let satisfied = if cell["satisfied"].is_null() {
        String::new()
    } else {
        format!("{} of the UEs with frames satisfied; ", percent("satisfied"))
    };
    format!(
        "{what}: {:.2} Mbit/s, {} of the downlink resource blocks used, {} of the uplink's; {satisfied}{counted}",
        cell["throughput_mbps"].as_f64().unwrap_or_default(),
        percent("utilisation"),
        percent("uplink_utilisation"),
    )
}

/// Draws a table with a row each, but for columns that no row has a value in; `None` without rows.
fn rows(columns: &[Column], rows: &[&Value]) -> Option<String> {
    let shown = &rows[..rows.len().min(MAX_ROWS)];
    let columns: Vec<_> = columns.iter().filter(|column| shown.iter().any(|row| column.text(row).is_some())).collect();
    let mut table: Table = table(&columns.iter().map(|column| column.heading.as_str()).collect::<Vec<_>>());
    for row in shown {
        table.add_row(columns.iter().map(|column| match column.text(row) {
            Some(said) if column.is_text => text(&said),
            Some(said) if column.type_name() == "boolean" => text(if said == "true" { "yes" } else { "no" }),
            Some(said) => Cell::new(said).set_alignment(CellAlignment::Right),
            None if column.is_count => text("–"),
            None => number(None, 0),
        }));
    }
    (!rows.is_empty()).then(|| format!("{table}\n{}", rest(rows.len())))
}

fn list<'a>(summary: &'a Value, name: &str) -> &'a [Value] {
    summary[name].as_array().map_or(&[], Vec::as_slice)
}

fn rest(rows: usize) -> String {
    if rows > MAX_ROWS { format!("({} more: see flows.csv and the report)\n", rows - MAX_ROWS) } else { String::new() }
}
