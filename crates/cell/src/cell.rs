//! The cell: CU-UP, F1-U, DU and UEs connected together.

mod control;
mod downlink;
mod handover;
mod state;
mod uplink;
mod upstream;

use tidemark_core::{ConfigError, FlowId, Inspect, Instant};

use crate::config::{CellConfig, UeConfig};
use crate::cu_up::CuUp;
use crate::du::{Du, Surroundings};
use crate::event::Observer;
use crate::f1u::{F1u, Pdu};
use crate::index::DrbIndex;
use crate::output::{Output, UeId};
pub use handover::Leaving;
use upstream::Upstream;

/// One NR cell: CU and DU of its gNB, and the radio side of its UEs.
///
/// The caller passes packets and the time in, and takes results from [`poll_output`](Self::poll_output). A cell with nothing to
/// send has no deadline and costs nothing.
pub struct Cell<P> {
    cu: CuUp,
    f1u: F1u<P>,
    du: Du<P>,
    around: Surroundings<P>,
}

impl<P: Inspect> Cell<P> {
    /// An empty cell. All its random numbers derive from `seed`.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn new(config: &CellConfig, seed: u64) -> Result<Self, ConfigError> {
        config.validate()?;
        let config = CellConfig { prbs: config.resource_blocks(), ..config.clone() };
        Ok(Self {
            cu: CuUp::new(seed),
            f1u: F1u::new(config.f1u.delay),
            du: Du::new(&config, seed)?,
            around: Surroundings::new(),
        })
    }

    /// Admits a UE.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn add_ue(&mut self, config: &UeConfig) -> Result<UeId, ConfigError> {
        let (id, first) = self.du.next_indices();
        self.add_ue_as(id, first, config)?;
        Ok(id)
    }
    /// Admits a UE under a unique index, from which its random numbers derive. Its bearers have indices from `first` on.
    pub(crate) fn add_ue_as(&mut self, id: UeId, first: DrbIndex, config: &UeConfig) -> Result<(), ConfigError> {
        config.validate()?;
        self.cu.add_ue(id, first, config)?;
        let (du, mut upstream) = self.split();
        // Nothing stays of a UE that was not admitted.
        du.add_ue(id, first, config, &mut upstream).inspect_err(|_| drop(self.cu.take_ue(id)))
    }

    /// Puts a flow of a UE into the QoS flow with this QFI, regardless of the packet filters, like a packet detection rule for its
    /// addresses and ports.
    ///
    /// # Errors
    /// The QFI, if there is no such QoS flow.
    pub fn name_qos_flow(&mut self, id: UeId, flow: FlowId, qfi: u8) -> Result<(), ConfigError> {
        let (Some(sdap), Some(ue)) = (self.cu.sdap_mut(id), self.around.ues.get_mut(id)) else { return Ok(()) };
        let known = sdap.name(flow, qfi) && ue.sdap_mut().name(flow, qfi);
        known.then_some(()).ok_or_else(|| ConfigError::new("qfi", "must be that of a QoS flow of the UE"))
    }

    /// Shows every event of the cell to `observer` from now on. It replaces the previous observer.
    pub fn observe(&mut self, observer: Observer<P>) {
        self.around.events.observe(observer);
    }

    /// Shows `observer` each [`Event::Decided`](crate::Event::Decided) of a mark or of a drop by a law, in addition to the observer of all
    /// events. Packets that pass cost nothing more.
    pub fn observe_signals(&mut self, observer: Observer<P>) {
        self.around.events.observe_signals(observer);
    }

    /// Time of the next event without a new packet; `None` if there is none.
    pub fn next_deadline(&self) -> Option<Instant> {
        let first = self.du.next_deadline().min(self.f1u.next_deadline());
        (first != Instant::FAR).then_some(first)
    }

    /// Handles all events that are due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        while let Some(Pdu { at, drb, sn, packet }) = self.f1u.poll_down(now) {
            let entered = Instant::ZERO + at.since(Instant::ZERO + self.f1u.delay());
            self.du.handle_pdu(now, entered, drb, sn, packet);
        }
        while let Some((drb, status)) = self.f1u.poll_up(now) {
            let bearer = self.du.queues().drb(drb).id();
            self.split().1.deliver_report(now, bearer, status);
        }
        let (du, mut upstream) = self.split();
        du.handle_timeout(now, &mut upstream);
    }

    /// The next output of the cell.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        self.around.outputs.pop_front()
    }
    pub(crate) fn has_output(&self) -> bool {
        !self.around.outputs.is_empty()
    }

    /// Splits the cell into the DU and the parts with which it communicates.
    fn split(&mut self) -> (&mut Du<P>, Upstream<'_, P>) {
        let Self { cu, f1u, du, around } = self;
        (du, Upstream { cu, f1u, around })
    }
}
