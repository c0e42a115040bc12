//! The law `tide` against `l4span` over links measured in a car, with handovers and with a rate that falls to a third for seconds. Skips where the traces are not there.

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
