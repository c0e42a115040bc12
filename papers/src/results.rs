//! File of results: the rows of every target with their verdicts. Tables are written from it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use miette::{IntoDiagnostic, Result, WrapErr};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};
use tidemark_study::statistics::Estimate;

use super::target::{Contradiction, Kind};
use super::verdict::{Tally, Verdict};

/// Results of all targets that were run, in the targets' order.
#[derive(Default)]
pub(super) struct Results {
    /// Outcomes.
    pub targets: Vec<Outcome>,
}

/// Outcome of a target.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Outcome {
    /// Name of the target.
    pub id: String,
    /// Short name of the paper.
    pub paper: String,
    /// Mechanism that the target is about.
    pub mechanism: String,
    /// Comparison with the published figures.
    pub kind: Kind,
    /// Paper and figure, as a reader would cite them.
    pub source: String,
    /// Statement of the paper.
    pub text: String,
    /// Number of seeds.
    pub seeds: usize,
    /// Number of seeds by part, for rows whose cases have that part.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub seeds_with: BTreeMap<String, u64>,
    /// Commit of the program that ran it, if known.
    pub commit: Option<String>,
    /// Verdict on the whole target.
    pub verdict: Verdict,
    /// Origin of values taken from published results.
    pub calibrated: Option<String>,
    /// Rows that the target was calibrated to.
    #[serde(default)]
    pub calibrated_to: Vec<String>,
    /// Reason of the difference.
    pub note: Option<String>,
    /// Figures of the paper that can't be met, with the evidence.
    #[serde(default)]
    pub contradicted: Vec<Contradiction>,
    /// Sentence on the limit beside the target, or on the reason why there is none.
    pub limit_says: Option<String>,
    /// Rates and delays, compared with those of a sender that knows the capacity one loop late.
    #[serde(default)]
    pub limit: Vec<Beside>,
    /// Names of the pictures that show the target, tables of `results/papers/pictures`.
    #[serde(default)]
    pub pictures: Vec<String>,
    /// Figures, then claims.
    pub rows: Vec<Row>,
}

/// Rate in Mbit/s and mean one-way delay in ms of a case and of the oracle: means over the first seeds, absent if not measured.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Beside {
    /// Case, and after a slash its flow unless all flows are meant.
    pub case: String,
    /// Total throughput of its flows.
    pub rate: Option<f64>,
    /// Delay of their packets.
    pub delay: Option<f64>,
    /// Throughput with the oracle instead.
    pub oracle_rate: Option<f64>,
    /// Delay with the oracle instead.
    pub oracle_delay: Option<f64>,
}

impl Beside {
    /// Rate as a share of the oracle's.
    pub(super) fn share(&self) -> Option<f64> {
        Some(self.rate? / self.oracle_rate?).filter(|share| share.is_finite())
    }
    /// Delay as a multiple of the oracle's.
    pub(super) fn times(&self) -> Option<f64> {
        Some(self.delay? / self.oracle_delay?).filter(|times| times.is_finite())
    }
}

/// A figure beside the published one, or a claim.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    /// Name of the figure, or the claim in words.
    pub name: String,
    /// Kind of comparison with the publication.
    pub kind: Kind,
    /// Verdict.
    pub verdict: Verdict,
    /// True for this project's own claim, which is not counted.
    #[serde(default, skip_serializing_if = "is_false")]
    pub own: bool,
    /// Value of the paper, for a figure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub published: Option<f64>,
    /// Our values: one for a figure, the compared ones for a claim.
    pub ours: Vec<Value>,
    /// Mean of each figure in a value that combines several.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub figures: BTreeMap<String, f64>,
    /// Values that agree, in words; for a claim the orders between its values.
    pub agrees_if: String,
    /// True if other seeds may change the verdict: a bound lies within our interval, or the difference of two runs is smaller than
    /// the width of its interval.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_near: bool,
}

/// Our value: a mean over seeds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Value {
    /// Formula.
    pub formula: String,
    /// Mean; `None` where it was not measured.
    pub mean: Option<f64>,
    /// Half-width of the 95 % confidence interval; `None` for a single run.
    pub half: Option<f64>,
}

/// Counts of rows and targets in a part of the results.
#[derive(Clone, Copy, Default, Debug, PartialEq, Serialize)]
pub(super) struct Counts {
    /// Rows, without claims of this project.
    pub rows: Tally,
    /// Targets.
    pub targets: Tally,
}

impl Value {
    /// Takes an estimate, rounded to six digits.
    pub(super) fn new(formula: &str, ours: Option<Estimate>) -> Self {
        let half = ours.and_then(|ours| ours.half);
        Self { formula: formula.into(), mean: ours.map(|ours| rounded(ours.mean)), half: half.map(rounded) }
    }
}

impl Outcome {
    /// Rows of the paper, without claims of this project.
    pub(super) fn of_paper(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter().filter(|row| !row.own)
    }

    /// Counts the paper's rows.
    pub(super) fn tally(&self) -> Tally {
        Tally::of(self.of_paper().map(|row| row.verdict))
    }
}

impl Results {
    /// Reads a file of results; a missing file has none.
    ///
    /// # Errors
    /// A file that can't be read, or that has another form.
    pub(super) fn read(file: &Path) -> Result<Self> {
        if !file.exists() {
            return Ok(Self::default());
        }
        let text = fs::read_to_string(file).into_diagnostic().wrap_err_with(|| file.display().to_string())?;
        Self::parse(&text).wrap_err_with(|| format!("{} is not a file of results: remove it", file.display()))
    }

    fn parse(text: &str) -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            targets: Vec<Outcome>,
        }
        serde_json::from_str(text).map(|File { targets }| Self { targets }).into_diagnostic()
    }

    /// Replaces old outcomes by new ones, removes targets that are not among `ids`, and sorts by `ids`.
    pub(super) fn update<'a>(&mut self, new: Vec<Outcome>, ids: impl Iterator<Item = &'a str>) {
        let mut all: BTreeMap<_, _> = self.targets.drain(..).chain(new).map(|of| (of.id.clone(), of)).collect();
        self.targets = ids.filter_map(|id| all.remove(id)).collect();
    }

    /// Counts all rows and targets.
    pub(super) fn counts(&self) -> Counts {
        self.counts_by(|_| Some(String::new())).remove("").unwrap_or_default()
    }

    /// Counts outcomes by the name that `part` gives them.
    pub(super) fn counts_by(&self, part: impl Fn(&Outcome) -> Option<String>) -> BTreeMap<String, Counts> {
        let mut names: BTreeMap<String, Vec<&Outcome>> = BTreeMap::new();
        for outcome in &self.targets {
            if let Some(name) = part(outcome) {
                names.entry(name).or_default().push(outcome);
            }
        }
        let counts = |of: Vec<&Outcome>| Counts {
            rows: Tally::of(of.iter().flat_map(|of| of.of_paper()).map(|row| row.verdict)),
            targets: Tally::of(of.iter().map(|of| of.verdict)),
        };
        names.into_iter().map(|(name, of)| (name, counts(of))).collect()
    }

    /// Counts rows by kind.
    pub(super) fn rows_by_kind(&self) -> BTreeMap<Kind, Tally> {
        let rows = || self.targets.iter().flat_map(Outcome::of_paper);
        let kinds = [Kind::Value, Kind::Reduction, Kind::Relation];
        let of = |kind| Tally::of(rows().filter(|row| row.kind == kind).map(|row| row.verdict));
        kinds.into_iter().map(|kind| (kind, of(kind))).collect()
    }

    /// Text of the file, with one line per row.
    pub(super) fn text(&self) -> Result<String> {
        let json = |value: &dyn Fn() -> serde_json::Result<String>| value().into_diagnostic();
        let mut out = String::from("{\n");
        for (name, line) in [
            ("all", json(&|| serde_json::to_string(&self.counts()))?),
            ("by_paper", json(&|| serde_json::to_string(&self.counts_by(|of| Some(of.paper.clone()))))?),
            ("by_mechanism", json(&|| serde_json::to_string(&self.counts_by(|of| Some(of.mechanism.clone()))))?),
            ("rows_by_kind", json(&|| serde_json::to_string(&self.rows_by_kind()))?),
        ] {
            let _ = writeln!(out, "\"{name}\": {line},");
        }
        out.push_str("\"targets\": [\n");
        let targets: Vec<_> = self.targets.iter().map(lines).collect::<serde_json::Result<_>>().into_diagnostic()?;
        Ok(out + &targets.join(",\n") + "\n]}\n")
    }

    /// Lists, as lines, rows that agree in these results but not in `others`, or are missing there, and targets that these results lack.
    pub(super) fn worse_in(&self, others: &[Outcome]) -> Vec<String> {
        let mut worse = Vec::new();
        for other in others {
            let Some(outcome) = self.targets.iter().find(|of| of.id == other.id) else {
                worse.push(format!("{}: has no results to compare with", other.id));
                continue;
            };
            for row in outcome.of_paper().filter(|row| row.verdict == Verdict::Agrees) {
                let now = other.rows.iter().find(|now| now.name == row.name);
                if now.is_none_or(|now| now.verdict != Verdict::Agrees) {
                    let now = now.map_or("gone", |now| now.verdict.text());
                    worse.push(format!("{}: {}: {} before, {now} now", other.id, row.name, row.verdict.text()));
                }
            }
        }
        worse
    }
}

/// An outcome as JSON, with one line per row and per case with a limit.
fn lines(outcome: &Outcome) -> serde_json::Result<String> {
    let Json::Object(mut head) = serde_json::to_value(outcome)? else { return Ok(String::new()) };
    head.remove("rows");
    head.remove("limit");
    let head: Map<_, _> =
        head.into_iter().filter(|(_, value)| !value.is_null() && *value != Json::Array(vec![])).collect();
    let head = serde_json::to_string(&head)?;
    let head = head.strip_suffix('}').unwrap_or(&head);
    let rows = outcome.rows.iter().map(serde_json::to_string).collect::<serde_json::Result<Vec<_>>>()?;
    let limit = outcome.limit.iter().map(serde_json::to_string).collect::<serde_json::Result<Vec<_>>>()?;
    let limit = if limit.is_empty() { String::new() } else { format!("\"limit\": [\n{}\n],\n", limit.join(",\n")) };
    Ok(format!("{head},\n{limit}\"rows\": [\n{}\n]}}", rows.join(",\n")))
}

/// A number rounded to six digits: further digits may differ between builds.
pub(super) fn rounded(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}

fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(id: &str, rows: &[(&str, Verdict)]) -> Outcome {
        let row = |(name, verdict): &(&str, Verdict)| Row {
            name: (*name).into(),
            kind: Kind::Value,
            verdict: *verdict,
            own: name.starts_with("own"),
            published: Some(1.5),
            ours: vec![Value { formula: "owd_p50[a]".into(), mean: Some(1.25), half: None }],
            figures: BTreeMap::new(),
            agrees_if: "1.00 to 2.00".into(),
            is_near: false,
        };
        let rows: Vec<_> = rows.iter().map(row).collect();
        Outcome {
            id: id.into(),
            paper: id.split('.').next().unwrap_or_default().into(),
            mechanism: "M".into(),
            kind: Kind::Value,
            source: "Paper, Fig. 1".into(),
            text: String::new(),
            seeds: 1,
            seeds_with: BTreeMap::new(),
            commit: None,
            verdict: Tally::of(rows.iter().map(|row| row.verdict)).verdict(),
            calibrated: None,
            calibrated_to: Vec::new(),
            note: Some("a } in a note".into()),
            contradicted: Vec::new(),
            limit_says: Some("At best.".into()),
            limit: vec![Beside {
                case: "x".into(),
                rate: Some(3.0),
                delay: Some(30.0),
                oracle_rate: Some(4.0),
                oracle_delay: None,
            }],
            pictures: vec!["a.1".into()],
            rows,
        }
    }

    #[test]
    fn a_file_of_results_is_read_as_it_was_written() {
        let targets = vec![
            outcome("a.1", &[("x", Verdict::Agrees), ("y", Verdict::Missed)]),
            outcome("b.1", &[("x", Verdict::Tie)]),
        ];
        let results = Results { targets };
        let text = results.text().unwrap();
        assert_eq!(Results::parse(&text).unwrap().targets, results.targets);
        assert_eq!(text.lines().filter(|line| line.contains("owd_p50")).count(), 3, "{text}");
        assert!(Results::parse("{}").is_err());
    }

    #[test]
    fn a_run_of_some_targets_keeps_the_others_in_their_order() {
        let mut results = Results { targets: vec![outcome("gone", &[]), outcome("b", &[("x", Verdict::Missed)])] };
        results.update(vec![outcome("c", &[]), outcome("a", &[])], ["a", "b", "c", "d"].into_iter());
        assert_eq!(results.targets.iter().map(|of| of.id.as_str()).collect::<Vec<_>>(), ["a", "b", "c"]);
        assert_eq!(results.targets[1].rows.len(), 1);
    }

    #[test]
    fn counts_leave_claims_of_this_project_out() {
        let rows = [("x", Verdict::Agrees), ("own y", Verdict::Agrees), ("z", Verdict::Missed)];
        let results = Results { targets: vec![outcome("a.1", &rows), outcome("b.1", &[("x", Verdict::Calibrated)])] };
        let counts = results.counts();
        assert_eq!((counts.rows.agrees, counts.rows.counted(), counts.rows.calibrated), (1, 2, 1));
        assert_eq!((counts.targets.missed, counts.targets.calibrated), (1, 1));
        assert_eq!(results.counts_by(|of| Some(of.paper.clone()))["a"].rows.counted(), 2);
        assert_eq!(results.rows_by_kind()[&Kind::Value].counted(), 2);
    }

    #[test]
    fn a_row_that_agreed_and_is_missed_is_named() {
        use Verdict::{Agrees, Missed, Tie};
        let before =
            Results { targets: vec![outcome("a", &[("x", Agrees), ("y", Agrees), ("z", Missed), ("own", Agrees)])] };
        let now = |rows: &[(&str, Verdict)]| before.worse_in(&[outcome("a", rows)]);
        assert!(now(&[("x", Agrees), ("y", Agrees), ("z", Missed), ("own", Missed)]).is_empty());
        assert_eq!(now(&[("x", Tie), ("y", Agrees)]), ["a: x: agrees before, tie now"]);
        assert_eq!(now(&[("x", Agrees)]), ["a: y: agrees before, gone now"]);
        assert_eq!(before.worse_in(&[outcome("b", &[])]), ["b: has no results to compare with"]);
    }
}
