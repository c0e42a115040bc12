//! One bearer's PDCP in the CU: numbers, and what its DU does not want yet.

use std::collections::VecDeque;

use tidemark_marker::DeliveryStatus;
use tidemark_wire::pdcp::emit_data_header;

use super::window::Window;
use crate::f1u::SN_LENGTH;

/// Length of a PDCP data PDU's header with SNs of 18 bits.
const HEADER: usize = SN_LENGTH.header_len();
/// NR-U sequence numbers have 24 bits.
const NRU_MODULUS: u32 = 1 << 24;
/// Bytes that a bearer holds back at most while its DU wants none: as much as a queue of a DU (srsRAN's RLC has 6 MB).
const MOST_HELD: usize = 6 << 20;

/// What a CU keeps of a bearer beside its marker.
#[derive(Debug, Default)]
pub(super) struct Bearer {
    next_sn: u32,
    next_nru_sn: u32,
    window: Window,
    /// Numbered packets that the DU does not want yet: SN and PDU.
    held: VecDeque<(u32, Vec<u8>)>,
    held_bytes: usize,
}

impl Bearer {
    /// True if so much is held that nothing more may come.
    pub(super) fn is_full(&self) -> bool {
        self.held_bytes > MOST_HELD
    }

    /// The SN of the next packet, and its PDCP header.
    pub(super) fn number(&mut self) -> (u32, [u8; HEADER]) {
        let sn = self.next_sn;
        self.next_sn = (sn + 1) % SN_LENGTH.modulus();
        let mut header = [0; HEADER];
        emit_data_header(sn, SN_LENGTH, &mut header).unwrap_or_else(|_| unreachable!("the header has its length"));
        (sn, header)
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

    /// A PDU goes to the DU: the number of its NR-U frame.
    pub(super) fn sent(&mut self, sn: u32, bytes: u32) -> u32 {
        self.window.sent(sn, bytes);
        let number = self.next_nru_sn;
        self.next_nru_sn = (number + 1) % NRU_MODULUS;
        number
    }

    /// The DU has reported.
    pub(super) fn reported(&mut self, report: &DeliveryStatus) {
        self.window.reported(report);
    }
}
