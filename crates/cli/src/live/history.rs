//! History of a live cell: the events of its results, and the sequence of laws that marked.

use tidemark_core::Instant;
use tidemark_sim::Event;

/// Most events and changes of a law that are recorded; later ones are missing in the results.
const MAX_EVENTS: usize = 1_024;

/// Events in order.
#[derive(Clone, Debug, Default)]
pub(crate) struct History {
    events: Vec<Event>,
    laws: Vec<LawChange>,
}

/// Change of the law or thresholds of a UE's default bearer.
#[derive(Clone, Debug)]
struct LawChange {
    at: Instant,
    ue: usize,
    law: String,
}

impl History {
    /// Adds an event.
    pub(crate) fn happened(&mut self, event: Event) {
        if self.events.len() < MAX_EVENTS {
            self.events.push(event);
        }
    }
    /// Notes that the default bearer of a UE has another law, or other thresholds, from now on.
    pub(crate) fn marked_by(&mut self, at: Instant, ue: usize, law: String) {
        if self.laws.len() < MAX_EVENTS {
            self.laws.push(LawChange { at, ue, law });
        }
    }
    /// Events in order.
    pub(crate) fn events(&self) -> &[Event] {
        &self.events
    }
    /// Names the laws of a UE's default bearer between two times, such as `none, l4span from 6.0 s`. The cell began with `first`.
    pub(crate) fn laws(&self, first: &str, ue: usize, (from, to): (Instant, Instant)) -> String {
        let (mut text, mut law) = (first.to_string(), first);
        for change in self.laws.iter().filter(|change| change.ue == ue && change.at < to) {
            if change.at <= from {
                text.clone_from(&change.law);
            } else {
                let name = if change.law == law { "other thresholds" } else { &change.law };
                text += &format!(", {name} from {:.1} s", change.at.as_secs_f64());
            }
            law = &change.law;
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_has_the_laws_that_marked_in_it() {
        let mut history = History::default();
        let at = Instant::from_millis;
        history.marked_by(at(6_000), 0, "l4span".into());
        history.marked_by(at(7_000), 1, "step".into());
        history.marked_by(at(8_500), 0, "l4span".into());
        let laws = |ue, from, to| history.laws("none", ue, (at(from), at(to)));
        assert_eq!(laws(0, 0, 7_000), "none, l4span from 6.0 s");
        assert_eq!(laws(0, 0, 9_000), "none, l4span from 6.0 s, other thresholds from 8.5 s");
        assert_eq!(laws(0, 6_500, 9_000), "l4span, other thresholds from 8.5 s");
        assert_eq!((laws(0, 0, 6_000), laws(1, 0, 8_000)), ("none".into(), "none, step from 7.0 s".into()));
    }
}
