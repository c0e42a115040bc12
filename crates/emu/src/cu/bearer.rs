//! F1-U of one bearer in the CU: NR-U sequence numbers, and PDUs that its DU does not want yet (TS 38.425).

use std::collections::VecDeque;

use tidemark_core::Bytes;
use tidemark_marker::{DeliveryStatus, SnLength};
use tidemark_wire::nru::SnRange;

use super::window::Window;

/// Number of NR-U sequence numbers, which have 24 bits (TS 38.425 5.5.2.1).
const NRU_MODULUS: u32 = 1 << 24;
/// Bytes that a bearer holds back while its DU wants none: as much as a queue of a DU (srsRAN's RLC has 6 MB).
const MAX_HELD: usize = 6 << 20;

/// State of a bearer's tunnel.
#[derive(Debug)]
pub(super) struct Bearer {
    /// PDUs that may have an SN at a time.
    max_numbered: usize,
    next_nru_sn: u32,
    /// PDCP SN that went to the DU last; `None` before the first.
    last_sn: Option<u32>,
    /// Last SNs that went to the DU and that a report may speak of: half of all SNs at most.
    known_sns: u32,
    window: Window,
    /// Numbered packets that the DU does not want yet: SN and PDU.
    held: VecDeque<(u32, Vec<u8>)>,
    held_bytes: usize,
    /// PDUs that went to the DU.
    pub(super) sent: Bytes,
    /// NR-U sequence numbers that the DU reported as lost.
    pub(super) lost: u64,
}

impl Bearer {
    /// Makes the state of a tunnel that nothing went through.
    pub(super) fn new(sn_length: SnLength) -> Self {
        Self {
            max_numbered: sn_length.modulus() as usize / 2,
            next_nru_sn: 0,
            last_sn: None,
            known_sns: 0,
            window: Window::new(sn_length),
            held: VecDeque::new(),
            held_bytes: 0,
            sent: Bytes(0),
            lost: 0,
        }
    }

    /// True if the next packet is dropped: [`MAX_HELD`] is exceeded, or half of the SNs belong to PDUs that are held or were not reported
    /// (TS 38.323 5.2.1).
    pub(super) fn is_full(&self) -> bool {
        self.held_bytes > MAX_HELD || self.held.len() + self.window.outstanding() >= self.max_numbered
    }

    /// True if the DU wants a PDU of this length now. PDUs that are held go first.
    pub(super) fn takes(&self, bytes: u32) -> bool {
        self.held.is_empty() && self.window.takes(bytes)
    }

    /// Keeps a numbered PDU until the DU wants it.
    pub(super) fn hold(&mut self, sn: u32, pdu: Vec<u8>) {
        self.held_bytes += pdu.len();
        self.held.push_back((sn, pdu));
    }

    /// Takes out the next held PDU, with its SN, if the DU wants it now.
    pub(super) fn release(&mut self) -> Option<(u32, Vec<u8>)> {
        let (_, pdu) = self.held.front()?;
        if !self.window.takes(pdu.len() as u32) {
            return None;
        }
        let (sn, pdu) = self.held.pop_front()?;
        self.held_bytes -= pdu.len();
        Some((sn, pdu))
    }

    /// Bytes that are held.
    pub(super) fn held(&self) -> Bytes {
        Bytes(self.held_bytes as u64)
    }

    /// Counts a PDU that goes to the DU, and gives the sequence number of its NR-U frame.
    pub(super) fn send(&mut self, sn: u32, bytes: u32) -> u32 {
        self.window.sent(sn, bytes);
        self.last_sn = Some(sn);
        self.known_sns = (self.known_sns + 1).min(self.max_numbered as u32);
        self.sent += Bytes(bytes.into());
        let number = self.next_nru_sn;
        self.next_nru_sn = (number + 1) % NRU_MODULUS;
        number
    }

    /// Counts NR-U frames that the DU never received as lost, and calls `discard` with the SN of each PDU that was counted as
    /// queued at the DU.
    pub(super) fn lost(&mut self, range: SnRange, discard: impl FnMut(u32)) {
        let modulus = u64::from(NRU_MODULUS);
        let ahead = |to: u32, from: u32| (modulus + u64::from(to) - u64::from(from)) % modulus;
        let count = 1 + ahead(range.end, range.start);
        // A range whose first number was never given, or that ends behind the last one given, is a DU's fault or an old report.
        let behind = ahead(self.next_nru_sn, range.start);
        if behind > modulus / 2 || count > behind {
            return;
        }
        self.lost += count;
        self.window.lost(behind as usize, count as usize, discard);
    }

    /// True if every SN of a report was sent, as far back as half of all SNs (TS 38.323 7.2). A report of others is
    /// forged, or of a CU that ran before this one.
    pub(super) fn is_possible(&self, report: &DeliveryStatus) -> bool {
        let was_sent = |sn: u32| {
            let modulus = 2 * self.max_numbered as u32;
            self.last_sn.is_some_and(|last| last.wrapping_sub(sn) % modulus < self.known_sns)
        };
        let DeliveryStatus { highest_transmitted, highest_delivered, .. } = *report;
        let others = [report.highest_retransmitted, report.highest_delivered_retransmitted];
        [highest_transmitted, highest_delivered].into_iter().chain(others).flatten().all(was_sent)
    }

    /// Takes in a report of the DU.
    pub(super) fn reported(&mut self, report: &DeliveryStatus) {
        self.window.reported(report);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lost(bearer: &mut Bearer, start: u32, end: u32) -> Vec<u32> {
        let mut sns = Vec::new();
        bearer.lost(SnRange { start, end }, |sn| sns.push(sn));
        sns
    }

    #[test]
    fn frames_lost_on_f1_u_make_room_and_are_discarded_once() {
        let mut bearer = Bearer { next_nru_sn: NRU_MODULUS - 2, ..Bearer::new(SnLength::Bits18) };
        for sn in 10..16 {
            bearer.send(sn, 1_000);
        }
        let desired = DeliveryStatus { desired_buffer_size: Some(Bytes(6_000)), ..DeliveryStatus::default() };
        bearer.reported(&desired);
        assert!(!bearer.takes(1));
        // The numbers of the NR-U frames go round between the second and the third.
        assert_eq!(lost(&mut bearer, NRU_MODULUS - 1, 1), [11, 12, 13]);
        assert_eq!((bearer.lost, bearer.takes(3_000), bearer.takes(3_001)), (3, true, false));
        // The frame behind them was delivered: the window goes on as if nothing were missing.
        bearer.reported(&DeliveryStatus { highest_delivered: Some(14), ..desired });
        assert!(bearer.takes(5_000) && !bearer.takes(5_001));
        assert!(lost(&mut bearer, 2, 2).is_empty(), "delivered, it makes no more room");
    }

    #[test]
    fn sequence_numbers_that_were_never_given_are_ignored() {
        let mut bearer = Bearer::new(SnLength::Bits18);
        for sn in 0..4 {
            bearer.send(sn, 100);
        }
        for (start, end) in [(4, 4), (3, 5), (2, 1), (9, 3), (NRU_MODULUS / 2, 0)] {
            assert!(lost(&mut bearer, start, end).is_empty());
        }
        assert_eq!(bearer.lost, 0);
        assert_eq!(lost(&mut bearer, 3, 3), [3]);
    }

    #[test]
    fn half_of_the_sns_are_given_until_a_report_frees_some() {
        for sn_length in [SnLength::Bits12, SnLength::Bits18] {
            let mut bearer = Bearer::new(sn_length);
            let last = sn_length.modulus() / 2 - 1;
            for sn in 0..last {
                assert!(!bearer.is_full());
                bearer.send(sn, 10);
            }
            bearer.hold(last, vec![0; 10]);
            assert!(bearer.is_full());
            bearer.reported(&DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() });
            assert!(!bearer.is_full());
        }
    }

    #[test]
    fn a_report_of_sns_that_were_never_sent_is_impossible() {
        let of = |transmitted, delivered| DeliveryStatus {
            highest_transmitted: transmitted,
            highest_delivered: delivered,
            ..DeliveryStatus::default()
        };
        let (mut bearer, modulus) = (Bearer::new(SnLength::Bits18), SnLength::Bits18.modulus());
        assert!(bearer.is_possible(&of(None, None)) && !bearer.is_possible(&of(Some(0), None)));
        for sn in (modulus - 2_000..modulus).chain([0, 1]) {
            bearer.send(sn, 100);
        }
        for (transmitted, delivered, possible) in [
            (Some(1), Some(modulus - 1), true),
            (Some(modulus - 2), None, true),
            // Reported long ago: F1-U delayed this one.
            (Some(modulus - 1_000), None, true),
            // Of a time before the first.
            (Some(modulus - 2_001), None, false),
            (Some(2), None, false),
            (Some(1), Some(2), false),
            (Some(modulus / 2 - 10), None, false),
        ] {
            assert_eq!(bearer.is_possible(&of(transmitted, delivered)), possible, "{transmitted:?}, {delivered:?}");
        }
        let retransmitted = DeliveryStatus { highest_retransmitted: Some(9), ..of(Some(1), None) };
        assert!(!bearer.is_possible(&retransmitted));
    }
}
