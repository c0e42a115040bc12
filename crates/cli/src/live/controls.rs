//! Controls of a page: the settings of each UE that `tidemark ctl set` can change, with their present values.

use serde::Serialize;
use tidemark_cell::ChannelConfig;
use tidemark_core::Duration;
use tidemark_marker::LawConfig;
use tidemark_record::unit::tag;
use tidemark_sim::scenario::{NamedUe, Scenario};

/// Settings of a cell that a page can change.
#[derive(Debug, Serialize)]
pub(super) struct Controls {
    ues: Vec<UeControls>,
}

/// Settings of a UE that a page can change.
#[derive(Debug, Serialize)]
struct UeControls {
    name: String,
    settings: Vec<Setting>,
}

/// A table of the scenario that has a kind and numbers: a channel or a marker.
#[derive(Debug, Serialize)]
struct Setting {
    name: &'static str,
    /// Assignment that gives the UE a table of its own; `None` where it has one, or shares it with no other kind of UE.
    first: Option<String>,
    /// Key of the kind.
    key: String,
    kind: String,
    kinds: Vec<String>,
    dials: Vec<Dial>,
}

/// A number of a setting, with the range of its slider.
#[derive(Debug, Serialize)]
struct Dial {
    name: &'static str,
    key: String,
    unit: &'static str,
    /// Text between the number and the end of an assignment.
    suffix: &'static str,
    value: f64,
    min: f64,
    max: f64,
    step: f64,
}

impl Controls {
    /// Reads the controls of a running scenario. Those of a DU have no laws, which its CU has.
    pub(super) fn new(scenario: &Scenario, is_du: bool) -> Self {
        let ue = |ue: NamedUe| {
            let law = (!is_du).then(|| law(scenario, &ue));
            UeControls { settings: [channel(&ue)].into_iter().chain(law).collect(), name: ue.name }
        };
        Self { ues: scenario.ues().into_iter().map(ue).collect() }
    }
}

/// Channel of a UE. A trace can only be left, since it needs a file.
fn channel(ue: &NamedUe) -> Setting {
    let table = format!("ue.{}.channel", ue.kind);
    let own = &ue.config.channel;
    let simple = [
        ChannelConfig::Static(Default::default()),
        ChannelConfig::Pedestrian(Default::default()),
        ChannelConfig::Vehicular(Default::default()),
        ChannelConfig::Fixed(Default::default()),
    ];
    let (kind, mut kinds) = (tag(own, "model"), simple.map(|channel| tag(&channel, "model")).to_vec());
    if !kinds.contains(&kind) {
        kinds.push(kind.clone());
    }
    let dial = match own {
        ChannelConfig::Static(config) => Some(Dial::snr(&table, config.snr_db)),
        ChannelConfig::Pedestrian(config) => Some(Dial::snr(&table, config.snr_db)),
        ChannelConfig::Vehicular(config) => Some(Dial::snr(&table, config.snr_db)),
        ChannelConfig::Fixed(config) => {
            let first = tidemark_cell::channel::FixedConfig::default().rate;
            Some(Dial::around(&table, "rate", ("Mbit/s", " Mbit/s"), config.rate.as_mbps(), first.as_mbps()))
        }
        ChannelConfig::Trace(_) | ChannelConfig::Deployed(_) => None,
    };
    Setting { name: "Channel", first: None, key: table + ".model", kind, kinds, dials: dial.into_iter().collect() }
}

/// Law of a UE's default bearer.
fn law(scenario: &Scenario, ue: &NamedUe) -> Setting {
    let (table, first) = marker(scenario, ue.kind);
    let own = &ue.config.marker.law;
    let name = own.properties().name;
    let all = LawConfig::all();
    let defaults = all.iter().filter(|law| law.properties().name == name).flat_map(|law| law.thresholds(0));
    let millis = Duration::as_millis_f64;
    // The law `upf` has its thresholds in a ramp of its own.
    let inner = if matches!(own, LawConfig::Upf(_)) { format!("{table}.ramp") } else { table.clone() };
    let dials = own.thresholds(ue.config.five_qi).zip(defaults);
    let dials =
        dials.map(|((key, now), (_, first))| Dial::around(&inner, key, ("ms", " ms"), millis(now), millis(first)));
    Setting {
        name: "Law",
        first,
        dials: dials.collect(),
        key: table + ".law",
        kind: name.into(),
        kinds: all.iter().map(|law| law.properties().name.into()).collect(),
    }
}

/// Key of the marker of this kind of UE, and the assignment that comes before changes of it. One that is shared by several kinds is
/// copied, so that the change is this UE's alone.
fn marker(scenario: &Scenario, kind: usize) -> (String, Option<String>) {
    let own = format!("ue.{kind}.marker");
    if scenario.ue.get(kind).is_some_and(|ue| ue.marker.is_some()) {
        return (own, None);
    }
    if scenario.ue.len() == 1 {
        return ("marker".into(), None);
    }
    let text: Option<toml::Table> = scenario.text.parse().ok();
    let first = text.and_then(|text| Some(format!("{own}={}", text.get("marker")?)));
    (own, first)
}

impl Dial {
    /// SNR from a UE without coverage to the highest MCS.
    fn snr(table: &str, value: f64) -> Self {
        let key = format!("{table}.snr_db");
        let (min, max) = (value.min(-10.0), value.max(40.0));
        Self { name: "SNR", key, unit: "dB", suffix: "", value, min, max, step: 0.5 }
    }

    /// Positive number whose default is this: the slider goes to ten times the default, by twentieths of it.
    fn around(
        table: &str,
        name: &'static str,
        (unit, suffix): (&'static str, &'static str),
        value: f64,
        default: f64,
    ) -> Self {
        let step = default / 20.0;
        let (min, max) = (value.min(step), value.max(10.0 * default));
        Self { name, key: format!("{table}.{name}"), unit, suffix, value, min, max, step }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn read(text: &str, assignments: &[String]) -> Scenario {
        Scenario::parse("t.toml", text, Path::new(""), assignments).unwrap()
    }

    fn scenario(text: &str) -> Scenario {
        read(&format!("name = \"t\"\nduration = \"1 s\"\n{text}"), &[])
    }

    const MARKER: &str = "[marker]\nlaw = \"ramp\"\nshort_circuit = true\n";
    const UES: &str = "[[ue]]\nname = \"a\"\n[[ue]]\nname = \"b\"\ncount = 2\nchannel = { model = \"fixed\" }\n";

    /// Every choice and every dial, taken as a page does it, is a change of that UE which the scenario has afterwards.
    #[test]
    fn every_control_changes_its_ue_and_keeps_the_others() {
        let running = scenario(&[MARKER, UES].concat());
        for (index, ue) in Controls::new(&running, false).ues.iter().enumerate() {
            for (position, setting) in ue.settings.iter().enumerate() {
                for kind in &setting.kinds {
                    let choice = [format!("{}={kind}", setting.key)];
                    let assignments: Vec<_> = setting.first.iter().cloned().chain(choice).collect();
                    let changed = read(&running.text, &assignments);
                    let controls = Controls::new(&changed, false);
                    let now = &controls.ues[index].settings[position];
                    assert_eq!(now.kind, *kind, "{assignments:?}");
                    assert!(changed.ues()[index].config.marker.short_circuit, "{assignments:?}");
                    let other = usize::from(index == 0);
                    assert_eq!(changed.ues()[other].config, running.ues()[other].config);
                    for dial in &now.dials {
                        let wanted = dial.value * 0.9;
                        let turn = [format!("{}={wanted}{}", dial.key, dial.suffix)];
                        let assignments: Vec<_> = now.first.iter().cloned().chain(turn).collect();
                        let turned = Controls::new(&read(&changed.text, &assignments), false);
                        let dials = &turned.ues[index].settings[position].dials;
                        let turned = dials.iter().find(|other| other.key == dial.key).unwrap();
                        assert!((turned.value - wanted).abs() < 1e-9, "{assignments:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn one_kind_of_ue_has_the_scenarios_own_marker_and_a_du_has_none() {
        let alone = scenario("[[ue]]\nname = \"a\"\n");
        let settings = &Controls::new(&alone, false).ues[0].settings;
        assert_eq!((settings[1].key.as_str(), settings[1].first.as_deref()), ("marker.law", None));
        let du = Controls::new(&alone, true);
        assert_eq!(du.ues[0].settings.iter().map(|setting| setting.name).collect::<Vec<_>>(), ["Channel"]);
    }
}
