//! Messages of UDP Prague in the format of the public implementation (L4STeam/udp_prague `pkt_format.h`): UDP payloads,
//! packed and big-endian. Times are in microseconds. Times and counters wrap around; a time of zero means none.

use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

const BULK_DATA: u8 = 1;
const REAL_TIME_DATA: u8 = 2;
const ACK: u8 = 17;
const REPORT: u8 = 18;

/// Length of the header of a bulk data packet.
pub const BULK_HEADER_LEN: usize = 13;
/// Length of the header of a real-time data packet.
pub const REAL_TIME_HEADER_LEN: usize = 25;

/// A message. The bytes after the fields of a data packet are padding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Message<'a> {
    /// Type 1, or type 2 with the packet's position in a frame.
    Data(Data),
    /// Type 17.
    Ack(Ack),
    /// Type 18.
    Report(Report<'a>),
}

/// The header of a data packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Data {
    /// Time at which the packet was sent, in microseconds.
    pub timestamp: u32,
    /// The peer's last timestamp plus the time since it arrived, in microseconds.
    pub echo: u32,
    /// Number of the packet, from 1.
    pub seq: u32,
    /// Position in a frame, for real-time packets.
    pub frame: Option<FramePart>,
}

/// Position of a real-time packet in its frame.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FramePart {
    /// Number of the frame, from 1.
    pub number: u32,
    /// Bytes of the frame in earlier packets.
    pub offset: u32,
    /// Size of the frame in bytes.
    pub size: u32,
}

/// An acknowledgement: cumulative counters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ack {
    /// Number of the packet that triggered this acknowledgement; 0 opens the path.
    pub seq: u32,
    /// Time at which the acknowledgement was sent, in microseconds.
    pub timestamp: u32,
    /// The data packet's timestamp plus the time since it arrived, in microseconds.
    pub echo: u32,
    /// Data packets received.
    pub received: u32,
    /// Data packets received with CE.
    pub marked: u32,
    /// Data packets assumed lost. The counter falls if one of them arrives late.
    pub lost: u32,
    /// True if a packet arrived that was neither ECT(1) nor CE.
    pub error: bool,
}

/// A report with one word for each of a run of consecutive packets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Report<'a> {
    /// Number of the first packet.
    pub begin: u32,
    words: &'a [[u8; 2]],
}

impl Report<'_> {
    /// One word for each packet: 0, or bit 15, the ECN field in bits 14 and 13, and the age in units of 1024 us.
    pub fn words(&self) -> impl ExactSizeIterator<Item = u16> + '_ {
        self.words.iter().map(|octets| u16::from_be_bytes(*octets))
    }
}

impl<'a> Message<'a> {
    /// Reads a message.
    ///
    /// # Errors
    /// `Type` for another message type, `Truncated` if fields are missing.
    pub fn parse(payload: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(payload);
        match reader.u8()? {
            kind @ (BULK_DATA | REAL_TIME_DATA) => {
                let (timestamp, echo, seq) = (reader.u32()?, reader.u32()?, reader.u32()?);
                let frame = match kind {
                    BULK_DATA => None,
                    _ => Some(FramePart { number: reader.u32()?, offset: reader.u32()?, size: reader.u32()? }),
                };
                Ok(Self::Data(Data { timestamp, echo, seq, frame }))
            }
            ACK => Ok(Self::Ack(Ack {
                seq: reader.u32()?,
                timestamp: reader.u32()?,
                echo: reader.u32()?,
                received: reader.u32()?,
                marked: reader.u32()?,
                lost: reader.u32()?,
                error: reader.u8()? != 0,
            })),
            REPORT => {
                let (begin, count) = (reader.u32()?, usize::from(reader.u16()?));
                Ok(Self::Report(Report { begin, words: reader.take(2 * count)?.as_chunks().0 }))
            }
            _ => Err(Error::Type),
        }
    }
}

impl Data {
    /// Writes the header to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut writer = Writer::new(buffer);
        writer.u8(if self.frame.is_some() { REAL_TIME_DATA } else { BULK_DATA })?;
        [self.timestamp, self.echo, self.seq].into_iter().try_for_each(|field| writer.u32(field))?;
        if let Some(FramePart { number, offset, size }) = self.frame {
            [number, offset, size].into_iter().try_for_each(|field| writer.u32(field))?;
        }
        Ok(writer.len())
    }
}

impl Ack {
    /// Writes the message to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let mut writer = Writer::new(buffer);
        writer.u8(ACK)?;
        let fields = [self.seq, self.timestamp, self.echo, self.received, self.marked, self.lost];
        fields.into_iter().try_for_each(|field| writer.u32(field))?;
        writer.u8(u8::from(self.error))?;
        Ok(writer.len())
    }
}

/// Writes a report of `words`, the first for the packet `begin`, to the front of `buffer` and returns its length.
///
/// # Errors
/// `Truncated` for too short a buffer, `Value` for more words than the format can count.
pub fn emit_report(begin: u32, words: impl ExactSizeIterator<Item = u16>, buffer: &mut [u8]) -> Result<usize> {
    let mut writer = Writer::new(buffer);
    writer.u8(REPORT)?;
    writer.u32(begin)?;
    writer.u16(u16::try_from(words.len()).map_err(|_| Error::Value)?)?;
    words.into_iter().try_for_each(|word| writer.u16(word))?;
    Ok(writer.len())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn an_acknowledgement_has_26_bytes() {
        let ack = Ack { seq: 1, timestamp: 2, echo: 3, received: 4, marked: 5, lost: 6, error: true };
        let mut bytes = [0xEE; 26];
        assert_eq!(ack.emit(&mut bytes), Ok(26));
        let words = [0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0, 4, 0, 0, 0, 5, 0, 0, 0, 6];
        assert_eq!(bytes[..], [&[17], &words[..], &[1]].concat());
        assert_eq!(Message::parse(&bytes), Ok(Message::Ack(ack)));
        assert_eq!(Message::parse(&bytes[..25]), Err(Error::Truncated));
        assert_eq!(ack.emit(&mut [0; 25]), Err(Error::Truncated));
    }

    #[test]
    fn other_types_are_refused() {
        for kind in [0, 3, 16, 19, 0x80, 255] {
            assert_eq!(Message::parse(&[kind; 40]), Err(Error::Type));
        }
        assert_eq!(Message::parse(&[]), Err(Error::Truncated));
        assert_eq!(Message::parse(&[REPORT, 0, 0, 0, 1, 0, 2, 0, 0, 0]), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn data_comes_back(timestamp: u32, echo: u32, seq: u32, frame: Option<(u32, u32, u32)>, filling in 0..50usize) {
            let frame = frame.map(|(number, offset, size)| FramePart { number, offset, size });
            let data = Data { timestamp, echo, seq, frame };
            let mut bytes = [0xEE; 75];
            let len = data.emit(&mut bytes).unwrap();
            prop_assert_eq!(len, if frame.is_some() { REAL_TIME_HEADER_LEN } else { BULK_HEADER_LEN });
            prop_assert_eq!(Message::parse(&bytes[..len + filling]), Ok(Message::Data(data)));
        }

        #[test]
        fn a_report_comes_back(begin: u32, words: Vec<u16>) {
            let mut bytes = std::vec![0; 7 + 2 * words.len()];
            prop_assert_eq!(emit_report(begin, words.iter().copied(), &mut bytes), Ok(bytes.len()));
            let Ok(Message::Report(report)) = Message::parse(&bytes) else { panic!() };
            prop_assert_eq!((report.begin, report.words().collect::<Vec<_>>()), (begin, words));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes: Vec<u8>) {
            let _ = Message::parse(&bytes);
        }
    }
}
