//! Sides of a run: the access network's side and the ends beyond the wires.
//!
//! What passes from one side to the other takes the delay of a wire. Each side therefore runs ahead of the other for so long before
//! the other has its turn, and what it does stays in the processor's caches. The result is the same as if everything were taken in
//! the order of time: within a side it is.

use tidemark_core::{Duration, Instant};

use crate::event::EventQueue;
use crate::simulation::{Event, Simulation};
use crate::wire::Wire;

/// An event that concerns both sides, which stand at the same time then.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Mark {
    /// An interval of the series ends.
    Sample,
    /// The warm-up ends.
    WarmUpEnds,
    /// The run ends.
    End,
}

/// Part of the run in which the next thing happens.
#[derive(Clone, Copy)]
pub(crate) enum Source {
    Network,
    Down(usize),
    Router(usize),
    Link(usize),
    Events,
}

impl Simulation<'_> {
    /// The least delays of the wires down and up.
    pub(crate) fn least_delays(&self) -> [Duration; 2] {
        [&self.down, &self.up].map(|wires| wires.iter().map(Wire::least).min().unwrap_or_default())
    }

    /// Runs until the scenario's end, or until `proceed` answers false after an interval of the series; says how far that was. What
    /// goes down the wires is not felt before the first of these spans has passed, what goes up not before the second.
    pub(crate) fn run_sides(&mut self, [down, up]: [Duration; 2], proceed: impl Fn(Instant) -> bool) -> Instant {
        const TICK: Duration = Duration::from_nanos(1);
        let end = Instant::ZERO + self.scenario.duration;
        self.marks.schedule(end + TICK, Mark::End);
        loop {
            let (access, source) = self.next_at_access();
            let remote = self.next_beyond().0;
            let mark = self.marks.next_deadline().unwrap_or(Instant::FAR);
            if mark <= remote && !comes_before(mark, access, source) {
                match self.marks.pop() {
                    Some((now, Mark::Sample)) => {
                        self.sample(now);
                        self.marks.schedule(now + self.scenario.sample_interval, Mark::Sample);
                        if !proceed(now) {
                            return now;
                        }
                    }
                    Some((now, Mark::WarmUpEnds)) => self.end_warm_up(now),
                    Some((_, Mark::End)) | None => return end,
                }
                continue;
            }
            // What comes next on the other side cannot be felt here before then; nor can what it will answer.
            let mut until = access.min(remote + down) + up;
            if remote < access {
                until = until.max(remote + TICK);
            }
            if remote < until.min(mark) {
                self.run_beyond(until.min(mark));
            } else {
                let until = remote.min(access + up) + down;
                self.run_access(until.max(access + TICK), mark);
            }
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
    fn run_access(&mut self, until: Instant, mark: Instant) {
        loop {
            let (now, source) = self.next_at_access();
            if now >= until || !comes_before(mark, now, source) {
                return;
            }
            match source {
                Source::Network => {
                    self.network.handle_timeout(now);
                    self.drain_network(now);
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
        let cells = self.network.next_deadline().unwrap_or(Instant::FAR);
        let events = self.events.next_deadline().unwrap_or(Instant::FAR);
        let out = self.first_out.unwrap_or_else(|| self.find_first_out());
        self.first_out = Some(out);
        if cells <= out.0.min(events) {
            (cells, Source::Network)
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

    fn end_warm_up(&mut self, now: Instant) {
        self.now = now;
        self.recorder.begin(self.counters());
    }
}

/// A mark comes before the events of its time, and after what leaves cells, wires and routers then.
fn comes_before(mark: Instant, at: Instant, source: Source) -> bool {
    at < mark || at == mark && !matches!(source, Source::Events)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::scenario::Scenario;

    use super::*;

    fn result_of(file: &str, ahead: Option<[Duration; 2]>) -> String {
        let file = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scenarios")).join(file);
        let scenario = Scenario::load(&file, &["duration=\"3 s\"".to_owned(), "warmup=\"1 s\"".to_owned()]).unwrap();
        let mut run = Simulation::new(&scenario).unwrap();
        let ahead = ahead.unwrap_or_else(|| run.least_delays());
        let result = run.run_ahead(ahead, |_| true).unwrap();
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
