//! The class of a DRB follows the flows that are alive in it, and a flow without counters is marked in its packets.

use crate::common::Du;
use etherparse::{IpNumber, PacketBuilder};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{
    DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, SharedRule, SnLength, StepConfig, Verdict,
};

const CLASSIC: u32 = 1;
const L4S: u32 = 2;

/// A DRB behind 40 Mbit/s with a queue that stays at some 30 ms.
fn du(shared: SharedRule) -> Du {
    let law = LawConfig::L4span(L4SpanConfig { shared, ..L4SpanConfig::default() });
    let mut du = Du::new(&MarkerConfig::with_law(law), SnLength::Bits18, Duration::from_millis(5));
    (0..100).for_each(|_| _ = du.send(CLASSIC, Ecn::Ect0, 1_500));
    du
}

/// The classic flow sends at the radio's rate for so long; gives the probability of its last packet.
fn classic_for(du: &mut Du, span: Duration) -> f64 {
    let end = du.now + span;
    while du.now < end {
        du.send(CLASSIC, Ecn::Ect0, 2_500);
        du.slot(2_500.0);
    }
    du.marker.estimate(du.now).probability.get()
}

#[test]
fn a_bearer_is_shared_for_as_long_as_flows_of_both_classes_are_alive() {
    // Under this rule classic packets of a shared bearer have the L4S probability: all of them, at three times the threshold.
    let mut du = du(SharedRule::L4s);
    let alone = classic_for(&mut du, Duration::from_millis(1_500));
    assert!(alone > 0.0 && alone < 0.1, "{alone}");
    for _ in 0..2 {
        du.send(L4S, Ecn::Ect1, 100);
        assert!(classic_for(&mut du, Duration::from_millis(900)) > 0.99, "an L4S flow was there 0.9 s ago");
        let after = classic_for(&mut du, Duration::from_millis(200));
        assert!(after < 0.1, "it is gone, and the probability {after}");
    }
    // Retransmissions and acknowledgements of an L4S flow are Not-ECT: it is alive by them as well.
    du.send(L4S, Ecn::NotEct, 100);
    assert!(classic_for(&mut du, Duration::from_millis(900)) > 0.99);
    classic_for(&mut du, Duration::from_millis(200));
    // Not-ECT flows of their own make nothing shared.
    du.send(3, Ecn::NotEct, 100);
    assert!(classic_for(&mut du, Duration::from_millis(100)) < 0.1);
}

#[test]
fn a_bearer_whose_classic_flows_are_gone_is_an_l4s_bearer() {
    // Under this rule L4S packets of a shared bearer have the classic probability.
    let mut du = du(SharedRule::Classic);
    classic_for(&mut du, Duration::from_millis(500));
    du.send(L4S, Ecn::Ect1, 1_500);
    let shared = du.marker.estimate(du.now).probability.get();
    assert!(shared < 0.1, "{shared}");
    let end = du.now + Duration::from_millis(1_100);
    while du.now < end {
        du.send(L4S, Ecn::Ect1, 2_500);
        du.slot(2_500.0);
    }
    assert!(du.marker.estimate(du.now).probability.get() > 0.99);
}

#[test]
fn sctp_and_esp_are_marked_in_their_packets_though_feedback_is_short_circuited() {
    let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
    let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(LawConfig::Step(step)) };
    let mut ue = Ue::new(FlowKey::new(&[9; 16]));
    ue.add_drb(DrbId(1), &[9], &config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    for sn in 0..2 {
        ue.pdcp_pdu(Instant::ZERO, DrbId(1), sn, Bytes(1_400));
    }
    let report = DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() };
    ue.feedback(Instant::ZERO, DrbId(1), &report);
    for protocol in [IpNumber::SCTP, IpNumber::ENCAPSULATING_SECURITY_PAYLOAD] {
        // What would be a SYN, a SYN/ACK and data, if it were TCP.
        for (uplink, flags) in [(true, 0xC2), (false, 0x52), (false, 0x10)] {
            let mut payload = [0; 40];
            payload[12] = 0x51;
            payload[13] = flags;
            let (source, destination) =
                if uplink { ([10, 45, 0, 2], [192, 0, 2, 1]) } else { ([192, 0, 2, 1], [10, 45, 0, 2]) };
            let mut packet = Vec::new();
            PacketBuilder::ipv4(source, destination, 60).write(&mut packet, protocol, &payload).unwrap();
            tidemark_wire::ip::set_ecn(&mut packet, Ecn::Ect1).unwrap();
            let now = Instant::from_millis(100);
            if uplink {
                let before = packet.clone();
                ue.uplink(now, &mut packet);
                assert_eq!(packet, before);
            } else {
                assert_eq!(ue.downlink(now, 9, &mut packet), Verdict::Mark, "{protocol:?}");
                assert_eq!(tidemark_wire::ip::ecn(&packet), Ok(Ecn::Ce));
            }
        }
    }
    assert_eq!(ue.drb_counters(DrbId(1)).unwrap().short_circuited, 0);
}
