//! One viewer's stream, sans-IO: it takes and gives datagrams, and names its next deadline.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::{Bytes, BytesMut};
use rtc::peer_connection::event::RTCPeerConnectionEvent;
use rtc::peer_connection::state::RTCPeerConnectionState;
use rtc::rtcp::payload_feedbacks::full_intra_request::FullIntraRequest;
use rtc::rtcp::payload_feedbacks::picture_loss_indication::PictureLossIndication;
use rtc::rtcp::transport_feedbacks::cc_feedback_report::CcFeedbackReport;
use rtc::rtcp::transport_feedbacks::transport_layer_cc::TransportLayerCc;
use rtc::rtp;
use rtc::sansio::Protocol as _;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};
use tidemark_core::{Ecn, FlowId, Packet};
use tidemark_senders::media::{FixedConfig, MediaController, Sender, VideoConfig};
use tidemark_senders::payload::{FramePart, Payload, Report, RtpPacket};
use tidemark_senders::{CongestionControl as _, Endpoint as _, Stats, Transport};

use crate::feedback::Reports;
use crate::media::Media;
use crate::negotiation::{self, Agreed, Feedback, Refused};
use crate::tap::Tap;

/// Longest time for a viewer to connect.
const PATIENCE: Duration = Duration::from_secs(15);
/// RTP clock of H.264 in ticks per second (RFC 6184 8.1).
const CLOCK: u64 = 90_000;

/// A datagram to send.
#[derive(Debug)]
pub struct Datagram {
    /// The viewer's address.
    pub to: SocketAddr,
    /// The ECN field.
    pub ecn: Ecn,
    /// The UDP payload.
    pub bytes: BytesMut,
    /// Time at which the pacer let it leave, of a media packet that waited for it.
    pub due: Option<Instant>,
}

/// Progress of a session.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum State {
    /// The viewer has not connected yet.
    Connecting,
    /// Frames are sent.
    Streaming,
    /// The viewer has gone, or never connected.
    Over,
}

/// Counters of a session, and its present state.
#[derive(Clone, Copy, Debug)]
pub struct Status {
    /// Progress.
    pub state: State,
    /// Negotiated feedback.
    pub feedback: Feedback,
    /// The sender's counters.
    pub sender: Stats,
    /// Reports read.
    pub reports: u64,
    /// Key frames requested by the viewer.
    pub refreshes: u64,
    /// Packets retransmitted.
    pub retransmitted: u64,
    /// Packets requested again but not retransmitted.
    pub refused: u64,
}

/// Parts that are set up once the viewer has connected.
struct Prepared<M> {
    frames: M,
    controller: Box<dyn MediaController + Send>,
}

/// A stream of pictures to one viewer.
pub struct Session<M> {
    agreed: Agreed,
    local: SocketAddr,
    tap: Tap,
    prepared: Option<Prepared<M>>,
    video: VideoConfig,
    sender: Option<Sender<M>>,
    /// Start of the sender's time.
    epoch: Instant,
    reports: Reports,
    is_l4s: bool,
    media_ecn: Ecn,
    /// Time for which the last packet of the sender waited.
    due: Option<Instant>,
    state: State,
    /// Packets sent, and the RTP time of the last one.
    sent: u64,
    timestamp: u32,
    read: u64,
    refreshes: u64,
}

/// Parameters of a stream.
pub struct Choice {
    /// The controller.
    pub controller: Box<dyn MediaController + Send>,
    /// Video, of which only the start and the age limit of frames are used.
    pub video: VideoConfig,
    /// True if packets carry the controller's codepoint for a viewer that reports marks, false for Not-ECT.
    pub l4s: bool,
    /// Number of the stream, drawn at random (RFC 3550 8).
    pub ssrc: u32,
}

impl<M: Media> Session<M> {
    /// Answers `offer` for a socket at `local`; gives the session with its answer.
    ///
    /// # Errors
    /// An offer that can't be read, or that asks for anything but one video.
    pub fn answer(
        now: Instant,
        offer: &str,
        local: SocketAddr,
        choice: Choice,
        frames: M,
    ) -> Result<(Self, String), Refused> {
        let (tap, wanted) = (Tap::default(), choice.controller.report_policy().format);
        let agreed = negotiation::answer(now, offer, local, wanted, choice.ssrc, &tap)?;
        let answer = agreed.answer.clone();
        // ECT(1) needs feedback on marks (RFC 9331 4.2).
        let is_l4s = choice.l4s && agreed.feedback == Feedback::Rfc8888;
        let controller = match agreed.feedback {
            Feedback::None => fixed(choice.controller),
            Feedback::Rfc8888 | Feedback::TransportWide => choice.controller,
        };
        let session = Self {
            agreed,
            local,
            tap,
            prepared: Some(Prepared { frames, controller }),
            video: choice.video,
            sender: None,
            epoch: now,
            reports: Reports::new(),
            is_l4s,
            media_ecn: Ecn::NotEct,
            due: None,
            state: State::Connecting,
            sent: 0,
            timestamp: 0,
            read: 0,
            refreshes: 0,
        };
        Ok((session, answer))
    }

    /// Takes a datagram from `from`. An unreadable one changes nothing.
    pub fn handle_datagram(&mut self, now: Instant, from: SocketAddr, bytes: &[u8]) {
        let transport = TransportContext {
            local_addr: self.local,
            peer_addr: from,
            ecn: None,
            transport_protocol: TransportProtocol::UDP,
        };
        // The stack's error is only about this datagram.
        let _ = self.agreed.connection.handle_read(TaggedBytesMut { now, transport, message: BytesMut::from(bytes) });
        self.look(now);
    }

    /// Handles due deadlines.
    pub fn handle_timeout(&mut self, now: Instant) {
        if self.agreed.connection.poll_timeout().is_some_and(|at| at <= now) {
            let _ = self.agreed.connection.handle_timeout(now);
        }
        self.look(now);
        if self.state == State::Connecting && now >= self.epoch + PATIENCE {
            self.state = State::Over;
        }
        let time = self.time(now);
        if let Some(sender) = &mut self.sender
            && sender.next_deadline().is_some_and(|at| at <= time)
        {
            sender.handle_timeout(time);
        }
    }

    /// The next datagram to send now.
    pub fn poll_transmit(&mut self, now: Instant) -> Option<Datagram> {
        loop {
            if let Some(out) = self.agreed.connection.poll_write() {
                let (ecn, due) =
                    if is_rtp(&out.message) { (self.media_ecn, self.due.take()) } else { (Ecn::NotEct, None) };
                return Some(Datagram { to: out.transport.peer_addr, ecn, bytes: out.message, due });
            }
            let time = self.time(now);
            let sender = self.sender.as_mut().filter(|_| self.state == State::Streaming)?;
            let due = sender.next_deadline().filter(|due| *due <= time);
            let packet = sender.poll_transmit(time)?;
            self.due = due.map(|due| self.epoch + Duration::from_nanos(due.as_nanos()));
            self.write(now, packet);
        }
    }

    /// Time of the next call of [`handle_timeout`](Self::handle_timeout).
    pub fn next_deadline(&mut self) -> Option<Instant> {
        let sender = self.sender.as_ref().and_then(|sender| sender.next_deadline());
        let sender = sender.map(|at| self.epoch + Duration::from_nanos(at.as_nanos()));
        let connecting = (self.state == State::Connecting).then(|| self.epoch + PATIENCE);
        [self.agreed.connection.poll_timeout(), sender, connecting].into_iter().flatten().min()
    }

    /// Closes the stream; the remaining datagrams tell the viewer.
    pub fn close(&mut self) {
        // A connection that can't be closed is closed already.
        let _ = self.agreed.connection.close();
        self.state = State::Over;
    }

    /// Source of the frames.
    pub fn frames_mut(&mut self) -> Option<&mut M> {
        match (&mut self.sender, &mut self.prepared) {
            (Some(sender), _) => Some(sender.frames_mut()),
            (None, Some(prepared)) => Some(&mut prepared.frames),
            (None, None) => None,
        }
    }

    /// True if packets carry the controller's codepoint.
    pub fn is_l4s(&self) -> bool {
        self.is_l4s
    }

    /// Counters and present state.
    pub fn status(&self) -> Status {
        let (retransmitted, refused) = self.tap.retransmissions();
        Status {
            state: self.state,
            feedback: self.agreed.feedback,
            sender: self.sender.as_ref().map(|sender| sender.stats()).unwrap_or_default(),
            reports: self.read,
            refreshes: self.refreshes,
            retransmitted,
            refused,
        }
    }

    /// The sender's time.
    fn time(&self, now: Instant) -> tidemark_core::Instant {
        tidemark_core::Instant::from_nanos(now.saturating_duration_since(self.epoch).as_nanos() as u64)
    }

    /// Reads the stack's events.
    fn look(&mut self, now: Instant) {
        // Only RTCP is received, and the tap takes it.
        while self.agreed.connection.poll_read().is_some() {}
        while let Some(event) = self.agreed.connection.poll_event() {
            if let RTCPeerConnectionEvent::OnConnectionStateChangeEvent(state) = event {
                match state {
                    RTCPeerConnectionState::Connected => self.begin(now),
                    RTCPeerConnectionState::Failed | RTCPeerConnectionState::Closed => self.state = State::Over,
                    _ => {}
                }
            }
        }
        while let Some(packet) = self.tap.take() {
            let packet = packet.as_any();
            if let Some(report) = packet.downcast_ref::<CcFeedbackReport>() {
                for report in self.reports.ccfb(report, self.agreed.ssrc, self.sent) {
                    self.report(now, report);
                }
            } else if let Some(report) = packet.downcast_ref::<TransportLayerCc>() {
                if let Some(report) = self.reports.transport_wide(report, self.sent) {
                    self.report(now, report);
                }
            } else if packet.is::<PictureLossIndication>() || packet.is::<FullIntraRequest>() {
                self.refreshes += 1;
                if let Some(sender) = &mut self.sender {
                    sender.frames_mut().refresh();
                }
            }
        }
    }

    fn begin(&mut self, now: Instant) {
        let Some(Prepared { frames, controller }) = self.prepared.take() else { return };
        self.epoch = now;
        self.sender =
            Some(Sender::with_frames(frames, &self.video, FlowId(0), u64::from(self.agreed.ssrc), controller));
        self.state = State::Streaming;
    }

    fn report(&mut self, now: Instant, report: Report) {
        let time = self.time(now);
        let Some(sender) = &mut self.sender else { return };
        self.read += 1;
        let payload = Payload::Report(Box::new(report));
        let size = payload.wire_size();
        sender.handle_packet(time, Packet { flow: FlowId(0), size, ecn: Ecn::NotEct, payload: &payload });
    }

    /// Hands a packet to the stack, which encrypts it.
    fn write(&mut self, now: Instant, packet: Packet<Payload>) {
        let Payload::Rtp(RtpPacket { seq, frame, marker, .. }) = packet.payload else { return };
        self.sent = seq + 1;
        // A frame without bytes was forgotten, which is a loss.
        let Some(payload) = self.payload(&frame) else { return };
        self.media_ecn = if self.is_l4s { packet.ecn } else { Ecn::NotEct };
        if frame.number != FramePart::PADDING {
            self.timestamp = (u128::from(frame.captured.as_nanos()) * u128::from(CLOCK) / 1_000_000_000) as u32;
        }
        let mut header = rtp::Header {
            version: 2,
            marker,
            payload_type: self.agreed.payload_type,
            sequence_number: seq as u16,
            timestamp: self.timestamp,
            ssrc: self.agreed.ssrc,
            ..Default::default()
        };
        if let Some(id) = self.agreed.extension {
            // It fails only for an identifier that was not negotiated.
            let _ = header.set_extension(id, Bytes::copy_from_slice(&(seq as u16).to_be_bytes()));
        }
        if let Some(mut track) = self.agreed.connection.rtp_sender(self.agreed.track) {
            // A packet that the stack refuses counts as lost.
            let _ = track.write_rtp(now, rtp::Packet { header, payload });
        }
    }

    fn payload(&mut self, frame: &FramePart) -> Option<Bytes> {
        if frame.number == FramePart::PADDING {
            return Some(filler(frame.len));
        }
        self.sender.as_mut()?.frames_mut().payload(frame.number)
    }
}

/// Makes a controller that keeps another one's initial rate. Without feedback, that one would stay at its minimum rate.
fn fixed(controller: Box<dyn MediaController + Send>) -> Box<dyn MediaController + Send> {
    match (FixedConfig { rate: controller.target_rate() }).transport() {
        Transport::Rtp(fixed) => fixed(),
        Transport::Tcp(_) | Transport::Udp { .. } => controller,
    }
}

/// Makes filler data (H.264 7.3.2.7), which decoders ignore.
fn filler(len: u32) -> Bytes {
    const FILLER: u8 = 12;
    let mut bytes = vec![0xFF; len.max(2) as usize];
    bytes[0] = FILLER;
    bytes[len.max(2) as usize - 1] = 0x80;
    bytes.into()
}

/// True for RTP among the protocols that share its port (RFC 7983 7, RFC 5761 4).
fn is_rtp(bytes: &[u8]) -> bool {
    matches!(bytes, [128..=191, second, ..] if !(64..=95).contains(&(second & 0x7F)))
}
