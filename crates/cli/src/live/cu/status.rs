//! State of a CU: its line of output, and what `tidemark ctl` and Prometheus show.

use std::collections::BTreeMap;

use serde::Serialize;
use tidemark_emu::{CuBearer, CuState, laws};
use tidemark_marker::Counters;
use tidemark_record::unit::tag;
use tidemark_sim::scenario::Scenario;

use crate::live::admission;
use crate::live::exposition::{Exposition, escaped};
use crate::live::tunnels::configs;

/// A CU at one time.
#[derive(Serialize)]
pub(super) struct Status {
    name: String,
    /// Seconds since the start.
    t_s: f64,
    downlink: u64,
    uplink: u64,
    marked: u64,
    dropped: u64,
    held: u64,
    overflow: u64,
    reports: u64,
    /// NR-U sequence numbers that the DU reported as lost.
    lost: u64,
    unroutable: u64,
    /// Messages and packets refused at F1-U, by reason.
    not_admitted: BTreeMap<String, u64>,
    marker: MarkerStatus,
    bearers: Vec<BearerStatus>,
}

/// Counters of its markers, of reports and of flows.
#[derive(Serialize)]
struct MarkerStatus {
    rewritten_acks: u64,
    /// Marks that acknowledgements had no room for.
    marks_let_go: u64,
    /// Packets of flows that went on through marks.
    overload_drops: u64,
    empty_reports: u64,
    unknown_sns: u64,
    flows_evicted: u64,
    flows_refused: u64,
    /// Bearers whose reports say nothing of a queue.
    blind_bearers: u64,
    stale_reports: u64,
    mismatched_reports: u64,
}

/// Figure of a bearer; absent while nothing was measured.
type Sample = fn(&BearerStatus) -> Option<f64>;

/// A bearer, and its marker's estimate of the DU's queue.
#[derive(Serialize)]
struct BearerStatus {
    ue: String,
    drb: u8,
    law: String,
    packets: u64,
    marked: u64,
    dropped: u64,
    /// PDCP PDUs sent to the DU.
    sent_bytes: u64,
    /// PDCP PDUs that wait here until the DU wants them.
    held_bytes: u64,
    reports: u64,
    lost: u64,
    /// Sent, and neither reported as transmitted nor as lost.
    standing_bytes: u64,
    /// Estimate of the part that is queued now, between reports.
    backlog_bytes: u64,
    /// Time that a packet which came now would wait, and the rate at which the queue empties; absent while nothing was measured.
    queue_ms: Option<f64>,
    egress_mbps: Option<f64>,
    report_age_ms: f64,
}

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

impl Status {
    /// Reads the state of the CU of this scenario.
    pub(super) fn of(scenario: &Scenario, state: &CuState) -> Self {
        let (named, configs) = (scenario.ues(), configs(scenario));
        let bearers = state.bearers.iter().zip(laws(&configs)).filter_map(|(bearer, law)| {
            Some(BearerStatus::of(&named.get(bearer.ue.0 as usize)?.name, tag(law, "law"), bearer))
        });
        let counters = state.counters;
        let sum = |counter: fn(&Counters) -> u64| state.bearers.iter().map(|bearer| counter(&bearer.marker)).sum();
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
            marker: MarkerStatus {
                rewritten_acks: sum(|marker| marker.rewritten_acks),
                marks_let_go: sum(|marker| marker.marks_let_go),
                overload_drops: sum(|marker| marker.overload_drops),
                empty_reports: sum(|marker| marker.empty_reports),
                unknown_sns: sum(|marker| marker.unknown_sns),
                flows_evicted: sum(|marker| marker.flows_evicted),
                flows_refused: sum(|marker| marker.flows_refused),
                blind_bearers: sum(|marker| marker.reports_are_blind.into()),
                stale_reports: sum(|marker| marker.stale_reports),
                mismatched_reports: sum(|marker| marker.mismatched_reports),
            },
            bearers: bearers.collect(),
        }
    }

    /// Warning where reports are of no use.
    pub(super) fn warning(&self) -> Option<String> {
        let mismatched = self.marker.mismatched_reports;
        if mismatched > 0 {
            return Some(format!(
                "{mismatched} reports of the DU named PDCP SNs that were not sent: nothing is marked. Give CU and DU the same length of SNs (`pdcp_sn` of the bearer)"
            ));
        }
        let blind = self.marker.blind_bearers;
        (blind > 0).then(|| {
            format!(
                "the DU's reports of {blind} bearers follow what it was sent and not what it transmitted: they say nothing of its queue, and marks by them are blind"
            )
        })
    }

    /// Counters and gauges in Prometheus' text format.
    pub(super) fn prometheus(&self) -> String {
        let mut text = Exposition::default();
        for (name, help, value) in [
            ("downlink_packets", "PDCP PDUs sent to the DU.", self.downlink),
            ("uplink_packets", "Packets from the DU.", self.uplink),
            ("held_packets", "Packets that waited since the DU wanted no more.", self.held),
            ("overflow_drops", "Packets dropped since too many waited.", self.overflow),
            ("unroutable_packets", "Packets for no UE.", self.unroutable),
            ("rewritten_acks", "Acknowledgements in which marks were told.", self.marker.rewritten_acks),
            ("marks_let_go", "Marks that acknowledgements had no room for.", self.marker.marks_let_go),
            ("overload_drops", "Packets dropped of flows that went on through marks.", self.marker.overload_drops),
            ("empty_reports", "Delivery statuses without a highest transmitted SN.", self.marker.empty_reports),
            ("stale_reports", "Delivery statuses that came after newer ones.", self.marker.stale_reports),
            ("mismatched_reports", "Delivery statuses in SNs of another length.", self.marker.mismatched_reports),
            ("unknown_sns", "SNs in reports that were never sent or are long gone.", self.marker.unknown_sns),
            ("evicted_flows", "Flows that gave way to others in a flow table.", self.marker.flows_evicted),
            ("refused_flows", "Flows that found no place in a flow table.", self.marker.flows_refused),
        ] {
            text.family(&format!("cu_{name}_total"), "counter", help, [(String::new(), value as f64)]);
        }
        let each = |value: Sample| {
            let sample = move |bearer: &BearerStatus| {
                Some((format!("{{ue=\"{}\",drb=\"{}\"}}", escaped(&bearer.ue), bearer.drb), value(bearer)?))
            };
            self.bearers.iter().filter_map(sample).collect::<Vec<_>>()
        };
        let families: [(&str, &str, &str, Sample); 12] = [
            ("packets_total", "counter", "Downlink packets of the bearer.", |b| Some(b.packets as f64)),
            ("marked_packets_total", "counter", "Downlink packets marked.", |b| Some(b.marked as f64)),
            ("dropped_packets_total", "counter", "Packets dropped by the law.", |b| Some(b.dropped as f64)),
            ("sent_bytes_total", "counter", "PDCP PDUs sent to the DU.", |b| Some(b.sent_bytes as f64)),
            ("reports_total", "counter", "Delivery statuses.", |b| Some(b.reports as f64)),
            ("lost_sns_total", "counter", "NR-U SNs reported as lost.", |b| Some(b.lost as f64)),
            ("held_bytes", "gauge", "Bytes that wait until the DU wants them.", |b| Some(b.held_bytes as f64)),
            ("standing_bytes", "gauge", "Bytes sent and neither reported as transmitted nor as lost.", |b| {
                Some(b.standing_bytes as f64)
            }),
            ("backlog_bytes", "gauge", "Bytes thought to stand in the DU.", |b| Some(b.backlog_bytes as f64)),
            ("queue_delay_seconds", "gauge", "Thought delay of the DU's queue.", |b| Some(b.queue_ms? / 1e3)),
            ("egress_bits_per_second", "gauge", "Thought rate of the DU.", |b| Some(b.egress_mbps? * 1e6)),
            (
                "report_age_seconds",
                "gauge",
                "Time since the last delivery status, or since a queue began to stand after it.",
                |b| Some(b.report_age_ms / 1e3),
            ),
        ];
        for (name, kind, help, value) in families {
            text.family(&format!("cu_{name}"), kind, help, each(value));
        }
        admission::expose(&mut text, &self.not_admitted);
        text.text()
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
        let status = Status::of(&scenario, &state);
        assert_eq!(
            (status.bearers[0].law.as_str(), status.bearers[1].law.as_str(), status.lost),
            ("ramp", "l4span", 7)
        );
        let text = status.prometheus();
        assert!(text.contains("tidemark_cu_lost_sns_total{ue=\"a\",drb=\"2\"} 4\n"), "{text}");
        assert!(text.contains("tidemark_cu_standing_bytes{ue=\"a\",drb=\"1\"} 900\n"));
        assert!(!text.contains("cu_queue_delay_seconds"), "nothing was measured");
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            let name = line.split(['{', ' ']).next().unwrap();
            assert!(text.contains(&format!("# TYPE {name} ")), "{line}");
        }
    }
}
