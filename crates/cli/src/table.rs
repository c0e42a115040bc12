//! The tables on the terminal.

use comfy_table::presets::UTF8_HORIZONTAL_ONLY;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table};
use tidemark_record::distribution::Quantiles;
use tidemark_sim::RunResult;

/// Rows beyond this many are left to the files and the report.
const MOST_ROWS: usize = 24;

pub fn flows(result: &RunResult) -> String {
    let mut table = table(&[
        "flow",
        "controller",
        "law",
        "Mbit/s",
        "one-way ms: mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "RTT ms: mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "marks",
        "drops",
        "retx",
    ]);
    for flow in result.flows.iter().take(MOST_ROWS) {
        let mut row =
            vec![text(&flow.name), text(&flow.controller), text(&flow.law), number(Some(flow.throughput_mbps), 2)];
        row.extend(quantiles(flow.owd_ms));
        row.extend(quantiles(flow.rtt_ms));
        row.extend([flow.marked, flow.dropped].map(count));
        row.push(counted(flow.retransmissions));
        table.add_row(row);
    }
    let splits = result.flows.iter().take(MOST_ROWS).filter_map(|flow| {
        let s = flow.split_ms?;
        let router = s.router.map_or_else(String::new, |wait| format!("router {wait:.1} + "));
        Some(format!(
            "  {}: propagation {:.1} + {router}CU {:.1} + queuing {:.1} + scheduling {:.1} + HARQ {:.1} + RLC {:.1} + reordering {:.1}\n",
            flow.name, s.propagation, s.cu, s.queuing, s.scheduling, s.harq, s.rlc, s.reordering
        ))
    });
    format!("{table}\n{}mean one-way delay in ms:\n{}", rest(result.flows.len()), splits.collect::<String>())
}

pub fn ues(result: &RunResult) -> String {
    let mut table = table(&[
        "UE",
        "channel",
        "Mbit/s",
        "RLC queue ms: mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "MCS",
        "BLER %",
        "marks",
        "drops",
        "PRB %",
        "uplink: MCS",
        "BLER %",
        "PRB %",
    ]);
    for ue in result.ues.iter().take(MOST_ROWS) {
        let mut row = vec![text(&ue.name), text(&ue.channel), number(Some(ue.throughput_mbps), 2)];
        row.extend(quantiles(ue.queue_ms));
        row.push(number(ue.mcs_mean, 1));
        row.push(number(ue.bler.map(|share| share * 100.0), 1));
        row.extend([ue.marked, Some(ue.dropped)].map(counted));
        row.push(number(ue.prb_share.map(|share| share * 100.0), 1));
        row.push(number(ue.uplink.map(|uplink| uplink.mcs_mean), 1));
        row.push(number(ue.uplink.map(|uplink| uplink.bler * 100.0), 1));
        row.push(number(ue.uplink.map(|uplink| uplink.prb_share * 100.0), 1));
        table.add_row(row);
    }
    format!("{table}\n{}", rest(result.ues.len()))
}

/// The bearers of UEs that have several; `None` where all have one.
pub fn bearers(result: &RunResult) -> Option<String> {
    let mut table = table(&[
        "UE",
        "DRB",
        "direction",
        "QFI",
        "5QI",
        "law",
        "Mbit/s",
        "queue ms: mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "marks",
        "drops",
        "budget ms",
        "met %",
    ]);
    let several = |name: &str| result.bearers.iter().any(|bearer| bearer.ue == name && bearer.drb > 1);
    let rows: Vec<_> = result.bearers.iter().filter(|bearer| several(&bearer.ue)).collect();
    for bearer in rows.iter().take(MOST_ROWS) {
        let numbers = |numbers: &[u8]| text(&numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(" "));
        let mut row = vec![text(&bearer.ue), count(bearer.drb.into()), text(bearer.direction.name())];
        row.extend([numbers(&bearer.qfi), numbers(&bearer.five_qi)]);
        row.extend([text(&bearer.law), number(Some(bearer.throughput_mbps), 2)]);
        row.extend(quantiles(bearer.queue_ms));
        row.extend([bearer.marked, Some(bearer.dropped)].map(counted));
        row.push(number(Some(bearer.delay_budget_ms), 0));
        row.push(number(bearer.in_budget.map(|share| share * 100.0), 2));
        table.add_row(row);
    }
    (!rows.is_empty()).then(|| format!("{table}\n{}", rest(rows.len())))
}

pub fn routers(result: &RunResult) -> String {
    let mut table = table(&[
        "router",
        "law",
        "Mbit/s",
        "of",
        "used %",
        "queue ms: mean",
        "p50",
        "p95",
        "p99",
        "p99.9",
        "marks",
        "drops",
    ]);
    for router in &result.routers {
        let mut row = vec![text(&router.name), text(&router.law)];
        row.extend([router.throughput_mbps, router.capacity_mbps].map(|rate| number(Some(rate), 2)));
        row.push(number(Some(router.utilisation * 100.0), 1));
        row.extend(quantiles(router.queue_ms));
        row.extend([router.marked, router.dropped].map(count));
        table.add_row(row);
    }
    table.to_string()
}

pub fn cells(result: &RunResult) -> String {
    let mut table = table(&["cell", "Mbit/s", "used %", "UEs", "handovers"]);
    for cell in result.cells.iter().take(MOST_ROWS) {
        let used = number(cell.utilisation.map(|share| share * 100.0), 1);
        let row = [text(&cell.name), number(Some(cell.throughput_mbps), 2), used, number(cell.ues, 1)];
        table.add_row(row.into_iter().chain([count(cell.handovers)]));
    }
    format!("{table}\n{}", rest(result.cells.len()))
}

pub fn cell(result: &RunResult) -> String {
    let percent = |share: Option<f64>| share.map_or("–".into(), |share| format!("{:.1} %", share * 100.0));
    let (used, up) = (percent(result.cell.utilisation), percent(result.cell.uplink_utilisation));
    let what = if result.cells.is_empty() { "cell" } else { "all cells" };
    format!(
        "{what}: {:.2} Mbit/s, {used} of the downlink resource blocks used, {up} of the uplink's; {}",
        result.cell.throughput_mbps, result.cell.conservation
    )
}

fn rest(rows: usize) -> String {
    if rows > MOST_ROWS {
        format!("({} more: see flows.csv and the report)\n", rows - MOST_ROWS)
    } else {
        String::new()
    }
}

pub fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(UTF8_HORIZONTAL_ONLY).set_content_arrangement(ContentArrangement::Disabled).set_header(header);
    table
}

pub fn text(text: &str) -> Cell {
    Cell::new(text)
}

/// A number, or a dash where it could not be measured.
pub fn number(value: Option<f64>, decimals: usize) -> Cell {
    Cell::new(value.map_or("–".into(), |value| format!("{value:.decimals$}"))).set_alignment(CellAlignment::Right)
}

fn count(value: u64) -> Cell {
    Cell::new(value).set_alignment(CellAlignment::Right)
}

/// A count, or a dash where nothing was counted.
fn counted(number: Option<u64>) -> Cell {
    number.map_or_else(|| text("–"), count)
}

fn quantiles(q: Option<Quantiles>) -> [Cell; 5] {
    let values = q.map_or([None; 5], |q| [q.mean, q.p50, q.p95, q.p99, q.p999].map(Some));
    values.map(|value| number(value, 1))
}
