//! Halves of a call's round trip, measured from packets that ask for an answer.
//!
//! - **STUN**: the time from a binding request to its response, every few seconds, even if media and reports are encrypted.
//! - **Sender reports**: the time to the report that answers one, minus the time that it was held (RFC 3550 6.4.1).
//! - **RTP**: the time to the report of the packet's arrival, minus the age of that arrival (RFC 8888 3.1).
//!
//! SRTCP reports can't be read. Transport-wide feedback names packets by a number whose place in the packets only the ends know.

use tidemark_core::{Duration, Instant};
use tidemark_wire::rfc8888::Feedback;
use tidemark_wire::rtcp::{self, Report};
use tidemark_wire::rtp::Header;
use tidemark_wire::stun::{Binding, Transaction};

use super::recent::Recent;
use super::{MAX_WAIT, Way};

/// Packet types of RTCP, which can share a port with RTP (RFC 5761 4).
const RTCP: std::ops::RangeInclusive<u8> = 192..=223;

/// Measures a call. Each half holds at most one open question of each kind.
#[derive(Clone, Debug, Default)]
pub(super) struct Media {
    /// Half behind the UE's end, and the half behind the other end.
    halves: [Half; 2],
}

impl Media {
    /// Looks at a UDP payload, and gives a round trip that ends with it. A half in which nothing asks for an answer is left out: one-way
    /// media has only the half with the radio.
    pub(super) fn pass(&mut self, now: Instant, way: Way, payload: &[u8]) -> Option<Duration> {
        let (behind, before) = way.halves(&mut self.halves);
        let sample = match Binding::parse(payload) {
            Some(Binding::Request(number)) => {
                behind.binding.ask(now, number);
                None
            }
            Some(Binding::Response(number)) => before.binding.answered(now, number, Duration::ZERO),
            None if RTCP.contains(payload.get(1)?) => rtcp::packets(payload).fold(None, |sample, packet| {
                if let Some(sent) = Report::parse(packet).ok().and_then(|report| report.sent) {
                    behind.report.ask(now, sent);
                }
                sample.or(before.reported(now, packet))
            }),
            None => {
                let (header, _) = Header::parse(payload).ok()?;
                behind.packet.ask(now, (header.ssrc, header.sequence));
                None
            }
        }?;
        before.recent.add(sample);
        let other = behind.recent.least();
        match way {
            Way::Up => Some(sample + other.unwrap_or_default()),
            Way::Down => Some(sample + other?),
        }
    }
}

/// Half of a round trip: from here to one end and back.
#[derive(Clone, Debug, Default)]
struct Half {
    binding: Question<Transaction>,
    /// Time in a sender report.
    report: Question<u32>,
    /// SSRC and sequence number.
    packet: Question<(u32, u16)>,
    recent: Recent,
}

impl Half {
    /// Takes an RTCP packet from the end, and gives the time to an answer in it.
    fn reported(&mut self, now: Instant, packet: &[u8]) -> Option<Duration> {
        if let Ok(report) = Report::parse(packet) {
            return report.answers().find_map(|answer| self.report.answered(now, answer.sent, answer.held));
        }
        let (ssrc, sequence) = self.packet.asked()?;
        let mut streams = Feedback::parse(packet).ok()?.streams().filter(|stream| stream.ssrc == ssrc);
        let (number, arrival) = streams.find_map(|stream| stream.packets().find(|(number, _)| *number == sequence))?;
        self.packet.answered(now, (ssrc, number), arrival?.offset.duration()?)
    }
}

/// Open question, known by its number.
#[derive(Clone, Debug)]
struct Question<T>(Option<(T, Instant)>);

impl<T> Default for Question<T> {
    fn default() -> Self {
        Self(None)
    }
}

impl<T: Copy + PartialEq> Question<T> {
    /// Opens this question, unless another one is open. A repeated question is dropped, because it is unclear which copy is answered.
    fn ask(&mut self, now: Instant, number: T) {
        match self.0 {
            Some((asked, _)) if asked == number => self.0 = None,
            Some((_, at)) if now.since(at) < MAX_WAIT => {}
            _ => self.0 = Some((number, now)),
        }
    }

    /// Number of the open question.
    fn asked(&self) -> Option<T> {
        self.0.map(|(number, _)| number)
    }

    /// Gives the time to an answer, minus the time that the end has held it.
    fn answered(&mut self, now: Instant, number: T, held: Duration) -> Option<Duration> {
        let (_, at) = self.0.take_if(|(asked, _)| *asked == number)?;
        Some(now.since(at).saturating_sub(held))
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Ecn;
    use tidemark_wire::rfc8888::{Arrival, ArrivalOffset, Builder};

    use super::*;

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn ms(ms: u64) -> Option<Duration> {
        Some(Duration::from_millis(ms))
    }

    fn binding(kind: u8, number: u8) -> Vec<u8> {
        [&[kind, 1, 0, 0, 0x21, 0x12, 0xA4, 0x42][..], &[number; 12]].concat()
    }

    #[test]
    fn both_ends_of_a_call_answer_binding_requests() {
        let mut media = Media::default();
        assert_eq!(media.pass(at(0), Way::Down, &binding(0, 1)), None);
        assert_eq!(media.pass(at(5), Way::Up, &binding(0, 2)), None);
        assert_eq!(media.pass(at(15), Way::Down, &binding(1, 2)), None, "the half with the radio is not known yet");
        assert_eq!(media.pass(at(30), Way::Up, &binding(1, 1)), ms(30 + 10));
        // Asked twice, nobody knows which one is answered.
        media.pass(at(40), Way::Down, &binding(0, 3));
        media.pass(at(90), Way::Down, &binding(0, 3));
        assert_eq!(media.pass(at(95), Way::Up, &binding(1, 3)), None);
        assert_eq!(media.pass(at(96), Way::Up, &binding(1, 9)), None, "an answer to nothing");
    }

    /// An RTP packet of a stream, without payload.
    fn packet(ssrc: u8, sequence: u8) -> Vec<u8> {
        vec![0x80, 96, 0, sequence, 0, 0, 0, 0, 0, 0, 0, ssrc]
    }

    fn feedback(ssrc: u32, begin: u16, units: &[Option<u16>]) -> Vec<u8> {
        let mut bytes = [0; 200];
        let mut builder = Builder::new(&mut bytes, 1).unwrap();
        let arrival = |units| Arrival { ecn: Ecn::Ect1, offset: ArrivalOffset::Before(units) };
        builder.stream(ssrc, begin, units.iter().map(|units| units.map(arrival))).unwrap();
        let len = builder.finish(0).unwrap();
        bytes[..len].to_vec()
    }

    #[test]
    fn a_report_of_packets_says_how_old_their_arrivals_are() {
        let mut media = Media::default();
        media.pass(at(0), Way::Down, &packet(7, 10));
        media.pass(at(1), Way::Down, &packet(7, 11));
        assert_eq!(media.pass(at(50), Way::Up, &feedback(8, 10, &[Some(0)])), None, "another stream");
        // 256 units of 1/1024 s.
        assert_eq!(media.pass(at(300), Way::Up, &feedback(7, 9, &[None, Some(256), Some(0)])), ms(50));
        assert_eq!(media.pass(at(310), Way::Up, &feedback(7, 9, &[None, Some(256)])), None, "answered before");
    }

    #[test]
    fn a_receivers_report_answers_a_senders_one() {
        let mut media = Media::default();
        let sender = [&[0x80, 200, 0, 6][..], &[0; 4], &[0, 0, 1, 2, 3, 4, 0, 0], &[0; 12]].concat();
        media.pass(at(0), Way::Down, &sender);
        // Held for half a second.
        let block = [&[0; 16][..], &[1, 2, 3, 4], &[0, 0, 0x80, 0]].concat();
        let receiver = [&[0x81, 201, 0, 7][..], &[0; 4], &block].concat();
        let encrypted = [&receiver[..], &[0x80, 0, 0, 1], &[0; 10]].concat();
        assert_eq!(media.pass(at(530), Way::Up, &encrypted), None);
        assert_eq!(media.pass(at(540), Way::Up, &receiver), ms(40));
    }
}
