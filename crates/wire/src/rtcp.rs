//! RTCP: the common part of transport feedback packets (RFC 4585 6.1), and the two smallest packets of a session.

use tidemark_core::BitRate;

use crate::cursor::Writer;
use crate::{Error, Result};

/// Payload type RTPFB.
const TRANSPORT_FEEDBACK: u8 = 205;

/// Payload types RR, BYE and APP (RFC 3550 12.1).
const RECEIVER_REPORT: u8 = 201;
const BYE: u8 = 203;
const APPLICATION: u8 = 204;

const VERSION: u8 = 2 << 6;
const PADDING: u8 = 1 << 5;

/// A packet that carries its sender's SSRC alone.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// A receiver report without blocks (RFC 3550 6.4.2): I am here. Opens a path and keeps it open.
    Here,
    /// BYE (RFC 3550 6.6): I leave.
    Bye,
}

impl Presence {
    /// Reads the packet at the front of `packet`.
    ///
    /// # Errors
    /// `Type` for other RTCP, or a report that has blocks; `Truncated` for a packet cut short.
    pub fn parse(packet: &[u8]) -> Result<Self> {
        let &[first, kind, _, words, ..] = packet.first_chunk::<8>().ok_or(Error::Truncated)?;
        match (first, kind, words) {
            (VERSION, RECEIVER_REPORT, 1) => Ok(Self::Here),
            (first, BYE, 1..) if first == VERSION | 1 => Ok(Self::Bye),
            _ => Err(Error::Type),
        }
    }
    /// The packet, from this source.
    pub fn emit(self, ssrc: u32) -> [u8; 8] {
        let (first, kind) = match self {
            Self::Here => (VERSION, RECEIVER_REPORT),
            Self::Bye => (VERSION | 1, BYE),
        };
        let [a, b, c, d] = ssrc.to_be_bytes();
        [first, kind, 0, 1, a, b, c, d]
    }
}

/// An application-defined packet (RFC 3550 6.7) in which a receiver hands on the rate that its access network recommends to it.
/// Name and content are Tidemark's own: "ANBR" and the rate in kbit/s, 32 bits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recommendation {
    /// The rate of IP packets; what is below a kbit/s is lost on the wire.
    pub rate: BitRate,
}

impl Recommendation {
    /// Length of the packet.
    pub const LEN: usize = 16;

    /// Reads the packet at the front of `packet`.
    ///
    /// # Errors
    /// `Type` for another packet; `Truncated` for one cut short.
    pub fn parse(packet: &[u8]) -> Result<Self> {
        let packet = packet.first_chunk::<{ Self::LEN }>().ok_or(Error::Truncated)?;
        let [VERSION, APPLICATION, 0, 3, _, _, _, _, b'A', b'N', b'B', b'R', a, b, c, d] = *packet else {
            return Err(Error::Type);
        };
        Ok(Self { rate: BitRate::from_kbps(u32::from_be_bytes([a, b, c, d]).into()) })
    }
    /// The packet, from this source.
    pub fn emit(self, ssrc: u32) -> [u8; Self::LEN] {
        let [a, b, c, d] = ssrc.to_be_bytes();
        let kbps = u32::try_from(self.rate.as_bps() / 1_000).unwrap_or(u32::MAX);
        let [e, f, g, h] = kbps.to_be_bytes();
        [VERSION, APPLICATION, 0, 3, a, b, c, d, b'A', b'N', b'B', b'R', e, f, g, h]
    }
}

/// The length of the RTCP packet at the front of `bytes`, by its header; what follows is the next one of a compound.
///
/// # Errors
/// `Truncated` where there is no header.
pub fn length(bytes: &[u8]) -> Result<usize> {
    let &[_, _, a, b] = bytes.first_chunk().ok_or(Error::Truncated)?;
    Ok(4 * (1 + usize::from(u16::from_be_bytes([a, b]))))
}

/// The content of a feedback packet of this format at the front of `packet`: what follows the common header, without
/// the padding.
pub(crate) fn content(packet: &[u8], format: u8) -> Result<&[u8]> {
    let &[first, kind, a, b] = packet.first_chunk().ok_or(Error::Truncated)?;
    if first & 0xC0 != VERSION || first & 0x1F != format || kind != TRANSPORT_FEEDBACK {
        return Err(Error::Type);
    }
    let len = 4 * (1 + usize::from(u16::from_be_bytes([a, b])));
    let content = packet.get(4..len).ok_or(Error::Truncated)?;
    if first & PADDING == 0 {
        return Ok(content);
    }
    // The last octet counts the padding, itself included.
    let padding = usize::from(*content.last().ok_or(Error::Length)?);
    match content.len().checked_sub(padding) {
        Some(len) if padding > 0 => Ok(&content[..len]),
        _ => Err(Error::Length),
    }
}

/// Begins a feedback packet; [`finish`] fills in its length.
pub(crate) fn begin(writer: &mut Writer<'_>, format: u8) -> Result<()> {
    writer.u8(VERSION | format)?;
    writer.u8(TRANSPORT_FEEDBACK)?;
    writer.u16(0)
}

/// Pads the packet to whole words, with the count of the padding in its last octet, and fills in its length in words
/// less one.
pub(crate) fn finish(mut writer: Writer<'_>, format: u8) -> Result<usize> {
    let padding = writer.len().next_multiple_of(4) - writer.len();
    if padding > 0 {
        writer.pad(4, 3)?;
        writer.u8(padding as u8)?;
        writer.overwrite(0, &[VERSION | PADDING | format])?;
    }
    let words = u16::try_from(writer.len() / 4 - 1).map_err(|_| Error::Value)?;
    writer.overwrite(2, &words.to_be_bytes())?;
    Ok(writer.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recommendation_comes_back_to_the_kilobit() {
        let sent = Recommendation { rate: BitRate::from_bps(12_345_678) };
        let bytes = sent.emit(9);
        assert_eq!(Recommendation::parse(&bytes), Ok(Recommendation { rate: BitRate::from_kbps(12_345) }));
        assert_eq!(length(&bytes), Ok(bytes.len()));
        assert_eq!(Recommendation::parse(&bytes[..15]), Err(Error::Truncated));
        assert_eq!(Recommendation::parse(&[&Presence::Bye.emit(9)[..], &[0; 8]].concat()), Err(Error::Type));
    }

    #[test]
    fn presence_comes_back_and_is_nothing_else() {
        for presence in [Presence::Here, Presence::Bye] {
            assert_eq!(Presence::parse(&presence.emit(9)), Ok(presence));
            assert_eq!(Presence::parse(&presence.emit(9)[..7]), Err(Error::Truncated));
        }
        assert_eq!(Presence::Here.emit(0x0102_0304), [0x80, 201, 0, 1, 1, 2, 3, 4]);
        // A source that leaves is named, and one alone.
        for first in [0x80, 0x82, 0xA1] {
            assert_eq!(Presence::parse(&[first, 203, 0, 1, 0, 0, 0, 0]), Err(Error::Type));
        }
        // A report with one block, feedback, and an RTP packet.
        for [first, kind] in [[0x81, 201], [0x8B, 205], [0x80, 96]] {
            assert_eq!(Presence::parse(&[first, kind, 0, 1, 0, 0, 0, 0]), Err(Error::Type));
        }
    }
}
