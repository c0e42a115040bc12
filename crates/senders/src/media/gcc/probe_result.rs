//! Result of a probe: the lesser of the rates at which its packets left and arrived (libwebrtc's `ProbeBitrateEstimator`).

use std::collections::VecDeque;

use tidemark_core::{Duration, Instant};

use crate::media::{PacketResult, Probe};

/// Share of a cluster's packets and bytes that must have arrived.
const ENOUGH: f64 = 0.8;
const MAX_SPAN: Duration = Duration::from_secs(1);
/// More cannot arrive than was sent; beyond this the times are worth nothing.
const MAX_RATIO: f64 = 2.0;
/// Ratio below which the link is full: aim a little below what it carried.
const UNSATURATED: f64 = 0.9;
const UTILISATION: f64 = 0.95;
/// Clusters that are waited for; the oldest is given up.
const MAX_CLUSTERS: usize = 8;

#[derive(Clone, Debug)]
struct Cluster {
    probe: Probe,
    packets: u32,
    bytes: f64,
    first_sent: Instant,
    /// Time of the last sending, with the size of that packet, which had not left by then.
    last_sent: (Instant, f64),
    /// Time of the first arrival, with the size of that packet, which had arrived by then.
    first_arrival: (Instant, f64),
    last_arrival: Instant,
}

/// The clusters under way.
#[derive(Clone, Debug, Default)]
pub(super) struct ProbeResults {
    clusters: VecDeque<Cluster>,
}

impl ProbeResults {
    /// A cluster is going to be sent.
    pub(super) fn expect(&mut self, probe: Probe) {
        // A cluster whose packets are all lost would never leave by itself.
        if self.clusters.len() == MAX_CLUSTERS {
            self.clusters.pop_front();
        }
        self.clusters.push_back(Cluster {
            probe,
            packets: 0,
            bytes: 0.0,
            first_sent: Instant::FAR,
            last_sent: (Instant::ZERO, 0.0),
            first_arrival: (Instant::FAR, 0.0),
            last_arrival: Instant::ZERO,
        });
    }

    /// A packet arrived; a rate in bits a second if its cluster tells one by now.
    pub(super) fn on_packet(&mut self, result: &PacketResult) -> Option<f64> {
        let arrival = result.received_at?;
        let cluster = self.clusters.iter_mut().find(|cluster| Some(cluster.probe.id) == result.probe)?;
        let size = result.size.as_f64();
        cluster.packets += 1;
        cluster.bytes += size;
        cluster.first_sent = cluster.first_sent.min(result.sent_at);
        // The last packet's size left after the span that is measured, the first's arrived before it.
        if result.sent_at > cluster.last_sent.0 {
            cluster.last_sent = (result.sent_at, size);
        }
        if arrival < cluster.first_arrival.0 {
            cluster.first_arrival = (arrival, size);
        }
        cluster.last_arrival = cluster.last_arrival.max(arrival);
        cluster.rate()
    }
}

impl Cluster {
    fn rate(&self) -> Option<f64> {
        // A cluster that lost so much measures something else.
        if f64::from(self.packets) < ENOUGH * f64::from(self.probe.packets)
            || self.bytes < ENOUGH * self.probe.size.as_f64()
        {
            return None;
        }
        let sending = self.last_sent.0.since(self.first_sent);
        let arriving = self.last_arrival.since(self.first_arrival.0);
        let is_valid = |span: Duration| !span.is_zero() && span <= MAX_SPAN;
        // No time to divide by, or pauses in it that are not the path's.
        if !is_valid(sending) || !is_valid(arriving) {
            return None;
        }
        let sent = (self.bytes - self.last_sent.1) * 8.0 / sending.as_secs_f64();
        let arrived = (self.bytes - self.first_arrival.1) * 8.0 / arriving.as_secs_f64();
        // Packets that arrive so much faster than they were sent were held back and let go at once.
        if arrived > MAX_RATIO * sent {
            None
        } else if arrived < UNSATURATED * sent {
            // Below what was sent the link is full: a little less leaves no queue.
            Some(UTILISATION * arrived)
        } else {
            Some(sent.min(arrived))
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{BitRate, Bytes, Ecn};

    use super::*;

    /// The result of 20 packets of 1250 B sent at 10 Mbit/s over a link of this many Mbit/s, of which the first few arrive.
    fn probe(link: f64, arrive: u64) -> Option<f64> {
        let mut results = ProbeResults::default();
        results.expect(Probe { id: 3, rate: BitRate::from_mbps(10), size: Bytes(18_750), packets: 5 });
        let spacing = (1250.0 * 8.0 / link).max(1000.0) as u64;
        (0..arrive)
            .filter_map(|seq| {
                results.on_packet(&PacketResult {
                    seq,
                    size: Bytes(1250),
                    sent_at: Instant::from_nanos(seq * 1_000_000),
                    received_at: Some(Instant::from_nanos(50_000_000 + seq * spacing * 1000)),
                    ecn: Ecn::NotEct,
                    probe: Some(3),
                })
            })
            .last()
    }

    #[test]
    fn the_rate_is_what_was_sent_or_a_little_less_than_a_full_link_carries() {
        assert!((probe(20.0, 20).unwrap() / 10e6 - 1.0).abs() < 1e-3);
        assert!((probe(5.0, 20).unwrap() / (0.95 * 5e6) - 1.0).abs() < 1e-3);
        assert_eq!(probe(20.0, 10), None, "12.5 kB are less than four fifths");
    }
}
