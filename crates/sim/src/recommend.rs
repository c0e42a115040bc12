//! Bit rate recommendations between a UE's modem and its applications.

use tidemark_cell::UeId;
use tidemark_core::{BitRate, Instant};
use tidemark_senders::SenderConfig;

use crate::modem;
use crate::simulation::{Event, Simulation};

impl Simulation<'_> {
    /// A recommendation reaches the modem of a UE, which reports it to the applications that share the logical channel. They
    /// share the rate equally and hand it on to their servers.
    pub(crate) fn recommend(&mut self, now: Instant, ue: UeId, octets: [u8; 3]) {
        let index = ue.0 as usize;
        let Some(multiplier) = self.multipliers[index] else { return };
        let Some((channel, line)) = modem::report(octets, multiplier) else { return };
        let Some(rate) = modem::heard(&line) else { return };
        self.ues[index].recommended(rate, self.scenario.counts(now));
        let listens = |flow: &&usize| {
            let flow = &self.flows[**flow];
            flow.ue == Some(ue) && flow.listens && self.network.logical_channel(ue, flow.id) == Some(channel)
        };
        let all: Vec<_> = (0..self.flows.len()).collect();
        let listening: Vec<_> = all.iter().filter(listens).copied().collect();
        let share = BitRate::from_bps(rate.as_bps() / listening.len().max(1) as u64);
        for flow in listening {
            self.flows[flow].client.endpoint.handle_recommendation(now, share);
            self.serve_client(now, flow);
        }
    }

    /// The applications of a UE ask for a recommendation; the modem sends a query unless a timer forbids it.
    pub(crate) fn query(&mut self, now: Instant, ue: UeId) {
        let channels = self.flows.iter().filter(|flow| flow.ue == Some(ue) && flow.listens);
        let mut channels: Vec<_> = channels.filter_map(|flow| self.network.logical_channel(ue, flow.id)).collect();
        channels.sort_unstable();
        channels.dedup();
        for channel in channels {
            let Some(octets) = modem::query(&modem::question(), channel) else { continue };
            let sent = self.network.query_bit_rate(now, ue, octets);
            self.ues[ue.0 as usize].asked(sent, self.scenario.counts(now));
        }
        if let Some(interval) = self.query_every[ue.0 as usize] {
            self.events.schedule(now + interval, Event::Query(ue));
        }
    }
}

/// True for senders that listen to recommendations.
pub(crate) fn listens(sender: &SenderConfig) -> bool {
    matches!(sender, SenderConfig::Anbr(_))
}
