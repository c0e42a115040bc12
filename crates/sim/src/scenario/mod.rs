//! Scenarios: the one language of the simulator and of whatever drives the same parts.

mod check;
pub mod diagnostic;
pub mod overrides;

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tidemark_cell::channel::TraceError;
use tidemark_cell::{CellConfig, ChannelConfig, RlcConfig, UeConfig, UeId};
use tidemark_core::{Duration, Instant};
use tidemark_marker::MarkerConfig;
use tidemark_senders::{AppConfig, SenderConfig};

pub use diagnostic::ScenarioError;
pub use overrides::OverrideError;

/// What is simulated: a cell, its UEs, and the flows that end there.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// A name for the results, of letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// What the scenario is for.
    #[serde(default)]
    pub description: String,
    /// Every random draw follows from it. Default 1.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Virtual time that the run takes.
    pub duration: Duration,
    /// Time at the start that statistics leave out; series show it. Default 0 s.
    #[serde(default)]
    pub warmup: Duration,
    /// Interval of the time series. Default 100 ms.
    #[serde(default = "default_sample_interval")]
    pub sample_interval: Duration,
    /// The cell.
    #[serde(default)]
    pub cell: CellConfig,
    /// The marker of every bearer that names none of its own.
    #[serde(default)]
    pub marker: MarkerConfig,
    /// UEs.
    pub ue: Vec<Ue>,
    /// Flows.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// The text that it was read from, with overrides applied.
    #[serde(skip)]
    pub text: String,
}

/// One UE, or several of a kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Ue {
    /// Its name; the copies of a UE with `count` are numbered from 1.
    pub name: String,
    /// How many of this kind. Default 1.
    #[serde(default = "default_count")]
    pub count: u32,
    /// Its radio channel. Default: static at 22 dB.
    #[serde(default)]
    pub channel: ChannelConfig,
    /// Its bearer's RLC entity.
    #[serde(default)]
    pub rlc: RlcConfig,
    /// Its bearer's marker. Default: the scenario's.
    pub marker: Option<MarkerConfig>,
}

/// One flow, or one for every copy of its UE.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Flow {
    /// Its name; the copies at the copies of a UE are numbered alike.
    pub name: String,
    /// The name of the UE where it ends.
    pub ue: String,
    /// Round-trip time of the wired path between server and gNB: half of it each way.
    pub round_trip: Duration,
    /// The sender.
    #[serde(default)]
    pub sender: SenderConfig,
    /// The application, from whose start on the flow lives.
    #[serde(default)]
    pub app: AppConfig,
}

/// A UE with its name, its copies told apart.
pub struct NamedUe {
    /// Name, numbered where there are several of a kind.
    pub name: String,
    /// Which entry of the scenario it comes from.
    pub kind: usize,
    /// Its configuration, complete.
    pub config: UeConfig,
}

/// A flow with its name, its copies told apart.
pub struct NamedFlow<'a> {
    /// Name, numbered where there are several of a kind.
    pub name: String,
    /// Where it ends.
    pub ue: UeId,
    /// Wired round-trip time.
    pub round_trip: Duration,
    /// Its sender.
    pub sender: &'a SenderConfig,
    /// Its application.
    pub app: &'a AppConfig,
}

/// A scenario that can't be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// A file can't be read.
    #[error("{file}: {reason}")]
    Unreadable {
        /// The file.
        file: String,
        /// What the system says.
        reason: String,
    },
    /// An override can't be applied.
    #[error("--set {0}")]
    Override(#[from] OverrideError),
    /// Something in it is wrong.
    #[error(transparent)]
    Wrong(Box<ScenarioError>),
}

fn default_seed() -> u64 {
    1
}
fn default_sample_interval() -> Duration {
    Duration::from_millis(100)
}
fn default_count() -> u32 {
    1
}

impl Scenario {
    /// Reads a scenario file, applies `key=value` overrides and checks it whole.
    ///
    /// # Errors
    /// What is wrong, with its line, and what would be right.
    pub fn load(file: &Path, assignments: &[String]) -> Result<Self, LoadError> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| LoadError::Unreadable { file: name.clone(), reason: error.to_string() })?;
        Self::parse(&name, &text, file.parent().unwrap_or(Path::new("")), assignments)
    }

    /// The same for a text; traces are looked up from `folder`.
    ///
    /// # Errors
    /// What is wrong, with its line, and what would be right.
    pub fn parse(file: &str, text: &str, folder: &Path, assignments: &[String]) -> Result<Self, LoadError> {
        let text = overrides::apply(text, assignments).or_else(|error| match error {
            // A text that is no TOML is reported with its line below.
            OverrideError::NotToml(_) => Ok(text.to_string()),
            other => Err(LoadError::from(other)),
        })?;
        let mut scenario: Self = toml::from_str(&text).map_err(|error| {
            LoadError::from(ScenarioError::in_form(file, &text, error.span().unwrap_or(0..0), error.message()))
        })?;
        scenario.text = text;
        scenario.check(file)?;
        scenario.read_traces(file, folder)?;
        Ok(scenario)
    }

    /// The JSON schema of the scenario language.
    pub fn json_schema() -> String {
        let schema = schemars::schema_for!(Scenario);
        serde_json::to_string_pretty(&schema).unwrap_or_default()
    }

    /// One line: what would be run.
    pub fn outline(&self) -> String {
        let ues = self.ues();
        let flows = self.flows(&ues).len();
        format!("`{}`: {} of {} UEs and {flows} flows, seed {}", self.name, self.duration, ues.len(), self.seed)
    }

    /// True for what happens after the warm-up.
    pub fn counts(&self, at: Instant) -> bool {
        at >= Instant::ZERO + self.warmup
    }

    /// Every UE, copies included, in the order of their ids.
    pub fn ues(&self) -> Vec<NamedUe> {
        let mut ues = Vec::new();
        for (kind, ue) in self.ue.iter().enumerate() {
            for copy in 1..=ue.count {
                ues.push(NamedUe { name: numbered(&ue.name, copy, ue.count), kind, config: self.config(ue) });
            }
        }
        ues
    }

    /// Every flow, copies included, in the order of their ids.
    pub fn flows(&self, ues: &[NamedUe]) -> Vec<NamedFlow<'_>> {
        let mut flows = Vec::new();
        for flow in &self.flow {
            let ends = ues.iter().enumerate().filter(|(_, ue)| self.ue[ue.kind].name == flow.ue);
            for (copy, (index, ue)) in (1..).zip(ends) {
                flows.push(NamedFlow {
                    name: numbered(&flow.name, copy, self.ue[ue.kind].count),
                    ue: UeId(index as u32),
                    round_trip: flow.round_trip,
                    sender: &flow.sender,
                    app: &flow.app,
                });
            }
        }
        flows
    }

    /// What the cell is told of a kind of UE.
    fn config(&self, ue: &Ue) -> UeConfig {
        UeConfig {
            channel: ue.channel.clone(),
            rlc: ue.rlc.clone(),
            marker: ue.marker.clone().unwrap_or_else(|| self.marker.clone()),
        }
    }

    fn read_traces(&mut self, file: &str, folder: &Path) -> Result<(), LoadError> {
        for (index, ue) in self.ue.iter_mut().enumerate() {
            let ChannelConfig::Trace(trace) = &mut ue.channel else { continue };
            let path = folder.join(&trace.file);
            let wrong = |message: String| {
                ScenarioError::in_field(file, &self.text, &["ue", &index.to_string(), "channel", "file"], message)
            };
            let text = std::fs::read_to_string(&path).map_err(|error| {
                wrong(format!("{}: {error}: name a trace relative to the scenario's folder", path.display()))
            })?;
            trace.read(&text).map_err(|TraceError { line, wrong: problem, .. }| {
                wrong(format!("{}:{line}: {problem}", path.display()))
            })?;
        }
        Ok(())
    }
}

impl From<ScenarioError> for LoadError {
    fn from(error: ScenarioError) -> Self {
        Self::Wrong(Box::new(error))
    }
}

/// `name` alone, or with its number where there are several.
fn numbered(name: &str, copy: u32, of: u32) -> String {
    if of > 1 { format!("{name}-{copy}") } else { name.into() }
}
