//! Configuration of the marker in a scenario.
#![cfg(feature = "serde")]

use tidemark_core::Duration;
use tidemark_marker::{L4SpanConfig, LawConfig, MarkerConfig, Policy};

fn parse(text: &str) -> Result<MarkerConfig, toml::de::Error> {
    toml::from_str(text)
}

#[test]
fn the_law_is_a_field_beside_those_that_every_law_shares() {
    let config = parse("law = 'l4span'\ntau_s = '5 ms'\ntau_c = '30 ms'").unwrap();
    let law = LawConfig::L4span(L4SpanConfig { tau_s: Duration::from_millis(5), ..L4SpanConfig::default() });
    assert_eq!(config, MarkerConfig { tau_c: Duration::from_millis(30), ..MarkerConfig::with_law(law) });
}

#[test]
fn every_law_can_be_named_and_has_defaults_that_work() {
    for default in LawConfig::all() {
        let law = default.properties().name;
        let config = parse(&format!("law = '{law}'")).unwrap_or_else(|error| panic!("{law}: {error}"));
        config.validate().unwrap_or_else(|error| panic!("{law}: {error}"));
        assert_eq!(config.law, default);
        let written = toml::to_string(&config).unwrap();
        assert_eq!(parse(&written).unwrap_or_else(|error| panic!("{law}: {error}\n{written}")), config);
    }
}

#[test]
fn unknown_keys_and_laws_are_refused_by_name() {
    for text in ["law = 'none'\ntau_s = '5 ms'", "law = 'l4span'\nthreshold = '5 ms'", "law = 'step'\nlow = '1 ms'"] {
        let error = parse(text).unwrap_err().to_string();
        assert!(error.contains("unknown field"), "{text}: {error}");
    }
    let error = parse("law = 'red'").unwrap_err().to_string();
    assert!(error.contains("red") && error.contains("l4span"), "{error}");
}

#[test]
fn a_value_that_cannot_work_is_refused_with_what_would_be_right() {
    for (text, field) in [
        ("law = 'l4span'\nbeta = 1.0", "beta"),
        ("law = 'l4span'\ntau_s = '0 s'", "tau_s"),
        ("law = 'ramp'\nlow = '10 ms'", "high"),
        ("law = 'ramp'\nalpha = 0.0", "alpha"),
        ("law = 'dualpi2'\nmarks = 'regular'\ncoupling = 0.5", "coupling"),
        ("law = 'upf'\nreport_delay = '1 s'", "report_delay"),
        ("law = 'upf'\nreport_delay = '320.001 ms'", "report_delay"),
        ("law = 'upf'\nramp = { low = '10 ms' }", "high"),
        ("law = 'codel'\ninterval = '4 ms'", "interval"),
        ("law = 'drop-head'\nflush_above = '99 ms'", "flush_above"),
        ("law = 'tide'\nclassic_margin = '11 s'", "classic_margin"),
        ("law = 'none'\nflow_capacity = 7", "flow_capacity"),
    ] {
        assert_eq!(parse(text).unwrap().validate().unwrap_err().field(), field, "{text}");
    }
}

#[test]
fn two_fields_may_be_as_near_as_their_bound_says() {
    for text in [
        "law = 'upf'\nreport_delay = '320 ms'",
        "law = 'codel'\ninterval = '5 ms'",
        "law = 'drop-head'\nflush_above = '100 ms'",
    ] {
        parse(text).unwrap().validate().unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

#[test]
fn a_policy_maps_qos_flows_to_laws() {
    let text = "
        [otherwise]
        law = 'none'
        [[rules]]
        qfi = 5
        marker = { law = 'step', threshold = '3 ms' }
        [[rules]]
        five_qi = 80
        marker = { law = 'l4span', tau_s = '5 ms', short_circuit = true }
    ";
    let policy: Policy = toml::from_str(text).unwrap();
    policy.validate().unwrap();
    assert!(matches!(policy.marker(5, 80).law, LawConfig::Step(step) if step.threshold == Duration::from_millis(3)));
    assert!(matches!(policy.marker(1, 80).law, LawConfig::L4span(_)) && policy.marker(1, 80).short_circuit);
    assert_eq!(policy.marker(1, 9), MarkerConfig::default());
    assert!(toml::from_str::<Policy>("[[rules]]\nqfi = 5\nmarker = { law = 'step', low = '3 ms' }").is_err());
}

#[test]
#[cfg(feature = "schema")]
fn the_schema_knows_every_law_and_its_fields() {
    let schema = serde_json::to_string(&schemars::schema_for!(MarkerConfig)).unwrap();
    for word in LawConfig::names(|_| true).into_iter().chain(["tau_classic", "short_circuit", "profile_capacity"]) {
        assert!(schema.contains(&format!("\"{word}\"")), "{word}: {schema}");
    }
}
