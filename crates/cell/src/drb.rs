//! One data radio bearer as the gNB keeps it: its marker, PDCP numbering, RLC, and what the CU is told of it.

use tidemark_core::{Bytes, ConfigError, Inspect, Instant, Packet, Stream};
use tidemark_marker::{DeliveryStatus, DrbMarker, MarkerConfig, SnLength};
use tidemark_wire::mac::Direction;

use crate::anbr::{AnbrConfig, Estimator};
use crate::config::{RlcConfig, RlcMode};
use crate::event::{BearerId, Event, Events};
use crate::output::{DrbStats, UeId};
use crate::qos::Qos;
use crate::rlc::{Bearer, Overhead};
use crate::uplink::ReportedQueue;

/// In place of a bearer's number, the marker of what the UE sends in it: from here downwards.
const UPLINK_MARKER: usize = 255;
/// Logical channel of a UE's default bearer: those below are for signalling.
pub(crate) const LEAST_LCID: u8 = 4;
/// Bearers of one UE at most (TS 38.331 `maxDRB`).
pub(crate) const MOST_DRBS: usize = 29;

pub(crate) struct Drb<P> {
    /// Whose it is.
    pub(crate) ue: u32,
    pub(crate) id: BearerId,
    pub(crate) bearer: Bearer<P>,
    pub(crate) marker: DrbMarker,
    /// What its marker is like, for another that takes over.
    pub(crate) marker_config: MarkerConfig,
    /// What its QoS flows are due.
    pub(crate) qos: Qos,
    /// The earliest of its timers that is set.
    pub(crate) armed: Option<Instant>,
    /// RLC and PDCP of what its UE sends, what that is due, and its earliest timer.
    pub(crate) uplink: Bearer<P>,
    pub(crate) uplink_qos: Qos,
    pub(crate) uplink_armed: Option<Instant>,
    /// True of the directions in which a timer for the discardTimer is set: one, for the first SDU that waited then.
    pub(crate) discard_armed: [bool; 2],
    /// What waits at the UE, as it reported, where a law marks by that.
    pub(crate) reported: Option<ReportedQueue>,
    delivery: Delivery,
    pub(crate) sn_length: SnLength,
    sn_count: u32,
    next_sn: u32,
    pdcp_header: u32,
    /// Its recommendations, if its UE gets any: of its downlink, and of its uplink.
    pub(crate) anbr: Option<Estimator>,
    pub(crate) uplink_anbr: Option<Estimator>,
    /// IP bytes that came up, counted where there are recommendations.
    pub(crate) came_up: u64,
    /// What became of its packets, but for marks.
    pub(crate) stats: DrbStats,
    /// Resource blocks x symbols that it took, and IP bytes that went in them for the first time.
    pub(crate) resources: u64,
    pub(crate) sent: u64,
    /// When it took some last.
    pub(crate) last_sent: Instant,
    /// The slot in which it was last chosen.
    pub(crate) tried_in: Option<u64>,
    /// Marks of markers before this one.
    past_marks: u64,
}

/// What the DU has told the CU.
#[derive(Debug, Default)]
struct Delivery {
    reported: DeliveryStatus,
    /// As the gNB knows from status reports.
    delivered: Option<u32>,
    scheduled: bool,
}

impl<P: Inspect> Drb<P> {
    /// The `index`th bearer of a UE. `has_headers` is false on a rate channel, which says what reaches the IP layer.
    pub(crate) fn new(
        (ue, index): (u32, usize),
        (rlc, marker, uplink_marker, qos): (&RlcConfig, &MarkerConfig, Option<&MarkerConfig>, Qos),
        anbr: Option<&AnbrConfig>,
        has_headers: bool,
        seed: u64,
    ) -> Result<Self, ConfigError> {
        let overhead = Overhead::of(rlc);
        let reported = uplink_marker.map(|marker| new_marker(marker, rlc.pdcp_sn, (ue, UPLINK_MARKER - index), seed));
        let marker_config = marker.clone();
        let marker = new_marker(marker, rlc.pdcp_sn, (ue, index), seed)?;
        let mut bearer = Bearer::new(rlc.clone(), if has_headers { overhead } else { Overhead::NONE });
        if marker.decides_on_leaving() {
            bearer.expect_holes();
        }
        Ok(Self {
            ue,
            id: BearerId { ue: UeId(ue), drb: index as u8 + 1, sn_length: rlc.pdcp_sn },
            bearer,
            uplink: Bearer::new(rlc.clone(), overhead),
            uplink_qos: qos.clone(),
            uplink_armed: None,
            discard_armed: [false; 2],
            reported: reported.transpose()?.map(ReportedQueue::new),
            marker,
            marker_config,
            qos,
            armed: None,
            delivery: Delivery::default(),
            sn_length: rlc.pdcp_sn,
            sn_count: rlc.pdcp_sn.modulus(),
            next_sn: 0,
            pdcp_header: overhead.sdu,
            anbr: anbr.and_then(|anbr| Estimator::new(anbr, Direction::Downlink)),
            uplink_anbr: anbr.and_then(|anbr| Estimator::new(anbr, Direction::Uplink)),
            came_up: 0,
            stats: DrbStats::default(),
            resources: 0,
            sent: 0,
            last_sent: Instant::ZERO,
            tried_in: None,
            past_marks: 0,
        })
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

    /// Its recommendations of a direction.
    pub(crate) fn estimator(&mut self, direction: Direction) -> &mut Option<Estimator> {
        match direction {
            Direction::Downlink => &mut self.anbr,
            Direction::Uplink => &mut self.uplink_anbr,
        }
    }

    /// Gives a packet its PDCP SN and tells the marker.
    pub(crate) fn number(&mut self, now: Instant, packet: &Packet<P>) -> u32 {
        let sn = self.next_sn;
        self.next_sn = (sn + 1) % self.sn_count;
        self.marker.handle_pdcp_pdu(now, sn, packet.size + Bytes(u64::from(self.pdcp_header)));
        sn
    }

    /// Its marker goes on with another configuration.
    pub(crate) fn reconfigure(&mut self, now: Instant, config: &MarkerConfig) -> Result<(), ConfigError> {
        self.marker.reconfigure(now, config, self.sn_length).map_err(|error| error.within("marker"))?;
        if self.marker.decides_on_leaving() {
            self.bearer.expect_holes();
        }
        if config.profile_capacity != self.marker_config.profile_capacity {
            self.announce(now);
        }
        self.marker_config = config.clone();
        Ok(())
    }

    /// Another marker takes over; what stands in the queue is announced to it.
    pub(crate) fn set_marker(&mut self, now: Instant, marker: DrbMarker) {
        self.past_marks += std::mem::replace(&mut self.marker, marker).counters().marks();
        self.announce(now);
    }
    /// Tells a marker that starts anew what stands in the queue.
    pub(crate) fn announce(&mut self, now: Instant) {
        let header = Bytes(u64::from(self.pdcp_header));
        let standing = self.bearer.standing();
        standing.for_each(|(sn, packet)| self.marker.handle_pdcp_pdu(now, sn, packet.size + header));
    }
    /// It goes on at another DU: its marker forgets the old radio, and what stands in the queue is sent there.
    pub(crate) fn hand_over(&mut self, now: Instant, events: &mut Events<P>) {
        self.marker.handle_handover(now);
        self.announce(now);
        if !events.has_listener() {
            return;
        }
        events.emit(now, self.id, || Event::HandedOver);
        for (sn, packet) in self.bearer.standing() {
            events.emit(now, self.id, || Event::Forwarded { packet, sn });
        }
    }
    /// Packets that its markers marked.
    pub(crate) fn marked(&self) -> u64 {
        self.past_marks + self.marker.counters().marks()
    }

    /// What became of its packets.
    pub(crate) fn stats(&self) -> DrbStats {
        let uplink_marked = self.reported.as_ref().map_or(0, ReportedQueue::marked);
        DrbStats { marked: self.marked(), uplink_marked, ..self.stats }
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
    /// What the DU knows of the bearer.
    pub(crate) fn current_status(&self) -> DeliveryStatus {
        let am = self.bearer.mode() == RlcMode::Am;
        DeliveryStatus {
            highest_transmitted: self.bearer.highest_transmitted(),
            highest_delivered: if am { self.delivery.delivered } else { None },
            ..DeliveryStatus::default()
        }
    }
}

/// The marker of the `index`th bearer of a UE, with random draws of its own.
pub(crate) fn new_marker(
    config: &MarkerConfig,
    sn_length: SnLength,
    (ue, index): (u32, usize),
    seed: u64,
) -> Result<DrbMarker, ConfigError> {
    let stream = Stream::new(seed, ue | (index as u32) << 24, "mark");
    DrbMarker::new(config, sn_length, stream).map_err(|error| error.within("marker"))
}
