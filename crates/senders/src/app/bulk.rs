//! A transfer that always has data: a download, a backup.

use tidemark_core::{Bytes, Instant};

use super::{BulkConfig, Source};

/// Writes as much as the transport takes, until a time or up to a size.
#[derive(Clone, Debug)]
pub struct Bulk {
    start: Instant,
    stop: Instant,
    size: Bytes,
}

impl Bulk {
    /// The transfer that `config` describes.
    pub fn new(config: &BulkConfig) -> Self {
        Self {
            start: Instant::ZERO + config.start,
            stop: config.stop.map_or(Instant::FAR, |stop| Instant::ZERO + stop),
            size: config.size.unwrap_or(Bytes(u64::MAX)),
        }
    }
}

impl Source for Bulk {
    fn start(&self) -> Instant {
        self.start
    }
    fn available(&mut self, now: Instant, taken: Bytes) -> Bytes {
        if now < self.start || now >= self.stop { Bytes::ZERO } else { self.size - taken }
    }
    fn next_deadline(&self, now: Instant) -> Option<Instant> {
        (now < self.start).then_some(self.start)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;

    #[test]
    fn data_flows_between_start_and_stop_and_never_more_than_the_size() {
        let (start, stop) = (Duration::from_secs(1), Some(Duration::from_secs(2)));
        let mut bulk = Bulk::new(&BulkConfig { start, stop, size: Some(Bytes(1000)) });
        assert_eq!(bulk.available(Instant::from_millis(999), Bytes::ZERO), Bytes::ZERO);
        assert_eq!(bulk.next_deadline(Instant::ZERO), Some(Instant::from_millis(1000)));
        assert_eq!(bulk.available(Instant::from_millis(1000), Bytes(400)), Bytes(600));
        assert_eq!(bulk.available(Instant::from_millis(1000), Bytes(1000)), Bytes::ZERO);
        assert_eq!(bulk.available(Instant::from_millis(2000), Bytes(400)), Bytes::ZERO);
    }
}
