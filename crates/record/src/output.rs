//! The folder that a run leaves: `summary.json`, the CSV [`FILES`] with `columns.csv`, `scenario.toml`, and the report.

use std::io::{self, BufWriter, Write};
use std::panic::resume_unwind;
use std::path::Path;
use std::thread;

use serde::Serialize;

use crate::distribution::Distribution;
use crate::files::{COLUMNS, FILES, columns_csv};
use crate::result::{Freeze, MarkResult, RunResult};
use crate::staging::Staging;
use crate::thinned::Thinned;

/// Name of the file without which a folder has no result.
const SUMMARY: &str = "summary.json";
/// Name of the report, which the command makes.
pub const REPORT: &str = "report.html";
/// Name of the file with the scenario.
const SCENARIO: &str = "scenario.toml";

/// Writes the folder, with the report's page if there is one, and makes the folder if it is missing. If the program is
/// killed meanwhile, or the disk is full, the previous result is whole, or there is none. The page is written on another
/// thread. It and the series, which are long, are never whole in memory.
///
/// # Errors
/// An error of the system, with the path.
pub fn write_folder(folder: &Path, result: &RunResult, page: Option<Page>) -> io::Result<()> {
    let staged = Staging::new(folder)?;
    let tables: Vec<_> = FILES.iter().filter(|file| file.is_written(result)).collect();
    let of_page = |page: Page| staged.write(REPORT, |file| page(result, file));
    thread::scope(|threads| {
        let page = page.map(|page| threads.spawn(move || of_page(page)));
        for table in &tables {
            staged.write(table.name, |file| table.write(result, file))?;
        }
        staged.write(SCENARIO, |file| file.write_all(result.scenario.as_bytes()))?;
        staged.write(COLUMNS, |file| file.write_all(columns_csv().as_bytes()))?;
        staged.write(SUMMARY, |file| file.write_all(summary(result)?.as_bytes()))?;
        page.map_or(Ok(()), |page| page.join().unwrap_or_else(|panic| resume_unwind(panic)))
    })?;
    let written = tables.iter().map(|table| table.name).chain([SCENARIO, COLUMNS]);
    staged.replace(folder, names(), written.chain(page.map(|_| REPORT)).chain([SUMMARY]))
}

/// Writer of the report's page.
pub type Page = fn(&RunResult, &mut dyn Write) -> io::Result<()>;

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

/// Writes the report page's data, as JSON.
///
/// # Errors
/// An error of the writer.
pub fn write_report_data(result: &RunResult, out: &mut dyn Write) -> io::Result<()> {
    // JSON comes in pieces of a few bytes.
    let mut buffered = BufWriter::new(out);
    serde_json::to_writer(&mut buffered, &report(result))?;
    buffered.flush()
}

/// Text of the report page's data.
///
/// # Errors
/// None for a result that a run made.
pub fn report_data(result: &RunResult) -> serde_json::Result<String> {
    serde_json::to_string(&report(result))
}

fn report(result: &RunResult) -> Report<'_> {
    let cdfs = result.flows.iter().map(|flow| {
        let [owd_cdf, queue_cdf, frame_cdf, completion_cdf] =
            [&flow.owd, &flow.queue, &flow.frames, &flow.completions].map(Distribution::cdf);
        Cdfs { owd_cdf, queue_cdf, frame_cdf, completion_cdf }
    });
    Report {
        summary: result,
        series: Thinned::new(result),
        freezes: &result.freezes,
        marks: result.marks.as_deref(),
        cdfs: cdfs.collect(),
    }
}

/// Reads the marks from the text of `marks.csv`.
///
/// # Errors
/// Line and field that cannot be read, or a column that is missing.
pub fn read_marks(text: &str) -> Result<Vec<MarkResult>, csv::Error> {
    csv::Reader::from_reader(text.as_bytes()).deserialize().collect()
}
