//! Access network bit rate recommendations (ANBR, TS 38.321 5.18.10): the gNB tells a UE which rate a logical channel can have.
//!
//! The standard lets the gNB choose the rate. Here it is the rate of IP packets, estimated over a window, without the headers of
//! PDCP, RLC and MAC. It is quantised to the table of TS 38.321 and sent as a MAC control element of two octets.

mod estimator;

pub(crate) use estimator::{Counts, Estimator};

use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds};
use tidemark_wire::mac::{BitRateMultiplier, Direction};

/// Recommendations to one UE, for the logical channel of each of its bearers.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<AnbrConfig>))]
pub struct AnbrConfig {
    /// Direction of the rates. Default `downlink`.
    pub direction: AnbrDirection,
    /// Time over which a rate is estimated, and between two recommendations. Default 40 ms, the shortest in the thesis
    /// "L4S and ANBR" (section 4.1.4), which found shorter windows unstable.
    pub window: Duration,
    /// Rate that is estimated. Default `capacity`.
    pub estimate: AnbrEstimate,
    /// True to subtract the headers of a packet only once, so that those of its later segments count as data. With whole slots at
    /// 60 Mbit/s the rate is 0.2 % too high. The thesis counts like this (section 4.1.4), after ns-3. Default false.
    pub segment_headers: bool,
    /// Target delay of the queue. A recommendation is lower while the queue is longer, and higher while it is shorter.
    /// Default: the queue has no effect.
    pub queue_target: Option<Duration>,
    /// Time in which a recommendation with `queue_target` would bring the queue to its target. Default 100 ms: a few
    /// round trips and windows, since a correction faster than the sender's response overshoots. With an empty queue the
    /// recommendation exceeds the estimate by the share `queue_target / queue_horizon`. If that is less than a step of
    /// the table, at most a fifth, rounding removes it.
    pub queue_horizon: Duration,
    /// True to give the UE the exact rate instead of an entry in the table of TS 38.321. No radio can do this. It is for simulations
    /// without the table, as in the thesis "L4S and ANBR". Default false.
    pub exact: bool,
    /// `bitRateMultiplier` (TS 38.331). The table ends at 8 Mbit/s; higher rates are multiples. Default `x40`, the lowest.
    pub multiplier: AnbrMultiplier,
    /// True if the gNB recommends at the end of each window in which it sent something, false if only in answer to a query. Default true.
    pub unsolicited: bool,
    /// `bitRateQueryProhibitTimer`: shortest time between two queries of the UE. Default 400 ms.
    pub query_prohibit: Duration,
    /// Interval at which the UE's applications ask for a recommendation (+CGBRRREQ). Default: never.
    pub query_every: Option<Duration>,
}

/// Direction of the rates that are recommended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnbrDirection {
    /// Rates of packets to the UE.
    #[default]
    Downlink,
    /// Rates of packets from the UE, from those received in the window. For `queue_target` the queue is that of the UE's buffer status reports.
    Uplink,
    /// Rates of both directions.
    Both,
}

impl AnbrDirection {
    /// True if recommendations cover this direction of a control element.
    pub(crate) fn covers(self, direction: Direction) -> bool {
        match direction {
            Direction::Downlink => self != Self::Uplink,
            Direction::Uplink => self != Self::Downlink,
        }
    }
}

/// Rate that is estimated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnbrEstimate {
    /// Rate that the bearer had, as in the thesis. Without a queue this is only the offered load, so a sender that
    /// follows it never learns of more capacity.
    Delivered,
    /// Rate that the bearer would have had on its own and the free resource blocks, or on an equal share of the cell among the bearers that
    /// sent something, whichever is more. Free blocks are shared equally among bearers with recommendations.
    #[default]
    Capacity,
}

/// `bitRateMultiplier` of TS 38.331.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum AnbrMultiplier {
    /// 40: up to 320 Mbit/s.
    #[default]
    X40,
    /// 70.
    X70,
    /// 100.
    X100,
    /// 200.
    X200,
}

impl AnbrMultiplier {
    /// Multiplier for the reader of the control element.
    pub fn on_wire(self) -> BitRateMultiplier {
        match self {
            Self::X40 => BitRateMultiplier::X40,
            Self::X70 => BitRateMultiplier::X70,
            Self::X100 => BitRateMultiplier::X100,
            Self::X200 => BitRateMultiplier::X200,
        }
    }
}

impl Default for AnbrConfig {
    fn default() -> Self {
        Self {
            direction: AnbrDirection::default(),
            window: Duration::from_millis(40),
            estimate: AnbrEstimate::default(),
            queue_target: None,
            queue_horizon: Duration::from_millis(100),
            segment_headers: false,
            exact: false,
            multiplier: AnbrMultiplier::default(),
            unsolicited: true,
            query_prohibit: Duration::from_millis(400),
            query_every: None,
        }
    }
}

const fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

const QUERY_PROHIBIT: [Duration; 8] =
    [ms(0), ms(400), ms(800), ms(1_600), ms(3_000), ms(6_000), ms(12_000), ms(30_000)];

bounds! { AnbrConfig {
    window: Range::between(ms(5), ms(10_000)),
    queue_target: Range::at_most(ms(10_000)),
    queue_horizon: Range::between(ms(1), ms(10_000)),
    query_prohibit: Range::one_of(&QUERY_PROHIBIT).because("TS 38.331"),
    query_every: Range::at_least(ms(1)),
    ..direction, estimate, exact, multiplier, segment_headers, unsolicited
} }

impl AnbrConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_field_is_named() {
        assert!(AnbrConfig::default().validate().is_ok());
        let right = AnbrConfig::default;
        for (wrong, field) in [
            (AnbrConfig { window: Duration::ZERO, ..right() }, "window"),
            (AnbrConfig { query_prohibit: Duration::from_millis(500), ..right() }, "query_prohibit"),
            (AnbrConfig { queue_horizon: Duration::ZERO, ..right() }, "queue_horizon"),
            (AnbrConfig { query_every: Some(Duration::ZERO), ..right() }, "query_every"),
        ] {
            assert_eq!(wrong.validate().unwrap_err().field(), field);
        }
    }
}
