//! State of a CU: its line of output, and what `tidemark ctl` and Prometheus show.

use std::collections::BTreeMap;
use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::DescriptorEncoder;
use prometheus_client::metrics::MetricType;
use serde::Serialize;
use tidemark_emu::{CuBearer, CuState, laws};
use tidemark_marker::Counters;
use tidemark_record::unit::tag;
use tidemark_sim::scenario::Scenario;

use crate::live::admission;
use crate::live::exposition::{self, Labels, rows};
use crate::live::past::drawn;
use crate::live::tunnels::configs;

rows! {
    /// A CU at one time.
    #[derive(Debug, Serialize)]
    pub(super) struct CuStatus {
        /// Name of the scenario.
        name: String,
        /// Seconds since the start.
        pub(super) t_s: f64,
        /// PDCP PDUs sent to the DU.
        downlink: u64 = Counter("downlink_packets"),
        /// Packets from the DU.
        uplink: u64 = Counter("uplink_packets"),
        /// Downlink packets marked.
        marked: u64,
        /// Packets dropped by the laws.
        dropped: u64,
        /// Packets that waited because the DU wanted no more.
        held: u64 = Counter("held_packets"),
        /// Packets dropped because too many waited.
        overflow: u64 = Counter("overflow_drops"),
        /// Delivery statuses.
        reports: u64,
        /// NR-U sequence numbers that the DU reported as lost.
        lost: u64,
        /// Packets for no UE.
        unroutable: u64 = Counter("unroutable_packets"),
        /// Messages and packets refused at F1-U, by reason.
        not_admitted: BTreeMap<String, u64>,
        /// Warning if reports are useless.
        pub(super) warning: Option<String>,
        /// Counters of the markers, by name, in sum over the bearers.
        marker: BTreeMap<String, u64>,
        /// Bearers, in the order of their tunnels.
        pub(super) bearers: Vec<BearerStatus>,
    }

    /// A bearer, and its marker's estimate of the DU's queue.
    #[derive(Debug, Serialize)]
    pub(super) struct BearerStatus {
        /// Name of the UE.
        ue: String,
        /// Number among the UE's DRBs.
        drb: u8,
        /// Law of the bearer.
        law: String,
        /// Downlink packets of the bearer.
        packets: u64 = Counter("packets"),
        /// Downlink packets marked.
        marked: u64 = Counter("marked_packets"),
        /// Packets dropped by the law.
        dropped: u64 = Counter("dropped_packets"),
        /// PDCP PDUs sent to the DU.
        sent_bytes: u64 = Counter("sent_bytes"),
        /// PDCP PDUs that wait here until the DU wants them.
        held_bytes: u64 = Gauge("held_bytes"),
        /// Delivery statuses.
        reports: u64 = Counter("reports"),
        /// NR-U SNs reported as lost.
        lost: u64 = Counter("lost_sns"),
        /// Bytes sent, but not yet reported as transmitted or lost.
        standing_bytes: u64 = Gauge("standing_bytes"),
        /// Estimate of the bytes that are queued now, between reports.
        backlog_bytes: u64 = Gauge("backlog_bytes"),
        /// Estimated wait of a packet that arrives now; absent while nothing was measured.
        queue_ms: Option<f64> = Gauge("queue_delay_seconds" / 1e3),
        /// Estimated rate at which the queue empties; absent while nothing was measured.
        egress_mbps: Option<f64> = Gauge("egress_bits_per_second" * 1e6),
        /// Time since the last delivery status, or since a queue formed after it.
        report_age_ms: f64 = Gauge("report_age_seconds" / 1e3),
    }
}

drawn! { BearerStatus { sent_bytes: Last, queue_ms: Maximum, egress_mbps: Mean, marked: Last } }

impl BearerStatus {
    fn of(ue: &str, law: String, bearer: &CuBearer) -> Self {
        let (counters, estimate) = (&bearer.marker, &bearer.estimate);
        Self {
            ue: ue.into(),
            drb: bearer.drb,
            law,
            packets: counters.packets,
            marked: counters.marks(),
            dropped: counters.drops,
            sent_bytes: bearer.sent.0,
            held_bytes: bearer.held.0,
            reports: counters.reports,
            lost: bearer.lost,
            standing_bytes: estimate.standing.0,
            backlog_bytes: estimate.backlog.0,
            queue_ms: estimate.sojourn.map(|sojourn| sojourn.as_millis_f64()),
            egress_mbps: estimate.egress.map(|egress| egress.rate.as_mbps()),
            report_age_ms: estimate.report_age.as_millis_f64(),
        }
    }
}

/// Gives the counters of a marker by their names.
fn by_name(counters: &Counters) -> BTreeMap<String, u64> {
    serde_json::to_value(counters).and_then(serde_json::from_value).unwrap_or_default()
}

/// Writes the counters of a marker as metrics, whose help is what the marker's documentation says of each.
fn expose(to: &mut DescriptorEncoder<'_>, by_name: &BTreeMap<String, u64>) -> fmt::Result {
    let schema = schemars::schema_for!(Counters);
    by_name.iter().try_for_each(|(name, value)| {
        let help = schema.pointer(&format!("/properties/{name}/description")).and_then(|help| help.as_str());
        let help = help.unwrap_or_default().replace('\n', " ");
        let sample = [(Labels::new(), *value as f64)];
        exposition::write_family(to, &format!("cu_marker_{name}"), MetricType::Counter, &help, sample)
    })
}

/// Warning if reports are useless.
fn warning(counters: &Counters) -> Option<String> {
    let (mismatched, blind) = (counters.mismatched_reports, counters.blind_drbs);
    if mismatched > 0 {
        return Some(format!(
            "{mismatched} reports of the DU named PDCP SNs that were not sent: nothing is marked. Give CU and DU the same SN length (`pdcp_sn` of the bearer)"
        ));
    }
    (blind > 0).then(|| {
        format!(
            "the DU's reports for {blind} bearers follow the packets it received, not those it transmitted: they do not show its queue, and marks based on them are blind"
        )
    })
}

impl CuStatus {
    /// Reads the state of the CU of this scenario.
    pub(super) fn of(scenario: &Scenario, state: &CuState) -> Self {
        let (named, configs) = (scenario.ues(), configs(scenario));
        let bearers = state.bearers.iter().zip(laws(&configs)).filter_map(|(bearer, law)| {
            Some(BearerStatus::of(&named.get(bearer.ue.0 as usize)?.name, tag(law, "law"), bearer))
        });
        let counters = state.counters;
        let marker = state.bearers.iter().fold(Counters::default(), |mut sum, bearer| {
            sum += bearer.marker;
            sum
        });
        Self {
            name: scenario.name.clone(),
            t_s: state.now.as_secs_f64(),
            downlink: counters.downlink,
            uplink: counters.uplink,
            marked: counters.marked,
            dropped: counters.dropped,
            held: counters.held,
            overflow: counters.overflow,
            reports: counters.reports,
            lost: state.bearers.iter().map(|bearer| bearer.lost).sum(),
            unroutable: counters.unroutable,
            not_admitted: admission::by_name(counters.refused),
            warning: warning(&marker),
            marker: by_name(&marker),
            bearers: bearers.collect(),
        }
    }

    /// Counters and gauges in Prometheus' text format.
    pub(super) fn prometheus(self) -> String {
        exposition::text(self)
    }
}

impl Collector for CuStatus {
    fn encode(&self, mut to: DescriptorEncoder<'_>) -> fmt::Result {
        exposition::write_rows(&mut to, "cu_", [(Labels::new(), self)].into_iter())?;
        expose(&mut to, &self.marker)?;
        let labels = |of: &BearerStatus| vec![("ue", of.ue.clone()), ("drb", of.drb.to_string())];
        exposition::write_rows(&mut to, "cu_", self.bearers.iter().map(|bearer| (labels(bearer), bearer)))?;
        admission::expose(&mut to, &self.not_admitted)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tidemark_cell::UeId;
    use tidemark_core::Bytes;
    use tidemark_marker::Estimate;

    use super::*;

    #[test]
    fn every_counter_of_the_markers_is_exposed_with_its_sentence() {
        let counters = Counters { packets: 7, stale_reports: 2, ..Counters::default() };
        let named = by_name(&counters);
        assert_eq!(named.len(), size_of::<Counters>() / size_of::<u64>());
        let scenario =
            Scenario::parse("test", "name = \"gnb\"\nduration = \"1 s\"\n[[ue]]\nname = \"a\"", Path::new(""), &[])
                .unwrap();
        let text = CuStatus { marker: named, ..CuStatus::of(&scenario, &CuState::default()) }.prometheus();
        assert!(text.contains("tidemark_cu_marker_packets_total 7\n"));
        let help = "# HELP tidemark_cu_marker_stale_reports_total Reports of an SN that an earlier report had passed: they came out of order, or twice.\n";
        assert!(text.contains(help), "{text}");
        let two_lines = "# HELP tidemark_cu_marker_marks_let_go_total Marks of `short_circuited` for which no acknowledgement had room, so that the sender has not read them. The next packet";
        assert!(text.contains(two_lines), "{text}");
    }

    #[test]
    fn each_bearer_has_its_law_and_samples_of_its_own() {
        let text = "name = \"gnb\"\nduration = \"1 s\"\nmarker = { law = \"ramp\" }\n[[ue]]\nname = \"a\"\n[[ue.drb]]\nmarker = { law = \"l4span\" }\nqos_flow = [{ qfi = 4 }]\n";
        let scenario = Scenario::parse("test", text, Path::new(""), &[]).unwrap();
        let bearer = |drb, lost| CuBearer {
            ue: UeId(0),
            drb,
            marker: Counters { l4s_marks: 2, ..Counters::default() },
            estimate: Estimate { standing: Bytes(900), ..Estimate::default() },
            sent: Bytes(5_000),
            held: Bytes(0),
            lost,
        };
        let state = CuState { bearers: vec![bearer(1, 3), bearer(2, 4)], ..CuState::default() };
        let status = CuStatus::of(&scenario, &state);
        assert_eq!(
            (status.bearers[0].law.as_str(), status.bearers[1].law.as_str(), status.lost),
            ("ramp", "l4span", 7)
        );
        let text = status.prometheus();
        assert!(text.contains("tidemark_cu_lost_sns_total{ue=\"a\",drb=\"2\"} 4\n"), "{text}");
        assert!(text.contains("tidemark_cu_standing_bytes{ue=\"a\",drb=\"1\"} 900.0\n"));
        assert!(!text.contains("cu_queue_delay_seconds"), "nothing was measured");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            assert!(text.contains(&format!("# TYPE {name} ")), "{line}");
        }
    }
}
