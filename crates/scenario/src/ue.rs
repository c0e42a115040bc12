//! UEs of a scenario.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_cell::{AnbrConfig, ChannelConfig, DrbConfig, RECEIVER_LOSS_DB, RlcConfig, UeConfig};
use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds};
use tidemark_marker::{MarkerConfig, Policy};

use crate::Scenario;
use crate::copies::{MAX_UES, one};

/// One UE, or several of a kind.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<Ue>)]
pub struct Ue {
    /// Name of the UE; the copies of a UE with `count` are numbered from 1.
    pub name: String,
    /// Number of UEs of this kind. Default 1.
    #[serde(default = "one")]
    pub count: u32,
    /// Radio channel. Default: static at 22 dB.
    #[serde(default)]
    pub channel: ChannelConfig,
    /// SNR that the UE's receiver loses by channel estimation and imperfect hardware, in dB. It is subtracted before blocks fail and CQIs are
    /// chosen. A trace of CQIs or rates already includes it. Default 2 dB (docs/measured/limits.md).
    #[serde(default = "default_receiver_loss_db")]
    pub receiver_loss_db: f64,
    /// RLC entity of the default bearer.
    #[serde(default)]
    pub rlc: RlcConfig,
    /// Marker of the default bearer. Default: the scenario's.
    pub marker: Option<MarkerConfig>,
    /// 5QI of the default QoS flow. Default 9.
    #[serde(default = "default_five_qi")]
    pub five_qi: u8,
    /// Bearers beside the default one, with the QoS flows that they carry.
    #[serde(default)]
    pub drb: Vec<DrbConfig>,
    /// Bit rate recommendations to the UE, for each of its bearers. Default: none.
    pub anbr: Option<AnbrConfig>,
    /// Law by which the gNB marks what the UE sends, from its buffer status reports: `ramp`, `step` or `dualpi2`. Default:
    /// none.
    pub uplink_marker: Option<MarkerConfig>,
    /// Times at which the UE moves to another cell of the same kind: it is silent for 45 ms, its queue moves with it, and its marker
    /// forgets the old radio. Default: never.
    #[serde(default)]
    pub handovers: Vec<Duration>,
    /// Command that `tidemark shell` runs at the UE, in a shell. Default: nothing. The simulator ignores it.
    pub command: Option<String>,
}

fn default_receiver_loss_db() -> f64 {
    UeConfig::default().receiver_loss_db
}
fn default_five_qi() -> u8 {
    UeConfig::default().five_qi
}

bounds! { Ue {
    count: Range::between(1u32, MAX_UES).unit("UEs"),
    receiver_loss_db: RECEIVER_LOSS_DB,
    ..name, channel, rlc, marker, five_qi, drb, anbr, uplink_marker, handovers, command
} }

impl Ue {
    /// Configuration that the cell gets of this kind of UE.
    pub(super) fn config(&self, scenario: &Scenario) -> UeConfig {
        let by_policy = |drb: &DrbConfig| {
            let flow = drb.qos_flow.first()?;
            Policy::ruled(&scenario.policy, flow.qfi, flow.five_qi).cloned()
        };
        let drb = self
            .drb
            .iter()
            .map(|drb| DrbConfig { marker: drb.marker.clone().or_else(|| by_policy(drb)), ..drb.clone() });
        UeConfig {
            channel: self.channel.clone(),
            receiver_loss_db: self.receiver_loss_db,
            rlc: self.rlc.clone(),
            marker: self.marker.clone().unwrap_or_else(|| scenario.marker.clone()),
            five_qi: self.five_qi,
            drb: drb.collect(),
            anbr: self.anbr.clone(),
            uplink_marker: self.uplink_marker.clone(),
        }
    }

    /// Checks the fields, and that they fit the scenario.
    ///
    /// # Errors
    /// The first field that cannot be used, with what would be right.
    pub(super) fn check(&self, scenario: &Scenario) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.config(scenario).validate()?;
        match (&scenario.network, &self.channel) {
            (Some(_), ChannelConfig::Deployed(_)) => {}
            (Some(_), _) => {
                let right = "in a [network] the radio follows from the UE's place: use { model = \"deployed\" }";
                return Err(ConfigError::new("channel", right));
            }
            (None, ChannelConfig::Deployed(_)) => {
                let right = "`deployed` needs a [network] around it; elsewhere use static, pedestrian or vehicular";
                return Err(ConfigError::new("channel.model", right));
            }
            (None, _) => {}
        }
        if scenario.network.is_some() && !self.handovers.is_empty() {
            let right = "in a [network] a UE changes cells as it moves, by network.handover: leave it out";
            return Err(ConfigError::new("handovers", right));
        }
        Ok(())
    }
}
