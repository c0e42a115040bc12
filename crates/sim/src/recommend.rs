//! Bit rate recommendations between a UE's modem and its applications, and from routers that give them.

use tidemark_cell::UeId;
use tidemark_core::{BitRate, FlowId, Instant};
use tidemark_record::event::Event as Recorded;
use tidemark_senders::{CongestionControl as _, SenderConfig};
use tidemark_wire::mac::Direction;

use crate::flow::Flow;
use crate::modem;
use crate::shard::{Event, Shard};

impl Shard {
    /// A recommendation reaches the modem of a UE, which reports it to the applications that share the logical channel. They
    /// share the rate equally. One that downloads hands it on to its server; one that uploads sends by it.
    pub(crate) fn recommend(&mut self, now: Instant, ue: UeId, octets: [u8; 3], exact: Option<BitRate>) {
        let index = ue.0 as usize;
        let Some(multiplier) = self.ues[ue].multiplier else { return };
        let Some((channel, line)) = modem::report(octets, multiplier) else { return };
        let Some((rounded, direction)) = modem::received(&line) else { return };
        let rate = exact.unwrap_or(rounded);
        self.recorder.handle(now, Recorded::Recommended { ue: index, direction, channel, rate });
        let listens = |flow: &Flow| {
            flow.listens_to(direction) && self.cells.logical_channel(ue, flow.id, direction) == Some(channel)
        };
        let flows = self.ues[ue].flows.iter().copied();
        let listening: Vec<_> = flows.filter(|flow| listens(&self.flows[*flow])).collect();
        let share = BitRate::from_bps(rate.as_bps() / listening.len().max(1) as u64);
        for flow in listening {
            match direction {
                Direction::Downlink => {
                    self.flows[flow].client.endpoint.handle_recommendation(now, share);
                    self.serve_client(now, flow);
                }
                Direction::Uplink => {
                    self.flows[flow].server.endpoint.handle_recommendation(now, share);
                    self.serve_server(now, flow);
                }
            }
        }
    }

    /// A packet on its way down leaves a router, which may tell its flow an equal share of the link's rate.
    pub(crate) fn recommend_link(&mut self, now: Instant, router: usize, flow: FlowId) {
        let flow = flow.0 as usize;
        if !self.recommends[router] || !self.flows[flow].listens {
            return;
        }
        let listening = self.flows.iter().filter(|flow| flow.listens && flow.routers.contains(&router)).count();
        let share = BitRate::from_bps(self.routers[router].rate(now).as_bps() / listening.max(1) as u64);
        self.flows[flow].client.endpoint.handle_recommendation(now, share);
    }

    /// The applications of a UE ask for a recommendation; the modem sends a query, at the latest when a timer ends.
    pub(crate) fn query(&mut self, now: Instant, ue: UeId) {
        for direction in [Direction::Downlink, Direction::Uplink] {
            let flows = self.ues[ue].flows.iter().map(|flow| &self.flows[*flow]);
            let flows = flows.filter(|flow| flow.listens_to(direction));
            let channels = flows.filter_map(|flow| self.cells.logical_channel(ue, flow.id, direction));
            let mut channels: Vec<_> = channels.collect();
            channels.sort_unstable();
            channels.dedup();
            for channel in channels {
                let Some(octets) = modem::query(&modem::question(direction), channel) else { continue };
                let sent = self.cells.query_bit_rate(now, ue, octets);
                self.recorder.handle(now, Recorded::Queried { ue: ue.0 as usize, direction, sent });
            }
        }
        if let Some(interval) = self.ues[ue].query_every {
            self.events.schedule(now, now + interval, Event::Query(ue));
        }
    }
}

impl Flow {
    /// True if its end at the UE listens to recommendations of this direction.
    fn listens_to(&self, direction: Direction) -> bool {
        self.listens && self.uplink == (direction == Direction::Uplink)
    }
}

/// True for senders that listen to recommendations.
pub(crate) fn listens(sender: &SenderConfig) -> bool {
    sender.properties().recommended
}
