//! Configuration of QoS flows and of the bearers that carry them.

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Instant, Range, bounds};
use tidemark_marker::{Characteristics, KNOWN_FIVE_QIS, MarkerConfig};

use super::filter::PacketFilter;
use super::meter::Meter;
use crate::config::{RlcConfig, validate_uplink_marker};

/// A dedicated bearer besides a UE's default one, with the QoS flows that SDAP maps to it (TS 37.324).
#[derive(Clone, Debug, PartialEq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DrbConfig {
    /// RLC entity. Default: that of the UE's default bearer.
    pub rlc: Option<RlcConfig>,
    /// Marking law. Default: that of the policy for its first QoS flow, else that of the UE's default bearer.
    pub marker: Option<MarkerConfig>,
    /// Law by which the gNB marks the uplink packets of the bearer. Default: that of the UE; `none` switches it off.
    pub uplink_marker: Option<MarkerConfig>,
    /// QoS flows, at least one.
    pub qos_flow: Vec<QosFlowConfig>,
}

/// A QoS flow: the packets that belong to it, and their treatment.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<QosFlowConfig>))]
pub struct QosFlowConfig {
    /// QoS flow identifier. That of the default QoS flow, on the default bearer, is 1.
    pub qfi: u8,
    /// Standardised 5QI: 1 to 10, 65 to 67, 69 to 74, 76, 79, 80, 82 to 90. Default 9.
    pub five_qi: u8,
    /// Priority level, instead of that of the 5QI; the lower goes first.
    pub priority: Option<u8>,
    /// Guaranteed flow bit rate, required for a GBR 5QI and not allowed for others.
    pub gbr: Option<BitRate>,
    /// Maximum flow bit rate; packets beyond it wait. The flows of a bearer wait together, so either all of them have a maximum or none. Default:
    /// no maximum.
    pub mbr: Option<BitRate>,
    /// Packet filters, each a rule of its own. Default: none, for a QoS flow whose packets are chosen by `qfi` of a
    /// scenario's flow, or whose QFI comes from a UPF.
    pub filter: Vec<PacketFilter>,
    /// Reflective QoS: the UPF marks the flow's downlink packets with the RQI, so that answers come up in this QoS flow
    /// too (TS 23.501 5.7.5). Default true. Packets of the default QoS flow never have it. On N3 the RQI of each packet counts.
    pub reflective: bool,
    /// True if the bearer's law marks the flow's downlink packets, which the core requests by QoS flow (TS 23.501 5.37.3). Default true. False
    /// needs a law that decides on packets that arrive. Packets of a flow that is not marked still count in the queue, and the law can
    /// still drop them.
    pub marked: bool,
}

impl Default for QosFlowConfig {
    fn default() -> Self {
        Self {
            qfi: 2,
            five_qi: 9,
            priority: None,
            gbr: None,
            mbr: None,
            filter: Vec::new(),
            reflective: true,
            marked: true,
        }
    }
}

impl DrbConfig {
    /// Names the first field that cannot be used.
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if let Some(rlc) = &self.rlc {
            rlc.validate()?;
        }
        if let Some(marker) = &self.marker {
            marker.validate().map_err(|error| error.within("marker"))?;
        }
        self.uplink_marker.as_ref().map_or(Ok(()), validate_uplink_marker)?;
        if self.qos_flow.is_empty() {
            return Err(ConfigError::new("qos_flow", "a dedicated bearer carries at least one QoS flow"));
        }
        for (index, flow) in self.qos_flow.iter().enumerate() {
            flow.validate().map_err(|error| error.within(&format!("qos_flow.{index}")))?;
            if flow.mbr.is_some() != self.qos_flow[0].mbr.is_some() {
                let problem = "the flows of a bearer wait together: give each of them a maximum, or use another bearer for the others";
                return Err(ConfigError::new("mbr", problem).within(&format!("qos_flow.{index}")));
            }
        }
        Ok(())
    }
}

bounds! { QosFlowConfig {
    qfi: Range::between(2u8, 63).because("1 is the default QoS flow's"),
    priority: Range::between(1u8, 127).because("TS 23.501 5.7.3.3"),
    gbr: Range::above(BitRate::ZERO),
    mbr: Range::above(BitRate::ZERO),
    ..five_qi, filter, reflective, marked
} }

impl QosFlowConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        let error = |field, problem| Err(ConfigError::new(field, problem));
        self.check_bounds()?;
        let Some(characteristics) = Characteristics::of(self.five_qi) else {
            return Err(ConfigError::of_value("five_qi", KNOWN_FIVE_QIS));
        };
        if characteristics.is_gbr() != self.gbr.is_some() {
            return error("gbr", "is for a GBR 5QI (1 to 4, 82 to 90), and required there");
        }
        if let Some((gbr, mbr)) = self.gbr.zip(self.mbr).filter(|(gbr, mbr)| gbr > mbr) {
            return Err(ConfigError::new("mbr", format!("must be at least gbr, {gbr}")).found(mbr));
        }
        for (index, filter) in self.filter.iter().enumerate() {
            filter.validate().map_err(|error| error.within(&format!("filter.{index}")))?;
        }
        Ok(())
    }
}

/// Claims of a bearer's QoS flows on the scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Qos {
    /// 5QI of its first flow.
    pub(crate) five_qi: u8,
    /// Priority level of its most important flow.
    pub(crate) priority: u8,
    /// The least delay budget of its flows.
    pub(crate) delay_budget: Duration,
    /// Sum of their guaranteed rates.
    guaranteed: Option<Meter>,
    /// Sum of their maximum rates; `None` if one has no maximum.
    maximum: Option<Meter>,
    /// Bytes of an uplink block that more important bearers leave to it.
    prioritised: Option<Meter>,
}

impl Qos {
    /// Demands of a bearer with these QoS flows; without any it carries the default one, of this 5QI. All have been checked.
    pub(crate) fn of_bearer(five_qi: u8, flows: &[QosFlowConfig]) -> Self {
        if flows.is_empty() { Self::of_default_flow(five_qi) } else { Self::of_flows(flows) }
    }

    /// The default QoS flow's, of a 5QI that has been checked.
    pub(crate) fn of_default_flow(five_qi: u8) -> Self {
        let (priority, delay_budget) =
            Characteristics::of(five_qi).map_or((u8::MAX, Duration::ZERO), |row| (row.priority, row.delay_budget));
        Self { five_qi, priority, delay_budget, guaranteed: None, maximum: None, prioritised: None }
    }

    /// Gives the claims of a bearer's QoS flows, which have been checked.
    pub(crate) fn of_flows(flows: &[QosFlowConfig]) -> Self {
        let of = |flow: &QosFlowConfig| Characteristics::of(flow.five_qi);
        let priority = |flow: &QosFlowConfig| flow.priority.or(of(flow).map(|row| row.priority));
        let sum = |rates: Vec<BitRate>| BitRate::from_bps(rates.iter().map(|rate| rate.as_bps()).sum());
        let span = flows.iter().filter_map(of).map(|row| row.delay_budget).min().unwrap_or_default();
        let guaranteed: Vec<_> = flows.iter().filter_map(|flow| flow.gbr).collect();
        let maximum: Option<Vec<_>> = flows.iter().map(|flow| flow.mbr).collect();
        Self {
            five_qi: flows.first().map_or(0, |flow| flow.five_qi),
            priority: flows.iter().filter_map(priority).min().unwrap_or(u8::MAX),
            delay_budget: span,
            guaranteed: (!guaranteed.is_empty()).then(|| Meter::new(sum(guaranteed), span)),
            maximum: maximum.map(|rates| Meter::new(sum(rates), span)),
            prioritised: None,
        }
    }

    /// True if a rate is guaranteed.
    pub(crate) fn is_gbr(&self) -> bool {
        self.guaranteed.is_some()
    }
    /// True while the guaranteed rate is not reached.
    pub(crate) fn is_owed(&mut self, now: Instant) -> bool {
        self.guaranteed.as_mut().is_some_and(|meter| meter.has_credit(now))
    }
    /// True unless the maximum rate is reached.
    pub(crate) fn may_send(&mut self, now: Instant) -> bool {
        self.maximum.as_mut().is_none_or(|meter| meter.has_credit(now))
    }
    /// Sets its prioritised bit rate, with a bucket that holds the bytes of a `span` (TS 38.321 5.4.3.1).
    pub(crate) fn prioritise(&mut self, rate: BitRate, span: Duration) {
        self.prioritised = Some(Meter::new(rate, span));
    }
    /// Bytes that more important bearers must leave to it now.
    pub(crate) fn prioritised_bytes(&mut self, now: Instant) -> u32 {
        self.prioritised.as_mut().map_or(0, |meter| meter.left(now))
    }
    /// Counts sent bytes.
    pub(crate) fn sent(&mut self, bytes: u32) {
        if let Some(meter) = &mut self.prioritised {
            meter.use_up(bytes);
        }
        [&mut self.guaranteed, &mut self.maximum].into_iter().flatten().for_each(|meter| meter.sent(bytes));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_field_of_a_qos_flow_is_named() {
        let (mbps, any) = (BitRate::from_mbps, PacketFilter::default);
        let right = QosFlowConfig { qfi: 3, five_qi: 3, gbr: Some(mbps(5)), ..QosFlowConfig::default() };
        assert!(right.validate().is_ok());
        for (wrong, field) in [
            (QosFlowConfig { qfi: 1, ..right.clone() }, "qfi"),
            (QosFlowConfig { qfi: 64, ..right.clone() }, "qfi"),
            (QosFlowConfig { five_qi: 81, ..right.clone() }, "five_qi"),
            (QosFlowConfig { five_qi: 9, ..right.clone() }, "gbr"),
            (QosFlowConfig { gbr: None, ..right.clone() }, "gbr"),
            (QosFlowConfig { mbr: Some(mbps(4)), ..right.clone() }, "mbr"),
            (QosFlowConfig { priority: Some(0), ..right.clone() }, "priority"),
            (
                QosFlowConfig { filter: vec![PacketFilter { dscp: vec![64], ..any() }], ..right.clone() },
                "filter.0.dscp",
            ),
        ] {
            assert_eq!(wrong.validate().unwrap_err().field(), field);
        }
        let drb =
            DrbConfig { qos_flow: vec![right, QosFlowConfig { qfi: 0, ..Default::default() }], ..Default::default() };
        assert_eq!(drb.validate().unwrap_err().field(), "qos_flow.1.qfi");
        let limited = QosFlowConfig { mbr: Some(mbps(4)), ..QosFlowConfig::default() };
        let mixed = DrbConfig { qos_flow: vec![QosFlowConfig::default(), limited], ..DrbConfig::default() };
        assert_eq!(mixed.validate().unwrap_err().field(), "qos_flow.1.mbr");
        assert_eq!(DrbConfig::default().validate().unwrap_err().field(), "qos_flow");
    }

    #[test]
    fn a_bearer_has_the_priority_of_its_most_important_flow_and_the_sum_of_the_rates() {
        let flow = |five_qi, gbr, mbr| QosFlowConfig { five_qi, gbr, mbr, ..QosFlowConfig::default() };
        let mbps = |mbps| Some(BitRate::from_mbps(mbps));
        let mut qos = Qos::of_flows(&[flow(3, mbps(8), mbps(16)), flow(9, None, None)]);
        assert_eq!((qos.five_qi, qos.priority), (3, 30));
        // 8 Mbit/s over 50 ms; the second flow has no maximum, so the bearer has none.
        assert!(qos.is_owed(Instant::ZERO));
        qos.sent(50_000);
        assert!(!qos.is_owed(Instant::ZERO) && qos.may_send(Instant::ZERO));
        assert!(qos.is_owed(Instant::from_millis(1)));
        assert_eq!(Qos::of_default_flow(9).priority, 90);
    }
}
