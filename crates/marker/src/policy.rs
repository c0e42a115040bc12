//! Policy: the marking law and its thresholds by QFI and 5QI.

use alloc::vec::Vec;

use tidemark_core::{Bounded, ConfigError, Range, bounds};

use crate::config::MarkerConfig;

/// One row of a [`Policy`].
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<PolicyRule>))]
pub struct PolicyRule {
    /// QoS flow identifier to which the row applies. Default: all.
    pub qfi: Option<u8>,
    /// 5QI to which the row applies (TS 23.501 table 5.7.4-1). Default: all.
    pub five_qi: Option<u8>,
    /// Marker of the QoS flow's DRB.
    pub marker: MarkerConfig,
}

/// Rows that are tried in order, and the marker if none applies.
#[derive(Clone, PartialEq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Policy {
    /// The rows, most specific first.
    pub rules: Vec<PolicyRule>,
    /// Marker of QoS flows to which no row applies. Default: not marked.
    pub otherwise: MarkerConfig,
}

bounds! { PolicyRule {
    qfi: Range::between(0u8, 63),
    five_qi: Range::between(1u8, 255),
    ..marker
} }

impl PolicyRule {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        self.marker.validate()
    }

    /// True for the QoS flows to which the row applies.
    pub fn applies(&self, qfi: u8, five_qi: u8) -> bool {
        self.qfi.is_none_or(|wanted| wanted == qfi) && self.five_qi.is_none_or(|wanted| wanted == five_qi)
    }
}

impl Policy {
    /// The marker of the first rule that applies to a QoS flow, if any does.
    pub fn ruled(rules: &[PolicyRule], qfi: u8, five_qi: u8) -> Option<&MarkerConfig> {
        rules.iter().find(|rule| rule.applies(qfi, five_qi)).map(|rule| &rule.marker)
    }

    /// The marker for the DRB of a QoS flow.
    pub fn marker(&self, qfi: u8, five_qi: u8) -> MarkerConfig {
        Self::ruled(&self.rules, qfi, five_qi).unwrap_or(&self.otherwise).for_five_qi(five_qi)
    }

    /// Checks every row.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.rules.iter().try_for_each(PolicyRule::validate)?;
        self.otherwise.validate()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::law::{LawConfig, RampConfig, StepConfig};

    #[test]
    fn the_first_row_that_applies_wins() {
        let step = MarkerConfig::with_law(LawConfig::Step(StepConfig::default()));
        let ramp = MarkerConfig::with_law(LawConfig::Ramp(RampConfig::default()));
        let policy = Policy {
            rules: alloc::vec![
                PolicyRule { qfi: Some(5), five_qi: None, marker: step.clone() },
                PolicyRule { qfi: None, five_qi: Some(80), marker: ramp.clone() },
            ],
            otherwise: MarkerConfig::default(),
        };
        assert!(policy.validate().is_ok());
        assert_eq!(policy.marker(5, 80), step);
        assert_eq!(policy.marker(6, 80), ramp);
        assert_eq!(policy.marker(6, 9), MarkerConfig::default());
        let wrong = Policy { rules: alloc::vec![PolicyRule { qfi: Some(64), ..PolicyRule::default() }], ..policy };
        assert_eq!(wrong.validate().unwrap_err().field(), "qfi");
    }
}
