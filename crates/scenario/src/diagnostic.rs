//! Errors of a scenario, with their place and a remedy.

use std::ops::Range;

use thiserror::Error;
use tidemark_core::ConfigError;

use crate::remedy;

/// A wrong scenario. The message names the field, and `line` is its position.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{file}:{line}: {message}")]
pub struct ScenarioError {
    /// The scenario's file name as it was given.
    pub file: String,
    /// The line, from 1; 1 where no line is known.
    pub line: usize,
    /// Path of the field at fault (`ue.1.rlc.queue_sdus`), with which the message begins; `None` where no field is known.
    pub key: Option<String>,
    /// Error, with what would be right.
    pub message: String,
    /// The text that `span` points into.
    pub source_text: String,
    /// The place in the text, in bytes.
    pub span: Range<usize>,
}

impl ScenarioError {
    /// An error at a place in the text.
    pub fn at(file: &str, text: &str, span: Range<usize>, message: impl Into<String>) -> Self {
        let start = span.start.min(text.len());
        let span = start..span.end.clamp(start, text.len());
        let line = text.as_bytes()[..start].iter().filter(|byte| **byte == b'\n').count() + 1;
        Self { file: file.into(), line, key: None, message: message.into(), source_text: text.into(), span }
    }

    /// An error that the TOML reader found at a place; the message gets the name of the field there.
    pub fn in_form(file: &str, text: &str, span: Range<usize>, message: &str) -> Self {
        if let Some(path) = variant_at(text, &span, message).or_else(|| mistyped_at(text, &span, message)) {
            let path: Vec<_> = path.iter().map(String::as_str).collect();
            return Self::in_field(file, text, &path, remedy::in_toml(message));
        }
        if let Some((path, key, meant)) = slip_at(text, &span, message) {
            let path: Vec<_> = path.iter().chain([&key]).map(String::as_str).collect();
            return Self::in_field(file, text, &path, format!("unknown field `{key}`: did you mean `{meant}`?"));
        }
        let path = path_at(text, &span).filter(|path| !path.is_empty()).or_else(|| unknown_at(text, &span, message));
        let with_kind = path.as_ref().and_then(|path| remedy::with_kind(path, message));
        let mut said = remedy::quoted(text, &span, message)
            .unwrap_or_else(|| remedy::in_toml(with_kind.as_deref().unwrap_or(message)));
        if let Some(what) = table_at(text, &span).and_then(|table| remedy::missing(&table, message)) {
            said = format!("{said}: {what}");
        }
        if let Some(right) = path.as_ref().and_then(|path| remedy::elsewhere(path, message)) {
            said = format!("{said}; {right}");
        }
        match path {
            Some(path) => Self::at(file, text, span, said).of_field(path.join(".")),
            None => Self::at(file, text, span, said),
        }
    }

    /// An error in the field at `path` (`["ue", "0", "rlc", "queue_sdus"]`), or in its nearest parent that the text
    /// has.
    pub fn in_field(file: &str, text: &str, path: &[&str], message: impl Into<String>) -> Self {
        let span = span_of(text, path).unwrap_or(0..0);
        Self::at(file, text, span, message).of_field(path.join("."))
    }

    /// An error of the check, in its field.
    pub(super) fn of_config(file: &str, text: &str, error: &ConfigError) -> Self {
        let path: Vec<_> = error.field().split('.').collect();
        Self::in_field(file, text, &path, error.problem())
    }

    /// True if the error is an unknown name.
    pub(super) fn is_of_a_name(&self) -> bool {
        self.message.contains(": unknown name `")
    }

    fn of_field(self, key: String) -> Self {
        Self { message: format!("{key}: {}", self.message), key: Some(key), ..self }
    }
}

/// Place in the text of the value at `path`, or of its nearest written parent.
fn span_of(text: &str, path: &[&str]) -> Option<Range<usize>> {
    use toml::de::{DeTable, DeValue};
    let root = DeTable::parse(text).ok()?;
    let mut span = None;
    let mut table = Some(root.get_ref());
    let mut array: Option<&toml::de::DeArray<'_>> = None;
    for step in path {
        let value = match (table, array) {
            (Some(table), _) => {
                let Some((key, value)) = table.get_key_value(*step) else { break };
                span = Some(key.span());
                value
            }
            (None, Some(items)) => {
                let Some(value) = step.parse::<usize>().ok().and_then(|index| items.get(index)) else { break };
                value
            }
            (None, None) => break,
        };
        (table, array) = match value.get_ref() {
            DeValue::Table(inner) => (Some(inner), None),
            DeValue::Array(items) => (None, Some(items)),
            _ => (None, None),
        };
        if table.is_none() || array.is_some() || !value.span().is_empty() {
            span = Some(value.span());
        }
    }
    span
}

/// True if the text itself has a value at `path`.
pub(super) fn is_written(text: &str, path: &[impl AsRef<str>]) -> bool {
    text.parse().is_ok_and(|root| value_at(&root, path).is_some())
}

/// Value at `path`.
fn value_at<'a>(root: &'a toml::Table, path: &[impl AsRef<str>]) -> Option<&'a toml::Value> {
    let [first, rest @ ..] = path else { return None };
    rest.iter().map(AsRef::as_ref).try_fold(root.get(first.as_ref())?, |value, name| match name.parse::<usize>() {
        Ok(index) if value.is_array() => value.get(index),
        _ => value.get(name),
    })
}

/// The path of the key or plain value that holds a place in the text. Tables are searched whatever their own spans are: that of
/// a `[[ue]]` covers its heading alone.
fn path_at(text: &str, place: &Range<usize>) -> Option<Vec<String>> {
    use toml::Spanned;
    use toml::de::{DeTable, DeValue};
    fn search(value: &Spanned<DeValue<'_>>, place: &Range<usize>) -> Option<Vec<String>> {
        let (span, path) = (value.span(), Vec::new());
        match value.get_ref() {
            DeValue::Table(table) => search_table(table, place),
            // The place of a `[[ue]]` is that of its heading.
            DeValue::Array(items) if span == *place && !items.iter().any(|item| item.get_ref().is_table()) => {
                Some(path)
            }
            DeValue::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
                search(item, place).map(|inner| [at.to_string()].into_iter().chain(inner).collect())
            }),
            _ => (span.start <= place.start && place.end <= span.end).then_some(path),
        }
    }
    fn search_table(table: &DeTable<'_>, place: &Range<usize>) -> Option<Vec<String>> {
        table.iter().find_map(|(key, value)| {
            let inner = if key.span() == *place { Some(Vec::new()) } else { search(value, place) };
            inner.map(|inner| [key.get_ref().to_string()].into_iter().chain(inner).collect())
        })
    }
    search_table(DeTable::parse(text).ok()?.get_ref(), place)
}

/// The path of a key that its table does not know, where the reader of the form tells the place of the table only.
fn unknown_at(text: &str, place: &Range<usize>, message: &str) -> Option<Vec<String>> {
    let key = message.strip_prefix("unknown field `")?.split('`').next()?;
    let path = [table_at(text, place)?, vec![key.to_string()]].concat();
    // A table inside it may be meant.
    is_written(text, &path).then_some(path)
}

/// The table at a place, and a key of it that is the missing field but for a slip of the hand: without that field, such as the `law` of a marker,
/// the reader can't say which others are unknown.
fn slip_at(text: &str, place: &Range<usize>, message: &str) -> Option<(Vec<String>, String, String)> {
    let missing = message.strip_prefix("missing field `")?.split('`').next()?;
    let table = table_at(text, place)?;
    let root: toml::Table = text.parse().ok()?;
    let keys = if table.is_empty() { Some(&root) } else { value_at(&root, &table)?.as_table() };
    let key = keys?.keys().find(|key| tidemark_core::words::is_slip(key, missing))?;
    Some((table, key.clone(), missing.into()))
}

/// The path of a text that a message begins with, a name that is none of those expected or a quantity that can't be, where the reader of the form tells
/// the place of the table only.
fn variant_at(text: &str, place: &Range<usize>, message: &str) -> Option<Vec<String>> {
    let name = message.strip_prefix("unknown variant `").or_else(|| message.strip_prefix('`'))?.split('`').next()?;
    let table = table_at(text, place)?;
    let root = text.parse().ok()?;
    let (key, _) = value_at(&root, &table)?.as_table()?.iter().find(|(_, value)| value.as_str() == Some(name))?;
    Some([table, vec![key.clone()]].concat())
}

/// The path of a value of the wrong type, where the reader of the form tells the place of the table only; none where several could be meant.
fn mistyped_at(text: &str, place: &Range<usize>, message: &str) -> Option<Vec<String>> {
    let found = message.strip_prefix("invalid type: ")?;
    let table = table_at(text, place).filter(|table| !table.is_empty())?;
    let root = text.parse().ok()?;
    let mut keys = value_at(&root, &table)?.as_table()?.iter().filter(|(_, value)| {
        let named = match value {
            toml::Value::String(text) => format!("string {text:?}"),
            toml::Value::Integer(number) => format!("integer `{number}`"),
            toml::Value::Float(number) => serde::de::Unexpected::Float(*number).to_string(),
            toml::Value::Boolean(truth) => format!("boolean `{truth}`"),
            toml::Value::Array(_) => "sequence".into(),
            toml::Value::Table(_) => "map".into(),
            toml::Value::Datetime(_) => return false,
        };
        found.strip_prefix(&named).is_some_and(|rest| rest.starts_with(','))
    });
    let (key, _) = keys.next().filter(|_| keys.next().is_none())?;
    Some([table, vec![key.clone()]].concat())
}

/// The path of the table at whose heading or braces a place in the text is; none for the whole text.
fn table_at(text: &str, place: &Range<usize>) -> Option<Vec<String>> {
    use toml::Spanned;
    use toml::de::{DeTable, DeValue};
    fn search(value: &Spanned<DeValue<'_>>, place: &Range<usize>) -> Option<Vec<String>> {
        match value.get_ref() {
            DeValue::Table(_) if value.span() == *place => Some(Vec::new()),
            DeValue::Table(table) => search_table(table, place),
            DeValue::Array(items) => items.iter().enumerate().find_map(|(at, item)| {
                search(item, place).map(|inner| [at.to_string()].into_iter().chain(inner).collect())
            }),
            _ => None,
        }
    }
    fn search_table(table: &DeTable<'_>, place: &Range<usize>) -> Option<Vec<String>> {
        table.iter().find_map(|(key, value)| {
            search(value, place).map(|inner| [key.get_ref().to_string()].into_iter().chain(inner).collect())
        })
    }
    Some(search_table(DeTable::parse(text).ok()?.get_ref(), place).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "duration = \"1 s\"\n[[ue]]\nname = \"a\"\n\n[[ue]]\nname = \"b\"\nrlc = { queue_sdus = 0 }\n";

    #[test]
    fn a_field_is_found_by_its_path() {
        let error = ScenarioError::in_field("x.toml", TEXT, &["ue", "1", "rlc", "queue_sdus"], "must be at least 1");
        assert_eq!(error.to_string(), "x.toml:7: ue.1.rlc.queue_sdus: must be at least 1");
        assert_eq!((error.key.as_deref(), &TEXT[error.span]), (Some("ue.1.rlc.queue_sdus"), "0"));
    }

    #[test]
    fn a_field_that_was_left_out_points_at_what_holds_it() {
        let error = ScenarioError::in_field("x.toml", TEXT, &["ue", "1", "marker", "law"], "no such law");
        assert_eq!(error.line, 5);
    }

    #[test]
    fn a_field_that_is_missing_is_explained() {
        let text = "name = \"x\"\nduration = \"1 s\"\n[[ue]]\nname = \"a\"\n[[flow]]\nname = \"f\"\nue = \"a\"\n";
        let error = crate::Scenario::parse("x.toml", text, std::path::Path::new(""), &[]).unwrap_err().to_string();
        assert!(error.starts_with("x.toml:5: missing field `round_trip`: ") && error.len() > 60, "{error}");
        // A table whose kind is missing can't say which fields are unknown.
        let text = "name = \"x\"\nduration = \"1 s\"\n[marker]\nlwa = \"tide\"\n";
        let error = crate::Scenario::parse("x.toml", text, std::path::Path::new(""), &[]).unwrap_err();
        assert_eq!(error.to_string(), "x.toml:4: marker.lwa: unknown field `lwa`: did you mean `law`?");
        // Two tables have a required `rate`.
        let text = "name = \"x\"\nduration = \"1 s\"\n[[router]]\nname = \"r\"\n";
        let error = crate::Scenario::parse("x.toml", text, std::path::Path::new(""), &[]).unwrap_err().to_string();
        assert_eq!(error, "x.toml:3: missing field `rate`: Rate of its link at the start.");
        let error = crate::Scenario::parse("x.toml", "name = \"x\"\n", std::path::Path::new(""), &[]).unwrap_err();
        assert_eq!(error.to_string(), "x.toml:1: missing field `duration`: Length of the run, in virtual time.");
    }

    #[test]
    fn a_name_that_is_none_of_those_expected_has_its_key_and_line() {
        for (table, line, key) in [
            ("[marker]\nlow = \"5 ms\"\nlaw = \"nope\"\n", 5, "marker.law"),
            ("marker = { law = \"nope\" }\n", 3, "marker.law"),
            ("[[ue]]\nname = \"nope\"\nchannel = { model = \"nope\" }\n", 5, "ue.0.channel.model"),
        ] {
            let text = format!("name = \"x\"\nduration = \"1 s\"\n{table}");
            let error = crate::Scenario::parse("x.toml", &text, std::path::Path::new(""), &[]).unwrap_err();
            let crate::LoadError::Wrong(error) = error else { panic!("{error}") };
            assert_eq!((error.line, error.key.as_deref()), (line, Some(key)), "{error}");
        }
    }

    #[test]
    fn a_name_with_a_slip_is_answered_by_the_one_that_was_meant() {
        for (table, said) in [
            (
                "[cell]\nbandwith = 20\n",
                "cell.bandwith: unknown field `bandwith`: did you mean `bandwidth_mhz`? Expected one of",
            ),
            ("[marker]\nlaw = \"tyde\"\n", "marker.law: unknown name `tyde`: did you mean `tide`? Expected one of"),
            ("[marker]\nlaw = \"xyz\"\n", "marker.law: unknown name `xyz`, expected one of"),
            (
                "[marker]\nlaw = \"tide\"\nlaws = 1\n",
                "marker.laws: unknown field `laws`: did you mean `law`? Expected one of `law`, `tau_s`",
            ),
            (
                "[[ue]]\nname = \"a\"\nchannel = { model = \"static\", modell = 1 }\n",
                "ue.0.channel.modell: unknown field `modell`: did you mean `model`? Expected one of `model`, `snr_db`",
            ),
        ] {
            let text = format!("name = \"x\"\nduration = \"1 s\"\n{table}");
            let error = crate::Scenario::parse("x.toml", &text, std::path::Path::new(""), &[]).unwrap_err();
            assert!(error.to_string().contains(said), "{error}");
        }
    }

    #[test]
    fn a_value_of_the_wrong_type_has_its_key_and_line() {
        for (table, said) in [
            ("[marker]\nlaw = \"ramp\"\nalpha = \"x\"\n", "5: marker.alpha: must be a number, not \"x\""),
            ("[marker]\nlaw = \"ramp\"\nalpha = true\n", "5: marker.alpha: must be a number, not true"),
            ("[cell]\nprbs = [1]\n", "4: cell.prbs: must be a whole number from 0 to 4294967295, not an array"),
            ("[marker]\nlaw = 5\n", "4: marker.law: must be a name in quotes, not 5"),
            ("cell = 5\n", "3: cell: must be a table, not 5"),
            ("description = 5\n", "3: description: must be text in quotes, not 5"),
            (
                "[[ue]]\nname = \"a\"\nchannel = { model = \"static\", snr_db = [1.5] }\n",
                "5: ue.0.channel.snr_db: must be a number, not an array",
            ),
        ] {
            let text = format!("name = \"x\"\nduration = \"1 s\"\n{table}");
            let error = crate::Scenario::parse("x.toml", &text, std::path::Path::new(""), &[]).unwrap_err();
            assert_eq!(error.to_string(), format!("x.toml:{said}"));
        }
    }

    #[test]
    fn a_span_beyond_the_text_does_not_panic() {
        assert_eq!(ScenarioError::at("x", "a", 5..9, "m").span, 1..1);
    }
}
