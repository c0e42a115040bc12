//! SDUs that PDCP sends to the DU again.

use tidemark_core::{Bytes, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{DeliveryStatus, LawConfig, MarkerConfig, SnLength};

const DRB: DrbId = DrbId(1);
const NOW: Instant = Instant::from_millis(1);

fn ue() -> Ue {
    let mut ue = Ue::new(FlowKey::new(&[1; 16]));
    let config = MarkerConfig::with_law(LawConfig::L4span(Default::default()));
    ue.add_drb(DRB, &[1], &config, SnLength::Bits12, Stream::new(1, 0, "mark")).unwrap();
    ue
}

/// SDUs and bytes queued, SDUs counted, and anomalies.
fn state(ue: &Ue) -> (u32, u64, u64, u64) {
    let (estimate, counters) = (ue.estimate(NOW, DRB).unwrap(), ue.drb_counters(DRB).unwrap());
    let anomalies = counters.repeated_sns + counters.skipped_sns + counters.sn_restarts;
    (estimate.packets, estimate.standing.0, counters.pdus, anomalies)
}

#[test]
fn what_the_same_du_gets_a_second_time_counts_once() {
    let mut ue = ue();
    for sn in 4_090..4_100 {
        ue.pdcp_pdu(NOW, DRB, sn % 4_096, Bytes(1_000));
    }
    let report = DeliveryStatus { highest_transmitted: Some(4_093), ..DeliveryStatus::default() };
    ue.feedback(NOW, DRB, &report);
    assert_eq!(state(&ue), (6, 6_000, 10, 0));
    // PDCP's data recovery: all that is not confirmed, transmitted or queued.
    for sn in 4_090..4_100 {
        ue.pdcp_retransmission(NOW, DRB, sn % 4_096, Bytes(1_000));
    }
    assert_eq!(state(&ue), (6, 6_000, 10, 0));
}

#[test]
fn everything_that_a_new_du_gets_counts() {
    let mut ue = ue();
    for sn in 4_090..4_100 {
        ue.pdcp_pdu(NOW, DRB, sn % 4_096, Bytes(1_000));
    }
    ue.handover(NOW);
    for sn in 4_094..4_100 {
        ue.pdcp_retransmission(NOW, DRB, sn % 4_096, Bytes(1_000));
    }
    ue.pdcp_pdu(NOW, DRB, 4, Bytes(500));
    assert_eq!(state(&ue), (7, 6_500, 17, 0));
    // Once more to the same DU: nothing new.
    ue.pdcp_retransmission(NOW, DRB, 3, Bytes(1_000));
    assert_eq!(state(&ue), (7, 6_500, 17, 0));
}

#[test]
fn a_retransmission_on_no_drb_is_counted_as_such() {
    let mut ue = ue();
    ue.pdcp_retransmission(NOW, DrbId(2), 0, Bytes(1_000));
    assert_eq!(ue.counters().unknown_drb, 1);
}
