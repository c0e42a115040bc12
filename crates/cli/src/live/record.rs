//! What a live cell remembers of its packets, in bounded memory, and the result that it makes of that.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use tidemark_cell::{DelaySplit, DrbStats, UeId, UeStats};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant};
use tidemark_emu::realtime::Priority;
use tidemark_emu::{Counters, Observer, Progress, Seen};
use tidemark_record::bearers::{self, UplinkBearers};
use tidemark_record::distribution::Distribution;
use tidemark_record::unit::round;
use tidemark_sim::scenario::{NamedUe, Scenario};
use tidemark_sim::{
    AnbrResult, BearerResult, CellResult, CellSeries, FlowResult, FlowSeries, Lateness, LiveResult, RouterSeries,
    RunResult, Series, Split, UeResult, UeSeries, UplinkResult, UplinkSeries,
};
use tidemark_wire::ip::FiveTuple;

use super::history::History;
use super::series::{FlowPoint, LONGEST, UePoint, halve};
use super::warning::{BUSY_UPLINK, warnings};

/// Flows remembered one by one; what comes beyond is counted together.
const FLOWS: usize = 64;

/// The law of bearers that another half of the gNB marks.
pub const AT_CU: &str = "at the CU";

/// Listens to a driver.
pub struct Recorder {
    scenario: Scenario,
    /// The laws are a CU's, which alone knows what they mark.
    is_du: bool,
    flows: Vec<Flow>,
    index: BTreeMap<FlowId, usize>,
    ues: Vec<Ue>,
    /// Intervals that make one point of the series: it doubles when the series is full.
    stride: u32,
    in_point: u32,
    times: Vec<Instant>,
    last: Last,
    /// What the driver said at the warm-up's end: statistics begin there.
    warm: Option<Last>,
    /// Time in which UEs used nearly all of the uplink.
    uplink_busy: Duration,
}

/// What the driver said last.
#[derive(Clone, Debug, Default)]
struct Last {
    now: Instant,
    stats: Vec<UeStats>,
    bearers: Vec<Vec<DrbStats>>,
    resources: u64,
    uplink_resources: u64,
    busy: Duration,
    counters: Counters,
    fifo: bool,
    lateness: Option<Lateness>,
}

struct Flow {
    name: String,
    ue: usize,
    /// The bearer that brought its last packet: the DRB identity, from 1.
    drb: u8,
    sent: u64,
    marked: u64,
    dropped: u64,
    delivered: Bytes,
    packets: u64,
    owd: Distribution,
    queue: Distribution,
    parts: [Duration; 7],
    first: Instant,
    last: Instant,
    point: FlowPoint,
    points: Vec<FlowPoint>,
}

#[derive(Default)]
struct Ue {
    delivered: Bytes,
    queue: Distribution,
    /// The same for each bearer.
    bearers: Vec<Distribution>,
    /// Recommendations for its downlink and its uplink, and their sums.
    anbr: [(u64, BitRate); 2],
    /// What was recommended last for its downlink and its uplink.
    recommended_mbps: [Option<f64>; 2],
    /// What it sent.
    uplink: UplinkBearers,
    point: UePoint,
    points: Vec<UePoint>,
}

impl Recorder {
    pub fn new(scenario: &Scenario, is_du: bool) -> Self {
        let bearers = |ue: &NamedUe| vec![Distribution::default(); 1 + ue.config.drb.len()];
        let ue = |ue: &NamedUe| Ue { bearers: bearers(ue), uplink: UplinkBearers::new(&ue.config), ..Ue::default() };
        let ues = scenario.ues().iter().map(ue).collect();
        Self {
            scenario: scenario.clone(),
            is_du,
            flows: Vec::new(),
            index: BTreeMap::new(),
            ues,
            stride: 1,
            in_point: 0,
            times: Vec::new(),
            last: Last::default(),
            warm: None,
            uplink_busy: Duration::ZERO,
        }
    }

    /// The flow's record; a flow that finds no place is counted with all others that found none.
    fn flow(&mut self, id: FlowId, ue: usize, now: Instant, tuple: Option<FiveTuple>) -> usize {
        if let Some(index) = self.index.get(&id) {
            return *index;
        }
        let points = self.times.len();
        let index = self.flows.len().min(FLOWS);
        if index == self.flows.len() {
            let name = if index < FLOWS { self.numbered(&name(tuple)) } else { "others".into() };
            self.flows.push(Flow::new(name, ue, now, points));
        }
        // Flows beyond are not even remembered by id: their record is the last.
        if index < FLOWS {
            self.index.insert(id, index);
        }
        index
    }

    /// The name, with a number where flows before have it: the second one is `#2`.
    fn numbered(&self, name: &str) -> String {
        let is_twin =
            |other: &str| other.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with(" #"));
        match self.flows.iter().filter(|flow| is_twin(&flow.name)).count() {
            0 => name.into(),
            twins => format!("{name} #{}", twins + 1),
        }
    }

    /// Everything that was seen, as the simulator says it, and what was done meanwhile.
    pub fn result(&self, device_drops: u64, history: &History) -> RunResult {
        let Last { now, stats, busy, counters, fifo, lateness, .. } = &self.last;
        let warm = self.warm.clone().unwrap_or_default();
        let resources = self.last.resources - warm.resources;
        let (whole, span) = (now.since(Instant::ZERO), now.since(warm.now));
        let nothing = UeStats::default();
        let before = |ue: usize| warm.stats.get(ue).unwrap_or(&nothing);
        let names = self.scenario.ues();
        // Only a default bearer's law can change while the cell runs.
        let law = |ue: usize, drb: u8, span: (Instant, Instant)| match (bearers::law(&names[ue].config, drb), drb) {
            _ if self.is_du => AT_CU.into(),
            (first, 1) => history.laws(&first, ue, span),
            (law, _) => law,
        };
        let flow = |flow: &Flow| {
            let span = (flow.first.max(warm.now), flow.last);
            flow.result(&names[flow.ue].name, law(flow.ue, flow.drb, span), warm.now)
        };
        let flows = self.flows.iter().map(flow).collect::<Vec<_>>();
        let marked = |marked: u64| (!self.is_du).then_some(marked);
        let none = DrbStats::default();
        let bearers = names.iter().zip(&self.ues).enumerate().flat_map(|(index, (named, ue))| {
            let (before, after) = (warm.bearers.get(index), self.last.bearers.get(index));
            let result = move |(queue, drb): (&Distribution, u8)| {
                let of = |all: Option<&Vec<DrbStats>>| all.and_then(|all| all.get(usize::from(drb) - 1).copied());
                let (before, after) = (of(before).unwrap_or(none), of(after).unwrap_or(none));
                let down = BearerResult::new(named, drb, (&before, &after), queue.quantiles(), span);
                let marked = down.marked.and_then(marked);
                let down = BearerResult { law: law(index, drb, (warm.now, *now)), marked, ..down };
                std::iter::once(down).chain(ue.uplink.result(named, drb, (&before, &after), span))
            };
            ue.bearers.iter().zip(1..).flat_map(result)
        });
        let uplink_resources = self.last.uplink_resources - warm.uplink_resources;
        let share = |used: u64| (resources > 0).then(|| used as f64 / resources as f64);
        let used = |ue: usize| stats[ue].resources - before(ue).resources;
        let ues = self.ues.iter().zip(stats).zip(&names).enumerate().map(|(index, ((ue, stats), named))| {
            let before = before(index);
            let blocks = stats.blocks - before.blocks;
            let (sent, waits) = ue.uplink.all();
            let mean = |sum: u64| (blocks > 0 && stats.mcs.is_some()).then(|| sum as f64 / blocks as f64);
            UeResult {
                name: named.name.clone(),
                channel: tag(&named.config.channel, "model"),
                throughput_mbps: mbps(ue.delivered, span),
                queue_ms: ue.queue.quantiles(),
                mcs_mean: mean(stats.mcs_sum - before.mcs_sum),
                bler: mean(stats.failed_blocks - before.failed_blocks),
                marked: marked(stats.marked - before.marked),
                dropped: stats.dropped() - before.dropped(),
                prb_share: share(used(index)),
                anbr: anbr(ue.anbr[0]),
                uplink_anbr: anbr(ue.anbr[1]),
                uplink: UplinkResult::new(before, stats, uplink_resources, (mbps(sent, span), waits.quantiles())),
                place: None,
            }
        });
        let ues: Vec<_> = ues.collect();
        let uplink_used =
            ues.iter().filter_map(|ue: &UeResult| ue.uplink.map(|up| up.prb_share)).reduce(|sum, share| sum + share);
        let result = RunResult {
            tidemark: env!("CARGO_PKG_VERSION"),
            name: self.scenario.name.clone(),
            seed: self.scenario.seed,
            duration_s: round(whole.as_secs_f64(), 1e6),
            warmup_s: self.scenario.warmup.as_secs_f64(),
            interrupted_at_s: None,
            warnings: Vec::new(),
            cell: CellResult {
                utilisation: share((0..stats.len()).map(used).sum()),
                uplink_utilisation: uplink_used,
                throughput_mbps: mbps(self.ues.iter().map(|ue| ue.delivered).sum(), span),
                conservation: "not checked: a live cell's endpoints are not its own".into(),
            },
            cells: Vec::new(),
            live: Some(LiveResult {
                lateness_us: *lateness,
                busy: busy.as_secs_f64() / whole.as_secs_f64().max(1e-9),
                real_time_priority: *fifo,
                packets_in: counters.downlink + counters.uplink,
                packets_out: counters.forwarded,
                refused: counters.refused,
                unroutable: counters.unroutable,
                overload: counters.overload,
                device_drops,
                uplink_busy_s: round(self.uplink_busy.as_secs_f64(), 1e6),
            }),
            flows,
            ues,
            bearers: bearers.collect(),
            routers: Vec::new(),
            jain: None,
            events: history.events().to_vec(),
            series: self.series(),
            scenario: self.scenario.text.clone(),
        };
        RunResult { warnings: warnings(&result), ..result }
    }

    /// A UE was recommended a rate, for its uplink or its downlink; all logical channels of that direction have so much together.
    pub fn recommended(&mut self, at: Instant, ue: UeId, rate: BitRate, up: bool, together: Option<f64>) {
        self.ues[ue.0 as usize].recommended_mbps[usize::from(up)] = together;
        if self.scenario.counts(at) {
            let (count, sum) = &mut self.ues[ue.0 as usize].anbr[usize::from(up)];
            (*count, *sum) = (*count + 1, BitRate::from_bps(sum.as_bps() + rate.as_bps()));
        }
    }

    fn series(&self) -> Series {
        let spans: Vec<_> = std::iter::once(Instant::ZERO)
            .chain(self.times.iter().copied())
            .zip(&self.times)
            .map(|(from, to)| to.since(from))
            .collect();
        let rates = |bytes: &mut dyn Iterator<Item = Bytes>| {
            bytes.zip(&spans).map(|(bytes, span)| mbps(bytes, *span)).collect::<Vec<_>>()
        };
        let flows = || self.flows.iter().map(|flow| &flow.points);
        let ues = || self.ues.iter().map(|ue| &ue.points);
        let nothing = vec![None; spans.len()];
        let recommended = |direction: usize| {
            let rows: Vec<Vec<_>> =
                ues().map(|p| p.iter().map(|point| point.recommended_mbps[direction]).collect()).collect();
            if rows.iter().flatten().any(Option::is_some) { rows } else { Vec::new() }
        };
        Series {
            t_s: self.times.iter().map(|at| at.as_secs_f64()).collect(),
            flows: FlowSeries {
                throughput_mbps: flows().map(|p| rates(&mut p.iter().map(|point| point.delivered))).collect(),
                rtt_ms: flows().map(|_| nothing.clone()).collect(),
                marks: flows().map(|p| p.iter().map(|point| point.marks).collect()).collect(),
                cwnd_kb: flows().map(|_| nothing.clone()).collect(),
            },
            ues: UeSeries {
                queue_ms: ues()
                    .map(|p| p.iter().map(|point| point.mean_queue().map(Duration::as_millis_f64)).collect())
                    .collect(),
                mcs: ues().map(|p| p.iter().map(|point| point.mcs.map(f64::from)).collect()).collect(),
                throughput_mbps: ues().map(|p| rates(&mut p.iter().map(|point| point.delivered))).collect(),
                queued: Vec::new(),
                recommended_mbps: recommended(0),
            },
            uplinks: UplinkSeries {
                throughput_mbps: ues().map(|p| rates(&mut p.iter().map(|point| point.sent))).collect(),
                queue_ms: ues()
                    .map(|p| p.iter().map(|point| point.mean_uplink_queue().map(Duration::as_millis_f64)).collect())
                    .collect(),
                reported_kb: ues().map(|p| p.iter().map(|point| point.reported.as_f64() / 1e3).collect()).collect(),
                mcs: ues().map(|p| p.iter().map(UePoint::mean_uplink_mcs).collect()).collect(),
                recommended_mbps: recommended(1),
            },
            routers: RouterSeries::default(),
            cells: CellSeries::default(),
        }
    }
}

impl Observer for Recorder {
    fn seen(&mut self, at: Instant, seen: &Seen<'_>) {
        match *seen {
            Seen::Downlink { ue, flow, tuple, .. } => {
                let index = self.flow(flow, ue.0 as usize, at, tuple);
                self.flows[index].sent += u64::from(self.scenario.counts(at));
            }
            Seen::Delivered { ue, drb, flow, bytes, ecn, sent, delay } => {
                let size = Bytes(bytes.len() as u64);
                let index = self.flow(flow, ue.0 as usize, sent, None);
                let flow = &mut self.flows[index];
                let marked = u64::from(ecn == Ecn::Ce);
                let queue = delay.queuing + delay.scheduling;
                let total = at.since(sent);
                flow.point.delivered += size;
                flow.point.marks += marked;
                flow.drb = drb;
                let ue = &mut self.ues[ue.0 as usize];
                ue.point.delivered += size;
                ue.point.queue += queue;
                ue.point.packets += 1;
                if !self.scenario.counts(at) {
                    return;
                }
                flow.delivered += size;
                flow.packets += 1;
                flow.marked += marked;
                flow.last = at;
                flow.owd.record(total);
                flow.queue.record(queue);
                let DelaySplit { cu, queuing, scheduling, harq, rlc, reordering } = delay;
                let propagation = total - cu - queuing - scheduling - harq - rlc - reordering;
                let parts = [propagation, cu, queuing, scheduling, harq, rlc, reordering];
                flow.parts.iter_mut().zip(parts).for_each(|(sum, part)| *sum += part);
                ue.delivered += size;
                ue.queue.record(queue);
                if let Some(bearer) = ue.bearers.get_mut(usize::from(drb) - 1) {
                    bearer.record(queue);
                }
            }
            Seen::ShortCircuited { ue, flow } => {
                let index = self.flow(flow, ue.0 as usize, at, None);
                self.flows[index].point.marks += 1;
                self.flows[index].marked += u64::from(self.scenario.counts(at));
            }
            Seen::Dropped { ue, up: Some(drb), .. } => {
                if self.scenario.counts(at) {
                    self.ues[ue.0 as usize].uplink.lost(drb);
                }
            }
            Seen::Dropped { ue, flow, up: None, .. } => {
                let index = self.flow(flow, ue.0 as usize, at, None);
                self.flows[index].dropped += u64::from(self.scenario.counts(at));
            }
            Seen::Carried { ue, qfi, size, delay } => {
                let ue = &mut self.ues[ue.0 as usize];
                ue.point.sent += size;
                ue.point.uplink_queue += delay.queuing + delay.scheduling;
                ue.point.uplink_packets += 1;
                if self.scenario.counts(at) {
                    ue.uplink.left(ue.uplink.drb_of(qfi), size, delay);
                }
            }
            Seen::Uplink { .. } | Seen::Departed { .. } | Seen::Recommended { .. } => {}
        }
    }

    fn sample(&mut self, progress: &Progress<'_>) {
        let (available, used) = uplink_use(&self.last, progress);
        if self.scenario.counts(progress.now) && used as f64 > BUSY_UPLINK * available as f64 {
            self.uplink_busy += progress.now.since(self.last.now);
        }
        let before = std::mem::take(&mut self.last.stats);
        self.last = Last {
            now: progress.now,
            stats: progress.ues.to_vec(),
            bearers: progress.bearers.to_vec(),
            resources: progress.resources,
            uplink_resources: progress.uplink_resources,
            busy: progress.busy,
            counters: progress.counters,
            fifo: progress.priority == Priority::Fifo,
            lateness: lateness(progress.lateness),
        };
        if self.warm.is_none() && !self.scenario.warmup.is_zero() && self.scenario.counts(progress.now) {
            self.warm = Some(self.last.clone());
        }
        for (index, (ue, stats)) in self.ues.iter_mut().zip(progress.ues).enumerate() {
            let before = before.get(index).map(|stats| stats.uplink).unwrap_or_default();
            ue.point.mcs = stats.mcs;
            ue.point.reported = stats.uplink.reported;
            ue.point.recommended_mbps = ue.recommended_mbps;
            ue.point.uplink_blocks += stats.uplink.blocks - before.blocks;
            ue.point.uplink_mcs += stats.uplink.mcs_sum - before.mcs_sum;
        }
        self.in_point += 1;
        if self.in_point < self.stride {
            return;
        }
        self.in_point = 0;
        self.times.push(progress.now);
        self.flows.iter_mut().for_each(|flow| flow.points.push(std::mem::take(&mut flow.point)));
        self.ues.iter_mut().for_each(|ue| ue.points.push(std::mem::take(&mut ue.point)));
        if self.times.len() >= LONGEST {
            self.stride *= 2;
            self.times = self.times.chunks(2).filter_map(|pair| pair.last().copied()).collect();
            self.flows.iter_mut().for_each(|flow| halve(&mut flow.points));
            self.ues.iter_mut().for_each(|ue| halve(&mut ue.points));
        }
    }
}

/// Resource blocks x symbols that the uplink had since the driver spoke last, and those that UEs used.
fn uplink_use(last: &Last, progress: &Progress<'_>) -> (u64, u64) {
    let used = |ues: &[UeStats]| ues.iter().map(|ue| ue.uplink.resources).sum::<u64>();
    (progress.uplink_resources - last.uplink_resources, used(progress.ues) - used(&last.stats))
}

impl Flow {
    fn new(name: String, ue: usize, first: Instant, points: usize) -> Self {
        Self {
            name,
            ue,
            drb: 1,
            sent: 0,
            marked: 0,
            dropped: 0,
            delivered: Bytes::ZERO,
            packets: 0,
            owd: Distribution::default(),
            queue: Distribution::default(),
            parts: [Duration::ZERO; 7],
            first,
            last: first,
            point: FlowPoint::default(),
            // It did not live in the intervals before.
            points: vec![FlowPoint::default(); points],
        }
    }

    fn result(&self, ue: &str, law: String, warm: Instant) -> FlowResult {
        let mean = |index: usize| (self.parts[index] / self.packets.max(1)).as_millis_f64();
        FlowResult {
            name: self.name.clone(),
            ue: Some(ue.into()),
            controller: "not ours".into(),
            law,
            throughput_mbps: mbps(self.delivered, self.last.since(self.first.max(warm))),
            goodput_mbps: None,
            owd_ms: self.owd.quantiles(),
            rtt_ms: None,
            queue_ms: self.queue.quantiles(),
            router_queue_ms: None,
            transfers: None,
            media: None,
            sent_packets: self.sent,
            marked: self.marked,
            dropped: self.dropped,
            retransmissions: None,
            split_ms: (self.packets > 0).then(|| Split {
                propagation: mean(0),
                router: None,
                cu: mean(1),
                queuing: mean(2),
                scheduling: mean(3),
                harq: mean(4),
                rlc: mean(5),
                reordering: mean(6),
            }),
            owd: self.owd.clone(),
            rtt: Distribution::default(),
            queue: self.queue.clone(),
            router_queue: Distribution::default(),
            completions: Distribution::default(),
            frames: Distribution::default(),
            sender_queue: Distribution::default(),
        }
    }
}

/// What queries there were, only the modems know.
fn anbr((recommendations, sum): (u64, BitRate)) -> Option<AnbrResult> {
    let mean_mbps = sum.as_mbps() / recommendations.max(1) as f64;
    (recommendations > 0).then_some(AnbrResult { recommendations, mean_mbps, queries: None, forbidden: None })
}

/// What a histogram of nanoseconds says.
pub fn lateness(histogram: &Histogram<u64>) -> Option<Lateness> {
    let quantile = |q| histogram.value_at_quantile(q) as f64 / 1e3;
    (!histogram.is_empty()).then(|| Lateness {
        p50: quantile(0.5),
        p99: quantile(0.99),
        p999: quantile(0.999),
        max: histogram.max() as f64 / 1e3,
        deadlines: histogram.len(),
    })
}

/// `tcp 192.0.2.1:443`, or `tcp 192.0.2.1 to port 443` where the UE is the server: what a second run has as well, for the
/// other port is drawn anew each time. The lower port is taken for the server's.
fn name(tuple: Option<FiveTuple>) -> String {
    let Some(tuple) = tuple else { return "unreadable".into() };
    let protocol = match tuple.protocol {
        tidemark_wire::tcp::PROTOCOL => "tcp".into(),
        tidemark_wire::udp::PROTOCOL => "udp".into(),
        1 | 58 => "icmp".into(),
        other => format!("protocol {other}"),
    };
    match tuple.ports {
        Some((far, near)) if far <= near => format!("{protocol} {}", std::net::SocketAddr::from((tuple.source, far))),
        Some((_, near)) => format!("{protocol} {} to port {near}", tuple.source),
        None => format!("{protocol} {}", tuple.source),
    }
}

/// The name under which a tagged configuration is written in a scenario.
pub fn tag(config: &impl serde::Serialize, key: &str) -> String {
    let value = serde_json::to_value(config).unwrap_or_default();
    value[key].as_str().unwrap_or("?").to_string()
}

pub fn mbps(bytes: Bytes, span: Duration) -> f64 {
    if span.is_zero() {
        return 0.0;
    }
    (BitRate::from_bytes_in(bytes, span).as_mbps() * 1e6).round() / 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_is_named_by_the_servers_end() {
        let tuple = |ports| {
            let source = std::net::Ipv4Addr::new(192, 0, 2, 1).into();
            Some(FiveTuple { source, destination: std::net::Ipv4Addr::LOCALHOST.into(), protocol: 6, ports })
        };
        assert_eq!(name(tuple(Some((443, 50_612)))), "tcp 192.0.2.1:443");
        assert_eq!(name(tuple(Some((50_612, 5_201)))), "tcp 192.0.2.1 to port 5201");
        assert_eq!(name(tuple(None)), "tcp 192.0.2.1");
        assert_eq!(name(None), "unreadable");
    }
}
