//! Remedies where the TOML reader only says what it expected.

use std::ops::Range;

use serde_json::Value;
pub use tidemark_core::words::in_toml;

use crate::Scenario;
use crate::schema::schema;

/// Fields lie no deeper than this.
const DEEPEST: usize = 8;

/// A number or a truth value where a name is wanted: what the reader says of it in quotes, which names the choice.
pub(super) fn quoted(text: &str, span: &Range<usize>, message: &str) -> Option<String> {
    let value = text.get(span.clone()).filter(|value| !value.is_empty())?;
    if message != "wanted string or table" {
        return None;
    }
    let mut corrected = text.to_string();
    corrected.replace_range(span.clone(), &format!("\"{value}\""));
    match toml::from_str::<Scenario>(&corrected) {
        Err(error) if error.span().is_some_and(|at| at.start == span.start) => Some(in_toml(error.message())),
        _ => Some(format!("must be text: write \"{value}\"")),
    }
}

/// Message for a key that its table does not have. The field that names the table's kind is added to the expected fields: the reader of a
/// kind does not know that field.
pub(super) fn with_kind(path: &[String], message: &str) -> Option<String> {
    let (_, table) = path.split_last().filter(|_| message.starts_with("unknown field"))?;
    let (said, wanted) = message.rsplit_once(", expected ")?;
    let way: Vec<&str> = table.iter().map(String::as_str).filter(|step| step.parse::<usize>().is_err()).collect();
    let mut tables = Vec::new();
    tables_at(schema(), schema(), &way, &mut tables);
    let fields = tables.iter().filter_map(|table| table["properties"].as_object()).flatten();
    let kind = fields.filter(|(_, field)| field["const"].is_string()).map(|(name, _)| format!("`{name}`")).next()?;
    let others = wanted.trim_start_matches("one of ").replace("` or `", "`, `");
    (!wanted.contains(&kind)).then(|| format!("{said}, expected one of {kind}, {others}"))
}

/// Message for a key that its table does not have: the tables that have it, below this table or, if there is none, anywhere.
pub(super) fn elsewhere(path: &[String], message: &str) -> Option<String> {
    let (key, table) = path.split_last().filter(|_| message.starts_with("unknown field"))?;
    let table: Vec<&str> = table.iter().map(String::as_str).filter(|step| step.parse::<usize>().is_err()).collect();
    let schema = schema();
    let mut places = Vec::new();
    search(schema, schema, &mut Vec::new(), key, &mut places);
    // Another kind of the same table may have it.
    places.retain(|place| *place != table);
    places.sort_by_key(Vec::len);
    let below: Vec<_> = places.iter().filter(|place| place.starts_with(&table)).collect();
    let chosen = if below.is_empty() { places.iter().collect() } else { below };
    let names: Vec<_> = chosen.iter().map(|place| format!("`{}`", place.join("."))).collect();
    let last = names.len().min(4);
    (last > 0).then(|| format!("`{key}` is a field of {}", names[..last].join(", ")))
}

/// Description of a field that is missing in the table at a path, in the schema's words.
pub(super) fn missing(path: &[String], message: &str) -> Option<String> {
    let field = message.strip_prefix("missing field `")?.split('`').next()?;
    let schema = schema();
    let way: Vec<&str> = path.iter().map(String::as_str).filter(|step| step.parse::<usize>().is_err()).collect();
    let mut tables = Vec::new();
    tables_at(schema, schema, &way, &mut tables);
    let requires =
        |table: &&Value| table["required"].as_array().is_some_and(|names| names.iter().any(|name| name == field));
    let required: Vec<_> = tables.into_iter().filter(requires).map(|table| &table["properties"][field]).collect();
    if let Some(description) = required.iter().find_map(|field| field["description"].as_str()) {
        return Some(description.replace('\n', " "));
    }
    // The name of a kind: each kind has its own.
    let names: Vec<_> =
        required.iter().filter_map(|field| field["const"].as_str()).map(|name| format!("`{name}`")).collect();
    (!names.is_empty()).then(|| format!("one of {}", names.join(", ")))
}

/// The parts of the schema that a path of names leads to.
pub(super) fn tables_at<'s>(root: &'s Value, part: &'s Value, way: &[&str], found: &mut Vec<&'s Value>) {
    match way {
        [] => found.push(part),
        [name, rest @ ..] if part["properties"][*name].is_object() => {
            tables_at(root, &part["properties"][*name], rest, found);
        }
        _ => {}
    }
    if let Some(target) = part["$ref"].as_str().and_then(|name| root.pointer(name.strip_prefix('#')?)) {
        tables_at(root, target, way, found);
    }
    if part["items"].is_object() {
        tables_at(root, &part["items"], way, found);
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        part[choice].as_array().into_iter().flatten().for_each(|inner| tables_at(root, inner, way, found));
    }
}

/// Every table of the schema with a field of this name, by the names on the way to it.
fn search<'s>(root: &'s Value, part: &'s Value, way: &mut Vec<&'s str>, key: &str, found: &mut Vec<Vec<&'s str>>) {
    if way.len() > DEEPEST {
        return;
    }
    if let Some(name) = part["$ref"].as_str() {
        let target = name.strip_prefix('#').and_then(|pointer| root.pointer(pointer));
        target.into_iter().for_each(|target| search(root, target, way, key, found));
    }
    for (name, field) in part["properties"].as_object().into_iter().flatten() {
        if name == key && !way.is_empty() && !found.contains(way) {
            found.push(way.clone());
        }
        way.push(name);
        search(root, field, way, key, found);
        way.pop();
    }
    for choice in ["anyOf", "oneOf", "allOf"] {
        part[choice].as_array().into_iter().flatten().for_each(|inner| search(root, inner, way, key, found));
    }
    if part["items"].is_object() {
        search(root, &part["items"], way, key, found);
    }
}
