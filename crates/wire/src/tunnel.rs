//! ECN through tunnels (RFC 6040): GTP-U, and IPsec's ESP between sites.
//!
//! RFC 9601 applies RFC 6040 to GTP-U. At the entrance the outer header gets a copy of the inner ECN field. At the exit
//! the two are combined, so that a mark set inside the tunnel is kept.

use core::ops::Range;

use tidemark_core::Ecn;

use crate::ip::Headers;
use crate::{Error, Result, gtpu, ip, udp};

/// ESP's protocol number (RFC 4303).
pub const ESP: u8 = 50;

/// Rule for the outer ECN field at the entrance of a tunnel (RFC 6040 4.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Mode {
    /// A copy of the inner field.
    #[default]
    Normal,
    /// Not-ECT, for an exit that may not propagate marks.
    Compatibility,
}

/// The outer ECN field of a packet that enters a tunnel (RFC 6040 figure 3).
pub const fn encapsulate(mode: Mode, inner: Ecn) -> Ecn {
    match mode {
        Mode::Normal => inner,
        Mode::Compatibility => Ecn::NotEct,
    }
}

/// Severity of a combination of inner and outer field (RFC 6040 4.2).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Alarm {
    /// Expected.
    None,
    /// Not used by today's standards; may deserve a note ("!" in figure 4).
    Notice,
    /// Dangerous, or a sign of an error on the path; may deserve a rate-limited log entry ("!!!" in figure 4).
    Error,
}

/// Result of decapsulating a packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Decapsulated {
    /// The ECN field of the packet, or `None` to drop it: it was marked, but its transport does not understand ECN.
    pub ecn: Option<Ecn>,
    /// Severity of the combination.
    pub alarm: Alarm,
}

/// The ECN field of a packet that leaves a tunnel (RFC 6040 figure 4).
pub const fn decapsulate(inner: Ecn, outer: Ecn) -> Decapsulated {
    use Ecn::{Ce, Ect0, Ect1, NotEct};
    let ecn = match (inner, outer) {
        (NotEct, Ce) => None,
        (NotEct, _) => Some(NotEct),
        (_, Ce) => Some(Ce),
        (Ect0, Ect1) => Some(Ect1),
        (inner, _) => Some(inner),
    };
    let alarm = match (inner, outer) {
        (NotEct, Ect0 | Ect1 | Ce) | (Ce, Ect1) => Alarm::Error,
        (Ect1, Ect0) => Alarm::Notice,
        _ => Alarm::None,
    };
    Decapsulated { ecn, alarm }
}

/// Content of an outer IP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Carried {
    /// A G-PDU of GTP-U.
    GPdu {
        /// Tunnel endpoint identifier.
        teid: u32,
        /// Range of the user packet within the outer packet.
        inner: Range<usize>,
    },
    /// An ESP packet. Its inner packet can only be read after decryption.
    Esp {
        /// Security parameters index.
        spi: u32,
        /// Sequence number.
        sequence: u32,
    },
}

/// The outer IP packet of a tunnel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outer {
    /// ECN field of the outer packet, as the transport network left it.
    pub ecn: Ecn,
    /// Content of the outer packet.
    pub carried: Carried,
}

impl Outer {
    /// Reads the content of an IP packet.
    ///
    /// # Errors
    /// `Type` for a fragment, and for a packet that is neither a G-PDU to the GTP-U port nor ESP; also the errors of the formats inside.
    pub fn parse(packet: &[u8]) -> Result<Self> {
        let headers = Headers::parse(packet)?;
        if headers.fragment != ip::Fragment::Whole {
            return Err(Error::Type);
        }
        let range = headers.transport.ok_or(Error::Truncated)?;
        let transport = packet.get(range.clone()).ok_or(Error::Truncated)?;
        let carried = match headers.five_tuple.protocol {
            ESP => {
                let &[a, b, c, d, e, f, g, h] = transport.first_chunk().ok_or(Error::Truncated)?;
                Carried::Esp { spi: u32::from_be_bytes([a, b, c, d]), sequence: u32::from_be_bytes([e, f, g, h]) }
            }
            udp::PROTOCOL => {
                let datagram = udp::Packet::new_checked(transport)?;
                if datagram.destination_port() != gtpu::PORT {
                    return Err(Error::Type);
                }
                let message = gtpu::Packet::new_checked(datagram.payload())?;
                if message.message_type() != gtpu::MessageType::GPdu {
                    return Err(Error::Type);
                }
                let inner = message.payload_range();
                let offset = range.start + udp::HEADER_LEN;
                Carried::GPdu { teid: message.teid(), inner: offset + inner.start..offset + inner.end }
            }
            _ => return Err(Error::Type),
        };
        Ok(Self { ecn: headers.ecn, carried })
    }

    /// Combines the ECN field of this outer header with that of the inner packet, and rewrites the latter.
    ///
    /// # Errors
    /// Those of [`ip::set_ecn`] if the inner packet is no IP packet. It then stays unchanged.
    pub fn decapsulate_into(&self, inner: &mut [u8]) -> Result<Decapsulated> {
        let before = ip::ecn(inner)?;
        let after = decapsulate(before, self.ecn);
        match after.ecn {
            Some(ecn) if ecn != before => ip::set_ecn(inner, ecn).map(|()| after),
            _ => Ok(after),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ipv4, ipv6};
    use Ecn::{Ce, Ect0, Ect1, NotEct};
    use core::net::{Ipv4Addr, Ipv6Addr};
    use std::vec::Vec;
    use tidemark_core::Dscp;

    const ALL: [Ecn; 4] = [NotEct, Ect0, Ect1, Ce];

    #[test]
    fn all_sixteen_combinations_leave_the_tunnel_as_rfc_6040_and_table_iii_have_it() {
        // Rows are the inner field, columns the outer one, both Not-ECT, ECT(0), ECT(1), CE.
        let table = [
            [Some(NotEct), Some(NotEct), Some(NotEct), None],
            [Some(Ect0), Some(Ect0), Some(Ect1), Some(Ce)],
            [Some(Ect1), Some(Ect1), Some(Ect1), Some(Ce)],
            [Some(Ce), Some(Ce), Some(Ce), Some(Ce)],
        ];
        let alarms = [
            [Alarm::None, Alarm::Error, Alarm::Error, Alarm::Error],
            [Alarm::None; 4],
            [Alarm::None, Alarm::Notice, Alarm::None, Alarm::None],
            [Alarm::None, Alarm::None, Alarm::Error, Alarm::None],
        ];
        for (inner, (row, alarms)) in ALL.into_iter().zip(table.into_iter().zip(alarms)) {
            for (outer, (ecn, alarm)) in ALL.into_iter().zip(row.into_iter().zip(alarms)) {
                assert_eq!(decapsulate(inner, outer), Decapsulated { ecn, alarm }, "{inner:?} in {outer:?}");
            }
        }
    }

    #[test]
    fn a_tunnel_without_congestion_changes_nothing_in_either_mode() {
        for ecn in ALL {
            assert_eq!(encapsulate(Mode::Normal, ecn), ecn);
            assert_eq!(encapsulate(Mode::Compatibility, ecn), NotEct);
            for mode in [Mode::Normal, Mode::Compatibility] {
                assert_eq!(
                    decapsulate(ecn, encapsulate(mode, ecn)),
                    Decapsulated { ecn: Some(ecn), alarm: Alarm::None }
                );
            }
        }
    }

    fn v4(protocol: u8, ecn: Ecn, payload: &[u8]) -> Vec<u8> {
        let mut bytes = std::vec![0; 20];
        let repr = ipv4::Repr {
            dscp: Dscp(0),
            ecn,
            identification: 1,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            ttl: 3,
            protocol,
            source: Ipv4Addr::new(10, 0, 0, 1),
            destination: Ipv4Addr::new(10, 0, 0, 2),
            payload_len: payload.len() as u16,
        };
        repr.emit(&mut bytes).unwrap();
        bytes.extend(payload);
        bytes
    }

    fn v6(next_header: u8, ecn: Ecn, payload: &[u8]) -> Vec<u8> {
        let mut bytes = std::vec![0; 40];
        let repr = ipv6::Repr {
            dscp: Dscp(0),
            ecn,
            flow_label: 0,
            payload_len: payload.len() as u16,
            next_header,
            hop_limit: 3,
            source: Ipv6Addr::LOCALHOST,
            destination: Ipv6Addr::LOCALHOST,
        };
        repr.emit(&mut bytes).unwrap();
        bytes.extend(payload);
        bytes
    }

    type Ip = fn(u8, Ecn, &[u8]) -> Vec<u8>;

    #[test]
    fn the_combinations_on_real_packets_of_both_versions_inside_and_outside() {
        for (outside, inside) in [(v4 as Ip, v4 as Ip), (v4, v6), (v6, v4), (v6, v6)] {
            for (inner, outer) in ALL.into_iter().flat_map(|inner| ALL.map(|outer| (inner, outer))) {
                let user = inside(253, inner, b"user data");
                let mut message = std::vec![0; 16];
                let container = gtpu::Extension { kind: gtpu::ExtensionType::PDU_SESSION_CONTAINER, content: &[0, 5] };
                gtpu::Repr::g_pdu(9).emit(&mut message, &[container], user.len()).unwrap();
                message.extend(&user);
                let mut datagram = std::vec![0; 8];
                let udp = udp::Repr { source_port: 1, destination_port: gtpu::PORT, payload_len: message.len() as u16 };
                udp.emit(&mut datagram).unwrap();
                datagram.extend(&message);
                let mut packet = outside(udp::PROTOCOL, outer, &datagram);

                let found = Outer::parse(&packet).unwrap();
                let Carried::GPdu { teid: 9, inner: range } = found.carried.clone() else { panic!() };
                let outcome = found.decapsulate_into(&mut packet[range.clone()]).unwrap();
                assert_eq!(outcome, decapsulate(inner, outer));
                let after = Headers::parse(&packet[range.clone()]).unwrap();
                assert_eq!(after.ecn, outcome.ecn.unwrap_or(inner));
                if let Ok(packet) = ipv4::Packet::new_checked(&packet[range]) {
                    assert!(packet.has_valid_checksum());
                }

                let esp = Outer::parse(&outside(ESP, outer, &[0, 0, 1, 0, 0, 0, 0, 7, 0xC1])).unwrap();
                assert_eq!(esp.carried, Carried::Esp { spi: 256, sequence: 7 });
                let mut deciphered = user.clone();
                assert_eq!(esp.decapsulate_into(&mut deciphered), Ok(outcome));
                assert_eq!(ip::ecn(&deciphered), Ok(outcome.ecn.unwrap_or(inner)));
            }
        }
    }

    #[test]
    fn packets_without_a_tunnel_are_refused() {
        assert_eq!(Outer::parse(&v4(6, Ect0, &[0; 20])), Err(Error::Type));
        assert_eq!(Outer::parse(&v4(ESP, Ect0, &[0; 7])), Err(Error::Truncated));
        let mut datagram = [0; 16];
        udp::Repr { source_port: gtpu::PORT, destination_port: 53, payload_len: 8 }.emit(&mut datagram).unwrap();
        assert_eq!(Outer::parse(&v4(17, Ect0, &datagram)), Err(Error::Type));
        datagram[2..4].copy_from_slice(&gtpu::PORT.to_be_bytes());
        gtpu::Repr::end_marker(9).emit(&mut datagram[8..], &[], 0).unwrap();
        assert_eq!(Outer::parse(&v4(17, Ect0, &datagram)), Err(Error::Type));
        let outer = Outer { ecn: Ce, carried: Carried::Esp { spi: 1, sequence: 1 } };
        assert_eq!(outer.decapsulate_into(&mut [0xFF; 60]), Err(Error::Type));
    }
}
