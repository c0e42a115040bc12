//! RTCP congestion control feedback (RFC 8888): arrival time and ECN field of every RTP packet.

use tidemark_core::{Duration, Ecn};

use crate::cursor::{Reader, Writer};
use crate::{Error, Result, rtcp};

/// The feedback message type CCFB.
const FORMAT: u8 = 11;

/// Largest number of packets in the report of one stream: a quarter of the sequence numbers, so that none can be mistaken for
/// an older one (RFC 8888 3.1).
pub const MAX_REPORTS: usize = 16_384;

/// Time from a packet's arrival to the report's timestamp, in units of 1/1024 s.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ArrivalOffset {
    /// Units, 0..=0x1FFD.
    Before(u16),
    /// A time too long for the field: 0x1FFE.
    TooLong,
    /// Not known, or after the report's timestamp: 0x1FFF.
    Unavailable,
}

impl ArrivalOffset {
    const LONGEST: u16 = 0x1FFD;

    /// The offset that encodes this duration, rounded down.
    pub fn from_duration(duration: Duration) -> Self {
        let units = u128::from(duration.as_nanos()) * 1024 / 1_000_000_000;
        match u16::try_from(units) {
            Ok(units) if units <= Self::LONGEST => Self::Before(units),
            _ => Self::TooLong,
        }
    }
    /// The duration, if known.
    pub fn duration(self) -> Option<Duration> {
        match self {
            Self::Before(units) => Some(Duration::from_nanos(u64::from(units) * 1_000_000_000 / 1024)),
            Self::TooLong | Self::Unavailable => None,
        }
    }
    const fn from_bits(bits: u16) -> Self {
        match bits {
            0x1FFE => Self::TooLong,
            0x1FFF => Self::Unavailable,
            units => Self::Before(units),
        }
    }
    const fn bits(self) -> Result<u16> {
        match self {
            Self::Before(units) if units <= Self::LONGEST => Ok(units),
            Self::Before(_) => Err(Error::Value),
            Self::TooLong => Ok(0x1FFE),
            Self::Unavailable => Ok(0x1FFF),
        }
    }
}

/// Arrival of one packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Arrival {
    /// The ECN field of its IP header.
    pub ecn: Ecn,
    /// Time from the arrival to the report's timestamp.
    pub offset: ArrivalOffset,
}

/// Report on one stream.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct StreamReport<'a> {
    /// SSRC of the RTP stream.
    pub ssrc: u32,
    /// RTP sequence number of the first packet reported on.
    pub begin_seq: u16,
    metrics: &'a [[u8; 2]],
}

impl<'a> StreamReport<'a> {
    /// RTP sequence numbers and arrivals; `None` for a packet that did not arrive.
    pub fn packets(self) -> impl ExactSizeIterator<Item = (u16, Option<Arrival>)> + 'a {
        self.metrics.iter().enumerate().map(move |(at, octets)| {
            let bits = u16::from_be_bytes(*octets);
            let arrival = (bits >> 15 != 0).then(|| Arrival {
                ecn: Ecn::from_bits((bits >> 13) as u8),
                offset: ArrivalOffset::from_bits(bits & 0x1FFF),
            });
            (self.begin_seq.wrapping_add(at as u16), arrival)
        })
    }
}

fn stream<'a>(reader: &mut Reader<'a>) -> Result<StreamReport<'a>> {
    let (ssrc, begin_seq, count) = (reader.u32()?, reader.u16()?, usize::from(reader.u16()?));
    if count > MAX_REPORTS {
        return Err(Error::Length);
    }
    let metrics = reader.take(count * 2)?.as_chunks().0;
    reader.take(count % 2 * 2)?;
    Ok(StreamReport { ssrc, begin_seq, metrics })
}

/// A feedback packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feedback<'a> {
    /// SSRC of the feedback's sender.
    pub sender_ssrc: u32,
    /// Time of the report: the middle 32 bits of an NTP timestamp.
    pub report_timestamp: u32,
    streams: &'a [u8],
}

impl<'a> Feedback<'a> {
    /// Reads the packet at the front of `packet`, which may be a compound packet.
    ///
    /// # Errors
    /// `Type` for other RTCP, `Truncated` if a report passes the end, `Length` for more than [`MAX_REPORTS`].
    pub fn parse(packet: &'a [u8]) -> Result<Self> {
        let content = rtcp::content(packet, FORMAT)?;
        let (content, timestamp) = content.split_last_chunk().ok_or(Error::Truncated)?;
        let mut reader = Reader::new(content);
        let sender_ssrc = reader.u32()?;
        let streams = reader.rest();
        while !reader.rest().is_empty() {
            stream(&mut reader)?;
        }
        Ok(Self { sender_ssrc, report_timestamp: u32::from_be_bytes(*timestamp), streams })
    }
    /// The reports, one for each stream.
    pub fn streams(self) -> impl Iterator<Item = StreamReport<'a>> {
        let mut reader = Reader::new(self.streams);
        core::iter::from_fn(move || stream(&mut reader).ok())
    }
}

/// Writes a feedback packet stream by stream.
pub struct Builder<'a>(Writer<'a>);

impl<'a> Builder<'a> {
    /// Begins a packet at the front of `buffer`.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer.
    pub fn new(buffer: &'a mut [u8], sender_ssrc: u32) -> Result<Self> {
        let mut writer = Writer::new(buffer);
        rtcp::begin(&mut writer, FORMAT)?;
        writer.u32(sender_ssrc)?;
        Ok(Self(writer))
    }
    /// Reports on consecutive packets of a stream; `None` for a packet that did not arrive.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for more than [`MAX_REPORTS`] packets or an offset above 0x1FFD.
    pub fn stream(
        &mut self,
        ssrc: u32,
        begin_seq: u16,
        packets: impl IntoIterator<Item = Option<Arrival>>,
    ) -> Result<()> {
        let writer = &mut self.0;
        writer.u32(ssrc)?;
        writer.u16(begin_seq)?;
        let count_at = writer.len();
        writer.u16(0)?;
        let mut count = 0;
        for arrival in packets {
            let metric = match arrival {
                Some(Arrival { ecn, offset }) => 1 << 15 | u16::from(ecn.bits()) << 13 | offset.bits()?,
                None => 0,
            };
            writer.u16(metric)?;
            count += 1;
        }
        if count > MAX_REPORTS {
            return Err(Error::Value);
        }
        writer.pad(4, 0)?;
        writer.overwrite(count_at, &(count as u16).to_be_bytes())
    }
    /// Ends the packet and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer, `Value` for a packet that is too long.
    pub fn finish(mut self, report_timestamp: u32) -> Result<usize> {
        self.0.u32(report_timestamp)?;
        rtcp::finish(self.0, FORMAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_report_of_three_packets() {
        let mut bytes = [0xEE; 64];
        let mut builder = Builder::new(&mut bytes, 0x0102_0304).unwrap();
        let arrival = |ecn, units| Some(Arrival { ecn, offset: ArrivalOffset::Before(units) });
        builder.stream(9, 0xFFFF, [arrival(Ecn::Ect1, 1024), None, arrival(Ecn::Ce, 0)]).unwrap();
        assert_eq!(builder.finish(0x1122_3344), Ok(28));
        // RFC 8888 figure 1; ECT(1) is 01 and a second is 1024 units.
        let octets = [
            0x8B,
            205,
            0,
            6,
            1,
            2,
            3,
            4,
            0,
            0,
            0,
            9,
            0xFF,
            0xFF,
            0,
            3,
            0b1010_0100,
            0,
            0,
            0,
            0b1110_0000,
            0,
            0,
            0,
            0x11,
            0x22,
            0x33,
            0x44,
        ];
        assert_eq!(bytes[..28], octets);
        let feedback = Feedback::parse(&bytes).unwrap();
        assert_eq!((feedback.sender_ssrc, feedback.report_timestamp), (0x0102_0304, 0x1122_3344));
        let stream = feedback.streams().next().unwrap();
        let packets: Vec<_> = stream.packets().collect();
        assert_eq!(packets, [(0xFFFF, arrival(Ecn::Ect1, 1024)), (0, None), (1, arrival(Ecn::Ce, 0))]);
    }

    #[test]
    fn offsets_that_cannot_be_said() {
        assert_eq!(ArrivalOffset::from_duration(Duration::from_millis(7999)), ArrivalOffset::TooLong);
        assert_eq!(ArrivalOffset::from_duration(Duration::from_millis(7998)), ArrivalOffset::Before(0x1FFD));
        assert_eq!(ArrivalOffset::from_duration(Duration::MAX), ArrivalOffset::TooLong);
        assert_eq!(ArrivalOffset::Unavailable.duration(), None);
        assert_eq!(ArrivalOffset::Before(512).duration(), Some(Duration::from_millis(500)));
    }

    #[test]
    fn a_count_that_passes_the_end_is_refused() {
        let mut bytes = [0; 24];
        let mut builder = Builder::new(&mut bytes, 1).unwrap();
        builder.stream(2, 3, [None, None]).unwrap();
        assert_eq!(builder.finish(4), Ok(24));
        assert!(Feedback::parse(&bytes).is_ok());
        bytes[15] = 3;
        assert_eq!(Feedback::parse(&bytes), Err(Error::Truncated));
        bytes[14] = 0x40;
        assert_eq!(Feedback::parse(&bytes), Err(Error::Length));
        assert_eq!(Feedback::parse(&bytes[..20]), Err(Error::Truncated));
        assert_eq!(Feedback::parse(&[0x8F, 205, 0, 0]), Err(Error::Type));
    }

    fn arrival() -> impl Strategy<Value = Option<Arrival>> {
        let offset = (0u16..0x2000).prop_map(ArrivalOffset::from_bits);
        proptest::option::of((0u8..4, offset).prop_map(|(ecn, offset)| Arrival { ecn: Ecn::from_bits(ecn), offset }))
    }

    proptest! {
        #[test]
        fn reports_come_back_as_they_were_written(
            sender: u32, timestamp: u32, streams in vec((any::<u32>(), any::<u16>(), vec(arrival(), 0..20)), 0..4),
        ) {
            let mut bytes = [0xEE; 400];
            let mut builder = Builder::new(&mut bytes, sender).unwrap();
            for (ssrc, begin, packets) in &streams {
                builder.stream(*ssrc, *begin, packets.iter().copied()).unwrap();
            }
            let len = builder.finish(timestamp).unwrap();
            prop_assert_eq!(len % 4, 0);
            let feedback = Feedback::parse(&bytes[..len]).unwrap();
            prop_assert_eq!((feedback.sender_ssrc, feedback.report_timestamp), (sender, timestamp));
            prop_assert_eq!(feedback.streams().count(), streams.len());
            for (read, (ssrc, begin, packets)) in feedback.streams().zip(&streams) {
                prop_assert_eq!((read.ssrc, read.begin_seq), (*ssrc, *begin));
                prop_assert!(read.packets().map(|(_, arrival)| arrival).eq(packets.iter().copied()));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(padding: bool, mut bytes in vec(any::<u8>(), 4..80)) {
            bytes[0] = 0x8B | u8::from(padding) << 5;
            bytes[1] = 205;
            let words = bytes.len() as u16 / 4 - 1;
            bytes[2..4].copy_from_slice(&words.to_be_bytes());
            if let Ok(feedback) = Feedback::parse(&bytes) {
                prop_assert!(feedback.streams().map(|stream| stream.packets().count()).sum::<usize>() <= bytes.len());
            }
        }
    }
}
