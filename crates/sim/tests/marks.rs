//! Marks that a run keeps: their reasons hold together, and they are the marks that arrive.

use tidemark_record::output::read_marks;
use tidemark_sim::{MarkResult, RunResult, Simulation};

use crate::common;

const FIRST_LOOK: &str = include_str!("../../../scenarios/first-look.toml");

fn run(overrides: &[&str]) -> RunResult {
    let scenario = common::read(FIRST_LOOK, overrides);
    let mut simulation = Simulation::new(&scenario).unwrap();
    simulation.keep_marks();
    simulation.run(|_| true).unwrap()
}

fn marks(result: &RunResult) -> Vec<MarkResult> {
    read_marks(result.marks.as_deref().unwrap()).unwrap()
}

/// Holds a row's figures against each other.
fn check(mark: &MarkResult) {
    let odds = if mark.verdict == "drop" { mark.drop_odds } else { mark.mark_odds };
    match (mark.draw_kind.as_ref(), mark.draw) {
        ("certain", None) => assert_eq!(odds, 1.0, "{mark:?}"),
        ("random", Some(drawn)) => assert!(drawn < odds, "{mark:?}"),
        ("regular", Some(sum)) => assert!(sum > 1.0 && odds > 0.0, "{mark:?}"),
        _ => panic!("no draw of this kind: {mark:?}"),
    }
    assert!(mark.t_s >= mark.sent_s && !mark.rule.is_empty(), "{mark:?}");
    if let Some(arrived) = mark.arrived_s {
        let parts = [
            mark.propagation_ms,
            mark.cu_ms,
            mark.queuing_ms,
            mark.scheduling_ms,
            mark.harq_ms,
            mark.rlc_ms,
            mark.reordering_ms,
        ];
        let (sum, delay) = (parts.into_iter().flatten().sum::<f64>(), (arrived - mark.sent_s) * 1e3);
        assert!((sum - delay).abs() < 1e-4, "{sum} ms is not {delay} ms: {mark:?}");
        assert!(mark.lost.is_empty() && arrived >= mark.t_s, "{mark:?}");
    }
    if let Some(answered) = mark.answered_s {
        // Acknowledgements overtake a packet whose mark they carry; else the packet arrives first.
        let since = if mark.verdict == "short-circuit" { mark.t_s } else { mark.arrived_s.unwrap() };
        assert!(answered > since && mark.window_after_kb.is_some(), "{mark:?}");
    }
}

#[test]
fn every_verdict_follows_from_its_odds_and_the_parts_add_up() {
    for law in ["l4span", "ramp", "step", "dualpi2", "codel", "ecn-codel", "drop-head", "tide", "upf"] {
        let law_is = format!("marker={{ law = \"{law}\" }}");
        let result = run(&[&law_is, "duration=4 s", "warmup=1 s"]);
        let marks = marks(&result);
        assert!(!marks.is_empty(), "{law} marked nothing");
        marks.iter().for_each(check);
        assert!(marks.iter().all(|mark| mark.law == law));
        let is_told = |mark: &&MarkResult| mark.answered_s.is_some();
        let is_mark = |mark: &&MarkResult| mark.verdict != "drop" && mark.arrived_s.is_some_and(|at| at < 2.5);
        let of_marks = marks.iter().filter(is_mark).count();
        let told = marks.iter().filter(is_mark).filter(is_told).count();
        // A classic sender is told once a round trip (RFC 3168 6.1.2), which is nearly a second for the UE behind a window.
        assert_eq!(told, of_marks, "{law}: senders learn of marks within one and a half seconds");
    }
}

/// A run so short that every mark is kept.
#[test]
fn marks_that_are_kept_are_those_that_arrive_or_go_into_acknowledgements() {
    for short_circuit in [true, false] {
        let set = format!("marker={{ law = \"l4span\", short_circuit = {short_circuit} }}");
        let result = run(&[&set, "duration=1 s", "warmup=0 s"]);
        let marks = marks(&result);
        for flow in &result.flows {
            let of_flow = marks.iter().filter(|mark| mark.flow == flow.name && mark.verdict != "drop");
            let signalled = of_flow.filter(|mark| mark.verdict == "short-circuit" || mark.arrived_s.is_some());
            assert_eq!(signalled.count() as u64, flow.marked, "{}", flow.name);
        }
        assert_eq!(marks.iter().any(|mark| mark.verdict == "short-circuit"), short_circuit);
        assert!(marks.len() > 10, "only {} marks", marks.len());
    }
}

#[test]
fn a_run_keeps_the_same_marks_each_time_and_changes_nothing_for_them() {
    let overrides = ["duration=2 s", "warmup=1 s"];
    let result = run(&overrides);
    assert_eq!(marks(&result), marks(&run(&overrides)));
    let without = common::run(FIRST_LOOK, &overrides);
    assert_eq!(without.marks, None);
    assert_eq!(serde_json::to_string(&without).unwrap(), serde_json::to_string(&result).unwrap());
}

/// A run so short that every mark is kept, with handovers while packets wait.
#[test]
fn marks_around_a_handover_are_kept() {
    for marker in ["moves", "starts-anew"] {
        for data in ["forwarded", "lost"] {
            for law in ["l4span", "ecn-codel"] {
                let law = format!("marker={{ law = \"{law}\" }}");
                let how = format!("cell.handover={{ marker = \"{marker}\", data = \"{data}\" }}");
                let at = |ue: usize| format!("ue.{ue}.handovers=[\"400 ms\", \"700 ms\"]");
                let result = run(&[&law, &how, &at(0), &at(1), "duration=1 s", "warmup=0 s"]);
                let marks = marks(&result);
                marks.iter().for_each(check);
                for flow in &result.flows {
                    let of_flow = marks.iter().filter(|mark| mark.flow == flow.name && mark.verdict != "drop");
                    let signalled = of_flow.filter(|mark| mark.verdict == "short-circuit" || mark.arrived_s.is_some());
                    assert_eq!(signalled.count() as u64, flow.marked, "{law}, {how}: {}", flow.name);
                }
                assert!(marks.iter().any(|mark| mark.t_s >= 0.4), "{law}, {how}: no mark after the first handover");
            }
        }
    }
}
