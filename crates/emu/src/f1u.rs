//! F1-U at the DU: PDCP PDUs of a CU come in, delivery statuses and uplink PDUs go out (TS 38.425).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use tidemark_cell::{BearerId, UeId};
use tidemark_core::Ecn;
use tidemark_marker::DeliveryStatus;
use tidemark_wire::gtpu::{ExtensionType, Packet};
use tidemark_wire::nru::{self, DlDataDeliveryStatus, SnRange, SnRanges};
use tidemark_wire::pdcp::{self, SnLength, emit_data_header};

use crate::bearers::Bearers;
use crate::core::{Incoming, Label};
use crate::error::Error;
use crate::gtp::{Arrived, Gtp, Tunnel};

const CONTAINER: ExtensionType = ExtensionType::NR_RAN_CONTAINER;
/// PDCP SNs of F1-U bearers.
pub(crate) const SN_LENGTH: SnLength = SnLength::Bits18;

/// Number of NR-U sequence numbers, which have 24 bits (TS 38.425 5.5.2.1).
const NRU_MODULUS: u32 = 1 << 24;
/// Largest distance of an NR-U sequence number from the expected one that is loss or reordering; behind it the CU was restarted.
const NRU_REACH: u32 = 1 << 10;
/// Ranges of lost NR-U SNs that wait for a report. Of further ones the CU learns nothing, and counts them as transmitted.
const MAX_LOST_RANGES: usize = 32;

/// F1-U of all bearers of a DU.
#[derive(Debug)]
pub struct F1u {
    gtp: Gtp,
    bearers: Bearers,
    states: RefCell<Vec<BearerState>>,
    /// Tunnels on which a report is wanted.
    polls: RefCell<VecDeque<usize>>,
}

/// F1-U state of a bearer.
#[derive(Debug, Default)]
struct BearerState {
    /// NR-U SN that is expected next; `None` before the first frame.
    next_nru_sn: Option<u32>,
    /// NR-U SNs that never came and were not reported yet.
    lost: Vec<SnRange>,
    next_uplink_sn: u32,
}

impl BearerState {
    /// Takes in the number of an NR-U frame: those that are missing before it are lost (TS 38.425 5.4.1).
    fn arrived(&mut self, nru_sn: u32) {
        let next = self.next_nru_sn.unwrap_or(nru_sn);
        let [ahead, behind] = [(nru_sn, next), (next, nru_sn)].map(|(to, from)| to.wrapping_sub(from) % NRU_MODULUS);
        if (1..=NRU_REACH).contains(&behind) {
            return;
        }
        if (1..=NRU_REACH).contains(&ahead) && self.lost.len() < MAX_LOST_RANGES {
            self.lost.push(SnRange { start: next, end: nru_sn.wrapping_sub(1) % NRU_MODULUS });
        }
        self.next_nru_sn = Some((nru_sn + 1) % NRU_MODULUS);
    }
}

impl F1u {
    /// Listens for the CU at this address, with a tunnel for each bearer.
    ///
    /// # Errors
    /// An error of the system.
    pub fn bind(address: SocketAddr, tunnels: Vec<Tunnel>, bearers: Bearers) -> Result<Self, Error> {
        let states = RefCell::new(bearers.iter().map(|_| BearerState::default()).collect());
        let gtp = Gtp::bind(address, tunnels, CONTAINER)?;
        Ok(Self { gtp, bearers, states, polls: RefCell::default() })
    }

    /// Address that the DU listens at.
    pub fn address(&self) -> SocketAddr {
        self.gtp.address()
    }

    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Result<Incoming, Error> {
        Ok(self.gtp.receive(buffer)?.incoming(|arrived| self.pdu(arrived, buffer)))
    }

    /// Reads a PDCP PDU of the CU, whose NR-U frame may ask for a report.
    fn pdu(&self, arrived: Arrived, buffer: &[u8]) -> Incoming {
        let frame = Packet::new_checked(&buffer[arrived.message]).ok().and_then(|message| {
            nru::DlUserData::parse(message.extension(CONTAINER)?).ok().map(|data| (data.sn, data.report_polling))
        });
        if let Some((sn, polls)) = frame {
            let state = &mut self.states.borrow_mut()[arrived.tunnel];
            state.arrived(sn);
            // Losses are news that the DU does not know of.
            if polls || !state.lost.is_empty() {
                self.polls.borrow_mut().push_back(arrived.tunnel);
            }
        }
        let bearer = self.bearers.of(arrived.tunnel).id;
        let header = SN_LENGTH.header_len();
        match pdcp::Pdu::parse(&buffer[arrived.payload.clone()], SN_LENGTH) {
            Ok(pdcp::Pdu::Data { sn, .. }) => Incoming::Packet {
                ue: Some(bearer.ue.0),
                range: arrived.payload.start + header..arrived.payload.end,
                label: Label::Pdu { bearer, sn },
            },
            _ => Incoming::Other,
        }
    }

    /// Takes out the next bearer on which a report is wanted: the CU asked for one, or F1-U lost frames.
    pub(crate) fn next_poll(&self) -> Option<BearerId> {
        self.polls.borrow_mut().pop_front().map(|tunnel| self.bearers.of(tunnel).id)
    }

    /// Sends a delivery status of a bearer to the CU, with the NR-U SNs lost and the limit of the bearer's queue in bytes. The desired
    /// size counts from the highest SN that was delivered or transmitted (TS 38.425 5.4.2.1), so that the backlog needs no subtraction.
    pub(crate) fn report(&self, bearer: BearerId, status: &DeliveryStatus) {
        let Some(tunnel) = self.bearers.iter().position(|other| other.id == bearer) else { return };
        let lost = std::mem::take(&mut self.states.borrow_mut()[tunnel].lost);
        let mut storage = [[0; 6]; MAX_LOST_RANGES];
        let status = DlDataDeliveryStatus {
            desired_buffer_size: self.bearers.of(tunnel).queue,
            highest_transmitted: status.highest_transmitted,
            highest_delivered: status.highest_delivered,
            lost: SnRanges::pack(&lost, &mut storage).ok().filter(|_| !lost.is_empty()),
            ..DlDataDeliveryStatus::default()
        };
        let mut frame = [0; 64 + 6 * MAX_LOST_RANGES];
        if let Ok(length) = nru::Pdu::DlDataDeliveryStatus(status).emit(&mut frame) {
            // A report that the kernel does not take is lost, as on any network: the next one covers it.
            self.gtp.send(tunnel, Some(&frame[..length]), &[], Ecn::NotEct);
        }
    }

    /// Sends a UE's packet of this QoS flow to the CU as the UE's PDCP makes it; false where the kernel does not take it.
    pub(crate) fn send(&self, ue: UeId, qfi: u8, packet: &[u8]) -> bool {
        let Some(tunnel) = self.bearers.tunnel(ue, qfi) else { return false };
        let sn = {
            let bearer = &mut self.states.borrow_mut()[tunnel];
            let sn = bearer.next_uplink_sn;
            bearer.next_uplink_sn = (sn + 1) % SN_LENGTH.modulus();
            sn
        };
        let mut header = [0; 3];
        emit_data_header(sn, SN_LENGTH, &mut header).is_ok()
            && self.gtp.send(tunnel, None, &[&header, packet], Ecn::NotEct)
    }
}

impl AsFd for F1u {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.gtp.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_that_were_passed_over_are_lost_and_late_or_new_numbers_are_not() {
        let mut bearer = BearerState::default();
        let mut lost = |sns: &[u32]| {
            sns.iter().for_each(|sn| bearer.arrived(*sn));
            bearer.lost.drain(..).map(|range| (range.start, range.end)).collect::<Vec<_>>()
        };
        let last = NRU_MODULUS - 1;
        assert_eq!(lost(&[last - 5, last - 4]), []);
        assert_eq!(lost(&[last - 1, 1, 0, 2]), [(last - 3, last - 2), (last, 0)]);
        // One that came late is none of the lost ones any more than one that came twice, and neither goes back.
        assert_eq!(lost(&[2, 3]), []);
        // The CU was started again, twice.
        assert_eq!(lost(&[500_000, 500_001, 0, 1, 3]), [(2, 2)]);
        (0..100).for_each(|n| bearer.arrived(10 + 2 * n));
        assert_eq!(bearer.lost.len(), MAX_LOST_RANGES);
    }
}
