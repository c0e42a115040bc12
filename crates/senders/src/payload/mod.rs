//! Packets that the endpoints exchange: transport headers as values, with the size that they have on the wire.

mod datagram;
mod rtp;
mod tcp;
mod udp_prague;

use tidemark_core::{Bytes, FlowId, Inspect, TcpFeedback, TcpView};

pub use datagram::Datagram;
pub use rtp::{Metric, Metrics, Report, RtpPacket};
pub use tcp::{SackBlocks, TcpSegment};
pub use udp_prague::{FramePart, PragueAck, PragueData, PragueReport, PragueWord};

/// IPv4 header without options.
const IP_HEADER: u64 = 20;
/// UDP header.
const UDP_HEADER: u64 = 8;

/// The payload of an IP packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Payload {
    /// A TCP segment.
    Tcp(TcpSegment),
    /// UDP Prague's data.
    PragueData(PragueData),
    /// UDP Prague's acknowledgement.
    PragueAck(PragueAck),
    /// UDP Prague's report on a range of packets.
    PragueReport(PragueReport),
    /// A datagram of UDP without feedback.
    Datagram(Datagram),
    /// A packet of a media stream.
    Rtp(RtpPacket),
    /// A receiver's report on a media stream.
    Report(Box<Report>),
}

impl Payload {
    /// Size of the IP packet that carries this.
    pub fn wire_size(&self) -> Bytes {
        match self {
            Self::Tcp(segment) => segment.wire_size(),
            Self::PragueData(data) => data.wire_size(),
            Self::PragueAck(ack) => ack.wire_size(),
            Self::PragueReport(report) => report.wire_size(),
            Self::Datagram(datagram) => datagram.wire_size(),
            Self::Rtp(packet) => packet.wire_size(),
            Self::Report(report) => report.wire_size(),
        }
    }
}

impl Inspect for Payload {
    fn five_tuple(&self, flow: FlowId) -> FlowId {
        match self {
            // Flows are few: their ids leave half of the bits to their connections.
            Self::Tcp(segment) => FlowId(flow.0.wrapping_add(segment.connection << 16)),
            _ => flow,
        }
    }
    fn tcp(&self) -> Option<TcpView> {
        match self {
            Self::Tcp(segment) => Some(segment.view()),
            _ => None,
        }
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        // Only TCP carries feedback in its header.
        if let Self::Tcp(segment) = self {
            segment.set_feedback(feedback);
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Packet;

    use super::*;

    #[test]
    fn a_packet_is_cheap_to_move() {
        // Queues of tens of thousands are moved through on every event.
        assert!(size_of::<Packet<Payload>>() <= 144, "{}", size_of::<Packet<Payload>>());
    }
}
