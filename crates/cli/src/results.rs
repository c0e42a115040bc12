//! Results of a run, on their way into a folder.

use std::path::{Path, PathBuf};

use miette::{Context, IntoDiagnostic, Result};
use tidemark_record::seeds;
use tidemark_sim::RunResult;

/// Writes the run's folder and its report, with the commit of this program in both; returns the report's path.
pub(crate) fn write(out: &Path, result: &mut RunResult) -> Result<PathBuf> {
    result.commit = tidemark_version::COMMIT.map(Into::into);
    // Seeds that `--force` gives up are removed last: until then they are whole.
    tidemark_record::output::write_folder(out, result, Some(tidemark_report::write_page))
        .and_then(|()| seeds::remove(out))
        .into_diagnostic()
        .wrap_err("the results could not be written: earlier results are unchanged or gone")?;
    Ok(out.join("report.html"))
}
