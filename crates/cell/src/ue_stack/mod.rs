//! UE above its radio: QoS rules, SDUs that wait to be sent, RLC status reports, buffer status reports, and the content of blocks.
//!
//! The DU calls it at the UE's slots and timers, through its [`Port`](crate::du::Port). The receiving end of an uplink RLC entity belongs
//! to the gNB, but is stored here because both ends are one object (decision 17). In the same way the DU has the UE's receiving end of a
//! downlink entity. [`receiver`](UeStack::receiver) separates the gNB's end from the rest.

pub(crate) mod block;
pub(crate) mod buffer_status;
pub(crate) mod control;
pub(crate) mod group;
mod receiver;
mod sending;

use tidemark_core::{Bytes, FlowId, Inspect, Instant, Packet};

use crate::config::{RlcConfig, UeConfig};
use crate::index::{DrbIndex, UeDrbs};
use crate::qos::{Qos, UeSdap};
use crate::rlc::{Bearer, Overhead, Status};
use buffer_status::{BsrFormat, Groups, MAX_GROUPS};
use control::{Control, ControlQueue};
use group::{Group, groups};
pub(crate) use receiver::Receiver;
pub(crate) use sending::Prioritisation;

/// Stack of one UE, from SDAP to MAC.
pub(crate) struct UeStack<P> {
    drbs: UeDrbs,
    sdap: UeSdap,
    bearers: Vec<UplinkBearer<P>>,
    /// Logical channel groups, the most important first.
    groups: Vec<Group>,
    control: ControlQueue,
    format: BsrFormat,
}

/// Uplink of one bearer.
struct UplinkBearer<P> {
    /// RLC and PDCP entities, both ends.
    rlc: Bearer<P>,
    /// Rates that it is due, of which the gNB knows the same.
    qos: Qos,
}

impl<P: Inspect> UeStack<P> {
    /// Sets up the bearers of a UE.
    pub(crate) fn new(drbs: UeDrbs, config: &UeConfig, format: BsrFormat, prioritisation: Prioritisation) -> Self {
        let bearers = config.bearers().map(|bearer| {
            let mut qos = Qos::of_bearer(config.five_qi, bearer.qos_flows);
            qos.prioritise(prioritisation.bit_rate, prioritisation.bucket_size_duration);
            // The pacer is the gNB's.
            let rlc = RlcConfig { paced: false, ..bearer.rlc.clone() };
            UplinkBearer { rlc: Bearer::new(rlc, Overhead::of(bearer.rlc)), qos }
        });
        let bearers: Vec<_> = bearers.collect();
        Self {
            drbs,
            sdap: UeSdap::new(drbs.default_drb(), &config.drb),
            groups: groups(drbs.iter().zip(bearers.iter().map(|bearer| &bearer.qos))),
            bearers,
            control: ControlQueue::default(),
            format,
        }
    }

    /// SDAP entity, which maps the UE's packets to its bearers.
    pub(crate) fn sdap(&self) -> &UeSdap {
        &self.sdap
    }

    /// SDAP entity, to map with.
    pub(crate) fn sdap_mut(&mut self) -> &mut UeSdap {
        &mut self.sdap
    }

    /// DRB identity, from 1, of the bearer that carries a flow to the gNB.
    pub(crate) fn carries(&self, flow: FlowId) -> u8 {
        self.drbs.identity(self.sdap.carries(flow))
    }

    /// True if a bearer's queue has no room for a packet of this size.
    pub(crate) fn is_full(&self, drb: DrbIndex, size: Bytes) -> bool {
        self.bearer(drb).rlc.is_full(size)
    }

    /// Takes a packet of the IP stack into a bearer's queue; true if it is the first that waits there.
    pub(crate) fn push(&mut self, now: Instant, drb: DrbIndex, qfi: u8, packet: Packet<P>) -> bool {
        let rlc = &mut self.bearer_mut(drb).rlc;
        let is_first = !rlc.has_data();
        // No part asks for an uplink SN: in its place is the QFI, as in SDAP's header.
        rlc.push(now, now, u32::from(qfi), packet);
        is_first
    }

    /// Takes a message of RLC or MAC to the gNB: a status report of a downlink bearer or a bit rate query.
    pub(crate) fn push_control(&mut self, control: Control) {
        self.control.push(control);
    }

    /// Takes a status report of the gNB for a bearer.
    pub(crate) fn receive_status(&mut self, drb: DrbIndex, status: &Status) {
        self.bearer_mut(drb).rlc.handle_status(status);
    }

    /// Discards a packet that has waited in a bearer for longer than its discardTimer, and gives it.
    pub(crate) fn discard(&mut self, now: Instant, drb: DrbIndex, mut discarded: impl FnMut(Packet<P>)) {
        self.bearer_mut(drb).rlc.discard(now, |_, packet| discarded(packet));
    }

    /// Finds the logical channel group of the most important waiting data. A status report counts as its bearer. A query
    /// alone causes no request if the gNB knows of other data (TS 38.321 5.18.10).
    pub(crate) fn most_important(&self) -> Option<usize> {
        let has_data = |drb: &DrbIndex| self.bearer(*drb).rlc.has_data();
        let data = self.groups.iter().position(|group| group.drbs.iter().any(has_data));
        // Nothing is more important than the first group, and without control data is all there is.
        if data == Some(0) || self.control.octets() == 0 {
            return data;
        }
        let reporting = self.control.reporting();
        let status = reporting.filter_map(|drb| self.groups.iter().position(|group| group.drbs.contains(&drb)));
        Some(status.chain(data).min().unwrap_or(MAX_GROUPS - 1))
    }

    /// Bytes that wait, by logical channel group. Control counts as the most important.
    pub(crate) fn buffer_status(&self) -> Groups {
        let mut waiting = Groups::default();
        waiting[0] = self.control.octets();
        for (waiting, group) in waiting.iter_mut().zip(&self.groups) {
            *waiting += group.drbs.iter().map(|drb| u64::from(self.bearer(*drb).rlc.backlog())).sum::<u64>();
        }
        waiting
    }

    /// True if a bearer has something to send.
    pub(crate) fn has_data(&self, drb: DrbIndex) -> bool {
        self.bearer(drb).rlc.has_data()
    }

    /// Logical channel groups, the most important first, as RRC has told both ends.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// True if a bearer of a group has not had its guaranteed rate.
    pub(crate) fn is_owed(&mut self, now: Instant, group: usize) -> bool {
        let Self { drbs, bearers, groups, .. } = self;
        groups[group].drbs.iter().any(|drb| bearers[drbs.position(*drb)].qos.is_owed(now))
    }

    /// True if a bearer of a group has not had its maximum rate.
    pub(crate) fn may_send(&mut self, now: Instant, group: usize) -> bool {
        let Self { drbs, bearers, groups, .. } = self;
        groups[group].drbs.iter().any(|drb| bearers[drbs.position(*drb)].qos.may_send(now))
    }

    /// Gives the gNB's end of a bearer.
    pub(crate) fn receiver(&mut self, drb: DrbIndex) -> Receiver<'_, P> {
        Receiver::new(&mut self.bearer_mut(drb).rlc)
    }

    /// End of the next of a bearer's RLC and PDCP timers, those of the gNB's end included.
    pub(crate) fn next_timer(&self, now: Instant, drb: DrbIndex) -> Option<Instant> {
        self.bearer(drb).rlc.next_timer(now)
    }

    /// End of the discardTimer of the first SDU that waits in a bearer.
    pub(crate) fn discards_at(&self, drb: DrbIndex) -> Option<Instant> {
        self.bearer(drb).rlc.discards_at()
    }

    /// Moves to another cell: MAC is reset, RLC re-established, and packets that have not reached the old gNB in order wait again
    /// (TS 38.323 5.1.2). True if anything waits.
    pub(crate) fn re_establish(&mut self) -> bool {
        self.control = ControlQueue::default();
        let mut waits = false;
        for UplinkBearer { rlc, .. } in &mut self.bearers {
            for (qfi, came, packet) in rlc.re_establish() {
                rlc.push(came, came, qfi, packet);
                waits = true;
            }
        }
        waits
    }

    /// Packets in the bearers.
    pub(crate) fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.bearers.iter().flat_map(|bearer| bearer.rlc.packets())
    }

    fn bearer(&self, drb: DrbIndex) -> &UplinkBearer<P> {
        &self.bearers[self.drbs.position(drb)]
    }

    fn bearer_mut(&mut self, drb: DrbIndex) -> &mut UplinkBearer<P> {
        &mut self.bearers[self.drbs.position(drb)]
    }
}
