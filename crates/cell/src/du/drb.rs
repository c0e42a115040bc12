//! One data radio bearer as the DU keeps it: RLC of the downlink, and the CU's reports.

use tidemark_core::{Bytes, Inspect, Instant, Packet};
use tidemark_marker::DeliveryStatus;
use tidemark_wire::mac::Direction;

use super::anbr::{AnbrConfig, Estimator};
use super::uplink::ReportedQueue;
use crate::config::{BearerConfig, RlcMode};
use crate::event::BearerId;
use crate::output::{DrbStats, UeId};
use crate::qos::Qos;
use crate::rlc::{Bearer, Overhead};
use tidemark_radio::slots::Slot;

/// Data radio bearer in the DU.
pub(crate) struct Drb<P> {
    /// Number of the UE.
    pub(crate) ue: UeId,
    pub(crate) id: BearerId,
    pub(crate) bearer: Bearer<P>,
    /// Rates, priority and delay budget of the QoS flows.
    pub(crate) qos: Qos,
    /// The earliest of its timers that is set.
    pub(crate) armed: Option<Instant>,
    /// The earliest timer of what its UE sends that is set.
    pub(crate) uplink_armed: Option<Instant>,
    /// True of the directions in which a timer for the discardTimer is set: one, for the first SDU that waited then.
    pub(crate) discard_armed: [bool; 2],
    /// Queue at the UE by its reports; `None` where no law marks by it.
    pub(crate) reported: Option<ReportedQueue>,
    delivery: Delivery,
    /// Recommendations of the downlink and of the uplink; `None` where the UE gets none.
    pub(crate) anbr: Option<Estimator>,
    pub(crate) uplink_anbr: Option<Estimator>,
    /// IP bytes that came up, counted where there are recommendations.
    pub(crate) came_up: u64,
    /// Counters of packets, but for marks.
    pub(crate) stats: DrbStats,
    /// Resource blocks x symbols that it took, and IP bytes that went in them for the first time.
    pub(crate) resources: u64,
    pub(crate) sent: u64,
    /// When it took some last.
    pub(crate) last_sent: Instant,
    /// The slot in which it was last chosen.
    pub(crate) tried_in: Option<Slot>,
}

/// Delivery status as the CU has it.
#[derive(Debug, Default)]
struct Delivery {
    reported: DeliveryStatus,
    /// Highest SN delivered in order, by the UE's status reports.
    delivered: Option<u32>,
    scheduled: bool,
}

impl<P: Inspect> Drb<P> {
    /// The `index`th bearer of a UE. `has_headers` is false on a rate channel, which says what reaches the IP layer.
    pub(crate) fn new(
        (ue, index): (UeId, usize),
        BearerConfig { rlc, uplink_marker, .. }: BearerConfig<'_>,
        qos: Qos,
        anbr: Option<&AnbrConfig>,
        has_headers: bool,
    ) -> Self {
        let overhead = Overhead::of(rlc);
        Self {
            ue,
            id: BearerId { ue, drb: index as u8 + 1, sn_length: rlc.pdcp_sn },
            bearer: Bearer::new(rlc.clone(), if has_headers { overhead } else { Overhead::NONE }),
            uplink_armed: None,
            discard_armed: [false; 2],
            reported: uplink_marker.map(|_| ReportedQueue::default()),
            qos,
            armed: None,
            delivery: Delivery::default(),
            anbr: anbr.and_then(|anbr| Estimator::new(anbr, Direction::Downlink)),
            uplink_anbr: anbr.and_then(|anbr| Estimator::new(anbr, Direction::Uplink)),
            came_up: 0,
            stats: DrbStats::default(),
            resources: 0,
            sent: 0,
            last_sent: Instant::ZERO,
            tried_in: None,
        }
    }

    /// Forgets the cell at a handover; gives what has not left PDCP in order: SN, time of arrival, packet.
    pub(crate) fn reset(&mut self) -> Vec<(u32, Instant, Packet<P>)> {
        (self.armed, self.uplink_armed, self.discard_armed) = (None, None, [false; 2]);
        self.delivery = Delivery::default();
        self.tried_in = None;
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

    /// SDUs of which nothing has been sent: SN and size.
    pub(crate) fn standing(&self) -> impl Iterator<Item = (u32, Bytes)> + '_ {
        self.bearer.standing().map(|(sn, packet)| (sn, packet.size))
    }

    /// The gNB learns from a status report what the UE has in order.
    pub(crate) fn acknowledged(&mut self, delivered: Option<u32>) {
        self.delivery.delivered = delivered.or(self.delivery.delivered);
    }
    /// True if the CU does not know what the DU knows.
    pub(crate) fn has_news(&self) -> bool {
        self.current_status() != self.delivery.reported
    }
    /// True once until the report is made.
    pub(crate) fn schedule_report(&mut self) -> bool {
        !core::mem::replace(&mut self.delivery.scheduled, true)
    }
    /// The delivery status that the DU sends now.
    pub(crate) fn make_report(&mut self) -> DeliveryStatus {
        self.delivery.scheduled = false;
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
