//! Which bearer a packet takes: the UPF's packet detection rules give it a QoS flow, SDAP maps that to a bearer.

use std::collections::VecDeque;

use tidemark_core::{FlowId, Inspect, Packet};

use super::flow::{DrbConfig, PacketFilter};

/// Flows that are remembered for the way up.
const MOST_REFLECTED: usize = 256;

/// The rules of one UE. Bearers are numbered through the whole cell.
#[derive(Debug)]
pub(crate) struct Sdap {
    /// The default bearer.
    default: u32,
    filters: Vec<(PacketFilter, u32)>,
    /// QFI of each QoS flow and its bearer.
    flows: Vec<(u8, u32)>,
    /// Flows whose QoS flow is named.
    named: Vec<(FlowId, u32)>,
    /// Where a flow's last downlink packet went: its uplink goes there as well (reflective mapping, TS 37.324 5.3.2).
    reflected: VecDeque<(FlowId, u32)>,
}

impl Sdap {
    /// The default bearer is the first; `drbs` are the ones after it.
    pub(crate) fn new(default: u32, drbs: &[DrbConfig]) -> Self {
        let flows =
            || (default + 1..).zip(drbs).flat_map(|(drb, config)| config.qos_flow.iter().map(move |flow| (drb, flow)));
        let filters = flows().flat_map(|(drb, flow)| flow.filter.iter().map(move |filter| (filter.clone(), drb)));
        Self {
            default,
            filters: filters.collect(),
            flows: flows().map(|(drb, flow)| (flow.qfi, drb)).collect(),
            named: Vec::new(),
            reflected: VecDeque::new(),
        }
    }

    /// Names a flow's QoS flow; false if there is none with this QFI.
    pub(crate) fn name(&mut self, flow: FlowId, qfi: u8) -> bool {
        let found = self.flows.iter().find(|(known, _)| *known == qfi);
        self.named.extend(found.map(|(_, drb)| (flow, *drb)));
        found.is_some()
    }

    /// The bearer of a downlink packet.
    pub(crate) fn downlink<P: Inspect>(&mut self, packet: &Packet<P>) -> u32 {
        if self.flows.is_empty() {
            return self.default;
        }
        let named = self.named.iter().find(|(flow, _)| *flow == packet.flow).map(|(_, drb)| *drb);
        let drb = named.unwrap_or_else(|| {
            let found = self.filters.iter().find(|(filter, _)| filter.matches(packet));
            found.map_or(self.default, |(_, drb)| *drb)
        });
        match self.reflected.iter_mut().find(|(flow, _)| *flow == packet.flow) {
            Some(entry) => entry.1 = drb,
            None => {
                if self.reflected.len() == MOST_REFLECTED {
                    self.reflected.pop_front();
                }
                self.reflected.push_back((packet.flow, drb));
            }
        }
        drb
    }

    /// The bearer of a QoS flow.
    pub(crate) fn carrier(&self, qfi: u8) -> u32 {
        self.flows.iter().find(|(known, _)| *known == qfi).map_or(self.default, |(_, drb)| *drb)
    }

    /// The bearer of an uplink packet.
    pub(crate) fn uplink(&self, flow: FlowId) -> u32 {
        let known = self.named.iter().chain(&self.reflected).find(|(known, _)| *known == flow);
        known.map_or(self.default, |(_, drb)| *drb)
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Ecn};

    use super::*;
    use crate::qos::{EcnField, QosFlowConfig};

    fn sdap() -> Sdap {
        let filter = vec![PacketFilter { ecn: vec![EcnField::Ect1, EcnField::Ce], protocol: None }];
        let l4s = QosFlowConfig { qfi: 2, five_qi: 80, filter, ..QosFlowConfig::default() };
        let named = QosFlowConfig { qfi: 5, ..QosFlowConfig::default() };
        let drb = |flow| DrbConfig { qos_flow: vec![flow], ..DrbConfig::default() };
        Sdap::new(10, &[drb(l4s), drb(named)])
    }
    fn packet(flow: u32, ecn: Ecn) -> Packet<()> {
        Packet { flow: FlowId(flow), size: Bytes(1), ecn, payload: () }
    }

    #[test]
    fn a_qos_flow_without_a_bearer_goes_to_the_default_one() {
        assert_eq!([1, 2, 5, 63].map(|qfi| sdap().carrier(qfi)), [10, 11, 12, 10]);
    }

    #[test]
    fn l4s_traffic_is_steered_to_its_own_bearer_and_its_answers_follow() {
        let mut sdap = sdap();
        assert_eq!(sdap.downlink(&packet(1, Ecn::Ect1)), 11);
        assert_eq!(sdap.downlink(&packet(2, Ecn::Ect0)), 10);
        assert_eq!([1, 2, 3].map(|flow| sdap.uplink(FlowId(flow))), [11, 10, 10]);
    }

    #[test]
    fn a_named_flow_takes_its_bearer_whatever_its_packets_say() {
        let mut sdap = sdap();
        assert!(sdap.name(FlowId(7), 5) && !sdap.name(FlowId(8), 6));
        assert_eq!(sdap.downlink(&packet(7, Ecn::Ect1)), 12);
        assert_eq!(sdap.uplink(FlowId(7)), 12);
    }

    #[test]
    fn however_many_flows_come_few_are_remembered() {
        let mut sdap = sdap();
        for flow in 0..10_000 {
            sdap.downlink(&packet(flow, Ecn::Ect1));
        }
        assert_eq!(sdap.reflected.len(), MOST_REFLECTED);
        assert_eq!((sdap.uplink(FlowId(9_999)), sdap.uplink(FlowId(0))), (11, 10));
    }
}
