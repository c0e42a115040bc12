//! Files that commands read, and `-` for the standard input.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use miette::{Result, miette};
use tidemark_study::Base;

use crate::study;

/// Name of the standard input on the command line.
const STDIN: &str = "-";
/// Name of the standard input in messages.
pub(crate) const STANDARD_INPUT: &str = "standard-input";

/// Reads a scenario or a study. Traces and scenarios that it names are relative to the folder of the file, or to the current folder for
/// standard input.
///
/// # Errors
/// A file that can't be read.
pub(crate) fn read(file: &Path) -> Result<Base> {
    if file != Path::new(STDIN) {
        return Base::load(file).map_err(study::diagnostic);
    }
    let mut text = String::new();
    let read = std::io::stdin().read_to_string(&mut text);
    read.map_err(|error| miette!("the standard input can't be read: {error}"))?;
    Ok(Base { file: STANDARD_INPUT.into(), text, folder: PathBuf::new() })
}
