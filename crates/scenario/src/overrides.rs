//! `--set key=value`: a scenario's text with some values replaced, comments and order kept.

use thiserror::Error;
use toml_edit::{DocumentMut, Item, Table, Value};

use crate::variant;

/// An override that can't be applied.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
pub enum OverrideError {
    /// No `=` in the text.
    #[error("`{0}` is not key=value, as in --set marker.law=none or --set ue.0.count=4")]
    NotAnAssignment(String),
    /// A step of the key leads nowhere.
    #[error("`{key}`: there is no `{step}` here: {right}")]
    NoSuchPlace {
        /// The whole key.
        key: String,
        /// The step that failed.
        step: String,
        /// Remedy.
        right: String,
    },
    /// The scenario itself is no TOML.
    #[error("the scenario is not TOML: {0}")]
    NotToml(String),
}

/// Applies `key=value` overrides, in order.
///
/// A key is a path of names joined by dots. In a list (`[[ue]]`, `[[flow]]`) the step is an index from 0, the `name` of
/// the entry, or `*` for all entries. A value is read as TOML if it is valid TOML, else as text: `duration=20 s` and
/// `duration="20 s"` mean the same. Choosing another kind of a table (`marker.law`, `ue.0.channel.model`) drops the old
/// kind's fields that the new kind does not have.
pub fn apply(text: &str, assignments: &[String]) -> Result<String, OverrideError> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| OverrideError::NotToml(error.message().to_string()))?;
    for assignment in assignments {
        let (key, value) =
            assignment.split_once('=').ok_or_else(|| OverrideError::NotAnAssignment(assignment.clone()))?;
        let key = key.trim();
        let value: Value = value.trim().parse().unwrap_or_else(|_| Value::from(value.trim()));
        let steps: Vec<&str> = key.split('.').collect();
        set(document.as_table_mut(), &[], key, &steps, &value)?;
    }
    Ok(document.to_string())
}

/// Sets a value below the table that `path` leads to, by names without the indices of lists.
fn set(table: &mut Table, path: &[&str], key: &str, steps: &[&str], value: &Value) -> Result<(), OverrideError> {
    let no_place = |step: &str, right: String| OverrideError::NoSuchPlace { key: key.into(), step: step.into(), right };
    let [step, rest @ ..] = steps else { return Ok(()) };
    if rest.is_empty() {
        let old = table.get(step).and_then(Item::as_str).map(str::to_string);
        replace(&mut table[*step], value);
        if let (Some(old), Some(new)) = (old, value.as_str())
            && old != new
        {
            variant::lost(path, step, &old, new).iter().for_each(|field| _ = table.remove(field));
        }
        return Ok(());
    }
    let path = &[path, &[*step]].concat();
    // A table that the scenario left out comes into being; its defaults held until now.
    let item = table.entry(step).or_insert_with(|| Item::Table(Table::new()));
    if let Item::Value(Value::InlineTable(_)) = item {
        let inline = std::mem::take(item);
        *item = Item::Table(inline.into_table().unwrap_or_default());
    }
    if let Item::Value(Value::Array(_)) = item {
        // One of anything but tables stays as it is.
        *item = std::mem::take(item).into_array_of_tables().map_or_else(|item| item, Item::ArrayOfTables);
    }
    match item {
        Item::Table(inner) => set(inner, path, key, rest, value),
        Item::ArrayOfTables(entries) => {
            let [which, rest @ ..] = rest else { return Ok(()) };
            let names: Vec<String> =
                entries.iter().map(|entry| entry.get("name").and_then(Item::as_str).unwrap_or("").into()).collect();
            let mut found = false;
            for (index, entry) in entries.iter_mut().enumerate() {
                if *which == "*" || *which == names[index] || which.parse() == Ok(index) {
                    found = true;
                    if rest.is_empty() {
                        return Err(no_place(which, format!("name a field of it, as in {key}.name")));
                    }
                    set(entry, path, key, rest, value)?;
                }
            }
            if found {
                Ok(())
            } else {
                let last = names.len().saturating_sub(1);
                Err(no_place(which, format!("use 0 to {last}, * or one of {}", names.join(", "))))
            }
        }
        _ => Err(no_place(rest[0], format!("`{step}` is a value, not a table"))),
    }
}

/// Replaces a value, keeping the comment behind it.
fn replace(item: &mut Item, value: &Value) {
    let decor = item.as_value().map(|old| old.decor().clone());
    let mut value = value.clone();
    *value.decor_mut() = decor.unwrap_or_default();
    *item = Item::Value(value);
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;
    use tidemark_marker::LawConfig;

    use super::*;
    use crate::Scenario;

    const TEXT: &str = "duration = \"1 s\" # short\n\n[[ue]]\nname = \"a\"\nchannel = { model = \"static\" }\n\n[[ue]]\nname = \"b\"\n";

    fn with(assignment: &str) -> Result<String, OverrideError> {
        apply(TEXT, &[assignment.to_string()])
    }

    #[test]
    fn a_list_in_brackets_has_the_same_steps() {
        let text =
            "duration = \"1 s\"\nue = [{ name = \"a\" }, { name = \"b\", rlc = { queue_sdus = 5 } }] # two\nseed = 3\n";
        let changed = apply(text, &["ue.*.count=2".into(), "ue.b.rlc.queue_sdus=7".into()]).unwrap();
        let table: toml::Table = changed.parse().unwrap();
        let ues = table["ue"].as_array().unwrap();
        assert_eq!(ues.iter().map(|ue| ue["count"].as_integer()).collect::<Vec<_>>(), [Some(2), Some(2)]);
        assert_eq!((ues[1]["rlc"]["queue_sdus"].as_integer(), table["seed"].as_integer()), (Some(7), Some(3)));
        let plain = apply("lifts = [80]\n", &["lifts.0=1".into()]).unwrap_err().to_string();
        assert_eq!(plain, "`lifts.0`: there is no `0` here: `lifts` is a value, not a table");
    }

    #[test]
    fn a_value_is_replaced_and_its_comment_kept() {
        assert!(with("duration=2 s").unwrap().starts_with("duration = \"2 s\" # short\n"));
        assert!(with("seed=7").unwrap().contains("seed = 7\n"));
    }

    #[test]
    fn an_entry_of_a_list_goes_by_index_by_name_or_all() {
        assert_eq!(with("ue.1.count=3").unwrap(), with("ue.b.count=3").unwrap());
        assert_eq!(with("ue.*.count=3").unwrap().matches("count = 3").count(), 2);
        let error = with("ue.c.count=3").unwrap_err().to_string();
        assert!(error.contains("0 to 1") && error.contains("a, b"), "{error}");
    }

    #[test]
    fn a_table_that_was_left_out_or_written_inline_can_be_set_into() {
        assert!(with("marker.law=none").unwrap().contains("[marker]\nlaw = \"none\""));
        let text = with("ue.a.channel.snr_db=12.5").unwrap();
        assert!(text.contains("snr_db = 12.5"), "{text}");
        assert!(toml::from_str::<toml::Table>(&text).is_ok(), "{text}");
    }

    #[test]
    fn another_law_drops_the_fields_that_it_lacks_and_keeps_all_others() {
        let read = |text: &str, assignments: &[&str]| {
            let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
            Scenario::parse("t.toml", text, std::path::Path::new(""), &assignments)
        };
        let ramp = "name = \"t\"\nduration = \"1 s\"\n[marker]\nlaw = \"ramp\"\nhigh = \"20 ms\"\ndelay = \"sojourn\"\n\
                    tau_c = \"10 ms\"\n[[ue]]\nname = \"a\"\n";
        let none = read(ramp, &["marker.law=none"]).unwrap();
        assert_eq!(none.marker.law, LawConfig::None {});
        assert_eq!(none.marker.tau_c, Duration::from_millis(10));
        assert!(!none.text.contains("high") && !none.text.contains("delay"), "{}", none.text);
        assert!(read(ramp, &["marker.law=step"]).unwrap().text.contains("delay = \"sojourn\""));
        // A law and its fields one after the other, as commands to a running cell.
        let commanded = read(&none.text, &["marker.law=ramp", "marker.high=20 ms"]).unwrap();
        assert_eq!(read(&commanded.text, &["marker.law=none"]).unwrap().marker, none.marker);
        // A field that no kind of the table has, or that is set after the law, is still refused.
        let typo = ramp.replace("high", "hihg");
        assert!(read(&typo, &["marker.law=none"]).unwrap_err().to_string().contains("hihg"));
        let after = read(ramp, &["marker.law=none", "marker.high=20 ms"]).unwrap_err().to_string();
        assert!(after.contains("unknown field `high`"), "{after}");
        // The same of every table of several kinds, also of one in a list.
        let moving = ramp.to_string() + "channel = { model = \"pedestrian\", speed_kmh = 5, snr_db = 12 }\n";
        let text = read(&moving, &["ue.a.channel.model=static"]).unwrap().text;
        assert!(text.contains("snr_db = 12") && !text.contains("speed_kmh"), "{text}");
    }

    #[test]
    fn a_text_without_an_assignment_is_refused() {
        assert!(with("duration").unwrap_err().to_string().contains("key=value"));
        assert!(with("duration.x=1").unwrap_err().to_string().contains("is a value"));
    }
}
