//! Sides of a shard: the access network's side and the ends beyond the wires.
//!
//! What passes from one side to the other takes the delay of a wire. Each side therefore runs ahead for that long
//! before the other side has its turn, and its data stays in the processor's caches. The result is the same as if all
//! events were handled in the order of time, since within a side they are.

use tidemark_core::{Duration, Instant};

use crate::event::EventQueue;
use crate::shard::{Event, Shard};
use crate::wire::Wire;

/// Event for which both sides of all shards stop at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mark {
    /// The radio is measured, and UEs change cells.
    Measurement,
    /// The warm-up ends.
    WarmUpEnds,
    /// An interval of the series ends.
    Sample,
    /// Nothing is done.
    #[cfg(test)]
    Pause,
    /// The run ends.
    End,
}

/// Part of a shard in which the next thing happens.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Cells,
    Down(usize),
    Router(usize),
    Link(usize),
    Events,
}

impl Mark {
    /// True if the mark at this time comes after what happens at a source. It comes before the events of its time, and after what
    /// leaves cells, wires and routers then; a measurement comes before that.
    fn is_after(self, mark: Instant, at: Instant, source: Source) -> bool {
        at < mark || at == mark && self != Self::Measurement && !matches!(source, Source::Events)
    }
}

impl Shard {
    /// Runs until a mark.
    pub(crate) fn run_until(&mut self, at: Instant, mark: Mark) {
        const TICK: Duration = Duration::from_nanos(1);
        let [down, up] = self.ahead;
        loop {
            let (access, source) = self.next_at_access();
            let remote = self.next_beyond().0;
            if at <= remote && !mark.is_after(at, access, source) {
                break;
            }
            // What comes next on the other side cannot be felt here before then; nor can what it will answer.
            let mut until = access.min(remote + down) + up;
            if remote < access {
                until = until.max(remote + TICK);
            }
            if remote < until.min(at) {
                self.run_beyond(until.min(at));
            } else {
                let until = remote.min(access + up) + down;
                self.run_access(until.max(access + TICK), |now, source| mark.is_after(at, now, source));
            }
        }
        // Cells that are due send before they are measured; what left them is taken then, to wherever its UE is.
        if mark == Mark::Measurement && self.cells.next_deadline().is_some_and(|due| due <= at) {
            self.cells.handle_timeout(at);
        }
    }

    /// Does what happens beyond the wires before `until`.
    fn run_beyond(&mut self, until: Instant) {
        loop {
            match self.next_beyond() {
                (now, _) if now >= until => return,
                (now, Some(wire)) => self.end_wire(now, wire),
                (_, None) => {
                    if let Some((now, event)) = self.remote_events.pop() {
                        self.handle(now, event);
                    }
                }
            }
        }
    }

    /// Does what happens at the access network before `until` and before a mark.
    fn run_access(&mut self, until: Instant, is_before_mark: impl Fn(Instant, Source) -> bool) {
        loop {
            let (now, source) = self.next_at_access();
            if now >= until || !is_before_mark(now, source) {
                return;
            }
            match source {
                Source::Cells => {
                    self.cells.handle_timeout(now);
                    self.drain_cells(now);
                }
                Source::Down(wire) => self.leave_wire(now, wire),
                Source::Router(router) => self.leave_router(now, router),
                Source::Link(router) => self.leave_link(now, router),
                Source::Events => {
                    if let Some((now, event)) = self.events.pop() {
                        self.handle(now, event);
                    }
                }
            }
        }
    }

    /// Finds what happens next at the access network. At one time cells go first, then the wires, routers and what is between them: what comes from
    /// them may answer an event, never the reverse.
    fn next_at_access(&mut self) -> (Instant, Source) {
        let cells = self.cells.next_deadline().unwrap_or(Instant::FAR);
        let events = self.events.next_deadline().unwrap_or(Instant::FAR);
        let out = self.first_out.unwrap_or_else(|| self.find_first_out());
        self.first_out = Some(out);
        if cells <= out.0.min(events) {
            (cells, Source::Cells)
        } else if out.0 <= events {
            out
        } else {
            (events, Source::Events)
        }
    }

    fn find_first_out(&self) -> (Instant, Source) {
        let mut first = (Instant::FAR, Source::Events);
        let mut consider = |at: Instant, source| {
            if at < first.0 {
                first = (at, source);
            }
        };
        self.down.iter().enumerate().for_each(|(index, wire)| consider(wire.next(), Source::Down(index)));
        self.routers
            .iter()
            .enumerate()
            .for_each(|(index, router)| consider(router.next_deadline(), Source::Router(index)));
        for (index, link) in self.links.iter().enumerate() {
            consider(link.as_ref().map_or(Instant::FAR, Wire::next), Source::Link(index));
        }
        first
    }

    /// Finds what happens next beyond the wires: what comes out of one of them, or an event.
    fn next_beyond(&mut self) -> (Instant, Option<usize>) {
        let wires = || self.up.iter().enumerate().map(|(index, wire)| (wire.next(), index));
        let out = self.first_up.unwrap_or_else(|| wires().min().unwrap_or((Instant::FAR, 0)));
        self.first_up = Some(out);
        let events = self.remote_events.next_deadline().unwrap_or(Instant::FAR);
        if out.0 <= events { (out.0, Some(out.1)) } else { (events, None) }
    }

    /// The events of one side.
    pub(crate) fn events_of(&mut self, remote: bool) -> &mut EventQueue<Event> {
        if remote { &mut self.remote_events } else { &mut self.events }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::Simulation;
    use crate::scenario::Scenario;

    use super::*;

    fn result_of(file: &str, ahead: Option<[Duration; 2]>) -> String {
        let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios")).join(file);
        let scenario = Scenario::load(&file, &["duration=\"3 s\"".to_owned(), "warmup=\"1 s\"".to_owned()]).unwrap();
        let mut run = Simulation::new(&scenario).unwrap();
        run.shards[0].ahead = ahead.unwrap_or(run.shards[0].ahead);
        let result = run.run(|_| true).unwrap();
        serde_json::to_string(&result).unwrap()
    }

    /// Downloads and uploads, calls and pages, routers with delays beside them, varying delays, recommendations, several cells.
    #[test]
    fn a_side_that_runs_ahead_sees_what_it_would_have_seen_in_the_order_of_time() {
        for file in [
            "first-look.toml",
            "moving-bottleneck.toml",
            "uplink-anbr.toml",
            "uplink-l4s.toml",
            "choosing.toml",
            "network/drive.toml",
            "papers/anbr.table5.toml",
            "papers/l4span.fig2-wired.toml",
            "rfc8867/5.5.toml",
        ] {
            let in_order = result_of(file, Some([Duration::ZERO; 2]));
            assert!(in_order == result_of(file, None), "{file} differs");
            let little = Some([Duration::from_micros(300), Duration::from_micros(10)]);
            assert!(in_order == result_of(file, little), "{file} differs where little is known ahead");
        }
    }
}
