//! Overload protection of the marker: flows that are dropped, flows that are not, and flows that try to hide.

use crate::common::Du;
use tidemark_core::{Duration, Ecn, Instant};
use tidemark_marker::{
    CodelConfig, L4SpanConfig, LawConfig, MarkerConfig, Marking, QosFlow, SnLength, StepConfig, Verdict,
};

/// Bytes that the radio carries in a slot: 40 Mbit/s.
const RADIO: f64 = 2_500.0;
/// A flow that responds to marks, at its smallest window: two packets in each round trip of 20 ms plus the queue.
const ANSWERS: u32 = 1_000_000;
const PATH: Duration = Duration::from_millis(20);
const SLOTS_A_SECOND: u32 = 2_000;

fn l4span() -> MarkerConfig {
    MarkerConfig::with_law(LawConfig::L4span(L4SpanConfig::default()))
}

fn du(config: &MarkerConfig) -> Du {
    Du::new(config, SnLength::Bits18, Duration::from_millis(5))
}

/// Outcome of a flood.
struct Flood {
    du: Du,
    /// Median wait in the second half, in ms.
    wait: u64,
    /// Packets of [`ANSWERS`] that were dropped.
    innocent: u32,
}

/// Sends at 1.5 times of what the radio carries for so many seconds, the flow of each packet by its number; besides, a flow that answers.
fn flood(mut du: Du, seconds: u32, ecn: Ecn, flow: impl Fn(u32) -> u32) -> Flood {
    let (mut number, mut innocent, mut waits, mut next) = (0, 0, Vec::new(), du.now);
    for slot in 0..seconds * SLOTS_A_SECOND {
        for _ in 0..2 + slot % 2 {
            du.send(flow(number), ecn, 1_500);
            number += 1;
        }
        if du.now >= next {
            for _ in 0..2 {
                innocent += u32::from(du.send(ANSWERS, Ecn::Ect1, 1_500) == Verdict::Drop);
            }
            next = du.now + PATH + du.last_sojourn;
        }
        du.slot(RADIO);
        if slot > seconds * SLOTS_A_SECOND / 2 {
            waits.push(du.last_sojourn.as_millis());
        }
    }
    waits.sort_unstable();
    Flood { du, wait: waits[waits.len() / 2], innocent }
}

#[test]
fn a_flow_that_ignores_marks_is_dropped_and_the_one_beside_it_is_not() {
    let Flood { du, wait, innocent } = flood(du(&l4span()), 10, Ecn::Ect1, |_| 7);
    let counters = du.marker.counters();
    assert!(wait < 20 && innocent == 0, "{wait} ms, {innocent} packets of another");
    assert!(counters.overload_drops > 10_000 && counters.overload_drops == counters.drops, "{counters:?}");
    assert_eq!(counters.drops, du.drops);
}

#[test]
fn a_classic_flow_that_ignores_marks_is_found_by_its_queue() {
    // Few of its packets are marked: what is left to see is how long the queue is.
    let Flood { du, innocent, .. } = flood(du(&l4span()), 12, Ecn::Ect0, |_| 7);
    assert!(du.drops > 1_000 && innocent == 0, "{} drops, {innocent} packets of another", du.drops);
    assert!(du.outcome.unwrap().odds.mark.get() < 0.5);
}

#[test]
fn a_flood_that_a_short_buffer_bounds_is_found_by_its_marks() {
    let config = MarkerConfig::with_law(LawConfig::Step(StepConfig {
        threshold: Duration::from_millis(1),
        ..StepConfig::default()
    }));
    let mut du = du(&config);
    for slot in 0..10 * SLOTS_A_SECOND {
        for _ in 0..2 + slot % 2 {
            // A RLC buffer of 20 ms, far below what the protection takes for long.
            if du.backlog() < 100_000 {
                du.send(7, Ecn::Ect1, 1_500);
            }
        }
        du.slot(RADIO);
    }
    let counters = du.marker.counters();
    assert!(counters.overload_drops > 1_000, "{counters:?}");
}

#[test]
fn a_long_queue_that_its_sender_shortens_is_no_overload() {
    let mut du = du(&l4span());
    // Two seconds of the radio at once, as a window that it left too long, and half of its rate from then on.
    (0..6_667).for_each(|_| _ = du.send(7, Ecn::Ect1, 1_500));
    for slot in 0..4 * SLOTS_A_SECOND {
        if slot % 6 < 5 {
            du.send(7, Ecn::Ect1, 1_500);
        }
        du.slot(RADIO);
    }
    assert!(du.marks > 1_000 && du.drops == 0, "{} marks, {} drops", du.marks, du.drops);
}

#[test]
fn a_law_that_decides_on_leaving_is_protected_too() {
    let flooded = |overload_protection| {
        let law = LawConfig::EcnCodel(CodelConfig::default());
        let config = MarkerConfig { overload_protection, ..MarkerConfig::with_law(law) };
        flood(du(&config), 12, Ecn::Ect1, |_| 7)
    };
    let (with, without) = (flooded(true), flooded(false));
    assert!(without.wait > 1_000 && without.du.drops == 0, "{} ms, {} drops", without.wait, without.du.drops);
    assert!(with.wait < without.wait / 4 && with.du.drops > 1_000, "{} ms, {} drops", with.wait, with.du.drops);
}

/// Floods a QoS flow that is not marked here for 10 s. Drops of the first second and of all, and the last wait in ms.
fn flood_unmarked(marking: Marking, ecn: Ecn) -> (u64, u64, u64) {
    let (mut du, mut qos_flow) = (du(&l4span()), QosFlow::default());
    qos_flow.set_marking(marking);
    let mut early = 0;
    for slot in 0..10 * SLOTS_A_SECOND {
        for _ in 0..2 + slot % 2 {
            du.send_in(Some(&mut qos_flow), 7, ecn, 1_500);
        }
        du.slot(RADIO);
        if slot == SLOTS_A_SECOND {
            early = du.drops;
        }
    }
    (early, du.drops, du.last_sojourn.as_millis())
}

#[test]
fn a_qos_flow_is_protected_from_where_its_sender_is_told() {
    let (early, drops, wait) = flood_unmarked(Marking::Report, Ecn::Ect1);
    assert_eq!(early, 0, "senders that answer take their time");
    assert!(drops > 10_000 && wait < 100, "{drops} drops, {wait} ms");
    // Nobody told it, or it would not understand.
    for (marking, ecn) in [(Marking::Off, Ecn::Ect1), (Marking::Report, Ecn::NotEct)] {
        assert_eq!(flood_unmarked(marking, ecn).1, 0, "{marking:?} {ecn:?}");
    }
}

#[test]
fn however_rare_reports_are_a_flood_is_found() {
    for period in [100, 250, 500] {
        let du = Du::new(&l4span(), SnLength::Bits18, Duration::from_millis(period));
        let Flood { du, wait, innocent } = flood(du, 20, Ecn::Ect1, |_| 7);
        let drops = du.marker.counters().overload_drops;
        assert!(wait < 20 && drops > 0 && innocent == 0, "every {period} ms: {wait} ms, {innocent} packets of another");
    }
}

#[test]
fn a_drop_names_its_rule() {
    let mut flooded = flood(du(&l4span()), 10, Ecn::Ect1, |_| 7).du;
    let dropped = (0..1_000).any(|_| flooded.send(7, Ecn::Ect1, 1_500) == Verdict::Drop);
    let outcome = flooded.outcome.unwrap();
    assert!(dropped);
    assert!(outcome.verdict != Verdict::Drop || outcome.odds.rule == "unresponsive", "{outcome:?}");
    // The queue that this makes is far above the threshold: by now each packet goes.
    assert_eq!((outcome.verdict, outcome.odds.rule), (Verdict::Drop, "unresponsive"));
}

#[test]
fn without_protection_nothing_is_dropped_and_the_queue_grows() {
    let config = MarkerConfig { overload_protection: false, ..l4span() };
    let Flood { du, wait, .. } = flood(du(&config), 6, Ecn::Ect1, |_| 7);
    assert!(wait > 1_000 && du.drops == 0, "{wait} ms, {} drops", du.drops);
}

#[test]
fn a_flow_that_the_law_says_nothing_to_is_never_dropped_nor_one_beside_it() {
    let Flood { du, wait, .. } = flood(du(&l4span()), 10, Ecn::NotEct, |_| 7);
    assert!(du.drops == 0 && wait > 2_000, "{} drops, {wait} ms", du.drops);
}

/// Checks that all tuples together have the share of one flow, as long as each of them is new.
#[test]
fn a_flood_of_five_tuples_is_held_as_one_flow_is() {
    for packets in [1, 8, 16, 100, 300] {
        for flow_capacity in [8, 64] {
            let config = MarkerConfig { flow_capacity, ..l4span() };
            let Flood { wait, du, .. } = flood(du(&config), 12, Ecn::Ect1, |number| number / packets);
            assert!(wait < 150, "{packets} packets each, room for {flow_capacity}: {wait} ms, {} drops", du.drops);
        }
    }
}

#[test]
fn a_flow_known_before_a_flood_of_five_tuples_loses_nothing() {
    for packets in [1, 16, 300] {
        let mut du = du(&l4span());
        for slot in 0..10 * SLOTS_A_SECOND {
            if slot % 40 == 0 {
                du.send(ANSWERS, Ecn::Ect1, 1_500);
                du.send(ANSWERS, Ecn::Ect1, 1_500);
            }
            du.slot(RADIO);
        }
        let Flood { innocent, .. } = flood(du, 12, Ecn::Ect1, |number| number / packets);
        assert_eq!(innocent, 0, "{packets} packets each");
    }
}

#[test]
fn several_flows_that_ignore_marks_are_held_together() {
    for flows in [2, 5, 20, 50] {
        // Flows that are not remembered would be held as one.
        let config = MarkerConfig { flow_capacity: 1_024, ..l4span() };
        let Flood { wait, innocent, .. } = flood(du(&config), 16, Ecn::Ect1, |number| number % flows);
        // As long as 8 packets of each, and no longer.
        let bound = 20 + u64::from(flows) * 8 * 1_500 * 8 / 40_000;
        assert!(wait < bound && innocent == 0, "{flows} flows: {wait} ms, {innocent} packets of another");
    }
}

#[test]
fn once_a_flood_is_over_nobody_is_dropped_any_more() {
    let mut after = flood(du(&l4span()), 10, Ecn::Ect1, |_| 7).du;
    for slot in 0..10 * SLOTS_A_SECOND {
        if slot % 40 == 0 {
            after.send(8, Ecn::Ect1, 1_500);
        }
        after.slot(RADIO);
    }
    let before = after.drops;
    // A burst of a second's length, of the very flow.
    (0..3_000).for_each(|_| {
        after.send(7, Ecn::Ect1, 1_500);
    });
    assert_eq!(after.drops, before);
}

#[test]
fn a_handover_and_a_step_of_the_clock_leave_it_able_to_act() {
    let mut flooded = flood(du(&l4span()), 6, Ecn::Ect1, |_| 7).du;
    flooded.marker.handle_handover(flooded.now);
    let mut flooded = flood(flooded, 8, Ecn::Ect1, |_| 7);
    assert!(flooded.wait < 20, "{} ms", flooded.wait);
    flooded.du.set_clock(Instant::from_millis(100));
    let Flood { wait, .. } = flood(flooded.du, 20, Ecn::Ect1, |_| 7);
    assert!(wait < 20, "{wait} ms");
}
