//! What can go wrong between the cell and the system.

use std::io;

use thiserror::Error;

/// A live cell could not be set up, or had to end.
#[derive(Debug, Error)]
pub enum Error {
    /// A right is missing.
    #[error("{what} needs {right}: {remedy}")]
    Privilege {
        /// What was to be done.
        what: &'static str,
        /// The right that it takes.
        right: &'static str,
        /// What to do about it.
        remedy: &'static str,
    },
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// What was to be done.
        what: String,
        /// What the system says.
        source: io::Error,
    },
    /// A program that the set-up uses failed.
    #[error("`{command}` failed: {output}")]
    Program {
        /// The command.
        command: String,
        /// What it wrote.
        output: String,
    },
    /// A device vanished under the running cell.
    #[error("{device} is gone: it was deleted from outside, and the cell ends")]
    DeviceGone {
        /// The TUN device.
        device: String,
    },
    /// The cell refuses its configuration.
    #[error(transparent)]
    Config(#[from] tidemark_cell::ConfigError),
    /// Every number for a live cell is taken.
    #[error(
        "all {0} numbers of live cells are taken, by cells that run or by killed ones of other network namespaces: end one, or start one there"
    )]
    TooMany(u32),
}

impl Error {
    /// The same refusal with what was to be done.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
    /// The same for an error number.
    pub(crate) fn errno(what: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> Self {
        let what = what.into();
        move |errno| Self::System { what, source: errno.into() }
    }
}
