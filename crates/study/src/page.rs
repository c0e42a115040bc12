//! Data of a study's page, from which the types of the page are written.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;
use tidemark_record::results;

use crate::plan::{Found, Plan};
use crate::run::VERSION;
use crate::search::Search;
use crate::statistics::quantile;
use crate::study::Study;
use crate::table::{Summary, Table};

results! {
    /// All that the page of a study shows.
    #[derive(Clone, Debug, Serialize)]
    pub struct StudyPage {
        /// Name of the study.
        pub name: String,
        /// Description of the study; empty if it has none.
        pub description: String,
        /// Version of the program.
        pub version: &'static str,
        /// Commit that the program was built from.
        pub commit: Option<String>,
        /// Varied keys and names of cases.
        pub columns: Vec<String>,
        /// True where every group of flows has points of its own.
        pub by_flow: bool,
        /// Metrics.
        pub metrics: Vec<StudyMetric>,
        /// Points, each of one group of flows where these are apart.
        pub points: Vec<StudyPoint>,
        /// Search of the study.
        pub search: Option<StudySearch>,
        /// Findings of the search.
        pub found: Vec<StudyFound>,
        /// Standard errors in the half-width of a 95 % confidence interval, by the number of values.
        pub quantiles: Vec<Option<f64>>,
        /// Text of the scenario.
        pub scenario: String,
        /// File of the scenario; `null` for one that can't be named to the command.
        pub file: Option<String>,
        /// True where the report of each run is kept, in the folder `series`.
        pub has_reports: bool,
    }

    /// A metric of a study.
    #[derive(Clone, Debug, Serialize)]
    pub struct StudyMetric {
        /// Path of the result field.
        pub name: String,
        /// Unit; `null` for counts and shares.
        pub unit: Option<&'static str>,
    }

    /// All seeds of a point, or of one group of its flows.
    #[derive(Clone, Debug, Serialize)]
    pub struct StudyPoint {
        /// Value of each column; `null` where the point does not vary it.
        pub values: Vec<Option<String>>,
        /// Name of the group of flows.
        pub flow: Option<String>,
        /// Seeds, in order.
        pub seeds: Vec<u64>,
        /// Key of the run of each seed.
        pub keys: Vec<String>,
        /// Assignments that make its runs, without the seed.
        pub set: Vec<String>,
        /// Value of each metric at each seed; `null` where it was not measured.
        pub metrics: Vec<Vec<Option<f64>>>,
    }

    /// Search for the largest value at which a condition holds.
    #[derive(Clone, Debug, Serialize)]
    pub struct StudySearch {
        /// Key of the parameter.
        pub key: String,
        /// Condition, in words.
        pub condition: String,
        /// Metric of the condition.
        pub metric: String,
        /// Bound of the condition.
        pub bound: f64,
    }

    /// Finding of a search at one point.
    #[derive(Clone, Debug, Serialize)]
    pub struct StudyFound {
        /// Varied values of the point.
        pub point: String,
        /// Largest value that meets the condition; `null` if 1 does not.
        pub value: Option<u64>,
        /// True if no larger value was tried.
        pub is_limit: bool,
    }
}

impl StudyPage {
    /// Page of a study with these results.
    pub fn new(study: &Study, plan: &Plan, table: &Table, found: &[Found]) -> Self {
        let summaries = table.summaries();
        let seeds = summaries.iter().map(|summary| summary.seeds.len()).max().unwrap_or(0);
        let sets: BTreeMap<_, _> = plan.runs(study).map(|run| (run.key, run.assignments)).collect();
        Self {
            name: study.name.clone(),
            description: study.description.clone(),
            version: VERSION,
            commit: study.program.commit.clone(),
            columns: table.columns.clone(),
            by_flow: table.by_flow,
            metrics: table.metrics.iter().map(|of| StudyMetric { name: of.name().into(), unit: of.unit() }).collect(),
            points: summaries.into_iter().map(|summary| StudyPoint::new(summary, &sets)).collect(),
            search: study.search.as_ref().map(StudySearch::new),
            found: found.iter().map(StudyFound::new).collect(),
            quantiles: (0..=seeds).map(|count| (count > 1).then(|| quantile((count - 1) as f64))).collect(),
            scenario: study.base.text.clone(),
            // A scenario from the standard input, or one that the command made, can't be named to it.
            file: Some(study.base.file.clone()).filter(|file| Path::new(file).exists()),
            has_reports: study.series,
        }
    }
}

impl StudyPoint {
    /// Point whose runs have these assignments, by their keys.
    fn new(Summary { values, flow, seeds, keys, metrics }: Summary, sets: &BTreeMap<String, Vec<String>>) -> Self {
        // The last one is the seed.
        let set = keys.first().and_then(|key| sets.get(key)?.split_last()).map_or_else(Vec::new, |(_, set)| set.into());
        Self { values, flow, seeds, keys, set, metrics }
    }
}

impl StudySearch {
    fn new(Search { key, condition, .. }: &Search) -> Self {
        let metric = condition.metric.name().into();
        Self { key: key.clone(), condition: condition.to_string(), metric, bound: condition.value }
    }
}

impl StudyFound {
    fn new(Found { point, value, is_limit }: &Found) -> Self {
        Self { point: point.label(), value: *value, is_limit: *is_limit }
    }
}

/// Types of the page, in TypeScript.
pub fn typescript() -> String {
    let heading = "/** Data of a study's page, written from crates/study/src/page.rs by `make reference`. */\n";
    heading.to_string() + &tidemark_record::fields::interfaces(STRUCTS)
}
