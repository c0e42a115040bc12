//! One UE: packets and events as they come from a gNB.

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
    /// The DRB exists.
    #[error("drb: is set up already")]
    Exists,
    /// There is no such DRB to change.
    #[error("drb: is not set up")]
    NotSetUp,
    /// A field of the marker's configuration cannot work.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Reason why there is no report on a QoS flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoReport {
    /// No DRB carries the QoS flow.
    #[error("qfi: no DRB carries it")]
    NoDrb,
    /// The QoS flow is marked here, by the law.
    #[error("qfi: is marked here")]
    MarkedHere,
}

/// Counters of a UE's packets outside of its DRBs' markers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[repr(C)]
pub struct UeCounters {
    /// Downlink packets.
    pub downlink: u64,
    /// Uplink packets.
    pub uplink: u64,
    /// Packets of either direction whose headers could not be read, or were not all in the bytes at hand; they pass untouched.
    pub unparsed: u64,
    /// Downlink packets of a QoS flow that no DRB carries; they pass untouched.
    pub unknown_qfi: u64,
    /// Reports and PDCP events for a DRB that is not set up.
    pub unknown_drb: u64,
}

/// One UE of the packet path, with one PDU session: QFIs tell QoS flows apart within it (TS 23.501 5.7.1.1). A UE that has several sessions is a
/// [`Ue`] for each.
///
/// Everything that packets read lies here, and the first DRB in it.
#[repr(C, align(64))]
pub struct Ue {
    pub(super) drbs: Drbs,
    qos_flows: QosFlows,
    counters: UeCounters,
    /// Last, since reports don't need it and IPv4 only its first half.
    pub(super) key: FlowKey,
}

impl Ue {
    /// A UE without DRBs. The key tells its flows apart, and is best drawn at random once for the whole instance.
    pub fn new(key: FlowKey) -> Self {
        Self { drbs: Drbs::new(), qos_flows: QosFlows::default(), counters: UeCounters::default(), key }
    }

    /// Sets up a DRB that carries these QoS flows; all memory that it will ever use is allocated here. A QoS flow
    /// that another DRB carried moves over.
    ///
    /// # Errors
    /// As [`SetupError`] lists; nothing has changed then.
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

    /// A DRB that is set up is marked by another configuration from now on, and carries these QoS flows too. Its flows and what was
    /// signalled to their senders stay, which they would not if it were removed and added; see [`DrbMarker::reconfigure`] for what else
    /// stays. Memory is allocated and freed here.
    ///
    /// # Errors
    /// As [`SetupError`] lists; nothing has changed then.
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

    /// Releases a DRB, and gives its counters as they were last. `None` for one that is not set up. Its flows and what was signalled to
    /// their senders go to another DRB of the UE, if there is one.
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

    /// A QoS flow is mapped to this DRB from now on. False for a QFI or a DRB that does not exist.
    pub fn map_qfi(&mut self, qfi: u8, drb: DrbId) -> bool {
        self.drbs.map_qfi(qfi, drb)
    }

    /// Marks the downlink packets of a QoS flow so from now on, whichever DRB carries it; at first each is marked by its DRB's law. Marks
    /// that are on their way in acknowledgements get there. Memory is allocated for the first QoS flow that is not marked here. False for a
    /// QFI that does not exist.
    pub fn set_marking(&mut self, qfi: u8, marking: Marking) -> bool {
        if is_qfi(qfi) {
            self.qos_flows.set(qfi, marking);
        }
        is_qfi(qfi)
    }

    /// Reports the congestion of a QoS flow's downlink since the last report.
    ///
    /// # Errors
    /// As [`NoReport`] lists.
    pub fn congestion(&mut self, now: Instant, qfi: u8) -> Result<CongestionReport, NoReport> {
        let has_queue = self.drbs.marker(qfi).ok_or(NoReport::NoDrb)?.has_queue(now);
        self.qos_flows.unmarked(qfi).map(|qos_flow| qos_flow.report(has_queue)).ok_or(NoReport::MarkedHere)
    }

    /// The UE moved to another DU or cell, or its DRBs were re-established: what was measured of the old radio is
    /// forgotten, and so are its queues; SDUs that PDCP retransmits are to be announced once more. Flows and their
    /// counters move with the UE. It is [`handover_drb`](Self::handover_drb) for every DRB.
    pub fn handover(&mut self, now: Instant) {
        for marker in self.drbs.markers() {
            marker.handle_handover(now);
        }
    }

    /// A DRB moved to another DU or cell, or was re-established: what was measured of its old radio is forgotten, and so is its queue; SDUs
    /// that PDCP retransmits are to be announced once more. Other DRBs keep theirs, and with it what was announced of them since.
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

    /// A downlink packet of this QoS flow, in clear. A mark is set in place; a packet to be dropped is left to the
    /// caller. What cannot be read or belongs to no DRB passes as it is.
    pub fn downlink(&mut self, now: Instant, qfi: u8, packet: &mut [u8]) -> Verdict {
        let len = packet.len();
        self.downlink_front(now, qfi, packet, len)
    }

    /// Does the work of [`downlink`](Self::downlink) for a packet of up to `len` bytes of which a buffer has the first ones, as where a host
    /// keeps packets in segments. A packet whose headers are not all there passes and counts as unparsed.
    pub fn downlink_front(&mut self, now: Instant, qfi: u8, front: &mut [u8], len: usize) -> Verdict {
        self.decide_downlink(now, qfi, front, len).map_or(Verdict::Pass, |outcome| outcome.applied())
    }

    /// Does the work of [`downlink_front`](Self::downlink_front) and gives the reasons for the verdict too, for [`decision`](Self::decision).
    /// `None` for a packet that no law was asked about: it passes.
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

    /// PDCP gave the packet this SN and sends it to the DU; `size` is the PDU's.
    #[inline]
    pub fn pdcp_pdu(&mut self, now: Instant, drb: DrbId, sn: u32, size: Bytes) {
        if let Some(marker) = self.marker(drb) {
            marker.handle_pdcp_pdu(now, sn, size);
        }
    }

    /// PDCP sends an SDU that it had numbered to the DU again: as at a handover, where everything that the new DU gets counts. What this DU
    /// was sent before does not count twice.
    pub fn pdcp_retransmission(&mut self, now: Instant, drb: DrbId, sn: u32, size: Bytes) {
        if let Some(marker) = self.marker(drb) {
            marker.handle_pdcp_retransmission(now, sn, size);
        }
    }

    /// Length of a DRB's PDCP SNs; `None` for one that is not set up.
    pub fn sn_length(&self, drb: DrbId) -> Option<SnLength> {
        self.drbs.get(drb).map(DrbMarker::sn_length)
    }

    /// PDCP discarded an SDU that it had numbered.
    pub fn discard(&mut self, now: Instant, drb: DrbId, sn: u32) {
        if let Some(marker) = self.marker(drb) {
            marker.handle_discard(now, sn);
        }
    }

    /// A packet leaves the queue in front of the radio after `sojourn`, with `behind` bytes staying: where laws that decide there do
    /// so ([`Decides::OnLeaving`](crate::Decides::OnLeaving)), which pass everything in [`downlink`](Self::downlink). For a caller whose own queue it
    /// is, with packets in clear; other laws pass everything here. After a drop the next packet is asked about, at the same time.
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

    /// Does the work of [`dequeue`](Self::dequeue) for a packet of up to `len` bytes of which a buffer has the first ones.
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

    /// The DU reports on a DRB.
    #[inline]
    pub fn feedback(&mut self, now: Instant, drb: DrbId, report: &DeliveryStatus) {
        if let Some(marker) = self.marker(drb) {
            marker.warm_report();
            marker.handle_report(now, report);
        }
    }

    /// An uplink packet, in clear. Congestion feedback is written in place where a flow's is short-circuited.
    pub fn uplink(&mut self, now: Instant, packet: &mut [u8]) {
        let len = packet.len();
        self.uplink_front(now, packet, len);
    }

    /// Does the work of [`uplink`](Self::uplink) for a packet of up to `len` bytes of which a buffer has the first ones. One whose headers
    /// are not all there stays as it is and counts as unparsed.
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

    /// Describes an outcome of a DRB's marker with the state that it was decided in. It is asked right after
    /// [`decide_downlink`](Self::decide_downlink) with the same time. `None` for a DRB that is not set up.
    pub fn decision(&self, now: Instant, drb: DrbId, outcome: Outcome) -> Option<Decision> {
        self.drbs.get(drb).map(|marker| marker.decision(now, outcome))
    }

    /// Addresses of what a downlink packet reads beyond the UE itself: those of its flow. They are for a caller that has several packets at
    /// hand, and begins to fetch what each of them needs before it handles the first. A UE with several DRBs may have the flow elsewhere.
    #[inline]
    pub fn downlink_addresses(&self, front: &[u8], len: usize) -> impl Iterator<Item = *const u8> {
        self.flow_addresses(Headers::parse_front(front, len).ok().map(|headers| headers.five_tuple))
    }

    /// Addresses of what an uplink packet reads, in the same way.
    #[inline]
    pub fn uplink_addresses(&self, front: &[u8], len: usize) -> impl Iterator<Item = *const u8> {
        self.flow_addresses(Headers::parse_front(front, len).ok().map(|headers| headers.five_tuple.reversed()))
    }

    /// Addresses of what a report on a DRB reads, in the same way.
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

    /// Marks of a DRB that wait for an acknowledgement, as [`DrbMarker::pending_marks`] has them.
    pub fn pending_marks(&self, drb: DrbId) -> Option<u64> {
        self.drbs.get(drb).map(DrbMarker::pending_marks)
    }

    /// Counters of packets outside of the DRBs.
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
