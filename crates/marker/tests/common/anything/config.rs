//! Configurations of DRBs made from arbitrary bytes.

use tidemark_core::Duration;
use tidemark_marker::{
    EgressTime, L4SpanConfig, LawConfig, MarkerConfig, NotEctRule, QueueDelay, RampConfig, SharedRule, StepConfig,
};

/// Bits of the choice of a DRB's configuration, whose low half is the law.
pub const SHORT_CIRCUIT: u8 = 0x40;
pub const BITS_12: u8 = 0x80;
pub const LONG_TIMEOUT: u8 = 0x20;
const ALL_TIME: u8 = 0x10;

/// Configuration of a DRB by such a choice.
pub fn config(choice: u8) -> MarkerConfig {
    let l4span = L4SpanConfig::default();
    // Settings that meet what defaults don't, then every law with its defaults.
    let particular = [
        LawConfig::Step(StepConfig { threshold: Duration::from_micros(1), ..StepConfig::default() }),
        LawConfig::L4span(L4SpanConfig { not_ect: NotEctRule::Drop, shared: SharedRule::Separate, ..l4span }),
        LawConfig::L4span(L4SpanConfig { tau_s: Duration::from_micros(100), shared: SharedRule::L4s, ..l4span }),
        LawConfig::L4span(L4SpanConfig { shared: SharedRule::Classic, ..l4span }),
        LawConfig::Ramp(RampConfig { alpha: 1.0, delay: QueueDelay::Sojourn, ..RampConfig::default() }),
    ];
    let laws: Vec<_> = particular.into_iter().chain(LawConfig::all()).collect();
    let law = laws[usize::from(choice) % laws.len()];
    MarkerConfig {
        egress_time: if choice & ALL_TIME != 0 { EgressTime::All } else { EgressTime::Busy },
        short_circuit: choice & SHORT_CIRCUIT != 0,
        profile_capacity: 64,
        flow_capacity: 8,
        // Reports are rare among arbitrary calls: with the default a queue is mostly unknown, with an hour it is known.
        report_timeout: Duration::from_secs(if choice & LONG_TIMEOUT != 0 { 3_600 } else { 1 }),
        ..MarkerConfig::with_law(law)
    }
}
