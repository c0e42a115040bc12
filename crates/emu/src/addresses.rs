//! The addresses of a live cell: one IPv4 and one IPv6 block for each, told apart by its number.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Live cells at a time on one machine.
pub const CELLS: u32 = 64;
/// UEs of one live cell at most.
pub const UES: u32 = 250;
/// Servers of one live cell at most.
pub const SERVERS: u32 = 60;

/// Length of the prefix that all UEs of a cell share.
pub const PREFIX_V4: u8 = 24;
/// The same for IPv6.
pub const PREFIX_V6: u8 = 64;

/// Where the cell's core side answers: the UEs' next hop.
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

/// The server's next hop: the core's end of its link.
pub fn server_gateway(cell: u32, server: u32) -> (Ipv4Addr, Ipv6Addr) {
    server_link(cell, server, 1)
}

/// Each server has a link of four addresses.
fn server_link(cell: u32, server: u32, end: u32) -> (Ipv4Addr, Ipv6Addr) {
    let host = server * 4 + end;
    let v6 = Ipv6Addr::new(0xFD74, 0x6D61, 0x726C, cell as u16, 0, 0, 0, host as u16);
    (Ipv4Addr::new(100, 97, cell as u8, host as u8), v6)
}

/// The UE that an address of this cell belongs to.
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

#[cfg(test)]
mod tests {
    use super::*;

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
