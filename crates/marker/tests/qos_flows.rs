//! QoS flows of one DRB, some marked here, some at the UPF, and some not marked.

use std::collections::VecDeque;

use crate::bytes::{Flow, checksums_are_valid, view};
use proptest::prelude::*;
use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Inspect, Instant, Packet, Stream};
use tidemark_marker::path::{DrbId, FlowKey, NoReport, Ue};
use tidemark_marker::{
    DeliveryStatus, DrbMarker, DualPi2Config, L4SpanConfig, LawConfig, MarkerConfig, Marking, QosFlow, RampConfig,
    RlcQueue, SnLength, StepConfig, UpfConfig, Verdict,
};
use tidemark_wire::View;

const DRB: DrbId = DrbId(1);
const L4S: u8 = 9;
const OTHER: u8 = 10;
const MSS: u32 = 1_400;

fn ue(config: &MarkerConfig) -> Ue {
    let mut ue = Ue::new(FlowKey::new(&[9; 16]));
    ue.add_drb(DRB, &[L4S, OTHER], config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    ue
}

fn transmitted(sn: u32) -> DeliveryStatus {
    DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() }
}

/// A law that marks all L4S packets that find anything queued for longer than a microsecond.
fn everything() -> LawConfig {
    LawConfig::Step(StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() })
}

/// A UE whose DRB has one SDU queued since 0 ms, and a connection with AccECN that the UE opened.
struct Connection {
    ue: Ue,
    now: Instant,
    sent: u32,
}

const FLOW: Flow = Flow { v6: false, port: 50_000 };

impl Connection {
    fn new() -> Self {
        let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(everything()) };
        let (mut ue, now) = (ue(&config), Instant::from_millis(10));
        for sn in 0..2 {
            ue.pdcp_pdu(Instant::ZERO, DRB, sn, Bytes(1_403));
        }
        ue.feedback(now, DRB, &transmitted(0));
        ue.uplink(now, &mut FLOW.tcp(false, Ecn::NotEct, &view(0b111, true, None, 500, 0, None)));
        ue.downlink(now, L4S, &mut FLOW.tcp(true, Ecn::NotEct, &view(0b010, true, Some(501), 999, 0, None)));
        ue.uplink(now, &mut FLOW.tcp(false, Ecn::NotEct, &view(0b010, false, Some(1_000), 501, 0, None)));
        Self { ue, now, sent: 0 }
    }

    /// A segment goes down in the QoS flow and comes out so, with its verdict.
    fn send(&mut self) -> (Verdict, bool) {
        self.send_as(Ecn::Ect1)
    }

    fn send_as(&mut self, ecn: Ecn) -> (Verdict, bool) {
        self.now += Duration::from_millis(1);
        let data = view(5, false, Some(501), 1_000 + self.sent * MSS, MSS, None);
        let before = FLOW.tcp(true, ecn, &data);
        let mut after = before.clone();
        let verdict = self.ue.downlink(self.now, L4S, &mut after);
        self.sent += 1;
        (verdict, before == after)
    }

    /// A client that saw no CE acknowledges everything: the ACE field and the bytes of CE that its sender reads.
    fn acknowledge(&mut self) -> (u8, u32) {
        let counters = Some([1, 0, 1 + self.sent * MSS]);
        let mut bytes = FLOW.tcp(false, Ecn::NotEct, &view(5, false, Some(1_000 + self.sent * MSS), 501, 0, counters));
        self.ue.uplink(self.now, &mut bytes);
        assert!(checksums_are_valid(&bytes));
        let seen = View::parse(&mut bytes).unwrap().tcp().unwrap();
        let Some(AccEcnCounters { ceb: Some(ceb), .. }) = seen.accecn else { panic!("the option is there") };
        (seen.flags.ace(), ceb)
    }

    fn short_circuited(&self) -> u64 {
        self.ue.drb_counters(DRB).unwrap().short_circuited
    }
}

#[test]
fn a_flow_that_is_no_longer_marked_keeps_the_counters_of_its_acknowledgements() {
    let mut connection = Connection::new();
    for _ in 0..4 {
        connection.send();
        connection.acknowledge();
    }
    let signalled = connection.acknowledge();
    assert_eq!(signalled, (5 + 4 - 8, 3 * MSS), "the first option sets the base of the bytes");
    for marking in [Marking::Off, Marking::Report] {
        assert!(connection.ue.set_marking(L4S, marking));
        for _ in 0..20 {
            assert_eq!(connection.send(), (Verdict::Pass, true));
            assert_eq!(connection.acknowledge(), signalled);
        }
    }
    assert_eq!(connection.short_circuited(), 4);
    assert!(connection.ue.set_marking(L4S, Marking::Downlink));
    connection.send();
    assert_eq!(connection.acknowledge(), (2, 4 * MSS));
}

#[test]
fn marks_that_wait_for_an_acknowledgement_when_marking_ends_get_there() {
    let mut connection = Connection::new();
    connection.send();
    connection.acknowledge();
    for _ in 0..3 {
        connection.send();
    }
    connection.ue.set_marking(L4S, Marking::Off);
    connection.send();
    assert_eq!(connection.acknowledge(), (1, 3 * MSS));
}

#[test]
fn marks_without_room_in_acknowledgements_wait_until_the_flow_is_marked() {
    let mut connection = Connection::new();
    // Three of ten find no room in the one acknowledgement of all: the next packet is to be marked in their place.
    (0..10).for_each(|_| _ = connection.send());
    connection.acknowledge();
    assert_eq!(connection.ue.drb_counters(DRB).unwrap().marks_let_go, 3);
    connection.ue.feedback(connection.now, DRB, &transmitted(1));
    connection.ue.set_marking(L4S, Marking::Off);
    assert_eq!(connection.send(), (Verdict::Pass, true));
    connection.ue.set_marking(L4S, Marking::Downlink);
    assert_eq!(connection.send_as(Ecn::NotEct), (Verdict::Pass, true), "a retransmission can't be marked");
    assert_eq!(connection.send(), (Verdict::Mark, false));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn however_marking_changes_no_counter_goes_back(
        steps in proptest::collection::vec((0u8..3, proptest::bool::weighted(0.7)), 1..200),
    ) {
        let mut connection = Connection::new();
        connection.send();
        let (mut ace, mut ceb) = connection.acknowledge();
        let mut unacknowledged = 0;
        for (marking, acknowledged) in steps {
            let marking = [Marking::Downlink, Marking::Off, Marking::Report][usize::from(marking)];
            connection.ue.set_marking(L4S, marking);
            let before = connection.short_circuited();
            let (verdict, same) = connection.send();
            unacknowledged += 1;
            if marking != Marking::Downlink {
                prop_assert!(verdict == Verdict::Pass && same, "{:?}", verdict);
                prop_assert_eq!(connection.short_circuited(), before);
            }
            // The three bits tell up to seven marks from a step back.
            if acknowledged || unacknowledged == 7 {
                let (ace_now, ceb_now) = connection.acknowledge();
                prop_assert!(u32::from(ace_now.wrapping_sub(ace) & 7) <= unacknowledged, "{} to {}", ace, ace_now);
                prop_assert!((ceb..=ceb + unacknowledged * MSS).contains(&ceb_now), "{} to {}", ceb, ceb_now);
                (ace, ceb, unacknowledged) = (ace_now, ceb_now, 0);
            }
        }
    }
}

#[test]
fn packets_of_an_unmarked_flow_are_queue_to_the_flow_beside_it() {
    let mut ue = ue(&MarkerConfig::with_law(LawConfig::L4span(L4SpanConfig::default())));
    ue.set_marking(OTHER, Marking::Off);
    let packet = |port| Flow { v6: true, port }.udp(true, Ecn::Ect1, 1_352);
    let (mut now, mut transmitted_sn) = (Instant::ZERO, 0);
    // 1400 bytes every 200 us are 56 Mbit/s, of which the radio carries 40.
    for sn in 0..1_000u32 {
        now += Duration::from_micros(200);
        let mut other = packet(1);
        assert_eq!(ue.downlink(now, OTHER, &mut other), Verdict::Pass);
        assert_eq!(other, packet(1));
        ue.pdcp_pdu(now, DRB, sn, Bytes(1_403));
        if sn % 50 == 49 {
            transmitted_sn = sn * 5 / 7;
            ue.feedback(now, DRB, &transmitted(transmitted_sn));
        }
    }
    assert_eq!(ue.estimate(now, DRB).unwrap().packets, 999 - transmitted_sn);
    assert_eq!(ue.downlink(now, L4S, &mut packet(2)), Verdict::Mark);
    let counters = ue.drb_counters(DRB).unwrap();
    assert_eq!((counters.packets, counters.l4s_packets, counters.marks()), (1_001, 1_001, 1));
    assert_eq!(ue.congestion(now, OTHER).unwrap().packets, 1_000);
    assert_eq!(ue.congestion(now, L4S), Err(NoReport::MarkedHere));
}

#[test]
fn drops_of_a_law_do_not_depend_on_marking() {
    let drops = |marking| {
        let config = MarkerConfig::with_law(LawConfig::Dualpi2(DualPi2Config::default()));
        let mut marker = DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        let rlc = RlcQueue { backlog: Bytes(90_000), packets: 60, head_of_line: Duration::from_millis(40) };
        (0..3).for_each(|sn| marker.handle_pdcp_pdu(Instant::ZERO, sn, Bytes(1_500)));
        let mut flow = QosFlow::default();
        flow.set_marking(marking);
        let mut drops = 0;
        for k in 0..900u64 {
            let now = Instant::from_millis(k);
            let packet = Packet { flow: FlowId(1), size: Bytes(1_500), ecn: Ecn::NotEct, payload: () };
            let unmarked = (marking != Marking::Downlink).then_some(&mut flow);
            let outcome = marker.decide_qos_flow(now, &packet, Some(rlc), unmarked).unwrap();
            drops += u64::from(outcome.applied() == Verdict::Drop);
        }
        assert_eq!(marker.counters().drops, drops);
        drops
    };
    assert!(drops(Marking::Downlink) > 20);
    assert_eq!(drops(Marking::Off), drops(Marking::Downlink));
}

/// A cell of some 40 Mbit/s, a flow that takes nine tenths of it on average, and a host that reports to a UPF where the QoS flow is marked there.
struct Cell {
    ue: Ue,
    reports: bool,
    draws: Stream,
    upf: Stream,
    interval: Duration,
    delay: Duration,
    /// Reports under way, oldest first: when each takes effect, and its share.
    under_way: VecDeque<(Instant, f64)>,
    held: f64,
}

impl Cell {
    fn new(law: LawConfig, marking: Marking, seed: u64, interval: Duration, delay: Duration) -> Self {
        let mut ue = ue(&MarkerConfig::with_law(law));
        ue.set_marking(L4S, marking);
        let (draws, upf) = (Stream::new(seed, 0, "arrivals"), Stream::new(seed, 0, "upf"));
        let reports = marking == Marking::Report;
        Self { ue, reports, draws, upf, interval, delay, under_way: VecDeque::new(), held: 0.0 }
    }

    /// Share of the packets that reach the receiver with a mark, over 10 s.
    fn marked_share(&mut self) -> f64 {
        let (mut now, mut next_report) = (Instant::ZERO, Instant::ZERO + self.interval);
        let (mut queue, mut credit) = (VecDeque::new(), 0.0);
        let (mut sn, mut last, mut reported) = (0u32, None, None);
        let (mut packets, mut marks) = (0u32, 0u32);
        for slot in 0..20_000u32 {
            now += Duration::from_micros(500);
            // The radio swings by a fifth over a second, the sender by chance from slot to slot.
            let swing = f64::from((slot % 2_000).abs_diff(1_000)) / 1_000.0 - 0.5;
            credit += 2_500.0 * (1.0 + 0.4 * swing);
            while credit > 0.0 {
                let Some(front) = queue.pop_front() else { break };
                (last, credit) = (Some(front), credit - 1_403.0);
            }
            credit = credit.min(0.0);
            if slot % 10 == 9 && last != reported {
                reported = last;
                self.ue.feedback(now, DRB, &transmitted(last.unwrap()));
            }
            let count = (0..4).filter(|_| self.draws.uniform() < 0.40).count();
            for _ in 0..count {
                packets += 1;
                let ecn = if self.upf.uniform() < self.held { Ecn::Ce } else { Ecn::Ect1 };
                let mut packet = Flow { v6: false, port: 1 }.udp(true, ecn, 1_372);
                let verdict = self.ue.downlink(now, L4S, &mut packet);
                marks += u32::from(ecn == Ecn::Ce || verdict == Verdict::Mark);
                self.ue.pdcp_pdu(now, DRB, sn, Bytes(1_403));
                queue.push_back(sn);
                sn += 1;
            }
            if self.reports && now >= next_report {
                next_report = now + self.interval;
                let report = self.ue.congestion(now, L4S).unwrap();
                self.under_way.push_back((now + self.delay, report.downlink.probability().get()));
            }
            while self.under_way.front().is_some_and(|(at, _)| *at <= now) {
                self.held = self.under_way.pop_front().map_or(0.0, |(_, share)| share);
            }
        }
        f64::from(marks) / f64::from(packets)
    }
}

/// True if two shares are those of the same marks: within a twentieth of each other.
fn are_equal(a: f64, b: f64) -> bool {
    (a - b).abs() < 0.05 * a.max(b)
}

#[test]
fn a_upf_that_marks_by_the_reports_marks_as_much_as_the_law_would() {
    let laws = [
        LawConfig::L4span(L4SpanConfig::default()),
        LawConfig::Ramp(RampConfig::default()),
        LawConfig::Dualpi2(DualPi2Config::default()),
    ];
    for (law, seed) in laws.iter().flat_map(|law| [1, 2, 3].map(|seed| (law, seed))) {
        let any = Duration::from_millis(10);
        let here = Cell::new(*law, Marking::Downlink, seed, any, any).marked_share();
        assert!((0.02..0.98).contains(&here), "{law:?}: {here}");
        for interval in [5, 40].map(Duration::from_millis) {
            let at_upf = Cell::new(*law, Marking::Report, seed, interval, any).marked_share();
            assert!(are_equal(here, at_upf), "{law:?}, seed {seed}, every {interval:?}: {here} here, {at_upf} there");
        }
    }
}

#[test]
fn reports_give_a_upf_what_the_law_of_marking_there_assumes() {
    for seed in [1, 2, 3] {
        for (interval, delay) in [(10, 10), (20, 40)] {
            let (report_interval, report_delay) = (Duration::from_millis(interval), Duration::from_millis(delay));
            let upf = UpfConfig { ramp: RampConfig::default(), report_interval, report_delay };
            let assumed = Cell::new(LawConfig::Upf(upf), Marking::Downlink, seed, report_interval, report_delay);
            let law = LawConfig::Ramp(RampConfig::default());
            let reported = Cell::new(law, Marking::Report, seed, report_interval, report_delay);
            let [assumed, reported] = [assumed, reported].map(|mut cell| cell.marked_share());
            assert!(are_equal(assumed, reported), "seed {seed}, every {interval} ms: {assumed}, {reported}");
        }
    }
}

#[test]
fn a_report_is_of_the_packets_since_the_last_one_while_there_is_a_queue() {
    let mut ue = ue(&MarkerConfig::with_law(everything()));
    ue.set_marking(L4S, Marking::Report);
    let at = Instant::from_millis;
    let share = |ue: &mut Ue, now| ue.congestion(at(now), L4S).unwrap().downlink.hundredths();
    let send = |ue: &mut Ue, now, ecn| {
        assert_eq!(ue.downlink(at(now), L4S, &mut FLOW.udp(true, ecn, 1_000)), Verdict::Pass);
    };
    assert_eq!(share(&mut ue, 0), 0);
    // One L4S packet finds no queue, three do; packets of no L4S flow are nobody's whom the UPF would mark.
    send(&mut ue, 0, Ecn::Ect1);
    for sn in 0..2 {
        ue.pdcp_pdu(at(1), DRB, sn, Bytes(1_403));
    }
    ue.feedback(at(5), DRB, &transmitted(0));
    for ecn in [Ecn::Ect1, Ecn::Ect1, Ecn::Ce, Ecn::NotEct, Ecn::Ect0] {
        send(&mut ue, 6, ecn);
    }
    assert_eq!(share(&mut ue, 7), 7_500);
    // Nothing came since: as before while something is queued, and nothing once all is transmitted.
    assert_eq!(share(&mut ue, 8), 7_500);
    ue.feedback(at(9), DRB, &transmitted(1));
    assert_eq!(share(&mut ue, 9), 0);
    // Another queue. What was before marking changed is of another time.
    for sn in 2..4 {
        ue.pdcp_pdu(at(10), DRB, sn, Bytes(1_403));
    }
    ue.feedback(at(15), DRB, &transmitted(2));
    send(&mut ue, 16, Ecn::Ect1);
    assert_eq!(share(&mut ue, 16), 10_000);
    ue.set_marking(L4S, Marking::Downlink);
    ue.set_marking(L4S, Marking::Report);
    assert_eq!(share(&mut ue, 16), 0);
    // The DU reports no more: nothing is known of the queue.
    send(&mut ue, 16, Ecn::Ect1);
    assert_eq!((share(&mut ue, 17), share(&mut ue, 5_000)), (10_000, 0));
}

#[test]
fn marking_belongs_to_the_qos_flow_and_not_to_its_drb() {
    let mut ue = ue(&MarkerConfig::with_law(everything()));
    assert!(ue.set_marking(L4S, Marking::Off) && ue.set_marking(63, Marking::Report));
    assert!(!ue.set_marking(64, Marking::Off));
    assert_eq!(ue.congestion(Instant::ZERO, 63), Err(NoReport::NoDrb));
    // The QoS flow moves to a second DRB, and its first is released.
    ue.add_drb(DrbId(2), &[L4S], &MarkerConfig::with_law(everything()), SnLength::Bits18, Stream::new(1, 1, "mark"))
        .unwrap();
    ue.remove_drb(DRB).unwrap();
    for sn in 0..2 {
        ue.pdcp_pdu(Instant::ZERO, DrbId(2), sn, Bytes(1_403));
    }
    let now = Instant::from_millis(5);
    ue.feedback(now, DrbId(2), &transmitted(0));
    let packet = FLOW.udp(true, Ecn::Ect1, 1_000);
    assert_eq!(ue.downlink(now, L4S, &mut packet.clone()), Verdict::Pass);
    ue.set_marking(L4S, Marking::Downlink);
    assert_eq!(ue.downlink(now, L4S, &mut packet.clone()), Verdict::Mark);
}
