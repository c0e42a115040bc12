//! DU of a split gNB: F1-U leads out of the program to a CU, which marks and numbers packets.

mod upstream;

use std::collections::VecDeque;

use tidemark_core::{ConfigError, Duration, FlowId, Inspect, Instant, Packet};
use tidemark_marker::{DeliveryStatus, LawConfig, MarkerConfig};
use tidemark_radio::channel::ChannelConfig;
use tidemark_wire::mac::Direction;

use crate::config::{CellConfig, UeConfig};
use crate::du::{Du, Surroundings};
use crate::event::{BearerId, Event, Observer};
use crate::index::DrbIndex;
use crate::output::{DrbStats, DropReason, Output, UeId, UeStats};
use upstream::Upstream;

/// DU of one NR cell whose CU is elsewhere, with the radio side of its UEs.
///
/// It has the same parts as a [`Cell`](crate::Cell), without the CU-UP. It takes PDCP PDUs with the SNs of the CU, and gives delivery
/// statuses with these SNs in [`poll_report`](Self::poll_report). The CU has the laws: a UE's `marker` is ignored.
pub struct SplitDu<P> {
    du: Du<P>,
    around: Surroundings<P>,
    /// Delivery statuses that have not been sent to the CU.
    reports: VecDeque<(BearerId, DeliveryStatus)>,
}

impl<P: Inspect> SplitDu<P> {
    /// Makes a DU without UEs. All its random numbers derive from `seed`. `f1u.delay` is ignored.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn new(config: &CellConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let config = CellConfig { prbs: config.resource_blocks(), ..config.clone() };
        Ok(Self { du: Du::new(&config, seed)?, around: Surroundings::new(), reports: VecDeque::new() })
    }

    /// Admits a UE.
    ///
    /// # Errors
    /// The first field that cannot be used. A law that marks the uplink cannot be used: it needs the UE's reports, which the DU has, and the
    /// IP headers, which the CU has.
    pub fn add_ue(&mut self, config: &UeConfig) -> Result<UeId, ConfigError> {
        config.validate()?;
        let marks = |law: &MarkerConfig| !matches!(law.law, LawConfig::None {});
        if config.bearers().any(|bearer| bearer.uplink_marker.is_some_and(marks)) {
            let problem = "must be left out in a split gNB: the law needs the UE's buffer status, which the DU has, and IP headers, which the CU has";
            return Err(ConfigError::new("uplink_marker", problem));
        }
        let (id, first) = self.du.next_indices();
        let (du, mut upstream) = self.parts();
        du.add_ue(id, first, config, &mut upstream)?;
        Ok(id)
    }

    /// Shows every event of the DU to `observer` from now on. It replaces the previous observer. Events in the CU are not included.
    pub fn observe(&mut self, observer: Observer<P>) {
        self.around.events.observe(observer);
    }

    /// Takes a PDCP PDU of a bearer with its SN into the RLC queue, if there is room. A bearer that does not exist has no room.
    pub fn handle_pdu(&mut self, now: Instant, bearer: BearerId, sn: u32, packet: Packet<P>) {
        let Some(drb) = self.index(bearer) else { return };
        // Without an SDAP header the UE knows the bearer alone.
        self.around.ues[bearer.ue].sdap_mut().reflect_bearer(packet.flow, drb);
        if self.du.queues().drb(drb).is_full(packet.size) {
            let (direction, reason) = (Direction::Downlink, DropReason::QueueFull);
            self.around.events.emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
            self.du.queues_mut().count_dropped(drb, reason);
            self.around.outputs.push_back(Output::Dropped { at: now, ue: bearer.ue, packet, reason });
            return;
        }
        self.du.handle_pdu(now, now, drb, sn, packet);
    }

    /// Takes the CU's poll for a report on a bearer, which is made at once (TS 38.425 5.4.1.1).
    pub fn handle_poll(&mut self, now: Instant, bearer: BearerId) {
        if let Some(drb) = self.index(bearer) {
            self.du.poll_report(now, drb);
        }
    }

    /// Takes a packet from the IP stack of a UE. SDAP finds its bearer, and the bearer's queue takes it if there is room.
    pub fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let (du, mut upstream) = self.parts();
        du.handle_uplink(now, id, packet, &mut upstream);
    }

    /// Time of the next event without a new packet; `None` if there is none.
    pub fn next_deadline(&self) -> Option<Instant> {
        let first = self.du.next_deadline();
        (first != Instant::FAR).then_some(first)
    }

    /// Handles all events that are due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        let (du, mut upstream) = self.parts();
        du.handle_timeout(now, &mut upstream);
    }

    /// The next output of the DU.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.around.outputs.pop_front()
    }

    /// The next delivery status for the CU, with its bearer.
    pub fn poll_report(&mut self) -> Option<(BearerId, DeliveryStatus)> {
        self.reports.pop_front()
    }

    /// Changes the channel of a UE from now on. A UE that does not exist is ignored.
    ///
    /// # Errors
    /// A field that cannot be used. A rate channel cannot become one with a radio quality, nor the reverse.
    pub fn set_channel(&mut self, id: UeId, config: &ChannelConfig) -> Result<(), ConfigError> {
        self.du.set_channel(id, config)
    }

    /// Takes a UE out of coverage: nothing is sent to it or by it for `span`. Its packets wait.
    pub fn interrupt(&mut self, now: Instant, id: UeId, span: Duration) {
        self.du.queues_mut().interrupt(now, id, span);
    }

    /// Asks the UE's modem to send a bit rate query, as in [`Cell::query_bit_rate`](crate::Cell::query_bit_rate).
    pub fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2]) -> bool {
        let (du, mut upstream) = self.parts();
        du.query_bit_rate(now, id, octets, &mut upstream)
    }

    /// Moves the UE to another cell of the same kind, which this object then represents. The CU is not told.
    pub fn hand_over(&mut self, now: Instant, id: UeId) {
        let execution = self.du.carrier().config().handover.clone();
        let (du, mut upstream) = self.parts();
        if let Some(leaving) = du.take_ue(now, id, &mut upstream) {
            du.place_ue(now, id, leaving, &execution, &mut upstream);
        }
    }

    /// State and counters of a UE, without marks; `None` if there is no such UE.
    pub fn ue(&self, now: Instant, id: UeId) -> Option<UeStats> {
        let forgotten_flows = self.around.ues.get(id)?.sdap().evicted();
        Some(UeStats { forgotten_flows, ..self.du.queues().ue_stats(now, id)? })
    }

    /// Counters of a UE's bearers without marks, the default one first; none if there is no such UE.
    pub fn bearers(&self, ue: UeId) -> impl Iterator<Item = DrbStats> + '_ {
        self.du.queues().drbs_of(ue).map(|drb| drb.stats())
    }

    /// The bearer that carries a flow from its UE: the DRB identity, from 1; `None` if there is no such UE.
    pub fn carries_up(&self, id: UeId, flow: FlowId) -> Option<u8> {
        Some(self.around.ues.get(id)?.carries(flow))
    }

    /// Resource blocks x symbols that the downlink slots between two instants have.
    pub fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.du.carrier().resources_between(from, to)
    }

    /// Resource blocks x symbols that the uplink slots between two instants have.
    pub fn uplink_resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.du.carrier().uplink_resources_between(from, to)
    }

    /// Index of a bearer; `None` if there is no such bearer.
    fn index(&self, bearer: BearerId) -> Option<DrbIndex> {
        self.du.queues().ue(bearer.ue)?.drbs().with_identity(bearer.drb)
    }

    /// Parts the DU from everything that it tells and asks.
    fn parts(&mut self) -> (&mut Du<P>, Upstream<'_, P>) {
        let Self { du, around, reports } = self;
        (du, Upstream { around, reports })
    }
}
