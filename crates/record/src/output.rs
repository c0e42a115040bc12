//! The folder that a run leaves: `summary.json`, `flows.csv`, `bearers.csv`, `series.csv`, `scenario.toml`.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use crate::distribution::Quantiles;
use crate::result::RunResult;

/// Writes the folder, which is made where it is missing.
///
/// # Errors
/// What the system says, with the path.
pub fn write_folder(folder: &Path, result: &RunResult) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let mut summary = serde_json::to_string_pretty(result)?;
    summary.push('\n');
    for (name, text) in [
        ("summary.json", summary),
        ("flows.csv", flows_csv(result)),
        ("bearers.csv", bearers_csv(result)),
        ("series.csv", series_csv(result)),
        ("scenario.toml", result.scenario.clone()),
    ] {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| named(&path, &error))?;
    }
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// What the report page reads: the summary with the series and the distributions.
///
/// # Errors
/// None for a result that a run made.
pub fn report_data(result: &RunResult) -> serde_json::Result<Value> {
    let mut data = serde_json::to_value(result)?;
    data["series"] = serde_json::to_value(&result.series)?;
    for (index, flow) in result.flows.iter().enumerate() {
        data["flows"][index]["owd_cdf"] = json!(flow.owd.cdf());
        data["flows"][index]["queue_cdf"] = json!(flow.queue.cdf());
    }
    Ok(data)
}

/// One row a flow.
pub fn flows_csv(result: &RunResult) -> String {
    let mut text = String::from("flow,ue,controller,law,throughput_mbps,goodput_mbps");
    for delay in ["owd", "rtt", "queue"] {
        for quantile in ["mean", "p50", "p95", "p99", "p999"] {
            let _ = write!(text, ",{delay}_{quantile}_ms");
        }
    }
    text.push_str(",sent_packets,marked,dropped,retransmissions");
    text.push_str(",propagation_ms,router_ms,cu_ms,queuing_ms,scheduling_ms,harq_ms,rlc_ms,reordering_ms\n");
    for flow in &result.flows {
        let ue = flow.ue.as_deref().unwrap_or_default();
        let names = [&flow.name, ue, &flow.controller, &flow.law].map(quoted);
        let _ = write!(text, "{},{:.6},", names.join(","), flow.throughput_mbps);
        if let Some(goodput) = flow.goodput_mbps {
            let _ = write!(text, "{goodput:.6}");
        }
        for delay in [flow.owd_ms, flow.rtt_ms, flow.queue_ms] {
            for value in columns(delay) {
                cell(&mut text, value);
            }
        }
        let _ = write!(text, ",{},{},{},", flow.sent_packets, flow.marked, flow.dropped);
        if let Some(retransmissions) = flow.retransmissions {
            let _ = write!(text, "{retransmissions}");
        }
        let split = flow.split_ms;
        for value in [
            split.map(|s| s.propagation),
            split.and_then(|s| s.router),
            split.map(|s| s.cu),
            split.map(|s| s.queuing),
            split.map(|s| s.scheduling),
            split.map(|s| s.harq),
            split.map(|s| s.rlc),
            split.map(|s| s.reordering),
        ] {
            cell(&mut text, value);
        }
        text.push('\n');
    }
    text
}

/// One row a bearer and direction.
pub fn bearers_csv(result: &RunResult) -> String {
    let mut text = String::from("ue,drb,direction,qfi,five_qi,law,throughput_mbps");
    text.push_str(",queue_mean_ms,queue_p50_ms,queue_p95_ms,queue_p99_ms,queue_p999_ms");
    text.push_str(",marked,dropped,delay_budget_ms,in_budget\n");
    for bearer in &result.bearers {
        let several = |numbers: &[u8]| numbers.iter().map(u8::to_string).collect::<Vec<_>>().join(" ");
        let (direction, qfi) = (bearer.direction.name(), several(&bearer.qfi));
        let _ = write!(text, "{},{},{direction},{qfi}", quoted(&bearer.ue), bearer.drb);
        let _ = write!(text, ",{},{},{:.6}", several(&bearer.five_qi), quoted(&bearer.law), bearer.throughput_mbps);
        for value in columns(bearer.queue_ms) {
            cell(&mut text, value);
        }
        let marked = bearer.marked.map_or(String::new(), |marked| marked.to_string());
        let _ = write!(text, ",{marked},{}", bearer.dropped);
        cell(&mut text, Some(bearer.delay_budget_ms));
        match bearer.in_budget {
            Some(share) => _ = writeln!(text, ",{share:.6}"),
            None => text.push_str(",\n"),
        }
    }
    text
}

/// One row an interval and flow, UE, UE's uplink or router; columns that do not apply stay empty.
pub fn series_csv(result: &RunResult) -> String {
    let mut text = String::from("t_s,kind,name,throughput_mbps,rtt_ms,marks,cwnd_kb,queue_ms,mcs,recommended_mbps");
    text.push_str(",reported_kb,capacity_mbps\n");
    let series = &result.series;
    for (step, t) in series.t_s.iter().enumerate() {
        for (index, flow) in result.flows.iter().enumerate() {
            let row = &series.flows;
            let _ = write!(text, "{t},flow,{},{:.6}", quoted(&flow.name), row.throughput_mbps[index][step]);
            cell(&mut text, row.rtt_ms[index][step]);
            let _ = write!(text, ",{}", row.marks[index][step]);
            cell(&mut text, row.cwnd_kb[index][step]);
            text.push_str(",,,,,\n");
        }
        for (index, ue) in result.ues.iter().enumerate() {
            let row = &series.ues;
            let _ = write!(text, "{t},ue,{},{:.6},,,", quoted(&ue.name), row.throughput_mbps[index][step]);
            cell(&mut text, row.queue_ms[index][step]);
            cell(&mut text, row.mcs[index][step]);
            cell(&mut text, row.recommended_mbps.get(index).and_then(|ue| ue[step]));
            text.push_str(",,\n");
            if ue.uplink.is_some() {
                let row = &series.uplinks;
                let _ = write!(text, "{t},uplink,{},{:.6},,,", quoted(&ue.name), row.throughput_mbps[index][step]);
                cell(&mut text, row.queue_ms[index][step]);
                cell(&mut text, row.mcs[index][step]);
                cell(&mut text, row.recommended_mbps.get(index).and_then(|ue| ue[step]));
                cell(&mut text, Some(row.reported_kb[index][step]));
                text.push_str(",\n");
            }
        }
        for (index, router) in result.routers.iter().enumerate() {
            let row = &series.routers;
            let _ = write!(text, "{t},router,{},{:.6},", quoted(&router.name), row.throughput_mbps[index][step]);
            let _ = write!(text, ",{},", row.marks[index][step]);
            cell(&mut text, row.queue_ms[index][step]);
            text.push_str(",,,");
            cell(&mut text, Some(row.capacity_mbps[index][step]));
            text.push('\n');
        }
    }
    text
}

fn columns(quantiles: Option<Quantiles>) -> [Option<f64>; 5] {
    quantiles.map_or([None; 5], |q| [q.mean, q.p50, q.p95, q.p99, q.p999].map(Some))
}

/// A comma and the value; only the comma where the value is absent.
fn cell(text: &mut String, value: Option<f64>) {
    text.push(',');
    if let Some(value) = value {
        let _ = write!(text, "{value:.3}");
    }
}

/// A name as CSV field (RFC 4180 section 2).
fn quoted(name: &str) -> String {
    if name.contains([',', '"', '\n', '\r']) { format!("\"{}\"", name.replace('"', "\"\"")) } else { name.into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_a_comma_stays_one_field() {
        assert_eq!(quoted("a"), "a");
        assert_eq!(quoted("a,\"b\""), "\"a,\"\"b\"\"\"");
    }
}
