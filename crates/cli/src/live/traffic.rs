//! Traffic of a live cell's flow for display, the warm-up included.

use tidemark_core::{Bytes, Instant};

use super::verdict::Codepoints;

/// Packets and bytes of a flow since its start.
#[derive(Clone, Debug, Default)]
pub(super) struct Traffic {
    /// Packets from the core by their codepoints, with the law's marks.
    pub codepoints: Codepoints,
    /// Packets from the core by their ECN field, after the warm-up.
    pub counted: tidemark_record::Codepoints,
    /// Packets on the way to the UE that were dropped, for any reason.
    pub dropped: u64,
    down: Meter,
    /// Packets from the UE; `None` until one was seen.
    up: Option<Meter>,
    last_packet: Instant,
}

/// IP bytes of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct Meter {
    open: Bytes,
    /// Bytes of the interval that was sampled last.
    interval: Bytes,
}

impl Meter {
    fn sample(&mut self) {
        self.interval = std::mem::take(&mut self.open);
    }
}

impl Traffic {
    /// Counts a packet that reached the UE.
    pub(super) fn delivered(&mut self, at: Instant, size: Bytes) {
        self.down.open += size;
        self.last_packet = at;
    }

    /// Counts a packet that the UE sent.
    pub(super) fn sent(&mut self, at: Instant, size: Bytes) {
        self.up.get_or_insert_default().open += size;
        self.last_packet = at;
    }

    /// Ends an interval.
    pub(super) fn sample(&mut self) {
        self.down.sample();
        self.up.iter_mut().for_each(Meter::sample);
    }

    /// Bytes to the UE in the last interval.
    pub(super) fn down(&self) -> Bytes {
        self.down.interval
    }

    /// Bytes from the UE in the last interval; `None` where none of its packets were ever seen.
    pub(super) fn up(&self) -> Option<Bytes> {
        self.up.map(|up| up.interval)
    }

    /// Rank by activity: bytes in the last interval, and the time of the last packet.
    pub(super) fn activity(&self) -> (Bytes, Instant) {
        (self.down() + self.up().unwrap_or_default(), self.last_packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_the_last_interval_and_idle_flows_are_ranked_by_their_last_packet() {
        let (mut busy, mut idle) = (Traffic::default(), Traffic::default());
        idle.sent(Instant::from_millis(1), Bytes(60));
        idle.sample();
        assert_eq!((idle.down(), idle.up()), (Bytes(0), Some(Bytes(60))));
        for traffic in [&mut busy, &mut idle] {
            traffic.sample();
        }
        assert!(idle.activity() > busy.activity());
        busy.delivered(Instant::from_millis(2), Bytes(1_500));
        for traffic in [&mut busy, &mut idle] {
            traffic.sample();
        }
        assert!(busy.activity() > idle.activity());
        assert_eq!((busy.up(), idle.up()), (None, Some(Bytes(0))), "what was never seen is absent");
    }
}
