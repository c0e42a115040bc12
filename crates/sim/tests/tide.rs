//! The law `tide` against `l4span` over a link with handovers, measured in a car. Skips where the trace is not there.

use std::path::Path;

use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

/// Throughput in Mbit/s and mean queue in ms of a CUBIC over 38 ms, two minutes.
fn driven(folder: &Path, law: &str) -> (f64, f64) {
    let text = format!(
        "name = \"handovers\"\nduration = \"120 s\"\nwarmup = \"5 s\"\n[marker]\nlaw = \"{law}\"\n[[ue]]\nname = \"ue\"\n\
         channel = {{ model = \"trace\", file = \"us-5g-driving-handover.csv\", column = \"throughput_mbps\" }}\n\
         [[flow]]\nname = \"cubic\"\nue = \"ue\"\nround_trip = \"38 ms\"\nsender = {{ controller = \"cubic\" }}\n"
    );
    let scenario = Scenario::parse("handovers.toml", &text, folder, &[]).unwrap();
    let result = Simulation::new(&scenario).unwrap().run(|_| true).unwrap();
    (result.flows[0].throughput_mbps, result.bearers[0].queue_ms.unwrap().mean)
}

#[test]
fn handovers_cost_a_classic_flow_little_rate_and_save_a_third_of_its_queue() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces");
    if !folder.is_dir() {
        eprintln!("SKIPPED: {} is absent, nothing was measured", folder.display());
        return;
    }
    let ((rate, queue), (of_tide, queue_of_tide)) = (driven(&folder, "l4span"), driven(&folder, "tide"));
    assert!(of_tide >= 0.95 * rate, "{of_tide} of {rate} Mbit/s");
    assert!(queue_of_tide <= 0.67 * queue, "{queue_of_tide} of {queue} ms");
}
