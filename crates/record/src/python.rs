//! Types of `summary.json` for Python: a module of dataclasses.

use std::fmt::Write as _;

use crate::fields::{Field, ROWS, Struct, TEXTS};
use crate::result::STRUCTS;

/// Module of dataclasses, one for each struct of results. A struct comes after the structs of its fields.
pub fn module() -> String {
    let mut text = String::from(
        "\"\"\"Fields of summary.json, written from crates/record/src/result.rs by `make reference`.\"\"\"\n\n\
         from dataclasses import dataclass\n",
    );
    let is_part = |of: &Struct| {
        let mut fields = STRUCTS.iter().flat_map(|of| of.fields).filter(|field| field.is_flattened());
        fields.any(|field| field.parts().is_some_and(|parts| parts.name == of.name))
    };
    let is_shown = |of: &&Struct| !ROWS.contains(&of.name) && !of.name.ends_with("Series") && !is_part(of);
    // A name that a class uses stands above it, as readers and type checkers want it.
    for of in STRUCTS.iter().rev().filter(is_shown) {
        let _ = write!(text, "\n\n@dataclass(frozen=True, slots=True, kw_only=True)\nclass {}:\n", of.name);
        let _ = writeln!(text, "    \"\"\"{}\"\"\"\n", of.meaning());
        for field in of.fields.iter().filter(|field| !field.is_skipped()) {
            match field.parts().filter(|_| field.is_flattened()) {
                Some(parts) => parts.fields.iter().for_each(|part| write_field(part, true, &mut text)),
                None => write_field(field, field.is_optional(), &mut text),
            }
        }
    }
    text
}

fn write_field(field: &Field, can_be_absent: bool, text: &mut String) {
    let kind = python_of(field.kind);
    let _ = match (can_be_absent, kind.starts_with("list[")) {
        (false, _) => writeln!(text, "    {}: {kind}", field.name),
        (true, true) => writeln!(text, "    {}: {kind} | None = None", field.name),
        (true, false) => writeln!(text, "    {}: {} | None = None", field.name, kind.trim_end_matches(" | None")),
    };
    let unit = field.unit().map_or(String::new(), |unit| format!(" Unit: {unit}."));
    let _ = writeln!(text, "    \"\"\"{}{unit}\"\"\"", field.meaning().replace('\\', "\\\\"));
}

fn python_of(kind: &str) -> String {
    let kind = kind.trim();
    let inner = |outer: &str| kind.strip_prefix(outer)?.trim_start().strip_prefix('<')?.strip_suffix('>');
    if let Some(inner) = inner("Option") {
        return format!("{} | None", python_of(inner));
    }
    if let Some(inner) = inner("Vec") {
        return format!("list[{}]", python_of(inner));
    }
    match kind {
        "f64" => "float".into(),
        "u64" | "u32" | "u8" => "int".into(),
        "[f64; 2]" | "(f64, f64)" => "tuple[float, float]".into(),
        text if TEXTS.contains(&text) => "str".into(),
        other => other.into(),
    }
}
