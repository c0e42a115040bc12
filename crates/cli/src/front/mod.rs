//! `tidemark run --front`: throughput against delay for senders and laws, beside an oracle and the unmarked run.
//!
//! It is a study made from lists instead of a file: one command shows which law wins where.

mod table;

use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Result, miette};
use serde_json::{Map, Value, json};
use tidemark_core::Duration;
use tidemark_senders::{CongestionControl as _, SenderConfig, Transport};
use tidemark_study::{Base, CaseForm, Cases, Form, Keys, Labels, Study, Table};

use crate::format::Format;
use crate::study::{self, Common};
use tidemark_terminal::{print, say};

/// Channels named by their model; all others are files.
const MODELS: [&str; 3] = ["static", "pedestrian", "vehicular"];
/// Laws with a threshold for L4S flows.
const WITH_THRESHOLD: [&str; 2] = ["l4span", "tide"];
/// Key of the law. `--set` may set other keys of the marker beside it.
const LAW: &str = "marker.law";
/// Name of the sender that knows the capacity.
const ORACLE: &str = "oracle";
/// Windows of the oracle's recommendations. Four periods of the default TDD pattern hold a packet of each of several UEs; in a shorter
/// window a UE without a packet looks as if it left its share of the cell free.
const ALONE: &str = "5 ms";
const AMONG_OTHERS: &str = "20 ms";
/// Scenario of one cell, in which each point sets its values.
const SCENARIO: &str = "name = \"front\"\nduration = \"40 s\"\n\n[marker]\nlaw = \"none\"\n\n[[ue]]\nname = \"ue\"\n\n[[flow]]\nname = \"flow\"\nue = \"ue\"\nround_trip = \"38 ms\"\n";
/// Metrics: the cell's throughput, and means over its bearers.
const METRICS: [&str; 4] =
    ["cell.throughput_mbps", "bearer.queue_ms.mean", "bearer.queue_ms.p99", "bearer.queue_ms.p95"];
/// Default of `--anbr`.
const ANBR: &str = "{ window = \"20 ms\" }";
/// Example of `--marking`.
const MARKING: &str = "{ low = \"5 ms\", high = \"10 ms\" }";
/// File with the table as text.
const TEXT: &str = "front.md";
/// Fairness among flows, for runs with several.
const FAIRNESS: &str = "jain";

/// Options of `tidemark run --front`.
#[derive(Args)]
#[command(next_help_heading = "Front: throughput against delay")]
pub(crate) struct FrontOptions {
    /// Draw throughput against delay for senders and laws, beside an oracle that knows the capacity
    #[arg(long, conflicts_with_all = ["file", "vary", "zip", "find"])]
    pub(crate) front: bool,
    /// Channels of all UEs: static, pedestrian, vehicular, or a trace file; FILE:COLUMN names a column of a CSV file
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "static,pedestrian,vehicular",
        requires = "front",
        hide_short_help = true
    )]
    channels: Vec<String>,
    /// Numbers of UEs
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "1,4,16",
        requires = "front",
        hide_short_help = true
    )]
    ues: Vec<u32>,
    /// Round-trip times without the radio
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "10ms,38ms,106ms",
        requires = "front",
        hide_short_help = true
    )]
    round_trips: Vec<Duration>,
    /// Senders of each UE; those joined by `+` share the UE's bearer
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "prague,cubic,prague+cubic",
        requires = "front",
        hide_short_help = true
    )]
    senders: Vec<String>,
    /// Marking laws; the oracle runs under `none`
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        default_value = "none,l4span,tide",
        requires = "front",
        hide_short_help = true
    )]
    laws: Vec<String>,
    /// Thresholds `tau_s` of l4span and tide; each one gives a front [default: the law's]
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "front", hide_short_help = true)]
    thresholds: Vec<Duration>,
    /// Recommendations for senders that follow them, written like a UE's `anbr`
    #[arg(
        long,
        value_name = "TABLE",
        default_value = ANBR,
        requires = "front",
        hide_short_help = true
    )]
    anbr: String,
    /// The network's thresholds, if al4s and al4s-hint know them, written like their `marking`: { low = "5 ms", high = "10 ms" }
    #[arg(long, value_name = "TABLE", requires = "front", hide_short_help = true)]
    marking: Option<String>,
    /// Simulated time of each run
    #[arg(long, value_name = "TIME", default_value = "40 s", requires = "front", hide_short_help = true)]
    duration: Duration,
    /// Warm-up at the start of each run, which does not count
    #[arg(long, value_name = "TIME", default_value = "5 s", requires = "front", hide_short_help = true)]
    warmup: Duration,
}

impl FrontOptions {
    /// Runs the points that the folder lacks, writes table and page, and prints the front.
    ///
    /// # Errors
    /// An unknown name in a list, a run that fails, or an interrupt. Finished runs are kept.
    pub(crate) fn execute(&self, options: &study::StudyOptions, common: &Common<'_>) -> Result<()> {
        let base = Base { file: "front".into(), text: SCENARIO.into(), folder: PathBuf::new() };
        let mut study = Study::new(&self.form(common)?, base).map_err(study::diagnostic)?;
        let out = study::folder(&study.name, common.out);
        let as_text = |table: &Table| vec![(PathBuf::from(TEXT), table::markdown(table))];
        let (table, _) = options.make(&mut study, &out, common.force, as_text)?;
        if common.format == Format::Csv {
            print::data(&table.csv());
        } else {
            say!("{}", table::markdown(&table));
        }
        study::say_files(&out);
        say!("as text: {}", out.join(TEXT).display());
        Ok(())
    }

    fn form(&self, common: &Common<'_>) -> Result<Form> {
        let mut laws = Cases::from([("law".to_string(), self.laws()?)]);
        laws.insert("channel".into(), self.channels()?);
        let has_several =
            self.ues.iter().any(|count| *count > 1) || self.senders.iter().any(|names| names.contains('+'));
        let set = [("duration", self.duration), ("warmup", self.warmup)];
        Ok(Form {
            name: Some("front".into()),
            description: "Throughput against delay for senders and laws".into(),
            seeds: common.seeds.map(Value::from),
            set: set.map(|(key, time)| (key.to_string(), json!(time.to_string()))).into(),
            case: laws,
            metrics: METRICS.into_iter().chain(has_several.then_some(FAIRNESS)).map(str::to_string).collect(),
            overrides: common.overrides.to_vec(),
            ..Form::default()
        })
    }

    /// Cases of laws with their thresholds, each with the cases of senders.
    fn laws(&self) -> Result<Labels> {
        let mut labels = Labels::new();
        for law in &self.laws {
            let has_threshold = WITH_THRESHOLD.contains(&law.as_str()) && !self.thresholds.is_empty();
            let thresholds = if has_threshold { self.thresholds.iter().map(Some).collect() } else { vec![None] };
            for threshold in thresholds {
                let mut set = keys(LAW, json!(law));
                set.extend(threshold.map(|tau_s| ("marker.tau_s".to_string(), json!(tau_s.to_string()))));
                let label = threshold.map_or(law.clone(), |tau_s| format!("{law} {tau_s}"));
                let case = [("senders".to_string(), self.senders(law)?)].into();
                labels.insert(label, CaseForm { set, case, ..CaseForm::default() });
            }
        }
        if !self.laws.iter().any(|law| law == "none") {
            let case = [("senders".to_string(), [self.sender(ORACLE)?].into())].into();
            labels.insert("none".into(), CaseForm { set: keys(LAW, json!("none")), case, ..CaseForm::default() });
        }
        Ok(labels)
    }

    /// Cases of senders under a law; the oracle runs only where nothing marks.
    fn senders(&self, law: &str) -> Result<Labels> {
        let senders = self.senders.iter().map(String::as_str).filter(|name| *name != ORACLE);
        let oracle = (law == "none").then_some(ORACLE);
        senders.chain(oracle).map(|names| self.sender(names)).collect()
    }

    /// Case of one combination of senders, over each number of UEs and round trip.
    fn sender(&self, names: &str) -> Result<(String, CaseForm)> {
        let marking = self.marking.as_deref().map(|text| table("marking", text, MARKING)).transpose()?;
        let senders: Vec<_> =
            names.split('+').map(|name| Sender::named(name, marking.as_ref())).collect::<Result<_>>()?;
        let mut set = Keys::new();
        if names != ORACLE && senders.iter().any(|sender| sender.config.properties().recommended) {
            set.insert("ue.0.anbr".into(), table("anbr", &self.anbr, ANBR)?);
        }
        let round_trip = |time: &Duration| {
            let flows: Vec<_> = senders.iter().map(|sender| sender.flow(*time)).collect();
            (time.to_string(), CaseForm { set: keys("flow", json!(flows)), ..CaseForm::default() })
        };
        let round_trips = self.round_trips.iter().map(round_trip).collect();
        let case = [("ues".to_string(), self.ues(names)), ("round_trip".to_string(), round_trips)].into();
        Ok((names.to_string(), CaseForm { set, case, ..CaseForm::default() }))
    }

    fn channels(&self) -> Result<Labels> {
        let channel = |text: &String| {
            let (file, column) =
                text.split_once(':').map_or((text.as_str(), None), |(file, column)| (file, Some(column)));
            let mut channel = Map::new();
            if MODELS.contains(&file) {
                channel.insert("model".into(), file.into());
            } else if Path::new(file).is_file() {
                channel.extend([("model".to_string(), "trace".into()), ("file".to_string(), file.into())]);
                channel.extend(column.map(|column| ("column".to_string(), Value::from(column))));
            } else {
                return Err(miette!("no channel is called `{file}`: use {} or the file of a trace", MODELS.join(", ")));
            }
            let label = Path::new(file).file_stem().map_or(file.into(), |stem| stem.to_string_lossy().into_owned());
            Ok((label, CaseForm { set: keys("ue.0.channel", channel.into()), ..CaseForm::default() }))
        };
        self.channels.iter().map(channel).collect()
    }

    fn ues(&self, senders: &str) -> Labels {
        let ues = |count: &u32| {
            let mut set = keys("ue.0.count", json!(count));
            if senders == ORACLE {
                let window = if *count == 1 { ALONE } else { AMONG_OTHERS };
                set.insert("ue.0.anbr".into(), json!({ "exact": true, "window": window }));
            }
            (count.to_string(), CaseForm { set, ..CaseForm::default() })
        };
        self.ues.iter().map(ues).collect()
    }
}

/// Reads a table of an option, in the form of an example.
fn table(option: &str, text: &str, example: &str) -> Result<Value> {
    let read = format!("{option} = {text}").parse().ok().filter(|root: &toml::Table| root[option].is_table());
    let root = read.ok_or_else(|| miette!("--{option}: `{text}` is not a table such as {example}"))?;
    serde_json::to_value(&root[option]).map_err(|error| miette!("--{option}: {error}"))
}

fn keys(key: &str, value: Value) -> Keys {
    [(key.to_string(), value)].into()
}

/// Sender of a list.
struct Sender {
    name: String,
    /// Controller with its defaults.
    config: SenderConfig,
    /// Controller in the form of a scenario.
    keys: Value,
}

impl Sender {
    /// Finds a controller by its name; aL4S-CC gets the network's marking, if that is known.
    fn named(name: &str, marking: Option<&Value>) -> Result<Self> {
        let all = SenderConfig::all();
        let names = all.iter().map(SenderConfig::name).collect::<Vec<_>>().join(", ");
        let unknown = || miette!("no sender is called `{name}`: use {names}, or several with + between them");
        let config = all.into_iter().find(|sender| sender.name() == name).ok_or_else(unknown)?;
        let mut keys = json!({ "controller": name });
        match (&config, marking) {
            (SenderConfig::Al4s(_), Some(marking)) => keys["marking"] = marking.clone(),
            (SenderConfig::Al4sHint(_), Some(marking)) => keys["al4s"] = json!({ "marking": marking }),
            _ => {}
        }
        Ok(Self { name: name.into(), config, keys })
    }

    /// Endless flow in the form of a scenario.
    fn flow(&self, round_trip: Duration) -> Value {
        let mut flow =
            json!({ "name": self.name, "ue": "ue", "round_trip": round_trip.to_string(), "sender": self.keys });
        if matches!(self.config.transport(), Transport::Rtp(_)) {
            flow["app"] = json!({ "app": "video" });
        }
        flow
    }
}
