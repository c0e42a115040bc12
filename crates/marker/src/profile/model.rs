//! Test of the table against a list of all SDUs that were sent.

use alloc::vec::Vec;

use proptest::prelude::*;
use tidemark_core::{Bytes, Duration, Instant};

use super::restart::NEW_RUN;
use super::{Anomalies, ProfileTable, Progress};
use crate::report::SnLength;

const SN: SnLength = SnLength::Bits12;
const MODULUS: i64 = 4_096;
/// Largest number of SNs that are under way at once.
const WINDOW: usize = 2_048;

/// Time at which an SDU was transmitted.
#[derive(Clone, Copy)]
enum Left {
    At(Instant),
    Unknown,
}

struct Sdu {
    /// Zero for an SN without SDU.
    size: u64,
    /// Time at which it came, where the table was told.
    came: Option<Instant>,
    /// Time by which its stamp may be earlier: the step of the stamps when it came.
    early: Duration,
    left: Left,
}

impl Sdu {
    /// True for its age, or one that is higher by the step of the stamps. A discarded SDU, or one without a time, has any age.
    fn has_age(&self, age: Option<Duration>, now: Instant) -> bool {
        let (Some(came), 1..) = (self.came, self.size) else { return true };
        let expected = now.since(came);
        age.is_some_and(|age| age >= expected && age <= expected + self.early)
    }
}

/// All SDUs since the SNs began, by index.
#[derive(Default)]
struct Model {
    /// SN of the first.
    first: u32,
    sdus: Vec<Sdu>,
    head: usize,
    delivered: usize,
    is_reported: bool,
    /// The last SN far from the others, and how many went on to it.
    stray: (u32, u8),
    anomalies: Anomalies,
}

impl Model {
    fn sn(&self, index: i64) -> u32 {
        (i64::from(self.first) + index).rem_euclid(MODULUS) as u32
    }
    fn next(&self) -> usize {
        self.sdus.len()
    }
    fn queued(&self) -> &[Sdu] {
        &self.sdus[self.head..]
    }
    fn standing(&self) -> (Bytes, u32) {
        let sizes = || self.queued().iter().map(|sdu| sdu.size).filter(|size| *size > 0);
        (Bytes(sizes().sum()), sizes().count() as u32)
    }
    /// Step of the stamps: 100 us, or a 128th of the age of the oldest, which is that of the SDU that waits longest or of one before it.
    fn step(&self, now: Instant) -> Duration {
        let oldest = self.sdus.iter().enumerate().position(|(at, sdu)| at >= self.head && sdu.size > 0);
        let stamped = oldest.and_then(|oldest| self.sdus[..=oldest].iter().rev().find(|sdu| sdu.came.is_some()));
        let age = stamped.map_or(Duration::ZERO, |sdu| now.since(sdu.came.unwrap()) + sdu.early);
        (age / 128).max(Duration::from_micros(100))
    }
    fn append(&mut self, size: u64, came: Option<Instant>) {
        let early = came.map_or(Duration::ZERO, |now| self.step(now));
        self.sdus.push(Sdu { size, came, early, left: Left::Unknown });
        self.head = self.head.max(self.next().saturating_sub(WINDOW));
        self.delivered = self.delivered.max(self.next().saturating_sub(WINDOW));
    }
    fn record(&mut self, now: Instant, skipped: usize, size: u64) {
        self.stray.1 = 0;
        self.anomalies.skipped += skipped as u64;
        (0..skipped).for_each(|_| self.append(0, None));
        self.append(size, Some(now));
    }
    /// An SN that is none of those expected.
    fn record_stray(&mut self, now: Instant, sn: u32, size: u64) {
        let (last, run) = self.stray;
        let goes_on = run > 0 && (last + 1) % MODULUS as u32 == sn;
        self.stray = (sn, if goes_on { run + 1 } else { 1 });
        if self.stray.1 < NEW_RUN {
            self.anomalies.repeated += 1;
            return;
        }
        self.anomalies.restarts += 1;
        (self.first, self.head, self.delivered) = (sn, 0, 0);
        self.sdus.clear();
        self.record(now, 0, size);
    }
    fn transmit(&mut self, index: i64, left: Left) -> Option<Progress> {
        let last = usize::try_from(index).ok().filter(|last| (self.head..self.next()).contains(last));
        let Some(last) = last else {
            let is_last = index + 1 == self.head as i64;
            let is_stale = (-1_024..-1).contains(&(index - self.head as i64));
            self.anomalies.unknown += u64::from(!is_last && !is_stale);
            return is_last.then_some(Progress::NONE);
        };
        self.stray.1 = 0;
        let gone = &mut self.sdus[self.head..=last];
        gone.iter_mut().for_each(|sdu| sdu.left = left);
        self.head = last + 1;
        let packets = gone.iter().filter(|sdu| sdu.size > 0).count() as u32;
        Some(Progress { bytes: gone.iter().map(|sdu| sdu.size).sum(), packets, sojourn: None })
    }
}

proptest! {
    #[test]
    fn the_table_says_what_a_list_of_all_sdus_says(
        first in 0..MODULUS as u32,
        steps in proptest::collection::vec((0u8..12, 0usize..2_000, 1u64..2_000, 1u64..6), 1..250),
    ) {
        let mut table = ProfileTable::new(4_096, SN);
        let mut model = Model { first, ..Model::default() };
        let mut now = Instant::from_millis(1);
        table.record(now, first, Bytes(700));
        model.record(now, 0, 700);
        for (kind, number, size, elapsed) in steps {
            now += Duration::from_millis(elapsed);
            let near = |from: usize, to: usize| from as i64 - 3 + (number % (to - from + 6)) as i64;
            match kind {
                // SDUs in a row, the first behind some that PDCP skipped.
                0..4 => {
                    let skipped = if kind == 0 { number % 6 } else { 0 };
                    for at in 0..=number % if kind == 1 { 60 } else { 3 } {
                        let skipped = if at == 0 { skipped } else { 0 };
                        table.record(now, model.sn((model.next() + skipped) as i64), Bytes(size));
                        model.record(now, skipped, size);
                    }
                }
                // An SN that still waits: it fills a hole, or is ignored.
                4 if model.head < model.next() => {
                    let index = model.head + number % (model.next() - model.head);
                    table.record(now, model.sn(index as i64), Bytes(size));
                    model.anomalies.repeated += 1;
                    if model.sdus[index].size == 0 {
                        (model.sdus[index].size, model.sdus[index].came) = (size, None);
                    }
                }
                5 | 6 => {
                    let index = near(model.head, model.next());
                    table.discard(now, model.sn(index));
                    let sdu = usize::try_from(index).ok().filter(|index| *index >= model.head);
                    match sdu.and_then(|index| model.sdus.get_mut(index)).filter(|sdu| sdu.size > 0) {
                        Some(sdu) => sdu.size = 0,
                        None => model.anomalies.unknown += 1,
                    }
                }
                7 | 8 => {
                    let index = near(model.head, model.next());
                    let before = model.head;
                    let progress = table.transmit(now, model.sn(index));
                    let expected = model.transmit(index, Left::At(now));
                    prop_assert_eq!(progress.map(|progress| Progress { sojourn: None, ..progress }), expected);
                    model.is_reported |= model.head > before;
                    if model.head > before {
                        prop_assert!(model.sdus[model.head - 1].has_age(progress.unwrap().sojourn, now));
                    }
                }
                9 => {
                    let index = near(model.delivered, model.head);
                    let delay = table.deliver(now, model.sn(index));
                    match usize::try_from(index).ok().filter(|index| (model.delivered..model.head).contains(index)) {
                        Some(index) => {
                            model.delivered = index + 1;
                            if let Left::At(left) = model.sdus[index].left {
                                prop_assert_eq!(delay, Some(now.since(left)));
                            }
                        }
                        None => {
                            prop_assert_eq!(delay, None);
                            model.anomalies.unknown += u64::from(index + 1 != model.delivered as i64);
                        }
                    }
                }
                // Numbers far ahead, in a row, which are new ones once they are enough.
                10 => {
                    let far = model.sn((model.next() + 1_025 + number % 700) as i64);
                    for k in 0..u32::from(NEW_RUN) - 2 + size as u32 % 4 {
                        let sn = (far + k) % MODULUS as u32;
                        let is_next = sn == model.sn(model.next() as i64);
                        table.record(now, sn, Bytes(size));
                        if is_next { model.record(now, 0, size) } else { model.record_stray(now, sn, size) }
                    }
                }
                // Delivered, and transmitted who knows when.
                11 if model.head < model.next() && number % 3 == 0 => {
                    let index = (model.head + number % (model.next() - model.head)) as i64;
                    table.pass(now, model.sn(index));
                    model.transmit(index, Left::Unknown);
                }
                _ => table.resize(if number % 2 == 0 { 2_048 } else { 4_096 }),
            }
            let anomalies = Anomalies { beyond: table.anomalies.beyond, untimed: 0, ..model.anomalies };
            prop_assert_eq!(table.anomalies, anomalies);
            prop_assert_eq!((table.standing(), table.packets()), model.standing());
            prop_assert_eq!(table.is_reported(), model.is_reported);
            let (head, next) = (model.head as i64, model.next() as i64);
            for index in [head - 2, head - 1, head, head + 1, next - 1, next, next + 1] {
                let is_queued = (head..next).contains(&index);
                prop_assert_eq!(table.is_queued(model.sn(index)), is_queued);
                let awaits = (model.delivered as i64..head).contains(&index);
                prop_assert_eq!(table.awaits_delivery(model.sn(index)), awaits);
                prop_assert_eq!(table.is_new(model.sn(index)), index >= next);
            }
            // The further of two SNs that wait counts, and of a transmitted one only the first of the two.
            for (transmitted, retransmitted) in [(head, head), (head, next - 1), (next - 1, head), (head - 1, head), (head, head - 1)] {
                let is_queued = |index| (head..next).contains(&index);
                let expected = match (is_queued(transmitted), is_queued(retransmitted)) {
                    (true, true) => transmitted.max(retransmitted),
                    (false, true) => retransmitted,
                    (_, false) => transmitted,
                };
                let [one, other] = [transmitted, retransmitted].map(|index| Some(model.sn(index)));
                prop_assert_eq!(table.further(one, other), Some(model.sn(expected)));
            }
            let oldest = model.queued().iter().find(|sdu| sdu.size > 0);
            match oldest {
                Some(oldest) if model.is_reported => prop_assert!(oldest.has_age(table.head_of_line(now), now)),
                _ => prop_assert_eq!(table.head_of_line(now), None),
            }
        }
    }
}
