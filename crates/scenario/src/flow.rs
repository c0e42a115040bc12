//! Flows of a scenario.

use std::net::Ipv4Addr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_cell::UeId;
use tidemark_core::{Bounded, ConfigError, Dscp, Duration, FlowId, Range, bounds};
use tidemark_record::Direction;
use tidemark_senders::{AppConfig, CongestionControl as _, SenderConfig, connect};

use crate::JITTER_CUT;
use crate::Scenario;
use crate::copies::{MAX_UES, one};
use crate::router_path::RouterPath;

/// One flow, or one for every copy of its UE.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<Flow>)]
pub struct Flow {
    /// Name of the flow. Its copies at the copies of a UE are numbered in the same way.
    pub name: String,
    /// Name of the UE where the flow ends. Default: a host on the wire.
    pub ue: Option<String>,
    /// Direction of the data. Default `downlink`.
    #[serde(default)]
    pub direction: Direction,
    /// QFI of the QoS flow that the flow belongs to at its UE, as by a packet detection rule for its addresses and ports. Default: the
    /// packet filters decide.
    pub qfi: Option<u8>,
    /// IPv4 address of the end on the wire. Copies of the flow have the addresses after it. Default: an address of its own for each flow,
    /// in 198.18.0.0/15. UEs have 10.45.0.2 and the addresses after it.
    pub remote_address: Option<Ipv4Addr>,
    /// Port of the end on the wire. Default 5001, or 5004 for media. The port at the UE is 49152; further connections of the flow have the
    /// ports after it.
    pub remote_port: Option<u16>,
    /// DSCP of the packets in both directions. Default 0.
    #[serde(default)]
    pub dscp: u8,
    /// Number of flows of this kind, at each copy of the UE. Default 1.
    #[serde(default = "one")]
    pub count: u32,
    /// Round-trip time of the wired path between server and gNB: half of it each way.
    pub round_trip: Duration,
    /// Standard deviation of the delay of each way, which is half of `round_trip` in the mean. The distribution is normal and cut at three
    /// deviations, and packets keep their order. RFC 8868 has 5 ms. Default 0 s.
    #[serde(default)]
    pub jitter: Duration,
    /// Routers that the data passes, in that order: a name, or a list of names. Default: none.
    #[serde(default)]
    pub router: RouterPath,
    /// Routers that the feedback passes, in that order. Default: none.
    #[serde(default)]
    pub return_router: RouterPath,
    /// Sender: a congestion control with its transport.
    #[serde(default)]
    pub sender: SenderConfig,
    /// Application that feeds the flow. The flow begins when the application starts.
    #[serde(default)]
    pub app: AppConfig,
}

bounds! { Flow {
    dscp: Range::at_most(63u8).because("six bits, without the ECN field"),
    count: Range::between(1u32, MAX_UES).unit("flows"),
    round_trip: Range::at_most(Duration::from_secs(10)),
    ..name, ue, direction, qfi, remote_address, remote_port, jitter, router, return_router, sender, app
} }

impl Flow {
    /// Checks the fields, and that they fit the scenario.
    ///
    /// # Errors
    /// The first field that cannot be used, with what would be right.
    pub(super) fn check(&self, scenario: &Scenario) -> Result<(), ConfigError> {
        self.check_ue(scenario)?;
        self.check_routers(scenario)?;
        self.check_qfi(scenario)?;
        self.check_bounds()?;
        self.check_jitter(scenario)?;
        self.sender.validate().map_err(|error| error.within("sender"))?;
        self.app.validate().map_err(|error| error.within("app"))?;
        // Not every sender carries every application.
        connect(&self.sender, &self.app, FlowId(0), 0).map(drop)
    }

    fn check_ue(&self, scenario: &Scenario) -> Result<(), ConfigError> {
        let known = |name: &str| scenario.ue.iter().any(|ue| ue.name == name);
        if let Some(name) = self.ue.as_deref().filter(|name| !known(name)) {
            let names: Vec<_> = scenario.ue.iter().map(|ue| ue.name.as_str()).collect();
            let right = format!("there is no [[ue]] named `{name}`: use one of {}", names.join(", "));
            return Err(ConfigError::new("ue", right));
        }
        if self.direction == Direction::Uplink && self.ue.is_none() {
            let right = "a host on the wire has no uplink: name a `ue`, or leave it out";
            return Err(ConfigError::new("direction", right));
        }
        Ok(())
    }

    fn check_routers(&self, scenario: &Scenario) -> Result<(), ConfigError> {
        let half = self.round_trip / 2;
        for (key, path) in [("router", &self.router), ("return_router", &self.return_router)] {
            path.check(&scenario.router).map_err(|right| ConfigError::new(key, right))?;
            let delay = path.delay(&scenario.router);
            if delay > half {
                let right = format!(
                    "the wires beside its routers have {delay}, more than {half}, half of round_trip: lengthen round_trip, which includes them"
                );
                return Err(ConfigError::new(key, right));
            }
        }
        Ok(())
    }

    fn check_qfi(&self, scenario: &Scenario) -> Result<(), ConfigError> {
        let Some(qfi) = self.qfi else { return Ok(()) };
        let ue = scenario.ue.iter().find(|ue| Some(&ue.name) == self.ue.as_ref());
        let drbs = ue.into_iter().flat_map(|ue| &ue.drb);
        let known: Vec<_> = drbs.flat_map(|drb| drb.qos_flow.iter().map(|flow| flow.qfi)).collect();
        if known.contains(&qfi) {
            return Ok(());
        }
        let names: Vec<_> = known.iter().map(ToString::to_string).collect();
        let right = if known.is_empty() {
            "its UE has no [[ue.drb.qos_flow]]: leave it out".into()
        } else {
            format!("must be that of a QoS flow of its UE: use one of {}", names.join(", "))
        };
        Err(ConfigError::new("qfi", right))
    }

    /// Checks that no delay can be negative.
    fn check_jitter(&self, scenario: &Scenario) -> Result<(), ConfigError> {
        let routers = self.router.delay(&scenario.router).max(self.return_router.delay(&scenario.router));
        if self.jitter * (2 * JITTER_CUT) + routers * 2 <= self.round_trip {
            return Ok(());
        }
        let parts = 2 * JITTER_CUT;
        let right = if routers.is_zero() {
            format!("must be at most a {parts}th of round_trip, so that no delay is negative")
        } else {
            let remaining = self.round_trip.saturating_sub(routers * 2);
            format!("must be at most a {parts}th of {remaining}, which the delays of its routers leave of round_trip")
        };
        Err(ConfigError::new("jitter", right))
    }
}

/// A flow with the name of its copy.
pub struct NamedFlow<'a> {
    /// Name, numbered where there are several of a kind.
    pub name: String,
    /// Index of its entry in the scenario.
    pub kind: usize,
    /// UE where the flow ends; `None` for a host on the wire.
    pub ue: Option<UeId>,
    /// Direction of the data.
    pub direction: Direction,
    /// QFI of the QoS flow that the scenario names for it.
    pub qfi: Option<u8>,
    /// Address of the end on the wire, if the scenario names one.
    pub remote_address: Option<Ipv4Addr>,
    /// Port of the end on the wire, if the scenario names one.
    pub remote_port: Option<u16>,
    /// DSCP of the packets.
    pub dscp: Dscp,
    /// Standard deviation of the delay of each way.
    pub jitter: Duration,
    /// Indices of the routers that the data passes, in that order.
    pub routers: Vec<usize>,
    /// Indices of the routers that the feedback passes.
    pub return_routers: Vec<usize>,
    /// Delays of the wire between the server and the routers, down and up: what remains of `round_trip` without the routers' own delays.
    pub wires: [Duration; 2],
    /// Sender.
    pub sender: &'a SenderConfig,
    /// Application.
    pub app: &'a AppConfig,
}
