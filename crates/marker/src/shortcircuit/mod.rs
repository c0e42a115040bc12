//! The feedback short-circuit (L4Span section 4.4): a mark is not set on the downlink packet but written into the next uplink
//! acknowledgements. So it does not wait in the RLC queue or cross the radio twice.
//!
//! The node keeps counters beside the client's, and never takes back an addition. A flow takes part if the node saw both ends agree
//! on AccECN or classic ECN. All other flows (UDP, QUIC, a connection that began elsewhere) have their packets marked. So does a
//! connection whose ends authenticate TCP headers, since they would drop every rewritten acknowledgement.

mod accecn;
mod classic;
mod segments;

use tidemark_core::{TcpFeedback, TcpFlags, TcpView};

use crate::relocation::{AccEcnRecord, FeedbackRecord, Wrong, check, flag};
use accecn::AccEcn;
use classic::ClassicEcn;

/// Agreement of two ends, and the counters of a flow that takes part.
///
/// A SYN alone never resets the counters of a connection, because it may be late or forged. Only the answer from the other side begins a
/// new connection (hosts also keep theirs, RFC 5961 4).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Feedback {
    agreed: Agreed,
    /// Request of the last SYN, until it is answered.
    asked: Option<Asked>,
    /// The last SYN's sequence number.
    isn: u32,
    /// The server has nothing more to send.
    is_over: bool,
}

#[derive(Clone, Copy, Debug)]
enum Agreed {
    /// No agreement, or no handshake was seen.
    Nothing,
    AccEcn(AccEcn),
    Classic(ClassicEcn),
}

#[derive(Clone, Copy, Debug)]
struct Asked {
    mode: Mode,
    is_downlink: bool,
}

#[derive(Clone, Copy, Debug)]
enum Mode {
    None,
    /// RFC 3168 6.1.1.
    Classic,
    /// RFC 9768 3.1.1.
    AccEcn,
}

impl Feedback {
    /// No handshake was seen.
    pub(crate) const UNKNOWN: Self = Self { agreed: Agreed::Nothing, asked: None, isn: 0, is_over: false };

    /// A segment passes downwards. True if it should be marked in place of marks that were let go: then [`settle`](Self::settle) is to be
    /// called. Marks of an earlier connection that no acknowledgement carried are added to `marks_let_go`.
    #[inline(always)]
    pub(crate) fn downlink(&mut self, tcp: &TcpView, marks_let_go: &mut u32) -> bool {
        // It says which feedback the connection will have (RFC 9768 3.1.1): nothing is owed on it yet.
        if tcp.flags.syn {
            self.negotiate(tcp.flags, tcp.seq, tcp.ack, tcp.is_authenticated, true, marks_let_go);
            return false;
        }
        // Sticky until the next connection: a segment from before the FIN may come after it.
        self.is_over |= tcp.flags.fin | tcp.flags.rst;
        match &mut self.agreed {
            Agreed::AccEcn(state) => state.downlink(tcp) && !tcp.flags.rst,
            Agreed::Classic(state) => {
                state.downlink(tcp);
                false
            }
            Agreed::Nothing => false,
        }
    }

    /// The packet at hand was marked in place of marks that were let go.
    pub(crate) fn settle(&mut self) {
        if let Agreed::AccEcn(state) = &mut self.agreed {
            state.settle();
        }
    }

    /// Marks that wait for later acknowledgements.
    pub(crate) fn pending(&self) -> u32 {
        match &self.agreed {
            Agreed::AccEcn(state) => state.pending(),
            // An echo goes on until its answer, and tells any number of marks.
            Agreed::Classic(_) | Agreed::Nothing => 0,
        }
    }

    /// Takes the law's mark of this downlink segment. True if acknowledgements will carry the mark and the packet stays unchanged.
    #[inline]
    pub(crate) fn mark(&mut self, tcp: &TcpView) -> bool {
        // A segment that sets up the connection is never touched, in either direction, and what carries no data is not acknowledged.
        if tcp.flags.syn || tcp.flags.rst || tcp.payload == 0 {
            return false;
        }
        match &mut self.agreed {
            Agreed::AccEcn(state) => state.mark(tcp),
            Agreed::Classic(state) => state.mark(),
            Agreed::Nothing => false,
        }
    }

    /// Handles an uplink segment, and gives the feedback to write into it. Marks that no acknowledgement will carry any more are added to
    /// `marks_let_go`.
    #[inline(always)]
    pub(crate) fn uplink(&mut self, tcp: &TcpView, marks_let_go: &mut u32) -> Option<TcpFeedback> {
        // Here the bits of the feedback negotiate (RFC 9768 3.1.1): they are no counter to add to.
        if tcp.flags.syn {
            self.negotiate(tcp.flags, tcp.seq, tcp.ack, tcp.is_authenticated, false, marks_let_go);
            return None;
        }
        // A reset ends the connection, and without ACK the feedback fields mean nothing: there is nothing to add to.
        if tcp.flags.rst || !tcp.flags.ack {
            return None;
        }
        match &mut self.agreed {
            Agreed::AccEcn(state) => state.uplink(tcp, marks_let_go),
            Agreed::Classic(state) => state.uplink(tcp),
            Agreed::Nothing => None,
        }
    }

    /// The connection's sender has nothing more to send, and no use for feedback.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// True if the sender received other feedback than the client's own: without this state the counters would go backwards.
    pub(crate) fn has_signalled(&self) -> bool {
        match &self.agreed {
            Agreed::AccEcn(state) => state.has_signalled(),
            Agreed::Classic(state) => state.has_signalled(),
            Agreed::Nothing => false,
        }
    }

    /// State for another CU-UP.
    pub(crate) fn export(&self) -> FeedbackRecord {
        let mode = |asked: Asked| match asked.mode {
            Mode::None => 1,
            Mode::Classic => 2,
            Mode::AccEcn => 3,
        };
        let (agreed, echo, accecn) = match &self.agreed {
            Agreed::Nothing => (0, false, AccEcnRecord::none()),
            Agreed::Classic(state) => (1, state.has_signalled(), AccEcnRecord::none()),
            Agreed::AccEcn(state) => (2, false, state.export()),
        };
        FeedbackRecord {
            isn: self.isn.into(),
            asked: self.asked.map_or(0, mode),
            asked_downlink: self.asked.is_some_and(|asked| asked.is_downlink).into(),
            is_over: self.is_over.into(),
            agreed,
            echo: echo.into(),
            accecn,
        }
    }

    /// State from another CU-UP.
    pub(crate) fn import(record: &FeedbackRecord) -> Result<Self, Wrong> {
        let is_downlink = flag(record.asked_downlink, "asked_downlink")?;
        let asked = |mode| Some(Asked { mode, is_downlink });
        let asked = match record.asked {
            0 => None,
            1 => asked(Mode::None),
            2 => asked(Mode::Classic),
            3 => asked(Mode::AccEcn),
            _ => return Err(Wrong::new("asked", "must be 0 to 3")),
        };
        check(asked.is_some() || !is_downlink, "asked_downlink", "must be 0 without a request")?;
        let echo = flag(record.echo, "echo")?;
        let agreed = match record.agreed {
            0 => Agreed::Nothing,
            1 => Agreed::Classic(ClassicEcn::new(echo)),
            2 => Agreed::AccEcn(AccEcn::import(&record.accecn)?),
            _ => return Err(Wrong::new("agreed", "must be 0 to 2")),
        };
        check(record.agreed == 1 || !echo, "echo", "must be 0 without classic ECN")?;
        check(record.agreed == 2 || record.accecn.is_none(), "accecn", "must be zeroes without AccECN")?;
        Ok(Self { agreed, asked, isn: record.isn.get(), is_over: flag(record.is_over, "is_over")? })
    }

    /// RFC 9768 table 2, and RFC 3168 where AccECN was not asked for.
    // Given what it needs of the segment, so that no other's view need be put together in memory.
    #[cold]
    #[inline(never)]
    fn negotiate(
        &mut self,
        flags: TcpFlags,
        seq: u32,
        ack: u32,
        is_authenticated: bool,
        is_downlink: bool,
        marks_let_go: &mut u32,
    ) {
        let code = flags.ace();
        // A SYN: it only asks.
        if !flags.ack {
            let goes_on = !matches!(self.agreed, Agreed::Nothing);
            // Agreed already, so this SYN is late: to begin anew would lose the counters.
            if goes_on && self.asked.is_none() && self.isn == seq {
                return; // The SYN of this very connection, late.
            }
            let mode = match code {
                _ if is_authenticated => Mode::None,
                0b000 => Mode::None,
                0b011 => Mode::Classic,
                // Every other combination is to be taken for AccECN by the server, whatever it may come to mean.
                _ => Mode::AccEcn,
            };
            (self.asked, self.isn) = (Some(Asked { mode, is_downlink }), seq);
            return;
        }
        // It acknowledges the SYN, and the data that came with it (RFC 7413).
        let answers = ack.wrapping_sub(self.isn.wrapping_add(1)) <= u32::from(u16::MAX);
        let Some(asked) = self.asked.filter(|asked| answers && asked.is_downlink != is_downlink) else { return };
        // A client's first acknowledgement has the SYN/ACK's ECN field in place of a counter (RFC 9768 3.2.2.1); what answers a server's
        // SYN is followed by counters.
        let start = if is_downlink { seq.wrapping_add(1) } else { ack };
        (self.asked, self.is_over) = (None, false);
        *marks_let_go = marks_let_go.saturating_add(self.pending());
        self.agreed = match (asked.mode, code) {
            // RFC 9768 table 2: 0b001 is a server with classic ECN alone; 0b000 and 0b111 mean no ECN, of the server's own or since the
            // bits are cleared or reflected on the way.
            _ if is_authenticated => Agreed::Nothing,
            (Mode::AccEcn, 0b010..=0b110) => Agreed::AccEcn(AccEcn::new(start, is_downlink)),
            (Mode::AccEcn | Mode::Classic, 0b001) => Agreed::Classic(ClassicEcn::default()),
            _ => Agreed::Nothing,
        };
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use tidemark_core::packet::AccEcnChange;

    pub(crate) fn segment(ace: u8, syn: bool, ack: Option<u32>, seq: u32, payload: u32) -> TcpView {
        let flags = TcpFlags { syn, ack: ack.is_some(), ..TcpFlags::default() }.with_ace(ace);
        TcpView { flags, seq, ack: ack.unwrap_or(0), payload, accecn: None, is_authenticated: false }
    }

    /// A connection that a UE opened with this SYN and the server answered with this SYN/ACK.
    pub(crate) fn opened(syn: u8, syn_ack: u8) -> Feedback {
        let mut feedback = Feedback::UNKNOWN;
        assert!(feedback.uplink(&segment(syn, true, None, 100, 0), &mut 0).is_none());
        feedback.downlink(&segment(syn_ack, true, Some(101), 999, 0), &mut 0);
        feedback
    }

    /// A flow of that kind, opened by the server.
    pub(crate) fn opened_by_the_server(syn: u8, syn_ack: u8) -> Feedback {
        let mut feedback = Feedback::UNKNOWN;
        feedback.downlink(&segment(syn, true, None, 999, 0), &mut 0);
        assert_eq!(feedback.uplink(&segment(syn_ack, true, Some(1_000), 100, 0), &mut 0), None);
        // The third segment is the server's.
        feedback.downlink(&segment(syn_ack, false, Some(101), 1_000, 0), &mut 0);
        feedback
    }

    /// The segment that goes on of one that passes upwards.
    pub(crate) fn passed(feedback: &mut Feedback, segment: &TcpView) -> TcpView {
        feedback.uplink(segment, &mut 0).map_or(*segment, |told| segment.with_feedback(told))
    }

    #[test]
    fn rfc_9768_table_2_decides_the_mode() {
        for (syn_ack, acc_ecn) in
            [(0b010, true), (0b011, true), (0b100, true), (0b110, true), (0b101, true), (0b001, false), (0b000, false)]
        {
            assert_eq!(matches!(opened(0b111, syn_ack).agreed, Agreed::AccEcn(_)), acc_ecn, "{syn_ack:03b}");
        }
        assert!(matches!(opened(0b111, 0b001).agreed, Agreed::Classic(_)));
        assert!(matches!(opened(0b111, 0b111).agreed, Agreed::Nothing));
        assert!(matches!(opened(0b011, 0b001).agreed, Agreed::Classic(_)));
        assert!(matches!(opened(0b011, 0b000).agreed, Agreed::Nothing));
        assert!(matches!(opened(0b000, 0b000).agreed, Agreed::Nothing));
    }

    #[test]
    fn a_connection_that_began_elsewhere_is_marked_on_its_packets() {
        let mut feedback = Feedback::UNKNOWN;
        assert!(!feedback.mark(&segment(0, false, Some(1), 1000, 1448)));
        assert!(feedback.uplink(&segment(5, false, Some(2448), 1, 0), &mut 0).is_none());
    }

    #[test]
    fn syn_and_reset_are_never_touched() {
        let mut feedback = opened(0b111, 0b010);
        assert!(!feedback.mark(&segment(0, true, Some(101), 999, 0)));
        assert!(feedback.mark(&segment(0, false, Some(101), 1000, 1448)));
        let mut reset = segment(5, false, Some(2448), 101, 0);
        reset.flags.rst = true;
        assert!(feedback.uplink(&reset, &mut 0).is_none());
        assert!(feedback.uplink(&segment(0b111, true, None, 100, 0), &mut 0).is_none());
    }

    #[test]
    fn classic_ecn_echoes_until_cwr() {
        let mut feedback = opened(0b011, 0b001);
        let ack = segment(0, false, Some(2448), 101, 0);
        let mut echo = ack;
        echo.flags.ece = true;
        assert_eq!(feedback.uplink(&ack, &mut 0), None);
        assert!(feedback.mark(&segment(0, false, Some(101), 1000, 1448)));
        for _ in 0..3 {
            assert_eq!(feedback.uplink(&ack, &mut 0), Some(TcpFeedback::Classic { ece: true }));
        }
        let mut reduced = segment(0, false, Some(101), 2448, 1448);
        reduced.flags.cwr = true;
        feedback.downlink(&reduced, &mut 0);
        assert_eq!(feedback.uplink(&ack, &mut 0), None);
        // What the client itself echoes, of a mark set elsewhere, stays.
        assert_eq!(feedback.uplink(&echo, &mut 0), None);
        assert!(feedback.mark(&segment(0, false, Some(101), 3896, 1448)));
        assert_eq!(feedback.uplink(&ack, &mut 0), Some(TcpFeedback::Classic { ece: true }));
    }

    /// Connections of both kinds of which the sender was told a mark, the acknowledgement that it goes on with, and what
    /// that becomes.
    fn told() -> [(Feedback, TcpView, TcpFeedback); 2] {
        let change = AccEcnChange { ace: 1, ceb: 0, e0b: 0, e1b: 0 };
        [(0b111, 0b010, 5, TcpFeedback::AccEcn(change)), (0b011, 0b001, 0, TcpFeedback::Classic { ece: true })].map(
            |(syn, syn_ack, ace, expected)| {
                let mut feedback = opened(syn, syn_ack);
                let data = segment(0, false, Some(101), 1_000, 1_448);
                feedback.downlink(&data, &mut 0);
                assert!(!feedback.has_signalled() && feedback.mark(&data));
                let ack = segment(ace, false, Some(2_448), 101, 0);
                assert_eq!(feedback.uplink(&ack, &mut 0), Some(expected));
                assert!(feedback.has_signalled());
                (feedback, ack, expected)
            },
        )
    }

    #[test]
    fn a_syn_that_nobody_answers_leaves_the_counters_of_a_live_connection_alone() {
        // Late, of somebody else's making, and in either direction; then answered, but not by the other side or not to it.
        let syn = |seq, ace| segment(ace, true, None, seq, 0);
        for isn in [100, 77_000] {
            for ace in [0b000, 0b011, 0b111] {
                for (mut feedback, ack, expected) in told() {
                    assert_eq!(feedback.uplink(&syn(isn, ace), &mut 0), None);
                    assert_eq!(feedback.uplink(&ack, &mut 0), Some(expected));
                    feedback.downlink(&segment(0b010, true, Some(101 + u32::from(isn == 100)), 999, 0), &mut 0);
                    assert_eq!(feedback.uplink(&ack, &mut 0), Some(expected), "a SYN/ACK that answers another SYN");
                }
                for (mut feedback, ack, expected) in told() {
                    feedback.downlink(&syn(isn, ace), &mut 0);
                    assert_eq!(feedback.uplink(&ack, &mut 0), Some(expected));
                    feedback.downlink(&segment(0b010, true, Some(isn + 1), 999, 0), &mut 0);
                    assert_eq!(feedback.uplink(&ack, &mut 0), Some(expected), "a SYN/ACK from where the SYN came");
                }
            }
        }
    }

    #[test]
    fn the_answer_to_a_syn_begins_a_connection() {
        for (mut feedback, ack, _) in told() {
            feedback.uplink(&segment(0b111, true, None, 5_000, 0), &mut 0);
            // With 300 bytes in the SYN.
            feedback.downlink(&segment(0b010, true, Some(5_301), 999, 0), &mut 0);
            assert_eq!(feedback.uplink(&ack, &mut 0), None);
            assert!(matches!(feedback.agreed, Agreed::AccEcn(_)) && !feedback.has_signalled());
        }
    }

    #[test]
    fn a_connection_that_the_server_opens_has_a_counter_in_its_first_acknowledgement() {
        // The client's first one is about data.
        let mut feedback = opened_by_the_server(0b111, 0b010);
        for k in 0..20 {
            let data = segment(5, false, Some(101), 1_000 + k * 1_448, 1_448);
            feedback.downlink(&data, &mut 0);
            assert!(feedback.mark(&data));
            let ack = segment(5, false, Some(1_000 + (k + 1) * 1_448), 101, 0);
            let ace = passed(&mut feedback, &ack).flags.ace();
            assert_eq!(u32::from(ace), (5 + k + 1) % 8, "segment {k}");
        }
    }

    #[test]
    fn no_mark_waits_for_an_acknowledgement_of_what_is_none_or_has_no_data() {
        let data = segment(0, false, Some(101), 1_000, 1_448);
        let with = |change: fn(&mut TcpView)| {
            let mut changed = data;
            change(&mut changed);
            changed
        };
        for (segment, waits) in [
            (data, true),
            (with(|tcp| tcp.flags.fin = true), true),
            (with(|tcp| tcp.payload = 0), false),
            (with(|tcp| tcp.flags.syn = true), false),
            (with(|tcp| tcp.flags.rst = true), false),
        ] {
            for (syn, syn_ack) in [(0b111, 0b010), (0b011, 0b001)] {
                assert_eq!(opened(syn, syn_ack).mark(&segment), waits, "{segment:?}");
            }
        }
    }

    #[test]
    fn a_connection_is_over_once_its_server_ends_it_by_either_flag() {
        for (fin, rst) in [(false, false), (true, false), (false, true), (true, true)] {
            let mut feedback = opened(0b111, 0b010);
            let mut last = segment(0, false, Some(101), 1_000, 0);
            (last.flags.fin, last.flags.rst) = (fin, rst);
            feedback.downlink(&last, &mut 0);
            assert_eq!(feedback.is_over(), fin || rst);
            // A segment from before it changes nothing.
            feedback.downlink(&segment(0, false, Some(101), 1_000, 100), &mut 0);
            assert_eq!(feedback.is_over(), fin || rst);
        }
    }

    #[test]
    fn a_request_under_way_goes_to_another_cu_up() {
        // A SYN's field, and whether its connection has AccECN or classic ECN once the answer comes.
        for (syn, syn_ack, accecn, classic) in [
            (0b000, 0b001, false, false),
            (0b011, 0b001, false, true),
            (0b011, 0b010, false, false),
            (0b111, 0b010, true, false),
        ] {
            let mut feedback = Feedback::UNKNOWN;
            feedback.uplink(&segment(syn, true, None, 100, 0), &mut 0);
            let mut moved = Feedback::import(&feedback.export()).unwrap();
            for feedback in [&mut feedback, &mut moved] {
                feedback.downlink(&segment(syn_ack, true, Some(101), 999, 0), &mut 0);
                assert_eq!(matches!(feedback.agreed, Agreed::AccEcn(_)), accecn, "{syn:03b}");
                assert_eq!(matches!(feedback.agreed, Agreed::Classic(_)), classic, "{syn:03b}");
            }
        }
    }

    #[test]
    fn counters_without_accecn_are_refused() {
        let mut record = opened(0b111, 0b010).export();
        assert!(Feedback::import(&record).is_ok());
        record.agreed = 0;
        assert!(Feedback::import(&record).is_err());
        assert!(Feedback::import(&Feedback::UNKNOWN.export()).is_ok());
    }
}
