//! The recorder: what happens goes in, results come out.

use std::collections::BTreeMap;

use tidemark_cell::network::UeRadio;
use tidemark_core::{Duration, FlowId, Instant, Slab};
use tidemark_senders::Stats;
use tidemark_senders::media::FrameBudget;

use crate::cell::CellRecord;
use crate::counters::Counters;
use crate::event::Event;
use crate::flow::FlowRecord;
use crate::marks::Marks;
use crate::router::RouterRecord;
use crate::series::{Place, SenderState, halve};
use crate::subject::NamedUe;
use crate::ue::UeRecord;
use crate::watched::FlowInterval;

/// Bounds of a recorder's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Flows that are recorded one by one. Further flows are counted together, in one more flow for each UE.
    pub flows: usize,
    /// Largest number of intervals of the series. When it is reached, each pair of intervals becomes one.
    pub intervals: usize,
}

impl Limits {
    /// Bounds of a simulated run: none beyond those of its scenario.
    pub const SCENARIO: Self = Self { flows: usize::MAX, intervals: usize::MAX };
    /// Bounds of a live cell, which may run for any time: 64 flows, and between 1,024 and 2,048 intervals.
    pub const LIVE: Self = Self { flows: 64, intervals: 2_048 };
}

/// Recorder of a simulated or a live cell, or of one flow on a real network. Statistics leave out the warm-up, series
/// don't.
#[derive(Debug)]
pub struct Recorder {
    warm: Instant,
    limits: Limits,
    pub(crate) flows: Slab<usize, FlowRecord>,
    /// Numbers of flows that are not numbered from the beginning, by UE.
    index: BTreeMap<(usize, FlowId), usize>,
    /// Numbers of the flows that count what is beyond the limit, by UE.
    others: BTreeMap<usize, usize>,
    pub(crate) ues: Slab<usize, UeRecord>,
    pub(crate) cells: Slab<usize, CellRecord>,
    pub(crate) routers: Vec<RouterRecord>,
    /// Ends of the intervals of the series.
    pub(crate) times: Vec<Instant>,
    /// Samples that make one interval, and those of the one that is open.
    stride: u32,
    in_interval: u32,
    /// Resources that a cell had had at the last interval's end.
    resources_before: u64,
    /// End of the last sample.
    sampled: Instant,
    /// Counters at the warm-up's end.
    pub(crate) baseline: Counters,
    /// Marks with their reasons; none are kept until [`Marks::begin`].
    pub marks: Marks,
}

/// Number of a flow in a recorder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FlowNumber {
    /// The flow was there before.
    Known(usize),
    /// The flow is new and has a record of its own.
    New(usize),
    /// The flow is new and the first of its UE's that are counted together.
    FirstOfOthers(usize),
}

impl FlowNumber {
    /// Number for events.
    pub fn index(self) -> usize {
        let (Self::Known(index) | Self::New(index) | Self::FirstOfOthers(index)) = self;
        index
    }
}

impl Recorder {
    /// Recorder of these UEs, and of this many cells of a network; statistics begin after `warmup`.
    pub fn new(warmup: Duration, ues: &[NamedUe], cells: usize, limits: Limits) -> Self {
        let is_live = limits.flows < usize::MAX;
        Self {
            ues: ues.iter().map(|ue| UeRecord::new(&ue.config, is_live)).collect(),
            cells: (0..cells).map(|_| CellRecord::default()).collect(),
            ..Self::of_nobody(Instant::ZERO + warmup, limits)
        }
    }

    fn of_nobody(warm: Instant, limits: Limits) -> Self {
        Self {
            warm,
            limits,
            flows: Slab::new(),
            index: BTreeMap::new(),
            others: BTreeMap::new(),
            ues: Slab::new(),
            cells: Slab::new(),
            routers: Vec::new(),
            times: Vec::new(),
            stride: 1,
            in_interval: 0,
            resources_before: 0,
            sampled: Instant::ZERO,
            baseline: Counters::default(),
            marks: Marks::default(),
        }
    }

    /// Empty recorder with the same intervals, for UEs, flows and cells that this recorder hands over.
    pub fn part(&self) -> Self {
        Self {
            times: self.times.clone(),
            stride: self.stride,
            in_interval: self.in_interval,
            resources_before: self.resources_before,
            sampled: self.sampled,
            marks: self.marks.part(),
            ..Self::of_nobody(self.warm, self.limits)
        }
    }

    /// Hands a UE's record to another part.
    pub fn hand_ue(&mut self, to: &mut Self, ue: usize) {
        self.ues.hand(&mut to.ues, ue);
    }

    /// Hands a flow's record to another part, with its marks.
    pub fn hand_flow(&mut self, to: &mut Self, flow: usize) {
        self.flows.hand(&mut to.flows, flow);
        self.marks.hand_flow(&mut to.marks, flow);
    }

    /// Hands a cell's record to another part.
    pub fn hand_cell(&mut self, to: &mut Self, cell: usize) {
        self.cells.hand(&mut to.cells, cell);
    }

    /// True for what happens after the warm-up.
    #[inline]
    pub fn counts(&self, at: Instant) -> bool {
        at >= self.warm
    }

    /// Adds a flow and gives its number; numbers rise from 0.
    pub fn add_flow(&mut self) -> usize {
        let flow = self.flows.next();
        self.flows.insert(flow, Box::new(FlowRecord::new(self.times.len())));
        flow
    }

    /// Sets the budget that a flow's frames should meet; without one, the results don't mention it.
    pub fn set_frame_budget(&mut self, flow: usize, budget: Option<FrameBudget>) {
        self.flows[flow].frames.budget = budget;
    }

    /// Measures each interval of a flow by itself from now on.
    pub(crate) fn watch_flow(&mut self, flow: usize) {
        self.flows[flow].watched = Some(Box::default());
    }

    /// Last interval of a flow that is watched; one without measurements for others.
    pub(crate) fn take_interval(&mut self, flow: usize) -> FlowInterval {
        self.flows[flow].watched.as_mut().map(|watched| std::mem::take(&mut watched.interval)).unwrap_or_default()
    }

    /// Adds a router whose queue is compared with these delays, and gives its number; numbers rise from 0.
    pub fn add_router(&mut self, tdq: &[Duration]) -> usize {
        self.routers.push(RouterRecord::new(tdq));
        self.routers.len() - 1
    }

    /// Number of a flow that appears while the cell runs. A flow belongs to one UE, so that sums by UE are right.
    pub fn flow_number(&mut self, ue: usize, id: FlowId) -> FlowNumber {
        if let Some(index) = self.index.get(&(ue, id)) {
            return FlowNumber::Known(*index);
        }
        if self.index.len() < self.limits.flows {
            let index = self.add_flow();
            self.index.insert((ue, id), index);
            return FlowNumber::New(index);
        }
        // Flows beyond the limit are not even remembered by id.
        if let Some(index) = self.others.get(&ue) {
            return FlowNumber::Known(*index);
        }
        let index = self.add_flow();
        self.others.insert(ue, index);
        FlowNumber::FirstOfOthers(index)
    }

    /// Record of a flow.
    pub fn flow(&self, index: usize) -> Option<&FlowRecord> {
        self.flows.get(index)
    }

    /// Record of a UE.
    pub fn ue(&self, index: usize) -> Option<&UeRecord> {
        self.ues.get(index)
    }

    /// DRB identity of the bearer that brings a UE's packets of a QoS flow.
    #[inline]
    pub fn uplink_drb(&self, ue: usize, qfi: u8) -> u8 {
        self.ues[ue].uplink.drb_of(qfi)
    }

    /// Counts an event.
    #[inline]
    pub fn handle(&mut self, at: Instant, event: Event) {
        let counts = self.counts(at);
        match event {
            Event::Sent { flow } => self.flows[flow].sent(at, counts),
            Event::Arrived { flow, ue, arrival } => {
                self.flows[flow].arrived(at, &arrival, counts);
                if let Some(ue) = ue {
                    self.ues[ue].arrived(&arrival, counts);
                }
            }
            Event::Acknowledged { flow, ecn } => self.flows[flow].acknowledged(ecn),
            Event::Rate { flow, rate } => self.flows[flow].rate(rate),
            Event::Dropped { flow } => self.flows[flow].dropped(counts),
            Event::ShortCircuited { flow } => self.flows[flow].short_circuited(counts),
            Event::RoundTrip { flow, rtt } => self.flows[flow].round_trip(rtt, counts),
            Event::Frame { flow, frame, wire } => self.flows[flow].frame(at, &frame, wire, counts),
            Event::Completed { flow, duration } => self.flows[flow].completed(duration, counts),
            Event::UplinkArrived { ue, drb, size, delay } => self.ues[ue].sent(drb, size, delay, counts),
            Event::UplinkDropped { ue, drb } => {
                if counts {
                    self.ues[ue].uplink.lost(drb);
                }
            }
            Event::Recommended { ue, direction, channel, rate } => {
                self.ues[ue].recommended(direction, channel, rate, counts);
            }
            Event::Queried { ue, direction, sent } => self.ues[ue].queried(direction, sent, counts),
            Event::RouterBegan { router, waited } => self.routers[router].began(at, waited),
            Event::RouterSent { router, size, marked } => self.routers[router].left(size, marked),
            Event::RouterDropped { router } => self.routers[router].dropped(),
        }
    }

    /// Ends the warm-up: results count from these counters on.
    pub fn begin(&mut self, counters: Counters) {
        for (flow, server) in self.flows.iter_mut().zip(&counters.servers) {
            flow.frames.begin(server.frames_sent);
        }
        self.baseline = counters;
        self.routers.iter_mut().for_each(RouterRecord::begin);
    }

    /// Time from which results count; zero where the warm-up has not ended.
    pub fn begun_at(&self) -> Instant {
        self.baseline.at
    }

    /// Ends a sample of the series. `now` are the counters of the UEs, cells and links that the recorder has, in the
    /// order of their numbers. `senders` gives the counters of a flow's server; only its state is read.
    pub fn sample(&mut self, now: &Counters, senders: impl Fn(usize) -> Stats) {
        let span = now.at.since(std::mem::replace(&mut self.sampled, now.at));
        for (position, ue) in self.ues.iter_mut().enumerate() {
            ue.sample(span, &now.ue(position));
        }
        self.flows.iter_mut().filter_map(|flow| flow.watched.as_mut()).for_each(|watched| watched.sample());
        self.in_interval += 1;
        if self.in_interval < self.stride {
            return;
        }
        self.in_interval = 0;
        for (index, flow) in self.flows.entries_mut() {
            flow.sample(SenderState::from(&senders(index)));
        }
        let resources = now.resources - self.resources_before;
        for (position, ue) in self.ues.iter_mut().enumerate() {
            ue.point.resources.1 = resources;
            ue.point.place = now.radio.get(position).copied().flatten().map(place);
            ue.points.push(std::mem::take(&mut ue.point));
        }
        for ((index, cell), stats) in self.cells.entries_mut().zip(&now.cells) {
            let ues = now.radio.iter().flatten().filter(|radio| radio.cell == index).count() as u32;
            cell.sample(*stats, resources, ues);
        }
        for (router, rate) in self.routers.iter_mut().zip(&now.link_rates) {
            router.point.rate = *rate;
            router.points.push(std::mem::take(&mut router.point));
        }
        self.resources_before = now.resources;
        self.times.push(now.at);
        if self.times.len() >= self.limits.intervals {
            self.stride *= 2;
            self.times = self.times.chunks(2).filter_map(|pair| pair.last().copied()).collect();
            self.flows.iter_mut().for_each(|flow| halve(&mut flow.points));
            self.ues.iter_mut().for_each(|ue| halve(&mut ue.points));
            self.cells.iter_mut().for_each(|cell| halve(&mut cell.points));
            self.routers.iter_mut().for_each(|router| halve(&mut router.points));
        }
    }
}

/// Place of a UE of a network.
fn place(UeRadio { cell, position, sinr_db, .. }: UeRadio) -> Place {
    Place { position, sinr_db, cell: cell as u32 }
}

#[cfg(test)]
mod tests {
    use tidemark_cell::{DelaySplit, DrbStats, UeConfig, UeStats};
    use tidemark_core::{BitRate, Bytes, Ecn, FlowId};

    use super::*;
    use crate::event::Arrival;
    use crate::flow::FlowDescription;
    use crate::router::RouterDescription;
    use crate::summary::Description;

    fn ues() -> Vec<NamedUe> {
        vec![NamedUe { name: "walker".into(), kind: 0, config: UeConfig::default() }]
    }

    fn description<'a>(ues: &'a [NamedUe], flows: &'a [FlowDescription]) -> Description<'a> {
        Description {
            name: "t",
            description: "",
            seed: 1,
            duration: Duration::from_secs(2),
            warmup: Duration::from_secs(1),
            ues,
            flows,
            network: None,
            routers: &[],
            knows_queries: false,
            conservation: String::new(),
            scenario: "",
        }
    }

    /// Arrival of a packet that was sent then and took 10 ms, 7 of them in the RLC queue.
    fn arrival(sent: Instant) -> Arrival {
        let delay = DelaySplit { queuing: Duration::from_millis(7), ..DelaySplit::default() };
        let (waited, in_routers) = (None, Duration::ZERO);
        Arrival { sent, size: Bytes(1_000), ecn: Ecn::Ce, waited, in_routers, drb: 1, delay }
    }

    /// A cell that loses its data at a handover: every counter of drops says the same.
    #[test]
    fn packets_lost_at_a_handover_are_drops_of_ue_and_bearer() {
        let ues = ues();
        let recorder = Recorder::new(Duration::from_secs(1), &ues, 0, Limits::LIVE);
        let end = Counters {
            at: Instant::from_millis(2_000),
            ues: vec![UeStats { dropped_by_handover: 638, dropped_by_law: 2, ..UeStats::default() }],
            bearers: vec![vec![DrbStats { dropped: 640, ..DrbStats::default() }]],
            ..Counters::default()
        };
        let result = recorder.result(&description(&ues, &[]), &end);
        assert_eq!((result.ues[0].dropped, result.bearers[0].dropped), (640, 640));
    }

    #[test]
    fn statistics_begin_after_the_warm_up_and_series_before() {
        let ues = ues();
        let mut recorder = Recorder::new(Duration::from_secs(1), &ues, 0, Limits::SCENARIO);
        let flow = recorder.add_flow();
        for sent in [500, 1_500].map(Instant::from_millis) {
            recorder.handle(sent, Event::Sent { flow });
            let at = sent + Duration::from_millis(10);
            recorder.handle(at, Event::Arrived { flow, ue: Some(0), arrival: arrival(sent) });
            let now = Counters { at: sent + Duration::from_millis(500), ..Counters::default() };
            recorder.sample(&now, |_| Stats::default());
        }
        let flows = [FlowDescription {
            name: "f".into(),
            ue: Some(0),
            controller: "prague".into(),
            law: "none".into(),
            routers: Vec::new(),
            is_uplink: false,
        }];
        let end = Counters { at: Instant::from_millis(2_000), ..Counters::default() };
        let result = recorder.result(&description(&ues, &flows), &end);
        assert_eq!((result.flows[0].marked, result.series.flows.marks[0].as_slice()), (1, &[1, 1][..]));
        assert_eq!(result.flows[0].split_ms.map(|split| (split.propagation, split.queuing)), Some((3.0, 7.0)));
        assert_eq!(result.series.ues.queue_ms[0], [Some(7.0), Some(7.0)]);
    }

    #[test]
    fn a_routers_statistics_begin_after_the_warm_up_and_its_series_before() {
        let mut recorder = Recorder::new(Duration::from_secs(1), &[], 0, Limits::SCENARIO);
        let (router, size, marked) = (recorder.add_router(&[Duration::from_millis(5)]), Bytes(125_000), true);
        for (end, waited) in [(1_000, 4), (2_000, 8)].map(|(end, ms)| (Instant::from_millis(end), ms)) {
            let at = end.before(Duration::from_millis(500));
            recorder.handle(at, Event::RouterBegan { router, waited: Duration::from_millis(waited) });
            recorder.handle(at, Event::RouterSent { router, size, marked });
            recorder.handle(at, Event::RouterDropped { router });
            let now = Counters { at: end, link_rates: vec![BitRate::from_mbps(2)], ..Counters::default() };
            recorder.sample(&now, |_| Stats::default());
            if end == Instant::from_millis(1_000) {
                recorder.begin(now);
            }
        }
        let routers = [RouterDescription { name: "r".into(), law: "none".into(), capacity: 250_000.0 }];
        let end = Counters { at: Instant::from_millis(2_000), ..Counters::default() };
        let result = recorder.result(&Description { routers: &routers, ..description(&[], &[]) }, &end);
        let (router, series) = (&result.routers[0], &result.series.routers);
        assert_eq!((router.capacity_mbps, router.throughput_mbps, router.utilisation), (2.0, 1.0, 0.5));
        assert_eq!((router.marked, router.dropped, router.tdq_s[0]), (1, 1, (5.0, 0.008)));
        assert_eq!(series.throughput_mbps[0], [1.0, 1.0]);
        assert_eq!(
            (series.queue_ms[0].as_slice(), series.marks[0].as_slice()),
            (&[Some(4.0), Some(8.0)][..], &[1, 1][..])
        );
    }

    #[test]
    fn what_is_beyond_the_limit_of_flows_belongs_to_its_ue() {
        let ues: Vec<_> = ["a", "b"].iter().map(|name| NamedUe { name: (*name).into(), ..ues().remove(0) }).collect();
        let mut recorder = Recorder::new(Duration::ZERO, &ues, 0, Limits { flows: 1, intervals: 8 });
        let numbers = [(0, 7), (0, 8), (1, 9), (0, 10), (1, 7)].map(|(ue, id)| recorder.flow_number(ue, FlowId(id)));
        let [first, second] = [1, 2].map(FlowNumber::FirstOfOthers);
        assert_eq!(numbers, [FlowNumber::New(0), first, second, FlowNumber::Known(1), FlowNumber::Known(2)]);
    }

    #[test]
    fn a_live_recorder_stays_within_its_limits() {
        let limits = Limits { flows: 3, intervals: 8 };
        let mut recorder = Recorder::new(Duration::ZERO, &ues(), 0, limits);
        let numbers: Vec<_> = (0..6).map(|id| recorder.flow_number(0, FlowId(id)).index()).collect();
        assert_eq!(numbers, [0, 1, 2, 3, 3, 3]);
        assert_eq!(recorder.flow_number(0, FlowId(1)), FlowNumber::Known(1));
        for interval in 1..=100 {
            let at = Instant::from_millis(100 * interval);
            recorder.handle(at, Event::ShortCircuited { flow: 0 });
            recorder.sample(&Counters { at, ..Counters::default() }, |_| Stats::default());
            assert!(recorder.times.len() < limits.intervals);
        }
        let points = &recorder.flows[0].points;
        assert_eq!(points.len(), recorder.times.len());
        let marks: u64 = points.iter().map(|point| point.marks).sum();
        assert_eq!(marks + recorder.flows[0].point.marks, 100, "no mark is lost as intervals become one");
    }
}
