//! One number for each live cell of this machine, and a journal of what the cell changed outside.
//!
//! The number is held by a lock that the kernel lets go when the process ends, however it ends. A journal without its
//! lock is what a killed process left behind: the next start undoes it.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Read as _, Seek as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FlockOperation, flock};

use crate::addresses::CELLS;
use crate::error::Error;

/// The number of a live cell, held until it is dropped; then everything in its journal is undone.
#[derive(Debug)]
pub struct Lease {
    number: u32,
    folder: PathBuf,
    journal: File,
}

/// What a cell changed outside of its own namespaces.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// The table of this name was added to nftables.
    Table(String),
    /// This file of /proc/sys had this value.
    Sysctl(PathBuf, String),
}

impl Lease {
    /// Clears what killed processes left and takes the first free number.
    ///
    /// # Errors
    /// A folder that cannot be written, or no number is free.
    pub fn claim() -> Result<Self, Error> {
        let folder = folder()?;
        // Everybody who claims or undoes waits here for the others.
        let _turn = turn(&folder)?;
        let mut free = None;
        for number in 0..CELLS {
            let path = folder.join(number.to_string());
            if free.is_some() && !path.exists() {
                continue;
            }
            let Some(mut journal) = open_unlocked(&path)? else { continue };
            undo(&folder, number, &mut journal);
            free.get_or_insert((number, journal));
        }
        let (number, mut journal) = free.ok_or(Error::TooMany(CELLS))?;
        if let Some(namespace) = own_namespace() {
            let _ = writeln!(journal, "netns {namespace}");
        }
        Ok(Self { number, folder, journal })
    }

    /// The number.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Where this cell's control socket is to be.
    pub fn socket(&self) -> PathBuf {
        self.folder.join(format!("{}.ctl", self.number))
    }

    /// Notes a change before it is made.
    pub(crate) fn note(&mut self, change: &Change) -> Result<(), Error> {
        let line = match change {
            Change::Table(name) => format!("table {name}"),
            Change::Sysctl(path, value) => format!("sysctl {} {value}", path.display()),
        };
        writeln!(self.journal, "{line}").map_err(Error::system("the journal of this cell"))
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _turn = turn(&self.folder);
        undo(&self.folder, self.number, &mut self.journal);
    }
}

/// The control sockets of live cells that this user may reach, with the cells' numbers.
pub fn sockets() -> Vec<(u32, PathBuf)> {
    let Ok(folder) = folder() else { return Vec::new() };
    let path = |number: u32| (number, folder.join(format!("{number}.ctl")));
    (0..CELLS).map(path).filter(|(_, path)| path.exists()).collect()
}

/// Where numbers are taken: for all users where this process may write there, else for this user.
fn folder() -> Result<PathBuf, Error> {
    let user = rustix::process::getuid().as_raw();
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| PathBuf::from(folder).join("tidemark"));
    let places = [Some(PathBuf::from("/run/tidemark")), runtime, Some(PathBuf::from(format!("/tmp/tidemark-{user}")))];
    let mut refusal = None;
    for place in places.into_iter().flatten() {
        let made = DirBuilder::new().recursive(true).mode(0o700).create(&place);
        // A folder that somebody else put there could say what to undo.
        let ours = made.and_then(|()| match fs::symlink_metadata(&place)?.uid() {
            owner if owner == user => File::create(place.join("turn")),
            _ => Err(io::ErrorKind::PermissionDenied.into()),
        });
        match ours {
            Ok(_) => return Ok(place),
            Err(error) => refusal = Some((place, error)),
        }
    }
    let (place, error) = refusal.unwrap_or_else(|| unreachable!("places were tried"));
    Err(Error::system(format!("{}", place.display()))(error))
}

fn turn(folder: &Path) -> Result<File, Error> {
    let file = File::create(folder.join("turn")).map_err(Error::system("the lock of live cells"))?;
    flock(&file, FlockOperation::LockExclusive).map_err(Error::errno("the lock of live cells"))?;
    Ok(file)
}

/// Opens a journal and locks it; `None` where its cell lives.
fn open_unlocked(path: &Path) -> Result<Option<File>, Error> {
    let open = OpenOptions::new().read(true).append(true).create(true).open(path);
    let file = open.map_err(Error::system(path.display().to_string()))?;
    Ok(flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(file))
}

/// Undoes a journal, last change first, and empties it.
fn undo(folder: &Path, number: u32, journal: &mut File) {
    let mut text = String::new();
    let read = journal.rewind().and_then(|()| journal.read_to_string(&mut text));
    let namespace = text.lines().find_map(|line| line.strip_prefix("netns ")).unwrap_or_default().to_string();
    // What another namespace was told ends with that namespace, whose processes were this cell's.
    if read.is_ok() && Some(&namespace) == own_namespace().as_ref() {
        for change in text.lines().rev().filter_map(parse) {
            match change {
                Change::Table(name) => {
                    let _ = Command::new("nft").args(["delete", "table", "inet", &name]).output();
                }
                Change::Sysctl(path, value) => {
                    // A setting that another live cell here needs is that cell's to restore.
                    if !hand_over(folder, number, &namespace, &path, &value) {
                        let _ = fs::write(path, value);
                    }
                }
            }
        }
    }
    let _ = journal.set_len(0);
    let _ = fs::remove_file(folder.join(format!("{number}.ctl")));
}

/// Writes the old value of a setting into the journal of another live cell in the same namespace.
fn hand_over(folder: &Path, number: u32, namespace: &str, path: &Path, value: &str) -> bool {
    (0..CELLS).filter(|other| *other != number).any(|other| {
        let file = folder.join(other.to_string());
        let lives = file.exists() && matches!(open_unlocked(&file), Ok(None));
        let here = || fs::read_to_string(&file).is_ok_and(|text| text.contains(&format!("netns {namespace}\n")));
        lives
            && here()
            && OpenOptions::new()
                .append(true)
                .open(&file)
                .and_then(|mut journal| writeln!(journal, "sysctl {} {value}", path.display()))
                .is_ok()
    })
}

fn parse(line: &str) -> Option<Change> {
    let (kind, rest) = line.split_once(' ')?;
    match kind {
        "table" => Some(Change::Table(rest.into())),
        "sysctl" => rest.split_once(' ').map(|(path, value)| Change::Sysctl(path.into(), value.into())),
        _ => None,
    }
}

/// The network namespace of the calling thread.
fn own_namespace() -> Option<String> {
    fs::metadata("/proc/thread-self/ns/net").ok().map(|file| file.ino().to_string())
}
