//! Markers of a scenario, with the keys that set them.

use tidemark_cell::DrbConfig;
use tidemark_marker::MarkerConfig;

use crate::{Scenario, Ue};

impl Scenario {
    /// Lists the markers of what UEs receive, each with its key, as in `--set`: `marker`, `ue.1.drb.0.marker`, `policy.0.marker`. The
    /// scenario's own is there if a UE has none.
    pub fn markers(&self) -> impl Iterator<Item = (String, &MarkerConfig)> {
        let of_cell = self.ue.iter().any(|ue| ue.marker.is_none()).then(|| ("marker".to_string(), &self.marker));
        let of_policy =
            self.policy.iter().zip(0..).map(|(rule, index)| (format!("policy.{index}.marker"), &rule.marker));
        of_cell.into_iter().chain(self.of_ues("marker", |ue| &ue.marker, |drb| &drb.marker)).chain(of_policy)
    }

    /// Lists the markers of what UEs send, each with its key.
    pub fn uplink_markers(&self) -> impl Iterator<Item = (String, &MarkerConfig)> {
        self.of_ues("uplink_marker", |ue| &ue.uplink_marker, |drb| &drb.uplink_marker)
    }

    /// Lists the markers in one field of UEs and their bearers.
    fn of_ues<'a>(
        &'a self,
        field: &'static str,
        of_ue: fn(&'a Ue) -> &'a Option<MarkerConfig>,
        of_drb: fn(&'a DrbConfig) -> &'a Option<MarkerConfig>,
    ) -> impl Iterator<Item = (String, &'a MarkerConfig)> {
        self.ue.iter().zip(0..).flat_map(move |(ue, index)| {
            let own = of_ue(ue).iter().map(move |marker| (format!("ue.{index}.{field}"), marker));
            let drbs = ue.drb.iter().zip(0..).flat_map(move |(config, drb)| {
                of_drb(config).iter().map(move |marker| (format!("ue.{index}.drb.{drb}.{field}"), marker))
            });
            own.chain(drbs)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn each_marker_has_the_key_that_sets_it() {
        let text = r#"
name = "x"
duration = "1 s"
policy = [{ qfi = 1, marker = { law = "step" } }]
[[ue]]
name = "plain"
[[ue]]
name = "own"
marker = { law = "l4span" }
uplink_marker = { law = "ramp" }
drb = [{ qos_flow = [{ qfi = 2 }], marker = { law = "tide" }, uplink_marker = { law = "step" } }]
"#;
        let parse = |set: &[String]| Scenario::parse("x.toml", text, Path::new(""), set).expect("a scenario");
        let scenario = parse(&[]);
        let keys: Vec<_> = scenario.markers().chain(scenario.uplink_markers()).map(|(key, _)| key).collect();
        let downlink = ["marker", "ue.1.marker", "ue.1.drb.0.marker", "policy.0.marker"];
        assert_eq!(keys, [&downlink[..], &["ue.1.uplink_marker", "ue.1.drb.0.uplink_marker"]].concat());
        let unmarked = parse(&keys.iter().map(|key| format!("{key}.law=none")).collect::<Vec<_>>());
        let mut laws =
            unmarked.markers().chain(unmarked.uplink_markers()).map(|(_, marker)| marker.law.properties().name);
        assert!(laws.all(|law| law == "none"));
    }
}
