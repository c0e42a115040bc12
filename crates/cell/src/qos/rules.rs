//! Rules that map a packet to a QoS flow, and a QoS flow to a bearer. UE and network have the same rules.

use tidemark_core::{FlowId, Inspect, Packet};

use super::filter::{PacketFilter, Way};
use super::flow::{DrbConfig, QosFlowConfig};
use crate::index::DrbIndex;

/// QFI of the default QoS flow, on the default bearer.
pub const DEFAULT_QFI: u8 = 1;

/// A QoS flow and the bearer that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// QFI of the packet.
    pub qfi: u8,
    /// Bearer that carries it.
    pub drb: DrbIndex,
    /// True if downlink packets carry the RQI, so that answers take the same QoS flow (reflective QoS, TS 23.501 5.7.5).
    pub reflective: bool,
    /// True if the bearer's law may mark the packet.
    pub marked: bool,
}

/// Rules of one UE. Bearer indices are unique among all UEs of a cell.
#[derive(Debug)]
pub(super) struct Rules {
    /// Index of the default bearer.
    default: DrbIndex,
    /// Packet filters in the order of their precedence.
    filters: Vec<(PacketFilter, Mapped)>,
    /// QoS flows that have bearers of their own.
    flows: Vec<Mapped>,
    /// Flows whose QoS flow is named.
    named: Vec<(FlowId, Mapped)>,
}

impl Rules {
    /// Rules of a UE whose default bearer has the index `default`; `drbs` are the bearers after it.
    pub(super) fn new(default: DrbIndex, drbs: &[DrbConfig]) -> Self {
        let flows = || {
            let each = |(drb, config): (u32, &'_ DrbConfig)| (DrbIndex(drb), config.qos_flow.clone());
            let flows = (default.0 + 1..).zip(drbs).map(each);
            flows.flat_map(|(drb, flows)| flows.into_iter().map(move |flow| (drb, flow)))
        };
        let mapped = |drb, flow: &QosFlowConfig| {
            let QosFlowConfig { qfi, reflective, marked, .. } = *flow;
            Mapped { qfi, drb, reflective, marked }
        };
        let filters = flows().flat_map(|(drb, flow)| {
            let mapped = mapped(drb, &flow);
            flow.filter.into_iter().map(move |filter| (filter, mapped))
        });
        let mut filters: Vec<_> = filters.collect();
        filters.sort_by_key(|(filter, _)| filter.precedence);
        let flows = flows().map(|(drb, flow)| mapped(drb, &flow)).collect();
        Self { default, filters, flows, named: Vec::new() }
    }

    /// Sets the QoS flow of a flow; false if there is none with this QFI.
    pub(super) fn name(&mut self, flow: FlowId, qfi: u8) -> bool {
        let found = self.of_qfi(qfi);
        self.named.extend(found.map(|mapped| (flow, mapped)));
        found.is_some()
    }

    /// True if all packets take the default bearer.
    pub(super) fn is_empty(&self) -> bool {
        self.flows.is_empty()
    }

    /// Default QoS flow.
    pub(super) fn default(&self) -> Mapped {
        Mapped { qfi: DEFAULT_QFI, drb: self.default, reflective: false, marked: true }
    }

    /// QoS flow with this QFI; one without a bearer of its own takes the default bearer.
    pub(super) fn carrier(&self, qfi: u8) -> Mapped {
        self.of_qfi(qfi).unwrap_or(Mapped { qfi, ..self.default() })
    }

    /// First QoS flow of a bearer; for the default bearer this is the default QoS flow.
    pub(super) fn first_of(&self, drb: DrbIndex) -> Mapped {
        self.flows.iter().find(|flow| flow.drb == drb).copied().unwrap_or(self.default())
    }

    /// QoS flow that was set for a flow.
    pub(super) fn named(&self, flow: FlowId) -> Option<Mapped> {
        self.named.iter().find(|(known, _)| *known == flow).map(|(_, mapped)| *mapped)
    }

    /// First packet filter that a packet meets: its precedence and its mapping.
    pub(super) fn filter<P: Inspect>(&self, way: Way, packet: &Packet<P>) -> Option<(u8, Mapped)> {
        let met = self.filters.iter().find(|(filter, _)| filter.matches(way, packet));
        met.map(|(filter, mapped)| (filter.precedence, *mapped))
    }

    fn of_qfi(&self, qfi: u8) -> Option<Mapped> {
        self.flows.iter().find(|known| known.qfi == qfi).copied()
    }
}
