//! Measurements of one run, and its figures by their names.

use std::collections::BTreeMap;

use tidemark_record::distribution::Distribution;
use tidemark_sim::{FlowResult, RunResult, fairness};

use super::expression::Measure;

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
    /// Name of each UE, and packets in its RLC queue at the end of each interval.
    queued: Vec<(String, Vec<u32>)>,
    /// Name of each UE, and mean RLC queue delay of each interval's packets in ms.
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
    /// Rate of what the application got, without headers.
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
}

/// The first router, of which targets ask.
struct Router {
    queue: Distribution,
    utilisation: f64,
    capacity_mbps: f64,
    /// Seconds in which the queue was older than so many milliseconds.
    tdq_s: BTreeMap<u64, f64>,
    queue_series: Vec<Option<f64>>,
}

impl Measured {
    /// Takes what targets may ask from the result of a run.
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
            ("frozen_s", _) => mean(self.copies(flow).filter_map(|copy| Some(copy.frames?.2))),
            ("queued_empty_percent", _) => {
                let samples = self.queued(flow, window);
                let empty = samples.iter().filter(|packets| **packets == 0.0).count();
                (!samples.is_empty()).then(|| 100.0 * empty as f64 / samples.len() as f64)
            }
            (metric, _) => {
                if let Some(limit) = metric.strip_prefix("tdq_") {
                    return self.router.as_ref()?.tdq_s.get(&limit.parse().ok()?).copied();
                }
                let (base, statistic) = metric.rsplit_once('_')?;
                if base == "interval_owd" {
                    return of_intervals(&self.interval_delays(flow, window)?, statistic);
                }
                if let Some(limit) = statistic.strip_prefix("over") {
                    return Some(100.0 * self.distribution(base, flow)?.share_above(limit.parse().ok()?)?);
                }
                if window.is_none()
                    && let Some(pooled) = self.distribution(base, flow)
                {
                    return of_distribution(&pooled, statistic);
                }
                of_samples(self.samples(base, flow, window)?, statistic)
            }
        }
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

    /// Values over time: seconds of throughput, intervals of everything else.
    fn samples(&self, base: &str, flow: Option<&str>, window: Option<(f64, f64)>) -> Option<Vec<f64>> {
        Some(match base {
            "throughput" => self.copies(flow).flat_map(|copy| self.seconds(&copy.throughput, window)).collect(),
            "share" => self.shares(flow, window),
            "rtt" => self.copies(flow).flat_map(|copy| self.within(&copy.rtt, window)).flatten().collect(),
            "link_queue" => self.within(&self.router.as_ref()?.queue_series, window).into_iter().flatten().collect(),
            "queued" => self.queued(flow, window),
            _ => return None,
        })
    }

    /// Share of this flow in the throughput of all, from 0 to 1, second by second.
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

    fn jain_each_second(&self, window: (f64, f64)) -> impl Iterator<Item = f64> {
        let rows: Vec<_> = self.copies(None).map(|copy| self.seconds(&copy.throughput, Some(window))).collect();
        let seconds = rows.first().map_or(0, Vec::len);
        (0..seconds).filter_map(move |second| fairness::jain(rows.iter().map(|row| row[second])))
    }

    /// Mean one-way delays over intervals, of flows that have their UE's name: the RLC queue's delay of the interval, and the rest
    /// of the way as it is in the mean.
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
        });
    }
}

/// The name of a flow or UE without its number among its copies.
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
        _ => pooled.quantile(fraction(statistic)?),
    }
}

/// `under15` is the share of values below 15, in percent; other statistics are those of samples.
fn of_intervals(values: &[f64], statistic: &str) -> Option<f64> {
    let Some(limit) = statistic.strip_prefix("under") else { return of_samples(values.to_vec(), statistic) };
    let limit: f64 = limit.parse().ok()?;
    let below = values.iter().filter(|value| **value < limit).count();
    (!values.is_empty()).then(|| 100.0 * below as f64 / values.len() as f64)
}

fn of_samples(mut values: Vec<f64>, statistic: &str) -> Option<f64> {
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
