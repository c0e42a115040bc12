//! Recorder of a hop, and its result.

use std::sync::Arc;

use tidemark_cell::DelaySplit;
use tidemark_core::{Duration, FlowId, Instant};
use tidemark_emu::realtime::Priority;
use tidemark_emu::{HopEvent, HopObserver, HopProgress};
use tidemark_record::distribution::Distribution;
use tidemark_record::event::Event;
use tidemark_record::fields::Rounded as _;
use tidemark_record::{
    Arrival, Counters, Description, FlowDescription, Limits, LiveResult, RouterDescription, RunResult,
};
use tidemark_router::RouterConfig;
use tidemark_senders::Stats;
use tidemark_sim::scenario::Scenario;
use tidemark_wire::ip::FiveTuple;

use super::status::{HopStatus, Running, Watched};
use crate::live::flows::{Flow, Flows};
use crate::live::record::lateness;
use crate::live::warning::LATE_US;

/// Records a hop. Each direction is a router of the recorder.
pub(super) struct Recorder {
    scenario: Scenario,
    /// Name and law of each direction.
    ways: [(String, String); 2],
    watched: [Watched; 2],
    recorder: tidemark_record::Recorder,
    flows: Flows,
    last: Counters,
    /// Bytes that each link could have carried up to the last sample, and up to the end of the warm-up.
    capacity: [f64; 2],
    capacity_before: [f64; 2],
    has_begun: bool,
    live: Option<LiveResult>,
    running: Arc<Running>,
}

impl Recorder {
    /// Starts with nothing recorded; `running` gets the state once an interval.
    pub(super) fn new(scenario: &Scenario, routers: &[RouterConfig; 2], running: Arc<Running>) -> Self {
        let mut recorder = tidemark_record::Recorder::new(scenario.warmup, &[], 0, Limits::LIVE);
        routers.iter().for_each(|router| _ = recorder.add_router(&router.tdq));
        let [right, left] = routers;
        let names = if right.name == left.name {
            ["to-right", "to-left"].map(|way| format!("{}-{way}", right.name))
        } else {
            [right.name.clone(), left.name.clone()]
        };
        let [to_right, to_left] = names;
        Self {
            ways: [(to_right, right.queue.law()), (to_left, left.queue.law())],
            watched: Default::default(),
            recorder,
            scenario: scenario.clone(),
            flows: Flows::default(),
            last: Counters::default(),
            capacity: [0.0; 2],
            capacity_before: [0.0; 2],
            has_begun: scenario.warmup.is_zero(),
            live: None,
            running,
        }
    }

    /// Number of a flow. A direction's flows beyond the recorder's limit share one number.
    fn flow(&mut self, way: usize, id: FlowId, tuple: Option<FiveTuple>) -> usize {
        self.flows.number_in(&mut self.recorder, (id, way), tuple, &self.ways[way].0)
    }

    /// Result of the hop up to the last sample.
    pub(super) fn result(&self) -> RunResult {
        let flow = |Flow { name, ue: way, .. }: &Flow| FlowDescription {
            name: name.clone(),
            ue: None,
            controller: "not ours".into(),
            law: self.ways[*way].1.clone(),
            routers: vec![self.ways[*way].0.clone()],
            is_uplink: *way == 1,
        };
        let flows: Vec<_> = self.flows.iter().map(flow).collect();
        let routers: Vec<_> = (0..2)
            .map(|way: usize| RouterDescription {
                name: self.ways[way].0.clone(),
                law: self.ways[way].1.clone(),
                capacity: self.capacity[way] - self.capacity_before[way],
            })
            .collect();
        let mut result = self.recorder.result(
            &Description {
                name: &self.scenario.name,
                description: &self.scenario.description,
                seed: self.scenario.seed,
                duration: self.last.at.since(Instant::ZERO),
                warmup: self.scenario.warmup,
                ues: &[],
                flows: &flows,
                network: None,
                routers: &routers,
                knows_queries: false,
                conservation: "not checked: a hop's endpoints are other programs".into(),
                scenario: &self.scenario.text,
            },
            &self.last,
        );
        result.live = self.live.clone().map(LiveResult::rounded);
        result.warnings = self.live.iter().flat_map(warnings).collect();
        result
    }
}

impl HopObserver for Recorder {
    fn handle(&mut self, at: Instant, event: &HopEvent) {
        let event = match *event {
            HopEvent::Came { way, flow, tuple } => Event::Sent { flow: self.flow(way, flow, tuple) },
            HopEvent::Began { way, waited } => {
                // The recorder counts it too, for the whole run: 42 instructions more on 1,368 of router and recorder.
                self.watched[way].queue.record(waited);
                Event::RouterBegan { router: way, waited }
            }
            HopEvent::Sent { way, size, marked } => {
                self.watched[way].carried += size;
                Event::RouterSent { router: way, size, marked }
            }
            HopEvent::Left { way, flow, came, size, ecn, waited, in_router } => {
                let (waited, delay) = (Some(waited), DelaySplit::default());
                let arrival = Arrival { sent: came, size, ecn, waited, in_routers: in_router, drb: 0, delay };
                Event::Arrived { flow: self.flow(way, flow, None), ue: None, arrival }
            }
            HopEvent::Dropped { way, flow } => {
                self.recorder.handle(at, Event::RouterDropped { router: way });
                Event::Dropped { flow: self.flow(way, flow, None) }
            }
        };
        self.recorder.handle(at, event);
    }

    fn sample(&mut self, progress: &HopProgress<'_>) {
        let HopProgress { now, rates, capacity, counters, .. } = *progress;
        self.last = Counters { at: now, link_rates: rates.to_vec(), ..Counters::default() };
        self.capacity = capacity;
        if !self.has_begun && self.recorder.counts(now) {
            self.has_begun = true;
            self.capacity_before = capacity;
            self.recorder.begin(self.last.clone());
        }
        self.recorder.sample(&self.last, |_| Stats::default());
        let lateness = lateness(progress.lateness);
        self.live = Some(LiveResult {
            lateness_us: lateness,
            busy: progress.busy.as_secs_f64() / now.since(Instant::ZERO).max(Duration::from_nanos(1)).as_secs_f64(),
            real_time_priority: progress.priority == Priority::Fifo,
            packets_in: counters.packets_in.iter().sum(),
            packets_out: counters.packets_out.iter().sum(),
            refused: counters.refused,
            unroutable: None,
            unreadable: Some(counters.unreadable),
            overload: counters.overload,
            not_admitted: None,
            device_drops: counters.lost_by_ports,
            empty_under_marks: None,
            uplink_busy_s: None,
        });
        let ways = [0, 1].map(|way: usize| (self.ways[way].0.clone(), &self.watched[way]));
        self.running.set(HopStatus::new(&self.scenario.name, ways, progress));
        self.watched.iter_mut().for_each(|way| way.queue = Distribution::default());
    }
}

/// Lists warnings about the machine.
fn warnings(live: &LiveResult) -> Vec<String> {
    let lost = live.overload + live.device_drops;
    let overload =
        (lost > 0).then(|| format!("OVERLOAD: {lost} packets were dropped because the hop's thread was too slow"));
    let late = live.lateness_us.filter(|late| late.p999 > LATE_US).map(|late| {
        format!(
            "one packet in a thousand left {:.1} ms or more late: delays of that length can come from the machine",
            late.p999 / 1e3
        )
    });
    let unread = live.unreadable.filter(|frames| *frames > 0).map(|frames| {
        format!(
            "{frames} frames could not be read and were lost: they were bundles that a hop can't split, or longer than 64 kB"
        )
    });
    let refused = (live.refused > 0).then(|| format!("the interfaces refused {} packets", live.refused));
    [overload, late, unread, refused].into_iter().flatten().collect()
}
