//! Time between reports, for controllers whose laws are changes per second.

use tidemark_core::Instant;

/// Interval that the first report stands for, in seconds: a frame's.
const FIRST_SECONDS: f64 = 1.0 / 60.0;
/// Shortest and longest time that a report stands for, in seconds.
const MIN_SECONDS: f64 = 1e-3;
const MAX_SECONDS: f64 = 1.0;

/// Time of the last report that counted.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Elapsed(Option<Instant>);

impl Elapsed {
    /// Seconds that a report at `now` stands for: those since the last one.
    pub(super) fn take(&mut self, now: Instant) -> f64 {
        let since = self.0.replace(now).map_or(FIRST_SECONDS, |last| now.since(last).as_secs_f64());
        since.clamp(MIN_SECONDS, MAX_SECONDS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_stands_for_the_time_since_the_last_within_bounds() {
        let mut elapsed = Elapsed::default();
        let taken = [0, 20, 20, 5_000].map(|millis| elapsed.take(Instant::from_millis(millis)));
        assert_eq!(taken, [FIRST_SECONDS, 0.02, MIN_SECONDS, MAX_SECONDS]);
    }
}
