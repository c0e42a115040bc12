//! BBR version 3: the procedures of draft-ietf-ccwg-bbr-06 with the constants of Google's code (`tcp_bbr.c`,
//! BBR_VERSION 3) throughout, and that code's response to ECN, of which the draft has none.
//!
//! The draft's own constants differ in the drain gain (0.5), the gain of `PROBE_DOWN` (0.90) and the window
//! of aggregation. The response to ECN is DCTCP's, meant for round trips up to 5 ms: it does not meet the
//! requirements of RFC 9331 4, so that AccECN has to be asked for.

use tidemark_core::{ConfigError, Duration, FlowId};

use super::bounded::{BoundedBbr, Constants, UpEnd};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};
use crate::controller::Sizes;

static CONSTANTS: Constants = Constants {
    startup_gain: 2.77,
    startup_window_gain: 2.0,
    startup_losses: 6,
    keeps_delivered: true,
    up_end: UpEnd::Plateau,
    longest_aggregation: f64::INFINITY,
};

/// BBR version 3's configuration.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BbrV3Config {
    /// Marks count only while the least round-trip time is at most this. Default 5 ms, as in Google's code.
    pub ecn_max_rtt: Duration,
    /// The transport below. ECN is off by default; with `accecn` packets are ECT(1).
    pub tcp: TcpConfig,
}

impl Default for BbrV3Config {
    fn default() -> Self {
        Self { ecn_max_rtt: Duration::from_millis(5), tcp: TcpConfig::default() }
    }
}

impl CongestionControl for BbrV3Config {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "BBR version 3",
            follows: "draft-ietf-ccwg-bbr, google/bbr",
            answers: "its model, losses above 2 %",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, flow, seed| Box::new(config.controller(sizes, flow, seed)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Off, controller: Box::new(controller) })
    }
}

impl BbrV3Config {
    /// A controller at its initial window. `seed` and `flow` name the stream of its random waits.
    pub fn controller(&self, sizes: Sizes, flow: FlowId, seed: u64) -> BoundedBbr {
        BoundedBbr::new(&CONSTANTS, self.ecn_max_rtt, sizes, flow, seed)
    }
}
