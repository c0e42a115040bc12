//! Store of a study: a folder with its description and one record a run. Several processes may share it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use thiserror::Error;

use crate::description::Description;
use crate::record::Record;
use crate::records::{Claim, FileError, Records};
use crate::study::Study;

/// File with the description of the study.
const DESCRIPTION: &str = "study.json";

/// Folder of a study.
#[derive(Clone, Debug)]
pub struct Store {
    folder: PathBuf,
    records: Records,
}

/// A folder that can't be used as the store of a study.
#[derive(Debug, Error)]
pub enum StoreError {
    /// The system refuses.
    #[error(transparent)]
    File(#[from] FileError),
    /// The folder has files, but no description of a study.
    #[error("{0} is not a folder of a study, and it is not empty: name another folder with --out")]
    Foreign(String),
    /// The folder has runs of another study.
    #[error(
        "{folder} has the runs of another study: name another folder with --out, or replace this one with --force\n{difference}"
    )]
    Another {
        /// The folder.
        folder: String,
        /// Lines that differ, `-` for those of the folder and `+` for those of the study.
        difference: String,
    },
    /// A record that was not written by this program, or that a power cut tore.
    #[error("{path} is not a record of a run ({reason}): remove it, and the study runs it again")]
    Broken {
        /// File.
        path: String,
        /// Reason.
        reason: String,
    },
}

impl Store {
    /// Opens the store of a study, or makes it. Seeds, values and metrics of a study may change from one time to the next.
    ///
    /// # Errors
    /// A folder that can't be written, or that belongs to something else.
    pub fn open(folder: &Path, study: &Study) -> Result<Self, StoreError> {
        Self::check(folder, study)?;
        let text = serde_json::to_string_pretty(&Description::of(study)).unwrap_or_default() + "\n";
        write(folder, DESCRIPTION, text.as_bytes())?;
        Ok(Self { folder: folder.to_path_buf(), records: Records::open(folder)? })
    }

    /// Checks that a folder is of this study, or is empty or missing. Changes nothing.
    ///
    /// # Errors
    /// A folder that can't be read, or that belongs to something else.
    pub fn check(folder: &Path, study: &Study) -> Result<(), StoreError> {
        let file = folder.join(DESCRIPTION);
        // Another process may make the same store now. It writes the description before all else, so what is listed before the
        // description is looked for, and has none, is nobody's study.
        let used = used(folder);
        match fs::read_to_string(&file) {
            Ok(text) => {
                let there = serde_json::from_str::<Description>(&text).map_err(|error| StoreError::Broken {
                    path: file.display().to_string(),
                    reason: error.to_string(),
                })?;
                let another = |difference| StoreError::Another { folder: folder.display().to_string(), difference };
                there.difference(&Description::of(study)).map_or(Ok(()), |difference| Err(another(difference)))
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if used {
                    Err(StoreError::Foreign(folder.display().to_string()))
                } else {
                    Ok(())
                }
            }
            Err(error) => Err(FileError::at(&file, error).into()),
        }
    }

    /// Folder of the store.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// True for a run whose record is there.
    pub fn has(&self, key: &str) -> bool {
        self.records.has(key)
    }

    /// Claims a run; `None` where its record is there, or where another process or thread makes it.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn claim(&self, key: &str) -> Result<Option<Claim<'_>>, StoreError> {
        Ok(self.records.claim(key)?)
    }

    /// Puts a record that was made elsewhere into the store. A record that is there already stays.
    ///
    /// # Errors
    /// Bytes that are no record of this run, or a file that can't be written.
    pub fn put(&self, key: &str, bytes: &[u8]) -> Result<(), StoreError> {
        let broken = |reason: String| StoreError::Broken { path: key.into(), reason };
        let record = Record::parse(bytes).map_err(|error| broken(error.to_string()))?;
        if record.key() != key {
            return Err(broken(format!("it is the record of run {}", record.key())));
        }
        Ok(self.claim(key)?.map_or(Ok(()), |claim| claim.put(bytes))?)
    }

    /// Record of a run; `None` where it is not there.
    ///
    /// # Errors
    /// A file that can't be read, or that is no record.
    pub fn get(&self, key: &str) -> Result<Option<Record>, StoreError> {
        let path = self.records.path(key).display().to_string();
        let parsed = |bytes: Vec<u8>| {
            Record::parse(&bytes).map_err(|error| StoreError::Broken { path, reason: error.to_string() })
        };
        self.records.read(key)?.map(parsed).transpose()
    }

    /// Writes a file of the folder whole: under another name first, then by a rename.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), StoreError> {
        Ok(write(&self.folder, name, bytes)?)
    }
}

/// True for a folder with files other than a description that is being written.
fn used(folder: &Path) -> bool {
    let begun = |name: &OsStr| name.to_string_lossy().starts_with(&format!(".{DESCRIPTION}."));
    folder.read_dir().is_ok_and(|entries| entries.flatten().any(|entry| !begun(&entry.file_name())))
}

/// Writes a file of a folder whole: under a name of this call first, then by a rename.
fn write(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), FileError> {
    static WRITTEN: AtomicUsize = AtomicUsize::new(0);
    let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
    let path = folder.join(name);
    let temporary = folder.join(format!(".{name}.{}.{number}", std::process::id()));
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(|error| FileError::at(folder, error))?;
    }
    fs::write(&temporary, bytes).map_err(|error| FileError::at(&temporary, error))?;
    fs::rename(&temporary, &path).map_err(|error| FileError::at(&path, error))
}
