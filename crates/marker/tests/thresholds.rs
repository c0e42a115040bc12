//! Target delays of a law, as the results of a run show them.

use tidemark_core::Duration;
use tidemark_marker::{LawConfig, Mode, RampConfig, TideConfig};

#[test]
fn they_are_values_of_the_configuration_by_its_own_keys() {
    for law in LawConfig::all() {
        let text = format!("{law:?}");
        for (key, delay) in law.thresholds(0) {
            assert!(text.contains(&format!("{key}: {delay:?}")), "{key} of {text}");
        }
    }
    let ramp = RampConfig { low: Duration::from_millis(3), high: Duration::from_millis(7), ..RampConfig::default() };
    let thresholds: Vec<_> = LawConfig::Ramp(ramp).thresholds(0).collect();
    assert_eq!(thresholds, [("low", ramp.low), ("high", ramp.high)]);
}

#[test]
fn a_law_that_goes_by_the_5qi_has_the_delay_of_the_bearers_own() {
    let law = LawConfig::Tide(TideConfig { mode: Some(Mode::ByFiveQi), ..TideConfig::default() });
    let delay = |five_qi| law.thresholds(five_qi).map(|(_, delay)| delay).next();
    // Half of the 10 ms of 5QI 80, and 30 ms for 5QI 9, which puts throughput first.
    assert_eq!((delay(80), delay(9)), (Some(Duration::from_millis(5)), Some(Duration::from_millis(30))));
}
