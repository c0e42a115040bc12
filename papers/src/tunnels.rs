//! ECN through tunnels (Brunello et al., Table III): a user's packet enters GTP-U or ESP, the transport network
//! changes the outer field, and the ECN field after the tunnel is read from the packet's bytes.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use miette::{IntoDiagnostic, Result, miette};
use tidemark_core::{Dscp, Ecn};
use tidemark_wire::tunnel::{self, Carried, ESP, Mode, Outer};
use tidemark_wire::{gtpu, ip, ipv4, udp};

/// Figure of a packet that the tunnel's exit drops.
const DROPPED: f64 = -1.0;
const TEID: u32 = 9;
/// An experimental protocol (RFC 3692), because tunnels do not read the user's payload.
const ANY: u8 = 253;

/// Measures a case such as `gtpu.ect0.ce`: tunnel, inner field, outer field on arrival. Gives the ECN field after the tunnel as `field`,
/// and the outer field that the tunnel's entrance wrote as `outer`, both as the value of the header's two bits.
pub(super) fn run(case: &str) -> Result<BTreeMap<String, f64>> {
    let mut parts = case.split('.');
    let mut next = || parts.next().ok_or_else(|| miette!("{case}: name a tunnel and two ECN fields"));
    let (tunnel, inner, outer) = (next()?, field(next()?)?, field(next()?)?);
    let entered = tunnel::encapsulate(Mode::Normal, inner);
    let left = match tunnel {
        "gtpu" => through_gtpu(inner, outer)?,
        "esp" => through_esp(inner, outer)?,
        _ => return Err(miette!("{tunnel} is not a tunnel: use gtpu or esp")),
    };
    let left = left.map_or(DROPPED, bits);
    Ok(BTreeMap::from([("field".into(), left), ("outer".into(), bits(entered))]))
}

fn field(name: &str) -> Result<Ecn> {
    Ok(match name {
        "not" => Ecn::NotEct,
        "ect0" => Ecn::Ect0,
        "ect1" => Ecn::Ect1,
        "ce" => Ecn::Ce,
        _ => return Err(miette!("{name} is not an ECN field: use not, ect0, ect1 or ce")),
    })
}

fn bits(ecn: Ecn) -> f64 {
    f64::from(ecn as u8)
}

fn through_gtpu(inner: Ecn, outer: Ecn) -> Result<Option<Ecn>> {
    let user = packet(ANY, inner, b"user data")?;
    let container = gtpu::Extension { kind: gtpu::ExtensionType::PDU_SESSION_CONTAINER, content: &[0, 5] };
    let mut message = vec![0; 16];
    gtpu::Repr::g_pdu(TEID).emit(&mut message, &[container], user.len()).into_diagnostic()?;
    message.extend(user);
    let mut datagram = vec![0; udp::HEADER_LEN];
    let header = udp::Repr { source_port: gtpu::PORT, destination_port: gtpu::PORT, payload_len: message.len() as u16 };
    header.emit(&mut datagram).into_diagnostic()?;
    datagram.extend(message);
    let mut outside = packet(udp::PROTOCOL, outer, &datagram)?;
    let found = Outer::parse(&outside).into_diagnostic()?;
    let Carried::GPdu { inner: range, .. } = found.carried.clone() else { return Err(miette!("no G-PDU")) };
    leave(&found, &mut outside[range])
}

fn through_esp(inner: Ecn, outer: Ecn) -> Result<Option<Ecn>> {
    // What the cipher gives back is the user's packet; only the outer header matters here.
    let mut user = packet(ANY, inner, b"user data")?;
    let outside = packet(ESP, outer, &[0, 0, 1, 0, 0, 0, 0, 7, 0xC1])?;
    leave(&Outer::parse(&outside).into_diagnostic()?, &mut user)
}

fn leave(outer: &Outer, user: &mut [u8]) -> Result<Option<Ecn>> {
    let outcome = outer.decapsulate_into(user).into_diagnostic()?;
    let written = ip::ecn(user).into_diagnostic()?;
    Ok(outcome.ecn.map(|_| written))
}

fn packet(protocol: u8, ecn: Ecn, payload: &[u8]) -> Result<Vec<u8>> {
    let header = ipv4::Repr {
        dscp: Dscp(0),
        ecn,
        identification: 1,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 64,
        protocol,
        source: Ipv4Addr::new(10, 0, 0, 1),
        destination: Ipv4Addr::new(10, 0, 0, 2),
        payload_len: payload.len() as u16,
    };
    let mut bytes = vec![0; 20];
    header.emit(&mut bytes).into_diagnostic()?;
    bytes.extend(payload);
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_outlives_the_tunnel_and_a_packet_that_cannot_carry_it_does_not() {
        for tunnel in ["gtpu", "esp"] {
            assert_eq!(run(&format!("{tunnel}.ect1.ce")).unwrap()["field"], 3.0);
            assert_eq!(run(&format!("{tunnel}.not.ce")).unwrap()["field"], DROPPED);
            assert_eq!(run(&format!("{tunnel}.ect0.not")).unwrap()["field"], 2.0);
        }
        for wrong in ["gtpu.ect0", "gtpu.ect2.ce", "ipip.ce.ce"] {
            assert!(run(wrong).is_err(), "{wrong}");
        }
    }
}
