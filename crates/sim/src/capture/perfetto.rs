//! A file of Perfetto's trace format: messages of its `trace.proto` with the fields that are written here.

use std::io::{Result, Write};

use prost::Message;
use tidemark_core::Instant;

/// Identity of the only sequence of packets.
const SEQUENCE: u32 = 1;

/// Type of a track event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(super) enum Type {
    Unspecified = 0,
    SliceBegin = 1,
    SliceEnd = 2,
    Instant = 3,
}

/// Order of a track's children in which ranks decide.
const EXPLICIT: i32 = 3;

/// One packet; files are these, one after the other.
#[derive(Clone, PartialEq, Message)]
struct Trace {
    #[prost(message, optional, tag = "1")]
    packet: Option<TracePacket>,
}

#[derive(Clone, PartialEq, Message)]
struct TracePacket {
    #[prost(uint64, optional, tag = "8")]
    timestamp: Option<u64>,
    #[prost(uint32, tag = "10")]
    trusted_packet_sequence_id: u32,
    #[prost(message, optional, tag = "11")]
    track_event: Option<TrackEvent>,
    #[prost(message, optional, tag = "60")]
    track_descriptor: Option<TrackDescriptor>,
}

#[derive(Clone, PartialEq, Message)]
struct TrackEvent {
    #[prost(message, repeated, tag = "4")]
    debug_annotations: Vec<DebugAnnotation>,
    #[prost(enumeration = "Type", tag = "9")]
    r#type: i32,
    #[prost(uint64, tag = "11")]
    track_uuid: u64,
    #[prost(string, tag = "23")]
    name: String,
}

/// Declaration of a track.
#[derive(Clone, PartialEq, Message)]
pub(super) struct TrackDescriptor {
    #[prost(uint64, tag = "1")]
    uuid: u64,
    #[prost(string, tag = "2")]
    name: String,
    #[prost(uint64, optional, tag = "5")]
    parent_uuid: Option<u64>,
    #[prost(int32, tag = "11")]
    child_ordering: i32,
    #[prost(int32, tag = "12")]
    sibling_order_rank: i32,
}

/// Value of an event beside its name.
#[derive(Clone, PartialEq, Message)]
pub(super) struct DebugAnnotation {
    #[prost(uint64, optional, tag = "3")]
    uint_value: Option<u64>,
    #[prost(double, optional, tag = "5")]
    double_value: Option<f64>,
    #[prost(string, optional, tag = "6")]
    string_value: Option<String>,
    #[prost(string, tag = "10")]
    name: String,
}

/// Annotation that is a whole number.
pub(super) fn count(name: &str, value: u64) -> DebugAnnotation {
    DebugAnnotation { name: name.into(), uint_value: Some(value), ..DebugAnnotation::default() }
}

/// Annotation that is a number.
pub(super) fn number(name: &str, value: f64) -> DebugAnnotation {
    DebugAnnotation { name: name.into(), double_value: Some(value), ..DebugAnnotation::default() }
}

/// Annotation that is a text.
pub(super) fn text(name: &str, value: &str) -> DebugAnnotation {
    DebugAnnotation { name: name.into(), string_value: Some(value.into()), ..DebugAnnotation::default() }
}

/// One file. An error is reported at the end, and nothing is written after one.
pub(super) struct File<W> {
    out: W,
    outcome: Result<()>,
    tracks: u64,
    packet: Vec<u8>,
}

impl<W: Write> File<W> {
    pub(super) fn new(out: W) -> Self {
        Self { out, outcome: Ok(()), tracks: 0, packet: Vec::new() }
    }

    /// Declares a track, below another one if `parent` is some; `rank` is its position among those. Gives its identity.
    pub(super) fn track(&mut self, parent: Option<u64>, rank: i32, name: &str) -> u64 {
        self.tracks += 1;
        let (uuid, name) = (self.tracks, name.into());
        let track =
            TrackDescriptor { uuid, name, parent_uuid: parent, child_ordering: EXPLICIT, sibling_order_rank: rank };
        self.write(TracePacket { track_descriptor: Some(track), ..TracePacket::default() });
        uuid
    }

    /// Writes an event on a track.
    pub(super) fn event(
        &mut self,
        at: Instant,
        track_uuid: u64,
        of: Type,
        name: &str,
        debug_annotations: Vec<DebugAnnotation>,
    ) {
        let event = TrackEvent { debug_annotations, r#type: of.into(), track_uuid, name: name.into() };
        let timestamp = Some(at.as_nanos());
        self.write(TracePacket { timestamp, track_event: Some(event), ..TracePacket::default() });
    }

    fn write(&mut self, packet: TracePacket) {
        if self.outcome.is_err() {
            return;
        }
        let packet = TracePacket { trusted_packet_sequence_id: SEQUENCE, ..packet };
        self.packet.clear();
        self.outcome = Trace { packet: Some(packet) }.encode(&mut self.packet).map_err(std::io::Error::other);
        if self.outcome.is_ok() {
            self.outcome = self.out.write_all(&self.packet);
        }
    }

    pub(super) fn finish(mut self) -> Result<()> {
        self.outcome?;
        self.out.flush()
    }
}
