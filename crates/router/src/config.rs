//! Configuration of a wired bottleneck.

use std::borrow::Cow;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Probability, Range, bounds};
use tidemark_marker::{CodelConfig, DualQueueConfig, LawConfig, MarkerConfig};
use tidemark_radio::channel::TraceConfig;

use crate::harq::LinkHarqConfig;
use crate::overdue::OverdueConfig;
use crate::sdn_port::SdnPortConfig;

/// A router on the wired path: one link with one queue discipline. Each flow lists the routers that it passes, in order.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<RouterConfig>)]
pub struct RouterConfig {
    /// Name by which flows refer to the router.
    pub name: String,
    /// Rate of its link at the start.
    pub rate: BitRate,
    /// Later rates, in the order of their times. Default: none.
    #[serde(default)]
    pub changes: Vec<RateChange>,
    /// One-way delay of the wire to the neighbour on the side of the access network: the next router, or the gNB. It is part
    /// of a flow's `round_trip`; the rest lies between the server and the router next to it. Default 0 s.
    #[serde(default)]
    pub delay: Duration,
    /// A measured trace of rates instead of `rate` and `changes`. Default: none.
    pub trace: Option<TraceConfig>,
    /// Delays by HARQ, for a link that models a radio. Default: none.
    pub harq: Option<LinkHarqConfig>,
    /// Queue before the link. Default: a FIFO queue of 1 MB that drops at its tail.
    #[serde(default)]
    pub queue: QueueConfig,
    /// Queuing delays for which the total time above them is measured, the TDQ of the aL4S paper. Default: none.
    #[serde(default)]
    pub tdq: Vec<Duration>,
    /// Tells senders that follow recommendations their equal share of the link, with each packet that leaves it. No real router
    /// does this. It is for `oracle`, the limit of what a sender can achieve. Default: no.
    #[serde(default)]
    pub recommends: bool,
}

/// A change of a link's rate.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<RateChange>)]
pub struct RateChange {
    /// Time at which the change begins, from the start of the run.
    pub at: Duration,
    /// The new rate.
    pub rate: BitRate,
    /// Time in which the rate moves to the new value, in a straight line. Default 0 s: at once.
    #[serde(default)]
    pub over: Duration,
}

/// Default size of a queue.
const DEFAULT_LIMIT: Bytes = Bytes(1_000_000);

/// Queue before a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "discipline", rename_all = "kebab-case")]
#[serde(expecting = "a table with its `discipline`, as in { discipline = \"codel\" }")]
pub enum QueueConfig {
    /// One queue in order of arrival, which drops at its tail. Any law of a bearer can mark it.
    Fifo(FifoConfig),
    /// One queue in order of arrival, which only drops at its tail.
    DropTail(DropTailConfig),
    /// One queue in order of arrival under CoDel (RFC 8289): a `fifo` whose law is `codel` or `ecn-codel`.
    Codel(CodelQueueConfig),
    /// The two queues of DualPI2 (RFC 9332).
    Dualpi2(DualQueueConfig),
    /// A switch port of SDN-L4S: an L4S and a classic class, marked in the data plane or by rules of the controller.
    SdnPort(SdnPortConfig),
}

/// Queue disciplines without their aliases.
pub(crate) enum Discipline<'a> {
    Fifo(Cow<'a, FifoConfig>),
    Dual(&'a DualQueueConfig),
    SdnPort(&'a SdnPortConfig),
}

/// One queue in order of arrival.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<FifoConfig>)]
pub struct FifoConfig {
    /// Size in bytes. A packet that does not fit is dropped. Default 1 MB.
    pub limit: Bytes,
    /// The law that marks or drops. Default: none, a drop-tail queue.
    pub marker: MarkerConfig,
    /// Marks packets with ECT(1) as they leave, by their own time in the queue. A law instead sees the age of the oldest
    /// packet as they arrive. Default: none.
    pub ramp: Option<LeavingRamp>,
    /// Drops by age. Default: none.
    pub overdue: Option<OverdueConfig>,
    /// A queue of this kind for each flow, served one packet each in turn, like UEs under round robin. Default: false, one queue for all.
    pub per_flow: bool,
}

/// One queue that drops arrivals when it is full.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<DropTailConfig>)]
pub struct DropTailConfig {
    /// Size in bytes. A packet that does not fit is dropped. Default 1 MB.
    pub limit: Bytes,
}

/// One queue under CoDel (RFC 8289).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<CodelQueueConfig>)]
pub struct CodelQueueConfig {
    /// Size in bytes. A packet that does not fit is dropped. Default 1 MB.
    pub limit: Bytes,
    /// Acceptable time in the queue. Default 5 ms.
    pub target: Duration,
    /// Time for which the target may be exceeded before CoDel acts. Default 100 ms.
    pub interval: Duration,
    /// True to mark ECT packets instead of dropping them. Default: no, as in Linux.
    pub ecn: bool,
}

/// A marking probability that rises in a straight line with the waiting time of the packet.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LeavingRamp {
    /// Waiting time up to which no packet is marked.
    pub low: Duration,
    /// Waiting time from which every packet is marked.
    pub high: Duration,
}

impl LeavingRamp {
    /// The marking probability after this waiting time.
    pub(crate) fn probability(&self, waited: Duration) -> Probability {
        let span = (self.high - self.low).as_secs_f64();
        Probability::new((waited.as_secs_f64() - self.low.as_secs_f64()) / span)
    }
}

impl Default for FifoConfig {
    fn default() -> Self {
        Self { limit: DEFAULT_LIMIT, marker: MarkerConfig::default(), ramp: None, overdue: None, per_flow: false }
    }
}

impl Default for DropTailConfig {
    fn default() -> Self {
        Self { limit: DEFAULT_LIMIT }
    }
}

impl Default for CodelQueueConfig {
    fn default() -> Self {
        let CodelConfig { target, interval, .. } = CodelConfig::default();
        Self { limit: DEFAULT_LIMIT, target, interval, ecn: false }
    }
}

impl From<&DropTailConfig> for FifoConfig {
    fn from(queue: &DropTailConfig) -> Self {
        Self { limit: queue.limit, ..Self::default() }
    }
}

impl From<&CodelQueueConfig> for FifoConfig {
    fn from(queue: &CodelQueueConfig) -> Self {
        let codel = CodelConfig { target: queue.target, interval: queue.interval, ..CodelConfig::default() };
        let law = if queue.ecn { LawConfig::EcnCodel(codel) } else { LawConfig::Codel(codel) };
        Self { limit: queue.limit, marker: MarkerConfig::with_law(law), ..Self::default() }
    }
}

impl Default for QueueConfig {
    fn default() -> Self {
        Self::Fifo(FifoConfig::default())
    }
}

impl QueueConfig {
    /// Discipline of the queue, without aliases.
    pub(crate) fn discipline(&self) -> Discipline<'_> {
        match self {
            Self::Fifo(fifo) => Discipline::Fifo(Cow::Borrowed(fifo)),
            Self::DropTail(queue) => Discipline::Fifo(Cow::Owned(queue.into())),
            Self::Codel(queue) => Discipline::Fifo(Cow::Owned(queue.into())),
            Self::Dualpi2(dual) => Discipline::Dual(dual),
            Self::SdnPort(port) => Discipline::SdnPort(port),
        }
    }

    /// Name of the law that marks its packets.
    pub fn law(&self) -> String {
        match self.discipline() {
            Discipline::Fifo(fifo) if fifo.ramp.is_some() => "ramp".into(),
            Discipline::Fifo(fifo) => fifo.marker.law.properties().name.into(),
            Discipline::Dual(_) => "dualpi2".into(),
            Discipline::SdnPort(_) => "sdn-port".into(),
        }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Fifo(fifo) => fifo.validate(),
            Self::DropTail(queue) => queue.check_bounds(),
            Self::Codel(queue) => {
                queue.check_bounds()?;
                FifoConfig::from(queue).marker.validate()
            }
            Self::Dualpi2(dual) => dual.validate(),
            Self::SdnPort(port) => port.validate(),
        }
    }
}

/// Bytes that a queue may hold.
pub(crate) const LIMIT: Range<Bytes> = Range::at_least(Bytes(3_000)).because("two packets");
/// Rates that a link may have.
const RATE: Range<BitRate> = Range::at_least(BitRate::from_kbps(10));

bounds! { FifoConfig {
    limit: LIMIT,
    ..marker, ramp, overdue, per_flow
} }

bounds! { DropTailConfig {
    limit: LIMIT,
} }

bounds! { CodelQueueConfig {
    limit: LIMIT,
    target: Range::above(Duration::ZERO),
    ..interval, ecn
} }

bounds! { RouterConfig {
    rate: RATE,
    ..name, changes, delay, trace, harq, queue, tdq, recommends
} }

bounds! { RateChange {
    rate: RATE,
    ..at, over
} }

impl FifoConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if let Some(LeavingRamp { low, high }) = self.ramp.filter(|ramp| ramp.low >= ramp.high) {
            return Err(ConfigError::new("ramp.high", format!("must be above low, {low}")).found(high));
        }
        if let Some(overdue) = &self.overdue {
            overdue.validate().map_err(|error| error.within("overdue"))?;
        }
        self.marker.validate().map_err(|error| error.within("marker"))
    }
}

impl RouterConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field that cannot be used, and the rule that it breaks.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if let Some(harq) = &self.harq {
            harq.check_bounds().map_err(|error| error.within("harq"))?;
        }
        let mut end = Duration::ZERO;
        for (index, change) in self.changes.iter().enumerate() {
            let place = format!("changes.{index}");
            change.check_bounds().map_err(|error| error.within(&place))?;
            if change.at < end {
                let right = format!("must be at least {end}, when the change before it ends");
                return Err(ConfigError::new("at", right).found(change.at).within(&place));
            }
            end = change.at + change.over;
        }
        self.queue.validate().map_err(|error| error.within("queue"))
    }
}
