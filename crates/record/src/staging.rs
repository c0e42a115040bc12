//! Files that appear in a folder all together: if the program is killed meanwhile, the files before them are whole, or
//! there are none.

use std::fs::{self, File, TryLockError};
use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

/// Beginning of the name of a folder that a program writes into before its files get their places.
const PREFIX: &str = ".part-";
/// File in it that is locked while its program lives.
const LOCK: &str = "lock";

/// Folder inside another one, in which files wait until all of them are there. It goes when it is dropped.
#[derive(Debug)]
pub struct Staging {
    folder: PathBuf,
    /// The lock ends with its process, however that ends.
    _lock: File,
}

impl Staging {
    /// Makes the folder inside that of the results, which is made if it is missing, and removes such folders of
    /// programs that have ended.
    ///
    /// # Errors
    /// An error of the system, with the path.
    pub fn new(results: &Path) -> io::Result<Self> {
        fs::create_dir_all(results).map_err(|error| named(results, &error))?;
        let _held = hold(results);
        sweep(results);
        static MADE: AtomicUsize = AtomicUsize::new(0);
        // Of two programs or threads that write the same folder each has its own.
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = results.join(format!("{PREFIX}{}-{number}", std::process::id()));
        let lock = folder.join(LOCK);
        fs::create_dir(&folder).map_err(|error| named(&folder, &error))?;
        let file = File::create(&lock).map_err(|error| named(&lock, &error))?;
        file.lock().map_err(|error| named(&lock, &error))?;
        Ok(Self { folder, _lock: file })
    }

    /// Path of the folder.
    pub fn path(&self) -> &Path {
        &self.folder
    }

    /// Writes a file, by its path inside the folder.
    ///
    /// # Errors
    /// An error of the system, with the path, or that of `write`.
    pub fn write(
        &self,
        name: impl AsRef<Path>,
        write: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
    ) -> io::Result<()> {
        let path = self.folder.join(name);
        make_parent(&path)?;
        let written = File::create(&path).map(BufWriter::new).and_then(|mut file| {
            write(&mut file)?;
            file.flush()
        });
        written.map_err(|error| named(&path, &error))
    }

    /// Ends the folder: removes files of the results' folder, in the order of `old`, and then puts those that were written there, in the
    /// order of `new`. The file that shows that there is a result should be the first of the old files and the last of the new ones.
    ///
    /// # Errors
    /// An error of the system, with the path.
    pub fn replace<'a>(
        self,
        results: &Path,
        old: impl IntoIterator<Item = &'a str>,
        new: impl IntoIterator<Item = impl AsRef<Path>>,
    ) -> io::Result<()> {
        for name in old {
            remove(&results.join(name))?;
        }
        for name in new {
            let path = results.join(&name);
            make_parent(&path)?;
            fs::rename(self.folder.join(&name), &path).map_err(|error| named(&path, &error))?;
        }
        Ok(())
    }
}

impl Drop for Staging {
    fn drop(&mut self) {
        // What can't be removed now is removed by the next program that writes here.
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Removes what programs left in a folder that were killed while they wrote.
pub fn clean(results: &Path) {
    let _held = hold(results);
    sweep(results);
}

/// Keeps other programs from making or removing such folders as long as it is kept: until a new one is locked, it looks like that of a
/// program that has ended. `None` where a folder can't be locked, on Windows and on some network drives: there the window stays.
fn hold(results: &Path) -> Option<File> {
    let folder = File::open(results).ok()?;
    folder.lock().ok()?;
    Some(folder)
}

fn sweep(results: &Path) {
    for entry in results.read_dir().into_iter().flatten().flatten() {
        if !entry.file_name().to_string_lossy().starts_with(PREFIX) {
            continue;
        }
        let is_alive = File::open(entry.path().join(LOCK))
            .is_ok_and(|lock| matches!(lock.try_lock(), Err(TryLockError::WouldBlock)));
        if !is_alive {
            // Another program may remove it as well.
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

/// Writes files, by their paths inside the folder, in place of old ones, as [`Staging::replace`] does. Each file's text is made when the
/// file before is on the disk.
///
/// # Errors
/// An error of the system, with the path, or that of a text. If a file could not be written, nothing has changed.
pub fn replace<'a>(
    folder: &Path,
    old: impl IntoIterator<Item = &'a str>,
    files: impl IntoIterator<Item = io::Result<(impl AsRef<Path>, impl AsRef<[u8]>)>>,
) -> io::Result<()> {
    let staged = Staging::new(folder)?;
    let mut written = Vec::new();
    for file in files {
        let (name, text) = file?;
        staged.write(&name, |file| file.write_all(text.as_ref()))?;
        written.push(name);
    }
    staged.replace(folder, old, written)
}

/// Writes one file in place of an old one.
///
/// # Errors
/// An error of the system, with the path. If the file could not be written, nothing has changed.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let name = path.file_name().ok_or_else(|| named(path, &io::ErrorKind::InvalidFilename.into()))?;
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    replace(folder, [], [Ok((name, bytes))])
}

fn make_parent(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), |parent| fs::create_dir_all(parent).map_err(|error| named(parent, &error)))
}

/// Removes a file or a folder, if it is there.
///
/// # Errors
/// An error of the system, with the path.
pub fn remove(path: &Path) -> io::Result<()> {
    let removed = if path.is_dir() { fs::remove_dir_all(path) } else { fs::remove_file(path) };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(named(path, &error)),
        _ => Ok(()),
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_killed_program_left_goes_and_what_a_living_one_writes_stays() {
        let folder = std::env::temp_dir().join(format!("tidemark-whole-{}", std::process::id()));
        let [dead, alive] = ["1", "2"].map(|of| folder.join(format!("{PREFIX}{of}")));
        for staged in [&dead, &alive] {
            fs::create_dir_all(staged).unwrap();
            fs::write(staged.join(LOCK), "").unwrap();
        }
        let lock = File::open(alive.join(LOCK)).unwrap();
        lock.lock().unwrap();
        replace(&folder, ["old"], [Ok(("deep/new", "text"))]).unwrap();
        assert_eq!(fs::read_to_string(folder.join("deep/new")).unwrap(), "text");
        assert!(!dead.exists() && alive.exists());
        drop(lock);
        drop(Staging::new(&folder).unwrap());
        assert_eq!(folder.read_dir().unwrap().count(), 1);
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_file_that_can_not_be_replaced_stays_as_it_is() {
        let folder = std::env::temp_dir().join(format!("tidemark-file-{}", std::process::id()));
        let file = folder.join("page.html");
        replace_file(&file, b"old").unwrap();
        replace_file(&file, b"new").unwrap();
        assert_eq!((fs::read(&file).unwrap(), folder.read_dir().unwrap().count()), (b"new".to_vec(), 1));
        // A folder is no file.
        assert!(replace_file(&folder, b"text").is_err() && replace_file(Path::new("/"), b"text").is_err());
        assert_eq!(fs::read(&file).unwrap(), b"new");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn no_program_takes_another_that_begins_for_one_that_has_ended() {
        let folder = std::env::temp_dir().join(format!("tidemark-begins-{}", std::process::id()));
        std::thread::scope(|threads| {
            for _ in 0..4 {
                threads.spawn(|| {
                    for _ in 0..200 {
                        let staged = Staging::new(&folder).unwrap();
                        fs::write(staged.path().join("file"), "text").unwrap();
                    }
                });
            }
        });
        assert_eq!(folder.read_dir().unwrap().count(), 0);
        fs::remove_dir(folder).unwrap();
    }
}
