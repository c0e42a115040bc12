//! Number of each live cell of this machine, and a journal of the cell's changes of the host's network.
//!
//! A lock holds the number; the kernel releases it when the process ends, however it ends. A journal without its
//! lock was left behind by a killed process: the next start in its network namespace undoes it, and until then its number stays taken.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use crate::addresses::CELLS;
use crate::error::Error;
use crate::journal::{Change, Journal};

/// File whose lock is held while numbers are claimed or changes are undone.
const LOCK: &str = "turn";

/// Number of a live cell, held until the value is dropped; then every change in its journal is undone.
#[derive(Debug)]
pub struct Lease {
    number: u32,
    folder: PathBuf,
    journal: Journal,
}

impl Lease {
    /// Undoes the changes that killed processes left, and takes the first free number.
    ///
    /// # Errors
    /// A folder that cannot be written, or no number is free.
    pub fn claim() -> Result<Self, Error> {
        Self::claim_in(folder()?)
    }

    fn claim_in(folder: PathBuf) -> Result<Self, Error> {
        // One process at a time claims or undoes, since a setting may go from one journal to another meanwhile.
        let _lock = lock(&folder)?;
        let mut free = None;
        for number in 0..CELLS {
            let path = folder.join(number.to_string());
            if free.is_some() && !path.exists() {
                continue;
            }
            let Some(mut journal) = Journal::open(&path)? else { continue };
            if clear(&folder, number, &mut journal) {
                free.get_or_insert((number, journal));
            }
        }
        let (number, mut journal) = free.ok_or(Error::TooMany(CELLS))?;
        journal.begin();
        Ok(Self { number, folder, journal })
    }

    /// Number of the cell.
    pub fn number(&self) -> u32 {
        self.number
    }

    /// Path of this cell's control socket.
    pub fn socket(&self) -> PathBuf {
        socket(&self.folder, self.number)
    }

    /// Notes a change before it is made.
    pub(crate) fn note(&mut self, change: &Change) -> Result<(), Error> {
        self.journal.note(change)
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        let _lock = lock(&self.folder);
        clear(&self.folder, self.number, &mut self.journal);
    }
}

/// Control sockets of live cells that this user may reach, with the cells' numbers.
pub fn sockets() -> Vec<(u32, PathBuf)> {
    let Ok(folder) = folder() else { return Vec::new() };
    let path = |number: u32| (number, socket(&folder, number));
    (0..CELLS).map(path).filter(|(_, path)| path.exists()).collect()
}

/// Number of the live cell that this process runs; `None` before it has one, and once it has ended.
pub fn number_of(process: u32) -> Option<u32> {
    number_in(&folder().ok()?, process)
}

/// Number of the journal in this folder that a process holds open.
fn number_in(folder: &Path, process: u32) -> Option<u32> {
    // What a process has open is shown without links.
    let folder = folder.canonicalize().ok()?;
    let files = fs::read_dir(format!("/proc/{process}/fd")).ok()?.flatten();
    let opened = files.filter_map(|file| fs::read_link(file.path()).ok());
    opened.filter(|path| path.parent() == Some(&folder)).find_map(|path| path.file_name()?.to_str()?.parse().ok())
}

/// Folder of the locks: one for all users where this process may write there, else one for this user.
fn folder() -> Result<PathBuf, Error> {
    let user = rustix::process::getuid().as_raw();
    // In a user namespace of its own everybody is root, and /tmp is everybody's.
    let outside = fs::read_to_string("/proc/self/uid_map").ok().and_then(|map| uid_outside(&map, user)).unwrap_or(user);
    let runtime = std::env::var_os("XDG_RUNTIME_DIR").map(|folder| PathBuf::from(folder).join("tidemark"));
    let own = [Some(PathBuf::from("/run/tidemark")), runtime].into_iter().flatten();
    match own.into_iter().find(|folder| claim_folder(folder).is_ok()) {
        Some(folder) => Ok(folder),
        None => folder_among_others(Path::new("/tmp"), &format!("tidemark-{outside}")),
    }
}

/// Makes the user's folder below one where everybody may write. Where somebody else has taken its name, one with a random ending serves,
/// which later processes find: it is this user's alone.
fn folder_among_others(parent: &Path, name: &str) -> Result<PathBuf, Error> {
    let fixed = parent.join(name);
    if claim_folder(&fixed).is_ok() {
        return Ok(fixed);
    }
    let said = || format!("a folder {}.* of this user alone", fixed.display());
    let prefix = format!("{name}.");
    let others = || {
        let entries = fs::read_dir(parent).into_iter().flatten().flatten();
        let named = entries.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(&prefix)));
        let mut folders: Vec<_> = named.map(|entry| entry.path()).filter(|path| is_own(path)).collect();
        folders.sort();
        folders.into_iter().next()
    };
    if others().is_none() {
        let mut ending = [0; 8];
        rustix::rand::getrandom(&mut ending, rustix::rand::GetRandomFlags::empty())
            .map_err(Error::errno("random bytes"))?;
        let made = parent.join(format!("{prefix}{:016x}", u64::from_ne_bytes(ending)));
        DirBuilder::new().mode(0o700).create(made).map_err(Error::system(said()))?;
    }
    // Of two processes that made one at a time both take the first, if each looks after it has made its own.
    others().ok_or_else(|| Error::system(said())(io::ErrorKind::NotFound.into()))
}

/// Makes a folder, unless it is there, and makes sure that it is this user's alone and can be written.
fn claim_folder(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    if !is_own(folder) {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    File::create(folder.join(LOCK)).map(drop)
}

/// True for a folder, and no link to one, that is this user's and that nobody else may write: what somebody else put there could name
/// settings to be undone.
fn is_own(folder: &Path) -> bool {
    let user = rustix::process::getuid().as_raw();
    fs::symlink_metadata(folder)
        .is_ok_and(|metadata| metadata.is_dir() && metadata.uid() == user && metadata.mode() & 0o022 == 0)
}

fn lock(folder: &Path) -> Result<File, Error> {
    let file = File::create(folder.join(LOCK)).map_err(Error::system("the lock of live cells"))?;
    flock(&file, FlockOperation::LockExclusive).map_err(Error::errno("the lock of live cells"))?;
    Ok(file)
}

/// User id outside of the user namespace for an id inside, by its map: ids inside, ids outside, count (user_namespaces(7)).
fn uid_outside(map: &str, inside: u32) -> Option<u32> {
    map.lines().find_map(|line| {
        let mut numbers = line.split_whitespace().map(str::parse::<u32>);
        let mut next = || numbers.next()?.ok();
        let (first, outside, length) = (next()?, next()?, next()?);
        inside.checked_sub(first).filter(|offset| *offset < length).map(|offset| outside + offset)
    })
}

fn socket(folder: &Path, number: u32) -> PathBuf {
    folder.join(format!("{number}.ctl"))
}

/// Removes the control socket of this journal's cell and undoes its changes; false if the changes are another namespace's and stay.
fn clear(folder: &Path, number: u32, journal: &mut Journal) -> bool {
    let _ = fs::remove_file(socket(folder, number));
    // A setting that another live cell here needs is that cell's to restore.
    let others = || (0..CELLS).filter(|other| *other != number).map(|other| folder.join(other.to_string()));
    journal.undo(|network, setting| others().any(|other| Journal::hand_over(&other, network, setting)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Child, Command};
    use std::thread::sleep;
    use std::time::Duration;

    fn inode(path: &str) -> String {
        fs::metadata(path).unwrap().ino().to_string()
    }

    /// A folder with the journal of a killed cell 0 of this network namespace, and the setting that it changed.
    fn left_behind(network: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let setting = folder.path().join("setting");
        fs::write(&setting, "of the cell").unwrap();
        let processes = inode("/proc/self/ns/pid");
        let journal = format!("netns {network}\npidns {processes}\nsysctl {} of before\n", setting.display());
        fs::write(folder.path().join("0"), journal).unwrap();
        (folder, setting)
    }

    #[test]
    fn what_a_killed_cell_left_here_is_undone() {
        let (folder, setting) = left_behind(&inode("/proc/self/ns/net"));
        let lease = Lease::claim_in(folder.path().into()).unwrap();
        assert_eq!((lease.number(), fs::read_to_string(setting).unwrap().as_str()), (0, "of before"));
        let other = Lease::claim_in(folder.path().into()).unwrap();
        assert_eq!(other.number(), 1);
    }

    #[test]
    fn a_process_is_found_by_its_own_cell_and_no_other() {
        let folder = tempfile::tempdir().unwrap();
        // Another process' cell, which has the first number.
        let journal = folder.path().join("0");
        let locked = "exec 9> \"$0\" && flock 9 && echo && read _";
        let piped = std::process::Stdio::piped;
        let mut other =
            Command::new("sh").args(["-c", locked]).arg(&journal).stdin(piped()).stdout(piped()).spawn().unwrap();
        std::io::Read::read_exact(other.stdout.as_mut().unwrap(), &mut [0]).unwrap();
        let lease = Lease::claim_in(folder.path().into()).unwrap();
        let of = |process| number_in(folder.path(), process);
        assert_eq!((of(other.id()), of(std::process::id())), (Some(0), Some(1)));
        drop(lease);
        assert_eq!(of(std::process::id()), None);
        drop(other.stdin.take());
        other.wait().unwrap();
        assert_eq!(of(other.id()), None);
    }

    #[test]
    fn a_setting_that_another_cell_here_needs_is_restored_by_that_one() {
        let (folder, setting) = left_behind(&inode("/proc/self/ns/net"));
        let (journal, put_by) = (folder.path().join("0"), folder.path().join("left"));
        fs::rename(&journal, &put_by).unwrap();
        let first = Lease::claim_in(folder.path().into()).unwrap();
        let second = Lease::claim_in(folder.path().into()).unwrap();
        drop(first);
        fs::rename(put_by, journal).unwrap();
        let first = Lease::claim_in(folder.path().into()).unwrap();
        assert_eq!((first.number(), second.number()), (0, 1));
        assert_eq!(fs::read_to_string(&setting).unwrap(), "of the cell");
        drop((first, second));
        assert_eq!(fs::read_to_string(&setting).unwrap(), "of before");
    }

    /// A process in a network namespace of its own; `None` where the system makes none.
    fn elsewhere() -> Option<(Child, String)> {
        let unshare = ["--user", "--map-root-user", "--net", "sleep", "60"];
        let mut child = Command::new("unshare").args(unshare).stderr(std::process::Stdio::null()).spawn().ok()?;
        let path = format!("/proc/{}/ns/net", child.id());
        while child.try_wait().ok()?.is_none() {
            let network = inode(&path);
            if network != inode("/proc/self/ns/net") {
                return Some((child, network));
            }
            sleep(Duration::from_millis(5));
        }
        None
    }

    fn is_everybody_seen() -> bool {
        let refused = |process: fs::DirEntry| {
            let namespace = fs::read_link(process.path().join("ns/net"));
            namespace.is_err_and(|error| error.kind() == io::ErrorKind::PermissionDenied)
        };
        !fs::read_dir("/proc").unwrap().flatten().any(refused)
    }

    #[test]
    fn what_was_changed_in_another_network_namespace_waits_until_that_is_gone() {
        let Some((mut child, network)) = elsewhere() else {
            return eprintln!("SKIPPED: no network namespace may be made here");
        };
        let (folder, setting) = left_behind(&network);
        let journal = || fs::read_to_string(folder.path().join("0")).unwrap();
        let before = journal();
        let claimed = Lease::claim_in(folder.path().into()).unwrap();
        let while_there = (claimed.number(), journal() == before);
        drop(claimed);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(while_there, (1, true));
        // It was never this namespace's.
        assert_eq!(fs::read_to_string(setting).unwrap(), "of the cell");
        if !is_everybody_seen() {
            return eprintln!("SKIPPED: not even root sees the namespaces of all processes here");
        }
        assert_eq!(Lease::claim_in(folder.path().into()).unwrap().number(), 0);
    }

    #[test]
    fn root_of_a_user_namespace_is_somebody_outside() {
        assert_eq!(uid_outside("         0          0 4294967295\n", 1000), Some(1000));
        assert_eq!(uid_outside("         0       1000          1\n", 0), Some(1000));
        assert_eq!(uid_outside("0 1000 1\n1 100000 65536\n", 2), Some(100_001));
        assert_eq!(uid_outside("0 1000 1\n", 5), None);
        assert_eq!(uid_outside("", 0), None);
    }

    #[test]
    fn a_squatted_name_leads_to_a_folder_that_only_this_user_knows_of() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        /// Takes a name before its user does.
        type Squat = fn(&Path);
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        let squat: [(&str, Squat); 4] = [
            ("a file", |path| fs::write(path, "").unwrap()),
            ("a link", |path| symlink("/", path).unwrap()),
            ("a folder for everybody", |path| {
                fs::create_dir(path).unwrap();
                fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
            }),
            ("a folder of somebody else", |path| {
                fs::create_dir(path).unwrap();
                // Only root can give a folder away: for others it is one that everybody may write, as above.
                if std::os::unix::fs::chown(path, Some(65_534), None).is_err() {
                    fs::set_permissions(path, fs::Permissions::from_mode(0o777)).unwrap();
                }
            }),
        ];
        for (what, squat) in squat {
            let parent = tempfile::tempdir().unwrap();
            let name = parent.path().join("tidemark-7");
            squat(&name);
            // So does somebody who guesses how another folder's name begins.
            squat(&parent.path().join("tidemark-7.0"));
            let folder = folder_among_others(parent.path(), "tidemark-7").unwrap();
            assert!(folder != name && is_own(&folder) && mode(&folder) == 0o700, "{what}: {folder:?}");
            assert_eq!(folder_among_others(parent.path(), "tidemark-7").unwrap(), folder, "{what}: the next finds it");
            assert_eq!(Lease::claim_in(folder).unwrap().number(), 0);
        }
    }

    #[test]
    fn a_name_that_nobody_took_is_the_users_folder() {
        let parent = tempfile::tempdir().unwrap();
        let folder = folder_among_others(parent.path(), "tidemark-7").unwrap();
        assert_eq!((folder.clone(), is_own(&folder)), (parent.path().join("tidemark-7"), true));
    }
}
