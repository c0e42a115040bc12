//! Scenarios: the configuration of the simulator and of every other driver of the same parts.
//!
//! [`Scenario::load`] reads a file, applies overrides and checks all of it. An error names file, line and field, and says what would be
//! right ([`diagnostic`], [`remedy`]).
#![warn(unnameable_types, unreachable_pub)]

mod check;
mod copies;
mod cost;
pub mod diagnostic;
mod flow;
mod form;
mod markers;
pub mod overrides;
pub mod remedy;
mod resolved;
mod router_path;
mod schema;
mod ue;
mod variant;
mod warning;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;
use tidemark_cell::channel::{TraceConfig, TraceError};
use tidemark_cell::{CellConfig, ChannelConfig, NetworkConfig, UeId};
use tidemark_core::{Dscp, Duration, Instant, Range, bounds};
use tidemark_marker::{MarkerConfig, PolicyRule};
pub use tidemark_record::{Direction, NamedUe};
use tidemark_router::RouterConfig;

pub use copies::MAX_UES;
pub use cost::Cost;
pub use diagnostic::ScenarioError;
pub use flow::{Flow, NamedFlow};
pub use overrides::OverrideError;
pub use router_path::RouterPath;
pub use ue::Ue;

/// A simulation: a cell, its UEs, and the flows that end there or, without any radio, at a host on the wire.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<Scenario>)]
pub struct Scenario {
    /// A name for the results, of letters, digits, `.`, `_` and `-`.
    pub name: String,
    /// Purpose of the scenario.
    #[serde(default)]
    pub description: String,
    /// Seed of every random draw. Default 1.
    #[serde(default = "default_seed")]
    pub seed: u64,
    /// Length of the run, in virtual time.
    pub duration: Duration,
    /// Time at the start that statistics leave out and series show. Default 0 s.
    #[serde(default)]
    pub warmup: Duration,
    /// Interval of the time series. Default 100 ms. In a long run with many UEs or flows it is 200 ms, 500 ms, 1 s and so on, so that their
    /// series have at most 500,000 rows.
    pub sample_interval: Option<Duration>,
    /// The cell.
    #[serde(default)]
    pub cell: CellConfig,
    /// Network of many cells like `cell`, with their positions. Default: one cell, whose UEs have channels of their own.
    pub network: Option<NetworkConfig>,
    /// The marker of every bearer that has none of its own.
    #[serde(default)]
    pub marker: MarkerConfig,
    /// Rules for the marking of dedicated bearers without a law of their own. The first rule for the QFI or 5QI of a bearer's first QoS
    /// flow decides. Default: the law of the UE's default bearer.
    #[serde(default)]
    pub policy: Vec<PolicyRule>,
    /// UEs.
    #[serde(default)]
    pub ue: Vec<Ue>,
    /// Wired bottlenecks. Default: none, only wires with a constant delay.
    #[serde(default)]
    pub router: Vec<RouterConfig>,
    /// Flows.
    #[serde(default)]
    pub flow: Vec<Flow>,
    /// Servers of `tidemark shell`. The simulator ignores them.
    #[serde(default)]
    pub server: Vec<Server>,
    /// The text that it was read from, with overrides applied.
    #[serde(skip)]
    pub text: String,
    /// Folder in which its traces are looked up.
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A server of the live cell, behind its core network.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Name of the server.
    pub name: String,
    /// Command that `tidemark shell` runs at the server, in a shell.
    pub command: String,
}

/// A scenario that can't be used.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum LoadError {
    /// A file can't be read.
    #[error("{file} can't be read: {reason}; name a scenario, which is a TOML file (`tidemark schema` has its form)")]
    Unreadable {
        /// The file.
        file: String,
        /// Reason, in the system's words.
        reason: String,
    },
    /// An override can't be applied.
    #[error("--set {0}")]
    Override(#[from] OverrideError),
    /// A part of it is wrong.
    #[error(transparent)]
    Wrong(Box<ScenarioError>),
    /// The value of an override is wrong.
    #[error("--set {assignment}: {}", error.message)]
    Assigned {
        /// The override.
        assignment: String,
        /// Error, in the text with the overrides applied.
        error: Box<ScenarioError>,
    },
    /// Several parts or overrides are wrong.
    #[error("{}", lines(.0))]
    Several(Vec<LoadError>),
}

/// Errors one a line.
fn lines(errors: &[LoadError]) -> String {
    errors.iter().map(ToString::to_string).collect::<Vec<_>>().join("\n")
}

impl LoadError {
    /// Path of the field at fault, or of the first one of several; `None` where no field is known.
    pub fn key(&self) -> Option<&str> {
        match self {
            Self::Wrong(error) | Self::Assigned { error, .. } => error.key.as_deref(),
            Self::Several(errors) => errors.first().and_then(Self::key),
            Self::Override(OverrideError::NoSuchPlace { key, .. }) => Some(key),
            Self::Override(_) | Self::Unreadable { .. } => None,
        }
    }
}

fn default_seed() -> u64 {
    1
}
/// Interval of the time series if a scenario names none and its run is short.
pub const SAMPLE_INTERVAL: Duration = Duration::from_millis(100);
/// Largest number of rows of the series if a scenario names no interval. They take 120 MB of memory and 40 MB of files.
const MAX_ROWS: u64 = 500_000;
/// Standard deviations at which a varying delay of a wire is cut (RFC 8868: a bounded delay variation, without reordering).
pub const JITTER_CUT: u64 = 3;
/// Longest run: a day.
const MAX_DURATION: Duration = Duration::from_secs(86_400);

bounds! { Scenario {
    duration: Range::above(Duration::ZERO).and_at_most(MAX_DURATION).because("a day"),
    sample_interval: Range::at_least(Duration::from_millis(1)),
    ..name, description, seed, warmup, cell, network, marker, policy, ue, router, flow, server, text, folder
} }

impl Scenario {
    /// Reads a scenario file, applies `key=value` overrides and checks all of it.
    ///
    /// # Errors
    /// The errors, each with its line and a remedy.
    pub fn load(file: &Path, assignments: &[String]) -> Result<Self, LoadError> {
        let name = file.display().to_string();
        let text = std::fs::read_to_string(file)
            .map_err(|error| LoadError::Unreadable { file: name.clone(), reason: error.to_string() })?;
        Self::parse(&name, &text, file.parent().unwrap_or(Path::new("")), assignments)
    }

    /// Reads a scenario's text, as [`load`](Self::load) reads a file; traces are looked up from `folder`.
    ///
    /// # Errors
    /// The errors, each with its line and a remedy.
    pub fn parse(file: &str, text: &str, folder: &Path, assignments: &[String]) -> Result<Self, LoadError> {
        Self::assigned(file, text, folder, assignments).map_err(|error| match error {
            LoadError::Wrong(error) => Self::blame(*error, file, text, folder, assignments),
            other => other,
        })
    }

    /// Names all that is wrong, and what brought each error about.
    fn blame(error: ScenarioError, file: &str, text: &str, folder: &Path, assignments: &[String]) -> LoadError {
        let errors_with = |count: usize| match Self::assigned(file, text, folder, &assignments[..count]) {
            Err(LoadError::Wrong(error)) => form::all_errors(*error),
            _ => Vec::new(),
        };
        let by_count: Vec<_> = (0..=assignments.len()).map(errors_with).collect();
        let mut blamed: Vec<_> = form::all_errors(error)
            .into_iter()
            .map(|error| {
                let is_same = |other: &&ScenarioError| other.message == error.message;
                match by_count.iter().position(|errors| errors.iter().any(|other| is_same(&other))) {
                    // The text itself has it, whose lines an override may have moved.
                    Some(0) => by_count[0].iter().find(is_same).cloned().unwrap_or(error).into(),
                    Some(count) => {
                        LoadError::Assigned { assignment: assignments[count - 1].clone(), error: Box::new(error) }
                    }
                    None => error.into(),
                }
            })
            .collect();
        if blamed.len() == 1 { blamed.remove(0) } else { LoadError::Several(blamed) }
    }

    fn assigned(file: &str, text: &str, folder: &Path, assignments: &[String]) -> Result<Self, LoadError> {
        let text = overrides::apply(text, assignments).or_else(|error| match error {
            // A text that is no TOML is reported with its line below.
            OverrideError::NotToml(_) => Ok(text.to_string()),
            other => Err(LoadError::from(other)),
        })?;
        let mut scenario: Self = form::read(file, &text)?;
        scenario.text = text;
        scenario.folder = folder.to_path_buf();
        scenario.check().map_err(|error| ScenarioError::of_config(file, &scenario.text, &error))?;
        scenario.read_traces(file, folder)?;
        Ok(scenario)
    }

    /// The JSON schema of the scenario language.
    pub fn json_schema() -> String {
        // The type of a schema writes its keywords in their usual order.
        let schema = schemars::Schema::try_from(schema::schema().clone());
        schema.and_then(|schema| serde_json::to_string_pretty(&schema)).unwrap_or_default()
    }

    /// Describes in one line the run that the scenario makes.
    pub fn outline(&self) -> String {
        let ues = self.ues();
        let flows = self.flows(&ues).len();
        let (ues, rows) = (ues.len(), self.rows(self.sample_interval()));
        format!(
            "`{}`: {} of {ues} UEs and {flows} flows, seed {}, series of {rows} rows",
            self.name, self.duration, self.seed
        )
    }

    /// Interval of the time series. If the scenario names none, it grows with the run, so that memory and files do not.
    pub fn sample_interval(&self) -> Duration {
        self.sample_interval.unwrap_or_else(|| {
            let mut intervals =
                (0..).flat_map(|power| [1, 2, 5].map(|digit| SAMPLE_INTERVAL * digit * 10u64.pow(power)));
            intervals.find(|interval| self.rows(*interval) <= MAX_ROWS).unwrap_or(MAX_DURATION)
        })
    }

    /// Rows of the series of UEs and flows.
    fn rows(&self, interval: Duration) -> u64 {
        let copies = |name: &Option<String>| match name {
            None => 1,
            Some(name) => self.ue.iter().filter(|ue| ue.name == *name).map(|ue| u64::from(ue.count)).sum(),
        };
        let ues: u64 = self.ue.iter().map(|ue| u64::from(ue.count)).sum();
        let flows: u64 = self.flow.iter().map(|flow| copies(&flow.ue)).sum();
        (ues + flows).saturating_mul(self.duration.as_nanos() / interval.as_nanos().max(1))
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
                ues.push(NamedUe { name: numbered(&ue.name, copy, ue.count), kind, config: ue.config(self) });
            }
        }
        ues
    }

    /// UEs that move to another cell, with the times.
    pub fn handovers(&self) -> impl Iterator<Item = (UeId, Duration)> + '_ {
        let copies = self.ue.iter().flat_map(|ue| (0..ue.count).map(move |_| ue));
        copies.zip(0..).flat_map(|(ue, id)| ue.handovers.iter().map(move |at| (UeId(id), *at)))
    }

    /// Every flow, copies included, in the order of their ids.
    pub fn flows(&self, ues: &[NamedUe]) -> Vec<NamedFlow<'_>> {
        let mut flows = Vec::new();
        for (kind, flow) in self.flow.iter().enumerate() {
            let ends: Vec<_> = match &flow.ue {
                None => vec![None],
                Some(name) => {
                    let all = ues.iter().enumerate();
                    all.filter(|(_, ue)| self.ue[ue.kind].name == *name)
                        .map(|(index, _)| Some(UeId(index as u32)))
                        .collect()
                }
            };
            let copies = ends.len() as u32 * flow.count;
            let ends = ends.into_iter().flat_map(|end| (0..flow.count).map(move |_| end));
            let (down, up) = match flow.direction {
                Direction::Downlink => (&flow.router, &flow.return_router),
                Direction::Uplink => (&flow.return_router, &flow.router),
            };
            let wires = [down, up].map(|path| (flow.round_trip / 2).saturating_sub(path.delay(&self.router)));
            for (copy, ue) in (1..).zip(ends) {
                flows.push(NamedFlow {
                    name: numbered(&flow.name, copy, copies),
                    kind,
                    ue,
                    direction: flow.direction,
                    qfi: flow.qfi,
                    remote_address: flow.remote_address.map(|first| {
                        let address = first.to_bits().wrapping_add(copy - 1);
                        Ipv4Addr::from_bits(address)
                    }),
                    remote_port: flow.remote_port,
                    dscp: Dscp(flow.dscp),
                    jitter: flow.jitter,
                    routers: flow.router.indices(&self.router),
                    return_routers: flow.return_router.indices(&self.router),
                    wires,
                    sender: &flow.sender,
                    app: &flow.app,
                });
            }
        }
        flows
    }

    /// Traces of channels and routers, with the files that they are read from.
    pub fn traces(&self) -> impl Iterator<Item = &TraceConfig> {
        let channels = self.ue.iter().filter_map(|ue| match &ue.channel {
            ChannelConfig::Trace(trace) => Some(trace),
            _ => None,
        });
        channels.chain(self.router.iter().filter_map(|router| router.trace.as_ref()))
    }

    fn read_traces(&mut self, file: &str, folder: &Path) -> Result<(), LoadError> {
        let channels = self.ue.iter_mut().enumerate().filter_map(|(index, ue)| match &mut ue.channel {
            ChannelConfig::Trace(trace) => Some((["ue", "channel"], index, trace)),
            _ => None,
        });
        let routers = self.router.iter_mut().enumerate();
        let links = routers.filter_map(|(index, router)| Some((["router", "trace"], index, router.trace.as_mut()?)));
        for ([list, table], index, trace) in channels.chain(links) {
            let path = folder.join(&trace.file);
            let wrong = |message: String| {
                ScenarioError::in_field(file, &self.text, &[list, &index.to_string(), table, "file"], message)
            };
            let text = std::fs::read_to_string(&path).map_err(|error| {
                wrong(format!("{}: {error}: name a trace relative to the scenario's folder", path.display()))
            })?;
            trace.read(&text).map_err(|TraceError { line, wrong: problem, .. }| {
                wrong(format!("{}:{line}: {problem}", path.display()))
            })?;
            if list == "router" && !trace.content.as_ref().is_some_and(|content| content.is_rate()) {
                return Err(wrong("a link needs a trace of rates".into()).into());
            }
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
