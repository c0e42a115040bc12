//! Values of a parameter: a list, or a range that is worked out value by value.

use std::fmt::Write as _;

use serde_json::Value as Json;

/// A value as tables show it, and as an assignment gives it to a scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Value {
    pub(crate) shown: String,
    pub(crate) assigned: String,
}

/// Values of one parameter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Values {
    /// Values that were written out.
    List(Vec<Value>),
    /// Numbers from `first` on, with one unit.
    Range { first: f64, by: Step, count: u64, unit: String },
}

/// Way from one number of a range to the next.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Step {
    Add(f64),
    Multiply(f64),
}

/// Forms of a range, for errors.
const FORMS: &str = "a range is `10 ms..160 ms*2` (by a factor), `1..9+2` (by a step), `0..20:5` (5 values, evenly), or \
                     `10 ms..1000 ms*:5` (5 values, by one factor)";

impl Values {
    /// Reads values as flags have them: `none,l4span,ramp` or `10ms..160ms*2`.
    ///
    /// # Errors
    /// A range that can't be worked out, or no value.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        match text.split_once("..") {
            Some((first, rest)) if !text.contains(['{', '[', '"', '/']) || is_quantity(first) => {
                Self::range(first, rest)
            }
            _ => {
                let list: Vec<_> = split(text, ',').into_iter().filter(|value| !value.is_empty()).collect();
                if list.is_empty() {
                    return Err(format!("no value in `{text}`: name some, as in none,l4span,ramp; {FORMS}"));
                }
                Ok(Self::List(list.iter().map(|text| Value::raw(text)).collect()))
            }
        }
    }

    /// Reads values as a file has them: a list, or the text of a range.
    ///
    /// # Errors
    /// An empty list, or text that [`parse`](Self::parse) refuses.
    pub(crate) fn from_json(value: &Json) -> Result<Self, String> {
        match value {
            Json::Array(values) if values.is_empty() => Err("has no value: name one at least".into()),
            Json::Array(values) => values.iter().map(Value::from_json).collect::<Result<_, _>>().map(Self::List),
            Json::String(text) => Self::parse(text),
            Json::Object(_) => {
                Err("is a table: write the whole key in quotes, as in \"marker.law\" = [\"none\", \"ramp\"]".into())
            }
            other => Err(format!("`{other}` is not a list: write [{other}]; {FORMS}")),
        }
    }

    fn range(first: &str, rest: &str) -> Result<Self, String> {
        let wrong = |what: String| format!("{what}: {FORMS}");
        let at = rest.find(['*', '+', ':']).ok_or_else(|| wrong(format!("`{first}..{rest}` has no step")))?;
        let (last, step) = rest.split_at(at);
        let [(first, unit_of_first), (last, unit)] =
            [quantity(first), quantity(last)].map(|found| found.unwrap_or((f64::NAN, "")));
        if !first.is_finite() || !last.is_finite() {
            return Err(wrong("both ends of a range are numbers, with a unit where the parameter has one".into()));
        }
        if !unit_of_first.is_empty() && unit_of_first != unit {
            return Err(format!("a range from `{unit_of_first}` to `{unit}`: write both ends in one unit"));
        }
        if first == last {
            return Err(wrong(format!("both ends are {first}")));
        }
        let number = |text: &str| text.trim().strip_suffix(unit).unwrap_or(text).trim().parse::<f64>().ok();
        let count = |text: &str| text.trim().parse::<u64>().ok().filter(|count| *count >= 2);
        let is_above_zero = first > 0.0 && last > 0.0;
        let (by, count) = if let Some(text) = step.strip_prefix("*:") {
            let count = count(text).ok_or_else(|| wrong(format!("`{step}` is not a count of at least 2 values")))?;
            (Step::Multiply((last / first).powf(1.0 / (count - 1) as f64)), count)
        } else if let Some(text) = step.strip_prefix(':') {
            let count = count(text).ok_or_else(|| wrong(format!("`{step}` is not a count of at least 2 values")))?;
            (Step::Add((last - first) / (count - 1) as f64), count)
        } else {
            let by = number(&step[1..]).ok_or_else(|| wrong(format!("`{step}` is not a step")))?;
            let steps = if step.starts_with('*') { (last / first).ln() / by.ln() } else { (last - first) / by };
            // An end that is met but for rounding counts.
            let count =
                if steps.is_finite() && steps > 0.0 { (steps * (1.0 + 1e-12) + 1e-9).floor() as u64 + 1 } else { 0 };
            (if step.starts_with('*') { Step::Multiply(by) } else { Step::Add(by) }, count)
        };
        if matches!(by, Step::Multiply(_)) && !is_above_zero {
            return Err("a range by a factor needs both ends above 0: use a step, as in 0..10+2".into());
        }
        if count == 0 {
            return Err(wrong(format!("`{step}` does not lead from {first} to {last}")));
        }
        Ok(Self::Range { first, by, count, unit: unit.into() })
    }

    /// Number of values.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::List(values) => values.len() as u64,
            Self::Range { count, .. } => *count,
        }
    }

    /// Value at an index below [`count`](Self::count).
    pub(crate) fn nth(&self, index: u64) -> Value {
        match self {
            Self::List(values) => values[index as usize].clone(),
            Self::Range { first, by, unit, .. } => {
                let number = match by {
                    Step::Add(step) => first + step * index as f64,
                    Step::Multiply(factor) => first * factor.powf(index as f64),
                };
                // Twelve digits, so that 0.1 + 0.2 is 0.3.
                let number: f64 = format!("{number:.11e}").parse().unwrap_or(number);
                if unit.is_empty() {
                    Value { shown: number.to_string(), assigned: number.to_string() }
                } else {
                    let shown = format!("{number} {unit}");
                    Value { assigned: format!("\"{shown}\""), shown }
                }
            }
        }
    }
}

impl Value {
    /// Value as flags have it: TOML where it reads as TOML, else text.
    fn raw(text: &str) -> Self {
        Self { shown: text.trim_matches('"').into(), assigned: text.into() }
    }

    /// Value of a file, which says what is text.
    ///
    /// # Errors
    /// What TOML has no form for.
    pub(crate) fn from_json(value: &Json) -> Result<Self, String> {
        let assigned = toml::Value::try_from(value).map_err(|error| error.to_string())?.to_string();
        Ok(Self { shown: value.as_str().map_or_else(|| assigned.clone(), str::to_string), assigned })
    }
}

/// Number and unit of a quantity.
fn quantity(text: &str) -> Option<(f64, &str)> {
    let text = text.trim();
    let end = text.find(|c: char| c.is_ascii_alphabetic() || c == '%').unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    Some((number.trim().parse().ok()?, unit.trim()))
}

fn is_quantity(text: &str) -> bool {
    quantity(text).is_some()
}

/// Parts of a text between separators that stand in no bracket, brace or quotes.
pub(crate) fn split(text: &str, separator: char) -> Vec<String> {
    let (mut parts, mut depth, mut quoted) = (vec![String::new()], 0, false);
    for c in text.chars() {
        match c {
            '"' => quoted = !quoted,
            '[' | '{' | '(' if !quoted => depth += 1,
            ']' | '}' | ')' if !quoted => depth -= 1,
            _ => {}
        }
        if c == separator && depth == 0 && !quoted {
            parts.push(String::new());
        } else if let Some(part) = parts.last_mut() {
            let _ = part.write_char(c);
        }
    }
    parts.into_iter().map(|part| part.trim().to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(text: &str) -> Result<Vec<String>, String> {
        let values = Values::parse(text)?;
        Ok((0..values.count()).map(|index| values.nth(index).shown).collect())
    }

    #[test]
    fn a_list_is_split_outside_of_brackets_and_quotes() {
        assert_eq!(shown("none,l4span, ramp").unwrap(), ["none", "l4span", "ramp"]);
        assert_eq!(shown("{ law = \"ramp\", low = \"1 ms\" },x").unwrap().len(), 2);
        assert_eq!(shown("\"a,b\"").unwrap(), ["a,b"]);
    }

    #[test]
    fn ranges_go_by_factors_steps_and_counts() {
        assert_eq!(shown("10ms..160ms*2").unwrap(), ["10 ms", "20 ms", "40 ms", "80 ms", "160 ms"]);
        assert_eq!(shown("10..160 ms*2").unwrap().last().unwrap(), "160 ms");
        assert_eq!(shown("1..10+3").unwrap(), ["1", "4", "7", "10"]);
        assert_eq!(shown("0.1..0.5+0.1").unwrap(), ["0.1", "0.2", "0.3", "0.4", "0.5"]);
        assert_eq!(shown("0..20:5").unwrap(), ["0", "5", "10", "15", "20"]);
        assert_eq!(shown("1 ms..1000 ms*:4").unwrap(), ["1 ms", "10 ms", "100 ms", "1000 ms"]);
        assert_eq!(shown("20..5+-5").unwrap(), ["20", "15", "10", "5"]);
        assert_eq!(shown("1 Mbit/s..4 Mbit/s+1 Mbit/s").unwrap().len(), 4);
        assert_eq!(Values::parse("1..1000000000+1").unwrap().count(), 1_000_000_000);
    }

    #[test]
    fn a_range_that_leads_nowhere_says_what_would_be_right() {
        for (text, says) in [
            ("1..9", "has no step"),
            ("1 ms..2 s*2", "one unit"),
            ("0..9*2", "above 0"),
            ("1..9+0", "does not lead"),
            ("9..1*2", "does not lead"),
            ("1..9*0", "does not lead"),
            ("1..9*-2", "does not lead"),
            ("1..9*1", "does not lead"),
            ("a..b+1", "numbers"),
            ("1..9:1", "at least 2 values"),
            ("5 ms..5 ms:3", "both ends are 5"),
            (",", "no value"),
        ] {
            let error = shown(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }

    #[test]
    fn text_of_a_file_stays_text() {
        let values = Values::from_json(&serde_json::json!(["12", 12, {"law": "none"}])).unwrap();
        let assigned: Vec<_> = (0..3).map(|index| values.nth(index).assigned).collect();
        assert_eq!(assigned, ["\"12\"", "12", "{ law = \"none\" }"]);
    }
}
