//! The core of DualPI2 (RFC 9332 2.5 and appendix A): a PI controller on queueing delay, squared for classic
//! flows and coupled to L4S flows.
//!
//! If sources differ, the defaults follow Linux (`sch_dualpi2`): `beta` is 3.2 and not 3.0, the result of the RFC's
//! formula, and `Tupdate` is 16 ms and not 15. The PI controller gets the longer delay of the two queues.

use tidemark_core::{Bounded, ConfigError, Duration, Instant, Range, bounds};

/// Spacing of the packets that a probability selects.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Marks {
    /// Each packet has its own draw, as in Linux.
    #[default]
    Random,
    /// Probabilities are added up packet by packet, and a packet that brings the sum above 1 is marked: `recur()` of RFC 9332 A.
    Regular,
}

/// The parameters of DualPI2, for the law `dualpi2` and for `DualQueue`.
#[derive(Clone, Copy, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<DualPi2Config>))]
pub struct DualPi2Config {
    /// Target delay of the PI controller. Default: 15 ms.
    pub target: Duration,
    /// Time between updates of the controller. Default: 16 ms.
    pub t_update: Duration,
    /// Integral gain, in Hz: change of `p'` per second of delay error. Default: 0.16.
    pub alpha: f64,
    /// Proportional gain, in Hz: change of `p'` per second of delay growth. Default: 3.2.
    pub beta: f64,
    /// Coupling factor `k`: L4S packets are marked with at least `k p'`. Default: 2.
    pub coupling: f64,
    /// Delay at which the native marking of L4S packets begins. Default: 800 us.
    pub min_th: Duration,
    /// Width of the ramp from `min_th` to certain marking; zero makes it a step. Default: 400 us.
    pub range: Duration,
    /// True to mark ECT(0) packets, false to drop them like packets without ECN. Default: true.
    pub mark_classic: bool,
    /// Spacing of marks and drops. Default: random.
    pub marks: Marks,
}

impl Default for DualPi2Config {
    fn default() -> Self {
        Self {
            target: Duration::from_millis(15),
            t_update: Duration::from_millis(16),
            alpha: 0.16,
            beta: 3.2,
            coupling: 2.0,
            min_th: Duration::from_micros(800),
            range: Duration::from_micros(400),
            mark_classic: true,
            marks: Marks::Random,
        }
    }
}

bounds! { DualPi2Config {
    target: Range::above(Duration::ZERO),
    t_update: Range::between(Duration::from_micros(100), Duration::from_secs(1)),
    alpha: Range::above(0.0).and_at_most(100.0),
    beta: Range::between(0.0, 1_000.0),
    coupling: Range::between(1.0, 16.0),
    ..min_th, range, mark_classic, marks
} }

impl DualPi2Config {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()
    }

    /// The native L4S probability: a ramp from `min_th`, or a step at it.
    pub(crate) fn native(&self, delay: f64) -> f64 {
        let excess = delay - self.min_th.as_secs_f64();
        // Below the threshold only the coupled probability marks.
        if excess <= 0.0 {
            0.0
        } else if self.range.is_zero() {
            // A step, as a ramp without a range would divide by zero.
            1.0
        } else {
            (excess / self.range.as_secs_f64()).min(1.0)
        }
    }
}

/// Bytes of a queue below which the probabilities of the PI controller are not applied: two packets of 1500 bytes, as in Linux. There a
/// drop would leave the link idle, and a mark would slow down a sender that makes no queue.
pub(crate) const MIN_BACKLOG: u64 = 3_000;

/// The PI controller: `p'` and the probabilities derived from it.
#[derive(Clone, Debug)]
pub(crate) struct Pi2 {
    target: f64,
    t_update: Duration,
    alpha: f64,
    beta: f64,
    coupling: f64,
    p: f64,
    previous: f64,
    updated: Option<Instant>,
}

impl Pi2 {
    pub(crate) fn new(config: &DualPi2Config) -> Self {
        Self {
            target: config.target.as_secs_f64(),
            t_update: config.t_update,
            alpha: config.alpha,
            beta: config.beta,
            coupling: config.coupling,
            p: 0.0,
            previous: 0.0,
            updated: None,
        }
    }

    /// Makes the updates that are due, with a queueing delay in seconds.
    pub(crate) fn update(&mut self, now: Instant, delay: f64) {
        let updated = *self.updated.get_or_insert(now);
        let due = now.since(updated).as_nanos() / self.t_update.as_nanos();
        // Over so many updates without a packet `p'` has run into one of its bounds.
        for _ in 0..due.min(10_000) {
            let change = self.alpha * (delay - self.target) + self.beta * (delay - self.previous);
            self.p = (self.p + change).clamp(0.0, 1.0);
            self.previous = delay;
            // Below the target it stays at zero, however many updates are still due.
            if self.p == 0.0 && delay < self.target {
                break;
            }
        }
        // Never ahead of a clock that stepped back.
        self.updated = Some((updated + self.t_update * due).min(now));
    }

    /// `p_C = p'^2`, for classic packets.
    pub(crate) fn p_c(&self) -> f64 {
        self.p * self.p
    }
    /// `p_CL = k p'`, coupled to L4S packets; above 1 in overload.
    pub(crate) fn p_cl(&self) -> f64 {
        self.coupling * self.p
    }
    /// True if marks no longer suffice, because all L4S packets would be marked (RFC 9332 4.2.3).
    pub(crate) fn is_overloaded(&self) -> bool {
        self.p_cl() > 1.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_updates_worked_by_hand() {
        let mut pi = Pi2::new(&DualPi2Config::default());
        let mut now = Instant::ZERO;
        let mut update = |pi: &mut Pi2, delay_ms: f64| {
            now += Duration::from_millis(16);
            pi.update(now, delay_ms * 1e-3);
        };
        pi.update(Instant::ZERO, 0.0);
        // 25 ms: 0.16 * 0.010 + 3.2 * 0.025 = 0.0816.
        update(&mut pi, 25.0);
        assert!((pi.p - 0.0816).abs() < 1e-12);
        // 20 ms: 0.16 * 0.005 - 3.2 * 0.005 = -0.0152.
        update(&mut pi, 20.0);
        assert!((pi.p - 0.0664).abs() < 1e-12);
        assert!((pi.p_c() - 0.0664 * 0.0664).abs() < 1e-12);
        assert!((pi.p_cl() - 0.1328).abs() < 1e-12);
        // Empty: 0.16 * -0.015 - 3.2 * 0.020 = -0.0664: to zero but for rounding.
        update(&mut pi, 0.0);
        assert!(pi.p < 1e-9);
    }

    #[test]
    fn every_update_that_is_due_counts_above_the_target() {
        let mut pi = Pi2::new(&DualPi2Config::default());
        pi.update(Instant::ZERO, 0.0);
        pi.update(Instant::from_millis(16), 1.0);
        assert_eq!(pi.p, 1.0);
        // From 1 s down to 20 ms: 0.16 * 0.005 - 3.2 * 0.98 takes all of p', and nine more updates add 0.0008 each.
        pi.update(Instant::from_millis(176), 0.02);
        assert!((pi.p - 0.0072).abs() < 1e-12, "{}", pi.p);
    }

    #[test]
    fn marks_that_reach_certainty_still_suffice() {
        let mut pi = Pi2::new(&DualPi2Config { coupling: 1.0, ..DualPi2Config::default() });
        pi.update(Instant::ZERO, 0.0);
        pi.update(Instant::from_millis(10_000), 1.0);
        assert_eq!((pi.p_cl(), pi.is_overloaded()), (1.0, false));
    }

    #[test]
    fn idle_time_forgets() {
        let mut pi = Pi2::new(&DualPi2Config::default());
        pi.update(Instant::ZERO, 0.0);
        pi.update(Instant::from_millis(160), 0.2);
        assert!(pi.is_overloaded());
        pi.update(Instant::from_millis(60_000), 0.0);
        assert_eq!(pi.p, 0.0);
    }
}
