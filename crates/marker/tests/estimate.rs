//! Estimates of the marker, compared with the queue that it cannot see.

use crate::common::{Du, SLOT};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_marker::{DeliveryStatus, DrbMarker, L4SpanConfig, LawConfig, MarkerConfig, SnLength, Verdict};

/// `l4span` without overload protection, because queues are held at a fixed size here, as no sender that responds to marks does.
fn l4span() -> MarkerConfig {
    let law = LawConfig::L4span(L4SpanConfig::default());
    MarkerConfig { overload_protection: false, ..MarkerConfig::with_law(law) }
}

/// Median error of the predicted sojourn, relative to the true one, of a queue held at about `hold` bytes behind a
/// radio whose slots carry 2500 bytes on average and vary by `spread`.
fn median_error(report_every: Duration, hold: u64, spread: f64) -> f64 {
    let mut du = Du::new(&l4span(), SnLength::Bits18, report_every);
    let mut radio = Stream::new(3, 0, "radio");
    let mut errors = Vec::new();
    for slot in 0..20_000 {
        while du.backlog() < hold {
            du.send(0, Ecn::Ect1, 1_500);
        }
        du.slot(2_500.0 * (1.0 + spread * radio.normal()).max(0.0));
        if slot > 200 {
            let truth = du.backlog() as f64 / 5e6;
            let predicted = du.marker.estimate(du.now).sojourn.unwrap().as_secs_f64();
            errors.push((predicted - truth).abs() / truth);
        }
    }
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

#[test]
fn the_sojourn_is_predicted_at_every_report_period_that_gnbs_ship_with() {
    for (period_us, limit) in [(500, 0.03), (1_000, 0.04), (5_000, 0.10), (10_000, 0.15)] {
        let error = median_error(Duration::from_micros(period_us), 50_000, 0.0);
        assert!(error < limit, "{period_us} us: {error}");
        let error = median_error(Duration::from_micros(period_us), 50_000, 0.3);
        assert!(error < 2.0 * limit, "{period_us} us, varying: {error}");
    }
}

#[test]
fn the_age_of_the_head_is_not_that_of_the_report() {
    for period_us in [500, 5_000, 10_000, 20_000] {
        let mut du = Du::new(&l4span(), SnLength::Bits18, Duration::from_micros(period_us));
        let (mut estimated, mut truth) = (0.0, 0.0);
        for slot in 0..20_000 {
            // 10 ms are queued, filled up in bursts of 1 ms.
            while slot % 2 == 0 && du.backlog() < 50_000 {
                du.send(0, Ecn::Ect1, 1_500);
            }
            du.slot(2_500.0);
            if slot > 200 {
                estimated += du.marker.estimate(du.now).head_of_line.unwrap_or(Duration::ZERO).as_secs_f64();
                truth += du.rlc().head_of_line.as_secs_f64();
            }
        }
        let share = estimated / truth;
        assert!((0.9..1.15).contains(&share), "{period_us} us: {share:.3} of {:.2} ms", truth / 19.8);
    }
}

#[test]
fn application_limited_flows_are_not_over_marked() {
    // A frame of 20 packets every 16 ms: 15 Mbit/s on 40 Mbit/s, where a frame drains in 6 ms, under the threshold.
    for report_every in [SLOT, Duration::from_millis(5), Duration::from_millis(10)] {
        let mut du = Du::new(&l4span(), SnLength::Bits18, report_every);
        for slot in 0..20_000 {
            if slot % 32 == 0 {
                for _ in 0..20 {
                    du.send(0, Ecn::Ect1, 1_500);
                }
            }
            du.slot(2_500.0);
        }
        let share = du.marks as f64 / (du.marks + du.passed) as f64;
        assert!(share < 0.01, "{report_every:?}: {share}");
    }
}

#[test]
fn a_trickle_is_never_marked() {
    for report_every in [SLOT, Duration::from_millis(5), Duration::from_millis(10)] {
        let mut du = Du::new(&l4span(), SnLength::Bits12, report_every);
        for slot in 0..50_000u32 {
            if slot % 7 == 0 {
                du.send(0, if slot % 2 == 0 { Ecn::Ect1 } else { Ecn::Ect0 }, 1_200);
            }
            du.slot(2_500.0);
        }
        assert_eq!(du.marks, 0, "{report_every:?}");
    }
}

#[test]
fn an_overloaded_drb_is_marked_and_an_outage_is_noticed_within_its_silence() {
    let mut du = Du::new(&l4span(), SnLength::Bits18, Duration::from_millis(10));
    for _ in 0..400 {
        while du.backlog() < 100_000 {
            du.send(0, Ecn::Ect1, 1_500);
        }
        du.slot(2_500.0);
    }
    let (marks, passed) = (du.marks, du.passed);
    for _ in 0..400 {
        while du.backlog() < 100_000 {
            du.send(0, Ecn::Ect1, 1_500);
        }
        du.slot(2_500.0);
    }
    let (marks, passed) = (du.marks - marks, du.passed - passed);
    assert!(marks > 500 && passed <= marks / 50, "twice the threshold is queued: {marks} marked, {passed} not");

    // 20 kB are queued, 4 ms, which is fine; then the radio falls silent for 40 ms.
    let mut du = Du::new(&l4span(), SnLength::Bits18, Duration::from_millis(10));
    for _ in 0..2_000 {
        while du.backlog() < 20_000 {
            du.send(0, Ecn::Ect1, 1_500);
        }
        du.slot(2_500.0);
    }
    let before = du.marks;
    for slot in 0..80 {
        du.slot(0.0);
        if slot % 10 == 0 {
            du.send(0, Ecn::Ect1, 1_500);
        }
    }
    assert!(du.marks > before, "an outage must be signalled before it ends");
}

#[test]
fn reports_that_follow_arrivals_are_noticed_and_said() {
    use tidemark_core::{Bytes, Instant};
    use tidemark_marker::{DeliveryStatus, DrbMarker};
    let mut marker = DrbMarker::new(&l4span(), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    for sn in 0..1_000u32 {
        let now = Instant::from_nanos(u64::from(sn) * 300_000);
        marker.handle_pdcp_pdu(now, sn, Bytes(1_500));
        if sn % 5 == 4 {
            let status = DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() };
            marker.handle_report(now + Duration::from_micros(30), &status);
        }
    }
    assert_eq!(marker.counters().blind_drbs, 1);
    // Reports that leave a few SDUs behind, or one that waited a little, are of transmissions.
    for (left, age, is_blind) in [(4, 199, true), (5, 199, false), (4, 200, false)] {
        let mut marker = DrbMarker::new(&l4span(), SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        for burst in 0..100u32 {
            let now = Instant::from_millis(u64::from(burst));
            (0..10).for_each(|k| marker.handle_pdcp_pdu(now, burst * 10 + k, Bytes(1_500)));
            for sn in [burst * 10 + 9 - left, burst * 10 + 9] {
                // All but the one report of what was left came at once.
                let status = DeliveryStatus { highest_transmitted: Some(sn), ..DeliveryStatus::default() };
                marker.handle_report(now + Duration::from_micros(age), &status);
            }
        }
        assert_eq!(marker.counters().blind_drbs, u64::from(is_blind), "{left} left after {age} us");
    }

    let mut du = Du::new(&l4span(), SnLength::Bits18, SLOT);
    for slot in 0..2_000u32 {
        if slot % 3 == 0 {
            du.send(0, Ecn::Ect1, 1_200);
        }
        du.slot(2_500.0);
    }
    assert_eq!(du.marker.counters().blind_drbs, 0);
}

#[test]
fn reports_while_nothing_is_queued_say_nothing_of_their_period() {
    use tidemark_core::Bytes;
    use tidemark_marker::DeliveryStatus;
    let mut du = Du::new(&l4span(), SnLength::Bits18, Duration::from_millis(10));
    let mut sent = 0;
    for _ in 0..2_000 {
        while du.backlog() < 50_000 {
            du.send(0, Ecn::NotEct, 1_500);
            sent += 1;
        }
        du.slot(2_500.0);
    }
    let mut now = du.now;
    let report = DeliveryStatus { highest_transmitted: Some(sent - 1), ..DeliveryStatus::default() };
    // Everything is transmitted, and the DU says so each millisecond.
    for _ in 0..200 {
        now += Duration::from_millis(1);
        du.marker.handle_report(now, &report);
    }
    (0..30).for_each(|k| du.marker.handle_pdcp_pdu(now, sent + k, Bytes(1_500)));
    // No report is missing after 8 ms: 5 MB/s are thought to have left.
    let left = du.marker.estimate(now + Duration::from_millis(8)).backlog;
    assert!(left < Bytes(15_000), "{left:?}");
}

#[test]
fn a_report_is_asked_for_when_the_estimate_grows_stale() {
    let mut du = Du::new(&l4span(), SnLength::Bits18, Duration::from_millis(10));
    assert!(!du.marker.wants_report(du.now), "nothing is queued");
    du.send(0, Ecn::Ect1, 1_500);
    for _ in 0..40 {
        assert!(!du.marker.wants_report(du.now), "{:?}", du.now);
        du.slot(0.0);
    }
    assert!(!du.marker.wants_report(du.now), "20 ms and no more");
    du.slot(0.0);
    assert!(du.marker.wants_report(du.now), "more than 20 ms without a report");
    du.slot(2_500.0);
    assert!(!du.marker.wants_report(du.now));
}

/// Laws that mark on arrival, each with a queue of some 50 ms that a DU reports on every 5 ms, and then never again.
#[test]
fn reports_that_stop_mark_nothing_for_good() {
    let laws = LawConfig::all().into_iter().filter(|law| law.properties().marks && !law.decides_on_leaving());
    for law in laws {
        let config = MarkerConfig::with_law(law);
        let mut du = Du::new(&config, SnLength::Bits18, Duration::from_millis(5));
        (0..170).for_each(|_| _ = du.send(1, Ecn::Ect1, 1_500));
        for _ in 0..400 {
            du.send(1, Ecn::Ect1, 2_500);
            du.slot(2_500.0);
        }
        let arrive = |du: &mut Du, after| {
            du.now += after;
            let packet = Packet { flow: FlowId(1), size: Bytes(1_500), ecn: Ecn::Ect1, payload: () };
            du.marker.handle_downlink(du.now, &packet, None)
        };
        let marked = |du: &mut Du| (0..100).filter(|_| arrive(du, Duration::from_millis(1)) == Verdict::Mark).count();
        let name = config.law.properties().name;
        assert!(marked(&mut du) > 0, "{name} marks the queue while reports may still come");
        assert_eq!(du.marker.counters().reports_missing, 0);
        arrive(&mut du, config.report_timeout);
        for minute in 0..3 {
            assert_eq!(marked(&mut du), 0, "{name}, minute {minute}");
            let estimate = du.marker.estimate(du.now);
            assert_eq!((estimate.egress, estimate.sojourn, estimate.head_of_line), (None, None, None));
            arrive(&mut du, Duration::from_secs(60));
        }
        assert!(du.marker.counters().reports_missing >= 300 && du.marker.wants_report(du.now));
        // One that comes after all counts at once.
        let packets = du.marker.estimate(du.now).packets;
        du.slot(2_500.0);
        (0..20).for_each(|_| du.slot(2_500.0));
        let estimate = du.marker.estimate(du.now);
        assert!(estimate.egress.is_some() && estimate.packets < packets, "{name}: {estimate:?}");
    }
}

#[test]
fn a_restart_of_the_du_is_told_from_a_stall_by_its_first_report() {
    for (is_restart, silence) in [(false, 100), (true, 100), (false, 3_000), (true, 3_000)] {
        let mut du = Du::new(&l4span(), SnLength::Bits18, Duration::from_millis(5));
        for _ in 0..2_000 {
            while du.backlog() < 100_000 {
                du.send(1, Ecn::Ect1, 1_500);
            }
            du.slot(2_500.0);
        }
        if is_restart {
            du.restart();
        }
        du.now += Duration::from_millis(silence);
        let before = du.marker.estimate(du.now).packets;
        (0..20).for_each(|_| _ = du.send(1, Ecn::Ect1, 1_500));
        // The DU's next report, and the rate within the estimator's window after it.
        (0..12).for_each(|_| du.slot(2_500.0));
        let (estimate, queued) = (du.marker.estimate(du.now), du.rlc().packets);
        assert!(
            estimate.packets.abs_diff(queued) <= 4,
            "{is_restart} after {silence} ms: {estimate:?}, {queued} queued, {before} before"
        );
        for _ in 0..200 {
            while du.backlog() < 100_000 {
                du.send(1, Ecn::Ect1, 1_500);
            }
            du.slot(2_500.0);
        }
        let rate = du.marker.estimate(du.now).egress.unwrap().rate.as_bps() as f64 / 40e6;
        assert!((0.8..1.2).contains(&rate), "{is_restart} after {silence} ms: {rate} of the radio's rate");
    }
}

#[test]
fn a_du_that_reports_deliveries_alone_shows_no_queue_but_what_is_not_delivered() {
    let mut du = Du::new(&l4span(), SnLength::Bits12, Duration::from_millis(5));
    du.delivered_after = Some(Duration::from_millis(8));
    let mut standing = 0;
    for slot in 0..10_000 {
        // 20 ms are queued behind 40 Mbit/s.
        while du.backlog() < 100_000 {
            du.send(0, Ecn::Ect1, 1_500);
        }
        du.slot(2_500.0);
        if slot > 200 {
            let estimate = du.marker.estimate(du.now);
            assert_eq!((estimate.egress, estimate.head_of_line, estimate.retransmission), (None, None, None));
            standing += estimate.standing.0 / 9_799;
        }
    }
    // The queue, and what the radio carries in 8 ms and until a report: 40 to 65 kB.
    assert!((140_000..165_000).contains(&standing), "{standing}");
    assert_eq!(du.marks, 0);
    let counters = du.marker.counters();
    assert_eq!((counters.empty_reports, counters.unknown_sns), (counters.reports, 0));
    // It begins to report transmissions: now there is a queue to see.
    du.delivered_after = None;
    for _ in 0..200 {
        (0..2).for_each(|_| _ = du.send(0, Ecn::Ect1, 1_250));
        du.slot(2_500.0);
    }
    assert!(du.marks > 100, "{}", du.marks);
    assert_eq!(du.marker.counters().unknown_sns, 0);
}

#[test]
fn a_delivery_stands_for_a_report_of_its_transmission_that_was_lost() {
    let mut marker = DrbMarker::new(&l4span(), SnLength::Bits12, Stream::new(1, 0, "mark")).unwrap();
    let at = Instant::from_millis;
    let status = |transmitted, delivered| DeliveryStatus {
        highest_transmitted: transmitted,
        highest_delivered: delivered,
        ..DeliveryStatus::default()
    };
    (0..100).for_each(|sn| marker.handle_pdcp_pdu(at(0), sn, Bytes(1_500)));
    for sn in 0..60 {
        marker.handle_report(at(u64::from(sn) + 1), &status(Some(sn), sn.checked_sub(1)));
    }
    let before = marker.estimate(at(60));
    assert_eq!(before.retransmission, Some(Duration::from_millis(1)));
    // SNs 60 to 69 were transmitted, says their delivery, at the same rate.
    marker.handle_report(at(70), &status(None, Some(69)));
    let after = marker.estimate(at(70));
    assert_eq!((before.packets, after.packets), (40, 30));
    assert_eq!(after.egress.map(|egress| egress.rate), before.egress.map(|egress| egress.rate));
    assert_eq!(after.retransmission, before.retransmission, "the time between the two is not known");
    assert_eq!(marker.counters().unknown_sns, 0);
}
