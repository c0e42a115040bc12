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
use tidemark_wire::pdcp::{self, emit_data_header};

use crate::bearers::Bearers;
use crate::core::{Incoming, Label};
use crate::error::Error;
use crate::gtp::{Arrived, Gtp, Tunnel};
use crate::refused::Refused;

const CONTAINER: ExtensionType = ExtensionType::NR_RAN_CONTAINER;

/// Number of NR-U sequence numbers, which have 24 bits (TS 38.425 5.5.2.1).
const NRU_MODULUS: u32 = 1 << 24;
/// Largest distance of an NR-U sequence number from the expected one that counts as loss or reordering; a larger one
/// means that the CU was restarted.
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

    /// Counters of what was refused.
    pub(crate) fn not_admitted(&self) -> Refused {
        self.gtp.refused()
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
        let bearer = self.bearers.of(arrived.tunnel);
        let (id, sn_length) = (bearer.id, bearer.pdcp_sn());
        match pdcp::Pdu::parse(&buffer[arrived.payload.clone()], sn_length) {
            Ok(pdcp::Pdu::Data { sn, .. }) => Incoming::Packet {
                ue: Some(id.ue.0),
                range: arrived.payload.start + sn_length.header_len()..arrived.payload.end,
                label: Label::Pdu { bearer: id, sn },
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
        let sn_length = self.bearers.of(tunnel).pdcp_sn();
        let sn = {
            let bearer = &mut self.states.borrow_mut()[tunnel];
            let sn = bearer.next_uplink_sn;
            bearer.next_uplink_sn = (sn + 1) % sn_length.modulus();
            sn
        };
        let mut header = [0; 3];
        emit_data_header(sn, sn_length, &mut header)
            .is_ok_and(|length| self.gtp.send(tunnel, None, &[&header[..length], packet], Ecn::NotEct))
    }
}

impl AsFd for F1u {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.gtp.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use rustix::event::{PollFd, PollFlags, poll};
    use tidemark_cell::{CellConfig, CuUp, DrbIndex, RlcConfig, SplitDu, UeConfig};
    use tidemark_core::{Bytes, Duration, FlowId, Instant};
    use tidemark_marker::SnLength;
    use tidemark_wire::gtpu::{Extension, Repr};

    use super::*;
    use crate::ecn_socket::EcnSocket;

    /// CU of one UE with one bearer: CU-UP and a socket.
    struct Cu {
        cu_up: CuUp,
        socket: EcnSocket,
        bearer: BearerId,
        next_nru_sn: u32,
        last: DeliveryStatus,
    }

    impl Cu {
        /// Sends a PDU of 1200 bytes to the DU; gives its SN.
        fn send(&mut self, now: Instant, du: SocketAddr) -> u32 {
            let sn = self.cu_up.number(now, self.bearer, Bytes(1_200));
            let (mut container, mut pdu, mut message) = ([0; 16], [0; 1_203], [0; 64]);
            let frame = nru::DlUserData { sn: self.next_nru_sn, ..nru::DlUserData::default() };
            self.next_nru_sn += 1;
            let length = frame.emit(&mut container).unwrap();
            let extension = Extension { kind: CONTAINER, content: &container[..length] };
            // TS 38.323 6.2.2: D/C, then 12 bits behind 3 reserved ones, or 18 behind 5.
            let header = if self.bearer.sn_length == SnLength::Bits12 { 2 } else { 3 };
            pdu[..header].copy_from_slice(&sn.to_be_bytes()[4 - header..]);
            pdu[0] |= 0x80;
            let pdu = &pdu[..header + 1_200];
            let head = Repr::g_pdu(9).emit(&mut message, &[extension], pdu.len()).unwrap();
            self.socket.send(&[&message[..head], pdu].concat(), du, Ecn::NotEct).unwrap();
            sn
        }

        /// Takes in a report of the DU.
        fn receive(&mut self, now: Instant) {
            let mut buffer = [0; 200];
            let (length, ..) = self.socket.receive(&mut buffer).unwrap();
            let message = Packet::new_checked(&buffer[..length]).unwrap();
            let report = nru::Pdu::parse(message.extension(CONTAINER).unwrap()).unwrap();
            let nru::Pdu::DlDataDeliveryStatus(status) = report else { panic!() };
            self.last = DeliveryStatus {
                highest_transmitted: status.highest_transmitted,
                highest_delivered: status.highest_delivered,
                ..DeliveryStatus::default()
            };
            self.cu_up.report(now, self.bearer, &self.last);
        }
    }

    #[test]
    fn sns_of_either_length_go_round_between_cu_and_du() {
        let here = |port| SocketAddr::from(([127, 0, 0, 1], port));
        for (sn_length, uplink) in [(SnLength::Bits12, &[0x80, 0, 7][..]), (SnLength::Bits18, &[0x80, 0, 0, 7])] {
            let rlc = RlcConfig { pdcp_sn: sn_length, queue_sdus: 1_000, ..RlcConfig::default() };
            let ues = [UeConfig { rlc, ..UeConfig::default() }];
            let socket = EcnSocket::bind_to(here(0)).unwrap();
            socket.set_timeout(Some(std::time::Duration::from_secs(5))).unwrap();
            let tunnel = Tunnel { teid: 9, peer_teid: 10, peer: here(socket.port().unwrap()), any_peer: false };
            let f1u = F1u::bind(here(0), vec![tunnel], Bearers::new(&ues)).unwrap();
            let mut du = SplitDu::new(&CellConfig::default(), 1).unwrap();
            let bearer = BearerId { ue: du.add_ue(&ues[0]).unwrap(), drb: 1, sn_length };
            let mut cu_up = CuUp::new(1);
            cu_up.add_ue(bearer.ue, DrbIndex(0), &ues[0]).unwrap();
            let mut cu = Cu { cu_up, socket, bearer, next_nru_sn: 0, last: DeliveryStatus::default() };

            assert!(f1u.send(bearer.ue, 1, &[7]));
            let mut buffer = [0; 2_000];
            let (length, address, _) = cu.socket.receive(&mut buffer).unwrap();
            assert_eq!(Packet::new_checked(&buffer[..length]).unwrap().payload(), uplink);

            let (mut now, mut sn) = (Instant::ZERO, 0);
            let until = |du: &mut SplitDu<()>, cu: &mut Cu, end: Instant| {
                while let Some(at) = du.next_deadline().filter(|at| *at <= end) {
                    du.handle_timeout(at);
                    while du.poll_output().is_some() {}
                    while let Some((bearer, status)) = du.poll_report() {
                        f1u.report(bearer, &status);
                        cu.receive(at);
                    }
                }
            };
            for _ in 0..9_000 {
                until(&mut du, &mut cu, now);
                sn = cu.send(now, address);
                poll(&mut [PollFd::new(&f1u, PollFlags::IN)], None).unwrap();
                let Incoming::Packet { label: Label::Pdu { bearer, sn: came }, range, .. } =
                    f1u.receive(&mut buffer).unwrap()
                else {
                    panic!()
                };
                assert_eq!((came, range.len()), (sn, 1_200));
                let packet = tidemark_core::Packet { flow: FlowId(1), size: Bytes(1_200), ecn: Ecn::Ect1, payload: () };
                du.handle_pdu(now, bearer, came, packet);
                now += Duration::from_millis(1);
            }
            until(&mut du, &mut cu, now + Duration::from_secs(1));
            assert_eq!(sn, 8_999 % sn_length.modulus());
            assert_eq!((cu.last.highest_transmitted, cu.last.highest_delivered), (Some(sn), Some(sn)));
            let (estimate, counters) = (cu.cu_up.estimate(now, bearer), cu.cu_up.counters(bearer));
            assert_eq!((estimate.backlog, counters.unknown_sns), (Bytes(0), 0));
        }
    }

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
