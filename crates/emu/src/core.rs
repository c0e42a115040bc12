//! What a cell has on its other side: the core network itself, a UPF's tunnels, or a CU's.

use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd};

use tidemark_cell::UeId;

use crate::error::Error;
use crate::f1u::F1u;
use crate::n3::N3;
use crate::tun::{Tun, Written};

/// The side of the cell that is not the UEs'.
#[derive(Debug)]
pub enum Core {
    /// The whole gNB, and IP behind it.
    Tun(Tun),
    /// The gNB, and a UPF behind it.
    N3(N3),
    /// The DU, and a CU behind it.
    F1u(F1u),
}

/// What the way that a packet came by says of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Label {
    None,
    /// A UE sent it.
    FromUe,
    /// Its QoS flow, by a UPF, and whether the UE reflects it.
    QosFlow {
        qfi: u8,
        reflective: bool,
    },
    /// Its tunnel, which stands for its bearer, and its PDCP SN, by a CU.
    Pdu {
        tunnel: usize,
        sn: u32,
    },
}

/// What came from there.
pub(crate) enum Incoming {
    /// Nothing waits.
    Nothing,
    /// What needs no more than it got.
    Other,
    /// A packet for no UE of the cell, or one that may not pass.
    Unroutable,
    /// A packet.
    Packet {
        /// For whom, where that is known already.
        ue: Option<u32>,
        /// Where in the buffer it lies.
        range: Range<usize>,
        /// What the other half said of it.
        label: Label,
    },
}

impl Core {
    /// Its name for messages.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Tun(tun) => tun.name().into(),
            Self::N3(n3) => format!("the socket at {}", n3.address()),
            Self::F1u(f1u) => format!("the socket at {}", f1u.address()),
        }
    }

    /// The device, where it is one.
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
        let taken = match self {
            Self::Tun(tun) => return tun.write(packet),
            Self::N3(n3) => n3.send(ue, qfi, packet),
            Self::F1u(f1u) => f1u.send(UeId(ue), qfi, packet),
        };
        Ok(if taken { Written::Done } else { Written::Refused })
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
