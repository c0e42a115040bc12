//! The receiver of a media stream: puts frames together and reports on packets.

use std::collections::VecDeque;

use tidemark_core::{BitRate, Bytes, Ecn, FlowId, Instant, Packet};

use super::{Assembly, ReportFormat, ReportPolicy};
use crate::endpoint::{Endpoint, FrameArrival, Stats};
use crate::payload::{FramePart, Metric, Metrics, Payload, Report};

/// Packets that one report tells of.
const MAX_REPORTED: usize = 4096;
/// No stream has as many packets.
const MAX_SEQ: u64 = 1 << 62;

/// The receiving end.
#[derive(Clone, Debug)]
pub struct Receiver {
    flow: FlowId,
    policy: ReportPolicy,
    /// Arrivals of the packets from `begin` on.
    arrivals: VecDeque<Option<(Instant, Ecn)>>,
    begin: u64,
    /// The packets below were in a report before. Each is reported twice, in case a report is lost.
    reported: u64,
    unreported: u32,
    deadline: Instant,
    report_now: bool,
    recommended: Option<BitRate>,
    frames: Assembly,
    stats: Stats,
}

impl Receiver {
    /// A client that reports as its sender's controller wants it to.
    pub fn new(flow: FlowId, policy: ReportPolicy) -> Self {
        Self {
            flow,
            policy,
            arrivals: VecDeque::new(),
            begin: 0,
            reported: 0,
            unreported: 0,
            deadline: Instant::FAR,
            report_now: false,
            recommended: None,
            frames: Assembly::default(),
            stats: Stats::default(),
        }
    }

    /// False for a packet that came before, or too late to be reported.
    fn record(&mut self, now: Instant, seq: u64, ecn: Ecn) -> bool {
        let index = seq.checked_sub(self.begin).and_then(|index| usize::try_from(index).ok());
        let Some(index) = index.filter(|_| seq < MAX_SEQ) else { return false };
        if index >= self.arrivals.len() {
            // A jump beyond what a report holds would be a hostile number: forget what was before it.
            if index > 2 * MAX_REPORTED {
                self.arrivals.clear();
                self.begin = seq;
            }
            let len = (seq - self.begin) as usize + 1;
            self.arrivals.resize(len, None);
        }
        let entry = &mut self.arrivals[(seq - self.begin) as usize];
        // A duplicate changes nothing of what is reported.
        if entry.is_some() {
            return false;
        }
        *entry = Some((now, ecn));
        // A report has a greatest size: the oldest arrivals leave it first.
        while self.arrivals.len() > MAX_REPORTED {
            self.arrivals.pop_front();
            self.begin += 1;
        }
        true
    }

    fn report(&mut self, now: Instant) -> Report {
        // RFC 8888 has marks, transport-wide feedback has times alone.
        let metrics = match self.policy.format {
            ReportFormat::Ccfb => Metrics::Ccfb(
                self.arrivals
                    .iter()
                    .map(|arrival| arrival.map_or(Metric::LOST, |(at, ecn)| Metric::received(ecn, now.since(at))))
                    .collect(),
            ),
            ReportFormat::TransportWide => Metrics::TransportWide(
                self.arrivals.iter().map(|arrival| arrival.map(|(at, _)| Metrics::tick(at))).collect(),
            ),
        };
        let report = Report { begin: self.begin, timestamp: now, metrics, recommended: self.recommended.take() };
        let end = self.begin + self.arrivals.len() as u64;
        let keep = self.reported.max(self.begin);
        self.arrivals.drain(..(keep - self.begin) as usize);
        self.begin = keep;
        self.reported = end;
        self.unreported = 0;
        // If nothing else comes, what was reported once is reported a second time: the sender may be waiting for just that.
        self.deadline = if self.arrivals.is_empty() { Instant::FAR } else { now + self.policy.interval * 2 };
        report
    }
}

impl Endpoint for Receiver {
    fn handle_packet(&mut self, now: Instant, packet: Packet<&Payload>) {
        self.stats.packets_received += 1;
        self.stats.bytes_received += packet.size;
        self.stats.marks_received += u64::from(packet.ecn == Ecn::Ce);
        // Reports never come this way.
        let Payload::Rtp(rtp) = packet.payload else { return };
        let len = Bytes(u64::from(rtp.frame.len));
        // A copy has been assembled already.
        if !self.record(now, rtp.seq, packet.ecn) {
            self.stats.duplicate += len;
            return;
        }
        // Padding is there for the report alone.
        if rtp.frame.number != FramePart::PADDING {
            self.stats.delivered += len;
            self.frames.on_part(now, rtp.sent_at, &rtp.frame);
        }
        // The interval runs from the first packet that no report has told of.
        if self.unreported == 0 {
            self.deadline = self.deadline.min(now + self.policy.interval);
        }
        self.unreported += 1;
        self.report_now |= self.unreported >= self.policy.packets || rtp.marker && self.policy.on_marker;
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.report_now |= now >= self.deadline;
    }

    fn handle_recommendation(&mut self, _now: Instant, rate: BitRate) {
        self.recommended = Some(rate);
        self.report_now = true;
    }

    fn next_deadline(&self) -> Option<Instant> {
        (self.deadline != Instant::FAR).then_some(self.deadline)
    }

    fn poll_transmit(&mut self, now: Instant) -> Option<Packet<Payload>> {
        // Reports cost the uplink: none without a reason.
        if !std::mem::take(&mut self.report_now) {
            return None;
        }
        let report = self.report(now);
        let packet = Packet {
            flow: self.flow,
            size: report.wire_size(),
            ecn: Ecn::NotEct,
            payload: Payload::Report(Box::new(report)),
        };
        self.stats.packets_sent += 1;
        self.stats.bytes_sent += packet.size;
        Some(packet)
    }

    fn stats(&self) -> Stats {
        self.frames.stats(self.stats)
    }

    fn take_frame(&mut self) -> Option<FrameArrival> {
        self.frames.take()
    }
}
