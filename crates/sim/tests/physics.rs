//! Properties of a run whatever the controller: goodput, conservation, determinism, independence.

use tidemark_marker::LawConfig;
use tidemark_record::files::FILES;
use tidemark_sim::{RunResult, Simulation};

use crate::common::{read, run};

const FIXED: &str = r#"
name = "fixed"
duration = "20 s"
warmup = "5 s"

[[ue]]
name = "ue"
channel = { model = "fixed", rate = "40 Mbit/s" }

[[flow]]
name = "flow"
ue = "ue"
round_trip = "20 ms"
"#;

/// TCP payload of a full packet: 1500 bytes less IPv4, TCP and its timestamps.
const PAYLOAD_SHARE: f64 = 1448.0 / 1500.0;

#[test]
fn one_flow_reaches_the_goodput_that_headers_allow() {
    for (controller, law) in [("prague", "l4span"), ("cubic", "l4span"), ("cubic", "none"), ("prague", "none")] {
        let controller = format!("flow.0.sender={{ controller = \"{controller}\" }}");
        let result = run(FIXED, &[&controller, &format!("marker.law={law}")]);
        let allowed = 40.0 * PAYLOAD_SHARE;
        let goodput = result.flows[0].goodput_mbps;
        assert!(
            (0.97 * allowed..=1.001 * allowed).contains(&goodput.unwrap()),
            "{controller} {law}: {goodput:?} of {allowed}"
        );
    }
}

const MIXED: &str = r#"
name = "mixed"
duration = "6 s"
warmup = "1 s"

[marker]
law = "l4span"

[[ue]]
name = "am"
channel = { model = "vehicular", snr_db = 8 }

[[ue]]
name = "um"
channel = { model = "vehicular", snr_db = 3 }
rlc = { mode = "um", queue_sdus = 40 }

[[flow]]
name = "prague"
ue = "am"
round_trip = "20 ms"

[[flow]]
name = "cubic"
ue = "um"
round_trip = "40 ms"
sender = { controller = "cubic" }
app = { app = "bulk", start = "500 ms", stop = "4 s" }
"#;

/// Text of all that a run writes.
fn files(result: &RunResult) -> Vec<String> {
    let tables = FILES.iter().filter_map(|file| file.text(result));
    tables.chain([serde_json::to_string(result).unwrap()]).collect()
}

#[test]
fn the_same_scenario_and_seed_give_the_same_bytes_and_another_seed_does_not() {
    assert_eq!(files(&run(MIXED, &[])), files(&run(MIXED, &[])));
    assert_ne!(files(&run(MIXED, &[])), files(&run(MIXED, &["seed=2"])));
}

#[test]
fn bytes_are_conserved_with_full_queues_losses_and_every_law() {
    // The simulator checks each flow's bytes itself, and has no result where they do not add up.
    for law in LawConfig::names(|_| true) {
        for mode in ["am", "um"] {
            let law = format!("marker.law={law}");
            let result = run(MIXED, &[&law, &format!("ue.*.rlc.mode={mode}"), "ue.*.rlc.queue_sdus=30"]);
            let dropped: u64 = result.ues.iter().map(|ue| ue.dropped).sum();
            assert!(result.cell.throughput_mbps > 0.5, "{law} {mode}");
            assert!(dropped > 0 || law != "marker.law=none", "a queue of 30 packets drops without a law");
        }
    }
}

#[test]
fn adding_a_ue_changes_no_other_ues_channel() {
    // A UE alone on a carrier that its flow does not fill: what another UE could change is only the channel.
    let text = r#"
name = "alone"
duration = "5 s"
[[ue]]
name = "first"
channel = { model = "pedestrian" }
[[flow]]
name = "flow"
ue = "first"
round_trip = "20 ms"
sender = { controller = "udp" }
app = { app = "constant", rate = "2 Mbit/s" }
"#;
    let more = format!("{text}\n[[ue]]\nname = \"second\"\nchannel = {{ model = \"vehicular\" }}\n");
    let (alone, accompanied) = (run(text, &[]), run(&more, &[]));
    assert_eq!(alone.series.ues.mcs[0], accompanied.series.ues.mcs[0]);
    assert_eq!(alone.flows[0].owd_ms, accompanied.flows[0].owd_ms);
}

#[test]
fn first_transmissions_fail_one_time_in_ten_on_every_fading_channel() {
    for channel in ["pedestrian", "vehicular"] {
        for snr_db in [8, 15] {
            let text = format!(
                "name = \"bler\"\nduration = \"10 s\"\nwarmup = \"2 s\"\n[[ue]]\nname = \"ue\"\n\
                 channel = {{ model = \"{channel}\", snr_db = {snr_db} }}\n\
                 [[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"20 ms\"\n"
            );
            let bler = run(&text, &[]).ues[0].bler.unwrap();
            assert!((0.09..=0.11).contains(&bler), "{channel} at {snr_db} dB: {bler}");
        }
    }
}

#[test]
fn an_interrupted_run_keeps_what_it_has_and_says_so() {
    let scenario = read(FIXED, &[]);
    let stop = tidemark_core::Instant::from_millis(7_000);
    let result = Simulation::new(&scenario).unwrap().run(|now| now < stop).unwrap();
    assert_eq!(result.interrupted_at_s, Some(7.0));
    assert_eq!(result.series.t_s.len(), 70);
    assert!(result.flows[0].throughput_mbps > 30.0);
    assert!(serde_json::to_string(&result).unwrap().contains("\"interrupted_at_s\":7.0"));
}

#[test]
fn a_cell_without_flows_runs_and_uses_nothing() {
    let result = run("name = \"idle\"\nduration = \"60 min\"\nsample_interval = \"1 s\"\n[[ue]]\nname = \"ue\"\n", &[]);
    assert_eq!(result.cell.utilisation, Some(0.0));
    assert!(result.flows.is_empty() && result.ues[0].queue_ms.is_none());
}

#[test]
fn marks_are_a_flows_whether_packets_or_acknowledgements_carry_them() {
    for short_circuit in [false, true] {
        for controller in ["prague", "cubic"] {
            let sender = format!("flow.0.sender={{ controller = \"{controller}\" }}");
            let result = run(FIXED, &[&sender, "marker.law=l4span", &format!("marker.short_circuit={short_circuit}")]);
            let (flow, ue) = (&result.flows[0], &result.ues[0]);
            // They differ by what was under way as the warm-up ended.
            let decided = ue.marked.unwrap();
            assert!(flow.marked > 0, "{controller} {short_circuit}: none of {decided}");
            assert!(flow.marked.abs_diff(decided) <= 2 + decided / 50, "{controller} {short_circuit}: {}", flow.marked);
            let series: u64 = result.series.flows.marks[0].iter().sum();
            assert!(series >= flow.marked, "{series} with the warm-up's");
        }
    }
}

#[test]
fn handovers_that_a_scenario_sets_are_events_of_its_run() {
    let sender = "flow.0.sender={ controller = \"cubic\" }";
    let set =
        [sender, "ue.0.count=2", "ue.0.handovers=[\"1500 ms\", \"500 ms\", \"9 s\"]", "duration=2 s", "warmup=1 s"];
    let result = run(FIXED, &set);
    let events: Vec<_> = result.events.iter().map(|event| (event.t_s, event.ue.as_deref().unwrap())).collect();
    assert_eq!(events, [(0.5, "ue-1"), (0.5, "ue-2"), (1.5, "ue-1"), (1.5, "ue-2")]);
}
