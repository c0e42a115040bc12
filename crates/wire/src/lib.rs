//! Parsers and writers of packet formats: IP, TCP with AccECN, UDP, GTP-U, NR-U, SDAP, PDCP, MAC CE, RTCP.
//!
//! A format that is rewritten in place has a `Packet<T>`: a view over a buffer. It checks the lengths once, so its
//! accessors cannot fail. A format that is read or written as a whole has a plain value with `parse` and `emit`.
//! Nothing here allocates or panics, whatever the input: bytes that cannot be read give an [`Error`].
//!
//! | layer | modules |
//! | --- | --- |
//! | IP and transport | [`ip`] (either version), [`ipv4`], [`ipv6`], [`tcp`], [`udp`], [`checksum`]; [`View`] is what a marker sees |
//! | tunnels | [`gtpu`] with [`pdu_session`] and [`nru`] in its extension headers, [`tunnel`] for ECN at both ends |
//! | radio | [`sdap`], [`pdcp`], [`mac`] |
//! | encrypted traffic | the unencrypted parts of [`quic`] and [`stun`] |
//! | media and feedback | [`rtp`], [`rtcp`], [`rfc8888`], [`twcc`], [`at`]; [`udp_prague`] |
//!
//! ```
//! use tidemark_core::Ecn;
//! use tidemark_wire::{View, ipv4};
//!
//! let mut packet = [
//!     0x45, 0xB9, 0x00, 0x14, 0x00, 0x00, 0x40, 0x00, 0x40, 0xFD, 0xB7, 0x1B, //
//!     0xC0, 0xA8, 0x00, 0x01, 0xC0, 0xA8, 0x00, 0xC7,
//! ];
//! let mut view = View::parse(&mut packet)?;
//! assert_eq!(view.headers().ecn, Ecn::Ect1);
//! view.set_ecn(view.headers().ecn.marked());
//! assert_eq!(packet[1], 0xBB); // ToS 185 became 187
//! assert!(ipv4::Packet::new_checked(&packet)?.has_valid_checksum());
//! # Ok::<(), tidemark_wire::Error>(())
//! ```
#![no_std]
#![warn(unnameable_types, unreachable_pub)]

#[cfg(test)]
extern crate std;

pub mod at;
pub mod checksum;
pub mod gtpu;
pub mod ip;
pub mod ipv4;
pub mod ipv6;
pub mod mac;
pub mod nru;
pub mod pdcp;
pub mod pdu_session;
pub mod quic;
pub mod rfc8888;
pub mod rtcp;
pub mod rtp;
pub mod sdap;
pub mod stun;
pub mod tcp;
pub mod tunnel;
pub mod twcc;
pub mod udp;
pub mod udp_prague;

mod cursor;
mod view;

pub use view::View;

/// Reason why bytes could not be read or a value could not be written.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Error {
    /// The buffer is too short: the packet is cut, or there is too little room to write.
    #[error("the buffer is too short")]
    Truncated,
    /// A length field contradicts the format.
    #[error("a length field is wrong")]
    Length,
    /// The format has no such version, type or discriminator.
    #[error("the version or type is unknown")]
    Type,
    /// A value that does not fit its field.
    #[error("a value does not fit its field")]
    Value,
}

/// Result of `parse` and `emit`.
pub type Result<T> = core::result::Result<T, Error>;
