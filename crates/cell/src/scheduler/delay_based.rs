//! Delay-based (Brunello et al. section IV-E): the oldest head of line first, and before all others the queues whose head is
//! older than a threshold, as long as it is.

use tidemark_core::Duration;

use super::Candidate;
use crate::config::ConfigError;
use crate::qos::Characteristics;

/// The delay-based scheduler's configuration.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DelayBasedConfig {
    /// A queue whose head is older goes before all that are not lifted. Default 10 ms, the paper's `l4sHighTh`.
    pub threshold: Duration,
    /// 5QIs whose queues are lifted. Default: all, so that the oldest is served whatever it is.
    pub lifts: Vec<u8>,
}

impl Default for DelayBasedConfig {
    fn default() -> Self {
        Self { threshold: Duration::from_millis(10), lifts: Vec::new() }
    }
}

impl DelayBasedConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        if self.threshold.is_zero() || self.threshold > Duration::from_secs(10) {
            return Err(ConfigError::new("scheduler.threshold", "must be above zero and at most 10 s"));
        }
        if self.lifts.iter().any(|five_qi| Characteristics::of(*five_qi).is_none()) {
            return Err(ConfigError::new("scheduler.lifts", "must be standardised 5QIs: 1 to 9, 80, 82 to 90"));
        }
        Ok(())
    }

    pub(super) fn metric(&self, candidate: &Candidate) -> (bool, Duration) {
        let may = self.lifts.is_empty() || self.lifts.contains(&candidate.five_qi);
        (may && candidate.head_of_line > self.threshold, candidate.head_of_line)
    }
}
