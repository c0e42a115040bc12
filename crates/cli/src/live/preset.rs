//! Named cells, for users without a scenario.

use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Result, miette};
use serde::Deserialize as _;
use tidemark_cell::channel::TraceConfig;
use tidemark_sim::scenario::Scenario;
use tidemark_sim::scenario::remedy::in_toml;

use super::session::Options;
use crate::carried::carried;
use tidemark_terminal::error::diagnostic;

/// Name and scenario, the default first.
const PRESETS: [(&str, &str); 5] = [
    ("5g-walking", carried!("scenarios/live/5g-walking.toml")),
    ("5g-static", carried!("scenarios/live/5g-static.toml")),
    ("5g-driving", carried!("scenarios/live/5g-driving.toml")),
    ("lte-edge", carried!("scenarios/live/lte-edge.toml")),
    ("5g-wide", carried!("scenarios/live/5g-wide.toml")),
];
/// Preset of `trace:FILE`, whose channel the trace replaces.
const TRACED: &str = "5g-static";
const TRACE: &str = "trace:";
const OPTIONS: &str = "write a column's name after #, then `unit`, `time`, `skip` and `format`, as in \
                       trace:drive.csv#DL_bitrate,unit=kbit/s,skip=10 s";

/// Name of the default preset.
pub(super) const DEFAULT: &str = PRESETS[0].0;

/// Choice of a cell, and options of its run.
#[derive(Args)]
pub(super) struct Choice {
    /// Scenario file with the cell and UEs [default: the preset of --cell]
    file: Option<PathBuf>,
    /// Preset cell: 5g-walking, 5g-static, 5g-driving, lte-edge, 5g-wide, trace:FILE or
    /// `trace:FILE.csv#COLUMN[,unit=kbit/s][,time=COLUMN][,skip=TIME]`
    #[arg(long, value_name = "PRESET", default_value = DEFAULT, conflicts_with = "file")]
    cell: String,
    /// Options of a live cell.
    #[command(flatten)]
    pub options: Options,
}

impl Choice {
    /// Reads the scenario, with overrides.
    pub(super) fn load(&self) -> Result<Scenario> {
        match &self.file {
            Some(file) => Scenario::load(file, &self.options.overrides).map_err(diagnostic),
            None => load(&self.cell, &self.options.overrides),
        }
    }
}

/// The scenario of a preset, or of `trace:FILE`, with overrides.
pub(super) fn load(name: &str, overrides: &[String]) -> Result<Scenario> {
    if let Some(file) = name.strip_prefix(TRACE) {
        let channel = trace(file)?;
        let trace = ["name=trace".into(), format!("ue.0.channel={channel}")];
        return load(TRACED, &[&trace[..], overrides].concat());
    }
    let Some((name, text)) = PRESETS.iter().find(|(known, _)| *known == name) else {
        let known: Vec<_> = PRESETS.iter().map(|(name, _)| *name).collect();
        return Err(miette!("there is no cell `{name}`: use {} or {TRACE}FILE", known.join(", ")));
    };
    Scenario::parse(name, text, Path::new("."), overrides).map_err(diagnostic)
}

/// The channel of `FILE` or `FILE#COLUMN,unit=kbit/s`, in the form of a scenario. The file is also read here, so that errors name it.
fn trace(text: &str) -> Result<String> {
    // A file's name may contain the separator of its options.
    let (file, options) = match text.split_once('#').filter(|_| !Path::new(text).exists()) {
        Some((file, options)) => (file, options.split(',').collect()),
        None => (text, Vec::new()),
    };
    let path = std::fs::canonicalize(file).map_err(|error| miette!("{file}: {error}"))?;
    let mut channel = toml::Table::from_iter([("file".into(), path.to_string_lossy().as_ref().into())]);
    for (index, option) in options.into_iter().enumerate() {
        let (key, value) = match option.split_once('=') {
            Some(pair) => pair,
            None if index == 0 => ("column", option),
            None => return Err(miette!("{TRACE}{text}: `{option}` is not key=value; {OPTIONS}")),
        };
        channel.insert(key.into(), value.into());
    }
    let content = std::fs::read_to_string(&path).map_err(|error| miette!("{file}: {error}"))?;
    let config = TraceConfig::deserialize(channel.clone());
    let config = config.map_err(|error| miette!("{TRACE}{text}: {}; {OPTIONS}", in_toml(error.message())))?;
    TraceConfig { file: file.into(), ..config }.read(&content).map_err(|error| miette!("{error}"))?;
    channel.insert("model".into(), "trace".into());
    Ok(toml::Value::Table(channel).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use tidemark_cell::{Cell, CellConfig};

    #[test]
    fn every_preset_makes_a_cell_that_marks() {
        for (name, _) in PRESETS {
            let scenario = load(name, &[]).unwrap();
            assert_eq!(scenario.name, name);
            let mut cell = Cell::<()>::new(&scenario.cell, scenario.seed).unwrap();
            cell.add_ue(&scenario.ues()[0].config).unwrap();
            assert_ne!(scenario.ues()[0].config.marker, tidemark_marker::MarkerConfig::default());
        }
        assert!(load("6g", &[]).unwrap_err().to_string().contains("lte-edge"));
    }

    #[test]
    fn a_trace_takes_the_place_of_the_channel() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), "1\n2\n3\n").unwrap();
        let scenario = load(&format!("trace:{}", file.path().display()), &[]).unwrap();
        let mut cell = Cell::<()>::new(&CellConfig::default(), 1).unwrap();
        cell.add_ue(&scenario.ues()[0].config).unwrap();
        assert!(load("trace:/nowhere", &[]).is_err());
    }

    #[test]
    fn a_published_csv_is_read_as_it_is_and_what_is_wrong_is_said_of_the_file() {
        let file = tempfile::Builder::new().prefix("a#b,c").suffix(".csv").tempfile().unwrap();
        let rows = "2019.12.14_08.12.32,8.0,9,215000\n2019.12.14_08.12.33,8.0,-,215000\n";
        std::fs::write(file.path(), format!("Timestamp,SNR,CQI,DL_bitrate\n{rows}")).unwrap();
        let plain = file.path().with_file_name(format!("{}.csv", std::process::id()));
        std::fs::copy(file.path(), &plain).unwrap();
        let read = |options: &str| load(&format!("trace:{}{options}", plain.display()), &[]);
        let rate = read("#dl_bitrate,unit=kbit/s,skip=1 s").unwrap();
        let tidemark_cell::ChannelConfig::Trace(trace) = &rate.ue[0].channel else { panic!("no trace") };
        assert_eq!(trace.content.as_ref().unwrap().mean_rate(), tidemark_core::BitRate::from_mbps(215));
        assert!(read("#SNR").is_ok() && read("#cqi").is_ok());
        for (options, expected) in [
            ("", "several columns"),
            ("#DL_bitrate", "unit=kbit/s"),
            ("#SINR", "its columns are Timestamp, SNR, CQI, DL_bitrate"),
            ("#DL_bitrate,unit=kilobit", "unknown name `kilobit`"),
            ("#DL_bitrate,kbit/s", "`kbit/s` is not key=value"),
            ("#DL_bitrate,units=kbit/s", "unknown field `units`"),
        ] {
            let error = read(options).unwrap_err().to_string();
            assert!(error.contains(expected) && error.contains(&plain.display().to_string()), "{options}: {error}");
            assert!(!error.contains("5g-static"), "{error}");
        }
        std::fs::remove_file(&plain).unwrap();
        // A name that holds the separators is a name.
        let error = load(&format!("trace:{}", file.path().display()), &[]).unwrap_err().to_string();
        assert!(error.contains("several columns"), "{error}");
    }
}
