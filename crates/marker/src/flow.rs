//! A flow of a DRB, as the marker remembers it.

use core::num::NonZeroU32;

use tidemark_core::{Duration, Instant, TcpFlags};
use tidemark_wire::ip::FiveTuple;

use crate::overload::Account;
use crate::relocation::{Record, Wrong, check};
use crate::shortcircuit::Feedback;
use crate::verdict::Class;

/// Packets after which a flow counts as long.
pub(crate) const LASTING: u16 = 8;
/// State of one flow, which takes two whole cache lines.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub(crate) struct Flow {
    /// Size of its largest packet: the segment in Eq. 2.
    pub largest: u16,
    /// Packets so far, up to 65535.
    pub packets: u16,
    /// Round trip of the handshake, from this node and back to it, in microseconds.
    rtt: Option<NonZeroU32>,
    pub last_seen: Instant,
    opening: Opening,
    /// Class from the strongest ECN field seen: L4S, else classic, else Not-ECT.
    pub class: Option<Class>,
    /// Congestion feedback, if it is short-circuited.
    pub feedback: Feedback,
    /// Marked bytes that it sent in overload.
    pub account: Account,
}

/// Progress of the TCP handshake. The first two segments of the side that opens are one whole round trip apart at
/// any point of the path (L4Span section 4.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Opening {
    Unseen,
    /// The SYN passed at this time, downlink or uplink.
    Syn {
        at: Instant,
        downlink: bool,
    },
    /// Measured, or ambiguous since the SYN was retransmitted.
    Closed,
}

const _: () = assert!(size_of::<Flow>() == 128);

impl Flow {
    pub(crate) fn new(now: Instant) -> Self {
        Self {
            class: None,
            largest: 0,
            rtt: None,
            feedback: Feedback::UNKNOWN,
            opening: Opening::Unseen,
            packets: 0,
            last_seen: now,
            account: Account::EMPTY,
        }
    }

    /// Learns from a downlink packet.
    pub(crate) fn downlink(&mut self, now: Instant, class: Option<Class>, size: u64) {
        self.packets = self.packets.saturating_add(1);
        self.last_seen = now;
        self.largest = self.largest.max(u16::try_from(size).unwrap_or(u16::MAX));
        // SYNs, pure acknowledgements and retransmissions may be Not-ECT in any flow: a class is never lowered.
        self.class = match (self.class, class) {
            (Some(known), Some(shown)) => Some(known.min(shown)),
            (known, shown) => known.or(shown),
        };
    }

    /// Round trip of the handshake, from this node and back to it; `None` if it was not seen.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt.map(|micros| Duration::from_micros(micros.get().into()))
    }

    /// Learns from an uplink packet.
    pub(crate) fn uplink(&mut self, now: Instant) {
        self.last_seen = now;
    }

    /// Follows the handshake.
    pub(crate) fn handshake(&mut self, now: Instant, flags: TcpFlags, is_downlink: bool) {
        match self.opening {
            // Which side opened decides whose acknowledgement ends the round trip that is measured.
            Opening::Unseen if flags.syn && !flags.ack => {
                self.opening = Opening::Syn { at: now, downlink: is_downlink };
            }
            // A retransmitted SYN makes it unclear which one was answered (RFC 6298 3, after Karn).
            Opening::Syn { .. } if flags.syn && !flags.ack => self.opening = Opening::Closed,
            // The opening side's first acknowledgement: from its SYN to here both ends have answered once.
            Opening::Syn { at, downlink } if downlink == is_downlink && flags.ack => {
                self.rtt = NonZeroU32::new(u32::try_from(now.since(at).as_micros()).unwrap_or(u32::MAX));
                self.opening = Opening::Closed;
            }
            _ => {}
        }
    }

    /// Exports the state for another CU-UP, which identifies the connection by its five-tuple.
    pub(crate) fn export(&self, tuple: &FiveTuple) -> Record {
        let class = match self.class {
            None => 0,
            Some(Class::L4s) => 1,
            Some(Class::Classic) => 2,
            Some(Class::NotEct) => 3,
        };
        Record {
            class,
            largest: self.largest.into(),
            packets: self.packets.into(),
            rtt: self.rtt.map_or(0, NonZeroU32::get).into(),
            feedback: self.feedback.export(),
            ..Record::new(tuple)
        }
    }

    /// Imports the state from another CU-UP. An unfinished handshake gives no round trip, because the clocks differ.
    pub(crate) fn import(now: Instant, record: &Record) -> Result<Self, Wrong> {
        check(record.class <= 3, "class", "must be 0 to 3")?;
        Ok(Self {
            largest: record.largest.get(),
            packets: record.packets.get(),
            rtt: NonZeroU32::new(record.rtt.get()),
            last_seen: now,
            opening: Opening::Closed,
            class: [None, Some(Class::L4s), Some(Class::Classic), Some(Class::NotEct)][usize::from(record.class)],
            feedback: Feedback::import(&record.feedback)?,
            account: Account::EMPTY,
        })
    }

    /// True once the handshake was seen, and with it the agreed ECN mode.
    pub(crate) fn is_opened(&self) -> bool {
        self.opening != Opening::Unseen
    }

    /// Reason to keep the flow, by the cost of evicting it.
    pub(crate) fn retention(&self) -> Retention {
        // A connection that is over keeps its counters for its last acknowledgements alone: a shorter time than one that goes on.
        if self.feedback.has_signalled() {
            if self.feedback.is_over() { Retention::Lasting } else { Retention::Signalled }
        } else if self.feedback.is_over() {
            // Nothing will be acknowledged any more, so that nothing is lost with it.
            Retention::None
        } else if self.packets >= LASTING {
            // Its round trip and class were learned from many packets, and would have to be learned again.
            Retention::Lasting
        } else {
            Retention::None
        }
    }
}

/// Reason to keep a flow.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Retention {
    None,
    /// A long flow.
    Lasting,
    /// A flow whose sender's feedback would go backwards.
    Signalled,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(millis: u64) -> Instant {
        Instant::from_millis(millis)
    }
    fn flags(syn: bool, ack: bool) -> TcpFlags {
        TcpFlags { syn, ack, ..TcpFlags::default() }
    }

    #[test]
    fn the_handshake_of_either_side_gives_one_whole_round_trip() {
        let mut opened_by_ue = Flow::new(ms(0));
        opened_by_ue.handshake(ms(0), flags(true, false), false);
        opened_by_ue.handshake(ms(38), flags(true, true), true);
        opened_by_ue.handshake(ms(55), flags(false, true), false);
        opened_by_ue.handshake(ms(99), flags(false, true), false);
        assert_eq!(opened_by_ue.rtt(), Some(Duration::from_millis(55)));

        let mut opened_by_server = Flow::new(ms(0));
        opened_by_server.handshake(ms(0), flags(true, false), true);
        opened_by_server.handshake(ms(17), flags(true, true), false);
        opened_by_server.handshake(ms(55), flags(false, true), true);
        assert_eq!(opened_by_server.rtt(), Some(Duration::from_millis(55)));
    }

    #[test]
    fn a_repeated_syn_gives_no_round_trip() {
        let mut flow = Flow::new(ms(0));
        flow.handshake(ms(0), flags(true, false), false);
        flow.handshake(ms(1_000), flags(true, false), false);
        flow.handshake(ms(1_040), flags(false, true), false);
        assert_eq!(flow.rtt(), None);
    }

    #[test]
    fn a_class_is_not_lowered_by_control_packets() {
        let mut flow = Flow::new(ms(0));
        flow.downlink(ms(0), Some(Class::NotEct), 60);
        assert_eq!(flow.class, Some(Class::NotEct));
        flow.downlink(ms(1), Some(Class::L4s), 1_500);
        flow.downlink(ms(2), Some(Class::NotEct), 60);
        flow.downlink(ms(3), None, 1_500);
        assert_eq!(flow.class, Some(Class::L4s));
    }

    #[test]
    fn a_segment_that_answers_nothing_leaves_the_round_trip_open() {
        let mut flow = Flow::new(ms(0));
        // A SYN-ACK alone is no opening, and a reset without ACK is no second SYN.
        flow.handshake(ms(0), flags(true, true), false);
        flow.handshake(ms(10), flags(true, false), false);
        flow.handshake(ms(20), flags(false, false), false);
        flow.handshake(ms(65), flags(false, true), false);
        assert_eq!(flow.rtt(), Some(Duration::from_millis(55)));
    }

    #[test]
    fn a_flow_goes_to_another_cu_up_with_what_is_known_of_it() {
        use core::net::Ipv4Addr;
        let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1).into(), Ipv4Addr::new(10, 0, 0, 2).into());
        let tuple = FiveTuple { source, destination, protocol: 6, ports: Some((1, 2)) };
        for class in [None, Some(Class::L4s), Some(Class::Classic), Some(Class::NotEct)] {
            let mut flow = Flow::new(ms(0));
            flow.handshake(ms(0), flags(true, false), true);
            flow.handshake(ms(55), flags(false, true), true);
            [1_400, 900].into_iter().for_each(|size| flow.downlink(ms(60), class, size));
            let moved = Flow::import(ms(70), &flow.export(&tuple)).unwrap();
            assert_eq!((moved.class, moved.largest, moved.packets), (class, 1_400, 2));
            assert_eq!(moved.rtt(), Some(Duration::from_millis(55)));
            assert!(moved.is_opened());
        }
    }
}
