//! Delivery rate: what was delivered over the flight of one segment (draft-ietf-ccwg-bbr-06 4.1).

use tidemark_core::{Bytes, Instant};

use crate::controller::{LostSegment, RateSample};

/// The connection's counters when a segment was sent.
#[derive(Clone, Copy, Debug)]
pub(super) struct Snapshot {
    /// Time of sending.
    pub(super) at: Instant,
    delivered: u64,
    delivered_at: Instant,
    first_sent_at: Instant,
    lost: u64,
    marked: u64,
    /// Payload in flight, the segment included.
    in_flight: u32,
    app_limited: bool,
}

impl Snapshot {
    /// Payload that had been delivered.
    pub(super) fn delivered(&self) -> Bytes {
        Bytes(self.delivered)
    }
}

/// Counters of a connection's payload in bytes, which only grow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    delivered: u64,
    lost: u64,
    marked: u64,
    /// Time of the last delivery, and of the sending of the newest segment that was delivered.
    delivered_at: Instant,
    first_sent_at: Instant,
    /// Payload until whose delivery samples are limited by the application; 0 if they are not.
    app_limited_until: u64,
}

impl Delivery {
    /// Payload delivered so far.
    #[inline]
    pub(super) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Payload held for lost so far.
    pub(super) fn lost(&self) -> u64 {
        self.lost
    }

    /// Notes that the application has nothing more to send although the window has room.
    #[inline]
    pub(super) fn limit_by_application(&mut self, in_flight: u64) {
        self.app_limited_until = (self.delivered + in_flight).max(1);
    }

    /// Takes the snapshot of a segment that leaves, and adds `len` bytes to the `in_flight` ones.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Instant, in_flight: u64, len: u32) -> Snapshot {
        // After a pause there is no flight that the rate could be measured over.
        if in_flight == 0 {
            self.first_sent_at = now;
            self.delivered_at = now;
        }
        Snapshot {
            at: now,
            delivered: self.delivered,
            delivered_at: self.delivered_at,
            first_sent_at: self.first_sent_at,
            lost: self.lost,
            marked: self.marked,
            in_flight: (in_flight + u64::from(len)) as u32,
            app_limited: self.app_limited_until > 0,
        }
    }

    /// Counts delivered payload.
    #[inline]
    pub(super) fn on_delivered(&mut self, len: u64) {
        self.delivered += len;
    }

    /// Counts lost payload.
    pub(super) fn on_lost(&mut self, len: u64) {
        self.lost += len;
    }

    /// Counts payload that arrived with CE.
    #[inline]
    pub(super) fn on_marked(&mut self, len: u64) {
        self.marked += len;
    }

    /// Ends the counting of an acknowledgement that delivered something.
    #[inline]
    pub(super) fn end_ack(&mut self, now: Instant) {
        self.delivered_at = now;
        // What was sent while the application had too little is delivered: samples are the path's again.
        if self.app_limited_until > 0 && self.delivered > self.app_limited_until {
            self.app_limited_until = 0;
        }
    }

    /// Measures the rate over the flight of the newest segment that was delivered; `None` over no time.
    #[inline]
    pub(super) fn rate(&mut self, now: Instant, sent: &Snapshot) -> Option<RateSample> {
        self.first_sent_at = sent.at;
        // The slower of sending and acknowledging: a burst of either is not what the path carries.
        let interval = sent.at.since(sent.first_sent_at).max(now.since(sent.delivered_at));
        (!interval.is_zero()).then(|| RateSample {
            delivered: Bytes(self.delivered - sent.delivered),
            interval,
            app_limited: sent.app_limited,
            in_flight: Bytes(u64::from(sent.in_flight)),
            lost: Bytes(self.lost - sent.lost),
            marked: Bytes(self.marked - sent.marked),
        })
    }

    /// Describes a segment of `size` that is held for lost.
    pub(super) fn lost_segment(&self, now: Instant, size: Bytes, sent: &Snapshot) -> LostSegment {
        LostSegment {
            now,
            size,
            in_flight: Bytes(u64::from(sent.in_flight)),
            lost: Bytes(self.lost - sent.lost),
            app_limited: sent.app_limited,
            delivered: Bytes(self.delivered),
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;

    use super::*;

    #[test]
    fn the_rate_is_that_of_the_slower_end() {
        let mut delivery = Delivery::default();
        let start = Instant::from_millis(1000);
        // Two segments leave 2 ms apart and arrive 10 and 11 ms later: sent more slowly than acknowledged.
        let first = delivery.on_sent(start, 0, 1000);
        let second = delivery.on_sent(start + Duration::from_millis(2), 1000, 1000);
        delivery.on_delivered(1000);
        delivery.end_ack(start + Duration::from_millis(10));
        let rate = delivery.rate(start + Duration::from_millis(10), &first).unwrap();
        assert_eq!((rate.delivered, rate.interval), (Bytes(1000), Duration::from_millis(10)));
        delivery.on_delivered(1000);
        let rate = delivery.rate(start + Duration::from_millis(11), &second).unwrap();
        assert_eq!((rate.delivered, rate.interval), (Bytes(2000), Duration::from_millis(11)));
        assert_eq!(rate.in_flight, Bytes(2000));
    }

    #[test]
    fn samples_are_the_applications_until_its_flight_is_delivered() {
        let mut delivery = Delivery::default();
        let start = Instant::from_millis(1);
        delivery.limit_by_application(2000);
        assert!(delivery.on_sent(start, 2000, 1000).app_limited);
        delivery.on_delivered(2000);
        delivery.end_ack(start);
        assert!(delivery.on_sent(start, 1000, 1000).app_limited, "not more than the flight of then");
        delivery.on_delivered(1000);
        delivery.end_ack(start);
        assert!(!delivery.on_sent(start, 1000, 1000).app_limited);
    }
}
