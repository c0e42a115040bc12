//! What became of each bearer of each UE.

use tidemark_cell::{Characteristics, DEFAULT_QFI, DrbStats, UeConfig};
use tidemark_core::Duration;
use tidemark_marker::MarkerConfig;

use crate::distribution::{Quantiles, round};
use crate::result::BearerResult;
use crate::scenario::NamedUe;
use crate::summary::{mbps, tag};

/// The law of a UE's bearer with this DRB identity, from 1.
pub fn law(ue: &UeConfig, drb: u8) -> String {
    tag(marker(ue, drb), "law")
}

fn marker(ue: &UeConfig, drb: u8) -> &MarkerConfig {
    let dedicated = usize::from(drb).checked_sub(2).and_then(|index| ue.drb.get(index));
    dedicated.and_then(|drb| drb.marker.as_ref()).unwrap_or(&ue.marker)
}

impl BearerResult {
    /// The bearer of a UE with this DRB identity: its counters before and after a span, and the delays in its queue.
    pub fn new(
        ue: &NamedUe,
        drb: u8,
        (before, after): (&DrbStats, &DrbStats),
        queue_ms: Option<Quantiles>,
        span: Duration,
    ) -> Self {
        let dedicated = usize::from(drb).checked_sub(2).and_then(|index| ue.config.drb.get(index));
        let (qfi, five_qi): (Vec<_>, Vec<_>) = match dedicated {
            Some(drb) => drb.qos_flow.iter().map(|flow| (flow.qfi, flow.five_qi)).unzip(),
            None => (vec![DEFAULT_QFI], vec![ue.config.five_qi]),
        };
        let budgets = five_qi.iter().filter_map(|five_qi| Characteristics::of(*five_qi));
        let budget = budgets.map(|row| row.delay_budget).min();
        let (packets, late) = (after.packets - before.packets, after.late - before.late);
        let dropped = after.dropped - before.dropped;
        let in_time = (packets - late) as f64 / (packets + dropped).max(1) as f64;
        Self {
            ue: ue.name.clone(),
            drb,
            qfi,
            five_qi,
            law: law(&ue.config, drb),
            throughput_mbps: mbps(after.delivered - before.delivered, span),
            queue_ms,
            marked: after.marked - before.marked,
            dropped,
            delay_budget_ms: budget.map_or(0.0, Duration::as_millis_f64),
            in_budget: (packets + dropped > 0).then(|| round(in_time, 1e6)),
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_cell::{DrbConfig, QosFlowConfig};
    use tidemark_core::Bytes;
    use tidemark_marker::{LawConfig, RampConfig};

    use super::*;

    #[test]
    fn a_bearer_is_measured_by_the_tightest_budget_and_a_lost_packet_misses_it() {
        let flow = |qfi, five_qi| QosFlowConfig { qfi, five_qi, ..QosFlowConfig::default() };
        let marker = Some(MarkerConfig::with_law(LawConfig::None {}));
        let dedicated = DrbConfig { marker, qos_flow: vec![flow(2, 7), flow(3, 80)], ..DrbConfig::default() };
        let marker = MarkerConfig::with_law(LawConfig::Ramp(RampConfig::default()));
        let config = UeConfig { marker, drb: vec![dedicated], ..UeConfig::default() };
        let ue = NamedUe { name: "phone".into(), kind: 0, config };
        let before = DrbStats { packets: 10, late: 10, dropped: 10, ..DrbStats::default() };
        let after =
            DrbStats { packets: 90, late: 30, dropped: 30, delivered: Bytes(1_000_000), marked: 7, uplink_marked: 0 };
        let result = BearerResult::new(&ue, 2, (&before, &after), None, Duration::from_secs(1));
        assert_eq!((result.qfi, result.five_qi, result.law.as_str()), (vec![2, 3], vec![7, 80], "none"));
        assert_eq!((result.delay_budget_ms, result.in_budget), (10.0, Some(0.6)));
        assert_eq!((result.throughput_mbps, result.marked, result.dropped), (8.0, 7, 20));
        // Nothing was offered: nothing is said.
        let idle = BearerResult::new(&ue, 1, (&before, &before), None, Duration::from_secs(1));
        assert_eq!((idle.in_budget, idle.qfi, idle.law.as_str()), (None, vec![DEFAULT_QFI], "ramp"));
    }
}
