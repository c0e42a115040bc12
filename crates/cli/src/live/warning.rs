//! Warnings of a live cell: the machine was too slow, or the uplink too narrow.

use tidemark_sim::RunResult;

use super::admission;

/// Share of its time that the cell's thread works above which late slots are the cell's own.
pub(super) const BUSY_THREAD: f64 = 0.8;
/// Share of the uplink's resource blocks above which UEs' packets wait.
pub(super) const BUSY_UPLINK: f64 = 0.9;
/// Lateness of slots (p99.9, microseconds) above which measured delays include the machine's.
pub(super) const LATE_US: f64 = 2_000.0;
/// Seconds of a busy uplink that lead to a warning.
const MIN_BUSY_S: f64 = 1.0;

/// Lists the warnings about a whole run.
pub(super) fn warnings(result: &RunResult) -> Vec<String> {
    let Some(live) = &result.live else { return Vec::new() };
    let lost = live.overload + live.device_drops;
    let overload = (lost > 0).then(|| {
        let rate = result.cell.throughput_mbps / live.busy.max(1e-3);
        format!(
            "OVERLOAD: {lost} packets were dropped because the cell's thread was too slow; \
             this machine can carry {rate:.0} Mbit/s of this cell"
        )
    });
    let late = live.lateness_us.filter(|late| late.p999 > LATE_US).map(|late| {
        format!(
            "one slot in a thousand was late by {:.1} ms or more: delays of that length may come from the machine, not from the cell",
            late.p999 / 1e3
        )
    });
    let busy = live.uplink_busy_s.filter(|seconds| *seconds >= MIN_BUSY_S).map(|seconds| {
        format!(
            "the uplink was more than {:.0} % used for {seconds:.1} s: UEs' packets waited for it, and acknowledgements of downloads too; \
             `--set cell.uplink.layers=2` gives it more capacity",
            BUSY_UPLINK * 100.0
        )
    });
    let refused = admission::warning(live.not_admitted.unwrap_or(0));
    [overload, late, busy, refused].into_iter().flatten().collect()
}
