//! RTP with reports of RFC 8888. What frame a packet belongs to stands in the first bytes of its payload, before the filling
//! that stands for video.

use tidemark_core::{BitRate, Duration, Instant};
use tidemark_senders::Payload;
use tidemark_senders::payload::{FramePart, Metric, Metrics, Report, RtpPacket};
use tidemark_wire::rfc8888::{Arrival, ArrivalOffset, Builder, Feedback};
use tidemark_wire::rtcp::{self, Recommendation};
use tidemark_wire::rtp::{HEADER_LEN, Header};

use super::super::clock::{PeerClock, Unwrap, nearest};
use super::{Format, LEAD};

/// A dynamic payload type (RFC 3551 6).
const PAYLOAD_TYPE: u8 = 96;
/// Number and size of the frame.
const DESCRIPTOR: usize = 8;
/// Units a second of the media's timestamps, of the sending times and of the reports' times.
const VIDEO_CLOCK: u64 = 90_000;
const SEND_CLOCK: u64 = 1 << 18;
const REPORT_CLOCK: u64 = 1 << 16;

/// One end of a media stream.
pub(crate) struct Rtp {
    ssrc: u32,
    /// The stream that is reported on, once it has begun.
    media: Option<u32>,
    peer: PeerClock,
    seqs: Unwrap,
    frames: Unwrap,
    timestamps: Unwrap,
    /// The last packet that was sent.
    sent: u64,
}

impl Rtp {
    /// The sender's end.
    pub(crate) fn sender(ssrc: u32) -> Self {
        Self::new(ssrc, Duration::ZERO)
    }
    /// The receiver's end.
    pub(crate) fn receiver(ssrc: u32) -> Self {
        Self::new(ssrc, LEAD)
    }
    fn new(ssrc: u32, lead: Duration) -> Self {
        let [seqs, frames, timestamps] = [16, 32, 32].map(Unwrap::new);
        Self { ssrc, media: None, peer: PeerClock::new(lead), seqs, frames, timestamps, sent: 0 }
    }

    fn read_media(&mut self, now: Instant, bytes: &[u8]) -> Option<Payload> {
        let (header, payload) = Header::parse(bytes).ok().filter(|(header, _)| header.payload_type == PAYLOAD_TYPE)?;
        let &[a, b, c, d, e, f, g, h] = payload.first_chunk::<DESCRIPTOR>()?;
        self.media = Some(header.ssrc);
        let captured = nanos(self.timestamps.whole(header.timestamp), VIDEO_CLOCK);
        // The sending time has 64 s; a packet leaves after its capture, and long before that.
        let sent = nearest(ticks_of(captured, SEND_CLOCK), header.send_time?, 24);
        let sent_at = self.peer.here(now, nanos(sent, SEND_CLOCK).max(captured));
        let frame = FramePart {
            number: self.frames.whole(u32::from_be_bytes([a, b, c, d])),
            size: u32::from_be_bytes([e, f, g, h]),
            len: (bytes.len() - HEADER_LEN.min(bytes.len())) as u32,
            captured: self.peer.here(now, captured),
        };
        Some(Payload::Rtp(RtpPacket {
            seq: self.seqs.whole(header.sequence.into()),
            frame,
            sent_at,
            marker: header.marker,
        }))
    }

    fn read_report(&mut self, now: Instant, bytes: &[u8]) -> Option<Payload> {
        let feedback = Feedback::parse(bytes).ok()?;
        let stream = feedback.streams().find(|stream| stream.ssrc == self.ssrc)?;
        let metric = |arrival: Option<Arrival>| {
            arrival.map_or(Metric::LOST, |Arrival { ecn, offset }| {
                let offset = match offset {
                    ArrivalOffset::Before(units) => units,
                    ArrivalOffset::TooLong => 0x1FFE,
                    ArrivalOffset::Unavailable => 0x1FFF,
                };
                Metric(0x8000 | u16::from(ecn.bits()) << 13 | offset)
            })
        };
        let theirs = nanos(self.timestamps.whole(feedback.report_timestamp), REPORT_CLOCK);
        Some(Payload::Report(Box::new(Report {
            begin: nearest(self.sent, stream.begin_seq.into(), 16),
            timestamp: self.peer.here(now, theirs),
            metrics: Metrics::Ccfb(stream.packets().map(|(_, arrival)| metric(arrival)).collect()),
            recommended: recommendation(bytes),
        })))
    }
}

/// Reads the recommendation behind the report in a compound packet.
fn recommendation(bytes: &[u8]) -> Option<BitRate> {
    let rest = bytes.get(rtcp::length(bytes).ok()?..)?;
    Recommendation::parse(rest).ok().map(|recommendation| recommendation.rate)
}

fn nanos(ticks: u64, clock: u64) -> u64 {
    (u128::from(ticks) * 1_000_000_000 / u128::from(clock)) as u64
}

fn ticks_of(nanos: u64, clock: u64) -> u64 {
    (u128::from(nanos) * u128::from(clock) / 1_000_000_000) as u64
}

fn ticks(at: Instant, clock: u64) -> u64 {
    ticks_of(at.as_nanos(), clock)
}

impl Format for Rtp {
    fn write(&mut self, payload: &Payload, buffer: &mut [u8]) -> Option<usize> {
        match payload {
            Payload::Rtp(packet) => {
                self.sent = self.sent.max(packet.seq);
                let header = Header {
                    marker: packet.marker,
                    payload_type: PAYLOAD_TYPE,
                    sequence: packet.seq as u16,
                    timestamp: ticks(packet.frame.captured, VIDEO_CLOCK) as u32,
                    ssrc: self.ssrc,
                    send_time: Some(ticks(packet.sent_at, SEND_CLOCK) as u32 & 0x00FF_FFFF),
                };
                let start = header.emit(buffer).ok()?;
                let media = buffer.get_mut(start..start + DESCRIPTOR.max(packet.frame.len as usize))?;
                media.fill(0);
                media[..4].copy_from_slice(&(packet.frame.number as u32).to_be_bytes());
                media[4..DESCRIPTOR].copy_from_slice(&packet.frame.size.to_be_bytes());
                Some(start + media.len())
            }
            Payload::Report(report) => {
                let Metrics::Ccfb(metrics) = &report.metrics else { return None };
                let arrivals = metrics.iter().map(|metric| {
                    let (ecn, _) = metric.arrival(report.timestamp)?;
                    let offset = match metric.0 & 0x1FFF {
                        0x1FFE => ArrivalOffset::TooLong,
                        0x1FFF => ArrivalOffset::Unavailable,
                        units => ArrivalOffset::Before(units),
                    };
                    Some(Arrival { ecn, offset })
                });
                let mut builder = Builder::new(buffer, self.ssrc).ok()?;
                builder.stream(self.media?, report.begin as u16, arrivals).ok()?;
                let length = builder.finish(ticks(report.timestamp, REPORT_CLOCK) as u32).ok()?;
                let Some(rate) = report.recommended else { return Some(length) };
                let packet = Recommendation { rate }.emit(self.ssrc);
                buffer.get_mut(length..length + packet.len())?.copy_from_slice(&packet);
                Some(length + packet.len())
            }
            _ => None,
        }
    }

    fn read(&mut self, now: Instant, bytes: &[u8]) -> Option<Payload> {
        // RTP and RTCP share the port; the second byte tells them apart (RFC 5761 4).
        match bytes.get(1)? {
            192..=223 => self.read_report(now, bytes),
            _ => self.read_media(now, bytes),
        }
    }

    fn peer_reads_rtcp(&self) -> bool {
        true
    }

    fn opening(&self) -> Option<Payload> {
        None
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Ecn;

    use super::super::RECEIVER_STARTS;
    use super::*;

    fn carry(from: &mut Rtp, to: &mut Rtp, at: Instant, payload: &Payload) -> Payload {
        let mut buffer = [0xEE; 2000];
        let length = from.write(payload, &mut buffer).unwrap();
        assert_eq!(length as u64 + 28, payload.wire_size().0);
        to.read(at, &buffer[..length]).unwrap()
    }

    #[test]
    fn packets_keep_their_frames_and_the_distances_of_their_times() {
        let (mut sender, mut receiver) = (Rtp::sender(7), Rtp::receiver(8));
        let at = Instant::from_millis;
        let mut read = Vec::new();
        // The send clock wraps after 64 s, sequence numbers after 65536 packets.
        for (seq, millis) in [(65_530, 63_990), (65_540, 64_020)] {
            let frame = FramePart { number: 5, size: 3000, len: 1000, captured: at(millis - 8) };
            let packet = Payload::Rtp(RtpPacket { seq, frame, sent_at: at(millis), marker: true });
            let arrived = RECEIVER_STARTS + Duration::from_millis(millis - 63_990);
            let Payload::Rtp(packet) = carry(&mut sender, &mut receiver, arrived, &packet) else { panic!() };
            assert_eq!(
                (packet.frame.number, packet.frame.size, packet.frame.len, packet.marker),
                (5, 3000, 1000, true)
            );
            read.push((packet, arrived));
        }
        assert_eq!(read[1].0.seq - read[0].0.seq, 10);
        for (packet, arrived) in &read {
            let queued = packet.sent_at.since(packet.frame.captured).as_micros();
            assert!((7_980..8_020).contains(&queued), "{queued}");
            let under_way = arrived.since(packet.sent_at).as_micros();
            assert!((4_999_980..5_000_020).contains(&under_way), "{under_way}");
        }
    }

    #[test]
    fn a_report_comes_back_unit_for_unit() {
        let (mut sender, mut receiver) = (Rtp::sender(7), Rtp::receiver(8));
        sender.sent = 65_600;
        receiver.media = Some(7);
        let ages = [0, 1, 250, 4_000, 9_000];
        let metrics = ages.map(|millis| Metric::received(Ecn::Ce, Duration::from_millis(millis)));
        let metrics = [&metrics[..], &[Metric::LOST, Metric::received(Ecn::Ect1, Duration::ZERO)]].concat();
        let report = Report {
            begin: 65_535,
            timestamp: Instant::from_millis(12_000),
            metrics: Metrics::Ccfb(metrics),
            recommended: Some(BitRate::from_kbps(7_500)),
        };
        let now = Instant::from_millis(2_000);
        let Payload::Report(read) = carry(&mut receiver, &mut sender, now, &Payload::Report(Box::new(report.clone())))
        else {
            panic!()
        };
        assert_eq!((read.begin, read.timestamp, read.metrics), (65_535, now, report.metrics));
        assert_eq!(read.recommended, report.recommended);
    }
}
