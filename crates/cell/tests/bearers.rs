//! The CU-UP, with packets as values, and the marker's packet path, with packets as bytes, follow the same rule for a UE with several
//! bearers: random traffic gets the same decisions, feedback and counters from both.

#[path = "../../marker/tests/common/bytes.rs"]
mod bytes;

use bytes::{Flow, Transport, checksums_are_valid, view};
use proptest::prelude::*;
use tidemark_cell::{BearerId, CuUp, DrbConfig, DrbIndex, QosFlowConfig, UeConfig, UeId};
use tidemark_core::{Bytes, Duration, Ecn, Inspect, Instant, Packet, Stream, TcpView};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{
    DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, Marking, SharedRule, SnLength, StepConfig, Verdict,
};
use tidemark_wire::{View, tcp, udp};

const UE: UeId = UeId(0);
const SEED: u64 = 7;
const MSS: u32 = 1_361; // odd, as checksums like it least
const FLOWS: usize = 12;

/// One UE in both, fed with the same events.
struct Both {
    key: FlowKey,
    cu_up: CuUp,
    ue: Ue,
    now: Instant,
    /// Next SN and the last that was reported, by bearer.
    sns: Vec<(u32, u32)>,
    rewritten: u32,
    marked: u32,
}

impl Both {
    /// A UE with these bearers, of which the QoS flows of those with the QFIs in `unmarked` are not marked.
    fn new(markers: &[MarkerConfig], unmarked: &[u8]) -> Self {
        let (default, others) = markers.split_first().expect("a UE has a bearer");
        let dedicated = |(qfi, marker): (u8, &MarkerConfig)| DrbConfig {
            marker: Some(marker.clone()),
            qos_flow: vec![QosFlowConfig { qfi, marked: !unmarked.contains(&qfi), ..QosFlowConfig::default() }],
            ..DrbConfig::default()
        };
        let drb = (2..).zip(others).map(dedicated).collect();
        let config = UeConfig { marker: default.clone(), drb, ..UeConfig::default() };
        let mut cu_up = CuUp::new(SEED);
        cu_up.add_ue(UE, DrbIndex(0), &config).unwrap();
        let key = FlowKey::new(b"sixteen secrets!");
        let mut ue = Ue::new(key);
        for (drb, marker) in (1u8..).zip(markers) {
            let stream = Stream::new(SEED, UE.0 | u32::from(drb - 1) << 24, "mark");
            ue.add_drb(DrbId(drb), &[drb], marker, SnLength::Bits18, stream).unwrap();
        }
        unmarked.iter().for_each(|qfi| assert!(ue.set_marking(*qfi, Marking::Off)));
        let sns = vec![(0, 0); markers.len()];
        Self { key, cu_up, ue, now: Instant::from_millis(1), sns, rewritten: 0, marked: 0 }
    }

    fn bearer(drb: u8) -> BearerId {
        BearerId { ue: UE, drb, sn_length: SnLength::Bits18 }
    }

    /// A packet of either transport that the bearer carries.
    fn downlink(&mut self, drb: u8, flow: &Flow, ecn: Ecn, tcp: Option<&TcpView>) {
        let mut bytes = tcp.map_or_else(|| flow.udp(true, ecn, 800), |view| flow.tcp(true, ecn, view));
        let size = Bytes(bytes.len() as u64);
        let protocol = if tcp.is_some() { tcp::PROTOCOL } else { udp::PROTOCOL };
        let payload = Transport { tcp: tcp.copied(), rewritten: None };
        let mut packet = Packet { flow: self.key.flow(&flow.tuple(protocol)), size, ecn, payload };
        let mapped = self.cu_up.map_qos_flow(UE, (drb, false), packet.flow).unwrap();
        let expected = self.cu_up.downlink(self.now, Self::bearer(drb), mapped, &mut packet, None);
        let len = bytes.len();
        let outcome = self.ue.decide_downlink(self.now, drb, &mut bytes, len);
        assert_eq!(outcome, expected, "{packet:?}");
        assert_eq!(View::parse(&mut bytes).unwrap().headers().ecn, packet.ecn);
        let verdict = expected.map_or(Verdict::Pass, |outcome| outcome.verdict);
        self.marked += u32::from(verdict == Verdict::Mark);
        if verdict != Verdict::Drop {
            let sn = self.cu_up.number(self.now, Self::bearer(drb), size);
            self.ue.pdcp_pdu(self.now, DrbId(drb), sn, size + Bytes(3));
            self.sns[usize::from(drb) - 1].0 = sn + 1;
        }
    }

    fn uplink(&mut self, flow: &Flow, view: &TcpView) {
        let mut bytes = flow.tcp(false, Ecn::NotEct, view);
        let (size, ecn) = (Bytes(bytes.len() as u64), Ecn::NotEct);
        let payload = Transport { tcp: Some(*view), rewritten: None };
        let mut packet = Packet { flow: self.key.flow(&flow.tuple(tcp::PROTOCOL)), size, ecn, payload };
        self.cu_up.uplink(self.now, UE, &mut packet);
        self.ue.uplink(self.now, &mut bytes);
        let expected = packet.payload.rewritten.map_or(*view, |feedback| view.with_feedback(feedback));
        assert_eq!(View::parse(&mut bytes).unwrap().tcp(), Some(expected));
        assert!(checksums_are_valid(&bytes));
        self.rewritten += u32::from(packet.payload.rewritten.is_some());
    }

    /// The DU has transmitted so many SDUs more.
    fn report(&mut self, drb: u8, more: u32) {
        let (next, reported) = &mut self.sns[usize::from(drb) - 1];
        *reported = (*reported + more).min(next.saturating_sub(1));
        let status =
            DeliveryStatus { highest_transmitted: (*next > 0).then_some(*reported), ..DeliveryStatus::default() };
        self.cu_up.report(self.now, Self::bearer(drb), &status);
        self.ue.feedback(self.now, DrbId(drb), &status);
    }

    fn discard(&mut self, drb: u8, back: u32) {
        let sn = self.sns[usize::from(drb) - 1].0.saturating_sub(back);
        self.cu_up.discard(self.now, Self::bearer(drb), sn);
        self.ue.discard(self.now, DrbId(drb), sn);
    }

    fn assert_same_state(&self) {
        for drb in (1..).take(self.sns.len()) {
            let (id, bearer) = (DrbId(drb), Self::bearer(drb));
            assert_eq!(self.ue.drb_counters(id), Some(self.cu_up.counters(bearer)));
            assert_eq!(self.ue.estimate(self.now, id), Some(self.cu_up.estimate(self.now, bearer)));
            assert_eq!(self.ue.wants_report(self.now, id), self.cu_up.wants_report(self.now, bearer));
        }
    }
}

/// Random connections over random bearers, most of their packets where a filter for the ECN field would send them, through DUs that
/// report and discard at random.
fn run(markers: &[MarkerConfig], unmarked: &[u8], seed: u64) -> Both {
    let mut both = Both::new(markers, unmarked);
    let mut chance = Stream::new(seed, 0, "traffic");
    let bearers = markers.len();
    let flows: Vec<Flow> = (0..FLOWS).map(|k| Flow { v6: k % 2 == 1, port: 50_000 + k as u16 }).collect();
    let mut sent = [1_000u32; FLOWS];
    for _ in 0..1_500 {
        both.now += Duration::from_micros((chance.uniform() * 1_000.0) as u64);
        let mut below = |bound: usize| (chance.uniform() * bound as f64) as usize;
        let (k, any) = (below(FLOWS), 1 + below(bearers) as u8);
        let (flow, ecn) = (&flows[k], [Ecn::Ect1, Ecn::Ect0, Ecn::NotEct, Ecn::Ce][below(4)]);
        let steered = if matches!(ecn, Ecn::Ect1 | Ecn::Ce) { 1 + (k % bearers) as u8 } else { 1 };
        let drb = if below(10) == 0 { any } else { steered };
        match below(20) {
            // A UE or a server opens a connection, and sometimes the other side never hears of it.
            0 => {
                let (asked, agreed) = [(0b111, 0b010), (0b011, 0b001), (0b000, 0b000)][k % 3];
                let from_ue = below(3) > 0;
                let opening = view(asked, true, None, 500, 0, None);
                let answer = view(agreed, true, Some(501), 999, 0, None);
                if from_ue {
                    both.uplink(flow, &opening)
                } else {
                    both.downlink(any, flow, Ecn::NotEct, Some(&opening))
                }
                if below(5) > 0 {
                    if from_ue {
                        both.downlink(1, flow, Ecn::NotEct, Some(&answer))
                    } else {
                        both.uplink(flow, &answer)
                    }
                }
                sent[k] = 1_000;
            }
            1..=9 => {
                both.downlink(drb, flow, ecn, Some(&view(5, false, Some(501), sent[k], MSS, None)));
                sent[k] += MSS;
            }
            10 => both.downlink(drb, flow, Ecn::NotEct, Some(&view(5, false, Some(501), sent[k], 0, None))),
            11 => both.downlink(drb, flow, ecn, None),
            12..=15 => both.uplink(flow, &view(if k % 3 == 0 { 5 } else { 0 }, false, Some(sent[k]), 501, 0, None)),
            16 => both.discard(any, below(6) as u32),
            _ => both.report(any, below(8) as u32),
        }
        both.assert_same_state();
    }
    both
}

fn laws() -> [LawConfig; 3] {
    [
        LawConfig::Step(StepConfig { threshold: Duration::from_micros(100), ..StepConfig::default() }),
        LawConfig::L4span(L4SpanConfig { shared: SharedRule::L4s, ..L4SpanConfig::default() }),
        LawConfig::Dualpi2(Default::default()),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn both_faces_share_connections_out_alike(
        seed: u64,
        bearers in prop::collection::vec((0usize..3, any::<bool>()), 1..5),
        unmarked in prop::collection::btree_set(2u8..5, 0..3),
    ) {
        let markers: Vec<_> = bearers.iter().map(|(law, short_circuit)| {
            // A table of eight flows for a dozen: some are refused, and some give way.
            MarkerConfig { short_circuit: *short_circuit, flow_capacity: 8, ..MarkerConfig::with_law(laws()[*law]) }
        }).collect();
        run(&markers, &unmarked.into_iter().collect::<Vec<_>>(), seed);
    }
}

#[test]
fn random_traffic_reaches_marks_and_rewritten_acknowledgements() {
    let marker = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(laws()[0]) };
    let markers = [marker.clone(), marker.clone(), marker];
    let both = run(&markers, &[], 1);
    assert!(both.marked > 100 && both.rewritten > 50, "{} marked, {} rewritten", both.marked, both.rewritten);
    let fewer = run(&markers, &[2, 3], 1).marked;
    assert!((10..both.marked).contains(&fewer), "{fewer} of {} marked", both.marked);
}
