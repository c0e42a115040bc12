//! Proportional fair: the UE whose channel is best compared with the rate that it has had.

use tidemark_core::Duration;

use super::Candidate;
use crate::config::ConfigError;

/// Proportional fair's configuration.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ProportionalFairConfig {
    /// Time over which the rate that a UE has had is averaged. Default 100 ms.
    pub window: Duration,
}

impl Default for ProportionalFairConfig {
    fn default() -> Self {
        Self { window: Duration::from_millis(100) }
    }
}

impl ProportionalFairConfig {
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let fits = (Duration::from_millis(1)..=Duration::from_secs(100)).contains(&self.window);
        fits.then_some(()).ok_or(ConfigError::new("scheduler.window", "must lie between 1 ms and 100 s"))
    }
}

/// The rate that each UE has had, an exponential average over slots.
#[derive(Clone, Debug)]
pub(crate) struct ProportionalFair {
    weight: f64,
    averages: Vec<f64>,
}

impl ProportionalFair {
    pub(super) fn new(config: &ProportionalFairConfig, slot: Duration) -> Self {
        let slots = config.window.as_secs_f64() / slot.as_secs_f64();
        Self { weight: 1.0 / slots.max(1.0), averages: Vec::new() }
    }
    pub(super) fn metric(&mut self, candidate: &Candidate) -> f64 {
        let ue = candidate.ue as usize;
        if self.averages.len() <= ue {
            self.averages.resize(ue + 1, 0.0);
        }
        // A UE that has had nothing yet comes first; a byte a slot keeps the quotient finite.
        candidate.capacity / (self.averages[ue] + 1.0)
    }
    pub(super) fn served(&mut self, ue: u32, bytes: u32) {
        if let Some(average) = self.averages.get_mut(ue as usize) {
            *average += self.weight * f64::from(bytes);
        }
    }
    pub(super) fn end_slot(&mut self) {
        for average in &mut self.averages {
            *average -= self.weight * *average;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ue::Offer;

    fn shares(capacities: [f64; 2], slots: u32) -> [u32; 2] {
        let mut scheduler = ProportionalFair::new(&ProportionalFairConfig::default(), Duration::from_micros(500));
        let mut shares = [0; 2];
        let candidates: Vec<_> = (0..2)
            .map(|ue| Candidate {
                ue,
                capacity: capacities[ue as usize],
                head_of_line: Duration::ZERO,
                offer: Offer::Mcs(0),
            })
            .collect();
        for _ in 0..slots {
            let metrics = [0, 1].map(|ue| scheduler.metric(&candidates[ue]));
            let chosen = usize::from(metrics[1] > metrics[0]);
            shares[chosen] += 1;
            scheduler.served(chosen as u32, capacities[chosen] as u32);
            scheduler.end_slot();
        }
        shares
    }

    #[test]
    fn constant_channels_share_time_equally_however_good_they_are() {
        // Maximising the sum of log rates gives each of two UEs half of the time (Kelly).
        let [a, b] = shares([4_000.0, 1_000.0], 20_000);
        assert!(a.abs_diff(b) < 400, "{a} {b}");
    }
}
