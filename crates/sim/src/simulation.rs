//! A run in virtual time: servers, wired paths, the cell and its UEs.

use thiserror::Error;
use tidemark_cell::{Cell, Output, UeId};
use tidemark_core::{Bytes, FlowId, Inspect, Instant, Packet, TcpFeedback, TcpView};
use tidemark_senders::{Endpoint, Payload, connect};

use crate::event::EventQueue;
use crate::ledger::{Ledger, NotConserved};
use crate::recorder::{Arrival, FlowRecord, UeRecord};
use crate::result::RunResult;
use crate::scenario::Scenario;
use crate::summary::{self, Baseline};
use crate::wire::Wire;

/// The cell or a flow refuses its configuration; a scenario that was checked never does.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SetUpError(String);

/// One run, before or after it.
pub struct Simulation<'a> {
    scenario: &'a Scenario,
    events: EventQueue<Event>,
    /// To the gNB and to the servers, one of each for every delay.
    down: Vec<Wire<Stamped>>,
    up: Vec<Wire<Stamped>>,
    pub(crate) cell: Cell<Stamped>,
    pub(crate) flows: Vec<Flow>,
    pub(crate) ues: Vec<UeRecord>,
    /// Ends of the series' finished intervals.
    pub(crate) samples: Vec<Instant>,
    /// Counters at the end of the warm-up.
    pub(crate) baseline: Baseline,
    /// How far the run has come.
    pub(crate) now: Instant,
}

/// A transport's packet and when it was sent.
#[derive(Clone, Debug)]
pub(crate) struct Stamped {
    sent: Instant,
    payload: Payload,
}

/// What can happen outside the cell; most name a flow.
#[derive(Clone, Copy, Debug)]
enum Event {
    /// A deadline of the server has come.
    Server(usize),
    /// A deadline of the client has come.
    Client(usize),
    /// An interval of the series ends.
    Sample,
    /// The warm-up ends.
    WarmUpEnds,
}

/// Where the next thing happens.
#[derive(Clone, Copy)]
enum Source {
    Cell,
    Down(usize),
    Up(usize),
    Events,
}

/// One flow: a server and, at a UE, its client.
pub(crate) struct Flow {
    pub(crate) id: FlowId,
    pub(crate) ue: UeId,
    /// Which of the wires it takes.
    wire: usize,
    server: End,
    client: End,
    ledger: Ledger,
    pub(crate) record: FlowRecord,
}

/// An endpoint and the earliest event that is scheduled for it.
struct End {
    endpoint: Box<dyn Endpoint + Send>,
    scheduled: Instant,
}

impl Inspect for Stamped {
    fn tcp(&self) -> Option<TcpView> {
        self.payload.tcp()
    }
    fn set_tcp_feedback(&mut self, feedback: TcpFeedback) {
        self.payload.set_tcp_feedback(feedback);
    }
}

impl<'a> Simulation<'a> {
    /// Sets up the scenario's cell, UEs and flows.
    ///
    /// # Errors
    /// A configuration that the cell or a transport refuses.
    pub fn new(scenario: &'a Scenario) -> Result<Self, SetUpError> {
        let refused = |error: &dyn std::fmt::Display| SetUpError(error.to_string());
        let mut cell = Cell::new(&scenario.cell, scenario.seed).map_err(|error| refused(&error))?;
        let ues = scenario.ues();
        for ue in &ues {
            cell.add_ue(&ue.config).map_err(|error| refused(&error))?;
        }
        let (mut flows, mut delays) = (Vec::new(), Vec::new());
        for (index, flow) in scenario.flows(&ues).into_iter().enumerate() {
            let id = FlowId(u32::try_from(index).map_err(|error| refused(&error))?);
            let (server, client) =
                connect(flow.sender, flow.app, id, scenario.seed).map_err(|error| refused(&error))?;
            let delay = flow.round_trip / 2;
            let wire = delays.iter().position(|other| *other == delay).unwrap_or(delays.len());
            if wire == delays.len() {
                delays.push(delay);
            }
            flows.push(Flow {
                id,
                ue: flow.ue,
                wire,
                server: End::new(server),
                client: End::new(client),
                ledger: Ledger::default(),
                record: FlowRecord::default(),
            });
        }
        let ues = ues.iter().map(|_| UeRecord::default()).collect();
        let mut run = Self {
            scenario,
            events: EventQueue::default(),
            down: delays.iter().copied().map(Wire::new).collect(),
            up: delays.into_iter().map(Wire::new).collect(),
            cell,
            flows,
            ues,
            samples: Vec::new(),
            baseline: Baseline::default(),
            now: Instant::ZERO,
        };
        run.baseline = Baseline::take(&run);
        Ok(run)
    }

    /// Runs to the scenario's end, or until `proceed`, which hears the virtual time once an interval of the
    /// series, answers false: then the result says how far it came.
    ///
    /// # Errors
    /// Bytes that appeared or vanished.
    pub fn run(&mut self, proceed: impl Fn(Instant) -> bool) -> Result<RunResult, NotConserved> {
        let end = Instant::ZERO + self.scenario.duration;
        for flow in 0..self.flows.len() {
            self.serve_client(Instant::ZERO, flow);
            self.serve_server(Instant::ZERO, flow);
        }
        self.events.schedule(Instant::ZERO + self.scenario.warmup, Event::WarmUpEnds);
        self.events.schedule(Instant::ZERO + self.scenario.sample_interval, Event::Sample);
        self.now = loop {
            let (next, source) = self.next();
            if next > end {
                break end;
            }
            match source {
                Source::Cell => {
                    self.cell.handle_timeout(next);
                    self.drain_cell(next);
                }
                Source::Down(wire) => self.reach_cell(next, wire),
                Source::Up(wire) => self.reach_server(next, wire),
                Source::Events => {
                    let Some((now, event)) = self.events.pop() else { continue };
                    self.handle(now, event);
                    if matches!(event, Event::Sample) && !proceed(now) {
                        break now;
                    }
                }
            }
        };
        self.check_conservation()?;
        Ok(summary::summarise(self.scenario, self))
    }

    /// What happens next. At one time the cell goes first, then the wires: what comes from them may answer an event,
    /// never the reverse.
    fn next(&self) -> (Instant, Source) {
        let mut first = (Instant::FAR, Source::Cell);
        let mut consider = |at: Option<Instant>, source| {
            if let Some(at) = at.filter(|at| *at < first.0) {
                first = (at, source);
            }
        };
        consider(self.cell.next_deadline(), Source::Cell);
        self.down.iter().enumerate().for_each(|(index, wire)| consider(wire.next(), Source::Down(index)));
        self.up.iter().enumerate().for_each(|(index, wire)| consider(wire.next(), Source::Up(index)));
        consider(self.events.next_deadline(), Source::Events);
        first
    }

    fn reach_cell(&mut self, now: Instant, wire: usize) {
        while let Some(packet) = self.down[wire].receive(now) {
            let ue = self.flows[packet.flow.0 as usize].ue;
            self.cell.handle_downlink(now, ue, packet);
        }
        self.drain_cell(now);
    }

    fn reach_server(&mut self, now: Instant, wire: usize) {
        while let Some(packet) = self.up[wire].receive(now) {
            let index = packet.flow.0 as usize;
            let flow = &mut self.flows[index];
            flow.ledger.delivered += packet.size;
            flow.server.endpoint.handle_packet(now, &unstamped(packet));
            if let Some(rtt) = flow.server.endpoint.take_rtt_sample() {
                flow.record.round_trip(rtt, self.scenario.counts(now));
            }
            self.serve_server(now, index);
        }
    }

    fn handle(&mut self, now: Instant, event: Event) {
        match event {
            Event::Server(index) => {
                let server = &mut self.flows[index].server;
                if server.is_due(now) {
                    server.endpoint.handle_timeout(now);
                }
                self.serve_server(now, index);
            }
            Event::Client(index) => {
                let client = &mut self.flows[index].client;
                if client.is_due(now) {
                    client.endpoint.handle_timeout(now);
                }
                self.serve_client(now, index);
            }
            Event::Sample => {
                self.sample(now);
                self.events.schedule(now + self.scenario.sample_interval, Event::Sample);
            }
            Event::WarmUpEnds => {
                self.now = now;
                self.baseline = Baseline::take(self);
            }
        }
    }

    /// Lets the server send what it may, then notes its next deadline.
    fn serve_server(&mut self, now: Instant, index: usize) {
        let flow = &mut self.flows[index];
        while let Some(packet) = flow.server.endpoint.poll_transmit(now) {
            flow.ledger.sent += packet.size;
            flow.record.sent(now, self.scenario.counts(now));
            self.down[flow.wire].send(now, stamped(now, packet));
        }
        if let Some(at) = flow.server.reschedule(now) {
            self.events.schedule(at, Event::Server(index));
        }
    }

    /// Lets the client send what it may, then notes its next deadline.
    fn serve_client(&mut self, now: Instant, index: usize) {
        let flow = &mut self.flows[index];
        while let Some(packet) = flow.client.endpoint.poll_transmit(now) {
            flow.ledger.sent += packet.size;
            self.cell.handle_uplink(now, flow.ue, stamped(now, packet));
        }
        if let Some(at) = flow.client.reschedule(now) {
            self.events.schedule(at, Event::Client(index));
        }
    }

    /// Takes what left the cell to its clients and to the wire.
    fn drain_cell(&mut self, now: Instant) {
        while let Some(output) = self.cell.poll_output() {
            match output {
                Output::Downlink { at, ue, packet, delay } => {
                    let index = packet.flow.0 as usize;
                    let sent = packet.payload.sent;
                    let (size, ecn) = (packet.size, packet.ecn);
                    let arrival = Arrival { sent, at, size, ecn, delay, counts: self.scenario.counts(at) };
                    let flow = &mut self.flows[index];
                    flow.ledger.delivered += size;
                    flow.record.arrived(&arrival);
                    self.ues[ue.0 as usize].arrived(&arrival);
                    flow.client.endpoint.handle_packet(now, &unstamped(packet));
                    self.serve_client(now, index);
                }
                Output::Uplink { packet, .. } => {
                    self.up[self.flows[packet.flow.0 as usize].wire].send(now, packet);
                }
                Output::Dropped { at, packet, .. } => {
                    let flow = &mut self.flows[packet.flow.0 as usize];
                    flow.ledger.dropped += packet.size;
                    if self.scenario.counts(at) {
                        flow.record.dropped += 1;
                    }
                }
            }
        }
    }

    fn sample(&mut self, now: Instant) {
        self.samples.push(now);
        for flow in &mut self.flows {
            flow.record.sample(flow.server.endpoint.stats().window);
        }
        for (index, ue) in self.ues.iter_mut().enumerate() {
            ue.sample(self.cell.ue(now, UeId(index as u32)).and_then(|stats| stats.mcs));
        }
    }

    fn check_conservation(&self) -> Result<(), NotConserved> {
        self.flows.iter().try_for_each(|flow| {
            let wires: Bytes = self.down.iter().chain(&self.up).map(|wire| wire.held(flow.id)).sum();
            flow.ledger.check(flow.id, wires + self.cell.held(flow.id))
        })
    }
}

impl Flow {
    /// The server's counters.
    pub(crate) fn server_stats(&self) -> tidemark_senders::Stats {
        self.server.endpoint.stats()
    }
    /// The client's counters.
    pub(crate) fn client_stats(&self) -> tidemark_senders::Stats {
        self.client.endpoint.stats()
    }
}

impl End {
    fn new(endpoint: Box<dyn Endpoint + Send>) -> Self {
        Self { endpoint, scheduled: Instant::FAR }
    }
    /// True if its deadline has come; forgets the event that has just fired.
    fn is_due(&mut self, now: Instant) -> bool {
        if self.scheduled <= now {
            self.scheduled = Instant::FAR;
        }
        self.endpoint.next_deadline().is_some_and(|deadline| deadline <= now)
    }
    /// When to schedule an event, if the ones under way all come too late.
    fn reschedule(&mut self, now: Instant) -> Option<Instant> {
        let deadline = self.endpoint.next_deadline()?.max(now);
        let sooner = deadline < self.scheduled;
        self.scheduled = self.scheduled.min(deadline);
        sooner.then_some(deadline)
    }
}

fn stamped(sent: Instant, packet: Packet<Payload>) -> Packet<Stamped> {
    let Packet { flow, size, ecn, payload } = packet;
    Packet { flow, size, ecn, payload: Stamped { sent, payload } }
}

fn unstamped(packet: Packet<Stamped>) -> Packet<Payload> {
    let Packet { flow, size, ecn, payload } = packet;
    Packet { flow, size, ecn, payload: payload.payload }
}
