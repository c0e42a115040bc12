//! RTP packets (RFC 3550 5.1) with one header extension (RFC 8285): the sending time, in the form that browsers use.

use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

const VERSION: u8 = 2 << 6;
const PADDING: u8 = 1 << 5;
const EXTENSION: u8 = 1 << 4;
const MARKER: u8 = 1 << 7;

/// The profile of extensions with one-byte headers (RFC 8285 4.2).
const ONE_BYTE_HEADERS: u16 = 0xBEDE;
/// The local identifier of the sending time, `http://www.webrtc.org/experiments/rtp-hdrext/abs-send-time`.
const SEND_TIME: u8 = 1;

/// Length of the header that [`Header::emit`] writes with a sending time.
pub const HEADER_LEN: usize = 20;

/// A header as a value, without contributing sources and other extensions.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Header {
    /// The marker bit: for video, the last packet of a frame.
    pub marker: bool,
    /// Payload type, 7 bits.
    pub payload_type: u8,
    /// Sequence number.
    pub sequence: u16,
    /// The media's timestamp, for video in units of 1/90000 s.
    pub timestamp: u32,
    /// Synchronisation source.
    pub ssrc: u32,
    /// Time at which the packet was sent, 24 bits in units of 2^-18 s.
    pub send_time: Option<u32>,
}

impl Header {
    /// Splits a packet into header and payload, without padding.
    ///
    /// # Errors
    /// `Type` for another version, `Truncated` if a field or extension passes the end, `Length` if the padding does.
    pub fn parse(packet: &[u8]) -> Result<(Self, &[u8])> {
        let mut reader = Reader::new(packet);
        let (first, second) = (reader.u8()?, reader.u8()?);
        if first & 0xC0 != VERSION {
            return Err(Error::Type);
        }
        let (sequence, timestamp, ssrc) = (reader.u16()?, reader.u32()?, reader.u32()?);
        reader.take(4 * usize::from(first & 0x0F))?;
        let mut send_time = None;
        if first & EXTENSION != 0 {
            let (profile, words) = (reader.u16()?, usize::from(reader.u16()?));
            let elements = reader.take(4 * words)?;
            if profile == ONE_BYTE_HEADERS {
                send_time = find_send_time(elements);
            }
        }
        let mut payload = reader.rest();
        if first & PADDING != 0 {
            // The last octet counts the padding, itself included.
            let padding = usize::from(*payload.last().ok_or(Error::Length)?);
            let len = payload.len().checked_sub(padding).filter(|_| padding > 0).ok_or(Error::Length)?;
            payload = &payload[..len];
        }
        let (marker, payload_type) = (second & MARKER != 0, second & !MARKER);
        Ok((Self { marker, payload_type, sequence, timestamp, ssrc, send_time }, payload))
    }

    /// Writes the header to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for a field that is too large.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        if self.payload_type & MARKER != 0 {
            return Err(Error::Value);
        }
        let mut writer = Writer::new(buffer);
        writer.u8(VERSION | if self.send_time.is_some() { EXTENSION } else { 0 })?;
        writer.u8(self.payload_type | if self.marker { MARKER } else { 0 })?;
        writer.u16(self.sequence)?;
        writer.u32(self.timestamp)?;
        writer.u32(self.ssrc)?;
        if let Some(time) = self.send_time {
            writer.u16(ONE_BYTE_HEADERS)?;
            writer.u16(1)?;
            // The length field is one less than the three octets.
            writer.u8(SEND_TIME << 4 | 2)?;
            writer.u24(time)?;
        }
        Ok(writer.len())
    }
}

/// The sending time among extension elements. A malformed element ends the search.
fn find_send_time(elements: &[u8]) -> Option<u32> {
    let mut reader = Reader::new(elements);
    loop {
        match reader.u8().ok()? {
            0 => {}
            // 15 is reserved: nothing after it is read (RFC 8285 4.2).
            head if head >> 4 == 15 => return None,
            head => {
                let mut content = Reader::new(reader.take(usize::from(head & 0x0F) + 1).ok()?);
                if head >> 4 == SEND_TIME {
                    return content.u24().ok();
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HEADER: Header = Header {
        marker: true,
        payload_type: 96,
        sequence: 0x0102,
        timestamp: 0x0304_0506,
        ssrc: 7,
        send_time: Some(0x0A_0B0C),
    };

    #[test]
    fn a_header_with_its_sending_time() {
        let mut bytes = [0xEE; 22];
        assert_eq!(HEADER.emit(&mut bytes), Ok(HEADER_LEN));
        let octets = [0x90, 0xE0, 1, 2, 3, 4, 5, 6, 0, 0, 0, 7, 0xBE, 0xDE, 0, 1, 0x12, 0x0A, 0x0B, 0x0C, 0xEE, 0xEE];
        assert_eq!(bytes, octets);
        assert_eq!(Header::parse(&bytes), Ok((HEADER, &[0xEE; 2][..])));
        assert_eq!(Header::parse(&bytes[..19]), Err(Error::Truncated));
        assert_eq!(Header { send_time: Some(1 << 24), ..HEADER }.emit(&mut bytes), Err(Error::Value));
        assert_eq!(Header { payload_type: 128, ..HEADER }.emit(&mut bytes), Err(Error::Value));
    }

    #[test]
    fn unknown_elements_are_skipped() {
        // Two contributing sources, padding inside the extension, an unknown element, then ours; padding at the end.
        let mut bytes = std::vec![0xB2, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 1, 1, 1, 1, 2, 2, 2, 2];
        bytes.extend([0xBE, 0xDE, 0, 2, 0, 0x50, 9, 0x12, 0, 0, 5, 0]);
        bytes.extend([0xAA, 0xBB, 0, 2]);
        let (header, payload) = Header::parse(&bytes).unwrap();
        assert_eq!((header.send_time, header.marker, payload), (Some(5), false, &[0xAA, 0xBB][..]));
        *bytes.last_mut().unwrap() = 5;
        assert_eq!(Header::parse(&bytes), Err(Error::Length));
        bytes[0] = 0x50;
        assert_eq!(Header::parse(&bytes), Err(Error::Type));
    }

    #[test]
    fn nothing_is_read_behind_the_reserved_element() {
        let with_element = |identifier: u8| {
            let mut bytes = std::vec![0x90, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0xBE, 0xDE, 0, 2];
            bytes.extend([identifier << 4, 9, 0x12, 0, 0, 5, 0, 0]);
            Header::parse(&bytes).unwrap().0.send_time
        };
        assert_eq!(with_element(14), Some(5));
        assert_eq!(with_element(15), None);
    }

    #[test]
    fn padding_that_counts_nothing_is_refused() {
        let packet = |padding| [0xA0, 96, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 9, padding];
        assert_eq!(Header::parse(&packet(1)).unwrap().1, [9]);
        assert!(Header::parse(&packet(2)).unwrap().1.is_empty());
        assert_eq!(Header::parse(&packet(0)), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn a_header_comes_back(marker: bool, payload_type in 0..128u8, sequence: u16, timestamp: u32, ssrc: u32, send_time in proptest::option::of(0..1u32 << 24)) {
            let header = Header { marker, payload_type, sequence, timestamp, ssrc, send_time };
            let mut bytes = [0; HEADER_LEN];
            let len = header.emit(&mut bytes).unwrap();
            prop_assert_eq!(Header::parse(&bytes[..len]), Ok((header, &[][..])));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            let _ = Header::parse(&bytes);
        }
    }
}
