//! Journal of what a live cell changes outside of its own namespaces, in a file that outlives a `kill -9`.

use std::fs::{self, File, OpenOptions};
use std::io::{ErrorKind, Read as _, Seek as _, Write as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use rustix::fs::{FlockOperation, flock};

use crate::error::Error;

/// Number of the process namespace that sees every process of the machine (`PROC_PID_INIT_INO` of Linux' include/linux/proc_ns.h).
const INITIAL_PID_NAMESPACE: &str = "4026531836";

/// Change of the host's network, to be undone.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Change {
    /// Table of this name that was added to nftables.
    Table(String),
    /// File of /proc/sys, with the value that it had before.
    Sysctl(PathBuf, String),
}

/// Journal of this process' cell, or of one that has ended. Its file is locked until the value is dropped.
#[derive(Debug)]
pub(crate) struct Journal(File);

impl Journal {
    /// Opens a journal and locks it; `None` while its cell runs.
    pub(crate) fn open(path: &Path) -> Result<Option<Self>, Error> {
        let open = OpenOptions::new().read(true).append(true).create(true).open(path);
        let file = open.map_err(Error::system(path.display().to_string()))?;
        Ok(flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok().then_some(Self(file)))
    }

    /// Writes the namespaces of this process: the network namespace that changes are made in, and the process namespace that
    /// shows which processes are left there.
    pub(crate) fn begin(&mut self) {
        for (key, kind) in [("netns", "net"), ("pidns", "pid")] {
            if let Some(number) = own(kind) {
                let _ = writeln!(self.0, "{key} {number}");
            }
        }
    }

    /// Notes a change before it is made.
    pub(crate) fn note(&mut self, change: &Change) -> Result<(), Error> {
        writeln!(self.0, "{}", line(change)).map_err(Error::system("the journal of this cell"))
    }

    /// Undoes the changes of the journal, last change first, and empties it. `keep` is true for a setting that another cell in the
    /// network namespace of this number took over. False where the changes were made in another network namespace that is
    /// still there: the next cell that starts in it undoes them.
    pub(crate) fn undo(&mut self, keep: impl Fn(&str, &Change) -> bool) -> bool {
        let mut text = String::new();
        let _ = self.0.rewind().and_then(|()| self.0.read_to_string(&mut text));
        let changes: Vec<_> = text.lines().filter_map(parse).collect();
        let network = value(&text, "netns ").unwrap_or_default();
        if own("net").as_deref() == Some(network) {
            for change in changes.iter().rev() {
                match change {
                    Change::Table(name) => {
                        let _ = Command::new("nft").args(["delete", "table", "inet", name]).output();
                    }
                    Change::Sysctl(path, value) => {
                        if !keep(network, change) {
                            let _ = fs::write(path, value);
                        }
                    }
                }
            }
        } else if !changes.is_empty() && !is_gone(network, value(&text, "pidns ")) {
            return false;
        }
        let _ = self.0.set_len(0);
        true
    }

    /// Notes a change in the journal at this path, if its cell runs in this network namespace.
    pub(crate) fn hand_over(path: &Path, network: &str, change: &Change) -> bool {
        let lives = path.exists() && matches!(Self::open(path), Ok(None));
        let here = || fs::read_to_string(path).is_ok_and(|text| value(&text, "netns ") == Some(network));
        let note = |mut file: File| writeln!(file, "{}", line(change));
        lives && here() && OpenOptions::new().append(true).open(path).and_then(note).is_ok()
    }
}

fn line(change: &Change) -> String {
    match change {
        Change::Table(name) => format!("table {name}"),
        Change::Sysctl(path, value) => format!("sysctl {} {value}", path.display()),
    }
}

fn parse(line: &str) -> Option<Change> {
    let (kind, rest) = line.split_once(' ')?;
    match kind {
        "table" => Some(Change::Table(rest.into())),
        "sysctl" => rest.split_once(' ').map(|(path, value)| Change::Sysctl(path.into(), value.into())),
        _ => None,
    }
}

/// Text behind `key` on the first line that begins with it.
fn value<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| line.strip_prefix(key))
}

/// Number of the calling thread's namespace of this kind.
fn own(kind: &str) -> Option<String> {
    fs::metadata(format!("/proc/thread-self/ns/{kind}")).ok().map(|file| file.ino().to_string())
}

/// True if a network namespace ended, and its settings with it. False where that can't be known, since this process does not see
/// all the processes that the journal's cell saw from its process namespace.
fn is_gone(network: &str, processes: Option<&str>) -> bool {
    let seen_from = own("pid");
    if seen_from.as_deref() != Some(INITIAL_PID_NAMESPACE) && seen_from.as_deref() != processes {
        return false;
    }
    let name = format!("net:[{network}]");
    // `ip netns` keeps a namespace by a mount.
    let is_mounted = fs::read_to_string("/proc/self/mountinfo").map_or(true, |mounts| mounts.contains(&name));
    let Ok(entries) = fs::read_dir("/proc") else { return false };
    let is_elsewhere = |process: PathBuf| match fs::read_link(process.join("ns/net")) {
        Ok(namespace) => namespace != Path::new(&name),
        // It has ended, or is no process but another entry.
        Err(error) => matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory),
    };
    !is_mounted && entries.flatten().all(|entry| is_elsewhere(entry.path()))
}
