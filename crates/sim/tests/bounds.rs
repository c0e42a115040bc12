//! Bounds in the schema are the bounds of the check. The schema is walked, so that a new field is in the test by itself.

use std::path::Path;

use serde_json::{Map, Value, json};
use tidemark_core::{BitRate, Bytes, Duration};
use tidemark_sim::scenario::Scenario;

/// A field with a bound: its path, a value just outside of the bound, one just inside, and the bound's text.
struct Case {
    path: String,
    outside: Value,
    inside: Value,
    bound: String,
}

/// Something that every required field can be.
fn sample(key: &str, node: &Value) -> Value {
    match (key, node["$ref"].as_str().unwrap_or("")) {
        ("duration", _) => json!("1 s"),
        (_, "#/$defs/Duration") => json!("10 ms"),
        (_, "#/$defs/BitRate") => json!("10 Mbit/s"),
        (_, "#/$defs/Bytes") => json!("100 kB"),
        _ if node.get("const").is_some() => node["const"].clone(),
        _ if node["type"] == "string" => json!("a"),
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
        let is_form = ["expected u8", "expected u16", "expected u32", "is not a probability"]
            .iter()
            .any(|says| refused.contains(says));
        let is_named = refused.contains(&format!("{field}: must ")) && refused.contains(&bound);
        assert!(is_named || is_form, "{path} beyond {bound}: {refused:?}\n{outside}");
        let accepted = error(&inside);
        let is_refused = accepted.contains(&format!("{field}: must ")) && accepted.contains(&format!("{bound}, not "));
        assert!(!is_refused, "{path} within {bound}: {accepted:?}\n{inside}");
    }
}
