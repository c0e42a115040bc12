//! Every law under a flow that ignores marks, with and without protection, alone and beside senders that answer, as CSV.
//!
//! `cargo run --release -p tidemark-sim --example overload > results/overload/overload.csv`

use std::path::Path;

use tidemark_marker::LawConfig;
use tidemark_sim::scenario::Scenario;
use tidemark_sim::{FlowResult, Simulation};

type Error = Box<dyn std::error::Error + Send + Sync>;

const SEEDS: u64 = 5;

/// Flow that answers, beside the flood in its bearer: a name, its sender, and its application.
const BESIDE: [(&str, &str, &str); 5] = [
    ("nobody", "prague", r#"{ app = "constant", rate = "1 kbit/s" }"#),
    ("prague", "prague", r#"{ app = "bulk" }"#),
    ("cubic", "cubic", r#"{ app = "bulk" }"#),
    ("scream", "scream", r#"{ app = "video" }"#),
    ("gcc", "gcc", r#"{ app = "video" }"#),
];

fn main() -> Result<(), Error> {
    let text = std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/overload.toml"))?;
    println!(
        "law,beside,protection,seed,flood_queue_p50_ms,flood_queue_p99_ms,flood_mbps,beside_queue_p50_ms,beside_mbps,\
         beside_dropped,elsewhere_mbps"
    );
    for law in LawConfig::names(|law| law.name != "none") {
        for (beside, controller, app) in BESIDE {
            for protection in [false, true] {
                for seed in 1..=SEEDS {
                    let set = [
                        format!("flow.beside.sender={{ controller = \"{controller}\" }}"),
                        format!("flow.beside.app={app}"),
                        format!("marker.law=\"{law}\""),
                        format!("marker.overload_protection={protection}"),
                        format!("seed={seed}"),
                    ];
                    println!("{law},{beside},{protection},{seed},{}", run(&text, &set)?);
                }
            }
        }
    }
    Ok(())
}

/// Figures of one run, as the heading has them.
fn run(text: &str, overrides: &[String]) -> Result<String, Error> {
    let scenario = Scenario::parse("overload.toml", text, Path::new(""), overrides)?;
    let result = Simulation::new(&scenario)?.run(|_| true)?;
    let flow = |name: &str| -> Result<&FlowResult, Error> {
        Ok(result.flows.iter().find(|flow| flow.name == name).ok_or("the scenario has another flow")?)
    };
    let (flood, beside, elsewhere) = (flow("flood")?, flow("beside")?, flow("elsewhere")?);
    let queue = |flow: &FlowResult| flow.queue_ms.map_or((0.0, 0.0), |queue| (queue.p50, queue.p99));
    let (p50, p99) = queue(flood);
    Ok(format!(
        "{p50:.1},{p99:.1},{:.2},{:.1},{:.2},{},{:.2}",
        flood.throughput_mbps,
        queue(beside).0,
        beside.throughput_mbps,
        beside.dropped,
        elsewhere.throughput_mbps
    ))
}
