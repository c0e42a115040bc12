//! One end of a flow, as its driver sees it.

use tidemark_core::{BitRate, Bytes, Duration, Instant, Packet};

use crate::payload::Payload;

/// A transport's sender or receiver, with its application.
///
/// The driver hands over packets as they arrive, calls [`handle_timeout`](Self::handle_timeout) when the deadline has
/// come, and after each of these calls it calls [`poll_transmit`](Self::poll_transmit) until it returns `None`.
pub trait Endpoint {
    /// Handles a packet from the network.
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>);
    /// Does what is due at `now`. Harmless if called early.
    fn handle_timeout(&mut self, now: Instant);
    /// Time by which [`handle_timeout`](Self::handle_timeout) must be called; may lie in the past. `None` while only a
    /// packet can change anything.
    fn next_deadline(&self) -> Option<Instant>;
    /// The next packet to send now; `None` while nothing may be sent.
    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>>;
    /// Handles a rate of IP packets that the access network recommends to the end at the UE (TS 38.321 5.18.10). A
    /// receiver gets the downlink's rate and passes it on to its peer; a sender gets the uplink's. Only controllers
    /// that listen to recommendations use it.
    fn handle_recommendation(&mut self, _now: Instant, _rate: BitRate) {}
    /// Counters and present state.
    fn stats(&self) -> Stats;
    /// The round-trip time measured by the packet that was handled last. Call it after each packet to see all of them.
    fn take_rtt_sample(&mut self) -> Option<Duration> {
        None
    }
    /// The next frame that has arrived whole. Call it after each packet until it returns `None`.
    fn take_frame(&mut self) -> Option<FrameArrival> {
        None
    }
    /// Completion that the packet handled last brought: at a receiver of a transfer of known size, at the sender of a
    /// web application of a page. Call it after each packet to see all of them.
    fn take_completion(&mut self) -> Option<Completion> {
        None
    }
}

/// The two ends of a flow: first the one that sends the data, then the one that receives it.
pub type Ends = (Box<dyn Endpoint + Send>, Box<dyn Endpoint + Send>);

/// A transfer of known size, or a page of the web, that has arrived whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Completion {
    /// Number, from 1.
    pub number: u64,
    /// Size in bytes.
    pub size: Bytes,
    /// Time at which the client began to open the connection, or the server to write the page.
    pub started: Instant,
    /// Time from `started` until the last byte arrived (flow completion time) or was acknowledged (page load time).
    pub duration: Duration,
}

/// A media frame that has arrived whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FrameArrival {
    /// Number, from 1.
    pub number: u64,
    /// Size in bytes.
    pub size: Bytes,
    /// Time of capture.
    pub captured: Instant,
    /// Time from the capture to the arrival of the frame's last packet, which completes it: the sum of the three parts
    /// below (Brunello's Eqs. 3 and 4; `ProcD`, the time to recreate the frame, is zero here).
    pub delay: Duration,
    /// Time that this packet waited in the sender's queue, from the capture on: `RTPQD`.
    pub sender_queue: Duration,
    /// Time of this packet in the network beyond that of the stream's fastest packet so far: `NetQD`. It includes
    /// retransmissions and scheduling of the radio.
    pub network_queue: Duration,
    /// Time of the stream's fastest packet so far in the network: `PropD`, as far as the receiver can tell.
    pub propagation: Duration,
    /// Length of the freeze that this frame ended, as WebRTC counts freezes; `None` if there was none.
    pub frozen: Option<Duration>,
}

/// Counters of an endpoint, and its present state. A value that an end does not measure is `None`.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Stats {
    /// Packets sent, of any kind.
    pub packets_sent: u64,
    /// IP bytes sent, headers included.
    pub bytes_sent: Bytes,
    /// Packets received, of any kind.
    pub packets_received: u64,
    /// IP bytes received, headers included.
    pub bytes_received: Bytes,
    /// Receiver: payload handed to the application, in order and once.
    pub delivered: Bytes,
    /// Receiver: payload that arrived more than once.
    pub duplicate: Bytes,
    /// Sender: payload acknowledged, cumulatively or selectively.
    pub acknowledged: Bytes,
    /// Receiver: packets that arrived with CE.
    pub marks_received: u64,
    /// Sender: CE marks or ECE signals that came back as feedback.
    pub marks_reported: u64,
    /// Sender: packets that are retransmissions.
    pub retransmissions: u64,
    /// Sender: packets considered lost.
    pub losses: u64,
    /// Sender: retransmission timeouts.
    pub timeouts: u64,
    /// Sender: losses or timeouts that turned out to be spurious.
    pub spurious: u64,
    /// Sender: time in which only its send buffer held data back: the windows had room, and the path had no long queue.
    pub buffer_limited: Duration,
    /// Sender of media: frames encoded.
    pub frames_sent: u64,
    /// Sender of media: frames discarded before they were sent.
    pub frames_discarded: u64,
    /// Receiver of media: frames that arrived whole.
    pub frames_received: u64,
    /// Receiver of media: frames that did not arrive whole although later ones began, including those that the sender
    /// discarded.
    pub frames_lost: u64,
    /// Receiver of media: freezes, as WebRTC counts them (`freezeCount`): a frame that is shown later than three times
    /// the mean interval of the last thirty frames, and later than that mean plus 150 ms.
    pub freezes: u64,
    /// Receiver of media: total length of these freezes (`totalFreezesDuration`).
    pub frozen: Duration,
    /// Receiver: transfers of known size that arrived whole.
    pub completed: u64,
    /// Sender of media: the rate that the controller asks of the encoder.
    pub target_rate: Option<BitRate>,
    /// Sender: something on the path clears the ECN field, so that packets are sent as Not-ECT.
    pub bleached: bool,
    /// Sender: payload in flight.
    pub in_flight: Option<Bytes>,
    /// Sender: congestion window.
    pub window: Option<Bytes>,
    /// Sender: pacing rate, where the controller paces.
    pub pacing_rate: Option<BitRate>,
    /// Sender: smoothed round-trip time.
    pub smoothed_rtt: Option<Duration>,
    /// Sender: least round-trip time seen.
    pub min_rtt: Option<Duration>,
    /// Sender: the marked share that a scalable controller estimates, 0..=1.
    pub alpha: Option<f64>,
}

impl Stats {
    /// The counters of an earlier connection added; the present state stays.
    pub(crate) fn after(self, earlier: &Self) -> Self {
        Self {
            packets_sent: self.packets_sent + earlier.packets_sent,
            bytes_sent: self.bytes_sent + earlier.bytes_sent,
            packets_received: self.packets_received + earlier.packets_received,
            bytes_received: self.bytes_received + earlier.bytes_received,
            delivered: self.delivered + earlier.delivered,
            duplicate: self.duplicate + earlier.duplicate,
            acknowledged: self.acknowledged + earlier.acknowledged,
            marks_received: self.marks_received + earlier.marks_received,
            marks_reported: self.marks_reported + earlier.marks_reported,
            retransmissions: self.retransmissions + earlier.retransmissions,
            losses: self.losses + earlier.losses,
            timeouts: self.timeouts + earlier.timeouts,
            spurious: self.spurious + earlier.spurious,
            buffer_limited: self.buffer_limited + earlier.buffer_limited,
            completed: self.completed + earlier.completed,
            ..self
        }
    }
}
