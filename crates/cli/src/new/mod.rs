//! `tidemark new`: a first scenario, from flags or a short dialogue.

mod dialogue;
mod text;

use std::fs::OpenOptions;
use std::io::{self, ErrorKind, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::{fs, iter};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, ValueEnum};
use miette::{Context as _, IntoDiagnostic as _, Result, miette};
use tidemark_marker::LawConfig;
use tidemark_senders::SenderConfig;
use tidemark_sim::scenario::{MAX_UES, Scenario};

use dialogue::Dialogue;
use tidemark_terminal::error::diagnostic;
use tidemark_terminal::say;

/// File with the schema beside a new scenario, for editors. It needs no network and matches this version.
const SCHEMA: &str = "tidemark.schema.json";

/// Cell of a new scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Cell {
    /// 20 MHz at 30 kHz, one layer: up to 40 Mbit/s
    #[value(name = "5g-20mhz")]
    Narrow,
    /// 100 MHz at 30 kHz, four layers, 256QAM: more than 1 Gbit/s near the mast
    #[value(name = "5g-100mhz")]
    Wide,
    /// 5 MHz at 15 kHz, as LTE has it: up to 8 Mbit/s
    #[value(name = "lte-5mhz")]
    Lte,
}

/// A radio channel to begin with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Channel {
    /// A constant SNR
    Static,
    /// Fading at walking speed
    Pedestrian,
    /// Fading at driving speed
    Vehicular,
}

/// Arguments of `tidemark new`.
#[derive(Args, Debug)]
pub(crate) struct New {
    /// File to write, such as cell.toml; an existing file is not replaced
    file: PathBuf,
    /// The cell [default: 5g-20mhz]
    #[arg(long)]
    cell: Option<Cell>,
    /// UEs for each controller [default: 1]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=i64::from(MAX_UES)))]
    ues: Option<u32>,
    /// Congestion controllers, separated by commas [default: prague,cubic]
    #[arg(long, value_name = "NAMES", value_delimiter = ',', value_parser = controllers(), hide_possible_values = true)]
    controllers: Vec<String>,
    /// The law by which the gNB marks
    #[arg(long, default_value = "tide", value_parser = PossibleValuesParser::new(LawConfig::names(|_| true)))]
    law: String,
    /// The radio channel of every UE
    #[arg(long, default_value = "pedestrian")]
    channel: Channel,
}

/// Reads a value of `--controllers`.
fn controllers() -> PossibleValuesParser {
    SenderConfig::all().iter().map(|sender| PossibleValue::new(sender.name())).into()
}

impl New {
    /// Writes the scenario, and beside it the schema that its first line names. If standard input is a terminal, asks for values that no
    /// flag sets.
    ///
    /// # Errors
    /// A file that exists or can't be written, or more UEs than a scenario can have.
    pub(crate) fn execute(mut self) -> Result<()> {
        let file = self.file.display().to_string();
        if self.file.exists() {
            return Err(miette!("{file} exists already: name another file"));
        }
        if io::stdin().is_terminal() && io::stderr().is_terminal() {
            self.ask(&mut Dialogue::new(io::stdin().lock(), io::stderr().lock())).into_diagnostic()?;
        }
        let text = text::of(&self);
        Scenario::parse(&file, &text, Path::new(""), &[]).map_err(diagnostic)?;
        let unwritable = || format!("{file} can't be written");
        let created = OpenOptions::new().write(true).create_new(true).open(&self.file);
        created
            .and_then(|mut created| created.write_all(text.as_bytes()))
            .into_diagnostic()
            .wrap_err_with(unwritable)?;
        self.write_schema().into_diagnostic().wrap_err_with(|| format!("{SCHEMA} can't be written beside {file}"))?;
        say!("wrote {file}. Check it: tidemark check {file}. Run it: tidemark run {file}");
        Ok(())
    }

    /// Asks for the values that no flag sets.
    ///
    /// # Errors
    /// An input that ends.
    fn ask(&mut self, dialogue: &mut Dialogue<impl io::BufRead, impl io::Write>) -> io::Result<()> {
        if self.cell.is_none() {
            let cells: Vec<_> = Cell::value_variants().iter().filter_map(ValueEnum::to_possible_value).collect();
            let choices: Vec<_> = cells.iter().map(PossibleValue::get_name).collect();
            let read = |answer: &str| Cell::from_str(answer, false);
            self.cell = Some(dialogue.ask("Cell", &choices.join(", "), choices[0], read)?);
        }
        if self.controllers.is_empty() {
            let known: Vec<_> = SenderConfig::all().iter().map(SenderConfig::name).collect();
            let read = |answer: &str| {
                let names: Vec<_> = answer.split(',').map(|name| name.trim().to_string()).collect();
                match names.iter().find(|name| !known.contains(&name.as_str())) {
                    Some(unknown) => Err(format!("there is no controller `{unknown}`")),
                    None => Ok(names),
                }
            };
            self.controllers = dialogue.ask("Controllers", &known.join(", "), &text::CONTROLLERS.join(","), read)?;
        }
        if self.ues.is_none() {
            let most = MAX_UES / self.controllers.len() as u32;
            let range = format!("1 to {most}");
            let read = |answer: &str| match answer.parse() {
                Ok(ues) if (1..=most).contains(&ues) => Ok(ues),
                _ => Err(format!("`{answer}` is not a number from {range}")),
            };
            self.ues = Some(dialogue.ask("UEs for each controller", &range, "1", read)?);
        }
        Ok(())
    }

    /// Writes the schema if there is none. Keeps another version's schema, and says so.
    fn write_schema(&self) -> io::Result<()> {
        let file = self.file.with_file_name(SCHEMA);
        let schema: String = Scenario::json_schema().chars().chain(iter::once('\n')).collect();
        match fs::read_to_string(&file) {
            Ok(old) if old == schema => Ok(()),
            Ok(_) => {
                eprintln!(
                    "kept {}, which is of another version: `tidemark schema` prints this version's",
                    file.display()
                );
                Ok(())
            }
            Err(error) if error.kind() == ErrorKind::NotFound => fs::write(&file, schema),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use proptest::prelude::*;
    use proptest::sample::{select, subsequence};

    use super::*;

    #[derive(Parser)]
    struct Command {
        #[command(flatten)]
        new: New,
    }

    fn parsed(arguments: &[String]) -> Result<New, clap::Error> {
        let arguments = ["new".to_string(), "x.toml".into()].into_iter().chain(arguments.iter().cloned());
        Command::try_parse_from(arguments).map(|command| command.new)
    }

    fn loaded(new: &New) -> Result<Scenario, String> {
        Scenario::parse("x.toml", &text::of(new), Path::new(""), &[]).map_err(|error| error.to_string())
    }

    fn names<T: ValueEnum>() -> Vec<String> {
        let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
        values.map(|value| value.get_name().to_string()).collect()
    }

    proptest! {
        #[test]
        fn whatever_flags_are_accepted_the_scenario_passes_the_check(
            file in "[ -~]{0,12}",
            cell in select(names::<Cell>()),
            channel in select(names::<Channel>()),
            law in select(LawConfig::names(|_| true)),
            controllers in subsequence(SenderConfig::all(), 1..=SenderConfig::all().len()).prop_shuffle(),
            ues in 0..5_000_u32,
        ) {
            let controllers: Vec<_> = controllers.iter().map(SenderConfig::name).collect();
            let arguments = [
                format!("--cell={cell}"), format!("--channel={channel}"), format!("--law={law}"),
                format!("--controllers={}", controllers.join(",")), format!("--ues={ues}"),
            ];
            let accepted = parsed(&arguments);
            prop_assert_eq!(accepted.is_ok(), (1..=MAX_UES).contains(&ues));
            if let Ok(mut new) = accepted {
                new.file = file.into();
                let loaded = loaded(&new);
                let all = ues * controllers.len() as u32;
                prop_assert_eq!(loaded.is_ok(), all <= MAX_UES, "{:?}", loaded.map(|scenario| scenario.text));
            }
        }
    }

    #[test]
    fn without_flags_two_controllers_share_a_cell() {
        let scenario = loaded(&parsed(&[]).unwrap()).unwrap();
        let senders: Vec<_> = scenario.flow.iter().map(|flow| flow.sender.name()).collect();
        assert_eq!(senders, ["prague", "cubic"]);
        assert_eq!(scenario.marker.law.properties().name, "tide");
    }

    #[test]
    fn a_controller_named_twice_has_its_ues_once() {
        let scenario = loaded(&parsed(&["--controllers=reno,reno".into()]).unwrap()).unwrap();
        assert_eq!(scenario.ue.len(), 1);
    }

    #[test]
    fn the_dialogue_asks_for_what_no_flag_says_until_the_answer_is_right() {
        let mut new = parsed(&["--cell=lte-5mhz".into()]).unwrap();
        let mut shown = Vec::new();
        new.ask(&mut Dialogue::new(&b"prague, vegas\nscream,udp\nmany\n3\n"[..], &mut shown)).unwrap();
        let shown = String::from_utf8(shown).unwrap();
        assert!(
            shown.contains("there is no controller `vegas`") && shown.contains("`many` is not a number"),
            "{shown}"
        );
        assert!(!shown.contains("Cell"), "{shown}");
        assert_eq!((new.controllers, new.ues), (vec!["scream".to_string(), "udp".into()], Some(3)));
    }

    #[test]
    fn an_empty_answer_is_the_default_and_an_end_of_the_input_an_error() {
        let mut new = parsed(&[]).unwrap();
        new.ask(&mut Dialogue::new(&b"\n\n\n"[..], Vec::new())).unwrap();
        assert_eq!((new.cell, new.ues), (Some(Cell::Narrow), Some(1)));
        let mut new = parsed(&[]).unwrap();
        assert!(new.ask(&mut Dialogue::new(&b"\n"[..], Vec::new())).is_err());
    }
}
