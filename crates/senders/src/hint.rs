//! Hint of the access network to a controller: recommendations (TS 38.321 5.18.10) raise the rate, marks limit it.
//!
//! A controller raises its rate slowly, since it does not know the path's capacity. A recommendation says that the
//! radio has room. Unless marks say otherwise, the rate rises at once to a share of the lowest fresh recommendation.
//! Such a climb is on probation for two round trips. In the first one, the packets sent at the new rate are
//! acknowledged; in the second one, the packets sent after that. Marks within these two round trips undo the climb: the
//! rate falls to what the path has delivered or to the rate before the climb, whichever is more. Without marks the rate
//! stays. The controller answers marks as it does without a hint.
//!
//! A recommendation knows only the radio, may be late, and may be wrong. One that is older than `fresh` is ignored. If
//! marks come while the path delivers much less than was recommended, recommendations are ignored for one round trip,
//! then for two, four and so on up to a limit, until a climb holds. So behind a bottleneck elsewhere a controller with
//! a hint acts like the one without. Each controller has a limit of its own: the longer it takes to regain the rate
//! that too high a climb cost it, the fewer such climbs it can afford.
//!
//! Recommendations don't lower the rate. Falling to them after a mark was tried: they are one control loop old, and
//! where the radio fades faster than that, the rate lost with each fade was worth more than the shorter queue
//! (docs/measured/front.md).

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Instant, Range, bounds};

/// Round trips of a probation: the climb comes back with the first, marks for it with the second.
const PROBATION: u32 = 2;
/// Time that slots and a short queue may add to the least round trip of a window that a climb fills. 10 ms are two periods of the usual TDD pattern, and
/// `tau_s` of l4span.
pub(crate) const ALLOWANCE: Duration = Duration::from_millis(10);
/// Share of a granted rate that the path has to deliver: a radio that fades within a loop is not below it for long, another bottleneck is.
const DELIVERED: f64 = 0.7;
/// Recommendations that are kept, at most.
const MAX_HINTS: usize = 64;

/// Recommendations as a controller with a hint takes them.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<HintConfig>))]
pub struct HintConfig {
    /// Share of a recommendation to which the rate climbs. Default 0.9: the controller finds the rest by its own steps.
    pub share: f64,
    /// Age up to which a recommendation counts. The rate climbs to the lowest of the recommendations that count. Default 100 ms: longer
    /// than two default windows of `anbr`, and longer than a fade at walking speed, whose peaks must not be taken for the rate.
    pub fresh: Duration,
}

impl Default for HintConfig {
    fn default() -> Self {
        Self { share: 0.9, fresh: Duration::from_millis(100) }
    }
}

bounds! { HintConfig {
    share: Range::above(0.0).and_at_most(1.0),
    fresh: Range::at_most(Duration::from_secs(10)),
} }

impl HintConfig {
    /// Checks the fields.
    ///
    /// # Errors
    /// The field that cannot be used, with what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds().map_err(|error| error.within("hint"))
    }
}

/// A climb that marks can still take back.
#[derive(Clone, Copy, Debug)]
struct Climb {
    /// Rate or window before it, in the controller's unit.
    before: f64,
    /// Number of the round with which it stays.
    until: u32,
}

/// Fresh recommendations, and whether they are trusted. Rates are in bits a second of IP packets.
#[derive(Clone, Debug)]
pub(crate) struct Hint {
    config: HintConfig,
    /// Rounds of distrust, at most.
    max_distrust: u32,
    /// Granted rates, the oldest first.
    granted: VecDeque<(Instant, f64)>,
    climb: Option<Climb>,
    /// Rounds of the last distrust, and the round with which it ends.
    distrust: u32,
    distrusted_until: u32,
}

impl Hint {
    /// One without a recommendation.
    pub(crate) fn new(config: &HintConfig, max_distrust: u32) -> Self {
        let config = *config;
        Self { config, max_distrust, granted: VecDeque::new(), climb: None, distrust: 0, distrusted_until: 0 }
    }

    /// Takes a recommendation.
    pub(crate) fn on_recommendation(&mut self, now: Instant, rate: BitRate) {
        if self.granted.len() == MAX_HINTS {
            self.granted.pop_front();
        }
        self.granted.push_back((now, rate.as_bps() as f64 * self.config.share));
    }

    /// Forgets what is no longer fresh.
    pub(crate) fn expire(&mut self, now: Instant) {
        let oldest = now.before(self.config.fresh);
        while self.granted.front().is_some_and(|(at, _)| *at < oldest) {
            self.granted.pop_front();
        }
    }

    /// Takes note of the round: a climb whose probation is over stays.
    pub(crate) fn enter_round(&mut self, round: u32) {
        if self.climb.is_some_and(|climb| round >= climb.until) {
            self.climb = None;
            self.distrust = 0;
        }
    }

    /// Rate that all fresh recommendations grant; `None` while they are distrusted, and while a climb is on probation.
    pub(crate) fn granted(&self, round: u32) -> Option<f64> {
        let is_open = self.climb.is_none() && round >= self.distrusted_until;
        self.least().filter(|_| is_open)
    }

    fn least(&self) -> Option<f64> {
        self.granted.iter().map(|(_, rate)| *rate).reduce(f64::min)
    }

    /// Takes note of a climb, from `before`.
    pub(crate) fn climb(&mut self, round: u32, before: f64) {
        self.climb = Some(Climb { before, until: round.saturating_add(PROBATION) });
    }

    /// Ends a probation for which marks came, where the path delivers this rate; gives what was before the climb.
    pub(crate) fn take_back(&mut self, round: u32, delivered: f64) -> Option<f64> {
        let before = self.cancel()?;
        if self.least().is_some_and(|granted| delivered < DELIVERED * granted) {
            self.distrust = (self.distrust * 2).clamp(1, self.max_distrust);
            self.distrusted_until = round.saturating_add(self.distrust);
        }
        Some(before)
    }

    /// Ends a probation that something else than marks ended; gives what was before the climb.
    pub(crate) fn cancel(&mut self) -> Option<f64> {
        self.climb.take().map(|climb| climb.before)
    }

    /// Forgets the recommendations, and a climb with them.
    pub(crate) fn forget(&mut self) {
        self.granted.clear();
        self.climb = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MBPS: f64 = 1e6;

    /// Recommendations of 20 and 10 Mbit/s, at 90 and 95 ms.
    fn recommended() -> Hint {
        let mut hint = Hint::new(&HintConfig::default(), 64);
        hint.on_recommendation(Instant::from_millis(90), BitRate::from_mbps(20));
        hint.on_recommendation(Instant::from_millis(95), BitRate::from_mbps(10));
        hint
    }

    #[test]
    fn the_least_of_the_fresh_ones_is_granted() {
        let mut hint = recommended();
        assert_eq!(hint.granted(0), Some(9.0 * MBPS));
        hint.expire(Instant::from_millis(195));
        assert_eq!(hint.granted(0), Some(9.0 * MBPS));
        hint.expire(Instant::from_millis(196));
        assert_eq!(hint.granted(0), None);
    }

    #[test]
    fn marks_within_two_rounds_take_a_climb_back_and_double_the_distrust() {
        let mut hint = recommended();
        for (round, trusted_from) in [(10, 11), (11, 13), (13, 17)] {
            assert!(hint.granted(round).is_some());
            hint.climb(round, 2.0 * MBPS);
            hint.enter_round(round + 1);
            assert_eq!(hint.granted(round), None, "on probation");
            assert_eq!(hint.take_back(round, 6.0 * MBPS), Some(2.0 * MBPS));
            assert_eq!((hint.granted(trusted_from - 1), hint.granted(trusted_from)), (None, Some(9.0 * MBPS)));
        }
    }

    #[test]
    fn a_climb_that_held_for_two_rounds_ends_the_distrust() {
        let mut hint = recommended();
        hint.climb(10, 2.0 * MBPS);
        hint.take_back(10, 6.0 * MBPS);
        hint.climb(11, 2.0 * MBPS);
        hint.enter_round(13);
        assert_eq!((hint.take_back(13, 6.0 * MBPS), hint.distrust), (None, 0));
    }

    #[test]
    fn a_recommendation_that_the_path_nearly_delivers_is_not_distrusted() {
        let mut hint = recommended();
        hint.climb(10, 2.0 * MBPS);
        assert_eq!(hint.take_back(10, 7.0 * MBPS), Some(2.0 * MBPS));
        assert!(hint.granted(10).is_some());
    }
}
