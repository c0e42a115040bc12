//! What the check of a scenario refuses, and how it says so. bindings/python/tests/test_schema.py holds the schema against the same list.

use std::path::Path;

use tidemark_scenario::Scenario;

/// Lines that are refused.
fn refused() -> Vec<String> {
    let lists: toml::Table = include_str!("refused.toml").parse().unwrap();
    let list = |name: &str| lists[name].as_array().unwrap().iter();
    let by_both = list("by_both");
    let by_the_check = list("by_the_check").map(|pair| &pair[0]);
    by_both.chain(by_the_check).map(|lines| lines.as_str().unwrap().to_owned()).collect()
}

/// Message of the check on a scenario that is right but for these lines; nothing where it accepts it.
fn refusal(lines: &str) -> Option<String> {
    let right =
        "name = \"t\"\nduration = \"1 s\"\nue = [{ name = \"a\" }]\nflow = [{ name = \"f\", round_trip = \"9 ms\" }]";
    let mut scenario: toml::Table = right.parse().unwrap();
    scenario.extend(lines.parse::<toml::Table>().unwrap_or_else(|error| panic!("{lines}: {error}")));
    let text = toml::to_string(&scenario).unwrap();
    Scenario::parse("t.toml", &text, Path::new(""), &[]).err().map(|error| error.to_string())
}

/// Messages, to be read by whoever changes one.
#[test]
fn every_refusal_names_its_field_and_what_would_be_right() {
    assert_eq!(refusal("seed = 2"), None);
    let said = refused().into_iter().map(|lines| {
        let message = refusal(&lines).unwrap_or_else(|| panic!("{lines} is accepted"));
        format!("{lines}\n    {}\n", message.replace('\n', "\n    "))
    });
    insta::assert_snapshot!(said.collect::<String>());
}
