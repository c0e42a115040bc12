//! Measurements of one run, and its figures by name.

use std::collections::BTreeMap;

use tidemark_record::distribution::Distribution;
use tidemark_sim::{FlowResult, RunResult, fairness};

use super::expression::Measure;
use super::headline::statistics::spearman;

/// Greatest relative distance from 2 that `near2` counts.
const NEAR: f64 = 0.05;

/// One run.
pub(super) struct Measured {
    flows: Vec<Kind>,
    router: Option<Router>,
    /// Ends of the intervals in seconds.
    times: Vec<f64>,
    warmup: f64,
    cell_utilisation: Option<f64>,
    cell_mbps: f64,
    jain: Option<f64>,
    /// Each UE's name, and the packets in its RLC queue at the end of each interval.
    queued: Vec<(String, Vec<u32>)>,
    /// Each UE's name, and the mean RLC queue delay of each interval's packets in ms.
    queue: Vec<(String, Vec<Option<f64>>)>,
}

/// The copies of a flow.
#[derive(Default)]
struct Kind {
    name: String,
    owd: Distribution,
    rtt: Distribution,
    queue: Distribution,
    router_queue: Distribution,
    completion: Distribution,
    frame: Distribution,
    sender_queue: Distribution,
    copies: Vec<FlowCopy>,
}

/// One flow.
struct FlowCopy {
    /// Rate of IP packets.
    throughput_mbps: f64,
    /// Rate of the application's data, without headers.
    goodput_mbps: Option<f64>,
    /// Propagation, queuing, scheduling, retransmission.
    split: Option<[f64; 4]>,
    sent: u64,
    marked: u64,
    dropped: u64,
    /// Frames sent, lost, and seconds frozen.
    frames: Option<(u64, u64, f64)>,
    throughput: Vec<f64>,
    rtt: Vec<Option<f64>>,
    /// Rate that the controller sets for its encoder, or its pacing rate.
    rate: Vec<Option<f64>>,
    marks: Vec<u64>,
}

/// The first router, whose figures targets use.
struct Router {
    queue: Distribution,
    utilisation: f64,
    capacity_mbps: f64,
    /// Seconds during which the queue was older than this many milliseconds.
    tdq_s: BTreeMap<u64, f64>,
    queue_series: Vec<Option<f64>>,
}

impl Measured {
    /// Takes the figures that targets can use from the result of a run.
    pub(super) fn of(result: &RunResult) -> Self {
        let mut flows: Vec<Kind> = Vec::new();
        for (index, flow) in result.flows.iter().enumerate() {
            let name = kind_of(&flow.name);
            let position = flows.iter().position(|kind| kind.name == name).unwrap_or_else(|| {
                flows.push(Kind { name: name.into(), ..Kind::default() });
                flows.len() - 1
            });
            flows[position].add(flow, result, index);
        }
        let router = result.routers.first().map(|router| Router {
            queue: router.queue.clone(),
            utilisation: router.utilisation,
            capacity_mbps: router.capacity_mbps,
            tdq_s: router.tdq_s.iter().map(|(limit, seconds)| (*limit as u64, *seconds)).collect(),
            queue_series: result.series.routers.queue_ms[0].clone(),
        });
        let ues = result.ues.iter().zip(&result.series.ues.queued);
        let names = result.ues.iter().map(|ue| &ue.name);
        Self {
            flows,
            router,
            times: result.series.t_s.clone(),
            warmup: result.warmup_s,
            cell_utilisation: result.cell.utilisation,
            cell_mbps: result.cell.throughput_mbps,
            jain: result.jain,
            queued: ues.map(|(ue, queued)| (ue.name.clone(), queued.clone())).collect(),
            queue: names.zip(&result.series.ues.queue_ms).map(|(name, queue)| (name.clone(), queue.clone())).collect(),
        }
    }

    /// The figure of this name; `None` if there is no such figure or it was not measured.
    pub(super) fn figure(&self, wanted: &Measure) -> Option<f64> {
        let (flow, window) =
            (wanted.flow.as_deref(), wanted.window.map(|(from, to)| (from as f64 / 1e3, to as f64 / 1e3)));
        let total = |count: fn(&FlowCopy) -> u64| self.copies(flow).map(count).sum::<u64>() as f64;
        let part = |index: usize| mean(self.copies(flow).filter_map(move |copy| Some(copy.split?[index])));
        match (wanted.metric.as_str(), window) {
            ("jain", None) => self.jain,
            ("jain", Some(window)) => mean(self.jain_each_second(window)),
            ("cell_utilisation", _) => Some(100.0 * self.cell_utilisation?),
            ("cell_throughput", _) => Some(self.cell_mbps),
            ("link_utilisation", _) => Some(100.0 * self.router.as_ref()?.utilisation),
            ("link_share", _) => {
                let capacity = self.router.as_ref()?.capacity_mbps;
                Some(100.0 * mean(self.copies(flow).map(|copy| copy.throughput_mbps / capacity))?)
            }
            ("throughput_total", None) => {
                self.copies(flow).map(|copy| copy.throughput_mbps).reduce(|sum, rate| sum + rate)
            }
            ("throughput_mean", None) => mean(self.copies(flow).map(|copy| copy.throughput_mbps)),
            ("goodput_mean", None) => mean(self.copies(flow).filter_map(|copy| copy.goodput_mbps)),
            ("propagation", _) => part(0),
            ("queuing", _) => part(1),
            ("scheduling", _) => part(2),
            ("retransmission", _) => part(3),
            ("loss_percent", _) => Some(100.0 * total(|copy| copy.dropped) / total(|copy| copy.sent)),
            ("marked_percent", _) => Some(100.0 * total(|copy| copy.marked) / total(|copy| copy.sent)),
            ("frames_lost_percent", _) => {
                let (sent, lost) = self
                    .copies(flow)
                    .filter_map(|copy| copy.frames)
                    .fold((0, 0), |sum, frames| (sum.0 + frames.0, sum.1 + frames.1));
                (sent > 0).then(|| 100.0 * lost as f64 / sent as f64)
            }
            ("packets_sent", _) => Some(total(|copy| copy.sent)),
            ("rate_cv", _) => mean(self.copies(flow).filter_map(|copy| variation(&self.rates(copy, window)?))),
            ("rate_by_round_trip", _) => {
                mean(self.copies(flow).filter_map(|copy| self.rank_with_inverse_round_trip(copy, window)))
            }
            ("rate_by_marks", _) => mean(self.copies(flow).filter_map(|copy| self.rank_with_marks(copy, window))),
            ("frozen_s", _) => mean(self.copies(flow).filter_map(|copy| Some(copy.frames?.2))),
            ("queued_empty_percent", _) => {
                let samples = self.queued(flow, window);
                let empty = samples.iter().filter(|packets| **packets == 0.0).count();
                (!samples.is_empty()).then(|| 100.0 * empty as f64 / samples.len() as f64)
            }
            (metric, _) => self.statistic(metric, flow, window),
        }
    }

    /// The statistic that a metric's name ends with, of what it begins with.
    fn statistic(&self, metric: &str, flow: Option<&str>, window: Option<(f64, f64)>) -> Option<f64> {
        if let Some(limit) = metric.strip_prefix("tdq_") {
            return self.router.as_ref()?.tdq_s.get(&limit.parse().ok()?).copied();
        }
        let (base, statistic) = metric.rsplit_once('_')?;
        if let Some(level) = statistic.strip_prefix("reach") {
            return self.time_to_reach(flow, window?, level.parse().ok()?);
        }
        if let Some(limit) = statistic.strip_prefix("until") {
            return self.time_until_below(window?, limit.parse().ok()?);
        }
        if base == "interval_owd" {
            return of_intervals(&self.interval_delays(flow, window)?, statistic);
        }
        if let Some(limit) = statistic.strip_prefix("over") {
            return Some(100.0 * self.distribution(base, flow)?.share_above(limit.parse().ok()?)?);
        }
        // A window has no distribution of its own.
        if window.is_none()
            && let Some(pooled) = self.distribution(base, flow)
        {
            return of_distribution(&pooled, statistic);
        }
        of_samples(self.samples(base, flow, window)?, statistic)
    }

    fn copies(&self, flow: Option<&str>) -> impl Iterator<Item = &FlowCopy> {
        self.flows.iter().filter(move |kind| flow.is_none_or(|flow| flow == kind.name)).flat_map(|kind| &kind.copies)
    }

    fn distribution(&self, base: &str, flow: Option<&str>) -> Option<Distribution> {
        if base == "link_queue" {
            return self.router.as_ref().map(|router| router.queue.clone());
        }
        let of: fn(&Kind) -> &Distribution = match base {
            "owd" => |kind| &kind.owd,
            "rtt" => |kind| &kind.rtt,
            "queue" => |kind| &kind.queue,
            "router_queue" => |kind| &kind.router_queue,
            "completion" => |kind| &kind.completion,
            "frame" => |kind| &kind.frame,
            "sender_queue" => |kind| &kind.sender_queue,
            _ => return None,
        };
        let mut pooled = Distribution::default();
        let kinds = self.flows.iter().filter(|kind| flow.is_none_or(|flow| flow == kind.name));
        kinds.for_each(|kind| pooled.merge(of(kind)));
        (pooled.count() > 0).then_some(pooled)
    }

    /// Values over time: one a second for throughput, one an interval for all else.
    fn samples(&self, base: &str, flow: Option<&str>, window: Option<(f64, f64)>) -> Option<Vec<f64>> {
        Some(match base {
            "throughput" => self.copies(flow).flat_map(|copy| self.seconds(&copy.throughput, window)).collect(),
            "share" => self.shares(flow, window),
            "user_loss" => self.copies(flow).filter(|copy| copy.sent > 0).map(FlowCopy::loss_percent).collect(),
            "rtt" => self.copies(flow).flat_map(|copy| self.within(&copy.rtt, window)).flatten().collect(),
            "link_queue" => self.within(&self.router.as_ref()?.queue_series, window).into_iter().flatten().collect(),
            "queued" => self.queued(flow, window),
            _ => return None,
        })
    }

    /// Share of this flow in all throughput, from 0 to 1, for each second.
    fn shares(&self, flow: Option<&str>, window: Option<(f64, f64)>) -> Vec<f64> {
        let sum = |flow: Option<&str>| {
            let rows = self.copies(flow).map(|copy| self.seconds(&copy.throughput, window));
            rows.reduce(|mut sum, row| {
                sum.iter_mut().zip(row).for_each(|(total, value)| *total += value);
                sum
            })
        };
        let (Some(own), Some(all)) = (sum(flow), sum(None)) else { return Vec::new() };
        own.iter().zip(&all).filter(|(_, all)| **all > 0.0).map(|(own, all)| own / all).collect()
    }

    /// Rates of a flow's controller over the intervals.
    fn rates(&self, copy: &FlowCopy, window: Option<(f64, f64)>) -> Option<Vec<f64>> {
        self.within(&copy.rate, window).into_iter().collect()
    }

    /// Rank correlation over time of a flow's rate with the inverse of its round trip.
    fn rank_with_inverse_round_trip(&self, copy: &FlowCopy, window: Option<(f64, f64)>) -> Option<f64> {
        let pairs = self.within(&copy.rate, window).into_iter().zip(self.within(&copy.rtt, window));
        let (rates, inverse): (Vec<_>, Vec<_>) = pairs.filter_map(|(rate, rtt)| Some((rate?, 1.0 / rtt?))).unzip();
        spearman(&rates, &inverse)
    }

    /// Rank correlation over time of a flow's rate with the share of marks in its deliveries since the start.
    fn rank_with_marks(&self, copy: &FlowCopy, window: Option<(f64, f64)>) -> Option<f64> {
        let (mut marks, mut delivered) = (0, 0.0);
        let share = |(more, rate): (&u64, &f64)| {
            marks += more;
            delivered += rate;
            (delivered > 0.0).then(|| marks as f64 / delivered)
        };
        let shares: Vec<_> = copy.marks.iter().zip(&copy.throughput).map(share).collect();
        let pairs = self.within(&copy.rate, window).into_iter().zip(self.within(&shares, window));
        let (rates, shares): (Vec<_>, Vec<_>) = pairs.filter_map(|(rate, share)| Some((rate?, share?))).unzip();
        spearman(&rates, &shares)
    }

    /// Seconds from the start of a window until an interval's mean throughput reaches a level in Mbit/s; the whole window if none does.
    fn time_to_reach(&self, flow: Option<&str>, window: (f64, f64), level: f64) -> Option<f64> {
        let rows: Vec<_> = self.copies(flow).map(|copy| self.within(&copy.throughput, Some(window))).collect();
        let ends = self.within(&self.times, Some(window));
        let reaches = |interval: &usize| {
            mean(rows.iter().map(|row| row[*interval])).is_some_and(|throughput| throughput >= level)
        };
        let end = (0..ends.len()).find(reaches).map_or(window.1, |interval| ends[interval]);
        (!rows.is_empty()).then_some(end - window.0)
    }

    /// Seconds from the start of a window to the end of its last interval in which the router's queue is older than a limit in ms; 0 if
    /// there is none.
    fn time_until_below(&self, window: (f64, f64), limit: f64) -> Option<f64> {
        let queue = self.within(&self.router.as_ref()?.queue_series, Some(window));
        let ends = self.within(&self.times, Some(window));
        let last = queue.iter().rposition(|queue| queue.is_some_and(|queue| queue > limit));
        Some(last.map_or(0.0, |interval| ends[interval] - window.0))
    }

    fn jain_each_second(&self, window: (f64, f64)) -> impl Iterator<Item = f64> {
        let rows: Vec<_> = self.copies(None).map(|copy| self.seconds(&copy.throughput, Some(window))).collect();
        let seconds = rows.first().map_or(0, Vec::len);
        (0..seconds).filter_map(move |second| fairness::jain(rows.iter().map(|row| row[second])))
    }

    /// Mean one-way delays over intervals, for flows named like their UE: the interval's RLC queue delay plus the mean delay of the rest
    /// of the path.
    fn interval_delays(&self, flow: Option<&str>, window: Option<(f64, f64)>) -> Option<Vec<f64>> {
        let mean_of = |base| of_distribution(&self.distribution(base, flow)?, "mean");
        let rest = mean_of("owd")? - mean_of("queue")?;
        let rows = self.queue.iter().filter(|(name, _)| flow.is_none_or(|flow| flow == kind_of(name)));
        Some(rows.flat_map(|(_, row)| self.within(row, window)).flatten().map(|queue| queue + rest).collect())
    }

    fn queued(&self, ue: Option<&str>, window: Option<(f64, f64)>) -> Vec<f64> {
        let rows = self.queued.iter().filter(|(name, _)| ue.is_none_or(|ue| ue == kind_of(name)));
        rows.flat_map(|(_, row)| self.within(row, window)).map(f64::from).collect()
    }

    /// The values of the intervals that end inside the window, or after the warm-up.
    fn within<T: Copy>(&self, row: &[T], window: Option<(f64, f64)>) -> Vec<T> {
        let (from, to) = window.unwrap_or((self.warmup, f64::INFINITY));
        let inside = |time: f64| time > from + 1e-9 && time <= to + 1e-9;
        row.iter().zip(&self.times).filter(|(_, time)| inside(**time)).map(|(value, _)| *value).collect()
    }

    /// Means over whole seconds, as iperf3 reports a rate.
    fn seconds(&self, row: &[f64], window: Option<(f64, f64)>) -> Vec<f64> {
        let a_second = self.times.iter().take_while(|time| **time <= 1.0 + 1e-9).count().max(1);
        let row = self.within(row, window);
        row.chunks_exact(a_second).map(|second| second.iter().sum::<f64>() / a_second as f64).collect()
    }
}

impl FlowCopy {
    fn loss_percent(&self) -> f64 {
        100.0 * self.dropped as f64 / self.sent as f64
    }
}

/// Rate of a flow over the intervals: its controller's rate for the encoder or, without an encoder, its pacing rate.
fn rate_of(result: &RunResult, index: usize) -> Vec<Option<f64>> {
    let target = &result.series.flows.target_mbps[index];
    let has_target = target.iter().any(Option::is_some);
    if has_target { target.clone() } else { result.series.flows.pacing_mbps[index].clone() }
}

impl Kind {
    fn add(&mut self, flow: &FlowResult, result: &RunResult, index: usize) {
        self.owd.merge(&flow.owd);
        self.rtt.merge(&flow.rtt);
        self.queue.merge(&flow.queue);
        self.router_queue.merge(&flow.router_queue);
        self.completion.merge(&flow.completions);
        self.frame.merge(&flow.frames);
        self.sender_queue.merge(&flow.sender_queue);
        self.copies.push(FlowCopy {
            throughput_mbps: flow.throughput_mbps,
            goodput_mbps: flow.goodput_mbps,
            split: flow.split_ms.map(|split| {
                [split.propagation, split.queuing, split.scheduling, split.harq + split.rlc + split.reordering]
            }),
            sent: flow.sent_packets,
            marked: flow.marked,
            dropped: flow.dropped,
            frames: flow.media.map(|media| (media.frames_sent, media.frames_lost, media.frozen_s)),
            throughput: result.series.flows.throughput_mbps[index].clone(),
            rtt: result.series.flows.rtt_ms[index].clone(),
            rate: rate_of(result, index),
            marks: result.series.flows.marks[index].clone(),
        });
    }
}

/// The name of a flow or UE without its copy's number.
fn kind_of(name: &str) -> &str {
    match name.rsplit_once('-') {
        Some((kind, number)) if !number.is_empty() && number.chars().all(|c| c.is_ascii_digit()) => kind,
        _ => name,
    }
}

fn of_distribution(pooled: &Distribution, statistic: &str) -> Option<f64> {
    match statistic {
        "mean" => Some(pooled.quantiles()?.mean),
        "iqr" => Some(pooled.quantile(0.75)? - pooled.quantile(0.25)?),
        "sd" => pooled.deviation(),
        _ => pooled.quantile(fraction(statistic)?),
    }
}

/// `under15` is the share of values below 15, in percent; other statistics as for samples.
fn of_intervals(values: &[f64], statistic: &str) -> Option<f64> {
    let Some(limit) = statistic.strip_prefix("under") else { return of_samples(values.to_vec(), statistic) };
    let limit: f64 = limit.parse().ok()?;
    let below = values.iter().filter(|value| **value < limit).count();
    (!values.is_empty()).then(|| 100.0 * below as f64 / values.len() as f64)
}

fn of_samples(mut values: Vec<f64>, statistic: &str) -> Option<f64> {
    if let Some(centre) = statistic.strip_prefix("near") {
        let centre: f64 = centre.parse().ok()?;
        let near = values.iter().filter(|value| (**value / centre - 1.0).abs() <= NEAR).count();
        return (!values.is_empty()).then(|| 100.0 * near as f64 / values.len() as f64);
    }
    values.sort_by(f64::total_cmp);
    let at = |fraction: f64| {
        values.get(((values.len() as f64 * fraction) as usize).min(values.len().checked_sub(1)?)).copied()
    };
    match statistic {
        "mean" => mean(values.iter().copied()),
        "max" => values.last().copied(),
        "iqr" => Some(at(0.75)? - at(0.25)?),
        _ => at(fraction(statistic)?),
    }
}

/// Coefficient of variation: the standard deviation over the mean.
fn variation(values: &[f64]) -> Option<f64> {
    let centre = mean(values.iter().copied())?;
    let variance = mean(values.iter().map(|value| (value - centre).powi(2)))?;
    Some(variance.sqrt() / centre)
}

/// `p50` is 0.5, `p999` is 0.999.
fn fraction(statistic: &str) -> Option<f64> {
    let digits = statistic.strip_prefix('p')?;
    Some(digits.parse::<f64>().ok()? / 10f64.powi(digits.len() as i32))
}

fn mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = values.fold((0.0, 0u32), |(sum, count), value| (sum + value, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tidemark_sim::Simulation;
    use tidemark_sim::scenario::Scenario;

    use super::*;

    #[test]
    fn statistics_by_their_names() {
        assert_eq!(fraction("p50"), Some(0.5));
        assert_eq!(fraction("p999"), Some(0.999));
        assert_eq!(fraction("p05"), Some(0.05));
        let values: Vec<f64> = (0..100).map(f64::from).collect();
        assert_eq!(of_samples(values.clone(), "p50"), Some(50.0));
        assert_eq!(of_samples(values.clone(), "iqr"), Some(50.0));
        assert_eq!(of_samples(values, "mean"), Some(49.5));
        assert_eq!(of_samples(Vec::new(), "p50"), None);
        assert_eq!(of_intervals(&[14.0, 15.0, 16.0, 2.0], "under15"), Some(50.0));
        assert_eq!(of_intervals(&[], "under15"), None);
        assert_eq!(of_samples(vec![2.0, 2.08, 2.2, 1.8], "near2"), Some(50.0));
        assert_eq!(variation(&[1.0, 3.0]), Some(0.5));
        assert_eq!(variation(&[]), None);
    }

    #[test]
    fn copies_go_by_the_name_of_their_kind() {
        assert_eq!(
            [kind_of("walking-12"), kind_of("desk"), kind_of("a-b"), kind_of("x-")],
            ["walking", "desk", "a-b", "x-"]
        );
    }

    #[test]
    fn goodput_is_what_is_left_of_the_throughput_without_headers() {
        let text = r#"
            name = "video"
            duration = "3 s"
            warmup = "1 s"
            [[router]]
            name = "line"
            rate = "10 Mbit/s"
            queue = { discipline = "dualpi2" }
            [[flow]]
            name = "video"
            router = "line"
            round_trip = "10 ms"
            sender = { controller = "scream-2021" }
            app = { app = "video" }
        "#;
        let scenario = Scenario::parse("video", text, Path::new("."), &[]).unwrap();
        let measured = Measured::of(&Simulation::new(&scenario).unwrap().run(|_| true).unwrap());
        let mean = |metric: &str| {
            let wanted =
                Measure { metric: metric.into(), case: String::new(), flow: Some("video".into()), window: None };
            measured.figure(&wanted).unwrap()
        };
        // 48 B of IP, UDP and RTP before 1200 of video, and before less at the end of a frame.
        let share = mean("goodput_mean") / mean("throughput_mean");
        assert!((0.94..=1200.0 / 1248.0).contains(&share), "{share}");
    }
}
