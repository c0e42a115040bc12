//! The check of one field of a configuration.

use tidemark_core::ConfigError;

/// Fails with the rule `right` unless `holds`.
pub(crate) fn require(holds: bool, field: &'static str, right: &'static str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::new(field, right)) }
}
