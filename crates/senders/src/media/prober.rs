//! Sends clusters of packets at rates of their own, so that a controller learns what the path carries (libwebrtc's
//! `BitrateProber`): media where there is some, else padding.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bytes, Duration, Instant};

use super::Probe;

/// Part of a cluster that leaves at once.
const CHUNK: Duration = Duration::from_millis(2);
/// A cluster that has to wait longer for media to begin with is given up.
const TIMEOUT: Duration = Duration::from_secs(5);
/// Clusters that wait; more are forgotten.
const MAX_CLUSTERS: usize = 8;

#[derive(Clone, Debug)]
struct Cluster {
    probe: Probe,
    created: Instant,
    started: Option<Instant>,
    next: Instant,
    chunk_left: f64,
    bytes: f64,
    packets: u32,
}

/// The clusters that are to be sent.
#[derive(Clone, Debug, Default)]
pub(super) struct Prober {
    clusters: VecDeque<Cluster>,
    /// A cluster has begun; the next one follows it at once.
    active: bool,
}

impl Prober {
    /// A cluster to be sent, once there is media.
    pub(super) fn add(&mut self, now: Instant, probe: Probe) {
        while self.clusters.front().is_some_and(|cluster| now.since(cluster.created) > TIMEOUT) {
            self.clusters.pop_front();
        }
        // A controller that asks faster than media comes must not fill the memory.
        if self.clusters.len() < MAX_CLUSTERS {
            let cluster =
                Cluster { probe, created: now, started: None, next: now, chunk_left: 0.0, bytes: 0.0, packets: 0 };
            self.clusters.push_back(cluster);
        }
    }

    /// There is media: what waits may begin.
    pub(super) fn on_media(&mut self) {
        self.active |= !self.clusters.is_empty();
    }

    /// Time at which the next packet leaves, while a cluster is being sent.
    pub(super) fn next(&self) -> Option<Instant> {
        self.clusters.front().filter(|_| self.active).map(|cluster| cluster.next)
    }

    /// A packet leaves in the present cluster, whose number this gives.
    pub(super) fn sent(&mut self, now: Instant, size: Bytes) -> Option<u32> {
        let cluster = self.clusters.front_mut().filter(|_| self.active)?;
        let started = *cluster.started.get_or_insert(now);
        let rate = cluster.probe.rate;
        // A timer for every packet would be finer than what a real pacer has.
        if cluster.chunk_left <= 0.0 {
            cluster.chunk_left = rate.bytes_in(CHUNK).as_f64();
        }
        cluster.bytes += size.as_f64();
        cluster.packets += 1;
        cluster.chunk_left -= size.as_f64();
        // The next chunk leaves when this one has had its time at the rate.
        if cluster.chunk_left <= 0.0 {
            cluster.next = started + time_of(cluster.bytes, rate);
        }
        let id = cluster.probe.id;
        // Both are needed for a measurement: enough bytes, in enough packets.
        if cluster.bytes >= cluster.probe.size.as_f64() && cluster.packets >= cluster.probe.packets {
            self.clusters.pop_front();
            self.active = !self.clusters.is_empty();
            // The next cluster begins now, not when it was asked for.
            if let Some(next) = self.clusters.front_mut() {
                next.next = next.next.max(now);
            }
        }
        Some(id)
    }
}

fn time_of(bytes: f64, rate: BitRate) -> Duration {
    Duration::from_secs_f64(bytes * 8.0 / rate.as_bps().max(1) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cluster_leaves_at_its_rate_and_the_next_one_follows() {
        let mut prober = Prober::default();
        for (id, mbps) in [(1, 6), (2, 12)] {
            let rate = BitRate::from_mbps(mbps);
            let probe = Probe { id, rate, size: rate.bytes_in(Duration::from_millis(15)), packets: 5 };
            prober.add(Instant::ZERO, probe);
        }
        assert_eq!(prober.next(), None, "there is no media yet");
        prober.on_media();
        let mut sent = Vec::new();
        while let Some(next) = prober.next() {
            sent.push((next, prober.sent(next, Bytes(1000)).unwrap()));
        }
        let first: Vec<_> =
            sent.iter().filter(|(_, id)| *id == 1).map(|(at, _)| at.since(Instant::ZERO).as_micros()).collect();
        // 1500 B a chunk: two packets at once, and the time for both until the next two.
        assert_eq!(first[..5], [0, 0, 2666, 2666, 5333]);
        assert_eq!(first.len(), 12, "11.25 kB");
        assert_eq!(sent.len() - first.len(), 23, "22.5 kB");
    }
}
