//! From what a run recorded to its result.

use tidemark_cell::network::UeRadio;
use tidemark_cell::{CellStats, DrbStats, NetworkConfig, UeId, UeStats};
use tidemark_core::{Bytes, Duration, Instant};
use tidemark_record::distribution::Distribution;
use tidemark_record::fairness::mean_jain;
use tidemark_record::recorder::{AnbrRecord, FlowRecord, UePoint};
use tidemark_record::unit::{mbps, round, tag};
use tidemark_record::{
    AnbrResult, BearerResult, CellResult, CellSeries, FlowResult, FlowSeries, MediaResult, NetworkCellResult,
    RouterResult, RouterSeries, RunResult, Series, Transfers, UePlace, UeResult, UeSeries, UplinkResult, UplinkSeries,
    bearers,
};
use tidemark_senders::Stats;

use crate::flow::Flow;
use crate::router::Router;
use crate::scenario::{Direction, NamedUe, Scenario};
use crate::simulation::Simulation;

/// Counters at one time: those of the warm-up's end are left out of the results.
#[derive(Default)]
pub(crate) struct Baseline {
    /// Counters of the servers and of the clients, per flow.
    servers: Vec<Stats>,
    clients: Vec<Stats>,
    /// Counters of its cells, per UE, and of the bearers of each.
    ues: Vec<UeStats>,
    bearers: Vec<Vec<DrbStats>>,
    /// Counters per cell.
    cells: Vec<CellStats>,
    /// What only a UE of a network has.
    radio: Vec<Option<UeRadio>>,
}

impl Baseline {
    /// Reads the counters as they are now.
    pub(crate) fn take(run: &Simulation<'_>) -> Self {
        Self {
            servers: run.flows.iter().map(Flow::server_stats).collect(),
            clients: run.flows.iter().map(Flow::client_stats).collect(),
            ues: (0..run.ues.len())
                .map(|index| run.network.ue(run.now, UeId(index as u32)).unwrap_or_default())
                .collect(),
            bearers: (0..run.ues.len()).map(|index| run.network.bearers(UeId(index as u32)).collect()).collect(),
            cells: run.network.cells().collect(),
            radio: (0..run.ues.len()).map(|index| run.network.radio(UeId(index as u32))).collect(),
        }
    }
}

pub(crate) fn summarise(scenario: &Scenario, run: &Simulation<'_>) -> RunResult {
    let warm = Instant::ZERO + scenario.warmup;
    let measured = run.now.since(warm);
    let end = Baseline::take(run);
    let named_ues = scenario.ues();
    let named_flows = scenario.flows(&named_ues);
    let flows: Vec<_> = named_flows
        .iter()
        .zip(&run.flows)
        .enumerate()
        .map(|(index, (named, flow))| {
            let record = &flow.record;
            let active = record.active(warm);
            let ue = named.ue.map(|ue| &named_ues[ue.0 as usize]);
            let routers: Vec<_> = named.routers.iter().map(|router| scenario.router[*router].queue.law()).collect();
            let has_router = !routers.is_empty();
            let marker = |ue: &NamedUe| match named.direction {
                Direction::Downlink => Some(bearers::law(&ue.config, record.drb)),
                Direction::Uplink => bearers::uplink_law(&ue.config, record.drb),
            };
            let law = ue.and_then(marker).or(has_router.then(|| routers.join(" + ")));
            let (before, after) = (&run.baseline, &end);
            FlowResult {
                name: named.name.clone(),
                ue: ue.map(|ue| ue.name.clone()),
                controller: tag(named.sender, "controller"),
                law: law.unwrap_or_else(|| "none".into()),
                throughput_mbps: mbps(record.delivered, active),
                goodput_mbps: Some(mbps(after.clients[index].delivered - before.clients[index].delivered, active)),
                owd_ms: record.owd.quantiles(),
                rtt_ms: record.rtt.quantiles(),
                queue_ms: ue.and(record.queue.quantiles()),
                router_queue_ms: has_router.then(|| record.router_queue.quantiles()).flatten(),
                transfers: transfers(record),
                media: media(
                    record,
                    (&before.servers[index], &after.servers[index]),
                    (&before.clients[index], &after.clients[index]),
                ),
                sent_packets: record.sent_packets,
                marked: record.marked,
                dropped: record.dropped,
                retransmissions: Some(after.servers[index].retransmissions - before.servers[index].retransmissions),
                split_ms: record.split(has_router),
                owd: record.owd.clone(),
                rtt: record.rtt.clone(),
                queue: record.queue.clone(),
                router_queue: record.router_queue.clone(),
                completions: record.completions.clone(),
                frames: record.frames.clone(),
                sender_queue: record.sender_queue.clone(),
            }
        })
        .collect();
    let resources = run.network.resources_between(warm, run.now);
    let share = |used: u64| (resources > 0 && !run.ues.is_empty()).then(|| round(used as f64 / resources as f64, 1e6));
    let warm_intervals = run.samples.iter().take_while(|at| **at <= warm).count();
    let queue = |index: usize| {
        let mut all = Distribution::default();
        let flows = run.flows.iter().filter(|flow| flow.ue == Some(UeId(index as u32)) && !flow.uplink);
        flows.for_each(|flow| all.merge(&flow.record.queue));
        all
    };
    let used = |index: usize| end.ues[index].resources - run.baseline.ues[index].resources;
    let uplink_resources = run.network.uplink_resources_between(warm, run.now);
    let uplink = |index: usize| {
        let (before, after) = (&run.baseline.ues[index], &end.ues[index]);
        let (sent, queue) = run.ues[index].uplink.all();
        let sent = (mbps(sent, measured), queue.quantiles());
        UplinkResult::new(before, after, uplink_resources, sent)
    };
    let ues: Vec<_> = named_ues
        .iter()
        .zip(&run.ues)
        .enumerate()
        .map(|(index, (named, record))| {
            let (before, after) = (&run.baseline.ues[index], &end.ues[index]);
            let blocks = after.blocks - before.blocks;
            let mean =
                |sum: u64, scale| (blocks > 0 && after.mcs.is_some()).then(|| round(sum as f64 / blocks as f64, scale));
            UeResult {
                name: named.name.clone(),
                channel: tag(&named.config.channel, "model"),
                throughput_mbps: mbps(record.delivered, measured),
                queue_ms: queue(index).quantiles(),
                mcs_mean: mean(after.mcs_sum - before.mcs_sum, 1e3),
                bler: mean(after.failed_blocks - before.failed_blocks, 1e6),
                marked: Some(after.marked - before.marked),
                dropped: after.dropped() - before.dropped(),
                prb_share: share(used(index)),
                anbr: anbr(&record.downlink_anbr),
                uplink_anbr: anbr(&record.uplink_anbr),
                uplink: uplink(index),
                place: ue_place(scenario, run, &end, index),
            }
        })
        .collect();
    let bearers = named_ues.iter().zip(&run.ues).enumerate().flat_map(|(index, (named, record))| {
        let counters = run.baseline.bearers[index].iter().zip(&end.bearers[index]).zip(1..);
        let queue = queue(index);
        let result = move |((before, after), drb)| {
            let own = record.bearers.get(usize::from(drb) - 1).unwrap_or(&queue);
            let down = BearerResult::new(named, drb, (before, after), own.quantiles(), measured);
            std::iter::once(down).chain(record.uplink.result(named, drb, (before, after), measured))
        };
        counters.flat_map(result)
    });
    let bearers: Vec<_> = bearers.collect();
    let routers = scenario.router.iter().zip(&run.routers).map(|(config, router)| {
        let law = config.queue.law();
        router_result(&config.name, law, router, (warm, run.now))
    });
    let routers = routers.collect();
    let series = series(scenario, run);
    let finished = run.now >= Instant::ZERO + scenario.duration;
    RunResult {
        tidemark: env!("CARGO_PKG_VERSION"),
        name: scenario.name.clone(),
        seed: scenario.seed,
        duration_s: round(scenario.duration.as_secs_f64(), 1e6),
        warmup_s: round(scenario.warmup.as_secs_f64(), 1e6),
        interrupted_at_s: (!finished).then(|| round(run.now.as_secs_f64(), 1e6)),
        warnings: scenario.warnings().into_iter().chain(scenario.broken_guarantees(&bearers)).collect(),
        cell: CellResult {
            utilisation: share((0..ues.len()).map(used).sum::<u64>() / end.cells.len().max(1) as u64),
            uplink_utilisation: (0..ues.len())
                .filter_map(|index| uplink(index).map(|uplink| uplink.prb_share))
                .reduce(|sum, share| sum + share)
                .map(|sum| round(sum / end.cells.len().max(1) as f64, 1e6)),
            throughput_mbps: mbps(run.ues.iter().map(|ue| ue.delivered).sum(), measured),
            conservation: format!("bytes sent = delivered + dropped + queued holds for all {} flows", flows.len()),
        },
        cells: scenario.network.iter().flat_map(|network| cells(network, run, &end, (warm, warm_intervals))).collect(),
        live: None,
        flows,
        ues,
        bearers,
        routers,
        jain: mean_jain(&series.flows.throughput_mbps, warm_intervals..run.samples.len())
            .map(|index| round(index, 1e6)),
        events: Vec::new(),
        series,
        scenario: scenario.text.clone(),
    }
}

fn anbr(record: &AnbrRecord) -> Option<AnbrResult> {
    let (recommendations, sum) = record.recommendations;
    let (queries, forbidden) = record.queries;
    (recommendations > 0).then(|| AnbrResult {
        recommendations,
        mean_mbps: round(sum.as_mbps() / recommendations as f64, 1e6),
        queries: Some(queries),
        forbidden: Some(forbidden),
    })
}

fn cells(
    network: &NetworkConfig,
    run: &Simulation<'_>,
    end: &Baseline,
    (warm, warm_intervals): (Instant, usize),
) -> Vec<NetworkCellResult> {
    let resources = run.network.resources_between(warm, run.now);
    let counters = run.baseline.cells.iter().zip(&end.cells).zip(&run.cells).enumerate();
    let result = counters.map(|(index, ((before, after), record))| {
        let points = &record.intervals[warm_intervals..];
        let ues: u32 = points.iter().map(|point| point.ues).sum();
        let used = after.resources - before.resources;
        NetworkCellResult {
            name: network.cell_name(index),
            utilisation: (resources > 0).then(|| round(used as f64 / resources as f64, 1e6)),
            throughput_mbps: mbps(after.delivered - before.delivered, run.now.since(warm)),
            ues: (!points.is_empty()).then(|| round(f64::from(ues) / points.len() as f64, 1e3)),
            handovers: after.handovers - before.handovers,
        }
    });
    result.collect()
}

fn ue_place(scenario: &Scenario, run: &Simulation<'_>, end: &Baseline, ue: usize) -> Option<UePlace> {
    let (before, after) = (run.baseline.radio[ue]?, end.radio[ue]?);
    let cell = run.network.cell_of(UeId(ue as u32))?;
    let measurements = after.measurements - before.measurements;
    let sum = after.sinr_sum_db - before.sinr_sum_db;
    Some(UePlace {
        cell: scenario.network.as_ref()?.cell_name(cell),
        position_m: after.place.map(|metres| round(metres, 1e1)),
        handovers: after.handovers - before.handovers,
        sinr_db: (measurements > 0).then(|| round(sum / measurements as f64, 1e3)),
    })
}

fn transfers(record: &FlowRecord) -> Option<Transfers> {
    let completed = record.completions.count();
    (completed > 0).then(|| Transfers { completed, completion_ms: record.completions.quantiles() })
}

/// Each end's counters at the warm-up's end and now.
fn media(record: &FlowRecord, server: (&Stats, &Stats), client: (&Stats, &Stats)) -> Option<MediaResult> {
    (server.1.frames_sent > 0).then(|| MediaResult {
        frames_sent: server.1.frames_sent - server.0.frames_sent,
        frames_discarded: server.1.frames_discarded - server.0.frames_discarded,
        frames_received: client.1.frames_received - client.0.frames_received,
        frames_lost: client.1.frames_lost.saturating_sub(client.0.frames_lost),
        freezes: client.1.freezes - client.0.freezes,
        frozen_s: round((client.1.frozen - client.0.frozen).as_secs_f64(), 1e6),
        delay_ms: record.frames.quantiles(),
        sender_queue_ms: record.sender_queue.quantiles(),
    })
}

fn router_result(name: &str, law: String, router: &Router, (from, to): (Instant, Instant)) -> RouterResult {
    let record = &router.record;
    let capacity = router.capacity(from, to);
    let seconds = to.since(from).as_secs_f64();
    RouterResult {
        name: name.into(),
        law,
        capacity_mbps: round(capacity * 8e-6 / seconds, 1e6),
        throughput_mbps: mbps(record.delivered, to.since(from)),
        utilisation: round(record.delivered.as_f64() / capacity, 1e6),
        queue_ms: record.queue.quantiles(),
        tdq_s: record
            .over
            .iter()
            .map(|(limit, total)| (limit.as_millis_f64(), round(total.as_secs_f64(), 1e6)))
            .collect(),
        marked: record.marked,
        dropped: record.dropped,
        queue: record.queue.clone(),
    }
}

fn series(scenario: &Scenario, run: &Simulation<'_>) -> Series {
    let rate = |bytes: Bytes| mbps(bytes, scenario.sample_interval);
    let ms = |span: Option<Duration>| span.map(|span| round(span.as_millis_f64(), 1e3));
    let kb = |window: Option<Bytes>| window.map(|window| round(window.as_f64() / 1e3, 1e3));
    let mut series =
        Series { t_s: run.samples.iter().map(|at| round(at.as_secs_f64(), 1e6)).collect(), ..Series::default() };
    for flow in &run.flows {
        let points = &flow.record.intervals;
        let FlowSeries { throughput_mbps, rtt_ms, marks, cwnd_kb } = &mut series.flows;
        throughput_mbps.push(points.iter().map(|point| rate(point.delivered)).collect());
        rtt_ms.push(points.iter().map(|point| ms(point.rtt)).collect());
        marks.push(points.iter().map(|point| point.marks).collect());
        cwnd_kb.push(points.iter().map(|point| kb(point.window)).collect());
    }
    for ue in &run.ues {
        let UeSeries { queue_ms, mcs, throughput_mbps, queued, .. } = &mut series.ues;
        queued.push(ue.intervals.iter().map(|point| point.queued).collect());
        queue_ms.push(ue.intervals.iter().map(|point| ms(point.queue)).collect());
        mcs.push(ue.intervals.iter().map(|point| point.mcs.map(f64::from)).collect());
        throughput_mbps.push(ue.intervals.iter().map(|point| rate(point.delivered)).collect());
        let UplinkSeries { throughput_mbps, queue_ms, reported_kb, mcs, .. } = &mut series.uplinks;
        throughput_mbps.push(ue.intervals.iter().map(|point| rate(point.sent)).collect());
        queue_ms.push(ue.intervals.iter().map(|point| ms(point.uplink_queue)).collect());
        reported_kb.push(ue.intervals.iter().map(|point| round(point.reported.as_f64() / 1e3, 1e3)).collect());
        let mean = |(blocks, sum): (u64, u64)| (blocks > 0).then(|| round(sum as f64 / blocks as f64, 1e3));
        mcs.push(ue.intervals.iter().map(|point| mean(point.uplink_blocks)).collect());
    }
    let recommended = |direction: usize| {
        let mbps = |point: &UePoint| point.recommended[direction].map(|rate| round(rate.as_mbps(), 1e6));
        let rows: Vec<Vec<_>> = run.ues.iter().map(|ue| ue.intervals.iter().map(mbps).collect()).collect();
        if rows.iter().flatten().any(Option::is_some) { rows } else { Vec::new() }
    };
    (series.ues.recommended_mbps, series.uplinks.recommended_mbps) = (recommended(0), recommended(1));
    for router in &run.routers {
        let RouterSeries { throughput_mbps, capacity_mbps, queue_ms, marks } = &mut series.routers;
        let points = &router.record.intervals;
        throughput_mbps.push(points.iter().map(|point| rate(point.delivered)).collect());
        capacity_mbps.push(points.iter().map(|point| round(point.rate.as_mbps(), 1e6)).collect());
        queue_ms.push(points.iter().map(|point| ms(point.queue)).collect());
        marks.push(points.iter().map(|point| point.marks).collect());
    }
    for cell in &run.cells {
        let CellSeries { throughput_mbps, utilisation, ues, handovers } = &mut series.cells;
        let points = &cell.intervals;
        throughput_mbps.push(points.iter().map(|point| rate(point.delivered)).collect());
        utilisation.push(points.iter().map(|point| point.load.map(|load| round(load, 1e6))).collect());
        ues.push(points.iter().map(|point| point.ues).collect());
        handovers.push(points.iter().map(|point| point.handovers).collect());
    }
    series
}
