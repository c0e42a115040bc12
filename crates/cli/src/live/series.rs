//! A time series of bounded length: when it is full, two intervals become one.

use tidemark_core::{Bytes, Duration};

/// Intervals at most; a run of any length has between half as many and these.
pub const LONGEST: usize = 2_048;

/// Values that can be put together.
pub trait Join {
    /// Adds what came after.
    fn join(&mut self, later: &Self);
}

/// What a flow received in an interval.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct FlowPoint {
    pub delivered: Bytes,
    pub marks: u64,
}

/// What a UE received in an interval, and its state at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct UePoint {
    pub delivered: Bytes,
    pub queue: Duration,
    pub packets: u64,
    pub mcs: Option<u8>,
    /// What it sent, its packets' waits at the UE, and what the gNB took to wait there at the end.
    pub sent: Bytes,
    pub uplink_queue: Duration,
    pub uplink_packets: u64,
    pub reported: Bytes,
    /// First transmissions of blocks, and the sum of their MCS.
    pub uplink_blocks: u64,
    pub uplink_mcs: u64,
    /// What was recommended last for its downlink and its uplink.
    pub recommended_mbps: [Option<f64>; 2],
}

impl Join for FlowPoint {
    fn join(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.marks += later.marks;
    }
}

impl Join for UePoint {
    fn join(&mut self, later: &Self) {
        self.delivered += later.delivered;
        self.queue += later.queue;
        self.packets += later.packets;
        self.mcs = later.mcs.or(self.mcs);
        self.sent += later.sent;
        self.uplink_queue += later.uplink_queue;
        self.uplink_packets += later.uplink_packets;
        self.reported = later.reported;
        self.uplink_blocks += later.uplink_blocks;
        self.uplink_mcs += later.uplink_mcs;
        self.recommended_mbps = later.recommended_mbps;
    }
}

impl UePoint {
    /// Mean time in the RLC queue.
    pub fn mean_queue(&self) -> Option<Duration> {
        (self.packets > 0).then(|| self.queue / self.packets.max(1))
    }
    /// Mean wait of its packets at the UE.
    pub fn mean_uplink_queue(&self) -> Option<Duration> {
        (self.uplink_packets > 0).then(|| self.uplink_queue / self.uplink_packets.max(1))
    }
    /// Mean MCS index of its first transmissions.
    pub fn mean_uplink_mcs(&self) -> Option<f64> {
        (self.uplink_blocks > 0).then(|| self.uplink_mcs as f64 / self.uplink_blocks as f64)
    }
}

/// Makes half as many points of twice the length.
pub fn halve<T: Join + Copy>(points: &mut Vec<T>) {
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
        let mut points: Vec<_> = (1..=5).map(|n| FlowPoint { delivered: Bytes(n), marks: n }).collect();
        halve(&mut points);
        assert_eq!(points.iter().map(|point| point.delivered.0).collect::<Vec<_>>(), [3, 7, 5]);
        assert_eq!(points.iter().map(|point| point.marks).sum::<u64>(), 15);
    }
}
