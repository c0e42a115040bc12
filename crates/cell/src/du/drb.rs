//! One data radio bearer in the DU: RLC of the downlink, and the reports to the CU.

use tidemark_core::{Bytes, Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, RlcQueue};
use tidemark_wire::mac::Direction;

use super::anbr::{AnbrConfig, Estimator};
use super::uplink::ReportedQueue;
use crate::config::{BearerConfig, RlcMode};
use crate::event::BearerId;
use crate::output::{DrbStats, UeId};
use crate::qos::Qos;
use crate::rlc::{Bearer, Overhead};

/// Data radio bearer in the DU.
pub(crate) struct Drb<P> {
    pub(super) id: BearerId,
    pub(super) bearer: Bearer<P>,
    /// Rates, priority and delay budget of the QoS flows.
    pub(super) qos: Qos,
    armed: Armed,
    /// Queue at the UE by its reports; `None` if no law marks by it.
    pub(super) reported: Option<ReportedQueue>,
    delivery: Delivery,
    /// Recommendations of the downlink and of the uplink; `None` if the UE gets none.
    anbr: Option<Estimator>,
    uplink_anbr: Option<Estimator>,
    /// IP bytes that came up, counted where there are recommendations.
    came_up: u64,
    /// Counters of packets, but for marks.
    pub(super) stats: DrbStats,
    /// Resource blocks x symbols that it took, and IP bytes that went in them for the first time.
    resources: u64,
    sent: u64,
    /// Bytes that count for a segment in addition to its data, if it does not begin its SDU.
    pub(super) of_later_segment: u32,
    /// Time at which the bearer took resource blocks last.
    last_sent: Instant,
}

/// Timers of a bearer that are set in the DU's queue: of each kind one at a time, the earliest.
#[derive(Debug, Default)]
struct Armed {
    /// RLC's timers and t-Reordering of the downlink.
    rlc: Option<Instant>,
    /// RLC timers of the uplink.
    uplink_rlc: Option<Instant>,
    /// The discardTimer of the downlink and of the uplink: one, for the first SDU that waited when it was set.
    discard: [bool; 2],
    /// The pacer's next look.
    pacer: bool,
}

/// Notes a timer; `None` where an earlier one is set.
fn arm(armed: &mut Option<Instant>, at: Instant) -> Option<Instant> {
    if armed.is_some_and(|armed| armed <= at) {
        return None;
    }
    *armed = Some(at);
    *armed
}

/// Delivery status as the CU has it.
#[derive(Debug, Default)]
struct Delivery {
    reported: DeliveryStatus,
    /// Highest SN delivered in order, by the UE's status reports.
    delivered: Option<u32>,
    /// A report waits for the end of the period.
    scheduled: bool,
    /// A poll is under way to the DU.
    polled: bool,
}

impl<P: Inspect> Drb<P> {
    /// The `index`th bearer of a UE. `has_headers` is false on a rate channel, whose rate is that of the IP layer.
    pub(crate) fn new(
        (ue, index): (UeId, usize),
        BearerConfig { rlc, uplink_marker, .. }: BearerConfig<'_>,
        qos: Qos,
        anbr: Option<&AnbrConfig>,
        has_headers: bool,
    ) -> Self {
        let overhead = Overhead::of(rlc);
        Self {
            id: BearerId { ue, drb: index as u8 + 1, sn_length: rlc.pdcp_sn },
            bearer: Bearer::new(rlc.clone(), if has_headers { overhead } else { Overhead::NONE }),
            reported: uplink_marker.map(|_| ReportedQueue::default()),
            qos,
            armed: Armed::default(),
            delivery: Delivery::default(),
            anbr: anbr.and_then(|anbr| Estimator::new(anbr, Direction::Downlink)),
            uplink_anbr: anbr.and_then(|anbr| Estimator::new(anbr, Direction::Uplink)),
            came_up: 0,
            stats: DrbStats::default(),
            resources: 0,
            sent: 0,
            of_later_segment: anbr.filter(|anbr| anbr.segment_headers).map_or(0, |_| overhead.of_later_segment()),
            last_sent: Instant::ZERO,
        }
    }

    /// Forgets the cell at a handover. Gives the packets that have not left PDCP in order, each with SN and time of arrival.
    pub(crate) fn reset(&mut self) -> Vec<(u32, Instant, Packet<P>)> {
        self.armed = Armed::default();
        self.delivery = Delivery::default();
        // What the UE reported was to the cell that it leaves.
        if let Some(queue) = &mut self.reported {
            queue.forget();
        }
        for anbr in [&mut self.anbr, &mut self.uplink_anbr].into_iter().flatten() {
            anbr.reset();
        }
        self.bearer.re_establish()
    }

    /// Recommendations of a direction.
    pub(crate) fn estimator(&mut self, direction: Direction) -> &mut Option<Estimator> {
        match direction {
            Direction::Downlink => &mut self.anbr,
            Direction::Uplink => &mut self.uplink_anbr,
        }
    }

    /// Identity, as CU and observers name it.
    pub(crate) fn id(&self) -> BearerId {
        self.id
    }
    /// Counters of packets, but for marks.
    pub(crate) fn stats(&self) -> DrbStats {
        self.stats
    }
    /// RLC queue as laws see it.
    pub(crate) fn queue_state(&self, now: Instant) -> RlcQueue {
        self.bearer.queue_state(now)
    }
    /// True if another packet of this size would exceed a limit of the RLC queue.
    pub(crate) fn is_full(&self, size: Bytes) -> bool {
        self.bearer.is_full(size)
    }
    /// Notes that a law may drop packets with an SN.
    pub(crate) fn expect_holes(&mut self) {
        self.bearer.expect_holes();
    }
    /// Queues a packet that the old cell forwards, with its SN and time of arrival there.
    pub(crate) fn forward(&mut self, now: Instant, sn: u32, arrived: Instant, packet: Packet<P>) {
        self.bearer.push(arrived.min(now), arrived.min(now), sn, packet);
    }
    /// Counts a packet that is lost.
    pub(crate) fn count_dropped(&mut self) {
        self.stats.dropped += 1;
    }
    /// Packets of which nothing has been sent, with their SNs.
    pub(crate) fn queued_packets(&self) -> impl Iterator<Item = (u32, &Packet<P>)> + '_ {
        self.bearer.queued()
    }

    /// End of the next RLC timer, if none as early is set.
    pub(super) fn arm(&mut self, now: Instant) -> Option<Instant> {
        arm(&mut self.armed.rlc, self.bearer.next_timer(now)?)
    }
    /// End `at` of the next RLC timer of what the UE sends, if none as early is set.
    pub(super) fn arm_uplink(&mut self, at: Instant) -> Option<Instant> {
        arm(&mut self.armed.uplink_rlc, at)
    }
    /// Forgets an RLC timer that has ended.
    pub(super) fn disarm(&mut self, now: Instant, direction: Direction) {
        let armed = match direction {
            Direction::Downlink => &mut self.armed.rlc,
            Direction::Uplink => &mut self.armed.uplink_rlc,
        };
        *armed = armed.filter(|armed| *armed > now);
    }
    /// End of the discardTimer of what waits first in a direction, which `ends` looks up, if no timer is set for it.
    pub(super) fn arm_discard(
        &mut self,
        direction: Direction,
        ends: impl FnOnce(&Self) -> Option<Instant>,
    ) -> Option<Instant> {
        // One timer a direction: the first to end names the next.
        if self.armed.discard[usize::from(direction == Direction::Uplink)] {
            return None;
        }
        let at = ends(self);
        self.armed.discard[usize::from(direction == Direction::Uplink)] = at.is_some();
        at
    }
    /// Forgets a discardTimer that has ended.
    pub(super) fn disarm_discard(&mut self, direction: Direction) {
        self.armed.discard[usize::from(direction == Direction::Uplink)] = false;
    }

    /// Time of the pacer's next check, if none is set.
    pub(super) fn arm_pacer(&mut self, now: Instant) -> Option<Instant> {
        let at = self.bearer.next_look(now).filter(|_| !self.armed.pacer);
        self.armed.pacer |= at.is_some();
        at
    }
    /// Forgets the time of the pacer's check.
    pub(super) fn disarm_pacer(&mut self) {
        self.armed.pacer = false;
    }

    /// Counts the part of a slot that it took at `now`, and the IP bytes that were sent for the first time.
    pub(super) fn count_sent(&mut self, now: Instant, resources: u64, sent: u64) {
        self.resources += resources;
        self.sent += sent;
        self.last_sent = now;
    }
    /// True if something was sent of it at `since` or later.
    pub(super) fn has_sent_since(&self, since: Instant) -> bool {
        self.last_sent >= since
    }
    /// Counts an uplink packet; true if the UE gets recommendations for the uplink.
    pub(super) fn count_up(&mut self, size: Bytes) -> bool {
        let counts = self.uplink_anbr.is_some();
        self.came_up += if counts { size.0 } else { 0 };
        counts
    }
    /// IP bytes that were sent for the first time, and resource blocks x symbols that they took.
    pub(super) fn sent(&self) -> (u64, u64) {
        (self.sent, self.resources)
    }
    /// IP bytes that came from the UE.
    pub(super) fn came_up(&self) -> u64 {
        self.came_up
    }
    /// True while a window of a direction is open.
    pub(super) fn has_open_window(&self, direction: Direction) -> bool {
        let estimator = match direction {
            Direction::Downlink => &self.anbr,
            Direction::Uplink => &self.uplink_anbr,
        };
        estimator.as_ref().is_some_and(|estimator| estimator.begun().is_some())
    }

    /// Number of SDUs that RLC remembers.
    #[cfg(test)]
    pub(crate) fn remembered(&self) -> usize {
        self.bearer.remembered()
    }

    /// SDUs of which nothing has been sent: SN and size.
    pub(crate) fn queued(&self) -> impl Iterator<Item = (u32, Bytes)> + '_ {
        self.bearer.queued().map(|(sn, packet)| (sn, packet.size))
    }

    /// The gNB learns from a status report what the UE has in order.
    pub(crate) fn acknowledged(&mut self, delivered: Option<u32>) {
        self.delivery.delivered = delivered.or(self.delivery.delivered);
    }
    /// True if the CU does not know what the DU knows.
    pub(crate) fn has_news(&self) -> bool {
        self.current_status() != self.delivery.reported
    }
    /// True once until the period has ended.
    pub(crate) fn schedule_report(&mut self) -> bool {
        !core::mem::replace(&mut self.delivery.scheduled, true)
    }
    /// Takes note of the end of the period; true if there is something to report.
    pub(crate) fn end_period(&mut self) -> bool {
        self.delivery.scheduled = false;
        self.has_news()
    }
    /// True once until a report is made for any reason: a poll is under way to the DU.
    pub(crate) fn poll(&mut self) -> bool {
        !core::mem::replace(&mut self.delivery.polled, true)
    }
    /// The delivery status that the DU sends now.
    pub(crate) fn make_report(&mut self) -> DeliveryStatus {
        self.delivery.polled = false;
        self.delivery.reported = self.current_status();
        self.delivery.reported
    }
    /// Delivery status of this moment.
    pub(crate) fn current_status(&self) -> DeliveryStatus {
        let am = self.bearer.mode() == RlcMode::Am;
        DeliveryStatus {
            highest_transmitted: self.bearer.highest_transmitted(),
            highest_delivered: if am { self.delivery.delivered } else { None },
            ..DeliveryStatus::default()
        }
    }
}
