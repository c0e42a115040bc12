//! Effects of a report of the DU: on the queue, the rates, and the overload protection.

use tidemark_core::{BitRate, Duration, Instant};

use super::DrbMarker;
use crate::egress::EgressTime;
use crate::law::Decides;
use crate::overload::{self, Look, Stage};
use crate::profile::Progress;
use crate::report::DeliveryStatus;

impl DrbMarker {
    /// Takes a report of the DU.
    pub fn handle_report(&mut self, now: Instant, report: &DeliveryStatus) {
        self.tally.reports += 1;
        // Transmissions first: a delivery of what the table does not know as transmitted would be an unknown SN.
        let left = self.profile.further(report.highest_transmitted, report.highest_retransmitted);
        if let Some(sn) = left {
            self.transmitted(now, sn);
        }
        self.tally.empty_reports += u64::from(left.is_none());
        // A DU in acknowledged mode may report what arrived at the UE before it reports that all of it left (TS 38.425 5.5.2.2).
        if let Some(sn) = report.highest_delivered {
            if self.profile.is_queued(sn) {
                self.delivered_first(now, sn);
            } else {
                self.delivered(now, sn);
            }
        }
        // Retransmitted PDUs have a field of their own, and mostly repeat an SN that is settled.
        if let Some(sn) = report.highest_delivered_retransmitted.filter(|sn| self.profile.awaits_delivery(*sn)) {
            self.delivered(now, sn);
        }
    }

    fn transmitted(&mut self, now: Instant, sn: u32) {
        let was_busy = self.profile.packets() > 0;
        // A report of what was never sent, or that another has overtaken, says nothing of what stands.
        let Some(progress) = self.profile.transmit(now, sn) else {
            return self.mismatch(sn);
        };
        // The DU counts other SNs than the DRB: times taken from them would be of other packets.
        if self.profile.is_mismatched() {
            return;
        }
        let head = self.profile.head_of_line(now);
        let counts_all = self.estimator.time() == EgressTime::All;
        // Without idle time to leave out, each report is a sample.
        if counts_all {
            self.estimator.observe_report(now, progress.bytes);
        }
        // Without a queue before it, the time since the last report was idle: no sample.
        if was_busy
            && let Some(stretch) = self.busy.report(now, progress.bytes, head)
            && !counts_all
        {
            self.estimator.observe(stretch.since, now, stretch.bytes, stretch.conclusive);
        }
        // A report that repeats the last one neither refutes nor confirms that the DU reports arrivals.
        if progress != Progress::NONE {
            self.apart.last_sojourn = progress.sojourn.or(self.apart.last_sojourn);
            let follows_arrival = self.profile.packets() < 5
                && progress.sojourn.is_some_and(|sojourn| sojourn < Duration::from_micros(200));
            // One prompt report is chance; only a run of them shows that the DU reports what arrives.
            self.blind = if follows_arrival { self.blind.saturating_add(1) } else { 0 };
        }
        let standing = self.profile.standing().0;
        let is_rare = self.backlog.report_age(now) > overload::RARE;
        self.drain.report(now, progress.bytes, head.is_some());
        self.backlog.report(now, standing, was_busy, self.drain.is_steady());
        // An overload takes seconds to become one: until then some of the reports are enough.
        if is_rare || self.stage == Stage::Overloaded {
            self.watch(now, 1);
        } else if self.tally.reports.is_multiple_of(overload::REPORTS) {
            self.watch(now, overload::REPORTS);
        }
    }

    /// Takes a report of an SN for which the DRB doesn't wait.
    #[cold]
    fn mismatch(&mut self, sn: u32) {
        self.apart.stale_reports += u64::from(self.profile.is_stale(sn));
        if self.profile.is_mismatched() {
            self.apart.mismatched_reports += 1;
            self.backlog.forget_reports();
        }
    }

    fn delivered(&mut self, now: Instant, sn: u32) {
        // An SN that was reported before, or never left, tells no time.
        if let Some(retransmission) = self.profile.deliver(now, sn) {
            self.retransmission_ns = Some(u32::try_from(retransmission.as_nanos()).unwrap_or(u32::MAX));
        }
    }

    /// Takes a delivered SDU out of the queue: it was transmitted at an unknown time.
    #[cold]
    fn delivered_first(&mut self, now: Instant, sn: u32) {
        if self.profile.is_reported() {
            // The report of the transmission was lost.
            self.transmitted(now, sn);
        } else {
            // A DU that never reports transmissions. Its deliveries come a status report of RLC later, at the rate of the flow and not of the
            // radio: a law that took them for transmissions would mark everything.
            self.profile.pass(now, sn);
        }
        self.profile.deliver(now, sn);
    }

    /// Looks for an overload after this many reports.
    #[inline(never)]
    fn watch(&mut self, now: Instant, reports: u64) {
        let is_long = self.apart.last_sojourn.is_some_and(|sojourn| sojourn > overload::MIN_DELAY);
        // Nothing looks saturated, and nothing is watched.
        if self.stage == Stage::Calm && !is_long && self.probability.get() <= 0.5 {
            return;
        }
        let rate = self.estimator.average().map_or(0.0, BitRate::as_bytes_per_sec);
        let queued = self.profile.standing().as_f64();
        let look = Look {
            p: self.probability.get(),
            queued: (self.properties.decides != Decides::OnLeaving).then_some(queued),
            // Nothing has left yet: a delay would be infinite, and an overload declared at the first packets.
            delay: if rate > 0.0 { queued / rate } else { 0.0 },
        };
        self.stage = self.apart.overload.observe(now, self.stage, reports, look);
    }
}
