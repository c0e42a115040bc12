//! The story of one mark, as text for people.

use std::fmt::Write;

use tidemark_record::MarkResult;

use super::moment::seconds;

/// Origin of a run's marks, which determines what is known of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// Simulated run, whose senders are known.
    Simulated,
    /// Live cell, which sees packets from the core to the UE but not their senders.
    Live,
    /// CU, which sees packets until they go to the DU.
    Cu,
}

/// One-way delay in milliseconds; 0 for a packet that did not arrive.
pub(super) fn delay_ms(mark: &MarkResult) -> f64 {
    parts(mark).into_iter().map(|(_, part)| part).sum()
}

fn parts(mark: &MarkResult) -> [(&'static str, f64); 8] {
    [
        ("propagation", mark.propagation_ms),
        ("router", mark.router_ms),
        ("CU", mark.cu_ms),
        ("queuing", mark.queuing_ms),
        ("scheduling", mark.scheduling_ms),
        ("HARQ", mark.harq_ms),
        ("RLC", mark.rlc_ms),
        ("reordering", mark.reordering_ms),
    ]
    .map(|(name, part)| (name, part.unwrap_or(0.0)))
}

/// One line about a mark.
pub(super) fn one_line(mark: &MarkResult) -> String {
    let MarkResult { flow, packet, t_s, verdict, .. } = mark;
    format!("{flow}, packet {packet}: {verdict} at {}", seconds(*t_s))
}

/// Everything known about a mark, in order of time.
pub(super) fn story(mark: &MarkResult, origin: Origin) -> String {
    let MarkResult { flow, packet, ue, drb, bytes, came, .. } = mark;
    let mut text = format!("{flow}, packet {packet}: {bytes} B with {came}, to {ue} (DRB {drb})\n");
    let mut say = |what: &str, line: String| {
        let _ = writeln!(text, "  {what:<11} {line}");
    };
    let later = format!("{}, {:.1} ms later", seconds(mark.t_s), (mark.t_s - mark.sent_s) * 1e3);
    match origin {
        Origin::Simulated => {
            say("sent", seconds(mark.sent_s));
            say("at the gNB", later);
        }
        Origin::Live => {
            say("from core", format!("{}; the time of sending is unknown", seconds(mark.sent_s)));
            say("decided", later);
        }
        Origin::Cu => say("from core", format!("{}; the time of sending is unknown", seconds(mark.t_s))),
    }
    say("estimated", estimated(mark));
    say("true", queued(mark));
    say("decision", decision(mark));
    say("outcome", outcome(mark, origin));
    if mark.arrived_s.is_some() {
        let parts = parts(mark).into_iter().filter(|(_, part)| *part >= 0.05);
        let parts: Vec<_> = parts.map(|(name, part)| format!("{name} {part:.1}")).collect();
        let whole = if origin == Origin::Simulated { "one way" } else { "from core to UE" };
        say("delay", format!("{:.1} ms {whole}: {}", delay_ms(mark), parts.join(" + ")));
    }
    say("sender", sender(mark, origin));
    text
}

/// State of the queue as the marker estimated it.
fn estimated(mark: &MarkResult) -> String {
    let backlog = format!("{:.1} kB queued", mark.estimated_kb);
    let rate = match (mark.estimated_mbps, mark.deviation_mbps) {
        (Some(rate), Some(deviation)) => format!(" at {rate:.1} Mbit/s (deviation {deviation:.1})"),
        _ => ", no rate yet".into(),
    };
    let sojourn = mark.estimated_ms.map_or_else(String::new, |ms| format!(", which takes {ms:.1} ms"));
    let age = if mark.age_ms > 0.0 { format!("; age given to the law {:.1} ms", mark.age_ms) } else { String::new() };
    format!("{backlog}{rate}{sojourn}{age}; last report {:.1} ms ago", mark.report_age_ms)
}

/// True state of the queue.
fn queued(mark: &MarkResult) -> String {
    let (Some(kb), Some(count), Some(ms)) = (mark.queued_kb, mark.queued_packets, mark.queued_ms) else {
        return "unknown: the RLC queue is in the DU, and a CU sees only its reports".into();
    };
    if count == 0 {
        return "the RLC queue was empty".into();
    }
    let packets = if count == 1 { "packet" } else { "packets" };
    format!("{kb:.1} kB in {count} {packets} in the RLC queue, the oldest {ms:.1} ms old")
}

/// Odds, draw and verdict.
fn decision(mark: &MarkResult) -> String {
    let (what, odds) = if mark.verdict == "drop" { ("drop", mark.drop_odds) } else { ("mark", mark.mark_odds) };
    let draw = match (mark.draw_kind.as_ref(), mark.draw) {
        ("random", Some(drawn)) => format!(", drawn {drawn:.4}, which is below"),
        ("regular", Some(sum)) => format!(", which brought their sum to {sum:.3}, above 1"),
        _ => ", so nothing was drawn".into(),
    };
    let rule = if mark.rule.is_empty() { String::new() } else { format!(", rule {}", mark.rule) };
    format!("{}{rule}: odds of a {what} {odds:.4}{draw}", mark.law)
}

/// Fate of packet and mark.
fn outcome(mark: &MarkResult, origin: Origin) -> String {
    let fate = match (mark.arrived_s, mark.lost.as_ref()) {
        (Some(at), _) => format!("arrived at {}", seconds(at)),
        (None, "") if origin == Origin::Cu => "went on to the DU; its fate is unknown".into(),
        (None, "") => "still on its way at the end of the run".into(),
        (None, cause) => format!("lost ({cause})"),
    };
    match mark.verdict.as_ref() {
        "drop" => "dropped by the law".into(),
        "short-circuit" => format!("acknowledgements carry the mark; the packet {fate}"),
        _ => format!("marked CE; {fate}"),
    }
}

/// Reaction of the sender.
fn sender(mark: &MarkResult, origin: Origin) -> String {
    let Some(at) = mark.answered_s else {
        return match mark.verdict.as_ref() {
            "drop" => "detects the loss by itself".into(),
            _ if origin != Origin::Simulated => {
                "unknown: it is a separate program, whose window and rate are not visible".into()
            }
            _ => "received no feedback about this mark before the end".into(),
        };
    };
    let change = |what: &str, before: Option<f64>, after: Option<f64>, unit: &str| {
        let (before, after) = (before?, after?);
        let percent = if before > 0.0 { (after / before - 1.0) * 100.0 } else { 0.0 };
        Some(match (before - after).abs() < 5e-3 {
            true => format!(", {what} stays at {after:.2} {unit}"),
            false => format!(", {what} {before:.2} -> {after:.2} {unit} ({percent:+.1} %)"),
        })
    };
    let window = change("window", mark.window_before_kb, mark.window_after_kb, "kB").unwrap_or_default();
    let rate = change("rate", mark.rate_before_mbps, mark.rate_after_mbps, "Mbit/s").unwrap_or_default();
    format!("received feedback at {}, {:.1} ms after the decision{window}{rate}", seconds(at), (at - mark.t_s) * 1e3)
}
