//! A UE with several DRBs moves to another DU, which E1AP signals for each DRB.

use tidemark_core::{Bytes, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{MarkerConfig, SnLength};

const DRBS: [DrbId; 2] = [DrbId(1), DrbId(2)];
const SDU: Bytes = Bytes(1_403);

/// A UE with two DRBs, each with four SDUs queued in the old DU.
fn ue() -> Ue {
    let mut ue = Ue::new(FlowKey::new(&[9; 16]));
    let config = MarkerConfig { profile_capacity: 64, ..MarkerConfig::default() };
    for drb in DRBS {
        ue.add_drb(drb, &[drb.0], &config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
    }
    DRBS.into_iter().for_each(|drb| announce(&mut ue, drb));
    ue
}

fn announce(ue: &mut Ue, drb: DrbId) {
    for sn in 0..4 {
        ue.pdcp_pdu(Instant::from_millis(1), drb, sn, SDU);
    }
}

fn queued(ue: &Ue) -> [u32; 2] {
    DRBS.map(|drb| ue.estimate(Instant::from_millis(1), drb).unwrap().packets)
}

#[test]
fn a_handover_drb_by_drb_keeps_what_the_first_retransmitted() {
    // Each DRB in its turn: re-established, and what was not acknowledged is sent to the new DU.
    let mut ue = ue();
    for drb in DRBS {
        ue.handover_drb(Instant::from_millis(1), drb);
        announce(&mut ue, drb);
    }
    assert_eq!(queued(&ue), [4, 4]);
    for drb in DRBS {
        assert_eq!(ue.drb_counters(drb).unwrap().repeated_sns, 0);
    }
}

#[test]
fn a_handover_of_one_drb_leaves_the_others_and_counts_an_unknown_one() {
    let mut ue = ue();
    ue.handover_drb(Instant::from_millis(1), DrbId(2));
    assert_eq!(queued(&ue), [4, 0]);
    ue.handover_drb(Instant::from_millis(1), DrbId(3));
    assert_eq!((queued(&ue), ue.counters().unknown_drb), ([4, 0], 1));
    ue.handover(Instant::from_millis(1));
    assert_eq!(queued(&ue), [0, 0]);
}

#[test]
fn a_handover_of_the_ue_inside_the_loop_forgets_what_the_first_retransmitted() {
    let mut ue = ue();
    for drb in DRBS {
        ue.handover(Instant::from_millis(1));
        announce(&mut ue, drb);
    }
    assert_eq!(queued(&ue), [0, 4], "the call for all DRBs is for before the loop");
}
