//! The folder that a run leaves: `summary.json`, `flows.csv`, `bearers.csv`, `series.csv`, `scenario.toml`.

use std::fmt::Write as _;
use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use crate::fields;
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

/// Data of the report page: the summary with the series and the distributions.
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

/// CSV file with a row for each flow.
pub fn flows_csv(result: &RunResult) -> String {
    fields::csv("flow", &result.flows)
}

/// CSV file with a row for each bearer and direction.
pub fn bearers_csv(result: &RunResult) -> String {
    fields::csv("bearer", &result.bearers)
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

/// A comma and the value; only the comma where the value is absent.
fn cell(text: &mut String, value: Option<f64>) {
    text.push(',');
    if let Some(value) = value {
        let _ = write!(text, "{value:.3}");
    }
}

/// A name as CSV field (RFC 4180 2).
pub(crate) fn quoted(name: &str) -> String {
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
