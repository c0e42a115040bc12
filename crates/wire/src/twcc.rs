//! Transport-wide congestion control feedback (draft-holmer-rmcat-transport-wide-cc-extensions-01), which browsers
//! send today. It carries arrival times but no ECN.

use crate::cursor::{Reader, Writer};
use crate::{Error, Result, rtcp};

/// The feedback message type.
const FORMAT: u8 = 15;

/// The unit of receive deltas, in microseconds.
pub const DELTA_MICROS: i64 = 250;

/// The unit of the reference time, in microseconds.
pub const REFERENCE_MICROS: i64 = 64_000;

const MAX_RUN: usize = 0x1FFF;

/// Status of one packet (3.1.1 of the draft).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Symbol {
    NotReceived,
    /// Received, with a delta of one octet.
    Small,
    /// Received, with a delta of two octets, which is large or negative.
    Large,
}

impl Symbol {
    const fn of(delta: Option<i16>) -> Self {
        match delta {
            None => Self::NotReceived,
            Some(0..=255) => Self::Small,
            Some(_) => Self::Large,
        }
    }
    const fn from_bits(bits: u16) -> Result<Self> {
        match bits & 0b11 {
            0 => Ok(Self::NotReceived),
            1 => Ok(Self::Small),
            2 => Ok(Self::Large),
            _ => Err(Error::Value),
        }
    }
    const fn bits(self) -> u16 {
        self as u16
    }
    const fn delta_len(self) -> usize {
        self as usize
    }
}

/// The header of a feedback packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repr {
    /// SSRC of the feedback's sender.
    pub sender_ssrc: u32,
    /// SSRC of one of the streams.
    pub media_ssrc: u32,
    /// Transport-wide sequence number of the first packet reported on.
    pub base_sequence: u16,
    /// The time from which the first delta counts, signed 24 bits, in units of 64 ms.
    pub reference_time: i32,
    /// Counter, incremented for each feedback packet.
    pub feedback_count: u8,
}

/// A parsed feedback packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Feedback<'a> {
    /// Header of the packet.
    pub repr: Repr,
    count: u16,
    chunks: &'a [[u8; 2]],
    deltas: &'a [u8],
}

impl<'a> Feedback<'a> {
    /// Reads the packet at the front of `packet`, which may be a compound packet.
    ///
    /// # Errors
    /// `Type` for other RTCP, `Truncated` if chunks or deltas are missing, `Value` for the reserved symbol.
    pub fn parse(packet: &'a [u8]) -> Result<Self> {
        let mut reader = Reader::new(rtcp::content(packet, FORMAT)?);
        let (sender_ssrc, media_ssrc, base_sequence) = (reader.u32()?, reader.u32()?, reader.u16()?);
        let count = reader.u16()?;
        let reference_time = reader.u24()?;
        let repr = Repr {
            sender_ssrc,
            media_ssrc,
            base_sequence,
            reference_time: (reference_time << 8) as i32 >> 8,
            feedback_count: reader.u8()?,
        };
        let all = reader.rest();
        let (mut covered, mut deltas_len) = (0, 0);
        while covered < usize::from(count) {
            let chunk = reader.u16()?;
            for symbol in symbols(chunk).take(usize::from(count) - covered) {
                deltas_len += symbol?.delta_len();
                covered += 1;
            }
        }
        let chunks = all[..all.len() - reader.rest().len()].as_chunks().0;
        Ok(Self { repr, count, chunks, deltas: reader.take(deltas_len)? })
    }
    /// Transport-wide sequence numbers and receive deltas in units of 250 us; `None` for a packet that did not arrive.
    /// The first delta counts from the reference time, the others from the previous packet that arrived.
    pub fn deltas(self) -> impl Iterator<Item = (u16, Option<i16>)> {
        let mut reader = Reader::new(self.deltas);
        let symbols = self.chunks.iter().flat_map(|chunk| symbols(u16::from_be_bytes(*chunk))).flatten();
        symbols.take(usize::from(self.count)).enumerate().map(move |(at, symbol)| {
            let delta = match symbol {
                Symbol::NotReceived => None,
                Symbol::Small => reader.u8().ok().map(i16::from),
                Symbol::Large => reader.u16().ok().map(|delta| delta as i16),
            };
            (self.repr.base_sequence.wrapping_add(at as u16), delta)
        })
    }
    /// Transport-wide sequence numbers and arrival times in microseconds on the receiver's clock; `None` for a packet
    /// that did not arrive.
    pub fn arrivals(self) -> impl Iterator<Item = (u16, Option<i64>)> {
        let mut clock = i64::from(self.repr.reference_time) * REFERENCE_MICROS;
        self.deltas().map(move |(sequence, delta)| {
            let arrival = delta.map(|delta| {
                clock += i64::from(delta) * DELTA_MICROS;
                clock
            });
            (sequence, arrival)
        })
    }
}

/// The symbols of a chunk: a run of one, 14 of one bit, or 7 of two bits.
fn symbols(chunk: u16) -> impl Iterator<Item = Result<Symbol>> {
    let (len, symbol): (usize, fn(u16, usize) -> u16) = match chunk >> 14 {
        0b00 | 0b01 => (usize::from(chunk) & MAX_RUN, |chunk, _| chunk >> 13),
        0b10 => (14, |chunk, at| chunk >> (13 - at) & 1),
        _ => (7, |chunk, at| chunk >> (2 * (6 - at))),
    };
    (0..len).map(move |at| Symbol::from_bits(symbol(chunk, at)))
}

/// Writes a feedback packet to the front of `buffer` and returns its length. `deltas` are the consecutive packets'
/// receive deltas in units of 250 us; `None` for a packet that did not arrive.
///
/// # Errors
/// `Truncated` for too short a buffer, `Value` for more than 65535 packets or a reference time above 24 bits.
pub fn emit(repr: &Repr, deltas: &[Option<i16>], buffer: &mut [u8]) -> Result<usize> {
    if repr.reference_time << 8 >> 8 != repr.reference_time {
        return Err(Error::Value);
    }
    let mut writer = Writer::new(buffer);
    rtcp::begin(&mut writer, FORMAT)?;
    writer.u32(repr.sender_ssrc)?;
    writer.u32(repr.media_ssrc)?;
    writer.u16(repr.base_sequence)?;
    writer.u16(u16::try_from(deltas.len()).map_err(|_| Error::Value)?)?;
    writer.u24(repr.reference_time as u32 & 0xFF_FFFF)?;
    writer.u8(repr.feedback_count)?;
    let mut rest = deltas;
    while let Some(first) = rest.first().map(|delta| Symbol::of(*delta)) {
        let (chunk, covered) = chunk(first, rest);
        writer.u16(chunk)?;
        rest = &rest[covered..];
    }
    for delta in deltas.iter().flatten() {
        match u8::try_from(*delta) {
            Ok(small) => writer.u8(small)?,
            Err(_) => writer.u16(*delta as u16)?,
        }
    }
    rtcp::finish(writer, FORMAT)
}

/// The chunk that covers the most packets at the front of `rest`, and their number. `first` is the first of them.
fn chunk(first: Symbol, rest: &[Option<i16>]) -> (u16, usize) {
    let symbols = || rest.iter().map(|delta| Symbol::of(*delta));
    let run = symbols().take(MAX_RUN).take_while(|symbol| *symbol == first).count();
    let one_bit = symbols().take(14).take_while(|symbol| *symbol != Symbol::Large).count();
    let vector = |len: usize, width: usize, flags: u16| {
        symbols()
            .take(len)
            .enumerate()
            .fold(flags, |chunk, (at, symbol)| chunk | symbol.bits() << (14 - width * (at + 1)))
    };
    // A vector has a fixed length: a shorter one of one bit only serves at the very end.
    let one_bit_fits = one_bit == rest.len().min(14);
    let covers = if one_bit_fits { one_bit } else { rest.len().min(7) };
    if run >= covers {
        (first.bits() << 13 | run as u16, run)
    } else if one_bit_fits {
        (vector(14, 1, 0b10 << 14), covers)
    } else {
        (vector(7, 2, 0b11 << 14), covers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;
    use std::vec::Vec;

    const REPR: Repr =
        Repr { sender_ssrc: 1, media_ssrc: 2, base_sequence: 0xFFFE, reference_time: -2, feedback_count: 3 };

    #[test]
    fn a_run_a_negative_delta_and_padding() {
        let mut bytes = [0xEE; 40];
        assert_eq!(emit(&REPR, &[Some(4), Some(4), None, Some(-1)], &mut bytes), Ok(28));
        let octets = [
            0xAF,
            205,
            0,
            6,
            0,
            0,
            0,
            1,
            0,
            0,
            0,
            2,
            0xFF,
            0xFE,
            0,
            4,
            0xFF,
            0xFF,
            0xFE,
            3, //
            0b1101_0100,
            0b1000_0000, // vector of two bits: small, small, none, large
            4,
            4,
            0xFF,
            0xFF,
            0,
            2,
        ];
        assert_eq!(bytes[..28], octets);
        let feedback = Feedback::parse(&bytes).unwrap();
        assert_eq!(feedback.repr, REPR);
        let arrivals: Vec<_> = feedback.arrivals().collect();
        assert_eq!(arrivals, [(0xFFFE, Some(-127_000)), (0xFFFF, Some(-126_000)), (0, None), (1, Some(-126_250))]);
    }

    #[test]
    fn long_runs_need_few_chunks() {
        let mut bytes = [0; 9000];
        assert_eq!(emit(&REPR, &[None; 8191], &mut bytes), Ok(24));
        assert_eq!(bytes[20..22], [0x1F, 0xFF]);
        assert_eq!(emit(&REPR, &[Some(0); 8192], &mut bytes), Ok(20 + 4 + 8192));
    }

    #[test]
    fn chunks_and_deltas_that_are_missing_are_truncated() {
        let mut bytes = [0; 28];
        emit(&REPR, &[Some(1), Some(300)], &mut bytes).unwrap();
        let mut missing = bytes;
        missing[15] = 200;
        assert_eq!(Feedback::parse(&missing), Err(Error::Truncated));
        let mut reserved = bytes;
        reserved[20] = 0b0110_0000;
        reserved[21] = 2;
        assert_eq!(Feedback::parse(&reserved), Err(Error::Value));
    }

    /// A feedback packet on `count` packets with these chunks and deltas, padded where they are no whole words.
    fn raw(count: u8, chunks_and_deltas: &[u8]) -> Vec<u8> {
        let padding = (4 - chunks_and_deltas.len() % 4) % 4;
        let mut bytes = std::vec![0x8F, 205, 0, 0, 0, 0, 0, 1, 0, 0, 0, 2, 0, 9, 0, count, 0, 0, 0, 0];
        bytes.extend(chunks_and_deltas);
        if padding > 0 {
            bytes[0] |= 0x20;
            bytes.resize(bytes.len() + padding, padding as u8);
        }
        bytes[3] = bytes.len() as u8 / 4 - 1;
        bytes
    }

    #[test]
    fn a_chunk_is_read_up_to_the_count_and_no_further() {
        for chunks_and_deltas in [
            // A run of two that did not arrive, then one of five small deltas, of which one counts.
            &[0x00, 0x02, 0x20, 0x05, 7][..],
            // The same, with a vector of one bit whose remaining symbols are small, and one of two bits: large, and the reserved one.
            &[0x00, 0x02, 0xBF, 0xFF, 7],
            &[0x00, 0x02, 0b1101_1011, 0xFF, 7],
        ] {
            let bytes = raw(3, chunks_and_deltas);
            let deltas: Vec<_> = Feedback::parse(&bytes).unwrap().deltas().collect();
            assert_eq!(deltas, [(9, None), (10, None), (11, Some(7))], "{chunks_and_deltas:x?}");
        }
    }

    #[test]
    fn a_run_ends_where_the_next_chunk_begins() {
        // Two small deltas, one that did not arrive, and one large.
        let bytes = raw(4, &[0x20, 0x02, 0x00, 0x01, 0x40, 0x01, 5, 6, 0xFF, 0xFE]);
        let deltas: Vec<_> = Feedback::parse(&bytes).unwrap().deltas().map(|(_, delta)| delta).collect();
        assert_eq!(deltas, [Some(5), Some(6), None, Some(-2)]);
    }

    #[test]
    fn fourteen_packets_without_a_large_delta_take_one_chunk() {
        let deltas: Vec<_> = (0..14).map(|at| (at % 2 == 0).then_some(1)).collect();
        let mut bytes = [0; 60];
        assert_eq!(emit(&REPR, &deltas, &mut bytes), Ok(32));
        assert_eq!(bytes[20..22], [0b1010_1010, 0b1010_1010]);
    }

    #[test]
    fn padding_that_counts_nothing_is_refused() {
        let mut bytes = raw(1, &[0x20, 0x01, 7]);
        assert!(Feedback::parse(&bytes).is_ok());
        *bytes.last_mut().unwrap() = 0;
        assert_eq!(Feedback::parse(&bytes), Err(Error::Length));
    }

    proptest! {
        #[test]
        fn feedback_comes_back_as_it_was_written(
            reference_time in -(1i32 << 23)..1 << 23,
            deltas in vec(prop_oneof![3 => Just(None), 5 => (0i16..256).prop_map(Some), 1 => any::<Option<i16>>()], 0..300),
            run in 0usize..100,
        ) {
            let mut deltas = deltas;
            deltas.extend(std::vec![Some(9); run]);
            let repr = Repr { reference_time, ..REPR };
            let mut bytes = [0xEE; 2000];
            let len = emit(&repr, &deltas, &mut bytes).unwrap();
            prop_assert_eq!(len % 4, 0);
            let feedback = Feedback::parse(&bytes[..len]).unwrap();
            prop_assert_eq!(feedback.repr, repr);
            prop_assert!(feedback.deltas().map(|(_, delta)| delta).eq(deltas));
        }

        #[test]
        fn arbitrary_bytes_never_panic(padding: bool, mut bytes in vec(any::<u8>(), 4..120)) {
            bytes[0] = 0x8F | u8::from(padding) << 5;
            bytes[1] = 205;
            let words = bytes.len() as u16 / 4 - 1;
            bytes[2..4].copy_from_slice(&words.to_be_bytes());
            if let Ok(feedback) = Feedback::parse(&bytes) {
                prop_assert_eq!(feedback.arrivals().count(), usize::from(feedback.count));
            }
        }
    }
}
