//! SDAP (TS 37.324) maps packets to bearers, in the gNB for the downlink and in the UE for the uplink.

use tidemark_core::{FlowId, Inspect, Packet};

use super::filter::Way;
use super::flow::DrbConfig;
use super::recent::Recent;
use super::rules::{Mapped, Rules};
use crate::index::DrbIndex;

/// Precedence value of what a UE derives from downlink packets (TS 24.501 9.11.4.13).
const DERIVED: u8 = 80;

/// SDAP entity of a UE in the gNB, with the UPF's packet filters in front of it.
#[derive(Debug)]
pub(crate) struct Sdap {
    rules: Rules,
    /// Bearers of the flows' last packets.
    descended: Recent,
}

impl Sdap {
    /// The default bearer has the index `default`; `drbs` are the ones after it.
    pub(crate) fn new(default: DrbIndex, drbs: &[DrbConfig]) -> Self {
        Self { rules: Rules::new(default, drbs), descended: Recent::default() }
    }

    /// Names a flow's QoS flow; false if there is none with this QFI.
    pub(crate) fn name(&mut self, flow: FlowId, qfi: u8) -> bool {
        self.rules.name(flow, qfi)
    }

    /// Maps a packet.
    pub(crate) fn map<P: Inspect>(&mut self, packet: &Packet<P>) -> Mapped {
        if self.rules.is_empty() {
            return self.rules.default();
        }
        let filter = || self.rules.filter(Way::Down, packet).map(|(_, mapped)| mapped);
        let mapped = self.rules.named(packet.flow).or_else(filter).unwrap_or(self.rules.default());
        self.descended.put(packet.flow, mapped);
        mapped
    }

    /// Maps a packet with the QFI and RQI of the UPF.
    pub(crate) fn map_qos_flow(&mut self, flow: FlowId, (qfi, reflective): (u8, bool)) -> Mapped {
        let mapped = Mapped { reflective, ..self.rules.carrier(qfi) };
        self.descended.put(flow, mapped);
        mapped
    }

    /// The bearer that carries a flow.
    pub(crate) fn carries(&self, flow: FlowId) -> DrbIndex {
        self.rules.named(flow).or_else(|| self.descended.get(flow)).unwrap_or(self.rules.default()).drb
    }

    /// Flows that were forgotten for others.
    pub(crate) fn evicted(&self) -> u64 {
        self.descended.evicted()
    }
}

/// SDAP entity of a UE, with the UE's QoS rules in front of it.
#[derive(Debug)]
pub(crate) struct UeSdap {
    rules: Rules,
    /// QoS flow of a flow's last downlink packet with the RQI.
    reflected: Recent,
    /// Bearers of the flows' last packets.
    ascended: Recent,
}

impl UeSdap {
    /// The default bearer has the index `default`; `drbs` are the ones after it.
    pub(crate) fn new(default: DrbIndex, drbs: &[DrbConfig]) -> Self {
        Self { rules: Rules::new(default, drbs), reflected: Recent::default(), ascended: Recent::default() }
    }

    /// Names a flow's QoS flow; false if there is none with this QFI.
    pub(crate) fn name(&mut self, flow: FlowId, qfi: u8) -> bool {
        self.rules.name(flow, qfi)
    }

    /// Derives a rule from a downlink packet with the RQI (TS 23.501 5.7.5).
    pub(crate) fn reflect(&mut self, flow: FlowId, mapped: Mapped) {
        self.reflected.put(flow, mapped);
    }

    /// Derives a rule from a downlink packet without SDAP header: its answers take its bearer.
    pub(crate) fn reflect_bearer(&mut self, flow: FlowId, drb: DrbIndex) {
        self.reflect(flow, self.rules.first_of(drb));
    }

    /// Maps a packet.
    pub(crate) fn map<P: Inspect>(&mut self, packet: &Packet<P>) -> Mapped {
        let filter = self.rules.filter(Way::Up, packet);
        let first = filter.filter(|(precedence, _)| *precedence < DERIVED).map(|(_, mapped)| mapped);
        let mapped = self
            .rules
            .named(packet.flow)
            .or(first)
            .or_else(|| self.reflected.get(packet.flow))
            .or(filter.map(|(_, mapped)| mapped))
            .unwrap_or(self.rules.default());
        // Without rules every flow has the default bearer, and none has to be remembered.
        if !self.rules.is_empty() {
            self.ascended.put(packet.flow, mapped);
        }
        mapped
    }

    /// The bearer that carries a flow.
    pub(crate) fn carries(&self, flow: FlowId) -> DrbIndex {
        self.rules.named(flow).or_else(|| self.ascended.get(flow)).unwrap_or(self.rules.default()).drb
    }

    /// Flows that were forgotten for others.
    pub(crate) fn evicted(&self) -> u64 {
        self.reflected.evicted() + self.ascended.evicted()
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Ecn};

    use super::*;
    use crate::qos::{DEFAULT_QFI, EcnField, PacketFilter, QosFlowConfig};

    /// Ends of a UE's SDAP, each of which learns at once what the other maps.
    struct Ends {
        gnb: Sdap,
        ue: UeSdap,
    }
    impl Ends {
        fn new(default: u32, drbs: &[DrbConfig]) -> Self {
            Self { gnb: Sdap::new(DrbIndex(default), drbs), ue: UeSdap::new(DrbIndex(default), drbs) }
        }
        fn downlink(&mut self, packet: &Packet<()>) -> Mapped {
            let mapped = self.gnb.map(packet);
            self.reflect(packet.flow, mapped)
        }
        fn carrier(&mut self, flow: FlowId, qfi: u8, reflective: bool) -> Mapped {
            let mapped = self.gnb.map_qos_flow(flow, (qfi, reflective));
            self.reflect(flow, mapped)
        }
        fn reflect(&mut self, flow: FlowId, mapped: Mapped) -> Mapped {
            if mapped.reflective {
                self.ue.reflect(flow, mapped);
            }
            mapped
        }
        fn uplink(&mut self, packet: &Packet<()>) -> Mapped {
            self.ue.map(packet)
        }
        fn name(&mut self, flow: FlowId, qfi: u8) -> bool {
            self.gnb.name(flow, qfi) && self.ue.name(flow, qfi)
        }
    }

    fn l4s() -> PacketFilter {
        PacketFilter { ecn: vec![EcnField::Ect1, EcnField::Ce], ..PacketFilter::default() }
    }
    fn with(filters: Vec<PacketFilter>, others: Vec<PacketFilter>) -> Ends {
        let l4s = QosFlowConfig { qfi: 2, five_qi: 80, filter: filters, ..QosFlowConfig::default() };
        let named = QosFlowConfig { qfi: 5, filter: others, ..QosFlowConfig::default() };
        let drb = |flow| DrbConfig { qos_flow: vec![flow], ..DrbConfig::default() };
        Ends::new(10, &[drb(l4s), drb(named)])
    }
    fn sdap() -> Ends {
        with(vec![l4s()], Vec::new())
    }
    fn packet(flow: u32, ecn: Ecn) -> Packet<()> {
        Packet { flow: FlowId(flow), size: Bytes(1), ecn, payload: () }
    }

    #[test]
    fn a_qos_flow_without_a_bearer_goes_to_the_default_one_and_keeps_its_identifier() {
        let carrier = |qfi| sdap().carrier(FlowId(1), qfi, false);
        let mapped = [1, 2, 5, 63].map(carrier).map(|mapped| (mapped.qfi, mapped.drb.0));
        assert_eq!(mapped, [(1, 10), (2, 11), (5, 12), (63, 10)]);
    }

    #[test]
    fn what_the_upf_lets_a_ue_reflect_comes_back_in_its_qos_flow() {
        let mut sdap = sdap();
        sdap.carrier(FlowId(1), 5, true);
        sdap.carrier(FlowId(2), 5, false);
        assert_eq!([1, 2].map(|flow| sdap.uplink(&packet(flow, Ecn::NotEct)).qfi), [5, DEFAULT_QFI]);
    }

    #[test]
    fn l4s_traffic_is_steered_to_its_own_bearer_and_its_answers_follow() {
        let mut sdap = sdap();
        assert_eq!(
            sdap.downlink(&packet(1, Ecn::Ect1)),
            Mapped { qfi: 2, drb: DrbIndex(11), reflective: true, marked: true }
        );
        assert_eq!(
            sdap.downlink(&packet(2, Ecn::Ect0)),
            Mapped { qfi: 1, drb: DrbIndex(10), reflective: false, marked: true }
        );
        assert_eq!([1, 2, 3].map(|flow| sdap.uplink(&packet(flow, Ecn::NotEct)).drb.0), [11, 10, 10]);
        assert_eq!([1, 2, 3].map(|flow| sdap.gnb.carries(FlowId(flow)).0), [11, 10, 10]);
    }

    #[test]
    fn a_named_flow_takes_its_bearer_whatever_its_packets_say() {
        let mut sdap = sdap();
        assert!(sdap.name(FlowId(7), 5) && !sdap.name(FlowId(8), 6));
        assert_eq!(sdap.downlink(&packet(7, Ecn::Ect1)).drb.0, 12);
        assert_eq!(sdap.uplink(&packet(7, Ecn::Ect1)).drb.0, 12);
    }

    #[test]
    fn the_lower_precedence_value_decides_and_of_equals_the_first() {
        let any = |precedence| PacketFilter { precedence, ..PacketFilter::default() };
        let bearer = |first, second| with(vec![any(first)], vec![any(second)]).downlink(&packet(1, Ecn::Ect0)).drb.0;
        assert_eq!([bearer(9, 10), bearer(10, 9), bearer(9, 9)], [11, 12, 11]);
    }

    #[test]
    fn what_a_ue_derived_stands_between_rules_below_80_and_above() {
        let up = |precedence| {
            let filter = PacketFilter { precedence, ..l4s() };
            let answers = PacketFilter { ecn: vec![EcnField::NotEct], ..PacketFilter::default() };
            let mut sdap = with(vec![filter], vec![answers]);
            let fresh = sdap.uplink(&packet(1, Ecn::Ect1)).drb.0;
            // The answer, without ECN, comes in another QoS flow, which is reflected.
            sdap.downlink(&packet(1, Ecn::NotEct));
            let answered = sdap.uplink(&packet(1, Ecn::Ect1)).drb.0;
            assert_eq!(sdap.ue.carries(FlowId(1)).0, answered);
            (fresh, answered)
        };
        assert_eq!((up(79), up(81)), ((11, 11), (11, 12)));
    }

    #[test]
    fn without_the_rqi_nothing_is_derived_and_the_default_qos_flow_has_none() {
        let mut sdap = sdap();
        sdap.downlink(&packet(1, Ecn::NotEct));
        assert_eq!(sdap.uplink(&packet(1, Ecn::Ect1)).drb.0, 11, "feedback in the default flow draws no media into it");
        let l4s = QosFlowConfig { filter: vec![l4s()], reflective: false, ..QosFlowConfig::default() };
        let mut sdap = Ends::new(10, &[DrbConfig { qos_flow: vec![l4s], ..DrbConfig::default() }]);
        assert_eq!(sdap.downlink(&packet(1, Ecn::Ect1)).drb.0, 11);
        assert_eq!(sdap.uplink(&packet(1, Ecn::NotEct)).drb.0, 10);
    }

    #[test]
    fn however_many_flows_come_few_are_remembered_and_one_in_use_is_among_them() {
        let mut sdap = sdap();
        for flow in 0..10_000 {
            sdap.downlink(&packet(flow, Ecn::Ect1));
            sdap.uplink(&packet(flow, Ecn::NotEct));
            sdap.downlink(&packet(77_777, Ecn::Ect1));
        }
        assert_eq!([9_999, 77_777, 0].map(|flow| sdap.uplink(&packet(flow, Ecn::NotEct)).drb.0), [11, 11, 10]);
        // Of 10,000 downwards, as many derived and as many upwards 256 each are left, and one slot is the constant flow's.
        let evicted = sdap.gnb.evicted() + sdap.ue.evicted();
        assert!((29_220..=29_250).contains(&evicted), "{evicted}");
    }
}
