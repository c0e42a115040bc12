//! Estimate of the bytes that wait at a UE, by logical channel group (TS 38.321 5.4.5).

use std::collections::VecDeque;

use tidemark_core::Bytes;

use crate::ue_stack::buffer_status::{Groups, MAX_GROUPS, Report};
use tidemark_radio::slots::Slot;

/// Buffer of one UE as the gNB estimates it.
#[derive(Debug, Default)]
pub(crate) struct BufferEstimate {
    /// Bytes that wait and have not been granted, and their sum.
    waiting: Groups,
    sum: u64,
    /// Bytes granted in all.
    granted: u64,
    /// Reports written in all.
    written: u64,
    /// Reports in blocks that have neither been decoded nor given up, by the most important group that they name.
    under_way: [u32; MAX_GROUPS],
    /// The number of the latest report that was decoded.
    latest: u64,
    /// Reports that were decoded, and the slots from which on grants follow them.
    received: VecDeque<(Slot, Report)>,
    /// The slot from which the answer to a scheduling request can be granted.
    requested: Option<Slot>,
}

impl BufferEstimate {
    /// True if a UE whose most important data is in `group` must send a request: the gNB knows of no data as important, and no
    /// report of it and no request is under way. (By TS 38.321 5.4.5, data more important than any that waits triggers a Regular
    /// BSR, and this a request.) A report that HARQ gave up is no longer under way, as if retxBSR-Timer had ended.
    pub(crate) fn must_request(&self, group: usize) -> bool {
        let names = |waiting: &Groups| waiting[..=group].iter().any(|waiting| *waiting > 0);
        let is_under_way = || self.under_way[..=group].iter().any(|reports| *reports > 0);
        let is_received = || self.received.iter().any(|(_, report)| report.first().is_some_and(|first| first <= group));
        self.requested.is_none() && !names(&self.waiting) && !is_under_way() && !is_received()
    }
    /// A scheduling request was sent: the gNB can answer it from this slot on.
    pub(crate) fn request(&mut self, from: Slot) {
        self.requested = Some(from);
    }

    /// The first slot from `slot` on in which the gNB can grant something; `None` if it knows of nothing.
    pub(crate) fn next_grant(&self, slot: Slot) -> Option<Slot> {
        // What is known to wait can be granted in any slot.
        if self.sum > 0 {
            return Some(slot);
        }
        let report = self.received.iter().find(|(_, report)| report.first().is_some()).map(|(from, _)| *from);
        Some(earlier(report, self.requested)?.max(slot))
    }

    /// Bytes that can be granted in a slot; after a request, `first`.
    pub(crate) fn in_slot(&mut self, slot: Slot, first: u64) -> &Groups {
        // A report replaces what is known, less what was granted while it was on its way (TS 38.321 5.4.5).
        while self.received.front().is_some_and(|(from, _)| *from <= slot) {
            let Some((_, report)) = self.received.pop_front() else { break };
            self.waiting = report.waiting();
            self.sum = self.waiting.iter().sum();
            self.take(self.granted - report.granted());
        }
        // A request says that something waits, not how much.
        if self.requested.is_some_and(|from| from <= slot) {
            self.requested = None;
            let more = first.saturating_sub(self.waiting[0]);
            self.waiting[0] += more;
            self.sum += more;
        }
        &self.waiting
    }
    /// A block of this many bytes was granted; the UE uses it for what is important first.
    pub(crate) fn grant(&mut self, bytes: u64) {
        self.granted += bytes;
        self.take(bytes);
    }
    fn take(&mut self, bytes: u64) {
        let mut left = bytes.min(self.sum);
        self.sum -= left;
        for waiting in &mut self.waiting {
            // What is important first, as the UE fills its blocks.
            if left == 0 {
                break;
            }
            let taken = left.min(*waiting);
            *waiting -= taken;
            left -= taken;
        }
    }

    /// Writes a report of these bytes.
    pub(crate) fn write(&mut self, waiting: Groups) -> Report {
        self.written += 1;
        let report = Report::new(waiting, self.written, self.granted);
        if let Some(group) = report.first() {
            self.under_way[group] += 1;
        }
        report
    }
    /// A report was decoded; grants can follow it from a slot on. One that HARQ held up behind a later one says nothing new.
    pub(crate) fn receive(&mut self, report: &Report, from: Slot) {
        self.lose(report);
        // HARQ may bring an older one behind it.
        if report.number() > self.latest {
            self.latest = report.number();
            self.received.push_back((from, *report));
        }
    }
    /// A report was given up with its block.
    pub(crate) fn lose(&mut self, report: &Report) {
        if let Some(group) = report.first() {
            self.under_way[group] -= 1;
        }
    }

    /// Bytes that wait in a group by the last report.
    pub(crate) fn of_group(&self, group: usize) -> Bytes {
        Bytes(self.received.back().map_or(self.waiting, |(_, report)| report.waiting())[group])
    }
    /// Bytes that wait in all groups by the last report.
    pub(crate) fn total(&self) -> Bytes {
        (0..MAX_GROUPS).map(|group| self.of_group(group)).sum()
    }
}

/// The earlier of two slots, if there is one.
pub(super) fn earlier(a: Option<Slot>, b: Option<Slot>) -> Option<Slot> {
    let never = Slot(u64::MAX);
    let first = a.unwrap_or(never).min(b.unwrap_or(never));
    (first < never).then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn groups(first: u64, second: u64) -> Groups {
        [first, second, 0, 0, 0, 0, 0, 0]
    }

    #[test]
    fn a_request_a_first_grant_and_a_report() {
        let mut estimate = BufferEstimate::default();
        assert!(estimate.must_request(0));
        estimate.request(Slot(8));
        assert!(!estimate.must_request(0));
        assert_eq!(estimate.next_grant(Slot(2)), Some(Slot(8)));
        assert_eq!(*estimate.in_slot(Slot(7), 200), groups(0, 0));
        assert_eq!(*estimate.in_slot(Slot(8), 200), groups(200, 0));
        estimate.grant(200);
        let report = estimate.write(groups(2_800, 0));
        assert!(!estimate.must_request(0), "the report will come");
        assert_eq!(estimate.next_grant(Slot(9)), None, "but has not");
        estimate.receive(&report, Slot(13));
        assert_eq!(estimate.next_grant(Slot(9)), Some(Slot(13)));
        assert_eq!(*estimate.in_slot(Slot(13), 200), groups(2_800, 0));
        estimate.grant(3_000);
        let last = estimate.write(groups(0, 0));
        estimate.receive(&last, Slot(18));
        assert_eq!(estimate.next_grant(Slot(14)), None, "nothing waits");
    }

    #[test]
    fn what_is_more_important_than_all_that_is_known_is_asked_for_and_nothing_else() {
        let mut estimate = BufferEstimate::default();
        let bulk = estimate.write(groups(0, 9_000));
        assert!(estimate.must_request(0) && !estimate.must_request(1), "under way");
        estimate.receive(&bulk, Slot(5));
        assert!(estimate.must_request(0) && !estimate.must_request(1), "received");
        estimate.in_slot(Slot(5), 0);
        assert!(estimate.must_request(0) && !estimate.must_request(1), "known");
        let both = estimate.write(groups(100, 9_000));
        assert!(!estimate.must_request(0) && !estimate.must_request(1));
        estimate.lose(&both);
        assert!(estimate.must_request(0));
    }

    #[test]
    fn what_was_granted_while_a_report_was_under_way_is_not_granted_twice() {
        let mut estimate = BufferEstimate::default();
        let report = estimate.write(groups(1_000, 5_000));
        estimate.grant(1_500);
        estimate.receive(&report, Slot(5));
        assert_eq!(*estimate.in_slot(Slot(5), 0), groups(0, 4_500), "what is important goes first");
    }

    #[test]
    fn a_lost_report_is_asked_for_and_a_late_one_does_not_count() {
        let mut estimate = BufferEstimate::default();
        let lost = estimate.write(groups(100, 0));
        estimate.lose(&lost);
        assert!(estimate.must_request(0));
        let (late, latest) = (estimate.write(groups(900, 0)), estimate.write(groups(50, 0)));
        estimate.receive(&latest, Slot(5));
        estimate.receive(&late, Slot(6));
        assert_eq!(*estimate.in_slot(Slot(6), 0), groups(50, 0));
    }
}
