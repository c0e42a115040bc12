//! A DRB whose PDCP sends PDUs to two DUs. Only the PDUs to one DU are announced.

use tidemark_core::{Bytes, Instant, Stream};
use tidemark_marker::path::{DrbId, FlowKey, Ue};
use tidemark_marker::{DeliveryStatus, LawConfig, MarkerConfig, SnLength};

const DRB: DrbId = DrbId(1);

#[test]
fn the_queue_of_one_leg_is_known_by_its_own_pdus_and_reports() {
    for run in [1, 7, 100] {
        let mut ue = Ue::new(FlowKey::new(&[1; 16]));
        let config = MarkerConfig::with_law(LawConfig::L4span(Default::default()));
        ue.add_drb(DRB, &[1], &config, SnLength::Bits18, Stream::new(1, 0, "mark")).unwrap();
        // One PDU to this leg, then so many to the other, which nobody announces.
        let sn = |count: u32| count * (run + 1);
        for count in 0..100 {
            ue.pdcp_pdu(Instant::from_millis(count.into()), DRB, sn(count), Bytes(1_000));
        }
        let report = DeliveryStatus { highest_transmitted: Some(sn(59)), ..DeliveryStatus::default() };
        let now = Instant::from_millis(100);
        ue.feedback(now, DRB, &report);
        let (estimate, counters) = (ue.estimate(now, DRB).unwrap(), ue.drb_counters(DRB).unwrap());
        assert_eq!((estimate.packets, estimate.standing), (40, Bytes(40_000)), "{run}");
        assert_eq!(estimate.head_of_line.map(|age| age.as_millis()), Some(40), "{run}");
        assert_eq!(counters.skipped_sns, u64::from(99 * run));
        assert_eq!((counters.repeated_sns, counters.unknown_sns, counters.sn_restarts), (0, 0, 0));
    }
}
