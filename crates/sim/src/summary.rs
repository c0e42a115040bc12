//! From what a run recorded to its result.

use tidemark_cell::{UeId, UeStats};
use tidemark_core::{BitRate, Bytes, Duration, Instant};

use crate::distribution::{Distribution, round};
use crate::result::{CellResult, FlowResult, FlowSeries, RunResult, Series, UeResult, UeSeries};
use crate::scenario::Scenario;
use crate::simulation::Simulation;

/// Counters at one time: those of the warm-up's end are left out of the results.
#[derive(Default)]
pub(crate) struct Baseline {
    /// Payload delivered in order, per flow.
    delivered: Vec<Bytes>,
    /// Retransmissions, per flow.
    retransmissions: Vec<u64>,
    /// Counters of the cell, per UE.
    ues: Vec<UeStats>,
}

impl Baseline {
    /// Reads the counters as they are now.
    pub(crate) fn take(run: &Simulation<'_>) -> Self {
        Self {
            delivered: run.flows.iter().map(|flow| flow.client_stats().delivered).collect(),
            retransmissions: run.flows.iter().map(|flow| flow.server_stats().retransmissions).collect(),
            ues: (0..run.ues.len()).map(|index| run.cell.ue(run.now, UeId(index as u32)).unwrap_or_default()).collect(),
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
            let ue = &named_ues[named.ue.0 as usize];
            FlowResult {
                name: named.name.clone(),
                ue: ue.name.clone(),
                controller: tag(named.sender, "controller"),
                law: tag(&ue.config.marker, "law"),
                throughput_mbps: mbps(record.delivered, active),
                goodput_mbps: Some(mbps(end.delivered[index] - run.baseline.delivered[index], active)),
                owd_ms: record.owd.quantiles(),
                rtt_ms: record.rtt.quantiles(),
                queue_ms: record.queue.quantiles(),
                sent_packets: record.sent_packets,
                marked: record.marked,
                dropped: record.dropped,
                retransmissions: Some(end.retransmissions[index] - run.baseline.retransmissions[index]),
                split_ms: record.split(),
                owd: record.owd.clone(),
                rtt: record.rtt.clone(),
                queue: record.queue.clone(),
            }
        })
        .collect();
    let resources = run.cell.resources_between(warm, run.now);
    let share = |used: u64| (resources > 0).then(|| round(used as f64 / resources as f64, 1e6));
    let queue = |index: usize| {
        let mut all = Distribution::default();
        let flows = run.flows.iter().filter(|flow| flow.ue.0 as usize == index);
        flows.for_each(|flow| all.merge(&flow.record.queue));
        all
    };
    let used = |index: usize| end.ues[index].resources - run.baseline.ues[index].resources;
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
                marked: after.marked - before.marked,
                dropped: dropped(after) - dropped(before),
                prb_share: share(used(index)),
            }
        })
        .collect();
    let finished = run.now >= Instant::ZERO + scenario.duration;
    RunResult {
        tidemark: env!("CARGO_PKG_VERSION"),
        name: scenario.name.clone(),
        seed: scenario.seed,
        duration_s: scenario.duration.as_secs_f64(),
        warmup_s: scenario.warmup.as_secs_f64(),
        interrupted_at_s: (!finished).then(|| run.now.as_secs_f64()),
        cell: CellResult {
            utilisation: share((0..ues.len()).map(used).sum()),
            throughput_mbps: mbps(run.ues.iter().map(|ue| ue.delivered).sum(), measured),
            conservation: format!("bytes sent = delivered + dropped + queued holds for all {} flows", flows.len()),
        },
        live: None,
        flows,
        ues,
        series: series(scenario, run),
        scenario: scenario.text.clone(),
    }
}

fn dropped(ue: &UeStats) -> u64 {
    ue.dropped_by_law + ue.dropped_by_queue + ue.dropped_by_radio
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
        let UeSeries { queue_ms, mcs, throughput_mbps } = &mut series.ues;
        queue_ms.push(ue.intervals.iter().map(|point| ms(point.queue)).collect());
        mcs.push(ue.intervals.iter().map(|point| point.mcs.map(f64::from)).collect());
        throughput_mbps.push(ue.intervals.iter().map(|point| rate(point.delivered)).collect());
    }
    series
}

/// The name under which a tagged configuration is written in a scenario.
fn tag(config: &impl serde::Serialize, key: &str) -> String {
    let value = serde_json::to_value(config).unwrap_or_default();
    value[key].as_str().unwrap_or("?").to_string()
}

fn mbps(bytes: Bytes, span: Duration) -> f64 {
    round(BitRate::from_bytes_in(bytes, span).as_mbps(), 1e6)
}
