//! Runs of many cells: results per cell add up, and the same seed gives the same bytes.

use serde_json::Value;
use tidemark_sim::{RunResult, output};

use crate::common;

const MANY: &str = r#"
name = "many"
duration = "6 s"
warmup = "2 s"
[network]
[[ue]]
name = "walker"
count = 12
channel = { model = "deployed", mobility = { kind = "random-waypoint", speed_kmh = 60 } }
[[flow]]
name = "download"
ue = "walker"
round_trip = "20 ms"
"#;

fn run(overrides: &[&str]) -> RunResult {
    common::run(MANY, overrides)
}

#[test]
fn results_per_cell_add_up_to_those_of_the_whole() {
    let result = run(&[]);
    assert_eq!(result.cells.len(), 21);
    let sum: f64 = result.cells.iter().map(|cell| cell.throughput_mbps).sum();
    assert!((sum / result.cell.throughput_mbps - 1.0).abs() < 1e-3, "{sum} of {}", result.cell.throughput_mbps);
    let used: f64 = result.cells.iter().filter_map(|cell| cell.utilisation).sum::<f64>() / 21.0;
    assert!((used - result.cell.utilisation.unwrap()).abs() < 1e-5);
    let ues: f64 = result.cells.iter().filter_map(|cell| cell.ues).sum();
    assert!((ues - 12.0).abs() < 0.02, "{ues}");
    let handovers: u64 = result.ues.iter().map(|ue| ue.place.as_ref().unwrap().handovers).sum();
    assert!(handovers > 5, "{handovers}");
}

fn report_data(result: &RunResult) -> Value {
    serde_json::from_str(&output::report_data(result).unwrap()).unwrap()
}

#[test]
fn the_report_has_a_row_and_a_series_for_each_cell_and_the_place_of_each_ue() {
    let data = report_data(&run(&["duration=3 s"]));
    assert_eq!(data["cells"][20]["name"], "7c");
    assert_eq!(data["series"]["cells"]["utilisation"][20].as_array().unwrap().len(), 30);
    let ue = &data["ues"][0];
    assert!(ue["sinr_db"].is_f64() && ue["position_m"][1].is_f64() && ue["cell"].is_string(), "{ue}");
    let cell = &data["cells"][20];
    assert!(cell["position_m"][0].is_f64() && cell["azimuth_deg"] == 270.0, "the third sector looks south: {cell}");
    // The way of a UE ends where its row says that it is, in the cell that its row names.
    let way = &data["series"]["ues"];
    let last = |field: &str| way[field][0].as_array().unwrap()[29].clone();
    assert_eq!([last("east_m").as_f64(), last("north_m").as_f64()], [0, 1].map(|axis| ue["position_m"][axis].as_f64()));
    assert_eq!(data["cells"][last("cell").as_u64().unwrap() as usize]["name"], ue["cell"]);
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_does_not() {
    let bytes = |overrides: &[&str]| serde_json::to_string(&run(overrides)).unwrap();
    assert_eq!(bytes(&[]), bytes(&[]));
    assert_ne!(bytes(&[]), bytes(&["seed=2"]));
}

#[test]
fn another_scheduler_leaves_places_and_traffic_of_a_seed_as_they_are() {
    let shown = |scheduler: &str| {
        let scheduler = format!("cell.scheduler.kind={scheduler}");
        let on_off = r#"flow.0.app={ app = "on-off", rate = "2 Mbit/s" }"#;
        let result = run(&[&scheduler, "flow.0.sender.controller=udp", on_off, "flow.0.count=12"]);
        let places: Vec<_> = result.ues.iter().map(|ue| ue.place.as_ref().unwrap().position_m).collect();
        let sent: Vec<_> = result.flows.iter().map(|flow| flow.sent_packets).collect();
        (places, sent, serde_json::to_string(&result.ues).unwrap())
    };
    let (turns, oldest) = (shown("round-robin"), shown("delay-based"));
    assert_eq!((&turns.0, &turns.1), (&oldest.0, &oldest.1));
    assert_ne!(turns.2, oldest.2, "the scheduler makes no difference at all: nobody shares a cell");
}

#[test]
fn handovers_that_forward_or_lose_conserve_bytes_with_every_kind_of_law() {
    // The simulator checks each flow's bytes itself, and has no result where they do not add up.
    for data in ["forwarded", "lost"] {
        for law in ["l4span", "codel"] {
            for f1u in ["0 ms", "5 ms"] {
                let handover = format!("network.handover={{ data = \"{data}\", marker = \"starts-anew\" }}");
                let (law, f1u) = (format!("marker.law={law}"), format!("cell.f1u.delay={f1u}"));
                let result = run(&[&handover, &law, &f1u, "flow.0.sender.controller=cubic", "flow.0.count=2"]);
                assert!(result.cell.throughput_mbps > 50.0, "{data} {law}: {}", result.cell.throughput_mbps);
            }
        }
    }
}

#[test]
fn a_scenario_without_a_network_says_nothing_of_one() {
    let text = "name = \"one\"\nduration = \"1 s\"\n[[ue]]\nname = \"ue\"\n";
    let result = common::run(text, &[]);
    let data = report_data(&result);
    assert!(data.get("cells").is_none() && data["ues"][0].get("cell").is_none());
    assert_eq!(data["series"]["ues"]["east_m"], serde_json::json!([]));
}
