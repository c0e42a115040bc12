//! The folder that a run leaves: `summary.json`, `flows.csv`, `bearers.csv`, `series.csv`, `marks.csv`, `scenario.toml`.

use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use crate::fields::Declared;
use crate::result::{MarkResult, RunResult};
use crate::unit::round;
use crate::{fields, series_csv};

/// Name of the file with marks and their reasons.
pub const MARKS: &str = "marks.csv";

/// Writes the folder, which is made where it is missing.
///
/// # Errors
/// What the system says, with the path.
pub fn write_folder(folder: &Path, result: &RunResult) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let mut summary = serde_json::to_string_pretty(result)?;
    summary.push('\n');
    let files = [
        ("summary.json", summary),
        ("flows.csv", flows_csv(result)),
        ("bearers.csv", bearers_csv(result)),
        ("series.csv", series_csv(result)),
        ("scenario.toml", result.scenario.clone()),
    ];
    let marks = result.marks.as_deref().map(marks_csv).transpose()?.map(|text| (MARKS, text));
    for (name, text) in files.into_iter().chain(marks) {
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
    data["marks"] = mark_columns(result.marks.as_deref().unwrap_or_default());
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

/// Columns for the page's list of marks: rows, with a name for each figure, would cost more than twice as much.
fn mark_columns(marks: &[MarkResult]) -> Value {
    fn column<'a, T: Into<Value>>(marks: &'a [MarkResult], of: impl Fn(&'a MarkResult) -> T) -> Value {
        marks.iter().map(|mark| of(mark).into()).collect()
    }
    let odds = |mark: &MarkResult| if mark.verdict == "drop" { mark.drop_odds } else { mark.mark_odds };
    let delay = |mark: &MarkResult| mark.arrived_s.map(|at| round((at - mark.sent_s) * 1e3, 1e3));
    json!({
        "t_s": column(marks, |mark| mark.t_s),
        "flow": column(marks, |mark| mark.flow.as_str()),
        "packet": column(marks, |mark| mark.packet),
        "verdict": column(marks, |mark| mark.verdict.as_ref()),
        "law": column(marks, |mark| mark.law.as_ref()),
        "rule": column(marks, |mark| mark.rule.as_ref()),
        "odds": column(marks, odds),
        "draw_kind": column(marks, |mark| mark.draw_kind.as_ref()),
        "draw": column(marks, |mark| mark.draw),
        "estimated_ms": column(marks, |mark| mark.estimated_ms),
        "queued_ms": column(marks, |mark| mark.queued_ms),
        "delay_ms": column(marks, delay),
        "answered_s": column(marks, |mark| mark.answered_s),
    })
}

/// CSV file with a row for each mark that was kept, and a column for each field.
///
/// # Errors
/// None for marks that a run kept.
pub fn marks_csv(marks: &[MarkResult]) -> io::Result<String> {
    let mut writer = csv::WriterBuilder::new().has_headers(false).from_writer(Vec::new());
    // A run without marks has a heading too.
    writer.write_record(MarkResult::STRUCT.fields.iter().map(|field| field.name))?;
    for mark in marks {
        writer.serialize(mark)?;
    }
    let bytes = writer.into_inner().map_err(|error| io::Error::other(error.to_string()))?;
    String::from_utf8(bytes).map_err(io::Error::other)
}

/// Marks of the file that [`marks_csv`] wrote.
///
/// # Errors
/// Line and field that cannot be read, or a column that is missing.
pub fn read_marks(text: &str) -> Result<Vec<MarkResult>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}

/// CSV file with a row for each interval and flow, UE, uplink or router.
pub fn series_csv(result: &RunResult) -> String {
    series_csv::write(result)
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
