//! How many streams a core carries, as CSV: `cargo run --release -p tidemark-stream --example load`. With `memory` behind `--`: what the
//! server keeps of viewers that come and go for ten minutes.
//!
//! A server in a process of its own streams to viewers on the loopback interface, at a fixed rate. A row takes 14 seconds, all of them
//! two minutes. The processor time is the server's alone; the viewers of this process take about as much, so that a second processor
//! has to be free.

#![allow(dead_code, reason = "tests use more of the viewer")]

#[path = "../tests/it/loopback.rs"]
mod loopback;
#[path = "../tests/it/peer.rs"]
mod peer;

use std::env;
use std::fs;
use std::io::{BufRead as _, BufReader, Lines, Write as _, stdin};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use tidemark_core::BitRate;
use tidemark_senders::media::RateLimits;
use tidemark_stream::{Frames, Server, Settings, Size};

use loopback::Viewer;

/// Time for the streams to begin, and time that counts.
const WARM: Duration = Duration::from_secs(3);
const SPAN: Duration = Duration::from_secs(10);
/// Time between two turns of the viewers.
const TURN: Duration = Duration::from_millis(1);
/// Frames a second of each stream.
const FRAME_RATE: u32 = 30;
/// Share of a processor above which no more streams are tried.
const FULL: f64 = 0.9;

/// Streams of a kind.
struct Kind {
    name: &'static str,
    frames: fn() -> Frames,
    size: (usize, usize),
    rate: BitRate,
    /// Numbers of streams to try.
    streams: &'static [usize],
}

const KINDS: [Kind; 4] = [
    Kind {
        name: "model",
        frames: || Frames::Generator,
        size: (640, 360),
        rate: BitRate::from_mbps(2),
        streams: &[1, 8, 32, 64],
    },
    Kind {
        name: "640x360",
        frames: || Frames::Encoder,
        size: (640, 360),
        rate: BitRate::from_mbps(2),
        streams: &[1, 2, 4],
    },
    Kind {
        name: "1280x720",
        frames: || Frames::Encoder,
        size: (1280, 720),
        rate: BitRate::from_mbps(4),
        streams: &[1, 2],
    },
    Kind { name: "320x180", frames: || Frames::Encoder, size: (320, 180), rate: BitRate::from_kbps(500), streams: &[] },
];

/// Kind whose viewers come and go, how many of them there are at a time, and for how long each stays.
const BRIEF: usize = 3;
const GUESTS: usize = 3;
const STAY: Duration = Duration::from_secs(4);
const MINUTES: u32 = 10;

fn main() {
    match env::args().collect::<Vec<_>>().get(1..) {
        Some([what]) if what == "memory" => memory(),
        Some([kind, out]) => serve(&KINDS[kind.parse::<usize>().unwrap()], Path::new(out)),
        _ => measure(),
    }
}

/// Serves until its input ends. Each line of it is answered with the processor time so far, in seconds.
fn serve(kind: &Kind, out: &Path) {
    let (width, height) = kind.size;
    let settings = Settings {
        controller: "prague-video".into(),
        l4s: true,
        frames: (kind.frames)(),
        size: Size { width, height, frame_rate: FRAME_RATE },
        rates: RateLimits { min: kind.rate, initial: kind.rate, max: kind.rate },
        marking: None,
        viewers: 256,
        reference: None,
        out: Some(out.into()),
        cell: None,
    };
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    println!("{}", listener.local_addr().unwrap());
    let server = Server::start(listener, settings);
    for _ in stdin().lines() {
        let time = clock_gettime(ClockId::ProcessCPUTime);
        println!("{}", time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9);
    }
    server.close();
}

/// A server in its own process.
struct Other {
    process: Child,
    input: ChildStdin,
    output: Lines<BufReader<ChildStdout>>,
}

impl Other {
    fn start(kind: usize, out: &Path) -> (Self, SocketAddr) {
        let mut command = Command::new(env::current_exe().unwrap());
        command.arg(kind.to_string()).arg(out).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let (input, output) = (process.stdin.take().unwrap(), process.stdout.take().unwrap());
        let mut output = BufReader::new(output).lines();
        let address = output.next().unwrap().unwrap().parse().unwrap();
        (Self { process, input, output }, address)
    }

    /// Processor time so far, in seconds.
    fn time(&mut self) -> f64 {
        writeln!(self.input).unwrap();
        self.output.next().unwrap().unwrap().parse().unwrap()
    }

    /// Ends it, once it has written its results.
    fn end(self) {
        let Self { mut process, input, .. } = self;
        drop(input);
        process.wait().unwrap();
    }
}

/// Prints what the server has once a minute.
fn memory() {
    let out = env::temp_dir().join(format!("tidemark-load-{}", std::process::id()));
    let (server, page) = Other::start(BRIEF, &out);
    let (begin, mut viewers) = (Instant::now(), 0);
    println!("minute,viewers,resident_mb,threads");
    for minute in 0..=MINUTES {
        while begin.elapsed() < minute * Duration::from_secs(60) {
            // They vanish without a word.
            let mut guests: Vec<_> = (0..GUESTS).map(|_| Viewer::join(page, "")).collect();
            watch(&mut guests, STAY);
            viewers += GUESTS;
        }
        let status = fs::read_to_string(format!("/proc/{}/status", server.process.id())).unwrap();
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name)).unwrap();
            line.split_whitespace().next().unwrap().parse::<f64>().unwrap()
        };
        println!("{minute},{viewers},{:.1},{}", field("VmRSS:") / 1024.0, field("Threads:"));
    }
    server.end();
    let _ = fs::remove_dir_all(&out);
}

fn measure() {
    println!(
        "source,mbps,streams,cpu_s_per_stream_s,cpu_ms_per_frame,streams_per_core,late_p50_us,late_p90_us,late_p99_us,late_p999_us,late_max_us,sent_mbps,frames_per_s"
    );
    for (index, kind) in KINDS.iter().enumerate() {
        for streams in kind.streams {
            let cores = row(index, kind, *streams);
            if cores > FULL {
                break;
            }
        }
    }
}

/// Prints a row; gives the share of a processor that the server took.
fn row(index: usize, kind: &Kind, streams: usize) -> f64 {
    let out = env::temp_dir().join(format!("tidemark-load-{}", std::process::id()));
    let (mut server, page) = Other::start(index, &out);
    let mut viewers: Vec<_> = (0..streams).map(|_| Viewer::join(page, "")).collect();
    watch(&mut viewers, WARM);
    let (from, begin) = (server.time(), Instant::now());
    watch(&mut viewers, SPAN);
    let cores = (server.time() - from) / begin.elapsed().as_secs_f64();
    server.end();
    let results: Vec<_> = (1..=streams).map(|viewer| summary(&out, viewer)).collect();
    let _ = fs::remove_dir_all(&out);
    let of = |pointer: &str| {
        let mut values: Vec<f64> = results.iter().filter_map(|summary| summary.pointer(pointer)?.as_f64()).collect();
        values.sort_by(f64::total_cmp);
        assert_eq!(values.len(), streams, "{pointer}: a stream did not begin");
        (values[streams / 2], values[streams - 1])
    };
    let each = cores / streams as f64;
    let frames = of("/frames_sent").0 / of("/seconds").0;
    // An encoder that is too slow leaves frames out: a core carries as many streams as have all of theirs.
    let of_frame = 1000.0 * each / frames;
    println!(
        "{},{},{streams},{each:.4},{of_frame:.2},{:.1},{},{},{},{},{},{:.2},{frames:.1}",
        kind.name,
        kind.rate.as_mbps(),
        1000.0 / of_frame / f64::from(FRAME_RATE),
        of("/lateness_us/p50").0,
        of("/lateness_us/p90").0,
        of("/lateness_us/p99").1,
        of("/lateness_us/p999").1,
        of("/lateness_us/max").1,
        of("/rate_mbps").0,
    );
    cores
}

/// Watches for so long.
fn watch(viewers: &mut [Viewer], time: Duration) {
    let end = Instant::now() + time;
    while Instant::now() < end {
        viewers.iter_mut().for_each(Viewer::step);
        thread::sleep(TURN);
    }
}

fn summary(out: &Path, viewer: usize) -> Value {
    let file = out.join(format!("viewer-{viewer}/summary.json"));
    serde_json::from_str(&fs::read_to_string(file).unwrap()).unwrap()
}
