//! UDP Prague's messages, as the public implementation reads and writes them. Its receiver takes every datagram for data, so that
//! two ends of ours know each other by the filling of data packets, which it does not read.

use tidemark_core::{Duration, Instant};
use tidemark_senders::Payload;
use tidemark_senders::payload::{FramePart, PragueAck, PragueData, PragueReport, PragueWord};
use tidemark_wire::rtcp::Presence;
use tidemark_wire::udp_prague::{self, BULK_HEADER_LEN, Message, REAL_TIME_HEADER_LEN};

use super::super::clock::{PeerClock, Unwrap, nearest};
use super::{Format, LEAD};

/// One end of a flow of UDP Prague.
pub(crate) struct Prague {
    /// Front of each data packet's filling.
    signature: [u8; 8],
    peer_reads_rtcp: bool,
    peer: PeerClock,
    timestamps: Unwrap,
    seqs: Unwrap,
    frames: Unwrap,
    received: Unwrap,
    marked: Unwrap,
    lost: Unwrap,
    /// The last packet that was sent.
    sent: u64,
    /// The frame that is being sent, and its bytes so far.
    sending: (u64, u32),
    /// The frame that is being received, and when its first packet was sent: the format has no time of capture.
    receiving: (u64, Instant),
}

impl Prague {
    /// The sender's end.
    pub(crate) fn sender(ssrc: u32) -> Self {
        Self::new(ssrc, Duration::ZERO)
    }
    /// The receiver's end.
    pub(crate) fn receiver(ssrc: u32) -> Self {
        Self::new(ssrc, LEAD)
    }
    fn new(ssrc: u32, lead: Duration) -> Self {
        Self {
            signature: Presence::Here.emit(ssrc),
            peer_reads_rtcp: false,
            peer: PeerClock::new(lead),
            timestamps: Unwrap::new(32),
            seqs: Unwrap::new(32),
            frames: Unwrap::new(32),
            received: Unwrap::new(32),
            marked: Unwrap::new(32),
            lost: Unwrap::new(32),
            sent: 0,
            sending: (0, 0),
            receiving: (0, Instant::ZERO),
        }
    }

    /// Time here at which the peer sent what came now, by its timestamp in microseconds.
    fn sent_at(&mut self, now: Instant, timestamp: u32) -> Instant {
        let theirs = self.timestamps.whole(timestamp);
        self.peer.here(now, theirs * 1_000)
    }

    /// A time of the peer's in its own units; zero while its clock is not known.
    fn echo(&self, at: Instant) -> u32 {
        self.peer.there(at).map_or(0, |nanos| wrapped(nanos / 1_000))
    }
}

/// The low bits of a time in microseconds; zero is no time.
fn wrapped(micros: u64) -> u32 {
    (micros as u32).max(1)
}

/// An own time that came back.
fn own(now: Instant, echo: u32) -> Instant {
    Instant::from_nanos(nearest(now.as_nanos() / 1_000, echo, 32) * 1_000)
}

impl Format for Prague {
    fn write(&mut self, payload: &Payload, buffer: &mut [u8]) -> Option<usize> {
        match payload {
            Payload::PragueData(data) => {
                let frame = data.frame.map(|part| {
                    if self.sending.0 != part.number {
                        self.sending = (part.number, 0);
                    }
                    let offset = self.sending.1;
                    self.sending.1 += part.len;
                    udp_prague::FramePart { number: part.number as u32, offset, size: part.size }
                });
                self.sent = self.sent.max(data.seq);
                let header = udp_prague::Data {
                    timestamp: wrapped(data.timestamp.as_nanos() / 1_000),
                    echo: self.echo(data.echo),
                    seq: data.seq as u32,
                    frame,
                };
                let header = header.emit(buffer).ok()?;
                let length = header.max(data.size as usize);
                let filling = buffer.get_mut(header..length)?;
                filling.fill(0);
                if let Some(front) = filling.first_chunk_mut() {
                    *front = self.signature;
                }
                Some(length)
            }
            Payload::PragueAck(ack) => {
                let echo = if ack.received == 0 { 0 } else { self.echo(ack.echo) };
                let ack = udp_prague::Ack {
                    seq: ack.ack_seq as u32,
                    timestamp: wrapped(ack.timestamp.as_nanos() / 1_000),
                    echo,
                    received: ack.received as u32,
                    marked: ack.marked as u32,
                    lost: ack.lost as u32,
                    error: ack.error,
                };
                ack.emit(buffer).ok()
            }
            Payload::PragueReport(report) => {
                let words = report.words.iter().map(|word| word.0);
                udp_prague::emit_report(report.begin as u32, words, buffer).ok()
            }
            _ => None,
        }
    }

    fn read(&mut self, now: Instant, bytes: &[u8]) -> Option<Payload> {
        Some(match Message::parse(bytes).ok()? {
            Message::Data(data) => {
                let header = if data.frame.is_some() { REAL_TIME_HEADER_LEN } else { BULK_HEADER_LEN };
                self.peer_reads_rtcp |= Presence::parse(&bytes[header..]) == Ok(Presence::Here);
                let timestamp = self.sent_at(now, data.timestamp);
                let (seq, length) = (self.seqs.whole(data.seq), bytes.len() as u32);
                let frame = data.frame.map(|part| {
                    let number = self.frames.whole(part.number);
                    if self.receiving.0 != number {
                        self.receiving = (number, timestamp);
                    }
                    FramePart { number, size: part.size, len: length, captured: self.receiving.1 }
                });
                Payload::PragueData(PragueData { seq, timestamp, echo: own(now, data.echo), size: length, frame })
            }
            Message::Ack(ack) => Payload::PragueAck(PragueAck {
                ack_seq: nearest(self.sent, ack.seq, 32),
                timestamp: self.sent_at(now, ack.timestamp),
                echo: own(now, ack.echo),
                received: self.received.whole(ack.received),
                marked: self.marked.whole(ack.marked),
                lost: self.lost.whole(ack.lost),
                error: ack.error,
            }),
            Message::Report(report) => Payload::PragueReport(PragueReport {
                begin: nearest(self.sent, report.begin, 32),
                words: report.words().map(PragueWord).collect(),
            }),
        })
    }

    fn peer_reads_rtcp(&self) -> bool {
        self.peer_reads_rtcp
    }

    fn opening(&self) -> Option<Payload> {
        Some(Payload::PragueAck(PragueAck::default()))
    }
}

#[cfg(test)]
mod tests {
    use super::super::RECEIVER_STARTS;
    use super::*;

    /// Writes a payload at one end and reads it at the other, with the length in between.
    fn carry(from: &mut Prague, to: &mut Prague, at: Instant, payload: &Payload) -> (Payload, usize) {
        let mut buffer = [0xEE; 2000];
        let length = from.write(payload, &mut buffer).unwrap();
        (to.read(at, &buffer[..length]).unwrap(), length)
    }

    #[test]
    fn a_packet_and_its_acknowledgement_measure_the_round_trip_over_two_clocks() {
        let (mut sender, mut receiver) = (Prague::sender(7), Prague::receiver(8));
        let at = Instant::from_millis;
        let part = FramePart { number: 1, size: 1000, len: 600, captured: at(20) };
        let data = PragueData { seq: 1, timestamp: at(20), echo: Instant::ZERO, size: 600, frame: Some(part) };
        let arrived = RECEIVER_STARTS + Duration::from_millis(3);
        let (read, length) = carry(&mut sender, &mut receiver, arrived, &Payload::PragueData(data.clone()));
        let Payload::PragueData(read) = read else { panic!() };
        assert_eq!((read.seq, read.size, length, read.frame.unwrap().len), (1, 600, 600, 600));
        assert_eq!(read.timestamp, arrived.before(LEAD));
        // The receiver holds it for 2 ms; the sender has its acknowledgement at 50 ms.
        let held = Duration::from_millis(2);
        let ack = PragueAck {
            ack_seq: 1,
            timestamp: arrived + held,
            echo: read.timestamp + held,
            received: 1,
            ..PragueAck::default()
        };
        let (read, length) = carry(&mut receiver, &mut sender, at(50), &Payload::PragueAck(ack));
        let Payload::PragueAck(read) = read else { panic!() };
        assert_eq!((read.ack_seq, read.received, length), (1, 1, 26));
        assert_eq!(at(50).since(read.echo), Duration::from_millis(28));
        // The second packet of the frame has its offset.
        let second = PragueData { seq: 2, frame: Some(FramePart { len: 400, ..part }), size: 400, ..data };
        let mut buffer = [0; 2000];
        sender.write(&Payload::PragueData(second), &mut buffer).unwrap();
        let Ok(Message::Data(header)) = Message::parse(&buffer) else { panic!() };
        assert_eq!(header.frame.unwrap().offset, 600);
    }

    #[test]
    fn counters_go_on_beyond_32_bits() {
        let (mut sender, mut receiver) = (Prague::sender(7), Prague::receiver(8));
        for received in [0xFFFF_FFF0u64, 0x1_0000_0010] {
            sender.sent = received;
            let ack = Payload::PragueAck(PragueAck { ack_seq: received, received, ..PragueAck::default() });
            let Payload::PragueAck(read) = carry(&mut receiver, &mut sender, Instant::from_millis(1), &ack).0 else {
                panic!()
            };
            assert_eq!((read.received, read.ack_seq), (received, received));
        }
    }

    #[test]
    fn a_report_comes_back() {
        let (mut sender, mut receiver) = (Prague::sender(7), Prague::receiver(8));
        sender.sent = 70_000;
        let report =
            Payload::PragueReport(PragueReport { begin: 69_990, words: vec![PragueWord(0xA001), PragueWord(0)] });
        assert_eq!(carry(&mut receiver, &mut sender, Instant::ZERO, &report).0, report);
        assert_eq!(sender.read(Instant::ZERO, b"\x80\xC9\0\x01\0\0\0\0"), None);
    }
}
