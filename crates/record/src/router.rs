//! Record of a router.

use tidemark_core::{Bytes, Duration, Instant};

use crate::distribution::Distribution;
use crate::result::RouterResult;
use crate::series::RouterPoint;
use crate::unit::mbps;

/// A router's packets. What happens before [`begin`](Self::begin) counts in the series alone.
#[derive(Debug, Default)]
pub(crate) struct RouterRecord {
    /// IP bytes that its link carried.
    delivered: Bytes,
    /// Times in its queue.
    queue: Distribution,
    /// Packets that left with CE and had come without.
    marked: u64,
    dropped: u64,
    /// Time in which the queue was beyond each of some delays.
    over: Vec<(Duration, Duration)>,
    last_start: Option<Instant>,
    pub(crate) point: RouterPoint,
    pub(crate) points: Vec<RouterPoint>,
}

/// Facts about a router that no recorder sees.
#[derive(Clone, Debug)]
pub struct RouterDescription {
    /// Name.
    pub name: String,
    /// Law that marks or drops in its queue.
    pub law: String,
    /// Bytes that its link could have carried from the warm-up's end on.
    pub capacity: f64,
}

impl RouterRecord {
    /// Record of a router whose queue is compared with these delays.
    pub(crate) fn new(tdq: &[Duration]) -> Self {
        Self { over: tdq.iter().map(|limit| (*limit, Duration::ZERO)).collect(), ..Self::default() }
    }

    /// The warm-up ends: what was counted is forgotten.
    pub(crate) fn begin(&mut self) {
        self.delivered = Bytes::ZERO;
        self.queue = Distribution::default();
        (self.marked, self.dropped) = (0, 0);
        self.over.iter_mut().for_each(|(_, total)| *total = Duration::ZERO);
    }

    /// The link begins with a packet that has waited.
    ///
    /// Between two beginnings the queue is as old as the packet whose turn it was: TDQ is the time in which that
    /// was more than its limit. While the link was idle nothing waited, so no packet counts for longer than it waited.
    pub(crate) fn began(&mut self, now: Instant, waited: Duration) {
        self.queue.record(waited);
        self.point.queue.add(waited);
        let since = self.last_start.map_or(Duration::ZERO, |last| now.since(last)).min(waited);
        self.last_start = Some(now);
        for (limit, total) in &mut self.over {
            if waited > *limit {
                *total += since;
            }
        }
    }

    /// Takes a packet that the link has sent.
    pub(crate) fn left(&mut self, size: Bytes, marked_here: bool) {
        self.delivered += size;
        self.marked += u64::from(marked_here);
        self.point.delivered += size;
        self.point.marks += u64::from(marked_here);
    }

    /// The queue dropped a packet.
    pub(crate) fn dropped(&mut self) {
        self.dropped += 1;
    }

    /// Result of the router over a span after the warm-up.
    pub(crate) fn result(&self, of: &RouterDescription, span: Duration) -> RouterResult {
        let over = self.over.iter();
        RouterResult {
            name: of.name.clone(),
            law: of.law.clone(),
            capacity_mbps: of.capacity * 8e-6 / span.as_secs_f64(),
            throughput_mbps: mbps(self.delivered, span),
            utilisation: self.delivered.as_f64() / of.capacity,
            queue_ms: self.queue.quantiles(),
            tdq_s: over.map(|(limit, total)| (limit.as_millis_f64(), total.as_secs_f64())).collect(),
            marked: self.marked,
            dropped: self.dropped,
            queue: self.queue.clone(),
        }
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
