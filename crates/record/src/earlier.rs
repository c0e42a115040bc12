//! Results that a folder has, and which of them others would replace. Those of the same scenario are no loss.

use std::fs;
use std::path::Path;

use crate::files::MARKS;
use crate::seeds;

/// Lines of a difference that are shown.
const MAX_LINES: usize = 12;

/// Says which results a run of this scenario would replace that are not its own; `None` where none would be lost.
pub fn lost_by_run(folder: &Path, scenario: &str) -> Option<String> {
    match scenario_of(folder) {
        Some(there) => another(&there, scenario),
        None => {
            let count = seeds::folders(folder).len();
            (count > 0).then(|| format!("the results of {count} seeds"))
        }
    }
}

/// Says which results runs of these seeds and their scenarios would replace that are not their own; `None` where none would be lost.
pub fn lost_by_seeds(folder: &Path, scenarios: &[(u64, &str)]) -> Option<String> {
    let of_seed = |seed: u64, there: &Path| match scenarios.iter().find(|(wanted, _)| *wanted == seed) {
        Some((_, scenario)) => another(&scenario_of(there)?, scenario),
        None => Some(format!("seed {seed}, which is none of the {} seeds of this run", scenarios.len())),
    };
    match scenario_of(folder) {
        Some(_) => Some("the results of one run".into()),
        None => seeds::folders(folder).iter().find_map(|there| of_seed(seeds::seed(there)?, there)),
    }
}

/// Scenario whose results a folder has; `None` for a folder without results. A missing text equals no other.
fn scenario_of(folder: &Path) -> Option<String> {
    let text = || fs::read_to_string(folder.join("scenario.toml")).unwrap_or_default();
    ["summary.json", MARKS].iter().any(|name| folder.join(name).exists()).then(text)
}

/// Says in which lines the scenario of the results differs; `None` where it is the same.
fn another(there: &str, scenario: &str) -> Option<String> {
    let lines = |text: &str| text.lines().map(str::to_string).collect::<Vec<_>>();
    let differs = || difference(&lines(there), &lines(scenario));
    (there != scenario).then(|| format!("the results of another scenario:\n{}", differs()))
}

/// Lines that only one of two texts has, `-` for the first and `+` for the second: twelve of them at most.
pub fn difference(here: &[String], there: &[String]) -> String {
    let alone = |own: &[String], others: &[String], sign: char| {
        let lines = own.iter().filter(|line| !others.contains(line)).map(move |line| format!("{sign} {line}"));
        lines.collect::<Vec<_>>()
    };
    let mut difference = [alone(here, there, '-'), alone(there, here, '+')].concat();
    if difference.is_empty() {
        difference.push("the same lines in another order".into());
    }
    let hidden = difference.len().saturating_sub(MAX_LINES);
    difference.truncate(MAX_LINES);
    if hidden > 0 {
        difference.push(format!("and {hidden} more lines"));
    }
    difference.join("\n")
}
