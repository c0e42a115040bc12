//! Form of a scenario: its tables, fields and types, and all that is wrong with them and with single values, at once.

use std::borrow::Cow;

use serde::Deserialize as _;
use toml::Spanned;
use toml::de::{DeTable, DeValue, Deserializer, Error};

use crate::{Scenario, ScenarioError};

/// Most errors that are looked for.
const MAX_ERRORS: usize = 12;
/// Beginning of the message on a field that is not there.
const MISSING: &str = "missing field ";
/// Values of which a field of most types accepts one.
const STAND_INS: [&str; 8] = ["'1 s'", "'1 Mbit/s'", "'1 kB'", "'x'", "1", "true", "[]", "{}"];

/// What an error is about, which decides beside which others it is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    /// A table, a field or a type.
    Form,
    /// A value that is wrong whatever other fields are.
    Value,
    /// Several fields, of which each can be right.
    Several,
}

/// Reads the form.
///
/// # Errors
/// The first error.
pub(super) fn read(file: &str, text: &str) -> Result<Scenario, ScenarioError> {
    toml::from_str(text).map_err(|error| at_its_place(file, text, &error))
}

fn at_its_place(file: &str, text: &str, error: &Error) -> ScenarioError {
    ScenarioError::in_form(file, text, error.span().unwrap_or(0..0), error.message())
}

/// Gives every error of the form and of single values, in the order of their lines, whose first one is known: what is wrong is mended, and the
/// rest read once more. An error between several fields is told only if it is the first: later on, one of them may be mended.
pub(super) fn all_errors(first: ScenarioError) -> Vec<ScenarioError> {
    let (file, text) = (first.file.clone(), first.source_text.clone());
    let Ok(rest) = DeTable::parse(&text) else { return vec![first] };
    let mut rest = Rest { file: &file, text: &text, root: rest, removed: Vec::new() };
    let mut errors: Vec<ScenarioError> = Vec::new();
    // Tables whose kind is a guess: what else is wrong in them is not known.
    let mut guessed: Vec<String> = Vec::new();
    let mut mended: Vec<String> = Vec::new();
    for _ in 0..MAX_ERRORS {
        let Some((about, error)) = rest.error() else { break };
        let is_ours = rest.removed.iter().any(|removed| error.message.starts_with(removed));
        if is_ours || errors.contains(&error) {
            break;
        }
        let is_mended = rest.mend(about, &error);
        let key = error.key.clone().unwrap_or_default();
        // A value that was put in the place of another may break a rule, alone or with others.
        let is_certain = mended.is_empty() || about != About::Several && !mended.contains(&key);
        if is_certain && !guessed.iter().any(|table| key.starts_with(table)) {
            guessed.extend(
                error.is_of_a_name().then(|| key.rsplit_once('.')).flatten().map(|(table, _)| format!("{table}.")),
            );
            errors.push(error);
        }
        if !is_mended {
            break;
        }
        mended.push(key);
    }
    if errors.is_empty() {
        return vec![first];
    }
    errors.sort_by_key(|error| error.line);
    errors
}

/// Scenario whose errors are mended one after the other. What is left keeps its place in the text.
struct Rest<'t> {
    file: &'t str,
    text: &'t str,
    root: Spanned<DeTable<'t>>,
    /// Beginnings of errors about fields that were taken away.
    removed: Vec<String>,
}

impl<'t> Rest<'t> {
    /// First error.
    fn error(&self) -> Option<(About, ScenarioError)> {
        match Scenario::deserialize(Deserializer::from(self.root.clone())) {
            Err(error) => Some((About::Form, at_its_place(self.file, self.text, &error))),
            Ok(mut scenario) => {
                scenario.text = self.text.into();
                let error = scenario.check().err()?;
                let about = if error.is_of_one_field() { About::Value } else { About::Several };
                Some((about, ScenarioError::of_config(self.file, self.text, &error)))
            }
        }
    }

    /// Puts a value that is accepted in the place of the one at fault, or takes its field away. False where the field is not known.
    fn mend(&mut self, about: About, error: &ScenarioError) -> bool {
        let Some(key) = &error.key else { return false };
        let path: Vec<_> = key.split('.').collect();
        // A field's default breaks no rule.
        if about == About::Value && self.is_right_without(&path) {
            return self.remove(&path);
        }
        let values: Vec<DeValue<'t>> = if error.is_of_a_name() {
            // The name that was meant comes first of those that are known. Without one nothing would be known of the fields beside it.
            let known = error.message.split('`').skip(3).step_by(2);
            known.map(|name| DeValue::String(Cow::Owned(name.into()))).collect()
        } else {
            STAND_INS.iter().filter_map(|value| Some(DeValue::parse(value).ok()?.into_inner())).collect()
        };
        // Of a value that is not accepted either, the reader may say no more than its table.
        let is_past = |(next_about, next): (About, ScenarioError)| match &next.key {
            // The form was right before.
            _ if about != About::Form && next_about == About::Form => false,
            Some(_) => next.key != error.key,
            None => next.message.starts_with(MISSING),
        };
        for value in values {
            let Some(place) = self.value_at(&path) else { return false };
            *place.get_mut() = value;
            if self.error().is_none_or(is_past) {
                return true;
            }
        }
        // The name of a table's kind can't be left out: without it, the table goes.
        if about == About::Value {
            return path.split_last().is_some_and(|(_, table)| self.remove(table));
        }
        self.removed.extend(path.last().map(|name| format!("{MISSING}`{name}`")));
        self.remove(&path)
    }

    /// True if the form needs no such field.
    fn is_right_without(&self, path: &[&str]) -> bool {
        let mut without = Rest { root: self.root.clone(), removed: Vec::new(), ..*self };
        without.remove(path) && without.error().is_none_or(|(about, _)| about != About::Form)
    }

    fn value_at(&mut self, path: &[&str]) -> Option<&mut Spanned<DeValue<'t>>> {
        let [first, steps @ ..] = path else { return None };
        steps.iter().try_fold(self.root.get_mut().get_mut(*first)?, |value, step| match value.get_mut() {
            DeValue::Table(table) => table.get_mut(*step),
            DeValue::Array(items) => items.get_mut(step.parse::<usize>().ok()?),
            _ => None,
        })
    }

    /// Takes a field away. False where it is not in a table.
    fn remove(&mut self, path: &[&str]) -> bool {
        match path {
            [key] => self.root.get_mut().remove(*key).is_some(),
            [table @ .., key] => match self.value_at(table).map(Spanned::get_mut) {
                Some(DeValue::Table(table)) => table.remove(*key).is_some(),
                _ => false,
            },
            [] => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// Messages of a scenario with these lines, and with these overrides.
    fn said(lines: &str, assignments: &[&str]) -> Vec<String> {
        let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
        let error = Scenario::parse("x.toml", lines, Path::new(""), &assignments).unwrap_err().to_string();
        error.lines().map(|line| line.split(", not ").next().unwrap_or_default().to_string()).collect()
    }

    /// Checks that there are these errors alone, each with its line.
    fn assert_begin(said: &[String], starts: &[&str]) {
        assert_eq!(said.len(), starts.len(), "{said:#?}");
        for (said, start) in said.iter().zip(starts) {
            assert!(said.starts_with(&format!("x.toml:{start}")), "{start}: {said}");
        }
    }

    #[test]
    fn a_required_field_of_a_wrong_type_hides_no_other_error() {
        let wrong = concat!(
            "name = 5\nduration = 5\n[marker]\nlaw = \"tyde\"\n",
            "[[router]]\nname = \"r\"\nrate = 9\n[[flow]]\nname = \"f\"\nround_trip = 5\n",
            "[[flow]]\nname = \"g\"\nround_trip = \"1 x\"\ncount = \"two\"\nsede = 1\n",
        );
        let said = said(wrong, &[]);
        let keys = ["name", "duration", "marker.law", "router.0.rate", "flow.0.round_trip", "flow.1.round_trip"];
        for (line, key) in [1, 2, 4, 7, 10, 13].iter().zip(keys) {
            assert!(said.iter().any(|said| said.starts_with(&format!("x.toml:{line}: {key}: "))), "{key}: {said:#?}");
        }
        for key in ["14: flow.1.count: ", "15: flow.1.sede: "] {
            assert!(said.iter().any(|said| said.starts_with(&format!("x.toml:{key}"))), "{key}: {said:#?}");
        }
        assert_eq!(said.len(), 8, "{said:#?}");
    }

    #[test]
    fn errors_of_bounds_are_named_together_and_beside_those_of_the_form() {
        let wrong = concat!(
            "name = \"x\"\nduration = \"90000 s\"\n[marker]\nlaw = \"ramp\"\nalpha = 7\n",
            "[[ue]]\nname = \"a\"\nrlc = { max_retransmissions = 33 }\n[[ue]]\nname = \"b\"\ncount = 0\n",
            "[[flow]]\nname = \"f\"\nround_trip = \"11 s\"\ndscp = 64\n[[flow]]\nname = \"g\"\nround_trip = \"-1 ms\"\n",
        );
        let starts = [
            "2: duration: must be above 0 s and at most 86400 s (a day)",
            "5: marker.alpha: must be above 0 and at most 1",
            "8: ue.0.rlc.max_retransmissions: must lie between 1 and 32",
            "11: ue.1.count: must lie between 1 and 4096 UEs",
            "14: flow.0.round_trip: must be at most 10 s",
            "15: flow.0.dscp: must be at most 63",
            "18: flow.1.round_trip: ",
        ];
        assert_begin(&said(wrong, &[]), &starts);
    }

    #[test]
    fn rules_of_one_field_are_named_together() {
        let wrong = concat!(
            "name = \"x y\"\nduration = \"1 s\"\nseed = \"one\"\n[[ue]]\nname = \"a\"\nfive_qi = 77\n",
            "[[ue]]\nname = \"b\"\nfive_qi = 1\nuplink_marker = { law = \"codel\" }\n",
            "drb = [{ qos_flow = [{ qfi = 2, five_qi = 78 }, { qfi = 3, filter = [{ dscp = [64] }] }] }]\n",
        );
        let starts = [
            "1: name: use letters",
            "3: seed: ",
            "6: ue.0.five_qi: must be a standardised 5QI",
            "9: ue.1.five_qi: must not be a GBR 5QI",
            "10: ue.1.uplink_marker.law: can't mark the uplink",
            "11: ue.1.drb.0.qos_flow.0.five_qi: must be a standardised 5QI",
            "11: ue.1.drb.0.qos_flow.1.filter.0.dscp: must be 0 to 63",
        ];
        assert_begin(&said(wrong, &[]), &starts);
    }

    #[test]
    fn a_value_that_was_mended_makes_no_error_with_another() {
        let text =
            "name = \"x\"\nduration = \"0 s\"\nwarmup = \"5 s\"\nsample_interval = \"9 s\"\n[[ue]]\nname = \"a\"\n";
        assert_eq!(said(text, &[]), ["x.toml:2: duration: must be above 0 s and at most 86400 s (a day)"]);
        // Between two fields that are as they were written there is one.
        let text = format!("{}count = 0\n", text.replace("0 s", "4 s"));
        let said = said(&text, &[]);
        assert_eq!(said.len(), 2, "{said:#?}");
        assert!(
            said[0].starts_with("x.toml:3: warmup: must be shorter") && said[1].contains("ue.0.count"),
            "{said:#?}"
        );
    }

    #[test]
    fn a_field_without_a_right_value_is_not_called_missing() {
        let text = "name = \"x\"\nduration = 5\nue = [{ name = \"a\", uplink_marker = { law = 5 } }]\n";
        let said = said(text, &[]);
        assert_eq!(said.len(), 2, "{said:#?}");
        assert!(said[1].starts_with("x.toml:3: ue.0.uplink_marker.law: must be a name in quotes"), "{said:#?}");
    }

    #[test]
    fn errors_of_bounds_name_their_override() {
        let text = "name = \"x\"\nduration = \"1 s\"\n[[ue]]\nname = \"a\"\ncount = 0\n";
        let said = said(text, &["marker.law=ramp", "marker.alpha=2", "cell.prbs=0"]);
        assert_eq!(said.len(), 3, "{said:#?}");
        for start in
            ["--set marker.alpha=2: marker.alpha: ", "--set cell.prbs=0: cell.prbs: ", "x.toml:5: ue.0.count: "]
        {
            assert!(said.iter().any(|said| said.starts_with(start)), "{start}: {said:#?}");
        }
    }

    #[test]
    fn errors_of_overrides_and_of_the_file_are_named_together() {
        let text = "name = \"x\"\nduration = 5\n[[flow]]\nname = \"f\"\nround_trip = \"1 ms\"\n";
        let said = said(text, &["marker.law=tyde", "flow.0.round_trip=3", "flow.f.count=two"]);
        assert_eq!(said.len(), 4, "{said:#?}");
        for start in [
            "x.toml:2: duration: ",
            "--set marker.law=tyde: ",
            "--set flow.0.round_trip=3: flow.0.round_trip: ",
            "--set flow.f.count=two: flow.0.count: ",
        ] {
            assert!(said.iter().any(|said| said.starts_with(start)), "{start}: {said:#?}");
        }
    }
}
