//! One bearer's side of F1-U in the CU: NR-U numbers, and what its DU does not want yet (TS 38.425).

use std::collections::VecDeque;

use tidemark_core::Bytes;
use tidemark_marker::DeliveryStatus;
use tidemark_wire::nru::SnRange;

use super::window::Window;

/// NR-U sequence numbers have 24 bits.
const NRU_MODULUS: u32 = 1 << 24;
/// Bytes that a bearer holds back at most while its DU wants none: as much as a queue of a DU (srsRAN's RLC has 6 MB).
const MOST_HELD: usize = 6 << 20;

/// State of a bearer's tunnel.
#[derive(Debug, Default)]
pub(super) struct Bearer {
    next_nru_sn: u32,
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
    /// True if so much is held that nothing more may come.
    pub(super) fn is_full(&self) -> bool {
        self.held_bytes > MOST_HELD
    }

    /// True if the DU wants a PDU of this length now: what is held goes first.
    pub(super) fn takes(&self, bytes: u32) -> bool {
        self.held.is_empty() && self.window.takes(bytes)
    }

    /// Keeps a numbered PDU until the DU wants it.
    pub(super) fn hold(&mut self, sn: u32, pdu: Vec<u8>) {
        self.held_bytes += pdu.len();
        self.held.push_back((sn, pdu));
    }

    /// The next PDU that is held and that the DU wants now.
    pub(super) fn release(&mut self) -> Option<(u32, Vec<u8>)> {
        let (_, pdu) = self.held.front()?;
        if !self.window.takes(pdu.len() as u32) {
            return None;
        }
        let (sn, pdu) = self.held.pop_front()?;
        self.held_bytes -= pdu.len();
        Some((sn, pdu))
    }

    /// What waits.
    pub(super) fn held(&self) -> Bytes {
        Bytes(self.held_bytes as u64)
    }

    /// A PDU goes to the DU: the number of its NR-U frame.
    pub(super) fn send(&mut self, sn: u32, bytes: u32) -> u32 {
        self.window.sent(sn, bytes);
        self.sent += Bytes(bytes.into());
        let number = self.next_nru_sn;
        self.next_nru_sn = (number + 1) % NRU_MODULUS;
        number
    }

    /// The DU never received these NR-U frames: says the SNs of those whose PDUs were thought to stand there.
    pub(super) fn lost(&mut self, range: SnRange, gone: impl FnMut(u32)) {
        let modulus = u64::from(NRU_MODULUS);
        let ahead = |to: u32, from: u32| (modulus + u64::from(to) - u64::from(from)) % modulus;
        let count = 1 + ahead(range.end, range.start);
        // Of numbers that go round, the first is before the last within half of them, and both were given.
        let behind = ahead(self.next_nru_sn, range.start);
        if behind > modulus / 2 || count > behind {
            return;
        }
        self.lost += count;
        self.window.lost(behind as usize, count as usize, gone);
    }

    /// The DU has reported.
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
    fn what_f1_u_lost_makes_room_and_is_said_once() {
        let mut bearer = Bearer { next_nru_sn: NRU_MODULUS - 2, ..Bearer::default() };
        for sn in 10..16 {
            bearer.send(sn, 1_000);
        }
        let desired = DeliveryStatus { desired_buffer_size: Some(Bytes(6_000)), ..DeliveryStatus::default() };
        bearer.reported(&desired);
        assert!(!bearer.takes(1));
        // The numbers of the NR-U frames go round between the second and the third.
        assert_eq!(lost(&mut bearer, NRU_MODULUS - 1, 1), [11, 12, 13]);
        assert_eq!((bearer.lost, bearer.takes(3_000), bearer.takes(3_001)), (3, true, false));
        // What came behind them was delivered: it is counted on as if nothing were missing.
        bearer.reported(&DeliveryStatus { highest_delivered: Some(14), ..desired });
        assert!(bearer.takes(5_000) && !bearer.takes(5_001));
        assert!(lost(&mut bearer, 2, 2).is_empty(), "delivered, it makes no more room");
    }

    #[test]
    fn numbers_that_were_never_given_are_nobodys() {
        let mut bearer = Bearer::default();
        for sn in 0..4 {
            bearer.send(sn, 100);
        }
        for (start, end) in [(4, 4), (3, 5), (2, 1), (9, 3), (NRU_MODULUS / 2, 0)] {
            assert!(lost(&mut bearer, start, end).is_empty());
        }
        assert_eq!(bearer.lost, 0);
        assert_eq!(lost(&mut bearer, 3, 3), [3]);
    }
}
