//! An IP packet in a buffer, in the form that the marker needs.

use core::net::IpAddr;
use core::ops::Range;

use tidemark_core::{Ecn, Inspect, TcpFeedback, TcpView};

use crate::ip::{Headers, present};
use crate::{Result, ipv4, ipv6, tcp};

/// A mutable view over one IP packet whose headers have been found. It is the payload of a core `Packet` of real bytes. Nothing after the
/// headers is read or written, and the buffer may end before the packet does.
#[derive(PartialEq, Eq, Debug)]
pub struct View<'a> {
    bytes: &'a mut [u8],
    headers: Headers,
}

impl<'a> View<'a> {
    /// Walks the headers once.
    ///
    /// # Errors
    /// Those of [`Headers::parse`].
    #[inline(always)]
    pub fn parse(bytes: &'a mut [u8]) -> Result<Self> {
        let len = bytes.len();
        Self::parse_front(bytes, len)
    }
    /// Walks the headers of a packet of at most `len` bytes; `front` need only hold the first of them.
    ///
    /// # Errors
    /// Those of [`Headers::parse_front`].
    #[inline(always)]
    pub fn parse_front(front: &'a mut [u8], len: usize) -> Result<Self> {
        let headers = Headers::parse_front(front, len)?;
        Ok(Self { bytes: front, headers })
    }
    /// Headers found by the walk.
    pub const fn headers(&self) -> &Headers {
        &self.headers
    }
    /// Bytes of the packet in the buffer, without any bytes after the packet.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes[..self.headers.len.min(self.bytes.len())]
    }
    /// Rewrites the ECN field and the header checksum.
    #[inline]
    pub fn set_ecn(&mut self, ecn: Ecn) {
        self.headers.ecn = ecn;
        match self.headers.five_tuple.source {
            IpAddr::V4(_) => ipv4::set_ecn(self.bytes, ecn),
            IpAddr::V6(_) => ipv6::set_ecn(self.bytes, ecn),
        }
    }
    /// Range of the TCP segment within the packet.
    #[inline]
    fn segment(&self) -> Option<Range<usize>> {
        self.headers.transport.clone().filter(|_| self.headers.five_tuple.protocol == tcp::PROTOCOL)
    }
}

impl Inspect for View<'_> {
    #[inline(always)]
    fn tcp(&self) -> Option<TcpView> {
        let segment = self.segment()?;
        tcp::view_of(present(self.bytes, segment.clone())?, segment.len())
    }
    #[inline]
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        self.answer_tcp(|_| Some(feedback));
    }
    #[inline(always)]
    fn answer_tcp(&mut self, answer: impl FnOnce(&TcpView) -> Option<TcpFeedback>) -> bool {
        let Some(Range { start, end }) = self.segment() else { return false };
        let buffer_end = end.min(self.bytes.len());
        self.bytes.get_mut(start..buffer_end).is_some_and(|front| tcp::answer(front, end - start, answer))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{ipv4, udp};
    use core::net::Ipv4Addr;
    use std::vec::Vec;
    use tidemark_core::packet::{AccEcnChange, AccEcnCounters};
    use tidemark_core::{Dscp, TcpFlags};

    const A: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 1);
    const B: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 2);

    fn datagram(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut bytes = std::vec![0; 20];
        let repr = ipv4::Repr {
            dscp: Dscp(0),
            ecn: Ecn::Ect1,
            identification: 1,
            dont_fragment: true,
            more_fragments: false,
            fragment_offset: 0,
            ttl: 3,
            protocol,
            source: A,
            destination: B,
            payload_len: payload.len() as u16,
        };
        repr.emit(&mut bytes).unwrap();
        bytes.extend(payload);
        bytes
    }

    fn acknowledgement() -> Vec<u8> {
        let counters = AccEcnCounters { e1b: Some(1), ceb: Some(2), e0b: None };
        let order = tcp::AccEcnOrder::Ect1First;
        let repr = tcp::Repr {
            source_port: 1,
            destination_port: 2,
            seq: 3,
            ack: 4,
            flags: TcpFlags { ack: true, ..TcpFlags::default() },
            push: false,
            urgent: None,
            window: 5,
            options: &[
                tcp::TcpOption::WindowScale(1), // three bytes: the counters lie at odd offsets
                tcp::TcpOption::AccEcn(tcp::AccEcnOption { order, counters }),
            ],
        };
        let mut bytes = std::vec![0; 60];
        let len = repr.emit(&mut bytes).unwrap();
        bytes.truncate(len + 7);
        tcp::Packet::new_checked(&mut bytes).unwrap().fill_checksum(A.into(), B.into());
        bytes
    }

    #[test]
    fn feedback_is_read_and_rewritten_through_the_core_trait() {
        let mut bytes = datagram(6, &acknowledgement());
        let mut view = View::parse(&mut bytes).unwrap();
        let seen = view.tcp().unwrap();
        assert_eq!(seen.payload, 7);
        assert_eq!(seen.accecn.unwrap(), AccEcnCounters { e1b: Some(1), ceb: Some(2), e0b: None });
        let change = AccEcnChange { ace: 6, e1b: 0x12_3456, ceb: 0x65_4321, e0b: 9 };
        view.set_tcp_feedback(TcpFeedback::AccEcn(change));
        view.set_ecn(Ecn::Ce);
        let seen = view.tcp().unwrap();
        assert_eq!(seen.flags.ace(), 6);
        assert_eq!(seen.accecn.unwrap(), AccEcnCounters { e1b: Some(0x12_3457), ceb: Some(0x65_4323), e0b: None });
        let packet = ipv4::Packet::new_checked(view.bytes()).unwrap();
        assert!(packet.has_valid_checksum());
        assert!(tcp::Packet::new_checked(packet.payload()).unwrap().has_valid_checksum(A.into(), B.into()));
    }

    #[test]
    fn packets_without_tcp_stay_as_they_are() {
        for protocol in [udp::PROTOCOL, 132, 50] {
            let mut bytes = datagram(protocol, &acknowledgement());
            let before = bytes.clone();
            let mut view = View::parse(&mut bytes).unwrap();
            assert_eq!(view.tcp(), None);
            view.set_tcp_feedback(TcpFeedback::Classic { ece: true });
            assert_eq!(bytes, before);
        }
    }
}
