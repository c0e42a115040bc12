//! A UE with two DRBs and a packet filter on the ECN field: ECT(1) and CE go to the L4S QoS flow, other packets to the default one.
//! Connections that it splits keep their feedback short-circuit.

use crate::bytes::{Flow, checksums_are_valid, view};
use tidemark_core::{Bytes, Duration, Ecn, Instant, Stream, TcpView};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{DeliveryStatus, LawConfig, MarkerConfig, SnLength, StepConfig, Verdict};
use tidemark_wire::View;

const DEFAULT: DrbId = DrbId(1);
const L4S: DrbId = DrbId(2);
const FLOW: Flow = Flow { v6: false, port: 50_000 };
const MSS: u32 = 1_400;

/// Two DRBs, which mark what finds a queue older than a microsecond; the default one marks packets only.
struct Phone {
    ue: Ue,
    now: Instant,
}

impl Phone {
    fn new() -> Self {
        let step = StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() };
        let packets = MarkerConfig::with_law(LawConfig::Step(step));
        let feedback = MarkerConfig { short_circuit: true, ..packets.clone() };
        let mut ue = Ue::new(FlowKey::new(&[9; 16]));
        for (drb, config) in [(DEFAULT, packets), (L4S, feedback)] {
            ue.add_drb(drb, &[drb.0], &config, SnLength::Bits18, Stream::new(1, drb.0.into(), "mark")).unwrap();
            // The DU reports, and either queue has something from now on.
            for sn in 0..2 {
                ue.pdcp_pdu(Instant::ZERO, drb, sn, Bytes(1_403));
            }
            let report = DeliveryStatus { highest_transmitted: Some(0), ..DeliveryStatus::default() };
            ue.feedback(Instant::ZERO, drb, &report);
        }
        Self { ue, now: Instant::from_millis(100) }
    }

    /// The UPF's filter, then the downlink call.
    fn down(&mut self, ecn: Ecn, tcp: &TcpView) -> Verdict {
        self.now += Duration::from_millis(1);
        let drb = if matches!(ecn, Ecn::Ect1 | Ecn::Ce) { L4S } else { DEFAULT };
        self.ue.downlink(self.now, drb.0, &mut FLOW.tcp(true, ecn, tcp))
    }

    /// An uplink segment as it leaves towards the UPF.
    fn up(&mut self, tcp: &TcpView) -> TcpView {
        self.now += Duration::from_millis(1);
        let mut bytes = FLOW.tcp(false, Ecn::NotEct, tcp);
        self.ue.uplink(self.now, &mut bytes);
        assert!(checksums_are_valid(&bytes));
        View::parse(&mut bytes).unwrap().headers();
        tidemark_core::Inspect::tcp(&View::parse(&mut bytes).unwrap()).unwrap()
    }

    /// The UE opens a connection with AccECN; every segment of the opening is Not-ECT.
    fn open(&mut self) {
        self.open_at(500);
    }

    /// Opens with this sequence number in the SYN.
    fn open_at(&mut self, isn: u32) {
        self.up(&view(0b111, true, None, isn, 0, None));
        self.down(Ecn::NotEct, &view(0b010, true, Some(isn + 1), 999, 0, None));
        self.up(&view(0b010, false, Some(1_000), 501, 0, None));
        // A request, and the server's acknowledgement of it.
        self.up(&view(5, false, Some(1_000), 501, 300, None));
        self.down(Ecn::NotEct, &view(5, false, Some(801), 1_000, 0, None));
    }

    fn rewritten(&self) -> [u64; 2] {
        [DEFAULT, L4S].map(|drb| self.ue.drb_counters(drb).unwrap().rewritten_acks)
    }
}

/// The `index`th segment of data, and its acknowledgement by a client that saw no CE.
fn data(index: u32) -> TcpView {
    view(5, false, Some(801), 1_000 + index * MSS, MSS, None)
}
fn ack(index: u32) -> TcpView {
    view(5, false, Some(1_000 + (index + 1) * MSS), 801, 0, None)
}

#[test]
fn l4s_bearers_marks_go_into_acknowledgements_after_a_handshake_over_the_default() {
    let mut phone = Phone::new();
    phone.open();
    for index in 0..20 {
        assert_eq!(phone.down(Ecn::Ect1, &data(index)), Verdict::Pass, "segment {index} stays as it is");
        let ace = phone.up(&ack(index)).flags.ace();
        assert_eq!(u32::from(ace), (5 + index + 1) % 8, "segment {index} is counted");
    }
    assert_eq!(phone.rewritten(), [0, 20 - 2], "every eighth needs no rewriting");
}

#[test]
fn what_takes_the_default_bearer_in_between_takes_nothing_along() {
    let mut phone = Phone::new();
    phone.open();
    for index in 0..40 {
        phone.down(Ecn::Ect1, &data(index));
        // A retransmission, a pure acknowledgement, and a CE packet of the same connection.
        assert_eq!(phone.down(Ecn::NotEct, &data(index)), Verdict::Pass);
        phone.down(Ecn::NotEct, &view(5, false, Some(801), 1_000 + (index + 1) * MSS, 0, None));
        let ace = phone.up(&ack(index)).flags.ace();
        assert_eq!(u32::from(ace), (5 + index + 1) % 8, "segment {index}");
    }
    let [default, l4s] = [DEFAULT, L4S].map(|drb| phone.ue.drb_counters(drb).unwrap());
    // Retransmissions and acknowledgements make no L4S bearer of the default one.
    assert_eq!((default.l4s_packets, default.classic_packets, default.marks()), (0, 0, 0));
    assert_eq!((l4s.l4s_packets, l4s.short_circuited), (40, 40));
}

#[test]
fn a_connection_that_opens_anew_from_the_same_port_is_learnt_anew() {
    let mut phone = Phone::new();
    phone.open();
    phone.down(Ecn::Ect1, &data(0));
    phone.up(&ack(0));
    // Without ECN now: its packets would be marked themselves, if they had an ECN field that allows it.
    phone.up(&view(0, true, None, 70_000, 0, None));
    phone.down(Ecn::NotEct, &view(0, true, Some(70_001), 999, 0, None));
    phone.up(&view(0, false, Some(1_000), 70_001, 0, None));
    assert_eq!(phone.up(&ack(0)).flags.ace(), 5);
    assert_eq!(phone.down(Ecn::Ect1, &data(0)), Verdict::Mark);
    // With AccECN once more.
    phone.open_at(90_000);
    assert_eq!(phone.down(Ecn::Ect1, &data(0)), Verdict::Pass);
    assert_eq!(phone.up(&ack(0)).flags.ace(), 6);
}

#[test]
fn a_syn_that_is_sent_twice_is_no_second_connection() {
    let mut phone = Phone::new();
    phone.up(&view(0b111, true, None, 500, 0, None));
    phone.open();
    assert_eq!(phone.down(Ecn::Ect1, &data(0)), Verdict::Pass);
    assert_eq!(phone.up(&ack(0)).flags.ace(), 6);
}

#[test]
fn what_was_signalled_stays_when_a_qos_flow_moves_to_another_bearer() {
    let mut phone = Phone::new();
    phone.open();
    phone.down(Ecn::Ect1, &data(0));
    assert_eq!(phone.up(&ack(0)).flags.ace(), 6);
    // The L4S QoS flow is mapped to the default bearer, which marks packets only; then the other bearer is released.
    assert!(phone.ue.map_qfi(L4S.0, DEFAULT));
    assert_eq!(phone.down(Ecn::Ect1, &data(1)), Verdict::Mark);
    assert_eq!(phone.up(&ack(1)).flags.ace(), 6, "the client's 5, and the mark that was signalled");
    assert!(phone.ue.remove_drb(L4S).is_some());
    let mut own = ack(2);
    own.flags = own.flags.with_ace(6);
    assert_eq!(phone.up(&own).flags.ace(), 7, "the client counts the mark on the packet itself");
}

#[test]
fn what_was_signalled_stays_when_the_bearer_of_the_connection_is_released_first() {
    let mut phone = Phone::new();
    phone.open();
    phone.down(Ecn::Ect1, &data(0));
    assert_eq!(phone.up(&ack(0)).flags.ace(), 6);
    // Acknowledgements come between the release and the mapping of the QoS flow, and before it ever sent again.
    assert!(phone.ue.remove_drb(L4S).is_some());
    assert_eq!(phone.up(&ack(0)).flags.ace(), 6);
    assert!(phone.ue.map_qfi(L4S.0, DEFAULT));
    assert_eq!(phone.down(Ecn::Ect1, &data(1)), Verdict::Mark);
    assert_eq!(phone.up(&ack(1)).flags.ace(), 6);
}
