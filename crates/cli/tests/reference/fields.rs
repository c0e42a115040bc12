//! Pages of the fields of scenarios and studies, written from their schemas.

use std::collections::BTreeSet;
use std::fmt::Write;

use serde_json::Value;
use tidemark_sim::scenario::Scenario;
use tidemark_study::Form;

/// Opening lines of the scenario's page.
const OF_SCENARIOS: &str = "# Fields of a scenario

Written from what the configurations declare; [scenario.schema.json](scenario.schema.json) has the same for programs. A time, a rate or a size is
text with its unit: `\"10 ms\"`, `\"40 Mbit/s\"`, `\"1500 B\"`. A field without a default may be left out. A range that depends on another field stands in the error alone.
";

/// Opening lines of the study's page.
const OF_STUDIES: &str = "# Fields of a study

Written from what the form of a study declares; [study.schema.json](study.schema.json) has the same for programs, and [studies.md](../guide/studies.md) an example with
all parts. Keys of a scenario are text, as in `\"flow.*.round_trip\"`. A field without a default may be left out.
";

/// Types whose values are written alone, with their names on the page.
const QUANTITIES: [(&str, &str); 3] = [("Duration", "time"), ("BitRate", "rate"), ("Bytes", "size")];

/// Page under way: the schema, the tables that have a section, and the text.
struct Page<'a> {
    root: &'a Value,
    written: BTreeSet<&'a str>,
    /// Tables and fields that say nothing of themselves.
    silent: Vec<String>,
    text: String,
}

/// Name of the definition that a schema refers to, by itself or as one that may be left out.
fn reference(node: &Value) -> Option<&str> {
    let direct = node["$ref"].as_str();
    let optional = || node["anyOf"].as_array()?.iter().find_map(|branch| branch["$ref"].as_str());
    direct.or_else(optional)?.strip_prefix("#/$defs/")
}

/// Name of the definition of a field, or of what its lists and tables have in the end.
fn innermost(field: &Value) -> Option<&str> {
    let inside = || ["items", "additionalProperties"].iter().find_map(|key| innermost(field.get(key)?));
    reference(field).or_else(inside)
}

/// Text in one cell of a table.
fn cell(text: &str) -> String {
    text.replace('\n', " ").replace('|', "\\|")
}

/// Value as a scenario has it.
fn value(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Number(number) => number.as_f64().map(|number| number.to_string()).unwrap_or_default(),
        other => other.as_str().map_or_else(|| other.to_string(), str::to_owned),
    }
}

/// Range of a field: "1 ms to 10 s", "above 0, up to 1", "8, 16, 32".
fn range(field: &Value) -> String {
    let bound = |name: &str| {
        let found = [name.to_owned(), format!("x-{name}")].into_iter().find_map(|key| field.get(&key));
        // The schema of an unsigned integer says so, too, where nothing is declared.
        found.filter(|found| !is_of_type(field, name, found)).map(value)
    };
    let choice = field["enum"].as_array().or(field["x-enum"].as_array());
    let choice = choice.map(|choice| choice.iter().map(value).collect::<Vec<_>>().join(", "));
    let [from, above, to, below] = ["minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum"].map(bound);
    let low = from.clone().or_else(|| above.map(|above| format!("above {above}")));
    let high = to.map(|to| format!("up to {to}")).or_else(|| below.map(|below| format!("below {below}")));
    let range = choice.unwrap_or_else(|| match (low, high) {
        (Some(low), Some(high)) if from.is_some() => format!("{low} {}", high.trim_start_matches("up ")),
        (Some(low), Some(high)) => format!("{low}, {high}"),
        (Some(low), None) if from.is_some() => format!("from {low}"),
        (low, high) => low.or(high).unwrap_or_default(),
    });
    match field["x-reason"].as_str() {
        Some(reason) => format!("{range} ({reason})"),
        None => range,
    }
}

/// True for a bound that an integer's type has of itself.
fn is_of_type(field: &Value, name: &str, bound: &Value) -> bool {
    let largest = match field["format"].as_str() {
        Some("uint8") => 255,
        Some("uint16") => 65_535,
        _ => u64::MAX,
    };
    match name {
        "minimum" => field["format"].as_str().is_some_and(|format| format.starts_with("uint")) && bound == 0,
        "maximum" => bound == largest,
        _ => false,
    }
}

impl<'a> Page<'a> {
    fn definition(&self, name: &str) -> &'a Value {
        &self.root["$defs"][name]
    }

    /// Type of a field, with a link where it is a table of its own.
    fn kind(&self, field: &Value) -> String {
        if let Some(name) = reference(field) {
            if let Some((_, quantity)) = QUANTITIES.iter().find(|(known, _)| *known == name) {
                return (*quantity).into();
            }
            let definition = self.definition(name);
            if self.is_table(name) {
                return format!("[table](#{})", name.to_lowercase());
            }
            let names = |list: &Value| -> Vec<_> {
                list.as_array()
                    .into_iter()
                    .flatten()
                    .filter_map(|one| one.as_str().map(|one| format!("`{one}`")))
                    .collect()
            };
            let constants = definition["oneOf"].as_array().into_iter().flatten();
            let choice: Vec<_> = constants
                .flat_map(|one| {
                    one["const"].as_str().map(|name| format!("`{name}`")).into_iter().chain(names(&one["enum"]))
                })
                .collect();
            let choice = if choice.is_empty() { names(&definition["enum"]) } else { choice };
            return if choice.is_empty() {
                cell(definition["description"].as_str().unwrap_or("text"))
            } else {
                choice.join(", ")
            };
        }
        match field["type"].as_str().or(field["type"][0].as_str()) {
            Some("array") => format!("list: {}", self.kind(&field["items"])),
            Some("string") => field["const"].as_str().map_or("text".into(), |name| format!("`\"{name}\"`")),
            Some("boolean") => "yes or no".into(),
            Some("integer") => "integer".into(),
            Some("object") => match field["additionalProperties"].is_object() {
                true => format!("table of names: {}", self.kind(&field["additionalProperties"])),
                false => "table of names: any value".into(),
            },
            _ => "number".into(),
        }
    }

    /// True for a definition with fields, or with one of several sets of fields.
    fn is_table(&self, name: &str) -> bool {
        let definition = self.definition(name);
        let has_fields = |node: &Value| node["properties"].is_object();
        has_fields(definition) || definition["oneOf"].as_array().into_iter().flatten().any(has_fields)
    }

    /// Writes the table of a schema's fields, and remembers the tables that these hold.
    fn write_fields(&mut self, name: &str, node: &'a Value, held: &mut Vec<&'a str>) {
        let Some(fields) = node["properties"].as_object().filter(|fields| !fields.is_empty()) else { return };
        self.text += "| key | type | unit | range | default | meaning |\n| --- | --- | --- | --- | --- | --- |\n";
        for (key, field) in fields {
            let is_required = node["required"].as_array().into_iter().flatten().any(|required| required == key);
            let default = &field["default"];
            if field["const"].is_null() && field["description"].is_null() {
                self.silent.push(format!("{name}.{key}"));
            }
            let is_table = default.is_object() || default.is_array();
            let default = match is_required {
                true => "required".into(),
                false if is_table => String::new(),
                false => value(default),
            };
            let cells = [
                format!("`{key}`"),
                self.kind(field),
                field["x-unit"].as_str().unwrap_or_default().into(),
                range(field),
                default,
                cell(field["description"].as_str().unwrap_or_default()),
            ];
            writeln!(self.text, "| {} |", cells.join(" | ")).unwrap();
            held.extend(innermost(field).filter(|name| self.is_table(name)));
        }
        self.text += "\n";
    }

    /// Writes the section of a table, then those of the tables in it.
    fn write_section(&mut self, name: &'a str, node: &'a Value) {
        if !self.written.insert(name) {
            return;
        }
        let mut held = Vec::new();
        if node["description"].is_null() {
            self.silent.push(name.into());
        }
        write!(self.text, "\n## {name}\n\n{}\n\n", node["description"].as_str().unwrap_or_default()).unwrap();
        self.write_fields(name, node, &mut held);
        for branch in node["oneOf"].as_array().into_iter().flatten() {
            let fields = branch["properties"].as_object().into_iter().flatten();
            let mut tags = fields.filter_map(|(key, field)| Some((key, field["const"].as_str()?)));
            let Some((key, tag)) = tags.next() else { continue };
            write!(self.text, "`{key} = \"{tag}\"`: {}\n\n", branch["description"].as_str().unwrap_or_default())
                .unwrap();
            self.write_fields(name, branch, &mut held);
        }
        self.text.truncate(self.text.trim_end().len());
        self.text += "\n";
        for name in held {
            self.write_section(name, self.definition(name));
        }
    }
}

/// Gives the page of a schema whose root has this name, and fails for a field or a table without a description.
fn page(head: &str, name: &str, schema: &str) -> String {
    let root: Value = serde_json::from_str(schema).unwrap();
    let mut page = Page { root: &root, written: BTreeSet::new(), silent: Vec::new(), text: head.into() };
    page.write_section(name, &root);
    assert!(page.silent.is_empty(), "without a description: {:?}", page.silent);
    page.text
}

#[test]
fn every_field_of_scenarios_and_studies_is_described_on_its_page() {
    super::write("scenario.md", &page(OF_SCENARIOS, "Scenario", &Scenario::json_schema()));
    super::write("study.md", &page(OF_STUDIES, "Study", &Form::json_schema()));
}

#[test]
#[should_panic(expected = "without a description: [\"S.b\"]")]
fn a_field_without_a_description_fails() {
    let fields = r#"{ "a": { "type": "string", "description": "Name." }, "b": { "type": "string" } }"#;
    page("", "S", &format!(r#"{{ "description": "Root.", "properties": {fields} }}"#));
}
