//! Marking of a QoS flow. For a flow that is not marked here, it counts the share of packets that the law would have marked.

use tidemark_core::Probability;
use tidemark_wire::pdu_session::Congestion;

use crate::verdict::Class;

/// Treatment of the downlink packets of a QoS flow, set by the IE "ECN Marking or Congestion Information Reporting Request" (TS 38.413
/// 9.3.1.266; E1AP forwards it to the CU-UP).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Marking {
    /// Marked here by the law of the DRB.
    #[default]
    Downlink,
    /// Not marked.
    Off,
    /// Marked at the UPF by the congestion reported to it, or only reported. A report is also available for `Off`, but overload
    /// protection does not act on such a flow: its sender gets no marks that it could ignore.
    Report,
}

/// Congestion of a QoS flow's downlink, for an UL PDU SESSION INFORMATION to the UPF (TS 38.415 5.5.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CongestionReport {
    /// DL Congestion Information: the share of the flow's L4S packets since the last report that the law would have marked. If there were none, it
    /// is that of the last report while something is queued, and then zero.
    pub downlink: Congestion,
    /// Downlink packets of the QoS flow so far about which a law was asked while the flow was not marked here.
    pub packets: u64,
}

/// A QoS flow that is not marked here, and its packets since then.
#[derive(Clone, Copy, Debug, Default)]
pub struct QosFlow {
    marking: Marking,
    packets: u64,
    /// Odds of a mark for the L4S packets since the last report: their sum and number.
    odds: f64,
    count: u32,
    reported: Probability,
}

impl QosFlow {
    /// Marking of the flow.
    pub fn marking(&self) -> Marking {
        self.marking
    }

    /// Sets the marking of the flow from now on.
    pub fn set_marking(&mut self, marking: Marking) {
        // A request that is repeated ends no report, and odds of another time say nothing of this one.
        if self.marking != marking {
            *self = Self { marking, packets: self.packets, ..Self::default() };
        }
    }

    /// Reports on the flow. `has_queue` is true while something is queued in its DRB.
    pub fn report(&mut self, has_queue: bool) -> CongestionReport {
        if self.count > 0 {
            self.reported = Probability::new(self.odds / f64::from(self.count));
        } else if !has_queue {
            // A flow that pauses is reported as it was: its queue may still stand, and zero would call it over.
            self.reported = Probability::ZERO;
        }
        (self.odds, self.count) = (0.0, 0);
        CongestionReport { downlink: Congestion::from_probability(self.reported), packets: self.packets }
    }

    /// Learns the odds of a mark that the law gave a packet of this class.
    // Few UEs have such flows, and the packets of all others pass it by.
    #[cold]
    #[inline(never)]
    pub(crate) fn observe(&mut self, class: Class, odds: Probability) {
        self.packets += 1;
        // Marking at the UPF is for L4S traffic alone (TS 23.501 5.37.3).
        if class != Class::L4s {
            return;
        }
        // Nobody asks: what was long ago counts less and less.
        if self.count == u32::MAX {
            (self.odds, self.count) = (self.odds / 2.0, self.count / 2);
        }
        self.odds += odds.get();
        self.count += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_that_nobody_asks_about_keeps_its_mean() {
        let mut flow = QosFlow { count: u32::MAX, odds: f64::from(u32::MAX) / 4.0, ..QosFlow::default() };
        flow.observe(Class::L4s, Probability::new(0.25));
        assert_eq!(flow.count, u32::MAX / 2 + 1);
        assert!((flow.odds / f64::from(flow.count) - 0.25).abs() < 1e-6);
    }

    #[test]
    fn another_marking_keeps_the_count_of_packets_and_ends_the_report() {
        let mut flow = QosFlow::default();
        (0..3).for_each(|_| flow.observe(Class::L4s, Probability::new(1.0)));
        flow.set_marking(Marking::Report);
        let report = flow.report(true);
        assert_eq!((report.packets, report.downlink.hundredths()), (3, 0));
    }
}
