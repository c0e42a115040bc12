//! The folder that a run leaves: `summary.json`, the CSV [`FILES`] with `columns.csv`, `scenario.toml`, and the report.

use std::panic::resume_unwind;
use std::path::Path;
use std::{io, iter, thread};

use serde::Serialize;

use crate::distribution::Distribution;
use crate::files::{COLUMNS, FILES, columns_csv};
use crate::result::{Freeze, MarkResult, RunResult};
use crate::staging;
use crate::thinned::Thinned;

/// Name of the file without which a folder has no result.
const SUMMARY: &str = "summary.json";
/// Name of the report, which the command makes.
pub const REPORT: &str = "report.html";

/// Writes the folder, with the report's page if there is one, and makes the folder if it is missing. If the program is
/// killed meanwhile, or the disk is full, the previous result is whole, or there is none. The page is made on another thread.
///
/// # Errors
/// An error of the system, with the path.
pub fn write_folder(folder: &Path, result: &RunResult, page: Option<Page>) -> io::Result<()> {
    let tables = FILES.iter().filter_map(|file| Some(Ok((file.name, file.text(result)?))));
    let others = [("scenario.toml", result.scenario.clone()), (COLUMNS, columns_csv())].map(Ok);
    thread::scope(|threads| {
        let page = page.map(|page| threads.spawn(move || page(result)));
        let page = page.into_iter().map(|page| Ok((REPORT, page.join().unwrap_or_else(|panic| resume_unwind(panic))?)));
        let summary = iter::once_with(|| Ok((SUMMARY, summary(result)?)));
        staging::replace(folder, names(), tables.chain(others).chain(page).chain(summary))
    })
}

/// Maker of the report's page.
pub type Page = fn(&RunResult) -> serde_json::Result<String>;

/// Names of the files of a result. The first is the file without which there is no result.
pub fn names() -> impl Iterator<Item = &'static str> {
    [SUMMARY, REPORT].into_iter().chain(FILES.iter().map(|file| file.name))
}

/// Text of `summary.json`.
///
/// # Errors
/// None for a result that a run made.
pub fn summary(result: &RunResult) -> serde_json::Result<String> {
    Ok(serde_json::to_string_pretty(result)? + "\n")
}

/// Data of the report page: the summary with what other files have, and distributions.
#[derive(Serialize)]
struct Report<'a> {
    #[serde(flatten)]
    summary: &'a RunResult,
    series: Thinned<'a>,
    freezes: &'a [Freeze],
    /// Text of `marks.csv`.
    marks: Option<&'a str>,
    /// Distributions of each flow.
    cdfs: Vec<Cdfs>,
}

/// Distributions of a flow: points of a delay in ms and the share of at most this delay.
#[derive(Serialize)]
struct Cdfs {
    owd_cdf: Vec<(f64, f64)>,
    queue_cdf: Vec<(f64, f64)>,
    frame_cdf: Vec<(f64, f64)>,
    completion_cdf: Vec<(f64, f64)>,
}

/// Text of the report page's data.
///
/// # Errors
/// None for a result that a run made.
pub fn report_data(result: &RunResult) -> serde_json::Result<String> {
    let cdfs = result.flows.iter().map(|flow| {
        let [owd_cdf, queue_cdf, frame_cdf, completion_cdf] =
            [&flow.owd, &flow.queue, &flow.frames, &flow.completions].map(Distribution::cdf);
        Cdfs { owd_cdf, queue_cdf, frame_cdf, completion_cdf }
    });
    serde_json::to_string(&Report {
        summary: result,
        series: Thinned::new(result),
        freezes: &result.freezes,
        marks: result.marks.as_deref(),
        cdfs: cdfs.collect(),
    })
}

/// Reads the marks from the text of `marks.csv`.
///
/// # Errors
/// Line and field that cannot be read, or a column that is missing.
pub fn read_marks(text: &str) -> Result<Vec<MarkResult>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}
