//! A shard: some cells of a run, one as a rule, with their UEs, the ends of their flows and the wires between them.
//!
//! Nothing passes from one shard to another while they run; a driver stops them at one time and hands UEs over.

use tidemark_cell::{Cells, Output, Radio, UeId};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet, Slab};
use tidemark_record::event::Event as Recorded;
use tidemark_record::marks::Answer;
use tidemark_record::{Arrival, Recorder};
use tidemark_router::Router;
use tidemark_wire::mac::BitRateMultiplier;

use crate::capture::Senders;
use crate::event::EventQueue;
use crate::flow::Flow;
use crate::ledger::NotConserved;
use crate::marked::{Inbox, sending};
use crate::scenario::NamedUe;
use crate::sides::Source;
use crate::stamped::{Pool, Stamped, Way, unstamped};
use crate::wire::Wire;

/// Cells with all that happens at their UEs and beyond the wires.
pub(crate) struct Shard {
    pub(crate) cells: Cells<Stamped>,
    pub(crate) ues: Slab<UeId, Ue>,
    pub(crate) flows: Slab<usize, Flow>,
    /// Events at the access network, and at the ends beyond the wires.
    pub(crate) events: EventQueue<Event>,
    pub(crate) remote_events: EventQueue<Event>,
    /// Wires to the gNB and to the servers, one of each for every delay.
    pub(crate) down: Vec<Wire<Stamped>>,
    pub(crate) up: Vec<Wire<Stamped>>,
    /// Spans for which what goes down and what goes up the wires is not felt.
    pub(crate) ahead: [Duration; 2],
    pub(crate) pool: Pool,
    pub(crate) routers: Vec<Router<Stamped>>,
    /// True for each router that recommends rates.
    pub(crate) recommends: Vec<bool>,
    /// The wire between each router and its neighbour towards the access network, where it has a delay.
    pub(crate) links: Vec<Option<Wire<Stamped>>>,
    /// Time of the next packet out of those, and out of the wires upwards; `None` if that is to be found out.
    pub(crate) first_out: Option<(Instant, Source)>,
    pub(crate) first_up: Option<(Instant, usize)>,
    pub(crate) recorder: Recorder,
    /// Marks that the recorder has not taken yet.
    pub(crate) decided: Inbox,
    /// Observer of the senders; a run with one has one shard.
    pub(crate) senders: Option<Senders>,
}

/// A UE of a run.
pub(crate) struct Ue {
    /// Numbers of its flows, rising.
    pub(crate) flows: Vec<usize>,
    /// Its `bitRateMultiplier`, where it gets recommendations.
    pub(crate) multiplier: Option<BitRateMultiplier>,
    /// Interval at which its applications ask for recommendations.
    pub(crate) query_every: Option<Duration>,
}

/// An event outside of cells; most name a flow.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Event {
    /// A deadline of the server has come.
    Server(FlowId),
    /// A deadline of the client has come.
    Client(FlowId),
    /// The applications of a UE ask for a bit rate recommendation.
    Query(UeId),
    /// A UE moves to another cell of the same kind.
    Handover(UeId),
}

impl Ue {
    /// A UE without flows.
    pub(crate) fn new(ue: &NamedUe) -> Self {
        let anbr = ue.config.anbr.as_ref();
        Self {
            flows: Vec::new(),
            multiplier: anbr.map(|anbr| anbr.multiplier.on_wire()),
            query_every: anbr.and_then(|anbr| anbr.query_every),
        }
    }
}

impl Shard {
    /// Lets both ends of every flow begin; UEs will change cells at these times, and ask for rates.
    pub(crate) fn begin(&mut self, handovers: impl Iterator<Item = (UeId, Duration)>) {
        let zero = Instant::ZERO;
        for flow in self.flows.keys().collect::<Vec<_>>() {
            self.serve_client(zero, flow);
            self.serve_server(zero, flow);
        }
        handovers.for_each(|(ue, at)| self.events.schedule(zero, zero + at, Event::Handover(ue)));
        for (id, ue) in self.ues.entries() {
            if let Some(interval) = ue.query_every {
                self.events.schedule(zero, zero + interval, Event::Query(id));
            }
        }
    }

    /// The radio was measured.
    pub(crate) fn hear(&mut self, radio: &Radio) {
        self.ues.keys().for_each(|ue| self.cells.set_means(ue, radio.means(ue)));
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
        self.drain_cells(now);
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
        self.drain_cells(now);
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
        self.drain_cells(now);
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
            self.count_drop(now, packet);
        }
    }

    fn count_drop(&mut self, at: Instant, packet: Packet<Stamped>) {
        let index = packet.flow.0 as usize;
        self.flows[index].ledger.dropped += packet.size;
        if !packet.payload.back {
            self.recorder.handle(at, Recorded::Dropped { flow: index });
        }
        self.pool.take_back(packet);
    }

    fn count_uplink_drop(&mut self, at: Instant, ue: UeId, flow: FlowId) {
        if let Some(drb) = self.cells.carries_up(ue, flow) {
            self.recorder.handle(at, Recorded::UplinkDropped { ue: ue.0 as usize, drb });
        }
    }

    /// A packet reaches its cell, or the end that is on the wire.
    fn reach_access(&mut self, now: Instant, packet: Packet<Stamped>) {
        match self.flows[packet.flow.0 as usize].ue {
            Some(ue) => self.cells.handle_downlink(now, ue, packet),
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
        let rtt = flow.server.endpoint.take_rtt_sample();
        if let Some(senders) = &self.senders {
            senders.measured(now, index, &flow.server.endpoint.stats(), rtt);
        }
        if let Some(rtt) = rtt {
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
            Event::Server(flow) => {
                let index = flow.0 as usize;
                let server = &mut self.flows[index].server;
                if server.is_due(now) {
                    server.endpoint.handle_timeout(now);
                    if let Some(senders) = &self.senders {
                        senders.measured(now, index, &server.endpoint.stats(), None);
                    }
                }
                self.serve_server(now, index);
            }
            Event::Client(flow) => {
                let index = flow.0 as usize;
                let client = &mut self.flows[index].client;
                if client.is_due(now) {
                    client.endpoint.handle_timeout(now);
                }
                self.serve_client(now, index);
            }
            Event::Query(ue) => self.query(now, ue),
            Event::Handover(ue) => self.cells.hand_over(now, ue),
        }
    }

    /// Lets the server send what it may, then notes its next deadline.
    pub(crate) fn serve_server(&mut self, now: Instant, index: usize) {
        while let Some(packet) = self.flows[index].server.endpoint.poll_transmit(now) {
            let flow = &mut self.flows[index];
            flow.ledger.sent += packet.size;
            self.recorder.handle(now, Recorded::Sent { flow: index });
            let packet = self.pool.stamp(now, flow, false, packet);
            if let Some(senders) = &self.senders {
                senders.sent(now, index, packet.payload.number, packet.size);
            }
            self.depart(now, packet);
        }
        if let Some(at) = self.flows[index].server.reschedule(now) {
            let remote = !self.flows[index].uplink;
            self.events_of(remote).schedule(now, at, Event::Server(FlowId(index as u32)));
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
            self.events_of(remote).schedule(now, at, Event::Client(FlowId(index as u32)));
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
            Some(ue) => self.cells.handle_uplink(now, ue, packet),
            None => self.go_on(now, None, packet),
        }
    }

    /// Takes what left the cells to its ends and to the wire.
    pub(crate) fn drain_cells(&mut self, now: Instant) {
        while let Some(output) = self.cells.poll_output() {
            self.take_output(now, output);
        }
    }

    /// Takes what left a cell, of a UE that is here, to its end or to the wire.
    pub(crate) fn take_output(&mut self, now: Instant, output: Output<Stamped>) {
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
                self.count_drop(at, packet);
            }
        }
    }

    /// Checks that bytes neither appeared nor vanished.
    ///
    /// # Errors
    /// The first flow of which they did.
    pub(crate) fn check_conservation(&self) -> Result<(), NotConserved> {
        let mut queued = vec![Bytes::ZERO; self.flows.next()];
        let wires = self.down.iter().chain(&self.up).chain(self.links.iter().flatten()).flat_map(Wire::packets);
        let routers = self.routers.iter().flat_map(Router::packets);
        for packet in wires.chain(routers).chain(self.cells.packets()) {
            queued[packet.flow.0 as usize] += packet.size;
        }
        self.flows.iter().zip(queued).try_for_each(|(flow, queued)| flow.ledger.check(flow.id, queued))
    }
}
