//! `tidemark-papers --headlines`: the claims by which a paper counts as reproduced, as effects between runs that differ in one respect.
//!
//! Runs of both arms share their seeds: channel, places and arrivals. A headline holds if each of its parts does. A part is an effect,
//! whose interval must exclude no effect and whose size must lie within bounds, the rank and slope of a column, an order, or a bound. A
//! headline has no power if a system without the mechanism, its null, also meets it.

pub(super) mod declared;
mod outcome;
mod part;
pub(super) mod statistics;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};

use miette::{Result, WrapErr};

use super::expression::Measure;
use super::results::rounded;
use super::runs::{Runs, Wanted};
use declared::Headline;
pub(super) use outcome::{Headlines, Outcome};
use part::Prepared;
use verdict::Verdict;

/// Default number of paired seeds of a headline.
pub(super) const SEEDS: u64 = 10;

/// First seed. These seeds were not used for anything else.
pub(super) const FIRST_SEED: u64 = 9001;

/// Headline with its formulas and those of its null.
pub(super) struct Ready<'a> {
    headline: &'a Headline,
    seeds: Vec<u64>,
    parts: Vec<Prepared<'a>>,
    /// Parts with the cases of the null; none if the null is argued.
    null: Vec<Prepared<'a>>,
}

impl<'a> Ready<'a> {
    /// Reads the formulas of a headline.
    ///
    /// # Errors
    /// A formula that can't be read.
    pub(super) fn new(headline: &'a Headline, seeds: Vec<u64>) -> Result<Self> {
        let with = |replace: &[(String, String)]| -> Result<Vec<_>> {
            let one = |part| Prepared::new(part, replace).wrap_err_with(|| headline.id.clone());
            headline.part.iter().filter(|_| headline.not_run.is_none()).map(one).collect()
        };
        let replace = &headline.null.replace;
        let null = if replace.is_empty() { Vec::new() } else { with(replace)? };
        Ok(Self { headline, seeds, parts: with(&[])?, null })
    }

    /// Lists the runs that it needs, a list for each scenario.
    pub(super) fn wanted(&self) -> Vec<Wanted> {
        let mut scenarios: BTreeMap<String, BTreeSet<Measure>> = BTreeMap::new();
        for measure in self.parts.iter().chain(&self.null).flat_map(Prepared::measures) {
            let (scenario, measure) = self.placed(measure);
            scenarios.entry(scenario.into()).or_default().insert(measure);
        }
        let of = |(scenario, measures): (String, BTreeSet<Measure>)| Wanted {
            scenario,
            measures: measures.into_iter().collect(),
            seeds: self.seeds.clone(),
        };
        scenarios.into_iter().map(of).collect()
    }

    /// Judges the headline after the runs.
    pub(super) fn judge(&self, runs: &Runs<'_>) -> Outcome {
        let figure = |seed: usize, measure: &Measure| {
            let (scenario, measure) = self.placed(measure);
            runs.figure(scenario, self.seeds[seed], &measure)
        };
        let judge = |parts: &[Prepared<'_>]| -> Vec<_> {
            parts.iter().map(|part| part.judge(self.seeds.len(), &figure)).collect()
        };
        let (parts, null) = (judge(&self.parts), judge(&self.null));
        let null_holds = !null.is_empty() && null.iter().all(|part| part.verdict == verdict::Part::Holds);
        let headline = self.headline;
        let (verdict, reason) = if let Some(reason) = &headline.not_run {
            (Verdict::NotRun, Some(reason))
        } else if let Some(reason) = &headline.disputed {
            (Verdict::Disputed, Some(reason))
        } else {
            let has_no_power = null_holds || headline.calibrated.is_some();
            (Verdict::of(parts.iter().map(|part| part.verdict), has_no_power), headline.calibrated.as_ref())
        };
        let is_run = headline.not_run.is_none();
        Outcome {
            id: headline.id.clone(),
            verdict,
            claim: headline.claim.clone(),
            published: headline.published.clone(),
            source: headline.source.clone(),
            conditions: headline.conditions.clone(),
            null: headline.null.says.clone(),
            reason: reason.cloned(),
            seeds: if is_run { self.seeds.len() } else { 0 },
            first_seed: self.seeds.first().copied().filter(|_| is_run).unwrap_or(0),
            seconds: rounded(self.wanted().iter().map(|of| runs.seconds(of)).sum()),
            null_fails: (!null.is_empty()).then_some(!null_holds),
            commit: tidemark_version::COMMIT.filter(|_| is_run).map(Into::into),
            parts,
        }
    }

    /// Scenario of a figure, and the figure with the case's name in that scenario.
    fn placed<'b>(&'b self, measure: &'b Measure) -> (&'b str, Measure) {
        match measure.case.split_once(':') {
            Some((scenario, case)) => (scenario, Measure { case: case.into(), ..measure.clone() }),
            None => (&self.headline.scenario, measure.clone()),
        }
    }
}

/// Outcome for the terminal: the headline, then its parts.
pub(super) fn on_terminal(outcome: &Outcome) -> String {
    let mut text =
        format!("{}: {} ({}; published {})", outcome.id, outcome.verdict.text(), outcome.claim, outcome.published);
    if let Some(reason) = &outcome.reason {
        text += &format!("\n    {reason}");
    }
    for part in &outcome.parts {
        let number = |value: Option<f64>| value.map_or_else(|| "–".into(), |value| format!("{value:.4}"));
        let interval = match (part.low, part.high) {
            (Some(low), Some(high)) => format!(" [{low:.4}, {high:.4}]"),
            _ => String::new(),
        };
        let published = part.published.map_or_else(String::new, |value| format!(", published {value}"));
        let rank = part.rank.map_or_else(String::new, |rank| format!(", rank {rank:.2}"));
        let rows: Vec<_> = part.rows.iter().map(|row| number(*row)).collect();
        let rows = if rows.is_empty() { String::new() } else { format!(" ({})", rows.join(" ")) };
        text += &format!(
            "\n    {:14} {}: {}{interval}{published}{rank}; needs {}{rows}",
            format!("{:?}", part.verdict).to_lowercase(),
            part.says,
            number(part.ours),
            part.needs
        );
    }
    text
}

/// Counts of verdicts, by paper and in total.
pub(super) fn summary(headlines: &Headlines) -> String {
    let line = |(paper, counts): (String, BTreeMap<&str, usize>)| {
        let counts: Vec<_> = counts.iter().rev().map(|(verdict, count)| format!("{count} {verdict}")).collect();
        format!("{paper}: {}", counts.join(", "))
    };
    headlines.counts().into_iter().map(line).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use tidemark_sim::scenario::Scenario;

    use super::super::target::Targets;
    use super::*;

    /// Every headline of the five papers.
    const IDS: [&str; 52] = [
        "thesis.adaptation-cures-the-queue",
        "thesis.anbr-trades-delay-for-rate",
        "thesis.the-threshold-is-the-dial",
        "thesis.one-frontier-of-delay-and-rate",
        "thesis.anbr-window-buys-delay-not-rate",
        "thesis.hybrid-gains-rate-pays-delay",
        "thesis.hybrid-beats-the-loosest-l4s-under-high-load",
        "thesis.low-thresholds-hold-the-delay-under-load",
        "thesis.sixty-to-hundred-hardly-marks",
        "thesis.small-buffer-loses-only-without-adaptation",
        "thesis.delay-distribution-by-threshold",
        "thesis.testlab-rtt-for-little-rate",
        "brunello.ip-delay-falls-under-both-schedulers",
        "brunello.round-robin-loses-frames-delay-not-network-delay",
        "brunello.scheduler-moves-the-tail-not-the-mean",
        "brunello.rate-is-the-price-and-dbs-returns-some",
        "brunello.loss-eight-times-lower-and-zero-with-dbs",
        "brunello.alpha-trades-rate-for-delay",
        "brunello.threshold-span-trades-delay-for-rate",
        "brunello.fixed-link-halves-the-rate",
        "brunello.load-separates-the-schemes",
        "l4span.one-way-delay-cut-by-98-percent-at-line-rate",
        "l4span.gain-follows-how-a-sender-heeds-marks",
        "l4span.every-cell-of-the-grid-and-better-than-a-short-queue",
        "l4span.it-is-the-queue-that-goes",
        "l4span.short-flows-finish-sooner-beside-a-long-one",
        "l4span.more-throughput-than-tc-ran-at-like-delay",
        "l4span.interactive-udp-senders-gain-less",
        "l4span.short-circuit-cuts-the-tail",
        "l4span.coupled-marks-share-one-bearer-fairly",
        "l4span.wired-dualpi2-starves-in-the-ran",
        "l4span.ten-milliseconds-is-the-knee",
        "l4span.lightweight-and-estimates-right",
        "sdn.l4s-below-tcc-and-the-gap-closes-with-q2",
        "sdn.half-the-latency-at-every-q1",
        "sdn.queue-management-orders-four-schemes",
        "sdn.loss-table-of-six",
        "sdn.loss-reduced-by-a-factor-of-5-to-150",
        "sdn.q1-moves-loss-in-opposite-directions",
        "sdn.q2-raises-loss-most-where-marks-are-early",
        "sdn.the-gain-is-the-senders-rate-not-the-priority",
        "al4s.more-utilisation-and-fewest-excesses-overall",
        "al4s.single-flow-utilisation-column",
        "al4s.single-flow-queueing-columns",
        "al4s.gcc-is-blind-to-marks-and-late",
        "al4s.knowing-the-marking-scheme-pays",
        "al4s.the-service-target-sets-the-delay-taken",
        "al4s.predecessor-is-tied-to-one-scheme",
        "al4s.heterogeneous-flows-share-best-with-al4s",
        "al4s.fair-to-itself-where-others-are-less",
        "al4s.two-flows-utilisation-column",
        "al4s.fast-up-and-short-spike-down",
    ];

    #[test]
    fn every_headline_is_there_exactly_once() {
        let targets = Targets::load().unwrap();
        assert_eq!(targets.headline.iter().map(|of| of.id.as_str()).collect::<Vec<_>>(), IDS);
        assert_eq!(IDS.iter().collect::<BTreeSet<_>>().len(), IDS.len());
    }

    #[test]
    fn every_headline_reads_with_its_formulas_and_each_of_its_cases() {
        let targets = Targets::load().unwrap();
        let mut checked = BTreeSet::new();
        for headline in &targets.headline {
            assert_eq!(headline.part.is_empty(), headline.not_run.is_some(), "{}", headline.id);
            for text in [&headline.source, &headline.claim, &headline.published, &headline.conditions] {
                assert!(!text.is_empty(), "{}", headline.id);
            }
            assert!(headline.null.says.len() > 10, "{}: a null must be run or argued", headline.id);
            for wanted in Ready::new(headline, vec![1]).unwrap().wanted() {
                let text = targets.scenario(&wanted.scenario).unwrap();
                for measure in wanted.measures {
                    if checked.insert((wanted.scenario.clone(), measure.case.clone())) {
                        let overrides = targets.overrides(&wanted.scenario, &measure.case).unwrap();
                        Scenario::parse(&wanted.scenario, &text, Path::new("."), &overrides)
                            .unwrap_or_else(|error| panic!("{}: {}: {error}", headline.id, measure.case));
                    }
                }
            }
        }
    }
}
