//! A batch gives the results of its single calls, for any UEs and with errors in some elements, and allocates nothing.

use std::ptr::{null, null_mut};

use allocation_counter::measure;
use etherparse::PacketBuilder;
use proptest::prelude::*;
use tidemark::batch::*;
use tidemark::instance::Instance;
use tidemark::path::*;
use tidemark::read::*;
use tidemark::setup::*;
use tidemark::status::Status;
use tidemark::types::*;

const UES: usize = 40;

/// An instance whose UEs have a DRB each, which is marked at once, and a handle that no UE has.
struct Gnb {
    instance: *mut Instance,
    ues: Vec<UeId>,
}

impl Gnb {
    fn new() -> Self {
        let config = InstanceConfig {
            size: size_of::<InstanceConfig>(),
            max_ues: UES as u32,
            reserved: 0,
            seed: 5,
            secret: [7; 16],
        };
        let (mut instance, mut policy) = (null_mut(), null_mut());
        let mut ues = vec![UeId::default(); UES];
        let text = c"otherwise = { law = 'step', threshold = '1 us', short_circuit = true, profile_capacity = 64 }";
        // SAFETY: every pointer is to something that lives until `drop`.
        unsafe {
            assert_eq!(tidemark_instance_new(&config, &mut instance), Status::Ok);
            assert_eq!(tidemark_policy_new(text.as_ptr(), &mut policy, null_mut(), 0), Status::Ok);
            for ue in &mut ues {
                assert_eq!(tidemark_ue_add(instance, ue), Status::Ok);
                let flow = QosFlow { qfi: 1, five_qi: 80 };
                assert_eq!(tidemark_drb_add(instance, *ue, 1, 12, &flow, 1, policy), Status::Ok);
            }
            tidemark_policy_free(policy);
        }
        ues.push(UeId { bits: u64::MAX });
        Self { instance, ues }
    }

    /// All that is counted of every UE.
    fn counters(&self) -> Vec<(UeCounters, DrbCounters)> {
        let read = |ue: &UeId| {
            let mut counters = (UeCounters::default(), DrbCounters::default());
            // SAFETY: the instance lives.
            unsafe {
                assert_eq!(tidemark_read_ue_counters(self.instance, *ue, &mut counters.0), Status::Ok);
                assert_eq!(tidemark_read_drb_counters(self.instance, *ue, 1, &mut counters.1), Status::Ok);
            }
            counters
        };
        self.ues[..UES].iter().map(read).collect()
    }
}

impl Drop for Gnb {
    fn drop(&mut self) {
        // SAFETY: it was made in `new`, and no call is under way.
        unsafe { tidemark_instance_free(self.instance) };
    }
}

fn tcp(uplink: bool, port: u16, number: u32, ece: bool) -> Vec<u8> {
    let (server, client) = ([192, 0, 2, 1], [10, 45, 0, 2]);
    let (source, destination) = if uplink { (client, server) } else { (server, client) };
    let (from, to) = if uplink { (port, 443) } else { (443, port) };
    let mut header = PacketBuilder::ipv4(source, destination, 60).tcp(from, to, number, 1_000).ack(number);
    if ece {
        header = header.ece();
    }
    let mut bytes = Vec::new();
    header.write(&mut bytes, &[0xA5; 100]).unwrap();
    bytes[1] |= 1;
    bytes
}

/// Element of a batch: a packet, PDU or report of one UE, or of none.
#[derive(Clone, Debug)]
struct Element {
    ue: usize,
    packet: Option<Vec<u8>>,
    present: usize,
    drb: u8,
    sn: u32,
    is_retx: bool,
    has_report: bool,
}

fn element(uplink: bool) -> impl Strategy<Value = Element> {
    let packet =
        (0u16..3, any::<u32>(), any::<bool>()).prop_map(move |(port, number, ece)| tcp(uplink, port, number, ece));
    let present = prop_oneof![4 => Just(140usize), 1 => 0usize..=141];
    let drb = prop_oneof![9 => Just(1u8), 1 => any::<u8>()];
    (0..=UES, proptest::option::weighted(0.9, packet), present, drb, 0u32..100, any::<bool>(), any::<bool>()).prop_map(
        |(ue, packet, present, drb, sn, is_retx, has_report)| Element {
            ue,
            packet,
            present,
            drb,
            sn,
            is_retx,
            has_report,
        },
    )
}

/// Status that a batch returns.
fn first_error(mut statuses: impl Iterator<Item = Status>) -> Status {
    statuses.find(|status| *status != Status::Ok).unwrap_or(Status::Ok)
}

/// Hands packets over one by one, or as a batch; gives verdicts, statuses and what packets became.
fn packets(gnb: &Gnb, now_ns: u64, uplink: bool, elements: &[Element], batch: bool) -> Vec<(Verdict, Status, Vec<u8>)> {
    let mut bytes: Vec<_> = elements.iter().map(|element| element.packet.clone().unwrap_or_default()).collect();
    let packet = |(element, bytes): (&Element, &mut Vec<u8>)| Packet {
        ue: gnb.ues[element.ue],
        packet: if element.packet.is_some() { bytes.as_mut_ptr() } else { null_mut() },
        present: element.present,
        len: 140,
        qfi: element.drb,
        verdict: Verdict::Drop,
        status: Status::Internal,
    };
    let mut packets: Vec<_> = elements.iter().zip(&mut bytes).map(packet).collect();
    let (instance, first, count) = (gnb.instance, packets.as_mut_ptr(), packets.len());
    // SAFETY: the instance lives, and every packet is as long as it says.
    unsafe {
        if batch {
            let mut status = Status::Internal;
            let call = if uplink { tidemark_uplink_batch } else { tidemark_downlink_batch };
            let allocated = measure(|| status = call(instance, now_ns, first, count));
            assert_eq!((allocated.count_total, status), (0, first_error(packets.iter().map(|packet| packet.status))));
        } else {
            for at in &mut packets {
                (at.verdict, at.status) = (Verdict::Pass, Status::Ok);
                at.status = if uplink {
                    tidemark_uplink(instance, at.ue, now_ns, at.packet, at.present, at.len)
                } else {
                    let to = &mut at.verdict;
                    tidemark_downlink(instance, at.ue, now_ns, at.qfi, at.packet, at.present, at.len, to)
                };
            }
        }
    }
    packets.iter().zip(bytes).map(|(packet, bytes)| (packet.verdict, packet.status, bytes)).collect()
}

fn pdus(gnb: &Gnb, now_ns: u64, elements: &[Element], batch: bool) -> Vec<Status> {
    let pdu = |element: &Element| Pdu {
        ue: gnb.ues[element.ue],
        sn: element.sn,
        size: 1_400,
        drb: element.drb,
        is_retx: element.is_retx,
        status: Status::Internal,
    };
    let mut pdus: Vec<_> = elements.iter().map(pdu).collect();
    // SAFETY: the instance lives.
    unsafe {
        if batch {
            let (first, count) = (pdus.as_mut_ptr(), pdus.len());
            let mut status = Status::Internal;
            let allocated = measure(|| status = tidemark_pdcp_pdu_batch(gnb.instance, now_ns, first, count));
            assert_eq!((allocated.count_total, status), (0, first_error(pdus.iter().map(|pdu| pdu.status))));
        } else {
            for at in &mut pdus {
                at.status = tidemark_pdcp_pdu(gnb.instance, at.ue, now_ns, at.drb, at.sn, at.size, at.is_retx);
            }
        }
    }
    pdus.iter().map(|pdu| pdu.status).collect()
}

fn reports(gnb: &Gnb, now_ns: u64, elements: &[Element], batch: bool) -> Vec<Status> {
    let report = |element: &Element| Report {
        fields: TIDEMARK_REPORT_TRANSMITTED,
        highest_transmitted_sn: element.sn,
        ..Report::default()
    };
    let values: Vec<_> = elements.iter().map(report).collect();
    let report = |(element, value): (&Element, &Report)| DrbReport {
        ue: gnb.ues[element.ue],
        report: if element.has_report { value } else { null() },
        drb: element.drb,
        status: Status::Internal,
    };
    let mut reports: Vec<_> = elements.iter().zip(&values).map(report).collect();
    // SAFETY: the instance lives, and so do the reports.
    unsafe {
        if batch {
            let (first, count) = (reports.as_mut_ptr(), reports.len());
            let mut status = Status::Internal;
            let allocated = measure(|| status = tidemark_feedback_batch(gnb.instance, now_ns, first, count));
            assert_eq!((allocated.count_total, status), (0, first_error(reports.iter().map(|report| report.status))));
        } else {
            for at in &mut reports {
                at.status = tidemark_feedback(gnb.instance, at.ue, now_ns, at.drb, at.report);
            }
        }
    }
    reports.iter().map(|report| report.status).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn a_batch_does_what_its_calls_do(
        rounds in proptest::collection::vec((
            proptest::collection::vec(element(false), 0..60),
            proptest::collection::vec(element(true), 0..60),
        ), 1..12),
    ) {
        let (one, other) = (Gnb::new(), Gnb::new());
        for (round, (down, up)) in rounds.iter().enumerate() {
            let now_ns = round as u64 * 3_000_000;
            prop_assert_eq!(packets(&one, now_ns, false, down, false), packets(&other, now_ns, false, down, true));
            prop_assert_eq!(pdus(&one, now_ns, down, false), pdus(&other, now_ns, down, true));
            prop_assert_eq!(reports(&one, now_ns, up, false), reports(&other, now_ns, up, true));
            prop_assert_eq!(packets(&one, now_ns, true, up, false), packets(&other, now_ns, true, up, true));
            prop_assert_eq!(one.counters(), other.counters());
        }
    }
}

#[test]
fn a_batch_that_cannot_be_is_refused_whole() {
    let gnb = Gnb::new();
    let mut packet = Packet {
        ue: gnb.ues[0],
        packet: null_mut(),
        present: 1,
        len: 1,
        qfi: 1,
        verdict: Verdict::Drop,
        status: Status::Full,
    };
    // SAFETY: no array is read that is longer than it says.
    unsafe {
        assert_eq!(tidemark_downlink_batch(gnb.instance, 0, null_mut(), 1), Status::NullPointer);
        assert_eq!(tidemark_downlink_batch(null(), 0, &mut packet, 1), Status::NullPointer);
        assert_eq!(tidemark_downlink_batch(gnb.instance, 0, &mut packet, TIDEMARK_MAX_BATCH + 1), Status::BadLength);
        assert_eq!((packet.verdict, packet.status), (Verdict::Drop, Status::Full));
        assert_eq!(tidemark_downlink_batch(gnb.instance, 0, null_mut(), 0), Status::Ok);
        assert_eq!(tidemark_uplink_batch(gnb.instance, 0, null_mut(), 2), Status::NullPointer);
        assert_eq!(tidemark_pdcp_pdu_batch(gnb.instance, 0, null_mut(), 2), Status::NullPointer);
        assert_eq!(tidemark_feedback_batch(gnb.instance, 0, null_mut(), usize::MAX), Status::BadLength);
    }
}
