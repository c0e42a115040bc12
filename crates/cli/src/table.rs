//! The tables on the terminal.

use comfy_table::{Cell, CellAlignment, Table};
use serde::Serialize;
use tidemark_record::FlowResult;
use tidemark_record::fields::{Column, Declared};
use tidemark_sim::RunResult;
use tidemark_terminal::table::{number, table, text};

/// Rows beyond this many are left to the files and the report.
const MAX_ROWS: usize = 24;

/// Draws a row a flow, and below the parts of each flow's mean one-way delay.
pub(crate) fn flows(result: &RunResult) -> String {
    let table = declared(result.flows.iter().take(MAX_ROWS));
    let splits = result.flows.iter().take(MAX_ROWS).filter_map(|flow| {
        let s = flow.split_ms?;
        let router = s.router.map_or_else(String::new, |wait| format!("router {wait:.1} + "));
        Some(format!(
            "  {}: propagation {:.1} + {router}CU {:.1} + queuing {:.1} + scheduling {:.1} + HARQ {:.1} + RLC {:.1} + reordering {:.1}\n",
            flow.name, s.propagation, s.cu, s.queuing, s.scheduling, s.harq, s.rlc, s.reordering
        ))
    });
    format!("{table}\n{}mean one-way delay in ms:\n{}", rest(result.flows.len()), splits.collect::<String>())
}

/// Draws a row for each flow with frames; `None` where none has any.
pub(crate) fn frames(result: &RunResult) -> Option<String> {
    parts(result, "media", |flow| flow.media.is_some())
}

/// Draws a row for each flow with transfers or pages that completed; `None` where none has any.
pub(crate) fn transfers(result: &RunResult) -> Option<String> {
    parts(result, "transfers", |flow| flow.transfers.is_some())
}

/// Draws the names of flows beside one of their fields, for those that have it.
fn parts(result: &RunResult, field: &'static str, has: impl Fn(&FlowResult) -> bool) -> Option<String> {
    let rows: Vec<_> = result.flows.iter().filter(|flow| has(flow)).collect();
    let names = FlowResult::STRUCT.terminal_columns().into_iter().filter(|column| column.is_text);
    let columns: Vec<_> = names.chain(FlowResult::STRUCT.terminal_columns_of(field)).collect();
    let table = with_columns(&columns, rows.iter().take(MAX_ROWS).copied());
    (!rows.is_empty()).then(|| format!("{table}\n{}", rest(rows.len())))
}

/// Draws a row a UE.
pub(crate) fn ues(result: &RunResult) -> String {
    let table = declared(result.ues.iter().take(MAX_ROWS));
    format!("{table}\n{}", rest(result.ues.len()))
}

/// The bearers of UEs that have several; `None` where all have one.
pub(crate) fn bearers(result: &RunResult) -> Option<String> {
    let several = |name: &str| result.bearers.iter().any(|bearer| bearer.ue == name && bearer.drb > 1);
    let rows: Vec<_> = result.bearers.iter().filter(|bearer| several(&bearer.ue)).collect();
    let table = declared(rows.iter().take(MAX_ROWS).copied());
    (!rows.is_empty()).then(|| format!("{table}\n{}", rest(rows.len())))
}

/// Draws a row a router.
pub(crate) fn routers(result: &RunResult) -> String {
    declared(result.routers.iter()).to_string()
}

/// Draws a row a cell of a network.
pub(crate) fn cells(result: &RunResult) -> String {
    format!("{}\n{}", declared(result.cells.iter().take(MAX_ROWS)), rest(result.cells.len()))
}

/// Writes a line on the cell, or on all cells of a network together, with the count of packets.
pub(crate) fn cell(result: &RunResult) -> String {
    let percent = |share: Option<f64>| share.map_or("–".into(), |share| format!("{:.1} %", share * 100.0));
    let (used, up) = (percent(result.cell.utilisation), percent(result.cell.uplink_utilisation));
    let what = if result.cells.is_empty() { "cell" } else { "all cells" };
    let satisfied = result
        .cell
        .satisfied
        .map_or_else(String::new, |share| format!("{} of the UEs with frames satisfied; ", percent(Some(share))));
    format!(
        "{what}: {:.2} Mbit/s, {used} of the downlink resource blocks used, {up} of the uplink's; {satisfied}{}",
        result.cell.throughput_mbps, result.cell.conservation
    )
}

/// Table of results with the columns that their fields declare.
fn declared<'a, T: Declared + Serialize + 'a>(rows: impl Iterator<Item = &'a T>) -> Table {
    with_columns(&T::STRUCT.terminal_columns(), rows)
}

/// Table of results with these columns, but for those that no row has a value in.
fn with_columns<'a, T: Serialize + 'a>(columns: &[Column], rows: impl Iterator<Item = &'a T>) -> Table {
    let rows: Vec<_> = rows.map(|row| serde_json::to_value(row).unwrap_or_default()).collect();
    let is_shown = |column: &&Column| rows.iter().any(|row| column.text(row).is_some());
    let columns: Vec<_> = columns.iter().filter(is_shown).collect();
    let mut table = table(&columns.iter().map(|column| column.heading.as_str()).collect::<Vec<_>>());
    for row in &rows {
        table.add_row(columns.iter().map(|column| match column.text(row) {
            Some(said) if column.is_text => text(&said),
            Some(said) if column.type_name() == "boolean" => text(if said == "true" { "yes" } else { "no" }),
            Some(said) => Cell::new(said).set_alignment(CellAlignment::Right),
            None if column.is_count => text("–"),
            None => number(None, 0),
        }));
    }
    table
}

fn rest(rows: usize) -> String {
    if rows > MAX_ROWS { format!("({} more: see flows.csv and the report)\n", rows - MAX_ROWS) } else { String::new() }
}
