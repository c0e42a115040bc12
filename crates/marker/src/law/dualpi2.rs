//! DualPI2 on the one queue that a DRB has: the signalling of RFC 9332 without its second queue.
//!
//! Marks are set at PDCP, on the newest packet, from the age of the oldest. It is what L4Span is compared with
//! (section 6.3.1): a threshold made for wires, on a radio.

use crate::law::pi2::{DualPi2Config, Pi2};
use crate::law::{Arrival, Odds};
use crate::verdict::Class;

pub(crate) struct DualPi2 {
    config: DualPi2Config,
    pi: Pi2,
}

impl DualPi2 {
    pub(crate) fn new(config: &DualPi2Config) -> Self {
        Self { config: *config, pi: Pi2::new(config) }
    }

    pub(crate) fn arrive(&mut self, arrival: &Arrival) -> Odds {
        self.pi.update(arrival.now, arrival.head_of_line);
        match arrival.class {
            Class::L4s => {
                // A lone packet is never marked for the time that the scheduler takes to get to it (RFC 9332's Th_len).
                let native = if arrival.backlog > 0.0 { self.config.native(arrival.head_of_line) } else { 0.0 };
                let mut odds = Odds::mark(native.max(self.pi.p_cl()));
                if self.pi.is_overloaded() {
                    odds.drop = Odds::drop(self.pi.p_c()).drop;
                }
                odds
            }
            Class::Classic if self.config.mark_classic && !self.pi.is_overloaded() => Odds::mark(self.pi.p_c()),
            Class::Classic | Class::NotEct => Odds::drop(self.pi.p_c()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::tests::arrival;
    use tidemark_core::{Duration, Instant};

    /// The odds of each class after a queue that stood at `delay` for `updates` updates.
    fn after(updates: u64, delay: f64, class: Class) -> Odds {
        let mut law = DualPi2::new(&DualPi2Config::default());
        let mut odds = Odds::NONE;
        for k in 0..=updates {
            let now = Instant::ZERO + Duration::from_millis(16) * k;
            odds = law.arrive(&Arrival { now, head_of_line: delay, backlog: 10_000.0, ..arrival(class) });
        }
        odds
    }

    #[test]
    fn l4s_follows_its_ramp_while_classic_sees_nothing() {
        // At the first packet p' is still 0: native alone. 1.0 ms is halfway up a ramp from 0.8 to 1.2 ms.
        assert!((after(0, 0.001, Class::L4s).mark.get() - 0.5).abs() < 1e-9);
        assert_eq!(after(0, 0.000_8, Class::L4s).mark.get(), 0.0);
        assert!((after(0, 0.001_2, Class::L4s).mark.get() - 1.0).abs() < 1e-9);
        assert_eq!(after(0, 0.001, Class::Classic), Odds::NONE);
    }

    #[test]
    fn the_pair_is_coupled_by_the_square() {
        // One update at 25 ms: p' = 0.0816: classic 0.00665856.
        assert!((after(1, 0.025, Class::Classic).mark.get() - 0.006_658_56).abs() < 1e-9);
        assert!((after(1, 0.025, Class::NotEct).drop.get() - 0.006_658_56).abs() < 1e-9);
    }

    #[test]
    fn overload_drops_every_class_and_marks_no_classic_packet() {
        for class in [Class::L4s, Class::Classic, Class::NotEct] {
            let odds = after(400, 0.1, class);
            assert!(odds.drop.get() > 0.25, "{class:?}: {odds:?}");
            assert_eq!(odds.mark.get(), if class == Class::L4s { 1.0 } else { 0.0 });
        }
    }
}
