//! A run in virtual time: servers, wired paths, cells and their UEs.

use thiserror::Error;
use tidemark_cell::network::Handover;
use tidemark_cell::{Cells, DrbIndex, NetworkConfig, Observer, Radio, UeId};
use tidemark_core::{Duration, FlowId, Instant, Slab, Stream};
use tidemark_record::{Limits, Recorder, RunResult};
use tidemark_router::{Router, RouterConfig};
use tidemark_senders::connect;
use tidemark_senders::media::FrameBudget;

use crate::addresses::Addresses;
use crate::capture::Capture;
use crate::event::{EventQueue, Place};
use crate::flow::{End, Flow};
use crate::ledger::{Ledger, NotConserved};
use crate::marked::Inbox;
use crate::recommend;
use crate::scenario::{Direction, NamedFlow, NamedUe, Scenario};
use crate::shard::{Shard, Ue};
use crate::sides::Mark;
use crate::stamped::{Pool, Stamped};
use crate::summary;
use crate::wire::Wire;
use crate::workers::Workers;

/// A cell or a flow refuses its configuration, which never happens with a checked scenario, or the system has no more
/// threads.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SetUpError(String);

/// One run of a scenario: the driver of its shards.
///
/// Cells affect each other only once in a measurement period: by interference, and by UEs that change cells. In between
/// each cell runs by itself, in any thread, up to the next mark, where all cells have reached the same time.
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    /// Shards of the run: a single one before and after the run, and one for each cell during the run, in the order of cells, unless
    /// something holds the cells together.
    pub(crate) shards: Vec<Shard>,
    /// Radio of a network.
    radio: Option<Radio>,
    /// True where cells share more than the radio: routers, or one who observes them in the order of time.
    pub(crate) is_one: bool,
    pub(crate) marks: EventQueue<Mark>,
    workers: Workers,
}

/// Flows of a run with the wires that they share.
#[derive(Default)]
struct Ends {
    flows: Vec<Flow>,
    /// Frame budget of each flow that has frames.
    budgets: Vec<Option<FrameBudget>>,
    down: Vec<Wire<Stamped>>,
    up: Vec<Wire<Stamped>>,
}

impl Ends {
    /// Adds a flow with both of its ends.
    ///
    /// # Errors
    /// A configuration that the flow or its UE refuses.
    fn add(&mut self, flow: NamedFlow<'_>, seed: u64, cells: &mut Cells<Stamped>) -> Result<(), SetUpError> {
        let id = FlowId(u32::try_from(self.flows.len()).map_err(|error| refused(&error))?);
        let (server, client) = connect(flow.sender, flow.app, id, seed).map_err(|error| refused(&error))?;
        if let (Some(ue), Some(qfi)) = (flow.ue, flow.qfi) {
            cells.name_qos_flow(ue, id, qfi).map_err(|error| refused(&error))?;
        }
        let wire = self.wire(&flow, id, seed);
        self.budgets.push(flow.app.frame_budget());
        self.flows.push(Flow {
            id,
            ue: flow.ue,
            wire,
            uplink: flow.direction == Direction::Uplink,
            addresses: Addresses::of(id, &flow),
            routers: flow.routers,
            return_routers: flow.return_routers,
            listens: recommend::listens(flow.sender),
            server: End::new(server),
            client: End::new(client),
            ledger: Ledger::default(),
        });
        Ok(())
    }

    /// Finds the wires of a flow: those of another with the same delays, unless it has jitter of its own.
    fn wire(&mut self, flow: &NamedFlow<'_>, id: FlowId, seed: u64) -> usize {
        let [to_gnb, to_server] = flow.wires;
        if flow.jitter.is_zero() {
            let mut pairs = self.down.iter().zip(&self.up);
            let same = pairs.position(|(down, up)| down.is_constant(to_gnb) && up.is_constant(to_server));
            if let Some(wire) = same {
                return wire;
            }
        }
        let draws = |purpose| Stream::new(seed, id.0, purpose);
        self.down.push(Wire::new(to_gnb, flow.jitter, draws("wire down")));
        self.up.push(Wire::new(to_server, flow.jitter, draws("wire up")));
        self.down.len() - 1
    }

    /// Makes the recorder of a run with these flows.
    fn recorder(&self, scenario: &Scenario, ues: &[NamedUe]) -> Recorder {
        let cells = scenario.network.as_ref().map_or(0, NetworkConfig::cells);
        let mut recorder = Recorder::new(scenario.warmup, ues, cells, Limits::SCENARIO);
        for budget in &self.budgets {
            let flow = recorder.add_flow();
            recorder.set_frame_budget(flow, *budget);
        }
        scenario.router.iter().for_each(|router| _ = recorder.add_router(&router.tdq));
        recorder
    }
}

fn refused(error: &dyn std::fmt::Display) -> SetUpError {
    SetUpError(error.to_string())
}

impl<'a> Simulation<'a> {
    /// Sets up the scenario's cells, UEs, routers and flows.
    ///
    /// # Errors
    /// A configuration that one of them refuses.
    pub fn new(scenario: &'a Scenario) -> Result<Self, SetUpError> {
        let count = scenario.network.as_ref().map_or(1, NetworkConfig::cells);
        let mut cells = Cells::new(&scenario.cell, count, scenario.seed).map_err(|error| refused(&error))?;
        let radio = scenario.network.as_ref().map(|network| Radio::new(network, &scenario.cell)).transpose();
        let mut radio = radio.map_err(|error| refused(&error))?;
        let named = scenario.ues();
        let mut next_drb = DrbIndex(0);
        for (id, ue) in (0..).map(UeId).zip(&named) {
            next_drb = admit(&mut cells, radio.as_mut(), (id, next_drb), ue, scenario.seed)?;
        }
        let routers = (0..).zip(&scenario.router).map(|(index, router)| Router::new(router, index, scenario.seed));
        let routers = routers.collect::<Result<_, _>>().map_err(|error| refused(&error))?;
        let link = |router: &RouterConfig| (!router.delay.is_zero()).then(|| Wire::constant(router.delay));
        let mut ends = Ends::default();
        for flow in scenario.flows(&named) {
            ends.add(flow, scenario.seed, &mut cells)?;
        }
        let mut ues: Slab<UeId, Ue> = named.iter().map(Ue::new).collect();
        for flow in &ends.flows {
            flow.ue.into_iter().for_each(|ue| ues[ue].flows.push(flow.id.0 as usize));
        }
        let recorder = ends.recorder(scenario, &named);
        let Ends { flows, down, up, .. } = ends;
        let ahead = [&down, &up].map(|wires| wires.iter().map(Wire::least).min().unwrap_or_default());
        let mut whole = Shard {
            cells,
            ues,
            flows: flows.into_iter().collect(),
            events: EventQueue::default(),
            remote_events: EventQueue::default(),
            down,
            up,
            ahead,
            pool: Pool::default(),
            routers,
            recommends: scenario.router.iter().map(|router| router.recommends).collect(),
            links: scenario.router.iter().map(link).collect(),
            first_out: None,
            first_up: None,
            recorder,
            decided: Inbox::default(),
            senders: None,
        };
        whole.recorder.begin(whole.counters(Instant::ZERO, radio.as_ref()));
        Ok(Self {
            scenario,
            shards: vec![whole],
            radio,
            is_one: !scenario.router.is_empty(),
            marks: EventQueue::default(),
            workers: Workers::default(),
        })
    }

    /// Runs the cells of a network in this many threads instead of one, at most one for each cell. The result is the
    /// same.
    ///
    /// # Errors
    /// The system has no thread to give.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), SetUpError> {
        let cells = self.shards.iter().map(|shard| shard.cells.numbers().len()).sum();
        self.workers = Workers::new(threads.min(cells)).map_err(|error| refused(&error))?;
        Ok(())
    }

    /// Shows everything that passes the CU to `observer`, which replaces the one before it.
    pub fn observe(&mut self, observer: Observer<Stamped>) {
        self.is_one = true;
        self.shards[0].cells.observe(observer);
    }

    /// Sends all that passes the CU, and all that senders do, to this capture.
    pub fn capture(&mut self, capture: &Capture) {
        self.observe(capture.observer(self.scenario));
        self.shards[0].senders = Some(capture.senders(self.scenario));
    }

    /// Keeps marks with their reasons, for `marks.csv`.
    pub fn keep_marks(&mut self) {
        for whole in &mut self.shards {
            whole.recorder.marks.begin(whole.flows.keys().count(), true);
            whole.cells.observe_signals(whole.decided.observer());
        }
    }

    /// Runs to the scenario's end, or until `proceed` returns false: then the result says how far the run came.
    /// `proceed` gets the virtual time, once in each interval of the series.
    ///
    /// # Errors
    /// Bytes that appeared or vanished.
    pub fn run(mut self, proceed: impl Fn(Instant) -> bool) -> Result<RunResult, NotConserved> {
        self.begin();
        self.part();
        let end = self.run_shards(proceed);
        self.join();
        let mut whole = self.shards.swap_remove(0);
        whole.check_conservation()?;
        whole.decided.hand_to(&mut whole.recorder.marks);
        Ok(summary::summarise(self.scenario, whole, end, self.radio))
    }

    fn begin(&mut self) {
        let zero = Instant::ZERO;
        self.shards.iter_mut().for_each(|whole| whole.begin(self.scenario.handovers()));
        self.marks.schedule(zero, zero + self.scenario.warmup, Mark::WarmUpEnds);
        self.marks.schedule(zero, zero + self.scenario.sample_interval(), Mark::Sample);
        self.marks.schedule(zero, zero + self.scenario.duration + Duration::from_nanos(1), Mark::End);
    }

    /// Makes a shard of each cell.
    fn part(&mut self) {
        if !self.is_one {
            self.shards = self.shards.drain(..).flat_map(Shard::apart).collect();
        }
    }

    /// Makes one shard of all.
    fn join(&mut self) {
        let mut shards = std::mem::take(&mut self.shards).into_iter();
        self.shards = shards.next().map(|first| first.join(shards)).into_iter().collect();
    }

    /// Runs from mark to mark, and says how far that was.
    fn run_shards(&mut self, proceed: impl Fn(Instant) -> bool) -> Instant {
        let interval = self.scenario.sample_interval();
        loop {
            let (now, mark) = self.next_mark();
            let radio = self.radio.as_ref();
            self.workers.each(&mut self.shards, |shard| {
                shard.run_until(now, mark);
                if mark == Mark::Sample {
                    shard.sample(now, radio);
                }
            });
            match mark {
                Mark::Measurement => self.measure(now),
                Mark::WarmUpEnds => self.end_warm_up(now),
                Mark::Sample => {
                    self.marks.schedule(now, now + interval, Mark::Sample);
                    if !proceed(now) {
                        return now;
                    }
                }
                #[cfg(test)]
                Mark::Pause => {}
                Mark::End => return Instant::ZERO + self.scenario.duration,
            }
        }
    }

    /// Takes the next mark. At one time a measurement comes first.
    fn next_mark(&mut self) -> (Instant, Mark) {
        let measurement = self.radio.as_ref().map_or(Instant::FAR, Radio::next_measurement);
        let is_next = self.marks.next_deadline().is_some_and(|at| at < measurement);
        let next = if is_next { self.marks.pop() } else { None };
        next.unwrap_or((measurement, Mark::Measurement))
    }

    fn end_warm_up(&mut self, now: Instant) {
        self.join();
        for whole in &mut self.shards {
            whole.recorder.begin(whole.counters(now, self.radio.as_ref()));
        }
        self.part();
    }

    /// Looks at positions, powers and loads, and moves the UEs whose time has come.
    fn measure(&mut self, now: Instant) {
        let Some(radio) = &mut self.radio else { return };
        let stats = self.shards.iter().flat_map(|shard| shard.cells.stats());
        let handovers = radio.measure(now, stats, |from| self.shards[0].cells.resources_between(from, now));
        let execution = radio.execution();
        for to in &handovers {
            let [source, target] = [to.source, to.target].map(|cell| shard_of(&self.shards, cell));
            let Some(leaving) = self.shards[source].cells.take_ue(now, to.ue) else { continue };
            self.shards[target].cells.place_ue(now, to, leaving, &execution);
            // In one shard it stays with all that is its own.
            if let Ok([from, shard]) = self.shards.get_disjoint_mut([source, target]) {
                from.hand_ues(shard, &[to.ue], place(to));
            }
        }
        let radio = &*radio;
        self.shards.iter_mut().for_each(|shard| shard.hear(radio));
        // What left a cell is taken where its UE is now.
        for cell in 0..self.shards.len() {
            while let Some(output) = self.shards[cell].cells.poll_output() {
                let serving = radio.ue(output.ue()).map_or(0, |ue| ue.cell);
                let home = shard_of(&self.shards, serving);
                self.shards[home].take_output(now, output);
            }
        }
    }
}

/// Admits a UE to its cell; gives the index of the next UE's first bearer.
fn admit(
    cells: &mut Cells<Stamped>,
    radio: Option<&mut Radio>,
    (id, first): (UeId, DrbIndex),
    ue: &NamedUe,
    seed: u64,
) -> Result<DrbIndex, SetUpError> {
    let mut config = ue.config.clone();
    let Some(radio) = radio else { return cells.add_ue(0, id, first, &config).map_err(|error| refused(&error)) };
    let cell = radio.add_ue(&mut config, seed).map_err(|error| refused(&error))?;
    let next = cells.add_ue(cell, id, first, &config).map_err(|error| refused(&error))?;
    cells.set_means(id, radio.means(id));
    Ok(next)
}

/// Place of a cell's shard.
fn shard_of(shards: &[Shard], cell: usize) -> usize {
    cell.min(shards.len() - 1)
}

/// Place of a UE's packets and events among those that the new cell has at the same time: where the order of cells put them.
fn place(to: &Handover) -> Place {
    if to.source < to.target { Place::Before } else { Place::Behind }
}
