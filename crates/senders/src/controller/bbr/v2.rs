//! BBR version 2 with its response to ECN, as in the L4S team's kernel (`tcp_bbr2.c` of L4STeam/linux 009adfe), which is
//! Google's alpha release with ECN switched on, packets as ECT(1) where AccECN is agreed, and no limit to the
//! round-trip time up to which marks count (Google's: off, and 5 ms).
//!
//! Differences from version 3: `STARTUP` doubles by a gain of 2.885 of both pacing and window; `PROBE_UP` ends when the
//! flight reaches 1.25 bandwidth-delay products, not when the bandwidth stops growing; eight losses end `STARTUP`, not
//! six; and acknowledgements may run ahead of the bandwidth by 100 ms at the most.
//!
//! The response to marks is DCTCP's in form: outside of probes each round with a mark takes `alpha / 3` of the flight,
//! where `alpha` is the moving average of the marked share, with a gain of 1/16, starting at 1; a marked share of one
//! half stops a probe. The reduction is undone at the next probe, after 2 to 3 s or as many rounds as the flight has
//! segments (63 at the most). So there is no window that follows from a marking probability alone, as Prague's does:
//! from probe to probe the window falls as `(1 - p/3)^n` over n rounds, and the mean over them is what a probability
//! leaves of the bandwidth.
//!
//! That kernel keeps `alpha` in 1/256 and rounds down at each step, so that shares below 1/16 leave no
//! trace and one of 1/10 settles at 1/16. Here it is a float. Its shorter window of aggregation during `STARTUP` is left out.

use tidemark_core::{ConfigError, Duration, FlowId};

use super::bounded::{BoundedBbr, Constants, UpEnd};
use crate::config::{EcnMode, TcpConfig};
use crate::control::{CongestionControl, OverTcp, Properties, Transport};
use crate::controller::Sizes;

static CONSTANTS: Constants = Constants {
    startup_gain: 2.885,
    startup_window_gain: 2.885,
    startup_losses: 8,
    keeps_delivered: false,
    up_end: UpEnd::Flight,
    longest_aggregation: 0.1,
};

/// BBR version 2's configuration.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct BbrV2Config {
    /// Marks count only while the least round-trip time is at most this. Default: always.
    pub ecn_max_rtt: Option<Duration>,
    /// The transport below. ECN is `accecn` by default, and packets are ECT(1).
    pub tcp: TcpConfig,
}

impl CongestionControl for BbrV2Config {
    fn properties(&self) -> &'static Properties {
        &Properties {
            title: "BBR version 2 with ECN",
            follows: "L4STeam/linux 009adfe `tcp_bbr2.c`",
            answers: "its model, losses above 2 %, marks",
            recommended: false,
        }
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.tcp.validate()
    }
    fn transport(&self) -> Transport<'_> {
        let config = self.clone();
        let controller = move |sizes, flow, seed| Box::new(config.controller(sizes, flow, seed)) as _;
        Transport::Tcp(OverTcp { config: &self.tcp, usual_ecn: EcnMode::Accecn, controller: Box::new(controller) })
    }
}

impl BbrV2Config {
    /// A controller at its initial window. `seed` and `flow` name the stream of its random waits.
    pub fn controller(&self, sizes: Sizes, flow: FlowId, seed: u64) -> BoundedBbr {
        BoundedBbr::new(&CONSTANTS, self.ecn_max_rtt.unwrap_or(Duration::MAX), sizes, flow, seed)
    }
}
