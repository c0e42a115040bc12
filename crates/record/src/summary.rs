//! Results of what was recorded.

use tidemark_cell::NetworkConfig;
use tidemark_core::{BitRate, Bytes, Duration, Ecn, Instant};

use crate::cell::CellRecord;
use crate::counters::Counters;
use crate::distribution::{Distribution, Quantiles};
use crate::fairness::mean_jain;
use crate::fields::Rounded as _;
use crate::flow::{Ends, FlowDescription};
use crate::recorder::Recorder;
use crate::result::{
    BearerResult, CellPlace, CellResult, CellSeries, FlowResult, FlowSeries, NetworkCellResult, RouterSeries,
    RunResult, Series, UePlace, UeResult, UeSeries, UplinkSeries,
};
use crate::router::RouterDescription;
use crate::series::UePoint;
use crate::subject::NamedUe;
use crate::ue::{Available, share};
use crate::unit::mbps;

/// Facts about a run that no recorder sees.
#[derive(Debug)]
pub struct Description<'a> {
    /// Name of the scenario.
    pub name: &'a str,
    /// Purpose of the scenario; empty where it says none.
    pub description: &'a str,
    /// Seed of the run.
    pub seed: u64,
    /// Length of the run.
    pub duration: Duration,
    /// Length of its warm-up.
    pub warmup: Duration,
    /// UEs, in the order of their ids.
    pub ues: &'a [NamedUe],
    /// Flows, in the order of their numbers.
    pub flows: &'a [FlowDescription],
    /// Cells of the network; `None` where there is one cell without a place.
    pub network: Option<&'a NetworkConfig>,
    /// Routers, in the order of their numbers.
    pub routers: &'a [RouterDescription],
    /// True where the recorder has every query for a bit rate.
    pub knows_queries: bool,
    /// Statement of the conservation check.
    pub conservation: String,
    /// Text of the scenario, with overrides applied.
    pub scenario: &'a str,
}

impl Recorder {
    /// Result of the run up to `end`. The driver adds warnings, events and the state of the machine; the program adds
    /// the commit.
    pub fn result(&self, of: &Description<'_>, end: &Counters) -> RunResult {
        let before = &self.baseline;
        let warm = Instant::ZERO + of.warmup;
        let from = warm.max(before.at);
        let span = end.at.since(from);
        let resources = |of: fn(&Counters) -> u64| if end.at > from { of(end) - of(before) } else { 0 };
        let available =
            Available { downlink: resources(|at| at.resources), uplink: resources(|at| at.uplink_resources) };
        let warm_intervals = self.times.iter().take_while(|at| **at <= warm).count();
        let flows = self.flow_results(of, end, warm);
        let (mut ues, mut bearers) = (Vec::new(), Vec::new());
        for index in self.ues.keys() {
            let queue = self.queue(of, index).quantiles();
            // Sums and indices of other results are those of the figures that users read.
            let ue = self.ue_result(of, end, index, queue, (available, span)).rounded();
            ues.push(with_frames(ue, &flows));
            bearers.extend(self.bearer_results(of, end, index, queue, span));
        }
        let series = self.series().rounded();
        RunResult {
            tidemark: env!("CARGO_PKG_VERSION"),
            commit: None,
            name: of.name.into(),
            description: (!of.description.is_empty()).then(|| of.description.into()),
            seed: of.seed,
            duration_s: of.duration.as_secs_f64(),
            warmup_s: of.warmup.as_secs_f64(),
            interrupted_at_s: (end.at < Instant::ZERO + of.duration).then(|| end.at.as_secs_f64()),
            warnings: Vec::new(),
            cell: self.cell_result(of, end, &ues, (available.downlink, span)),
            cells: of.network.map_or_else(Vec::new, |network| {
                self.cell_results(network, end, available.downlink, (span, warm_intervals), &ues)
            }),
            live: None,
            flows,
            ues,
            bearers,
            routers: of.routers.iter().zip(&self.routers).map(|(of, router)| router.result(of, span)).collect(),
            jain: mean_jain(&series.flows.throughput_mbps, warm_intervals..self.times.len()),
            events: Vec::new(),
            freezes: of
                .flows
                .iter()
                .zip(self.flows.iter())
                .flat_map(|(of, flow)| flow.frames.freezes(&of.name))
                .collect(),
            series,
            marks: {
                let (flows, ues) = (of.flows.iter().map(|flow| &*flow.name), of.ues.iter().map(|ue| &*ue.name));
                self.marks.csv(flows, ues)
            },
            scenario: of.scenario.into(),
        }
        .rounded()
    }

    /// Result of all cells together, whose downlink had this many resources in this time.
    fn cell_result(
        &self,
        of: &Description<'_>,
        end: &Counters,
        ues: &[UeResult],
        (available, span): (u64, Duration),
    ) -> CellResult {
        let cells = end.cells.len().max(1);
        let used = |index| end.ue(index).resources - self.baseline.ue(index).resources;
        let used = (0..ues.len()).map(used).sum::<u64>();
        let uplinks = ues.iter().filter_map(|ue| ue.uplink.map(|uplink| uplink.prb_share));
        CellResult {
            satisfied: satisfied(ues.iter()),
            utilisation: share(used / cells as u64, available).filter(|_| !ues.is_empty()),
            uplink_utilisation: uplinks.reduce(|sum, share| sum + share).map(|sum| sum / cells as f64),
            throughput_mbps: mbps(self.ues.iter().map(|ue| ue.delivered).sum(), span),
            conservation: of.conservation.clone(),
        }
    }

    fn flow_results(&self, of: &Description<'_>, end: &Counters, warm: Instant) -> Vec<FlowResult> {
        let before = &self.baseline;
        let flows = of.flows.iter().zip(self.flows.iter()).enumerate();
        let result = flows.map(|(index, (flow, record))| {
            let ends = end.servers.get(index).zip(end.clients.get(index)).and_then(|(server, client)| {
                let (server_before, client_before) = (before.servers.get(index)?, before.clients.get(index)?);
                Some(Ends { server: (server_before, server), client: (client_before, client) })
            });
            record.result(flow, flow.ue.map(|ue| of.ues[ue].name.as_str()), warm, ends)
        });
        result.collect()
    }

    /// Times of a UE's downlink packets in the RLC queue.
    fn queue(&self, of: &Description<'_>, ue: usize) -> Distribution {
        let mut all = Distribution::default();
        if self.ues[ue].bearers.is_empty() {
            let flows =
                of.flows.iter().zip(self.flows.iter()).filter(|(flow, _)| flow.ue == Some(ue) && !flow.is_uplink);
            flows.for_each(|(_, record)| all.merge(&record.queue));
        } else {
            self.ues[ue].bearers.iter().for_each(|bearer| all.merge(bearer));
        }
        all
    }

    fn ue_result(
        &self,
        of: &Description<'_>,
        end: &Counters,
        index: usize,
        queue: Option<Quantiles>,
        (available, span): (Available, Duration),
    ) -> UeResult {
        let (before, after) = (self.baseline.ue(index), end.ue(index));
        let record = &self.ues[index];
        let result = record.result(&of.ues[index], (&before, &after), available, queue, (span, of.knows_queries));
        UeResult { place: self.place(of, end, index), ..result }
    }

    /// Results of each bearer of a UE, downlink and uplink.
    fn bearer_results(
        &self,
        of: &Description<'_>,
        end: &Counters,
        index: usize,
        queue: Option<Quantiles>,
        span: Duration,
    ) -> Vec<BearerResult> {
        let (ue, record) = (&of.ues[index], &self.ues[index]);
        let result = |drb: u8| {
            let (before, after) = (self.baseline.bearer(index, drb), end.bearer(index, drb));
            let own = record.bearers.get(usize::from(drb) - 1).map_or(queue, Distribution::quantiles);
            let down = BearerResult::new(ue, drb, (&before, &after), own, span);
            std::iter::once(down).chain(record.uplink.result(ue, drb, (&before, &after), span))
        };
        (1..=1 + ue.config.drb.len() as u8).flat_map(result).collect()
    }

    fn cell_results(
        &self,
        network: &NetworkConfig,
        end: &Counters,
        resources: u64,
        (span, warm): (Duration, usize),
        ues: &[UeResult],
    ) -> Vec<NetworkCellResult> {
        let places = network.cell_places();
        let result = |(index, record): (usize, &CellRecord)| {
            let (position_m, azimuth_deg) = places[index];
            let place = CellPlace { position_m, azimuth_deg };
            let counters = |at: &Counters| at.cells.get(index).copied().unwrap_or_default();
            let (before, after) = (counters(&self.baseline), counters(end));
            let mut cell = record.result((network.cell_name(index), place), (&before, &after), resources, (span, warm));
            let serves = |ue: &&UeResult| ue.place.as_ref().is_some_and(|place| place.cell == cell.name);
            cell.satisfied = satisfied(ues.iter().filter(serves));
            cell
        };
        self.cells.iter().enumerate().map(result).collect()
    }

    fn place(&self, of: &Description<'_>, end: &Counters, ue: usize) -> Option<UePlace> {
        let radio = |at: &Counters| at.radio.get(ue).copied().flatten();
        let (before, after) = (radio(&self.baseline)?, radio(end)?);
        let measurements = after.measurements - before.measurements;
        let sum = after.sinr_sum_db - before.sinr_sum_db;
        Some(UePlace {
            cell: of.network?.cell_name(after.cell),
            position_m: after.position,
            handovers: after.handovers - before.handovers,
            sinr_db: (measurements > 0).then(|| sum / measurements as f64),
        })
    }

    fn series(&self) -> Series {
        let starts = std::iter::once(Instant::ZERO).chain(self.times.iter().copied());
        let spans: Vec<_> = starts.zip(&self.times).map(|(from, to)| to.since(from)).collect();
        let rates = |bytes: &mut dyn Iterator<Item = Bytes>| -> Vec<f64> {
            bytes.zip(&spans).map(|(bytes, span)| mbps(bytes, *span)).collect()
        };
        let ms = |span: Option<Duration>| span.map(Duration::as_millis_f64);
        let kb = |window: Option<Bytes>| window.map(|window| window.as_f64() / 1e3);
        let mut series = Series { t_s: self.times.iter().map(|at| at.as_secs_f64()).collect(), ..Series::default() };
        for points in self.flows.iter().map(|flow| &flow.points) {
            let FlowSeries { throughput_mbps, rtt_ms, marks, cwnd_kb, pacing_mbps, target_mbps, alpha, frame_delay_ms } =
                &mut series.flows;
            throughput_mbps.push(rates(&mut points.iter().map(|point| point.delivered)));
            rtt_ms.push(points.iter().map(|point| ms(point.rtt.value())).collect());
            marks.push(points.iter().map(|point| point.marks).collect());
            cwnd_kb.push(points.iter().map(|point| kb(point.sender.window)).collect());
            let rate = |rate: Option<BitRate>| rate.map(BitRate::as_mbps);
            pacing_mbps.push(sparse(points.iter().map(|point| rate(point.sender.pacing_rate))));
            target_mbps.push(sparse(points.iter().map(|point| rate(point.sender.target_rate))));
            alpha.push(sparse(points.iter().map(|point| point.sender.alpha)));
            frame_delay_ms.push(sparse(points.iter().map(|point| ms(point.frames.value()))));
        }
        for points in self.ues.iter().map(|ue| &ue.points) {
            let UeSeries { queue_ms, mcs, throughput_mbps, queued, prb_share, not_ect, ect1, ect0, ce, .. } =
                &mut series.ues;
            prb_share.push(points.iter().map(|point| share(point.resources.0, point.resources.1)).collect());
            for (rows, ecn) in [(not_ect, Ecn::NotEct), (ect1, Ecn::Ect1), (ect0, Ecn::Ect0), (ce, Ecn::Ce)] {
                rows.push(points.iter().map(|point| point.ecn[usize::from(ecn.bits())]).collect());
            }
            queued.push(points.iter().map(|point| point.queued).collect());
            queue_ms.push(points.iter().map(|point| ms(point.queue.value())).collect());
            mcs.push(points.iter().map(|point| point.mcs.map(f64::from)).collect());
            throughput_mbps.push(rates(&mut points.iter().map(|point| point.delivered)));
            let UplinkSeries { throughput_mbps, queue_ms, reported_kb, mcs, .. } = &mut series.uplinks;
            throughput_mbps.push(rates(&mut points.iter().map(|point| point.sent)));
            queue_ms.push(points.iter().map(|point| ms(point.uplink_queue.value())).collect());
            reported_kb.push(points.iter().map(|point| point.reported.as_f64() / 1e3).collect());
            let mean = |(blocks, sum): (u64, u64)| (blocks > 0).then(|| sum as f64 / blocks as f64);
            mcs.push(points.iter().map(|point| mean(point.uplink_blocks)).collect());
        }
        self.places(&mut series.ues);
        (series.ues.recommended_mbps, series.uplinks.recommended_mbps) = (self.recommended(0), self.recommended(1));
        for points in self.cells.iter().map(|cell| &cell.points) {
            let CellSeries { throughput_mbps, utilisation, ues, handovers } = &mut series.cells;
            throughput_mbps.push(rates(&mut points.iter().map(|point| point.delivered)));
            utilisation.push(points.iter().map(|point| point.load).collect());
            ues.push(points.iter().map(|point| point.ues).collect());
            handovers.push(points.iter().map(|point| point.handovers).collect());
        }
        for points in self.routers.iter().map(|router| &router.points) {
            let RouterSeries { throughput_mbps, capacity_mbps, queue_ms, marks } = &mut series.routers;
            throughput_mbps.push(rates(&mut points.iter().map(|point| point.delivered)));
            capacity_mbps.push(points.iter().map(|point| point.rate.as_mbps()).collect());
            queue_ms.push(points.iter().map(|point| ms(point.queue.value())).collect());
            marks.push(points.iter().map(|point| point.marks).collect());
        }
        series
    }

    /// Places of UEs over time; none in a cell without a place.
    fn places(&self, series: &mut UeSeries) {
        for points in self.ues.iter().map(|ue| &ue.points).filter(|_| self.cells.next() > 0) {
            let places: Vec<_> = points.iter().filter_map(|point| point.place).collect();
            series.east_m.push(places.iter().map(|place| place.position[0]).collect());
            series.north_m.push(places.iter().map(|place| place.position[1]).collect());
            series.sinr_db.push(places.iter().map(|place| place.sinr_db).collect());
            series.cell.push(places.iter().map(|place| place.cell).collect());
        }
    }

    /// Rates recommended last for downlink (0) or uplink (1); empty where no UE had any.
    fn recommended(&self, direction: usize) -> Vec<Vec<Option<f64>>> {
        let row = |points: &Vec<UePoint>| -> Vec<_> {
            points.iter().map(|point| point.recommended[direction].map(BitRate::as_mbps)).collect()
        };
        let rows: Vec<Vec<_>> = self.ues.iter().map(|ue| row(&ue.points)).collect();
        if rows.iter().flatten().any(Option::is_some) { rows } else { Vec::new() }
    }
}

/// UE with what became of the frames of its flows.
fn with_frames(ue: UeResult, flows: &[FlowResult]) -> UeResult {
    let media = flows.iter().filter(|flow| flow.ue.as_ref() == Some(&ue.name)).filter_map(|flow| flow.media);
    let media: Vec<_> = media.filter(|media| media.satisfied.is_some()).collect();
    UeResult {
        frames_in_budget: media.iter().filter_map(|media| media.in_budget).reduce(f64::min),
        satisfied: (!media.is_empty()).then(|| media.iter().all(|media| media.satisfied == Some(true))),
        ..ue
    }
}

/// Share of the UEs with frames that are satisfied; `None` where there are none.
fn satisfied<'a>(ues: impl Iterator<Item = &'a UeResult>) -> Option<f64> {
    let ues: Vec<_> = ues.filter_map(|ue| ue.satisfied).collect();
    (!ues.is_empty()).then(|| ues.iter().filter(|satisfied| **satisfied).count() as f64 / ues.len() as f64)
}

/// Values over the intervals; none at all where every one is missing.
fn sparse(values: impl Iterator<Item = Option<f64>>) -> Vec<Option<f64>> {
    let values: Vec<_> = values.collect();
    if values.iter().any(Option::is_some) { values } else { Vec::new() }
}
