//! F1-U tunnels of the bearers, UE by UE: for each UE the default bearer first, then those of its scenario in their
//! order.

use tidemark_cell::{BearerId, DEFAULT_QFI, RlcConfig, UeConfig, UeId};
use tidemark_marker::{MarkerConfig, SnLength};
use tidemark_wire::pdcp;

/// Bearers of all UEs of a gNB, in the order of their tunnels.
#[derive(Clone, Debug)]
pub struct Bearers(Vec<Bearer>);

/// One bearer.
#[derive(Clone, Debug)]
pub(crate) struct Bearer {
    pub(crate) id: BearerId,
    /// QFIs of the bearer's QoS flows.
    pub(crate) qfis: Vec<u8>,
    /// Limit of the RLC queue, in bytes.
    pub(crate) queue: u32,
}

impl Bearer {
    /// Length of the SN in PDCP's headers.
    pub(crate) fn pdcp_sn(&self) -> pdcp::SnLength {
        match self.id.sn_length {
            SnLength::Bits12 => pdcp::SnLength::Bits12,
            SnLength::Bits18 => pdcp::SnLength::Bits18,
        }
    }
}

impl Bearers {
    /// Lists the bearers of these UEs.
    pub fn new(ues: &[UeConfig]) -> Self {
        let of_ue = |(ue, config): (u32, &'_ UeConfig)| {
            let bearers = (1..).zip(config.bearers()).map(move |(drb, bearer)| Bearer {
                id: BearerId { ue: UeId(ue), drb, sn_length: bearer.rlc.pdcp_sn },
                qfis: match bearer.qos_flows {
                    [] => vec![DEFAULT_QFI],
                    flows => flows.iter().map(|flow| flow.qfi).collect(),
                },
                queue: queue_limit(bearer.rlc),
            });
            bearers.collect::<Vec<_>>()
        };
        Self((0..).zip(ues).flat_map(of_ue).collect())
    }

    /// Number of bearers, and of tunnels that they need.
    #[expect(clippy::len_without_is_empty, reason = "a UE has at least one bearer")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Bearer of a tunnel.
    ///
    /// # Panics
    /// Without a tunnel of this index.
    pub(crate) fn of(&self, tunnel: usize) -> &Bearer {
        &self.0[tunnel]
    }

    /// Tunnel of the UE's bearer that carries this QoS flow: the default bearer's, if none does; `None` for an unknown UE.
    pub(crate) fn tunnel(&self, ue: UeId, qfi: u8) -> Option<usize> {
        let of_ue = || self.0.iter().enumerate().filter(|(_, bearer)| bearer.id.ue == ue);
        let carrier = of_ue().find(|(_, bearer)| bearer.qfis.contains(&qfi));
        carrier.or_else(|| of_ue().next()).map(|(tunnel, _)| tunnel)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Bearer> {
        self.0.iter()
    }
}

/// Laws of all UEs' bearers, in the order of their tunnels. A bearer without a law of its own has that of its UE.
pub fn laws(ues: &[UeConfig]) -> impl Iterator<Item = &MarkerConfig> {
    ues.iter().flat_map(UeConfig::bearers).map(|bearer| bearer.marker)
}

/// Limit of an RLC queue, in bytes; one that is limited in SDUs is taken to hold packets of 1500 bytes.
fn queue_limit(rlc: &RlcConfig) -> u32 {
    let bytes = rlc.queue_bytes.map_or(u64::from(rlc.queue_sdus) * 1_500, |bytes| bytes.0);
    u32::try_from(bytes).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use tidemark_cell::{DrbConfig, QosFlowConfig};
    use tidemark_core::Bytes;

    use super::*;

    #[test]
    fn tunnels_go_ue_by_ue_and_each_qos_flow_has_one() {
        let flow = |qfi| QosFlowConfig { qfi, ..QosFlowConfig::default() };
        let small = RlcConfig { queue_bytes: Some(Bytes(9_000)), ..RlcConfig::default() };
        let drbs = vec![
            DrbConfig { qos_flow: vec![flow(5), flow(6)], ..DrbConfig::default() },
            DrbConfig { qos_flow: vec![flow(7)], rlc: Some(small), ..DrbConfig::default() },
        ];
        let bearers = Bearers::new(&[UeConfig { drb: drbs, ..UeConfig::default() }, UeConfig::default()]);
        let listed: Vec<_> = bearers.iter().map(|bearer| (bearer.id.ue.0, bearer.id.drb, bearer.queue)).collect();
        let full = 16_384 * 1_500;
        assert_eq!(listed, [(0, 1, full), (0, 2, full), (0, 3, 9_000), (1, 1, full)]);
        assert_eq!([1, 5, 6, 7, 63].map(|qfi| bearers.tunnel(UeId(0), qfi)), [0, 1, 1, 2, 0].map(Some));
        assert_eq!([1, 5].map(|qfi| bearers.tunnel(UeId(1), qfi)), [3, 3].map(Some));
        assert_eq!(bearers.tunnel(UeId(2), 1), None);
    }
}
