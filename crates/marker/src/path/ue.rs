//! One UE, with packets and events in the form that a gNB has them.

use core::hint::black_box;

use tidemark_core::{Bytes, ConfigError, Duration, FlowId, Inspect, Instant, Packet, Stream, TcpView};
use tidemark_wire::ip::{FiveTuple, Headers};
use tidemark_wire::{View, tcp};

use crate::bearers::Bearers;
use crate::config::MarkerConfig;
use crate::counters::Counters;
use crate::decision::{Decision, Outcome};
use crate::drb::DrbMarker;
use crate::estimate::Estimate;
use crate::path::drbs::{DrbId, Drbs, is_qfi};
use crate::path::flow_key::FlowKey;
use crate::path::qos_flows::QosFlows;
use crate::qos_flow::{CongestionReport, Marking};
use crate::report::{DeliveryStatus, RlcQueue, SnLength};
use crate::verdict::Verdict;

/// Reason why a DRB could not be set up.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// The identity is not one of 1 to 32.
    #[error("drb: must lie between 1 and 32")]
    Drb,
    /// A QFI is not one of 0 to 63.
    #[error("qfi: must be at most 63")]
    Qfi,
    /// The DRB is already set up.
    #[error("drb: is set up already")]
    Exists,
    /// The DRB is not set up.
    #[error("drb: is not set up")]
    NotSetUp,
    /// A field of the marker's configuration cannot be used.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Reason why there is no report on a QoS flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReport {
    /// No DRB carries the QoS flow.
    #[error("qfi: no DRB carries it")]
    NoDrb,
    /// The law marks the QoS flow here.
    #[error("qfi: is marked here")]
    MarkedHere,
}

/// Counters of a UE's packets, apart from those of its DRBs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[repr(C)]
pub struct UeCounters {
    /// Downlink packets.
    pub downlink: u64,
    /// Uplink packets.
    pub uplink: u64,
    /// Packets of either direction whose headers could not be read, or were not all in the given bytes; they pass unchanged.
    pub unparsed: u64,
    /// Downlink packets of a QoS flow that no DRB carries; they pass unchanged.
    pub unknown_qfi: u64,
    /// Reports and PDCP events for a DRB that is not set up.
    pub unknown_drb: u64,
}

/// One UE of the packet path, with one PDU session, since QFIs identify QoS flows only within a session (TS 23.501 5.7.1.1). A UE with
/// several sessions needs a [`Ue`] for each.
///
/// All state that packets read is stored here, including the first DRB.
#[repr(C, align(64))]
pub struct Ue {
    pub(super) drbs: Drbs,
    qos_flows: QosFlows,
    counters: UeCounters,
    /// Last, since reports don't need it and IPv4 only its first half.
    pub(super) key: FlowKey,
}

impl Ue {
    /// A UE without DRBs. The key hashes its flows, and is best drawn at random once for the whole instance.
    pub fn new(key: FlowKey) -> Self {
        Self { drbs: Drbs::new(), qos_flows: QosFlows::default(), counters: UeCounters::default(), key }
    }

    /// Sets up a DRB that carries these QoS flows, and allocates all memory that it will ever use. A QoS flow that another
    /// DRB carried moves to the new one.
    ///
    /// # Errors
    /// Those of [`SetupError`]; nothing has changed then.
    pub fn add_drb(
        &mut self,
        drb: DrbId,
        qfis: &[u8],
        config: &MarkerConfig,
        sn_length: SnLength,
        stream: Stream,
    ) -> Result<(), SetupError> {
        check(drb, qfis)?;
        // A second set-up would lose the flows of the first: the host has to remove it, or to reconfigure.
        if self.drbs.get(drb).is_some() {
            return Err(SetupError::Exists);
        }
        self.drbs.insert(drb, DrbMarker::new(config, sn_length, stream)?);
        // DRB and QFIs were checked before anything changed: no mapping fails.
        for qfi in qfis {
            self.map_qfi(*qfi, drb);
        }
        Ok(())
    }

    /// Gives a DRB another configuration, and maps these QoS flows to it too. Unlike with a removal and a new set-up, its flows and their
    /// signalled marks are kept. See [`DrbMarker::reconfigure`] for the other state that is kept. This call allocates and frees memory.
    ///
    /// # Errors
    /// Those of [`SetupError`]; nothing has changed then.
    pub fn reconfigure_drb(
        &mut self,
        now: Instant,
        drb: DrbId,
        qfis: &[u8],
        config: &MarkerConfig,
        sn_length: SnLength,
    ) -> Result<(), SetupError> {
        check(drb, qfis)?;
        self.drbs.get_mut(drb).ok_or(SetupError::NotSetUp)?.reconfigure(now, config, sn_length)?;
        for qfi in qfis {
            self.map_qfi(*qfi, drb);
        }
        Ok(())
    }

    /// Releases a DRB and gives its final counters; `None` if it is not set up. Its flows and their signalled marks go to another DRB of
    /// the UE, if there is one.
    pub fn remove_drb(&mut self, drb: DrbId) -> Option<Counters> {
        let removed = self.drbs.remove(drb)?;
        let mut counters = removed.counters();
        match self.drbs.markers().next() {
            // What was added to a flow's counters must not begin at zero: a sender takes the step back for a wrap, and for marks.
            Some(heir) => heir.flows.take_over(&removed.flows),
            None => counters.marks_let_go += removed.pending_marks(),
        }
        Some(counters)
    }

    /// Maps a QoS flow to this DRB from now on. False for a QFI or a DRB that does not exist.
    pub fn map_qfi(&mut self, qfi: u8, drb: DrbId) -> bool {
        self.drbs.map_qfi(qfi, drb)
    }

    /// Sets the marking of a QoS flow's downlink packets from now on, in any DRB. Initially the law of the DRB marks each QoS flow. Marks that
    /// already wait for acknowledgements are still sent. The first QoS flow that is not marked here allocates memory. False for a QFI that does
    /// not exist.
    pub fn set_marking(&mut self, qfi: u8, marking: Marking) -> bool {
        if is_qfi(qfi) {
            self.qos_flows.set(qfi, marking);
        }
        is_qfi(qfi)
    }

    /// Reports the congestion of a QoS flow's downlink since the last report.
    ///
    /// # Errors
    /// Those of [`NoReport`].
    pub fn congestion(&mut self, now: Instant, qfi: u8) -> Result<CongestionReport, NoReport> {
        let has_queue = self.drbs.marker(qfi).ok_or(NoReport::NoDrb)?.has_queue(now);
        self.qos_flows.unmarked(qfi).map(|qos_flow| qos_flow.report(has_queue)).ok_or(NoReport::MarkedHere)
    }

    /// Call it when the UE moves to another DU or cell, or its DRBs are re-established. The measurements of the old radio and its
    /// queues are forgotten, and SDUs that PDCP retransmits must be announced again. Flows and their counters are kept. It is
    /// [`handover_drb`](Self::handover_drb) for every DRB.
    pub fn handover(&mut self, now: Instant) {
        for marker in self.drbs.markers() {
            marker.handle_handover(now);
        }
    }

    /// Call it when a DRB moves to another DU or cell, or is re-established. The measurements of its old radio and its queue are forgotten,
    /// and SDUs that PDCP retransmits must be announced again. Other DRBs keep theirs, including SDUs announced since.
    pub fn handover_drb(&mut self, now: Instant, drb: DrbId) {
        if let Some(marker) = self.marker(drb) {
            marker.handle_handover(now);
        }
    }

    /// Reads what a packet of this QoS flow will need.
    #[inline]
    pub(crate) fn warm(&self, qfi: u8) {
        black_box(self.counters.downlink);
        if let Some(marker) = self.drbs.first_carrying(qfi) {
            marker.warm();
        }
    }

    /// Takes a downlink packet of this QoS flow, unciphered. A mark is written in place; the caller drops a packet itself. A
    /// packet that cannot be read or belongs to no DRB passes unchanged.
    pub fn downlink(&mut self, now: Instant, qfi: u8, packet: &mut [u8]) -> Verdict {
        let len = packet.len();
        self.downlink_front(now, qfi, packet, len)
    }

    /// Does the work of [`downlink`](Self::downlink) for a packet of at most `len` bytes, of which `front` need only hold the first ones, for
    /// hosts that keep packets in segments. A packet with incomplete headers passes and counts as unparsed.
    pub fn downlink_front(&mut self, now: Instant, qfi: u8, front: &mut [u8], len: usize) -> Verdict {
        self.decide_downlink(now, qfi, front, len).map_or(Verdict::Pass, |outcome| outcome.applied())
    }

    /// Does the work of [`downlink_front`](Self::downlink_front) and also gives the reasons, for [`decision`](Self::decision). `None` for a
    /// packet about which no law was asked: it passes.
    // Part of its caller, so that a caller who looks at no reasons doesn't pay for them.
    #[inline(always)]
    pub fn decide_downlink(&mut self, now: Instant, qfi: u8, front: &mut [u8], len: usize) -> Option<Outcome> {
        self.counters.downlink += 1;
        let has_several = self.drbs.has_several();
        let Some(mut marker) = self.drbs.marker(qfi) else {
            // No queue is known that the packet will join: SDAP decides what becomes of it.
            self.counters.unknown_qfi += 1;
            return None;
        };
        // What is read here comes while the headers are looked at.
        marker.warm();
        // What is not IP, or was cut off, has no ECN field that could be read or written.
        let Ok(mut view) = View::parse_front(front, len) else {
            self.counters.unparsed += 1;
            return None;
        };
        let headers = view.headers();
        let flow = self.key.flow(&headers.five_tuple);
        let (size, ecn) = (Bytes(headers.len as u64), headers.ecn);
        let packet = Packet { flow, size, ecn, payload: Seen(view.tcp()) };
        // A UE's only DRB has all of its connections.
        if has_several && marker.claims(now, &packet) {
            marker = self.drbs.fetch(now, qfi, flow)?;
        }
        let outcome = marker.decide_qos_flow(now, &packet, None, self.qos_flows.unmarked(qfi))?;
        // A mark that is short-circuited is left to the acknowledgements: in the packet it would reach the sender a second time.
        if outcome.applied() == Verdict::Mark {
            view.set_ecn(ecn.marked());
        }
        Some(outcome)
    }

    /// Takes the SN that PDCP gave to a packet sent to the DU. `size` is that of the PDU.
    #[inline]
    pub fn pdcp_pdu(&mut self, now: Instant, drb: DrbId, sn: u32, size: Bytes) {
        if let Some(marker) = self.marker(drb) {
            marker.handle_pdcp_pdu(now, sn, size);
        }
    }

    /// Takes a numbered SDU that PDCP sends to the DU again, for example after a handover, where it counts for the new DU. An SDU that this DU
    /// already got does not count twice.
    pub fn pdcp_retransmission(&mut self, now: Instant, drb: DrbId, sn: u32, size: Bytes) {
        if let Some(marker) = self.marker(drb) {
            marker.handle_pdcp_retransmission(now, sn, size);
        }
    }

    /// Length of a DRB's PDCP SNs; `None` for one that is not set up.
    pub fn sn_length(&self, drb: DrbId) -> Option<SnLength> {
        self.drbs.get(drb).map(DrbMarker::sn_length)
    }

    /// Takes an SDU that PDCP discarded after numbering it.
    pub fn discard(&mut self, now: Instant, drb: DrbId, sn: u32) {
        if let Some(marker) = self.marker(drb) {
            marker.handle_discard(now, sn);
        }
    }

    /// Takes a packet that leaves the queue before the radio after `sojourn`; `behind` bytes remain. It is for laws that decide there
    /// ([`Decides::OnLeaving`](crate::Decides::OnLeaving)) and pass everything in [`downlink`](Self::downlink), and for callers that own the queue and
    /// have the packets unciphered. Other laws pass everything here. After a drop the caller asks for the next packet, at the same time.
    pub fn dequeue(
        &mut self,
        now: Instant,
        drb: DrbId,
        packet: &mut [u8],
        sojourn: Duration,
        behind: Bytes,
    ) -> Verdict {
        let len = packet.len();
        self.dequeue_front(now, drb, packet, len, sojourn, behind)
    }

    /// Does the work of [`dequeue`](Self::dequeue) for a packet of at most `len` bytes, of which `front` need only hold the first ones.
    pub fn dequeue_front(
        &mut self,
        now: Instant,
        drb: DrbId,
        front: &mut [u8],
        len: usize,
        sojourn: Duration,
        behind: Bytes,
    ) -> Verdict {
        let key = self.key;
        // A DRB that was never set up has no law.
        let Some(marker) = self.marker(drb) else { return Verdict::Pass };
        // No IP packet, or one of which too little came: there is no ECN field to mark.
        let Ok(mut view) = View::parse_front(front, len) else {
            self.counters.unparsed += 1;
            return Verdict::Pass;
        };
        let headers = view.headers();
        let flow = key.flow(&headers.five_tuple);
        let (size, ecn) = (Bytes(headers.len as u64), headers.ecn);
        let packet = Packet { flow, size, ecn, payload: &mut view };
        let queue = RlcQueue { backlog: behind, ..RlcQueue::default() };
        let verdict = marker.handle_dequeue(now, &packet, sojourn, queue);
        // The mark is written into the packet that leaves, whose checksum the view keeps right.
        if verdict == Verdict::Mark {
            packet.payload.set_ecn(packet.ecn.marked());
        }
        verdict
    }

    /// Takes a report of the DU on a DRB.
    #[inline]
    pub fn feedback(&mut self, now: Instant, drb: DrbId, report: &DeliveryStatus) {
        if let Some(marker) = self.marker(drb) {
            marker.warm_report();
            marker.handle_report(now, report);
        }
    }

    /// Takes an uplink packet, unciphered. If the feedback of its flow is short-circuited, it is written in place.
    pub fn uplink(&mut self, now: Instant, packet: &mut [u8]) {
        let len = packet.len();
        self.uplink_front(now, packet, len);
    }

    /// Does the work of [`uplink`](Self::uplink) for a packet of at most `len` bytes, of which `front` need only hold the first ones. A packet
    /// with incomplete headers stays unchanged and counts as unparsed.
    pub fn uplink_front(&mut self, now: Instant, front: &mut [u8], len: usize) {
        self.counters.uplink += 1;
        // For most UEs it is the DRB that has the connection: its memory is on its way while headers are read.
        if let Some(first) = self.drbs.first() {
            first.warm_uplink();
        }
        // What can't be read is taken for no acknowledgement.
        let Ok(mut view) = View::parse_front(front, len) else {
            self.counters.unparsed += 1;
            return;
        };
        let headers = view.headers();
        // Everything that is learnt or written here is in TCP headers. QUIC encrypts its feedback.
        if headers.five_tuple.protocol != tcp::PROTOCOL {
            return;
        }
        let flow = self.key.flow(&headers.five_tuple.reversed());
        let (size, ecn) = (Bytes(headers.len as u64), headers.ecn);
        let mut packet = Packet { flow, size, ecn, payload: &mut view };
        // The DRB that an acknowledgement comes in need not be the one that has the connection.
        let keeper = if self.drbs.has_several() { self.drbs.keeper(&packet) } else { self.drbs.first_mut() };
        if let Some(marker) = keeper
            && marker.follow_uplink(now, &mut packet)
        {
            name_flow(marker, flow, front, len);
        }
    }

    /// True if the next frame to the DU should ask for a report on this DRB (TS 38.425 5.5.3.7).
    pub fn wants_report(&self, now: Instant, drb: DrbId) -> bool {
        self.drbs.get(drb).is_some_and(|marker| marker.wants_report(now))
    }

    /// Estimate of a DRB.
    pub fn estimate(&self, now: Instant, drb: DrbId) -> Option<Estimate> {
        self.drbs.get(drb).map(|marker| marker.estimate(now))
    }

    /// Describes an outcome of a DRB's marker together with the state behind it. Call it right after
    /// [`decide_downlink`](Self::decide_downlink), with the same time. `None` for a DRB that is not set up.
    pub fn decision(&self, now: Instant, drb: DrbId, outcome: Outcome) -> Option<Decision> {
        self.drbs.get(drb).map(|marker| marker.decision(now, outcome))
    }

    /// Addresses that a downlink packet reads beyond the UE itself: those of its flow. A caller with several packets can prefetch them for all
    /// packets before it handles the first. A UE with several DRBs may have the flow elsewhere.
    #[inline]
    pub fn downlink_addresses(&self, front: &[u8], len: usize) -> impl Iterator<Item = *const u8> {
        self.flow_addresses(Headers::parse_front(front, len).ok().map(|headers| headers.five_tuple))
    }

    /// Addresses that an uplink packet reads, in the same way.
    #[inline]
    pub fn uplink_addresses(&self, front: &[u8], len: usize) -> impl Iterator<Item = *const u8> {
        self.flow_addresses(Headers::parse_front(front, len).ok().map(|headers| headers.five_tuple.reversed()))
    }

    /// Addresses that a report on a DRB reads, in the same way.
    #[inline]
    pub fn report_addresses(&self, drb: DrbId) -> impl Iterator<Item = *const u8> {
        self.drbs.get(drb).into_iter().flat_map(DrbMarker::report_addresses)
    }

    fn flow_addresses(&self, tuple: Option<FiveTuple>) -> impl Iterator<Item = *const u8> {
        let first = self.drbs.first().zip(tuple);
        first.into_iter().flat_map(|(marker, tuple)| marker.flows.addresses(self.key.flow(&tuple)))
    }

    /// Counters of a DRB.
    pub fn drb_counters(&self, drb: DrbId) -> Option<Counters> {
        self.drbs.get(drb).map(DrbMarker::counters)
    }

    /// Counters of each DRB.
    pub fn all_drb_counters(&self) -> impl Iterator<Item = Counters> {
        self.drbs.all().map(DrbMarker::counters)
    }

    /// Marks of a DRB that wait for an acknowledgement; see [`DrbMarker::pending_marks`].
    pub fn pending_marks(&self, drb: DrbId) -> Option<u64> {
        self.drbs.get(drb).map(DrbMarker::pending_marks)
    }

    /// Counters of the UE, apart from those of its DRBs.
    pub fn counters(&self) -> UeCounters {
        self.counters
    }

    /// The marker of a DRB; a DRB that is not set up is counted.
    #[inline]
    fn marker(&mut self, drb: DrbId) -> Option<&mut DrbMarker> {
        let marker = self.drbs.get_mut(drb);
        self.counters.unknown_drb += u64::from(marker.is_none());
        marker
    }
}

/// Notes a connection's five-tuple, for another CU-UP.
// Reads the headers once more: kept for a SYN, they would be written to memory for every packet.
#[cold]
#[inline(never)]
fn name_flow(marker: &mut DrbMarker, flow: FlowId, front: &mut [u8], len: usize) {
    // It was parsed before: this does not fail.
    if let Ok(view) = View::parse_front(front, len) {
        marker.flows.name(flow, Some(view.headers().five_tuple.reversed()));
    }
}

/// Refuses identities that don't exist.
fn check(drb: DrbId, qfis: &[u8]) -> Result<(), SetupError> {
    if !drb.is_valid() {
        return Err(SetupError::Drb);
    }
    if qfis.iter().all(|qfi| is_qfi(*qfi)) { Ok(()) } else { Err(SetupError::Qfi) }
}

/// A TCP header that was read.
struct Seen(Option<TcpView>);

impl Inspect for Seen {
    #[inline]
    fn tcp(&self) -> Option<TcpView> {
        self.0
    }
}
