//! Runs a scenario and writes nothing: for a profiler.
//!
//!     valgrind --tool=callgrind target/release/examples/once scenarios/network/21-cells.toml duration="2 s"

use std::path::Path;

use tidemark_sim::Simulation;
use tidemark_sim::scenario::Scenario;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("once SCENARIO [KEY=VALUE]...")?;
    let overrides: Vec<_> = arguments.collect();
    let scenario = Scenario::load(Path::new(&file), &overrides).map_err(|error| error.to_string())?;
    let result = Simulation::new(&scenario)?.run(|_| true)?;
    println!("{}", result.flows.len());
    Ok(())
}
