//! Connections of a UE as bytes, for the CU-UP to which it moves.
//!
//! The bytes are a [`Header`], then a [`Record`] for each connection, in ascending order. Numbers are big-endian. Unused fields are zero, so
//! that each state has only one form. The structs define the layout, and `docs/concepts/relocation.md` documents it.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tidemark_wire::ip::FiveTuple;
use tidemark_wire::tcp;
use zerocopy::big_endian::{U16, U32};
use zerocopy::{FromBytes, FromZeros, Immutable, IntoBytes, KnownLayout, Unaligned};

const MAGIC: [u8; 4] = *b"TMUE";
const VERSION: u16 = 1;

/// Reason why bytes are rejected as the state of a UE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RelocationError {
    /// The bytes don't begin like a state.
    #[error("byte 0, magic: must be `TMUE`: this is not the state of a UE")]
    Magic,
    /// The version of the layout is unknown.
    #[error("byte 4, version: must be {VERSION}, not {0}")]
    Version(u16),
    /// The number of bytes differs from the header's, or from that of its connections.
    #[error("byte 8, length: must be {expected} bytes, not {found}")]
    Length {
        /// Number of bytes required.
        expected: usize,
        /// Number of bytes found.
        found: usize,
    },
    /// A field of a connection has a value that no export writes.
    #[error("byte {offset}, connection {connection}, {field}: {right}")]
    Field {
        /// Offset of the connection's record, in bytes.
        offset: usize,
        /// Index of the connection, from 0.
        connection: usize,
        /// Name of the field.
        field: &'static str,
        /// Rule that the field breaks.
        right: &'static str,
    },
    /// The UE has no DRB that could keep connections.
    #[error("drb: none is set up: set one up before the import")]
    NoDrb,
}

/// A field with a value that no export writes, and the rule that it breaks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Wrong {
    field: &'static str,
    right: &'static str,
}

impl Wrong {
    pub(crate) const fn new(field: &'static str, right: &'static str) -> Self {
        Self { field, right }
    }
}

/// Fails with the rule `right` unless `holds`.
pub(crate) fn check(holds: bool, field: &'static str, right: &'static str) -> Result<(), Wrong> {
    if holds { Ok(()) } else { Err(Wrong::new(field, right)) }
}

/// Reads a byte that is 0 or 1.
pub(crate) fn flag(byte: u8, field: &'static str) -> Result<bool, Wrong> {
    check(byte <= 1, field, "must be 0 or 1")?;
    Ok(byte == 1)
}

#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
struct Header {
    magic: [u8; 4],
    version: U16,
    connections: U16,
    /// Length of everything, this header included, in bytes.
    length: U32,
}

/// One connection. It is ordered by its five-tuple.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Record {
    pub(crate) tuple: Tuple,
    /// DRB that kept it.
    pub(crate) drb: u8,
    /// 0: no packet with an ECN field seen yet; 1: L4S; 2: classic; 3: Not-ECT.
    pub(crate) class: u8,
    /// Size of its largest packet, in bytes.
    pub(crate) largest: U16,
    /// Downlink packets, at most 65535.
    pub(crate) packets: U16,
    /// Round trip of its handshake, in us; 0: not known.
    pub(crate) rtt: U32,
    pub(crate) feedback: FeedbackRecord,
}

/// Five-tuple of the downlink packets; the protocol is TCP.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct Tuple {
    /// 4 or 6.
    version: u8,
    /// IPv4 in the first four bytes, followed by zeros.
    source: [u8; 16],
    destination: [u8; 16],
    source_port: U16,
    destination_port: U16,
}

/// Agreement of both ends, and what was signalled.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct FeedbackRecord {
    /// Sequence number of the last SYN.
    pub(crate) isn: U32,
    /// Request of a SYN that has no answer yet. 0: there is none; 1: no ECN; 2: classic ECN; 3: AccECN.
    pub(crate) asked: u8,
    /// 1: that SYN passed downwards.
    pub(crate) asked_downlink: u8,
    /// 1: the server has nothing more to send.
    pub(crate) is_over: u8,
    /// 0: none; 1: classic ECN; 2: AccECN.
    pub(crate) agreed: u8,
    /// 1: classic ECN's echo goes on.
    pub(crate) echo: u8,
    pub(crate) accecn: AccEcnRecord,
}

/// State of AccECN; all zero without it.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct AccEcnRecord {
    /// Sequence number at which the server's data begins.
    pub(crate) start: U32,
    /// Highest acknowledgement number passed upwards.
    pub(crate) ack: U32,
    pub(crate) segments: SegmentsRecord,
    /// Marks that no acknowledgement has carried yet, and the largest number that may wait.
    pub(crate) pending_packets: U16,
    pub(crate) limit: U16,
    pub(crate) pending_bytes: U32,
    pub(crate) due_bytes: U32,
    pub(crate) room_bytes: U32,
    /// Counters of the client's option as they last came; 2^32 - 1: not seen.
    pub(crate) client_e0b: U32,
    pub(crate) client_ceb: U32,
    pub(crate) client_e1b: U32,
    /// Sums added to the client's counters, modulo 2^24.
    pub(crate) added_ce: U32,
    pub(crate) added_from_ect0: U32,
    /// Sum added to the client's ACE field, modulo 8.
    pub(crate) added_packets: u8,
    /// The client's ACE field as it last came.
    pub(crate) client_ace: u8,
    /// 1: no acknowledgement with a counter was seen.
    pub(crate) is_opening: u8,
    /// 1: the next packet is to be marked in place of marks that were let go.
    pub(crate) owes: u8,
}

/// Segments under way, in runs of one size, the newest first.
#[derive(Clone, Copy, FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned)]
#[repr(C)]
pub(crate) struct SegmentsRecord {
    /// End of what was sent.
    pub(crate) end: U32,
    /// First sequence number of each run.
    pub(crate) starts: [U32; 4],
    /// Size of each run's segments, in bytes.
    pub(crate) sizes: [U16; 4],
    /// Size of the segment that goes on with the newest run; 0: none does.
    pub(crate) next: U16,
    /// Size of the connection's first segment.
    pub(crate) first: U16,
}

impl AccEcnRecord {
    /// Record of a connection without AccECN.
    pub(crate) fn none() -> Self {
        Self::new_zeroed()
    }

    /// True for the record of a connection without AccECN.
    pub(crate) fn is_none(&self) -> bool {
        self.as_bytes().iter().all(|byte| *byte == 0)
    }
}

impl Record {
    /// A connection with this five-tuple and nothing else.
    pub(crate) fn new(tuple: &FiveTuple) -> Self {
        let wide = |address: IpAddr| match address {
            IpAddr::V4(address) => {
                let [a, b, c, d] = address.octets();
                [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]
            }
            IpAddr::V6(address) => address.octets(),
        };
        let (source_port, destination_port) = tuple.ports.unwrap_or_default();
        let tuple = Tuple {
            version: if tuple.source.is_ipv4() { 4 } else { 6 },
            source: wide(tuple.source),
            destination: wide(tuple.destination),
            source_port: source_port.into(),
            destination_port: destination_port.into(),
        };
        Self { tuple, ..Self::new_zeroed() }
    }

    /// Five-tuple of its downlink packets.
    pub(crate) fn five_tuple(&self) -> Result<FiveTuple, Wrong> {
        let Tuple { version, source, destination, source_port, destination_port } = self.tuple;
        let narrow = |octets: [u8; 16]| {
            let [a, b, c, d, behind @ ..] = octets;
            (Ipv4Addr::new(a, b, c, d), behind == [0; 12])
        };
        let (source, destination) = match version {
            4 => {
                let ((source, one), (destination, other)) = (narrow(source), narrow(destination));
                check(one && other, "source, destination", "must have zeros after the four bytes of IPv4")?;
                (source.into(), destination.into())
            }
            6 => (Ipv6Addr::from(source).into(), Ipv6Addr::from(destination).into()),
            _ => return Err(Wrong::new("version", "must be 4 or 6")),
        };
        let ports = Some((source_port.get(), destination_port.get()));
        Ok(FiveTuple { source, destination, protocol: tcp::PROTOCOL, ports })
    }
}

/// Bytes that this many connections take.
pub(crate) fn len(connections: usize) -> usize {
    size_of::<Header>() + connections * size_of::<Record>()
}

/// Writes a state. `None` for a buffer that is not a header and whole records.
pub(crate) fn write(buffer: &mut [u8], records: impl Iterator<Item = Record>) -> Option<()> {
    let length = buffer.len();
    let (header, body) = Header::mut_from_prefix(buffer).ok()?;
    let body = <[Record]>::mut_from_bytes(body).ok()?;
    *header = Header {
        magic: MAGIC,
        version: VERSION.into(),
        // 32 DRBs have 1024 flows each at most.
        connections: (body.len() as u16).into(),
        length: (length as u32).into(),
    };
    body.iter_mut().zip(records).for_each(|(place, record)| *place = record);
    // Flow tables have an order that depends on the secret: the same connections are the same bytes.
    body.sort_unstable_by(|one, other| one.as_bytes().cmp(other.as_bytes()));
    Some(())
}

/// Reads the records of a state and hands each to `restore`.
///
/// # Errors
/// Names the first thing that is wrong.
pub(crate) fn read<'a, T>(
    bytes: &'a [u8],
    restore: impl Fn(&'a Record) -> Result<T, Wrong>,
) -> Result<impl Iterator<Item = T>, RelocationError> {
    let short = RelocationError::Length { expected: size_of::<Header>(), found: bytes.len() };
    let (header, body) = Header::ref_from_prefix(bytes).map_err(|_| short)?;
    // Other bytes than a state, which no version would make sense of.
    if header.magic != MAGIC {
        return Err(RelocationError::Magic);
    }
    // Another version may have other fields at the same places.
    if header.version != VERSION {
        return Err(RelocationError::Version(header.version.get()));
    }
    let (expected, said) = (len(header.connections.get().into()), header.length.get() as usize);
    for found in [said, bytes.len()] {
        // A state that was cut off must not be taken for a shorter one.
        if found != expected {
            return Err(RelocationError::Length { expected, found });
        }
    }
    let records =
        <[Record]>::ref_from_bytes(body).map_err(|_| RelocationError::Length { expected, found: bytes.len() })?;
    let mut before = None;
    for (connection, record) in records.iter().enumerate() {
        check(before.is_none_or(|before| before <= record.tuple), "tuple", "must not be less than the one before")
            .and_then(|()| restore(record).map(drop))
            .map_err(|Wrong { field, right }| RelocationError::Field {
                offset: len(connection),
                connection,
                field,
                right,
            })?;
        before = Some(record.tuple);
    }
    // Everything was restored once, so that nothing is changed by bytes that end in an error.
    Ok(records.iter().filter_map(move |record| restore(record).ok()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;
    use alloc::vec::Vec;
    use core::mem::offset_of;

    /// Offset and name of each field, as the structs have them.
    macro_rules! fields {
        ($($base:expr, $record:ty: $($field:ident)+;)+) => {
            [$($((($base) + offset_of!($record, $field), stringify!($field))),+),+]
        };
    }

    #[test]
    fn the_reference_has_the_offset_of_every_field() {
        let feedback = offset_of!(Record, feedback);
        let accecn = feedback + offset_of!(FeedbackRecord, accecn);
        let segments = accecn + offset_of!(AccEcnRecord, segments);
        let mut record = Vec::from(fields! {
            0, Tuple: version source destination source_port destination_port;
            0, Record: drb class largest packets rtt;
            feedback, FeedbackRecord: isn asked asked_downlink is_over agreed echo;
            accecn, AccEcnRecord: start ack pending_packets limit pending_bytes due_bytes room_bytes client_e0b client_ceb client_e1b
                added_ce added_from_ect0 added_packets client_ace is_opening owes;
            segments, SegmentsRecord: end starts sizes next first;
        });
        record.sort_unstable();
        let header = fields! { 0, Header: magic version connections length; };
        let page = include_str!("../../../docs/concepts/relocation.md");
        let mut rows = page.lines().filter(|line| line.starts_with("| ") && line.as_bytes()[2].is_ascii_digit());
        for (fields, end) in [(&header[..], size_of::<Header>()), (&record, size_of::<Record>())] {
            let ends = fields.iter().skip(1).map(|(offset, _)| *offset).chain([end]);
            for ((offset, field), end) in fields.iter().zip(ends) {
                let row = rows.next().unwrap_or_default();
                assert!(row.starts_with(&format!("| {offset} | {} | {field} |", end - offset)), "{field}: {row}");
            }
        }
        assert_eq!(rows.next(), None);
    }
}
