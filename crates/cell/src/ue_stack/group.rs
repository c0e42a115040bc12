//! Logical channel groups of a UE (TS 38.321 5.4.5).

use super::buffer_status::MAX_GROUPS;
use crate::index::DrbIndex;
use crate::qos::Qos;

/// Bearers of a UE whose buffers are reported together: those of equal importance.
#[derive(Clone, Debug)]
pub(crate) struct Group {
    /// Priority level of their QoS flows: the lower, the more important.
    pub(crate) priority: u8,
    pub(crate) drbs: Vec<DrbIndex>,
}

/// Forms the logical channel groups of bearers with these numbers, the most important first. More
/// levels than there are groups share the last.
pub(super) fn groups<'a>(drbs: impl Iterator<Item = (DrbIndex, &'a Qos)>) -> Vec<Group> {
    let mut sorted: Vec<_> = drbs.map(|(number, qos)| ((qos.priority, !qos.is_gbr()), number)).collect();
    sorted.sort_unstable();
    let mut groups: Vec<Group> = Vec::new();
    let mut last = None;
    for (level, number) in sorted {
        let room = groups.len() < MAX_GROUPS;
        match groups.last_mut() {
            // A report has room for so many groups (TS 38.321 6.1.3.1): the least important levels share one.
            Some(group) if last == Some(level) || !room => group.drbs.push(number),
            _ => groups.push(Group { priority: level.0, drbs: vec![number] }),
        }
        last = Some(level);
    }
    groups
}
