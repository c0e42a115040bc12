//! Drops of packets that have waited too long, as in the queue of a base station. The queue is checked at intervals, the oldest packet first.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tidemark_core::{Bounded, ConfigError, Duration, Instant, Range, bounds};

/// Drops by age, as documented for `sch_janz` (`janz/qdisc.md` of the public sch_jens).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
#[schemars(transform = tidemark_core::bounds::in_schema::<OverdueConfig>)]
pub struct OverdueConfig {
    /// Time between two checks of the queue. Default 200 ms, as in `sch_janz`.
    pub every: Duration,
    /// Age from which a check drops the oldest packet. Default 100 ms, as in `sch_janz`.
    pub one_above: Duration,
    /// Age from which a check drops every packet. Default 500 ms, as in `sch_janz`.
    pub all_above: Duration,
}

impl Default for OverdueConfig {
    fn default() -> Self {
        let [every, one_above, all_above] = [200, 100, 500].map(Duration::from_millis);
        Self { every, one_above, all_above }
    }
}

bounds! { OverdueConfig {
    every: Range::above(Duration::ZERO),
    ..one_above, all_above
} }

impl OverdueConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if self.all_above < self.one_above {
            let right = format!("must be at least one_above, {}", self.one_above);
            return Err(ConfigError::new("all_above", right).found(self.all_above));
        }
        Ok(())
    }
}

/// Checks a queue at intervals.
#[derive(Clone, Debug)]
pub(crate) struct Overdue {
    config: OverdueConfig,
    next: Instant,
    /// Packets at the front that the last check chose to drop and that are still in the queue.
    condemned: usize,
}

impl Overdue {
    pub(crate) fn new(config: OverdueConfig) -> Self {
        Self { config, next: Instant::ZERO, condemned: 0 }
    }

    /// True if the packet at the front must be dropped. `arrivals` are the arrival times of the queue's packets, the oldest first.
    pub(crate) fn takes_front(&mut self, now: Instant, arrivals: impl Iterator<Item = Instant>) -> bool {
        if now >= self.next {
            self.next = now + self.config.every;
            let mut ages = arrivals.map(|arrival| now.since(arrival)).peekable();
            let one = ages.peek().is_some_and(|oldest| *oldest > self.config.one_above);
            let all = ages.take_while(|age| *age > self.config.all_above).count();
            self.condemned = all.max(usize::from(one));
        }
        let taken = self.condemned > 0;
        self.condemned = self.condemned.saturating_sub(1);
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(overdue: &mut Overdue, now: u64, arrivals: &[u64]) -> usize {
        let now = Instant::from_millis(now);
        (0..arrivals.len())
            .take_while(|gone| overdue.takes_front(now, arrivals[*gone..].iter().map(|ms| Instant::from_millis(*ms))))
            .count()
    }

    #[test]
    fn one_packet_goes_above_the_first_age_and_all_above_the_second() {
        let new = || Overdue::new(OverdueConfig::default());
        assert_eq!(taken(&mut new(), 1_000, &[900, 950]), 0, "just 100 ms old");
        assert_eq!(taken(&mut new(), 1_000, &[600, 700, 800]), 1);
        assert_eq!(taken(&mut new(), 1_000, &[300, 400, 499, 500, 700]), 3);
    }

    #[test]
    fn the_queue_is_looked_at_every_200_ms() {
        let mut overdue = Overdue::new(OverdueConfig::default());
        let looks = [0, 100, 199, 200, 399, 400].map(|ms| taken(&mut overdue, 1_000 + ms, &[0]));
        assert_eq!(looks, [1, 0, 0, 1, 0, 1]);
    }

    #[test]
    fn ages_out_of_order_are_named() {
        let wrong = OverdueConfig { all_above: Duration::from_millis(50), ..OverdueConfig::default() };
        assert_eq!(wrong.validate().unwrap_err().field(), "all_above");
    }
}
