//! One UE: its DRBs, and which QoS flow goes to which.

use alloc::boxed::Box;
use core::hint::black_box;

use tidemark_core::{Bytes, ConfigError, Duration, FlowId, Inspect, Instant, Packet, Stream, TcpView};
use tidemark_wire::{View, tcp};

use crate::config::MarkerConfig;
use crate::decision::{Decision, Outcome};
use crate::drb::{Counters, DrbMarker, Estimate};
use crate::path::flow_key::FlowKey;
use crate::report::{DeliveryStatus, RlcQueue, SnLength};
use crate::verdict::Verdict;

/// DRB identity (TS 38.331 `DRB-Identity`), 1 to 32.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct DrbId(pub u8);

const DRBS: usize = 32;
const QFIS: usize = 64;

/// Why a DRB could not be set up.
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

/// What happened to a UE's packets outside of its DRBs' markers.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
#[repr(C)]
pub struct UeCounters {
    /// Downlink packets.
    pub downlink: u64,
    /// Uplink packets.
    pub uplink: u64,
    /// Packets of either direction whose IP header could not be read; they pass untouched.
    pub unparsed: u64,
    /// Downlink packets of a QoS flow that no DRB carries; they pass untouched.
    pub unknown_qfi: u64,
    /// Reports and PDCP events for a DRB that is not set up.
    pub unknown_drb: u64,
}

/// One UE of the packet path, with one PDU session: QFIs tell QoS flows apart within it (TS 23.501 5.7.1.1). A UE that has several is a
/// [`Ue`] for each.
///
/// With thousands of UEs every wait for memory counts: the DRB that was set up first, for most UEs their only one, lies here and
/// not behind a pointer.
#[repr(C, align(64))]
pub struct Ue {
    first: Option<DrbMarker>,
    counters: UeCounters,
    /// The QoS flows of the first DRB, by QFI.
    first_qfis: u64,
    /// The first DRB's index.
    first_index: u8,
    /// Set up with the second DRB.
    others: Option<Box<Others>>,
    /// Last, since reports don't need it and IPv4 only its first half.
    key: FlowKey,
}

const NONE: u8 = u8::MAX;

/// What a UE with several DRBs needs.
struct Others {
    /// DRB index by QFI; `NONE` where there is none, and for those of the first DRB.
    carriers: [u8; QFIS],
    drbs: [Option<Box<DrbMarker>>; DRBS],
}

impl Default for Others {
    fn default() -> Self {
        Self { carriers: [NONE; QFIS], drbs: [const { None }; DRBS] }
    }
}

impl Ue {
    /// A UE without DRBs. The key tells its flows apart, and is best drawn at random once for the whole instance.
    pub fn new(key: FlowKey) -> Self {
        Self { first: None, key, counters: UeCounters::default(), first_qfis: 0, first_index: NONE, others: None }
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
        let index = index(drb).ok_or(SetupError::Drb)?;
        if qfis.iter().any(|qfi| usize::from(*qfi) >= QFIS) {
            return Err(SetupError::Qfi);
        }
        if self.drb(drb).is_some() {
            return Err(SetupError::Exists);
        }
        let marker = DrbMarker::new(config, sn_length, stream)?;
        if self.first.is_none() {
            (self.first, self.first_index) = (Some(marker), index as u8);
        } else {
            self.others.get_or_insert_default().drbs[index] = Some(Box::new(marker));
        }
        for qfi in qfis {
            self.map_qfi(*qfi, drb);
        }
        Ok(())
    }

    /// A DRB that is set up is marked by another configuration from now on, and carries these QoS flows too. Its flows and what their
    /// senders were told stay, which they would not if it were removed and added; see [`DrbMarker::reconfigure`] for what else
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
        let index = index(drb).ok_or(SetupError::Drb)?;
        if qfis.iter().any(|qfi| usize::from(*qfi) >= QFIS) {
            return Err(SetupError::Qfi);
        }
        self.at(index).ok_or(SetupError::NotSetUp)?.reconfigure(now, config, sn_length)?;
        for qfi in qfis {
            self.map_qfi(*qfi, drb);
        }
        Ok(())
    }

    /// Releases a DRB, and gives its counters as they were last. `None` for one that is not set up. Its flows and what their senders were
    /// told go to another DRB of the UE, if there is one.
    pub fn remove_drb(&mut self, drb: DrbId) -> Option<Counters> {
        let index = index(drb)?;
        let removed = if index == usize::from(self.first_index) {
            (self.first_index, self.first_qfis) = (NONE, 0);
            self.first.take()?
        } else {
            let others = self.others.as_mut()?;
            for carrier in &mut others.carriers {
                if *carrier == index as u8 {
                    *carrier = NONE;
                }
            }
            *others.drbs[index].take()?
        };
        if let Some(heir) = self.markers().next() {
            heir.flows.take_over(&removed.flows);
        }
        Some(removed.counters())
    }

    /// A QoS flow is mapped to this DRB from now on. False for a QFI or a DRB that does not exist.
    pub fn map_qfi(&mut self, qfi: u8, drb: DrbId) -> bool {
        if usize::from(qfi) >= QFIS || self.drb(drb).is_none() {
            return false;
        }
        let index = drb.0 - 1;
        let (bit, is_first) = (1 << qfi, index == self.first_index);
        self.first_qfis = if is_first { self.first_qfis | bit } else { self.first_qfis & !bit };
        if let Some(others) = &mut self.others {
            others.carriers[usize::from(qfi)] = if is_first { NONE } else { index };
        }
        true
    }

    /// The UE moved to another DU or cell, or its DRBs were re-established: what was measured of the old radio is
    /// forgotten, and so is what stood in its queues; what PDCP sends again is to be announced again. Flows and their
    /// books move with the UE.
    pub fn handover(&mut self, now: Instant) {
        for marker in self.markers() {
            marker.handle_handover(now);
        }
    }

    /// Reads what a packet of this QoS flow will need.
    #[inline]
    pub(crate) fn warm(&self, qfi: u8) {
        black_box(self.counters.downlink);
        if let Some(marker) = self.first.as_ref().filter(|_| qfi < 64 && self.first_qfis >> qfi & 1 == 1) {
            marker.warm();
        }
    }

    /// A downlink packet of this QoS flow, in clear. A mark is set in place; a packet to be dropped is left to the
    /// caller. What cannot be read or belongs to no DRB passes as it is.
    pub fn downlink(&mut self, now: Instant, qfi: u8, packet: &mut [u8]) -> Verdict {
        self.decide_downlink(now, qfi, packet).map_or(Verdict::Pass, |outcome| outcome.applied())
    }

    /// Does the work of [`downlink`](Self::downlink) and gives the reasons for the verdict too, for [`decision`](Self::decision).
    /// `None` for a packet that no law was asked about: it passes.
    // Part of its caller, so that a caller who looks at no reasons doesn't pay for them.
    #[inline(always)]
    pub fn decide_downlink(&mut self, now: Instant, qfi: u8, packet: &mut [u8]) -> Option<Outcome> {
        self.counters.downlink += 1;
        let has_several = self.others.is_some();
        let Some(mut marker) = carrier(&mut self.first, self.first_qfis, &mut self.others, qfi) else {
            self.counters.unknown_qfi += 1;
            return None;
        };
        // What is read here comes while the headers are looked at.
        marker.warm();
        let Ok(mut view) = View::parse(packet) else {
            self.counters.unparsed += 1;
            return None;
        };
        let headers = view.headers();
        let flow = self.key.flow(&headers.five_tuple);
        let (size, ecn) = (Bytes(headers.len as u64), headers.ecn);
        let packet = Packet { flow, size, ecn, payload: Seen(view.tcp()) };
        if has_several && marker.claims(now, &packet) {
            self.gather(now, qfi, flow);
            match carrier(&mut self.first, self.first_qfis, &mut self.others, qfi) {
                Some(again) => marker = again,
                None => return None,
            }
        }
        let outcome = marker.decide_downlink(now, &packet, None)?;
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
        let Some(marker) = self.marker(drb) else { return Verdict::Pass };
        let Ok(mut view) = View::parse(packet) else {
            self.counters.unparsed += 1;
            return Verdict::Pass;
        };
        let headers = view.headers();
        // No law looks at flows here.
        let (size, ecn) = (Bytes(headers.len as u64), headers.ecn);
        let packet = Packet { flow: FlowId(0), size, ecn, payload: &mut view };
        let queue = RlcQueue { backlog: behind, ..RlcQueue::default() };
        let verdict = marker.handle_dequeue(now, &packet, sojourn, queue);
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
        self.counters.uplink += 1;
        if let Some(first) = &self.first {
            first.warm_uplink();
        }
        let Ok(mut view) = View::parse(packet) else {
            self.counters.unparsed += 1;
            return;
        };
        let headers = view.headers();
        // Everything that is learnt or written here is in TCP headers.
        if headers.five_tuple.protocol != tcp::PROTOCOL {
            return;
        }
        let flow = self.key.flow(&headers.five_tuple.reversed());
        let (size, ecn) = (Bytes(headers.len as u64), headers.ecn);
        let mut packet = Packet { flow, size, ecn, payload: &mut view };
        let keeper = if self.others.is_none() { self.first.as_mut() } else { self.keeper(flow) };
        if let Some(marker) = keeper {
            marker.handle_uplink(now, &mut packet);
        }
    }

    /// True if the next frame to the DU should ask for a report on this DRB (TS 38.425 5.5.3.7).
    pub fn wants_report(&self, now: Instant, drb: DrbId) -> bool {
        self.drb(drb).is_some_and(|marker| marker.wants_report(now))
    }

    /// What is believed about a DRB.
    pub fn estimate(&self, now: Instant, drb: DrbId) -> Option<Estimate> {
        self.drb(drb).map(|marker| marker.estimate(now))
    }

    /// Describes an outcome of a DRB's marker with the state that it was decided in. It is asked right after
    /// [`decide_downlink`](Self::decide_downlink) with the same time. `None` for a DRB that is not set up.
    pub fn decision(&self, now: Instant, drb: DrbId, outcome: Outcome) -> Option<Decision> {
        self.drb(drb).map(|marker| marker.decision(now, outcome))
    }

    /// What happened at a DRB.
    pub fn drb_counters(&self, drb: DrbId) -> Option<Counters> {
        self.drb(drb).map(DrbMarker::counters)
    }

    /// What happened outside of the DRBs.
    pub fn counters(&self) -> UeCounters {
        self.counters
    }

    fn drb(&self, drb: DrbId) -> Option<&DrbMarker> {
        let index = index(drb)?;
        if index == usize::from(self.first_index) {
            return self.first.as_ref();
        }
        self.others.as_ref()?.drbs[index].as_deref()
    }

    /// The marker of a DRB; a DRB that is not set up is counted.
    #[inline]
    fn marker(&mut self, drb: DrbId) -> Option<&mut DrbMarker> {
        let index = index(drb);
        let marker = match index {
            Some(index) if index == usize::from(self.first_index) => self.first.as_mut(),
            Some(index) => self.others.as_mut().and_then(|others| others.drbs[index].as_deref_mut()),
            None => None,
        };
        self.counters.unknown_drb += u64::from(marker.is_none());
        marker
    }

    /// The marker that keeps a flow. A connection that none keeps yet waits with the first one for its answer.
    fn keeper(&mut self, flow: FlowId) -> Option<&mut DrbMarker> {
        let place = self.markers().position(|marker| marker.keeps_flow(flow)).unwrap_or(0);
        self.markers().nth(place)
    }

    /// The DRB that carries a QoS flow keeps this flow from now on.
    fn gather(&mut self, now: Instant, qfi: u8, flow: FlowId) {
        let kept = self.markers().find_map(|marker| marker.release_flow(flow));
        let marker = carrier(&mut self.first, self.first_qfis, &mut self.others, qfi);
        if let (Some(kept), Some(marker)) = (kept, marker) {
            marker.adopt(now, kept);
        }
    }

    /// The marker of the DRB with this index.
    fn at(&mut self, index: usize) -> Option<&mut DrbMarker> {
        if index == usize::from(self.first_index) {
            return self.first.as_mut();
        }
        self.others.as_mut()?.drbs[index].as_deref_mut()
    }

    fn markers(&mut self) -> impl Iterator<Item = &mut DrbMarker> {
        markers(&mut self.first, &mut self.others)
    }
}

/// A UE's markers.
fn markers<'a>(
    first: &'a mut Option<DrbMarker>,
    others: &'a mut Option<Box<Others>>,
) -> impl Iterator<Item = &'a mut DrbMarker> {
    let others = others.iter_mut().flat_map(|others| others.drbs.iter_mut().flatten());
    first.iter_mut().chain(others.map(Box::as_mut))
}

/// The marker of the DRB that carries a QoS flow.
#[inline]
fn carrier<'a>(
    first: &'a mut Option<DrbMarker>,
    first_qfis: u64,
    others: &'a mut Option<Box<Others>>,
    qfi: u8,
) -> Option<&'a mut DrbMarker> {
    if qfi < 64 && first_qfis >> qfi & 1 == 1 {
        return first.as_mut();
    }
    let Others { carriers, drbs } = others.as_deref_mut()?;
    let carrier = *carriers.get(usize::from(qfi))?;
    drbs.get_mut(usize::from(carrier))?.as_deref_mut()
}

fn index(drb: DrbId) -> Option<usize> {
    (1..=DRBS as u8).contains(&drb.0).then(|| usize::from(drb.0) - 1)
}

/// A TCP header that was read.
struct Seen(Option<TcpView>);

impl Inspect for Seen {
    #[inline]
    fn tcp(&self) -> Option<TcpView> {
        self.0
    }
}
