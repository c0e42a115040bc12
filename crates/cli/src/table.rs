//! Tables on the terminal, drawn from the summary of a run.

use std::collections::BTreeSet;

use comfy_table::{Cell, CellAlignment};
use serde_json::Value;
use tidemark_record::fields::{Column, Declared as _};
use tidemark_record::{BearerResult, FlowResult, NetworkCellResult, RouterResult, UeResult};
use tidemark_terminal::sheet::Sheet;
use tidemark_terminal::table::{number, text};

/// Largest number of rows of a run's table. If there are more, the worst are shown; the files and the report have all.
pub(crate) const MAX_ROWS: usize = 24;
/// Number of the worst rows that are shown.
pub(crate) const WORST: usize = 5;
/// Figures that rank rows; the first one that a row has counts.
const DELAYS: [&str; 3] = ["/owd_ms/p95", "/queue_ms/p95", "/media/delay_ms/p95"];

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

/// Draws a row for each flow, and below them the parts of each flow's mean one-way delay.
fn flows(flows: &[Value]) -> String {
    let table = rows(&FlowResult::STRUCT.terminal_columns(), &flows.iter().collect::<Vec<_>>()).unwrap_or_default();
    let flows: Vec<_> = flows.iter().collect();
    let splits = by_delay(&flows).into_iter().filter_map(|flow| {
        let split = flow["split_ms"].as_object()?;
        let part = |name: &str| split.get(name).and_then(Value::as_f64);
        // Parts without time are left out, as the radio's are for a wired flow.
        let parts = SPLIT.iter().filter_map(|(name, shown)| Some((shown, part(name).filter(|time| *time >= 0.05)?)));
        let parts = parts.map(|(shown, time)| format!("{shown} {time:.1}"));
        Some(format!("  {}: {}\n", flow["name"].as_str()?, parts.collect::<Vec<_>>().join(" + ")))
    });
    let splits: String = splits.collect();
    if splits.is_empty() { table } else { format!("{table}mean one-way delay in ms:\n{splits}") }
}

/// Parts of a delay, in their order on the path.
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

/// Draws flows that have a field, with its values; `None` where no flow has it.
fn parts(flows: &[Value], field: &'static str) -> Option<String> {
    let having: Vec<_> = flows.iter().filter(|flow| flow[field].is_object()).collect();
    let names = FlowResult::STRUCT.terminal_columns().into_iter().filter(|column| column.is_text);
    rows(&names.chain(FlowResult::STRUCT.terminal_columns_of(field)).collect::<Vec<_>>(), &having)
}

/// Draws the bearers of UEs with several bearers; `None` where every UE has one.
fn bearers(bearers: &[Value]) -> Option<String> {
    let further = bearers.iter().filter(|bearer| bearer["drb"].as_u64() > Some(1));
    let several: BTreeSet<_> = further.filter_map(|bearer| bearer["ue"].as_str()).collect();
    let has_several = |bearer: &&Value| bearer["ue"].as_str().is_some_and(|ue| several.contains(ue));
    let of_several: Vec<_> = bearers.iter().filter(has_several).collect();
    rows(&BearerResult::STRUCT.terminal_columns(), &of_several)
}

/// Writes a line about the cell, or about all cells of a network together, with the count of packets. Without UEs, only the count.
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

/// Columns that a narrow terminal shows last: people decide by the median, the 95th percentile, marks and drops.
const LAST: [&str; 15] = [
    "p99.9",
    "mean",
    "p99",
    "retx",
    "RTT ms: p95",
    "controller",
    "law",
    "RTT ms: p50",
    "channel",
    "BLER %",
    "PRB %",
    "uplink: MCS",
    "MCS",
    "p50",
    "p95",
];

/// Draws a table, without columns that have no value and without those that do not fit the terminal; `None` without rows.
fn rows(columns: &[Column], rows: &[&Value]) -> Option<String> {
    (!rows.is_empty()).then(|| format!("{}\n{}", sheet(columns, &by_delay(rows)).draw(), rest(rows.len())))
}

fn sheet(columns: &[Column], rows: &[&Value]) -> Sheet {
    let mut sheet = Sheet::new(&columns.iter().map(|column| &column.heading).collect::<Vec<_>>(), 1, &LAST);
    for row in rows {
        sheet.add_row(columns.iter().map(|column| match column.text(row) {
            Some(said) if column.is_text => text(&said),
            Some(said) if column.type_name() == "boolean" => text(if said == "true" { "yes" } else { "no" }),
            Some(said) => Cell::new(said).set_alignment(CellAlignment::Right),
            None if column.is_count => text("–"),
            None => number(None, 0),
        }));
    }
    sheet
}

/// All rows of a run or, if there are too many, the five with the longest delay (95th percentile).
fn by_delay<'a>(rows: &[&'a Value]) -> Vec<&'a Value> {
    worst(rows.to_vec(), MAX_ROWS, |row| DELAYS.iter().find_map(|path| row.pointer(path)?.as_f64()).unwrap_or(0.0))
}

/// All rows or, if there are more than `most`, the five with the longest delay.
pub(crate) fn worst<T>(rows: Vec<T>, most: usize, delay: impl Fn(&T) -> f64) -> Vec<T> {
    if rows.len() <= most {
        return rows;
    }
    // A delay is found once a row, and not at each comparison: its path in a tree of JSON costs far more than the comparison.
    let mut rows: Vec<_> = rows.into_iter().map(|row| (delay(&row), row)).collect();
    rows.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    rows.into_iter().take(WORST).map(|(_, row)| row).collect()
}

fn list<'a>(summary: &'a Value, name: &str) -> &'a [Value] {
    summary[name].as_array().map_or(&[], Vec::as_slice)
}

fn rest(rows: usize) -> String {
    if rows > MAX_ROWS {
        format!("(the {WORST} of {rows} with the longest delays; the files and the report have all)\n")
    } else {
        String::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_rows_the_five_with_the_longest_delays_are_shown() {
        let flow = |p95: u32| serde_json::json!({ "name": format!("f{p95}"), "owd_ms": { "p95": p95 } });
        let flows: Vec<_> = (0..30).map(flow).collect();
        let names = |rows: &[Value]| {
            let names = by_delay(&rows.iter().collect::<Vec<_>>()).into_iter().filter_map(|row| row["name"].as_str());
            names.map(str::to_string).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(names(&flows), "f29 f28 f27 f26 f25");
        assert_eq!(names(&flows[..2]), "f0 f1");
    }

    #[test]
    fn a_narrow_terminal_keeps_what_people_decide_by_and_its_groups() {
        let quantiles = serde_json::json!({ "mean": 1.0, "p50": 1.0, "p95": 2.0, "p99": 3.0, "p999": 4.0 });
        let flow = serde_json::json!({
            "name": "walker", "controller": "prague", "law": "tide", "throughput_mbps": 12.0, "owd_ms": quantiles,
            "rtt_ms": quantiles, "marked": 7, "dropped": 0, "retransmissions": 0
        });
        let sheet = sheet(&FlowResult::STRUCT.terminal_columns(), &[&flow]);
        let headings =
            |width| sheet.within(width).lines().nth(1).unwrap().split_whitespace().collect::<Vec<_>>().join(" ");
        let all = headings(None);
        assert!(all.contains("one-way ms: mean p50 p95") && all.contains("RTT ms: mean p50"), "{all}");
        let narrow = headings(Some(80));
        assert!(narrow.contains("Mbit/s one-way ms: p50 p95") && narrow.ends_with("marks drops"), "{narrow}");
        let ue = serde_json::json!({
            "name": "gamer-40", "channel": "deployed", "throughput_mbps": 12.0, "queue_ms": quantiles, "mcs_mean": 2.6,
            "bler": 0.1, "marked": 1016, "dropped": 0, "prb_share": 0.07, "satisfied": false,
            "uplink": { "mcs_mean": 28.0, "bler": 0.0, "prb_share": 0.002 }
        });
        let sheet = super::sheet(&UeResult::STRUCT.terminal_columns(), &[&ue]);
        let narrow = sheet.within(Some(80)).lines().nth(1).unwrap_or_default().to_string();
        for part in ["RLC queue ms: p50", "p95", "marks", "satisfied"] {
            assert!(narrow.contains(part), "{part}: {narrow}");
        }
    }
}
