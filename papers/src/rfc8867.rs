//! `tidemark-papers rfc8867`: test cases 5.1 to 5.7 of RFC 8867, for every media controller over every queue.

use std::collections::BTreeMap;
use std::path::PathBuf;

use clap::Args;
use miette::{Context, IntoDiagnostic, Result};
use serde::Deserialize;

use super::document::csv;
use super::expression::{Comparison, Measure};
use super::runs::{Runs, Wanted};
use super::target::{Claim, Targets};
use crate::carried::carried;
use tidemark_terminal::say;
use tidemark_terminal::table::{table, text};

const CASES: &str = carried!("scenarios/rfc8867/cases.toml");

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        const SCENARIOS: &[(&str, &str)] = &[$(($name, carried!("scenarios/rfc8867/", $name, ".toml"))),*];
    };
}
scenarios!("5.1", "5.2", "5.3", "5.4", "5.5", "5.6", "5.7");

/// Measured columns: heading, name of the figure, and name in the CSV.
const COLUMNS: [(&str, &str, &str); 6] = [
    ("rate, Mbit/s", "throughput_total", "throughput_mbps"),
    ("one-way delay p50, ms", "owd_p50", "owd_p50_ms"),
    ("p95, ms", "owd_p95", "owd_p95_ms"),
    ("packets lost, %", "loss_percent", "packets_lost_percent"),
    ("frames lost, %", "frames_lost_percent", "frames_lost_percent"),
    ("frozen, s", "frozen_s", "frozen_s"),
];

/// Arguments of `tidemark-papers rfc8867`.
#[derive(Args)]
pub(crate) struct Rfc8867 {
    /// Number of seeds; figures are means over them
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u64).range(1..=1000))]
    seeds: u64,
    /// Write the figures as a table (CSV)
    #[arg(long, value_name = "FILE")]
    csv: Option<PathBuf>,
    /// Folder of the runs' figures; runs that it has are not repeated
    #[arg(long, value_name = "DIR", default_value = super::STORE)]
    store: PathBuf,
    /// Repeat all runs, and keep their results in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Cases {
    controller: Vec<Part>,
    queue: Vec<Part>,
    case: Vec<Case>,
}

/// A controller or a queue, and its overrides.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    key: String,
    set: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    section: String,
    title: String,
    expects: String,
    /// Flows of a media controller, by their names in the scenario.
    media: Vec<String>,
    /// Kinds of flows that are reported.
    flows: Vec<String>,
    claim: Vec<Claim>,
    /// Reason of the misses.
    note: String,
}

/// Figures of one controller over one queue.
struct Row {
    controller: String,
    queue: String,
    /// Each kind of flow with its columns.
    flows: Vec<(String, Vec<Option<f64>>)>,
    claims: usize,
    /// Claims that do not hold, by their numbers from 1.
    missed: Vec<usize>,
}

impl Cases {
    fn load() -> Result<Self> {
        toml::from_str(CASES).into_diagnostic()
    }

    /// Gives the cases in the form of targets: each scenario's overrides by name.
    fn targets(&self) -> Targets {
        let parts = |case: &Case| -> BTreeMap<String, Vec<String>> {
            let for_flows = |set: &String| case.media.iter().map(|flow| set.replace("$flow", flow)).collect::<Vec<_>>();
            let controllers = self.controller.iter().map(|part| (part, part.set.iter().flat_map(for_flows).collect()));
            let queues = self.queue.iter().map(|part| (part, part.set.clone()));
            controllers.chain(queues).map(|(part, set)| (part.key.clone(), set)).collect()
        };
        Targets {
            parts: self.case.iter().map(|case| (case.section.clone(), parts(case))).collect(),
            scenarios: SCENARIOS,
            ..Targets::default()
        }
    }

    /// Pairs every controller with every queue.
    fn pairs(&self) -> impl Iterator<Item = (&Part, &Part)> {
        self.controller.iter().flat_map(|controller| self.queue.iter().map(move |queue| (controller, queue)))
    }
}

impl Rfc8867 {
    /// Runs every case, prints its figures and writes the table.
    ///
    /// # Errors
    /// A run that fails, or a table that can't be written.
    pub(crate) fn execute(&self) -> Result<()> {
        let cases = Cases::load()?;
        let targets = cases.targets();
        let seeds: Vec<_> = (1..=self.seeds).collect();
        let wanted = cases.case.iter().map(|case| case.wanted(&cases, &seeds)).collect::<Result<Vec<_>>>()?;
        let mut runs = Runs::new(&targets, &wanted, &self.store, self.out.clone())?;
        runs.make(&wanted)?;
        let mut lines = Vec::new();
        for case in &cases.case {
            let figure = |measure: &Measure| runs.mean(&case.section, &seeds, measure);
            let rows = cases.pairs().map(|(controller, queue)| case.row(controller, queue, &figure));
            let rows = rows.collect::<Result<Vec<_>>>()?;
            say!("{} {}\nExpected: {}\n{}", case.section, case.title, case.expects, on_terminal(&rows));
            say!("Claims: {}.\n{}\n", case.claims().join("; "), case.note.trim());
            lines.extend(rows.iter().flat_map(|row| row.cells(&case.section)));
        }
        if let Some(file) = &self.csv {
            let figures = COLUMNS.map(|(.., name)| name);
            let [rate, p50, p95, lost, frames, frozen] = figures;
            let head =
                ["case", "controller", "queue", "flows", rate, p50, p95, lost, frames, frozen, "claims", "missed"];
            std::fs::write(file, csv(&head, lines.into_iter())?)
                .into_diagnostic()
                .wrap_err_with(|| file.display().to_string())?;
        }
        Ok(())
    }
}

impl Case {
    /// Gives the numbered claims; misses name the numbers.
    fn claims(&self) -> Vec<String> {
        let numbered = (1..).zip(self.claim.iter().flat_map(Claim::expand));
        numbered.map(|(number, claim)| format!("({number}) {}", claim.says)).collect()
    }

    /// Lists the runs that the case needs.
    fn wanted(&self, cases: &Cases, seeds: &[u64]) -> Result<Wanted> {
        let measures = cases.pairs().map(|(controller, queue)| self.measures(controller, queue));
        let measures = measures.collect::<Result<Vec<_>>>()?.concat();
        Ok(Wanted { scenario: self.section.clone(), measures, seeds: seeds.to_vec() })
    }

    /// Lists the measures of a controller over a queue for columns and claims.
    fn measures(&self, controller: &Part, queue: &Part) -> Result<Vec<Measure>> {
        let id = id(controller, queue);
        let columns = self.flows.iter().flat_map(|flow| COLUMNS.iter().map(|(_, metric, _)| column(&id, metric, flow)));
        let mut measures: Vec<_> = columns.collect();
        for claim in self.claim.iter().flat_map(Claim::expand) {
            let comparison = Comparison::parse(&claim.holds.replace("$case", &id))?;
            let mut of_claim = Vec::new();
            comparison.values.iter().for_each(|value| value.measures(&mut of_claim));
            measures.extend(of_claim.into_iter().cloned());
        }
        Ok(measures)
    }

    fn row(&self, controller: &Part, queue: &Part, figure: &dyn Fn(&Measure) -> Option<f64>) -> Result<Row> {
        let id = id(controller, queue);
        let flows = self.flows.iter().map(|flow| {
            let columns = COLUMNS.iter().map(|(_, metric, _)| figure(&column(&id, metric, flow))).collect();
            (flow.clone(), columns)
        });
        let claims: Vec<_> = self.claim.iter().flat_map(Claim::expand).collect();
        let mut missed = Vec::new();
        for (number, claim) in (1..).zip(&claims) {
            let comparison = Comparison::parse(&claim.holds.replace("$case", &id))?;
            let values: Option<Vec<_>> = comparison.values.iter().map(|value| value.evaluate(figure)).collect();
            if !values.is_some_and(|values| comparison.holds(&values)) {
                missed.push(number);
            }
        }
        Ok(Row {
            controller: controller.name.clone(),
            queue: queue.name.clone(),
            flows: flows.collect(),
            claims: claims.len(),
            missed,
        })
    }
}

/// Measure of a column.
fn column(id: &str, metric: &str, flow: &str) -> Measure {
    Measure { metric: metric.into(), case: id.into(), flow: Some(flow.into()), window: None }
}

fn id(controller: &Part, queue: &Part) -> String {
    format!("{}.{}", controller.key, queue.key)
}

fn on_terminal(rows: &[Row]) -> String {
    let heads: Vec<_> = ["controller", "queue", "flows"]
        .into_iter()
        .chain(COLUMNS.iter().map(|(head, ..)| *head))
        .chain(["as expected"])
        .collect();
    let mut out = table(&heads);
    for row in rows {
        for (index, (flow, values)) in row.flows.iter().enumerate() {
            let verdict = if index == 0 { row.verdict() } else { String::new() };
            let values = values.iter().map(|value| text(&shown(*value)));
            let names = [text(&row.controller), text(&row.queue), text(flow)];
            out.add_row(names.into_iter().chain(values).chain([text(&verdict)]));
        }
    }
    out.to_string()
}

impl Row {
    /// Cells of the table, a row for each kind of flow; the first row has the claims.
    fn cells(&self, case: &str) -> Vec<[String; 12]> {
        let row = |(index, (flow, values)): (usize, &(String, Vec<Option<f64>>))| {
            let mut of_figures =
                values.iter().map(|value| value.map_or_else(String::new, |value| format!("{value:.2}")));
            let mut figure = || of_figures.next().unwrap_or_default();
            let missed = self.missed.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let [claims, missed] = if index == 0 { [self.claims.to_string(), missed] } else { Default::default() };
            [
                case.into(),
                self.controller.clone(),
                self.queue.clone(),
                flow.clone(),
                figure(),
                figure(),
                figure(),
                figure(),
                figure(),
                figure(),
                claims,
                missed,
            ]
        };
        self.flows.iter().enumerate().map(row).collect()
    }

    /// Gives `yes` if every claim holds, or else names the claims that do not.
    fn verdict(&self) -> String {
        if self.missed.is_empty() {
            return "yes".into();
        }
        let missed: Vec<_> = self.missed.iter().map(ToString::to_string).collect();
        format!("{} of {}, not {}", self.claims - missed.len(), self.claims, missed.join(", "))
    }
}

fn shown(value: Option<f64>) -> String {
    value.map_or("–".into(), |value| format!("{value:.2}"))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tidemark_sim::scenario::Scenario;

    use super::*;

    #[test]
    fn every_case_reads_with_each_controller_and_queue_and_every_claim() {
        let cases = Cases::load().unwrap();
        let targets = cases.targets();
        assert_eq!(cases.case.len(), SCENARIOS.len());
        for case in &cases.case {
            let text = targets.scenario(&case.section).unwrap();
            for (controller, queue) in cases.pairs() {
                let overrides = targets.overrides(&case.section, &id(controller, queue)).unwrap();
                let scenario = Scenario::parse(&case.section, &text, Path::new("."), &overrides).unwrap();
                let ues = scenario.ues();
                let of_media = scenario.flow.iter().filter(|flow| case.media.contains(&flow.name)).count();
                assert_eq!(of_media, case.media.len(), "{}", case.section);
                assert!(scenario.flows(&ues).len() >= of_media);
                case.row(controller, queue, &|_| Some(1.0)).unwrap();
            }
        }
    }
}
