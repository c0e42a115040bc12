//! Counters of a DRB, and limits of its knowledge of the queue.

use crate::common::Du;
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::{
    Counters, DeliveryStatus, DrbMarker, DualPi2Config, L4SpanConfig, LawConfig, MarkerConfig, SnLength, StepConfig,
    Verdict,
};

fn marker(config: &MarkerConfig) -> DrbMarker {
    DrbMarker::new(config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap()
}

fn packet(flow: u32, ecn: Ecn) -> Packet<()> {
    Packet { flow: FlowId(flow), size: Bytes(1_400), ecn, payload: () }
}

fn transmitted(sn: u32) -> DeliveryStatus {
    DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() }
}

#[test]
fn packets_pdus_and_reports_are_counted_each_by_its_kind() {
    let mut marker = marker(&MarkerConfig::default());
    for (flow, ecn, count) in [(1, Ecn::Ect1, 5), (2, Ecn::Ect0, 4), (3, Ecn::NotEct, 3), (4, Ecn::Ce, 2)] {
        (0..count).for_each(|_| _ = marker.handle_downlink(Instant::from_millis(1), &packet(flow, ecn), None));
    }
    (0..6).for_each(|sn| marker.handle_pdcp_pdu(Instant::from_millis(1), sn, Bytes(1_403)));
    for _ in 0..2 {
        marker.handle_discard(Instant::from_millis(2), 4);
    }
    assert_eq!(
        (marker.estimate(Instant::from_millis(2)).standing, marker.sn_length()),
        (Bytes(5 * 1_403), SnLength::Bits18)
    );
    for report in [transmitted(1), DeliveryStatus::default(), DeliveryStatus::default()] {
        marker.handle_report(Instant::from_millis(3), &report);
    }
    let expected = Counters {
        packets: 14,
        // A flow without another field yet is taken for what its CE shows.
        l4s_packets: 5 + 2,
        classic_packets: 4,
        ce_packets: 2,
        pdus: 6,
        discards: 2,
        unknown_sns: 1,
        reports: 3,
        empty_reports: 2,
        ..Counters::default()
    };
    assert_eq!(marker.counters(), expected);
}

#[test]
fn marks_of_both_classes_are_counted_as_they_were_made() {
    for (ecn, is_l4s) in [(Ecn::Ect1, true), (Ecn::Ect0, false)] {
        let config = MarkerConfig {
            overload_protection: false,
            ..MarkerConfig::with_law(LawConfig::Dualpi2(DualPi2Config::default()))
        };
        let mut du = Du::new(&config, SnLength::Bits18, Duration::from_millis(5));
        for _ in 0..2_000 {
            while du.backlog() < 200_000 {
                du.send(0, ecn, 1_400);
            }
            du.slot(2_500.0);
        }
        let counters = du.marker.counters();
        assert!(du.marks > 100, "{ecn:?}: {}", du.marks);
        let expected = if is_l4s { (du.marks, 0) } else { (0, du.marks) };
        assert_eq!((counters.l4s_marks, counters.classic_marks), expected);
        assert_eq!(counters.marks(), du.marks);
    }
}

#[test]
fn reports_are_missing_once_the_timeout_has_passed() {
    let config = MarkerConfig { report_timeout: Duration::from_millis(300), ..MarkerConfig::default() };
    for (late, missing) in [(300, 0), (301, 1)] {
        let mut marker = marker(&config);
        (0..4).for_each(|sn| marker.handle_pdcp_pdu(Instant::from_millis(1), sn, Bytes(1_403)));
        marker.handle_report(Instant::from_millis(10), &transmitted(0));
        let now = Instant::from_millis(10 + late);
        marker.handle_downlink(now, &packet(1, Ecn::Ect1), None);
        assert_eq!(marker.counters().reports_missing, missing, "{late} ms");
        assert_eq!(marker.estimate(now).head_of_line.is_none(), missing > 0);
    }
    // Without anything queued nothing is missed.
    let mut marker = marker(&config);
    marker.handle_pdcp_pdu(Instant::from_millis(1), 0, Bytes(1_403));
    marker.handle_report(Instant::from_millis(2), &transmitted(0));
    marker.handle_downlink(Instant::from_millis(9_000), &packet(1, Ecn::Ect1), None);
    assert_eq!(marker.counters().reports_missing, 0);
}

#[test]
fn as_printed_the_queue_is_what_no_report_has_covered_and_idle_time_counts() {
    let law = LawConfig::L4span(L4SpanConfig { as_printed: true, ..L4SpanConfig::default() });
    let mut printed =
        marker(&MarkerConfig { report_timeout: Duration::from_millis(50), ..MarkerConfig::with_law(law) });
    (0..10).for_each(|sn| printed.handle_pdcp_pdu(Instant::from_millis(0), sn, Bytes(1_245)));
    printed.handle_report(Instant::from_millis(10), &transmitted(3));
    // 4980 B in a window of 24.9 ms: 200 kB/s. 7470 B are left, 37.35 ms, and neither drain nor go with the report's age.
    for now in [10, 15, 40, 200] {
        let estimate = printed.estimate(Instant::from_millis(now));
        let rate = estimate.egress.unwrap().rate.as_bytes_per_sec();
        let sojourn = estimate.sojourn.unwrap().as_millis_f64();
        assert_eq!((estimate.backlog, rate.round()), (Bytes(7_470), 200_000.0), "{now} ms");
        assert!((sojourn - 37.35).abs() < 0.01, "{now} ms: {sojourn}");
    }
}

#[test]
fn what_was_measured_stays_under_another_law_and_goes_with_another_window() {
    let config = MarkerConfig::default();
    let mut du = Du::new(&config, SnLength::Bits18, Duration::from_millis(5));
    for _ in 0..1_000 {
        while du.backlog() < 100_000 {
            du.send(0, Ecn::Ect1, 1_400);
        }
        du.slot(2_500.0);
    }
    let measured = du.marker.estimate(du.now).egress;
    assert!(measured.is_some());
    let step = MarkerConfig { law: LawConfig::Step(StepConfig::default()), ..config };
    du.marker.reconfigure(du.now, &step, SnLength::Bits18).unwrap();
    assert_eq!(du.marker.estimate(du.now).egress, measured);
    let wider = MarkerConfig { tau_c: step.tau_c * 2, ..step };
    du.marker.reconfigure(du.now, &wider, SnLength::Bits18).unwrap();
    assert_eq!(du.marker.estimate(du.now).egress, None);
    assert_eq!(du.marker.estimate(du.now).packets > 0, du.backlog() > 0, "what is queued stays known");
}

#[test]
fn the_age_of_the_queue_is_given_to_laws_that_look_at_it() {
    for (law, looks) in [
        (LawConfig::Step(StepConfig::default()), LawConfig::Step(StepConfig::default()).properties().looks_at_head),
        (
            LawConfig::L4span(L4SpanConfig::default()),
            LawConfig::L4span(L4SpanConfig::default()).properties().looks_at_head,
        ),
    ] {
        let mut marker = marker(&MarkerConfig::with_law(law));
        (0..40).for_each(|sn| marker.handle_pdcp_pdu(Instant::from_millis(1), sn, Bytes(1_403)));
        marker.handle_report(Instant::from_millis(20), &transmitted(0));
        let outcome = marker.decide_downlink(Instant::from_millis(20), &packet(1, Ecn::Ect1), None).unwrap();
        assert_eq!(outcome.age > Duration::ZERO, looks, "{law:?}");
        assert_ne!(outcome.applied(), Verdict::Drop);
    }
}
