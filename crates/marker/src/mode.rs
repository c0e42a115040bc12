//! The priority that an operator gives a DRB: throughput or delay.

use tidemark_core::Duration;

use crate::five_qi::Characteristics;

/// Aim of a DRB's law, instead of thresholds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Mode {
    /// Almost the full throughput, at the delay that it needs.
    ThroughputFirst,
    /// A short delay, at the throughput that it allows.
    DelayFirst,
    /// One of the two by the packet delay budget of the DRB's first QoS flow: delay first below 200 ms.
    #[cfg_attr(feature = "serde", serde(rename = "by-5qi"))]
    ByFiveQi,
}

/// Shortest packet delay budget of services with throughput first. In TS 23.501 table 5.7.4-1 all services with TCP among their
/// examples have 200 ms or more; conversations, games and rendering have at most 150 ms.
const THROUGHPUT_FIRST: Duration = Duration::from_millis(200);

impl Mode {
    /// Mode of a DRB whose first QoS flow has this 5QI, or 0 if unknown. A 5QI that is not standardised gets throughput first, like the
    /// default QoS flow.
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
