//! Flow control of a CU: the DU's desired buffer size, less the bytes that were sent and not reported as delivered or
//! transmitted (TS 38.425 5.4.2.1).

use std::collections::VecDeque;

use tidemark_marker::{DeliveryStatus, SnLength};

/// Window of one bearer.
#[derive(Debug)]
pub(crate) struct Window {
    sn_length: SnLength,
    /// SN and bytes of PDUs that were sent and not reported, in order; no bytes for one that F1-U lost.
    outstanding: VecDeque<(u32, u32)>,
    bytes: u64,
    /// The desired buffer size of the last report; `None` before the first.
    desired: Option<u64>,
}

impl Window {
    /// Makes the window of a bearer to which nothing was sent.
    pub(crate) fn new(sn_length: SnLength) -> Self {
        Self { sn_length, outstanding: VecDeque::new(), bytes: 0, desired: None }
    }

    /// True if this many bytes more may be sent. Before the first report any number may.
    pub(crate) fn takes(&self, bytes: u32) -> bool {
        self.desired.is_none_or(|desired| self.bytes + u64::from(bytes) <= desired)
    }

    /// Number of PDUs that were sent and not reported.
    pub(crate) fn outstanding(&self) -> usize {
        self.outstanding.len()
    }

    /// Counts a PDU that was sent.
    pub(crate) fn sent(&mut self, sn: u32, bytes: u32) {
        self.outstanding.push_back((sn, bytes));
        self.bytes += u64::from(bytes);
    }

    /// Counts the first `count` of the last `behind` PDUs, which never arrived, no more, and calls `discard` with the SN of each
    /// that was counted.
    pub(crate) fn lost(&mut self, behind: usize, count: usize, mut discard: impl FnMut(u32)) {
        let all = self.outstanding.len();
        let range = all.saturating_sub(behind)..all.saturating_sub(behind - count);
        for (sn, bytes) in self.outstanding.range_mut(range).filter(|(_, bytes)| *bytes > 0) {
            self.bytes -= u64::from(std::mem::take(bytes));
            discard(*sn);
        }
    }

    /// Takes in a report. Outstanding are the PDUs behind the highest SN that was delivered or, in unacknowledged mode, transmitted.
    pub(crate) fn reported(&mut self, report: &DeliveryStatus) {
        self.desired = report.desired_buffer_size.map(|size| size.0).or(self.desired);
        let Some(last) = report.highest_delivered.or(report.highest_transmitted) else { return };
        // SNs follow one another. One that is not among them was reported before: F1-U delayed this report.
        let Some((first, _)) = self.outstanding.front() else { return };
        let index = (last.wrapping_sub(*first) & (self.sn_length.modulus() - 1)) as usize;
        if index < self.outstanding.len() {
            let done: u64 = self.outstanding.drain(..=index).map(|(_, bytes)| u64::from(bytes)).sum();
            self.bytes -= done;
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::*;

    fn report(transmitted: u32, delivered: Option<u32>, desired: u64) -> DeliveryStatus {
        DeliveryStatus {
            highest_transmitted: Some(transmitted),
            highest_delivered: delivered,
            desired_buffer_size: Some(Bytes(desired)),
            ..DeliveryStatus::default()
        }
    }

    #[test]
    fn no_more_is_outstanding_than_is_desired() {
        let mut window = Window::new(SnLength::Bits18);
        assert!(window.takes(1_000_000));
        (0..10).for_each(|sn| window.sent(sn, 1_000));
        window.reported(&report(5, Some(3), 7_000));
        // 4 to 9 are outstanding.
        assert!(window.takes(1_000) && !window.takes(1_001));
        window.sent(10, 1_000);
        assert!(!window.takes(1));
        window.reported(&report(9, Some(8), 7_000));
        assert!(window.takes(5_000) && !window.takes(5_001));
    }

    #[test]
    fn a_desired_size_of_zero_stops_and_an_old_report_changes_nothing() {
        let mut window = Window::new(SnLength::Bits18);
        (0..3).for_each(|sn| window.sent(sn, 100));
        window.reported(&report(2, None, 500));
        assert!(window.takes(500), "in unacknowledged mode a transmitted PDU is no longer outstanding");
        window.reported(&report(1, None, 500));
        assert!(window.takes(500) && !window.takes(501));
        window.reported(&report(2, None, 0));
        assert!(!window.takes(1));
    }

    #[test]
    fn sns_of_either_length_go_round() {
        for sn_length in [SnLength::Bits12, SnLength::Bits18] {
            let mut window = Window::new(sn_length);
            for number in 0..600_000u32 {
                window.sent(number % sn_length.modulus(), 100);
                if let Some(reported) = number.checked_sub(2_000) {
                    window.reported(&report(reported % sn_length.modulus(), None, 1_000_000));
                    assert_eq!(window.outstanding(), 2_000);
                }
            }
        }
    }
}
