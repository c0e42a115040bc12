//! Warnings about a run: guaranteed rates that were not met, and flows that their send buffers limited.

use std::collections::BTreeMap;

use tidemark_marker::Characteristics;
use tidemark_record::{BearerResult, FlowResult};

use crate::scenario::Scenario;

/// A bearer that had less than this share of its guaranteed rate did not have it: the guarantee counts the headers below IP
/// as well.
const KEPT: f64 = 0.95;
/// A flow that waited for room in its send buffer for this share of its time would have sent more with a larger one.
const BUFFER_LIMITED: f64 = 0.1;

/// Lists the flows that waited for their send buffers.
pub(crate) fn limited_by_buffers(flows: &[FlowResult]) -> Vec<String> {
    let limited =
        flows.iter().filter_map(|flow| Some((flow, flow.buffer_limited.filter(|share| *share >= BUFFER_LIMITED)?)));
    let said = limited.map(|(flow, share)| {
        format!(
            "flow `{}` waited for room in its send buffer for {:.0} % of its time, while path and windows had room: raise `sender.tcp.send_buffer` \
             if its program has a larger one",
            flow.name,
            share * 100.0
        )
    });
    said.collect()
}

/// Guarantees that were not met. A rate is not met if a bearer got less although its sender had data: more than
/// half of its packets waited for longer than their delay budget. A delay-critical flow's guarantee is not met if
/// more packets were late or lost than its 5QI's error rate allows, although no more was sent than guaranteed (TS
/// 23.501 5.7.3.4).
pub fn broken_guarantees(scenario: &Scenario, bearers: &[BearerResult]) -> Vec<String> {
    let ues = if bearers.iter().any(|bearer| bearer.drb > 1) { scenario.ues() } else { Vec::new() };
    let kinds: BTreeMap<_, _> = ues.iter().map(|ue| (ue.name.as_str(), &scenario.ue[ue.kind])).collect();
    let guaranteed = |bearer: &BearerResult| {
        let drb = usize::from(bearer.drb).checked_sub(2)?;
        let rates: Vec<_> =
            kinds.get(bearer.ue.as_str())?.drb.get(drb)?.qos_flow.iter().filter_map(|flow| flow.gbr).collect();
        (!rates.is_empty()).then(|| rates.iter().map(|rate| rate.as_mbps()).sum::<f64>())
    };
    let late = bearers.iter().filter_map(|bearer| {
        let (rate, met) = (guaranteed(bearer)?, bearer.in_budget?);
        let rows = bearer.five_qi.iter().filter_map(|five_qi| Characteristics::of(*five_qi));
        let row = rows.filter(|row| row.is_delay_critical()).min_by(|a, b| a.error_rate.total_cmp(&b.error_rate))?;
        (bearer.throughput_mbps <= rate && met < 1.0 - row.error_rate).then(|| {
            format!(
                "UE `{}` had {:.3} % of the packets of its DRB {}, {}, within {} ms; its 5QI {} asks for {:.3} %, since a late packet \
                 counts as lost",
                bearer.ue,
                100.0 * met,
                bearer.drb,
                bearer.direction.name(),
                bearer.delay_budget_ms,
                row.five_qi,
                100.0 * (1.0 - row.error_rate)
            )
        })
    });
    let broken = bearers.iter().filter_map(|bearer| {
        let (rate, wait) = (guaranteed(bearer)?, bearer.queue_ms?.p50);
        (bearer.throughput_mbps < KEPT * rate && wait > bearer.delay_budget_ms).then(|| {
            format!(
                "UE `{}` had {:.2} of the {rate:.2} Mbit/s guaranteed to its DRB {}, {}, and half of its packets waited for {wait:.0} ms or longer: \
                 the cell admits every guarantee, also one that its radio cannot keep",
                bearer.ue, bearer.throughput_mbps, bearer.drb, bearer.direction.name()
            )
        })
    });
    broken.chain(late).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::Simulation;

    const TEXT: &str = r#"
name = "t"
duration = "2 s"
warmup = "500 ms"

[[ue]]
name = "near"

[[ue]]
name = "far"
channel = { model = "static", snr_db = 3 }

[[ue.drb]]
[[ue.drb.qos_flow]]
qfi = 2
five_qi = 3
gbr = "3 Mbit/s"
filter = [{ ecn = ["not-ect"] }]

[[flow]]
name = "f"
ue = "far"
round_trip = "20 ms"
sender = { controller = "udp" }
app = { app = "constant", rate = "9 Mbit/s" }
"#;

    fn scenario(assignments: &[&str]) -> Scenario {
        let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
        Scenario::parse("t.toml", TEXT, Path::new(""), &assignments).unwrap()
    }

    #[test]
    fn only_a_guaranteed_rate_that_was_asked_for_and_not_met_is_reported() {
        let said =
            |assignments: &[&str]| Simulation::new(&scenario(assignments)).unwrap().run(|_| true).unwrap().warnings;
        assert_eq!(said(&[]), Vec::<String>::new());
        let broken = said(&["ue.1.drb.0.qos_flow.0.gbr=100 Mbit/s"]);
        assert_eq!(broken.len(), 1, "{broken:?}");
        assert!(
            broken[0].starts_with("UE `far` had ")
                && broken[0].contains("of the 100.00 Mbit/s guaranteed to its DRB 2")
        );
        let critical = "ue.1.drb.0.qos_flow.0.five_qi=85";
        let late = said(&["ue.1.drb.0.qos_flow.0.gbr=20 Mbit/s", "flow.0.app.rate=1 Mbit/s", critical]);
        assert!(
            late.len() == 1
                && late[0].contains("of the packets of its DRB 2, downlink, within 5 ms; its 5QI 85 asks for 99.999 %"),
            "{late:?}"
        );
        let idle = said(&["ue.1.drb.0.qos_flow.0.gbr=100 Mbit/s", "flow.0.app.rate=1 Mbit/s"]);
        assert_eq!(idle, Vec::<String>::new(), "who sends less is owed nothing");
    }

    #[test]
    fn a_flow_that_waits_for_its_send_buffer_is_named_with_the_field_to_raise() {
        let text = "name = \"wide\"\nduration = \"3 s\"\n[marker]\nlaw = \"none\"\n[[ue]]\nname = \"wide\"\nchannel = { model = \"fixed\", rate = \"100 Mbit/s\" }\n\
                    [[flow]]\nname = \"download\"\nue = \"wide\"\nround_trip = \"50 ms\"\nsender = { controller = \"cubic\" }\n";
        let said = |buffer: &str| {
            let assignments = [format!("flow.0.sender.tcp.send_buffer={buffer}")];
            let scenario = Scenario::parse("t.toml", text, Path::new(""), &assignments).unwrap();
            Simulation::new(&scenario).unwrap().run(|_| true).unwrap().warnings
        };
        let small = said("100 kB");
        assert!(
            small.len() == 1 && small[0].contains("`download`") && small[0].contains("`sender.tcp.send_buffer`"),
            "{small:?}"
        );
        // A buffer that fills the path is none that limits: more would only queue.
        assert_eq!(said("4 MB"), Vec::<String>::new());
    }
}
