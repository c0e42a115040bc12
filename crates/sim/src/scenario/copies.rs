//! Copies of UEs and flows: how many there are, and that no two have one name.

use std::collections::BTreeMap;

use super::{Scenario, numbered};

/// UEs of one scenario at most: more is a typing error, and every one costs memory.
pub(super) const MOST_UES: u32 = 4096;
/// Flows at most: four for each of so many UEs.
const MOST_FLOWS: u64 = 4 * MOST_UES as u64;

/// What is wrong: the list and its entry, the field there, and what would be right.
pub(super) type Wrong = ([String; 2], &'static str, String);

/// The first UE or flow of which there are too many, or whose name another one has.
pub(super) fn check(scenario: &Scenario) -> Result<(), Wrong> {
    let place = |list: &str, index: usize| [list.to_string(), index.to_string()];
    let ues: Vec<_> = scenario.ue.iter().map(|ue| (ue.name.as_str(), ue.count)).collect();
    if ues.iter().map(|(_, count)| u64::from(*count)).sum::<u64>() > u64::from(MOST_UES) {
        return Err((place("ue", ues.len() - 1), "count", format!("at most {MOST_UES} UEs in all")));
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
        if total > MOST_FLOWS {
            let right = format!("at most {MOST_FLOWS} flows in all: its UE's `count` times its own makes {copies}");
            return Err((place("flow", index), "count", right));
        }
        flows.push((flow.name.as_str(), copies as u32));
    }
    for (list, entries) in [("ue", ues), ("flow", flows)] {
        if let Some((index, right)) = collision(list, &entries) {
            return Err((place(list, index), "name", right));
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
