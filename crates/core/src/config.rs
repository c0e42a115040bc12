//! The error for a configuration that cannot be used.

use alloc::borrow::Cow;
use alloc::string::{String, ToString};
use core::fmt;

/// An error in a field of a configuration: the field's path, what it must be, and the value found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ConfigError {
    field: Cow<'static, str>,
    right: Cow<'static, str>,
    found: Option<String>,
    is_of_one_field: bool,
}

impl ConfigError {
    /// An error in `field`, which is named as in a scenario, with dots between its levels. `right` is the rule: "must be at most 1 s".
    pub fn new(field: impl Into<Cow<'static, str>>, right: impl Into<Cow<'static, str>>) -> Self {
        Self { field: field.into(), right: right.into(), found: None, is_of_one_field: false }
    }
    /// An error in a field whose value is wrong whatever other fields are.
    pub fn of_value(field: impl Into<Cow<'static, str>>, right: impl Into<Cow<'static, str>>) -> Self {
        Self { is_of_one_field: true, ..Self::new(field, right) }
    }
    /// An error in a field whose value lies outside its bounds.
    pub(crate) fn out_of_bounds(field: &'static str, bounds: impl fmt::Display, value: impl fmt::Display) -> Self {
        Self::of_value(field, alloc::format!("must {bounds}")).found(value)
    }
    /// Adds the value that was found.
    pub fn found(self, value: impl fmt::Display) -> Self {
        Self { found: Some(value.to_string()), ..self }
    }
    /// Puts `place`, the field that contains this configuration, before the path.
    pub fn within(self, place: &str) -> Self {
        Self { field: alloc::format!("{place}.{}", self.field).into(), ..self }
    }
    /// Path of the field, with dots between its levels.
    pub fn field(&self) -> &str {
        &self.field
    }
    /// True for a value that is wrong whatever other fields are, as one outside the bounds of its field is.
    pub fn is_of_one_field(&self) -> bool {
        self.is_of_one_field
    }
    /// The error without its field: the rule, and the value found.
    pub fn problem(&self) -> String {
        match &self.found {
            Some(found) => alloc::format!("{}, not {found}", self.right),
            None => self.right.to_string(),
        }
    }
}

impl fmt::Display for ConfigError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.field, self.problem())
    }
}

impl core::error::Error for ConfigError {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_has_the_path_what_would_be_right_and_what_was_found() {
        let error = ConfigError::new("delay", "must be at most 1 s");
        assert_eq!(error.to_string(), "delay: must be at most 1 s");
        let error = error.found("2 s").within("f1u").within("cell");
        assert_eq!(error.field(), "cell.f1u.delay");
        assert_eq!(error.to_string(), "cell.f1u.delay: must be at most 1 s, not 2 s");
    }
}
