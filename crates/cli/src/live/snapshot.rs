//! Current state of a live cell, for the view, the page, `tidemark ctl` and Prometheus.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use serde::{Deserialize, Serialize};
use tidemark_core::Duration;
use tidemark_record::marks::Latest;
use tidemark_sim::Lateness;

use super::admission;
use super::buckets::Buckets;
use super::exposition::{self, Labels, rows};
use super::past::drawn;

rows! {
    /// A live cell at one time.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub(crate) struct Snapshot {
        /// Name of the scenario.
        pub name: String,
        /// Seconds since the start.
        pub t_s: f64,
        /// UEs in the scenario's order.
        pub ues: Vec<UeSnapshot>,
        /// Flows of programs, the most active ones first.
        pub flows: Vec<FlowSnapshot>,
        /// Lateness of the cell's deadlines, in microseconds.
        pub lateness_us: Option<Lateness>,
        /// Lateness of each deadline, for Prometheus.
        #[serde(skip)]
        pub lateness: Buckets,
        /// Share of a processor that the cell's thread used.
        pub busy: f64 = Gauge("busy_ratio"),
        /// Packets read from the devices.
        pub packets_in: u64 = Counter("packets_in"),
        /// Packets written to the devices.
        pub packets_out: u64 = Counter("packets_out"),
        /// Packets that the kernel refused.
        pub refused: u64 = Counter("refused_packets"),
        /// Packets dropped because the machine was too slow.
        pub overload: u64 = Counter("overload_drops"),
        /// Messages and packets refused at the cell's GTP-U socket, by reason; empty without one.
        #[serde(skip_serializing_if = "BTreeMap::is_empty", default)]
        pub not_admitted: BTreeMap<String, u64>,
        /// Share of the uplink's resource blocks that UEs used in the last interval; absent where it had no uplink slot.
        pub uplink_use: Option<f64> = Gauge("uplink_use_ratio"),
        /// Warning if the machine is too slow or the uplink too narrow.
        pub warning: Option<String>,
        /// The last marks and drops of the cell's laws, in order of time; none at a DU, whose CU decides.
        pub marks: Vec<MarkSnapshot>,
    }

    /// A UE at one time; rates and delays are of the last interval.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub(crate) struct UeSnapshot {
        /// Name in the scenario.
        pub name: String,
        /// Model of its channel.
        pub channel: String,
        /// Law of its default bearer.
        pub law: String,
        /// Rate to the UE.
        pub down_mbps: f64 = Gauge("downlink_bits_per_second" * 1e6),
        /// Rate from the UE.
        pub up_mbps: f64 = Gauge("uplink_bits_per_second" * 1e6),
        /// Mean time of delivered packets in the RLC queue; absent where none was delivered.
        pub queue_ms: Option<f64> = Gauge("queue_delay_seconds" / 1e3),
        /// 95th percentile of the time in the RLC queue.
        pub queue_p95_ms: Option<f64> = Gauge("queue_delay_p95_seconds" / 1e3),
        /// Time of each delivered packet in the RLC queue since the start, for Prometheus.
        #[serde(skip)]
        pub queue_delays: Buckets,
        /// 95th percentile of the wait of packets at the UE.
        pub uplink_queue_p95_ms: Option<f64> = Gauge("uplink_queue_delay_p95_seconds" / 1e3),
        /// Bytes in the RLC queue.
        pub backlog_bytes: u64 = Gauge("rlc_backlog_bytes"),
        /// MCS index used last.
        pub mcs: Option<u8> = Gauge("mcs"),
        /// IP bytes delivered to the UE since the start.
        pub delivered_bytes: u64 = Counter("delivered_bytes"),
        /// Downlink packets that the law marked; absent at a DU, whose CU knows it.
        pub marked: Option<u64> = Counter("marked_packets"),
        /// Packets that it received with CE, whoever marked them.
        pub ce_packets: u64 = Counter("ce_packets"),
        /// Downlink packets dropped.
        pub dropped: u64 = Counter("dropped_packets"),
        /// HARQ retransmissions.
        pub harq_retransmissions: u64 = Counter("harq_retransmissions"),
        /// Flows that SDAP forgot to make room for others.
        pub forgotten_flows: u64 = Counter("forgotten_flows"),
        /// Rate recommended last (ANBR), over all logical channels of a direction; absent without `anbr`.
        pub recommended_down_mbps: Option<f64> = Gauge("recommended_bits_per_second", direction = "downlink" * 1e6),
        /// Rate recommended last for the uplink, likewise.
        pub recommended_up_mbps: Option<f64> = Gauge("recommended_bits_per_second", direction = "uplink" * 1e6),
    }

    /// A flow of a program at one time; rates are of the last interval, counters from the flow's start.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub(crate) struct FlowSnapshot {
        /// Name of the flow.
        pub name: String,
        /// UE of the flow.
        pub ue: String,
        /// Rate of the flow.
        pub down_mbps: f64 = Gauge("bits_per_second", direction = "downlink" * 1e6),
        /// Rate from the UE; absent where none of its packets were seen.
        pub up_mbps: Option<f64> = Gauge("bits_per_second", direction = "uplink" * 1e6),
        /// Packets from the core, by the ECN field that they arrived with.
        pub ect1: u64 = Counter("packets", ecn = "ECT(1)"),
        /// Packets that arrived with ECT(0).
        pub ect0: u64 = Counter("packets", ecn = "ECT(0)"),
        /// Packets that arrived with Not-ECT.
        pub not_ect: u64 = Counter("packets", ecn = "Not-ECT"),
        /// Packets that arrived with CE.
        pub ce: u64 = Counter("packets", ecn = "CE"),
        /// Packets that the law marked; absent at a DU, whose CU knows it.
        pub marked: Option<u64> = Counter("marked_packets"),
        /// Packets dropped on the way to the UE.
        pub dropped: u64 = Counter("dropped_packets"),
        /// Median of the recent round trips that the cell sees in the flow's packets; absent where it sees none.
        pub round_trip_ms: Option<f64> = Gauge("round_trip_seconds" / 1e3),
    }

    /// A mark, or a drop by a law, with its reasons.
    #[derive(Clone, Debug, Default, Serialize, Deserialize)]
    pub(crate) struct MarkSnapshot {
        /// Seconds since the start.
        pub t_s: f64,
        /// Name of the flow.
        pub flow: String,
        /// Number of the packet among those from the core.
        pub packet: u64,
        /// `mark`, `short-circuit` (a mark that acknowledgements carry) or `drop`.
        pub verdict: String,
        /// Law that decided.
        pub law: String,
        /// Rule of the law.
        pub rule: String,
        /// Time in the RLC queue as the marker estimated it; absent while it has no rate.
        pub estimated_ms: Option<f64>,
        /// True age of the oldest packet in the RLC queue.
        pub queued_ms: Option<f64>,
    }
}

drawn! {
    UeSnapshot { down_mbps: Mean, up_mbps: Mean, queue_p95_ms: Maximum, uplink_queue_p95_ms: Maximum, mcs: Last }
}

/// Largest number of flows in a snapshot.
pub(super) const MAX_FLOWS: usize = 50;
/// Number of marks in a snapshot.
pub(super) const LAST_MARKS: usize = 8;

impl MarkSnapshot {
    /// Mark of the flow with this name.
    pub(crate) fn new(flow: &str, mark: &Latest) -> Self {
        Self {
            t_s: mark.at.as_secs_f64(),
            flow: flow.into(),
            packet: mark.packet,
            verdict: mark.verdict.into(),
            law: mark.law.into(),
            rule: mark.rule.into(),
            estimated_ms: mark.estimated.map(Duration::as_millis_f64),
            queued_ms: mark.queued.map(Duration::as_millis_f64),
        }
    }
}

impl UeSnapshot {
    /// Rates recommended last, for the downlink and, with an arrow, for the uplink.
    pub(crate) fn recommended(&self) -> String {
        both_ways(self.recommended_down_mbps, self.recommended_up_mbps)
    }
    /// The 95th percentiles of the delays in the UE's queues, in the same form.
    pub(crate) fn queue_p95(&self) -> String {
        both_ways(self.queue_p95_ms, self.uplink_queue_p95_ms)
    }
    /// Packets that were marked or, at a DU, arrived with CE.
    pub(crate) fn marks(&self) -> String {
        self.marked.map_or_else(|| format!("CE {}", self.ce_packets), |marked| marked.to_string())
    }
}

/// The downlink's value, and the uplink's with an arrow.
fn both_ways(down: Option<f64>, up: Option<f64>) -> String {
    let down = down.map(|value| format!("{value:.1}"));
    let up = up.map(|value| format!("↑{value:.1}"));
    let both: Vec<_> = down.into_iter().chain(up).collect();
    if both.is_empty() { "–".into() } else { both.join(" ") }
}

impl Snapshot {
    /// Metrics in Prometheus' text format.
    pub(crate) fn prometheus(self) -> String {
        exposition::text(self)
    }
}

impl Collector for Snapshot {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        let ue = |name: &str| ("ue", name.to_string());
        exposition::write_rows(&mut to, "", self.ues.iter().map(|of| (vec![ue(&of.name)], of)))?;
        let flows = self.flows.iter().map(|of| (vec![("flow", of.name.clone()), ue(&of.ue)], of));
        exposition::write_rows(&mut to, "flow_", flows)?;
        exposition::write_rows(&mut to, "", [(Labels::new(), self)].into_iter())?;
        let queues = self.ues.iter().map(|of| (vec![ue(&of.name)], &of.queue_delays));
        exposition::write_histograms(
            &mut to,
            "downlink_queue_delay_seconds",
            "Time of delivered packets in the RLC queue.",
            queues,
        )?;
        let late = [(Labels::new(), &self.lateness)];
        exposition::write_histograms(&mut to, "slot_lateness_seconds", "How late deadlines were served.", late)?;
        admission::expose(&mut to, &self.not_admitted)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_not_measured_has_no_sample_and_every_sample_has_a_type() {
        let ue = UeSnapshot {
            name: "a\"b".into(),
            marked: Some(3),
            uplink_queue_p95_ms: Some(109.0),
            recommended_up_mbps: Some(2.5),
            ..UeSnapshot::default()
        };
        let of = |ue: &UeSnapshot| {
            Snapshot { ues: vec![ue.clone()], uplink_use: Some(0.97), ..Snapshot::default() }.prometheus()
        };
        let text = of(&ue);
        assert!(text.contains("tidemark_marked_packets_total{ue=\"a\\\"b\"} 3\n"));
        assert!(text.contains("tidemark_recommended_bits_per_second{ue=\"a\\\"b\",direction=\"uplink\"} 2500000.0\n"));
        assert!(!text.contains("direction=\"downlink\""));
        assert!(text.contains("tidemark_uplink_queue_delay_p95_seconds{ue=\"a\\\"b\"} 0.109\n"));
        assert!(text.contains("tidemark_uplink_use_ratio 0.97\n"));
        // A DU knows of no marks, only of what came with CE.
        let du = UeSnapshot { marked: None, ce_packets: 8, ..ue };
        assert!(
            !of(&du).contains("marked_packets") && of(&du).contains("tidemark_ce_packets_total{ue=\"a\\\"b\"} 8\n")
        );
        assert_eq!((du.marks(), du.queue_p95()), ("CE 8".into(), "↑109.0".into()));
        assert!(!text.contains("tidemark_queue_delay") && !text.contains("lateness") && !text.contains("tidemark_mcs"));
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            assert!(text.contains(&format!("# TYPE {name} ")), "{line}");
        }
    }
}
