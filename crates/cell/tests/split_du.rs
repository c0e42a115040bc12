//! A DU whose CU is elsewhere reports the SNs of its PDUs.

use tidemark_cell::{BearerId, CellConfig, Output, RlcConfig, RlcMode, SplitDu, UeConfig, UeId};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet};
use tidemark_marker::{DeliveryStatus, LawConfig, MarkerConfig, RampConfig, SnLength};

use crate::sent::Sent;

fn packet(size: u64) -> Packet<Sent> {
    Packet { flow: FlowId(1), size: Bytes(size), ecn: Ecn::Ect1, payload: Sent::default() }
}

/// Feeds a DU a PDU each millisecond with these SNs; the SNs delivered, and the reports.
fn run(
    mode: RlcMode,
    sn_length: SnLength,
    sns: impl IntoIterator<Item = u32>,
) -> (SplitDu<Sent>, Vec<u32>, Vec<DeliveryStatus>) {
    let rlc = RlcConfig { mode, pdcp_sn: sn_length, queue_sdus: 1_000, ..RlcConfig::default() };
    let mut du = SplitDu::new(&CellConfig::default(), 1).unwrap();
    let ue = du.add_ue(&UeConfig { rlc, ..UeConfig::default() }).unwrap();
    let bearer = BearerId { ue, drb: 1, sn_length };
    let delivered = std::sync::Arc::new(std::sync::Mutex::new(Vec::new()));
    let listener = std::sync::Arc::clone(&delivered);
    du.observe(Box::new(move |_, _, event| {
        if let tidemark_cell::Event::Delivered { sn, .. } = event {
            listener.lock().unwrap().push(sn);
        }
    }));
    let (mut now, mut reports) = (Instant::ZERO, Vec::new());
    let mut until = |du: &mut SplitDu<Sent>, end: Instant| {
        while let Some(at) = du.next_deadline().filter(|at| *at <= end) {
            du.handle_timeout(at);
            while du.poll_output().is_some() {}
            while let Some((of, status)) = du.poll_report() {
                assert_eq!(of, bearer);
                reports.push(status);
            }
        }
    };
    for sn in sns {
        until(&mut du, now);
        du.handle_pdu(now, bearer, sn, packet(1_200));
        now += Duration::from_millis(1);
    }
    until(&mut du, now + Duration::from_secs(1));
    let delivered = std::mem::take(&mut *delivered.lock().unwrap());
    (du, delivered, reports)
}

#[test]
fn reports_follow_the_sns_of_the_cu_round_their_space() {
    for (sn_length, first) in [(SnLength::Bits12, 0), (SnLength::Bits18, 260_000)] {
        let sns: Vec<_> = (first..first + 9_000).map(|sn| sn % sn_length.modulus()).collect();
        let (_, delivered, reports) = run(RlcMode::Am, sn_length, sns.iter().copied());
        assert_eq!(delivered, sns);
        let last = reports.last().unwrap();
        assert_eq!((last.highest_transmitted, last.highest_delivered), (sns.last().copied(), sns.last().copied()));
        // Each report goes on from the one before it, modulo the number of SNs.
        let mut before = sns[0];
        for sn in reports.iter().filter_map(|report| report.highest_transmitted) {
            let ahead = (sn + sn_length.modulus() - before) % sn_length.modulus();
            assert!(ahead < 1_000, "{before} {sn}");
            before = sn;
        }
    }
}

#[test]
fn what_f1_u_lost_leaves_a_gap_in_the_reports_and_none_at_the_ue() {
    let sns = [7, 8, 11, 12, 500];
    let (_, delivered, reports) = run(RlcMode::Um, SnLength::Bits18, sns);
    assert_eq!(delivered, sns);
    let transmitted: Vec<_> = reports.iter().filter_map(|report| report.highest_transmitted).collect();
    assert_eq!(transmitted.first().zip(transmitted.last()), Some((&7, &500)));
    assert!(transmitted.iter().all(|sn| sns.contains(sn)));
    assert!(reports.iter().all(|report| report.highest_delivered.is_none()), "UM knows of no delivery");
}

#[test]
fn a_poll_is_answered_with_nothing_new_and_a_full_queue_drops() {
    let (mut du, ..) = run(RlcMode::Am, SnLength::Bits12, [3]);
    let (now, bearer) = (Instant::from_millis(5_000), BearerId { ue: UeId(0), drb: 1, sn_length: SnLength::Bits12 });
    du.handle_poll(now, bearer);
    du.handle_timeout(now);
    let (_, status) = du.poll_report().unwrap();
    assert_eq!((status.highest_delivered, du.poll_report()), (Some(3), None));
    du.interrupt(now, UeId(0), Duration::from_secs(10));
    (0..1_001).for_each(|sn| du.handle_pdu(now, bearer, sn, packet(100)));
    assert!(matches!(du.poll_output(), Some(Output::Dropped { .. })));
    assert_eq!(du.ue(now, UeId(0)).map(|ue| (ue.queue.packets, ue.dropped_by_queue)), Some((1_000, 1)));
    // Nobody's bearers are left alone.
    for (ue, drb) in [(UeId(1), 1), (UeId(0), 0), (UeId(0), 2)] {
        du.handle_pdu(now, BearerId { ue, drb, ..bearer }, 0, packet(100));
        du.handle_poll(now, BearerId { ue, drb, ..bearer });
    }
}

#[test]
fn packets_of_a_handover_keep_the_sns_of_the_cu() {
    let (mut du, ..) = run(RlcMode::Am, SnLength::Bits18, [9]);
    let (now, bearer) = (Instant::from_millis(5_000), BearerId { ue: UeId(0), drb: 1, sn_length: SnLength::Bits18 });
    (20..60).for_each(|sn| du.handle_pdu(now, bearer, sn, packet(1_200)));
    du.hand_over(now, UeId(0));
    while let Some(at) = du.next_deadline().filter(|at| *at < Instant::from_millis(8_000)) {
        du.handle_timeout(at);
    }
    let last = std::iter::from_fn(|| du.poll_report()).last().unwrap().1;
    assert_eq!((last.highest_transmitted, last.highest_delivered), (Some(59), Some(59)));
}

#[test]
fn a_law_that_marks_the_uplink_is_refused() {
    let mut du = SplitDu::<Sent>::new(&CellConfig::default(), 1).unwrap();
    let config = |law| {
        let marker = MarkerConfig { law, ..MarkerConfig::default() };
        UeConfig { uplink_marker: Some(marker), ..UeConfig::default() }
    };
    let refused = du.add_ue(&config(LawConfig::Ramp(RampConfig::default()))).unwrap_err().to_string();
    assert!(refused.starts_with("uplink_marker: must be left out in a split gNB"), "{refused}");
    assert!(du.add_ue(&config(LawConfig::None {})).is_ok());
}
