//! Reasons that a marker gives for its verdicts.

use crate::common::Du;
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Probability, Stream};
use tidemark_marker::{
    Draw, DrbMarker, DropHeadConfig, DualPi2Config, LawConfig, MarkerConfig, Marks, RampConfig, RlcQueue, SnLength,
    Verdict,
};

/// A marker of a law with its defaults.
fn marker(law: LawConfig) -> DrbMarker {
    DrbMarker::new(&MarkerConfig::with_law(law), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap()
}

fn packet(ecn: Ecn) -> Packet<()> {
    Packet { flow: FlowId(0), size: Bytes(1_500), ecn, payload: () }
}

fn queue(head_of_line: Duration) -> RlcQueue {
    RlcQueue { backlog: Bytes(90_000), packets: 60, head_of_line }
}

#[test]
fn a_law_that_decides_on_leaving_has_no_outcome_on_arrival() {
    let mut codel = marker(LawConfig::Codel(Default::default()));
    let queue = queue(Duration::from_millis(50));
    assert_eq!(codel.decide_downlink(Instant::ZERO, &packet(Ecn::Ect1), Some(queue)), None);
}

#[test]
fn a_law_that_decides_on_arrival_has_no_outcome_on_leaving() {
    let mut step = marker(LawConfig::Step(Default::default()));
    let age = Duration::from_millis(50);
    assert_eq!(step.decide_dequeue(Instant::ZERO, &packet(Ecn::Ect1), age, queue(age)), None);
}

#[test]
fn a_ramp_with_drops_marks_what_arrives_and_drops_the_oldest_as_it_leaves() {
    let drop = Some(DropHeadConfig::default());
    let mut ramp = marker(LawConfig::Ramp(RampConfig { alpha: 1.0, drop, ..RampConfig::default() }));
    assert!(ramp.decides_on_leaving());
    let (age, young) = (Duration::from_millis(150), Duration::from_millis(99));
    let arrived = ramp.decide_downlink(Instant::ZERO, &packet(Ecn::Ect1), Some(queue(age))).unwrap();
    assert_eq!((arrived.odds.rule, arrived.verdict), ("l4s ramp", Verdict::Mark));
    let mut leave = |ecn, age| ramp.decide_dequeue(Instant::ZERO, &packet(ecn), age, queue(age));
    for ecn in [Ecn::Ect1, Ecn::NotEct] {
        let left = leave(ecn, age).unwrap();
        assert_eq!((left.odds.rule, left.verdict), ("oldest", Verdict::Drop));
        assert_eq!(leave(ecn, age), None, "one is dropped, the next is sent");
        assert_eq!(leave(ecn, young), None);
    }
    assert_eq!(ramp.counters().drops, 2);
}

#[test]
fn a_certain_mark_names_law_rule_and_the_age_that_it_was_made_by() {
    let mut step = marker(LawConfig::Step(Default::default()));
    let age = Duration::from_millis(50);
    let outcome = step.decide_downlink(Instant::ZERO, &packet(Ecn::Ect1), Some(queue(age))).unwrap();
    assert_eq!(outcome.applied(), Verdict::Mark);
    let decision = step.decision(Instant::ZERO, outcome);
    assert_eq!((decision.law, decision.odds.rule, decision.age), ("step", "l4s step", age));
    assert_eq!((decision.odds.mark, decision.draw), (Probability::ONE, Draw::Certain));
    assert_eq!((decision.verdict, decision.short_circuited), (Verdict::Mark, false));
    assert_eq!(decision.estimate, step.estimate(Instant::ZERO));
}

#[test]
fn a_packet_that_no_rule_applies_to_passes_by_no_rule() {
    let mut step = marker(LawConfig::Step(Default::default()));
    let age = Duration::from_millis(50);
    let outcome = step.decide_downlink(Instant::ZERO, &packet(Ecn::Ect0), Some(queue(age))).unwrap();
    assert_eq!((outcome.odds.rule, outcome.draw, outcome.verdict), ("", Draw::Certain, Verdict::Pass));
}

#[test]
fn a_random_verdict_follows_from_its_draw() {
    let mut du = Du::new(
        &MarkerConfig::with_law(LawConfig::L4span(Default::default())),
        SnLength::Bits18,
        Duration::from_millis(5),
    );
    let mut radio = Stream::new(1, 0, "radio");
    let (mut marked, mut passed) = (0, 0);
    for _ in 0..4_000 {
        while du.backlog() < 50_000 {
            let verdict = du.send(0, Ecn::Ect1, 1_500);
            let outcome = du.outcome.unwrap();
            assert_eq!((outcome.verdict, outcome.odds.rule), (verdict, "l4s sojourn"));
            let Draw::Random(drawn) = outcome.draw else { continue };
            assert_eq!(verdict == Verdict::Mark, drawn < outcome.odds.mark.get(), "{outcome:?}");
            *if verdict == Verdict::Mark { &mut marked } else { &mut passed } += 1;
        }
        du.slot(2_500.0 * (1.0 + 0.33 * radio.normal()).max(0.0));
    }
    assert!(marked > 100 && passed > 100, "{marked} marked, {passed} passed");
}

#[test]
fn a_regular_verdict_follows_from_its_sum() {
    let law = LawConfig::Dualpi2(DualPi2Config { marks: Marks::Regular, ..DualPi2Config::default() });
    let mut du = Du::new(&MarkerConfig::with_law(law), SnLength::Bits18, Duration::from_millis(5));
    let mut rules = std::collections::BTreeSet::new();
    for _ in 0..4_000 {
        while du.backlog() < 40_000 {
            let verdict = du.send(0, Ecn::Ect1, 1_500);
            let outcome = du.outcome.unwrap();
            rules.insert(outcome.odds.rule);
            let Draw::Regular(sum) = outcome.draw else { panic!("{outcome:?}") };
            assert_eq!(verdict != Verdict::Pass, sum > 1.0, "{outcome:?}");
        }
        du.slot(2_500.0);
    }
    assert!(rules.contains("l4s ramp"), "{rules:?}");
}

#[test]
fn a_law_that_decides_on_leaving_gives_the_packets_own_age() {
    let mut codel = marker(LawConfig::EcnCodel(Default::default()));
    let sojourn = Duration::from_millis(20);
    let decisions = [0, 100].map(|millis| {
        let now = Instant::from_millis(millis);
        let outcome = codel.decide_dequeue(now, &packet(Ecn::Ect1), sojourn, queue(sojourn)).unwrap();
        codel.decision(now, outcome)
    });
    let [before, after] = decisions;
    assert_eq!((before.odds.rule, before.law, before.verdict), ("", "ecn-codel", Verdict::Pass));
    assert_eq!((after.odds.rule, after.age, after.verdict), ("control law", sojourn, Verdict::Mark));
}
