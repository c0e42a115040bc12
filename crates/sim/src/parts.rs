//! Parts of a run: shards come apart, a UE goes from one to another with all that is its own, and shards are joined.

use tidemark_cell::{Cells, UeId};
use tidemark_core::Slab;

use crate::event::{EventQueue, Place};
use crate::marked::Inbox;
use crate::shard::{Event, Shard};
use crate::stamped::{Pool, Stamped};
use crate::wire::Wire;

impl Shard {
    /// Shards of one cell each. Flows between hosts on the wire stay with the first cell.
    pub(crate) fn apart(mut self) -> Vec<Self> {
        let mut cells = self.cells.apart().into_iter();
        self.cells = cells.next().unwrap_or_default();
        let others: Vec<_> = cells.map(|cells| self.part(cells)).collect();
        std::iter::once(self).chain(others).collect()
    }

    /// One shard of the cells of all, in their order.
    pub(crate) fn join(mut self, others: impl Iterator<Item = Self>) -> Self {
        for mut other in others {
            other.hand_ues(&mut self, &other.ues.keys().collect::<Vec<_>>(), Place::Behind);
            for cell in other.cells.numbers() {
                other.recorder.hand_cell(&mut self.recorder, cell);
            }
            self.cells.join(other.cells);
        }
        self
    }

    /// Shard of cells that were this one's, with their UEs.
    fn part(&mut self, mut cells: Cells<Stamped>) -> Self {
        let decided = Inbox::default();
        if self.recorder.marks.are_kept() {
            cells.observe_signals(decided.observer());
        }
        let ues: Vec<_> = self.ues.keys().filter(|ue| cells.cell_of(*ue).is_some()).collect();
        let mut part = Self {
            cells,
            ues: Slab::new(),
            flows: Slab::new(),
            events: EventQueue::default(),
            remote_events: EventQueue::default(),
            down: self.down.iter().map(Wire::part).collect(),
            up: self.up.iter().map(Wire::part).collect(),
            ahead: self.ahead,
            pool: Pool::default(),
            routers: Vec::new(),
            recommends: Vec::new(),
            links: Vec::new(),
            first_out: None,
            first_up: None,
            recorder: self.recorder.part(),
            decided,
            senders: None,
        };
        for cell in part.cells.numbers() {
            self.recorder.hand_cell(&mut part.recorder, cell);
        }
        self.hand_ues(&mut part, &ues, Place::Behind);
        part
    }

    /// Hands UEs, in the order of their numbers, to another shard, where their cells are by now. Both stand at the same time.
    pub(crate) fn hand_ues(&mut self, to: &mut Self, ues: &[UeId], place: Place) {
        self.decided.hand_to(&mut self.recorder.marks);
        let is_handed = |ue: UeId| ues.binary_search(&ue).is_ok();
        let of_ue = |flow: usize| self.flows.get(flow).and_then(|flow| flow.ue).is_some_and(is_handed);
        let of_event = |event| match event {
            Event::Server(flow) | Event::Client(flow) => of_ue(flow.0 as usize),
            Event::Query(ue) | Event::Handover(ue) => is_handed(ue),
        };
        self.events.hand(&mut to.events, place, of_event);
        self.remote_events.hand(&mut to.remote_events, place, of_event);
        let wires = self.down.iter_mut().zip(&mut to.down).chain(self.up.iter_mut().zip(&mut to.up));
        wires.for_each(|(wire, same)| wire.hand(same, place, |flow| of_ue(flow.0 as usize)));
        for shard in [&mut *self, &mut *to] {
            (shard.first_out, shard.first_up) = (None, None);
        }
        for ue in ues {
            self.recorder.hand_ue(&mut to.recorder, ue.0 as usize);
            let Some(handed) = self.ues.take(*ue) else { continue };
            handed.flows.iter().for_each(|flow| self.hand_flow(to, *flow));
            to.ues.insert(*ue, handed);
        }
    }

    /// Hands a flow with a wire that is its own alone.
    fn hand_flow(&mut self, to: &mut Self, flow: usize) {
        let wire = self.flows[flow].wire;
        for (wire, stand_in) in [(&mut self.down[wire], &mut to.down[wire]), (&mut self.up[wire], &mut to.up[wire])] {
            if wire.varies() {
                std::mem::swap(wire, stand_in);
            }
        }
        self.recorder.hand_flow(&mut to.recorder, flow);
        self.flows.hand(&mut to.flows, flow);
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::LazyLock;

    use tidemark_core::{Duration, Instant};

    use crate::scenario::Scenario;
    use crate::sides::Mark;
    use crate::{Simulation, output};

    /// Small cells and fast UEs, which change cells at the first measurement that finds another better: some hundred handovers a second,
    /// with every kind of transport and application.
    const STORM: &str = r#"
name = "storm"
duration = "4 s"
warmup = "1 s"
sample_interval = "30 ms"
[network]
sites = 7
environment = "umi"
distance_m = 25.0
measurement_period = "5 ms"
handover = { hysteresis_db = 0, time_to_trigger = "0 s", interruption = "1 ms" }
[marker]
law = "l4span"
[[ue]]
name = "caller"
count = 8
channel = { model = "deployed", mobility = { kind = "random-waypoint", speed_kmh = 120 } }
[[ue]]
name = "loader"
count = 12
channel = { model = "deployed", mobility = { kind = "random-waypoint", speed_kmh = 120 } }
[[ue]]
name = "reader"
count = 20
channel = { model = "deployed", mobility = { kind = "random-waypoint", speed_kmh = 30 } }
[[flow]]
name = "call"
ue = "caller"
round_trip = "30 ms"
sender = { controller = "scream" }
app = { app = "video" }
[[flow]]
name = "upload"
ue = "caller"
direction = "uplink"
round_trip = "20 ms"
jitter = "1 ms"
sender = { controller = "cubic" }
[[flow]]
name = "download"
ue = "loader"
round_trip = "30 ms"
sender = { controller = "prague" }
[[flow]]
name = "steady"
ue = "loader"
round_trip = "10 ms"
sender = { controller = "udp" }
app = { app = "on-off", rate = "1 Mbit/s", start = "500 ms" }
[[flow]]
name = "web"
ue = "reader"
round_trip = "30 ms"
sender = { controller = "prague" }
app = { app = "web", reading = "300 ms" }
"#;

    /// Result in shards, on one thread and in whole spans.
    static ALONE: LazyLock<String> = LazyLock::new(|| result_of(|_| {}));

    /// Result of the storm, as text.
    fn result_of(prepare: impl Fn(&mut Simulation<'_>)) -> String {
        let scenario = Scenario::parse("storm.toml", STORM, Path::new(""), &[]).unwrap();
        let mut run = Simulation::new(&scenario).unwrap();
        run.keep_marks();
        prepare(&mut run);
        let result = run.run(|_| true).unwrap();
        let handovers: u64 = result.ues.iter().map(|ue| ue.place.as_ref().unwrap().handovers).sum();
        assert!(handovers > 400, "{handovers} handovers are no storm");
        serde_json::to_string(&result).unwrap() + &output::report_data(&result).unwrap()
    }

    #[test]
    fn shards_do_what_all_cells_do_in_one() {
        assert!(result_of(|run| run.is_one = true) == *ALONE);
    }

    #[test]
    fn neither_threads_nor_spans_make_a_difference() {
        for threads in [2, 3] {
            assert!(*ALONE == result_of(|run| run.set_threads(threads).unwrap()), "{threads} threads differ");
        }
        let spans = |run: &mut Simulation<'_>| {
            let times = (1..).map(|pause| Instant::ZERO + Duration::from_micros(1_300) * pause);
            for at in times.take_while(|at| *at < Instant::from_millis(4_000)) {
                run.marks.schedule(Instant::ZERO, at, Mark::Pause);
            }
        };
        assert!(*ALONE == result_of(spans), "shorter spans differ");
    }
}
