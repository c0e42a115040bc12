//! Records by their keys, in a folder that several processes may share.
//!
//! A record that is to be made is claimed by a locked file, whose lock ends with its process. The record is written into that file,
//! which then gets its place by a rename: a record is there whole or not at all.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Folder of records.
const RUNS: &str = "runs";
/// Folder of records that are being made.
const CLAIMS: &str = "under-way";

/// Records in a folder.
#[derive(Clone, Debug)]
pub struct Records {
    folder: PathBuf,
}

/// A record that this process makes, and no other one, until it is dropped.
#[derive(Debug)]
pub struct Claim<'a> {
    records: &'a Records,
    key: String,
    file: File,
}

/// A file or folder that can't be used.
#[derive(Debug, Error)]
#[error("{path}: {error}: name another folder with --out")]
pub struct FileError {
    /// File or folder.
    path: String,
    /// Error in the system's words.
    error: io::Error,
}

impl FileError {
    /// Error of the system at a file or folder.
    pub(crate) fn at(path: &Path, error: io::Error) -> Self {
        Self { path: path.display().to_string(), error }
    }
}

impl Records {
    /// Opens a folder of records, or makes it.
    ///
    /// # Errors
    /// A folder that can't be written.
    pub fn open(folder: &Path) -> Result<Self, FileError> {
        for part in [RUNS, CLAIMS] {
            let part = folder.join(part);
            fs::create_dir_all(&part).map_err(|error| FileError::at(&part, error))?;
        }
        Ok(Self { folder: folder.to_path_buf() })
    }

    /// True for a record that is there.
    pub fn has(&self, key: &str) -> bool {
        self.path(key).exists()
    }

    /// Claims a record; `None` where it is there, or where another process or thread makes it.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn claim(&self, key: &str) -> Result<Option<Claim<'_>>, FileError> {
        let path = self.under_way(key);
        let file = OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(|error| FileError::at(&path, error))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Ok(None),
            Err(TryLockError::Error(error)) => return Err(FileError::at(&path, error)),
        }
        if self.has(key) {
            // The file was made after the record had gone to its place, or is that record itself: then it has no name here.
            let _ = fs::remove_file(&path);
            return Ok(None);
        }
        Ok(Some(Claim { records: self, key: key.into(), file }))
    }

    /// Bytes of a record; `None` where it is not there.
    ///
    /// # Errors
    /// A file that can't be read.
    pub fn read(&self, key: &str) -> Result<Option<Vec<u8>>, FileError> {
        let path = self.path(key);
        match fs::read(&path) {
            Ok(bytes) => Ok(Some(bytes)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(FileError::at(&path, error)),
        }
    }

    /// File of a record.
    pub(crate) fn path(&self, key: &str) -> PathBuf {
        self.folder.join(RUNS).join(format!("{key}.json"))
    }

    fn under_way(&self, key: &str) -> PathBuf {
        self.folder.join(CLAIMS).join(format!("{key}.json"))
    }
}

impl Claim<'_> {
    /// Puts the record in its place.
    ///
    /// # Errors
    /// A file that can't be written.
    pub fn put(mut self, bytes: &[u8]) -> Result<(), FileError> {
        let path = self.records.under_way(&self.key);
        // What a process left that was killed while it wrote.
        self.file.set_len(0).and_then(|()| self.file.write_all(bytes)).map_err(|error| FileError::at(&path, error))?;
        let record = self.records.path(&self.key);
        fs::rename(&path, &record).map_err(|error| FileError::at(&record, error))
    }
}
