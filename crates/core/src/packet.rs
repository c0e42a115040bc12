//! A packet as a value: the headers that the network sees, and a payload that only the endpoints read.

use core::net::IpAddr;

use crate::ecn::Ecn;
use crate::units::Bytes;

/// Identifies a flow within a run. The simulator numbers its flows; a gNB hashes the 5-tuple.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FlowId(pub u32);

/// The six DSCP bits of the IP header.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Dscp(pub u8);

/// One IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<P> {
    /// Flow of the packet; an acknowledgement carries the id of the flow that it acknowledges.
    pub flow: FlowId,
    /// Length of the IP packet, header included.
    pub size: Bytes,
    /// ECN field of the IP header.
    pub ecn: Ecn,
    /// Content that the endpoints exchange.
    pub payload: P,
}

impl<P> Packet<P> {
    /// Borrows the payload.
    pub const fn as_ref(&self) -> Packet<&P> {
        Packet { flow: self.flow, size: self.size, ecn: self.ecn, payload: &self.payload }
    }
}

/// The TCP flags that concern congestion signalling and connection set-up.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct TcpFlags {
    /// SYN.
    pub syn: bool,
    /// ACK.
    pub ack: bool,
    /// FIN.
    pub fin: bool,
    /// RST.
    pub rst: bool,
    /// ECE (RFC 3168), the low bit of AccECN's ACE field.
    pub ece: bool,
    /// CWR (RFC 3168), the middle bit of AccECN's ACE field.
    pub cwr: bool,
    /// AE (RFC 9768), the high bit of AccECN's ACE field.
    pub ae: bool,
}

impl TcpFlags {
    /// The ACE field: AE, CWR, ECE read as one number, 0 to 7 (RFC 9768 3.1.1).
    pub const fn ace(self) -> u8 {
        (self.ae as u8) << 2 | (self.cwr as u8) << 1 | self.ece as u8
    }
    /// Gives these flags with the ACE field set to the low three bits of `ace`.
    pub const fn with_ace(self, ace: u8) -> Self {
        Self { ae: ace & 4 != 0, cwr: ace & 2 != 0, ece: ace & 1 != 0, ..self }
    }
}

/// The part of a TCP segment that a node in the network can read.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct TcpView {
    /// Flags.
    pub flags: TcpFlags,
    /// Sequence number of the first payload byte.
    pub seq: u32,
    /// Acknowledgement number; meaningful with the ACK flag.
    pub ack: u32,
    /// Payload length in bytes.
    pub payload: u32,
    /// The byte counters of an AccECN option, where there is one.
    pub accecn: Option<AccEcnCounters>,
    /// True for a SYN or SYN/ACK with a signature (RFC 2385, RFC 5925): the ends drop every segment of its connection whose header was changed.
    /// False for other segments.
    pub is_authenticated: bool,
}

impl TcpView {
    /// Gives the segment with this feedback written into it.
    #[must_use]
    pub fn with_feedback(self, feedback: TcpFeedback) -> Self {
        match feedback {
            TcpFeedback::Classic { ece } => Self { flags: TcpFlags { ece, ..self.flags }, ..self },
            TcpFeedback::AccEcn(change) => {
                let add = |field: Option<u32>, more: u32| field.map(|field| field.wrapping_add(more) & 0xFF_FFFF);
                let accecn = self.accecn.map(|counters| AccEcnCounters {
                    e0b: add(counters.e0b, change.e0b),
                    ceb: add(counters.ceb, change.ceb),
                    e1b: add(counters.e1b, change.e1b),
                });
                Self { flags: self.flags.with_ace(self.flags.ace().wrapping_add(change.ace)), accecn, ..self }
            }
        }
    }
}

/// The AccECN option's counters, 24 bits each (RFC 9768 3.2.3); a field that was left out is `None`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccEcnCounters {
    /// Payload bytes received as ECT(0): `r.e0b`.
    pub e0b: Option<u32>,
    /// Payload bytes received as CE: `r.ceb`.
    pub ceb: Option<u32>,
    /// Payload bytes received as ECT(1): `r.e1b`.
    pub e1b: Option<u32>,
}

/// The congestion feedback to write into an acknowledgement on its way up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TcpFeedback {
    /// Classic ECN: set or clear ECE; the other flags stay.
    Classic {
        /// The new ECE flag.
        ece: bool,
    },
    /// AccECN: add to the counters.
    AccEcn(AccEcnChange),
}

/// Additions to the counters that a segment carries. A counter missing from the segment is not added.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct AccEcnChange {
    /// Packets added to the ACE field, modulo 8.
    pub ace: u8,
    /// Bytes added to the option's [`e0b`](AccEcnCounters::e0b), modulo 2^24.
    pub e0b: u32,
    /// Bytes added to the option's [`ceb`](AccEcnCounters::ceb), modulo 2^24.
    pub ceb: u32,
    /// Bytes added to the option's [`e1b`](AccEcnCounters::e1b), modulo 2^24.
    pub e1b: u32,
}

/// The fields of an IP packet, besides the ECN field, that a packet filter reads (TS 23.501 5.7.6.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Selectors {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol above IP and its extension headers.
    pub protocol: u8,
    /// Source and destination port, if the protocol has ports. Only the first fragment of a packet has them.
    pub ports: Option<(u16, u16)>,
    /// The upper six bits of the type of service or traffic class.
    pub dscp: Dscp,
}

/// A marker's view of a packet's payload: a TCP header to read, and its congestion feedback to rewrite.
///
/// Payloads without a readable TCP header (UDP, QUIC, ciphered) keep the defaults.
pub trait Inspect {
    /// The flow as a network node identifies it, by the five-tuple. Successive connections within one flow of the endpoints count as
    /// different flows.
    fn five_tuple(&self, flow: FlowId) -> FlowId {
        flow
    }
    /// The fields that packet filters read; `None` where there is no readable IP header.
    fn selectors(&self) -> Option<Selectors> {
        None
    }
    /// The TCP header, if there is one.
    fn tcp(&self) -> Option<TcpView> {
        None
    }
    /// Rewrites the congestion feedback of a TCP acknowledgement; does nothing on other payloads.
    fn set_tcp_feedback(&mut self, _feedback: TcpFeedback) {}
    /// Shows the TCP header to `answer` and writes the congestion feedback that it returns; true if there was any. A payload
    /// of bytes locates its header only once.
    #[inline]
    fn answer_tcp(&mut self, answer: impl FnOnce(&TcpView) -> Option<TcpFeedback>) -> bool {
        let feedback = self.tcp().and_then(|tcp| answer(&tcp));
        feedback.map(|feedback| self.set_tcp_feedback(feedback)).is_some()
    }
}

/// A payload without a readable header.
impl Inspect for () {}

/// A borrowed payload, inspected like the payload itself.
impl<T: Inspect> Inspect for &mut T {
    fn five_tuple(&self, flow: FlowId) -> FlowId {
        (**self).five_tuple(flow)
    }
    fn selectors(&self) -> Option<Selectors> {
        (**self).selectors()
    }
    #[inline]
    fn tcp(&self) -> Option<TcpView> {
        (**self).tcp()
    }
    #[inline]
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        (**self).set_tcp_feedback(feedback);
    }
    #[inline]
    fn answer_tcp(&mut self, answer: impl FnOnce(&TcpView) -> Option<TcpFeedback>) -> bool {
        (**self).answer_tcp(answer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_borrowed_payload_shows_all_that_it_has() {
        #[derive(Default)]
        struct Whole(Option<TcpFeedback>);
        impl Inspect for Whole {
            fn five_tuple(&self, flow: FlowId) -> FlowId {
                FlowId(flow.0 + 1)
            }
            fn selectors(&self) -> Option<Selectors> {
                let any = core::net::Ipv4Addr::UNSPECIFIED.into();
                Some(Selectors { source: any, destination: any, protocol: 6, ports: None, dscp: Dscp(0) })
            }
            fn tcp(&self) -> Option<TcpView> {
                Some(TcpView {
                    flags: TcpFlags::default(),
                    seq: 0,
                    ack: 0,
                    payload: 0,
                    accecn: None,
                    is_authenticated: false,
                })
            }
            fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
                self.0 = Some(feedback);
            }
        }
        fn shown(mut payload: impl Inspect) -> (FlowId, bool, bool) {
            payload.set_tcp_feedback(TcpFeedback::Classic { ece: true });
            (payload.five_tuple(FlowId(1)), payload.selectors().is_some(), payload.tcp().is_some())
        }
        let mut whole = Whole::default();
        assert_eq!(shown(&mut whole), (FlowId(2), true, true));
        assert_eq!(whole.0, Some(TcpFeedback::Classic { ece: true }));
    }

    #[test]
    fn the_ace_field_reads_ae_cwr_ece_from_high_to_low() {
        for ace in 0..8 {
            assert_eq!(TcpFlags::default().with_ace(ace).ace(), ace);
        }
        assert!(TcpFlags::default().with_ace(0b100).ae);
        assert!(TcpFlags::default().with_ace(0b001).ece);
    }
}
