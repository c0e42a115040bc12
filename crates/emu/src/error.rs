//! Errors between the cell and the system.

use std::io;

use thiserror::Error;

/// Reason why a live cell could not be set up, or had to end.
#[derive(Debug, Error)]
pub enum Error {
    /// A right is missing.
    #[error("{what} needs {right}: {remedy}")]
    Privilege {
        /// Thing that was to be made.
        what: &'static str,
        /// Right that this takes.
        right: &'static str,
        /// Remedy, for the user.
        remedy: &'static str,
    },
    /// The system refused something.
    #[error("{what}: {source}")]
    System {
        /// Thing that was to be made, read or written.
        what: String,
        /// Error of the system.
        source: io::Error,
    },
    /// A program that the set-up uses failed.
    #[error("`{command}` failed: {output}")]
    Program {
        /// Name of the program.
        command: String,
        /// Output of the program.
        output: String,
    },
    /// A device vanished under the running cell.
    #[error("{device} is gone: it was deleted from outside, and the cell ends")]
    DeviceGone {
        /// Name of the TUN device.
        device: String,
    },
    /// An interface can't be a port of a hop.
    #[error("{interface}: {problem}")]
    Interface {
        /// Name of the interface.
        interface: String,
        /// Problem with it, and its remedy.
        problem: String,
    },
    /// An interface vanished, or was set down, under the running hop.
    #[error("{interface} is gone or down, and the hop ends")]
    InterfaceGone {
        /// Name of the interface.
        interface: String,
    },
    /// The cell refuses its configuration.
    #[error(transparent)]
    Config(#[from] tidemark_cell::ConfigError),
    /// Every number for a live cell is taken.
    #[error(
        "all {0} numbers of live cells are taken, by running cells or by killed cells in other network namespaces: end a running cell, or start a cell in the network namespace of a killed one"
    )]
    TooMany(u32),
}

impl Error {
    /// Makes an error of the system's that names `what` was to be made, read or written.
    pub(crate) fn system(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        move |source| Self::System { what, source }
    }
    /// Makes an error of an error number that names `what` was to be made, read or written.
    pub(crate) fn errno(what: impl Into<String>) -> impl FnOnce(rustix::io::Errno) -> Self {
        let what = what.into();
        move |errno| Self::System { what, source: errno.into() }
    }
}
