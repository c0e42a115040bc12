//! RTP packets and the reports on them (RFC 8888) as values.

use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};

use super::udp_prague::FramePart;
use super::{IP_HEADER, UDP_HEADER};

/// RTP header 12, and an extension with a transport-wide number, 8.
const RTP_HEADER: u64 = 20;
/// RTCP header and sender SSRC 8, media SSRC 4, range 4, report timestamp 4 (RFC 8888 3.1).
const REPORT_HEADER: u64 = 20;

/// RTCP's application-defined packet with one number (RFC 3550 6.7).
const RECOMMENDATION: u64 = 16;

/// A packet of a media stream.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RtpPacket {
    /// Number, not wrapped to 16 bits.
    pub seq: u64,
    /// Part of a frame that it carries.
    pub frame: FramePart,
    /// Time at which it left the sender, in the same extension as its number.
    pub sent_at: Instant,
    /// The marker bit: the last packet of its frame.
    pub marker: bool,
}

impl RtpPacket {
    /// Size of the IP packet with this many bytes of media.
    pub fn wire_size_of(len: u32) -> Bytes {
        Bytes(IP_HEADER + UDP_HEADER + RTP_HEADER + u64::from(len))
    }
    /// Size of the IP packet.
    pub fn wire_size(&self) -> Bytes {
        Self::wire_size_of(self.frame.len)
    }
}

/// A packet's 16 bits in a report: received, ECN, arrival time offset (RFC 8888 3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Metric(pub u16);

impl Metric {
    /// Not received.
    pub const LOST: Self = Self(0);
    const OVERLONG: u16 = 0x1FFE;

    /// Entry of a packet that was received with `ecn`, this long before the report.
    pub fn received(ecn: Ecn, before_report: Duration) -> Self {
        let ticks = u128::from(before_report.as_nanos()) * 1024 / 1_000_000_000;
        let offset = if ticks > 0x1FFD { Self::OVERLONG } else { ticks as u16 };
        Self(0x8000 | u16::from(ecn.bits()) << 13 | offset)
    }
    /// Arrival of the packet: its ECN, and its time if that is known.
    pub fn arrival(self, report: Instant) -> Option<(Ecn, Option<Instant>)> {
        if self.0 & 0x8000 == 0 {
            return None;
        }
        let offset = u64::from(self.0 & 0x1FFF);
        let at = (offset < u64::from(Self::OVERLONG))
            .then(|| report.before(Duration::from_nanos(offset * 1_000_000_000 / 1024)));
        Some((Ecn::from_bits((self.0 >> 13) as u8), at))
    }
}

/// Content of a report, packet by packet.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Metrics {
    /// RFC 8888.
    Ccfb(Vec<Metric>),
    /// Transport-wide feedback: arrival times to 250 us.
    TransportWide(Vec<Option<Instant>>),
}

impl Metrics {
    /// Rounds an arrival time down to the resolution of transport-wide feedback.
    pub fn tick(at: Instant) -> Instant {
        Instant::from_nanos(at.as_nanos() / 250_000 * 250_000)
    }
}

/// A report on the packets from `begin` on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Report {
    /// The first packet that it covers.
    pub begin: u64,
    /// Time at which it was made, by the receiver's clock.
    pub timestamp: Instant,
    /// One entry for each packet.
    pub metrics: Metrics,
    /// Rate that the access network has recommended since the last report, in an application packet of its own.
    pub recommended: Option<BitRate>,
}

impl Report {
    /// Size of the IP packet. Entries of RFC 8888 are padded to 32 bits; transport-wide feedback has two bytes
    /// for seven packets and one for each that arrived (draft-holmer-rmcat-transport-wide-cc-extensions-01 3.1).
    pub fn wire_size(&self) -> Bytes {
        let entries = match &self.metrics {
            Metrics::Ccfb(metrics) => 2 * metrics.len() as u64,
            Metrics::TransportWide(times) => 2 * times.len().div_ceil(7) as u64 + times.iter().flatten().count() as u64,
        };
        let recommendation = if self.recommended.is_some() { RECOMMENDATION } else { 0 };
        Bytes(IP_HEADER + UDP_HEADER + REPORT_HEADER + entries.next_multiple_of(4) + recommendation)
    }

    /// Each packet's number and how it arrived: its ECN, and its time if that is known.
    pub fn arrivals(&self) -> impl Iterator<Item = (u64, Option<(Ecn, Option<Instant>)>)> + '_ {
        let (ccfb, times): (&[Metric], &[Option<Instant>]) = match &self.metrics {
            Metrics::Ccfb(metrics) => (metrics, &[]),
            Metrics::TransportWide(times) => (&[], times),
        };
        let ccfb = ccfb.iter().map(|metric| metric.arrival(self.timestamp));
        let times = times.iter().map(|time| time.map(|at| (Ecn::NotEct, Some(at))));
        ccfb.chain(times).enumerate().map(|(index, arrival)| (self.begin.saturating_add(index as u64), arrival))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arrival_is_reported_to_a_1024th_of_a_second() {
        let report = Instant::from_millis(5000);
        let metric = Metric::received(Ecn::Ce, Duration::from_micros(250_100));
        assert_eq!(metric.0, 0x8000 | 0b11 << 13 | 256);
        assert_eq!(metric.arrival(report), Some((Ecn::Ce, Some(Instant::from_millis(4750)))));
        assert_eq!(Metric::LOST.arrival(report), None);
        let late = Metric::received(Ecn::Ect1, Duration::from_secs(9));
        assert_eq!((late.0 & 0x1FFF, late.arrival(report)), (0x1FFE, Some((Ecn::Ect1, None))));
    }
}
