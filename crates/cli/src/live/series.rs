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
    }
}

impl UePoint {
    /// Mean time in the RLC queue.
    pub fn mean_queue(&self) -> Option<Duration> {
        (self.packets > 0).then(|| self.queue / self.packets.max(1))
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
