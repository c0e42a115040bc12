//! File of headlines: the verdict, the published effect and ours, seeds and run time of each.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use miette::{IntoDiagnostic, Result, WrapErr};
use serde::{Deserialize, Serialize};

use super::part;
use super::verdict::Verdict;

/// Outcome of a headline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Outcome {
    /// Name of the headline.
    pub id: String,
    /// Verdict.
    pub verdict: Verdict,
    /// Claim in a few words.
    pub claim: String,
    /// Published effect in a few words.
    pub published: String,
    /// Figures, tables and sections that make the claim.
    pub source: String,
    /// Choices that the paper leaves open.
    pub conditions: String,
    /// Result of a system without the mechanism, in a sentence.
    pub null: String,
    /// Reason for a verdict that does not come from runs: not run, disputed, or calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of seeds; `None` if it was not run.
    #[serde(default)]
    pub seeds: usize,
    /// First seed.
    #[serde(default)]
    pub first_seed: u64,
    /// Total wall-clock time of its runs in seconds, on a machine that may have been busy.
    #[serde(default)]
    pub seconds: f64,
    /// True if the runs of a system without the mechanism fail it, false if they meet it; `None` if the null is argued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_fails: Option<bool>,
    /// Commit of the program that ran it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Parts.
    #[serde(default)]
    pub parts: Vec<part::Outcome>,
}

/// Outcomes of all headlines, in the order of their files.
#[derive(Default)]
pub(crate) struct Headlines {
    /// Outcomes.
    pub headline: Vec<Outcome>,
}

impl Headlines {
    /// Reads a file of headlines; a missing file has none.
    ///
    /// # Errors
    /// A file that can't be read, or that has another form.
    pub(crate) fn read(file: &Path) -> Result<Self> {
        #[derive(Deserialize)]
        struct File {
            headlines: Vec<Outcome>,
        }
        if !file.exists() {
            return Ok(Self::default());
        }
        let name = || file.display().to_string();
        let text = fs::read_to_string(file).into_diagnostic().wrap_err_with(name)?;
        let read: File = serde_json::from_str(&text).into_diagnostic().wrap_err_with(name)?;
        Ok(Self { headline: read.headlines })
    }

    /// Replaces old outcomes by new ones, in the order of `ids`; removes others.
    pub(crate) fn update<'a>(&mut self, new: Vec<Outcome>, ids: impl Iterator<Item = &'a str>) {
        let mut all: BTreeMap<_, _> = self.headline.drain(..).chain(new).map(|of| (of.id.clone(), of)).collect();
        self.headline = ids.filter_map(|id| all.remove(id)).collect();
    }

    /// Counts verdicts by paper, which is the word before an id's dot, and in total under `all`.
    pub(crate) fn counts(&self) -> BTreeMap<String, BTreeMap<&'static str, usize>> {
        let mut counts: BTreeMap<String, BTreeMap<&'static str, usize>> = BTreeMap::new();
        for of in &self.headline {
            let paper = of.id.split('.').next().unwrap_or_default();
            for part in ["all", paper] {
                *counts.entry(part.into()).or_default().entry(of.verdict.text()).or_default() += 1;
            }
        }
        counts
    }

    /// Text of the file, with one line per part.
    pub(crate) fn text(&self) -> Result<String> {
        let line = |of: &Outcome| -> serde_json::Result<String> {
            let parts = of.parts.iter().map(serde_json::to_string).collect::<serde_json::Result<Vec<_>>>()?;
            let head = serde_json::to_string(&Outcome { parts: Vec::new(), ..of.clone() })?;
            let head = head.strip_suffix("\"parts\":[]}").unwrap_or(&head);
            Ok(if parts.is_empty() {
                format!("{head}\"parts\":[]}}")
            } else {
                format!("{head}\"parts\":[\n{}\n]}}", parts.join(",\n"))
            })
        };
        let lines = self.headline.iter().map(line).collect::<serde_json::Result<Vec<_>>>().into_diagnostic()?;
        let counts = serde_json::to_string(&self.counts()).into_diagnostic()?;
        Ok(format!("{{\n\"counts\": {counts},\n\"headlines\": [\n{}\n]}}\n", lines.join(",\n")))
    }

    /// Lists, as lines, headlines whose verdict among `others` is worse than here.
    pub(crate) fn worse_in(&self, others: &[Outcome]) -> Vec<String> {
        let before = |id: &str| self.headline.iter().find(|of| of.id == id);
        let worse = |now: &Outcome| match before(&now.id) {
            None => Some(format!("{}: has no verdict to compare with", now.id)),
            Some(before) if now.verdict < before.verdict => {
                Some(format!("{}: {} before, {} now", now.id, before.verdict.text(), now.verdict.text()))
            }
            Some(_) => None,
        };
        others.iter().filter_map(worse).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(id: &str, verdict: Verdict) -> Outcome {
        Outcome {
            id: id.into(),
            verdict,
            claim: "c".into(),
            published: "p".into(),
            source: "s".into(),
            conditions: "o".into(),
            null: "n".into(),
            reason: None,
            seeds: 10,
            first_seed: 9001,
            seconds: 1.5,
            null_fails: Some(true),
            commit: None,
            parts: Vec::new(),
        }
    }

    #[test]
    fn a_file_of_headlines_is_read_as_it_was_written() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("headlines.json");
        let headlines = Headlines { headline: vec![outcome("a.x", Verdict::Holds), outcome("b.y", Verdict::NotRun)] };
        fs::write(&file, headlines.text().unwrap()).unwrap();
        assert_eq!(Headlines::read(&file).unwrap().headline, headlines.headline);
        assert_eq!(headlines.counts()["all"], BTreeMap::from([("holds", 1), ("not run", 1)]));
    }

    #[test]
    fn a_verdict_that_got_worse_is_named() {
        let before = Headlines { headline: vec![outcome("a.x", Verdict::Holds), outcome("a.y", Verdict::Fails)] };
        assert!(before.worse_in(&[outcome("a.x", Verdict::Holds), outcome("a.y", Verdict::DirectionOnly)]).is_empty());
        assert_eq!(before.worse_in(&[outcome("a.x", Verdict::Fails)]), ["a.x: holds before, fails now"]);
        assert_eq!(before.worse_in(&[outcome("a.z", Verdict::Fails)]).len(), 1);
    }
}
