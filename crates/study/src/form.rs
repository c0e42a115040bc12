//! Form of a study: the content of a file, of flags or of another language's call, before it is checked.

use std::collections::BTreeMap;

use indexmap::IndexMap;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::grid::{Axis, Case, Grid};
use crate::schema::{MAX_SEEDS, Seeds, Varied, require_scenario};
use crate::values::{Value, Values};

/// Keys with values, in the order in which they were written.
pub type Keys = IndexMap<String, Json>;

/// A study as it is written: in TOML, or in any other form that serde reads.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Study", transform = require_scenario)]
pub struct Form {
    /// Name, of letters, digits, `.`, `_` and `-`. Default: that of the file.
    pub name: Option<String>,
    /// Purpose of the study.
    pub description: String,
    /// File of the scenario, relative to the study's folder.
    pub scenario: String,
    /// Number of seeds, which are then 1, 2, 3 and so on, or a list of seeds. Default 5.
    #[schemars(with = "Option<Seeds>")]
    pub seeds: Option<Json>,
    /// Values that every run has, by keys of the scenario.
    #[schemars(with = "BTreeMap<String, Json>")]
    pub set: Keys,
    /// Parameters that are crossed: keys of the scenario with lists or ranges. `users` is the number of UEs of the
    /// scenario's only kind.
    #[schemars(with = "BTreeMap<String, Varied>")]
    pub vary: Keys,
    /// Parameters whose values change together. Each has the same number of values.
    #[schemars(with = "Vec<BTreeMap<String, Varied>>")]
    pub zip: Vec<Keys>,
    /// Named cases: each name is a column of the table, with its labels and the values that each label stands for.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, CaseForm>>")]
    pub case: Cases,
    /// Metrics. Default: rates, delays and marks, if the runs have them.
    pub metrics: Vec<String>,
    /// Flows that have rows, by the names of their `[[flow]]`. Default: all.
    pub flows: Vec<String>,
    /// True to keep the series and the report of every run.
    pub series: bool,
    /// Rule by which seeds are added while an interval is wide.
    pub until_ci: Option<UntilCi>,
    /// Parameter to search for the largest value that meets a condition.
    pub find: Option<Find>,
    /// `key=value` overrides from flags, which are applied after `set` and before the varied values.
    #[serde(skip)]
    pub overrides: Vec<String>,
    /// Columns of cases with the labels that are run; the others are left out.
    #[serde(skip)]
    pub only: Vec<(String, Vec<String>)>,
}

/// Cases by column, each with its labels and the values that they stand for.
pub type Cases = IndexMap<String, Labels>;

/// Labels of one column of cases, and the values that each stands for.
pub type Labels = IndexMap<String, CaseForm>;

/// One case as it is written.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Case")]
pub struct CaseForm {
    /// Values that it sets, by keys of the scenario.
    #[schemars(with = "BTreeMap<String, Json>")]
    pub set: Keys,
    /// Parameters that are crossed within it.
    #[schemars(with = "BTreeMap<String, Varied>")]
    pub vary: Keys,
    /// Parameters whose values change together within it.
    #[schemars(with = "Vec<BTreeMap<String, Varied>>")]
    pub zip: Vec<Keys>,
    /// Cases within it.
    #[schemars(with = "BTreeMap<String, BTreeMap<String, CaseForm>>")]
    pub case: Cases,
}

/// Rule by which seeds are added.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UntilCi {
    /// Greatest half-width of a 95 % confidence interval, as a share of its mean: `"5 %"`.
    pub within: String,
    /// Metric whose intervals count. Default: the first of the study.
    #[serde(default)]
    pub metric: Option<String>,
    /// Largest number of seeds for a point. Default 100.
    #[serde(default = "max_seeds")]
    #[schemars(range(min = 2, max = MAX_SEEDS))]
    pub max_seeds: u64,
}

/// Search for the largest value of a parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// Key of a whole number, or `users` for the number of UEs of the scenario's only kind.
    pub key: String,
    /// Condition, as in `satisfied >= 90 %`.
    pub until: String,
    /// Largest value to try. Default 1024.
    #[serde(default = "max_value")]
    #[schemars(range(min = 1))]
    pub max: u64,
}

const fn max_seeds() -> u64 {
    100
}
const fn max_value() -> u64 {
    1024
}

/// A part of a form that is wrong: the names on the way to it, and what would be right.
#[derive(Debug)]
pub(crate) struct Wrong {
    pub(crate) path: Vec<String>,
    pub(crate) message: String,
}

impl Wrong {
    pub(crate) fn new<S: ToString>(path: &[S], message: impl Into<String>) -> Self {
        Self { path: path.iter().map(ToString::to_string).collect(), message: message.into() }
    }

    fn within(mut self, steps: &[&str]) -> Self {
        self.path.splice(0..0, steps.iter().map(ToString::to_string));
        self
    }
}

impl Form {
    /// JSON schema of a study's file.
    pub fn json_schema() -> String {
        serde_json::to_string_pretty(&schemars::schema_for!(Self)).unwrap_or_default()
    }

    /// Reads the form of a TOML text.
    pub(crate) fn from_toml(text: &str) -> Result<Self, toml_edit::de::Error> {
        toml_edit::de::from_str(text)
    }

    /// Axes, crossed.
    pub(crate) fn grid(&self) -> Result<Grid, Wrong> {
        let mut cases = self.case.clone();
        for (name, labels) in &self.only {
            let names = self.case.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
            let unknown = || Wrong::new(&["case"], format!("there is no `{name}`: --only takes one of {names}"));
            let of_column = cases.get_mut(name).ok_or_else(unknown)?;
            if let Some(label) = labels.iter().find(|label| !of_column.contains_key(label.as_str())) {
                let right = of_column.keys().map(String::as_str).collect::<Vec<_>>().join(", ");
                return Err(Wrong::new(
                    &["case", name],
                    format!("there is no `{label}`: --only takes some of {right}"),
                ));
            }
            of_column.retain(|label, _| labels.contains(label));
        }
        grid(&cases, &self.zip, &self.vary)
    }

    /// Seeds, each once.
    pub(crate) fn seeds(&self) -> Result<Vec<u64>, Wrong> {
        let wrong = |message: &str| Wrong::new(&["seeds"], message);
        let seeds: Vec<u64> = match &self.seeds {
            None => (1..=5).collect(),
            Some(Json::Array(seeds)) => {
                let seeds: Option<Vec<_>> = seeds.iter().map(Json::as_u64).collect();
                seeds.ok_or_else(|| wrong("a seed is a whole number, as in [1, 2, 3]"))?
            }
            Some(count) => match count.as_u64() {
                Some(count @ 1..=MAX_SEEDS) => (1..=count).collect(),
                _ => return Err(wrong(&format!("must be a number from 1 to {MAX_SEEDS}, or a list of seeds"))),
            },
        };
        match seeds.iter().enumerate().find(|(index, seed)| seeds[..*index].contains(seed)) {
            Some((_, seed)) => Err(wrong(&format!("seed {seed} is listed twice: name each seed once"))),
            None if seeds.is_empty() => Err(wrong("needs at least one seed")),
            None => Ok(seeds),
        }
    }

    /// Values that every run has.
    pub(crate) fn set(&self) -> Result<Vec<(String, Value)>, Wrong> {
        set(&self.set).map_err(|wrong| wrong.within(&["set"]))
    }
}

fn grid(cases: &Cases, zip: &[Keys], vary: &Keys) -> Result<Grid, Wrong> {
    let mut axes = Vec::new();
    for (name, cases) in cases {
        if cases.is_empty() {
            let message = format!("has no case: name at least one, as in [case.{name}.first]");
            return Err(Wrong::new(&["case", name], message));
        }
        let case = |(label, case): (&String, &CaseForm)| {
            let grid = grid(&case.case, &case.zip, &case.vary).map_err(|wrong| wrong.within(&["case", name, label]))?;
            let set = set(&case.set).map_err(|wrong| wrong.within(&["case", name, label, "set"]))?;
            Ok(Case { label: label.clone(), set, grid })
        };
        axes.push(Axis::Cases { name: name.clone(), cases: cases.iter().map(case).collect::<Result<_, _>>()? });
    }
    for (index, keys) in zip.iter().enumerate() {
        let index = index.to_string();
        if keys.is_empty() {
            return Err(Wrong::new(
                &["zip", &index],
                "has no key: name the keys that change together, each with the same number of values",
            ));
        }
        let mut together: Vec<(String, Values)> = Vec::new();
        for (key, values) in keys {
            let wrong = |message| Wrong::new(&["zip", &index, key], message);
            let values = Values::from_json(values).map_err(wrong)?;
            if let Some((first, others)) = together.first().filter(|(_, others)| others.count() != values.count()) {
                let (own, other) = (values.count(), others.count());
                return Err(wrong(format!(
                    "has {own} values, but `{first}`, which changes together with it, has {other}: give both the same number"
                )));
            }
            together.push((key.clone(), values));
        }
        let axis = Axis::Keys(together);
        axis.repeated().map_or(Ok(()), |point| Err(Wrong::new(&["zip", &index], twice(&point))))?;
        axes.push(axis);
    }
    for (key, values) in vary {
        let wrong = |message| Wrong::new(&["vary", key], message);
        let axis = Axis::Keys(vec![(key.clone(), Values::from_json(values).map_err(wrong)?)]);
        axis.repeated().map_or(Ok(()), |point| Err(wrong(twice(&point))))?;
        if zip.iter().any(|keys| keys.contains_key(key)) {
            return Err(wrong("is also in a group of keys that change together: vary it in one place only".into()));
        }
        axes.push(axis);
    }
    Ok(Grid { axes })
}

/// Error for a repeated value, which would run twice under one key and count as additional seeds.
fn twice(value: &str) -> String {
    format!("`{value}` is listed twice: name each value once")
}

fn set(keys: &Keys) -> Result<Vec<(String, Value)>, Wrong> {
    let value = |(key, value): (&String, &Json)| {
        let value = Value::from_json(value).map_err(|message| Wrong::new(&[key], message))?;
        Ok((key.clone(), value))
    };
    keys.iter().map(value).collect()
}
