//! Bit rate recommendations end to end: from the cell's resource blocks to the server's encoder.

use tidemark_sim::RunResult;

use crate::common;

/// One video at a UE whose channel carries 20 Mbit/s, and another UE that takes half of the cell from 6 s to 12 s.
const TEXT: &str = r#"
name = "anbr"
duration = "18 s"
warmup = "2 s"

[[ue]]
name = "video"
channel = { model = "fixed", rate = "20 Mbit/s" }
anbr = {}

[[ue]]
name = "other"
channel = { model = "fixed", rate = "20 Mbit/s" }
rlc = { queue_sdus = 100 }

[[flow]]
name = "video"
ue = "video"
round_trip = "20 ms"
sender = { controller = "anbr", rule = "follow", rates = { min = "500 kbit/s", max = "30 Mbit/s" } }
app = { app = "video" }

[[flow]]
name = "other"
ue = "other"
round_trip = "20 ms"
sender = { controller = "udp" }
app = { app = "constant", rate = "30 Mbit/s", start = "6 s", stop = "12 s" }
"#;

fn run(overrides: &[&str]) -> RunResult {
    common::run(TEXT, overrides)
}

/// Mean rate of the video in Mbit/s between two seconds.
fn rate(result: &RunResult, from: usize, to: usize) -> f64 {
    let row = &result.series.flows.throughput_mbps[0][from * 10..to * 10];
    row.iter().sum::<f64>() / row.len() as f64
}

#[test]
fn a_follower_has_what_the_cell_can_give_and_yields_when_others_come() {
    let result = run(&[]);
    let (alone, shared, after) = (rate(&result, 3, 6), rate(&result, 8, 12), rate(&result, 14, 18));
    // Down by quantisation to the table, whose steps are 6 to 8 % there.
    assert!((16.0..20.1).contains(&alone) && (16.0..20.1).contains(&after), "{alone} {after}");
    assert!((8.0..10.5).contains(&shared), "{shared}");
    let anbr = result.ues[0].anbr.unwrap();
    // One each 40 ms of the 16 s that count.
    assert!((380..=400).contains(&anbr.recommendations), "{anbr:?}");
    assert!(result.ues[1].anbr.is_none());
    // Over time there is one to be known always, whose mean is that of all.
    let [own, other] = &result.series.ues.recommended_mbps[..] else { panic!() };
    let known: Vec<f64> = own[20..].iter().flatten().copied().collect();
    let mean = known.iter().sum::<f64>() / known.len() as f64;
    assert!(known.len() == 160 && (mean / anbr.mean_mbps - 1.0).abs() < 0.02, "{mean} {anbr:?}");
    assert!(other.iter().all(Option::is_none) && result.series.uplinks.recommended_mbps.is_empty());
}

#[test]
fn what_was_delivered_alone_never_finds_out_that_there_is_more() {
    let slow = "flow.video.sender.rates.initial=5 Mbit/s";
    let delivered = run(&["ue.video.anbr={ estimate = \"delivered\" }", slow]);
    let capacity = run(&[slow]);
    assert!(rate(&delivered, 3, 6) < 5.5, "{}", rate(&delivered, 3, 6));
    assert!(rate(&capacity, 3, 6) > 16.0, "{}", rate(&capacity, 3, 6));
}

#[test]
fn an_exact_recommendation_is_not_rounded_down_to_the_table() {
    let [rounded, exact] = [false, true].map(|exact| {
        let result = run(&[&format!("ue.video.anbr={{ exact = {exact} }}")]);
        result.ues[0].anbr.unwrap().mean_mbps
    });
    // Steps of the table are 6 to 8 % there: half a step in the mean.
    assert!(exact > 1.01 * rounded, "{exact} and {rounded} Mbit/s recommended");
    // A sender that begins just below what the cell gives keeps it, or loses a step with each window that has no queue.
    let from = "flow.video.sender.rates.initial=19 Mbit/s";
    let delivered =
        |key: &str| rate(&run(&[&format!("ue.video.anbr={{ estimate = \"delivered\"{key} }}"), from]), 3, 6);
    let (rounded, exact) = (delivered(""), delivered(", exact = true"));
    assert!(rounded < 10.0 && exact > 18.0, "rounding down feeds on itself: {rounded} and {exact} Mbit/s");
}

#[test]
fn a_recommendation_that_knows_the_queue_finds_the_rate_without_a_long_queue() {
    let slow = "flow.video.sender.rates.initial=5 Mbit/s";
    let aware =
        run(&["ue.video.anbr={ estimate = \"delivered\", queue_target = \"10 ms\", queue_horizon = \"40 ms\" }", slow]);
    let (alone, shared) = (rate(&aware, 3, 6), rate(&aware, 8, 12));
    // Of 20 and 10 Mbit/s, rounded down to the table.
    assert!(alone > 15.0 && shared > 8.5, "{alone} {shared}");
    let owd = aware.flows[0].owd_ms.unwrap();
    assert!(owd.p50 < 45.0 && owd.p95 < 80.0, "{owd:?}");
}

#[test]
fn a_recommendation_may_be_asked_for_but_not_sooner_than_the_prohibit_timer_allows() {
    let result = run(&["ue.video.anbr={ unsolicited = false, query_every = \"100 ms\", query_prohibit = \"400 ms\" }"]);
    let anbr = result.ues[0].anbr.unwrap();
    // Of ten questions a second, one in four waits for the timer and is sent for all; each that is sent is answered.
    assert!((39..=41).contains(&anbr.queries.unwrap()) && (118..=122).contains(&anbr.forbidden.unwrap()), "{anbr:?}");
    assert!(anbr.recommendations.abs_diff(anbr.queries.unwrap()) <= 1, "{anbr:?}");
    assert!((15.0..20.1).contains(&rate(&result, 14, 18)));
}

#[test]
fn both_hybrids_take_a_recommendation_and_answer_marks() {
    let law = "marker={ law = \"ramp\" }";
    let alone = run(&[law, "flow.video.sender.rule=max", "ue.video.anbr={ unsolicited = false }"]);
    for rule in ["max", "gradual"] {
        let result = run(&[law, &format!("flow.video.sender.rule={rule}")]);
        // At the start it is told what there is; later both fill the cell.
        let [start, alone] = [&result, &alone].map(|result| rate(result, 0, 1));
        assert!(start > 1.3 * alone, "{rule}: {start} and {alone} Mbit/s in the first second");
        assert!(result.flows[0].marked > 0, "{rule}");
    }
}

/// An upload of that video, beside an upload that takes half of the uplink from 6 s to 12 s. Two uplink slots in ten
/// carry some 11 Mbit/s.
const UPLINK: [&str; 6] = [
    "ue.*.channel={ model = \"static\" }",
    "ue.video.anbr={ direction = \"uplink\" }",
    "flow.video.direction=uplink",
    "flow.other.direction=uplink",
    "flow.other.app.rate=11 Mbit/s",
    "ue.other.rlc.queue_sdus=30",
];

#[test]
fn an_upload_follows_the_recommendation_for_its_own_logical_channel() {
    let result = run(&UPLINK);
    let (alone, shared, after) = (rate(&result, 3, 6), rate(&result, 8, 12), rate(&result, 14, 18));
    // Rounded down to the table, by up to a fifth.
    assert!((8.0..11.5).contains(&alone) && (8.0..11.5).contains(&after), "{alone} {after}");
    assert!((3.8..6.5).contains(&shared), "{shared}");
    let ue = &result.ues[0];
    assert!(ue.anbr.is_none() && result.ues[1].uplink_anbr.is_none());
    assert!(result.series.ues.recommended_mbps.is_empty());
    assert!(result.series.uplinks.recommended_mbps[0].last().unwrap().is_some_and(|mbps| (7.0..12.0).contains(&mbps)));
    let anbr = ue.uplink_anbr.unwrap();
    assert!((380..=400).contains(&anbr.recommendations), "{anbr:?}");
    // Who is told to send less before a queue stands has a short one; a constant rate above the share has none that is.
    let fixed = [&UPLINK[..], &["flow.video.sender={ controller = \"fixed\", rate = \"9 Mbit/s\" }"]].concat();
    let (followed, pushed) = (result.flows[0].owd_ms.unwrap(), run(&fixed).flows[0].owd_ms.unwrap());
    assert!(followed.p99 < 150.0 && pushed.p99 > 4.0 * followed.p99, "{followed:?} {pushed:?}");
}

#[test]
fn an_upload_may_ask_for_its_recommendation() {
    let asks = "ue.video.anbr={ direction = \"uplink\", unsolicited = false, query_every = \"400 ms\" }";
    // Queries wait behind data (TS 38.321 5.4.3.1.3), which the other upload leaves: at 18 s some are still on their way.
    let result = run(&[&UPLINK[..], &[asks, "duration=22 s"]].concat());
    let anbr = result.ues[0].uplink_anbr.unwrap();
    assert!(
        (49..=51).contains(&anbr.queries.unwrap()) && anbr.recommendations.abs_diff(anbr.queries.unwrap()) <= 1,
        "{anbr:?}"
    );
    assert!((8.0..11.5).contains(&rate(&result, 14, 18)));
}

#[test]
fn recommendations_of_one_direction_are_none_for_the_other() {
    // The download hears nothing of the uplink's recommendations: it stays at its initial rate.
    let result = run(&["ue.video.anbr={ direction = \"uplink\" }", "flow.video.sender.rates.initial=5 Mbit/s"]);
    assert!(result.ues[0].anbr.is_none());
    assert!((4.0..5.5).contains(&rate(&result, 3, 18)), "{}", rate(&result, 3, 18));
}
