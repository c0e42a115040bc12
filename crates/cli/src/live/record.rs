//! Recorder of a live cell, and its result.

use std::cmp::Reverse;

use hdrhistogram::Histogram;
use tidemark_cell::{BearerId, DropReason, Event as CellEvent, UeId, UeStats};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant};
use tidemark_emu::realtime::Priority;
use tidemark_emu::{DriverEvent, Observer, Progress, Stamped};
use tidemark_marker::Verdict;
use tidemark_record::event::Event;
use tidemark_record::fields::Rounded as _;
use tidemark_record::marks::{Decided, Latest};
use tidemark_record::unit::mbps;
use tidemark_record::{
    Arrival, BearerResult, Counters, Description, FlowDescription, FlowRecord, Lateness, Limits, LiveResult, RunResult,
    UeRecord, UeResult, bearers,
};
use tidemark_senders::Stats;
use tidemark_sim::scenario::{NamedUe, Scenario};
use tidemark_sim::{broken_guarantees, modem};
use tidemark_wire::ip::{FiveTuple, ecn};
use tidemark_wire::mac::Direction;

use super::buckets::{Buckets, QUEUE};
use super::flows::{Flow, Flows};
use super::history::History;
use super::price::Price;
use super::snapshot::FlowSnapshot;
use super::traffic::Traffic;
use super::trips::Trips;
use super::verdict;
use super::warning::{BUSY_UPLINK, warnings};

/// Shown as the law of bearers whose packets the CU marks.
pub(super) const AT_CU: &str = "at the CU";

/// Listens to a driver.
pub(super) struct Recorder {
    scenario: Scenario,
    ues: Vec<NamedUe>,
    /// True for a DU, whose laws run in the CU.
    is_du: bool,
    recorder: tidemark_record::Recorder,
    flows: Flows,
    /// Traffic of each flow, by the recorder's numbers.
    traffic: Vec<Traffic>,
    /// Times in the RLC queue of each UE's packets, the warm-up included.
    queue_delays: Vec<Buckets>,
    /// Length of the last interval.
    interval: Duration,
    /// The driver's last counters, and its other reports.
    last: Counters,
    machine: Machine,
    /// True once the warm-up is over.
    has_begun: bool,
    /// Share of the uplink that UEs used in the last interval; `None` where it had no slots.
    uplink_use: Option<f64>,
    /// Time in which UEs used nearly all of the uplink.
    uplink_busy: Duration,
    /// Round trips of the flows that have a number of their own.
    trips: Trips,
    price: Price,
}

/// State of the machine that runs the cell.
#[derive(Default)]
struct Machine {
    busy: Duration,
    counters: tidemark_emu::Counters,
    is_fifo: bool,
    lateness: Option<Lateness>,
}

impl Recorder {
    /// Starts with nothing recorded.
    pub(super) fn new(scenario: &Scenario, is_du: bool) -> Self {
        let ues = scenario.ues();
        let mut recorder = tidemark_record::Recorder::new(scenario.warmup, &ues, 0, Limits::LIVE);
        // A DU decides on no marks; its CU does.
        if !is_du {
            recorder.marks.begin(1, false);
        }
        Self {
            recorder,
            scenario: scenario.clone(),
            has_begun: scenario.warmup.is_zero(),
            ues,
            is_du,
            flows: Flows::default(),
            traffic: Vec::new(),
            queue_delays: vec![Buckets::new(QUEUE); scenario.ues().len()],
            interval: Duration::ZERO,
            last: Counters::default(),
            machine: Machine::default(),
            uplink_use: None,
            uplink_busy: Duration::ZERO,
            trips: Trips::default(),
            price: Price::default(),
        }
    }

    /// Number of a flow.
    fn flow(&mut self, id: FlowId, ue: UeId, tuple: Option<FiveTuple>) -> usize {
        self.flows.number(&mut self.recorder, &self.ues, (id, ue), tuple)
    }

    /// Logical channel, rate and direction of a recommendation, as a UE's modem reads them.
    fn recommendation(&self, ue: usize, octets: [u8; 3]) -> Option<(u8, (BitRate, Direction))> {
        let anbr = self.ues[ue].config.anbr.as_ref()?;
        let (channel, line) = modem::report(octets, anbr.multiplier.on_wire())?;
        Some((channel, modem::received(&line)?))
    }
    /// Record of a UE.
    pub(super) fn ue(&self, index: usize) -> Option<&UeRecord> {
        self.recorder.ue(index)
    }
    /// Times in the RLC queue of a UE's packets.
    pub(super) fn queue_delays(&self, ue: usize) -> Option<&Buckets> {
        self.queue_delays.get(ue)
    }
    /// Time of the last sample.
    #[cfg(test)]
    pub(super) fn now(&self) -> Instant {
        self.last.at
    }
    /// Share of the uplink that UEs used in the last interval; `None` where it had no slots.
    pub(super) fn uplink_use(&self) -> Option<f64> {
        self.uplink_use
    }

    /// This many of the last marks in order of time, each with its flow's name.
    pub(super) fn last_marks(&self, count: usize) -> impl Iterator<Item = (&str, Latest)> {
        self.recorder.marks.latest(count).into_iter().map(|mark| (self.flows.name(mark.flow), mark))
    }

    /// This many flows at most, the most active ones first.
    pub(super) fn flows_now(&self, count: usize) -> Vec<FlowSnapshot> {
        let mut ranked: Vec<_> = self.flows.iter().zip(&self.traffic).enumerate().collect();
        ranked.sort_by_key(|(_, (_, traffic))| Reverse(traffic.activity()));
        let now = self.last.at;
        let row = |(number, (flow, traffic)): (usize, (&Flow, &Traffic))| FlowSnapshot {
            name: flow.name.clone(),
            ue: self.ues[flow.ue].name.clone(),
            down_mbps: mbps(traffic.down(), self.interval),
            up_mbps: traffic.up().map(|up| mbps(up, self.interval)),
            ect1: traffic.codepoints.with(Ecn::Ect1),
            ect0: traffic.codepoints.with(Ecn::Ect0),
            not_ect: traffic.codepoints.with(Ecn::NotEct),
            ce: traffic.codepoints.with(Ecn::Ce),
            marked: (!self.is_du).then(|| traffic.codepoints.marks()),
            dropped: traffic.dropped,
            round_trip_ms: self.trips.median(now, number).map(Duration::as_millis_f64),
        };
        ranked.into_iter().take(count).map(row).collect()
    }

    /// Traffic of a flow.
    fn traffic(&mut self, flow: usize) -> &mut Traffic {
        if self.traffic.len() <= flow {
            self.traffic.resize(flow + 1, Traffic::default());
        }
        &mut self.traffic[flow]
    }

    /// Sentences on each flow's answer to marks, and on the marks' cost. A DU has none, because its CU marks.
    pub(super) fn verdicts(&self) -> Vec<String> {
        if self.is_du {
            return Vec::new();
        }
        let codepoints = self.traffic.iter().map(|traffic| traffic.codepoints);
        let flows = self.flows.iter().map(|flow| flow.name.as_str()).zip(codepoints);
        verdict::sentences(flows).into_iter().chain(self.price.sentence()).collect()
    }

    /// State of the machine over this time.
    fn machine_result(&self, whole: Duration, device_drops: u64) -> LiveResult {
        let Machine { busy, counters, is_fifo, lateness } = &self.machine;
        LiveResult {
            lateness_us: *lateness,
            busy: busy.as_secs_f64() / whole.as_secs_f64().max(1e-9),
            real_time_priority: *is_fifo,
            packets_in: counters.downlink + counters.uplink,
            packets_out: counters.forwarded,
            refused: counters.refused,
            unroutable: Some(counters.unroutable),
            unreadable: None,
            overload: counters.overload,
            not_admitted: counters.not_admitted.map(|refused| refused.total()),
            device_drops,
            empty_under_marks: self.price.empty(),
            uplink_busy_s: Some(self.uplink_busy.as_secs_f64()),
        }
    }

    /// Result of everything so far in the simulator's form, with the events of the session.
    pub(super) fn result(&self, device_drops: u64, history: &History) -> RunResult {
        let now = self.last.at;
        let whole = now.since(Instant::ZERO);
        let began = self.recorder.begun_at();
        // Only a default bearer's law can change while the cell runs.
        let law = |ue: usize, drb: u8, span: (Instant, Instant)| match bearers::law(&self.ues[ue].config, drb) {
            _ if self.is_du => AT_CU.into(),
            first if drb <= 1 => history.laws(&first, ue, span),
            law => law,
        };
        let flow = |(index, Flow { name, ue, .. }): (usize, &Flow)| {
            let record = self.recorder.flow(index);
            let first = record.and_then(FlowRecord::first_sent).unwrap_or(now);
            let span = (first.max(began), record.map_or(first, FlowRecord::last_arrival).max(first));
            FlowDescription {
                name: name.clone(),
                ue: Some(*ue),
                controller: "not ours".into(),
                law: law(*ue, record.map_or(1, |record| record.drb), span),
                routers: Vec::new(),
                is_uplink: false,
            }
        };
        let flows: Vec<_> = self.flows.iter().enumerate().map(flow).collect();
        let description = Description {
            name: &self.scenario.name,
            description: &self.scenario.description,
            seed: self.scenario.seed,
            duration: whole,
            warmup: self.scenario.warmup,
            ues: &self.ues,
            flows: &flows,
            network: None,
            routers: &[],
            // Only the modems know what queries there were.
            knows_queries: false,
            conservation: "not checked: a live cell's endpoints are other programs".into(),
            scenario: &self.scenario.text,
        };
        let mut result = self.recorder.result(&description, &self.last);
        let marked = |marked: Option<u64>| marked.filter(|_| !self.is_du);
        let index = |name: &str| self.ues.iter().position(|ue| ue.name == name).unwrap_or(0);
        for BearerResult { ue, drb, law: said, thresholds, marked: marks, .. } in
            result.bearers.iter_mut().filter(|bearer| bearer.direction == tidemark_record::Direction::Downlink)
        {
            let laws = law(index(ue), *drb, (began, now));
            thresholds.retain(|_| laws == *said);
            (*said, *marks) = (laws, marked(*marks));
        }
        result.ues.iter_mut().for_each(|UeResult { marked: marks, .. }| *marks = marked(*marks));
        for (flow, traffic) in result.flows.iter_mut().zip(&self.traffic) {
            flow.ecn = Some(traffic.counted);
            flow.gave_way = traffic.codepoints.gave_way().filter(|_| !self.is_du);
        }
        result.live = Some(self.machine_result(whole, device_drops).rounded());
        result.events = history.events().to_vec();
        result.warnings =
            broken_guarantees(&self.scenario, &result.bearers).into_iter().chain(warnings(&result)).collect();
        result
    }
}

impl Observer for Recorder {
    fn handle_cell(&mut self, at: Instant, bearer: BearerId, event: &CellEvent<'_, Stamped>) {
        let BearerId { ue, drb, .. } = bearer;
        let index = ue.0 as usize;
        let event = match *event {
            CellEvent::Delivered { packet, delay, .. } => {
                let (sent, size, ecn) = (packet.payload.arrived, packet.size, packet.ecn);
                let arrival = Arrival { sent, size, ecn, waited: None, in_routers: Duration::ZERO, drb, delay };
                let flow = self.flow(packet.flow, ue, None);
                self.traffic(flow).delivered(at, size);
                // Senders are other programs, so no feedback is awaited.
                self.recorder.marks.arrived(flow, packet.payload.number, at, (None, delay), 0);
                Event::Arrived { flow, ue: Some(index), arrival }
            }
            CellEvent::Decided { packet, came, queue, ref decision } => {
                if decision.verdict != Verdict::Pass {
                    self.price.marked();
                    let (flow, size) = (self.flow(packet.flow, ue, None), packet.size);
                    if decision.verdict == Verdict::Mark {
                        self.traffic(flow).codepoints.marked();
                    }
                    let Stamped { number: packet, arrived: sent, .. } = packet.payload;
                    let (ue, queue, decision) = (ue.0, Some(queue), *decision);
                    let decided = Decided { at, packet, sent, ue, drb, size, came, queue, decision };
                    self.recorder.marks.decided(flow, &decided);
                }
                return;
            }
            CellEvent::ShortCircuited { packet } => Event::ShortCircuited { flow: self.flow(packet.flow, ue, None) },
            CellEvent::Dropped { direction: Direction::Uplink, .. } => Event::UplinkDropped { ue: index, drb },
            CellEvent::Dropped { packet, reason, .. } => {
                let flow = self.flow(packet.flow, ue, None);
                let traffic = self.traffic(flow);
                traffic.dropped += 1;
                if matches!(reason, DropReason::Law | DropReason::QueueFull) {
                    traffic.codepoints.dropped();
                }
                self.recorder.marks.lost(flow, packet.payload.number, reason);
                Event::Dropped { flow }
            }
            CellEvent::UplinkDelivered { packet, delay, .. } => {
                Event::UplinkArrived { ue: index, drb, size: packet.size, delay }
            }
            CellEvent::Recommended { octets } => {
                let Some((channel, (rate, direction))) = self.recommendation(index, octets) else { return };
                Event::Recommended { ue: index, direction, channel, rate }
            }
            _ => return,
        };
        self.recorder.handle(at, event);
    }

    fn handle_driver(&mut self, at: Instant, event: &DriverEvent<'_>) {
        let event = match *event {
            DriverEvent::FromCore { ue, flow, tuple, bytes } => {
                let flow = self.flow(flow, ue, tuple);
                if self.flows.is_alone(flow)
                    && let Some(rtt) = self.trips.pass_down(at, flow, bytes)
                {
                    self.recorder.handle(at, Event::RoundTrip { flow, rtt });
                }
                let (ecn, counts) = (ecn(bytes).unwrap_or(Ecn::NotEct), self.recorder.counts(at));
                let traffic = self.traffic(flow);
                traffic.codepoints.came(ecn);
                if counts {
                    traffic.counted.count(ecn);
                }
                Event::Sent { flow }
            }
            DriverEvent::Overloaded { ue, up: Some(drb), .. } => Event::UplinkDropped { ue: ue.0 as usize, drb },
            DriverEvent::Overloaded { ue, flow, up: None } => {
                let flow = self.flow(flow, ue, None);
                self.traffic(flow).dropped += 1;
                Event::Dropped { flow }
            }
            DriverEvent::ToCore { bytes, .. } => {
                let Some((flow, rtt)) = self.trips.pass_up(at, bytes) else { return };
                self.traffic(flow).sent(at, Bytes(bytes.len() as u64));
                let Some(rtt) = rtt else { return };
                Event::RoundTrip { flow, rtt }
            }
            DriverEvent::FromUe { .. } | DriverEvent::ToUe { .. } => return,
        };
        self.recorder.handle(at, event);
    }

    fn sample(&mut self, progress: &Progress<'_>) {
        self.uplink_use = uplink_use(&self.last, progress);
        if self.recorder.counts(progress.now) && self.uplink_use.is_some_and(|used| used > BUSY_UPLINK) {
            self.uplink_busy += progress.now.since(self.last.at);
        }
        self.price.sample(&self.last, progress, self.recorder.counts(progress.now));
        self.interval = progress.now.since(self.last.at);
        self.traffic.iter_mut().for_each(Traffic::sample);
        self.last = Counters {
            at: progress.now,
            ues: progress.ues.to_vec(),
            bearers: progress.bearers.to_vec(),
            resources: progress.resources,
            uplink_resources: progress.uplink_resources,
            ..Counters::default()
        };
        self.machine = Machine {
            busy: progress.busy,
            counters: progress.counters,
            is_fifo: progress.priority == Priority::Fifo,
            lateness: lateness(progress.lateness),
        };
        if !self.has_begun && self.recorder.counts(progress.now) {
            self.has_begun = true;
            self.recorder.begin(self.last.clone());
        }
        self.recorder.sample(&self.last, |_| Stats::default());
        for (index, delays) in self.queue_delays.iter_mut().enumerate() {
            let watched = self.recorder.ue(index).and_then(UeRecord::watched);
            watched.into_iter().for_each(|watched| delays.add(watched.interval.queue.steps()));
        }
    }
}

/// Share of the uplink's resource blocks x symbols that UEs used since `last`; `None` if there were none.
fn uplink_use(last: &Counters, progress: &Progress<'_>) -> Option<f64> {
    let used = |ues: &[UeStats]| ues.iter().map(|ue| ue.uplink.resources).sum::<u64>();
    let (available, used) = (progress.uplink_resources - last.uplink_resources, used(progress.ues) - used(&last.ues));
    (available > 0).then(|| used as f64 / available as f64)
}

/// Quantiles of a histogram of nanoseconds; `None` where it is empty.
pub(super) fn lateness(histogram: &Histogram<u64>) -> Option<Lateness> {
    let quantile = |q| histogram.value_at_quantile(q) as f64 / 1e3;
    (!histogram.is_empty()).then(|| Lateness {
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: histogram.max() as f64 / 1e3,
        deadlines: histogram.len(),
    })
}
