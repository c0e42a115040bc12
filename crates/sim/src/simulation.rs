//! A run in virtual time: servers, wired paths, cells and their UEs.

use thiserror::Error;
use tidemark_cell::{Network, NetworkConfig, Observer, Output, UeId};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};
use tidemark_record::event::Event as Recorded;
use tidemark_record::marks::Answer;
use tidemark_record::{Arrival, Limits, Recorder, RunResult};
use tidemark_router::{Router, RouterConfig};
use tidemark_senders::connect;
use tidemark_senders::media::FrameBudget;
use tidemark_wire::mac::BitRateMultiplier;

use crate::addresses::Addresses;
use crate::capture::Capture;
use crate::event::EventQueue;
use crate::flow::{End, Flow};
use crate::ledger::{Ledger, NotConserved};
use crate::marked::{Inbox, sending};
use crate::recommend;
use crate::scenario::{Direction, NamedFlow, NamedUe, Scenario};
use crate::sides::{Mark, Source};
use crate::stamped::{Pool, Stamped, Way, unstamped};
use crate::summary;
use crate::wire::Wire;

/// A cell or a flow refuses its configuration; a scenario that was checked never does.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("{0}")]
pub struct SetUpError(String);

/// One run, before or after it.
pub struct Simulation<'a> {
    pub(crate) scenario: &'a Scenario,
    /// Events at the access network, and at the ends beyond the wires.
    pub(crate) events: EventQueue<Event>,
    pub(crate) remote_events: EventQueue<Event>,
    pub(crate) marks: EventQueue<Mark>,
    /// Wires to the gNB and to the servers, one of each for every delay.
    pub(crate) down: Vec<Wire<Stamped>>,
    pub(crate) up: Vec<Wire<Stamped>>,
    pool: Pool,
    pub(crate) routers: Vec<Router<Stamped>>,
    /// The wire between each router and its neighbour towards the access network, where it has a delay.
    pub(crate) links: Vec<Option<Wire<Stamped>>>,
    /// Time of the next packet out of those, and out of the wires upwards; `None` if that is to be found out.
    pub(crate) first_out: Option<(Instant, Source)>,
    pub(crate) first_up: Option<(Instant, usize)>,
    pub(crate) network: Network<Stamped>,
    pub(crate) flows: Vec<Flow>,
    /// UEs of the scenario.
    pub(crate) scenario_ues: u32,
    pub(crate) recorder: Recorder,
    /// Marks that the recorder has not taken yet.
    decided: Inbox,
    /// UEs' `bitRateMultiplier`, where it gets recommendations, and how often its applications ask for one.
    pub(crate) multipliers: Vec<Option<BitRateMultiplier>>,
    pub(crate) query_every: Vec<Option<Duration>>,
    /// Time that the run has come to.
    pub(crate) now: Instant,
}

/// An event outside of cells; most name a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A deadline of the server has come.
    Server(usize),
    /// A deadline of the client has come.
    Client(usize),
    /// The applications of a UE ask for a bit rate recommendation.
    Query(UeId),
    /// A UE moves to another cell of the same kind.
    Handover(UeId),
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
    fn add(&mut self, flow: NamedFlow<'_>, seed: u64, network: &mut Network<Stamped>) -> Result<(), SetUpError> {
        let id = FlowId(u32::try_from(self.flows.len()).map_err(|error| refused(&error))?);
        let (server, client) = connect(flow.sender, flow.app, id, seed).map_err(|error| refused(&error))?;
        if let (Some(ue), Some(qfi)) = (flow.ue, flow.qfi) {
            network.name_qos_flow(ue, id, qfi).map_err(|error| refused(&error))?;
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
        let mut network =
            Network::new(&scenario.cell, scenario.network.as_ref(), scenario.seed).map_err(|error| refused(&error))?;
        let ues = scenario.ues();
        for ue in &ues {
            network.add_ue(&ue.config).map_err(|error| refused(&error))?;
        }
        let routers = (0..).zip(&scenario.router).map(|(index, router)| Router::new(router, index, scenario.seed));
        let routers = routers.collect::<Result<_, _>>().map_err(|error| refused(&error))?;
        let link = |router: &RouterConfig| (!router.delay.is_zero()).then(|| Wire::constant(router.delay));
        let links = scenario.router.iter().map(link).collect();
        let mut ends = Ends::default();
        for flow in scenario.flows(&ues) {
            ends.add(flow, scenario.seed, &mut network)?;
        }
        let multiplier = |ue: &NamedUe| Some(ue.config.anbr.as_ref()?.multiplier.on_wire());
        let multipliers = ues.iter().map(multiplier).collect();
        let query_every = ues.iter().map(|ue| ue.config.anbr.as_ref()?.query_every).collect();
        let recorder = ends.recorder(scenario, &ues);
        let Ends { flows, down, up, .. } = ends;
        let mut run = Self {
            scenario,
            events: EventQueue::default(),
            remote_events: EventQueue::default(),
            marks: EventQueue::default(),
            down,
            up,
            pool: Pool::default(),
            routers,
            links,
            first_out: None,
            first_up: None,
            network,
            flows,
            scenario_ues: ues.len() as u32,
            recorder,
            decided: Inbox::default(),
            multipliers,
            query_every,
            now: Instant::ZERO,
        };
        run.recorder.begin(run.counters());
        Ok(run)
    }

    /// `observer` sees everything that passes the CU, instead of the one before it.
    pub fn observe(&mut self, observer: Observer<Stamped>) {
        self.network.observe(observer);
    }

    /// Sends all that passes the CU to this capture.
    pub fn capture(&mut self, capture: &Capture) {
        self.observe(capture.observer());
    }

    /// Keeps marks with their reasons, for `marks.csv`.
    pub fn keep_marks(&mut self) {
        self.recorder.marks.begin(self.flows.len(), true);
        self.network.observe_signals(self.decided.observer());
    }

    /// Runs to the scenario's end, or until `proceed`, which hears the virtual time once an interval of the
    /// series, answers false: then the result says how far it came.
    ///
    /// # Errors
    /// Bytes that appeared or vanished.
    pub fn run(&mut self, proceed: impl Fn(Instant) -> bool) -> Result<RunResult, NotConserved> {
        let ahead = self.least_delays();
        self.run_ahead(ahead, proceed)
    }

    /// Runs as [`run`](Self::run) does, with spans for which what goes down and what goes up the wires is not felt.
    pub(crate) fn run_ahead(
        &mut self,
        ahead: [Duration; 2],
        proceed: impl Fn(Instant) -> bool,
    ) -> Result<RunResult, NotConserved> {
        for flow in 0..self.flows.len() {
            self.serve_client(Instant::ZERO, flow);
            self.serve_server(Instant::ZERO, flow);
        }
        self.marks.schedule(Instant::ZERO + self.scenario.warmup, Mark::WarmUpEnds);
        self.marks.schedule(Instant::ZERO + self.scenario.sample_interval, Mark::Sample);
        for (ue, at) in self.scenario.handovers() {
            self.events.schedule(Instant::ZERO + at, Event::Handover(ue));
        }
        for (ue, interval) in (0..).map(UeId).zip(self.query_every.clone()) {
            if let Some(interval) = interval {
                self.events.schedule(Instant::ZERO + interval, Event::Query(ue));
            }
        }
        self.now = self.run_sides(ahead, proceed);
        self.check_conservation()?;
        self.decided.hand_to(&mut self.recorder.marks);
        Ok(summary::summarise(self.scenario, self))
    }

    /// A packet that comes out of a wire then has gone into it.
    fn note_out(&mut self, at: Instant) {
        self.first_out = self.first_out.filter(|(first, _)| *first < at);
    }

    /// A packet leaves a wire towards its routers or the access network.
    pub(crate) fn leave_wire(&mut self, now: Instant, wire: usize) {
        self.first_out = None;
        while let Some(packet) = self.down[wire].receive(now) {
            self.go_on(now, None, packet);
        }
        self.drain_network(now);
    }

    /// A packet goes on after the last router that it passed: to the next one, then to the access network or up the wire.
    fn go_on(&mut self, now: Instant, passed: Option<usize>, packet: Packet<Stamped>) {
        let flow = &self.flows[packet.flow.0 as usize];
        let up = flow.goes_up(&packet);
        match flow.next_router(&packet, passed) {
            Some(router) => match &mut self.links[router] {
                Some(link) if up => {
                    let at = link.send(now, packet);
                    self.note_out(at);
                }
                _ => self.enter_router(now, router, packet),
            },
            None if up => {
                self.up[flow.wire].send(now, packet);
                self.first_up = None;
            }
            None => self.reach_access(now, packet),
        }
    }

    fn enter_router(&mut self, now: Instant, router: usize, mut packet: Packet<Stamped>) {
        self.first_out = None;
        (packet.payload.at_router, packet.payload.came_marked) = (now, packet.ecn == Ecn::Ce);
        self.routers[router].arrive(now, packet);
        self.record_begun(router);
        self.count_router_drops(now, router);
    }

    pub(crate) fn leave_router(&mut self, now: Instant, router: usize) {
        self.first_out = None;
        while let Some((at, mut packet)) = self.routers[router].receive(now) {
            let whole = at.since(packet.payload.at_router);
            packet.payload.in_routers += whole;
            let marked = packet.ecn == Ecn::Ce && !packet.payload.came_marked;
            self.recorder.handle(at, Recorded::RouterSent { router, size: packet.size, marked });
            if !packet.payload.up {
                self.recommend_link(at, router, packet.flow);
            }
            self.record_begun(router);
            match &mut self.links[router] {
                Some(link) if !packet.payload.up => {
                    link.send(now, packet);
                }
                _ => self.go_on(now, Some(router), packet),
            }
        }
        // With retransmissions the link goes on although no packet came out.
        self.record_begun(router);
        self.count_router_drops(now, router);
        self.drain_network(now);
    }

    /// A packet has come along the wire beside a router: on its way up to the router, on its way down from it.
    pub(crate) fn leave_link(&mut self, now: Instant, router: usize) {
        self.first_out = None;
        while let Some(packet) = self.links[router].as_mut().and_then(|link| link.receive(now)) {
            if packet.payload.up {
                self.enter_router(now, router, packet);
            } else {
                self.go_on(now, Some(router), packet);
            }
        }
        self.drain_network(now);
    }

    /// Records the packet that a router's link has begun with, if there is one.
    fn record_begun(&mut self, router: usize) {
        if let Some((at, packet)) = self.routers[router].take_begun() {
            let waited = at.since(packet.payload.at_router);
            packet.payload.waited += waited;
            self.recorder.handle(at, Recorded::RouterBegan { router, waited });
        }
    }

    fn count_router_drops(&mut self, now: Instant, router: usize) {
        while let Some(packet) = self.routers[router].take_dropped() {
            self.recorder.handle(now, Recorded::RouterDropped { router });
            self.count_drop(now, &packet);
        }
    }

    fn count_drop(&mut self, at: Instant, packet: &Packet<Stamped>) {
        let index = packet.flow.0 as usize;
        self.flows[index].ledger.dropped += packet.size;
        if !packet.payload.back {
            self.recorder.handle(at, Recorded::Dropped { flow: index });
        }
    }

    fn count_uplink_drop(&mut self, at: Instant, ue: UeId, flow: FlowId) {
        if let Some(drb) = self.network.carries_up(ue, flow) {
            self.recorder.handle(at, Recorded::UplinkDropped { ue: ue.0 as usize, drb });
        }
    }

    /// A packet reaches its cell, or the end that is on the wire.
    fn reach_access(&mut self, now: Instant, packet: Packet<Stamped>) {
        match self.flows[packet.flow.0 as usize].ue {
            Some(ue) => self.network.handle_downlink(now, ue, packet),
            None => self.reach_end(now, now, packet),
        }
    }

    fn reach_end(&mut self, now: Instant, at: Instant, packet: Packet<Stamped>) {
        if packet.payload.back {
            self.reach_server(now, packet);
        } else {
            self.reach_client(now, at, packet);
        }
    }

    fn reach_client(&mut self, now: Instant, at: Instant, packet: Packet<Stamped>) {
        let index = packet.flow.0 as usize;
        let Way { sent, number, waited, in_routers, drb, delay, .. } = *packet.payload;
        let (size, ecn) = (packet.size, packet.ecn);
        let flow = &mut self.flows[index];
        let waited = (!flow.routers.is_empty()).then_some(waited);
        let arrival = Arrival { sent, size, ecn, waited, in_routers, drb, delay };
        flow.ledger.delivered += size;
        let ue = flow.ue.filter(|_| !flow.uplink).map(|ue| ue.0 as usize);
        self.recorder.handle(at, Recorded::Arrived { flow: index, ue, arrival });
        if ecn == Ecn::Ce {
            self.decided.hand_to(&mut self.recorder.marks);
        }
        if self.recorder.marks.follow(index) {
            let (routers, feedback) = (waited.map(|_| in_routers), flow.client.next_number());
            self.recorder.marks.arrived(index, number, at, (routers, delay), feedback);
        }
        flow.client.endpoint.handle_packet(now, unstamped(&packet));
        self.pool.take_back(packet);
        while let Some(frame) = flow.client.endpoint.take_frame() {
            self.recorder.handle(at, Recorded::Frame { flow: index, frame, wire: arrival.on_wire(at) });
        }
        if let Some(completion) = flow.client.endpoint.take_completion() {
            self.recorder.handle(at, Recorded::Completed { flow: index, duration: completion.duration });
        }
        self.serve_client(now, index);
    }

    fn reach_server(&mut self, now: Instant, packet: Packet<Stamped>) {
        let index = packet.flow.0 as usize;
        let flow = &mut self.flows[index];
        flow.ledger.delivered += packet.size;
        let number = packet.payload.number;
        let before = self.recorder.marks.await_feedback(index, number).then(|| flow.server.endpoint.stats());
        flow.server.endpoint.handle_packet(now, unstamped(&packet));
        self.pool.take_back(packet);
        if let Some(before) = before {
            let after = flow.server.endpoint.stats();
            // Feedback that was lost comes with what follows it: the sender counts when it learns of marks.
            if after.marks_reported > before.marks_reported {
                let answer = Answer { at: now, before: sending(&before), after: sending(&after) };
                self.recorder.marks.answered(index, number, answer);
            }
        }
        if let Some(rtt) = flow.server.endpoint.take_rtt_sample() {
            self.recorder.handle(now, Recorded::RoundTrip { flow: index, rtt });
        }
        while let Some(page) = flow.server.endpoint.take_completion() {
            self.recorder.handle(now, Recorded::Completed { flow: index, duration: page.duration });
        }
        self.serve_server(now, index);
    }

    /// Takes what comes out of a wire upwards, and has reached its end.
    pub(crate) fn end_wire(&mut self, now: Instant, wire: usize) {
        self.first_up = None;
        while let Some(packet) = self.up[wire].receive(now) {
            self.reach_end(now, now, packet);
        }
    }

    pub(crate) fn handle(&mut self, now: Instant, event: Event) {
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
            Event::Query(ue) => self.query(now, ue),
            Event::Handover(ue) => self.network.hand_over(now, ue),
        }
    }

    /// Lets the server send what it may, then notes its next deadline.
    pub(crate) fn serve_server(&mut self, now: Instant, index: usize) {
        while let Some(packet) = self.flows[index].server.endpoint.poll_transmit(now) {
            let flow = &mut self.flows[index];
            flow.ledger.sent += packet.size;
            self.recorder.handle(now, Recorded::Sent { flow: index });
            let packet = self.pool.stamp(now, flow, false, packet);
            self.depart(now, packet);
        }
        if let Some(at) = self.flows[index].server.reschedule(now) {
            let remote = !self.flows[index].uplink;
            self.events_of(remote).schedule(at, Event::Server(index));
        }
    }

    /// Lets the client send what it may, then notes its next deadline.
    pub(crate) fn serve_client(&mut self, now: Instant, index: usize) {
        while let Some(packet) = self.flows[index].client.endpoint.poll_transmit(now) {
            let flow = &mut self.flows[index];
            flow.ledger.sent += packet.size;
            let packet = self.pool.stamp(now, flow, true, packet);
            self.depart(now, packet);
        }
        if let Some(at) = self.flows[index].client.reschedule(now) {
            let remote = self.flows[index].uplink;
            self.events_of(remote).schedule(at, Event::Client(index));
        }
    }

    /// A packet sets out, from the UE or from the other end.
    fn depart(&mut self, now: Instant, packet: Packet<Stamped>) {
        let flow = &self.flows[packet.flow.0 as usize];
        match flow.ue {
            _ if !flow.goes_up(&packet) => {
                let at = self.down[flow.wire].send(now, packet);
                self.note_out(at);
            }
            Some(ue) => self.network.handle_uplink(now, ue, packet),
            None => self.go_on(now, None, packet),
        }
    }

    /// Takes what left the cells to its ends and to the wire.
    pub(crate) fn drain_network(&mut self, now: Instant) {
        while let Some(output) = self.network.poll_output() {
            match output {
                Output::Downlink { at, mut packet, drb, delay, .. } => {
                    (packet.payload.drb, packet.payload.delay) = (drb, delay);
                    self.reach_end(now, at, packet);
                }
                Output::Uplink { ue, qfi, mut packet, delay, .. } => {
                    let ue = ue.0 as usize;
                    let drb = self.recorder.uplink_drb(ue, qfi);
                    (packet.payload.drb, packet.payload.delay) = (drb, delay);
                    self.recorder.handle(now, Recorded::UplinkArrived { ue, drb, size: packet.size, delay });
                    if packet.payload.back {
                        self.recorder.marks.acknowledgement_passed(packet.flow.0 as usize, packet.payload.number);
                    }
                    self.go_on(now, None, packet);
                }
                Output::Recommendation { ue, octets, exact, .. } => self.recommend(now, ue, octets, exact),
                Output::ShortCircuited { at, flow, .. } => {
                    self.decided.hand_to(&mut self.recorder.marks);
                    self.recorder.handle(at, Recorded::ShortCircuited { flow: flow.0 as usize });
                }
                Output::Dropped { at, ue, packet, reason } => {
                    if packet.payload.up {
                        self.count_uplink_drop(at, ue, packet.flow);
                    } else if !packet.payload.back {
                        self.decided.hand_to(&mut self.recorder.marks);
                        self.recorder.marks.lost(packet.flow.0 as usize, packet.payload.number, reason);
                    }
                    self.count_drop(at, &packet);
                }
            }
        }
    }

    pub(crate) fn sample(&mut self, now: Instant) {
        self.now = now;
        self.decided.hand_to(&mut self.recorder.marks);
        let flows = &self.flows;
        let senders = |flow: usize| flows[flow].server.endpoint.stats();
        self.recorder.sample(&self.cell_counters(), senders, &self.serving());
    }

    fn check_conservation(&self) -> Result<(), NotConserved> {
        let mut queued = vec![Bytes::ZERO; self.flows.len()];
        let wires = self.down.iter().chain(&self.up).chain(self.links.iter().flatten()).flat_map(Wire::packets);
        let routers = self.routers.iter().flat_map(Router::packets);
        for packet in wires.chain(routers).chain(self.network.packets()) {
            queued[packet.flow.0 as usize] += packet.size;
        }
        self.flows.iter().zip(queued).try_for_each(|(flow, queued)| flow.ledger.check(flow.id, queued))
    }
}
