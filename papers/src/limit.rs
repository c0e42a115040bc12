//! Limit beside a target: the figures of an oracle, a sender that knows the capacity one loop late, instead of the target's mechanisms.

use std::collections::BTreeSet;

use super::expression::Measure;
use super::results::{Beside, rounded};
use super::runs::{Runs, Wanted};
use super::target::{Oracle, Target, Targets};

/// Part of a case that replaces its mechanisms by the oracle.
const PART: &str = "oracle";

/// Number of compared seeds, the first ones of a target.
const SEEDS: usize = 3;

/// Compared figures: total throughput in Mbit/s, and mean one-way delay in ms.
const METRICS: [&str; 2] = ["throughput_total", "owd_mean"];

/// Cases of a target that are compared with an oracle's.
pub(super) struct Limit<'a> {
    scenario: &'a str,
    seeds: Vec<u64>,
    /// Case, and flow unless all flows are meant.
    cases: BTreeSet<(String, Option<String>)>,
}

/// Adds the overrides of each scenario's oracle to its parts.
pub(super) fn add_parts(targets: &mut Targets) {
    for (scenario, oracle) in &targets.oracle {
        targets.parts.entry(scenario.clone()).or_default().insert(PART.into(), oracle.set.clone());
    }
}

impl<'a> Limit<'a> {
    /// Takes every case that a target measures; none if the scenario has no oracle.
    pub(super) fn of(target: &'a Target, oracle: Option<&Oracle>, seeds: &[u64], measures: &[Measure]) -> Self {
        let has_one = oracle.is_some_and(|oracle| !oracle.set.is_empty());
        let cases = measures.iter().filter(|_| has_one).map(|of| (of.case.clone(), of.flow.clone())).collect();
        Self { scenario: &target.scenario, seeds: seeds.iter().copied().take(SEEDS).collect(), cases }
    }

    /// Lists the runs that it needs.
    pub(super) fn wanted(&self) -> Wanted {
        let measures = self.cases.iter().flat_map(|(case, flow)| {
            let both = [case.clone(), of_oracle(case)];
            both.into_iter().flat_map(move |case| METRICS.map(|metric| measure(metric, &case, flow.as_deref())))
        });
        Wanted { scenario: self.scenario.into(), measures: measures.collect(), seeds: self.seeds.clone() }
    }

    /// Gives the figures after the runs.
    pub(super) fn judge(&self, runs: &Runs<'_>) -> Vec<Beside> {
        let beside = |(case, flow): &(String, Option<String>)| {
            let mean = |measure: &Measure| runs.mean(self.scenario, &self.seeds, measure).map(rounded);
            let of = |case: &str| METRICS.map(|metric| mean(&measure(metric, case, flow.as_deref())));
            let ([rate, delay], [oracle_rate, oracle_delay]) = (of(case), of(&of_oracle(case)));
            let name = flow.as_ref().map_or_else(|| case.clone(), |flow| format!("{case}/{flow}"));
            Beside { case: name, rate, delay, oracle_rate, oracle_delay }
        };
        self.cases.iter().map(beside).collect()
    }
}

fn of_oracle(case: &str) -> String {
    format!("{case}.{PART}")
}

fn measure(metric: &str, case: &str, flow: Option<&str>) -> Measure {
    Measure { metric: metric.into(), case: case.into(), flow: flow.map(Into::into), window: None }
}
