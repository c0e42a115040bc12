//! Delay-based (Brunello et al. section IV-E): the oldest head of line first. Queues whose head is older than a threshold come before
//! all others. Priority levels can be configured to come before both.

use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds};
use tidemark_marker::Characteristics;

use super::rule::{Candidate, Discipline, Rank, Rule, UplinkOrder};

/// Configuration of the delay-based scheduler.
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<DelayBasedConfig>))]
pub struct DelayBasedConfig {
    /// Age of the head above which a queue of `lifts` goes before all others. Needs `lifts`. Default 10 ms, the paper's `l4sHighTh`.
    pub threshold: Option<Duration>,
    /// 5QIs whose queues are lifted by `threshold`. Default: none, so that the oldest packet of any queue is served, as by `oldest-first`.
    pub lifts: Vec<u8>,
    /// True if a lower priority level (TS 23.501 5.7.3.3) goes before any delay: the oldest of the most important is served. Default: no, the
    /// delay alone decides. The paper has both, with real-time media above the rest in section IV-E.
    pub priority_first: bool,
}

/// Brunello's `l4sHighTh`.
const DEFAULT_THRESHOLD: Duration = Duration::from_millis(10);

bounds! { DelayBasedConfig {
    threshold: Range::above(Duration::ZERO).and_at_most(Duration::from_secs(10)),
    ..lifts, priority_first
} }

impl Discipline for DelayBasedConfig {
    type Rule = Self;
    const UPLINK: UplinkOrder = UplinkOrder::Turns;

    fn rule(&self, _slot: Duration) -> Self {
        self.clone()
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if self.threshold.is_some() && self.lifts.is_empty() {
            let problem = "needs `lifts`, the 5QIs of the queues to lift, as in lifts = [80]";
            return Err(ConfigError::new("threshold", problem));
        }
        if self.lifts.iter().any(|five_qi| Characteristics::of(*five_qi).is_none()) {
            return Err(ConfigError::of_value(
                "lifts",
                "must be standardised 5QIs: 1 to 10, 65 to 67, 69 to 74, 76, 79, 80, 82 to 90",
            ));
        }
        Ok(())
    }
}

impl Rule for DelayBasedConfig {
    fn rank(&mut self, candidate: &Candidate, _given: f64) -> Rank {
        let threshold = self.threshold.unwrap_or(DEFAULT_THRESHOLD);
        // Without levels the age alone decides.
        let priority = if self.priority_first { i32::from(candidate.priority) } else { 0 };
        let is_lifted = self.lifts.contains(&candidate.five_qi) && candidate.head_of_line > threshold;
        Rank::of_age(i32::from(is_lifted) - 2 * priority, candidate.head_of_line)
    }
}
