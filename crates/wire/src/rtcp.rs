//! RTCP: what the transport feedback packets have in common (RFC 4585 6.1), and the two smallest packets of a session.

use crate::cursor::Writer;
use crate::{Error, Result};

/// Payload type RTPFB.
const TRANSPORT_FEEDBACK: u8 = 205;

/// Payload types RR and BYE (RFC 3550 12.1).
const RECEIVER_REPORT: u8 = 201;
const BYE: u8 = 203;

const VERSION: u8 = 2 << 6;
const PADDING: u8 = 1 << 5;

/// A packet that says nothing but who sends it.
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
    fn presence_comes_back_and_is_nothing_else() {
        for presence in [Presence::Here, Presence::Bye] {
            assert_eq!(Presence::parse(&presence.emit(9)), Ok(presence));
            assert_eq!(Presence::parse(&presence.emit(9)[..7]), Err(Error::Truncated));
        }
        assert_eq!(Presence::Here.emit(0x0102_0304), [0x80, 201, 0, 1, 1, 2, 3, 4]);
        // A report with one block, feedback, and an RTP packet.
        for [first, kind] in [[0x81, 201], [0x8B, 205], [0x80, 96]] {
            assert_eq!(Presence::parse(&[first, kind, 0, 1, 0, 0, 0, 0]), Err(Error::Type));
        }
    }
}
