//! The check of one field of a configuration.

use tidemark_core::ConfigError;

/// Fails with `right`, what would be right, unless the field holds it.
pub(crate) fn require(holds: bool, field: &'static str, right: &'static str) -> Result<(), ConfigError> {
    if holds { Ok(()) } else { Err(ConfigError::new(field, right)) }
}
