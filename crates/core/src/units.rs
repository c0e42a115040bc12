//! Types for bytes, bit rates and probabilities, so that no function takes a bare number.

use core::fmt;
use core::iter::Sum;
use core::ops::{Add, AddAssign, Sub, SubAssign};

use crate::time::Duration;

/// A number of bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bytes(pub u64);

/// A rate in bits a second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct BitRate(u64);

/// A probability between 0 and 1; values outside are clamped and NaN is 0.
#[derive(Clone, Copy, PartialEq, PartialOrd, Default)]
pub struct Probability(f64);

impl Bytes {
    /// No bytes.
    pub const ZERO: Self = Self(0);

    /// The bits in these bytes.
    pub const fn bits(self) -> u64 {
        self.0.saturating_mul(8)
    }
    /// `self - other`, or zero.
    pub const fn saturating_sub(self, other: Self) -> Self {
        Self(self.0.saturating_sub(other.0))
    }
    /// The number as a float, for a control law.
    pub fn as_f64(self) -> f64 {
        self.0 as f64
    }
}

impl BitRate {
    /// No bits a second.
    pub const ZERO: Self = Self(0);

    /// A rate in bits a second.
    pub const fn from_bps(bps: u64) -> Self {
        Self(bps)
    }
    /// A rate in kilobits (1000 bits) a second.
    pub const fn from_kbps(kbps: u64) -> Self {
        Self(kbps * 1_000)
    }
    /// A rate in megabits (10^6 bits) a second.
    pub const fn from_mbps(mbps: u64) -> Self {
        Self(mbps * 1_000_000)
    }
    /// A rate in bits a second, rounded; negative and NaN give zero.
    pub fn from_bps_f64(bps: f64) -> Self {
        Self((bps + 0.5) as u64)
    }
    /// A rate in bytes a second, rounded; negative and NaN give zero.
    pub fn from_bytes_per_sec(rate: f64) -> Self {
        Self::from_bps_f64(rate * 8.0)
    }
    /// Bits a second.
    pub const fn as_bps(self) -> u64 {
        self.0
    }
    /// Megabits a second.
    pub fn as_mbps(self) -> f64 {
        self.0 as f64 * 1e-6
    }
    /// Bytes a second.
    pub fn as_bytes_per_sec(self) -> f64 {
        self.0 as f64 / 8.0
    }
    /// The time that `bytes` take at this rate, rounded up to a nanosecond; `Duration::MAX` at rate zero.
    pub fn time_to_send(self, bytes: Bytes) -> Duration {
        if self.0 == 0 {
            return Duration::MAX;
        }
        let nanos = (u128::from(bytes.bits()) * 1_000_000_000).div_ceil(u128::from(self.0));
        Duration::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX))
    }
    /// The whole bytes that fit into `span` at this rate.
    pub fn bytes_in(self, span: Duration) -> Bytes {
        Bytes(share(self.0, span.as_nanos(), 8_000_000_000))
    }
    /// The rate that carries `bytes` in `span`; zero if the span is zero.
    pub fn from_bytes_in(bytes: Bytes, span: Duration) -> Self {
        if span.is_zero() {
            return Self::ZERO;
        }
        Self(share(bytes.bits(), 1_000_000_000, span.as_nanos()))
    }
}

/// `a * b / divisor`, rounded down. It divides 128 bits, which is slow, only where the product needs them.
pub fn share(a: u64, b: u64, divisor: u64) -> u64 {
    match a.checked_mul(b) {
        Some(product) => product / divisor,
        None => u64::try_from(u128::from(a) * u128::from(b) / u128::from(divisor)).unwrap_or(u64::MAX),
    }
}

impl Probability {
    /// Probability 0.
    pub const ZERO: Self = Self(0.0);
    /// Probability 1.
    pub const ONE: Self = Self(1.0);

    /// Clamps to 0..=1; NaN becomes 0.
    pub fn new(value: f64) -> Self {
        Self(if value > 0.0 { value.min(1.0) } else { 0.0 })
    }
    /// The value, between 0 and 1.
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Add for Bytes {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self(self.0.saturating_add(other.0))
    }
}
impl AddAssign for Bytes {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}
impl Sub for Bytes {
    type Output = Self;
    /// Saturates at zero.
    fn sub(self, other: Self) -> Self {
        self.saturating_sub(other)
    }
}
impl SubAssign for Bytes {
    fn sub_assign(&mut self, other: Self) {
        *self = *self - other;
    }
}
impl Sum for Bytes {
    fn sum<I: Iterator<Item = Self>>(items: I) -> Self {
        items.fold(Self::ZERO, Add::add)
    }
}

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} B", self.0)
    }
}
impl fmt::Debug for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
/// Uses the largest unit that needs no fraction, so that the text parses to the same value.
impl fmt::Display for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (value, unit) = match self.0 {
            n if n != 0 && n % 1_000_000_000 == 0 => (n / 1_000_000_000, "Gbit/s"),
            n if n != 0 && n % 1_000_000 == 0 => (n / 1_000_000, "Mbit/s"),
            n if n != 0 && n % 1_000 == 0 => (n / 1_000, "kbit/s"),
            n => (n, "bit/s"),
        };
        write!(f, "{value} {unit}")
    }
}
impl fmt::Debug for BitRate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
impl fmt::Debug for Probability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_and_a_time_give_back_the_bytes() {
        let rate = BitRate::from_mbps(40);
        assert_eq!(rate.time_to_send(Bytes(1500)), Duration::from_micros(300));
        assert_eq!(rate.bytes_in(Duration::from_micros(300)), Bytes(1500));
        assert_eq!(BitRate::from_bytes_in(Bytes(1500), Duration::from_micros(300)), rate);
        assert_eq!(BitRate::ZERO.time_to_send(Bytes(1)), Duration::MAX);
    }

    #[test]
    fn values_outside_are_clamped_and_nan_is_zero() {
        assert_eq!(Probability::new(f64::NAN), Probability::ZERO);
        assert_eq!(Probability::new(-0.1), Probability::ZERO);
        assert_eq!(Probability::new(7.0), Probability::ONE);
    }
}
