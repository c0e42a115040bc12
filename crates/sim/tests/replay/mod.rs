//! Reads a capture back and feeds it to the packet path.

use std::collections::BTreeMap;
use std::path::Path;

use pcap_file::pcapng::blocks::enhanced_packet::EnhancedPacketOption;
use pcap_file::pcapng::{Block, PcapNgReader};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{DeliveryStatus, SnLength, Verdict};
use tidemark_sim::scenario::Scenario;
use tidemark_wire::gtpu::{self, ExtensionType, MessageType};
use tidemark_wire::nru::{DlUserData, Pdu};
use tidemark_wire::{ipv4, pdcp, tcp};

/// Outcome of a replay.
#[derive(Debug, Default)]
pub struct Tally {
    pub packets: u64,
    pub marked: u64,
    pub dropped: u64,
    /// Packets that found the queue full.
    pub full: u64,
    pub rewritten: u64,
    pub reports: u64,
    pub handovers: u64,
    /// Decisions on packets that left the RLC queue where the law decides there.
    pub left: [u64; 3],
    pub discarded: u64,
    /// Packets marked on bearers beside the default one, and acknowledgements rewritten of such.
    pub dedicated: u64,
}

/// A packet of a capture, filled up with zeros to its length.
struct Captured {
    at: Instant,
    bytes: Vec<u8>,
    comment: String,
}

/// A packet on both sides of the CU.
#[derive(Default)]
struct Event {
    core: Option<Captured>,
    f1u: Option<Captured>,
    rlc: Option<Captured>,
}

/// A UE on the packet path, with the SN lengths of its bearers. The QFI of a bearer is its number here.
type Served = (Ue, Vec<SnLength>);

pub struct Replay {
    ues: Vec<Served>,
    tally: Tally,
}

impl Replay {
    /// The UEs of a scenario, as a gNB would set them up.
    pub fn new(scenario: &Scenario) -> Self {
        let key = FlowKey::new(b"sixteen secrets!");
        let ues = (0u32..).zip(scenario.ues()).map(|(id, ue)| {
            let (mut path, mut sn_lengths) = (Ue::new(key), Vec::new());
            let config = &ue.config;
            let dedicated = config.drb.iter().map(|drb| {
                (drb.marker.as_ref().unwrap_or(&config.marker), drb.rlc.as_ref().unwrap_or(&config.rlc).pdcp_sn)
            });
            for (index, (marker, sn)) in
                (0u8..).zip([(&config.marker, config.rlc.pdcp_sn)].into_iter().chain(dedicated))
            {
                let stream = Stream::new(scenario.seed, id | u32::from(index) << 24, "mark");
                path.add_drb(DrbId(index + 1), &[index + 1], marker, sn, stream).unwrap();
                sn_lengths.push(sn);
            }
            (path, sn_lengths)
        });
        Self { ues: ues.collect(), tally: Tally::default() }
    }

    /// Replays the captures in a folder; fails where the packet path does anything else than the simulator did.
    pub fn run(mut self, folder: &Path) -> Tally {
        let mut events: BTreeMap<u64, Event> = BTreeMap::new();
        for (number, packet) in read(&folder.join("core.pcapng")) {
            events.entry(number).or_default().core = Some(packet);
        }
        for (number, packet) in read(&folder.join("f1u.pcapng")) {
            events.entry(number).or_default().f1u = Some(packet);
        }
        if folder.join("rlc.pcapng").exists() {
            for (number, packet) in read(&folder.join("rlc.pcapng")) {
                events.entry(number).or_default().rlc = Some(packet);
            }
        }
        for (number, event) in events {
            self.replay(number, event);
        }
        self.tally
    }

    fn replay(&mut self, number: u64, Event { core, f1u, rlc }: Event) {
        if let Some(packet) = rlc {
            return self.leaves(number, packet);
        }
        match (core, f1u) {
            (Some(core), f1u) if core.bytes[12..14] == [198, 18] => self.downlink(number, core, f1u),
            (Some(core), Some(f1u)) => self.uplink(number, &core, &f1u),
            (None, Some(f1u)) => self.f1u_alone(&f1u),
            _ => panic!("event {number}: an uplink packet without its PDU"),
        }
    }

    fn downlink(&mut self, number: u64, mut core: Captured, f1u: Option<Captured>) {
        let id = usize::from(core.bytes[19]) - 2;
        let (ue, sn_lengths) = &mut self.ues[id];
        let drb = drb_of(&core.comment);
        let verdict = ue.downlink(core.at, drb.0, &mut core.bytes);
        let expected = match core.comment.split(',').next() {
            Some("passed") => Verdict::Pass,
            Some("marked") => Verdict::Mark,
            Some("dropped by the law") => Verdict::Drop,
            other => panic!("event {number}: {other:?}"),
        };
        assert_eq!(verdict, expected, "event {number} at {:?}", core.at);
        self.tally.packets += 1;
        self.tally.marked += u64::from(verdict == Verdict::Mark);
        self.tally.dropped += u64::from(verdict == Verdict::Drop);
        self.tally.dedicated += u64::from(verdict == Verdict::Mark && drb.0 > 1);
        let Some(f1u) = f1u else {
            self.tally.full += u64::from(verdict != Verdict::Drop);
            return;
        };
        let frame = Frame::read(&f1u.bytes, sn_lengths);
        assert_eq!((frame.ue, frame.drb, f1u.at), (id, drb, core.at));
        assert_eq!(frame.outer_ecn == Ecn::Ce, core.bytes[1] & 3 == 3, "event {number}: ECN of the tunnel");
        let (sn, packet) = frame.pdu.expect("a packet on its way down has a PDU");
        assert_eq!(packet, core.bytes, "event {number}");
        ue.pdcp_pdu(core.at, drb, sn, Bytes(frame.pdu_len));
        if let Some(Pdu::DlUserData(DlUserData { report_polling, .. })) = frame.header {
            assert!(!report_polling || ue.wants_report(core.at, drb), "event {number}");
        }
    }

    fn uplink(&mut self, number: u64, core: &Captured, f1u: &Captured) {
        let id = usize::from(core.bytes[15]) - 2;
        let (ue, sn_lengths) = &mut self.ues[id];
        let frame = Frame::read(&f1u.bytes, sn_lengths);
        let (_, before) = frame.pdu.expect("an uplink packet has a PDU");
        let mut packet = before.clone();
        ue.uplink(core.at, &mut packet);
        assert_eq!(packet, core.bytes, "event {number}: an acknowledgement is rewritten otherwise");
        self.tally.rewritten += u64::from(packet != before);
        self.tally.dedicated += u64::from(packet != before && frame.drb.0 > 1);
        if packet[9] == tcp::PROTOCOL {
            let ip = ipv4::Packet::new_checked(&packet).unwrap();
            let segment = tcp::Packet::new_checked(ip.payload()).unwrap();
            assert!(segment.has_valid_checksum(ip.source().into(), ip.destination().into()), "event {number}");
        }
    }

    /// A packet leaves the RLC queue of a law that decides there.
    fn leaves(&mut self, number: u64, mut packet: Captured) {
        let (ue, _) = &mut self.ues[usize::from(packet.bytes[19]) - 2];
        let drb = drb_of(&packet.comment);
        let mut parts = packet.comment.split(", ").filter(|part| !part.starts_with("DRB"));
        let mut next = || parts.next().expect("a comment has four parts");
        let (became, sn, sojourn, behind) = (next(), next(), next(), next());
        let word = |text: &str, index: usize| text.split(' ').nth(index).unwrap().parse::<u64>().unwrap();
        let (sn, sojourn) = (word(sn, 1) as u32, Duration::from_nanos(word(sojourn, 1)));
        let (expected, came) = (became.to_string(), packet.bytes.clone());
        let verdict = ue.dequeue(packet.at, drb, &mut packet.bytes, sojourn, Bytes(word(behind, 0)));
        let became = ["passed", "marked", "dropped"][verdict as usize];
        assert_eq!(became, expected, "event {number} at {:?}", packet.at);
        assert_eq!(packet.bytes[1] & 3 == 3, verdict == Verdict::Mark || came[1] & 3 == 3, "event {number}");
        self.tally.left[verdict as usize] += 1;
        if verdict == Verdict::Drop {
            ue.discard(packet.at, drb, sn);
        }
    }

    /// A report, a discard, the end of a tunnel, or a PDU that is sent again.
    fn f1u_alone(&mut self, f1u: &Captured) {
        let message = gtpu::Packet::new_checked(&f1u.bytes[28..]).unwrap();
        let (ue, sn_lengths) = &mut self.ues[ue_of(message.teid())];
        if message.message_type() == MessageType::EndMarker {
            // One of each bearer's tunnel, all at the same time.
            if teid_drb(message.teid()) == DrbId(1) {
                self.tally.handovers += 1;
                ue.handover(f1u.at);
            }
            return;
        }
        let frame = Frame::read(&f1u.bytes, sn_lengths);
        match frame.header {
            Some(Pdu::DlDataDeliveryStatus(status)) => {
                self.tally.reports += 1;
                ue.feedback(
                    f1u.at,
                    frame.drb,
                    &DeliveryStatus {
                        highest_transmitted: status.highest_transmitted,
                        highest_delivered: status.highest_delivered,
                        highest_retransmitted: status.highest_retransmitted,
                        highest_delivered_retransmitted: status.highest_delivered_retransmitted,
                        desired_buffer_size: Some(Bytes(status.desired_buffer_size.into())),
                    },
                );
            }
            Some(Pdu::DlUserData(DlUserData { retransmission: true, .. })) => {
                let (sn, _) = frame.pdu.expect("what is sent again is a PDU");
                ue.pdcp_pdu(f1u.at, frame.drb, sn, Bytes(frame.pdu_len));
            }
            Some(Pdu::DlUserData(DlUserData { discard_blocks: Some(blocks), .. })) => {
                for sn in blocks.iter().flat_map(|block| block.start..block.start + u32::from(block.len)) {
                    self.tally.discarded += 1;
                    ue.discard(f1u.at, frame.drb, sn);
                }
            }
            other => panic!("{other:?} alone"),
        }
    }
}

/// A frame of F1-U.
struct Frame<'a> {
    ue: usize,
    drb: DrbId,
    outer_ecn: Ecn,
    header: Option<Pdu<'a>>,
    /// SN and IP packet.
    pdu: Option<(u32, Vec<u8>)>,
    pdu_len: u64,
}

impl<'a> Frame<'a> {
    fn read(bytes: &'a [u8], sn_lengths: &[SnLength]) -> Self {
        let message = gtpu::Packet::new_checked(&bytes[28..]).unwrap();
        let drb = teid_drb(message.teid());
        assert_eq!(message.message_type(), MessageType::GPdu);
        let container = message.extension(ExtensionType::NR_RAN_CONTAINER).map(<[u8]>::len);
        // The container lies at a fixed place, behind the header and its optional fields.
        let header = container.map(|len| Pdu::parse(&bytes[28 + 13..28 + 13 + len]).unwrap());
        let payload = message.payload();
        let length = match sn_lengths[usize::from(drb.0) - 1] {
            SnLength::Bits12 => pdcp::SnLength::Bits12,
            SnLength::Bits18 => pdcp::SnLength::Bits18,
        };
        let pdu = (!payload.is_empty()).then(|| match pdcp::Pdu::parse(payload, length).unwrap() {
            pdcp::Pdu::Data { sn, data } => (sn, data.to_vec()),
            other => panic!("{other:?}"),
        });
        let outer = ipv4::Packet::new_checked(bytes).unwrap();
        assert!(outer.has_valid_checksum());
        Self { ue: ue_of(message.teid()), drb, outer_ecn: outer.ecn(), header, pdu, pdu_len: payload.len() as u64 }
    }
}

fn ue_of(teid: u32) -> usize {
    (teid >> 5 & 0x1FFF) as usize
}

fn teid_drb(teid: u32) -> DrbId {
    DrbId((teid & 0x1F) as u8)
}

/// The bearer that a comment names: the default one unless it names another.
fn drb_of(comment: &str) -> DrbId {
    let named = comment.split(", ").find_map(|part| part.strip_prefix("DRB "));
    DrbId(named.map_or(1, |number| number.parse().unwrap()))
}

/// Every packet with its number.
fn read(file: &Path) -> Vec<(u64, Captured)> {
    let mut reader = PcapNgReader::new(std::fs::File::open(file).unwrap()).unwrap();
    let mut packets = Vec::new();
    while let Some(block) = reader.next_block() {
        let Block::EnhancedPacket(packet) = block.unwrap() else { continue };
        let mut bytes = packet.data.to_vec();
        bytes.resize(packet.original_len as usize, 0);
        let (mut number, mut comment) = (None, String::new());
        for option in &packet.options {
            match option {
                EnhancedPacketOption::Comment(text) => comment = text.to_string(),
                EnhancedPacketOption::Unknown(id) if id.code == 5 => {
                    number = Some(u64::from_le_bytes(id.value[..8].try_into().unwrap()));
                }
                _ => {}
            }
        }
        let at = Instant::from_nanos(packet.timestamp.as_nanos() as u64);
        packets.push((number.expect("every packet has its number"), Captured { at, bytes, comment }));
    }
    packets
}
