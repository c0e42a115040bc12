//! What a recorder is told of flows and UEs before a run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_cell::UeConfig;

/// Direction of a flow's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// From the network to the UE.
    #[default]
    Downlink,
    /// From the UE to the network.
    Uplink,
}

impl Direction {
    /// As it is written in scenarios and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Downlink => "downlink",
            Self::Uplink => "uplink",
        }
    }
}

/// A UE with its name, its copies told apart.
#[derive(Clone, Debug)]
pub struct NamedUe {
    /// Name, numbered where there are several of a kind.
    pub name: String,
    /// Which entry of the scenario it comes from.
    pub kind: usize,
    /// Its configuration, complete.
    pub config: UeConfig,
}
