//! Targets from the files of `scenarios/papers/targets/`, and the papers' scenarios, which are compiled in.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use miette::{IntoDiagnostic, Result, WrapErr, miette};
use serde::{Deserialize, Serialize};

use super::headline::declared::Headline;
use crate::carried::carried;

/// Files with the targets of each paper, the parameters, limits and alternatives.
const TARGETS: &[&str] = &[
    carried!("scenarios/papers/targets/anbr.toml"),
    carried!("scenarios/papers/targets/brunello.toml"),
    carried!("scenarios/papers/targets/l4span.toml"),
    carried!("scenarios/papers/targets/al4s.toml"),
    carried!("scenarios/papers/targets/sdn.toml"),
    carried!("scenarios/papers/targets/brunello-wired.toml"),
    carried!("scenarios/papers/targets/oracle.toml"),
    carried!("scenarios/papers/targets/pictures.toml"),
    carried!("scenarios/papers/targets/parameters.toml"),
];

/// Files with the headlines of each paper and the parts of their cases.
const HEADLINES: &[&str] = &[
    carried!("scenarios/papers/headlines/anbr.toml"),
    carried!("scenarios/papers/headlines/brunello.toml"),
    carried!("scenarios/papers/headlines/l4span.toml"),
    carried!("scenarios/papers/headlines/sdn.toml"),
    carried!("scenarios/papers/headlines/al4s.toml"),
];

/// Papers by the first part of their targets' names.
const PAPERS: [(&str, &str); 5] = [
    ("l4span", "L4Span"),
    ("brunello", "Brunello et al."),
    ("anbr", "Ikedionwu"),
    ("al4s", "aL4S-CC"),
    ("sdn", "SDN-L4S"),
];

/// True if `id` is the name of a target, or its beginning up to a dot.
pub(super) fn is_named(target: &str, id: &str) -> bool {
    target.strip_prefix(id).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

/// Short name of a target's paper.
pub(super) fn paper(target: &str) -> Option<&'static str> {
    let prefix = target.split('.').next();
    PAPERS.iter().find(|(known, _)| Some(*known) == prefix).map(|(_, name)| *name)
}

macro_rules! scenarios {
    ($($name:literal),* $(,)?) => {
        /// The scenarios of the papers, by their names.
        const SCENARIOS: &[(&str, &str)] = &[$(($name, carried!("scenarios/papers/", $name, ".toml"))),*];
    };
}
scenarios!(
    "anbr.table5",
    "anbr.testlab",
    "brunello.network",
    "al4s",
    "al4s.fig4",
    "al4s.late",
    "brunello.fig6",
    "l4span.fig2",
    "l4span.fig2-wired",
    "l4span.fig9",
    "l4span.fig11",
    "l4span.fig13",
    "l4span.fig14",
    "l4span.one-ue",
    "l4span.shared-drb",
    "sdn",
);

/// Targets of all papers.
#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Targets {
    /// Each scenario's overrides by name; a case is some of these names joined by dots.
    #[serde(default)]
    pub(super) parts: Parts,
    /// Targets in the order of the files.
    #[serde(default)]
    pub target: Vec<Target>,
    /// Parameters that the papers leave open.
    #[serde(default)]
    pub parameter: Vec<Parameter>,
    /// Limits beside the targets, by scenario.
    #[serde(default)]
    pub oracle: BTreeMap<String, Oracle>,
    /// Alternatives to the scenarios' own mechanisms.
    #[serde(default)]
    pub alternative: Vec<Alternative>,
    /// Targets that each picture shows: whole names or their beginnings up to a dot.
    #[serde(default)]
    pub pictures: BTreeMap<String, Vec<String>>,
    /// Headlines in the order of the papers.
    #[serde(default)]
    pub(super) headline: Vec<Headline>,
    /// Names and texts of the scenarios.
    #[serde(skip)]
    pub(super) scenarios: &'static [(&'static str, &'static str)],
    /// Folder of further scenarios, for headlines from a file.
    #[serde(skip)]
    pub(super) folder: Option<PathBuf>,
}

/// Overrides by scenario and by name.
pub(super) type Parts = BTreeMap<String, BTreeMap<String, Vec<String>>>;

/// One target.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Target {
    /// Name of the target: the paper and the figure, joined by a dot.
    pub id: String,
    /// Paper and figure, as a reader would cite them.
    pub source: String,
    /// Mechanism that the target is about; verdicts are counted by it.
    pub mechanism: String,
    /// Comparison with the published figures.
    pub kind: Kind,
    /// Statement of the paper, in a sentence or two.
    #[serde(default)]
    pub text: String,
    /// The scenario, or the name of another procedure.
    pub scenario: String,
    /// Number of seeds, if the usual number is not enough.
    pub seeds: Option<u64>,
    /// Number of seeds by part, for rows whose cases need even more.
    #[serde(default)]
    pub seeds_with: BTreeMap<String, u64>,
    /// Published figures.
    #[serde(default)]
    pub figure: Vec<Figure>,
    /// A published table.
    pub matrix: Option<Matrix>,
    /// Claims on our own runs.
    #[serde(default)]
    pub claim: Vec<Claim>,
    /// Origin of values taken from published results.
    pub calibrated: Option<Calibration>,
    /// Figures of the paper that can't be met.
    #[serde(default)]
    pub contradicted: Vec<Contradiction>,
    /// Reason of the difference, found out by experiment.
    pub note: Option<String>,
    /// True for a target that runs within seconds, for `--quick`.
    #[serde(default)]
    pub quick: bool,
}

/// Oracle of a scenario: a sender that knows the capacity one loop late, instead of the mechanisms.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Oracle {
    /// Overrides that install it; none if the scenario has no such limit.
    #[serde(default)]
    pub set: Vec<String>,
    /// Sentence on why it is not a strict limit, or why there is none.
    pub says: Option<String>,
}

/// Alternative to a scenario's own mechanism: a law as its paper prints it, or a measured pattern.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Alternative {
    /// Name, which several scenarios may share.
    pub name: String,
    /// Its scenario.
    pub scenario: String,
    /// Overrides that install it.
    pub set: Vec<String>,
    /// Parts of the cases that it does not affect.
    #[serde(default)]
    pub except: Vec<String>,
    /// Measured file that it needs; without the file it is skipped.
    pub needs: Option<String>,
    /// True if the paper's figures also apply to it.
    pub judged: bool,
}

impl Alternative {
    /// True for a case that it affects.
    pub(super) fn is_of(&self, case: &str) -> bool {
        !case.split('.').any(|part| self.except.iter().any(|except| except == part))
    }
}

/// Parameter that a paper leaves open, with values other than ours.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Parameter {
    /// Key of the parameter, and its meaning.
    pub says: String,
    /// Its scenario.
    pub scenario: String,
    /// Our value in words.
    pub ours: String,
    /// Other values in words, with their overrides.
    pub others: BTreeMap<String, Vec<String>>,
    /// A case depends on it if it has one of these parts; if the list is empty, every case does.
    #[serde(default)]
    only: Vec<String>,
    /// Targets that are repeated.
    pub targets: Vec<String>,
}

impl Parameter {
    /// True for a case that depends on it.
    pub(super) fn varies(&self, case: &str) -> bool {
        self.only.is_empty() || case.split('.').any(|part| self.only.iter().any(|only| only == part))
    }
}

/// Evidence that published figures contradict their own publication, or the program that they are said to come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Contradiction {
    /// Names of the figures or claims.
    pub rows: Vec<String>,
    /// Command that shows it, or two published figures that can't both be true.
    pub by: String,
    /// Explanation of what the command or the pair shows.
    pub evidence: String,
    /// Interpretations under which the published figure might still hold, and why each fails.
    pub sceptic: String,
}

/// Kind of comparison with the published figures.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    /// Values within a distance of the published ones.
    #[default]
    Value,
    /// Changes between two of our own runs, as large as the published ones.
    Reduction,
    /// Relations between our own runs.
    Relation,
}

impl Kind {
    /// Words for figures of this kind.
    pub(super) fn text(self) -> &'static str {
        match self {
            Self::Value => "values",
            Self::Reduction => "changes between two runs",
            Self::Relation => "claims",
        }
    }
}

/// A published figure, and the formula of ours.
#[derive(Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Figure {
    /// Name of the figure.
    pub name: String,
    /// Our formula.
    pub ours: String,
    /// Value of the paper.
    pub published: f64,
    /// Tolerance of a reduction in percentage points.
    pub slack: Option<f64>,
    /// Greatest relative distance of a value that agrees. The wider of this and `floor` counts.
    pub within: Option<f64>,
    /// Greatest absolute distance of a value that agrees, in the figure's unit.
    pub floor: Option<f64>,
}

/// A published table: each row is a case, each column a figure.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Matrix {
    within: f64,
    column: Vec<Column>,
    rows: Vec<(String, Vec<f64>)>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Column {
    name: String,
    /// `$row` stands for the row's case.
    ours: String,
    floor: f64,
}

/// Origin of those parts of a scenario that were taken from published results.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Calibration {
    /// Sentence on what was taken, and from which results.
    pub says: String,
    /// Names of these results if they are figures of this target. They prove nothing.
    #[serde(default)]
    pub figures: Vec<String>,
    /// Figures that the scenario was calibrated to, if they are not among the target's: runs must show that they are met.
    #[serde(default)]
    to: Vec<Figure>,
}

/// Claim about our own runs.
#[derive(Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Claim {
    /// The claim in words.
    pub says: String,
    /// The claim as a comparison.
    pub holds: String,
    /// True for this project's own claim, which the paper does not make.
    #[serde(default)]
    pub own: bool,
    /// Values for each `$name` in the texts; every combination of values is a claim.
    #[serde(default)]
    each: BTreeMap<String, Vec<String>>,
}

impl Targets {
    /// Reads the built-in targets.
    ///
    /// # Errors
    /// A file of targets that can't be read.
    pub(super) fn load() -> Result<Self> {
        let mut all = Self { scenarios: SCENARIOS, ..Self::default() };
        for text in TARGETS.iter().chain(HEADLINES) {
            all.add(toml::from_str(text).into_diagnostic()?);
        }
        Ok(all)
    }

    /// Replaces the built-in headlines and their parts by those of a file. Scenarios that are not built in lie beside the file.
    ///
    /// # Errors
    /// A file that can't be read, or that has another form.
    pub(super) fn take_headlines(&mut self, file: &Path) -> Result<()> {
        let name = || file.display().to_string();
        let text = fs::read_to_string(file).into_diagnostic().wrap_err_with(name)?;
        self.headline.clear();
        self.add(toml::from_str(&text).into_diagnostic().wrap_err_with(name)?);
        self.folder = file.parent().map(Path::to_owned);
        Ok(())
    }

    /// Adds the contents of another file. Several files may have parts of the same scenario.
    fn add(&mut self, other: Self) {
        for (scenario, parts) in other.parts {
            self.parts.entry(scenario).or_default().extend(parts);
        }
        self.target.extend(other.target);
        self.parameter.extend(other.parameter);
        self.oracle.extend(other.oracle);
        self.alternative.extend(other.alternative);
        self.pictures.extend(other.pictures);
        self.headline.extend(other.headline);
    }

    /// The text of a scenario.
    pub(super) fn scenario(&self, name: &str) -> Result<Cow<'static, str>> {
        if let Some((_, text)) = self.scenarios.iter().find(|(known, _)| *known == name) {
            return Ok((*text).into());
        }
        let folder = self.folder.as_ref().ok_or_else(|| miette!("there is no scenario {name}"))?;
        let file = folder.join(format!("{name}.toml"));
        let text = fs::read_to_string(&file).into_diagnostic().wrap_err_with(|| file.display().to_string())?;
        Ok(text.into())
    }

    /// Names of the pictures that show a target.
    pub(super) fn pictures_of(&self, target: &str) -> Vec<String> {
        let shows = |of: &Vec<String>| of.iter().any(|id| is_named(target, id));
        self.pictures.iter().filter(|(_, of)| shows(of)).map(|(name, _)| name.clone()).collect()
    }

    /// The overrides of a case of a scenario.
    pub(super) fn overrides(&self, scenario: &str, case: &str) -> Result<Vec<String>> {
        let parts = self.parts.get(scenario);
        let mut overrides = Vec::new();
        for part in case.split('.').filter(|part| !part.is_empty()) {
            let known = parts.and_then(|parts| parts.get(part));
            overrides.extend(
                known.ok_or_else(|| miette!("{scenario}: the case {case} has no part {part}"))?.iter().cloned(),
            );
        }
        Ok(overrides)
    }
}

impl Target {
    /// Figures of the target: those it was calibrated to, its own, and those of its table.
    pub(super) fn figures(&self) -> Vec<Figure> {
        let mut figures: Vec<_> = self.calibrated.iter().flat_map(|calibrated| calibrated.to.clone()).collect();
        figures.extend(self.figure.iter().cloned());
        let Some(matrix) = &self.matrix else { return figures };
        for (row, published) in &matrix.rows {
            for (column, published) in matrix.column.iter().zip(published) {
                figures.push(Figure {
                    name: format!("{row}: {}", column.name),
                    ours: column.ours.replace("$row", row),
                    published: *published,
                    slack: None,
                    within: Some(matrix.within),
                    floor: Some(column.floor),
                });
            }
        }
        figures
    }

    /// True if the scenario was calibrated to this figure.
    pub(super) fn is_calibrated_to(&self, figure: &str) -> bool {
        self.calibrated.as_ref().is_some_and(|calibrated| {
            let to = calibrated.to.iter().map(|figure| &figure.name);
            calibrated.figures.iter().chain(to).any(|name| name == figure)
        })
    }

    /// True for a figure or claim that is declared contradicted.
    pub(super) fn is_contradicted(&self, row: &str) -> bool {
        self.contradicted.iter().any(|of| of.rows.iter().any(|name| name == row))
    }

    /// Claims of the target, one for each combination of values.
    pub(super) fn claims(&self) -> Vec<Claim> {
        self.claim.iter().flat_map(Claim::expand).collect()
    }
}

impl Claim {
    /// Lists the claim for each combination of the values in `each`.
    pub(super) fn expand(&self) -> Vec<Self> {
        let mut all = vec![Self { each: BTreeMap::new(), ..self.clone() }];
        for (name, values) in &self.each {
            let with = |claim: &Self, value: &str| Self {
                says: claim.says.replace(&format!("${name}"), value),
                holds: claim.holds.replace(&format!("${name}"), value),
                own: claim.own,
                each: BTreeMap::new(),
            };
            all = all.iter().flat_map(|claim| values.iter().map(move |value| with(claim, value))).collect();
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use tidemark_sim::scenario::Scenario;

    use super::*;
    use crate::draws::Draws;
    use crate::expression::{Comparison, Expression};
    use crate::outcome::Prepared;
    use crate::procedure;

    #[test]
    fn every_target_reads_with_its_formulas_and_each_of_its_cases() {
        let targets = Targets::load().unwrap();
        let mut checked = std::collections::BTreeSet::new();
        for target in &targets.target {
            let mut formulas: Vec<_> =
                target.figures().iter().map(|figure| Expression::parse(&figure.ours).unwrap()).collect();
            for claim in target.claims() {
                assert!(!claim.holds.contains('$'), "{}: {}", target.id, claim.holds);
                formulas.extend(Comparison::parse(&claim.holds).unwrap().values);
            }
            let calibrated = target.calibrated.iter().flat_map(|calibrated| &calibrated.figures);
            assert!(
                target.calibrated.is_none()
                    || target.figures().iter().any(|figure| target.is_calibrated_to(&figure.name)),
                "{} says that it is calibrated, and no figure shows that it is",
                target.id
            );
            assert!(paper(&target.id).is_some(), "{}: no paper of PAPERS has this beginning", target.id);
            let figures = target.figures().into_iter().map(|figure| figure.name);
            let mut names: Vec<_> = figures.chain(target.claims().into_iter().map(|claim| claim.says)).collect();
            let all = names.len();
            names.sort();
            names.dedup();
            assert_eq!(names.len(), all, "{}: two rows have one name, by which results are compared", target.id);
            for of in &target.contradicted {
                for name in &of.rows {
                    assert!(names.contains(name), "{}: {name}", target.id);
                }
                for text in [&of.by, &of.evidence, &of.sceptic] {
                    assert!(text.len() > 20, "{}: evidence of a contradiction is a sentence: `{text}`", target.id);
                }
            }
            for name in calibrated.clone() {
                assert!(target.figures().iter().any(|figure| figure.name == *name), "{}: {name}", target.id);
            }
            assert!(formulas.len() > calibrated.count(), "{} compares nothing", target.id);
            if procedure::is_known(&target.scenario) {
                continue;
            }
            let mut measures = Vec::new();
            formulas.iter().for_each(|formula| formula.measures(&mut measures));
            let text = targets.scenario(&target.scenario).unwrap();
            for measure in measures {
                if checked.insert((target.scenario.clone(), measure.case.clone())) {
                    let overrides = targets.overrides(&target.scenario, &measure.case).unwrap();
                    Scenario::parse(&target.scenario, &text, Path::new("."), &overrides)
                        .unwrap_or_else(|error| panic!("{}: {}: {error}", target.id, measure.case));
                }
            }
        }
    }

    fn one_seed() -> Draws {
        Draws::new(1, 1, BTreeMap::new())
    }

    #[test]
    fn other_values_of_what_is_open_are_scenarios_too() {
        let mut targets = Targets::load().unwrap();
        crate::sensitivity::add_parts(&mut targets);
        let variations = crate::sensitivity::Variation::of(&targets, |_| true, |_| one_seed()).unwrap();
        assert!(variations.len() >= targets.parameter.len());
        for parameter in &targets.parameter {
            for id in &parameter.targets {
                let target = targets
                    .target
                    .iter()
                    .find(|target| target.id == *id)
                    .unwrap_or_else(|| panic!("{id} is no target"));
                assert_eq!(target.scenario, parameter.scenario, "{id}");
            }
        }
        let mut varied = 0;
        // Most cases are of several parameters and targets.
        let mut read = std::collections::BTreeSet::new();
        for wanted in variations.iter().flat_map(|variation| variation.wanted()) {
            let text = targets.scenario(&wanted.scenario).unwrap();
            let cases: std::collections::BTreeSet<_> = wanted.measures.iter().map(|measure| &measure.case).collect();
            for case in cases {
                varied += usize::from(case.contains("other-"));
                if !read.insert((wanted.scenario.clone(), case.clone())) {
                    continue;
                }
                let overrides = targets.overrides(&wanted.scenario, case).unwrap();
                Scenario::parse(&wanted.scenario, &text, Path::new("."), &overrides)
                    .unwrap_or_else(|error| panic!("{}: {case}: {error}", wanted.scenario));
            }
        }
        assert!(varied >= variations.len(), "a parameter of which no case depends shows nothing");
    }

    #[test]
    fn each_scenario_has_a_limit_or_a_reason_and_its_cases_read() {
        let mut targets = Targets::load().unwrap();
        crate::limit::add_parts(&mut targets);
        let mut checked = std::collections::BTreeSet::new();
        for target in &targets.target {
            let oracle =
                targets.oracle.get(&target.scenario).unwrap_or_else(|| panic!("{}: no oracle", target.scenario));
            assert!(!oracle.set.is_empty() || oracle.says.is_some(), "{}: no limit and no reason", target.scenario);
            if procedure::is_known(&target.scenario) {
                continue;
            }
            let prepared = Prepared::new(&targets, target, one_seed()).unwrap();
            for wanted in prepared.wanted().into_iter().chain([prepared.wanted_by_limit()]) {
                for measure in &wanted.measures {
                    if checked.insert((wanted.scenario.clone(), measure.case.clone())) {
                        let text = targets.scenario(&wanted.scenario).unwrap();
                        let overrides = targets.overrides(&wanted.scenario, &measure.case).unwrap();
                        Scenario::parse(&wanted.scenario, &text, Path::new("."), &overrides)
                            .unwrap_or_else(|error| panic!("{}: {}: {error}", target.id, measure.case));
                    }
                }
            }
        }
        assert!(checked.iter().any(|(_, case)| case.ends_with(".oracle")));
        for scenario in targets.oracle.keys() {
            assert!(targets.target.iter().any(|target| target.scenario == *scenario), "{scenario} is of no target");
        }
    }

    #[test]
    fn every_picture_shows_a_target() {
        let targets = Targets::load().unwrap();
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../results/papers/pictures");
        let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().path());
        let drawn = files.filter(|file| file.extension().is_some_and(|end| end == "csv"));
        let mut drawn: Vec<_> = drawn.map(|file| file.file_stem().unwrap().to_string_lossy().into_owned()).collect();
        drawn.sort();
        assert_eq!(targets.pictures.keys().cloned().collect::<Vec<_>>(), drawn, "pictures.toml and the folder");
        for id in targets.pictures.values().flatten() {
            assert!(targets.target.iter().any(|target| is_named(&target.id, id)), "{id} is no target");
        }
        assert_eq!(targets.pictures_of("l4span.fig2.wired"), ["l4span.fig2"]);
    }

    #[test]
    fn a_file_of_headlines_has_its_scenarios_beside_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("mine.toml");
        let headline = "[[headline]]\nid = 'mine.a'\nsource = 's'\nclaim = 'c'\npublished = 'p'\nconditions = 'o'\nscenario = 'cell'\nnull = { says = 'n' }";
        fs::write(&file, headline).unwrap();
        fs::write(folder.path().join("cell.toml"), "name = 'cell'").unwrap();
        let mut targets = Targets::load().unwrap();
        assert!(targets.scenario("cell").is_err());
        targets.take_headlines(&file).unwrap();
        assert_eq!(targets.headline.len(), 1);
        assert_eq!(targets.scenario("cell").unwrap(), "name = 'cell'");
        assert!(targets.scenario("sdn").unwrap().contains("[[router]]"), "the command's own stay");
        assert!(targets.scenario("absent").is_err());
    }

    #[test]
    fn no_two_targets_have_one_id() {
        let targets = Targets::load().unwrap();
        let mut ids: Vec<_> = targets.target.iter().map(|target| &target.id).collect();
        let all = ids.len();
        ids.sort();
        ids.dedup();
        assert_eq!(ids.len(), all);
    }

    #[test]
    fn a_claim_is_made_for_every_combination() {
        let each =
            BTreeMap::from([("a".into(), vec!["1".into(), "2".into()]), ("b".into(), vec!["x".into(), "y".into()])]);
        let claim = Claim { says: "$a $b".into(), holds: "m[$b.$a] < $a".into(), own: false, each };
        let all: Vec<_> = claim.expand().into_iter().map(|claim| claim.holds).collect();
        assert_eq!(all, ["m[x.1] < 1", "m[y.1] < 1", "m[x.2] < 2", "m[y.2] < 2"]);
    }
}
