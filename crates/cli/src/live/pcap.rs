//! `--pcap`: captures every packet on both sides of the cell. A separate thread writes, so that the disk delays no slot.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use miette::{Result, miette};
use tidemark_core::Instant;

/// Most packets that wait for the disk; more are not captured, only counted.
const WAITING: usize = 16_384;

/// A packet for one of the files.
struct Frame {
    file: usize,
    at: Instant,
    bytes: Vec<u8>,
}

/// Takes packets for the files.
pub(super) struct Capture {
    frames: SyncSender<Frame>,
    lost: u64,
}

/// The thread that writes; it ends with its [`Capture`].
pub(super) struct Writer(JoinHandle<io::Result<()>>);

/// Opens `core.pcap` and a file for each UE in this folder.
pub(super) fn open(folder: &Path, ues: &[String]) -> Result<(Capture, Writer)> {
    std::fs::create_dir_all(folder).map_err(|error| miette!("{}: {error}", folder.display()))?;
    let paths: Vec<PathBuf> = stems(ues).iter().map(|stem| folder.join(format!("{stem}.pcap"))).collect();
    let files = paths.iter().map(|path| start(path).map_err(|error| miette!("{}: {error}", path.display())));
    let files = files.collect::<Result<Vec<_>>>()?;
    let (frames, queue) = sync_channel(WAITING);
    let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let writer = thread::spawn(move || write(files, &queue, began));
    Ok((Capture { frames, lost: 0 }, Writer(writer)))
}

/// Names of the core's file and of the UEs' files, without the extension. A character that portable file names lack becomes `_`. A name
/// that is taken, ignoring case, gets a number.
fn stems(ues: &[String]) -> Vec<String> {
    let mut stems = vec!["core".to_string()];
    for ue in ues {
        let letter = |letter: char| if letter.is_alphanumeric() || "-_.".contains(letter) { letter } else { '_' };
        let mut plain: String = ue.chars().map(letter).collect();
        // A hidden file, or `.` or `..`.
        if plain.is_empty() || plain.starts_with('.') {
            plain.insert(0, '_');
        }
        let is_taken = |stem: &String| stems.iter().any(|taken| taken.to_lowercase() == stem.to_lowercase());
        let numbered = (2..).map(|number| format!("{plain}-{number}"));
        let free = std::iter::once(plain.clone()).chain(numbered).find(|stem| !is_taken(stem));
        stems.extend(free);
    }
    stems
}

impl Capture {
    /// Captures a packet of the core's side (0) or of a UE's (1 and up).
    pub(super) fn packet(&mut self, file: usize, at: Instant, bytes: &[u8]) {
        if self.frames.try_send(Frame { file, at, bytes: bytes.to_vec() }).is_err() {
            self.lost += 1;
        }
    }
    /// Packets that were not captured because the disk was too slow or full.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }
}

impl Writer {
    /// Waits until everything is written.
    ///
    /// # Errors
    /// System error of the first packet that could not be written; nothing after it was written.
    pub(super) fn finish(self) -> io::Result<()> {
        self.0.join().unwrap_or_else(|_| Err(io::Error::other("the capture's thread failed")))
    }
}

/// A file with its header: nanoseconds, raw IP packets (LINKTYPE_RAW).
fn start(path: &Path) -> io::Result<BufWriter<File>> {
    let mut file = BufWriter::new(File::create(path)?);
    file.write_all(&0xA1B2_3C4D_u32.to_ne_bytes())?;
    for half in [2u16, 4] {
        file.write_all(&half.to_ne_bytes())?;
    }
    for word in [0u32, 0, 65_535, 101] {
        file.write_all(&word.to_ne_bytes())?;
    }
    Ok(file)
}

fn write(mut files: Vec<BufWriter<File>>, queue: &Receiver<Frame>, began: Duration) -> io::Result<()> {
    for Frame { file, at, bytes } in queue {
        let at = began + Duration::from_nanos(at.as_nanos());
        let length = bytes.len() as u32;
        let Some(file) = files.get_mut(file) else { continue };
        for word in [at.as_secs() as u32, at.subsec_nanos(), length, length] {
            file.write_all(&word.to_ne_bytes())?;
        }
        file.write_all(&bytes)?;
    }
    files.iter_mut().try_for_each(Write::flush)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_ue_has_a_file_of_its_own_within_the_folder() {
        let ues = ["core", "phone", "../phone", "..", "", "phone", "Phone", "b\u{fc}ro 1"].map(String::from);
        let expected =
            ["core", "core-2", "phone", "_.._phone", "_..", "_", "phone-2", "Phone-3", "b\u{fc}ro_1"].map(String::from);
        assert_eq!(stems(&ues), expected);
    }

    #[test]
    fn a_file_has_its_header_and_a_record_for_each_packet() {
        let folder = tempfile::tempdir().unwrap();
        let (mut capture, writer) = open(folder.path(), &["ue".into()]).unwrap();
        capture.packet(1, Instant::from_millis(1), &[0x45; 20]);
        capture.packet(1, Instant::from_millis(2), &[0x45; 30]);
        drop(capture);
        writer.finish().unwrap();
        assert_eq!(std::fs::metadata(folder.path().join("core.pcap")).unwrap().len(), 24);
        let bytes = std::fs::read(folder.path().join("ue.pcap")).unwrap();
        assert_eq!(bytes.len(), 24 + 16 + 20 + 16 + 30);
        assert_eq!(u32::from_ne_bytes(bytes[20..24].try_into().unwrap()), 101);
        assert_eq!(u32::from_ne_bytes(bytes[32..36].try_into().unwrap()), 20);
    }
}
