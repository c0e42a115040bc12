//! Counters of one DRB.

use core::ops::AddAssign;

use zerocopy::{FromBytes, Immutable, IntoBytes, transmute};

/// Counters of one DRB since it was set up, or sums over several DRBs. New counters are added at the end, because hosts of the C library
/// rely on the positions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, IntoBytes, FromBytes, Immutable)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[repr(C)]
pub struct Counters {
    /// Downlink packets seen.
    pub packets: u64,
    /// SDUs handed to the DU.
    pub pdus: u64,
    /// Packets of L4S flows.
    pub l4s_packets: u64,
    /// Packets of classic flows.
    pub classic_packets: u64,
    /// Packets that arrived with CE already set.
    pub ce_packets: u64,
    /// Packets of L4S flows marked.
    pub l4s_marks: u64,
    /// Packets of classic flows marked.
    pub classic_marks: u64,
    /// Marks that went into acknowledgements instead of packets.
    pub short_circuited: u64,
    /// Acknowledgements rewritten.
    pub rewritten_acks: u64,
    /// Packets dropped, by the law or by overload protection.
    pub drops: u64,
    /// SDUs discarded by PDCP.
    pub discards: u64,
    /// Reports received.
    pub reports: u64,
    /// Reports without a highest transmitted or retransmitted SN.
    pub empty_reports: u64,
    /// SNs in reports or discards that were never sent or were forgotten long ago.
    pub unknown_sns: u64,
    /// SDUs handed over with an SN that is still queued or far from the last one.
    pub repeated_sns: u64,
    /// SNs skipped by the SDUs handed over.
    pub skipped_sns: u64,
    /// Restarts of the SNs.
    pub sn_restarts: u64,
    /// SDUs queued beyond the profile table, of which only the sum is known.
    pub beyond_table: u64,
    /// Transmission times evicted before the delivery was reported.
    pub untimed_deliveries: u64,
    /// Flows evicted from the flow table by others.
    pub flows_evicted: u64,
    /// Flows refused for want of a slot in the flow table.
    pub flows_refused: u64,
    /// 1 once the reports turn out to follow arrivals instead of transmissions. Such reports carry no information about the queue, and marking
    /// by them is blind. The DU of OpenAirInterface does this. A sum is the number of such DRBs.
    pub blind_drbs: u64,
    /// Downlink packets that came when the DU had not reported on its queue for longer than `report_timeout`. The queue is then unknown,
    /// and they are not marked for it.
    pub reports_missing: u64,
    /// Marks of `short_circuited` for which no acknowledgement had room, so that the sender has not read them. The next packet of the flow
    /// is marked instead.
    pub marks_let_go: u64,
    /// Packets of `drops` that overload protection dropped, because their flows ignored marks.
    pub overload_drops: u64,
    /// Reports of an SN that an earlier report had passed: they came out of order, or twice.
    pub stale_reports: u64,
    /// Reports, after sixteen such, whose SNs are not those of the DRB: CU and DU use different SN lengths. Nothing is marked until the SNs
    /// of the DU match.
    pub mismatched_reports: u64,
}

impl Counters {
    /// Packets marked.
    pub fn marks(&self) -> u64 {
        self.l4s_marks + self.classic_marks
    }
}

impl AddAssign for Counters {
    fn add_assign(&mut self, other: Self) {
        let mut sum: [u64; COUNT] = transmute!(*self);
        let added: [u64; COUNT] = transmute!(other);
        sum.iter_mut().zip(added).for_each(|(sum, added)| *sum = sum.wrapping_add(added));
        *self = transmute!(sum);
    }
}

/// Number of counters, which are integers of 64 bits alone.
const COUNT: usize = size_of::<Counters>() / size_of::<u64>();

/// Counters that the marker keeps; [`Counters`] has the tables' own besides.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub(crate) struct Tally {
    pub packets: u64,
    pub l4s_packets: u64,
    pub classic_packets: u64,
    pub ce_packets: u64,
    pub l4s_marks: u64,
    pub classic_marks: u64,
    pub short_circuited: u64,
    pub drops: u64,
    pub rewritten_acks: u64,
    pub pdus: u64,
    pub discards: u64,
    pub reports: u64,
    pub empty_reports: u64,
    pub reports_missing: u64,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sum_is_that_of_each_counter() {
        let mut sum = Counters { packets: 3, blind_drbs: 1, mismatched_reports: 2, ..Counters::default() };
        sum += Counters { packets: 4, pdus: 5, blind_drbs: 1, ..Counters::default() };
        let expected = Counters { packets: 7, pdus: 5, blind_drbs: 2, mismatched_reports: 2, ..Counters::default() };
        assert_eq!(sum, expected);
    }

    #[test]
    fn marks_are_those_of_both_classes() {
        assert_eq!(Counters { l4s_marks: 5, classic_marks: 3, ..Counters::default() }.marks(), 8);
    }
}
