//! Result fields, each declared once: its name, with the unit as the ending, its meaning, and the tables that show it.
//!
//! A field of a result stands in one of the structs of `results!`, with a doc comment that tells users what it means. After its type
//! it can say which tables have it: `= [csv]` for the file of the struct's rows, `= ["MCS"]` for the terminal under this heading,
//! `= ["met %", 2]` with that many decimals; a heading that ends with `%` shows a share in percent. `= [csv, 3]` puts a series into
//! `series.csv`. CSV files, the terminal's tables, the types of the report page and the page of the reference come from that.

use std::fmt::Write as _;

use serde::Serialize;
use serde_json::Value;

/// Declares the structs of results with their fields.
macro_rules! results {
    ($(
        $(#[doc = $doc:literal])*
        #[derive($($derive:ident),*)]
        pub struct $name:ident {
            $(
                $(#[doc = $meaning:literal])*
                $(#[serde($($serde:tt)*)])?
                pub $field:ident: $kind:ty $(= [$($place:tt),*])?,
            )*
        }
    )*) => {
        $(
            $(#[doc = $doc])*
            #[derive(schemars::JsonSchema, $($derive),*)]
            pub struct $name {
                $(
                    $(#[doc = $meaning])*
                    $(#[serde($($serde)*)])?
                    pub $field: $kind,
                )*
            }
            impl $crate::fields::Declared for $name {
                const STRUCT: $crate::fields::Struct = $crate::fields::Struct {
                    name: stringify!($name),
                    meaning: &[$($doc),*],
                    fields: &[$(
                        $crate::fields::Field {
                            name: stringify!($field),
                            kind: stringify!($kind),
                            serde: concat!($(stringify!($($serde)*))?),
                            meaning: &[$($meaning),*],
                            places: &[$($(stringify!($place)),*)?],
                        },
                    )*],
                };
            }
        )*
        /// Structs of all results, in the order of their declaration.
        pub const STRUCTS: &[$crate::fields::Struct] =
            &[$(<$name as $crate::fields::Declared>::STRUCT),*];
    };
}
pub(crate) use results;

/// A struct of results.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// Name of its type.
    pub name: &'static str,
    pub(crate) meaning: &'static [&'static str],
    /// Fields, in the order in which files have them.
    pub fields: &'static [Field],
}

/// A type whose fields are declared.
pub trait Declared {
    /// Declaration.
    const STRUCT: Struct;
}

/// A field of results.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// Name in `summary.json`.
    pub name: &'static str,
    pub(crate) kind: &'static str,
    pub(crate) serde: &'static str,
    pub(crate) meaning: &'static [&'static str],
    pub(crate) places: &'static [&'static str],
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub heading: String,
    /// Names of the field and, where it has parts, of the part.
    path: [&'static str; 2],
    /// Decimals of a number.
    decimals: usize,
    /// True for a share that is shown in percent.
    is_percent: bool,
    /// True for counts.
    pub is_count: bool,
    /// True for text and lists.
    pub is_text: bool,
}

impl Struct {
    /// Meaning of the struct, in a sentence or two.
    pub fn meaning(&self) -> String {
        joined(self.meaning)
    }
    /// Columns of the CSV file whose rows are of this struct, called `noun`.
    pub fn csv_columns(&self, noun: &str) -> Vec<Column> {
        self.fields.iter().filter(|field| field.is_in_csv()).flat_map(|field| field.csv_columns(noun)).collect()
    }
    /// Columns of the terminal's table of this struct.
    pub fn terminal_columns(&self) -> Vec<Column> {
        self.fields.iter().flat_map(Field::terminal_columns).collect()
    }
}

impl Field {
    /// Meaning, in a sentence or two.
    pub fn meaning(&self) -> String {
        joined(self.meaning)
    }
    /// Unit, which is the ending of its name; `None` for counts, shares and text.
    pub fn unit(&self) -> Option<&'static str> {
        let units =
            [("_mbps", "Mbit/s"), ("_ms", "ms"), ("_us", "µs"), ("_kb", "kB"), ("_db", "dB"), ("_m", "m"), ("_s", "s")];
        units.into_iter().find(|(ending, _)| self.name.ends_with(ending)).map(|(_, unit)| unit)
    }
    /// True for what is in no file as it is: a distribution.
    pub fn is_skipped(&self) -> bool {
        self.serde == "skip"
    }
    /// True for a field that can be missing.
    pub fn is_optional(&self) -> bool {
        self.serde.starts_with("skip_serializing_if")
    }
    /// True for a field whose own fields stand in its place.
    fn is_flattened(&self) -> bool {
        self.serde == "flatten"
    }
    /// True for a column of a CSV file.
    pub(crate) fn is_in_csv(&self) -> bool {
        self.places.contains(&"csv")
    }
    /// Decimals that are declared.
    fn decimals(&self) -> Option<usize> {
        self.places.iter().find_map(|place| place.parse().ok())
    }
    /// Writes a number of a series with the declared decimals; nothing where there was nothing to measure.
    pub(crate) fn write_number(&self, value: &Value, text: &mut String) {
        let _ = match (self.decimals(), value.as_f64()) {
            (_, None) => Ok(()),
            (Some(decimals), Some(number)) => write!(text, "{number:.decimals$}"),
            (None, Some(_)) => write!(text, "{value}"),
        };
    }
    /// Columns in the CSV file whose rows are called `noun`.
    fn csv_columns(&self, noun: &str) -> Vec<Column> {
        let column = |part: &'static str, heading: String| {
            let decimals = if self.unit() == Some("ms") { 3 } else { 6 };
            Column { decimals, is_percent: false, ..self.column(part, heading) }
        };
        match (self.parts(), self.base_kind()) {
            // The parts of a delay have names that say so.
            (Some(parts), "Split") => {
                parts.fields.iter().map(|part| column(part.name, format!("{}_ms", part.name))).collect()
            }
            (Some(parts), _) => {
                let stem = self.name.strip_suffix("_ms").unwrap_or(self.name);
                parts.fields.iter().map(|part| column(part.name, format!("{stem}_{}_ms", part.name))).collect()
            }
            (None, _) if self.name == "name" => vec![column("", noun.into())],
            (None, _) => vec![column("", self.name.into())],
        }
    }
    /// Type without `Option` and `Vec`.
    fn base_kind(&self) -> &'static str {
        let inner = |kind: &'static str, outer: &str| {
            kind.strip_prefix(outer).and_then(|kind| kind.trim_start().strip_prefix('<')?.strip_suffix('>'))
        };
        let mut kind = self.kind;
        while let Some(within) = inner(kind, "Option").or_else(|| inner(kind, "Vec")) {
            kind = within.trim();
        }
        kind
    }
    /// Parts of a field that has some.
    fn parts(&self) -> Option<Struct> {
        crate::result::STRUCTS.iter().find(|of| of.name == self.base_kind()).copied()
    }
    fn column(&self, part: &'static str, heading: String) -> Column {
        let is_text = matches!(self.base_kind(), "String" | "Direction") || self.kind.starts_with("Vec");
        Column {
            heading,
            path: [self.name, part],
            decimals: self.decimals().unwrap_or(match self.unit() {
                Some("Mbit/s") => 2,
                _ => 1,
            }),
            is_percent: self.heading().is_some_and(|heading| heading.ends_with('%')),
            is_count: matches!(self.base_kind(), "u64" | "u8") && !is_text,
            is_text,
        }
    }
    /// Heading on the terminal.
    fn heading(&self) -> Option<&'static str> {
        self.places.iter().find_map(|place| place.strip_prefix('"')?.strip_suffix('"'))
    }
    fn terminal_columns(&self) -> Vec<Column> {
        let Some(heading) = self.heading() else { return Vec::new() };
        let Some(parts) = self.parts() else { return vec![self.column("", heading.into())] };
        let parts = parts.fields.iter().flat_map(Self::terminal_columns);
        let columns = parts.enumerate().map(|(index, part)| Column {
            heading: if index == 0 { format!("{heading}: {}", part.heading) } else { part.heading },
            path: [self.name, part.path[0]],
            ..part
        });
        columns.collect()
    }
}

impl Column {
    /// Value of the column in a row of results; `None` where it was not measured.
    fn value<'a>(&self, row: &'a Value) -> Option<&'a Value> {
        let [field, part] = self.path;
        let value = row.get(field).filter(|value| !value.is_null())?;
        if part.is_empty() { Some(value) } else { value.get(part).filter(|value| !value.is_null()) }
    }
    /// Text of the column in a row of results; `None` where it was not measured.
    pub fn text(&self, row: &Value) -> Option<String> {
        let value = self.value(row)?;
        Some(match value {
            Value::String(text) => text.clone(),
            Value::Array(numbers) => numbers.iter().map(Value::to_string).collect::<Vec<_>>().join(" "),
            Value::Number(number) if !self.is_count => {
                let number = number.as_f64().unwrap_or_default() * if self.is_percent { 100.0 } else { 1.0 };
                format!("{number:.*}", self.decimals)
            }
            other => other.to_string(),
        })
    }
}

/// CSV file with a row for each result; `noun` heads the column of names.
pub(crate) fn csv<T: Declared + Serialize>(noun: &str, rows: &[T]) -> String {
    let columns = T::STRUCT.csv_columns(noun);
    let mut text = columns.iter().map(|column| column.heading.as_str()).collect::<Vec<_>>().join(",") + "\n";
    for row in rows {
        let row = serde_json::to_value(row).unwrap_or_default();
        let cells = columns.iter().map(|column| {
            let cell = column.text(&row).unwrap_or_default();
            if column.is_text { crate::output::quoted(&cell) } else { cell }
        });
        let _ = writeln!(text, "{}", cells.collect::<Vec<_>>().join(","));
    }
    text
}

/// JSON schema of `summary.json`.
pub fn schema() -> Value {
    serde_json::to_value(schemars::schema_for!(crate::result::RunResult)).unwrap_or_default()
}

/// Types of `summary.json` for the report page, which compiles only where they have every field that it reads.
pub fn typescript() -> String {
    let mut text =
        String::from("/** Fields of summary.json, written from crates/record/src/result.rs by `make reference`. */\n");
    for of in crate::result::STRUCTS {
        let _ = writeln!(text, "\n/** {} */\nexport interface {} {{", of.meaning(), of.name);
        for field in of.fields.iter().filter(|field| !field.is_skipped() && !field.is_flattened()) {
            let question = if field.is_optional() { "?" } else { "" };
            let _ = writeln!(
                text,
                "  /** {} */\n  {}{question}: {};",
                field.meaning(),
                field.name,
                typescript_of(field.kind)
            );
        }
        text.push_str("}\n");
    }
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(
        text,
        "\n/** Version of the program whose results these are. */\nexport const VERSION = \"{version}\";"
    );
    let required = |field: &&Field| !field.is_optional() && !field.is_flattened();
    let record = |of: &Struct, entries: Vec<String>, brackets: [&str; 2]| {
        format!("  {}: {}{}{},\n", of.name, brackets[0], entries.join(", "), brackets[1])
    };
    text.push_str(
        "\n/** Fields that are never absent, by type. */\nexport const REQUIRED: Record<string, string[]> = {\n",
    );
    for of in crate::result::STRUCTS {
        let names = of.fields.iter().filter(|field| !field.is_skipped()).filter(required);
        text.push_str(&record(of, names.map(|field| format!("\"{}\"", field.name)).collect(), ["[", "]"]));
    }
    text.push_str("};\n\n/** Types of the fields that have fields of their own, by type. */\n");
    text.push_str("export const PARTS: Record<string, Record<string, string>> = {\n");
    for of in crate::result::STRUCTS {
        let parts = of.fields.iter().filter(|field| !field.is_skipped() && !field.is_flattened());
        let parts = parts.filter_map(|field| Some(format!("{}: \"{}\"", field.name, field.parts()?.name)));
        let parts: Vec<_> = parts.collect();
        if !parts.is_empty() {
            text.push_str(&record(of, parts, ["{ ", " }"]));
        }
    }
    text.push_str("};\n");
    text
}

fn typescript_of(kind: &str) -> String {
    let kind = kind.trim();
    let inner = |outer: &str| kind.strip_prefix(outer)?.trim_start().strip_prefix('<')?.strip_suffix('>');
    if let Some(inner) = inner("Option") {
        return format!("{} | null", typescript_of(inner));
    }
    if let Some(inner) = inner("Vec") {
        let inner = typescript_of(inner);
        return if inner.contains(' ') { format!("({inner})[]") } else { format!("{inner}[]") };
    }
    match kind {
        "f64" | "u64" | "u32" | "u8" => "number".into(),
        "bool" => "boolean".into(),
        "String" | "Cow<'static, str>" | "&'static str" | "& 'static str" | "Direction" | "EventKind" => {
            "string".into()
        }
        "[f64; 2]" | "(f64, f64)" => "[number, number]".into(),
        other => other.into(),
    }
}

/// Page of the reference: all fields of `summary.json`, and all columns of the CSV files.
pub fn reference() -> String {
    let mut text = String::from(
        "# Results, field by field\n\nWritten by `make reference` from what the recorder declares. [Results of a run](../guide/results.md) tells what the files are for.\n\n\
         ## `summary.json`\n\nA share lies between 0 and 1. What could not be measured is `null` or absent, never zero.\n\
         The file's schema is [summary.schema.json](summary.schema.json).\n",
    );
    for of in crate::result::STRUCTS {
        let fields: Vec<_> = of.fields.iter().filter(|field| !field.is_skipped()).collect();
        if of.name.ends_with("Series") || of.name == crate::result::MarkResult::STRUCT.name || fields.is_empty() {
            continue;
        }
        let _ =
            write!(text, "\n### {}\n\n{}\n\n| field | unit | meaning |\n| --- | --- | --- |\n", of.name, of.meaning());
        for field in fields {
            let unit = field.unit().unwrap_or_default();
            let _ = writeln!(text, "| `{}` | {unit} | {} |", field.name, field.meaning().replace('|', "\\|"));
        }
    }
    for (file, noun, of) in [
        ("flows.csv", "flow", crate::result::FlowResult::STRUCT),
        ("bearers.csv", "bearer", crate::result::BearerResult::STRUCT),
        ("marks.csv", "mark", crate::result::MarkResult::STRUCT),
    ] {
        let _ = write!(
            text,
            "\n## `{file}`\n\nA row for each {noun}. What could not be measured is empty.\n\n\
             | column | unit | meaning |\n| --- | --- | --- |\n"
        );
        for field in of.fields.iter().filter(|field| field.is_in_csv()) {
            let unit = field.unit().unwrap_or_default();
            let columns = field.csv_columns(noun);
            match field.parts().filter(|parts| parts.name == "Split") {
                Some(parts) => columns.iter().zip(parts.fields).for_each(|(column, part)| {
                    let _ = writeln!(text, "| `{}` | {unit} | {} |", column.heading, part.meaning());
                }),
                None => {
                    let headings: Vec<_> = columns.iter().map(|column| format!("`{}`", column.heading)).collect();
                    let _ = writeln!(text, "| {} | {unit} | {} |", headings.join(", "), field.meaning());
                }
            }
        }
    }
    text.push_str("\n## `series.csv`\n\nA row for each interval and flow, UE, uplink or router. Columns that a kind of row does not have are empty.\n\n");
    text.push_str(&crate::series_csv::reference());
    text
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}
