//! Quantities as a scenario writes them: `"10 ms"`, `"40 Mbit/s"`, `"1500 B"`.

use alloc::format;
use alloc::string::{String, ToString};
use core::fmt;

use serde::de::{self, Deserialize, Deserializer, Visitor};
use serde::{Serialize, Serializer};

use crate::time::{Duration, Instant};
use crate::units::{BitRate, Bytes, Probability};

/// A unit's name and its size in the base unit.
type Units = &'static [(&'static str, f64)];

const TIME: Units = &[("ns", 1.0), ("us", 1e3), ("ms", 1e6), ("s", 1e9), ("min", 60e9)];
const RATE: Units = &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)];
const SIZE: Units = &[("B", 1.0), ("kB", 1e3), ("MB", 1e6), ("GB", 1e9)];

/// Parses `"<number> <unit>"` to a whole number of base units.
fn parse(text: &str, units: Units, example: &str) -> Result<u64, String> {
    let wrong = || format!("`{text}` is not a number with a unit, as in \"{example}\"");
    let text_trimmed = text.trim();
    let split = text_trimmed.find(|c: char| c.is_ascii_alphabetic()).ok_or_else(wrong)?;
    // An exponent ("1e3 ms") is rare enough to be left out: every value has a unit that makes it short.
    let (number, unit) = text_trimmed.split_at(split);
    let number: f64 = number.trim().parse().map_err(|_| wrong())?;
    let Some((_, scale)) = units.iter().find(|(name, _)| *name == unit) else {
        let names = units.iter().map(|(name, _)| *name).collect::<alloc::vec::Vec<_>>().join(", ");
        return Err(format!("unknown unit `{unit}` in `{text}`: use one of {names}, as in \"{example}\""));
    };
    let value = number * scale;
    if !(0.0..9e18).contains(&value) {
        return Err(format!("`{text}` is out of range: it must be zero or more"));
    }
    Ok(libm::round(value) as u64)
}

macro_rules! unit_text {
    ($type:ty, $units:expr, $example:literal, $make:expr, $pattern:literal, $what:literal) => {
        impl core::str::FromStr for $type {
            type Err = String;
            fn from_str(text: &str) -> Result<Self, String> {
                parse(text, $units, $example).map($make)
            }
        }
        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        write!(f, "{} in quotes, as in \"{}\"", $what, $example)
                    }
                    fn visit_str<E: de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                }
                deserializer.deserialize_str(Text)
            }
        }
        impl Serialize for $type {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.to_string())
            }
        }
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> alloc::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $what, "pattern": $pattern, "examples": [$example] })
            }
            fn inline_schema() -> bool {
                false
            }
        }
    };
}

unit_text!(
    Duration,
    TIME,
    "10 ms",
    Duration::from_nanos,
    r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(ns|us|ms|s|min)\s*$",
    "a time"
);
unit_text!(
    BitRate,
    RATE,
    "40 Mbit/s",
    BitRate::from_bps,
    r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(bit/s|kbit/s|Mbit/s|Gbit/s)\s*$",
    "a rate"
);
unit_text!(Bytes, SIZE, "1500 B", Bytes, r"^\s*([0-9]+\.?[0-9]*|\.[0-9]+)\s*(B|kB|MB|GB)\s*$", "a size");

impl<'de> Deserialize<'de> for Probability {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = f64::deserialize(deserializer)?;
        if !(0.0..=1.0).contains(&value) {
            return Err(de::Error::custom(format!("{value} is not a probability: it must lie between 0 and 1")));
        }
        Ok(Self::new(value))
    }
}
impl Serialize for Probability {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.get())
    }
}
#[cfg(feature = "schema")]
impl schemars::JsonSchema for Probability {
    fn schema_name() -> alloc::borrow::Cow<'static, str> {
        "Probability".into()
    }
    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({ "type": "number", "description": "a probability", "minimum": 0, "maximum": 1 })
    }
}

impl Serialize for Instant {
    /// Seconds, as a number.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_f64(self.as_secs_f64())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_with_units_parse() {
        assert_eq!("24.9 ms".parse(), Ok(Duration::from_micros(24_900)));
        assert_eq!("38ms".parse(), Ok(Duration::from_millis(38)));
        assert_eq!("40 Mbit/s".parse(), Ok(BitRate::from_mbps(40)));
        assert_eq!("6.17 MB".parse(), Ok(Bytes(6_170_000)));
    }

    #[test]
    fn a_rate_has_the_largest_unit_without_a_fraction() {
        for text in ["0 bit/s", "999 bit/s", "1500 kbit/s", "40 Mbit/s", "1500 Mbit/s", "20 Gbit/s"] {
            assert_eq!(text.parse::<BitRate>().map(|rate| rate.to_string()).as_deref(), Ok(text));
        }
    }

    #[test]
    fn errors_say_what_would_be_right() {
        let error = "10".parse::<Duration>().unwrap_err();
        assert!(error.contains("10 ms"), "{error}");
        let error = "10 parsec".parse::<Duration>().unwrap_err();
        assert!(error.contains("parsec") && error.contains("ms"), "{error}");
        assert!("-1 ms".parse::<Duration>().is_err());
        let error = serde_json::from_str::<Duration>("10").unwrap_err().to_string();
        assert!(error.contains("\"10 ms\""), "{error}");
    }

    proptest::proptest! {
        #[test]
        fn written_values_parse_to_the_same(nanos in 0u64..(1 << 53)) {
            let duration = Duration::from_nanos(nanos);
            proptest::prop_assert_eq!(duration.to_string().parse(), Ok(duration));
            let rate = BitRate::from_bps(nanos);
            proptest::prop_assert_eq!(rate.to_string().parse(), Ok(rate));
        }
    }
}
