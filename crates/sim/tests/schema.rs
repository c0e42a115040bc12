//! The schema refuses what the check refuses, as far as a schema can say it, and nothing that the check accepts.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use tidemark_sim::scenario::Scenario;

/// Lines of a scenario that the schema refuses, each beside what makes a scenario of it.
const REFUSED: &[&str] = &[
    "name = \"a b\"",
    "name = \"\"",
    "sede = 2",
    "seed = -1",
    "seed = \"one\"",
    "duration = 5",
    "duration = \"0 s\"",
    "duration = \"-1 s\"",
    "duration = \"1.2.3 s\"",
    "duration = \"1 hour\"",
    "ue = []\nflow = []",
    "ue = [{}]",
    "ue = [{ name = \"a\", count = 0 }]",
    "ue = [{ name = \"a\", count = 4097 }]",
    "ue = [{ name = \"a\", chanel = 1 }]",
    "ue = [{ name = \"a\", channel = \"pedestrian\" }]",
    "ue = [{ name = \"a\", channel = { model = \"static\", snr_db = 99 } }]",
    "ue = [{ name = \"a\", channel = { model = \"deployed\", mobility = { kind = \"still\", speed_kmh = 4000 } } }]",
    "ue = [{ name = \"a\", five_qi = 81 }]",
    "ue = [{ name = \"a\", five_qi = 1 }]",
    "ue = [{ name = \"a\", rlc = { pdcp_sn = 12 } }]",
    "ue = [{ name = \"a\", rlc = { pdcp_sn = \"16\" } }]",
    "ue = [{ name = \"a\", rlc = { max_retransmissions = 33 } }]",
    "ue = [{ name = \"a\", uplink_marker = { law = \"codel\" } }]",
    "ue = [{ name = \"a\", uplink_marker = {} }]",
    "ue = [{ name = \"a\", drb = [{}] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [] }] }]",
    "ue = [{ name = \"a\", drb = [{ five_qi = 80 }] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [{ qfi = 1 }] }] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [{ five_qi = 89 }] }] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [{ gbr = \"1 Mbit/s\" }] }] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [{ five_qi = 1, gbr = \"0 bit/s\" }] }] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [{ filter = [{ ecn = [\"l4s\"] }] }] }] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [{ filter = [{ dscp = [64] }] }] }] }]",
    "ue = [{ name = \"a\", drb = [{ qos_flow = [{ filter = [{ precedence = 256 }] }] }] }]",
    "cell.prbs = 0",
    "cell.layers = 5",
    "cell.target_bler = 1.5",
    "cell.mcs_table = 2",
    "cell.tdd = \"DDX\"",
    "cell.queue_sdus = 5",
    "cell = { prbs = 51, bandwidth_mhz = 20 }",
    "cell.scheduler = \"round-robin\"",
    "cell.scheduler = { kind = \"oldest-first\", lifts = [80] }",
    "cell.scheduler = { kind = \"max-rate\", window = \"5 ms\" }",
    "network.sites = 3",
    "network.handover.hysteresis_db = -1",
    "marker = \"l4span\"",
    "marker.law = \"magic\"",
    "marker = { law = \"step\", threshold = \"-1 ms\" }",
    "marker = { law = \"step\", tau_s = \"1 ms\" }",
    "marker = { law = \"none\", report_timeout = \"0 s\" }",
    "policy = [{ five_qi = 0, marker = { law = \"step\" } }]",
    "router = [{ name = \"r\" }]",
    "router = [{ name = \"r\", rate = \"0 bit/s\" }]",
    "router = [{ name = \"r\", rate = \"9 Mbit/s\", queue = \"codel\" }]",
    "router = [{ name = \"r\", rate = \"9 Mbit/s\", queue = { discipline = \"fair\" } }]",
    "router = [{ name = \"r\", rate = \"9 Mbit/s\", queue = { discipline = \"codel\", target = \"0 ms\" } }]",
    "flow = [{ name = \"f\" }]",
    "flow = [{ name = \"f\", round_trip = \"1 h\" }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", dscp = 64 }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", remote_address = \"::1\" }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", router = 7 }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", app = \"web\" }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", app = { app = \"video\" } , sender = { controller = \"cubic\" } }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", sender = \"prague\" }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", sender = { controller = \"magic\" } }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", sender = { controller = \"scream\" } }]",
    "flow = [{ name = \"f\", round_trip = \"9 ms\", sender = { controller = \"prague\", gain = 2.0 } }]",
];

/// Lines that the check alone refuses, with what a schema can't say.
const UNSAID: &[(&str, &str)] = &[
    ("warmup = \"1 s\"", "one time against another: units are text"),
    ("sample_interval = \"2 s\"", "one time against another: units are text"),
    ("cell.f1u.delay = \"5 s\"", "an upper bound of a quantity: units are text"),
    ("ue = [{ name = \"a\", anbr = { query_prohibit = \"1 s\" } }]", "a choice of quantities: 0.8 s is 800 ms"),
    ("cell.tdd = \"DDDDDSU\"", "the length of a pattern by the numerology"),
    ("cell = { tdd = \"SU\", special_symbols = 1 }", "a pattern against a number"),
    ("ue = [{ name = \"a\" }, { name = \"a\" }]", "names that are taken"),
    ("flow = [{ name = \"f\", round_trip = \"9 ms\", ue = \"b\" }]", "a name of another list"),
    ("flow = [{ name = \"f\", round_trip = \"9 ms\", router = \"q\" }]", "a name of another list"),
    ("flow = [{ name = \"f\", round_trip = \"9 ms\", qfi = 3 }]", "a number of another list"),
    (
        "flow = [{ name = \"f\", round_trip = \"9 ms\", sender = { controller = \"udp\" } }]",
        "a size that a sender needs",
    ),
    ("network.sites = 7", "channels that have to be `deployed` in a network"),
    ("network.carrier_ghz = 30", "a carrier by the numerology"),
    ("ue = [{ name = \"a\", channel = { model = \"trace\", file = \"none.csv\" } }]", "a file that is not there"),
];

/// Scenario of these lines, which stand in place of those of a scenario that is right.
fn scenario(lines: &str) -> toml::Table {
    let right =
        "name = \"t\"\nduration = \"1 s\"\nue = [{ name = \"a\" }]\nflow = [{ name = \"f\", round_trip = \"9 ms\" }]";
    let mut scenario: toml::Table = right.parse().unwrap();
    scenario.extend(lines.parse::<toml::Table>().unwrap_or_else(|error| panic!("{lines}: {error}")));
    scenario
}

/// Message of the check on a scenario; nothing where it accepts it.
fn refusal(scenario: &toml::Table) -> Option<String> {
    let text = toml::to_string(scenario).unwrap();
    Scenario::parse("t.toml", &text, Path::new(""), &[]).err().map(|error| error.to_string())
}

fn schema() -> jsonschema::Validator {
    let schema: Value = serde_json::from_str(&Scenario::json_schema()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

#[test]
fn what_the_check_refuses_the_schema_refuses_as_far_as_it_can() {
    let schema = schema();
    let valid = |lines: &str| (refusal(&scenario(lines)).is_none(), schema.is_valid(&json!(scenario(lines))));
    assert_eq!(valid("seed = 2"), (true, true));
    let wrong: Vec<_> = REFUSED.iter().filter(|lines| valid(lines) != (false, false)).collect();
    assert!(wrong.is_empty(), "accepted by the check or by the schema: {wrong:#?}");
    let unsaid = UNSAID.iter().filter(|(lines, _)| valid(lines) != (false, true));
    assert_eq!(
        unsaid.collect::<Vec<_>>(),
        Vec::<&(&str, &str)>::new(),
        "not refused by the check, or by the schema too"
    );
}

/// Messages, to be read by whoever changes one.
#[test]
fn every_refusal_names_its_field_and_what_would_be_right() {
    let all = REFUSED.iter().copied().chain(UNSAID.iter().map(|(lines, _)| *lines));
    let said =
        all.map(|lines| format!("{lines}\n    {}\n", refusal(&scenario(lines)).unwrap().replace('\n', "\n    ")));
    insta::assert_snapshot!(said.collect::<String>());
}

#[test]
fn the_schema_accepts_every_scenario_of_the_project() {
    let (schema, mut folders) =
        (schema(), vec![PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios"))]);
    let mut read = 0;
    while let Some(folder) = folders.pop() {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let is_scenario = path.extension().is_some_and(|ending| ending == "toml")
                && std::fs::read_to_string(&path)
                    .unwrap()
                    .lines()
                    .next()
                    .is_some_and(|line| line.ends_with("/scenario.schema.json"));
            if is_scenario {
                let text = std::fs::read_to_string(&path).unwrap();
                let errors: Vec<_> = schema
                    .iter_errors(&json!(text.parse::<toml::Table>().unwrap()))
                    .map(|error| error.to_string())
                    .collect();
                assert_eq!(errors, Vec::<String>::new(), "{}", path.display());
                read += 1;
            }
        }
    }
    assert!(read > 20, "{read} scenarios are too few to be those of the project");
}
