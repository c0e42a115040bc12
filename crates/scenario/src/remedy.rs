//! Remedies where the TOML reader only says what it expected.

use std::ops::Range;

use serde_json::Value;

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

/// Message of the TOML reader, with a scenario's words for Rust's types, and with the name that was probably meant.
pub fn in_toml(message: &str) -> String {
    if let Some(said) = message.strip_suffix(", there are no fields") {
        return format!("{said}: only the name can be set");
    }
    if message == "invalid IPv4 address syntax" {
        return "must be an IPv4 address, as in \"192.0.2.1\"".into();
    }
    let Some((said, wanted)) = message.rsplit_once(", expected ") else { return message.into() };
    if let Some(rest) = said.strip_prefix("unknown variant ") {
        return with_meant(&format!("unknown name {rest}"), wanted);
    }
    if said.starts_with("unknown field ") {
        return with_meant(said, wanted);
    }
    let right = match wanted {
        "f32" | "f64" => "a number",
        "u8" => "a whole number from 0 to 255",
        "u16" => "a whole number from 0 to 65535",
        "u32" => "a whole number from 0 to 4294967295",
        "u64" | "usize" => "a whole number from 0 on",
        "i8" | "i16" | "i32" | "i64" => "a whole number",
        "a boolean" => "true or false",
        "a sequence" => "an array, as in [1, 2]",
        "a string" => "text in quotes",
        "variant identifier" => "a name in quotes",
        "a map" => "a table",
        _ if wanted.starts_with("struct ") => "a table",
        _ => wanted,
    };
    match found(said) {
        Some(found) => format!("must be {right}, not {found}"),
        None => format!("{said}, expected {right}"),
    }
}

/// Value in the words of TOML, where the reader says that its type or value can't be.
fn found(said: &str) -> Option<&str> {
    let value = said.strip_prefix("invalid type: ").or_else(|| said.strip_prefix("invalid value: "))?;
    Some(match value {
        "sequence" => "an array",
        "map" => "a table",
        _ => match value.strip_prefix("string ") {
            Some(text) => text,
            // `integer `5``, `floating point `1.5``, `boolean `true``
            None => value.split('`').nth(1).unwrap_or(value),
        },
    })
}

/// Names alike by more than this are taken for one with a slip of the hand: `tyde` and `tide` are by 0.85.
const ALIKE: f64 = 0.8;

/// Joins what is wrong and what is wanted, both with names in backquotes, by the wanted name that is most like the wrong one.
fn with_meant(said: &str, wanted: &str) -> String {
    let name = said.split('`').nth(1).unwrap_or_default();
    let alike = wanted.split('`').skip(1).step_by(2).map(|other| (strsim::jaro_winkler(name, other), other));
    match alike.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((likeness, meant)) if likeness > ALIKE => format!("{said}: did you mean `{meant}`? Expected {wanted}"),
        _ => format!("{said}, expected {wanted}"),
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
