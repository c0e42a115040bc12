//! Record of a flow.

use tidemark_cell::DelaySplit;
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_senders::{FrameArrival, Stats};

use crate::distribution::Distribution;
use crate::event::Arrival;
use crate::frames::FrameRecord;
use crate::result::{FlowResult, Split, Transfers};
use crate::series::{FlowPoint, SenderState};
use crate::unit::mbps;
use crate::watched::WatchedFlow;

/// One flow's packets and round-trip times. Only the series includes the warm-up.
#[derive(Clone, Debug, Default)]
pub struct FlowRecord {
    /// Bearer that brought its last packet, as in [`Arrival`].
    pub drb: u8,
    /// Times in the RLC queue.
    pub queue: Distribution,
    sent_packets: u64,
    marked: u64,
    dropped: u64,
    delivered: Bytes,
    owd: Distribution,
    router_queue: Distribution,
    pub(crate) frames: FrameRecord,
    completions: Distribution,
    pub(crate) rtt: Distribution,
    parts: Parts,
    first_sent: Option<Instant>,
    last_arrival: Instant,
    pub(crate) point: FlowPoint,
    pub(crate) points: Vec<FlowPoint>,
    /// Intervals by themselves, of a flow whose end prints them.
    pub(crate) watched: Option<Box<WatchedFlow>>,
}

/// Sums over the packets that arrived, for the mean of each part of the delay.
#[derive(Clone, Debug, Default)]
struct Parts {
    packets: u64,
    propagation: Duration,
    router: Duration,
    cell: DelaySplit,
}

/// Names of a flow in its results.
#[derive(Clone, Debug)]
pub struct FlowDescription {
    /// Name.
    pub name: String,
    /// UE that it ends at or begins at; `None` for a host on the wire.
    pub ue: Option<usize>,
    /// Congestion controller of the sender.
    pub controller: String,
    /// Law of its bearer or routers.
    pub law: String,
    /// Names of the routers on the way of its data, in their order.
    pub routers: Vec<String>,
    /// True where its data goes from the UE to the network.
    pub is_uplink: bool,
}

/// Counters of a flow's ends at the warm-up's end and now; the server is the end that sends the data.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends<'a> {
    /// Counters of the server.
    pub server: (&'a Stats, &'a Stats),
    /// Counters of the client.
    pub client: (&'a Stats, &'a Stats),
}

/// Share of this time in which the sender waited for room in its send buffer alone; `None` where it never did.
fn buffer_limited(ends: Ends<'_>, active: Duration) -> Option<f64> {
    let (before, after) = ends.server;
    let waited = after.buffer_limited.saturating_sub(before.buffer_limited);
    (!waited.is_zero() && !active.is_zero()).then(|| (waited.as_secs_f64() / active.as_secs_f64()).min(1.0))
}

impl FlowRecord {
    /// Record of a flow that begins after this many intervals of the series.
    pub(crate) fn new(intervals: usize) -> Self {
        Self { points: vec![FlowPoint::default(); intervals], ..Self::default() }
    }
    #[inline]
    pub(crate) fn sent(&mut self, now: Instant, counts: bool) {
        self.sent_packets += u64::from(counts);
        self.first_sent.get_or_insert(now);
    }
    #[inline]
    pub(crate) fn arrived(&mut self, at: Instant, packet: &Arrival, counts: bool) {
        let marked = u64::from(packet.ecn == Ecn::Ce);
        self.point.delivered += packet.size;
        self.point.marks += marked;
        if let Some(watched) = &mut self.watched {
            watched.arrived(packet.ecn, Some(packet.delay.queuing + packet.delay.scheduling));
        }
        if !counts {
            return;
        }
        let total = at.since(packet.sent);
        let DelaySplit { cu, queuing, scheduling, harq, rlc, reordering } = packet.delay;
        self.last_arrival = at;
        self.drb = packet.drb;
        self.delivered += packet.size;
        self.marked += marked;
        self.owd.record(total);
        self.queue.record(queuing + scheduling);
        if let Some(waited) = packet.waited {
            self.router_queue.record(waited);
        }
        self.parts.packets += 1;
        self.parts.propagation += packet.on_wire(at);
        self.parts.router += packet.in_routers;
        self.parts.cell.cu += cu;
        self.parts.cell.queuing += queuing;
        self.parts.cell.scheduling += scheduling;
        self.parts.cell.harq += harq;
        self.parts.cell.rlc += rlc;
        self.parts.cell.reordering += reordering;
    }
    pub(crate) fn acknowledged(&mut self, ecn: Ecn) {
        if let Some(watched) = &mut self.watched {
            watched.arrived(ecn, None);
        }
    }
    pub(crate) fn rate(&mut self, rate: BitRate) {
        if let Some(watched) = &mut self.watched {
            watched.rate(rate);
        }
    }
    pub(crate) fn dropped(&mut self, counts: bool) {
        self.dropped += u64::from(counts);
    }
    pub(crate) fn short_circuited(&mut self, counts: bool) {
        self.point.marks += 1;
        self.marked += u64::from(counts);
    }
    #[inline]
    pub(crate) fn round_trip(&mut self, rtt: Duration, counts: bool) {
        self.point.rtt.add(rtt);
        if let Some(watched) = &mut self.watched {
            watched.round_trip(rtt);
        }
        if counts {
            self.rtt.record(rtt);
        }
    }
    pub(crate) fn frame(&mut self, at: Instant, frame: &FrameArrival, wire: Duration, counts: bool) {
        if let Some(watched) = &mut self.watched {
            watched.frame(frame.delay);
        }
        self.frames.arrived(at, frame, wire, counts);
    }
    /// Ends an interval of the series, at whose end the sender's state is this.
    pub(crate) fn sample(&mut self, sender: SenderState) {
        self.point.sender = sender;
        self.point.frames = std::mem::take(&mut self.frames.point);
        self.points.push(std::mem::take(&mut self.point));
    }
    pub(crate) fn completed(&mut self, duration: Duration, counts: bool) {
        if counts {
            self.completions.record(duration);
        }
    }
    /// Time of the first packet that was sent; `None` if there was none.
    pub fn first_sent(&self) -> Option<Instant> {
        self.first_sent
    }
    /// Time of the last arrival that counts.
    pub fn last_arrival(&self) -> Instant {
        self.last_arrival
    }
    /// Span from the first packet sent, or from the warm-up's end, to the last one that arrived.
    fn active(&self, warm: Instant) -> Duration {
        self.first_sent.map_or(Duration::ZERO, |first| self.last_arrival.since(first.max(warm)))
    }
    /// Mean delay taken apart; `None` where nothing arrived.
    fn split(&self, has_router: bool) -> Option<Split> {
        let Parts { packets, propagation, router, cell } = self.parts;
        let mean = |sum: Duration| (sum / packets.max(1)).as_millis_f64();
        (packets > 0).then(|| Split {
            propagation: mean(propagation),
            router: has_router.then(|| mean(router)),
            cu: mean(cell.cu),
            queuing: mean(cell.queuing),
            scheduling: mean(cell.scheduling),
            harq: mean(cell.harq),
            rlc: mean(cell.rlc),
            reordering: mean(cell.reordering),
        })
    }
    /// Result of the flow, which ends at the UE of this name. `ends` is `None` where the endpoints are not ours.
    pub(crate) fn result(
        &self,
        of: &FlowDescription,
        ue: Option<&str>,
        warm: Instant,
        ends: Option<Ends<'_>>,
    ) -> FlowResult {
        let active = self.active(warm);
        let completed = self.completions.count();
        FlowResult {
            name: of.name.clone(),
            ue: ue.map(Into::into),
            controller: of.controller.clone(),
            law: of.law.clone(),
            routers: of.routers.clone(),
            throughput_mbps: mbps(self.delivered, active),
            goodput_mbps: ends.map(|ends| mbps(ends.client.1.delivered - ends.client.0.delivered, active)),
            owd_ms: self.owd.quantiles(),
            rtt_ms: self.rtt.quantiles(),
            queue_ms: ue.and(self.queue.quantiles()),
            router_queue_ms: (!of.routers.is_empty()).then(|| self.router_queue.quantiles()).flatten(),
            transfers: (completed > 0).then(|| Transfers { completed, completion_ms: self.completions.quantiles() }),
            media: ends.and_then(|ends| self.frames.result(ends)),
            sent_packets: self.sent_packets,
            ecn: None,
            marked: self.marked,
            dropped: self.dropped,
            retransmissions: ends.map(|ends| ends.server.1.retransmissions - ends.server.0.retransmissions),
            gave_way: None,
            buffer_limited: ends.and_then(|ends| buffer_limited(ends, active)),
            split_ms: self.split(!of.routers.is_empty()),
            owd: self.owd.clone(),
            rtt: self.rtt.clone(),
            queue: self.queue.clone(),
            router_queue: self.router_queue.clone(),
            completions: self.completions.clone(),
            frames: self.frames.delay.clone(),
            sender_queue: self.frames.sender_queue.clone(),
        }
    }
}
