//! Counters and state of a UE, as a gNB reads them.

use crate::bytes::{Flow, view};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue, UeCounters};
use tidemark_marker::{CodelConfig, DeliveryStatus, LawConfig, MarkerConfig, SnLength, StepConfig, Verdict};

const FLOW: Flow = Flow { v6: false, port: 50_000 };
const QFI: u8 = 9;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn stream() -> Stream {
    Stream::new(1, 0, "mark")
}

/// A UE with these DRBs, all of whose QoS flows are the first one's.
fn ue(config: &MarkerConfig, drbs: &[(DrbId, SnLength)]) -> Ue {
    let mut ue = Ue::new(FlowKey::new(&[9; 16]));
    for (index, (drb, sn_length)) in drbs.iter().enumerate() {
        ue.add_drb(*drb, if index == 0 { &[QFI] } else { &[] }, config, *sn_length, stream()).unwrap();
    }
    ue
}

/// A law that marks all L4S packets that find anything queued for longer than a microsecond.
fn everything() -> MarkerConfig {
    let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
    MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(LawConfig::Step(step)) }
}

fn transmitted(sn: u32) -> DeliveryStatus {
    DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() }
}

#[test]
fn packets_are_counted_by_what_became_of_them() {
    let mut ue = ue(&MarkerConfig::default(), &[(DrbId(1), SnLength::Bits18)]);
    let packet = || FLOW.udp(true, Ecn::Ect1, 100);
    for _ in 0..3 {
        ue.downlink(ms(1), QFI, &mut packet());
        ue.downlink(ms(1), 5, &mut packet());
        ue.downlink(ms(1), QFI, &mut [0xFF; 50]);
        ue.uplink(ms(1), &mut FLOW.udp(false, Ecn::NotEct, 100));
        ue.uplink(ms(1), &mut [0xFF; 50]);
        ue.dequeue(ms(1), DrbId(1), &mut [0xFF; 50], Duration::ZERO, Bytes::ZERO);
        ue.discard(ms(1), DrbId(2), 7);
    }
    let expected = UeCounters { downlink: 9, uplink: 6, unparsed: 9, unknown_qfi: 3, unknown_drb: 3 };
    assert_eq!(ue.counters(), expected);
    assert_eq!(ue.drb_counters(DrbId(1)).unwrap().packets, 3);
}

#[test]
fn upwards_a_flow_is_entered_by_a_syn_alone() {
    let config = MarkerConfig { flow_capacity: 8, ..MarkerConfig::default() };
    // SYN, answer to one, acknowledgement, neither.
    for (syn, ack, entered) in [(true, None, 12), (true, Some(7), 0), (false, Some(7), 0), (false, None, 0)] {
        let mut ue = ue(&config, &[(DrbId(1), SnLength::Bits18)]);
        for port in 0..20 {
            let segment = view(0b111, syn, ack, 1, 0, None);
            ue.uplink(ms(1), &mut Flow { v6: false, port }.tcp(false, Ecn::NotEct, &segment));
        }
        let counters = ue.drb_counters(DrbId(1)).unwrap();
        assert_eq!(counters.flows_evicted + counters.flows_refused, entered, "SYN {syn}, ACK {ack:?}");
    }
}

#[test]
fn each_drb_is_asked_by_its_own_identity() {
    let config = everything();
    let mut ue = ue(&config, &[(DrbId(1), SnLength::Bits18), (DrbId(7), SnLength::Bits12)]);
    assert_eq!(ue.sn_length(DrbId(1)), Some(SnLength::Bits18));
    assert_eq!(ue.sn_length(DrbId(7)), Some(SnLength::Bits12));
    assert_eq!(ue.sn_length(DrbId(2)), None);
    // Something is queued in the second, whose last report is long ago.
    ue.pdcp_pdu(ms(0), DrbId(7), 0, Bytes(1_000));
    let late = Instant::ZERO + config.poll_after * 2;
    assert_eq!([1, 7, 2].map(|drb| ue.wants_report(late, DrbId(drb))), [false, true, false]);
    assert_eq!([1, 7, 2].map(|drb| ue.pending_marks(DrbId(drb))), [Some(0), Some(0), None]);
    let outcome = ue.decide_downlink(ms(1), QFI, &mut FLOW.udp(true, Ecn::Ect1, 100), 128).unwrap();
    let decision = ue.decision(ms(1), DrbId(1), outcome).unwrap();
    assert_eq!((decision.law, decision.verdict), ("step", Verdict::Pass));
    assert!(ue.decision(ms(1), DrbId(2), outcome).is_none());
}

#[test]
fn marks_that_wait_are_let_go_with_the_last_drb_and_kept_by_another() {
    for has_heir in [false, true] {
        let drbs = [(DrbId(1), SnLength::Bits18), (DrbId(2), SnLength::Bits18)];
        let mut ue = ue(&everything(), &drbs[..if has_heir { 2 } else { 1 }]);
        (0..2).for_each(|sn| ue.pdcp_pdu(ms(0), DrbId(1), sn, Bytes(1_403)));
        ue.feedback(ms(10), DrbId(1), &transmitted(0));
        ue.uplink(ms(10), &mut FLOW.tcp(false, Ecn::NotEct, &view(0b111, true, None, 500, 0, None)));
        ue.downlink(ms(10), QFI, &mut FLOW.tcp(true, Ecn::NotEct, &view(0b010, true, Some(501), 999, 0, None)));
        for sent in 0..3 {
            let data = view(5, false, Some(501), 1_000 + sent * 1_000, 1_000, None);
            ue.downlink(ms(11), QFI, &mut FLOW.tcp(true, Ecn::Ect1, &data));
        }
        assert_eq!(ue.pending_marks(DrbId(1)), Some(3));
        let counters = ue.remove_drb(DrbId(1)).unwrap();
        assert_eq!((counters.short_circuited, counters.marks_let_go), (3, if has_heir { 0 } else { 3 }));
        assert_eq!(ue.pending_marks(DrbId(2)), has_heir.then_some(3));
        assert!(ue.remove_drb(DrbId(1)).is_none());
    }
}

#[test]
fn a_law_that_decides_on_leaving_marks_what_leaves_a_long_queue_behind() {
    let config = MarkerConfig::with_law(LawConfig::EcnCodel(CodelConfig::default()));
    for (behind, is_marked) in [(Bytes(100_000), true), (Bytes::ZERO, false)] {
        let mut ue = ue(&config, &[(DrbId(1), SnLength::Bits18)]);
        let (mut marks, mut changed) = (0, 0);
        for sn in 0..500 {
            let before = FLOW.udp(true, Ecn::Ect1, 1_000);
            let mut after = before.clone();
            let verdict = ue.dequeue(ms(1_000 + sn), DrbId(1), &mut after, Duration::from_millis(400), behind);
            marks += u32::from(verdict == Verdict::Mark);
            changed += u32::from(before != after);
        }
        assert_eq!((marks > 0, marks), (is_marked, changed));
    }
}
