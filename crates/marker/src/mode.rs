//! What an operator wants first of a DRB: throughput or delay.

use tidemark_core::Duration;

use crate::five_qi::Characteristics;

/// Aim of a DRB's law, in place of thresholds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// All of the throughput but a small share, at the delay that this takes.
    ThroughputFirst,
    /// A short delay, for whatever throughput that leaves.
    DelayFirst,
    /// One of the two, by the packet delay budget of the DRB's first QoS flow: delay first below 200 ms.
    #[cfg_attr(feature = "serde", serde(rename = "by-5qi"))]
    ByFiveQi,
}

/// Shortest packet delay budget of services that want throughput first. All of TS 23.501 table 5.7.4-1 that have TCP among their
/// examples have 200 ms and more; conversations, games and rendering have 150 ms at most.
const THROUGHPUT_FIRST: Duration = Duration::from_millis(200);

impl Mode {
    /// Mode of a DRB whose first QoS flow has this 5QI; 0 stands for an unknown one. A 5QI that is not standardised gets throughput first, as
    /// the default QoS flow does.
    pub fn of(self, five_qi: u8) -> Self {
        if self != Self::ByFiveQi {
            return self;
        }
        match Characteristics::of(five_qi) {
            Some(row) if row.delay_budget < THROUGHPUT_FIRST => Self::DelayFirst,
            _ => Self::ThroughputFirst,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conversations_and_games_want_delay_first_and_downloads_throughput() {
        let delay_first = |five_qi| Mode::ByFiveQi.of(five_qi) == Mode::DelayFirst;
        assert!(
            [1, 2, 3, 5, 7, 65, 66, 67, 69, 79, 80, 82, 83, 84, 85, 86, 87, 88, 89, 90].into_iter().all(delay_first)
        );
        assert!(![0, 4, 6, 8, 9, 10, 70, 74, 128, 255].into_iter().any(delay_first));
    }

    #[test]
    fn a_mode_that_is_named_holds_for_every_5qi() {
        for mode in [Mode::ThroughputFirst, Mode::DelayFirst] {
            assert!((0..=255).all(|five_qi| mode.of(five_qi) == mode));
        }
    }
}
