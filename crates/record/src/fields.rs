//! Result fields, each declared once: its name, with the unit as the ending, its decimals, its meaning, and the tables that show it.
//!
//! A field of a result is declared in one of the structs of `results!`, with a doc comment that tells users what it means. After its type
//! it can say to how many decimals its numbers are rounded, `= decimals(6)`, and then which tables have it: `[csv]` for the file of
//! the struct's rows, and `["MCS"]` for the terminal under this heading. `["met %", 2]` and `[csv, 3]` show
//! fewer decimals; a heading that ends with `%` shows a share in percent. A field with fields of its own that says `[csv]` gives a column for each of
//! these that says so too. CSV files, the terminal's tables, the types of the report
//! page and the page of the reference come from that. [`Rounded`] rounds, once for a whole result.

use std::borrow::Cow;
use std::fmt::Write as _;

use serde_json::Value;

use crate::distribution::Distribution;
use crate::result::EventKind;
use crate::subject::Direction;
use crate::unit;

/// Declares structs with their fields: of results, and of the data of pages.
// `pub struct Cell { /// Share used. pub used: f64 = decimals(3) [csv, "used %"], }` becomes
//
//     pub struct Cell { /// Share used. pub used: f64 }
//     impl Declared for Cell {
//         const STRUCT: Struct = Struct {
//             name: "Cell",
//             fields: &[Field { name: "used", kind: "f64", meaning: &[" Share used."], decimals: Some(3), outputs: &["csv", "\"used %\""], .. }],
//             ..
//         };
//     }
//     impl Round for Cell { fn round_to(&mut self, _: Option<usize>) { Round::round_to(&mut self.used, Some(3)) } }
#[macro_export]
macro_rules! results {
    ($(
        $(#[doc = $doc:literal])*
        #[derive($($derive:ident),*)]
        pub struct $name:ident {
            $(
                $(#[doc = $meaning:literal])*
                $(#[serde($($serde:tt)*)])?
                pub $field:ident: $kind:ty $(= $(decimals($decimals:literal))? $([$($output:tt),*])?)?,
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
                            decimals: $crate::fields::first(&[$($($decimals)?)?]),
                            outputs: &[$($($(stringify!($output)),*)?)?],
                        },
                    )*],
                };
            }
            impl $crate::fields::Fields for $name {
                fn field(&self, index: usize) -> &dyn $crate::fields::Values {
                    [$(&self.$field as &dyn $crate::fields::Values),*][index]
                }
            }
            impl $crate::fields::Values for $name {}
            impl $crate::fields::Round for $name {
                fn round_to(&mut self, _: Option<usize>) {
                    $($crate::fields::Round::round_to(&mut self.$field, $crate::fields::first(&[$($($decimals)?)?]));)*
                }
            }
        )*
        /// Structs of all results, in the order of their declaration.
        pub const STRUCTS: &[$crate::fields::Struct] =
            &[$(<$name as $crate::fields::Declared>::STRUCT),*];
    };
}
pub use results;

/// The number of a declaration that can have one.
pub const fn first(numbers: &[usize]) -> Option<usize> {
    match numbers {
        [] => None,
        [first, ..] => Some(*first),
    }
}

/// Value of a field, whose numbers can be rounded.
pub trait Round {
    /// Rounds to the decimals that the field declares; parts of a field have their own.
    fn round_to(&mut self, decimals: Option<usize>);
}

/// A struct of results whose numbers can be rounded.
pub trait Rounded: Sized {
    /// Rounds every number to the decimals that its field declares. Rounding twice changes nothing.
    #[must_use]
    fn rounded(self) -> Self;
}

impl<T: Round> Rounded for T {
    fn rounded(mut self) -> Self {
        self.round_to(None);
        self
    }
}

/// Powers of ten by decimals.
const SCALES: [f64; 10] = [1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9];

impl Round for f64 {
    fn round_to(&mut self, decimals: Option<usize>) {
        if let Some(decimals) = decimals {
            *self = unit::round(*self, SCALES[decimals]);
        }
    }
}
impl<T: Round> Round for Option<T> {
    fn round_to(&mut self, decimals: Option<usize>) {
        self.iter_mut().for_each(|value| value.round_to(decimals));
    }
}
impl<T: Round> Round for Vec<T> {
    fn round_to(&mut self, decimals: Option<usize>) {
        self.iter_mut().for_each(|value| value.round_to(decimals));
    }
}
impl Round for [f64; 2] {
    fn round_to(&mut self, decimals: Option<usize>) {
        self.iter_mut().for_each(|value| value.round_to(decimals));
    }
}
impl Round for (f64, f64) {
    fn round_to(&mut self, decimals: Option<usize>) {
        self.0.round_to(decimals);
        self.1.round_to(decimals);
    }
}

/// Numbers of a field: a single one, or several by subject and interval.
pub trait Values {
    /// Number at this place; `None` if nothing was measured, and for a value that is not a number.
    fn number(&self, _place: &[usize]) -> Option<f64> {
        None
    }
}

/// A struct of results whose fields are found by their places in its declaration.
pub trait Fields {
    /// Field of this number, from 0.
    fn field(&self, index: usize) -> &dyn Values;
}

impl Values for f64 {
    fn number(&self, _: &[usize]) -> Option<f64> {
        self.is_finite().then_some(*self)
    }
}
impl<T: Values> Values for Option<T> {
    fn number(&self, place: &[usize]) -> Option<f64> {
        self.as_ref()?.number(place)
    }
}
impl<T: Values> Values for Vec<T> {
    fn number(&self, place: &[usize]) -> Option<f64> {
        let (first, rest) = place.split_first()?;
        self.get(*first)?.number(rest)
    }
}
impl Values for [f64; 2] {}
impl Values for (f64, f64) {}

macro_rules! exact {
    ($($type:ty $(as $number:ty)?),*) => {
        $(
            impl $crate::fields::Round for $type {
                fn round_to(&mut self, _: Option<usize>) {}
            }
            impl $crate::fields::Values for $type {
                $(fn number(&self, _: &[usize]) -> Option<$number> {
                    Some(*self as $number)
                })?
            }
        )*
    };
}
pub(crate) use exact;
exact!(u8 as f64, u32 as f64, u64 as f64);
exact!(bool, String, &'static str, Cow<'static, str>, Distribution, Direction, EventKind);

/// Types in Rust of texts.
pub(crate) const TEXTS: [&str; 6] =
    ["String", "Cow<'static, str>", "&'static str", "& 'static str", "Direction", "EventKind"];

/// Structs that are rows of their own file and not a part of `summary.json`.
pub(crate) const ROWS: [&str; 3] = ["Freeze", "RouterTdq", "MarkResult"];

/// A struct of results.
#[derive(Clone, Copy, Debug)]
pub struct Struct {
    /// Name of its type.
    pub name: &'static str,
    /// Lines of its doc comment.
    pub meaning: &'static [&'static str],
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
    /// Type in Rust.
    pub kind: &'static str,
    /// Arguments of its attribute for serde.
    pub serde: &'static str,
    /// Lines of its doc comment.
    pub meaning: &'static [&'static str],
    /// Decimals to which its numbers are rounded; `None` for whole and for exact numbers.
    pub decimals: Option<usize>,
    /// Tables that show it, with their headings.
    pub outputs: &'static [&'static str],
}

/// A number of a struct of results, or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Number {
    /// Names of fields on the way to it in `summary.json`, joined by dots.
    pub path: String,
    /// Unit; `None` for counts and shares.
    pub unit: Option<&'static str>,
}

/// A column of a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Column {
    /// Heading.
    pub heading: String,
    /// Unit; `None` for counts, shares and text.
    pub unit: Option<&'static str>,
    /// Meaning of its field, in a sentence or two.
    pub meaning: String,
    /// Meaning of the part of the field, where it is one of several.
    part: String,
    /// Names of the fields on the way to it from a row.
    path: Vec<&'static str>,
    /// Type of its values in Rust.
    kind: &'static str,
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
    /// Section of the reference; nothing for a struct that is in no file.
    pub(crate) fn reference(&self) -> String {
        let fields: Vec<_> = self.fields.iter().filter(|field| !field.is_skipped()).collect();
        if fields.is_empty() {
            return String::new();
        }
        let mut text = format!(
            "\n### {}\n\n{}\n\n| field | unit | decimals | meaning |\n| --- | --- | --- | --- |\n",
            self.name,
            self.meaning()
        );
        for field in fields {
            let unit = field.unit().unwrap_or_default();
            let decimals = field.decimals.map_or(String::new(), |decimals| decimals.to_string());
            let meaning = field.meaning().replace('|', "\\|");
            let _ = writeln!(text, "| `{}` | {unit} | {decimals} | {meaning} |", field.name);
        }
        text
    }
    /// Columns of the CSV file whose rows are of this struct, called `noun`.
    pub fn csv_columns(&self, noun: &str) -> Vec<Column> {
        self.fields.iter().filter(|field| field.is_in_csv()).flat_map(|field| field.csv_columns(noun)).collect()
    }
    /// Numbers of the struct and of its parts, in their order; lists have none.
    pub fn numbers(&self) -> Vec<Number> {
        let mut numbers = Vec::new();
        for field in self.fields.iter().filter(|field| !field.is_skipped() && !field.is_list()) {
            if let Some(parts) = field.parts() {
                numbers.extend(parts.numbers().into_iter().map(|part| Number {
                    path: if field.is_flattened() { part.path } else { format!("{}.{}", field.name, part.path) },
                    unit: part.unit.or(field.unit()),
                }));
            } else if matches!(field.base_kind(), "f64" | "u64" | "u32" | "u8") {
                numbers.push(Number { path: field.name.into(), unit: field.unit() });
            }
        }
        numbers
    }
    /// Columns of the terminal's table of this struct.
    pub fn terminal_columns(&self) -> Vec<Column> {
        self.fields.iter().flat_map(Field::terminal_columns).collect()
    }
    /// Columns of the terminal's table of a field of this struct, whose own fields have headings.
    pub fn terminal_columns_of(&self, field: &'static str) -> Vec<Column> {
        let parts = self.fields.iter().find(|of| of.name == field).and_then(Field::parts);
        let columns = parts.map_or_else(Vec::new, |parts| parts.terminal_columns());
        columns.into_iter().map(|column| column.within(field)).collect()
    }
}

impl Field {
    /// Meaning, in a sentence or two.
    pub fn meaning(&self) -> String {
        joined(self.meaning)
    }
    /// Unit, which is the ending of its name; `None` for counts, shares and text.
    pub fn unit(&self) -> Option<&'static str> {
        let units = [
            ("mbps", "Mbit/s"),
            ("_ms", "ms"),
            ("_us", "µs"),
            ("_kb", "kB"),
            ("_db", "dB"),
            ("_deg", "degrees"),
            ("_m", "m"),
            ("_s", "s"),
        ];
        units.into_iter().find(|(ending, _)| self.name.ends_with(ending)).map(|(_, unit)| unit)
    }
    /// True for a field that no file shows as it is: a distribution.
    pub fn is_skipped(&self) -> bool {
        self.serde == "skip"
    }
    /// True for a field that can be missing.
    pub fn is_optional(&self) -> bool {
        self.serde.starts_with("skip_serializing_if")
    }
    /// True for a field whose own fields replace it.
    pub(crate) fn is_flattened(&self) -> bool {
        self.serde == "flatten"
    }
    /// True for several values.
    fn is_list(&self) -> bool {
        self.kind.starts_with("Vec") || self.kind.starts_with('[')
    }
    /// True for a column of a CSV file.
    pub(crate) fn is_in_csv(&self) -> bool {
        self.outputs.contains(&"csv")
    }
    /// True for a text, and for a list of texts.
    pub(crate) fn is_text(&self) -> bool {
        TEXTS.contains(&self.base_kind())
    }
    /// Decimals in tables, where these are fewer.
    fn shown_decimals(&self) -> Option<usize> {
        self.outputs.iter().find_map(|output| output.parse().ok())
    }
    /// Writes a number of a series with its decimals.
    pub(crate) fn write_number(&self, number: f64, text: &mut String) {
        let _ = match self.shown_decimals().or(self.decimals) {
            Some(shown) if self.decimals == Some(shown) && is_exact(number) => {
                write_rounded(number, shown, text);
                Ok(())
            }
            Some(shown) => write!(text, "{number:.shown$}"),
            None => write!(text, "{number}"),
        };
    }
    /// Column of a CSV file under this heading.
    pub(crate) fn csv_column(&self, heading: String) -> Column {
        Column { decimals: self.decimals.unwrap_or_default(), is_percent: false, ..self.column(heading) }
    }
    /// Columns in the CSV file whose rows are called `noun`.
    fn csv_columns(&self, noun: &str) -> Vec<Column> {
        let stem = self.unit().and_then(|unit| self.name.strip_suffix(&format!("_{unit}"))).unwrap_or(self.name);
        let Some(parts) = self.parts() else {
            return match self.base_kind() {
                _ if self.name == "name" => vec![self.csv_column(noun.into())],
                "[f64; 2]" => [("east", "0"), ("north", "1")]
                    .map(|(axis, index)| self.csv_column(format!("{stem}_{axis}_m")).deeper(index))
                    .into(),
                _ => vec![self.csv_column(self.name.into())],
            };
        };
        let columns = parts.fields.iter().flat_map(|part| match self.unit() {
            // The parts of a number have its unit. Those of a split delay mean something by themselves.
            Some(unit) => {
                let column = part.csv_column(String::new());
                let (heading, meaning, of_part) = match self.base_kind() {
                    "Split" => (format!("{}_{unit}", part.name), part.meaning(), String::new()),
                    _ => (format!("{stem}_{}_{unit}", part.name), self.meaning(), part.meaning()),
                };
                vec![Column { heading, meaning, part: of_part, unit: self.unit(), ..column }]
            }
            None if !part.is_in_csv() => Vec::new(),
            None if self.is_flattened() => part.csv_columns(noun),
            None => {
                let columns = part.csv_columns(noun).into_iter();
                columns
                    .map(|column| Column { heading: format!("{}_{}", self.name, column.heading), ..column })
                    .collect()
            }
        });
        columns.map(|column| if self.is_flattened() { column } else { column.within(self.name) }).collect()
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
    pub(crate) fn parts(&self) -> Option<Struct> {
        crate::result::STRUCTS.iter().find(|of| of.name == self.base_kind()).copied()
    }
    fn column(&self, heading: String) -> Column {
        // Of a series, by subject or of times, a row has one value.
        let is_series = self.kind.contains("Vec<Vec") || self.kind == "Vec<f64>";
        let is_list = self.kind.starts_with("Vec") && !is_series;
        let is_text = is_list || self.is_text();
        Column {
            heading,
            unit: self.unit(),
            meaning: self.meaning(),
            part: String::new(),
            path: vec![self.name],
            kind: self.base_kind(),
            decimals: self.shown_decimals().unwrap_or(match self.unit() {
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
        self.outputs.iter().find_map(|output| output.strip_prefix('"')?.strip_suffix('"'))
    }
    fn terminal_columns(&self) -> Vec<Column> {
        let Some(heading) = self.heading() else { return Vec::new() };
        let Some(parts) = self.parts() else { return vec![self.column(heading.into())] };
        let parts = parts.fields.iter().flat_map(Self::terminal_columns);
        let columns = parts.enumerate().map(|(index, part)| Column {
            heading: if index == 0 { format!("{heading}: {}", part.heading) } else { part.heading.clone() },
            ..part.within(self.name)
        });
        columns.collect()
    }
}

/// True for a number whose billionths are a whole number that a float can have.
fn is_exact(number: f64) -> bool {
    number.is_sign_positive() && number < 4e6
}

/// Writes a number that is rounded to this many decimals. Its digits are those of a whole number, which cost a third of those of a float.
fn write_rounded(number: f64, decimals: usize, text: &mut String) {
    let scale = SCALES[decimals];
    let units = (number * scale).round() as u64;
    let (whole, part) = (units / scale as u64, units % scale as u64);
    let mut buffer = itoa::Buffer::new();
    text.push_str(buffer.format(whole));
    if decimals > 0 {
        text.push('.');
        let digits = buffer.format(part);
        (digits.len()..decimals).for_each(|_| text.push('0'));
        text.push_str(digits);
    }
}

impl Column {
    /// Column of a text that no field declares.
    pub(crate) fn of_text(heading: &str, meaning: &str) -> Self {
        Self {
            heading: heading.into(),
            unit: None,
            meaning: meaning.into(),
            part: String::new(),
            path: Vec::new(),
            kind: "String",
            decimals: 0,
            is_percent: false,
            is_count: false,
            is_text: true,
        }
    }
    /// Column of a field that is itself within another one.
    #[must_use]
    pub fn within(mut self, field: &'static str) -> Self {
        self.path.insert(0, field);
        self
    }
    /// Column of a part of the field, by its name or index.
    fn deeper(mut self, part: &'static str) -> Self {
        self.path.push(part);
        self
    }
    /// Type of its values: `text`, `boolean`, `integer` or `number`.
    pub fn type_name(&self) -> &'static str {
        match self.kind {
            _ if self.is_text => "text",
            "bool" => "boolean",
            "u64" | "u32" | "u8" => "integer",
            _ => "number",
        }
    }
    /// Meaning in full: of the part, and of the field.
    pub fn sentence(&self) -> String {
        if self.part.is_empty() { self.meaning.clone() } else { format!("{} {}", self.part, self.meaning) }
    }
    /// Value of the column in a row of results; `None` where it was not measured.
    fn value<'a>(&self, row: &'a Value) -> Option<&'a Value> {
        let value = self.path.iter().try_fold(row, |value, step| match step.parse::<usize>() {
            Ok(index) => value.get(index),
            Err(_) => value.get(step),
        });
        value.filter(|value| !value.is_null())
    }
    /// Text of the column in a CSV file; `None` where it was not measured. A list is JSON there, so that one of a single number is no number.
    pub(crate) fn csv_text(&self, row: &Value) -> Option<String> {
        match self.value(row)? {
            list @ Value::Array(_) => Some(list.to_string()),
            _ => self.text(row),
        }
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

/// JSON schema of `summary.json`.
pub fn schema() -> Value {
    serde_json::to_value(schemars::schema_for!(crate::result::RunResult)).unwrap_or_default()
}

/// Types of `summary.json` for the report page, which compiles only where they have every field that it reads.
pub fn typescript() -> String {
    let mut text =
        String::from("/** Fields of summary.json, written from crates/record/src/result.rs by `make reference`. */\n");
    text.push_str(&interfaces(crate::result::STRUCTS));
    let version = env!("CARGO_PKG_VERSION");
    let _ = writeln!(
        text,
        "\n/** Version of the program whose results these are. */\nexport const VERSION = \"{version}\";"
    );
    text.push_str("\n/** Kind of every field, by type; one that can be absent ends with a question mark. */\n");
    text.push_str("export const FIELDS: Record<string, Record<string, string>> = {\n");
    for of in crate::result::STRUCTS {
        let kinds: Vec<_> = kinds_of(of, "").into_iter().map(|(name, kind)| format!("{name}: \"{kind}\"")).collect();
        let _ = writeln!(text, "  {}: {{ {} }},", of.name, kinds.join(", "));
    }
    text.push_str("};\n");
    text
}

/// Types of structs in TypeScript.
pub fn interfaces(structs: &[Struct]) -> String {
    let mut text = String::new();
    for of in structs {
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
    text
}

/// Fields of a struct, those that replace a field among them, with their kinds for the page's reader.
fn kinds_of(of: &Struct, absent: &str) -> Vec<(&'static str, String)> {
    let mut kinds = Vec::new();
    for field in of.fields.iter().filter(|field| !field.is_skipped()) {
        match field.parts().filter(|_| field.is_flattened()) {
            // A part that replaces its field is absent as a whole.
            Some(part) => kinds.extend(kinds_of(&part, "?")),
            None => {
                let absent = if field.is_optional() { "?" } else { absent };
                kinds.push((field.name, typescript_of(field.kind).replace(" | null", "") + absent));
            }
        }
    }
    kinds
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
    if let Some((_, value)) = inner("BTreeMap").and_then(|of| of.split_once(',')) {
        return format!("Record<string, {}>", typescript_of(value));
    }
    match kind {
        "f64" | "u64" | "u32" | "u8" => "number".into(),
        "bool" => "boolean".into(),
        "[f64; 2]" | "(f64, f64)" => "[number, number]".into(),
        text if TEXTS.contains(&text) => "string".into(),
        other => other.into(),
    }
}

/// Part of a page of the reference: all fields of `summary.json`, and all columns of the CSV files.
pub fn reference() -> String {
    let mut text = String::from(
        "# Results, field by field\n\nWritten by `make reference` from what the recorder declares. [Results of a run](../guide/results.md) tells what the files are for.\n\n\
         ## `summary.json`\n\nA share lies between 0 and 1. What could not be measured is `null` or absent, never zero.\n\
         Numbers are rounded to the decimals that the tables say.\n\
         The file's schema is [summary.schema.json](summary.schema.json).\n",
    );
    for of in crate::result::STRUCTS {
        // Rows of a file of their own are described there.
        if !of.name.ends_with("Series") && !ROWS.contains(&of.name) {
            text.push_str(&of.reference());
        }
    }
    text.push_str(&crate::files::reference());
    text
}

fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{BearerResult, Quantiles, RouterSeries};

    #[test]
    fn every_number_is_rounded_to_the_decimals_of_its_field() {
        let third = 1.0 / 3.0;
        let delay = Quantiles { mean: third, p50: third, p95: third, p99: third, p999: third };
        let bearer = BearerResult {
            ue: "a".into(),
            drb: 1,
            direction: Direction::Downlink,
            qfi: vec![1],
            five_qi: vec![9],
            law: "none".into(),
            thresholds: Vec::new(),
            throughput_mbps: third,
            queue_ms: Some(delay),
            marked: Some(7),
            dropped: 0,
            delay_budget_ms: 10.0,
            in_budget: Some(2.0 * third),
        }
        .rounded();
        assert_eq!((bearer.throughput_mbps, bearer.in_budget, bearer.marked), (0.333_333, Some(0.666_667), Some(7)));
        assert_eq!(bearer.queue_ms.map(|delay| delay.p999), Some(0.333));
        assert_eq!(bearer.clone().rounded(), bearer);
        let series = RouterSeries { queue_ms: vec![vec![None, Some(third)]], ..RouterSeries::default() }.rounded();
        assert_eq!(series.queue_ms[0], [None, Some(0.333)]);
    }

    proptest::proptest! {
        #[test]
        fn digits_of_a_rounded_number_are_those_of_the_float(number in 0.0..4e6, decimals in 0usize..=9) {
            let number = unit::round(number, SCALES[decimals]);
            proptest::prop_assume!(is_exact(number));
            let mut text = String::new();
            write_rounded(number, decimals, &mut text);
            proptest::prop_assert_eq!(text, format!("{number:.decimals$}"));
        }
    }

    /// Numbers of microseconds and of a histogram have few decimals by themselves; shares, odds and draws don't.
    #[test]
    fn a_number_that_is_not_whole_declares_its_decimals() {
        let exact = ["busy", "mark_odds", "drop_odds", "draw"];
        for of in crate::result::STRUCTS.iter().filter(|of| of.name != "Lateness") {
            for field in of.fields.iter().filter(|field| field.kind.contains("f64") && !exact.contains(&field.name)) {
                assert!(field.decimals.is_some(), "{}.{}", of.name, field.name);
            }
        }
    }
}
