//! Result of a run: what its recorder says, with warnings.

use tidemark_cell::UeId;
use tidemark_core::Instant;
use tidemark_record::{Counters, Description, FlowDescription, RouterDescription, RunResult, bearers};

use crate::flow::Flow;
use crate::scenario::{Direction, NamedFlow, NamedUe, Scenario};
use crate::simulation::Simulation;
use crate::warning::limited_by_buffers;

impl Simulation<'_> {
    /// Reads all counters as they are now.
    pub(crate) fn counters(&self) -> Counters {
        let ues = || (0..self.scenario_ues).map(UeId);
        Counters {
            servers: self.flows.iter().map(Flow::server_stats).collect(),
            clients: self.flows.iter().map(Flow::client_stats).collect(),
            bearers: ues().map(|ue| self.network.bearers(ue).collect()).collect(),
            uplink_resources: self.network.uplink_resources_between(Instant::ZERO, self.now),
            ..self.cell_counters()
        }
    }

    /// Reads the counters of cells, UEs and links that the series look at.
    pub(crate) fn cell_counters(&self) -> Counters {
        Counters {
            at: self.now,
            ues: (0..self.scenario_ues).map(|ue| self.network.ue(self.now, UeId(ue)).unwrap_or_default()).collect(),
            cells: self.network.cells().collect(),
            radio: (0..self.scenario_ues).map(|ue| self.network.radio(UeId(ue))).collect(),
            link_rates: self.routers.iter().map(|router| router.rate(self.now)).collect(),
            resources: self.network.resources_between(Instant::ZERO, self.now),
            ..Counters::default()
        }
    }

    /// Cell of each UE, from 0.
    pub(crate) fn serving(&self) -> Vec<usize> {
        (0..self.scenario_ues).filter_map(|ue| self.network.cell_of(UeId(ue))).collect()
    }
}

pub(crate) fn summarise(scenario: &Scenario, run: &Simulation<'_>) -> RunResult {
    let (ues, warm) = (scenario.ues(), Instant::ZERO + scenario.warmup);
    let routers = scenario.router.iter().zip(&run.routers).map(|(config, router)| RouterDescription {
        name: config.name.clone(),
        law: config.queue.law(),
        capacity: router.capacity(warm, run.now),
    });
    let routers: Vec<_> = routers.collect();
    let named = scenario.flows(&ues);
    let flows: Vec<_> = (0..).zip(&named).map(|(index, flow)| description(scenario, run, &ues, flow, index)).collect();
    let description = Description {
        name: &scenario.name,
        description: &scenario.description,
        seed: scenario.seed,
        duration: scenario.duration,
        warmup: scenario.warmup,
        ues: &ues,
        flows: &flows,
        network: scenario.network.as_ref(),
        serving: &run.serving(),
        routers: &routers,
        knows_queries: true,
        conservation: format!("bytes sent = delivered + dropped + queued holds for all {} flows", flows.len()),
        scenario: &scenario.text,
    };
    let mut result = run.recorder.result(&description, &run.counters());
    result.warnings = scenario.warnings();
    result.warnings.extend(scenario.broken_guarantees(&result.bearers));
    result.warnings.extend(limited_by_buffers(&result.flows));
    result
}

/// Names of the flow with this number, and its law: of its bearer, or of the routers on the way of its data.
fn description(
    scenario: &Scenario,
    run: &Simulation<'_>,
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
