//! Copies of UEs and flows: checks of their number, and that no two have the same name.

use std::collections::BTreeMap;

use tidemark_core::ConfigError;

use crate::{Scenario, numbered};

/// Largest number of UEs in a scenario. More are probably a typing error, and each costs memory.
pub const MAX_UES: u32 = 4096;
/// Flows at most: four for each of this many UEs.
const MAX_FLOWS: u64 = 4 * MAX_UES as u64;

/// Number of UEs or flows of a kind unless the scenario says otherwise.
pub(super) fn one() -> u32 {
    1
}

/// Names the first UE or flow of which there are too many, or whose name another one has.
pub(super) fn check(scenario: &Scenario) -> Result<(), ConfigError> {
    let error = |list: &str, index: usize, field: &str, right: String| {
        Err(ConfigError::new(format!("{list}.{index}.{field}"), right))
    };
    let ues: Vec<_> = scenario.ue.iter().map(|ue| (ue.name.as_str(), ue.count)).collect();
    if ues.iter().map(|(_, count)| u64::from(*count)).sum::<u64>() > u64::from(MAX_UES) {
        return error("ue", ues.len() - 1, "count", format!("at most {MAX_UES} UEs in all"));
    }
    let mut flows = Vec::new();
    let mut total = 0;
    for (index, flow) in scenario.flow.iter().enumerate() {
        let ends = flow
            .ue
            .as_ref()
            .map_or(1, |name| ues.iter().find(|(other, _)| other == name).map_or(0, |(_, count)| *count));
        let copies = u64::from(ends) * u64::from(flow.count);
        total += copies;
        if total > MAX_FLOWS {
            let right = format!("at most {MAX_FLOWS} flows in all: its UE's `count` times its own makes {copies}");
            return error("flow", index, "count", right);
        }
        flows.push((flow.name.as_str(), copies as u32));
    }
    for (list, entries) in [("ue", ues), ("flow", flows)] {
        if let Some((index, right)) = collision(list, &entries) {
            return error(list, index, "name", right);
        }
    }
    Ok(())
}

/// The first entry of which a copy has the name of an earlier one's.
fn collision(list: &str, entries: &[(&str, u32)]) -> Option<(usize, String)> {
    let mut taken = BTreeMap::new();
    for (index, (name, copies)) in entries.iter().enumerate() {
        for copy in 1..=*copies {
            let own = numbered(name, copy, *copies);
            if let Some(earlier) = taken.get(&own) {
                let (other, _) = entries[*earlier];
                return Some((
                    index,
                    format!("`{own}` is the name of a copy of [[{list}]] `{other}`, or of its own: use another"),
                ));
            }
            taken.insert(own, index);
        }
    }
    None
}
