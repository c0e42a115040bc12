//! A UE moves to another CU-UP while connections go on: the feedback that their senders see before and after the move.

use crate::bytes::{Flow, checksums_are_valid, view};
use crate::state;
use proptest::prelude::*;
use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{Bytes, Duration, Ecn, Inspect, Instant, Stream, TcpFlags, TcpView};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{
    DeliveryStatus, LawConfig, MarkerConfig, RampConfig, RelocationError, SnLength, StepConfig, Verdict,
};
use tidemark_wire::View;

const DRB: DrbId = DrbId(1);
const QFI: u8 = 9;
const MSS: u32 = 1_400;
const NOW: Instant = Instant::from_millis(100);

fn config(short_circuit: bool) -> MarkerConfig {
    let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
    MarkerConfig { short_circuit, profile_capacity: 64, ..MarkerConfig::with_law(LawConfig::Step(step)) }
}

/// A UE at a CU-UP with this secret, with these DRBs, whose queues mark everything.
fn ue(secret: u8, drbs: &[u8], config: &MarkerConfig) -> Ue {
    let mut ue = Ue::new(FlowKey::new(&[secret; 16]));
    for drb in drbs {
        let (drb, qfi) = (DrbId(*drb), QFI + drb - drbs[0]);
        ue.add_drb(drb, &[qfi], config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        // The DU reports, and one SDU is queued.
        for sn in 0..2 {
            ue.pdcp_pdu(Instant::ZERO, drb, sn, Bytes(1_403));
        }
        ue.feedback(Instant::ZERO, drb, &DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() });
    }
    ue
}

fn exported(ue: &Ue) -> Vec<u8> {
    let mut bytes = vec![0xEE; ue.export_len()];
    assert_eq!(ue.export(&mut bytes), Some(bytes.len()));
    bytes
}

/// UE at a CU-UP with another secret, with or without its state.
fn moved(ue: &Ue, config: &MarkerConfig, with_state: bool) -> Ue {
    let mut there = self::ue(77, &[1], config);
    if with_state {
        there.import(NOW, &exported(ue)).unwrap();
    }
    there
}

/// Both ends of a connection that its UE opened, of which the client sees no CE but what its packets carry.
#[derive(Clone)]
struct Connection {
    flow: Flow,
    ecn: Ecn,
    sent: u32,
    /// The client's own counters.
    client_marks: u32,
    client_bytes: u32,
}

/// ACE field and bytes of CE, which the sender reads.
type Seen = (u8, u32);

impl Connection {
    /// Handshake with AccECN.
    fn open(ue: &mut Ue, flow: Flow) -> Self {
        ue.uplink(NOW, &mut flow.tcp(false, Ecn::NotEct, &view(0b111, true, None, 500, 0, None)));
        ue.downlink(NOW, QFI, &mut flow.tcp(true, Ecn::NotEct, &view(0b010, true, Some(501), 999, 0, None)));
        ue.uplink(NOW, &mut flow.tcp(false, Ecn::NotEct, &view(0b010, false, Some(1_000), 501, 0, None)));
        Self { flow, ecn: Ecn::Ect1, sent: 0, client_marks: 0, client_bytes: 0 }
    }

    /// A segment goes down.
    fn send(&mut self, ue: &mut Ue) -> Verdict {
        let data = view(5, false, Some(501), 1_000 + self.sent * MSS, MSS, None);
        let mut bytes = self.flow.tcp(true, self.ecn, &data);
        let verdict = ue.downlink(NOW, QFI, &mut bytes);
        self.sent += 1;
        if View::parse(&mut bytes).unwrap().headers().ecn == Ecn::Ce {
            self.client_marks += 1;
            self.client_bytes += MSS;
        }
        verdict
    }

    /// Everything that was sent is acknowledged.
    fn acknowledge(&self, ue: &mut Ue) -> Seen {
        let sent = self.sent * MSS;
        let counters = Some([1, self.client_bytes, 1 + sent - self.client_bytes]);
        let ack = view((5 + self.client_marks as u8) & 7, false, Some(1_000 + sent), 501, 0, counters);
        let mut bytes = self.flow.tcp(false, Ecn::NotEct, &ack);
        ue.uplink(NOW, &mut bytes);
        assert!(checksums_are_valid(&bytes));
        let seen = View::parse(&mut bytes).unwrap().tcp().unwrap();
        let Some(AccEcnCounters { ceb: Some(ceb), .. }) = seen.accecn else { panic!("the option is there") };
        (seen.flags.ace(), ceb)
    }

    fn exchange(&mut self, ue: &mut Ue) -> Seen {
        self.send(ue);
        self.acknowledge(ue)
    }
}

/// Marks that the sender reads between two acknowledgements (RFC 9768 A.2.1).
fn marks(before: Seen, after: Seen) -> u8 {
    after.0.wrapping_sub(before.0) & 7
}

/// A connection that was marked so many times in its acknowledgements, at the first CU-UP.
fn marked(flow: Flow, times: u32) -> (Ue, Connection, Seen) {
    let mut here = ue(9, &[1], &config(true));
    let mut connection = Connection::open(&mut here, flow);
    // The first option sets the base of the bytes.
    let mut seen = connection.exchange(&mut here);
    for _ in 1..times {
        seen = connection.exchange(&mut here);
    }
    (here, connection, seen)
}

const FLOWS: [Flow; 2] = [Flow { v6: false, port: 50_000 }, Flow { v6: true, port: 50_001 }];

#[test]
fn a_sender_reads_no_marks_that_never_were_and_its_bytes_go_on() {
    for flow in FLOWS {
        for times in 1..20 {
            let (here, mut connection, mut seen) = marked(flow, times);
            let mut there = moved(&here, &config(true), true);
            for _ in 0..20 {
                let after = connection.exchange(&mut there);
                assert_eq!((marks(seen, after), after.1 - seen.1), (1, MSS), "moved after {times} marks");
                seen = after;
            }
        }
    }
}

#[test]
fn another_policy_at_the_next_cu_up_takes_nothing_back() {
    let others = [
        MarkerConfig::default(),
        config(false),
        MarkerConfig { short_circuit: true, ..MarkerConfig::default() },
        MarkerConfig { flow_capacity: 8, ..config(true) },
        MarkerConfig { flow_capacity: 1_024, ..config(true) },
    ];
    for other in others {
        let (here, mut connection, mut seen) = marked(FLOWS[0], 13);
        let mut there = moved(&here, &other, true);
        for _ in 0..20 {
            let after = connection.exchange(&mut there);
            assert!(marks(seen, after) <= 1 && (seen.1..=seen.1 + MSS).contains(&after.1), "{seen:?} to {after:?}");
            seen = after;
        }
    }
}

#[test]
fn marks_that_no_acknowledgement_carried_yet_are_told_at_the_next_cu_up() {
    let (mut here, mut connection, seen) = marked(FLOWS[0], 3);
    for _ in 0..4 {
        assert_eq!(connection.send(&mut here), Verdict::Pass, "left to the acknowledgements");
    }
    // Nothing more is marked there.
    let mut there = moved(&here, &MarkerConfig::default(), true);
    let after = connection.acknowledge(&mut there);
    assert_eq!((marks(seen, after), after.1 - seen.1), (4, 4 * MSS));
}

#[test]
fn without_its_state_a_connection_steps_back_once_and_is_marked_in_its_packets() {
    for times in 1..20u32 {
        let (here, mut connection, seen) = marked(FLOWS[0], times);
        let mut there = moved(&here, &config(true), false);
        let mut last = connection.exchange(&mut there);
        // What was added is lacking: the client counts the first packet's mark itself.
        assert_eq!(u32::from(marks(seen, last)), 8u32.wrapping_sub(times).wrapping_add(1) & 7);
        assert_eq!(last.1, MSS);
        for _ in 0..20 {
            let after = connection.exchange(&mut there);
            assert_eq!((marks(last, after), after.1 - last.1), (1, MSS));
            last = after;
        }
        let counters = there.drb_counters(DRB).unwrap();
        assert_eq!((counters.rewritten_acks, counters.short_circuited), (0, 0));
    }
}

#[test]
fn classic_echoes_go_on_until_their_answer() {
    let flow = FLOWS[0];
    let [low, high] = [1, 2].map(Duration::from_micros);
    let ramp = LawConfig::Ramp(RampConfig { low, high, classic: true, ..RampConfig::default() });
    let mut here = ue(9, &[1], &MarkerConfig { law: ramp, ..config(true) });
    let up = |ue: &mut Ue, view: &TcpView| {
        let mut bytes = flow.tcp(false, Ecn::NotEct, view);
        ue.uplink(NOW, &mut bytes);
        View::parse(&mut bytes).unwrap().tcp().unwrap().flags.ece
    };
    up(&mut here, &view(0b011, true, None, 500, 0, None));
    here.downlink(NOW, QFI, &mut flow.tcp(true, Ecn::NotEct, &view(0b001, true, Some(501), 999, 0, None)));
    let mut data = view(0, false, Some(501), 1_000, MSS, None);
    here.downlink(NOW, QFI, &mut flow.tcp(true, Ecn::Ect0, &data));
    let ack = view(0, false, Some(1_000 + MSS), 501, 0, None);
    assert!(up(&mut here, &ack));
    let mut there = moved(&here, &MarkerConfig::default(), true);
    assert!(up(&mut there, &ack) && up(&mut there, &ack));
    data.flags = TcpFlags { cwr: true, ..data.flags };
    there.downlink(NOW, QFI, &mut flow.tcp(true, Ecn::Ect0, &data));
    assert!(!up(&mut there, &ack));
}

#[test]
fn a_handshake_may_be_under_way() {
    let flow = FLOWS[0];
    let mut here = ue(9, &[1], &config(true));
    here.uplink(NOW, &mut flow.tcp(false, Ecn::NotEct, &view(0b111, true, None, 500, 0, None)));
    let mut there = moved(&here, &config(true), true);
    there.downlink(NOW, QFI, &mut flow.tcp(true, Ecn::NotEct, &view(0b010, true, Some(501), 999, 0, None)));
    there.uplink(NOW, &mut flow.tcp(false, Ecn::NotEct, &view(0b010, false, Some(1_000), 501, 0, None)));
    let mut connection = Connection { flow, ecn: Ecn::Ect1, sent: 0, client_marks: 0, client_bytes: 0 };
    assert_eq!(connection.send(&mut there), Verdict::Pass);
    assert_eq!(connection.acknowledge(&mut there).0, 6);
}

#[test]
fn connections_find_the_bearer_that_carries_them() {
    // Two DRBs there, of which the second has the flow's packets; here a DRB of that identity, or none.
    for drbs in [&[1][..], &[1, 2], &[3, 4], &[2, 7, 32]] {
        let (here, mut connection, seen) = marked(FLOWS[0], 3);
        let mut there = ue(77, drbs, &config(true));
        there.import(NOW, &exported(&here)).unwrap();
        let last = QFI + drbs[drbs.len() - 1] - drbs[0];
        let data = view(5, false, Some(501), 1_000 + connection.sent * MSS, MSS, None);
        there.downlink(NOW, last, &mut connection.flow.tcp(true, Ecn::Ect1, &data));
        connection.sent += 1;
        assert_eq!(marks(seen, connection.acknowledge(&mut there)), 1, "{drbs:?}");
        let carrier = there.drb_counters(DrbId(drbs[drbs.len() - 1])).unwrap();
        assert_eq!((carrier.short_circuited, carrier.rewritten_acks), (1, 1));
    }
}

#[test]
fn where_there_is_less_room_connections_with_marks_stay() {
    let mut here = ue(9, &[1], &config(true));
    let mut connections: Vec<_> =
        (0..40).map(|index| Connection::open(&mut here, Flow { v6: false, port: 50_000 + index })).collect();
    let (signalled, others) = connections.split_at_mut(3);
    others.iter_mut().for_each(|other| drop(other.flow.udp(true, Ecn::Ect1, 1)));
    let seen: Vec<_> = signalled.iter_mut().map(|connection| connection.exchange(&mut here)).collect();
    let mut there = moved(&here, &MarkerConfig { flow_capacity: 8, ..config(true) }, true);
    for (connection, seen) in signalled.iter_mut().zip(seen) {
        assert_eq!(marks(seen, connection.exchange(&mut there)), 1);
    }
    let counters = there.drb_counters(DRB).unwrap();
    assert_eq!(counters.flows_evicted + counters.flows_refused, 32);
}

#[test]
fn a_connection_that_opened_there_keeps_its_counters() {
    let (mut here, mut old, _) = marked(FLOWS[0], 3);
    old.send(&mut here);
    let mut there = moved(&here, &config(true), false);
    let mut new = Connection::open(&mut there, FLOWS[0]);
    let seen = new.exchange(&mut there);
    there.import(NOW, &exported(&here)).unwrap();
    assert_eq!(there.drb_counters(DRB).unwrap().marks_let_go, 1);
    assert_eq!(marks(seen, new.exchange(&mut there)), 1);
}

#[test]
fn a_state_is_for_a_ue_with_a_bearer_and_fits_its_buffer() {
    let (here, ..) = marked(FLOWS[1], 3);
    let bytes = exported(&here);
    assert_eq!(here.export(&mut vec![0; bytes.len() - 1]), None);
    assert_eq!(here.export(&mut vec![0; bytes.len() + 9]), Some(bytes.len()));
    let mut none = Ue::new(FlowKey::new(&[1; 16]));
    assert_eq!(none.import(NOW, &bytes), Err(RelocationError::NoDrb));
    none.add_drb(DRB, &[QFI], &config(true), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    none.import(NOW, &bytes).unwrap();
    assert_eq!(exported(&none), bytes);
    // A UE without connections has a state too.
    let empty = exported(&ue(9, &[1], &config(true)));
    none.import(NOW, &empty).unwrap();
    assert_eq!((empty.len(), exported(&none)), (12, bytes));
}

#[test]
fn bytes_that_no_export_writes_are_refused_by_place_and_change_nothing() {
    let (here, ..) = marked(FLOWS[0], 3);
    let bytes = exported(&here);
    let mut there = ue(77, &[1], &config(true));
    let before = exported(&there);
    let mut refused = |bytes: &[u8]| {
        let error = there.import(NOW, bytes).unwrap_err();
        assert_eq!(exported(&there), before);
        error.to_string()
    };
    assert_eq!(refused(&[]), "byte 8, length: must be 12 bytes, not 0");
    for cut in [1, 11, 12, 13, bytes.len() - 1] {
        assert!(refused(&bytes[..cut]).contains("length"), "{cut}");
    }
    assert!(refused(&[&bytes[..], &[0]].concat()).contains("length"));
    let mut changed = |offset: usize, to: u8| {
        let mut bytes = bytes.clone();
        bytes[offset] = to;
        refused(&bytes)
    };
    assert_eq!(changed(0, b'X'), "byte 0, magic: must be `TMUE`: this is not the state of a UE");
    assert_eq!(changed(5, 2), "byte 4, version: must be 1, not 2");
    assert!(changed(7, 2).starts_with("byte 8, length"));
    assert!(changed(11, 0).starts_with("byte 8, length"));
    assert_eq!(changed(12, 5), "byte 12, connection 0, version: must be 4 or 6");
    assert_eq!(
        changed(12 + 1 + 15, 1),
        "byte 12, connection 0, source, destination: must have zeros after the four bytes of IPv4"
    );
    assert_eq!(changed(12 + 37, 33), "byte 12, connection 0, drb: must be 1 to 32");
    // Both connections are the same but for their order.
    let two = [&bytes[..6], &[0, 2], &[0, 0], &(2 * bytes.len() as u16 - 12).to_be_bytes(), &bytes[12..], &bytes[12..]];
    let mut two = two.concat();
    there.import(NOW, &two).unwrap();
    two[bytes.len() + 4] -= 1;
    let mut other = ue(78, &[1], &config(true));
    assert_eq!(
        other.import(NOW, &two).unwrap_err().to_string(),
        format!("byte {}, connection 1, tuple: must not be less than the one before", bytes.len())
    );
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_byte_of_a_state_may_be_another(changes in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let (mut here, mut connection, _) = marked(FLOWS[0], 5);
        connection.send(&mut here);
        let mut bytes = exported(&here);
        for (index, to) in changes {
            bytes[index.index(exported(&here).len())] = to;
        }
        let mut there = ue(77, &[1], &config(true));
        let before = exported(&there);
        match there.import(NOW, &bytes) {
            // One form: what was taken in comes out, but for a DRB that is not here.
            Ok(()) => {
                let len = bytes.len();
                bytes[12 + 37..len.min(12 + 38)].fill(1);
                prop_assert_eq!(exported(&there), bytes);
            }
            Err(_) => prop_assert_eq!(exported(&there), before),
        }
        for _ in 0..20 {
            connection.exchange(&mut there);
        }
    }

    #[test]
    fn without_its_state_a_sender_reads_less_than_8_mib_of_ce_that_never_were(
        added_ce in prop_oneof![0..1u32 << 24, (1u32 << 23) - 2..(1 << 23) + 2, (1u32 << 24) - 2..1 << 24],
        added_packets in 0u8..8,
        own in 0u32..20,
        is_v6 in any::<bool>(),
    ) {
        // A connection that has any sums behind it.
        let (here, mut connection, _) = marked(FLOWS[usize::from(is_v6)], 3);
        let mut state = exported(&here);
        state[12 + 124..12 + 128].copy_from_slice(&added_ce.to_be_bytes());
        state[12 + 132] = added_packets;
        let mut here = ue(9, &[1], &config(false));
        here.import(NOW, &state).unwrap();
        (0..own).for_each(|_| _ = connection.exchange(&mut here));
        let before = connection.exchange(&mut here);

        let mut there = moved(&here, &config(true), false);
        let after = connection.exchange(&mut there);
        // What was added, and one mark that the packet carried.
        prop_assert_eq!(marks(before, after), 1u8.wrapping_sub(added_packets) & 7);
        let step = after.1.wrapping_sub(before.1).wrapping_sub(MSS) << 8;
        // A counter of 24 bits is read with a sign.
        let step = step.cast_signed() >> 8;
        prop_assert_eq!(step.cast_unsigned() & 0xFF_FFFF, added_ce.wrapping_neg() & 0xFF_FFFF);
        prop_assert!(step < 1 << 23 && (step <= 0 || added_ce > 1 << 23), "{}", step);
        // Once, and never more.
        let mut last = after;
        for _ in 0..20 {
            let now = connection.exchange(&mut there);
            prop_assert_eq!((marks(last, now), now.1 - last.1), (1, MSS));
            last = now;
        }
    }

    #[test]
    fn no_state_of_any_bytes_does_harm(whole in any::<u8>(), records in proptest::collection::vec(any::<u8>(), 0..500)) {
        state::run(&[&[whole], &records[..]].concat());
    }

    #[test]
    fn what_was_exported_is_imported_and_exported_the_same(
        ports in proptest::collection::btree_set(50_000u16..50_100, 1..30),
        events in proptest::collection::vec((any::<prop::sample::Index>(), 0u8..4), 0..200),
    ) {
        let mut here = ue(9, &[1], &MarkerConfig { flow_capacity: 256, ..config(true) });
        let flows = ports.into_iter().map(|port| Flow { v6: port % 3 == 0, port });
        let mut connections: Vec<_> = flows.map(|flow| Connection::open(&mut here, flow)).collect();
        for (index, event) in events {
            let connection = index.get(&connections).clone();
            let mut connection = connection;
            match event {
                0 => drop(connection.acknowledge(&mut here)),
                1 => drop(connection.exchange(&mut here)),
                _ => drop(connection.send(&mut here)),
            }
            let at = index.index(connections.len());
            connections[at] = connection;
        }
        let bytes = exported(&here);
        let mut there = ue(77, &[1], &MarkerConfig { flow_capacity: 256, ..config(true) });
        there.import(NOW, &bytes).unwrap();
        prop_assert_eq!(exported(&there), bytes);
        // From here on both say the same.
        for connection in &mut connections {
            let mut twin = connection.clone();
            prop_assert_eq!(connection.exchange(&mut here), twin.exchange(&mut there));
        }
    }
}
