//! Record of a router.

use tidemark_core::{BitRate, Bytes, Duration, Instant};

use crate::distribution::Distribution;

/// A router's packets. What happens before [`begin`](Self::begin) does not count.
#[derive(Debug)]
pub struct RouterRecord {
    /// IP bytes that its link carried.
    pub delivered: Bytes,
    /// Times in its queue.
    pub queue: Distribution,
    /// Packets that left with CE and had come without.
    pub marked: u64,
    /// Packets dropped.
    pub dropped: u64,
    /// Time in which the queue was beyond each of some delays.
    pub over: Vec<(Duration, Duration)>,
    last_start: Option<Instant>,
    interval: RouterInterval,
    /// Finished intervals.
    pub intervals: Vec<RouterPoint>,
}

#[derive(Debug, Default)]
struct RouterInterval {
    delivered: Bytes,
    marks: u64,
    waited: Duration,
    /// Packets that waited.
    packets: u64,
}

/// A router's values over one interval.
#[derive(Clone, Copy, Debug)]
pub struct RouterPoint {
    /// IP bytes that its link carried.
    pub delivered: Bytes,
    /// Packets that it marked.
    pub marks: u64,
    /// Mean time in the queue.
    pub queue: Option<Duration>,
    /// Rate of the link at the end.
    pub rate: BitRate,
}

impl RouterRecord {
    /// Record of a router whose queue is compared with these delays.
    pub fn new(tdq: &[Duration]) -> Self {
        Self {
            delivered: Bytes::ZERO,
            queue: Distribution::default(),
            marked: 0,
            dropped: 0,
            over: tdq.iter().map(|limit| (*limit, Duration::ZERO)).collect(),
            last_start: None,
            interval: RouterInterval::default(),
            intervals: Vec::new(),
        }
    }

    /// The warm-up ends: what was counted is forgotten.
    pub fn begin(&mut self) {
        self.delivered = Bytes::ZERO;
        self.queue = Distribution::default();
        (self.marked, self.dropped) = (0, 0);
        self.over.iter_mut().for_each(|(_, total)| *total = Duration::ZERO);
    }

    /// The link begins with a packet that has waited.
    ///
    /// Between two beginnings the queue is as old as the packet whose turn it was: TDQ is the time in which that
    /// was more than its limit. While the link was idle nothing waited, so no packet counts for longer than it waited.
    pub fn began(&mut self, now: Instant, waited: Duration) {
        self.queue.record(waited);
        self.interval.waited += waited;
        self.interval.packets += 1;
        let since = self.last_start.map_or(Duration::ZERO, |last| now.since(last)).min(waited);
        self.last_start = Some(now);
        for (limit, total) in &mut self.over {
            if waited > *limit {
                *total += since;
            }
        }
    }

    /// A packet is through.
    pub fn left(&mut self, size: Bytes, marked_here: bool) {
        self.delivered += size;
        self.marked += u64::from(marked_here);
        self.interval.delivered += size;
        self.interval.marks += u64::from(marked_here);
    }

    /// Ends an interval of the series.
    pub fn sample(&mut self, rate: BitRate) {
        let RouterInterval { delivered, marks, waited, packets } = std::mem::take(&mut self.interval);
        let queue = (packets > 0).then(|| waited / packets.max(1));
        self.intervals.push(RouterPoint { delivered, marks, queue, rate });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tdq_is_the_time_in_which_the_queue_was_older_than_the_limit() {
        let ms = Duration::from_millis;
        let mut record = RouterRecord::new(&[ms(20), ms(55)]);
        // A packet every 10 ms: the queue is 10, 30, 50, 60, 30 ms old, then the link idles and starts afresh.
        for (at, waited) in [(10, 10), (20, 30), (30, 50), (40, 60), (50, 30), (500, 0), (510, 5)] {
            record.began(Instant::from_millis(at), ms(waited));
        }
        assert_eq!(record.over, [(ms(20), ms(40)), (ms(55), ms(10))]);
    }
}
