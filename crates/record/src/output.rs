//! The folder that a run leaves: `summary.json`, the CSV [`FILES`] with `columns.csv`, `scenario.toml`.

use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use crate::files::{COLUMNS, FILES, columns_csv};
use crate::result::{MarkResult, RunResult};

/// Writes the folder, which is made where it is missing.
///
/// # Errors
/// What the system says, with the path.
pub fn write_folder(folder: &Path, result: &RunResult) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    let others =
        [("summary.json", summary(result)?), ("scenario.toml", result.scenario.clone()), (COLUMNS, columns_csv())];
    let tables = FILES.iter().filter_map(|file| Some((file.name, file.text(result)?)));
    for (name, text) in others.into_iter().chain(tables) {
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
    data["freezes"] = json!(result.freezes);
    for (index, flow) in result.flows.iter().enumerate() {
        data["flows"][index]["owd_cdf"] = json!(flow.owd.cdf());
        data["flows"][index]["queue_cdf"] = json!(flow.queue.cdf());
        data["flows"][index]["frame_cdf"] = json!(flow.frames.cdf());
        data["flows"][index]["completion_cdf"] = json!(flow.completions.cdf());
    }
    data["marks"] = json!(result.marks);
    Ok(data)
}

/// Marks of the text of `marks.csv`.
///
/// # Errors
/// Line and field that cannot be read, or a column that is missing.
pub fn read_marks(text: &str) -> Result<Vec<MarkResult>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}
