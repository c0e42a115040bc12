//! Feedback at intervals: what a receiver remembers to report, and what a sender makes of reports.

use std::collections::VecDeque;

use tidemark_core::{Duration, Ecn, Instant};

use super::control::Counters;
use crate::payload::{PragueReport, PragueWord};

/// Packets that one report tells of: what fits into 1400 B.
const MAX_WORDS: usize = 696;
/// Packets that either end remembers.
const MAX_PACKETS: usize = 65_536;
/// No sender has as many.
const MAX_SEQ: u64 = 1 << 62;
/// A packet that was reported is reported again for so long, if one before it comes late.
const REPEAT: Duration = Duration::from_millis(250);

/// The receiver's half.
#[derive(Clone, Debug)]
pub(super) struct Arrivals {
    interval: Duration,
    /// Arrivals from packet `first` on.
    packets: VecDeque<Option<(Instant, Ecn)>>,
    first: u64,
    /// The next report begins here.
    next: u64,
    /// No report before this.
    earliest: Instant,
    deadline: Instant,
}

impl Arrivals {
    pub(super) fn new(interval: Duration) -> Self {
        Self { interval, packets: VecDeque::new(), first: 1, next: 1, earliest: Instant::ZERO, deadline: Instant::FAR }
    }

    pub(super) fn record(&mut self, now: Instant, seq: u64, ecn: Ecn) {
        let index = seq.checked_sub(self.first).and_then(|index| usize::try_from(index).ok());
        let Some(index) = index.filter(|_| seq < MAX_SEQ) else { return };
        if index >= 2 * MAX_PACKETS {
            // No sender is so far ahead: forget what was before.
            self.packets.clear();
            self.first = seq;
            self.next = seq;
        }
        let index = (seq - self.first) as usize;
        if index >= self.packets.len() {
            self.packets.resize(index + 1, None);
        }
        self.packets[index].get_or_insert((now, ecn));
        self.next = self.next.min(seq);
        // Whoever sends numbers with gaps must not make the table grow.
        while self.packets.len() > MAX_PACKETS {
            self.packets.pop_front();
            self.first += 1;
        }
        self.next = self.next.max(self.first);
        self.deadline = self.earliest.max(now);
    }

    pub(super) fn next_deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
    }

    /// The report that is due; asked until there is none.
    pub(super) fn poll(&mut self, now: Instant) -> Option<PragueReport> {
        let (end, begin) = (self.first + self.packets.len() as u64, self.next);
        // Everything was reported, or the interval is not over.
        if now < self.deadline || begin >= end {
            return None;
        }
        let from = (begin - self.first) as usize;
        let word = |arrival: &Option<(Instant, Ecn)>| match arrival {
            // An older one was reported before, and the sender has settled it.
            Some((at, ecn)) if now.since(*at) < REPEAT.max(self.interval * 2) => {
                PragueWord::received(*ecn, now.since(*at))
            }
            _ => PragueWord::default(),
        };
        let words: Vec<_> = self.packets.iter().skip(from).take(MAX_WORDS).map(word).collect();
        self.next += words.len() as u64;
        // More than one report may be due at once; the interval begins behind the last.
        if self.next == end {
            self.deadline = Instant::FAR;
            self.earliest = now + self.interval;
        }
        // What is too old to be reported once more needs no entry.
        while self.first < self.next
            && self.packets.front().is_some_and(|packet| packet.is_none_or(|(at, _)| now.since(at) >= REPEAT))
        {
            self.packets.pop_front();
            self.first += 1;
        }
        Some(PragueReport { begin, words })
    }
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Fate {
    Unknown,
    Received,
    Lost,
}

/// The sender's half: each packet's sending time and fate.
#[derive(Clone, Debug)]
pub(super) struct Ledger {
    packets: VecDeque<(Instant, Fate)>,
    /// Number of the first packet in `packets`.
    first: u64,
    /// Packets up to here have been reported on, or missed by reports.
    reported_until: u64,
}

/// Change of a packet's state by a report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum News {
    /// The packet arrived this long after it was sent, without the receiver's wait.
    Received(Duration),
    /// The packet is lost.
    Lost,
}

impl Ledger {
    pub(super) fn new() -> Self {
        Self { packets: VecDeque::new(), first: 1, reported_until: 0 }
    }

    pub(super) fn sent(&mut self, now: Instant) {
        self.packets.push_back((now, Fate::Unknown));
        // The oldest would have been reported long since.
        if self.packets.len() > MAX_PACKETS {
            self.packets.pop_front();
            self.first += 1;
        }
    }

    fn lose(&mut self, seq: u64, counters: &mut Counters, news: &mut impl FnMut(u64, News)) {
        // A packet that was received stays received, whatever an older report says.
        if let Some(packet) = self.packet(seq).filter(|packet| packet.1 == Fate::Unknown) {
            packet.1 = Fate::Lost;
            counters.lost += 1;
            news(seq, News::Lost);
        }
    }

    fn packet(&mut self, seq: u64) -> Option<&mut (Instant, Fate)> {
        self.packets.get_mut(usize::try_from(seq.checked_sub(self.first)?).ok()?)
    }

    /// Handles a report. Packets that it omits or lists as missing count as lost until a later report says otherwise.
    /// True if one was received as neither ECT(1) nor CE.
    pub(super) fn on_report(
        &mut self,
        now: Instant,
        report: &PragueReport,
        counters: &mut Counters,
        mut news: impl FnMut(u64, News),
    ) -> bool {
        let mut is_cleared = false;
        // Never further than what was sent.
        let begin = report.begin.min(self.first + self.packets.len() as u64);
        for seq in (self.reported_until + 1).max(self.first)..begin {
            self.lose(seq, counters, &mut news);
        }
        for (seq, word) in (report.begin..u64::MAX).zip(&report.words) {
            // Lost until another report has it.
            let Some((ecn, age)) = word.arrival() else {
                self.lose(seq, counters, &mut news);
                continue;
            };
            // A word is repeated in later reports: an arrival counts once.
            let Some(packet) = self.packet(seq).filter(|packet| packet.1 != Fate::Received) else { continue };
            // Only late: the loss is taken back.
            let was_lost = packet.1 == Fate::Lost;
            packet.1 = Fate::Received;
            counters.received += 1;
            counters.marked += u64::from(ecn == Ecn::Ce);
            counters.lost = counters.lost.saturating_sub(u64::from(was_lost));
            is_cleared |= !ecn.is_l4s();
            news(seq, News::Received(now.since(packet.0) - age));
        }
        let end = begin.saturating_add(report.words.len() as u64).min(self.first + self.packets.len() as u64);
        self.reported_until = self.reported_until.max(end.saturating_sub(1));
        // What arrived is done; a lost one may still turn out to have arrived.
        while self.packets.front().is_some_and(|packet| packet.1 == Fate::Received) {
            self.packets.pop_front();
            self.first += 1;
        }
        is_cleared
    }

    /// Gives everything up: after a time without any feedback nothing counts as under way.
    pub(super) fn lose_all(&mut self) {
        for packet in self.packets.iter_mut().filter(|packet| packet.1 == Fate::Unknown) {
            packet.1 = Fate::Lost;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_a_packet() {
        let word = PragueWord::received(Ecn::Ce, Duration::from_micros(10_000));
        assert_eq!(word.0, 0x8000 | 0x6000 | 10, "9.77 units");
        assert_eq!(word.arrival(), Some((Ecn::Ce, Duration::from_micros(10_240))));
        assert_eq!(PragueWord::default().arrival(), None);
        assert_eq!(PragueWord::received(Ecn::Ect1, Duration::ZERO).0, 0xA000);
    }

    #[test]
    fn a_missing_packet_is_lost_until_it_comes() {
        let at = Instant::from_millis;
        let mut arrivals = Arrivals::new(Duration::from_millis(25));
        arrivals.record(at(0), 1, Ecn::Ect1);
        let opening = arrivals.poll(at(0)).unwrap();
        assert_eq!((opening.begin, opening.words.len()), (1, 1), "the first is reported at once");
        arrivals.record(at(1), 2, Ecn::Ect1);
        arrivals.record(at(2), 4, Ecn::Ect1);
        assert_eq!((arrivals.poll(at(24)), arrivals.next_deadline()), (None, Some(at(25))));
        let first = arrivals.poll(at(25)).unwrap();
        assert_eq!((first.begin, first.words.len(), first.words[1]), (2, 3, PragueWord::default()));
        assert_eq!(arrivals.poll(at(25)), None);
        arrivals.record(at(30), 3, Ecn::Ce);
        assert_eq!(arrivals.poll(at(30)), None);
        let second = arrivals.poll(at(50)).unwrap();
        assert_eq!((second.begin, second.words.len()), (3, 2), "what follows the late one is reported once more");

        let mut ledger = Ledger::new();
        (0..5).for_each(|time| ledger.sent(at(time)));
        let mut counters = Counters::default();
        ledger.on_report(at(15), &opening, &mut counters, |_, _| ());
        ledger.on_report(at(40), &first, &mut counters, |_, _| ());
        assert_eq!(counters, Counters { received: 3, marked: 0, lost: 1 });
        let mut rtts = Vec::new();
        ledger.on_report(at(70), &second, &mut counters, |seq, news| rtts.push((seq, news)));
        assert_eq!(counters, Counters { received: 4, marked: 1, lost: 0 });
        // Sent at 2 ms, reported at 70 ms to have come 20 ms before the report, in units 20 (19.5).
        assert_eq!(rtts, [(3, News::Received(Duration::from_micros(68_000 - 20 * 1024)))]);
    }

    #[test]
    fn packets_of_a_lost_report_count_as_lost() {
        let mut ledger = Ledger::new();
        (0..10).for_each(|_| ledger.sent(Instant::ZERO));
        let word = PragueWord::received(Ecn::Ect1, Duration::ZERO);
        let mut counters = Counters::default();
        let report = PragueReport { begin: 8, words: vec![word; 3] };
        assert!(!ledger.on_report(Instant::from_millis(10), &report, &mut counters, |_, _| ()));
        assert_eq!(counters, Counters { received: 3, marked: 0, lost: 7 });
        // Numbers that were never sent mean nothing.
        let hostile = PragueReport { begin: u64::MAX - 1, words: vec![word; 3] };
        ledger.on_report(Instant::from_millis(10), &hostile, &mut counters, |_, _| ());
        assert_eq!((counters.received, counters.lost), (3, 7));
    }
}
