//! What the RTCP transport feedback packets have in common (RFC 4585 6.1).

use crate::cursor::Writer;
use crate::{Error, Result};

/// Payload type RTPFB.
const TRANSPORT_FEEDBACK: u8 = 205;

const VERSION: u8 = 2 << 6;
const PADDING: u8 = 1 << 5;

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
