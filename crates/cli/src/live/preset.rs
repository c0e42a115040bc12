//! Cells with a name, for those who have no scenario at hand.

use std::path::{Path, PathBuf};

use clap::Args;
use miette::{Result, miette};
use tidemark_sim::scenario::Scenario;

use super::session::Options;
use crate::run::diagnostic;

/// Name and scenario, the default first.
const PRESETS: [(&str, &str); 5] = [
    ("5g-walking", include_str!("../../../../scenarios/live/5g-walking.toml")),
    ("5g-static", include_str!("../../../../scenarios/live/5g-static.toml")),
    ("5g-driving", include_str!("../../../../scenarios/live/5g-driving.toml")),
    ("lte-edge", include_str!("../../../../scenarios/live/lte-edge.toml")),
    ("5g-wide", include_str!("../../../../scenarios/live/5g-wide.toml")),
];
/// What a trace replaces the channel of.
const TRACED: &str = "5g-static";
const TRACE: &str = "trace:";

/// The name that is meant where none is given.
const DEFAULT: &str = PRESETS[0].0;

/// Which cell it is, and how it runs.
#[derive(Args)]
pub struct Choice {
    /// A scenario, whose cell and UEs are taken [default: the preset of --cell]
    file: Option<PathBuf>,
    /// A cell with a name: 5g-walking, 5g-static, 5g-driving, lte-edge, 5g-wide, trace:FILE or trace:FILE.csv#COLUMN
    #[arg(long, value_name = "PRESET", default_value = DEFAULT, conflicts_with = "file")]
    cell: String,
    #[command(flatten)]
    pub options: Options,
}

impl Choice {
    /// Its scenario, with overrides.
    pub fn load(&self) -> Result<Scenario> {
        match &self.file {
            Some(file) => Scenario::load(file, &self.options.overrides).map_err(diagnostic),
            None => load(&self.cell, &self.options.overrides),
        }
    }
}

/// The scenario of a preset, or of `trace:FILE`, with overrides.
pub fn load(name: &str, overrides: &[String]) -> Result<Scenario> {
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

/// The channel of `FILE`, or of `FILE#COLUMN` for a CSV file, as a scenario has it.
fn trace(file: &str) -> Result<String> {
    let (file, column) = file.split_once('#').map_or((file, None), |(file, column)| (file, Some(column)));
    let path = std::fs::canonicalize(file).map_err(|error| miette!("{file}: {error}"))?;
    let text = std::fs::read_to_string(&path).map_err(|error| miette!("{file}: {error}"))?;
    let format = match (column, text.starts_with('#')) {
        (Some(_), _) => "csv",
        (None, true) => "rate-pattern",
        (None, false) => "mahimahi",
    };
    let quoted = |text: &str| toml::Value::from(text).to_string();
    let column = column.map_or(String::new(), |column| format!(", column = {}", quoted(column)));
    let path = quoted(&path.to_string_lossy());
    Ok(format!("{{ model = \"trace\", file = {path}, format = \"{format}\"{column} }}"))
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
}
