//! The server: its page, WHEP, and the viewers.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rustix::rand::{GetRandomFlags, getrandom};
use tidemark_core::{BitRate, ConfigError};
use tidemark_emu::http::{self, Answer, Request};
use tidemark_senders::media::{self, Encoder, MarkingScheme, MediaController, RateLimits, VideoConfig};
use tidemark_senders::{CongestionControl as _, SenderConfig, Transport};

use crate::encoder::{Pictures, Size};
use crate::live_cell::LiveCell;
use crate::media::Generated;
use crate::negotiation::MAX_OFFER;
use crate::page::PAGE;
use crate::references::References;
use crate::session::Choice;
use crate::video_file::VideoFile;
use crate::viewer::{Start, Viewer, bind};
use crate::wake::Wake;

/// Origin of the frames.
#[derive(Clone, PartialEq, Debug)]
pub enum Frames {
    /// The encoder of a moving picture.
    Encoder,
    /// The encoder of a video.
    File(VideoFile),
    /// The TR 38.838 model, whose frames no browser decodes.
    Generator,
}

/// Settings of the server.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Default controller of a viewer.
    pub controller: String,
    /// True if packets are sent as ECT by default.
    pub l4s: bool,
    /// Origin of the frames.
    pub frames: Frames,
    /// Size and rate of the picture.
    pub size: Size,
    /// Range of the stream's rate, and the rate at the start.
    pub rates: RateLimits,
    /// Marking of the network, if aL4S-CC knows it.
    pub marking: Option<MarkingScheme>,
    /// Largest number of viewers at the same time.
    pub viewers: usize,
    /// Number of frames from one sent picture to the next that is compared with the shown one, if any are.
    pub reference: Option<u32>,
    /// Folder of the results, if any are wanted.
    pub out: Option<PathBuf>,
    /// Live cell before the viewers, if the page shows one.
    pub cell: Option<Arc<LiveCell>>,
}

/// Lists the controllers of viewers by which rates, frame rate and the network's marking are followed. Their names are a scenario's.
fn controllers(rates: RateLimits, frame_rate: u32, marking: Option<&MarkingScheme>) -> [SenderConfig; 6] {
    [
        media::ScreamConfig { rates, ..Default::default() }.into(),
        media::PragueVideoConfig { frame_rate, rates, ..Default::default() }.into(),
        media::Al4sConfig { rates, marking: marking.cloned(), ..Default::default() }.into(),
        media::L4sCcConfig { rates, ..Default::default() }.into(),
        media::GccConfig { rates, ..Default::default() }.into(),
        media::FixedConfig { rate: rates.initial }.into(),
    ]
}

/// Names of the controllers that a viewer can choose.
pub fn names() -> [&'static str; 6] {
    controllers(RateLimits::default(), 30, None).each_ref().map(SenderConfig::name)
}

impl Settings {
    /// Checks the settings before a viewer connects.
    ///
    /// # Errors
    /// The invalid field, with valid values.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.controllers().iter().try_for_each(SenderConfig::validate)
    }

    fn controllers(&self) -> [SenderConfig; 6] {
        controllers(self.rates, self.size.frame_rate, self.marking.as_ref())
    }

    fn controller(&self, name: &str) -> Option<Box<dyn MediaController + Send>> {
        match self.controllers().iter().find(|config| config.name() == name)?.transport() {
            Transport::Rtp(controller) => Some(controller()),
            Transport::Tcp(_) | Transport::Udp { .. } => None,
        }
    }

    /// Starts the encoder of a viewer.
    fn pictures(&self, wake: Wake, references: Option<Arc<References>>) -> Result<Pictures, openh264::Error> {
        match &self.frames {
            Frames::File(file) => Pictures::of_file(self.size, file.clone(), wake, references),
            Frames::Encoder | Frames::Generator => Pictures::moving(self.size, wake, references),
        }
    }

    /// Makes the model of an encoder for a viewer.
    fn generated(&self, ssrc: u32) -> Generated {
        let stream = tidemark_core::Stream::new(u64::from(ssrc), 0, "encoder");
        Generated::new(Encoder::new(&self.video(), BitRate::from_bps(0), stream))
    }

    fn video(&self) -> VideoConfig {
        VideoConfig { frame_rate: self.size.frame_rate, ..VideoConfig::default() }
    }
}

/// The server.
pub struct Server {
    settings: Settings,
    viewers: Mutex<Viewers>,
}

#[derive(Default)]
struct Viewers {
    /// Viewers by the last part of their resource's path, which can't be guessed.
    by_name: BTreeMap<String, Viewer>,
    /// Number of viewers so far.
    count: u64,
}

impl Server {
    /// Serves at `listener` until [`close`](Self::close).
    pub fn start(listener: TcpListener, settings: Settings) -> Arc<Self> {
        let server = Arc::new(Self { settings, viewers: Mutex::default() });
        let of_thread = Arc::clone(&server);
        http::serve(listener, move |request| of_thread.answer(request));
        server
    }

    /// Ends every stream, and writes its results.
    pub fn close(&self) {
        let viewers = std::mem::take(&mut self.lock().by_name);
        viewers.into_values().for_each(Viewer::close);
    }

    fn lock(&self) -> MutexGuard<'_, Viewers> {
        self.viewers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn answer(&self, request: &Request) -> Answer {
        let name = request.path.strip_prefix("/whep/").map(|rest| rest.split_once('/').unwrap_or((rest, "")));
        match (request.method.as_str(), request.path.as_str(), name) {
            ("GET", "/", _) => Answer::page(PAGE),
            ("GET", "/controllers", _) => {
                let named = self.settings.controllers().map(|config| (config.name(), config.properties().title));
                let names = serde_json::json!({ "controllers": named, "chosen": self.settings.controller, "l4s": self.settings.l4s });
                Answer::json(names.to_string())
            }
            ("GET", "/cell", _) => self.settings.cell.as_ref().map_or_else(|| Answer::json("null"), |cell| cell.now()),
            ("POST", "/ctl", _) => self.settings.cell.as_ref().map_or_else(no_cell, |cell| cell.command(request)),
            ("POST", "/whep", _) => self.offer(request).unwrap_or_else(|answer| answer),
            ("DELETE", _, Some((name, ""))) => match self.take(name) {
                Some(viewer) => {
                    viewer.close();
                    Answer::text("200 OK", "ended")
                }
                None => unknown(),
            },
            (method, _, Some((name, of))) => self.viewers_answer(method, name, of, request),
            _ => Answer::text("404 Not Found", "there are / and /whep"),
        }
    }

    fn take(&self, name: &str) -> Option<Viewer> {
        self.lock().by_name.remove(name)
    }

    fn viewers_answer(&self, method: &str, name: &str, of: &str, request: &Request) -> Answer {
        let viewers = self.lock();
        let Some(viewer) = viewers.by_name.get(name) else { return unknown() };
        match (method, of) {
            ("GET", "state") => {
                let from = request.query("from").and_then(|row| row.parse().ok()).unwrap_or(0);
                Answer::json(viewer.told(from))
            }
            ("POST", "shown") => match serde_json::from_str(request.body.as_deref().unwrap_or_default()) {
                Ok(shown) => {
                    viewer.shown(shown);
                    Answer::text("200 OK", "noted")
                }
                Err(error) => Answer::text("400 Bad Request", error.to_string()),
            },
            ("POST", "flash") => {
                viewer.flash();
                Answer::text("200 OK", "white for a moment")
            }
            ("POST", "pause") => {
                viewer.pause();
                Answer::text("200 OK", "no more frames")
            }
            _ => Answer::text("404 Not Found", "a viewer has state, shown, flash and pause"),
        }
    }

    /// Answers an offer, and starts its stream.
    fn offer(&self, request: &Request) -> Result<Answer, Answer> {
        let broken = |error: io::Error| Answer::text("500 Internal Server Error", error.to_string());
        let controller = request.query("controller").unwrap_or(&self.settings.controller);
        let l4s = request.query("l4s").map_or(self.settings.l4s, |value| value != "0");
        let no_such = || Answer::text("400 Bad Request", format!("controller: one of {}", names().join(", ")));
        let made = self.settings.controller(controller).ok_or_else(no_such)?;
        let offer = request.body.as_deref().unwrap_or_default();
        // Keep the lock from the count to the new viewer, so that two at once can't both take the last place.
        let mut viewers = self.lock();
        viewers.by_name.retain(|_, viewer| !viewer.is_over());
        if viewers.by_name.len() >= self.settings.viewers {
            let text = format!("{} viewers are connected already: raise --viewers", self.settings.viewers);
            return Err(Answer::text("503 Service Unavailable", text));
        }
        if offer.len() > MAX_OFFER {
            return Err(Answer::text("413 Content Too Large", format!("an offer can have at most {MAX_OFFER} bytes")));
        }
        let name = random().map(|number: [u8; 8]| format!("{:016x}", u64::from_ne_bytes(number))).map_err(broken)?;
        viewers.count += 1;
        let out = self.settings.out.as_ref().map(|folder| folder.join(format!("viewer-{}", viewers.count)));
        let wake = Wake::new().map_err(broken)?;
        let (socket, address) = bind(request.local).map_err(broken)?;
        let ssrc = random().map(u32::from_ne_bytes).map_err(broken)?;
        let choice = Choice { controller: made, video: self.settings.video(), l4s, ssrc };
        let references = self.settings.reference.map(|every| Arc::new(References::every(every)));
        let start =
            Start { socket, wake: wake.clone(), controller: controller.into(), references: references.clone(), out };
        let started = match &self.settings.frames {
            Frames::Generator => start.answer(offer, address, choice, self.settings.generated(ssrc)),
            Frames::Encoder | Frames::File(_) => {
                let pictures = self.settings.pictures(wake, references);
                let pictures = pictures.map_err(|error| broken(io::Error::other(error)))?;
                start.answer(offer, address, choice, pictures)
            }
        };
        let (viewer, answer) = started.map_err(|refused| Answer::text("400 Bad Request", refused.to_string()))?;
        let location = format!("/whep/{name}");
        viewers.by_name.insert(name, viewer);
        Ok(Answer::new("201 Created", "application/sdp", answer).at(location))
    }
}

fn no_cell() -> Answer {
    Answer::text("404 Not Found", "no live cell is shown: name one with --cell")
}

fn unknown() -> Answer {
    Answer::text("404 Not Found", "no such viewer: it may have gone")
}

fn random<const N: usize>() -> io::Result<[u8; N]> {
    let mut bytes = [0; N];
    getrandom(&mut bytes, GetRandomFlags::empty())?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_controller_has_its_name_in_a_scenario() {
        for name in names() {
            let of_scenario = serde_json::from_value(serde_json::json!({ "controller": name }));
            let config: SenderConfig = of_scenario.unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(matches!(config.transport(), Transport::Rtp(_)), "{name}");
        }
    }
}
