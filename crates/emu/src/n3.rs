//! N3: the cell as the user plane of a gNB, between a UPF's tunnels and its UEs (TS 29.281, TS 38.415).

use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};

use tidemark_cell::DEFAULT_QFI;
use tidemark_core::Ecn;
use tidemark_wire::gtpu::{ExtensionType, Packet};
use tidemark_wire::ip;
use tidemark_wire::pdu_session::{DlInformation, UlInformation};
use tidemark_wire::tunnel::{Carried, Mode, Outer, encapsulate};

use crate::core::{Incoming, Label};
use crate::error::Error;
use crate::gtp::{Arrived, Gtp, Tunnel};
use crate::refused::Refused;
use crate::source::Sources;
use crate::tun::Written;

const CONTAINER: ExtensionType = ExtensionType::PDU_SESSION_CONTAINER;

/// PDU session of a UE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Session {
    /// Tunnel of the session.
    pub tunnel: Tunnel,
    /// QFI of the default QoS flow, which takes the packets that no rule puts into another one.
    pub qfi: u8,
    /// Addresses that the UE may send from.
    pub sources: Sources,
}

/// Sessions of a gNB, one for each UE.
#[derive(Debug)]
pub struct N3 {
    gtp: Gtp,
    sessions: Vec<Session>,
}

impl N3 {
    /// Listens for the UPF at this address. The sessions are in the order of the UEs' ids.
    ///
    /// # Errors
    /// An error of the system.
    pub fn bind(address: SocketAddr, sessions: Vec<Session>) -> Result<Self, Error> {
        let tunnels = sessions.iter().map(|session| session.tunnel).collect();
        Ok(Self { gtp: Gtp::bind(address, tunnels, CONTAINER)?, sessions })
    }

    /// Address that the gNB listens at.
    pub fn address(&self) -> SocketAddr {
        self.gtp.address()
    }

    /// Takes the first packet that waits out of its tunnel. Its ECN field is combined with the outer packet's (RFC 6040 4.2).
    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Result<Incoming, Error> {
        Ok(self.gtp.receive(buffer)?.incoming(|arrived| self.decapsulate(arrived, buffer)))
    }

    fn decapsulate(&self, arrived: Arrived, buffer: &mut [u8]) -> Incoming {
        let of = Packet::new_checked(&buffer[arrived.message])
            .ok()
            .and_then(|message| DlInformation::parse(message.extension(CONTAINER)?).ok())
            .map(|information| (information.qfi, information.rqi));
        // A packet without a container is of the default QoS flow: older cores leave the container out.
        let (qfi, reflective) = of.unwrap_or((self.sessions[arrived.tunnel].qfi, false));
        let label = Label::QosFlow { qfi: self.within_cell(arrived.tunnel, qfi), reflective };
        let inner = &mut buffer[arrived.payload.clone()];
        let outer = Outer { ecn: arrived.outer, carried: Carried::GPdu { teid: 0, inner: arrived.payload.clone() } };
        match outer.decapsulate_into(inner) {
            // A router marked the outer header of a Not-ECT packet, whose transport would not see the mark: dropped (RFC 6040 4.2).
            Ok(combined) if combined.ecn.is_none() => Incoming::Unroutable,
            // A payload that is no IP packet has no ECN field, and passes.
            _ => Incoming::Packet { ue: Some(arrived.tunnel as u32), range: arrived.payload, label },
        }
    }

    /// QFI that the cell has for a QoS flow of a session: the default flow's is [`DEFAULT_QFI`].
    fn within_cell(&self, session: usize, qfi: u8) -> u8 {
        if qfi == self.sessions[session].qfi { DEFAULT_QFI } else { qfi }
    }

    /// Counters of what was refused.
    pub(crate) fn not_admitted(&self) -> Refused {
        self.gtp.refused()
    }

    /// Sends a UE's packet to the UPF, if the UE may send from its source.
    pub(crate) fn send(&self, ue: u32, qfi: u8, packet: &[u8]) -> Written {
        let Some(session) = self.sessions.get(ue as usize) else { return Written::NotAdmitted };
        if !session.sources.admit(packet) {
            self.gtp.refuse(|refused| &mut refused.other_sources);
            return Written::NotAdmitted;
        }
        let mut container = [0; 16];
        let qfi = if qfi == DEFAULT_QFI { session.qfi } else { qfi };
        let information = UlInformation { qfi, ..UlInformation::default() };
        let Ok(length) = information.emit(&mut container) else { return Written::Refused };
        let outer = encapsulate(Mode::Normal, ip::ecn(packet).unwrap_or(Ecn::NotEct));
        match self.gtp.send(ue as usize, Some(&container[..length]), &[packet], outer) {
            true => Written::Done,
            false => Written::Refused,
        }
    }
}

impl AsFd for N3 {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.gtp.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ecn_socket::EcnSocket;
    use std::time::Duration;

    #[test]
    fn a_ue_sends_to_the_upf_from_its_own_address_alone() {
        let upf = EcnSocket::bind_to("127.0.0.1:0".parse().unwrap()).unwrap();
        upf.set_timeout(Some(Duration::from_secs(5))).unwrap();
        let peer = SocketAddr::from(([127, 0, 0, 1], upf.port().unwrap()));
        let session = |sources| {
            let tunnel = Tunnel { teid: 9, peer_teid: 10, peer, any_peer: false };
            let bound = N3::bind("127.0.0.1:0".parse().unwrap(), vec![Session { tunnel, qfi: 1, sources }]);
            bound.unwrap()
        };
        let from = |source: [u8; 4]| {
            let head = [0x45, 0, 0, 20, 0, 0, 0, 0, 64, 0xFD, 0, 0];
            [&head[..], &source, &[192, 0, 2, 1]].concat()
        };
        let (own, forged) = (from([10, 45, 0, 2]), from([10, 45, 0, 3]));
        let n3 = session(Sources::Given([10, 45, 0, 2].into()));
        assert_eq!(n3.send(0, DEFAULT_QFI, &forged), Written::NotAdmitted);
        assert_eq!(n3.send(0, DEFAULT_QFI, &own), Written::Done);
        assert_eq!(n3.not_admitted(), Refused { other_sources: 1, ..Refused::default() });
        let mut buffer = [0; 2000];
        let (length, ..) = upf.receive(&mut buffer).unwrap();
        assert!(buffer[..length].ends_with(&own), "the first that came is the second that was sent");
        assert_eq!(session(Sources::Any).send(0, DEFAULT_QFI, &forged), Written::Done);
    }
}
