//! The packet profile table (L4Span section 4.3.2): what of a DRB's traffic still waits in the DU.
//!
//! The table knows each standing SDU's size by its PDCP SN, when it came, and when it was transmitted. An SDU
//! costs two bytes, its times are run-length coded, and each is visited once when it arrives and once when
//! a report passes it, however long the queue stands.
//!
//! Up to `capacity` SDUs are kept one by one. More can stand where the RLC limit is higher: they are counted in
//! sum at the tail, and each takes its even share of that sum when it moves up into the table, so that the
//! backlog in bytes is exact whenever SDUs are of one size, and right in total always. SNs among them that were skipped or discarded are
//! kept as runs, so that no bytes are left for them and a repeated discard takes nothing.

use alloc::boxed::Box;
use core::hint::black_box;
use core::ptr::from_ref;

use tidemark_core::{Bytes, Duration, Instant};

use crate::beyond::Beyond;
use crate::report::SnLength;
use crate::stamps::Stamps;

/// A jump of the SN by at most this many is read as SDUs that PDCP never sent; a longer one needs [`NEW_RUN`]
/// SDUs in sequence to be believed, and then starts the table afresh (re-establishment, handover).
const MAX_GAP: i64 = 1_024;
/// SNs that go on from one another before they are believed to be new numbers: more than a thread that was late with a batch announces.
const NEW_RUN: u8 = 8;
const INGRESS_STAMPS: usize = 1_024;
const TRANSMIT_STAMPS: usize = 512;

/// Events that a well-behaved gNB gives no occasion for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Anomalies {
    /// SDUs handed over with an SN that still stands, or that lies far from the last one.
    pub repeated: u64,
    /// SNs that were skipped by the SDUs handed over.
    pub skipped: u64,
    /// Reports or discards of an SN that never existed or is long gone.
    pub unknown: u64,
    /// Times that the SNs started afresh somewhere else.
    pub restarts: u64,
    /// SDUs that stood beyond the table's capacity.
    pub beyond: u64,
    /// Transmission times that were let go before the delivery came.
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
    /// The DU reports what it transmits: until it does, the age of what was sent to it says nothing of a queue.
    is_reported: bool,
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
    /// Behind a pointer, since few packets and reports look at it.
    beyond: Box<Beyond>,
    /// The last SN far from the others, and how many before it, itself included, went on from one another.
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
            anomalies: Anomalies::default(),
        }
    }

    /// Length of the SNs.
    pub(crate) fn sn_length(&self) -> SnLength {
        self.sn_length
    }

    /// Keeps another number of SDUs one by one from now on; everything that is queued stays known.
    pub(crate) fn resize(&mut self, capacity: u32) {
        let slots = slots(capacity, self.sn_length);
        if slots == self.sizes.len() {
            return;
        }
        let (sizes, mut beyond) =
            (core::mem::take(&mut self.sizes), core::mem::replace(&mut *self.beyond, Beyond::new()));
        self.sizes = alloc::vec![0; slots].into_boxed_slice();
        for count in self.head..self.next {
            let is_kept = count - self.head < sizes.len() as u64;
            let size = if is_kept { sizes[count as usize & (sizes.len() - 1)] } else { beyond.take(count) };
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

    /// Forgets all SDUs; the next may have any SN.
    pub(crate) fn clear(&mut self) {
        self.restart(0);
        (self.started, self.is_reported) = (false, false);
    }

    /// Bytes that were handed over and are not reported as transmitted.
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
    /// Age of the oldest standing SDU, once the DU has reported any as transmitted.
    pub(crate) fn head_of_line(&self, now: Instant) -> Option<Duration> {
        if self.packets == 0 || !self.is_reported { None } else { self.ingress.oldest(now) }
    }

    /// Age of the oldest SDU once no more than `left` bytes of what stands are left.
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
            self.anomalies.restarts += 1;
            self.restart(sn);
        } else {
            self.anomalies.repeated += 1;
            return;
        }
        self.strays = 0;
        if self.packets == 0 {
            self.ingress.clear();
        }
        self.ingress.open(self.next, now);
        self.append(now, size);
        self.standing += u64::from(size);
        self.packets += u32::from(size > 0);
    }

    /// Takes in an SN far from the others. True once so many go on from one another, with nothing of the old ones in between, that they
    /// are the sender's new numbers: as RFC 3550 A.1 has it, but stale SNs come in a row, too.
    fn is_new_run(&mut self, sn: u32) -> bool {
        let goes_on = self.strays > 0 && self.sn_length.distance(self.stray, sn) == 1;
        self.strays = if goes_on { self.strays + 1 } else { 1 };
        self.stray = sn;
        self.strays >= NEW_RUN
    }

    /// PDCP discarded an SDU that it had sent or numbered.
    pub(crate) fn discard(&mut self, now: Instant, sn: u32) {
        let count = self.head.wrapping_add_signed(self.sn_length.distance(self.head as u32, sn));
        if !self.started || count < self.head || count >= self.next {
            self.anomalies.unknown += 1;
            return;
        }
        // Beyond the table no size is known: the SDU has its even share, as when it moves up.
        let size = if count - self.head < self.capacity() {
            u64::from(core::mem::take(&mut self.sizes[self.slot(count)]))
        } else {
            self.beyond.discard(count, self.head + self.capacity()).unwrap_or(0)
        };
        // Discarded before, or skipped: nothing is left to take out.
        if size == 0 {
            self.anomalies.unknown += 1;
            return;
        }
        self.leave(size, 1);
        self.advance_oldest(now);
    }

    /// SDUs discarded at the front do not make the head of the line old.
    fn advance_oldest(&mut self, now: Instant) {
        self.oldest = self.oldest.max(self.head);
        let end = self.next.min(self.head + self.capacity());
        while self.oldest < end && self.sizes[self.slot(self.oldest)] == 0 {
            self.oldest += 1;
        }
        if self.oldest >= self.head + self.capacity() {
            self.oldest = self.beyond.present_from(self.oldest);
        }
        self.ingress.opened(self.oldest, now);
    }

    /// SN up to which every SDU has left, by a report's highest SNs of first transmissions and of retransmissions (TS 38.425 5.4.2.1).
    /// The DU repeats the latter long after: it counts only while it is about an SDU that is queued.
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

    /// True for an SN that was transmitted and is not known to be delivered.
    pub(crate) fn awaits_delivery(&self, sn: u32) -> bool {
        let ahead = self.sn_length.distance(self.delivered as u32, sn);
        self.started && ahead >= 0 && self.delivered.wrapping_add_signed(ahead) < self.head
    }

    /// The DU has transmitted everything up to `sn`. `None` for an SN that is not of what was sent, or of what left before the last.
    pub(crate) fn transmit(&mut self, now: Instant, sn: u32) -> Option<Progress> {
        let ahead = self.sn_length.distance(self.head as u32, sn);
        let last = self.head.wrapping_add_signed(ahead);
        if !self.started || ahead < 0 || last >= self.next {
            // A report without progress repeats the last transmitted SN; any other SN was never sent, or left long ago.
            let is_last = self.started && ahead == -1;
            self.anomalies.unknown += u64::from(!is_last);
            return is_last.then_some(Progress::NONE);
        }
        self.is_reported = true;
        let (bytes, packets) = self.pass_to(last);
        let sojourn = self.ingress.opened(last, now);
        self.advance_oldest(now);
        self.anomalies.untimed += u64::from(self.transmitted.close(last, now));
        Some(Progress { bytes, packets, sojourn })
    }

    /// Everything up to `sn`, which is queued, is so no longer: nobody knows since when.
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

    /// The UE has everything up to `sn`. Gives the time since that SDU's transmission: HARQ and RLC retransmissions.
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

    /// Counts go on beyond everything used so far, so that no old SN is taken for a new one.
    fn restart(&mut self, sn: u32) {
        let modulus = u64::from(self.sn_length.modulus());
        let sn = u64::from(sn) & (modulus - 1);
        self.next = (self.next / modulus + 2) * modulus + sn;
        (self.head, self.delivered, self.oldest) = (self.next, self.next, self.next);
        (self.standing, self.packets) = (0, 0);
        self.beyond.clear();
        self.ingress.clear();
        self.transmitted.clear();
        self.started = true;
        self.strays = 0;
    }

    fn append(&mut self, now: Instant, size: u16) {
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

    /// Bytes and SDUs stand no more. The number of SDUs is right to within the sharing out of what stood beyond
    /// the table; it is zero exactly when no bytes stand.
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
mod tests {
    use super::*;
    use crate::beyond::MAX_RUNS;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }
    fn table(sn_length: SnLength) -> ProfileTable {
        ProfileTable::new(64, sn_length)
    }

    #[test]
    fn a_report_moves_what_it_covers_and_times_it() {
        let mut table = table(SnLength::Bits18);
        for sn in 0..10 {
            table.record(ms(u64::from(sn)), sn, Bytes(100 + u64::from(sn)));
        }
        let progress = table.transmit(ms(20), 3).unwrap();
        assert_eq!(progress, Progress { bytes: 406, packets: 4, sojourn: Some(Duration::from_millis(17)) });
        assert_eq!(table.standing(), Bytes(104 + 105 + 106 + 107 + 108 + 109));
        assert_eq!(table.packets(), 6);
        assert_eq!(table.head_of_line(ms(20)), Some(Duration::from_millis(16)));
        assert_eq!(table.deliver(ms(28), 2), Some(Duration::from_millis(8)));
        assert_eq!(table.anomalies, Anomalies::default());
    }

    #[test]
    fn the_head_moves_on_as_bytes_leave() {
        let mut table = table(SnLength::Bits18);
        for sn in 0..11 {
            table.record(ms(u64::from(sn)), sn, Bytes(1_000));
        }
        assert_eq!(table.head_behind(ms(20), 5_000.0), None, "nothing was reported yet");
        table.transmit(ms(12), 0);
        // SDUs 1 to 10 stand, and came at 1 to 10 ms.
        let age = |left| table.head_behind(ms(20), left).map(|age| age.as_millis());
        assert_eq!([10_000.0, 9_999.0, 5_000.0, 1_000.0].map(age), [Some(19), Some(19), Some(14), Some(10)]);
        assert_eq!(age(0.0), None);
    }

    #[test]
    fn sn_wrap_does_not_freeze_the_table() {
        for sn_length in [SnLength::Bits12, SnLength::Bits18] {
            let mut table = table(sn_length);
            for count in 0..3 * u64::from(sn_length.modulus()) {
                let sn = (count % u64::from(sn_length.modulus())) as u32;
                table.record(ms(count), sn, Bytes(1000));
                if count >= 5 {
                    let reported = (count - 5) as u32 % sn_length.modulus();
                    assert_eq!(table.transmit(ms(count), reported).unwrap().bytes, 1000);
                    assert_eq!(table.standing(), Bytes(5000));
                    table.deliver(ms(count), reported).unwrap();
                }
            }
            assert_eq!(table.anomalies, Anomalies::default());
        }
    }

    #[test]
    fn pdcp_drops_do_not_desynchronise_the_table() {
        let mut table = table(SnLength::Bits12);
        table.record(ms(0), 0, Bytes(1000));
        table.record(ms(0), 3, Bytes(1000)); // 1 and 2 never came
        table.record(ms(0), 4, Bytes(500));
        table.discard(ms(5), 4);
        assert_eq!((table.standing(), table.packets()), (Bytes(2000), 2));
        assert_eq!(table.transmit(ms(1), 3).unwrap().bytes, 2000);
        assert_eq!((table.standing(), table.packets()), (Bytes::ZERO, 0));
        table.record(ms(2), 5, Bytes(700));
        assert_eq!(table.transmit(ms(3), 5).unwrap().bytes, 700);
        assert_eq!(table.anomalies.skipped, 2);
    }

    #[test]
    fn what_is_discarded_at_the_front_makes_no_head_of_the_line() {
        let mut table = table(SnLength::Bits12);
        for sn in 0..50 {
            table.record(ms(20 * u64::from(sn)), sn, Bytes(1000));
        }
        assert_eq!(table.head_of_line(ms(1_000)), None, "nothing was reported yet");
        table.transmit(ms(1_000), 0);
        assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(980)));
        // An outage: PDCP discards what is older than 100 ms.
        for sn in 1..45 {
            table.discard(ms(1_000), sn);
        }
        assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(100)));
        // One in the middle changes nothing.
        table.discard(ms(1_000), 47);
        assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(100)));
    }

    #[test]
    fn an_sn_that_was_never_sent_is_counted_and_survived() {
        let mut table = table(SnLength::Bits12);
        assert!(table.transmit(ms(0), 7).is_none());
        assert!(table.deliver(ms(0), 7).is_none());
        table.discard(ms(5), 7);
        assert_eq!(table.anomalies.unknown, 3);
        table.record(ms(0), 100, Bytes(1000));
        for sn in [101, 2000, 4095, u32::MAX, 98] {
            assert!(table.transmit(ms(1), sn).is_none(), "{sn}");
        }
        assert_eq!(table.standing(), Bytes(1000));
        assert_eq!(table.transmit(ms(1), 100).unwrap().bytes, 1000);
    }

    /// A table with 10 SDUs of 1000 bytes, from 50000 on.
    fn ten_queued() -> ProfileTable {
        let mut table = table(SnLength::Bits18);
        (50_000..50_010).for_each(|sn| table.record(ms(0), sn, Bytes(1_000)));
        table
    }

    #[test]
    fn sns_that_go_on_from_one_another_for_long_are_new_numbers() {
        let mut table = ten_queued();
        // Re-establishment: SNs begin again at 0, and nothing is heard of the old ones.
        for sn in 0..u32::from(NEW_RUN) - 1 {
            table.record(ms(2), sn, Bytes(1_000));
            assert_eq!((table.standing(), table.anomalies.restarts), (Bytes(10_000), 0), "{sn}");
        }
        for sn in u32::from(NEW_RUN) - 1..20 {
            table.record(ms(2), sn, Bytes(1_000));
        }
        assert_eq!(table.anomalies.restarts, 1);
        assert_eq!(table.transmit(ms(3), 18).unwrap().bytes, 12_000);
        assert_eq!(table.standing(), Bytes(1_000));
    }

    #[test]
    fn stale_sns_in_a_row_restart_nothing_while_the_old_ones_go_on() {
        // By the next SDU, or by a report of one that was sent.
        for goes_on in [
            |table: &mut ProfileTable, k: u32| table.record(ms(1), 50_010 + k, Bytes(1_000)),
            |table: &mut ProfileTable, k: u32| _ = table.transmit(ms(1), 50_000 + k).unwrap(),
        ] {
            let mut table = ten_queued();
            let mut stale = 20_000;
            for k in 0..10 {
                for _ in 0..NEW_RUN - 1 {
                    table.record(ms(1), stale, Bytes(1_000));
                    stale += 1;
                }
                goes_on(&mut table, k);
            }
            assert_eq!(table.anomalies.restarts, 0);
            assert_eq!(table.anomalies.repeated, 10 * u64::from(NEW_RUN - 1));
        }
    }

    #[test]
    fn what_is_queued_beyond_the_table_is_counted_in_sum() {
        let mut table = ProfileTable::new(64, SnLength::Bits18);
        for sn in 0..1000 {
            table.record(ms(0), sn, Bytes(if sn % 2 == 0 { 1400 } else { 60 }));
        }
        assert_eq!(table.standing(), Bytes(730_000));
        assert_eq!(table.anomalies.beyond, 936);
        let mut bytes = 0;
        for sn in (0..1000).step_by(100) {
            bytes += table.transmit(ms(1), sn + 99).unwrap().bytes;
            assert_eq!(table.standing(), Bytes(730_000 - bytes));
        }
        assert_eq!(bytes, 730_000);
    }

    #[test]
    fn a_larger_table_keeps_more_sdus_one_by_one() {
        for (capacity, beyond) in [(64, 136), (128, 72), (256, 0)] {
            let mut table = ProfileTable::new(64, SnLength::Bits18);
            table.resize(capacity);
            (0..200).for_each(|sn| table.record(ms(0), sn, Bytes(1_000)));
            assert_eq!(table.anomalies.beyond, beyond, "{capacity}");
        }
    }

    #[test]
    fn transmissions_whose_times_gave_way_are_counted() {
        let mut table = table(SnLength::Bits18);
        for sn in 0..70 {
            table.record(ms(u64::from(sn)), sn, Bytes(1_000));
            table.transmit(ms(u64::from(sn)), sn).unwrap();
        }
        // The ring of a table of 64 SDUs has as many times.
        assert_eq!(table.anomalies.untimed, 6);
    }

    #[test]
    fn the_addresses_are_those_of_the_oldest_size_and_of_the_stamps() {
        let mut table = table(SnLength::Bits18);
        for sn in 0..150 {
            let expected = [
                from_ref(&table.sizes[table.slot(table.head)]).cast(),
                table.ingress.second(),
                table.transmitted.next(),
            ];
            assert_eq!(table.addresses(), expected);
            table.record(ms(u64::from(sn)), sn, Bytes(1_000));
            if sn % 3 > 0 {
                table.transmit(ms(u64::from(sn)), sn - 1).unwrap();
            }
        }
    }

    #[test]
    fn a_source_that_never_reports_keeps_the_backlog_within_the_sn_window() {
        let mut table = ProfileTable::new(64, SnLength::Bits12);
        for count in 0..20_000u32 {
            table.record(ms(0), count % 4096, Bytes(100));
        }
        assert!(table.packets() <= 2048);
        assert_eq!(table.standing(), Bytes(100 * u64::from(table.packets())));
    }

    /// The table's contents, exact: the size of each SDU from the oldest on, and nothing for an SN without one.
    #[derive(Default)]
    struct Model {
        next: u32,
        sizes: alloc::collections::VecDeque<Option<u64>>,
    }

    impl Model {
        fn record(&mut self, size: u64) {
            self.sizes.push_back(Some(size));
            self.next += 1;
        }
        fn skip(&mut self) {
            self.sizes.push_back(None);
            self.next += 1;
        }
        fn first(&self) -> u32 {
            self.next - self.sizes.len() as u32
        }
        /// The queue in bytes and SDUs.
        fn standing(&self) -> (Bytes, u32) {
            (Bytes(self.sizes.iter().flatten().sum()), self.sizes.iter().flatten().count() as u32)
        }
    }

    #[test]
    fn discards_beyond_the_table_leave_no_bytes_behind() {
        let mut table = ProfileTable::new(64, SnLength::Bits18);
        for sn in 0..1_000 {
            table.record(ms(0), sn, Bytes(1_000));
        }
        // An outage: PDCP discards what is older, far into what is counted in sum.
        for sn in 0..700 {
            table.discard(ms(1_000), sn);
        }
        assert_eq!((table.standing(), table.packets()), (Bytes(300_000), 300));
        // The DU goes on with the first that is left.
        assert_eq!(table.transmit(ms(1_001), 700).map(|progress| (progress.bytes, progress.packets)), Some((1_000, 1)));
        assert_eq!((table.standing(), table.packets()), (Bytes(299_000), 299));
        assert_eq!(table.anomalies.unknown, 0);
    }

    #[test]
    fn a_repeated_discard_beyond_the_table_takes_nothing_more() {
        let mut table = ProfileTable::new(64, SnLength::Bits18);
        for sn in 0..1_000 {
            table.record(ms(0), sn, Bytes(1_000));
        }
        for _ in 0..3 {
            table.discard(ms(1), 500);
            assert_eq!((table.standing(), table.packets()), (Bytes(999_000), 999));
        }
        assert_eq!(table.anomalies.unknown, 2);
    }

    #[test]
    fn the_head_of_the_line_lies_behind_what_was_discarded_beyond_the_table() {
        let mut table = ProfileTable::new(64, SnLength::Bits18);
        for sn in 0..1_000 {
            // As few times as the table has room for.
            table.record(ms(u64::from(sn / 100 * 100)), sn, Bytes(1_000));
        }
        table.transmit(ms(1_000), 0);
        for sn in 1..900 {
            table.discard(ms(1_000), sn);
        }
        assert_eq!(table.head_of_line(ms(1_000)), Some(Duration::from_millis(100)));
    }

    #[test]
    fn scattered_discards_beyond_the_table_keep_the_sum() {
        let mut table = ProfileTable::new(64, SnLength::Bits18);
        for sn in 0..1_000 {
            table.record(ms(0), sn, Bytes(1_000));
        }
        for sn in (64..1_000).step_by(2) {
            table.discard(ms(1), sn);
        }
        assert_eq!((table.standing(), table.packets()), (Bytes(532_000), 532));
        let mut bytes = 0;
        for sn in (99..1_000).step_by(100) {
            bytes += table.transmit(ms(2), sn).unwrap().bytes;
            assert_eq!(table.standing(), Bytes(532_000 - bytes));
        }
        assert_eq!((bytes, table.packets()), (532_000, 0));
    }

    proptest::proptest! {
        #[test]
        fn any_order_of_events_is_survived_with_the_counters_in_order(
            events in proptest::collection::vec((0u8..4, 0u32..5000, 1u64..70_000), 0..400),
        ) {
            let mut table = ProfileTable::new(64, SnLength::Bits12);
            let mut now = 0;
            for (kind, sn, size) in events {
                now += size % 7;
                match kind {
                    0 => table.record(ms(now), sn, Bytes(size)),
                    1 => table.discard(ms(now), sn),
                    2 => { table.transmit(ms(now), sn); }
                    _ => { table.deliver(ms(now), sn); }
                }
                let recorded: u64 = (table.head..table.next)
                    .take(64)
                    .map(|count| u64::from(table.sizes[table.slot(count)]))
                    .sum();
                proptest::prop_assert_eq!(recorded + table.beyond.bytes(), table.standing);
            }
        }

        #[test]
        fn stale_sns_and_reports_in_any_order_leave_the_queue_as_it_is(
            steps in proptest::collection::vec((0u32..5_000, 0..u32::from(NEW_RUN), 0u32..12), 1..300),
        ) {
            let mut table = ProfileTable::new(64, SnLength::Bits18);
            // So far on that there are SNs behind it.
            let (first, mut next) = (60_000u32, 60_000);
            let mut head = first;
            for (behind, stale, back) in steps {
                table.record(ms(0), next, Bytes(1_000));
                next += 1;
                // Some in a row that left long ago, as if a late thread announced them.
                (0..stale).for_each(|k| table.record(ms(0), first - 10_000 + behind + k, Bytes(1_000)));
                // Reports of the last few overtake each other.
                let reported = next.saturating_sub(1 + back).max(first);
                table.transmit(ms(0), reported);
                head = head.max(reported + 1);
                proptest::prop_assert_eq!(table.standing(), Bytes(1_000 * u64::from(next - head)));
            }
            proptest::prop_assert_eq!(table.anomalies.restarts, 0);
        }

        #[test]
        fn discards_and_skipped_sns_are_exact_for_sdus_of_one_size(
            // As many runs as are kept, and no more.
            events in proptest::collection::vec((0u8..4, 0u32..1_000, 1u32..300), 0..MAX_RUNS),
            resized in 0..MAX_RUNS,
        ) {
            let (mut table, mut model) = (ProfileTable::new(64, SnLength::Bits18), Model::default());
            let now = ms(0);
            for (index, (kind, offset, len)) in events.into_iter().enumerate() {
                match kind {
                    0 | 1 => {
                        // PDCP skips a few, now and then.
                        (0..if kind == 0 && table.started { offset % 40 } else { 0 }).for_each(|_| model.skip());
                        for _ in 0..len {
                            table.record(now, model.next, Bytes(1_000));
                            model.record(1_000);
                        }
                    }
                    2 => for at in offset..offset + len {
                        // Some of them once more.
                        let Some(size) = model.sizes.get_mut(at as usize) else { break };
                        *size = None;
                        let sn = model.first() + at;
                        (0..1 + at % 2).for_each(|_| table.discard(now, sn));
                    },
                    _ => {
                        let count = len.min(model.sizes.len() as u32);
                        let gone: alloc::vec::Vec<_> = model.sizes.drain(..count as usize).flatten().collect();
                        if count > 0 {
                            let progress = table.transmit(now, model.first() - 1).unwrap();
                            proptest::prop_assert_eq!(progress.bytes, gone.iter().sum::<u64>());
                            proptest::prop_assert_eq!(progress.packets as usize, gone.len());
                        }
                    }
                }
                if index == resized {
                    table.resize(256);
                }
                proptest::prop_assert_eq!((table.standing(), table.packets()), model.standing());
            }
        }
    }
}
