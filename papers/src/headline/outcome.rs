//! File of headlines: verdict, published effect and ours of each, with seeds and seconds.

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
    /// Reason of a verdict that runs do not give: not run, disputed, or calibrated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Number of seeds; none where it was not run.
    #[serde(default)]
    pub seeds: usize,
    /// First seed.
    #[serde(default)]
    pub first_seed: u64,
    /// Seconds that its runs took one after the other, by the clock of a machine that may have had other work.
    #[serde(default)]
    pub seconds: f64,
    /// True where the runs of a system without the mechanism fail it, false where they hold it; none where the null is argued.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub null_fails: Option<bool>,
    /// Commit of the program that ran it, where it knows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Parts.
    #[serde(default)]
    pub parts: Vec<part::Outcome>,
}

/// Outcomes of all headlines that were run, in their files' order.
#[derive(Default)]
pub(crate) struct Headlines {
    /// Outcomes.
    pub headline: Vec<Outcome>,
}

impl Headlines {
    /// Reads a file of headlines; an absent one has none.
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

    /// Takes new outcomes in the place of old ones, in the order of `ids`; others go.
    pub(crate) fn update<'a>(&mut self, new: Vec<Outcome>, ids: impl Iterator<Item = &'a str>) {
        let mut all: BTreeMap<_, _> = self.headline.drain(..).chain(new).map(|of| (of.id.clone(), of)).collect();
        self.headline = ids.filter_map(|id| all.remove(id)).collect();
    }

    /// Counts verdicts by paper, the word before an id's dot, and in all under an empty word.
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

    /// The file: a line a part.
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

    /// Headlines whose verdict among `others` is worse than here, as lines.
    pub(crate) fn worse_in(&self, others: &[Outcome]) -> Vec<String> {
        let before = |id: &str| self.headline.iter().find(|of| of.id == id);
        let worse = |now: &Outcome| match before(&now.id) {
            None => Some(format!("{}: has no verdict to be compared with", now.id)),
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
