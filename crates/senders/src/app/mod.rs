//! Applications, which own the data that a transport carries and decide when there is some.

mod bulk;
mod constant;
mod on_off;
mod short_flows;
mod web;

use tidemark_core::{Bounded, Bytes, ConfigError, Duration, Range, bounds};

pub use crate::source::Source;
pub use bulk::Bulk;
pub use constant::{Constant, ConstantConfig};
pub use on_off::{OnOff, OnOffConfig, Times};
pub use short_flows::{OneTransfer, ShortFlowsConfig};
pub use web::{ObjectsConfig, Web, WebConfig};

use crate::media::{FrameBudget, VideoConfig, XrConfig};

/// Application that feeds a flow.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "app", rename_all = "kebab-case"))]
#[cfg_attr(feature = "serde", serde(expecting = "a table with its `app`, as in { app = \"bulk\" }"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AppConfig {
    /// A bulk transfer: all that the network takes, from a start to a stop.
    Bulk(BulkConfig),
    /// Short transfers, each over a connection of its own.
    ShortFlows(ShortFlowsConfig),
    /// A constant rate.
    Constant(ConstantConfig),
    /// A constant rate, on and off by turns.
    OnOff(OnOffConfig),
    /// Web browsing.
    Web(WebConfig),
    /// Real-time video, whose rate the controller sets.
    Video(VideoConfig),
    /// Extended reality after TR 38.838.
    Xr(XrConfig),
}

/// A bulk transfer.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<BulkConfig>))]
pub struct BulkConfig {
    /// Time at which the client opens the connection, from the start of the run. Default 0 s.
    pub start: Duration,
    /// Time at which the server stops writing, from the start of the run; what is on its way then is still delivered.
    /// Default: never.
    pub stop: Option<Duration>,
    /// Bytes that the server writes. Default: no end.
    pub size: Option<Bytes>,
}

impl Default for AppConfig {
    fn default() -> Self {
        Self::Bulk(BulkConfig::default())
    }
}

impl AppConfig {
    /// Says which field cannot be used, and what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Bulk(bulk) => bulk.validate(),
            Self::ShortFlows(flows) => flows.validate(),
            Self::Constant(constant) => constant.validate(),
            Self::OnOff(on_off) => on_off.validate(),
            Self::Web(web) => web.validate(),
            Self::Video(video) => video.validate(),
            Self::Xr(xr) => xr.video().validate(),
        }
    }

    /// Delay budget of the frames; `None` for an application without frames.
    pub fn frame_budget(&self) -> Option<FrameBudget> {
        match self {
            Self::Video(video) => Some(video.frame_budget()),
            Self::Xr(xr) => Some(xr.video().frame_budget()),
            Self::Bulk(_) | Self::ShortFlows(_) | Self::Constant(_) | Self::OnOff(_) | Self::Web(_) => None,
        }
    }

    /// Gives the times at which the flow begins and its application stops writing.
    pub fn times(&self) -> (Duration, Option<Duration>) {
        match self {
            Self::Bulk(bulk) => (bulk.start, bulk.stop),
            Self::ShortFlows(flows) => (flows.start, flows.stop),
            Self::Constant(constant) => (constant.start, constant.stop),
            Self::OnOff(on_off) => (on_off.start, on_off.stop),
            Self::Web(web) => (web.start, web.stop),
            Self::Video(video) => (video.start, video.stop),
            Self::Xr(xr) => (xr.start, xr.stop),
        }
    }
}

impl BulkConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        check_times(self.start, self.stop)?;
        self.check_bounds()
    }
}

bounds! { BulkConfig {
    size: Range::at_least(Bytes(1)).because("left out for a transfer without end"),
    ..start, stop
} }

/// Checks that an application stops after its start.
pub(crate) fn check_times(start: Duration, stop: Option<Duration>) -> Result<(), ConfigError> {
    match stop {
        Some(stop) if stop <= start => {
            Err(ConfigError::new("stop", format!("must be later than start, {start}")).found(stop))
        }
        _ => Ok(()),
    }
}
