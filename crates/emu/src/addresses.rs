//! Addresses of a live cell: one IPv4 and one IPv6 block for each, which follow from its number.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Largest number of live cells at the same time on one machine.
pub const CELLS: u32 = 64;
/// Largest number of UEs of one live cell.
pub const UES: u32 = 250;
/// Largest number of servers of one live cell.
pub const SERVERS: u32 = 60;

/// Length of the IPv4 prefix that all UEs of a cell share, in bits.
pub const PREFIX_V4: u8 = 24;
/// Length of the IPv6 prefix that all UEs of a cell share, in bits.
pub const PREFIX_V6: u8 = 64;

/// Addresses of the cell's core side: the UEs' next hop.
///
/// 100.64.0.0/10 is the block that operators number their subscribers from (RFC 6598), so that it meets no home's and no
/// office's addresses. The IPv6 prefix is a unique local one (RFC 4193).
pub fn gateway(cell: u32) -> (Ipv4Addr, Ipv6Addr) {
    (Ipv4Addr::new(100, 96, cell as u8, 1), Ipv6Addr::new(0xFD74, 0x6D61, 0x726B, cell as u16, 0, 0, 0, 1))
}

/// Addresses of a UE, counted from 0.
pub fn ue(cell: u32, ue: u32) -> (Ipv4Addr, Ipv6Addr) {
    let host = ue + 2;
    (
        Ipv4Addr::new(100, 96, cell as u8, host as u8),
        Ipv6Addr::new(0xFD74, 0x6D61, 0x726B, cell as u16, 0, 0, 0, host as u16),
    )
}

/// Address of a server behind a core network of the cell's own, counted from 0.
pub fn server(cell: u32, server: u32) -> (Ipv4Addr, Ipv6Addr) {
    server_link(cell, server, 2)
}

/// Addresses of a server's next hop: the core's end of its link.
pub fn server_gateway(cell: u32, server: u32) -> (Ipv4Addr, Ipv6Addr) {
    server_link(cell, server, 1)
}

/// Addresses of an end of a server's link. Each link has a block of four.
fn server_link(cell: u32, server: u32, end: u32) -> (Ipv4Addr, Ipv6Addr) {
    let host = server * 4 + end;
    let v6 = Ipv6Addr::new(0xFD74, 0x6D61, 0x726C, cell as u16, 0, 0, 0, host as u16);
    (Ipv4Addr::new(100, 97, cell as u8, host as u8), v6)
}

/// UE that an address of this cell belongs to; `None` for any other address.
pub fn ue_of(cell: u32, address: IpAddr) -> Option<u32> {
    let host = match address {
        IpAddr::V4(address) => {
            let [a, b, c, host] = address.octets();
            ([a, b, c] == [100, 96, cell as u8]).then_some(u32::from(host))?
        }
        IpAddr::V6(address) => {
            let s = address.segments();
            (s[..7] == [0xFD74, 0x6D61, 0x726B, cell as u16, 0, 0, 0]).then_some(u32::from(s[7]))?
        }
    };
    host.checked_sub(2).filter(|ue| *ue < UES)
}

/// True for an address that no router passes on: of one link (RFC 4291 2.5.6 and 2.7, RFC 3927 7, RFC 5771 4), or the limited broadcast
/// (RFC 1812 5.3.5.1).
pub fn is_of_one_link(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => {
            address.is_link_local() || address.is_broadcast() || address.octets()[..3] == [224, 0, 0]
        }
        IpAddr::V6(address) => {
            // Scopes 1 and 2 of a multicast address: the interface, the link.
            address.is_unicast_link_local() || address.is_multicast() && matches!(address.segments()[0] & 0xF, 1 | 2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_local_addresses_are_distinguished_from_routed_ones() {
        for address in ["169.254.7.7", "224.0.0.251", "255.255.255.255", "fe80::1", "ff02::16", "ff01::1"] {
            assert!(is_of_one_link(address.parse().unwrap()), "{address}");
        }
        for address in ["100.96.0.2", "224.0.1.1", "239.1.1.1", "fd74:6d61:726b::2", "ff05::2", "ff0e::1"] {
            assert!(!is_of_one_link(address.parse().unwrap()), "{address}");
        }
    }

    #[test]
    fn a_ue_is_found_by_either_of_its_addresses_and_no_other() {
        for index in [0, 1, UES - 1] {
            let (v4, v6) = ue(7, index);
            assert_eq!(ue_of(7, v4.into()), Some(index));
            assert_eq!(ue_of(7, v6.into()), Some(index));
            assert_eq!(ue_of(8, v4.into()), None);
        }
        let (v4, v6) = gateway(7);
        assert_eq!((ue_of(7, v4.into()), ue_of(7, v6.into())), (None, None));
        assert_eq!(ue_of(7, Ipv4Addr::BROADCAST.into()), None);
    }
}
