//! The C interface changes nothing: for any calls in any order it gives the results of the marker, and it allocates
//! nothing after the UE is set up.

use std::ptr::{null, null_mut};

use allocation_counter::measure;
use etherparse::PacketBuilder;
use proptest::prelude::*;
use tidemark::instance::Instance;
use tidemark::path::*;
use tidemark::qos_flow::*;
use tidemark::read::*;
use tidemark::relocation::*;
use tidemark::setup::*;
use tidemark::status::Status;
use tidemark::totals::*;
use tidemark::types::*;
use tidemark_core::{Bytes, Duration, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{Counters, DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, Marking, NotEctRule, SnLength};

const SECRET: [u8; 16] = *b"sixteen secrets!";

/// A UE behind the border, with DRB 1 for QFI 1 of 12-bit SNs and DRB 2 for QFI 2 of 18-bit ones, whose law decides where
/// packets leave.
struct Behind {
    instance: *mut Instance,
    ue: UeId,
}

impl Behind {
    fn new() -> Self {
        let config =
            InstanceConfig { size: size_of::<InstanceConfig>(), max_ues: 1, reserved: 0, seed: 5, secret: SECRET };
        let (mut instance, mut policy, mut ue) = (null_mut(), null_mut(), UeId::default());
        let text = c"rules = [{ qfi = 2, marker = { law = 'ecn-codel', short_circuit = true, profile_capacity = 64 } }]
otherwise = { law = 'l4span', not_ect = 'drop', short_circuit = true, profile_capacity = 64 }";
        // SAFETY: every pointer is to something that lives until `drop`.
        unsafe {
            assert_eq!(tidemark_instance_new(&config, &mut instance), Status::Ok);
            assert_eq!(tidemark_policy_new(text.as_ptr(), &mut policy, null_mut(), 0), Status::Ok);
            assert_eq!(tidemark_ue_add(instance, &mut ue), Status::Ok);
            for (drb, sn_bits) in [(1, 12), (2, 18)] {
                let flow = QosFlow { qfi: drb, five_qi: 80 };
                assert_eq!(tidemark_drb_add(instance, ue, drb, sn_bits, &flow, 1, policy), Status::Ok);
            }
            tidemark_policy_free(policy);
            // The UE's table of QoS flows is made with the first that is not marked.
            assert_eq!(tidemark_qfi_marking(instance, ue, 63, TIDEMARK_MARKING_OFF), Status::Ok);
        }
        Self { instance, ue }
    }
}

impl Drop for Behind {
    fn drop(&mut self) {
        // SAFETY: it was made in `new`, and no call is under way.
        unsafe { tidemark_instance_free(self.instance) };
    }
}

/// A UE with the same settings, used without the border.
fn before() -> Ue {
    let mut ue = Ue::new(FlowKey::new(&SECRET));
    let law = LawConfig::L4span(L4SpanConfig { not_ect: NotEctRule::Drop, ..L4SpanConfig::default() });
    let codel = LawConfig::EcnCodel(Default::default());
    for (drb, law, sn_length) in [(1, law, SnLength::Bits12), (2, codel, SnLength::Bits18)] {
        let config = MarkerConfig { short_circuit: true, profile_capacity: 64, ..MarkerConfig::with_law(law) };
        ue.add_drb(DrbId(drb), &[drb], &config, sn_length, Stream::new(5, u32::from(drb), "mark")).unwrap();
    }
    ue
}

#[derive(Clone, Debug)]
enum Event {
    Downlink {
        qfi: u8,
        packet: Vec<u8>,
        present: usize,
    },
    Pdu {
        drb: u8,
        sn: u32,
        size: u32,
        is_retx: bool,
    },
    PduHeader {
        drb: u8,
        header: Vec<u8>,
        size: u32,
        is_retx: bool,
    },
    Discard {
        drb: u8,
        sn: u32,
    },
    Report {
        drb: u8,
        report: [u32; 4],
    },
    Frame {
        drb: u8,
        frame: Vec<u8>,
    },
    Uplink {
        packet: Vec<u8>,
        present: usize,
    },
    Dequeue {
        drb: u8,
        packet: Vec<u8>,
        present: usize,
        sojourn: u64,
        behind: u64,
    },
    Handover,
    DrbHandover {
        drb: u8,
    },
    MapQfi {
        qfi: u8,
        drb: u8,
    },
    /// The UE moves to another CU-UP with its state.
    Relocate,
    Marking {
        qfi: u8,
        marking: u8,
    },
    Congestion {
        qfi: u8,
        report: Option<QfiCongestion>,
    },
}

/// An IP packet by a library that we did not write; `uplink` turns it round.
fn packet(uplink: bool, port: u16, ecn: u8, tcp: Option<(u8, u32)>, payload: usize) -> Vec<u8> {
    let (server, client) = ([192, 0, 2, 1], [10, 45, 0, 2]);
    let (source, destination) = if uplink { (client, server) } else { (server, client) };
    let (from, to) = if uplink { (port, 443) } else { (443, port) };
    let ip = PacketBuilder::ipv4(source, destination, 60);
    let (mut bytes, payload) = (Vec::new(), vec![0xA5; payload]);
    match tcp {
        Some((flags, number)) => {
            let mut tcp = ip.tcp(from, to, number, 1_000);
            if flags & 1 != 0 {
                tcp = tcp.syn();
            }
            if flags & 2 != 0 {
                tcp = tcp.ack(number);
            }
            if flags & 4 != 0 {
                tcp = tcp.ece();
            }
            if flags & 8 != 0 {
                tcp = tcp.cwr();
            }
            if flags & 16 != 0 {
                tcp = tcp.ns();
            }
            tcp.write(&mut bytes, &payload).unwrap();
        }
        None => ip.udp(from, to).write(&mut bytes, &payload).unwrap(),
    }
    // The ECN field is the caller's, under a header checksum that counts it.
    bytes[1] = ecn & 3;
    let mut header = etherparse::Ipv4Header::from_slice(&bytes).unwrap().0;
    header.header_checksum = header.calc_header_checksum();
    bytes[10..12].copy_from_slice(&header.header_checksum.to_be_bytes());
    bytes
}

fn event() -> impl Strategy<Value = Event> {
    let drb = || prop_oneof![8 => 1u8..3, 1 => any::<u8>()];
    let sn = || prop_oneof![8 => 0u32..200, 1 => 4_000u32..4_200, 1 => any::<u32>()];
    let some_packet = |uplink: bool| {
        let tcp = proptest::option::of((any::<u8>(), any::<u32>()));
        prop_oneof![
            12 => (0u16..6, any::<u8>(), tcp, 0usize..1_400).prop_map(move |(port, ecn, tcp, payload)| packet(uplink, port, ecn, tcp, payload)),
            1 => proptest::collection::vec(any::<u8>(), 1..80),
        ]
    };
    // The whole packet, or any part of it from its beginning on.
    let some_front = move |uplink: bool| {
        (some_packet(uplink), proptest::option::of(any::<proptest::sample::Index>())).prop_map(|(packet, cut)| {
            let present = cut.map_or(packet.len(), |cut| 1 + cut.index(packet.len()));
            (packet, present)
        })
    };
    prop_oneof![
        8 => (drb(), some_front(false)).prop_map(|(qfi, (packet, present))| Event::Downlink { qfi, packet, present }),
        8 => (drb(), sn(), 0u32..2_000, any::<bool>()).prop_map(|(drb, sn, size, is_retx)| {
            Event::Pdu { drb, sn, size, is_retx }
        }),
        4 => (drb(), proptest::collection::vec(any::<u8>(), 1..6), 0u32..2_000, any::<bool>()).prop_map(
            |(drb, header, size, is_retx)| Event::PduHeader { drb, header, size, is_retx }
        ),
        1 => (drb(), sn()).prop_map(|(drb, sn)| Event::Discard { drb, sn }),
        2 => (drb(), any::<u32>(), sn(), sn(), any::<u32>()).prop_map(|(drb, fields, transmitted, delivered, size)| {
            Event::Report { drb, report: [fields, transmitted, delivered, size] }
        }),
        1 => (drb(), proptest::collection::vec(any::<u8>(), 1..40)).prop_map(|(drb, mut frame)| {
            frame[0] = frame[0] & 0xF | 0x10;
            Event::Frame { drb, frame }
        }),
        3 => some_front(true).prop_map(|(packet, present)| Event::Uplink { packet, present }),
        6 => (drb(), some_front(false), 0u64..100_000_000, any::<u64>()).prop_map(
            |(drb, (packet, present), sojourn, behind)| Event::Dequeue { drb, packet, present, sojourn, behind }
        ),
        1 => Just(Event::Handover),
        1 => drb().prop_map(|drb| Event::DrbHandover { drb }),
        1 => (drb(), drb()).prop_map(|(qfi, drb)| Event::MapQfi { qfi, drb }),
        1 => Just(Event::Relocate),
        1 => (drb(), 0u8..4).prop_map(|(qfi, marking)| Event::Marking { qfi, marking }),
        1 => drb().prop_map(|qfi| Event::Congestion { qfi, report: None }),
    ]
}

/// Hands an event to the marker itself; the verdict and the packet are what the border must give too.
fn apply(ue: &mut Ue, now: Instant, event: &mut Event) -> Option<Verdict> {
    match event {
        Event::Downlink { qfi, packet, present } => {
            let len = packet.len();
            return Some(ue.downlink_front(now, *qfi, &mut packet[..*present], len).into());
        }
        Event::Pdu { drb, sn, size, is_retx: false } => ue.pdcp_pdu(now, DrbId(*drb), *sn, Bytes((*size).into())),
        Event::Pdu { drb, sn, size, is_retx: true } => {
            ue.pdcp_retransmission(now, DrbId(*drb), *sn, Bytes((*size).into()));
        }
        Event::PduHeader { drb, header, size, is_retx } => {
            // The first bit is set in data PDUs; DRB 2 has the longer SNs (TS 38.323 6.2.2.2, 6.2.2.3).
            let sn = match (&header[..], *drb) {
                ([first, ..], 1 | 2) if first & 0x80 == 0 => return None,
                ([a, b, ..], 1) => u32::from(a & 0xF) << 8 | u32::from(*b),
                ([a, b, c, ..], 2) => u32::from(a & 3) << 16 | u32::from(*b) << 8 | u32::from(*c),
                (_, 1 | 2) => return None,
                _ => 0,
            };
            return apply(ue, now, &mut Event::Pdu { drb: *drb, sn, size: *size, is_retx: *is_retx });
        }
        Event::Discard { drb, sn } => ue.discard(now, DrbId(*drb), *sn),
        Event::Report { drb, report: [fields, transmitted, delivered, size] } => {
            let status = DeliveryStatus {
                highest_transmitted: (*fields & 1 != 0).then_some(*transmitted),
                highest_delivered: (*fields & 2 != 0).then_some(*delivered),
                highest_retransmitted: (*fields & 8 != 0).then_some(*delivered),
                highest_delivered_retransmitted: (*fields & 16 != 0).then_some(*transmitted),
                desired_buffer_size: (*fields & 4 != 0).then_some(Bytes((*size).into())),
            };
            ue.feedback(now, DrbId(*drb), &status);
        }
        Event::Frame { drb, frame } => {
            if let Ok(frame) = tidemark_wire::nru::DlDataDeliveryStatus::parse(frame) {
                let status = DeliveryStatus {
                    highest_transmitted: frame.highest_transmitted,
                    highest_delivered: frame.highest_delivered,
                    highest_retransmitted: frame.highest_retransmitted,
                    highest_delivered_retransmitted: frame.highest_delivered_retransmitted,
                    desired_buffer_size: None,
                };
                ue.feedback(now, DrbId(*drb), &status);
            }
        }
        Event::Uplink { packet, present } => {
            let len = packet.len();
            ue.uplink_front(now, &mut packet[..*present], len);
        }
        Event::Dequeue { drb, packet, present, sojourn, behind } => {
            let (len, sojourn) = (packet.len(), Duration::from_nanos(*sojourn));
            let front = &mut packet[..*present];
            return Some(ue.dequeue_front(now, DrbId(*drb), front, len, sojourn, Bytes(*behind)).into());
        }
        Event::Handover => ue.handover(now),
        Event::DrbHandover { drb } => ue.handover_drb(now, DrbId(*drb)),
        Event::MapQfi { qfi, drb } => _ = ue.map_qfi(*qfi, DrbId(*drb)),
        Event::Relocate => {
            let mut state = vec![0; ue.export_len()];
            ue.export(&mut state);
            *ue = before();
            ue.import(now, &state).unwrap();
        }
        Event::Marking { qfi, marking } => {
            if let Some(marking) = [Marking::Downlink, Marking::Off, Marking::Report].get(usize::from(*marking)) {
                ue.set_marking(*qfi, *marking);
            }
        }
        Event::Congestion { qfi, report } => *report = ue.congestion(now, *qfi).ok().map(QfiCongestion::from),
    }
    None
}

/// Hands an event to the library.
fn apply_behind(behind: &Behind, now_ns: u64, event: &mut Event) -> (Status, Option<Verdict>) {
    let (instance, ue) = (behind.instance.cast_const(), behind.ue);
    // SAFETY: the instance lives, and every pointer is to a value of this frame with its length.
    unsafe {
        let status = match event {
            Event::Downlink { qfi, packet, present } => {
                let mut verdict = Verdict::Drop;
                let (bytes, len) = (packet.as_mut_ptr(), packet.len());
                let status = tidemark_downlink(instance, ue, now_ns, *qfi, bytes, *present, len, &mut verdict);
                return (status, Some(verdict));
            }
            Event::Pdu { drb, sn, size, is_retx } => {
                tidemark_pdcp_pdu(instance, ue, now_ns, *drb, *sn, *size, *is_retx)
            }
            Event::PduHeader { drb, header, size, is_retx } => {
                let (bytes, present) = (header.as_ptr(), header.len());
                tidemark_pdcp_pdu_header(instance, ue, now_ns, *drb, bytes, present, *size, *is_retx)
            }
            Event::Discard { drb, sn } => tidemark_pdcp_discard(instance, ue, now_ns, *drb, *sn),
            Event::Report { drb, report: [fields, transmitted, delivered, size] } => {
                let report = Report {
                    size: size_of::<Report>(),
                    fields: *fields,
                    highest_transmitted_sn: *transmitted,
                    highest_delivered_sn: *delivered,
                    highest_retransmitted_sn: *delivered,
                    highest_delivered_retransmitted_sn: *transmitted,
                    desired_buffer_size: *size,
                };
                tidemark_feedback(instance, ue, now_ns, *drb, &report)
            }
            Event::Frame { drb, frame } => {
                tidemark_feedback_frame(instance, ue, now_ns, *drb, frame.as_ptr(), frame.len())
            }
            Event::Uplink { packet, present } => {
                tidemark_uplink(instance, ue, now_ns, packet.as_mut_ptr(), *present, packet.len())
            }
            Event::Dequeue { drb, packet, present, sojourn, behind } => {
                let (mut verdict, bytes, len) = (Verdict::Drop, packet.as_mut_ptr(), packet.len());
                let (present, to) = (*present, &mut verdict);
                let status = tidemark_dequeue(instance, ue, now_ns, *drb, bytes, present, len, *sojourn, *behind, to);
                return (status, Some(verdict));
            }
            Event::Handover => tidemark_ue_handover(instance, ue, now_ns),
            Event::Marking { qfi, marking } => tidemark_qfi_marking(instance, ue, *qfi, *marking),
            Event::DrbHandover { drb } => tidemark_drb_handover(instance, ue, now_ns, *drb),
            Event::MapQfi { qfi, drb } => tidemark_qfi_map(instance, ue, *qfi, *drb),
            Event::Relocate => unreachable!("it changes the instance"),
            Event::Congestion { qfi, report } => {
                let mut congestion = QfiCongestion { size: size_of::<QfiCongestion>(), packets: 0, dl_congestion: 0 };
                let status = tidemark_qfi_congestion(instance, ue, now_ns, *qfi, &mut congestion);
                *report = (status == Status::Ok).then_some(congestion);
                status
            }
        };
        (status, None)
    }
}

/// Moves the UE to another instance, with its state.
fn relocate(behind: &mut Behind, now_ns: u64) -> Vec<u8> {
    let (mut state, mut len, there) = (Vec::new(), 0, Behind::new());
    // SAFETY: both instances live, and every pointer is to a value of this frame with its length.
    unsafe {
        let wanted = tidemark_ue_export(behind.instance, behind.ue, null_mut(), 0, &mut len);
        assert_eq!(wanted, Status::BufferTooSmall);
        state.resize(len, 0);
        let allocated = measure(|| {
            let done = tidemark_ue_export(behind.instance, behind.ue, state.as_mut_ptr(), state.len(), &mut len);
            assert_eq!(done, Status::Ok);
            let bytes = state.as_ptr();
            let done = tidemark_ue_import(there.instance, there.ue, now_ns, bytes, state.len(), null_mut(), 0);
            assert_eq!(done, Status::Ok);
        });
        assert_eq!(allocated.count_total, 0);
    }
    *behind = there;
    state
}

/// Reads all that can be read about a UE.
fn read(behind: &Behind, now_ns: u64) -> (UeCounters, [(DrbCounters, DrbEstimate, bool); 2]) {
    let (instance, ue) = (behind.instance.cast_const(), behind.ue);
    let mut all = UeCounters::default();
    let mut drbs = [(DrbCounters::default(), DrbEstimate::default(), false); 2];
    // SAFETY: the instance lives, and every pointer is to a value of this frame.
    unsafe {
        assert_eq!(tidemark_read_ue_counters(instance, ue, &mut all), Status::Ok);
        for (drb, (counters, estimate, wanted)) in (1..).zip(&mut drbs) {
            assert_eq!(tidemark_read_drb_counters(instance, ue, drb, counters), Status::Ok);
            assert_eq!(tidemark_read_estimate(instance, ue, now_ns, drb, estimate), Status::Ok);
            assert_eq!(tidemark_wants_report(instance, ue, now_ns, drb, wanted), Status::Ok);
        }
    }
    (all, drbs)
}

/// Totals are the sums of what is read of the UE, and stay so when it is removed.
fn the_totals_are_sums(behind: &Behind, now_ns: u64) -> Result<(), TestCaseError> {
    let (ue, drbs) = read(behind, now_ns);
    let totals = || {
        let mut totals = Totals::default();
        // SAFETY: the instance lives.
        let allocated = measure(|| unsafe {
            assert_eq!(tidemark_read_totals(behind.instance, &mut totals), Status::Ok);
        });
        assert_eq!(allocated.count_total, 0);
        totals
    };
    let there = totals();
    prop_assert_eq!((there.ues, there.drbs, there.busy), (1, 2, 0));
    prop_assert_eq!((there.downlink, there.uplink, there.unparsed), (ue.downlink, ue.uplink, ue.unparsed));
    prop_assert_eq!((there.unknown_qfi, there.unknown_drb), (ue.unknown_qfi, ue.unknown_drb));
    let mut sums = drbs[0].0.counters;
    sums += drbs[1].0.counters;
    prop_assert_eq!(there.sums, sums);
    // SAFETY: the instance lives; the first DRB goes, then the UE with the second.
    unsafe {
        prop_assert_eq!(tidemark_drb_remove(behind.instance, behind.ue, 1, null_mut()), Status::Ok);
        let first_gone = Counters { blind_drbs: drbs[1].0.counters.blind_drbs, ..sums };
        prop_assert_eq!(totals(), Totals { drbs: 1, sums: first_gone, ..there });
        prop_assert_eq!(tidemark_ue_remove(behind.instance, behind.ue), Status::Ok);
    }
    let gone = Counters { blind_drbs: 0, ..sums };
    prop_assert_eq!(totals(), Totals { ues: 0, drbs: 0, sums: gone, ..there });
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn both_sides_of_the_border_agree_and_nothing_is_allocated(
        events in proptest::collection::vec((event(), 0u64..3_000_000), 1..300),
    ) {
        let (mut behind, mut ue, mut now_ns) = (Behind::new(), before(), 0);
        for (event, gap) in events {
            now_ns += gap;
            let now = Instant::from_nanos(now_ns);
            if let Event::Relocate = event {
                let mut state = vec![0; ue.export_len()];
                ue.export(&mut state);
                prop_assert_eq!(relocate(&mut behind, now_ns), state);
                apply(&mut ue, now, &mut Event::Relocate);
                continue;
            }
            let (mut there, mut here) = (event.clone(), event);
            let mut answer = (Status::Internal, None);
            let allocated = measure(|| answer = apply_behind(&behind, now_ns, &mut there));
            prop_assert_eq!(allocated.count_total, 0, "{:?}", here);
            let expected = apply(&mut ue, now, &mut here);
            prop_assert_eq!(answer.1, expected);
            match (&there, &here) {
                (Event::Downlink { packet: there, .. }, Event::Downlink { packet: here, .. })
                | (Event::Uplink { packet: there, .. }, Event::Uplink { packet: here, .. }) => {
                    prop_assert_eq!(there, here);
                    prop_assert_eq!(answer.0, Status::Ok);
                }
                (Event::Dequeue { drb, packet: there, .. }, Event::Dequeue { packet: here, .. }) => {
                    prop_assert_eq!(there, here);
                    prop_assert_eq!(answer.0, if (1..=2).contains(drb) { Status::Ok } else { Status::NoDrb });
                }
                (Event::Pdu { drb, .. } | Event::Discard { drb, .. } | Event::Report { drb, .. }, _) => {
                    let known = (1..=2).contains(drb);
                    prop_assert_eq!(answer.0, if known { Status::Ok } else { Status::NoDrb });
                }
                (Event::DrbHandover { drb } | Event::MapQfi { drb, qfi: 0..64 }, _) => {
                    let known = (1..=2).contains(drb);
                    prop_assert_eq!(answer.0, if known { Status::Ok } else { Status::NoDrb });
                }
                (Event::MapQfi { .. }, _) => prop_assert_eq!(answer.0, Status::BadQfi),
                (Event::Congestion { report: there, .. }, Event::Congestion { report: here, .. }) => {
                    prop_assert_eq!(there, here);
                }
                (Event::Marking { qfi, marking }, _) => {
                    let expected = if *marking > 2 {
                        Status::BadConfig
                    } else if *qfi > 63 {
                        Status::BadQfi
                    } else {
                        Status::Ok
                    };
                    prop_assert_eq!(answer.0, expected);
                }
                _ => {}
            }
            let mut seen = (UeCounters::default(), [(DrbCounters::default(), DrbEstimate::default(), false); 2]);
            prop_assert_eq!(measure(|| seen = read(&behind, now_ns)).count_total, 0);
            prop_assert_eq!(seen.0, ue.counters().into());
            for (drb, (counters, estimate, wanted)) in (1..).map(DrbId).zip(seen.1) {
                prop_assert_eq!(counters, ue.drb_counters(drb).unwrap().into());
                prop_assert_eq!(estimate, ue.estimate(now, drb).unwrap().into());
                prop_assert_eq!(wanted, ue.wants_report(now, drb));
            }
        }
        the_totals_are_sums(&behind, now_ns)?;
    }
}

#[test]
fn a_ue_is_added_without_allocating() {
    let config = InstanceConfig { size: size_of::<InstanceConfig>(), max_ues: 8, reserved: 0, seed: 5, secret: SECRET };
    let mut instance = null_mut();
    // SAFETY: every pointer is to a value of this frame; the instance is freed once.
    unsafe {
        assert_eq!(tidemark_instance_new(&config, &mut instance), Status::Ok);
        let rounds = measure(|| {
            for _ in 0..100 {
                let mut ue = UeId::default();
                assert_eq!(tidemark_ue_add(instance, &mut ue), Status::Ok);
                assert_eq!(tidemark_ue_remove(instance, ue), Status::Ok);
            }
        });
        assert_eq!(rounds.count_total, 0);
        tidemark_instance_free(instance);
        assert_eq!(tidemark_ue_add(null(), null_mut()), Status::NullPointer);
    }
}

#[test]
fn a_released_ue_frees_its_memory() {
    let behind = Behind::new();
    let mut policy = null_mut();
    // SAFETY: every pointer is to a value of this frame; what was made is freed once.
    let rounds = unsafe {
        assert_eq!(tidemark_policy_new(c"".as_ptr(), &mut policy, null_mut(), 0), Status::Ok);
        let rounds = measure(|| {
            for _ in 0..50 {
                let flow = QosFlow { qfi: 7, five_qi: 0 };
                assert_eq!(tidemark_drb_add(behind.instance, behind.ue, 7, 18, &flow, 1, policy), Status::Ok);
                assert_eq!(tidemark_drb_remove(behind.instance, behind.ue, 7, null_mut()), Status::Ok);
            }
        });
        tidemark_policy_free(policy);
        rounds
    };
    assert_eq!((rounds.count_current, rounds.bytes_current), (0, 0));
}
