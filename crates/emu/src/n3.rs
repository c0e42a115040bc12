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

const CONTAINER: ExtensionType = ExtensionType::PDU_SESSION_CONTAINER;

/// PDU session of a UE.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Session {
    /// Tunnel of the session.
    pub tunnel: Tunnel,
    /// QFI of the default QoS flow, which takes the packets that no rule puts into another one.
    pub qfi: u8,
}

/// Sessions of a gNB, one for each UE.
#[derive(Debug)]
pub struct N3 {
    gtp: Gtp,
    /// QFIs of the sessions' default QoS flows.
    qfis: Vec<u8>,
}

impl N3 {
    /// Listens for the UPF at this address. The sessions are in the order of the UEs' ids.
    ///
    /// # Errors
    /// An error of the system.
    pub fn bind(address: SocketAddr, sessions: Vec<Session>) -> Result<Self, Error> {
        let (tunnels, qfis) = sessions.into_iter().map(|session| (session.tunnel, session.qfi)).unzip();
        Ok(Self { gtp: Gtp::bind(address, tunnels, CONTAINER)?, qfis })
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
        let (qfi, reflective) = of.unwrap_or((self.qfis[arrived.tunnel], false));
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
        if qfi == self.qfis[session] { DEFAULT_QFI } else { qfi }
    }

    /// Sends a UE's packet to the UPF; false where the kernel does not take it.
    pub(crate) fn send(&self, ue: u32, qfi: u8, packet: &[u8]) -> bool {
        let Some(default) = self.qfis.get(ue as usize) else { return false };
        let mut container = [0; 16];
        let qfi = if qfi == DEFAULT_QFI { *default } else { qfi };
        let information = UlInformation { qfi, ..UlInformation::default() };
        let Ok(length) = information.emit(&mut container) else { return false };
        let outer = encapsulate(Mode::Normal, ip::ecn(packet).unwrap_or(Ecn::NotEct));
        self.gtp.send(ue as usize, Some(&container[..length]), &[packet], outer)
    }
}

impl AsFd for N3 {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.gtp.as_fd()
    }
}
