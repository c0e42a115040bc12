//! `tidemark reproduce`: a published experiment, run again, its figures beside ours.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use miette::{IntoDiagnostic, Result, miette};
use serde::Deserialize;
use tidemark_sim::RunResult;
use tidemark_sim::distribution::Distribution;
use tidemark_sim::scenario::Scenario;

use crate::run;
use crate::table::{number, table, text};

const TARGETS: &str = include_str!("../../../scenarios/papers/targets.toml");
/// The scenarios of the papers, by their names: the command carries them.
const SCENARIOS: [(&str, &str); 1] = [("l4span.fig9.toml", include_str!("../../../scenarios/papers/l4span.fig9.toml"))];

#[derive(Args)]
pub struct Reproduce {
    /// The experiment or one of its targets, e.g. l4span.fig9 or l4span.fig9.prague
    #[arg(default_value = "l4span.fig9")]
    id: String,
    /// Seeds to run; figures are medians over the pooled packets of all seeds
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Folder for the results of every run
    #[arg(long, value_name = "DIR", default_value = "out/reproduce")]
    out: PathBuf,
}

#[derive(Deserialize)]
struct Targets {
    target: Vec<Target>,
}

/// A change between two of our own runs, held against the published one.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Target {
    id: String,
    source: String,
    /// File name of the scenario.
    scenario: String,
    /// What both sides have in common.
    set: Vec<String>,
    /// What the side without the law, and the side with it, override.
    baseline: Vec<String>,
    new: Vec<String>,
    metric: Metric,
    /// In percent.
    published: f64,
    /// In percentage points.
    slack: f64,
    /// Lowest change of the median throughput, in percent.
    guard: Option<f64>,
}

#[derive(Clone, Copy, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Metric {
    OneWayDelayMedian,
    RttMedian,
}

/// What one side of a comparison measured, pooled over seeds.
struct Side {
    delay_p50_ms: f64,
    throughput_p50_mbps: f64,
}

impl Reproduce {
    pub fn execute(&self) -> Result<()> {
        let targets: Targets = toml::from_str(TARGETS).into_diagnostic()?;
        let chosen: Vec<_> = targets.target.iter().filter(|target| target.id.starts_with(&self.id)).collect();
        if chosen.is_empty() {
            let known: Vec<_> = targets.target.iter().map(|target| target.id.as_str()).collect();
            return Err(miette!(
                "there is no target `{}`: use one of, or the beginning of, {}",
                self.id,
                known.join(", ")
            ));
        }
        let mut report = table(&[
            "target",
            "published %",
            "ours %",
            "delay p50 ms: without",
            "with",
            "throughput p50 %",
            "at least %",
            "verdict",
        ]);
        let mut markdown = String::from(
            "| target | published % | ours % | delay p50 without, ms | with, ms | throughput p50 % | at least % | verdict |\n\
             | --- | --- | --- | --- | --- | --- | --- | --- |\n",
        );
        for target in chosen {
            let without = self.side(target, "baseline", &target.baseline)?;
            let with = self.side(target, "new", &target.new)?;
            let delay = change(without.delay_p50_ms, with.delay_p50_ms);
            let throughput = change(without.throughput_p50_mbps, with.throughput_p50_mbps);
            let verdict = target.verdict(delay, throughput);
            report.add_row([
                text(&target.id),
                number(Some(target.published), 2),
                number(Some(delay), 2),
                number(Some(without.delay_p50_ms), 1),
                number(Some(with.delay_p50_ms), 1),
                number(Some(throughput), 2),
                number(target.guard, 1),
                text(verdict),
            ]);
            markdown.push_str(&format!(
                "| {} | {:.2} | {delay:.2} | {:.1} | {:.1} | {throughput:.2} | {} | {verdict} |\n",
                target.id,
                target.published,
                without.delay_p50_ms,
                with.delay_p50_ms,
                target.guard.map_or("–".into(), |guard| format!("{guard:.1}")),
            ));
            println!("{}: {}", target.id, target.source);
        }
        println!("{report}");
        fs::create_dir_all(&self.out).into_diagnostic()?;
        let file = self.out.join(format!("{}.md", self.id));
        fs::write(&file, markdown).into_diagnostic()?;
        println!("table: {}", file.display());
        Ok(())
    }

    /// Runs one side of a target for every seed.
    fn side(&self, target: &Target, name: &str, overrides: &[String]) -> Result<Side> {
        let (mut delay, mut throughput) = (Distribution::default(), Vec::new());
        let (_, source) = SCENARIOS
            .iter()
            .find(|(file, _)| *file == target.scenario)
            .ok_or_else(|| miette!("{}: there is no scenario {}", target.id, target.scenario))?;
        for seed in 1..=self.seeds {
            let all: Vec<_> = target.set.iter().chain(overrides).cloned().chain([format!("seed={seed}")]).collect();
            let scenario = Scenario::parse(&target.scenario, source, Path::new("."), &all).map_err(run::diagnostic)?;
            let result = run::simulate(&scenario, &format!("{} {name} seed {seed}", target.id))?;
            run::write(&self.out.join(&target.id).join(format!("{name}-{seed}")), &result)?;
            if let Some(at) = result.interrupted_at_s {
                return Err(miette!("interrupted at {at} s of {}", scenario.name));
            }
            for flow in &result.flows {
                delay.merge(match target.metric {
                    Metric::OneWayDelayMedian => &flow.owd,
                    Metric::RttMedian => &flow.rtt,
                });
            }
            throughput.extend(throughput_a_second(&result));
        }
        let nothing = || miette!("{}: {name}: no packet arrived", target.id);
        Ok(Side {
            delay_p50_ms: delay.quantile(0.5).ok_or_else(nothing)?,
            throughput_p50_mbps: median(throughput).ok_or_else(nothing)?,
        })
    }
}

impl Target {
    fn verdict(&self, delay: f64, throughput: f64) -> &'static str {
        let delay_agrees = delay <= self.published + self.slack;
        let guard_holds = self.guard.is_none_or(|guard| throughput >= guard);
        match (delay_agrees, guard_holds) {
            (true, true) => "agrees",
            (true, false) => "missed (throughput)",
            (false, true) => "missed (delay)",
            (false, false) => "missed (both)",
        }
    }
}

/// Throughput of every flow in every whole second after the warm-up, as iperf3 reports it.
fn throughput_a_second(result: &RunResult) -> Vec<f64> {
    let times = &result.series.t_s;
    let warm = times.iter().take_while(|t| **t <= result.warmup_s + 1e-9).count();
    let a_second = times.iter().take_while(|t| **t <= 1.0 + 1e-9).count().max(1);
    let flows = result.series.flows.throughput_mbps.iter();
    let seconds = flows.flat_map(|series| series[warm..].chunks_exact(a_second));
    seconds.map(|second| second.iter().sum::<f64>() / second.len() as f64).collect()
}

fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}

fn change(before: f64, after: f64) -> f64 {
    (after / before - 1.0) * 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_target_names_a_scenario_that_reads_with_its_overrides() {
        let targets: Targets = toml::from_str(TARGETS).unwrap();
        for target in targets.target {
            let (_, text) = SCENARIOS.iter().find(|(file, _)| *file == target.scenario).unwrap();
            for side in [&target.baseline, &target.new] {
                let overrides: Vec<_> = target.set.iter().chain(side).cloned().collect();
                Scenario::parse(&target.scenario, text, Path::new("."), &overrides).unwrap();
            }
        }
    }

    #[test]
    fn a_verdict_holds_delay_and_throughput_against_the_paper() {
        let target: Targets = toml::from_str(
            "[[target]]\nid = \"t\"\nsource = \"s\"\nscenario = \"x\"\nset = []\nbaseline = []\nnew = []\n\
             metric = \"rtt_median\"\npublished = -90\nslack = 2\nguard = -1\n",
        )
        .unwrap();
        let verdict = |delay, throughput| target.target[0].verdict(delay, throughput);
        assert_eq!(verdict(-88.0, -1.0), "agrees");
        assert_eq!(verdict(-99.0, 5.0), "agrees");
        assert_eq!(verdict(-87.9, 0.0), "missed (delay)");
        assert_eq!(verdict(-90.0, -1.1), "missed (throughput)");
    }
}
