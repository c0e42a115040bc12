//! Source addresses that a UE's packets may have.

use std::net::{IpAddr, Ipv6Addr};

use tidemark_wire::ip::Headers;

use crate::addresses;

/// Addresses that a UE may send from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sources {
    /// Any address, for a UE that others send through.
    Any,
    /// Addresses of this UE in the cell of this number.
    Cell {
        /// Number of the cell.
        cell: u32,
        /// Index of the UE.
        ue: u32,
    },
    /// Address that a core network gave the UE; with IPv6 all of its prefix of 64 bits, of which the UE chooses (TS 23.501 5.8.2.2.3).
    Given(IpAddr),
}

impl Sources {
    /// True if the UE may send this packet.
    pub(crate) fn admit(&self, packet: &[u8]) -> bool {
        if matches!(self, Self::Any) {
            return true;
        }
        // What is no IP packet has no source.
        let Ok(headers) = Headers::parse(packet) else { return false };
        let (source, destination) = (headers.five_tuple.source, headers.five_tuple.destination);
        let own = match (self, source) {
            (Self::Any, _) => true,
            (Self::Cell { cell, ue }, _) => addresses::ue_of(*cell, source) == Some(*ue),
            (Self::Given(IpAddr::V6(given)), IpAddr::V6(source)) => given.segments()[..4] == source.segments()[..4],
            (Self::Given(given), _) => *given == source,
        };
        own || is_before_an_address(source) && addresses::is_of_one_link(destination)
    }
}

/// True for a source that a UE uses to get or to announce an address, towards its own link alone (RFC 4861 4.1, RFC 3810 5.2.13).
fn is_before_an_address(source: IpAddr) -> bool {
    matches!(source, IpAddr::V6(address) if address == Ipv6Addr::UNSPECIFIED || address.is_unicast_link_local())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(source: &str, destination: &str) -> Vec<u8> {
        match (source.parse().unwrap(), destination.parse().unwrap()) {
            (IpAddr::V4(from), IpAddr::V4(to)) => {
                let head = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 0xFD, 0, 0];
                [&head[..], &from.octets(), &to.octets()].concat()
            }
            (IpAddr::V6(from), IpAddr::V6(to)) => {
                [&[0x60, 0, 0, 0, 0, 0, 59, 64][..], &from.octets(), &to.octets()].concat()
            }
            _ => unreachable!(),
        }
    }

    #[test]
    fn a_ue_sends_from_its_own_addresses_alone() {
        let cell = Sources::Cell { cell: 0, ue: 1 };
        let v4 = Sources::Given("10.45.0.2".parse().unwrap());
        let v6 = Sources::Given("2001:db8:45::2".parse().unwrap());
        for (sources, from, to, admitted) in [
            (cell, "100.96.0.3", "8.8.8.8", true),
            (cell, "fd74:6d61:726b::3", "2001:db8::1", true),
            (cell, "100.96.0.2", "8.8.8.8", false),
            (cell, "100.96.1.3", "8.8.8.8", false),
            (cell, "192.0.2.1", "8.8.8.8", false),
            (v4, "10.45.0.2", "8.8.8.8", true),
            (v4, "10.45.0.3", "8.8.8.8", false),
            (v4, "2001:db8:45::2", "2001:db8::1", false),
            (v6, "2001:db8:45::2", "2001:db8::1", true),
            (v6, "2001:db8:45::a:b:c", "2001:db8::1", true),
            (v6, "2001:db8:45:1::2", "2001:db8::1", false),
            // A router solicitation, and a packet that would go further with such a source.
            (v6, "fe80::1", "ff02::2", true),
            (v6, "::", "ff02::16", true),
            (v6, "fe80::1", "2001:db8::1", false),
            (Sources::Any, "192.0.2.1", "8.8.8.8", true),
        ] {
            assert_eq!(sources.admit(&packet(from, to)), admitted, "{sources:?}: {from}");
        }
        assert!(!cell.admit(b"no IP packet") && Sources::Any.admit(b"no IP packet"));
    }
}
