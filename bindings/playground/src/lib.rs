//! The simulator in a browser tab: takes the text of a scenario, gives results or errors as JSON.

#[cfg(target_arch = "wasm32")]
mod border;

use std::path::Path;

use serde::{Deserialize, Serialize};
use tidemark_core::Instant;
use tidemark_sim::Simulation;
use tidemark_sim::scenario::{LoadError, Scenario, ScenarioError};

/// Scenario to check or run.
#[derive(Deserialize, Debug)]
pub struct Request {
    /// Text of the scenario.
    text: String,
    /// Overrides, as in the command's `--set`.
    #[serde(default)]
    set: Vec<String>,
}

/// Answer to a request.
#[derive(Serialize, Debug, PartialEq)]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The scenario can be run.
    Fine {
        /// Outline of the run, in one line.
        outline: String,
    },
    /// The scenario was run.
    Results {
        /// Text of `summary.json`, byte for byte as the command writes it.
        summary: String,
        /// The report page.
        page: String,
    },
    /// The scenario can't be run.
    Wrong {
        /// All its errors.
        errors: Vec<Fault>,
    },
}

/// An error in a scenario.
#[derive(Serialize, Debug, PartialEq)]
pub struct Fault {
    /// Message, with a correction.
    message: String,
    /// Start and end of the error in the text, in UTF-16 units; `None` if the place is unknown.
    place: Option<(usize, usize)>,
}

/// Checks a scenario.
pub fn check(request: &Request) -> Answer {
    match read(request) {
        Ok(scenario) => Answer::Fine { outline: scenario.outline() },
        Err(errors) => Answer::Wrong { errors },
    }
}

/// Runs a scenario; `progress` receives the finished share.
pub fn run(request: &Request, progress: impl Fn(f64)) -> Answer {
    let scenario = match read(request) {
        Ok(scenario) => scenario,
        Err(errors) => return Answer::Wrong { errors },
    };
    results(&scenario, progress).unwrap_or_else(|error| Answer::Wrong { errors: vec![Fault::of(error)] })
}

fn read(Request { text, set }: &Request) -> Result<Scenario, Vec<Fault>> {
    Scenario::parse("scenario.toml", text, Path::new(""), set).map_err(faults)
}

fn faults(error: LoadError) -> Vec<Fault> {
    match error {
        LoadError::Wrong(error) => vec![fault(*error)],
        LoadError::Several(errors) => errors.into_iter().flat_map(faults).collect(),
        other => vec![Fault::of(other)],
    }
}

impl Fault {
    /// An error without a place.
    fn of(error: impl ToString) -> Self {
        Self { message: error.to_string(), place: None }
    }
}

fn fault(error: ScenarioError) -> Fault {
    // JavaScript counts UTF-16 units.
    let units = |bytes: usize| error.source_text[..bytes].encode_utf16().count();
    let place = (units(error.span.start), units(error.span.end));
    Fault { message: error.message, place: Some(place) }
}

fn results(scenario: &Scenario, progress: impl Fn(f64)) -> Result<Answer, String> {
    let whole = scenario.duration.as_secs_f64();
    let mut simulation = Simulation::new(scenario).map_err(|error| error.to_string())?;
    simulation.keep_marks();
    let proceed = |now: Instant| {
        progress(now.as_secs_f64() / whole);
        true
    };
    let mut result = simulation.run(proceed).map_err(|error| error.to_string())?;
    result.commit = tidemark_version::COMMIT.map(Into::into);
    let summary = tidemark_record::output::summary(&result).map_err(|error| error.to_string())?;
    let page = tidemark_report::page(&result).map_err(|error| error.to_string())?;
    Ok(Answer::Results { summary, page })
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRIEF: &str = "name = \"a\"\nduration = \"1 s\"\n[[ue]]\nname = \"ä\"\n";

    fn with(line: &str) -> Request {
        Request { text: format!("{BRIEF}{line}"), set: Vec::new() }
    }

    #[test]
    fn an_error_is_at_the_characters_that_javascript_counts() {
        let Answer::Wrong { errors } = check(&with("channel = { model = \"statik\" }")) else { panic!() };
        let [Fault { message, place: Some((from, to)) }] = &errors[..] else { panic!("{errors:?}") };
        assert!(message.contains("static"), "{message}");
        let text: Vec<u16> = format!("{BRIEF}channel = {{ model = \"statik\" }}").encode_utf16().collect();
        assert!(String::from_utf16(&text[*from..*to]).unwrap().contains("statik"), "{from} to {to}");
    }

    #[test]
    fn a_run_says_how_far_it_is_and_gives_a_summary_and_a_page() {
        let last = std::cell::Cell::new(0.0);
        let answer = run(&with(""), |share| last.set(share));
        let Answer::Results { summary, page } = answer else { panic!("{answer:?}") };
        assert!(summary.contains("\"name\": \"a\"") && page.starts_with("<!doctype html>"), "{summary}");
        assert!(last.get() > 0.9, "{}", last.get());
    }

    #[test]
    fn an_override_is_applied_and_named_if_it_is_wrong() {
        let Answer::Fine { outline } = check(&Request { set: vec!["seed=7".into()], ..with("") }) else { panic!() };
        assert!(outline.contains("seed 7"), "{outline}");
        let Answer::Wrong { errors } = check(&Request { set: vec!["seed=x".into()], ..with("") }) else { panic!() };
        assert!(errors[0].message.starts_with("--set seed=x"), "{errors:?}");
    }

    #[test]
    fn a_trace_is_refused_by_its_name() {
        let answer = run(&with("channel = { model = \"trace\", file = \"drive.csv\" }"), |_| ());
        let Answer::Wrong { errors } = answer else { panic!("{answer:?}") };
        assert!(errors[0].message.contains("drive.csv"), "{errors:?}");
    }
}
