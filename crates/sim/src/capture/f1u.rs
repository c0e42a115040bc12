//! F1-U frames: NR-U in GTP-U in UDP in IPv4, without ciphering (NEA0) and without SDAP headers.

use std::net::Ipv4Addr;

use tidemark_cell::BearerId;
use tidemark_core::{Dscp, Ecn};
use tidemark_marker::{DeliveryStatus, SnLength};
use tidemark_wire::gtpu::{self, Extension, ExtensionType};
use tidemark_wire::nru::{DiscardBlock, DiscardBlocks, DlDataDeliveryStatus, DlUserData, Pdu};
use tidemark_wire::{Result, ipv4, pdcp, tunnel, udp};

const CU: Ipv4Addr = Ipv4Addr::new(10, 53, 1, 1);
const DU: Ipv4Addr = Ipv4Addr::new(10, 53, 1, 2);
/// Buffer size that DUs ask for: a constant.
const DESIRED_BUFFER_SIZE: u32 = 6_000_000;

/// One bearer's tunnel.
#[derive(Default)]
pub(super) struct Tunnel {
    /// Handovers so far: each makes a new tunnel.
    handovers: u32,
    /// The next NR-U sequence number, and the next PDCP SN upwards.
    nru_sn: u32,
    uplink_sn: u32,
}

/// Fields of a DL USER DATA frame beside its PDU.
pub(super) struct Down<'a> {
    pub(super) sn: u32,
    pub(super) packet: &'a [u8],
    pub(super) ecn: Ecn,
    pub(super) poll: bool,
    pub(super) retransmission: bool,
}

impl Tunnel {
    /// The bearer gets a new one: the old ends with an end marker.
    pub(super) fn hand_over(&mut self, bearer: BearerId, out: &mut Vec<u8>) -> Result<()> {
        let mut message = [0; 16];
        let len = gtpu::Repr::end_marker(self.teid(bearer)).emit(&mut message, &[], 0)?;
        *self = Self { handovers: self.handovers + 1, uplink_sn: self.uplink_sn, nru_sn: 0 };
        over_udp((CU, DU), &[&message[..len]], Ecn::NotEct, out)
    }

    /// Unique to the bearer and the tunnel: 2^5 bearers, 2^13 UEs.
    fn teid(&self, bearer: BearerId) -> u32 {
        self.handovers << 18 | bearer.ue.0 << 5 | u32::from(bearer.drb)
    }

    /// A PDCP PDU on its way to the DU.
    pub(super) fn down(&mut self, bearer: BearerId, frame: &Down<'_>, out: &mut Vec<u8>) -> Result<()> {
        let header = Pdu::DlUserData(DlUserData {
            sn: self.nru_sn,
            report_polling: frame.poll,
            retransmission: frame.retransmission,
            user_data_exists: true,
            ..DlUserData::default()
        });
        self.nru_sn = (self.nru_sn + 1) % (1 << 24);
        let pdu = pdcp_pdu(frame.sn, bearer.sn_length, frame.packet)?;
        self.emit(bearer, (CU, DU), Some(&header), &pdu, frame.ecn, out)
    }

    /// PDCP has discarded an SDU: the DU need not send it (TS 38.425 5.4.1.1).
    pub(super) fn discard(&mut self, bearer: BearerId, sn: u32, out: &mut Vec<u8>) -> Result<()> {
        let mut storage = [[0; 4]];
        let blocks = DiscardBlocks::pack(&[DiscardBlock { start: sn, len: 1 }], &mut storage)?;
        let header =
            Pdu::DlUserData(DlUserData { sn: self.nru_sn, discard_blocks: Some(blocks), ..DlUserData::default() });
        self.nru_sn = (self.nru_sn + 1) % (1 << 24);
        self.emit(bearer, (CU, DU), Some(&header), &[], Ecn::NotEct, out)
    }

    /// A PDCP PDU on its way to the CU; its SN counts the packets of this capture.
    pub(super) fn up(&mut self, bearer: BearerId, packet: &[u8], ecn: Ecn, out: &mut Vec<u8>) -> Result<()> {
        let pdu = pdcp_pdu(self.uplink_sn, bearer.sn_length, packet)?;
        self.uplink_sn = (self.uplink_sn + 1) % bearer.sn_length.modulus();
        self.emit(bearer, (DU, CU), None, &pdu, ecn, out)
    }

    /// A DL DATA DELIVERY STATUS.
    pub(super) fn report(&self, bearer: BearerId, status: &DeliveryStatus, out: &mut Vec<u8>) -> Result<()> {
        let header = Pdu::DlDataDeliveryStatus(DlDataDeliveryStatus {
            desired_buffer_size: DESIRED_BUFFER_SIZE,
            highest_transmitted: status.highest_transmitted,
            highest_delivered: status.highest_delivered,
            ..DlDataDeliveryStatus::default()
        });
        self.emit(bearer, (DU, CU), Some(&header), &[], Ecn::NotEct, out)
    }

    fn emit(
        &self,
        bearer: BearerId,
        ends: (Ipv4Addr, Ipv4Addr),
        frame: Option<&Pdu<'_>>,
        pdu: &[u8],
        inner: Ecn,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let mut header = [0; 128];
        let mut content = [0; 96];
        let extension = match frame {
            Some(frame) => {
                let len = frame.emit(&mut content)?;
                Some(Extension { kind: ExtensionType::NR_RAN_CONTAINER, content: &content[..len] })
            }
            None => None,
        };
        let len = gtpu::Repr::g_pdu(self.teid(bearer)).emit(&mut header, extension.as_slice(), pdu.len())?;
        over_udp(ends, &[&header[..len], pdu], inner, out)
    }
}

/// A GTP-U message, in parts, on its way between two ends; the outer ECN field follows the inner (RFC 6040).
fn over_udp(
    (source, destination): (Ipv4Addr, Ipv4Addr),
    message: &[&[u8]],
    inner: Ecn,
    out: &mut Vec<u8>,
) -> Result<()> {
    let len = message.iter().map(|part| part.len()).sum::<usize>() as u16;
    out.clear();
    out.resize(28, 0);
    ipv4::Repr {
        dscp: Dscp(0),
        ecn: tunnel::encapsulate(tunnel::Mode::Normal, inner),
        identification: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 64,
        protocol: udp::PROTOCOL,
        source,
        destination,
        payload_len: 8 + len,
    }
    .emit(out)?;
    let ports = udp::Repr { source_port: gtpu::PORT, destination_port: gtpu::PORT, payload_len: len };
    ports.emit(&mut out[20..])?;
    message.iter().for_each(|part| out.extend(*part));
    udp::Packet::new_checked(&mut out[20..])?.fill_checksum(source.into(), destination.into());
    Ok(())
}

fn pdcp_pdu(sn: u32, length: SnLength, packet: &[u8]) -> Result<Vec<u8>> {
    let length = match length {
        SnLength::Bits12 => pdcp::SnLength::Bits12,
        SnLength::Bits18 => pdcp::SnLength::Bits18,
    };
    let mut pdu = vec![0; length.header_len()];
    pdcp::emit_data_header(sn, length, &mut pdu)?;
    pdu.extend(packet);
    Ok(pdu)
}
