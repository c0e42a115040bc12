//! ECN of a sender: the codepoint of its packets, and the marks that acknowledgements report, in either mode.

use tidemark_core::{Bytes, Ecn, TcpFlags};

use super::{Decoder, Feedback, Marks};
use crate::config::EcnMode;
use crate::controller::EcnResponse;
use crate::payload::TcpSegment;

/// State of a sender's ECN. Until it is established, packets are Not-ECT.
#[derive(Clone, Debug)]
pub(in crate::tcp) struct SenderEcn {
    mode: EcnMode,
    response: EcnResponse,
    codepoint: Ecn,
    /// Feedback on what this end receives.
    feedback: Feedback,
    decoder: Decoder,
    /// Classic: the window was reduced, and no CWR was sent yet.
    cwr_due: bool,
    bleached: bool,
}

impl SenderEcn {
    /// ECN before the handshake, of a connection with segments of `mss`.
    pub(in crate::tcp) fn new(mss: Bytes) -> Self {
        Self {
            mode: EcnMode::Off,
            response: EcnResponse::Classic,
            codepoint: Ecn::NotEct,
            feedback: Feedback::new(EcnMode::Off),
            decoder: Decoder::new(mss),
            cwr_due: false,
            bleached: false,
        }
    }

    /// Begins with the mode that was negotiated. `wanted` is the controller's response to marks, `ace` the field of the
    /// handshake's third segment.
    pub(in crate::tcp) fn establish(&mut self, mode: EcnMode, wanted: EcnResponse, ace: u8) {
        self.mode = mode;
        self.feedback = Feedback::new(mode);
        self.response = match mode {
            EcnMode::Accecn => wanted,
            // One signal a round trip has no share of marks to respond to.
            EcnMode::Classic | EcnMode::Off => EcnResponse::Classic,
        };
        // ECT(1) promises a scalable answer (RFC 9331 4.3); without one it is ECT(0).
        self.codepoint = match (mode, self.response) {
            (EcnMode::Off, _) => Ecn::NotEct,
            (EcnMode::Accecn, EcnResponse::Scalable) => Ecn::Ect1,
            (EcnMode::Classic | EcnMode::Accecn, _) => Ecn::Ect0,
        };
        // A cleared ACE field means that something on the path mangles ECN (RFC 9768 3.2.2.1).
        if mode == EcnMode::Accecn && !self.decoder.handshake(ace) {
            self.bleach();
        }
    }

    /// Stops sending ECT: no marks would arrive, losses have to tell, and packets must not claim otherwise.
    fn bleach(&mut self) {
        self.codepoint = Ecn::NotEct;
        self.bleached = true;
    }

    /// True if something on the path was found to clear the ECN field.
    pub(in crate::tcp) fn is_bleached(&self) -> bool {
        self.bleached
    }

    /// Response to marks that the controller gets.
    #[inline]
    pub(in crate::tcp) fn response(&self) -> EcnResponse {
        self.response
    }

    /// Takes a packet into account that arrives at this end.
    #[inline]
    pub(in crate::tcp) fn on_packet(&mut self, ecn: Ecn, segment: &TcpSegment) {
        self.feedback.on_packet(ecn, segment.payload, segment.flags);
    }

    /// Reads the marks that an acknowledgement reports. `newest` says that none that was sent later has arrived before, `acked` is
    /// the number of segments that it newly acknowledges. An echo of RFC 3168 counts as a packet without bytes.
    #[inline]
    pub(in crate::tcp) fn read(&mut self, segment: &TcpSegment, newest: bool, acked: u32) -> Marks {
        let marks = match self.mode {
            // Counters of an overtaken acknowledgement are old ones.
            EcnMode::Accecn if newest => self.decoder.decode(segment.flags.ace(), segment.accecn.as_ref(), acked),
            EcnMode::Classic if segment.flags.ece => Marks { packets: 1, bytes: Bytes::ZERO },
            EcnMode::Accecn | EcnMode::Classic | EcnMode::Off => return Marks::default(),
        };
        // The field is cleared on the way: marks will never come.
        if self.decoder.is_bleached() {
            self.bleach();
        }
        marks
    }

    /// Notes that the window was reduced for an echo, which the receiver repeats until it hears so (RFC 3168).
    pub(in crate::tcp) fn on_reduced(&mut self) {
        self.cwr_due = self.mode == EcnMode::Classic;
    }

    /// Adds the ECN bits to the flags of a segment that is about to leave.
    #[inline]
    pub(in crate::tcp) fn flags(&mut self, flags: TcpFlags, is_retransmission: bool) -> TcpFlags {
        let mut flags = self.feedback.flags(flags);
        // CWR comes with new data, whose loss would be noticed (RFC 3168).
        if !is_retransmission && std::mem::take(&mut self.cwr_due) {
            flags.cwr = true;
        }
        flags
    }

    /// ECN field of a data packet: none on retransmissions (RFC 3168 6.1.5), while with AccECN all packets are alike.
    #[inline]
    pub(in crate::tcp) fn codepoint(&self, is_retransmission: bool) -> Ecn {
        if is_retransmission && self.mode == EcnMode::Classic { Ecn::NotEct } else { self.codepoint }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn established(mode: EcnMode, wanted: EcnResponse, ace: u8) -> SenderEcn {
        let mut ecn = SenderEcn::new(Bytes(1448));
        assert_eq!(ecn.codepoint(false), Ecn::NotEct);
        ecn.establish(mode, wanted, ace);
        ecn
    }

    #[test]
    fn the_codepoint_follows_from_mode_response_and_handshake() {
        use EcnResponse::{Classic, Scalable};
        for (mode, wanted, ace, expected) in [
            (EcnMode::Off, Scalable, 0b010, Ecn::NotEct),
            (EcnMode::Classic, Scalable, 0b010, Ecn::Ect0),
            (EcnMode::Accecn, Classic, 0b010, Ecn::Ect0),
            (EcnMode::Accecn, Scalable, 0b010, Ecn::Ect1),
            (EcnMode::Accecn, Scalable, 0b000, Ecn::NotEct),
        ] {
            let ecn = established(mode, wanted, ace);
            assert_eq!(ecn.codepoint(false), expected, "{mode:?} {wanted:?} {ace}");
            assert_eq!(ecn.is_bleached(), ace == 0);
        }
    }

    #[test]
    fn a_classic_reduction_is_confirmed_once_and_with_new_data() {
        let mut ecn = established(EcnMode::Classic, EcnResponse::Classic, 0);
        let echo = TcpSegment { flags: TcpFlags { ece: true, ..TcpFlags::default() }, ..TcpSegment::default() };
        assert_eq!(ecn.read(&echo, true, 1).packets, 1);
        ecn.on_reduced();
        assert!(!ecn.flags(TcpFlags::default(), true).cwr);
        assert_eq!((ecn.codepoint(true), ecn.codepoint(false)), (Ecn::NotEct, Ecn::Ect0));
        assert!(ecn.flags(TcpFlags::default(), false).cwr);
        assert!(!ecn.flags(TcpFlags::default(), false).cwr);
    }

    #[test]
    fn an_overtaken_acknowledgement_is_no_news() {
        let mut ecn = established(EcnMode::Accecn, EcnResponse::Scalable, 0b010);
        let marked = TcpSegment { flags: TcpFlags::default().with_ace(6), ..TcpSegment::default() };
        assert_eq!(ecn.read(&marked, false, 1), Marks::default());
        assert_eq!(ecn.read(&marked, true, 1).packets, 1);
    }
}
