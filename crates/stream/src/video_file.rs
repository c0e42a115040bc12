//! A video of the user's in YUV4MPEG2: checked as a whole before a viewer connects, then played again and again.

use std::cell::Cell;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use fast_image_resize::images::{Image, ImageRef};
use fast_image_resize::{FilterType, PixelType, ResizeAlg, ResizeOptions, Resizer};
use y4m::{Decoder, Limits};

use crate::picture::{Plane, Scene};
use crate::strip::Strip;

/// Largest file in bytes, which is read as a whole once: 50 seconds of 1920x1080 at 30 frames a second.
const MAX_FILE: u64 = 4 << 30;
/// Smallest and largest width and height in pixels.
const MIN_SIDE: usize = 16;
const MAX_SIDE: usize = 4096;
/// Largest frame rate.
const MAX_FRAME_RATE: f64 = 240.0;
/// Longest header in bytes, as of the decoder.
const MAX_HEADER: u64 = 1024;
/// Chroma formats with 4:2:0 and eight bits a sample, which differ in the place of the samples.
const CHROMA: [&str; 4] = ["420", "420jpeg", "420mpeg2", "420paldv"];
/// Units of a strip's time in a second.
const STRIP_TIME: f64 = 10_000.0;

/// Reason why a file can't be played.
#[derive(Debug, thiserror::Error)]
#[error("--file {}: {field} {right}", path.display())]
pub struct UnusableVideo {
    path: PathBuf,
    /// Field of the header, or part of the file.
    field: String,
    /// Content that would be right, and what was found.
    right: String,
}

/// A video in YUV4MPEG2 that was read to its end without an error.
#[derive(Clone, PartialEq, Debug)]
pub struct VideoFile {
    path: PathBuf,
    header: Header,
}

/// Size and frame rate of a video.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Header {
    width: usize,
    height: usize,
    frame_rate: f64,
}

/// Field of a file, and what would be right in it.
type Fault = (String, String);

fn fault<T>(field: impl Into<String>, right: impl Into<String>) -> Result<T, Fault> {
    Err((field.into(), right.into()))
}

impl Header {
    /// Reads the first line. The decoder names no field, and multiplies sizes before it looks at them.
    fn parse(line: &[u8]) -> Result<Self, Fault> {
        let line = String::from_utf8_lossy(line);
        let Some(fields) = line.trim_end().strip_prefix("YUV4MPEG2 ") else {
            return fault("header", "must begin with YUV4MPEG2");
        };
        let value = |name: char| fields.split(' ').filter_map(|field| field.strip_prefix(name)).next_back();
        let side = |name: char, what: &str| {
            let found = value(name).unwrap_or("none");
            let side = found.parse::<usize>().ok().filter(|side| (MIN_SIDE..=MAX_SIDE).contains(side));
            side.map_or_else(|| fault(what, between(MIN_SIDE, MAX_SIDE, "pixels", found)), Ok)
        };
        let chroma = value('C').unwrap_or(CHROMA[0]);
        if !CHROMA.contains(&chroma) {
            return fault("chroma format (C)", format!("must be one of {}, not {chroma}", CHROMA.join(", ")));
        }
        let rate = value('F').unwrap_or("none");
        let frame_rate = rate.split_once(':').and_then(|(frames, seconds)| {
            let [frames, seconds] = [frames, seconds].map(|number| number.parse::<u32>().ok().map(f64::from));
            Some(frames? / seconds?).filter(|rate| (1.0..=MAX_FRAME_RATE).contains(rate))
        });
        let Some(frame_rate) = frame_rate else {
            return fault("frame rate (F)", between(1, MAX_FRAME_RATE, "frames a second", rate));
        };
        Ok(Self { width: side('W', "width (W)")?, height: side('H', "height (H)")?, frame_rate })
    }

    fn frame_bytes(self) -> usize {
        self.width * self.height + 2 * self.width.div_ceil(2) * self.height.div_ceil(2)
    }
}

fn between(min: impl Display, max: impl Display, unit: &str, found: &str) -> String {
    format!("must lie between {min} and {max} {unit}, not {found}")
}

/// Reader that counts its bytes.
struct Counted<R> {
    reader: R,
    bytes: Rc<Cell<u64>>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let length = self.reader.read(buffer)?;
        self.bytes.set(self.bytes.get() + length as u64);
        Ok(length)
    }
}

impl VideoFile {
    /// Reads a file to its end, so that no fault of it is met while somebody watches.
    ///
    /// # Errors
    /// The first field or frame that can't be used, with what would be right.
    pub fn open(path: &Path) -> Result<Self, UnusableVideo> {
        let unusable = |(field, right)| UnusableVideo { path: path.into(), field, right };
        let header = check(path).map_err(unusable)?;
        Ok(Self { path: path.into(), header })
    }

    fn decoder(&self) -> Option<Decoder<BufReader<File>>> {
        let mut reader = BufReader::new(File::open(&self.path).ok()?);
        // The file may have been replaced since it was checked.
        let is_same = read_header(&mut reader).is_ok_and(|header| header == self.header);
        let reader = BufReader::new(File::open(&self.path).ok().filter(|_| is_same)?);
        Decoder::new_with_limits(reader, Limits { bytes: self.header.frame_bytes() }).ok()
    }
}

fn read_header(reader: &mut impl io::BufRead) -> Result<Header, Fault> {
    let mut line = Vec::new();
    match reader.take(MAX_HEADER).read_until(b'\n', &mut line) {
        Ok(0) => fault("file", "must have a header and a frame: it is empty"),
        Ok(_) if !line.ends_with(b"\n") => {
            fault("header", format!("must begin with YUV4MPEG2 and end within {MAX_HEADER} bytes"))
        }
        Ok(_) => Header::parse(&line),
        Err(error) => fault("file", format!("can't be read: {error}")),
    }
}

fn check(path: &Path) -> Result<Header, Fault> {
    let unreadable = |error: io::Error| ("file".to_string(), format!("can't be read: {error}"));
    let metadata = fs::metadata(path).map_err(unreadable)?;
    // A pipe would wait for its writer, and a device has no end.
    if !metadata.is_file() {
        return fault("file", "must be a regular file");
    }
    if metadata.len() > MAX_FILE {
        return fault(
            "file",
            format!("must have at most {MAX_FILE} bytes, not {}: shorten or shrink it", metadata.len()),
        );
    }
    let header = read_header(&mut BufReader::new(File::open(path).map_err(unreadable)?))?;
    let bytes = Rc::new(Cell::new(0));
    let reader = Counted { reader: BufReader::new(File::open(path).map_err(unreadable)?), bytes: Rc::clone(&bytes) };
    let mut decoder = Decoder::new_with_limits(reader, Limits { bytes: header.frame_bytes() })
        .map_err(|error| ("header".to_string(), format!("can't be read: {error}")))?;
    for frame in 1.. {
        let before = bytes.get();
        match decoder.read_frame() {
            Ok(_) => {}
            Err(y4m::Error::EOF) if bytes.get() > before => {
                let size = header.frame_bytes();
                return fault(format!("frame {frame}"), format!("must have {size} bytes: the file is cut off"));
            }
            Err(y4m::Error::EOF) if frame == 1 => {
                return fault("frame 1", "must follow the header: the file has no frame");
            }
            Err(y4m::Error::EOF) => break,
            Err(error) => return fault(format!("frame {frame}"), format!("must begin with FRAME: {error}")),
        }
    }
    Ok(header)
}

/// A video that is played at its own frame rate, from its beginning again after its end.
pub(crate) struct VideoReader {
    file: VideoFile,
    decoder: Option<Decoder<BufReader<File>>>,
    /// Y, U and V of the present frame.
    planes: [Vec<u8>; 3],
    /// Time of the last picture, and frames that are due since the present one.
    last: Option<u32>,
    due: f64,
    resizer: Resizer,
}

impl VideoReader {
    /// A reader before the first frame.
    pub(crate) fn new(file: VideoFile) -> Self {
        let Header { width, height, .. } = file.header;
        let chroma = || vec![128; width.div_ceil(2) * height.div_ceil(2)];
        let planes = [vec![16; width * height], chroma(), chroma()];
        Self { file, decoder: None, planes, last: None, due: 1.0, resizer: Resizer::new() }
    }

    /// Goes on to the frame of a strip's time. A pause of more than a second is not made up for.
    fn advance(&mut self, time: u32) {
        let passed = self.last.replace(time).map_or(0, |last| time.wrapping_sub(last));
        let rate = self.file.header.frame_rate;
        self.due += (f64::from(passed) / STRIP_TIME).min(1.0) * rate;
        while self.due >= 1.0 {
            self.due -= 1.0;
            self.read();
        }
    }

    /// Reads a frame, which after the end is the first. A file that is gone leaves the present one.
    fn read(&mut self) {
        for _ in 0..2 {
            if self.decoder.is_none() {
                self.decoder = self.file.decoder();
            }
            let frame = self.decoder.as_mut().map(Decoder::read_frame);
            if let Some(Ok(frame)) = frame {
                let read = [frame.get_y_plane(), frame.get_u_plane(), frame.get_v_plane()];
                self.planes.iter_mut().zip(read).for_each(|(plane, read)| plane.copy_from_slice(read));
                return;
            }
            self.decoder = None;
        }
    }
}

impl Scene for VideoReader {
    /// Scales the frame to the picture, without what goes beyond the picture's shape.
    fn paint(&mut self, planes: [Plane<'_>; 3], strip: Strip) {
        self.advance(strip.time);
        let Header { width, height, .. } = self.file.header;
        let whole = (width, height);
        let half = (width.div_ceil(2), height.div_ceil(2));
        for ((from, to), size) in self.planes.iter().zip(planes).zip([whole, half, half]) {
            scale(&mut self.resizer, from, size, to);
        }
    }
}

fn scale(resizer: &mut Resizer, from: &[u8], (width, height): (usize, usize), to: Plane<'_>) {
    let options =
        ResizeOptions::new().resize_alg(ResizeAlg::Convolution(FilterType::Bilinear)).fit_into_destination(None);
    let from = ImageRef::new(width as u32, height as u32, from, PixelType::U8);
    let to = Image::from_slice_u8(to.width as u32, (to.pixels.len() / to.width) as u32, to.pixels, PixelType::U8);
    if let (Ok(from), Ok(mut to)) = (from, to) {
        // It fails only for images of two types.
        let _ = resizer.resize(&from, &mut to, &options);
    }
}

#[cfg(test)]
mod tests {
    use openh264::formats::YUVSource as _;

    use super::*;
    use crate::picture::Picture;

    /// File in the system's folder that is removed at the end.
    struct Temporary(PathBuf);

    impl Temporary {
        fn new(name: &str, bytes: &[u8]) -> Self {
            let path = std::env::temp_dir().join(format!("tidemark-{}-{name}.y4m", std::process::id()));
            fs::write(&path, bytes).unwrap();
            Self(path)
        }
    }

    impl Drop for Temporary {
        fn drop(&mut self) {
            let _ = fs::remove_file(&self.0);
        }
    }

    /// Video of 66x38 pixels at 10 frames a second, one for each level of luma.
    fn video(levels: &[u8]) -> Vec<u8> {
        let mut bytes = b"YUV4MPEG2 W66 H38 F10:1 Ip A1:1 C420jpeg\n".to_vec();
        for level in levels {
            bytes.extend(b"FRAME\n");
            bytes.extend(vec![*level; 66 * 38]);
            bytes.extend(vec![100; 33 * 19]);
            bytes.extend(vec![150; 33 * 19]);
        }
        bytes
    }

    fn refusal(name: &str, bytes: &[u8]) -> String {
        let file = Temporary::new(name, bytes);
        let error = VideoFile::open(&file.0).unwrap_err().to_string();
        let (path, what) = error.strip_prefix("--file ").unwrap().split_once(": ").unwrap();
        assert_eq!(Path::new(path), file.0);
        what.to_string()
    }

    #[test]
    fn a_file_that_cannot_be_played_is_refused_with_its_field() {
        let good = String::from_utf8_lossy(&video(&[50, 60])).into_owned();
        let with = |from: &str, to: &str| good.replacen(from, to, 1).into_bytes();
        let huge = "W18446744073709551615";
        for (name, bytes, says) in [
            ("empty", Vec::new(), "file must have a header and a frame: it is empty"),
            ("other", b"RIFF....AVI LIST\n".to_vec(), "header must begin with YUV4MPEG2"),
            ("endless", vec![b'Y'; 5000], "header must begin with YUV4MPEG2 and end within 1024 bytes"),
            (
                "chroma",
                with("C420jpeg", "C444"),
                "chroma format (C) must be one of 420, 420jpeg, 420mpeg2, 420paldv, not 444",
            ),
            (
                "deep",
                with("C420jpeg", "C420p10"),
                "chroma format (C) must be one of 420, 420jpeg, 420mpeg2, 420paldv, not 420p10",
            ),
            ("huge", with("W66", huge), "width (W) must lie between 16 and 4096 pixels, not 18446744073709551615"),
            ("flat", with("H38", "H0"), "height (H) must lie between 16 and 4096 pixels, not 0"),
            ("nowhere", with("W66 ", ""), "width (W) must lie between 16 and 4096 pixels, not none"),
            ("still", with("F10:1", "F0:0"), "frame rate (F) must lie between 1 and 240 frames a second, not 0:0"),
            ("frame", with("FRAME", "GRAME"), "frame 1 must begin with FRAME: Error parsing y4m header"),
            ("none", video(&[]), "frame 1 must follow the header: the file has no frame"),
        ] {
            assert_eq!(refusal(name, &bytes), says);
        }
        let whole = video(&[50, 60]);
        for cut in [whole.len() - 1, whole.len() - 3762, whole.len() - 3765] {
            let says = "frame 2 must have 3762 bytes: the file is cut off";
            assert_eq!(refusal("cut", &whole[..cut]), says, "at {cut} of {}", whole.len());
        }
        let gone = VideoFile::open(Path::new("/nowhere/video.y4m")).unwrap_err().to_string();
        assert!(gone.starts_with("--file /nowhere/video.y4m: file can't be read: "), "{gone}");
        let folder = VideoFile::open(Path::new("/tmp")).unwrap_err().to_string();
        assert_eq!(folder, "--file /tmp: file must be a regular file");
    }

    #[test]
    fn a_file_that_is_too_large_is_refused_without_reading_it() {
        let file = Temporary::new("large", b"");
        File::options().write(true).open(&file.0).unwrap().set_len(MAX_FILE + 1).unwrap();
        let error = VideoFile::open(&file.0).unwrap_err().to_string();
        assert!(
            error.ends_with("file must have at most 4294967296 bytes, not 4294967297: shorten or shrink it"),
            "{error}"
        );
    }

    #[test]
    fn a_video_plays_at_its_own_rate_in_every_size_and_begins_again() {
        let file = Temporary::new("plays", &video(&[50, 90, 130]));
        let mut reader = VideoReader::new(VideoFile::open(&file.0).unwrap());
        let mut levels = Vec::new();
        for (frame, (width, height)) in [(640, 360), (320, 180)].into_iter().cycle().take(8).enumerate() {
            let mut picture = Picture::new(width, height);
            // Pictures each 50 ms of frames each 100 ms, by a clock that wraps.
            let strip = Strip { frame: frame as u32, time: (u32::MAX - 1000).wrapping_add(500 * frame as u32) };
            picture.draw(&mut reader, strip);
            assert_eq!(Strip::read(picture.y(), width, width, height), Some(strip), "the strip is drawn over it");
            let below = &picture.y()[width * height / 2..];
            assert!(below.iter().all(|pixel| *pixel == below[0]));
            assert_eq!((picture.u()[0], picture.v()[width * height / 4 - 1]), (100, 150));
            levels.push(below[0]);
        }
        assert_eq!(levels, [50, 50, 90, 90, 130, 130, 50, 50]);
    }

    #[test]
    fn a_file_that_is_removed_or_replaced_leaves_the_last_picture() {
        let file = Temporary::new("replaced", &video(&[50]));
        let mut reader = VideoReader::new(VideoFile::open(&file.0).unwrap());
        let mut picture = Picture::new(320, 180);
        let mut level = |time: u32| {
            picture.draw(&mut reader, Strip { frame: 1, time });
            *picture.y().last().unwrap()
        };
        assert_eq!(level(0), 50);
        fs::write(&file.0, b"YUV4MPEG2 W640 H360 F10:1\n").unwrap();
        assert_eq!(level(2000), 50);
        fs::remove_file(&file.0).unwrap();
        assert_eq!(level(4000), 50);
    }
}
