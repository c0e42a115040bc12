//! Errors that end a study early.

use thiserror::Error;

use crate::metric::NoSuchMetric;
use crate::run::RunError;
use crate::store::StoreError;
use crate::study::StudyError;

/// A study that ended early. The store has the records of finished runs.
#[derive(Debug, Error)]
pub enum ExecuteError {
    /// A point can't be run.
    #[error(transparent)]
    Study(#[from] StudyError),
    /// A metric that no run has.
    #[error(transparent)]
    NoSuchMetric(#[from] NoSuchMetric),
    /// A record can't be kept.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A run fails.
    #[error("the run of {run} fails: {error}")]
    Run {
        /// Values and seed of the run.
        run: String,
        /// Error of the run.
        error: RunError,
    },
    /// The caller interrupted the study.
    #[error("interrupted after {done} of {total} runs, which are kept: start the study again to continue")]
    Interrupted {
        /// Runs whose records are there.
        done: usize,
        /// Runs that were known to be needed.
        total: usize,
    },
}
