//! The packet profile table (L4Span section 4.3.2): the SDUs of a DRB that still wait in the DU.
//!
//! The table has the size of each waiting SDU by PDCP SN, its arrival time and its transmission time. An SDU takes two bytes, and
//! its times are run-length coded. Each is visited once when it arrives and once when a report passes it, however long the
//! queue is.
//!
//! Up to `capacity` SDUs are kept one by one. If the RLC limit is higher, more can wait: they are counted in sum at the tail.
//! Each takes an even share of that sum when it moves up into the table. So the backlog in bytes is exact if all SDUs have one
//! size, and always right in total. Skipped or discarded SNs among them are kept as runs, so that they take no share and a
//! repeated discard changes nothing.

use alloc::boxed::Box;
use core::hint::black_box;
use core::ptr::from_ref;

use tidemark_core::{Bytes, Duration, Instant};

use crate::beyond::Beyond;
use crate::report::SnLength;
use crate::stamps::Stamps;

mod discard;
mod restart;

use self::restart::MAX_GAP;

/// Consecutive reports of SNs that were not sent, or that left before the last one, after which CU and DU must use different SN lengths.
const MISMATCHED: u8 = 16;
/// Number of SDUs that no DU queues: twice the default RLC limit of gNBs.
const MAX_QUEUED: u32 = 32_768;
const INGRESS_STAMPS: usize = 1_024;
const TRANSMIT_STAMPS: usize = 512;

/// Events that a well-behaved gNB never causes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Anomalies {
    /// SDUs handed over with an SN that is still queued or far from the last one.
    pub repeated: u64,
    /// SNs skipped by the SDUs handed over.
    pub skipped: u64,
    /// SNs in reports or discards that were never sent or were forgotten long ago.
    pub unknown: u64,
    /// Restarts of the SNs.
    pub restarts: u64,
    /// SDUs queued beyond the profile table, of which only the sum is known.
    pub beyond: u64,
    /// Transmission times evicted before the delivery was reported.
    pub untimed: u64,
}

/// Progress by one report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Progress {
    /// Bytes newly transmitted.
    pub bytes: u64,
    /// SDUs newly transmitted.
    pub packets: u32,
    /// Queueing delay of the newest of them: transmission less ingress.
    pub sojourn: Option<Duration>,
}

impl Progress {
    /// Progress of a report that repeats the last one.
    pub(crate) const NONE: Self = Self { bytes: 0, packets: 0, sojourn: None };
}

#[repr(C)]
pub(crate) struct ProfileTable {
    // What a packet needs of the table, at the front.
    standing: u64,
    packets: u32,
    sn_length: SnLength,
    started: bool,
    /// True once the DU has reported a transmission. Before that the age of SDUs sent to it says nothing about a queue.
    is_reported: bool,
    /// Consecutive reports whose SNs did not match. Beyond `MISMATCHED` as many must match again.
    mismatched: u8,
    /// The SN unwrapped, as PDCP's COUNT, of the next SDU, of the oldest that is not yet
    /// transmitted, and of the oldest that is not yet delivered.
    next: u64,
    head: u64,
    delivered: u64,
    /// Earliest SN that may be the first of those neither transmitted nor discarded.
    oldest: u64,
    /// Sizes of the SDUs from `head` on; the slot is the low bits of the count. Zero for an SN without SDU.
    sizes: Box<[u16]>,
    ingress: Stamps,
    transmitted: Stamps,
    /// Behind a pointer, because few packets and reports use it.
    beyond: Box<Beyond>,
    /// The last SN far from the others, and the number of consecutive SNs up to it.
    stray: u32,
    strays: u8,
    pub(crate) anomalies: Anomalies,
}

fn slots(capacity: u32, sn_length: SnLength) -> usize {
    capacity.min(sn_length.modulus()) as usize
}

impl ProfileTable {
    pub(crate) fn new(capacity: u32, sn_length: SnLength) -> Self {
        let slots = slots(capacity, sn_length);
        Self {
            sn_length,
            sizes: alloc::vec![0; slots].into_boxed_slice(),
            beyond: Box::new(Beyond::new()),
            ingress: Stamps::new(INGRESS_STAMPS.min(slots)),
            transmitted: Stamps::new(TRANSMIT_STAMPS.min(slots)),
            next: 0,
            head: 0,
            delivered: 0,
            oldest: 0,
            standing: 0,
            packets: 0,
            stray: 0,
            strays: 0,
            started: false,
            is_reported: false,
            mismatched: 0,
            anomalies: Anomalies::default(),
        }
    }

    /// Length of the SNs.
    pub(crate) fn sn_length(&self) -> SnLength {
        self.sn_length
    }

    /// Keeps another number of SDUs one by one from now on. What is queued stays known.
    pub(crate) fn resize(&mut self, capacity: u32) {
        let slots = slots(capacity, self.sn_length);
        // The same table: nothing has to move.
        if slots == self.sizes.len() {
            return;
        }
        let (sizes, mut beyond) =
            (core::mem::take(&mut self.sizes), core::mem::replace(&mut *self.beyond, Beyond::new()));
        self.sizes = alloc::vec![0; slots].into_boxed_slice();
        for count in self.head..self.next {
            // Only SDUs of the ring have sizes of their own; one beyond has its even share.
            let is_kept = count - self.head < sizes.len() as u64;
            let size = if is_kept { sizes[count as usize & (sizes.len() - 1)] } else { beyond.take(count) };
            // Sizes in the ring are read at the head, the others once, when the ring comes to them.
            if count - self.head < self.capacity() {
                let slot = self.slot(count);
                self.sizes[slot] = size;
            } else {
                self.beyond.push(count, size);
            }
        }
        self.ingress.grow(INGRESS_STAMPS.min(slots));
        self.transmitted.grow(TRANSMIT_STAMPS.min(slots));
    }

    /// Reads what a report will need.
    #[inline]
    pub(crate) fn warm(&self) {
        black_box(self.sizes[self.slot(self.head)]);
        self.ingress.warm();
        self.transmitted.warm();
        black_box(self.anomalies.untimed);
    }

    /// Addresses of what a report reads and writes beyond this struct.
    pub(crate) fn addresses(&self) -> [*const u8; 3] {
        let size = from_ref(&self.sizes[self.slot(self.head)]).cast();
        [size, self.ingress.second(), self.transmitted.next()]
    }

    /// Bytes handed over that are not reported as transmitted.
    pub(crate) fn standing(&self) -> Bytes {
        Bytes(self.standing)
    }
    /// SDUs that were handed over and are not reported as transmitted.
    pub(crate) fn packets(&self) -> u32 {
        self.packets
    }
    /// True for an SN that was not handed over since the table was cleared.
    pub(crate) fn is_new(&self, sn: u32) -> bool {
        !self.started || self.sn_length.distance(self.next as u32, sn) >= 0
    }
    /// Age of the oldest queued SDU, once the DU has reported a transmission.
    pub(crate) fn head_of_line(&self, now: Instant) -> Option<Duration> {
        if self.packets == 0 || !self.is_reported { None } else { self.ingress.oldest(now) }
    }

    /// Age of the oldest SDU once at most `left` of the queued bytes remain.
    pub(crate) fn head_behind(&self, now: Instant, left: f64) -> Option<Duration> {
        let gone = 1.0 - left / self.standing as f64;
        if self.packets == 0 || gone <= 0.0 {
            return self.head_of_line(now);
        }
        // Sizes are taken to be even: to add them up would cost more the longer the queue is.
        let head = self.oldest + ((self.next - self.oldest) as f64 * gone) as u64;
        if head < self.next && self.is_reported { self.ingress.opened_at(head, now) } else { None }
    }

    /// PDCP gave an SDU this SN and sent it to the DU.
    pub(crate) fn record(&mut self, now: Instant, sn: u32, size: Bytes) {
        let size = u16::try_from(size.0).unwrap_or(u16::MAX);
        // The first SDU says where the SNs begin.
        if !self.started {
            self.restart(sn);
        }
        let ahead = self.sn_length.distance(self.next as u32, sn);
        let count = self.next.wrapping_add_signed(ahead);
        if (0..=MAX_GAP).contains(&ahead) {
            // PDCP skipped SNs, as for SDUs that it dropped after numbering: empty slots keep the index of the ring the low bits of the count.
            self.anomalies.skipped += ahead as u64;
            for _ in 0..ahead {
                self.append(now, 0);
            }
        } else if ahead < 0 && count >= self.head {
            // An SN that still waits: a hole that is filled late, or an SDU that was handed over twice.
            self.anomalies.repeated += 1;
            self.fill(count, size);
            return;
        } else if self.is_new_run(sn) {
            // Several SNs in a row that fit nowhere are those of a DRB that was set up anew.
            self.anomalies.restarts += 1;
            self.restart(sn);
        } else {
            self.anomalies.repeated += 1;
            return;
        }
        self.strays = 0;
        // Stamps of a queue that has left would be taken for the age of this one.
        if self.packets == 0 {
            self.ingress.clear();
        }
        self.ingress.open(self.next, now);
        self.append(now, size);
        self.standing += u64::from(size);
        self.packets += u32::from(size > 0);
    }

    /// SN up to which every SDU has left, from a report's highest SNs of first transmissions and of retransmissions (TS 38.425 5.4.2.1).
    /// The DU repeats the latter for a long time, so it counts only while its SDU is queued.
    #[inline]
    pub(crate) fn further(&self, transmitted: Option<u32>, retransmitted: Option<u32>) -> Option<u32> {
        let Some(second) = retransmitted.filter(|sn| self.is_queued(*sn)) else { return transmitted };
        transmitted.filter(|sn| self.is_queued(*sn) && self.sn_length.distance(second, *sn) > 0).or(Some(second))
    }

    /// True for an SN that was handed over and is not known to be transmitted.
    #[inline]
    pub(crate) fn is_queued(&self, sn: u32) -> bool {
        let ahead = self.sn_length.distance(self.head as u32, sn);
        self.started && ahead >= 0 && self.head.wrapping_add_signed(ahead) < self.next
    }

    /// True once the DU has reported a transmission.
    #[inline]
    pub(crate) fn is_reported(&self) -> bool {
        self.is_reported
    }

    /// True for an SN that an earlier report passed not long ago.
    pub(crate) fn is_stale(&self, sn: u32) -> bool {
        let ahead = self.sn_length.distance(self.head as u32, sn);
        self.started && (-MAX_GAP..-1).contains(&ahead) && !self.is_of_other_length(sn)
    }

    /// True while the DU's SNs are not those of the DRB.
    #[inline]
    pub(crate) fn is_mismatched(&self) -> bool {
        self.mismatched >= MISMATCHED
    }

    /// True if a report with a matching SN counts. After a report with a longer SN many must match, since some match by chance.
    #[cold]
    fn matches_again(&mut self, sn: u32) -> bool {
        let matches = !self.is_of_other_length(sn);
        if matches {
            // One that matches by chance must not undo many that did not.
            self.mismatched = if self.mismatched > MISMATCHED { self.mismatched - 1 } else { 0 };
        }
        matches
    }

    /// Takes a report of an SN that does not wait. A report without progress repeats the last transmitted SN; any other SN was never sent, or
    /// left long ago.
    #[cold]
    fn unmatched(&mut self, sn: u32) -> Option<Progress> {
        let is_last = self.started && self.sn_length.distance(self.head as u32, sn) == -1;
        // A report without progress repeats the last SN: it is no sign of a mismatch.
        if is_last && self.matches_again(sn) {
            return Some(Progress::NONE);
        }
        self.anomalies.unknown += u64::from(!self.is_stale(sn));
        let is_longer = sn >= self.sn_length.modulus();
        // An SN out of range proves a longer one at once; one in range has to come again and again.
        self.mismatched = if is_longer { u8::MAX } else { self.mismatched.saturating_add(1) };
        None
    }

    /// True for an SN that shows another SN length at the DU: one of more bits, or a small one while more is queued than a DU holds.
    fn is_of_other_length(&self, sn: u32) -> bool {
        let is_short = sn < SnLength::Bits12.modulus() && self.sn_length == SnLength::Bits18;
        sn >= self.sn_length.modulus() || (is_short && self.packets > MAX_QUEUED)
    }

    /// True for an SN that was transmitted and is not known to be delivered.
    pub(crate) fn awaits_delivery(&self, sn: u32) -> bool {
        let ahead = self.sn_length.distance(self.delivered as u32, sn);
        self.started && ahead >= 0 && self.delivered.wrapping_add_signed(ahead) < self.head
    }

    /// Takes the report that the DU has transmitted everything up to `sn`. `None` for an SN that was not sent, or that left before the last one.
    pub(crate) fn transmit(&mut self, now: Instant, sn: u32) -> Option<Progress> {
        let ahead = self.sn_length.distance(self.head as u32, sn);
        let last = self.head.wrapping_add_signed(ahead);
        let waits = self.started && ahead >= 0 && last < self.next && sn < self.sn_length.modulus();
        // After SNs that fit nowhere one may fit by chance: it counts only where it could be of this length.
        if !waits || (self.mismatched > 0 && !self.matches_again(sn)) {
            return self.unmatched(sn);
        }
        self.is_reported = true;
        let (bytes, packets) = self.pass_to(last);
        let sojourn = self.ingress.opened(last, now);
        self.advance_oldest(now);
        self.anomalies.untimed += u64::from(self.transmitted.close(last, now));
        Some(Progress { bytes, packets, sojourn })
    }

    /// Takes everything up to `sn` out of the queue, at an unknown time.
    pub(crate) fn pass(&mut self, now: Instant, sn: u32) {
        let last = self.head.wrapping_add_signed(self.sn_length.distance(self.head as u32, sn));
        self.pass_to(last);
        self.advance_oldest(now);
    }

    /// Takes out everything up to this count: bytes and SDUs.
    #[inline(always)]
    fn pass_to(&mut self, last: u64) -> (u64, u32) {
        // The old numbers are alive: those far from them are stale.
        self.strays = 0;
        let mut bytes = 0;
        let mut packets = 0;
        let has_beyond = self.next - self.head > self.capacity();
        for count in self.head..=last {
            let slot = self.slot(count);
            bytes += u64::from(self.sizes[slot]);
            packets += u32::from(self.sizes[slot] != 0);
            self.sizes[slot] = if has_beyond { self.beyond.take(count + self.capacity()) } else { 0 };
        }
        self.head = last + 1;
        self.leave(bytes, packets);
        (bytes, packets)
    }

    /// Takes the report that the UE has everything up to `sn`. Gives the time since that SDU's transmission: HARQ and RLC retransmissions.
    pub(crate) fn deliver(&mut self, now: Instant, sn: u32) -> Option<Duration> {
        let ahead = self.sn_length.distance(self.delivered as u32, sn);
        let last = self.delivered.wrapping_add_signed(ahead);
        if !self.started || ahead < 0 || last >= self.head {
            self.anomalies.unknown += u64::from(!self.started || ahead != -1);
            return None;
        }
        self.delivered = last + 1;
        self.transmitted.closed(last, now)
    }

    fn append(&mut self, now: Instant, size: u16) {
        // Beyond the ring only sums are kept, so that a long queue takes no more memory.
        if self.next - self.head < self.capacity() {
            let slot = self.slot(self.next);
            self.sizes[slot] = size;
        } else {
            self.beyond.push(self.next, size);
            self.anomalies.beyond += 1;
        }
        self.next += 1;
        // An SN space holds no more than half of itself under way; a caller that exceeds it has lost its reports.
        if self.next - self.head > u64::from(self.sn_length.modulus() / 2) {
            let lost = u64::from(self.sizes[self.slot(self.head)]);
            let slot = self.slot(self.head);
            self.sizes[slot] = self.beyond.take(self.head + self.capacity());
            self.head += 1;
            self.leave(lost, u32::from(lost > 0));
            self.advance_oldest(now);
        }
        self.delivered = self.delivered.max(self.next.saturating_sub(u64::from(self.sn_length.modulus() / 2)));
    }

    /// Removes bytes and SDUs from the queue. The number of SDUs is exact but for the sharing of the sum beyond the
    /// table; it is zero exactly when no bytes are queued.
    fn leave(&mut self, bytes: u64, packets: u32) {
        self.standing -= bytes;
        self.packets = self.packets.saturating_sub(packets).max(u32::from(self.standing > 0));
        if self.standing == 0 {
            self.packets = 0;
        }
    }

    /// An SDU for an SN that was skipped before, or a second one that is ignored.
    fn fill(&mut self, count: u64, size: u16) {
        if count - self.head < self.capacity() && self.sizes[self.slot(count)] == 0 {
            let slot = self.slot(count);
            self.sizes[slot] = size;
            self.standing += u64::from(size);
            self.packets += u32::from(size > 0);
            self.oldest = self.oldest.min(count);
        }
    }

    fn capacity(&self) -> u64 {
        self.sizes.len() as u64
    }
    fn slot(&self, count: u64) -> usize {
        count as usize & (self.sizes.len() - 1)
    }
}

#[cfg(test)]
mod model;
#[cfg(test)]
mod tests;
