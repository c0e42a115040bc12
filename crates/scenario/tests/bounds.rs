//! Bounds in the schema are the bounds of the check. The schema is walked, so that a new field is in the test by itself.

use std::path::Path;

use serde_json::{Map, Value, json};
use tidemark_core::{BitRate, Bytes, Duration};
use tidemark_scenario::Scenario;

/// A field with a bound: its path, a value just outside of the bound, one just inside, and the bound's text.
struct Case {
    path: String,
    outside: Value,
    inside: Value,
    bound: String,
}

/// Value that a required field can have.
fn sample(key: &str, node: &Value) -> Value {
    match (key, node["$ref"].as_str().unwrap_or("")) {
        ("duration", _) => json!("1 s"),
        (_, "#/$defs/Duration") => json!("10 ms"),
        (_, "#/$defs/BitRate") => json!("10 Mbit/s"),
        (_, "#/$defs/Bytes") => json!("100 kB"),
        _ if node.get("const").is_some() => node["const"].clone(),
        _ if node["type"] == "string" => json!("a"),
        _ if node["items"]["$ref"].is_string() => json!([{}]),
        _ if node["type"] == "array" => json!(vec![1; node["minItems"].as_u64().unwrap_or(1) as usize]),
        _ => json!(1),
    }
}

/// The text of a bound, as an error has it.
fn text(bound: &Value) -> String {
    bound.as_f64().map_or_else(|| bound.as_str().unwrap_or_default().into(), |number| number.to_string())
}

/// A value `step` away from a bound, in the smallest steps that a check can tell apart.
fn beside(bound: &Value, step: i64, is_integer: bool) -> Option<Value> {
    let moved = |value: u64| value.checked_add_signed(step);
    Some(match bound {
        Value::Number(number) if is_integer => json!(moved(number.as_u64()?)?),
        Value::Number(number) => json!(number.as_f64()? + 1e-6 * step as f64),
        Value::String(text) => {
            let duration = text.parse::<Duration>().ok().map(|value| moved(value.as_nanos()).map(Duration::from_nanos));
            let rate = || text.parse::<BitRate>().ok().map(|value| moved(value.as_bps()).map(BitRate::from_bps));
            let size = || text.parse::<Bytes>().ok().map(|value| moved(value.0).map(Bytes));
            let written = duration.map(|value| value.map(|value| value.to_string()));
            let written = written.or_else(|| rate().map(|value| value.map(|value| value.to_string())));
            json!(written.or_else(|| size().map(|value| value.map(|value| value.to_string())))??)
        }
        _ => return None,
    })
}

/// Walks the schema from `node`, which is that of the value at `path`; `wrap` makes of such a value a whole scenario.
fn walk(
    root: &Value,
    node: &Value,
    path: &str,
    base: &Map<String, Value>,
    wrap: &dyn Fn(Value) -> Value,
    cases: &mut Vec<Case>,
) {
    if let Some(name) = node["$ref"].as_str() {
        let definition = root.pointer(name.trim_start_matches('#')).expect("the definition exists");
        walk(root, definition, path, base, wrap, cases);
    }
    let mut base = base.clone();
    let required = node["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
    for key in required {
        base.insert(key.into(), sample(key, &node["properties"][key]));
    }
    for choice in ["oneOf", "anyOf", "allOf"] {
        for branch in node[choice].as_array().into_iter().flatten() {
            walk(root, branch, path, &base, wrap, cases);
        }
    }
    if node["items"].is_object() {
        walk(root, &node["items"], &format!("{path}.0"), &Map::new(), &|value| wrap(json!([value])), cases);
    }
    // A table that is one of several says which.
    let kind = &node["oneOf"][0];
    for key in kind["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        base.insert(key.into(), sample(key, &kind["properties"][key]));
    }
    for (key, property) in node["properties"].as_object().into_iter().flatten() {
        let inner = |value: Value| {
            let mut table = base.clone();
            table.insert(key.clone(), value);
            wrap(table.into())
        };
        let path = format!("{path}.{key}");
        let is_integer = property["type"].as_str().or(property["type"][0].as_str()) == Some("integer");
        for (name, away) in [("minimum", -1), ("exclusiveMinimum", -1), ("maximum", 1), ("exclusiveMaximum", 1)] {
            for name in [name.to_string(), format!("x-{name}")] {
                let Some(bound) = property.get(&name) else { continue };
                let excluded = name.contains("exclusive");
                let (outside, inside) = if excluded { (0, -away) } else { (away, 0) };
                let (outside, inside) = (beside(bound, outside, is_integer), beside(bound, inside, is_integer));
                // Below zero there are no integers and no quantities.
                let (Some(outside), Some(inside)) = (outside, inside) else { continue };
                let path = path.clone();
                cases.push(Case { path, outside: inner(outside), inside: inner(inside), bound: text(bound) });
            }
        }
        walk(root, property, &path, &Map::new(), &inner, cases);
    }
}

/// The error of a scenario with this in it.
fn error(fields: &Value) -> String {
    let mut scenario = json!({ "name": "t", "duration": "1 s" });
    scenario.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    if scenario["ue"].is_null() {
        scenario["ue"] = json!([{ "name": "a" }]);
    }
    let text = toml::to_string(&scenario).unwrap();
    Scenario::parse("t.toml", &text, Path::new(""), &[]).map_or_else(|error| error.to_string(), |_| String::new())
}

/// Fields without bounds: what a field's path ends with, and the reason.
const FREE: [(&str, &str); 55] = [
    ("Scenario.seed", "any number names random streams"),
    ("Scenario.warmup", "shorter than the run"),
    ("start", "any time; a warning says if it is after the run"),
    ("stop", "after the start"),
    ("short-flows.largest", "at least `size`"),
    ("web.reading", "any mean"),
    ("web.longest_reading", "any time"),
    ("ObjectsConfig.less", "at most `min`"),
    ("video.discard_after", "any time"),
    ("video.jitter", "at most a quarter of the time between frames"),
    ("video.key_interval", "above `key_size`"),
    ("CellConfig.bandwidth_mhz", "a channel of the numerology"),
    ("skip", "any time of the trace, which repeats"),
    ("OverdueConfig.one_above", "any age"),
    ("OverdueConfig.all_above", "at least `one_above`"),
    ("min_th", "any delay"),
    ("dualpi2.range", "any width, zero for a step"),
    ("DualPi2Config.range", "any width, zero for a step"),
    ("time-shifted.shift", "any age"),
    ("Flow.jitter", "a part of `round_trip`"),
    ("Flow.qfi", "that of a QoS flow of the UE"),
    ("Flow.remote_port", "a port"),
    ("low", "below `high`"),
    ("high", "above `low`"),
    ("step.threshold", "any delay"),
    ("interval", "at least `target`"),
    ("max_packet", "any size"),
    ("drop-head.flush_above", "at least `above`"),
    ("DropHeadConfig.flush_above", "at least `above`"),
    ("upf.report_delay", "at most 32 times `report_interval`"),
    ("random-waypoint.pause", "any time"),
    ("PacketFilter.precedence", "an octet (TS 23.501 5.7.6.2)"),
    ("five_qi", "one that is standardised"),
    ("RateChange.at", "after the change before it"),
    ("RateChange.over", "any time, zero for a step"),
    ("RateLimits.initial", "between `min` and `max`"),
    ("RateLimits.max", "at least `initial`"),
    ("RouterConfig.delay", "at most half of a flow's `round_trip`"),
    ("sound.ramp_high", "above `ramp_low`"),
    ("sound.ramp_low", "below `ramp_high`"),
    ("sound.target", "any delay"),
    ("ecn_max_rtt", "any time"),
    ("prague.max_burst", "any time"),
    ("prague.transition_rounds", "any number"),
    ("udp-prague.initial_rate", "between `min_rate` and `max_rate`"),
    ("udp-prague.max_rate", "at least `initial_rate`"),
    ("al4s.fixed_delay", "below `target_delay`"),
    ("al4s.history", "any time"),
    ("al4s.target_delay", "above `fixed_delay`"),
    ("Al4sConfig.fixed_delay", "below `target_delay`"),
    ("Al4sConfig.history", "any time"),
    ("Al4sConfig.target_delay", "above `fixed_delay`"),
    ("sdn-l4s.constant", "any rate"),
    ("sdn-l4s.window", "any time"),
    ("log-normal.deviation", "any time"),
];

/// True for a number, or a quantity with a unit.
fn is_quantity(field: &Value) -> bool {
    let references = |node: &Value| {
        let name = node["$ref"].as_str().unwrap_or_default();
        ["Duration", "BitRate", "Bytes"].iter().any(|quantity| name == format!("#/$defs/{quantity}"))
    };
    let has_type = |name: &str| [&field["type"], &field["type"][0]].iter().any(|kind| *kind == name);
    let is_one_of_several = field["type"].as_array().is_some_and(|types| types.iter().any(|kind| kind == "string"));
    let is_number = (has_type("integer") || has_type("number")) && !is_one_of_several;
    is_number || references(field) || field["anyOf"].as_array().into_iter().flatten().any(references)
}

/// True for a field with a bound beside those of its integer type.
fn has_bound(field: &Value) -> bool {
    let bounds = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"];
    bounds.iter().any(|name| {
        let of_type = match (*name, field["format"].as_str()) {
            ("minimum", Some("uint8" | "uint16" | "uint32" | "uint64")) => Some(0),
            ("maximum", Some("uint8")) => Some(255),
            ("maximum", Some("uint16")) => Some(65_535),
            _ => None,
        };
        let declared = field.get(*name).filter(|bound| bound.as_u64() != of_type || of_type.is_none());
        declared.is_some() || field.get(format!("x-{name}")).is_some()
    })
}

/// Lists the fields of a table that are numbers or quantities without bounds, as "Table.variant.field".
fn unbounded(node: &Value, path: &str, found: &mut Vec<String>) {
    for (key, field) in node["properties"].as_object().into_iter().flatten() {
        if is_quantity(field) && !has_bound(field) {
            found.push(format!("{path}.{key}"));
        }
    }
    for branch in node["oneOf"].as_array().into_iter().flatten() {
        let fields = branch["properties"].as_object().into_iter().flatten();
        let tag = fields.filter_map(|(_, field)| field["const"].as_str()).next().unwrap_or_default();
        unbounded(branch, &format!("{path}.{tag}"), found);
    }
}

#[test]
fn a_field_without_bounds_has_a_reason() {
    let schema: Value = serde_json::from_str(&Scenario::json_schema()).unwrap();
    let mut found = Vec::new();
    unbounded(&schema, "Scenario", &mut found);
    for (name, definition) in schema["$defs"].as_object().unwrap() {
        unbounded(definition, name, &mut found);
    }
    let is_named = |path: &str, end: &str| path == end || path.ends_with(&format!(".{end}"));
    let unknown: Vec<_> = found.iter().filter(|path| !FREE.iter().any(|(end, _)| is_named(path, end))).collect();
    assert!(unknown.is_empty(), "no bounds: declare them with `bounds!`, or give the reason here: {unknown:#?}");
    let stale: Vec<_> = FREE.iter().filter(|(end, _)| !found.iter().any(|path| is_named(path, end))).collect();
    assert!(stale.is_empty(), "these fields have bounds, or are gone: {stale:?}");
}

#[test]
fn every_bound_of_the_schema_is_checked_and_named() {
    let schema: Value = serde_json::from_str(&Scenario::json_schema()).unwrap();
    let mut cases = Vec::new();
    walk(&schema, &schema, "", &Map::new(), &|value| value, &mut cases);
    assert!(cases.len() > 100, "{} bounds are too few to be those of the schema", cases.len());
    for Case { path, outside, inside, bound } in cases {
        let field = path.rsplit('.').next().unwrap();
        let refused = error(&outside);
        // What its type cannot hold is refused by the reader of the form.
        let is_form =
            ["expected a whole number from 0 to ", "is not a probability"].iter().any(|says| refused.contains(says));
        let is_named = refused.contains(&format!("{field}: must ")) && refused.contains(&bound);
        assert!(is_named || is_form, "{path} beyond {bound}: {refused:?}\n{outside}");
        let accepted = error(&inside);
        let words = accepted.split_once(&format!("{field}: must ")).map_or("", |(_, words)| words);
        let is_refused = words.split_once(", not ").is_some_and(|(range, _)| range.ends_with(&bound));
        assert!(!is_refused, "{path} within {bound}: {accepted:?}\n{inside}");
    }
}
