//! Names of UEs and directions of flows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_cell::UeConfig;

/// Direction of a flow's data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Direction {
    /// Downlink, from the network to the UE.
    #[default]
    Downlink,
    /// Uplink, from the UE to the network.
    Uplink,
}

impl Direction {
    /// Name in scenarios and results.
    pub fn name(self) -> &'static str {
        match self {
            Self::Downlink => "downlink",
            Self::Uplink => "uplink",
        }
    }
}

/// A UE with its name, which is unique among copies.
#[derive(Clone, Debug)]
pub struct NamedUe {
    /// Name, numbered where there are several of a kind.
    pub name: String,
    /// Entry of the scenario that it comes from.
    pub kind: usize,
    /// Complete configuration.
    pub config: UeConfig,
}
