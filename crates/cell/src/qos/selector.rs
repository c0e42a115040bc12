//! Components of a packet filter in the form of a scenario: address prefixes, port ranges, protocols, masked octets.

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;

use tidemark_wire::{tcp, udp};

/// Addresses with a common prefix, `"203.0.113.0/24"` or `"2001:db8::/32"`, or one address.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

/// Ports from the first to the last: `443` or `"5000-5999"`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PortRange {
    first: u16,
    last: u16,
}

/// A protocol above IP: `"tcp"`, `"udp"`, `"icmp"`, `"icmpv6"`, `"sctp"`, `"esp"`, or its number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Protocol(pub u8);

/// The type of service or traffic class, and the mask of the bits that count: `"0xB8/0xFC"` is DSCP 46 with any ECN field.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TrafficClass {
    value: u8,
    mask: u8,
}

const PROTOCOLS: [(&str, u8); 6] = [("tcp", 6), ("udp", 17), ("icmp", 1), ("icmpv6", 58), ("sctp", 132), ("esp", 50)];
const DCCP: u8 = 33;
const SCTP: u8 = 132;
const UDP_LITE: u8 = 136;

impl Prefix {
    /// True for an address with this prefix, which has the same IP version.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(32 - u32::from(self.length)).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                (own.to_bits() ^ other.to_bits()).checked_shr(128 - u32::from(self.length)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
    /// True for IPv6.
    pub(super) fn is_v6(&self) -> bool {
        self.address.is_ipv6()
    }
}

impl PortRange {
    /// True for a port of the range.
    pub fn contains(&self, port: u16) -> bool {
        (self.first..=self.last).contains(&port)
    }
}

impl Protocol {
    /// TCP.
    pub const TCP: Self = Self(tcp::PROTOCOL);
    /// UDP.
    pub const UDP: Self = Self(udp::PROTOCOL);

    /// True if its header begins with ports.
    pub(super) fn has_ports(self) -> bool {
        matches!(self.0, tcp::PROTOCOL | udp::PROTOCOL | SCTP | DCCP | UDP_LITE)
    }
}

impl TrafficClass {
    /// True for an octet with this value under the mask.
    pub fn matches(&self, octet: u8) -> bool {
        octet & self.mask == self.value
    }
}

impl FromStr for Prefix {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an address or prefix, as in \"203.0.113.0/24\" or \"2001:db8::/32\"");
        let (address, length) = text.split_once('/').map_or((text, None), |(address, length)| (address, Some(length)));
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let most = if address.is_ipv6() { 128 } else { 32 };
        let length = length.map_or(Ok(most), str::parse).map_err(|_| wrong())?;
        if length > most {
            return Err(format!("`{text}`: the length of the prefix must be at most {most}"));
        }
        let network = match address {
            IpAddr::V4(own) => {
                let mask = u32::MAX.checked_shl(32 - u32::from(length)).unwrap_or(0);
                IpAddr::V4((own.to_bits() & mask).into())
            }
            IpAddr::V6(own) => {
                let mask = u128::MAX.checked_shl(128 - u32::from(length)).unwrap_or(0);
                IpAddr::V6((own.to_bits() & mask).into())
            }
        };
        if network != address {
            return Err(format!("`{text}` has bits after its prefix: use \"{network}/{length}\""));
        }
        Ok(Self { address, length })
    }
}

impl FromStr for PortRange {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not a port or range of ports, as in 443 or \"5000-5999\"");
        let port = |text: &str| text.trim().parse().map_err(|_| wrong());
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let (first, last) = (port(first)?, port(last)?);
        if first > last {
            return Err(format!("`{text}` ends before it begins: use \"{last}-{first}\""));
        }
        Ok(Self { first, last })
    }
}

impl FromStr for Protocol {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let named = PROTOCOLS.iter().find(|(name, _)| *name == text).map(|(_, number)| *number);
        named.or_else(|| text.parse().ok()).map(Self).ok_or_else(|| {
            let names = PROTOCOLS.map(|(name, _)| name).join(", ");
            format!("`{text}` is not a protocol: use {names}, or its number up to 255")
        })
    }
}

impl FromStr for TrafficClass {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is not an octet and mask, as in \"0xB8/0xFC\"");
        let octet = |text: &str| {
            let hexadecimal = text.strip_prefix("0x").or_else(|| text.strip_prefix("0X"));
            hexadecimal.map_or_else(|| text.parse(), |digits| u8::from_str_radix(digits, 16)).map_err(|_| wrong())
        };
        let (value, mask) = text.split_once('/').ok_or_else(wrong)?;
        let (value, mask) = (octet(value)?, octet(mask)?);
        if value & !mask != 0 {
            return Err(format!("`{text}` has bits outside its mask: use \"{:#04X}/{mask:#04X}\"", value & mask));
        }
        Ok(Self { value, mask })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}
impl fmt::Display for PortRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.first == self.last { write!(f, "{}", self.first) } else { write!(f, "{}-{}", self.first, self.last) }
    }
}
impl fmt::Display for Protocol {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match PROTOCOLS.iter().find(|(_, number)| *number == self.0) {
            Some((name, _)) => f.write_str(name),
            None => write!(f, "{}", self.0),
        }
    }
}
impl fmt::Display for TrafficClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:#04X}/{:#04X}", self.value, self.mask)
    }
}

/// Text in a scenario; a number may stand without quotes where it says the same.
#[cfg(feature = "serde")]
macro_rules! written {
    ($type:ident, $types:expr, $examples:expr, $what:literal) => {
        impl<'de> serde::Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                struct Text;
                impl serde::de::Visitor<'_> for Text {
                    type Value = $type;
                    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                        f.write_str($what)
                    }
                    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<$type, E> {
                        text.parse().map_err(E::custom)
                    }
                    fn visit_i64<E: serde::de::Error>(self, number: i64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                    fn visit_u64<E: serde::de::Error>(self, number: u64) -> Result<$type, E> {
                        self.visit_str(&number.to_string())
                    }
                }
                deserializer.deserialize_any(Text)
            }
        }
        impl serde::Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }
        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $type {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($type).into()
            }
            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": $types, "description": $what, "examples": $examples })
            }
        }
    };
}
#[cfg(feature = "serde")]
written!(Prefix, "string", ["203.0.113.0/24", "2001:db8::/32"], "an address or a prefix in quotes");
#[cfg(feature = "serde")]
written!(PortRange, ["integer", "string"], ["443", "5000-5999"], "a port, or a range of ports in quotes");
#[cfg(feature = "serde")]
written!(Protocol, ["integer", "string"], ["udp", "47"], "a protocol's name in quotes, or its number");
#[cfg(feature = "serde")]
written!(TrafficClass, "string", ["0xB8/0xFC"], "an octet and its mask in quotes");

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_is_wrong_is_said_with_what_would_be_right() {
        let says = |error: String, right: &str| assert!(error.contains(right), "{error}");
        says("203.0.113/24".parse::<Prefix>().unwrap_err(), "203.0.113.0/24");
        says("203.0.113.9/24".parse::<Prefix>().unwrap_err(), "use \"203.0.113.0/24\"");
        says("2001:db8::1/32".parse::<Prefix>().unwrap_err(), "use \"2001:db8::/32\"");
        says("10.0.0.0/33".parse::<Prefix>().unwrap_err(), "at most 32");
        says("70000".parse::<PortRange>().unwrap_err(), "5000-5999");
        says("9-8".parse::<PortRange>().unwrap_err(), "use \"8-9\"");
        says("quic".parse::<Protocol>().unwrap_err(), "tcp, udp");
        says("256".parse::<Protocol>().unwrap_err(), "up to 255");
        says("184".parse::<TrafficClass>().unwrap_err(), "0xB8/0xFC");
        says("0xBA/0xFC".parse::<TrafficClass>().unwrap_err(), "use \"0xB8/0xFC\"");
    }

    #[test]
    fn ends_belong_to_a_range_and_the_whole_space_to_an_empty_prefix() {
        let range: PortRange = "5000-5999".parse().unwrap();
        assert_eq!([4_999, 5_000, 5_999, 6_000].map(|port| range.contains(port)), [false, true, true, false]);
        for (all, address) in [("0.0.0.0/0", "255.0.0.1"), ("::/0", "ff02::1")] {
            assert!(all.parse::<Prefix>().unwrap().contains(address.parse().unwrap()));
        }
        assert!(!"0.0.0.0/0".parse::<Prefix>().unwrap().contains("::1".parse().unwrap()));
        let expedited: TrafficClass = "0xB8/0xFC".parse().unwrap();
        assert_eq!([0xB8, 0xBB, 0xBC, 0x38].map(|octet| expedited.matches(octet)), [true, true, false, false]);
    }

    proptest! {
        #[test]
        fn a_prefix_is_what_its_first_bits_are(network: u32, length in 0u8..=32, other: u32) {
            let mask = if length == 0 { 0 } else { u32::MAX << (32 - length) };
            let prefix = Prefix { address: IpAddr::V4((network & mask).into()), length };
            prop_assert_eq!(prefix.to_string().parse(), Ok(prefix));
            prop_assert_eq!(prefix.contains(IpAddr::V4(other.into())), other & mask == network & mask);
            // The same bits at the front of an IPv6 address.
            let wide = |bits: u32| IpAddr::V6((u128::from(bits) << 96).into());
            let prefix = Prefix { address: wide(network & mask), length };
            prop_assert_eq!(prefix.to_string().parse(), Ok(prefix));
            prop_assert_eq!(prefix.contains(wide(other)), other & mask == network & mask);
        }

        #[test]
        fn what_is_written_reads_back(first: u16, span in 0u16..1_000, number: u8, mask: u8) {
            let ports = PortRange { first, last: first.saturating_add(span) };
            prop_assert_eq!(ports.to_string().parse(), Ok(ports));
            prop_assert_eq!(Protocol(number).to_string().parse(), Ok(Protocol(number)));
            let class = TrafficClass { value: number & mask, mask };
            prop_assert_eq!(class.to_string().parse(), Ok(class));
        }
    }
}
