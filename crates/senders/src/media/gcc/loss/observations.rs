//! Record of what was sent and lost of late, and how likely that is for a link that loses some packets anyway and all that exceeds a
//! bandwidth.

use std::collections::VecDeque;

/// Observations that are kept; each is worth this share of the one after it.
const KEPT: usize = 15;
const WEIGHT: f64 = 0.9;
/// Share of losses above which less bandwidth is preferred to more.
const PREFERENCE_THRESHOLD: f64 = 0.2;
const PREFERENCE_SMOOTHING: f64 = 0.002;
/// Preference for more bandwidth, linear and logarithmic in kbit/s.
const PREFERENCE: (f64, f64) = (0.0002, 0.02);
/// Bounds of the inherent loss; the upper one comes down with the bandwidth, in bits a second.
const MIN_INHERENT: f64 = 1e-3;
const INHERENT_OFFSET: f64 = 0.05;
const INHERENT_BALANCE: f64 = 100_000.0;
const NEWTON_STEP: f64 = 0.75;
/// A loss at a rate this many times the median is no outlier.
const MEDIAN_FACTOR: f64 = 2.0;

/// A link as the estimator sees it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Channel {
    /// Share of packets that is lost whatever the rate is.
    pub(super) inherent: f64,
    /// Bits a second beyond which everything is lost.
    pub(super) bandwidth: f64,
}

impl Channel {
    /// The nearest channel whose inherent loss is possible.
    pub(super) fn feasible(self) -> Self {
        let max = (INHERENT_OFFSET + INHERENT_BALANCE / self.bandwidth.max(1.0)).min(1.0);
        Self { inherent: self.inherent.max(MIN_INHERENT).min(max), ..self }
    }

    fn loss_at(&self, rate: f64) -> f64 {
        // What exceeds the bandwidth is lost whole, on top of what is lost anyway.
        let beyond = if rate > self.bandwidth { (rate - self.bandwidth) / rate } else { 0.0 };
        (self.inherent + (1.0 - self.inherent) * beyond).clamp(1e-6, 1.0 - 1e-6)
    }
}

/// A quarter of a second or more of packets, in kB and bits a second.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Observation {
    pub(super) size: f64,
    pub(super) lost: f64,
    pub(super) rate: f64,
}

/// The observations, the newest last.
#[derive(Clone, Debug, Default)]
pub(super) struct Observations {
    kept: VecDeque<Observation>,
    /// All there have been.
    count: u64,
    /// The weighted share of losses.
    loss: f64,
}

impl Observations {
    pub(super) fn push(&mut self, observation: Observation) {
        // Only the last ones are kept: the link may have changed.
        if self.kept.len() == KEPT {
            self.kept.pop_front();
        }
        self.kept.push_back(observation);
        self.count += 1;
        self.loss = self.average_loss();
    }

    pub(super) fn count(&self) -> u64 {
        self.count
    }
    pub(super) fn loss(&self) -> f64 {
        self.loss
    }

    fn weighted(&self) -> impl Iterator<Item = (f64, &Observation)> {
        let weights = std::iter::successors(Some(1.0), |weight| Some(weight * WEIGHT));
        weights.zip(self.kept.iter().rev())
    }

    /// Leaves out the observations of the least and the largest loss, unless the latter was at an unusual rate.
    fn average_loss(&self) -> f64 {
        let (mut size, mut lost) = (0.0, 0.0);
        let (mut min, mut max) = ((1.0, 0.0, 0.0), (0.0, 0.0, 0.0));
        let mut most_rate = 0.0;
        for (weight, observation) in self.weighted() {
            let part = (observation.lost / observation.size, weight * observation.size, weight * observation.lost);
            size += part.1;
            lost += part.2;
            if part.0 > max.0 {
                max = part;
                most_rate = observation.rate;
            }
            if part.0 < min.0 {
                min = part;
            }
        }
        let rest = size - min.1 - max.1;
        // Of so few none is left out, nor a loss that an unusual rate explains.
        if self.kept.len() <= 3 || self.median_rate() * MEDIAN_FACTOR <= most_rate || rest <= 1e-9 * size {
            return lost / size;
        }
        ((lost - min.2 - max.2) / rest).max(0.0)
    }

    fn median_rate(&self) -> f64 {
        let mut rates: Vec<f64> = self.kept.iter().map(|observation| observation.rate).collect();
        rates.sort_by(f64::total_cmp);
        rates.get(rates.len() / 2).copied().unwrap_or(0.0)
    }

    /// The channel with an inherent loss that explains the observations better: one step of Newton's method.
    pub(super) fn refine(&self, channel: Channel) -> Channel {
        let (mut first, mut second) = (0.0, 0.0);
        for (weight, observation) in self.weighted() {
            let loss = channel.loss_at(observation.rate);
            let received = observation.size - observation.lost;
            first += weight * (observation.lost / loss - received / (1.0 - loss));
            second -= weight * (observation.lost / (loss * loss) + received / ((1.0 - loss) * (1.0 - loss)));
        }
        // Without curvature there is no step to a maximum.
        if second >= 0.0 {
            return channel;
        }
        Channel { inherent: channel.inherent - NEWTON_STEP * first / second, ..channel }.feasible()
    }

    /// Likelihood of a channel by the observations, with a preference for more bandwidth as long as losses are few.
    pub(super) fn objective(&self, channel: Channel) -> f64 {
        let distance = PREFERENCE_THRESHOLD - self.loss;
        let preference = distance / (PREFERENCE_SMOOTHING + distance.abs());
        let kbps = channel.bandwidth / 1000.0;
        let bias = preference * (PREFERENCE.0 * kbps + PREFERENCE.1 * libm::log(1.0 + kbps));
        self.weighted()
            .map(|(weight, observation)| {
                let loss = channel.loss_at(observation.rate);
                let received = observation.size - observation.lost;
                weight
                    * (observation.lost * libm::log(loss) + received * libm::log(1.0 - loss) + bias * observation.size)
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn observed(share: f64, rate: f64) -> Observations {
        let mut observations = Observations::default();
        for _ in 0..KEPT {
            observations.push(Observation { size: 100.0, lost: 100.0 * share, rate });
        }
        observations
    }

    #[test]
    fn a_steady_share_of_losses_is_found_to_be_inherent() {
        let observations = observed(0.03, 2e6);
        let mut channel = Channel { inherent: 0.01, bandwidth: 4e6 };
        for _ in 0..20 {
            channel = observations.refine(channel);
        }
        assert!((channel.inherent - 0.03).abs() < 1e-3, "{}", channel.inherent);
    }

    #[test]
    fn half_of_it_lost_is_explained_by_a_narrow_link() {
        let observations = observed(0.5, 4e6);
        let narrow = observations.refine(Channel { inherent: 0.01, bandwidth: 2e6 }.feasible());
        let wide = observations.refine(Channel { inherent: 0.01, bandwidth: 4e6 }.feasible());
        assert!(observations.objective(narrow) > observations.objective(wide));
        let clean = observed(0.0, 4e6);
        assert!(clean.objective(Channel { bandwidth: 8e6, ..narrow }) > clean.objective(narrow), "more is preferred");
    }

    #[test]
    fn a_single_spike_does_not_count() {
        let mut observations = observed(0.0, 2e6);
        observations.push(Observation { size: 100.0, lost: 60.0, rate: 2e6 });
        assert_eq!(observations.loss(), 0.0);
        observations.push(Observation { size: 100.0, lost: 60.0, rate: 9e6 });
        assert!(observations.loss() > 0.0);
    }
}
