//! The interceptor closest to the wire: it hands over RTCP packets that the WebRTC stack would consume, and limits retransmissions.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use rtc::interceptor::{Attribute, Interceptor, Packet, StreamInfo, TaggedPacket};
use rtc::rtcp;
use rtc::sansio::Protocol;
use rtc::shared::error::Error;

/// Most RTCP packets that wait to be read; more are dropped. The session reads after each datagram.
const MAX_WAITING: usize = 64;
/// Retransmissions are at most one byte in this many sent bytes, even for a peer that requests everything again.
const SHARE: u64 = 8;
/// Most bytes of retransmissions that can be saved up.
const MAX_SAVED: u64 = 64 * 1500;

/// A tap, shared by the interceptor in the stack and the session that reads.
#[derive(Clone, Default)]
pub(crate) struct Tap(Arc<Mutex<Inside>>);

#[derive(Default)]
struct Inside {
    received: VecDeque<Box<dyn rtcp::Packet>>,
    saved: u64,
    retransmitted: u64,
    refused: u64,
}

impl Tap {
    /// Takes the oldest RTCP packet.
    pub(crate) fn take(&self) -> Option<Box<dyn rtcp::Packet>> {
        self.lock().received.pop_front()
    }

    /// Packets retransmitted, and packets refused because too many were requested.
    pub(crate) fn retransmissions(&self) -> (u64, u64) {
        let inside = self.lock();
        (inside.retransmitted, inside.refused)
    }

    pub(crate) fn interceptor(&self) -> impl Interceptor + use<> {
        Intercept { tap: self.clone(), inbound: VecDeque::new(), outbound: VecDeque::new() }
    }

    fn lock(&self) -> MutexGuard<'_, Inside> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// True for a packet that may be sent.
    fn admits(&self, packet: &TaggedPacket) -> bool {
        let Packet::Rtp(rtp) = &packet.message.packet else { return true };
        let size = rtp.payload.len() as u64;
        let mut inside = self.lock();
        if !packet.message.has(&Attribute::Retransmission) {
            inside.saved = (inside.saved + size / SHARE).min(MAX_SAVED);
            return true;
        }
        let may = inside.saved >= size;
        inside.saved -= if may { size } else { 0 };
        *if may { &mut inside.retransmitted } else { &mut inside.refused } += 1;
        may
    }
}

struct Intercept {
    tap: Tap,
    inbound: VecDeque<TaggedPacket>,
    outbound: VecDeque<TaggedPacket>,
}

impl Protocol<TaggedPacket, TaggedPacket, ()> for Intercept {
    type Rout = TaggedPacket;
    type Wout = TaggedPacket;
    type Eout = ();
    type Error = Error;
    type Time = Instant;

    fn handle_read(&mut self, packet: TaggedPacket) -> Result<(), Error> {
        if let Packet::Rtcp(packets) = &packet.message.packet {
            let mut inside = self.tap.lock();
            for rtcp in packets.iter().take(MAX_WAITING) {
                if inside.received.len() < MAX_WAITING {
                    inside.received.push_back(rtcp.cloned());
                }
            }
        }
        self.inbound.push_back(packet);
        Ok(())
    }
    fn poll_read(&mut self) -> Option<TaggedPacket> {
        self.inbound.pop_front()
    }
    fn handle_write(&mut self, packet: TaggedPacket) -> Result<(), Error> {
        if self.tap.admits(&packet) {
            self.outbound.push_back(packet);
        }
        Ok(())
    }
    fn poll_write(&mut self) -> Option<TaggedPacket> {
        self.outbound.pop_front()
    }
}

impl Interceptor for Intercept {
    fn bind_local_stream(&mut self, _: &StreamInfo) {}
    fn unbind_local_stream(&mut self, _: &StreamInfo) {}
    fn bind_remote_stream(&mut self, _: &StreamInfo) {}
    fn unbind_remote_stream(&mut self, _: &StreamInfo) {}
}

#[cfg(test)]
mod tests {
    use rtc::interceptor::AttributedPacket;
    use rtc::rtp;
    use rtc::shared::TransportContext;

    use super::*;

    #[test]
    fn retransmissions_are_a_share_of_what_was_sent() {
        let tap = Tap::default();
        let mut stack = tap.interceptor();
        let mut left = |is_retransmission: bool| {
            let rtp = rtp::Packet { payload: vec![0; 1000].into(), ..Default::default() };
            let mut message = AttributedPacket::new(Packet::Rtp(rtp));
            if is_retransmission {
                message.add(Attribute::Retransmission);
            }
            let packet = TaggedPacket { now: Instant::now(), transport: TransportContext::default(), message };
            stack.handle_write(packet).unwrap();
            stack.poll_write().is_some()
        };
        assert!((0..16).all(|_| left(false)));
        assert_eq!((0..100).filter(|_| left(true)).count(), 2);
        assert_eq!(tap.retransmissions(), (2, 98));
    }
}
