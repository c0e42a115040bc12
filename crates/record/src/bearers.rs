//! Results of each bearer of each UE.

use tidemark_cell::{DEFAULT_QFI, DelaySplit, DrbConfig, DrbStats, UeConfig};
use tidemark_core::{Bytes, Duration};
use tidemark_marker::{Characteristics, LawConfig, MarkerConfig};

use crate::distribution::{Distribution, Quantiles};
use crate::result::{BearerResult, Threshold};
use crate::subject::{Direction, NamedUe};
use crate::unit::mbps;

/// The law of a UE's bearer with this DRB identity, from 1.
pub fn law(ue: &UeConfig, drb: u8) -> String {
    marker(ue, drb).law.properties().name.to_string()
}

/// The law by which the gNB marks what a UE sends by this bearer, if there is one.
pub fn uplink_law(ue: &UeConfig, drb: u8) -> Option<String> {
    let own = dedicated(ue, drb).and_then(|drb| drb.uplink_marker.as_ref());
    own.or(ue.uplink_marker.as_ref()).map(|marker| marker.law.properties().name.to_string())
}

fn marker(ue: &UeConfig, drb: u8) -> &MarkerConfig {
    dedicated(ue, drb).and_then(|drb| drb.marker.as_ref()).unwrap_or(&ue.marker)
}

/// Delays that a law holds the queue of a bearer to, whose first QoS flow has this 5QI.
fn thresholds(law: &LawConfig, five_qi: u8) -> Vec<Threshold> {
    let threshold = |(key, delay): (&str, Duration)| Threshold { key: key.into(), delay_ms: delay.as_millis_f64() };
    law.thresholds(five_qi).map(threshold).collect()
}

/// Configuration of a bearer that is not the default one.
fn dedicated(ue: &UeConfig, drb: u8) -> Option<&DrbConfig> {
    usize::from(drb).checked_sub(2).and_then(|index| ue.drb.get(index))
}

/// QFIs and 5QIs of a bearer's QoS flows.
fn qos_flows(ue: &UeConfig, drb: u8) -> (Vec<u8>, Vec<u8>) {
    match dedicated(ue, drb) {
        Some(drb) => drb.qos_flow.iter().map(|flow| (flow.qfi, flow.five_qi)).unzip(),
        None => (vec![DEFAULT_QFI], vec![ue.five_qi]),
    }
}

/// The least packet delay budget of these 5QIs.
fn budget(five_qi: &[u8]) -> Duration {
    let budgets = five_qi.iter().filter_map(|five_qi| Characteristics::of(*five_qi)).map(|row| row.delay_budget);
    budgets.min().unwrap_or_default()
}

/// Packets that a UE sent, by bearer, counted where they leave the gNB.
#[derive(Debug, Default)]
pub struct UplinkBearers {
    /// QFIs and the DRB identities that they belong to.
    qos_flows: Vec<(u8, u8)>,
    bearers: Vec<UplinkBearer>,
}

#[derive(Debug, Default)]
struct UplinkBearer {
    budget: Duration,
    stats: DrbStats,
    queue: Distribution,
}

impl UplinkBearers {
    /// Record of a UE's bearers.
    pub fn new(ue: &UeConfig) -> Self {
        let all = (1..=1 + ue.drb.len() as u8).map(|drb| (drb, qos_flows(ue, drb)));
        let bearer = |five_qi: &[u8]| UplinkBearer { budget: budget(five_qi), ..UplinkBearer::default() };
        Self {
            qos_flows: all.clone().flat_map(|(drb, (qfi, _))| qfi.into_iter().map(move |qfi| (qfi, drb))).collect(),
            bearers: all.map(|(_, (_, five_qi))| bearer(&five_qi)).collect(),
        }
    }
    /// The DRB identity of a QoS flow; without a bearer of its own it takes the default one.
    pub fn drb_of(&self, qfi: u8) -> u8 {
        self.qos_flows.iter().find(|(known, _)| *known == qfi).map_or(1, |(_, drb)| *drb)
    }
    /// A packet left the gNB.
    pub fn left(&mut self, drb: u8, size: Bytes, delay: DelaySplit) {
        let Some(bearer) = self.of(drb) else { return };
        bearer.stats.packets += 1;
        bearer.stats.delivered += size;
        bearer.stats.late += u64::from(delay.total() > bearer.budget);
        bearer.queue.record(delay.queuing + delay.scheduling);
    }
    /// A packet was lost before.
    pub fn lost(&mut self, drb: u8) {
        if let Some(bearer) = self.of(drb) {
            bearer.stats.dropped += 1;
        }
    }
    /// IP bytes of all bearers, and their packets' wait at the UE.
    pub fn all(&self) -> (Bytes, Distribution) {
        let mut queue = Distribution::default();
        self.bearers.iter().for_each(|bearer| queue.merge(&bearer.queue));
        (self.bearers.iter().map(|bearer| bearer.stats.delivered).sum(), queue)
    }
    /// Result of a bearer in a span, with the counters of the gNB's markers before and after; `None` where nothing was sent.
    pub fn result(
        &self,
        ue: &NamedUe,
        drb: u8,
        (before, after): (&DrbStats, &DrbStats),
        span: Duration,
    ) -> Option<BearerResult> {
        let UplinkBearer { stats, queue, .. } = self.bearers.get(usize::from(drb).checked_sub(1)?)?;
        let result = BearerResult::new(ue, drb, (&DrbStats::default(), stats), queue.quantiles(), span);
        let law = uplink_law(&ue.config, drb).unwrap_or_else(|| "none".into());
        // An uplink's marker sees the gNB's backlog estimate, not the queue whose delay is measured here.
        let thresholds = Vec::new();
        let marked = after.uplink_marked - before.uplink_marked;
        let uplink = BearerResult { direction: Direction::Uplink, law, thresholds, marked: Some(marked), ..result };
        uplink.in_budget.is_some().then_some(uplink)
    }
    fn of(&mut self, drb: u8) -> Option<&mut UplinkBearer> {
        self.bearers.get_mut(usize::from(drb).checked_sub(1)?)
    }
}

impl BearerResult {
    /// The downlink of a UE's bearer with this DRB identity: its counters before and after a span, and the delays in its queue.
    pub fn new(
        ue: &NamedUe,
        drb: u8,
        (before, after): (&DrbStats, &DrbStats),
        queue_ms: Option<Quantiles>,
        span: Duration,
    ) -> Self {
        let (qfi, five_qi) = qos_flows(&ue.config, drb);
        let budget = budget(&five_qi);
        let first = five_qi.first().copied().unwrap_or(0);
        let (packets, late) = (after.packets - before.packets, after.late - before.late);
        let dropped = after.dropped - before.dropped;
        let in_time = (packets - late) as f64 / (packets + dropped).max(1) as f64;
        Self {
            ue: ue.name.clone(),
            drb,
            direction: Direction::Downlink,
            qfi,
            five_qi,
            law: law(&ue.config, drb),
            thresholds: thresholds(&marker(&ue.config, drb).law, first),
            throughput_mbps: mbps(after.delivered - before.delivered, span),
            queue_ms,
            marked: Some(after.marked - before.marked),
            dropped,
            delay_budget_ms: budget.as_millis_f64(),
            in_budget: (packets + dropped > 0).then_some(in_time),
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_cell::QosFlowConfig;
    use tidemark_marker::RampConfig;

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
        let delays = |of: &BearerResult| of.thresholds.iter().map(|threshold| threshold.delay_ms).collect::<Vec<_>>();
        assert_eq!(delays(&result), Vec::<f64>::new(), "its law holds nothing");
        assert_eq!((result.qfi, result.five_qi, result.law.as_str()), (vec![2, 3], vec![7, 80], "none"));
        assert_eq!((result.delay_budget_ms, result.in_budget), (10.0, Some(0.6)));
        assert_eq!((result.throughput_mbps, result.marked, result.dropped), (8.0, Some(7), 20));
        // Nothing was offered: nothing is said.
        let idle = BearerResult::new(&ue, 1, (&before, &before), None, Duration::from_secs(1));
        assert_eq!(delays(&idle), [5.0, 10.0]);
        assert_eq!((idle.in_budget, idle.qfi, idle.law.as_str()), (None, vec![DEFAULT_QFI], "ramp"));
    }

    #[test]
    fn what_a_ue_sends_is_counted_by_the_bearer_of_its_qos_flow() {
        let flow = QosFlowConfig { qfi: 5, five_qi: 80, ..QosFlowConfig::default() };
        let [ramp, none] = [LawConfig::Ramp(RampConfig::default()), LawConfig::None {}].map(MarkerConfig::with_law);
        let as_ue = DrbConfig { qos_flow: vec![flow], ..DrbConfig::default() };
        let own = DrbConfig { uplink_marker: Some(none), ..DrbConfig::default() };
        let config = UeConfig { drb: vec![as_ue, own], uplink_marker: Some(ramp), ..UeConfig::default() };
        assert_eq!([1, 2, 3].map(|drb| uplink_law(&config, drb).unwrap()), ["ramp", "ramp", "none"]);
        let mut bearers = UplinkBearers::new(&config);
        assert_eq!([DEFAULT_QFI, 5, 6].map(|qfi| bearers.drb_of(qfi)), [1, 2, 1]);
        // 5QI 80 has 10 ms: one of three packets takes longer, and a fourth is lost.
        for millis in [4, 8, 15] {
            let queuing = Duration::from_millis(millis);
            bearers.left(2, Bytes(1000), DelaySplit { queuing, ..DelaySplit::default() });
        }
        bearers.lost(2);
        let ue = NamedUe { name: "phone".into(), kind: 0, config };
        let marks = |uplink_marked| DrbStats { uplink_marked, ..DrbStats::default() };
        let result = |drb| bearers.result(&ue, drb, (&marks(5), &marks(7)), Duration::from_millis(24));
        assert!(result(1).is_none());
        let result = result(2).unwrap();
        assert_eq!((result.direction, result.qfi, result.law.as_str()), (Direction::Uplink, vec![5], "ramp"));
        assert_eq!(
            (result.throughput_mbps, result.marked, result.dropped, result.in_budget),
            (1.0, Some(2), 1, Some(0.5))
        );
        assert_eq!(result.queue_ms.unwrap().mean, 9.0);
        let (sent, queue) = bearers.all();
        assert_eq!((sent, queue.count()), (Bytes(3000), 3));
    }
}
