//! Result of what a UE sent.

use tidemark_cell::UeStats;

use crate::distribution::Quantiles;
use crate::result::UplinkResult;
use crate::unit::round;

impl UplinkResult {
    /// Between two states of the counters, of this many resource blocks x symbols, with the rate of what was sent and its wait;
    /// `None` where nothing was sent.
    pub fn new(
        ue_before: &UeStats,
        ue_after: &UeStats,
        resources: u64,
        (throughput_mbps, queue_ms): (f64, Option<Quantiles>),
    ) -> Option<Self> {
        let (before, after) = (&ue_before.uplink, &ue_after.uplink);
        let blocks = after.blocks - before.blocks;
        let mean = |sum: u64, scale| round(sum as f64 / blocks as f64, scale);
        let used = after.resources - before.resources;
        (blocks > 0 && resources > 0).then(|| Self {
            throughput_mbps,
            queue_ms,
            mcs_mean: mean(after.mcs_sum - before.mcs_sum, 1e3),
            bler: mean(after.failed_blocks - before.failed_blocks, 1e6),
            prb_share: round(used as f64 / resources as f64, 1e6),
            blocks,
            harq_retransmissions: after.harq_retransmissions - before.harq_retransmissions,
            lost_blocks: after.lost_blocks - before.lost_blocks,
            marked: ue_after.uplink_marked - ue_before.uplink_marked,
        })
    }
}
