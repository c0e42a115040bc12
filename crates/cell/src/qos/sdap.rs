//! Mapping of packets to bearers: packet filters give a packet its QoS flow, SDAP maps that to a bearer (TS 37.324).

use tidemark_core::{FlowId, Inspect, Packet};

use super::filter::{PacketFilter, Way};
use super::flow::DrbConfig;

/// QFI of the default QoS flow, on the default bearer.
pub const DEFAULT_QFI: u8 = 1;
/// Flows that are remembered in each direction: so many groups of so many.
const GROUPS: usize = 64;
const IN_GROUP: usize = 4;
/// Precedence value of what a UE derives from downlink packets (TS 24.501 9.11.4.13).
const DERIVED: u8 = 80;

/// A QoS flow and the bearer that carries it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mapped {
    /// QFI of the packet.
    pub qfi: u8,
    /// The bearer's number, from that of the UE's default one on.
    pub drb: u32,
}

/// The rules of one UE. A cell numbers the bearers of all of its UEs through.
#[derive(Debug)]
pub struct Sdap {
    /// The default bearer.
    default: u32,
    /// Rules in the order of their precedence.
    rules: Vec<(PacketFilter, Mapped)>,
    /// The QoS flows that have bearers of their own, and whether their packets carry the RQI.
    flows: Vec<(Mapped, bool)>,
    /// Flows whose QoS flow is named.
    named: Vec<(FlowId, Mapped)>,
    /// Bearer of a flow's last downlink packet with the RQI: its uplink goes there as well (reflective QoS, TS 23.501 5.7.5).
    reflected: Recent,
    /// Bearers of a flow's last downlink packet and of its last uplink packet.
    descended: Recent,
    ascended: Recent,
}

/// Flows of late and what they were mapped to. A flow has one group that it can be in, of which the one that was not used for longest gives
/// way.
#[derive(Debug)]
struct Recent {
    groups: Vec<[Option<(FlowId, Mapped)>; IN_GROUP]>,
    evicted: u64,
}

impl Default for Recent {
    fn default() -> Self {
        Self { groups: vec![[None; IN_GROUP]; GROUPS], evicted: 0 }
    }
}

impl Recent {
    fn put(&mut self, flow: FlowId, mapped: Mapped) {
        let group = &mut self.groups[Self::group(flow)];
        let known = group.iter().position(|entry| entry.is_some_and(|(known, _)| known == flow));
        let place = known.unwrap_or(IN_GROUP - 1);
        self.evicted += u64::from(known.is_none() && group[place].is_some());
        // The first was used last.
        group[place] = Some((flow, mapped));
        group[..=place].rotate_right(1);
    }
    fn get(&self, flow: FlowId) -> Option<Mapped> {
        let mut entries = self.groups[Self::group(flow)].iter().flatten();
        entries.find(|(known, _)| *known == flow).map(|(_, mapped)| *mapped)
    }
    /// Index by Fibonacci hashing, which spreads numbers that follow one another evenly.
    fn group(flow: FlowId) -> usize {
        (flow.0.wrapping_mul(0x9E37_79B9) >> (u32::BITS - GROUPS.ilog2())) as usize
    }
}

impl Sdap {
    /// The default bearer is the first; `drbs` are the ones after it.
    pub fn new(default: u32, drbs: &[DrbConfig]) -> Self {
        let flows = || {
            let each = |(drb, config): (u32, &'_ DrbConfig)| (drb, config.qos_flow.clone());
            (default + 1..).zip(drbs).map(each).flat_map(|(drb, flows)| flows.into_iter().map(move |flow| (drb, flow)))
        };
        let rules = flows().flat_map(|(drb, flow)| {
            let mapped = Mapped { qfi: flow.qfi, drb };
            flow.filter.into_iter().map(move |filter| (filter, mapped))
        });
        let mut rules: Vec<_> = rules.collect();
        rules.sort_by_key(|(filter, _)| filter.precedence);
        Self {
            default,
            rules,
            flows: flows().map(|(drb, flow)| (Mapped { qfi: flow.qfi, drb }, flow.reflective)).collect(),
            named: Vec::new(),
            reflected: Recent::default(),
            descended: Recent::default(),
            ascended: Recent::default(),
        }
    }

    /// Names a flow's QoS flow; false if there is none with this QFI.
    pub(crate) fn name(&mut self, flow: FlowId, qfi: u8) -> bool {
        let found = self.own(qfi).map(|(mapped, _)| mapped);
        self.named.extend(found.map(|mapped| (flow, mapped)));
        found.is_some()
    }

    /// Maps a downlink packet.
    pub fn downlink<P: Inspect>(&mut self, packet: &Packet<P>) -> Mapped {
        if self.flows.is_empty() {
            return self.default();
        }
        let rule = || self.rule(Way::Down, packet).map(|(_, mapped)| mapped);
        let mapped = self.named(packet.flow).or_else(rule).unwrap_or(self.default());
        let reflective = self.own(mapped.qfi).is_some_and(|(_, reflective)| reflective);
        self.descends(packet.flow, mapped, reflective);
        mapped
    }

    /// Maps a downlink packet that the UPF put into a QoS flow; one without a bearer of its own takes the default bearer.
    /// The UE reflects it if the UPF says so.
    pub(crate) fn carrier(&mut self, flow: FlowId, qfi: u8, reflective: bool) -> Mapped {
        let mapped = self.own(qfi).map_or(Mapped { qfi, drb: self.default }, |(mapped, _)| mapped);
        self.descends(flow, mapped, reflective);
        mapped
    }

    fn descends(&mut self, flow: FlowId, mapped: Mapped, reflective: bool) {
        self.descended.put(flow, mapped);
        if reflective {
            self.reflected.put(flow, mapped);
        }
    }

    /// Maps an uplink packet.
    pub(crate) fn uplink<P: Inspect>(&mut self, packet: &Packet<P>) -> Mapped {
        let rule = self.rule(Way::Up, packet);
        let first = rule.filter(|(precedence, _)| *precedence < DERIVED).map(|(_, mapped)| mapped);
        let mapped = self
            .named(packet.flow)
            .or(first)
            .or_else(|| self.reflected.get(packet.flow))
            .or(rule.map(|(_, mapped)| mapped))
            .unwrap_or(self.default());
        if !self.flows.is_empty() {
            self.ascended.put(packet.flow, mapped);
        }
        mapped
    }

    /// Flows that were forgotten for others.
    pub fn evicted(&self) -> u64 {
        self.reflected.evicted + self.descended.evicted + self.ascended.evicted
    }
    /// The bearer that carries a flow's downlink packets.
    pub(crate) fn carries_down(&self, flow: FlowId) -> u32 {
        self.named(flow).or_else(|| self.descended.get(flow)).unwrap_or(self.default()).drb
    }
    /// The bearer that carries a flow's uplink packets.
    pub(crate) fn carries_up(&self, flow: FlowId) -> u32 {
        self.named(flow).or_else(|| self.ascended.get(flow)).unwrap_or(self.default()).drb
    }

    fn default(&self) -> Mapped {
        Mapped { qfi: DEFAULT_QFI, drb: self.default }
    }
    /// The QoS flow with a bearer of its own that has this QFI, and whether its packets carry the RQI.
    fn own(&self, qfi: u8) -> Option<(Mapped, bool)> {
        self.flows.iter().find(|(known, _)| known.qfi == qfi).copied()
    }
    fn named(&self, flow: FlowId) -> Option<Mapped> {
        self.named.iter().find(|(known, _)| *known == flow).map(|(_, mapped)| *mapped)
    }
    /// The first rule that a packet meets: its precedence, and where it leads.
    fn rule<P: Inspect>(&self, way: Way, packet: &Packet<P>) -> Option<(u8, Mapped)> {
        let met = self.rules.iter().find(|(filter, _)| filter.matches(way, packet));
        met.map(|(filter, mapped)| (filter.precedence, *mapped))
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::{Bytes, Ecn};

    use super::*;
    use crate::qos::{EcnField, QosFlowConfig};

    fn l4s() -> PacketFilter {
        PacketFilter { ecn: vec![EcnField::Ect1, EcnField::Ce], ..PacketFilter::default() }
    }
    fn with(filters: Vec<PacketFilter>, others: Vec<PacketFilter>) -> Sdap {
        let l4s = QosFlowConfig { qfi: 2, five_qi: 80, filter: filters, ..QosFlowConfig::default() };
        let named = QosFlowConfig { qfi: 5, filter: others, ..QosFlowConfig::default() };
        let drb = |flow| DrbConfig { qos_flow: vec![flow], ..DrbConfig::default() };
        Sdap::new(10, &[drb(l4s), drb(named)])
    }
    fn sdap() -> Sdap {
        with(vec![l4s()], Vec::new())
    }
    fn packet(flow: u32, ecn: Ecn) -> Packet<()> {
        Packet { flow: FlowId(flow), size: Bytes(1), ecn, payload: () }
    }

    #[test]
    fn a_qos_flow_without_a_bearer_goes_to_the_default_one_and_keeps_its_identifier() {
        let carrier = |qfi| sdap().carrier(FlowId(1), qfi, false);
        let mapped = [1, 2, 5, 63].map(carrier).map(|mapped| (mapped.qfi, mapped.drb));
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
        assert_eq!(sdap.downlink(&packet(1, Ecn::Ect1)), Mapped { qfi: 2, drb: 11 });
        assert_eq!(sdap.downlink(&packet(2, Ecn::Ect0)), Mapped { qfi: 1, drb: 10 });
        assert_eq!([1, 2, 3].map(|flow| sdap.uplink(&packet(flow, Ecn::NotEct)).drb), [11, 10, 10]);
        assert_eq!([1, 2, 3].map(|flow| sdap.carries_down(FlowId(flow))), [11, 10, 10]);
    }

    #[test]
    fn a_named_flow_takes_its_bearer_whatever_its_packets_say() {
        let mut sdap = sdap();
        assert!(sdap.name(FlowId(7), 5) && !sdap.name(FlowId(8), 6));
        assert_eq!(sdap.downlink(&packet(7, Ecn::Ect1)).drb, 12);
        assert_eq!(sdap.uplink(&packet(7, Ecn::Ect1)).drb, 12);
    }

    #[test]
    fn the_lower_precedence_value_decides_and_of_equals_the_first() {
        let any = |precedence| PacketFilter { precedence, ..PacketFilter::default() };
        let bearer = |first, second| with(vec![any(first)], vec![any(second)]).downlink(&packet(1, Ecn::Ect0)).drb;
        assert_eq!([bearer(9, 10), bearer(10, 9), bearer(9, 9)], [11, 12, 11]);
    }

    #[test]
    fn what_a_ue_derived_stands_between_rules_below_80_and_above() {
        let up = |precedence| {
            let filter = PacketFilter { precedence, ..l4s() };
            let answers = PacketFilter { ecn: vec![EcnField::NotEct], ..PacketFilter::default() };
            let mut sdap = with(vec![filter], vec![answers]);
            let fresh = sdap.uplink(&packet(1, Ecn::Ect1)).drb;
            // The answer, without ECN, comes in another QoS flow, which is reflected.
            sdap.downlink(&packet(1, Ecn::NotEct));
            let answered = sdap.uplink(&packet(1, Ecn::Ect1)).drb;
            assert_eq!(sdap.carries_up(FlowId(1)), answered);
            (fresh, answered)
        };
        assert_eq!((up(79), up(81)), ((11, 11), (11, 12)));
    }

    #[test]
    fn without_the_rqi_nothing_is_derived_and_the_default_qos_flow_has_none() {
        let mut sdap = sdap();
        sdap.downlink(&packet(1, Ecn::NotEct));
        assert_eq!(sdap.uplink(&packet(1, Ecn::Ect1)).drb, 11, "feedback in the default flow draws no media into it");
        let l4s = QosFlowConfig { filter: vec![l4s()], reflective: false, ..QosFlowConfig::default() };
        let mut sdap = Sdap::new(10, &[DrbConfig { qos_flow: vec![l4s], ..DrbConfig::default() }]);
        assert_eq!(sdap.downlink(&packet(1, Ecn::Ect1)).drb, 11);
        assert_eq!(sdap.uplink(&packet(1, Ecn::NotEct)).drb, 10);
    }

    #[test]
    fn however_many_flows_come_few_are_remembered_and_one_in_use_is_among_them() {
        let mut sdap = sdap();
        for flow in 0..10_000 {
            sdap.downlink(&packet(flow, Ecn::Ect1));
            sdap.uplink(&packet(flow, Ecn::NotEct));
            sdap.downlink(&packet(77_777, Ecn::Ect1));
        }
        assert_eq!([9_999, 77_777, 0].map(|flow| sdap.uplink(&packet(flow, Ecn::NotEct)).drb), [11, 11, 10]);
        // Of 10,000 downwards, as many derived and as many upwards 256 each are left, and one place is the constant flow's.
        assert!((29_220..=29_250).contains(&sdap.evicted()), "{}", sdap.evicted());
    }

    #[test]
    fn as_many_flows_as_there_is_room_for_are_remembered_where_they_follow_one_another() {
        let mut recent = Recent::default();
        let mapped = Mapped { qfi: 2, drb: 11 };
        (0..200).for_each(|flow| recent.put(FlowId(flow), mapped));
        assert!((0..200).all(|flow| recent.get(FlowId(flow)) == Some(mapped)));
        assert_eq!(recent.evicted, 0);
    }
}
