//! Part of a gNB that a driver drives: all of it, or the DU alone.

use tidemark_cell::{Cell, DrbStats, Observer, Output, SplitDu, UeId, UeStats};
use tidemark_core::{ConfigError, FlowId, Instant, Packet};

use crate::control::{Change, Refusal};
use crate::core::{Core, Label};
use crate::datagram::Stamped;
use crate::driver::Plan;
use crate::f1u::F1u;

/// Part of a gNB between the devices of its UEs and a core or a CU.
pub(crate) enum Gnb {
    /// CU and DU.
    Whole(Box<Cell<Stamped>>),
    /// DU of a CU behind F1-U.
    Du(Box<SplitDu<Stamped>>),
}

/// Evaluates an expression for the part that a gNB is.
macro_rules! either {
    ($gnb:expr, $part:ident => $result:expr) => {
        match $gnb {
            Gnb::Whole($part) => $result,
            Gnb::Du($part) => $result,
        }
    };
}

impl Gnb {
    /// Makes the part that lies behind this core side, with its UEs; `observer` is shown its events.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub(crate) fn new(plan: &Plan, core: &Core, observer: Observer<Stamped>) -> Result<Self, ConfigError> {
        let mut gnb = match core {
            Core::F1u(_) => Self::Du(Box::new(SplitDu::new(&plan.cell, plan.seed)?)),
            Core::Tun(_) | Core::N3(_) => Self::Whole(Box::new(Cell::new(&plan.cell, plan.seed)?)),
        };
        for ue in &plan.ues {
            either!(&mut gnb, part => part.add_ue(ue))?;
        }
        either!(&mut gnb, part => part.observe(observer));
        Ok(gnb)
    }

    /// Takes a packet for a UE with the label that the core side gave it.
    pub(crate) fn handle_downlink(&mut self, now: Instant, ue: UeId, packet: Packet<Stamped>) {
        match (self, packet.payload.label) {
            (Self::Du(du), Label::Pdu { bearer, sn }) => du.handle_pdu(now, bearer, sn, packet),
            (Self::Whole(cell), Label::QosFlow { qfi, reflective }) => {
                cell.handle_qos_flow(now, ue, (qfi, reflective), packet);
            }
            (Self::Whole(cell), _) => cell.handle_downlink(now, ue, packet),
            (Self::Du(_), _) => unreachable!("F1-U brings PDUs"),
        }
    }

    /// Takes a packet of the IP stack of a UE.
    pub(crate) fn handle_uplink(&mut self, now: Instant, ue: UeId, packet: Packet<Stamped>) {
        either!(self, part => part.handle_uplink(now, ue, packet));
    }

    /// Passes the CU's requests for reports to a DU.
    pub(crate) fn handle_polls(&mut self, now: Instant, f1u: &F1u) {
        let Self::Du(du) = self else { return };
        while let Some(bearer) = f1u.next_poll() {
            du.handle_poll(now, bearer);
        }
    }

    /// Sends a DU's delivery statuses to its CU.
    pub(crate) fn send_reports(&mut self, f1u: &F1u) {
        let Self::Du(du) = self else { return };
        while let Some((bearer, status)) = du.poll_report() {
            f1u.report(bearer, &status);
        }
    }

    /// Time of the next event without a new packet; `FAR` if there is none.
    pub(crate) fn next_deadline(&self) -> Instant {
        either!(self, part => part.next_deadline()).unwrap_or(Instant::FAR)
    }

    /// Does what is due at `now`.
    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        either!(self, part => part.handle_timeout(now));
    }

    /// Takes out the next thing that left the gNB.
    pub(crate) fn poll_output(&mut self) -> Option<Output<Stamped>> {
        either!(self, part => part.poll_output())
    }

    /// Changes something.
    ///
    /// # Errors
    /// Reason why the change is refused.
    pub(crate) fn change(&mut self, now: Instant, change: Change) -> Result<(), Refusal> {
        match (self, change) {
            (Self::Whole(cell), Change::Marker(ue, config)) => cell.set_marker(now, ue, &config)?,
            (Self::Du(_), Change::Marker(..)) => return Err(Refusal::AtCu),
            (gnb, Change::Channel(ue, config)) => either!(gnb, part => part.set_channel(ue, &config))?,
            (gnb, Change::Outage(ue, span)) => either!(gnb, part => part.interrupt(now, ue, span)),
            (gnb, Change::Handover(ue)) => either!(gnb, part => part.hand_over(now, ue)),
            (gnb, Change::Query(ue, octets)) => {
                if !either!(gnb, part => part.query_bit_rate(now, ue, octets)) {
                    return Err(Refusal::Query);
                }
            }
        }
        Ok(())
    }

    /// State and counters of a UE; `None` if there is no such UE.
    pub(crate) fn ue(&self, now: Instant, ue: UeId) -> Option<UeStats> {
        either!(self, part => part.ue(now, ue))
    }

    /// Counters of a UE's bearers, the default one first; none if there is no such UE.
    pub(crate) fn bearers(&self, ue: UeId) -> Vec<DrbStats> {
        either!(self, part => part.bearers(ue).collect())
    }

    /// Bearer that carries a flow from its UE: the DRB identity, from 1; `None` if there is no such UE.
    pub(crate) fn carries_up(&self, ue: UeId, flow: FlowId) -> Option<u8> {
        either!(self, part => part.carries_up(ue, flow))
    }

    /// Resource blocks x symbols between two instants: of downlink and of uplink slots.
    pub(crate) fn resources_between(&self, from: Instant, to: Instant) -> (u64, u64) {
        either!(self, part => (part.resources_between(from, to), part.uplink_resources_between(from, to)))
    }
}
