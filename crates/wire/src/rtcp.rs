//! RTCP: the common part of transport feedback packets (RFC 4585 6.1), the two smallest packets of a session, and the fields of reports
//! that measure round trips.

use tidemark_core::{BitRate, Duration};

use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

/// Payload type RTPFB.
const TRANSPORT_FEEDBACK: u8 = 205;

/// Payload types SR, RR, BYE and APP (RFC 3550 12.1).
const SENDER_REPORT: u8 = 200;
const RECEIVER_REPORT: u8 = 201;
const BYE: u8 = 203;
const APPLICATION: u8 = 204;

const VERSION: u8 = 2 << 6;
const PADDING: u8 = 1 << 5;

/// A packet that carries only the SSRC of its sender.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Presence {
    /// A receiver report without blocks (RFC 3550 6.4.2). It opens a path and keeps it open.
    Here,
    /// BYE (RFC 3550 6.6): the sender leaves.
    Bye,
}

impl Presence {
    /// Reads the packet at the front of `packet`.
    ///
    /// # Errors
    /// `Type` for other RTCP, or a report with blocks; `Truncated` for a packet cut short.
    pub fn parse(packet: &[u8]) -> Result<Self> {
        let &[first, kind, _, words, ..] = packet.first_chunk::<8>().ok_or(Error::Truncated)?;
        match (first, kind, words) {
            (VERSION, RECEIVER_REPORT, 1) => Ok(Self::Here),
            (first, BYE, 1..) if first == VERSION | 1 => Ok(Self::Bye),
            _ => Err(Error::Type),
        }
    }
    /// The bytes of the packet, sent by `ssrc`.
    pub fn emit(self, ssrc: u32) -> [u8; 8] {
        let (first, kind) = match self {
            Self::Here => (VERSION, RECEIVER_REPORT),
            Self::Bye => (VERSION | 1, BYE),
        };
        let [a, b, c, d] = ssrc.to_be_bytes();
        [first, kind, 0, 1, a, b, c, d]
    }
}

/// An application-defined packet (RFC 3550 6.7) with which a receiver forwards the rate that its access network recommends.
/// Its name, "ANBR", and its content, the rate in kbit/s in 32 bits, are specific to Tidemark.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Recommendation {
    /// The rate of IP packets. On the wire it is cut to whole kbit/s.
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
    /// The bytes of the packet, sent by `ssrc`.
    pub fn emit(self, ssrc: u32) -> [u8; Self::LEN] {
        let [a, b, c, d] = ssrc.to_be_bytes();
        let kbps = u32::try_from(self.rate.as_bps() / 1_000).unwrap_or(u32::MAX);
        let [e, f, g, h] = kbps.to_be_bytes();
        [VERSION, APPLICATION, 0, 3, a, b, c, d, b'A', b'N', b'B', b'R', e, f, g, h]
    }
}

/// The length of the RTCP packet at the front of `bytes`, from its header. The next packet of a compound follows it.
///
/// # Errors
/// `Truncated` if there is no header.
pub fn length(bytes: &[u8]) -> Result<usize> {
    let &[_, _, a, b] = bytes.first_chunk().ok_or(Error::Truncated)?;
    Ok(4 * (1 + usize::from(u16::from_be_bytes([a, b]))))
}

/// The packets of a compound. An encrypted one (RFC 3711 3.4) gives none: its lengths do not add up to the whole.
pub fn packets(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = bytes;
    while split(&mut rest).is_some() {}
    let mut rest = if rest.is_empty() { bytes } else { &[] };
    core::iter::from_fn(move || split(&mut rest))
}

/// Takes the packet at the front if it is complete.
fn split<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (packet, others) = rest.split_at_checked(length(rest).ok()?)?;
    *rest = others;
    Some(packet)
}

/// The fields of a sender or receiver report (RFC 3550 6.4.1, 6.4.2) that measure round trips.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report<'a> {
    /// Time at which a sender report was sent: the middle 32 bits of an NTP timestamp.
    pub sent: Option<u32>,
    blocks: &'a [[u8; Report::BLOCK]],
}

/// Answer to a sender report.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    /// Time in the sender report that is answered.
    pub sent: u32,
    /// Time from the arrival of the sender report to the answer.
    pub held: Duration,
}

impl<'a> Report<'a> {
    /// Length of a block.
    const BLOCK: usize = 24;

    /// Reads the packet at the front of `packet`.
    ///
    /// # Errors
    /// `Type` for other RTCP; `Truncated` if a block passes the end.
    pub fn parse(packet: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(packet);
        let (first, kind) = (reader.u8()?, reader.u8()?);
        if first & 0xC0 != VERSION || !matches!(kind, SENDER_REPORT | RECEIVER_REPORT) {
            return Err(Error::Type);
        }
        // The length and the reporter's SSRC.
        reader.take(6)?;
        let sent = if kind == SENDER_REPORT {
            let sent = (reader.u64()? >> 16) as u32;
            // The media's timestamp, and counts of packets and octets.
            reader.take(12)?;
            Some(sent)
        } else {
            None
        };
        Ok(Self { sent, blocks: reader.take(Self::BLOCK * usize::from(first & 0x1F))?.as_chunks().0 })
    }

    /// Answers to sender reports.
    pub fn answers(self) -> impl Iterator<Item = Answer> + 'a {
        let answers = self.blocks.iter().map(|block| {
            let word = |at: usize| u32::from_be_bytes([block[at], block[at + 1], block[at + 2], block[at + 3]]);
            let held = (u64::from(word(20)) * 1_000_000_000) >> 16;
            Answer { sent: word(16), held: Duration::from_nanos(held) }
        });
        // No report has come yet where the time is zero.
        answers.filter(|answer| answer.sent != 0)
    }
}

/// The content of a feedback packet of this format at the front of `packet`: the bytes after the common header,
/// without the padding.
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

/// Pads the packet to whole words, with the length of the padding in its last octet, and fills in the length of the
/// packet in words minus one.
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
    fn reports_answer_the_reports_that_came() {
        let sender = [&[0x80, 200, 0, 6][..], &[0; 4], &[0, 0, 1, 2, 3, 4, 0, 0], &[0; 12]].concat();
        assert_eq!(Report::parse(&sender).unwrap().sent, Some(0x0102_0304));
        let block = |sent: u32| [&[0; 16][..], &sent.to_be_bytes(), &0x8000_u32.to_be_bytes()].concat();
        let receiver = [&[0x82, 201, 0, 13][..], &[0; 4], &block(0x0102_0304), &block(0)].concat();
        let report = Report::parse(&receiver).unwrap();
        let answer = Answer { sent: 0x0102_0304, held: Duration::from_millis(500) };
        assert_eq!((report.sent, report.answers().collect::<std::vec::Vec<_>>()), (None, std::vec![answer]));
        assert_eq!(Report::parse(&receiver[..55]), Err(Error::Truncated));
        assert_eq!(Report::parse(&[0x81, 203, 0, 1, 0, 0, 0, 0]), Err(Error::Type));
        // Both in one datagram; encrypted, the second length is a random one and a tag follows.
        let compound = [&sender[..], &receiver].concat();
        assert_eq!(packets(&compound).map(<[u8]>::len).collect::<std::vec::Vec<_>>(), [28, 56]);
        assert_eq!(packets(&[&compound[..], &[0x80, 0, 0, 1]].concat()).count(), 0);
        assert_eq!(packets(&[]).count(), 0);
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
