//! Text of a new scenario.

use std::fmt::Write as _;

use tidemark_core::FlowId;
use tidemark_senders::media::VideoConfig;
use tidemark_senders::{AppConfig, CongestionControl as _, SenderConfig, connect};

use super::{Cell, Channel, New, SCHEMA};

/// Default controllers: one that answers L4S marks, and one that does not.
pub(super) const CONTROLLERS: [&str; 2] = ["prague", "cubic"];

impl Cell {
    /// A sentence about it, and its lines below `[cell]`.
    fn lines(self) -> (&'static str, &'static str) {
        match self {
            Self::Narrow => ("20 MHz at 30 kHz, one layer, in TDD.", "bandwidth_mhz = 20\n"),
            Self::Wide => (
                "100 MHz at 30 kHz, four layers, 256QAM, in TDD.",
                "bandwidth_mhz = 100\nlayers = 4\nmcs_table = \"qam256\"\n",
            ),
            Self::Lte => (
                "5 MHz at 15 kHz, TDD configuration 2 of LTE (TS 36.211 table 4.2-2).",
                "numerology = 0\nbandwidth_mhz = 5\ntdd = \"DSUDDDSUDD\"\n",
            ),
        }
    }
}

impl Channel {
    fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Pedestrian => "pedestrian",
            Self::Vehicular => "vehicular",
        }
    }
}

/// Text of the scenario, with a comment for each of its parts.
pub(super) fn of(new: &New) -> String {
    let New { file, cell, ues, controllers, law, channel } = new;
    let name = name(&file.file_stem().unwrap_or_default().to_string_lossy());
    let (about_cell, cell) = cell.unwrap_or(Cell::Narrow).lines();
    let mut text = format!(
        "\
#:schema ./{SCHEMA}
# Every field with its unit and default: `tidemark check --resolved` with this file, or *Fields of a scenario* in the book.

name = \"{name}\"
description = \"\"
# Every random draw follows from it: the same seed gives the same results.
seed = 1
duration = \"30 s\"
# Statistics leave out the start; the time series show it.
warmup = \"5 s\"

# {about_cell}
[cell]
{cell}
# The law by which the gNB marks. Without marks: law = \"none\".
[marker]
law = \"{law}\"
"
    );
    let mut known: Vec<&str> = controllers.iter().map(String::as_str).collect();
    if known.is_empty() {
        known.extend(CONTROLLERS);
    }
    let mut seen = Vec::new();
    for sender in known {
        if !seen.contains(&sender) {
            seen.push(sender);
            write_controller(&mut text, sender, ues.unwrap_or(1), channel.name());
        }
    }
    text
}

/// Writes UEs and their flow.
fn write_controller(text: &mut String, name: &str, ues: u32, channel: &str) {
    let sender = SenderConfig::all().into_iter().find(|sender| sender.name() == name);
    let title = sender.as_ref().map_or(name, |sender| sender.properties().title);
    let app = sender.as_ref().map_or("bulk", app);
    let _ = write!(
        text,
        "
# {title}: a flow at each of its UEs.
[[ue]]
name = \"{name}\"
count = {ues}
# Or static, pedestrian, vehicular; snr_db says how good it is.
channel = {{ model = \"{channel}\" }}

[[flow]]
name = \"{name}\"
ue = \"{name}\"
# Of the wires between the server and the cell; the radio comes on top.
round_trip = \"20 ms\"
sender = {{ controller = \"{name}\" }}
app = {{ app = \"{app}\" }}
"
    );
}

/// Application that a controller can carry: bulk data or a video, or else a constant rate.
fn app(sender: &SenderConfig) -> &'static str {
    let apps = [("bulk", AppConfig::default()), ("video", AppConfig::Video(VideoConfig::default()))];
    let carried = apps.iter().find(|(_, app)| connect(sender, app, FlowId(0), 0).is_ok());
    carried.map_or("constant", |(name, _)| *name)
}

/// Name of a scenario from the name of its file. Characters that a name can't have become `-`.
fn name(stem: &str) -> String {
    let legal = |char: char| if char.is_ascii_alphanumeric() || "._-".contains(char) { char } else { '-' };
    let name: String = stem.chars().map(legal).collect();
    if name.chars().any(|char| char.is_ascii_alphanumeric()) { name } else { "scenario".into() }
}
