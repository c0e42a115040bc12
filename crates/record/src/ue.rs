//! Record of a UE.

use tidemark_cell::{DelaySplit, UeConfig, UeStats};
use tidemark_core::{BitRate, Bytes, Duration, Ecn};
use tidemark_wire::mac::Direction;

use crate::bearers::UplinkBearers;
use crate::distribution::{Distribution, Quantiles};
use crate::event::Arrival;
use crate::result::{AnbrResult, UeResult, UplinkResult};
use crate::series::UePoint;
use crate::subject::NamedUe;
use crate::unit::{mbps, tag};

/// Bit rate recommendations of one direction.
#[derive(Clone, Copy, Debug, Default)]
struct AnbrRecord {
    /// Count of recommendations, and their sum.
    recommendations: (u64, BitRate),
    /// Queries that were sent, and those for which one that waited for the prohibit timer was sent.
    queries: (u64, u64),
}

/// One UE's packets. Only the series includes the warm-up.
#[derive(Debug, Default)]
pub struct UeRecord {
    pub(crate) delivered: Bytes,
    /// Times in the RLC queue, by bearer; empty where those of the UE's flows say it.
    pub(crate) bearers: Vec<Distribution>,
    /// Packets that the UE sent.
    pub uplink: UplinkBearers,
    /// Recommendations for its downlink, and for its uplink.
    anbr: [AnbrRecord; 2],
    /// The last recommendation for each logical channel of its downlink, and of its uplink.
    recommended: [Vec<(u8, BitRate)>; 2],
    last: UeStats,
    watched: Option<Watched>,
    pub(crate) point: UePoint,
    pub(crate) points: Vec<UePoint>,
}

/// State of a live cell's UE for display, the warm-up included.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    open: UeInterval,
    /// Interval that was sampled last.
    pub interval: UeInterval,
    /// IP bytes that arrived since the beginning.
    pub delivered: Bytes,
    /// Packets that arrived with CE since the beginning.
    pub ce_packets: u64,
}

/// Packets of a UE over one interval.
#[derive(Clone, Debug, Default)]
pub struct UeInterval {
    /// Length of the interval.
    pub span: Duration,
    /// IP bytes that arrived.
    pub delivered: Bytes,
    /// IP bytes of the UE that left its gNB.
    pub sent: Bytes,
    /// Times in the RLC queue.
    pub queue: Distribution,
    /// Waits of the packets that the UE sent.
    pub uplink_queue: Distribution,
}

/// Resources that a cell had in a span, resource blocks x symbols.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Available {
    pub(crate) downlink: u64,
    pub(crate) uplink: u64,
}

impl UeRecord {
    /// Record of a UE. One of a live cell can be watched, and keeps the queue's times for each bearer even where there is one.
    pub(crate) fn new(config: &UeConfig, is_live: bool) -> Self {
        let bearers = 1 + config.drb.len();
        let kept = if bearers > 1 || is_live { bearers } else { 0 };
        Self {
            bearers: vec![Distribution::default(); kept],
            uplink: UplinkBearers::new(config),
            watched: is_live.then(Watched::default),
            ..Self::default()
        }
    }
    /// State of the UE for display; `None` in a simulated run.
    pub fn watched(&self) -> Option<&Watched> {
        self.watched.as_ref()
    }
    #[inline]
    pub(crate) fn arrived(&mut self, packet: &Arrival, counts: bool) {
        let queue = packet.delay.queuing + packet.delay.scheduling;
        self.point.delivered += packet.size;
        self.point.queue.add(queue);
        self.point.ecn[usize::from(packet.ecn.bits())] += 1;
        if let Some(Watched { open, delivered, ce_packets, .. }) = &mut self.watched {
            open.delivered += packet.size;
            open.queue.record(queue);
            *delivered += packet.size;
            *ce_packets += u64::from(packet.ecn == Ecn::Ce);
        }
        if counts {
            self.delivered += packet.size;
            if let Some(bearer) = self.bearers.get_mut(usize::from(packet.drb.wrapping_sub(1))) {
                bearer.record(queue);
            }
        }
    }
    #[inline]
    pub(crate) fn sent(&mut self, drb: u8, size: Bytes, delay: DelaySplit, counts: bool) {
        let wait = delay.queuing + delay.scheduling;
        self.point.sent += size;
        self.point.uplink_queue.add(wait);
        if let Some(Watched { open, .. }) = &mut self.watched {
            open.sent += size;
            open.uplink_queue.record(wait);
        }
        if counts {
            self.uplink.left(drb, size, delay);
        }
    }
    pub(crate) fn recommended(&mut self, direction: Direction, channel: u8, rate: BitRate, counts: bool) {
        let index = usize::from(direction == Direction::Uplink);
        let last = &mut self.recommended[index];
        match last.iter_mut().find(|(known, _)| *known == channel) {
            Some(known) => known.1 = rate,
            None => last.push((channel, rate)),
        }
        if counts {
            let (count, sum) = &mut self.anbr[index].recommendations;
            (*count, *sum) = (*count + 1, BitRate::from_bps(sum.as_bps() + rate.as_bps()));
        }
    }
    pub(crate) fn queried(&mut self, direction: Direction, sent: bool, counts: bool) {
        let (asked, forbidden) = &mut self.anbr[usize::from(direction == Direction::Uplink)].queries;
        *asked += u64::from(counts && sent);
        *forbidden += u64::from(counts && !sent);
    }
    /// Bit rates that were recommended last for downlink and uplink, all logical channels together.
    pub fn recommended_now(&self) -> [Option<BitRate>; 2] {
        self.recommended.each_ref().map(|rates| {
            let sum = rates.iter().map(|(_, rate)| rate.as_bps()).sum();
            (!rates.is_empty()).then(|| BitRate::from_bps(sum))
        })
    }
    /// Ends an interval of this length, whose counters are these.
    pub(crate) fn sample(&mut self, span: Duration, stats: &UeStats) {
        if let Some(Watched { open, interval, .. }) = &mut self.watched {
            *interval = UeInterval { span, ..std::mem::take(open) };
        }
        let recommended = self.recommended_now();
        self.point.end(&self.last, stats, recommended);
        self.last = *stats;
    }
    /// Result of the UE between two states of its counters. `queue` are the times in its RLC queue.
    pub(crate) fn result(
        &self,
        ue: &NamedUe,
        (before, after): (&UeStats, &UeStats),
        available: Available,
        queue: Option<Quantiles>,
        (span, knows_queries): (Duration, bool),
    ) -> UeResult {
        let blocks = after.blocks - before.blocks;
        let mean = |sum: u64| (blocks > 0 && after.mcs.is_some()).then(|| sum as f64 / blocks as f64);
        let (sent, waits) = self.uplink.all();
        UeResult {
            name: ue.name.clone(),
            channel: tag(&ue.config.channel, "model"),
            throughput_mbps: mbps(self.delivered, span),
            queue_ms: queue,
            mcs_mean: mean(after.mcs_sum - before.mcs_sum),
            bler: mean(after.failed_blocks - before.failed_blocks),
            marked: Some(after.marked - before.marked),
            dropped: after.dropped() - before.dropped(),
            prb_share: share(after.resources - before.resources, available.downlink),
            anbr: self.anbr[0].result(knows_queries),
            uplink_anbr: self.anbr[1].result(knows_queries),
            uplink: UplinkResult::new(before, after, available.uplink, (mbps(sent, span), waits.quantiles())),
            place: None,
            frames_in_budget: None,
            satisfied: None,
        }
    }
}

impl AnbrRecord {
    fn result(&self, knows_queries: bool) -> Option<AnbrResult> {
        let (recommendations, sum) = self.recommendations;
        let (queries, forbidden) = self.queries;
        (recommendations > 0).then(|| AnbrResult {
            recommendations,
            mean_mbps: sum.as_mbps() / recommendations as f64,
            queries: knows_queries.then_some(queries),
            forbidden: knows_queries.then_some(forbidden),
        })
    }
}

/// Share of resources used; `None` where there were none.
pub(crate) fn share(used: u64, available: u64) -> Option<f64> {
    (available > 0).then(|| used as f64 / available as f64)
}

impl UplinkResult {
    /// Result between two states of the counters, of this many resource blocks x symbols, with the rate of what was sent and its
    /// wait; `None` where nothing was sent.
    fn new(
        ue_before: &UeStats,
        ue_after: &UeStats,
        resources: u64,
        (throughput_mbps, queue_ms): (f64, Option<Quantiles>),
    ) -> Option<Self> {
        let (before, after) = (&ue_before.uplink, &ue_after.uplink);
        let blocks = after.blocks - before.blocks;
        let mean = |sum: u64| sum as f64 / blocks as f64;
        let used = after.resources - before.resources;
        (blocks > 0 && resources > 0).then(|| Self {
            throughput_mbps,
            queue_ms,
            mcs_mean: mean(after.mcs_sum - before.mcs_sum),
            bler: mean(after.failed_blocks - before.failed_blocks),
            prb_share: used as f64 / resources as f64,
            blocks,
            harq_retransmissions: after.harq_retransmissions - before.harq_retransmissions,
            lost_blocks: after.lost_blocks - before.lost_blocks,
            marked: ue_after.uplink_marked - ue_before.uplink_marked,
        })
    }
}
