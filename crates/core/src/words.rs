//! Words for messages of a reader of TOML or JSON, which speaks of the types of this program.

use alloc::format;
use alloc::string::String;

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

/// Joins what is wrong and what is wanted, both with names in backquotes, by the wanted name that was probably meant.
fn with_meant(said: &str, wanted: &str) -> String {
    let name = said.split('`').nth(1).unwrap_or_default();
    match meant(name, wanted.split('`').skip(1).step_by(2)) {
        Some(meant) => format!("{said}: did you mean `{meant}`? Expected {wanted}"),
        None => format!("{said}, expected {wanted}"),
    }
}

/// True for a name that is another but for one slip of the hand: a letter more, fewer, wrong, or before its neighbour.
pub fn is_slip(name: &str, of: &str) -> bool {
    strsim::damerau_levenshtein(name, of) == 1
}

/// Known name that is most like a wrong one, if it is alike enough to be meant.
pub fn meant<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let alike = known.into_iter().map(|other| (strsim::jaro_winkler(name, other), other));
    let (likeness, meant) = alike.max_by(|a, b| a.0.total_cmp(&b.0))?;
    (likeness > ALIKE).then_some(meant)
}
