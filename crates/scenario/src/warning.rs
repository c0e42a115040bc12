//! Warnings about a scenario that is valid.

use tidemark_marker::MarkerConfig;

use crate::Scenario;

impl Scenario {
    /// Lists the parts of the scenario that the run ignores, and those that are probably mistakes.
    pub fn warnings(&self) -> Vec<String> {
        let end = self.duration;
        let mut said = Vec::new();
        for flow in &self.flow {
            let (start, _) = flow.app.times();
            if start >= end {
                said.push(format!("flow `{}` starts at {start}, when the run is over: it ends at {end}", flow.name));
            }
        }
        for ue in &self.ue {
            if let Some(late) = ue.handovers.iter().find(|at| **at >= end) {
                said.push(format!("UE `{}` has a handover at {late}, when the run is over: it ends at {end}", ue.name));
            }
        }
        said.extend(self.markers().filter_map(|(key, marker)| self.step_below_the_wait(&key, marker)));
        // A rule is asked for the first QoS flow of a dedicated bearer without a marker of its own.
        let bearers = self.ue.iter().flat_map(|ue| &ue.drb).filter(|drb| drb.marker.is_none());
        let asked: Vec<_> = bearers.filter_map(|drb| drb.qos_flow.first()).collect();
        for (index, rule) in self.policy.iter().enumerate() {
            if !asked.iter().any(|flow| rule.applies(flow.qfi, flow.five_qi)) {
                let of = [("QFI", rule.qfi), ("5QI", rule.five_qi)];
                let of = of.iter().filter_map(|(name, value)| value.map(|value| format!("{name} {value}")));
                let of = of.collect::<Vec<_>>().join(" and ");
                said.push(format!(
                    "policy.{index} marks nothing: no dedicated bearer without a `marker` has {} as its first QoS flow",
                    if of.is_empty() { "anything" } else { &of }
                ));
            }
        }
        said
    }

    /// Warning of a law that marks every packet at an age that packets reach even without a queue.
    fn step_below_the_wait(&self, path: &str, marker: &MarkerConfig) -> Option<String> {
        let (key, step) = marker.law.l4s_step()?;
        let wait = self.cell.longest_downlink_wait()?;
        (step < wait).then(|| {
            let law = marker.law.properties().name;
            format!(
                "{path}.{key} has `{law}` mark every L4S packet that waited for {step}, and packets wait for up to {wait} for a downlink slot \
                 without any queue: flows don't use the whole cell. A threshold of twice the wait, {}, marks only queues",
                wait * 2
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

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
    fn a_step_below_the_wait_for_a_downlink_slot_is_warned_of() {
        // DDDDDDDSUU of 0.5 ms slots: 1.5 ms from the special slot to the next.
        let said = |marker: &str| scenario(&[&format!("marker={marker}")]).warnings();
        for (marker, key) in [
            (r#"{ law = "dualpi2" }"#, "marker.min_th has `dualpi2` mark every L4S packet that waited for 1200 us"),
            (r#"{ law = "step" }"#, "marker.threshold has `step` mark every L4S packet that waited for 1 ms"),
            (r#"{ law = "ramp", low = "500 us", high = "1400 us" }"#, "marker.high"),
        ] {
            let said = said(marker);
            assert!(
                said.len() == 1 && said[0].starts_with(key) && said[0].contains("up to 1500 us"),
                "{marker}: {said:?}"
            );
        }
        for marker in [
            r#"{ law = "step", threshold = "1500 us" }"#,
            r#"{ law = "step", delay = "sojourn" }"#,
            r#"{ law = "ramp" }"#,
            r#"{ law = "l4span" }"#,
        ] {
            assert_eq!(said(marker), Vec::<String>::new(), "{marker}");
        }
        // In paired spectrum of 1 ms slots nobody waits for longer.
        let paired = ["marker={ law = \"step\" }", "cell.duplex=fdd", "cell.numerology=0"];
        assert_eq!(scenario(&paired).warnings(), Vec::<String>::new());
        let of_ue = scenario(&["ue.1.marker={ law = \"step\" }"]).warnings();
        assert!(of_ue.len() == 1 && of_ue[0].starts_with("ue.1.marker.threshold"), "{of_ue:?}");
    }

    #[test]
    fn a_part_without_effect_is_warned_of() {
        assert_eq!(
            scenario(&["flow.0.app.start=1999 ms", "ue.0.handovers=[\"1 s\"]"]).warnings(),
            Vec::<String>::new()
        );
        let rule = |of: &str| format!("policy=[{{ {of}, marker = {{ law = \"l4span\" }} }}]");
        assert_eq!(scenario(&[&rule("qfi = 2, five_qi = 3")]).warnings(), Vec::<String>::new());
        for (assignment, part) in [
            ("flow.0.app.start=2 s".to_string(), "flow `f` starts at 2 s"),
            ("ue.0.handovers=[\"1 s\", \"3 s\"]".to_string(), "UE `near` has a handover at 3 s"),
            (rule("qfi = 5"), "policy.0 marks nothing: no dedicated bearer without a `marker` has QFI 5"),
            (rule("qfi = 2, five_qi = 81"), "QFI 2 and 5QI 81"),
        ] {
            let said = scenario(&[&assignment]).warnings();
            assert!(said.len() == 1 && said[0].contains(part), "{assignment}: {said:?}");
        }
    }
}
