//! Feedback about marks, by the end that received them.

use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{Ecn, TcpFlags};

use super::{Counters, INITIAL};
use crate::config::EcnMode;

/// Report of one end to the other about the marks on what it receives.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Feedback {
    mode: EcnMode,
    counters: Counters,
    /// Byte counters when an option was last sent; a change since then calls for the next option.
    reported: Counters,
    /// Classic: CE was seen and the sender has not yet said CWR.
    echo: bool,
    /// CE packets since the last acknowledgement.
    unreported_marks: u32,
    last_was_ce: bool,
}

/// Urgency of an acknowledgement after a packet, as far as ECN goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::tcp) enum Urgency {
    /// The ordinary delay will do.
    Delayed,
    /// No delay.
    Immediate,
}

/// RFC 9768 3.2.2.5.1: an acknowledgement within two CE marks.
const MARKS_PER_ACK: u32 = 2;

impl Feedback {
    pub(in crate::tcp) fn new(mode: EcnMode) -> Self {
        Self { mode, counters: INITIAL, reported: INITIAL, echo: false, unreported_marks: 0, last_was_ce: false }
    }

    /// The SYN/ACK had CE (RFC 9768 3.2.2.1).
    pub(in crate::tcp) fn syn_ack_was_marked(&mut self) {
        self.counters.cep = 6;
    }

    /// An acceptable packet that is no SYN has arrived.
    pub(in crate::tcp) fn on_packet(&mut self, ecn: Ecn, payload: u32, flags: TcpFlags) -> Urgency {
        match self.mode {
            EcnMode::Off => Urgency::Delayed,
            EcnMode::Classic => {
                let was = self.echo;
                // The sender has answered: the echo has done its work (RFC 3168 6.1.3).
                if flags.cwr && payload > 0 {
                    self.echo = false;
                }
                self.echo |= ecn == Ecn::Ce;
                // A change of the echo is fed back at once, as Linux does.
                if self.echo && !was { Urgency::Immediate } else { Urgency::Delayed }
            }
            EcnMode::Accecn => {
                let counters = &mut self.counters;
                // Bytes are counted by codepoint, so that the sender sees who cleared or changed it (RFC 9768 3.2.3).
                match ecn {
                    Ecn::NotEct => {}
                    Ecn::Ect0 => counters.e0b += u64::from(payload),
                    Ecn::Ect1 => counters.e1b += u64::from(payload),
                    Ecn::Ce => {
                        counters.ceb += u64::from(payload);
                        counters.cep += 1;
                        self.unreported_marks += 1;
                    }
                }
                let changed = ecn == Ecn::Ce && !self.last_was_ce && payload > 0;
                self.last_was_ce = ecn == Ecn::Ce;
                // Without data to acknowledge, three marks; acknowledging each mark on a pure
                // acknowledgement would let the two ends answer each other for ever (RFC 9768 3.2.2.5.1).
                let limit = if payload > 0 { MARKS_PER_ACK } else { MARKS_PER_ACK + 1 };
                if changed || self.unreported_marks >= limit { Urgency::Immediate } else { Urgency::Delayed }
            }
        }
    }

    /// The ECN bits of a segment that is about to leave.
    pub(in crate::tcp) fn flags(&mut self, flags: TcpFlags) -> TcpFlags {
        self.unreported_marks = 0;
        match self.mode {
            EcnMode::Off => flags,
            EcnMode::Classic => TcpFlags { ece: self.echo, ..flags },
            EcnMode::Accecn => flags.with_ace((self.counters.cep % 8) as u8),
        }
    }

    /// The option of an acknowledgement that is about to leave: all counters that ever changed, if one has
    /// changed since the last option (RFC 9768 3.2.3.3). `fields` is how many there is room for.
    pub(in crate::tcp) fn option(&mut self, fields: usize) -> Option<AccEcnCounters> {
        // Options cost room: without news the ACE field is enough (RFC 9768 3.2.3.3).
        if self.mode != EcnMode::Accecn || self.counters == self.reported {
            return None;
        }
        let field = |value: u64, initial: u64| (value != initial).then_some((value & 0xFF_FFFF) as u32);
        let Counters { e0b, ceb, e1b, .. } = self.counters;
        let mut option =
            AccEcnCounters { e0b: field(e0b, INITIAL.e0b), ceb: field(ceb, INITIAL.ceb), e1b: field(e1b, INITIAL.e1b) };
        // Only the last fields of an order can be left out (RFC 9768 3.2.3): what lies before one that moved is said.
        let all = |value: u64| Some((value & 0xFF_FFFF) as u32);
        match (option.e0b, option.ceb, option.e1b) {
            (None, Some(_), None) => option.e1b = all(e1b),
            (Some(_), None, Some(_)) => option.ceb = all(ceb),
            _ => {}
        }
        let needed = [option.e0b, option.ceb, option.e1b].iter().flatten().count();
        // What has no room here waits for the next acknowledgement.
        if needed == 0 || needed > fields {
            return None;
        }
        self.reported = self.counters;
        Some(option)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Bytes;

    use super::super::{Decoder, Marks};
    use super::*;

    const MSS: u32 = 1448;
    const PLAIN: TcpFlags =
        TcpFlags { syn: false, ack: true, fin: false, rst: false, ece: false, cwr: false, ae: false };

    #[test]
    fn the_first_mark_after_none_is_fed_back_at_once_and_then_every_second() {
        let mut feedback = Feedback::new(EcnMode::Accecn);
        let mut urgency = |ecn| {
            let urgency = feedback.on_packet(ecn, MSS, PLAIN);
            if urgency == Urgency::Immediate {
                feedback.flags(PLAIN);
            }
            urgency
        };
        let arriving = [Ecn::Ect1, Ecn::Ce, Ecn::Ce, Ecn::Ce, Ecn::Ect1, Ecn::Ect1, Ecn::Ce];
        let immediate = arriving.map(|ecn| urgency(ecn) == Urgency::Immediate);
        assert_eq!(immediate, [false, true, false, true, false, false, true]);
    }

    #[test]
    fn a_classic_echo_lasts_until_cwr() {
        let mut feedback = Feedback::new(EcnMode::Classic);
        feedback.on_packet(Ecn::Ce, MSS, PLAIN);
        feedback.on_packet(Ecn::Ect0, MSS, PLAIN);
        assert!(feedback.flags(PLAIN).ece);
        feedback.on_packet(Ecn::Ect0, MSS, TcpFlags { cwr: true, ..PLAIN });
        assert!(!feedback.flags(PLAIN).ece);
        // CE on the very packet that says CWR starts the next echo.
        feedback.on_packet(Ecn::Ce, MSS, TcpFlags { cwr: true, ..PLAIN });
        assert!(feedback.flags(PLAIN).ece);
    }

    #[test]
    fn counters_that_never_moved_are_left_out() {
        let mut feedback = Feedback::new(EcnMode::Accecn);
        feedback.on_packet(Ecn::Ect1, 100, PLAIN);
        assert_eq!(feedback.option(3), Some(AccEcnCounters { e0b: None, ceb: None, e1b: Some(101) }));
        assert_eq!(feedback.option(3), None, "nothing changed since");
        feedback.on_packet(Ecn::Ce, 100, PLAIN);
        assert_eq!(feedback.option(1), None, "no room for two fields");
        assert_eq!(feedback.option(2), Some(AccEcnCounters { e0b: None, ceb: Some(100), e1b: Some(101) }));
    }

    #[test]
    fn what_lies_before_a_counter_that_moved_is_not_left_out() {
        let mut marked = Feedback::new(EcnMode::Accecn);
        marked.on_packet(Ecn::Ce, 100, PLAIN);
        assert_eq!(marked.option(3), Some(AccEcnCounters { e0b: None, ceb: Some(100), e1b: Some(1) }));
        let mut mixed = Feedback::new(EcnMode::Accecn);
        mixed.on_packet(Ecn::Ect0, 100, PLAIN);
        mixed.on_packet(Ecn::Ect1, 100, PLAIN);
        assert_eq!(mixed.option(3), Some(AccEcnCounters { e0b: Some(101), ceb: Some(0), e1b: Some(101) }));
    }

    #[test]
    fn a_million_marks_arrive_as_a_million() {
        let mut feedback = Feedback::new(EcnMode::Accecn);
        let mut decoder = Decoder::new(Bytes(u64::from(MSS)));
        let mut decoded = Marks::default();
        for packet in 0..1_000_000u32 {
            // Six of seven packets are marked.
            let ecn = if packet % 7 == 0 { Ecn::Ect1 } else { Ecn::Ce };
            feedback.on_packet(ecn, MSS, PLAIN);
            if packet % 2 == 1 {
                let ace = feedback.flags(PLAIN).ace();
                let marks = decoder.decode(ace, feedback.option(3).as_ref(), 2);
                decoded.packets += marks.packets;
                decoded.bytes += marks.bytes;
            }
        }
        let marked = 1_000_000 - 142_858;
        assert_eq!(decoded, Marks { packets: marked, bytes: Bytes(u64::from(marked * 4) * u64::from(MSS) / 4) });
    }
}
