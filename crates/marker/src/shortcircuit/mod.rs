//! The feedback short-circuit (L4Span section 4.4): a mark is not set on the downlink packet but written into the next
//! acknowledgements on their way up, so that it does not wait in the RLC queue and cross the radio twice.
//!
//! The node keeps the client's books: what it adds, it adds for good. A flow takes part if both ends agreed on AccECN or
//! classic ECN under the node's eyes; every other (UDP, QUIC, a connection that began elsewhere) has its packets marked.

mod accecn;
mod classic;

use tidemark_core::{TcpFeedback, TcpView};

use accecn::AccEcn;
use classic::ClassicEcn;

/// What two ends agreed on, and the books of a flow that takes part.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Feedback {
    /// No handshake was seen.
    Unknown,
    /// A SYN asked for AccECN (RFC 9768 section 3.1.1).
    AccEcnAsked,
    /// A SYN asked for classic ECN (RFC 3168 section 6.1.1).
    ClassicAsked,
    /// Neither.
    Off,
    AccEcn(AccEcn),
    Classic(ClassicEcn),
}

impl Feedback {
    /// A segment passes downwards.
    #[inline]
    pub(crate) fn downlink(&mut self, tcp: &TcpView) {
        if tcp.flags.syn {
            self.negotiate(tcp.flags.ack, tcp.flags.ace(), Some(tcp.seq.wrapping_add(1)));
            return;
        }
        match self {
            Self::AccEcn(books) => books.downlink(tcp),
            Self::Classic(books) => books.downlink(tcp),
            _ => {}
        }
    }

    /// The law marks this downlink segment. True if the mark is in the books and the packet stays as it is.
    #[inline]
    pub(crate) fn mark(&mut self, tcp: &TcpView) -> bool {
        // A segment that sets up the connection is never touched, in either direction.
        if tcp.flags.syn || tcp.flags.rst {
            return false;
        }
        match self {
            Self::AccEcn(books) => books.mark(tcp),
            Self::Classic(books) => books.mark(),
            _ => return false,
        }
        true
    }

    /// A segment passes upwards: what to write into it.
    #[inline]
    pub(crate) fn uplink(&mut self, tcp: &TcpView) -> Option<TcpFeedback> {
        if tcp.flags.syn {
            self.negotiate(tcp.flags.ack, tcp.flags.ace(), None);
            return None;
        }
        if tcp.flags.rst || !tcp.flags.ack {
            return None;
        }
        match self {
            Self::AccEcn(books) => books.uplink(tcp),
            Self::Classic(books) => books.uplink(tcp),
            _ => None,
        }
    }

    /// RFC 9768 table 2, and RFC 3168 where AccECN was not asked for. The client's first acknowledgement repeats the SYN/ACK's ECN
    /// field in place of a counter; if the client is the UE, it acknowledges `handshake_ack`.
    fn negotiate(&mut self, is_answer: bool, code: u8, handshake_ack: Option<u32>) {
        if !is_answer {
            *self = match code {
                0b000 => Self::Off,
                0b011 => Self::ClassicAsked,
                // Every other combination is to be taken for AccECN by the server, whatever it may come to mean.
                _ => Self::AccEcnAsked,
            };
            return;
        }
        *self = match (*self, code) {
            (Self::AccEcnAsked, 0b010..=0b110) => Self::AccEcn(AccEcn::new(handshake_ack)),
            (Self::AccEcnAsked | Self::ClassicAsked, 0b001) => Self::Classic(ClassicEcn::default()),
            // A SYN/ACK again: the connection goes on as it was agreed.
            (agreed @ (Self::AccEcn(_) | Self::Classic(_)), _) => agreed,
            _ => Self::Off,
        };
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tidemark_core::{TcpFeedback, TcpFlags};

    pub(crate) fn segment(ace: u8, syn: bool, ack: Option<u32>, seq: u32, payload: u32) -> TcpView {
        let flags = TcpFlags { syn, ack: ack.is_some(), ..TcpFlags::default() }.with_ace(ace);
        TcpView { flags, seq, ack: ack.unwrap_or(0), payload, accecn: None }
    }

    /// A connection that a UE opened with this SYN and the server answered with this SYN/ACK.
    pub(crate) fn opened(syn: u8, syn_ack: u8) -> Feedback {
        let mut feedback = Feedback::Unknown;
        assert!(feedback.uplink(&segment(syn, true, None, 100, 0)).is_none());
        feedback.downlink(&segment(syn_ack, true, Some(101), 999, 0));
        feedback
    }

    #[test]
    fn rfc_9768_table_2_decides_the_mode() {
        for (syn_ack, acc_ecn) in
            [(0b010, true), (0b011, true), (0b100, true), (0b110, true), (0b101, true), (0b001, false), (0b000, false)]
        {
            assert_eq!(matches!(opened(0b111, syn_ack), Feedback::AccEcn(_)), acc_ecn, "{syn_ack:03b}");
        }
        assert!(matches!(opened(0b111, 0b001), Feedback::Classic(_)));
        assert!(matches!(opened(0b111, 0b111), Feedback::Off));
        assert!(matches!(opened(0b011, 0b001), Feedback::Classic(_)));
        assert!(matches!(opened(0b011, 0b000), Feedback::Off));
        assert!(matches!(opened(0b000, 0b000), Feedback::Off));
    }

    #[test]
    fn a_connection_that_began_elsewhere_is_marked_on_its_packets() {
        let mut feedback = Feedback::Unknown;
        assert!(!feedback.mark(&segment(0, false, Some(1), 1000, 1448)));
        assert!(feedback.uplink(&segment(5, false, Some(2448), 1, 0)).is_none());
    }

    #[test]
    fn syn_and_reset_are_never_touched() {
        let mut feedback = opened(0b111, 0b010);
        assert!(!feedback.mark(&segment(0, true, Some(101), 999, 0)));
        assert!(feedback.mark(&segment(0, false, Some(101), 1000, 1448)));
        let mut reset = segment(5, false, Some(2448), 101, 0);
        reset.flags.rst = true;
        assert!(feedback.uplink(&reset).is_none());
        assert!(feedback.uplink(&segment(0b111, true, None, 100, 0)).is_none());
    }

    #[test]
    fn classic_ecn_echoes_until_cwr() {
        let mut feedback = opened(0b011, 0b001);
        let ack = segment(0, false, Some(2448), 101, 0);
        let mut echo = ack;
        echo.flags.ece = true;
        assert_eq!(feedback.uplink(&ack), None);
        assert!(feedback.mark(&segment(0, false, Some(101), 1000, 1448)));
        for _ in 0..3 {
            assert_eq!(feedback.uplink(&ack), Some(TcpFeedback::Classic { ece: true }));
        }
        let mut reduced = segment(0, false, Some(101), 2448, 1448);
        reduced.flags.cwr = true;
        feedback.downlink(&reduced);
        assert_eq!(feedback.uplink(&ack), None);
        // What the client itself echoes, of a mark set elsewhere, stays.
        assert_eq!(feedback.uplink(&echo), None);
        assert!(feedback.mark(&segment(0, false, Some(101), 3896, 1448)));
        assert_eq!(feedback.uplink(&ack), Some(TcpFeedback::Classic { ece: true }));
    }
}
