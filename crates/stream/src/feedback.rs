//! Converts a browser's reports, RFC 8888 or transport-wide feedback, to the reports that the sender reads.

use rtc::interceptor::convert_twcc;
use rtc::rtcp::transport_feedbacks::cc_feedback_report::{CcFeedbackReport, CcFeedbackReportBlock};
use rtc::rtcp::transport_feedbacks::transport_layer_cc::TransportLayerCc;
use tidemark_core::{Duration, Ecn, Instant};
use tidemark_senders::payload::{Metric, Metrics, Report};

/// Start of the receiver's time: 8 s, more than any arrival in the first report can lie before the report.
const BEGIN: Instant = Instant::from_millis(60_000);
/// Unit of a transport-wide report's reference time (draft-holmer-rmcat-transport-wide-cc-extensions-01 3.1).
const REFERENCE: Duration = Duration::from_millis(64);

/// A wrapping counter of the receiver as time: `BITS` bits in units of `unit`.
#[derive(Clone, Copy, Debug)]
struct Wrapping<const BITS: u32> {
    unit: Duration,
    newest: Option<(u32, Instant)>,
}

impl<const BITS: u32> Wrapping<BITS> {
    fn new(unit: Duration) -> Self {
        Self { unit, newest: None }
    }

    /// Time of a value, which must be within half a range of the newest one.
    fn at(&mut self, value: u32) -> Instant {
        let Some((newest, at)) = self.newest else {
            self.newest = Some((value, BEGIN));
            return BEGIN;
        };
        let unused = 32 - BITS;
        let ahead = (value.wrapping_sub(newest) << unused) as i32 >> unused;
        let span = self.unit * u64::from(ahead.unsigned_abs());
        if ahead < 0 {
            return at.before(span);
        }
        self.newest = Some((value, at + span));
        at + span
    }
}

/// The receiver's clock, and the numbers of sent packets.
#[derive(Clone, Debug)]
pub(crate) struct Reports {
    /// RFC 8888 3.1: the middle 32 bits of an NTP timestamp.
    ntp: Wrapping<32>,
    reference: Wrapping<24>,
}

/// Number of the newest of the `sent` packets whose last 16 bits are these; `None` if there is none.
fn unwrapped(number: u16, sent: u64) -> Option<u64> {
    let newest = sent.checked_sub(1)?;
    newest.checked_sub(u64::from((newest as u16).wrapping_sub(number)))
}

impl Reports {
    pub(crate) fn new() -> Self {
        // 1/65536 s is 15258.79 ns. Rounding loses 14 us a second, as much as clocks drift.
        Self { ntp: Wrapping::new(Duration::from_nanos(15_259)), reference: Wrapping::new(REFERENCE) }
    }

    /// Reads reports on the stream `ssrc`, of which `sent` packets have left.
    pub(crate) fn ccfb(&mut self, report: &CcFeedbackReport, ssrc: u32, sent: u64) -> Vec<Report> {
        let timestamp = self.ntp.at(report.report_timestamp);
        let blocks = report.report_blocks.iter().filter(|block| block.media_ssrc == ssrc);
        let read = |block: &CcFeedbackReportBlock| {
            let begin = unwrapped(block.begin_sequence, sent)?;
            let known = block.metric_blocks.iter().take((sent - begin) as usize);
            let metrics = known.map(|metric| {
                let ecn = u16::from(Ecn::from_bits(metric.ecn as u8).bits());
                if metric.received { Metric(0x8000 | ecn << 13 | metric.arrival_time_offset) } else { Metric::LOST }
            });
            Some(Report { begin, timestamp, metrics: Metrics::Ccfb(metrics.collect()), recommended: None })
        };
        blocks.filter_map(read).collect()
    }

    /// Reads a report on all streams, of which `sent` packets have left. It has no time of its own, so the last arrival's time is used; the
    /// round trip therefore includes the report's wait.
    pub(crate) fn transport_wide(&mut self, report: &TransportLayerCc, sent: u64) -> Option<Report> {
        let begin = unwrapped(report.base_sequence_number, sent)?;
        let reference = self.reference.at(report.reference_time);
        let base = REFERENCE * u64::from(report.reference_time);
        let fates = convert_twcc(report);
        let times: Vec<_> = fates
            .iter()
            .take((sent - begin) as usize)
            .map(|fate| {
                let arrival = fate.arrival.map(|arrival| Duration::from_nanos(arrival.as_nanos() as u64));
                // A packet without an arrival time arrived before the report's start.
                fate.arrived.then(|| arrival.map_or(reference, |arrival| reference + (arrival - base)))
            })
            .collect();
        let timestamp = times.iter().flatten().max().copied()?;
        Some(Report { begin, timestamp, metrics: Metrics::TransportWide(times), recommended: None })
    }
}

#[cfg(test)]
mod tests {
    use rtc::rtcp::transport_feedbacks::cc_feedback_report::{CcFeedbackMetricBlock, Ecn as Reported};

    use super::*;

    fn report(begin_sequence: u16, timestamp: u32, metrics: &[(bool, Reported, u16)]) -> CcFeedbackReport {
        let metric =
            |&(received, ecn, arrival_time_offset)| CcFeedbackMetricBlock { received, ecn, arrival_time_offset };
        let metric_blocks = metrics.iter().map(metric).collect();
        let block = CcFeedbackReportBlock { media_ssrc: 7, begin_sequence, metric_blocks };
        CcFeedbackReport { sender_ssrc: 1, report_blocks: vec![block], report_timestamp: timestamp }
    }

    #[test]
    fn a_report_tells_marks_times_and_losses_by_the_numbers_that_were_sent() {
        let mut reports = Reports::new();
        let wire =
            report(0xFFFF, 0, &[(true, Reported::Ce, 1024), (false, Reported::NotEct, 0), (true, Reported::Ect1, 0)]);
        let [read] = &reports.ccfb(&wire, 7, 65_538)[..] else { panic!("one block") };
        let arrivals: Vec<_> = read.arrivals().collect();
        assert_eq!(arrivals[0], (65_535, Some((Ecn::Ce, Some(BEGIN.before(Duration::from_secs(1)))))));
        assert_eq!(arrivals[1..], [(65_536, None), (65_537, Some((Ecn::Ect1, Some(BEGIN))))]);
        assert!(reports.ccfb(&wire, 8, 65_538).is_empty(), "of another stream");
        // A second later, by a counter that wrapped.
        let mut reports = Reports::new();
        reports.ccfb(&report(0, u32::MAX, &[]), 7, 1);
        let later = &reports.ccfb(&report(0, 65_535, &[]), 7, 1)[0];
        assert!((later.timestamp.since(BEGIN).as_secs_f64() - 1.0).abs() < 1e-4);
    }

    #[test]
    fn packets_that_were_never_sent_are_not_read() {
        let mut reports = Reports::new();
        let all = [(true, Reported::Ect1, 0); 9];
        assert!(reports.ccfb(&report(0, 0, &all), 7, 0).is_empty(), "before the first");
        assert_eq!(reports.ccfb(&report(0, 0, &all), 7, 3)[0].arrivals().count(), 3);
        assert!(reports.ccfb(&report(3, 0, &all), 7, 3).is_empty(), "beyond the last");
        // In a long stream, a number beyond the last packet is an old one.
        assert_eq!(reports.ccfb(&report(3, 0, &all), 7, 65_539)[0].begin, 3);
    }
}
