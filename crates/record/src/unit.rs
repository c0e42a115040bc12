//! Numbers in the form that results have.

use tidemark_core::{BitRate, Bytes, Duration};

/// Rounds to a fixed number of decimals, given as their power of ten.
pub fn round(value: f64, scale: f64) -> f64 {
    (value * scale).round() / scale
}

/// Rate of this many bytes in a span, in Mbit/s, rounded to whole bits a second; 0 for an empty span.
pub fn mbps(bytes: Bytes, span: Duration) -> f64 {
    if span.is_zero() { 0.0 } else { BitRate::from_bytes_in(bytes, span).as_mbps() }
}

/// Name under which a scenario writes the variant of a tagged configuration.
pub fn tag(config: &impl serde::Serialize, key: &str) -> String {
    let value = serde_json::to_value(config).unwrap_or_default();
    value[key].as_str().unwrap_or("?").to_string()
}
