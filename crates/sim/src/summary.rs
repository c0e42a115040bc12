//! Result of a run: what its recorder says, with warnings.

use tidemark_cell::{Radio, UeId};
use tidemark_core::{Duration, Instant};
use tidemark_record::{
    Counters, Description, Event, EventKind, FlowDescription, Recorder, RouterDescription, RunResult, bearers,
};

use crate::flow::Flow;
use crate::scenario::{Direction, NamedFlow, NamedUe, Scenario};
use crate::shard::Shard;
use crate::warning::{broken_guarantees, limited_by_buffers};

impl Shard {
    /// Reads all counters as they are now.
    pub(crate) fn counters(&self, now: Instant, radio: Option<&Radio>) -> Counters {
        Counters {
            servers: self.flows.iter().map(Flow::server_stats).collect(),
            clients: self.flows.iter().map(Flow::client_stats).collect(),
            bearers: self.ues.keys().map(|ue| self.cells.bearers(ue).collect()).collect(),
            uplink_resources: self.cells.uplink_resources_between(Instant::ZERO, now),
            ..self.cell_counters(now, radio)
        }
    }

    /// Reads the counters of cells, UEs and links that the series look at.
    fn cell_counters(&self, now: Instant, radio: Option<&Radio>) -> Counters {
        Counters {
            at: now,
            ues: self.ues.keys().map(|ue| self.cells.ue(now, ue).unwrap_or_default()).collect(),
            cells: self.cells.stats().collect(),
            radio: self.ues.keys().map(|ue| radio?.ue(ue)).collect(),
            link_rates: self.routers.iter().map(|router| router.rate(now)).collect(),
            resources: self.cells.resources_between(Instant::ZERO, now),
            ..Counters::default()
        }
    }

    /// Gives the recorder. All else of the shard goes.
    fn into_recorder(self) -> Recorder {
        self.recorder
    }

    /// Ends an interval of the series.
    pub(crate) fn sample(&mut self, now: Instant, radio: Option<&Radio>) {
        self.decided.hand_to(&mut self.recorder.marks);
        let senders = |flow: usize| self.flows[flow].server_stats();
        self.recorder.sample(&self.cell_counters(now, radio), senders);
    }
}

/// Result of a run up to `now`, whose shards are one again.
pub(crate) fn summarise(scenario: &Scenario, run: Shard, now: Instant, radio: Option<Radio>) -> RunResult {
    let (ues, warm) = (scenario.ues(), Instant::ZERO + scenario.warmup);
    let routers = scenario.router.iter().zip(&run.routers).map(|(config, router)| RouterDescription {
        name: config.name.clone(),
        law: config.queue.law(),
        capacity: router.capacity(warm, now),
    });
    let routers: Vec<_> = routers.collect();
    let named = scenario.flows(&ues);
    let flows: Vec<_> = (0..).zip(&named).map(|(index, flow)| description(scenario, &run, &ues, flow, index)).collect();
    let description = Description {
        name: &scenario.name,
        description: &scenario.description,
        seed: scenario.seed,
        duration: scenario.duration,
        warmup: scenario.warmup,
        ues: &ues,
        flows: &flows,
        network: scenario.network.as_ref(),
        routers: &routers,
        knows_queries: true,
        conservation: format!("bytes sent = delivered + dropped + queued holds for all {} flows", flows.len()),
        scenario: &scenario.text,
    };
    let end = run.counters(now, radio.as_ref());
    // Cells, senders and results together would be the most memory that a run takes.
    drop(radio);
    let mut result = run.into_recorder().result(&description, &end);
    result.events = handovers(scenario, &ues, now);
    result.warnings = scenario.warnings();
    result.warnings.extend(broken_guarantees(scenario, &result.bearers));
    result.warnings.extend(limited_by_buffers(&result.flows));
    result
}

/// Handovers that the scenario set up to `end`, in the order of their times.
fn handovers(scenario: &Scenario, ues: &[NamedUe], end: Instant) -> Vec<Event> {
    let mut set: Vec<_> = scenario.handovers().filter(|(_, at)| Instant::ZERO + *at <= end).collect();
    set.sort_by_key(|(ue, at)| (*at, *ue));
    let event = |(ue, at): (UeId, _)| Event {
        t_s: Duration::as_secs_f64(at),
        event: EventKind::Handover,
        ue: Some(ues[ue.0 as usize].name.clone()),
        detail: None,
    };
    set.into_iter().map(event).collect()
}

/// Names of the flow with this number, and its law: of its bearer, or of the routers on the way of its data.
fn description(
    scenario: &Scenario,
    run: &Shard,
    ues: &[NamedUe],
    flow: &NamedFlow<'_>,
    index: usize,
) -> FlowDescription {
    let routers = || flow.routers.iter().map(|router| &scenario.router[*router]);
    let laws: Vec<_> = routers().map(|router| router.queue.law()).collect();
    let drb = run.recorder.flow(index).map_or(0, |record| record.drb);
    let marker = |ue: UeId| match flow.direction {
        Direction::Downlink => Some(bearers::law(&ues[ue.0 as usize].config, drb)),
        Direction::Uplink => bearers::uplink_law(&ues[ue.0 as usize].config, drb),
    };
    let law = flow.ue.and_then(marker).or((!laws.is_empty()).then(|| laws.join(" + ")));
    FlowDescription {
        name: flow.name.clone(),
        ue: flow.ue.map(|ue| ue.0 as usize),
        controller: flow.sender.name().into(),
        law: law.unwrap_or_else(|| "none".into()),
        routers: routers().map(|router| router.name.clone()).collect(),
        is_uplink: flow.direction == Direction::Uplink,
    }
}
