//! Figures of each UE since the start, which the page of a live cell draws. All points cover equal times, however old they are.

use serde::Serialize;

use super::snapshot::{Snapshot, UeSnapshot};

/// Most points; when they are reached, pairs of points are merged.
const MAX_POINTS: usize = 2_048;

/// Figures since the start.
#[derive(Debug, Default, Serialize)]
pub(crate) struct Past {
    /// Ends of the intervals, in seconds.
    t_s: Vec<f64>,
    ues: UesPast,
    /// Samples per point, and samples in the unfinished point.
    #[serde(skip)]
    stride: Stride,
    /// State of each UE over the samples of the unfinished point.
    #[serde(skip)]
    open: Vec<UeSnapshot>,
}

#[derive(Debug)]
struct Stride {
    length: u32,
    taken: u32,
}

impl Default for Stride {
    fn default() -> Self {
        Self { length: 1, taken: 0 }
    }
}

/// Figures of UEs: a row for each UE, with a value for each interval.
#[derive(Debug, Default, Serialize)]
struct UesPast {
    down_mbps: Vec<Vec<f64>>,
    up_mbps: Vec<Vec<f64>>,
    queue_p95_ms: Vec<Vec<Option<f64>>>,
    uplink_queue_p95_ms: Vec<Vec<Option<f64>>>,
    mcs: Vec<Vec<Option<u8>>>,
}

impl Past {
    /// Adds a state of the cell.
    pub(crate) fn push(&mut self, now: &Snapshot) {
        if self.open.is_empty() {
            self.open.clone_from(&now.ues);
        } else {
            self.open.iter_mut().zip(&now.ues).for_each(|(ue, later)| join(ue, later, self.stride.taken));
        }
        self.stride.taken += 1;
        if self.stride.taken < self.stride.length {
            return;
        }
        self.stride.taken = 0;
        self.t_s.push(now.t_s);
        let UesPast { down_mbps, up_mbps, queue_p95_ms, uplink_queue_p95_ms, mcs } = &mut self.ues;
        for (index, ue) in self.open.drain(..).enumerate() {
            row(down_mbps, index).push(ue.down_mbps);
            row(up_mbps, index).push(ue.up_mbps);
            row(queue_p95_ms, index).push(ue.queue_p95_ms);
            row(uplink_queue_p95_ms, index).push(ue.uplink_queue_p95_ms);
            row(mcs, index).push(ue.mcs);
        }
        if self.t_s.len() >= MAX_POINTS {
            self.halve();
        }
    }

    /// Halves the number of points: takes the mean of rates and the larger of delays.
    fn halve(&mut self) {
        self.stride.length *= 2;
        self.t_s = self.t_s.chunks(2).filter_map(|pair| pair.last().copied()).collect();
        let UesPast { down_mbps, up_mbps, queue_p95_ms, uplink_queue_p95_ms, mcs } = &mut self.ues;
        let mean = |pair: &[f64]| pair.iter().sum::<f64>() / pair.len() as f64;
        [down_mbps, up_mbps].into_iter().flatten().for_each(|row| *row = row.chunks(2).map(mean).collect());
        let longer = |pair: &[Option<f64>]| pair.iter().copied().flatten().reduce(f64::max);
        let delays = [queue_p95_ms, uplink_queue_p95_ms].into_iter().flatten();
        delays.for_each(|row| *row = row.chunks(2).map(longer).collect());
        let last = |pair: &[Option<u8>]| pair.iter().copied().flatten().next_back();
        mcs.iter_mut().for_each(|row| *row = row.chunks(2).map(last).collect());
    }
}

/// Adds a sample to a UE's state over this many samples.
fn join(ue: &mut UeSnapshot, later: &UeSnapshot, taken: u32) {
    let mean = |before: f64, now: f64| (before * f64::from(taken) + now) / f64::from(taken + 1);
    ue.down_mbps = mean(ue.down_mbps, later.down_mbps);
    ue.up_mbps = mean(ue.up_mbps, later.up_mbps);
    ue.queue_p95_ms = [ue.queue_p95_ms, later.queue_p95_ms].into_iter().flatten().reduce(f64::max);
    ue.uplink_queue_p95_ms = [ue.uplink_queue_p95_ms, later.uplink_queue_p95_ms].into_iter().flatten().reduce(f64::max);
    ue.mcs = later.mcs.or(ue.mcs);
}

/// Row of a UE.
fn row<T>(rows: &mut Vec<Vec<T>>, ue: usize) -> &mut Vec<T> {
    if rows.len() <= ue {
        rows.resize_with(ue + 1, Vec::new);
    }
    &mut rows[ue]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_is_kept_in_bounds_and_its_longest_queue_among_it() {
        let mut past = Past::default();
        for sample in 1..=100_000u32 {
            let queue_p95_ms = Some(if sample == 777 { 500.0 } else { 5.0 });
            let ue = UeSnapshot { down_mbps: 8.0, queue_p95_ms, ..UeSnapshot::default() };
            past.push(&Snapshot { t_s: f64::from(sample) / 10.0, ues: vec![ue], ..Snapshot::default() });
            assert!(past.t_s.len() < MAX_POINTS);
        }
        let UesPast { down_mbps, queue_p95_ms, mcs, .. } = &past.ues;
        assert_eq!((past.t_s.len(), queue_p95_ms[0].len(), mcs[0].len()), (down_mbps[0].len(), mcs[0].len(), 1562));
        assert!(down_mbps[0].iter().all(|rate| (rate - 8.0).abs() < 1e-9));
        assert_eq!(queue_p95_ms[0].iter().flatten().copied().reduce(f64::max), Some(500.0));
        let steps: Vec<_> = past.t_s.windows(2).map(|pair| pair[1] - pair[0]).collect();
        assert!(
            steps.iter().all(|step| (step - steps[0]).abs() < 1e-6),
            "points stand as close at the start as at the end"
        );
    }
}
