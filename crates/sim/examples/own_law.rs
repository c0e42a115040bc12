//! Runs a marking law that this program defines, and one of Tidemark's beside it, in a cell:
//!
//! `cargo run --release -p tidemark-sim --example own_law`
//!
//! The law is all above `main`; nothing of Tidemark knows it. `docs/guide/adding-a-law.md` says what else a law can be asked.

use std::path::Path;

use tidemark_marker::{Arrival, Class, Decides, Law, LawConfig, MarkerConfig, Odds, Properties, StepConfig};
use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

/// Parameters of the law.
#[derive(Clone, Copy)]
struct SquareConfig {
    /// Sojourn in seconds at which every L4S packet is marked.
    limit: f64,
}

/// Law that marks L4S packets by the square of their predicted sojourn over a limit. A law with memory keeps it here.
struct Square(SquareConfig);

impl Law for Square {
    const PROPERTIES: Properties = Properties {
        name: "square",
        acts_on: "predicted sojourn",
        signals_to: "L4S",
        decides: Decides::OnArrival,
        looks_at_head: false,
        marks_reported: false,
        marks: true,
    };

    fn arrive(&mut self, arrival: &Arrival) -> Odds {
        // No rate is known before the first reports: nothing can be predicted, and nothing is marked.
        match arrival.egress.map(|egress| egress.rate.as_bytes_per_sec()) {
            Some(rate) if rate > 0.0 && arrival.class == Class::L4s => {
                let ratio = arrival.backlog / rate / self.0.limit;
                Odds::mark("square", ratio * ratio)
            }
            _ => Odds::NONE,
        }
    }
}

/// One L4S download, whose law is set below.
const SCENARIO: &str = r#"
name = "own-law"
duration = "6 s"
warmup = "2 s"
[[ue]]
name = "ue"
channel = { model = "static" }
[[flow]]
name = "download"
ue = "ue"
round_trip = "30 ms"
sender = { controller = "prague" }
"#;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    println!("law       queue  throughput");
    for (name, law) in laws() {
        let (queue_ms, mbps) = run(law)?;
        println!("{name:<8} {queue_ms:4.1} ms {mbps:4.1} Mbit/s");
    }
    Ok(())
}

fn laws() -> [(&'static str, LawConfig); 3] {
    let square = SquareConfig { limit: 0.02 };
    [
        ("none", LawConfig::default()),
        ("step", LawConfig::Step(StepConfig::default())),
        ("square", LawConfig::custom(move || Square(square))),
    ]
}

/// Gives the flow's mean queue in ms and its throughput in Mbit/s.
fn run(law: LawConfig) -> Result<(f64, f64), Box<dyn std::error::Error>> {
    let mut scenario = Scenario::parse("own-law", SCENARIO, Path::new(""), &[])?;
    scenario.marker = MarkerConfig::with_law(law);
    let result = Simulation::new(&scenario)?.run(|_| true)?;
    let flow = result.flows.first().ok_or("no flow")?;
    let queue = flow.queue.quantiles().ok_or("no packet")?;
    Ok((queue.mean, result.cell.throughput_mbps))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_law_keeps_the_queue_short_and_the_link_busy() {
        let [(_, none), _, (_, square)] = laws();
        let ((unmarked_ms, full), (queue_ms, mbps)) = (run(none).unwrap(), run(square).unwrap());
        assert!(queue_ms < unmarked_ms / 2.0 && queue_ms < 20.0, "{queue_ms} ms, {unmarked_ms} ms without a law");
        assert!(mbps > 0.7 * full, "{mbps} of {full} Mbit/s");
    }
}
