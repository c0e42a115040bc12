//! Times of a run of SDUs, run-length coded: one stamp for all the SDUs that share it.

use alloc::boxed::Box;
use core::hint::black_box;
use core::ptr::from_ref;

use tidemark_core::{Duration, Instant};

/// A stamp: from `count` on (ingress) or up to `count` (transmission), at `micros`.
#[derive(Clone, Copy, Default)]
struct Stamp {
    /// Low half of the SDU's count; live counts lie less than 2^31 apart.
    count: u32,
    /// Low half of the time in microseconds: wraps after 71 minutes, far beyond any sojourn.
    micros: u32,
}

/// A fixed ring of stamps in the order of their counts.
pub(crate) struct Stamps {
    ring: Box<[Stamp]>,
    first: u32,
    len: u32,
    /// Copies of the ends, so that a packet need not wait until the ring is in the cache.
    oldest: Stamp,
    newest: Stamp,
}

impl Stamps {
    /// Room for `capacity` stamps, a power of two.
    pub(crate) fn new(capacity: usize) -> Self {
        debug_assert!(capacity.is_power_of_two());
        let ring = alloc::vec![Stamp::default(); capacity].into_boxed_slice();
        Self { ring, first: 0, len: 0, oldest: Stamp::default(), newest: Stamp::default() }
    }

    /// Makes room for `capacity` stamps, a power of two; a larger ring stays.
    pub(crate) fn grow(&mut self, capacity: usize) {
        if capacity > self.ring.len() {
            let mut ring = alloc::vec![Stamp::default(); capacity].into_boxed_slice();
            for index in 0..self.len as usize {
                ring[index] = self.at(index);
            }
            (self.ring, self.first) = (ring, 0);
        }
    }

    /// Reads what the removal of the oldest stamp will need.
    #[inline]
    pub(crate) fn warm(&self) {
        black_box(self.at(1).count);
    }

    /// Address of the second-oldest stamp.
    pub(crate) fn second(&self) -> *const u8 {
        from_ref(&self.ring[(self.first as usize + 1) & (self.ring.len() - 1)]).cast()
    }

    /// Address of the stamp that comes next.
    pub(crate) fn next(&self) -> *const u8 {
        from_ref(&self.ring[(self.first + self.len) as usize & (self.ring.len() - 1)]).cast()
    }

    /// Empties the ring; a queue that is mostly short then lives in its first cache lines.
    pub(crate) fn clear(&mut self) {
        (self.first, self.len) = (0, 0);
    }

    fn at(&self, index: usize) -> Stamp {
        self.ring[(self.first as usize + index) & (self.ring.len() - 1)]
    }

    fn pop(&mut self) {
        self.first = (self.first + 1) & (self.ring.len() as u32 - 1);
        self.len -= 1;
        self.oldest = self.at(0);
    }

    fn push(&mut self, count: u64, now: Instant) {
        let slot = (self.first + self.len) as usize & (self.ring.len() - 1);
        self.newest = Stamp { count: count as u32, micros: (now.as_nanos() / 1_000) as u32 };
        self.ring[slot] = self.newest;
        // The oldest is kept outside the ring, so that its age costs no look into it.
        if self.len == 0 {
            self.oldest = self.newest;
        }
        self.len += 1;
    }

    /// Stamps `count` and the counts after it with `now`, unless the last stamp is recent enough to be used instead. The
    /// step is 100 us or a 128th of the oldest stamp's age, so that a short queue is timed finely and 1024 stamps are
    /// enough for any queue. If they are not, the last stamp is used.
    pub(crate) fn open(&mut self, count: u64, now: Instant) {
        if self.len > 0 {
            let step = age_step(age(self.oldest, now));
            if age_of(self.newest, now) < step || self.len as usize == self.ring.len() {
                return;
            }
        }
        self.push(count, now);
    }

    /// The stamp under which `count` was opened; older stamps are removed.
    pub(crate) fn opened(&mut self, count: u64, now: Instant) -> Option<Duration> {
        while self.len > 1 && before_or_at(self.at(1).count, count as u32) {
            self.pop();
        }
        (self.len > 0).then(|| age(self.oldest, now))
    }

    /// The age of the stamp under which `count` was opened; none is removed.
    pub(crate) fn opened_at(&self, count: u64, now: Instant) -> Option<Duration> {
        let (mut first, mut after) = (0, self.len as usize);
        while after - first > 1 {
            let middle = (first + after) / 2;
            if before_or_at(self.at(middle).count, count as u32) { first = middle } else { after = middle }
        }
        (after > first).then(|| age(self.at(first), now))
    }

    /// The age of the oldest stamp.
    pub(crate) fn oldest(&self, now: Instant) -> Option<Duration> {
        (self.len > 0).then(|| age(self.oldest, now))
    }

    /// Stamps everything up to `count` with `now`; true if the oldest stamp was evicted.
    pub(crate) fn close(&mut self, count: u64, now: Instant) -> bool {
        let full = self.len as usize == self.ring.len();
        if full {
            self.pop();
        }
        self.push(count, now);
        full
    }

    /// The age of the stamp that closed `count`; older stamps are removed.
    pub(crate) fn closed(&mut self, count: u64, now: Instant) -> Option<Duration> {
        while self.len > 0 && !before_or_at(count as u32, self.oldest.count) {
            self.pop();
        }
        (self.len > 0).then(|| age(self.oldest, now))
    }
}

fn before_or_at(earlier: u32, later: u32) -> bool {
    later.wrapping_sub(earlier) as i32 >= 0
}

fn age_of(stamp: Stamp, now: Instant) -> u32 {
    // A clock that steps back would give an age of more than an hour: none is nearer to the truth.
    let age = ((now.as_nanos() / 1_000) as u32).wrapping_sub(stamp.micros);
    if age as i32 >= 0 { age } else { 0 }
}

fn age(stamp: Stamp, now: Instant) -> Duration {
    Duration::from_micros(u64::from(age_of(stamp, now)))
}

fn age_step(age: Duration) -> u32 {
    100.max((age.as_micros() / 128) as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }

    #[test]
    fn an_sdu_has_the_time_of_the_stamp_before_it() {
        let mut stamps = Stamps::new(8);
        stamps.open(10, ms(1));
        stamps.open(11, ms(1));
        stamps.open(12, ms(3));
        assert_eq!(stamps.opened(11, ms(5)), Some(Duration::from_millis(4)));
        assert_eq!(stamps.opened(12, ms(5)), Some(Duration::from_millis(2)));
    }

    #[test]
    fn the_oldest_of_nothing_has_no_age() {
        let mut stamps = Stamps::new(8);
        assert_eq!(stamps.oldest(ms(5)), None);
        assert!(!stamps.close(10, ms(1)));
        assert!(!stamps.close(11, ms(2)));
        assert_eq!(stamps.oldest(ms(5)), Some(Duration::from_millis(4)));
    }

    #[test]
    fn any_sdu_is_found_without_letting_one_go() {
        let mut stamps = Stamps::new(8);
        assert_eq!(stamps.opened_at(10, ms(5)), None);
        for at in 0..5 {
            stamps.open(10 + 2 * at, ms(at));
        }
        for count in (10..20).rev() {
            assert_eq!(stamps.opened_at(count, ms(5)), Some(Duration::from_millis(5 - (count - 10) / 2)));
        }
    }

    #[test]
    fn a_delivery_finds_the_time_of_its_transmission() {
        let mut stamps = Stamps::new(4);
        assert!(!stamps.close(3, ms(1)));
        assert!(!stamps.close(7, ms(2)));
        assert_eq!(stamps.closed(5, ms(10)), Some(Duration::from_millis(8)));
        assert_eq!(stamps.closed(8, ms(10)), None);
    }

    #[test]
    fn a_queue_that_lasts_for_a_minute_is_still_timed_to_a_percent() {
        let mut stamps = Stamps::new(1024);
        for count in 0..60_000 {
            stamps.open(count, ms(count));
        }
        for count in (0..60_000).step_by(1000) {
            let age = stamps.opened(count, ms(60_000)).unwrap().as_millis_f64();
            let truth = (60_000 - count) as f64;
            assert!(age >= truth && age < truth + 600.0, "{count}: {age}");
        }
    }

    #[test]
    fn the_next_stamp_and_the_second_lie_where_the_ring_has_them() {
        let mut stamps = Stamps::new(8);
        for count in 1..30 {
            let next = stamps.next();
            stamps.close(count, ms(count));
            let written = stamps.ring.iter().find(|stamp| u64::from(stamp.count) == count).unwrap();
            assert_eq!(next, from_ref(written).cast());
            if stamps.len > 1 {
                let second = stamps.ring.iter().find(|stamp| stamp.count == stamps.oldest.count + 1).unwrap();
                assert_eq!(stamps.second(), from_ref(second).cast());
            }
            // Emptied at different places of the ring.
            if count % 11 == 0 {
                assert!(stamps.closed(count, ms(count)).is_some());
            }
        }
    }

    #[test]
    fn a_larger_ring_keeps_its_stamps_and_has_room_for_more() {
        let mut stamps = Stamps::new(4);
        (1..7).for_each(|count| _ = stamps.close(count, ms(count)));
        // The oldest two gave way, and the ring begins in its middle.
        stamps.grow(2);
        assert_eq!(stamps.ring.len(), 4);
        stamps.grow(8);
        let more: alloc::vec::Vec<_> = (7..13).map(|count| stamps.close(count, ms(count))).collect();
        assert_eq!(more, [false, false, false, false, true, true]);
        for count in 5..13 {
            assert_eq!(stamps.closed(count, ms(20)), Some(Duration::from_millis(20 - count)));
        }
    }

    #[test]
    fn nothing_is_left_of_what_was_emptied() {
        let mut stamps = Stamps::new(4);
        assert_eq!(stamps.opened(1, ms(9)), None);
        stamps.open(1, ms(1));
        stamps.clear();
        assert_eq!((stamps.oldest(ms(9)), stamps.opened(1, ms(9)), stamps.closed(1, ms(9))), (None, None, None));
    }

    #[test]
    fn a_tenth_of_a_millisecond_is_a_new_stamp() {
        let micros = |micros: u64| Instant::from_nanos(micros * 1_000);
        for (step, age) in [(99, 1_000), (100, 900)] {
            let mut stamps = Stamps::new(4);
            stamps.open(1, micros(0));
            stamps.open(2, micros(step));
            assert_eq!(stamps.opened(2, micros(1_000)), Some(Duration::from_micros(age)));
        }
    }
}
