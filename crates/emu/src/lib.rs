//! Real time: the cell between TUN devices, with real packets and a real clock.
//!
//! [`Driver`] drives the live cell, as `tidemark_sim::Simulation` drives the simulated one: it gives the same
//! [`Cell`](tidemark_cell::Cell) packets and the time, here from [`Tun`] devices and a real clock. Behind F1-U it
//! drives a [`SplitDu`](tidemark_cell::SplitDu) instead of the cell. The other modules set up its surroundings:
//!
//! | module | purpose |
//! | --- | --- |
//! | [`lease`] | number of each live cell, and undoing the changes of a killed one |
//! | [`routing`] | forwarding and address translation, so that UEs reach the host's networks |
//! | [`namespace`] | network namespace of a UE, and the command that runs in it |
//! | [`caller`] | user that the command runs as |
//! | [`init`] | process 1 of a namespace, whose end ends every other process there |
//! | [`Core`] | core side of the cell: a TUN device, a UPF's tunnels ([`N3`]), a CU's ([`F1u`]) |
//! | [`Cu`] | other half of a gNB that is split: PDCP and the marker |
//! | [`Hop`] | a wired bottleneck between two interfaces |
//! | [`http`] | pages of a running program, and their commands |
//! | [`realtime`] | scheduling of a thread that has to wake in time |
//!
//! All unsafe code and all system calls of Tidemark are in this crate.

#![warn(unnameable_types, unreachable_pub)]

pub mod addresses;
mod ask;
mod bearers;
pub mod caller;
mod clock;
mod control;
mod core;
mod cu;
mod datagram;
mod driver;
mod ecn_socket;
mod error;
mod f1u;
mod gnb;
mod gtp;
mod hop;
pub mod http;
pub mod init;
mod journal;
pub mod lease;
mod n3;
pub mod namespace;
mod observer;
pub mod privilege;
mod rate_limit;
pub mod realtime;
mod refused;
pub mod routing;
pub mod signals;
mod source;
mod token;
mod tun;

pub use ask::ask;
pub use bearers::{Bearers, laws};
pub use clock::Clock;
pub use control::{Change, Command, Control, Refusal};
pub use core::Core;
pub use cu::{Cu, CuBearer, CuCommand, CuCounters, CuObserver, CuSignal, CuState};
pub use datagram::{Datagram, Reader, Stamped};
pub use driver::{Driver, Link, Plan};
pub use ecn_socket::EcnSocket;
pub use error::Error;
pub use f1u::F1u;
pub use gtp::{PORT as GTPU_PORT, Tunnel};
pub use hop::{Hop, HopCommand, HopCounters, HopEvent, HopObserver, HopPlan, HopProgress};
pub use n3::{N3, Session};
pub use observer::{Counters, DriverEvent, Observer, Progress};
pub use refused::Refused;
pub use source::Sources;
pub use token::Token;
pub use tun::Tun;
