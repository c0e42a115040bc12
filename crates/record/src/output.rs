//! The folder that a run leaves: `summary.json`, `flows.csv`, `bearers.csv`, `series.csv`, `marks.csv`, `scenario.toml`.

use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use crate::result::{MarkResult, RunResult};
use crate::{fields, series_csv};

/// Name of the file with marks and their reasons.
pub const MARKS: &str = "marks.csv";

/// Writes the folder, which is made where it is missing.
///
/// # Errors
/// What the system says, with the path.
pub fn write_folder(folder: &Path, result: &RunResult) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let files = [
        ("summary.json", summary(result)?),
        ("flows.csv", flows_csv(result)),
        ("bearers.csv", bearers_csv(result)),
        ("series.csv", series_csv(result)),
        ("scenario.toml", result.scenario.clone()),
    ];
    let files = files.iter().map(|(name, text)| (*name, text.as_str()));
    let marks = result.marks.as_deref().map(|text| (MARKS, text));
    for (name, text) in files.chain(marks) {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| named(&path, &error))?;
    }
    Ok(())
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Text of `summary.json`.
///
/// # Errors
/// None for a result that a run made.
pub fn summary(result: &RunResult) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(result)? + "\n")
}

/// Data of the report page: the summary with the series, the distributions and the text of `marks.csv`.
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
    data["marks"] = json!(result.marks);
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

/// Marks of the text of `marks.csv`.
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
