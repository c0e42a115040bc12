//! `tidemark-stream`: a small cloud-gaming server that streams pictures to a browser. `tidemark stream` runs it.

use std::error::Error;
use std::net::{SocketAddr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use clap::builder::PossibleValuesParser;
use clap::{Args, Parser, Subcommand};
use tidemark_core::{BitRate, ConfigError, Duration};
use tidemark_emu::signals::Signals;
use tidemark_senders::media::{MarkingScheme, RateLimits};
use tidemark_stream::{Frames, LiveCell, Server, Settings, Size, UnusableVideo, VideoFile};

/// Flag that makes Chromium send RFC 8888 reports and count marks.
const FIELD_TRIALS: &str = "WebRTC-RFC8888CongestionControlFeedback/Enabled,offer:true/";
const BROWSERS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Stream video over WebRTC to a browser, with Tidemark's congestion controllers.
#[derive(Parser)]
#[command(name = "tidemark-stream", bin_name = "tidemark stream", version = tidemark_version::VERSION)]
struct Arguments {
    #[command(subcommand)]
    command: Subcommands,
}

#[derive(Subcommand)]
enum Subcommands {
    /// Serve a page with a moving picture, and its stream by WHEP
    Serve(Serve),
    /// Open a page in Chromium with the flag that makes it report marks
    Open(Open),
}

#[derive(Args)]
struct Serve {
    /// Address of the page and of the streams
    #[arg(long, value_name = "ADDRESS:PORT", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// Time to wait for that address to exist, such as the address of a cell that has not started
    #[arg(long, value_name = "TIME", default_value = "60 s")]
    patience: Duration,
    /// Default controller of a viewer
    #[arg(long, value_name = "CONTROLLER", default_value = "scream", value_parser = PossibleValuesParser::new(tidemark_stream::names()))]
    controller: String,
    /// Send streams as Not-ECT unless the viewer asks for L4S
    #[arg(long)]
    no_l4s: bool,
    /// Send frames of the TR 38.838 model, which no browser decodes
    #[arg(long)]
    frames: bool,
    /// Video to send instead of the moving picture: YUV4MPEG2 with 4:2:0 and at most 4 GiB, which is repeated
    #[arg(long, value_name = "VIDEO.y4m", conflicts_with = "frames")]
    file: Option<PathBuf>,
    /// Width and height of the picture: multiples of 64 and 36
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "640x360", value_parser = size)]
    size: (usize, usize),
    /// Frames per second
    #[arg(long, value_name = "NUMBER", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=120))]
    frame_rate: u32,
    /// Minimum rate
    #[arg(long, value_name = "RATE", default_value = "150 kbit/s")]
    min: BitRate,
    /// Initial rate
    #[arg(long, value_name = "RATE", default_value = "1 Mbit/s")]
    initial: BitRate,
    /// Maximum rate
    #[arg(long, value_name = "RATE", default_value = "8 Mbit/s")]
    max: BitRate,
    /// Queuing delay up to which the network marks nothing, if al4s knows it: it is cL4S then, and sL4S otherwise
    #[arg(long, value_name = "TIME", requires = "high")]
    low: Option<Duration>,
    /// Queuing delay from which the network marks everything, if al4s knows it
    #[arg(long, value_name = "TIME", requires = "low")]
    high: Option<Duration>,
    /// Most viewers at a time
    #[arg(long, value_name = "NUMBER", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=256))]
    viewers: u16,
    /// Number of the live cell before the viewers (see `tidemark ctl list`): the page shows its queue and, at the printed address with a
    /// secret token, changes its law
    #[arg(long, value_name = "N")]
    cell: Option<u32>,
    /// Compare every Nth sent picture with the shown one (SSIM)
    #[arg(long, value_name = "N", conflicts_with = "frames", value_parser = clap::value_parser!(u32).range(1..))]
    reference: Option<u32>,
    /// Folder for the results of each viewer
    #[arg(long, value_name = "FOLDER")]
    out: Option<PathBuf>,
}

#[derive(Args)]
struct Open {
    /// Address of the page, such as http://100.96.0.1:8080
    url: String,
    /// Print Chromium's command instead of running it
    #[arg(long)]
    print: bool,
    /// Open no window, for a machine without a screen
    #[arg(long)]
    headless: bool,
    /// Seconds after which the browser is closed
    #[arg(long, value_name = "SECONDS")]
    time: Option<u64>,
}

/// Reads WIDTHxHEIGHT.
fn size(text: &str) -> Result<(usize, usize), String> {
    let right = || "must be WIDTHxHEIGHT in multiples of 64 and 36, from 320x180 to 1920x1080".to_string();
    let (width, height) = text.split_once('x').ok_or_else(right)?;
    let (width, height): (usize, usize) = (width.parse().map_err(|_| right())?, height.parse().map_err(|_| right())?);
    let is_right =
        width % 64 == 0 && height % 36 == 0 && (320..=1920).contains(&width) && (180..=1080).contains(&height);
    if is_right { Ok((width, height)) } else { Err(right()) }
}

fn main() -> ExitCode {
    let result = match Arguments::parse().command {
        Subcommands::Serve(serve) => serve.run(),
        Subcommands::Open(open) => open.run(),
    };
    result.map_or_else(
        |error| {
            eprintln!("tidemark-stream: {error}");
            ExitCode::from(2)
        },
        |()| ExitCode::SUCCESS,
    )
}

/// Describes an error in a setting by the option that gives it.
fn in_option(error: &ConfigError) -> String {
    let option = error.field().rsplit('.').next().unwrap_or_default();
    format!("--{option}: {}", error.problem())
}

impl Serve {
    fn run(self) -> Result<(), Box<dyn Error>> {
        let (width, height) = self.size;
        let cell = self.cell.map(LiveCell::new).transpose()?.map(Arc::new);
        let fragment = cell.as_ref().map_or_else(String::new, |cell| cell.fragment());
        let settings = Settings {
            controller: self.controller.clone(),
            l4s: !self.no_l4s,
            frames: self.source()?,
            size: Size { width, height, frame_rate: self.frame_rate },
            rates: RateLimits { min: self.min, initial: self.initial, max: self.max },
            marking: self.low.zip(self.high).map(|(low, high)| MarkingScheme { low, high }),
            viewers: self.viewers.into(),
            reference: self.reference,
            out: self.out.clone(),
            cell,
        };
        settings.validate().map_err(|error| in_option(&error))?;
        let listener = self.listener()?;
        // Until here a signal ends the program at once.
        let signals = Signals::take()?;
        let address = listener.local_addr()?;
        println!("the picture: http://{address}/{fragment}");
        println!("in Chromium with marks: tidemark stream open 'http://{address}/{fragment}'");
        let server = Server::start(listener, settings);
        signals.wait_for_any();
        server.close();
        Ok(())
    }

    /// Origin of the frames.
    fn source(&self) -> Result<Frames, UnusableVideo> {
        match &self.file {
            Some(file) => Ok(Frames::File(VideoFile::open(file)?)),
            None if self.frames => Ok(Frames::Generator),
            None => Ok(Frames::Encoder),
        }
    }

    /// Waits until the address exists, which the cell creates.
    fn listener(&self) -> Result<TcpListener, Box<dyn Error>> {
        let end = Instant::now() + std::time::Duration::from_nanos(self.patience.as_nanos());
        loop {
            match TcpListener::bind(self.listen) {
                Err(error) if error.kind() == std::io::ErrorKind::AddrNotAvailable && Instant::now() < end => {
                    thread::sleep(std::time::Duration::from_millis(100));
                }
                result => return result.map_err(|error| format!("--listen {}: {error}", self.listen).into()),
            }
        }
    }
}

impl Open {
    fn run(self) -> Result<(), Box<dyn Error>> {
        let is_there = |name: &&str| {
            std::env::var_os("PATH")
                .is_some_and(|path| std::env::split_paths(&path).any(|folder| folder.join(name).is_file()))
        };
        let browser = BROWSERS.into_iter().find(is_there).ok_or_else(|| {
            format!(
                "Chromium is not installed (none of {}); start one by hand with --force-fieldtrials={FIELD_TRIALS}",
                BROWSERS.join(", ")
            )
        })?;
        // A separate profile: a browser that is already running would open the page without the flag.
        let profile = std::env::temp_dir().join(format!("tidemark-stream-{}", std::process::id()));
        let mut command = self.command(browser, &profile);
        if self.print {
            let words = std::iter::once(command.get_program()).chain(command.get_args());
            println!("{}", words.map(|word| word.to_string_lossy()).collect::<Vec<_>>().join(" "));
            return Ok(());
        }
        let status = command.status();
        // A profile that can't be removed stays in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&profile);
        let status = status?;
        // 124: `timeout` ended it as requested.
        if status.success() || self.time.is_some() && status.code() == Some(124) {
            Ok(())
        } else {
            Err(format!("{browser}: {status}").into())
        }
    }

    fn command(&self, browser: &str, profile: &Path) -> Command {
        let mut command = match self.time {
            None => Command::new(browser),
            Some(seconds) => {
                let mut command = Command::new("timeout");
                command.args([&seconds.to_string(), browser]);
                command
            }
        };
        command.arg(format!("--user-data-dir={}", profile.display()));
        command.arg(format!("--force-fieldtrials={FIELD_TRIALS}"));
        command.args([
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-background-networking",
            "--no-proxy-server",
        ]);
        // A namespace without multicast has no mDNS, and so no candidate at all.
        command.arg("--disable-features=WebRtcHideLocalIpsWithMdns");
        // Chromium has no sandbox for root, and a live cell's commands run as root.
        if rustix::process::geteuid().is_root() {
            command.arg("--no-sandbox");
        }
        if self.headless {
            // A picture outside the window is never shown: two have to fit beside each other.
            command.args(["--headless=new", "--disable-gpu", "--mute-audio", "--window-size=1440,900"]);
        }
        command.arg(&self.url);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn serve(options: &[&str]) -> Serve {
        let Subcommands::Serve(serve) =
            Arguments::parse_from([&["tidemark-stream", "serve"], options].concat()).command
        else {
            panic!()
        };
        serve
    }

    #[test]
    fn nobody_else_is_served_unless_an_address_is_named() {
        assert!(serve(&[]).listen.ip().is_loopback());
    }

    #[test]
    fn a_setting_that_is_refused_is_named_by_its_option() {
        for (options, start) in [
            (&["--initial", "9 Mbit/s"][..], "--initial: must "),
            (&["--low", "9 ms", "--high", "5 ms"], "--high: must "),
        ] {
            let error = serve(options).run().unwrap_err().to_string();
            assert!(error.starts_with(start), "{error}");
        }
    }
}
