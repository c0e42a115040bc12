//! The folder that a run leaves: `summary.json`, the CSV [`FILES`] with `columns.csv`, `scenario.toml`, and the report.

use std::path::Path;
use std::{fs, io};

use serde_json::{Value, json};

use crate::files::{COLUMNS, FILES, columns_csv};
use crate::result::{MarkResult, RunResult};

/// Name of the file without which a folder has no result.
const SUMMARY: &str = "summary.json";
/// Name of the report, which the command makes.
const REPORT: &str = "report.html";

/// Writes the folder, which is made where it is missing, with the report's page if there is one. Whatever ends the program meanwhile, and where
/// the disk is full, the result that was there is whole, or there is none: all files are written beside their places, the old summary goes first,
/// and the new one comes last.
///
/// # Errors
/// What the system says, with the path.
pub fn write_folder(folder: &Path, result: &RunResult, page: Option<String>) -> io::Result<()> {
    let tables = FILES.iter().filter_map(|file| Some((file.name, file.text(result)?)));
    let others = [("scenario.toml", result.scenario.clone()), (COLUMNS, columns_csv())];
    let page = page.map(|page| (REPORT, page));
    let summary = (SUMMARY, summary(result)?);
    let files: Vec<_> = tables.chain(others).chain(page).chain([summary]).collect();
    // Of two programs that write the same folder each has its own.
    let part = folder.join(format!(".part-{}", std::process::id()));
    write_files(&part, &files).inspect_err(|_| drop(fs::remove_dir_all(&part)))?;
    for name in FILES.iter().map(|file| file.name).chain([REPORT, SUMMARY]).rev() {
        remove(&folder.join(name))?;
    }
    for (name, _) in &files {
        let path = folder.join(name);
        fs::rename(part.join(name), &path).map_err(|error| named(&path, &error))?;
    }
    fs::remove_dir(&part).map_err(|error| named(&part, &error))
}

fn write_files(folder: &Path, files: &[(&str, String)]) -> io::Result<()> {
    fs::create_dir_all(folder).map_err(|error| named(folder, &error))?;
    for (name, text) in files {
        let path = folder.join(name);
        fs::write(&path, text).map_err(|error| named(&path, &error))?;
    }
    Ok(())
}

fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(path, &error)),
        _ => Ok(()),
    }
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
