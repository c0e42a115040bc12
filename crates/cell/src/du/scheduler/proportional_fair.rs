//! Proportional fair: the UE with the best channel relative to its past rate first.

use tidemark_core::{Bounded, ConfigError, Duration, Key, Range, bounds};

use super::rule::{Candidate, Discipline, Rank, Rule, UplinkOrder};
use crate::output::UeId;
use tidemark_radio::slots::Slot;

/// Configuration of proportional fair.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<ProportionalFairConfig>))]
pub struct ProportionalFairConfig {
    /// Time over which the past rate of a UE is averaged. Default 100 ms.
    pub window: Duration,
}

impl Default for ProportionalFairConfig {
    fn default() -> Self {
        Self { window: Duration::from_millis(100) }
    }
}

bounds! { ProportionalFairConfig {
    window: Range::between(Duration::from_millis(1), Duration::from_secs(100)),
} }

impl Discipline for ProportionalFairConfig {
    type Rule = ProportionalFair;
    const UPLINK: UplinkOrder = UplinkOrder::Turns;

    fn rule(&self, slot: Duration) -> ProportionalFair {
        ProportionalFair::new(self, slot)
    }

    fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }
}

/// Rate that each UE has had, an exponential average over all slots, those of the uplink and those without data as well.
#[derive(Clone, Debug)]
pub(crate) struct ProportionalFair {
    weight: f64,
    /// Slot of the averages.
    slot: Slot,
    /// Averages of the UEs that ever were candidates, in bytes a slot, side by side: they fade in every slot.
    averages: Vec<f64>,
    /// Index of each UE's average. A network has many UEs that other cells serve, and that need none.
    positions: Vec<Option<u32>>,
}

impl ProportionalFair {
    fn new(config: &ProportionalFairConfig, slot: Duration) -> Self {
        let slots = config.window.as_secs_f64() / slot.as_secs_f64();
        Self { weight: 1.0 / slots.max(1.0), slot: Slot::default(), averages: Vec::new(), positions: Vec::new() }
    }
    /// Capacity over the average as it would be with what the UE is given in this slot.
    fn metric(&mut self, candidate: &Candidate, given: f64) -> f64 {
        let ue = candidate.ue.position();
        // UEs come while the cell runs, and get their place with their first slot.
        if self.positions.len() <= ue {
            self.positions.resize(ue + 1, None);
        }
        let position = *self.positions[ue].get_or_insert_with(|| {
            self.averages.push(0.0);
            self.averages.len() as u32 - 1
        });
        let average = self.averages[position as usize] + self.weight * candidate.capacity * given;
        // A UE that has had nothing yet comes first; a byte a slot keeps the quotient finite.
        candidate.capacity / (average + 1.0)
    }
}

impl Rule for ProportionalFair {
    fn rank(&mut self, candidate: &Candidate, given: f64) -> Rank {
        Rank::of(self.metric(candidate, given))
    }

    fn served(&mut self, ue: UeId, bytes: u32) {
        // A UE without an average has left the cell meanwhile.
        if let Some(position) = self.positions.get(ue.position()).copied().flatten() {
            self.averages[position as usize] += self.weight * f64::from(bytes);
        }
    }

    /// Averages fade for as many slots as have passed.
    fn begin_slot(&mut self, slot: Slot) {
        let passed = slot.since(self.slot);
        self.slot = slot;
        let left = libm::pow(1.0 - self.weight, passed as f64);
        self.averages.iter_mut().for_each(|average| *average *= left);
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Stream;

    use super::super::Offer;
    use super::*;

    fn candidate(ue: u32, capacity: f64) -> Candidate {
        let head_of_line = Duration::ZERO;
        Candidate { ue: UeId(ue), capacity, head_of_line, priority: 90, five_qi: 9, offer: Offer::Mcs(0) }
    }

    fn shares(capacities: [f64; 2], slots: u32) -> [u32; 2] {
        let mut scheduler = ProportionalFair::new(&ProportionalFairConfig::default(), Duration::from_micros(500));
        let mut shares = [0; 2];
        let candidates = [candidate(0, capacities[0]), candidate(1, capacities[1])];
        for slot in 0..slots {
            scheduler.begin_slot(Slot(slot.into()));
            let metrics = [0, 1].map(|ue| scheduler.metric(&candidates[ue], 0.0));
            let chosen = usize::from(metrics[1] > metrics[0]);
            shares[chosen] += 1;
            scheduler.served(UeId::at(chosen), capacities[chosen] as u32);
        }
        shares
    }

    /// Theory for independent Rayleigh fading, with the rate proportional to the channel's power: each of two UEs is chosen
    /// half of the time, when its power over its mean is the greater of two unit exponentials, whose mean is 3/2:
    /// 3/4 of its mean rate in place of round robin's half, whatever the mean.
    #[test]
    fn over_rayleigh_fading_two_ues_have_the_gain_of_theory() {
        let config = ProportionalFairConfig { window: Duration::from_secs(1) };
        let mut scheduler = ProportionalFair::new(&config, Duration::from_micros(500));
        let means = [40_000.0, 4_000.0];
        let mut fading = [0, 1].map(|ue| Stream::new(11, ue, "fading"));
        let (slots, mut chosen_slots, mut bytes) = (400_000u32, [0u32; 2], [0.0; 2]);
        for slot in 0..slots {
            scheduler.begin_slot(Slot(slot.into()));
            let capacities = [0, 1].map(|ue| means[ue] * fading[ue].exponential());
            let metrics = [0, 1].map(|ue| scheduler.metric(&candidate(ue as u32, capacities[ue]), 0.0));
            let chosen = usize::from(metrics[1] > metrics[0]);
            scheduler.served(UeId::at(chosen), capacities[chosen] as u32);
            // The averages start from nothing.
            if slot >= slots / 4 {
                chosen_slots[chosen] += 1;
                bytes[chosen] += capacities[chosen];
            }
        }
        let counted = f64::from(slots) * 0.75;
        for ue in 0..2 {
            let share = f64::from(chosen_slots[ue]) / counted;
            let rate = bytes[ue] / counted / means[ue];
            assert!((share - 0.5).abs() < 0.01, "UE {ue} has {share} of the slots");
            assert!((rate - 0.75).abs() < 0.01, "UE {ue} has {rate} of its mean rate");
        }
    }

    #[test]
    fn constant_channels_share_time_equally_however_good_they_are() {
        // Maximising the sum of log rates gives each of two UEs half of the time (Kelly).
        let [a, b] = shares([4_000.0, 1_000.0], 20_000);
        assert!(a.abs_diff(b) < 400, "{a} {b}");
    }

    /// Seven windows of silence leave a thousandth: a UE that was served before them and one that never was begin alike.
    #[test]
    fn the_rate_of_a_ue_is_forgotten_while_nothing_is_sent() {
        let mut scheduler = ProportionalFair::new(&ProportionalFairConfig::default(), Duration::from_micros(500));
        for slot in 0..2_000 {
            scheduler.begin_slot(Slot(slot));
            scheduler.metric(&candidate(0, 4_000.0), 0.0);
            scheduler.served(UeId(0), 4_000);
        }
        scheduler.begin_slot(Slot(2_000 + 7 * 200));
        let metrics = [0, 1].map(|ue| scheduler.metric(&candidate(ue, 4_000.0), 0.0));
        assert!((metrics[1] / metrics[0] - (1.0 + 4_000.0 * libm::exp(-7.0))).abs() < 0.1, "{metrics:?}");
    }
}
