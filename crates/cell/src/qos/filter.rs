//! Packet filters (TS 23.501 5.7.6.2), which select the packets of a QoS flow.

use tidemark_core::{ConfigError, Ecn, Inspect, Packet, Selectors};

use super::selector::{PortRange, Prefix, Protocol, TrafficClass};

/// A rule: a packet that meets all conditions here belongs to the QoS flow, unless a rule with a lower precedence value
/// applies. In the downlink it is the UPF's packet detection rule, in the uplink the UE's QoS rule.
///
/// A fragment that is not the first has no ports, and a packet without a readable IP header has at most an ECN field. Neither
/// meets a filter with other conditions.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PacketFilter {
    /// Precedence value of the rule, 0 to 255. Of the rules that match, the one with the lowest value decides; of equals,
    /// the first. Default 255. Rules that a UE learns from its downlink packets (reflective QoS) have 80 (TS 24.501
    /// 9.11.4.13).
    pub precedence: u8,
    /// Direction of the packets. Default `bidirectional`.
    pub direction: FilterDirection,
    /// Addresses of the other end. Default: any.
    pub remote_address: Option<Prefix>,
    /// Addresses of the UE's end. Default: any.
    pub local_address: Option<Prefix>,
    /// The protocol above IP. Default: any.
    pub protocol: Option<Protocol>,
    /// Ports of the other end. Default: any.
    pub remote_port: Option<PortRange>,
    /// Ports of the UE's end. Default: any.
    pub local_port: Option<PortRange>,
    /// Type of service (IPv4) or traffic class (IPv6) under a mask. Default: any.
    pub traffic_class: Option<TrafficClass>,
    /// DSCPs that match, 0 to 63. Default: any.
    pub dscp: Vec<u8>,
    /// ECN fields that match, like a type-of-service value with mask 3 (TS 29.244 8.2.5). L4S traffic is `ect1` or `ce`.
    /// Default: any.
    pub ecn: Vec<EcnField>,
}

/// Direction of the packets to which a filter applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum FilterDirection {
    /// Packets to the UE.
    Downlink,
    /// Packets from the UE.
    Uplink,
    /// Packets of both directions.
    #[default]
    Bidirectional,
}

/// An ECN field by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EcnField {
    /// 00.
    NotEct,
    /// 01, L4S.
    Ect1,
    /// 10, classic.
    Ect0,
    /// 11, marked before.
    Ce,
}

/// Direction of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Down,
    Up,
}

impl Default for PacketFilter {
    fn default() -> Self {
        Self {
            precedence: u8::MAX,
            direction: FilterDirection::default(),
            remote_address: None,
            local_address: None,
            protocol: None,
            remote_port: None,
            local_port: None,
            traffic_class: None,
            dscp: Vec::new(),
            ecn: Vec::new(),
        }
    }
}

impl PacketFilter {
    /// Names the first field that cannot be used.
    pub(super) fn validate(&self) -> Result<(), ConfigError> {
        let error = |field, problem| Err(ConfigError::new(field, problem));
        let versions = self.remote_address.zip(self.local_address);
        if versions.is_some_and(|(remote, local)| remote.is_v6() != local.is_v6()) {
            return error("local_address", "must be of the same IP version as `remote_address`");
        }
        if self.protocol.is_some_and(|protocol| !protocol.has_ports()) {
            let right = "needs a `protocol` with ports: tcp, udp, sctp, 33 (DCCP) or 136 (UDP-Lite)";
            for (field, port) in [("remote_port", &self.remote_port), ("local_port", &self.local_port)] {
                if port.is_some() {
                    return error(field, right);
                }
            }
        }
        if self.dscp.iter().any(|dscp| *dscp > 63) {
            return Err(ConfigError::of_value("dscp", "must be 0 to 63: six bits, without the ECN field"));
        }
        Ok(())
    }

    pub(super) fn matches<P: Inspect>(&self, way: Way, packet: &Packet<P>) -> bool {
        let looks = match way {
            Way::Down => self.direction != FilterDirection::Uplink,
            Way::Up => self.direction != FilterDirection::Downlink,
        };
        let wanted = |field: &EcnField| match field {
            EcnField::NotEct => packet.ecn == Ecn::NotEct,
            EcnField::Ect1 => packet.ecn == Ecn::Ect1,
            EcnField::Ect0 => packet.ecn == Ecn::Ect0,
            EcnField::Ce => packet.ecn == Ecn::Ce,
        };
        looks
            && (self.ecn.is_empty() || self.ecn.iter().any(wanted))
            && (!self.reads_headers()
                || packet.payload.selectors().is_some_and(|read| self.agrees(way, packet.ecn, &read)))
    }

    /// True if more than the ECN field is asked for.
    fn reads_headers(&self) -> bool {
        self.remote_address.is_some()
            || self.local_address.is_some()
            || self.protocol.is_some()
            || self.remote_port.is_some()
            || self.local_port.is_some()
            || self.traffic_class.is_some()
            || !self.dscp.is_empty()
    }

    fn agrees(&self, way: Way, ecn: Ecn, read: &Selectors) -> bool {
        let ends = |(source, destination)| match way {
            Way::Down => (source, destination),
            Way::Up => (destination, source),
        };
        let (remote, local) = match way {
            Way::Down => (read.source, read.destination),
            Way::Up => (read.destination, read.source),
        };
        let ports = read.ports.map(ends);
        let port = |range: Option<PortRange>, port: Option<u16>| {
            range.is_none_or(|range| port.is_some_and(|port| range.contains(port)))
        };
        self.remote_address.is_none_or(|prefix| prefix.contains(remote))
            && self.local_address.is_none_or(|prefix| prefix.contains(local))
            && self.protocol.is_none_or(|protocol| protocol.0 == read.protocol)
            && port(self.remote_port, ports.map(|(remote, _)| remote))
            && port(self.local_port, ports.map(|(_, local)| local))
            && self.traffic_class.is_none_or(|class| class.matches(read.dscp.0 << 2 | ecn.bits()))
            && (self.dscp.is_empty() || self.dscp.contains(&read.dscp.0))
    }
}

#[cfg(test)]
mod tests {
    use std::net::IpAddr;

    use tidemark_core::{Bytes, Dscp, FlowId};

    use super::*;

    /// A packet with headers.
    #[derive(Clone)]
    struct Read(Selectors);
    impl Inspect for Read {
        fn selectors(&self) -> Option<Selectors> {
            Some(self.0)
        }
    }

    const DOWN: Selectors = Selectors {
        source: IpAddr::V4(std::net::Ipv4Addr::new(203, 0, 113, 9)),
        destination: IpAddr::V4(std::net::Ipv4Addr::new(10, 45, 0, 2)),
        protocol: 17,
        ports: Some((443, 50_000)),
        dscp: Dscp(46),
    };

    fn packet<P>(ecn: Ecn, payload: P) -> Packet<P> {
        Packet { flow: FlowId(0), size: Bytes(100), ecn, payload }
    }
    /// The answer to a downlink packet.
    fn up(down: Selectors) -> Selectors {
        let ports = down.ports.map(|(source, destination)| (destination, source));
        Selectors { source: down.destination, destination: down.source, ports, ..down }
    }

    #[test]
    fn l4s_packets_are_known_by_their_ecn_field() {
        let filter = PacketFilter { ecn: vec![EcnField::Ect1, EcnField::Ce], ..PacketFilter::default() };
        let matches = |filter: &PacketFilter, ecn| filter.matches(Way::Down, &packet(ecn, ()));
        assert!(matches(&filter, Ecn::Ect1) && matches(&filter, Ecn::Ce));
        assert!(!matches(&filter, Ecn::Ect0) && !matches(&filter, Ecn::NotEct));
        assert!(matches(&PacketFilter::default(), Ecn::NotEct));
        // Without headers there is no telling the protocol.
        let tcp = PacketFilter { protocol: Some(Protocol::TCP), ..filter };
        assert!(!matches(&tcp, Ecn::Ect1));
    }

    #[test]
    fn each_component_selects_its_own_packets_in_both_directions() {
        let prefix = |text: &str| Some(text.parse::<Prefix>().unwrap());
        let ports = |text: &str| Some(text.parse::<PortRange>().unwrap());
        let class = |text: &str| Some(text.parse::<TrafficClass>().unwrap());
        let any = PacketFilter::default;
        type Spoil = fn(&mut Selectors);
        let cases: [(PacketFilter, Spoil); 7] = [
            (PacketFilter { remote_address: prefix("203.0.113.0/24"), ..any() }, |read| {
                read.source = "203.0.114.9".parse().unwrap();
            }),
            (PacketFilter { local_address: prefix("10.45.0.2"), ..any() }, |read| {
                read.destination = "10.45.0.3".parse().unwrap();
            }),
            (PacketFilter { protocol: Some(Protocol::UDP), ..any() }, |read| read.protocol = 6),
            (PacketFilter { remote_port: ports("440-450"), ..any() }, |read| read.ports = Some((451, 50_000))),
            (PacketFilter { local_port: ports("50000"), ..any() }, |read| read.ports = None),
            (PacketFilter { traffic_class: class("0xB8/0xFC"), ..any() }, |read| read.dscp = Dscp(0)),
            (PacketFilter { dscp: vec![45, 46], ..any() }, |read| read.dscp = Dscp(44)),
        ];
        for (filter, spoil) in cases {
            let mut other = DOWN;
            spoil(&mut other);
            for (way, right, wrong) in [(Way::Down, DOWN, other), (Way::Up, up(DOWN), up(other))] {
                let matches = |read| filter.matches(way, &packet(Ecn::Ect1, Read(read)));
                assert!(matches(right) && !matches(wrong), "{filter:?} {way:?}");
            }
        }
    }

    #[test]
    fn the_ecn_field_is_part_of_the_traffic_class() {
        let filter = PacketFilter { traffic_class: Some("0x01/0x03".parse().unwrap()), ..PacketFilter::default() };
        assert!(filter.matches(Way::Down, &packet(Ecn::Ect1, Read(DOWN))));
        assert!(!filter.matches(Way::Down, &packet(Ecn::Ce, Read(DOWN))));
    }

    #[test]
    fn a_filter_for_one_direction_overlooks_the_other() {
        let matches = |direction| {
            let filter = PacketFilter { direction, ..PacketFilter::default() };
            [Way::Down, Way::Up].map(|way| filter.matches(way, &packet(Ecn::NotEct, ())))
        };
        assert_eq!(matches(FilterDirection::Downlink), [true, false]);
        assert_eq!(matches(FilterDirection::Uplink), [false, true]);
        assert_eq!(matches(FilterDirection::Bidirectional), [true, true]);
    }

    #[test]
    fn each_field_that_fits_no_packet_is_named() {
        let any = PacketFilter::default;
        let v4 = Some("10.0.0.0/8".parse().unwrap());
        let v6 = Some("2001:db8::/32".parse().unwrap());
        let port = Some("53".parse().unwrap());
        for (wrong, field) in [
            (PacketFilter { remote_address: v4, local_address: v6, ..any() }, "local_address"),
            (PacketFilter { protocol: Some(Protocol(1)), remote_port: port, ..any() }, "remote_port"),
            (PacketFilter { protocol: Some(Protocol(50)), local_port: port, ..any() }, "local_port"),
            (PacketFilter { dscp: vec![46, 64], ..any() }, "dscp"),
        ] {
            assert_eq!(wrong.validate().unwrap_err().field(), field);
        }
        assert!(PacketFilter { remote_address: v6, remote_port: port, ..any() }.validate().is_ok());
    }
}
