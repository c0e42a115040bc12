//! Core side of a cell: the core network itself, a UPF's tunnels, or a CU's.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use tidemark_cell::{BearerId, UeId};

use crate::error::Error;
use crate::f1u::F1u;
use crate::n3::N3;
use crate::refused::Refused;
use crate::tun::{Tun, Written};

/// Core side of a cell. Its variant says which half of the network the cell is.
#[derive(Debug)]
pub enum Core {
    /// IP behind a whole gNB.
    Tun(Tun),
    /// UPF behind a whole gNB.
    N3(N3),
    /// CU behind a DU.
    F1u(F1u),
}

/// Information that comes with a packet and is not in its bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    None,
    /// The packet came from a UE.
    FromUe,
    /// QoS flow that a UPF put the packet into; `reflective` asks the UE to answer in it (RQI).
    QosFlow {
        qfi: u8,
        reflective: bool,
    },
    /// Bearer of the packet, and the PDCP SN that a CU gave the packet.
    Pdu {
        bearer: BearerId,
        sn: u32,
    },
}

/// Result of a read from the core side.
pub(crate) enum Incoming {
    /// No packet waits.
    Nothing,
    /// A message without a packet, which has been dealt with.
    Other,
    /// A packet for no UE of the cell, or one that may not pass.
    Unroutable,
    /// A packet.
    Packet {
        /// UE that the packet is for; `None` if only the packet's address shows it.
        ue: Option<u32>,
        /// Offsets of the packet in the buffer.
        range: Range<usize>,
        /// Information from the other half of the network.
        label: Label,
    },
}

impl Core {
    /// Name of the core side, for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Tun(tun) => tun.name().into(),
            Self::N3(n3) => format!("the socket at {}", n3.address()),
            Self::F1u(f1u) => format!("the socket at {}", f1u.address()),
        }
    }

    /// Name of the device; `None` for a socket.
    pub fn device(&self) -> Option<&str> {
        match self {
            Self::Tun(tun) => Some(tun.name()),
            _ => None,
        }
    }

    pub(crate) fn receive(&self, buffer: &mut [u8]) -> Result<Incoming, Error> {
        match self {
            Self::Tun(tun) => Ok(match tun.read(buffer)? {
                None => Incoming::Nothing,
                Some(length) => Incoming::Packet { ue: None, range: 0..length, label: Label::None },
            }),
            Self::N3(n3) => n3.receive(buffer),
            Self::F1u(f1u) => f1u.receive(buffer),
        }
    }

    /// Sends a UE's packet of the QoS flow with this QFI.
    pub(crate) fn send(&self, ue: u32, qfi: u8, packet: &[u8]) -> Result<Written, Error> {
        match self {
            Self::Tun(tun) => tun.write(packet),
            Self::N3(n3) => Ok(n3.send(ue, qfi, packet)),
            Self::F1u(f1u) if f1u.send(UeId(ue), qfi, packet) => Ok(Written::Done),
            Self::F1u(_) => Ok(Written::Refused),
        }
    }

    /// Counters of what was refused; `None` for a device.
    pub(crate) fn not_admitted(&self) -> Option<Refused> {
        match self {
            Self::Tun(_) => None,
            Self::N3(n3) => Some(n3.not_admitted()),
            Self::F1u(f1u) => Some(f1u.not_admitted()),
        }
    }
}

impl AsFd for Core {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match self {
            Self::Tun(tun) => tun.as_fd(),
            Self::N3(n3) => n3.as_fd(),
            Self::F1u(f1u) => f1u.as_fd(),
        }
    }
}
