//! Senders whose radio loses 39 of 40 parts of its rate, with and without overload protection, as CSV.
//!
//! `cargo run --release -p tidemark-sim --example capacity_loss > results/overload/loss.csv`

use std::path::Path;

use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

type Error = Box<dyn std::error::Error + Send + Sync>;

const SEEDS: u64 = 5;
const SENDERS: [&str; 7] = ["reno", "cubic", "bbr-v1", "bbr-v2", "bbr-v3", "prague", "udp-prague"];
const ROUND_TRIPS: [&str; 2] = ["38 ms", "106 ms"];

fn main() -> Result<(), Error> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    let text = std::fs::read_to_string(folder.join("capacity-loss.toml"))?;
    println!("sender,round_trip,protection,seed,sent,dropped,queue_p50_ms,queue_p99_ms,mbps");
    for sender in SENDERS {
        for round_trip in ROUND_TRIPS {
            for protection in [false, true] {
                for seed in 1..=SEEDS {
                    let overrides = [
                        format!("flow.download.sender={{ controller = \"{sender}\" }}"),
                        format!("flow.download.round_trip=\"{round_trip}\""),
                        format!("marker.overload_protection={protection}"),
                        format!("seed={seed}"),
                    ];
                    let scenario = Scenario::parse("capacity-loss.toml", &text, &folder, &overrides)?;
                    let result = Simulation::new(&scenario)?.run(|_| true)?;
                    let flow = result.flows.first().ok_or("the scenario has no flow")?;
                    let queue = flow.queue_ms.ok_or("no packet was delivered")?;
                    println!(
                        "{sender},{round_trip},{protection},{seed},{},{},{:.0},{:.0},{:.2}",
                        flow.sent_packets, flow.dropped, queue.p50, queue.p99, flow.throughput_mbps
                    );
                }
            }
        }
    }
    Ok(())
}
