//! Bounds of the fields of a configuration, declared once for the check, the error message and the schema.
//!
//! ```
//! use tidemark_core::{Bounded, Duration, Range, bounds};
//!
//! struct Config {
//!     period: Duration,
//!     size: u32,
//!     fast: bool,
//! }
//!
//! bounds! { Config {
//!     period: Range::between(Duration::from_millis(1), Duration::from_secs(10)),
//!     size: Range::powers_of_two(8u32, 1_024),
//!     ..fast
//! } }
//!
//! let config = Config { period: Duration::from_secs(20), size: 64, fast: true };
//! let error = config.check_bounds().unwrap_err();
//! assert_eq!(error.to_string(), "period: must lie between 1 ms and 10 s, not 20 s");
//! ```

use alloc::string::{String, ToString};
#[doc(hidden)]
pub use alloc::vec::Vec;
use core::fmt;

use crate::config::ConfigError;
use crate::time::Duration;
use crate::units::{BitRate, Bytes};

/// A type whose values can have bounds.
pub trait Quantity: Copy + PartialOrd + fmt::Display + 'static {
    /// Gives the value as a scenario writes it.
    fn written(self) -> Written;
}

/// A value as a scenario writes it.
#[derive(Clone, PartialEq, Debug)]
pub enum Written {
    /// A whole number.
    Integer(u64),
    /// A number.
    Number(f64),
    /// Text with a unit.
    Text(String),
}

macro_rules! quantities {
    ($($variant:ident: $($type:ty)*, $write:expr;)*) => {
        $($(
            impl Quantity for $type {
                fn written(self) -> Written {
                    Written::$variant($write(self))
                }
            }
        )*)*
    };
}

quantities! {
    Integer: u8 u16 u32 u64, Into::into;
    Number: f64, Into::into;
    Text: Duration Bytes BitRate, |value: Self| value.to_string();
}

/// Values that a field may have. NaN is never one of them.
#[derive(Clone, Copy, Debug)]
pub struct Range<T: 'static> {
    min: Option<T>,
    max: Option<T>,
    excludes_min: bool,
    excludes_max: bool,
    powers_of_two: bool,
    choice: &'static [T],
    unit: &'static str,
    reason: &'static str,
}

impl<T: Quantity> Range<T> {
    const fn new(min: Option<T>, max: Option<T>) -> Self {
        Self {
            min,
            max,
            excludes_min: false,
            excludes_max: false,
            powers_of_two: false,
            choice: &[],
            unit: "",
            reason: "",
        }
    }
    /// Values from `min` to `max`, both included.
    pub const fn between(min: T, max: T) -> Self {
        Self::new(Some(min), Some(max))
    }
    /// Values from `min` to `max`, both excluded.
    pub const fn inside(min: T, max: T) -> Self {
        Self { excludes_min: true, excludes_max: true, ..Self::between(min, max) }
    }
    /// Values above `min`.
    pub const fn above(min: T) -> Self {
        Self { excludes_min: true, ..Self::new(Some(min), None) }
    }
    /// Values of at least `min`.
    pub const fn at_least(min: T) -> Self {
        Self::new(Some(min), None)
    }
    /// Values of at most `max`.
    pub const fn at_most(max: T) -> Self {
        Self::new(None, Some(max))
    }
    /// Restricts these values to at most `max`.
    pub const fn and_at_most(self, max: T) -> Self {
        Self { max: Some(max), ..self }
    }
    /// Restricts these values to those below `max`.
    pub const fn and_below(self, max: T) -> Self {
        Self { max: Some(max), excludes_max: true, ..self }
    }
    /// Powers of two from `min` to `max`, which are powers of two themselves.
    pub const fn powers_of_two(min: T, max: T) -> Self {
        Self { powers_of_two: true, ..Self::between(min, max) }
    }
    /// Only these values, listed in ascending order.
    pub const fn one_of(choice: &'static [T]) -> Self {
        Self { choice, ..Self::new(choice.first().copied(), choice.last().copied()) }
    }
    /// Names the unit of a bare number, "dB" or "slots".
    pub const fn unit(self, unit: &'static str) -> Self {
        Self { unit, ..self }
    }
    /// Gives the reason for the bounds, which the error shows in brackets: "RFC 5681 4.2".
    pub const fn because(self, reason: &'static str) -> Self {
        Self { reason, ..self }
    }

    /// True for a value that the field may have.
    pub fn contains(&self, value: T) -> bool {
        let above = self.min.is_none_or(|min| if self.excludes_min { value > min } else { value >= min });
        let below = self.max.is_none_or(|max| if self.excludes_max { value < max } else { value <= max });
        let is_power = match value.written() {
            Written::Integer(n) => n.is_power_of_two(),
            Written::Number(_) | Written::Text(_) => false,
        };
        let is_chosen = self.choice.is_empty() || self.choice.contains(&value);
        above && below && is_chosen && (is_power || !self.powers_of_two)
    }

    /// Bounds in the form that the schema needs.
    pub fn limits(&self) -> Limits {
        let written = |value: Option<T>| value.map(T::written);
        let powers = match (written(self.min), written(self.max)) {
            (Some(Written::Integer(min)), Some(Written::Integer(max))) if self.powers_of_two => {
                (min.ilog2()..=max.ilog2()).map(|exponent| Written::Integer(1 << exponent)).collect()
            }
            _ => self.choice.iter().map(|value| value.written()).collect(),
        };
        Limits {
            min: written(self.min),
            max: written(self.max),
            excludes_min: self.excludes_min,
            excludes_max: self.excludes_max,
            choice: powers,
            unit: self.unit,
            reason: self.reason,
        }
    }
}

/// Text after "must": "lie between 1 ms and 10 s".
impl<T: Quantity> fmt::Display for Range<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.min, self.max) {
            _ if !self.choice.is_empty() => {
                f.write_str("be ")?;
                for (index, value) in self.choice.iter().enumerate() {
                    match self.choice.len() - index {
                        1 => write!(f, "{value}")?,
                        2 => write!(f, "{value} or ")?,
                        _ => write!(f, "{value}, ")?,
                    }
                }
            }
            (Some(min), Some(max)) if self.powers_of_two => write!(f, "be a power of two from {min} to {max}")?,
            (Some(min), Some(max)) => match (self.excludes_min, self.excludes_max) {
                (false, false) => write!(f, "lie between {min} and {max}")?,
                (true, false) => write!(f, "be above {min} and at most {max}")?,
                (false, true) => write!(f, "be at least {min} and below {max}")?,
                (true, true) => write!(f, "lie between {min} and {max}, both excluded")?,
            },
            (Some(min), None) => write!(f, "be {} {min}", if self.excludes_min { "above" } else { "at least" })?,
            (None, Some(max)) => write!(f, "be {} {max}", if self.excludes_max { "below" } else { "at most" })?,
            (None, None) => write!(f, "be a number")?,
        }
        if !self.unit.is_empty() {
            write!(f, " {}", self.unit)?;
        }
        if self.reason.is_empty() { Ok(()) } else { write!(f, " ({})", self.reason) }
    }
}

/// Bounds of a field in the form that the schema needs.
#[derive(Clone, PartialEq, Debug)]
pub struct Limits {
    /// Least value.
    pub min: Option<Written>,
    /// Greatest value.
    pub max: Option<Written>,
    /// True where the field must be above `min`.
    pub excludes_min: bool,
    /// True where the field must be below `max`.
    pub excludes_max: bool,
    /// All values that the field may have if it is a choice of a few, else empty.
    pub choice: Vec<Written>,
    /// Unit of a bare number, or empty.
    pub unit: &'static str,
    /// Reason for the bounds, or empty.
    pub reason: &'static str,
}

/// A field that holds a value or an optional one.
pub trait Holds<T> {
    /// Value of the field, if it has one.
    fn value(&self) -> Option<T>;
}

impl<T: Copy> Holds<T> for T {
    fn value(&self) -> Option<T> {
        Some(*self)
    }
}

impl<T: Copy> Holds<T> for Option<T> {
    fn value(&self) -> Option<T> {
        *self
    }
}

/// A configuration whose fields have bounds. [`bounds!`](macro@crate::bounds) implements it.
pub trait Bounded {
    /// Checks every field against its bounds.
    ///
    /// # Errors
    /// The first field outside its bounds, with the bounds and the value.
    fn check_bounds(&self) -> Result<(), ConfigError>;

    /// Lists the fields that have bounds.
    fn limits() -> Vec<(&'static str, Limits)>;
}

/// Checks one field.
///
/// # Errors
/// The field, its bounds and its value if the value lies outside.
pub fn check<T: Quantity>(field: &'static str, held: &impl Holds<T>, range: Range<T>) -> Result<(), ConfigError> {
    match held.value() {
        Some(value) if !range.contains(value) => Err(ConfigError::out_of_bounds(field, range, value)),
        _ => Ok(()),
    }
}

/// Declares the bounds of a configuration's fields. Fields without bounds follow `..`: the compiler then rejects a field that is not listed.
/// For an enum, the fields are listed by variant: `bounds! { enum Times { Fixed { mean: MEAN, } } }`.
// `bounds! { StepConfig { tau: Range::above(Duration::ZERO), ..mode } }` becomes
//
//     impl Bounded for StepConfig {
//         fn check_bounds(&self) -> Result<(), ConfigError> {
//             let Self { tau, mode: _ } = self;
//             bounds::check("tau", tau, Range::above(Duration::ZERO))?;
//             Ok(())
//         }
//         fn limits() -> Vec<(&'static str, Limits)> { vec![("tau", Range::above(Duration::ZERO).limits())] }
//     }
#[macro_export]
macro_rules! bounds {
    (enum $config:ident { $($variant:ident { $($field:ident: $range:expr,)* $(..$($free:ident),*)? })* }) => {
        impl $crate::Bounded for $config {
            fn check_bounds(&self) -> Result<(), $crate::ConfigError> {
                match self {
                    $(Self::$variant { $($field,)* $($($free: _,)*)? } => {
                        $($crate::bounds::check(stringify!($field), $field, $range)?;)*
                    })*
                }
                Ok(())
            }
            fn limits() -> $crate::bounds::Vec<(&'static str, $crate::bounds::Limits)> {
                $crate::bounds::vec![$($((stringify!($field), $range.limits()),)*)*]
            }
        }
    };
    ($config:ident { $($field:ident: $range:expr,)* $(..$($free:ident),*)? }) => {
        impl $crate::Bounded for $config {
            fn check_bounds(&self) -> Result<(), $crate::ConfigError> {
                let Self { $($field,)* $($($free: _,)*)? } = self;
                $($crate::bounds::check(stringify!($field), $field, $range)?;)*
                Ok(())
            }
            fn limits() -> $crate::bounds::Vec<(&'static str, $crate::bounds::Limits)> {
                $crate::bounds::vec![$((stringify!($field), $range.limits())),*]
            }
        }
    };
}

#[doc(hidden)]
pub use alloc::vec;

/// Writes the bounds of a configuration into its schema.
///
/// Numbers get `minimum`, `maximum` and their exclusive forms. Text with units gets the same keys after `x-`, and a `pattern` that
/// asks for a digit above zero if zero is not allowed. `x-unit` is the unit of a bare number and `x-reason` the reason for the bounds.
/// A choice of a few values is listed in `enum`, or in `x-enum` for text.
/// A field that several variants of an enum share has the same bounds in each.
#[cfg(feature = "schema")]
pub fn in_schema<T: Bounded>(schema: &mut schemars::Schema) {
    use serde_json::Value;
    for (field, limits) in T::limits() {
        let mut is_known = false;
        let schema = schema.as_object_mut().expect("a configuration is a table");
        let variants = schema.get("oneOf").and_then(Value::as_array).map_or(0, Vec::len);
        for index in 0..=variants {
            let properties = match index.checked_sub(1) {
                None => schema.get_mut("properties"),
                Some(variant) => schema.get_mut("oneOf").and_then(|all| all[variant].get_mut("properties")),
            };
            let property = properties.and_then(|properties| properties.get_mut(field)).and_then(Value::as_object_mut);
            if let Some(property) = property {
                limits.write(property);
                is_known = true;
            }
        }
        assert!(is_known, "`{field}` has bounds and is not in the schema");
    }
}

#[cfg(feature = "schema")]
impl Written {
    fn to_value(&self) -> serde_json::Value {
        match self {
            Self::Integer(value) => (*value).into(),
            Self::Number(value) => (*value).into(),
            Self::Text(value) => value.as_str().into(),
        }
    }
}

#[cfg(feature = "schema")]
impl Limits {
    /// Writes the bounds into the schema of their field.
    fn write(&self, property: &mut serde_json::Map<String, serde_json::Value>) {
        use alloc::format;
        let bounds = [("Minimum", &self.min, self.excludes_min), ("Maximum", &self.max, self.excludes_max)];
        for (bound, value, is_excluded) in bounds {
            let key = if is_excluded { format!("exclusive{bound}") } else { bound.to_lowercase() };
            let Some(value) = value else { continue };
            let Written::Text(text) = value else {
                property.insert(key, value.to_value());
                continue;
            };
            // Of text with units a schema can say that it is not zero, and no other bound.
            if bound == "Minimum" && (is_excluded || !text.starts_with("0 ")) {
                property.insert("pattern".into(), "[1-9]".into());
            }
            property.insert(format!("x-{key}"), value.to_value());
        }
        if !self.choice.is_empty() {
            let choice: Vec<_> = self.choice.iter().map(Written::to_value).collect();
            // Text has other forms of a value: "0.4 s" is "400 ms".
            let is_text = matches!(self.choice[0], Written::Text(_));
            property.insert(if is_text { "x-enum" } else { "enum" }.into(), choice.into());
        }
        for (key, text) in [("x-unit", self.unit), ("x-reason", self.reason)] {
            if !text.is_empty() {
                property.insert(key.into(), text.into());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_range_says_what_it_holds_and_holds_no_nan() {
        let says = |range: Range<f64>, inside: f64, outside: f64, words: &str| {
            assert!(range.contains(inside) && !range.contains(outside) && !range.contains(f64::NAN), "{words}");
            assert_eq!(range.to_string(), words);
        };
        says(Range::between(0.0, 30.0).unit("dB"), 30.0, 30.1, "lie between 0 and 30 dB");
        says(Range::inside(0.0, 1.0), 0.5, 1.0, "lie between 0 and 1, both excluded");
        says(Range::above(0.0).and_at_most(1.0), 1.0, 0.0, "be above 0 and at most 1");
        says(Range::at_least(0.5), 0.5, 0.4, "be at least 0.5");
        says(Range::at_most(0.5), 0.5, 0.6, "be at most 0.5");
        says(Range::at_least(0.0).and_below(1.0), 0.0, 1.0, "be at least 0 and below 1");
        says(Range::at_most(0.5).unit("s").because("RFC 5681 4.2"), 0.5, 0.6, "be at most 0.5 s (RFC 5681 4.2)");
    }

    #[test]
    fn a_field_of_a_variant_is_checked() {
        enum Times {
            Fixed { mean: Duration },
            Pareto { mean: Duration, shape: f64 },
            Never {},
        }
        const MEAN: Range<Duration> = Range::above(Duration::ZERO);
        bounds! { enum Times {
            Fixed { mean: MEAN, }
            Pareto { mean: MEAN, shape: Range::above(1.0), }
            Never {}
        } }
        let error = |times: Times| times.check_bounds().map_err(|error| error.to_string());
        assert_eq!(error(Times::Fixed { mean: Duration::ZERO }), Err("mean: must be above 0 s, not 0 s".into()));
        assert_eq!(error(Times::Pareto { mean: Duration::from_secs(1), shape: 2.0 }), Ok(()));
        assert_eq!(error(Times::Never {}), Ok(()));
        assert_eq!(Times::limits().len(), 3);
    }

    #[test]
    fn a_choice_has_its_values_alone() {
        let range = Range::powers_of_two(8u32, 64);
        assert!(range.contains(8) && range.contains(64) && !range.contains(4) && !range.contains(24));
        assert_eq!(range.to_string(), "be a power of two from 8 to 64");
        assert_eq!(range.limits().choice, [8, 16, 32, 64].map(Written::Integer));
        let range = Range::one_of(&[1u32, 7, 19]);
        assert!(range.contains(7) && !range.contains(8));
        assert_eq!(range.to_string(), "be 1, 7 or 19");
    }
}
