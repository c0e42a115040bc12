//! What a run remembers of each flow and each UE.

use tidemark_cell::{CellStats, DelaySplit, UeConfig, UeStats, UplinkStats};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};
use tidemark_senders::FrameArrival;
use tidemark_wire::mac::Direction;

use crate::bearers::UplinkBearers;
use crate::distribution::Distribution;
use crate::result::Split;
use crate::unit::round;

/// One flow's packets and round-trip times. What happens before the warm-up's end does not count.
#[derive(Debug, Default)]
pub struct FlowRecord {
    /// Packets that the sender handed to the network.
    pub sent_packets: u64,
    /// Packets that arrived with CE.
    pub marked: u64,
    /// The bearer that brought its last packet, as in [`Arrival`].
    pub drb: u8,
    /// Packets that the network dropped.
    pub dropped: u64,
    /// IP bytes that arrived.
    pub delivered: Bytes,
    /// One-way delays.
    pub owd: Distribution,
    /// Times in the RLC queue.
    pub queue: Distribution,
    /// Times in routers' queues.
    pub router_queue: Distribution,
    /// Delays of frames, from their capture to their last packet.
    pub frames: Distribution,
    /// Times of frames in the sender's own queue.
    pub sender_queue: Distribution,
    /// Completion times of transfers of known size.
    pub completions: Distribution,
    /// Round-trip times.
    pub rtt: Distribution,
    parts: Parts,
    interval: FlowInterval,
    /// Finished intervals.
    pub intervals: Vec<FlowPoint>,
    first_sent: Option<Instant>,
    last_arrival: Instant,
}

/// Sums over the packets that arrived, for the mean of each part of the delay.
#[derive(Debug, Default)]
struct Parts {
    packets: u64,
    propagation: Duration,
    router: Duration,
    cell: DelaySplit,
}

#[derive(Debug, Default)]
struct FlowInterval {
    delivered: Bytes,
    marks: u64,
    rtt: Mean,
}

/// A flow's values over one interval.
#[derive(Clone, Copy, Debug)]
pub struct FlowPoint {
    /// IP bytes that arrived.
    pub delivered: Bytes,
    /// Packets that arrived with CE.
    pub marks: u64,
    /// Mean round-trip time.
    pub rtt: Option<Duration>,
    /// Congestion window at the end.
    pub window: Option<Bytes>,
}

/// Bit rate recommendations of one direction.
#[derive(Clone, Copy, Debug, Default)]
pub struct AnbrRecord {
    /// How many came, and their sum.
    pub recommendations: (u64, BitRate),
    /// Queries that were sent, and those for which one that waited for the prohibit timer was sent.
    pub queries: (u64, u64),
}

/// One UE's packets.
#[derive(Debug, Default)]
pub struct UeRecord {
    /// IP bytes that arrived after the warm-up.
    pub delivered: Bytes,
    /// Bit rate recommendations for its downlink.
    pub downlink_anbr: AnbrRecord,
    /// Bit rate recommendations for its uplink.
    pub uplink_anbr: AnbrRecord,
    /// Times in the RLC queue, for each of several bearers; empty where there is one.
    pub bearers: Vec<Distribution>,
    /// What it sent, after the warm-up.
    pub uplink: UplinkBearers,
    /// The last recommendation for each logical channel of its downlink, and of its uplink.
    recommended: [Vec<(u8, BitRate)>; 2],
    interval: UeInterval,
    /// Its uplink's counters at the interval's beginning.
    last_uplink: UplinkStats,
    /// Finished intervals.
    pub intervals: Vec<UePoint>,
}

#[derive(Debug, Default)]
struct UeInterval {
    delivered: Bytes,
    queue: Mean,
    sent: Bytes,
    uplink_queue: Mean,
}

/// A UE's values over one interval.
#[derive(Clone, Copy, Debug)]
pub struct UePoint {
    /// IP bytes that arrived.
    pub delivered: Bytes,
    /// Mean time in the RLC queue.
    pub queue: Option<Duration>,
    /// MCS index at the end.
    pub mcs: Option<u8>,
    /// Packets in the RLC queue at the end.
    pub queued: u32,
    /// IP bytes of it that left its gNB.
    pub sent: Bytes,
    /// Their packets' mean wait at the UE.
    pub uplink_queue: Option<Duration>,
    /// What the gNB took to wait there at the end.
    pub reported: Bytes,
    /// First transmissions of blocks, and the sum of their MCS.
    pub uplink_blocks: (u64, u64),
    /// The bit rates that were recommended last for its downlink and its uplink, all logical channels together.
    pub recommended: [Option<BitRate>; 2],
}

/// One cell of a network.
#[derive(Debug, Default)]
pub struct CellRecord {
    last: CellStats,
    /// Finished intervals.
    pub intervals: Vec<CellPoint>,
}

/// A cell's values over one interval.
#[derive(Clone, Copy, Debug)]
pub struct CellPoint {
    /// IP bytes delivered to UEs.
    pub delivered: Bytes,
    /// Share of the downlink's resources used; `None` where it had none.
    pub load: Option<f64>,
    /// UEs at the end.
    pub ues: u32,
    /// UEs that came from other cells.
    pub handovers: u64,
}

#[derive(Debug, Default)]
struct Mean {
    sum: Duration,
    count: u64,
}

impl Mean {
    fn add(&mut self, value: Duration) {
        self.sum += value;
        self.count += 1;
    }
    fn take(&mut self) -> Option<Duration> {
        let mean = (self.count > 0).then(|| self.sum / self.count.max(1));
        *self = Self::default();
        mean
    }
}

/// A downlink packet that has arrived at its UE.
#[derive(Clone, Copy, Debug)]
pub struct Arrival {
    /// When the server's IP layer sent it.
    pub sent: Instant,
    /// When the UE's IP layer got it.
    pub at: Instant,
    /// Length of the IP packet.
    pub size: Bytes,
    /// Its ECN field on arrival.
    pub ecn: Ecn,
    /// Its time in the queues of routers, where there are any on its way.
    pub waited: Option<Duration>,
    /// Its time in the queues of routers and on their links.
    pub in_routers: Duration,
    /// The bearer that brought it: the DRB identity, from 1; 0 for none.
    pub drb: u8,
    /// Its time in the cell.
    pub delay: DelaySplit,
    /// False during the warm-up, when only the series count it.
    pub counts: bool,
}

impl FlowRecord {
    /// Counts a packet that the sender hands to the network.
    pub fn sent(&mut self, now: Instant, counts: bool) {
        self.sent_packets += u64::from(counts);
        self.first_sent.get_or_insert(now);
    }
    /// From the first packet sent, or from the warm-up's end, to the last one that arrived.
    pub fn active(&self, warm: Instant) -> Duration {
        self.first_sent.map_or(Duration::ZERO, |first| self.last_arrival.since(first.max(warm)))
    }
    /// Counts an arrival.
    pub fn arrived(&mut self, packet: &Arrival) {
        let marked = u64::from(packet.ecn == Ecn::Ce);
        self.interval.delivered += packet.size;
        self.interval.marks += marked;
        if !packet.counts {
            return;
        }
        let total = packet.at.since(packet.sent);
        let DelaySplit { cu, queuing, scheduling, harq, rlc, reordering } = packet.delay;
        self.last_arrival = packet.at;
        self.drb = packet.drb;
        self.delivered += packet.size;
        self.marked += marked;
        self.owd.record(total);
        self.queue.record(queuing + scheduling);
        if let Some(waited) = packet.waited {
            self.router_queue.record(waited);
        }
        self.parts.packets += 1;
        self.parts.propagation += total - packet.in_routers - packet.delay.total();
        self.parts.router += packet.in_routers;
        self.parts.cell.cu += cu;
        self.parts.cell.queuing += queuing;
        self.parts.cell.scheduling += scheduling;
        self.parts.cell.harq += harq;
        self.parts.cell.rlc += rlc;
        self.parts.cell.reordering += reordering;
    }
    /// Counts a mark that acknowledgements carry instead of the packet.
    pub fn short_circuited(&mut self, counts: bool) {
        self.interval.marks += 1;
        self.marked += u64::from(counts);
    }
    /// Counts a round-trip time.
    pub fn round_trip(&mut self, rtt: Duration, counts: bool) {
        self.interval.rtt.add(rtt);
        if counts {
            self.rtt.record(rtt);
        }
    }
    /// Counts a frame that has arrived whole.
    pub fn frame(&mut self, frame: &FrameArrival, counts: bool) {
        if counts {
            self.frames.record(frame.delay);
            self.sender_queue.record(frame.sender_queue);
        }
    }
    /// Counts a transfer that has arrived whole.
    pub fn completed(&mut self, duration: Duration, counts: bool) {
        if counts {
            self.completions.record(duration);
        }
    }
    /// Ends an interval of the series.
    pub fn sample(&mut self, window: Option<Bytes>) {
        let FlowInterval { delivered, marks, rtt } = &mut self.interval;
        let point = FlowPoint { delivered: *delivered, marks: *marks, rtt: rtt.take(), window };
        self.interval = FlowInterval::default();
        self.intervals.push(point);
    }
    /// The mean delay taken apart; `None` where nothing arrived. `router` is said where there is one on the way.
    pub fn split(&self, has_router: bool) -> Option<Split> {
        let Parts { packets, propagation, router, cell } = self.parts;
        let mean = |sum: Duration| round((sum / packets.max(1)).as_millis_f64(), 1e3);
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
}

fn sum_of(rates: &[(u8, BitRate)]) -> Option<BitRate> {
    let sum = rates.iter().map(|(_, rate)| rate.as_bps()).sum();
    (!rates.is_empty()).then(|| BitRate::from_bps(sum))
}

impl CellRecord {
    /// Ends an interval of the series, in which the cell had so many resources.
    pub fn sample(&mut self, now: CellStats, available: u64) {
        let used = now.resources - self.last.resources;
        let load = (available > 0).then(|| used as f64 / available as f64);
        self.intervals.push(CellPoint {
            delivered: now.delivered - self.last.delivered,
            load,
            ues: 0,
            handovers: now.handovers - self.last.handovers,
        });
        self.last = now;
    }
    /// A UE is in the cell as an interval ends.
    pub fn hosts(&mut self) {
        if let Some(point) = self.intervals.last_mut() {
            point.ues += 1;
        }
    }
}

impl UeRecord {
    /// Of a UE.
    pub fn new(config: &UeConfig) -> Self {
        let bearers = 1 + config.drb.len();
        let bearers = if bearers > 1 { vec![Distribution::default(); bearers] } else { Vec::new() };
        Self { bearers, uplink: UplinkBearers::new(config), ..Self::default() }
    }
    /// Counts an arrival.
    pub fn arrived(&mut self, packet: &Arrival) {
        let queue = packet.delay.queuing + packet.delay.scheduling;
        self.interval.delivered += packet.size;
        self.interval.queue.add(queue);
        if packet.counts {
            self.delivered += packet.size;
            if let Some(bearer) = self.bearers.get_mut(usize::from(packet.drb.wrapping_sub(1))) {
                bearer.record(queue);
            }
        }
    }
    /// Counts a packet of the UE that leaves its gNB.
    pub fn sent(&mut self, drb: u8, size: Bytes, delay: DelaySplit, counts: bool) {
        self.interval.sent += size;
        self.interval.uplink_queue.add(delay.queuing + delay.scheduling);
        if counts {
            self.uplink.left(drb, size, delay);
        }
    }
    /// Counts a bit rate recommendation for a logical channel.
    pub fn recommended(&mut self, direction: Direction, channel: u8, rate: BitRate, counts: bool) {
        let last = &mut self.recommended[usize::from(direction == Direction::Uplink)];
        match last.iter_mut().find(|(known, _)| *known == channel) {
            Some(known) => known.1 = rate,
            None => last.push((channel, rate)),
        }
        if counts {
            let (count, sum) = &mut self.anbr(direction).recommendations;
            (*count, *sum) = (*count + 1, BitRate::from_bps(sum.as_bps() + rate.as_bps()));
        }
    }
    /// Counts a query that was sent, or that a timer forbade.
    pub fn asked(&mut self, direction: Direction, sent: bool, counts: bool) {
        let (asked, forbidden) = &mut self.anbr(direction).queries;
        *asked += u64::from(counts && sent);
        *forbidden += u64::from(counts && !sent);
    }
    fn anbr(&mut self, direction: Direction) -> &mut AnbrRecord {
        match direction {
            Direction::Downlink => &mut self.downlink_anbr,
            Direction::Uplink => &mut self.uplink_anbr,
        }
    }
    /// Ends an interval of the series.
    pub fn sample(&mut self, stats: &UeStats) {
        let UeInterval { delivered, queue, sent, uplink_queue } = &mut self.interval;
        let (before, uplink) = (std::mem::replace(&mut self.last_uplink, stats.uplink), stats.uplink);
        let point = UePoint {
            delivered: *delivered,
            queue: queue.take(),
            mcs: stats.mcs,
            queued: stats.queue.packets,
            sent: *sent,
            uplink_queue: uplink_queue.take(),
            reported: uplink.reported,
            uplink_blocks: (uplink.blocks - before.blocks, uplink.mcs_sum - before.mcs_sum),
            recommended: self.recommended.each_ref().map(|last| sum_of(last)),
        };
        self.interval = UeInterval::default();
        self.intervals.push(point);
    }
}
