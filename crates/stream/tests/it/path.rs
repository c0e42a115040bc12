//! A path in virtual time between a session and its peer: a delay each way, and towards the peer a link whose queue is marked.

use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use tidemark_core::{BitRate, Ecn};
use tidemark_senders::media::{Encoder, MediaController, VideoConfig};
use tidemark_senders::{CongestionControl as _, SenderConfig, Transport};
use tidemark_stream::{Choice, Feedback, Generated, Session, Status};

use crate::peer::Peer;

/// Number of the stream.
pub(crate) const SSRC: u32 = 0x7777;
/// IP and UDP below a datagram, in bytes.
const HEADERS: usize = 28;

/// Marking of the packets that may be marked.
#[derive(Clone, Copy)]
pub(crate) enum Marking {
    /// Never.
    Never,
    /// When they waited for longer.
    Above(Duration),
    /// Always.
    Always,
}

pub(crate) struct Path {
    pub(crate) now: Instant,
    pub(crate) begin: Instant,
    delay: Duration,
    rate: BitRate,
    pub(crate) marking: Marking,
    /// One packet in this many is lost; none with 0.
    pub(crate) loss: u64,
    /// Time at which the link has sent everything.
    idle_at: Instant,
    down: VecDeque<(Instant, BytesMut, Ecn)>,
    up: VecDeque<(Instant, BytesMut)>,
    pub(crate) session: Session<Generated>,
    pub(crate) peer: Peer,
    /// Waits of media packets in the link's queue.
    pub(crate) waits: Vec<Duration>,
    /// Codepoints of packets that left, as media and as something else.
    pub(crate) media: Vec<Ecn>,
    pub(crate) others: Vec<Ecn>,
    sent: u64,
    pub(crate) is_cut: bool,
}

pub(crate) fn address(last: u8) -> SocketAddr {
    SocketAddr::from(([192, 0, 2, last], 5000))
}

/// A controller by its name in a scenario.
pub(crate) fn named(name: &str) -> Box<dyn MediaController + Send> {
    let rates = r#"{"min": "150 kbit/s", "initial": "1 Mbit/s", "max": "8 Mbit/s"}"#;
    let config: SenderConfig =
        serde_json::from_str(&format!(r#"{{"controller": "{name}", "rates": {rates}}}"#)).unwrap();
    let Transport::Rtp(controller) = config.transport() else { panic!("{name} is for video") };
    controller()
}

/// Video of 30 frames a second that ends after so long.
pub(crate) fn video(stop: Duration) -> VideoConfig {
    let stop = Some(tidemark_core::Duration::from_nanos(stop.as_nanos() as u64));
    VideoConfig { frame_rate: 30, stop, ..VideoConfig::default() }
}

pub(crate) fn generated(video: &VideoConfig) -> Generated {
    let stream = tidemark_core::Stream::new(1, 0, "encoder");
    Generated::new(Encoder::new(video, BitRate::from_mbps(1), stream))
}

impl Path {
    pub(crate) fn new(
        controller: Box<dyn MediaController + Send>,
        feedback: Feedback,
        l4s: bool,
        stop: Duration,
    ) -> Self {
        let now = Instant::now();
        let (mut peer, offer) = Peer::offer(now, address(2), address(1), feedback);
        let video = video(stop);
        let frames = generated(&video);
        let choice = Choice { controller, video, l4s, ssrc: SSRC };
        // A browser's candidates are often names that nobody can look up: the path must be found by its checks alone.
        let offer: String = offer.split_inclusive('\n').filter(|line| !line.starts_with("a=candidate")).collect();
        let (session, answer) = Session::answer(now, &offer, address(1), choice, frames).unwrap();
        peer.accept(now, answer);
        Self {
            now,
            begin: now,
            delay: Duration::from_millis(10),
            rate: BitRate::from_mbps(4),
            marking: Marking::Above(Duration::from_millis(5)),
            loss: 0,
            idle_at: now,
            down: VecDeque::new(),
            up: VecDeque::new(),
            session,
            peer,
            waits: Vec::new(),
            media: Vec::new(),
            others: Vec::new(),
            sent: 0,
            is_cut: false,
        }
    }

    fn send_down(&mut self, bytes: BytesMut, ecn: Ecn) {
        let is_media = bytes.len() > 200 && (128..192).contains(&bytes[0]);
        if is_media { &mut self.media } else { &mut self.others }.push(ecn);
        self.sent += 1;
        if self.is_cut || is_media && self.loss > 0 && self.sent.is_multiple_of(self.loss) {
            return;
        }
        let start = self.idle_at.max(self.now);
        let wait = start.duration_since(self.now);
        let time = (bytes.len() + HEADERS) as f64 * 8.0 / self.rate.as_bps() as f64;
        self.idle_at = start + Duration::from_secs_f64(time);
        let is_marked = match self.marking {
            Marking::Never => false,
            Marking::Above(threshold) => wait > threshold,
            Marking::Always => true,
        };
        if is_media {
            self.waits.push(wait);
        }
        let ecn = if is_marked && ecn.is_ect() { Ecn::Ce } else { ecn };
        self.down.push_back((self.idle_at + self.delay, bytes, ecn));
    }

    /// Runs until this long after the start.
    pub(crate) fn run(&mut self, until: Duration) -> Status {
        let end = self.begin + until;
        loop {
            while self.up.front().is_some_and(|(at, _)| *at <= self.now) {
                let (_, bytes) = self.up.pop_front().unwrap();
                self.session.handle_datagram(self.now, address(2), &bytes);
            }
            while self.down.front().is_some_and(|(at, ..)| *at <= self.now) {
                let (_, bytes, ecn) = self.down.pop_front().unwrap();
                self.peer.handle_datagram(self.now, &bytes, ecn);
            }
            self.session.handle_timeout(self.now);
            self.peer.handle_timeout(self.now);
            while let Some(datagram) = self.session.poll_transmit(self.now) {
                self.send_down(datagram.bytes, datagram.ecn);
            }
            while let Some(bytes) = self.peer.poll_transmit() {
                if !self.is_cut {
                    self.up.push_back((self.now + self.delay, bytes));
                }
            }
            let deadlines = [
                self.session.next_deadline(),
                Some(self.peer.next_deadline()),
                self.up.front().map(|(at, _)| *at),
                self.down.front().map(|(at, ..)| *at),
            ];
            // A deadline that stays in the past must not hold up time.
            let next = deadlines.into_iter().flatten().min().unwrap_or(end).max(self.now + Duration::from_micros(50));
            if next > end {
                self.now = end;
                return self.session.status();
            }
            self.now = next;
        }
    }

    /// Rate of what arrives in the time from here on, in Mbit/s.
    pub(crate) fn rate_until(&mut self, until: Duration) -> f64 {
        let (from, first) = (self.now, self.peer.arrivals.len());
        self.run(until);
        let bytes: usize = self.peer.arrivals[first..].iter().map(|arrival| arrival.payload.len()).sum();
        8e-6 * bytes as f64 / self.now.duration_since(from).as_secs_f64()
    }

    /// Share of waits below which 95 % lie, of those since the packet `from`.
    pub(crate) fn p95(&self, from: usize) -> Duration {
        let mut waits = self.waits[from..].to_vec();
        waits.sort();
        waits[waits.len() * 95 / 100]
    }
}
