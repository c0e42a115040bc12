//! Values over the intervals of a run. Each pair of intervals can be joined.

use tidemark_cell::UeStats;
use tidemark_core::{BitRate, Bytes, Duration};
use tidemark_senders::Stats;

/// Mean of durations.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mean {
    sum: Duration,
    count: u64,
}

impl Mean {
    /// Counts one duration.
    pub fn add(&mut self, value: Duration) {
        self.sum += value;
        self.count += 1;
    }
    /// Mean of what was counted; `None` where nothing was.
    pub fn value(&self) -> Option<Duration> {
        (self.count > 0).then(|| self.sum / self.count.max(1))
    }
    fn join(&mut self, later: &Self) {
        self.sum += later.sum;
        self.count += later.count;
    }
}

/// Values of an interval that can be joined with those of the next one.
pub trait Join: Copy {
    /// Adds the interval that came after.
    fn join(&mut self, later: &Self);
}

/// Flow over one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowPoint {
    /// IP bytes that arrived.
    pub delivered: Bytes,
    /// Packets that arrived with CE, and marks that acknowledgements carry.
    pub marks: u64,
    /// Round-trip times.
    pub rtt: Mean,
    /// Delays of frames.
    pub frames: Mean,
    /// State of the sender at the end.
    pub sender: SenderState,
}

/// State of a sender. A value that its controller does not have is `None`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderState {
    /// Congestion window.
    pub window: Option<Bytes>,
    /// Pacing rate.
    pub pacing_rate: Option<BitRate>,
    /// Rate asked of the encoder.
    pub target_rate: Option<BitRate>,
    /// Share of marks that a scalable controller estimates.
    pub alpha: Option<f64>,
}

impl From<&Stats> for SenderState {
    fn from(&Stats { window, pacing_rate, target_rate, alpha, .. }: &Stats) -> Self {
        Self { window, pacing_rate, target_rate, alpha }
    }
}

/// Place of a UE in a network.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Metres east and north of the centre site.
    pub position: [f64; 2],
    /// SINR without fading, in dB.
    pub sinr_db: f64,
    /// Number of the cell that serves it.
    pub cell: u32,
}

/// UE over one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UePoint {
    /// IP bytes that arrived.
    pub delivered: Bytes,
    /// Times in the RLC queue.
    pub queue: Mean,
    /// MCS index at the end.
    pub mcs: Option<u8>,
    /// Packets in the RLC queue at the end.
    pub queued: u32,
    /// Resource blocks x symbols of the downlink that carried its data, and all that its cell had.
    pub resources: (u64, u64),
    /// Packets that arrived, by the value of their ECN field.
    pub ecn: [u32; 4],
    /// IP bytes of the UE that left its gNB.
    pub sent: Bytes,
    /// Waits of these packets at the UE.
    pub uplink_queue: Mean,
    /// Bytes that waited at the UE at the end, according to the gNB.
    pub reported: Bytes,
    /// First transmissions of uplink blocks, and the sum of their MCS.
    pub uplink_blocks: (u64, u64),
    /// Bit rates that were recommended last for downlink and uplink, all logical channels together.
    pub recommended: [Option<BitRate>; 2],
    /// Place at the end; `None` in a cell without one.
    pub place: Option<Place>,
}

/// Cell of a network over one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
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

/// Router over one interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct RouterPoint {
    /// IP bytes that its link carried.
    pub delivered: Bytes,
    /// Packets that it marked.
    pub marks: u64,
    /// Times in its queue.
    pub queue: Mean,
    /// Rate of its link at the end.
    pub rate: BitRate,
}

impl UePoint {
    /// Ends the interval with the UE's counters then; `before` are those at the interval's beginning.
    pub(crate) fn end(&mut self, before: &UeStats, now: &UeStats, recommended: [Option<BitRate>; 2]) {
        self.mcs = now.mcs;
        self.queued = now.queue.packets;
        self.resources.0 += now.resources - before.resources;
        self.reported = now.uplink.reported;
        self.uplink_blocks.0 += now.uplink.blocks - before.uplink.blocks;
        self.uplink_blocks.1 += now.uplink.mcs_sum - before.uplink.mcs_sum;
        self.recommended = recommended;
    }
}

impl Join for FlowPoint {
    fn join(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.marks += later.marks;
        self.rtt.join(&later.rtt);
        self.frames.join(&later.frames);
        self.sender = later.sender;
    }
}

impl Join for UePoint {
    fn join(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.queue.join(&later.queue);
        self.mcs = later.mcs.or(self.mcs);
        self.queued = later.queued;
        self.resources.0 += later.resources.0;
        self.resources.1 += later.resources.1;
        self.ecn.iter_mut().zip(later.ecn).for_each(|(count, later)| *count += later);
        self.sent += later.sent;
        self.uplink_queue.join(&later.uplink_queue);
        self.reported = later.reported;
        self.uplink_blocks.0 += later.uplink_blocks.0;
        self.uplink_blocks.1 += later.uplink_blocks.1;
        self.recommended = later.recommended;
        self.place = later.place;
    }
}

impl Join for CellPoint {
    fn join(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.load =
            self.load.zip(later.load).map(|(first, second)| (first + second) / 2.0).or(self.load).or(later.load);
        self.ues = later.ues;
        self.handovers += later.handovers;
    }
}

impl Join for RouterPoint {
    fn join(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.marks += later.marks;
        self.queue.join(&later.queue);
        self.rate = later.rate;
    }
}

/// Joins each pair of points: half as many remain, each of twice the length.
pub fn halve<T: Join>(points: &mut Vec<T>) {
    let joined = points.chunks(2).map(|pair| {
        let mut first = pair[0];
        pair[1..].iter().for_each(|later| first.join(later));
        first
    });
    *points = joined.collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn halving_keeps_every_byte_and_mark() {
        let point = |n| FlowPoint { delivered: Bytes(n), marks: n, ..FlowPoint::default() };
        let mut points: Vec<_> = (1..=5).map(point).collect();
        halve(&mut points);
        assert_eq!(points.iter().map(|point| point.delivered.0).collect::<Vec<_>>(), [3, 7, 5]);
        assert_eq!(points.iter().map(|point| point.marks).sum::<u64>(), 15);
    }

    #[test]
    fn halving_keeps_the_resources_and_packets_of_a_ue() {
        let point = |n: u32| UePoint { resources: (n.into(), 10), ecn: [n, 0, 2 * n, 1], ..UePoint::default() };
        let mut points: Vec<_> = (1..=3).map(point).collect();
        halve(&mut points);
        assert_eq!(points.iter().map(|point| point.resources).collect::<Vec<_>>(), [(3, 20), (3, 10)]);
        assert_eq!(points.iter().map(|point| point.ecn).collect::<Vec<_>>(), [[3, 0, 6, 2], [3, 0, 6, 1]]);
    }
}
