//! CU-UP of a gNB (TS 38.401): SDAP finds a packet's bearer, a law decides, PDCP numbers the packet, and the marker gets the
//! reports of the DU.
//!
//! For a downlink packet the caller calls [`CuUp::map`], then [`CuUp::downlink`] for the verdict, then [`CuUp::number`] if the packet
//! passes. It may drop the packet before the last call, so that packets dropped by a full queue have no SN.

mod bearer;
mod pdcp;

use tidemark_core::{Bytes, ConfigError, Duration, FlowId, Inspect, Instant, Packet, Slab};
use tidemark_marker::{
    Bearers, Counters, Decision, DeliveryStatus, DrbMarker, Estimate, MarkerConfig, Outcome, QosFlow, RlcQueue, Verdict,
};

use self::bearer::CuBearer;
use crate::config::UeConfig;
use crate::event::BearerId;
use crate::index::DrbIndex;
use crate::output::UeId;
use crate::qos::{Mapped, Sdap};

/// CU-UP of a gNB, with a context for each of its UEs.
pub struct CuUp {
    ues: Slab<UeId, UeContext>,
    /// Every random draw follows from it.
    seed: u64,
}

/// One UE in the CU-UP.
pub(crate) struct UeContext {
    /// Mapping of packets to bearers.
    sdap: Sdap,
    /// Bearers, the default one first.
    bearers: Vec<CuBearer>,
    /// QoS flows that are not marked, all in one.
    unmarked: QosFlow,
}

impl CuUp {
    /// Makes a CU-UP without UEs. Its random draws derive from `seed`.
    pub fn new(seed: u64) -> Self {
        Self { ues: Slab::new(), seed }
    }

    /// Sets up the bearers of a UE. Their indices in the DU begin at `first`.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn add_ue(&mut self, id: UeId, first: DrbIndex, config: &UeConfig) -> Result<(), ConfigError> {
        let bearers = (1..).zip(config.bearers()).map(|(drb, bearer)| {
            let id = BearerId { ue: id, drb, sn_length: bearer.rlc.pdcp_sn };
            CuBearer::new(id, &bearer, self.seed)
        });
        let bearers = bearers.collect::<Result<_, _>>()?;
        let (sdap, unmarked) = (Sdap::new(first, &config.drb), QosFlow::default());
        self.ues.insert(id, Box::new(UeContext { sdap, bearers, unmarked }));
        Ok(())
    }

    /// Takes the context of a UE that leaves for another gNB.
    pub(crate) fn take_ue(&mut self, id: UeId) -> Option<Box<UeContext>> {
        self.ues.take(id)
    }

    /// Puts in the context of a UE that comes from another gNB.
    pub(crate) fn put_ue(&mut self, id: UeId, context: Box<UeContext>) {
        self.ues.insert(id, context);
    }

    /// SDAP entity of a UE; `None` if there is no such UE.
    pub(crate) fn sdap(&self, id: UeId) -> Option<&Sdap> {
        self.ues.get(id).map(|ue| &ue.sdap)
    }

    /// SDAP entity of a UE, mutable.
    pub(crate) fn sdap_mut(&mut self, id: UeId) -> Option<&mut Sdap> {
        self.ues.get_mut(id).map(|ue| &mut ue.sdap)
    }

    /// Finds the bearer of a downlink packet; `None` if there is no such UE.
    pub fn map<P: Inspect>(&mut self, id: UeId, packet: &Packet<P>) -> Option<Mapped> {
        Some(self.sdap_mut(id)?.map(packet))
    }

    /// Finds the bearer of a downlink packet with this QFI and RQI from the UPF; `None` if there is no such UE.
    pub fn map_qos_flow(&mut self, id: UeId, qos_flow: (u8, bool), flow: FlowId) -> Option<Mapped> {
        Some(self.sdap_mut(id)?.map_qos_flow(flow, qos_flow))
    }

    /// Decides on a downlink packet that SDAP `mapped`, and sets its mark. `queue` is the RLC queue if the CU sees it. `None` for a law that
    /// decides when packets leave that queue: the packet passes.
    pub fn downlink<P: Inspect>(
        &mut self,
        now: Instant,
        id: BearerId,
        mapped: Mapped,
        packet: &mut Packet<P>,
        queue: Option<RlcQueue>,
    ) -> Option<Outcome> {
        let ue = &mut self.ues[id.ue];
        // A connection that another bearer carried before has its state there: marks that are owed to it follow the flow.
        if ue.bearers.len() > 1 && ue.bearer_mut(id).marker.claims(now, packet) {
            ue.fetch(now, id.drb, packet.payload.five_tuple(packet.flow));
        }
        let UeContext { bearers, unmarked, .. } = ue;
        let unmarked = (!mapped.marked).then_some(unmarked);
        let outcome = bearers[usize::from(id.drb) - 1].marker.decide_qos_flow(now, packet, queue, unmarked)?;
        // A mark that an acknowledgement takes over leaves the packet as it came.
        if outcome.applied() == Verdict::Mark {
            packet.ecn = packet.ecn.marked();
        }
        Some(outcome)
    }

    /// Numbers a packet that goes to the DU, and gives its PDCP SN.
    pub fn number(&mut self, now: Instant, id: BearerId, size: Bytes) -> u32 {
        self.bearer_mut(id).number(now, size)
    }

    /// True if the frame that takes a packet to the DU should ask for a report.
    pub fn wants_report(&self, now: Instant, id: BearerId) -> bool {
        self.bearer(id).marker.wants_report(now)
    }

    /// Takes a report of the DU.
    pub fn report(&mut self, now: Instant, id: BearerId, status: &DeliveryStatus) {
        self.bearer_mut(id).marker.handle_report(now, status);
    }

    /// Takes an SDU that was discarded.
    pub fn discard(&mut self, now: Instant, id: BearerId, sn: u32) {
        self.bearer_mut(id).marker.handle_discard(now, sn);
    }

    /// True if the bearer's law decides when packets leave the RLC queue.
    pub fn decides_at_dequeue(&self, id: BearerId) -> bool {
        self.bearer(id).marker.decides_on_leaving()
    }

    /// Decides on an SDU that leaves the RLC queue after `sojourn`; `queue` is the queue that remains. The caller sets the
    /// mark. `None` for a law that decides elsewhere: the SDU passes.
    pub fn dequeue<P: Inspect>(
        &mut self,
        now: Instant,
        id: BearerId,
        (sn, packet): (u32, &Packet<P>),
        sojourn: Duration,
        queue: RlcQueue,
    ) -> Option<Outcome> {
        let marker = &mut self.bearer_mut(id).marker;
        let outcome = marker.decide_dequeue(now, packet, sojourn, queue)?;
        // It has an SN already: the marker must not wait for its transmission.
        if outcome.verdict == Verdict::Drop {
            marker.handle_discard(now, sn);
        }
        Some(outcome)
    }

    /// Decides on an uplink packet by the law of the uplink. `waiting` is the queue that the UE reported. The caller sets the mark.
    pub fn decide_up<P: Inspect>(
        &mut self,
        now: Instant,
        id: BearerId,
        packet: &Packet<P>,
        waiting: RlcQueue,
    ) -> Verdict {
        self.bearer_mut(id).decide_up(now, packet, waiting)
    }

    /// Passes an uplink packet to the marker that has its connection, which may write feedback into it.
    pub fn uplink<P: Inspect>(&mut self, now: Instant, id: UeId, packet: &mut Packet<P>) {
        let ue = &mut self.ues[id];
        // Feedback is written where the connection's marks are counted, whichever bearer brings its acknowledgements.
        let keeper = match &mut ue.bearers[..] {
            [only] => Some(&mut only.marker),
            _ => ue.keeper(packet),
        };
        // A connection whose marks nobody counts needs no feedback written.
        if let Some(marker) = keeper {
            marker.handle_uplink(now, packet);
        }
    }

    /// Gives a bearer's marker another configuration. It keeps the state of flows and of the queue.
    ///
    /// # Errors
    /// The first field that cannot be used; nothing has changed then.
    pub fn reconfigure(&mut self, now: Instant, id: BearerId, config: &MarkerConfig) -> Result<(), ConfigError> {
        self.bearer_mut(id).reconfigure(now, config)
    }

    /// Moves a bearer to another DU, to which `queued` is sent: SN and size. Flows stay, but with `anew`, which begins with a marker
    /// that knows nothing.
    pub(crate) fn hand_over(
        &mut self,
        now: Instant,
        id: BearerId,
        anew: bool,
        queued: impl Iterator<Item = (u32, Bytes)>,
    ) {
        let seed = self.seed;
        let bearer = self.bearer_mut(id);
        // Another CU-UP knows nothing of the flows and rates of the old one.
        if anew { bearer.restart(now, id, seed, queued) } else { bearer.hand_over(now, queued) }
    }

    /// Estimate of a bearer's marker.
    pub fn estimate(&self, now: Instant, id: BearerId) -> Estimate {
        self.bearer(id).marker.estimate(now)
    }

    /// Describes a bearer's last outcome with the state behind it. Call it right after the outcome, with the same time.
    pub fn decision(&self, now: Instant, id: BearerId, outcome: Outcome) -> Decision {
        self.bearer(id).marker.decision(now, outcome)
    }

    /// Counters of a bearer's marker.
    pub fn counters(&self, id: BearerId) -> Counters {
        self.bearer(id).marker.counters()
    }

    /// Downlink packets of a bearer that were marked.
    pub(crate) fn marked(&self, id: BearerId) -> u64 {
        self.bearer(id).marked()
    }

    /// Uplink packets of a bearer that were marked.
    pub(crate) fn uplink_marked(&self, id: BearerId) -> u64 {
        self.bearer(id).uplink_marked()
    }

    fn bearer(&self, id: BearerId) -> &CuBearer {
        &self.ues[id.ue].bearers[usize::from(id.drb) - 1]
    }

    fn bearer_mut(&mut self, id: BearerId) -> &mut CuBearer {
        self.ues[id.ue].bearer_mut(id)
    }
}

impl UeContext {
    fn bearer_mut(&mut self, id: BearerId) -> &mut CuBearer {
        &mut self.bearers[usize::from(id.drb) - 1]
    }
}

/// A downlink packet's bearer is named by its DRB, counted from one.
impl Bearers for UeContext {
    type Carrier = u8;

    fn marker(&mut self, drb: u8) -> Option<&mut DrbMarker> {
        self.bearers.get_mut(usize::from(drb) - 1).map(|bearer| &mut bearer.marker)
    }

    fn markers(&mut self) -> impl Iterator<Item = &mut DrbMarker> {
        self.bearers.iter_mut().map(|bearer| &mut bearer.marker)
    }
}
