//! The law `tide`: rate and queue against `l4span` over links measured in a car, with handovers and with a rate that falls to a third for seconds, which skip
//! where the traces are not there; shares of Prague and CUBIC in one DRB.

use std::path::Path;

use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

/// Throughput in Mbit/s and mean queue in ms of a CUBIC over a trace and a round trip in ms, two minutes.
fn driven(folder: &Path, trace: &str, round_trip: u64, law: &str) -> (f64, f64) {
    let text = format!(
        "name = \"driven\"\nduration = \"120 s\"\nwarmup = \"5 s\"\n[marker]\nlaw = \"{law}\"\n[[ue]]\nname = \"ue\"\n\
         channel = {{ model = \"trace\", {trace} }}\n\
         [[flow]]\nname = \"cubic\"\nue = \"ue\"\nround_trip = \"{round_trip} ms\"\nsender = {{ controller = \"cubic\" }}\n"
    );
    let scenario = Scenario::parse("driven.toml", &text, folder, &[]).unwrap();
    let result = Simulation::new(&scenario).unwrap().run(|_| true).unwrap();
    (result.flows[0].throughput_mbps, result.bearers[0].queue_ms.unwrap().mean)
}

#[test]
fn outages_and_dips_cost_a_classic_flow_little_rate_beside_a_shorter_queue() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if !folder.is_dir() {
        eprintln!("SKIPPED: {} is absent, nothing was measured", folder.display());
        return;
    }
    let handovers = "file = \"us-5g-driving-handover.csv\", column = \"throughput_mbps\"";
    let village = "file = \"drp_munich_village.csv\"";
    for (trace, round_trip, least_rate, longest_queue) in
        [(handovers, 38, 0.98, 0.9), (handovers, 106, 0.9, 0.75), (village, 106, 0.94, 0.6)]
    {
        let [(rate, queue), (of_tide, queue_of_tide)] =
            ["l4span", "tide"].map(|law| driven(&folder, trace, round_trip, law));
        assert!(of_tide >= least_rate * rate, "{trace}, {round_trip} ms: {of_tide} of {rate} Mbit/s");
        assert!(queue_of_tide <= longest_queue * queue, "{trace}, {round_trip} ms: {queue_of_tide} of {queue} ms");
    }
}

/// Jain's index over a Prague and a CUBIC in the DRB of each UE, in the second of two minutes: a start is no share.
fn evenness(channel: &str, round_trip: u64, ues: usize, seed: u64) -> Vec<f64> {
    let mut text = format!(
        "name = \"shared\"\nduration = \"120 s\"\nwarmup = \"60 s\"\nseed = {seed}\n[marker]\nlaw = \"tide\"\n"
    );
    for ue in 0..ues {
        text += &format!("[[ue]]\nname = \"u{ue}\"\nchannel = {{ model = \"{channel}\" }}\n");
        for controller in ["prague", "cubic"] {
            text += &format!(
                "[[flow]]\nname = \"{controller}{ue}\"\nue = \"u{ue}\"\nround_trip = \"{round_trip} ms\"\n\
                 sender = {{ controller = \"{controller}\" }}\n"
            );
        }
    }
    let scenario = Scenario::parse("shared.toml", &text, Path::new("."), &[]).unwrap();
    let result = Simulation::new(&scenario).unwrap().run(|_| true).unwrap();
    let jain = |flows: &[f64]| {
        flows.iter().sum::<f64>().powi(2) / (flows.len() as f64 * flows.iter().map(|rate| rate * rate).sum::<f64>())
    };
    let rates: Vec<_> = result.flows.iter().map(|flow| flow.throughput_mbps).collect();
    rates.chunks(2).map(jain).collect()
}

#[test]
fn prague_and_cubic_in_one_drb_share_evenly_after_a_minute() {
    for (channel, round_trip) in [("static", 38), ("static", 106), ("pedestrian", 38), ("pedestrian", 106)] {
        for (ues, seed) in [(1, 1), (1, 2), (4, 1), (4, 2)] {
            for (ue, jain) in evenness(channel, round_trip, ues, seed).into_iter().enumerate() {
                assert!(jain > 0.95, "{channel}, {round_trip} ms, {ues} UEs, seed {seed}, UE {ue}: {jain}");
            }
        }
    }
}
