//! Halves of a TCP connection's round trip: the time from a packet to the one that echoes its timestamp (RFC 7323 3). Without timestamps,
//! acknowledgements are used.

use tidemark_core::{Duration, Instant};
use tidemark_wire::tcp::{Packet, TcpOption};

use super::recent::Recent;
use super::{MAX_WAIT, Way};

/// Measures both halves. Holds at most one packet in each direction.
#[derive(Clone, Debug, Default)]
pub(super) struct Tcp {
    /// The UE's half, for downlink packets, and the other end's half.
    halves: [Half; 2],
}

impl Tcp {
    /// Looks at a segment, and gives a round trip that ends with it.
    pub(super) fn pass(&mut self, now: Instant, way: Way, packet: &Packet<&[u8]>) -> Option<Duration> {
        let (behind, before) = way.halves(&mut self.halves);
        let timestamps = packet.options().find_map(|option| match option {
            Ok(TcpOption::Timestamps { value, echo }) => Some((value, echo)),
            _ => None,
        });
        let (mark, answer) = match timestamps {
            Some((value, echo)) => (Mark::Timestamp(value), Mark::Timestamp(echo)),
            None => (Mark::Sequence(end(packet)), Mark::Sequence(packet.ack())),
        };
        let sample = if packet.flags().ack { before.answered(now, answer) } else { None };
        behind.passed(now, mark, end(packet) != packet.seq());
        Some(sample? + behind.recent.least()?)
    }
}

/// First sequence number after a segment: SYN and FIN take one each (RFC 9293 3.4).
fn end(packet: &Packet<&[u8]>) -> u32 {
    let flags = packet.flags();
    let len = packet.payload().len() as u32 + u32::from(flags.syn) + u32::from(flags.fin);
    packet.seq().wrapping_add(len)
}

/// Number of a packet, which its answer repeats.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    /// TSval.
    Timestamp(u32),
    /// First sequence number after the segment.
    Sequence(u32),
}

impl Mark {
    /// Distance from this number to an answer's; `None` for an answer of another kind.
    fn distance(self, answer: Self) -> Option<i32> {
        match (self, answer) {
            (Self::Timestamp(own), Self::Timestamp(other)) | (Self::Sequence(own), Self::Sequence(other)) => {
                Some(other.wrapping_sub(own) as i32)
            }
            _ => None,
        }
    }
}

/// Half of a round trip: from here to one end and back.
#[derive(Clone, Debug, Default)]
struct Half {
    /// Packet that awaits an answer: number, time, and whether the end answers at once.
    probe: Option<(Mark, Instant, bool)>,
    /// Number of the previous packet: only the first packet with a timestamp gives the timestamp's time.
    last: Option<Mark>,
    recent: Recent,
}

impl Half {
    /// Takes a packet to the end. Data is answered at once; an acknowledgement is echoed only by the end's next packet.
    fn passed(&mut self, now: Instant, mark: Mark, is_data: bool) {
        let is_first = self.last.is_none_or(|last| last.distance(mark).is_none_or(|distance| distance > 0));
        match self.probe {
            // A retransmitted segment: it is unclear which copy is acknowledged (RFC 6298 3).
            Some((Mark::Sequence(_), ..)) if is_data && !is_first => self.probe = None,
            Some((_, at, _)) if now.since(at) < MAX_WAIT => {}
            _ if is_first && (is_data || matches!(mark, Mark::Timestamp(_))) => self.probe = Some((mark, now, is_data)),
            _ => {}
        }
        if is_first {
            self.last = Some(mark);
        }
    }

    /// Takes an answer, and gives its time if the end answered at once.
    fn answered(&mut self, now: Instant, answer: Mark) -> Option<Duration> {
        let (mark, at, is_prompt) = self.probe?;
        let distance = mark.distance(answer).filter(|distance| *distance >= 0)?;
        self.probe = None;
        // A later timestamp belongs to a later packet.
        if distance > 0 && matches!(mark, Mark::Timestamp(_)) {
            return None;
        }
        let took = now.since(at);
        self.recent.add(took);
        is_prompt.then_some(took)
    }
}
