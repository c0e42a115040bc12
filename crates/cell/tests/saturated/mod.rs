//! A cell whose queues are never empty.

use tidemark_cell::{Cell, CellConfig, ChannelConfig, Output, RlcConfig, UeConfig, UeId};
use tidemark_core::{Bytes, Duration, Ecn, FlowId, Instant, Packet};

use crate::sent::Sent;

/// IP bytes a second that each UE gets, over `span` after `warm_up`, with its share of the resources.
pub fn rates(config: &CellConfig, channels: &[ChannelConfig], warm_up: Duration, span: Duration) -> Vec<(f64, f64)> {
    let mut cell = Cell::new(config, 1).unwrap();
    for channel in channels {
        let rlc = RlcConfig { queue_sdus: 131_072, ..RlcConfig::default() };
        // A channel's SNR is the decoder's.
        let ue = UeConfig { channel: channel.clone(), receiver_loss_db: 0.0, rlc, ..UeConfig::default() };
        cell.add_ue(&ue).unwrap();
    }
    let warm = Instant::ZERO + warm_up;
    let end = warm + span;
    let mut delivered = vec![Bytes(0); channels.len()];
    let mut resources = vec![0; channels.len()];
    for ue in 0..channels.len() as u32 {
        top_up(&mut cell, Instant::ZERO, ue);
    }
    while let Some(now) = cell.next_deadline().filter(|now| *now <= end) {
        if now < warm {
            (0..).zip(&mut resources).for_each(|(ue, used)| *used = cell.ue(now, UeId(ue)).unwrap().resources);
        }
        cell.handle_timeout(now);
        while let Some(output) = cell.poll_output() {
            let Output::Downlink { at, ue, packet, .. } = output else { panic!("{output:?}") };
            if at >= warm {
                delivered[ue.0 as usize] += packet.size;
            }
            if packet.flow == FIRST {
                top_up(&mut cell, at, ue.0);
            }
        }
    }
    let total = cell.resources_between(warm, end) as f64;
    (0..)
        .zip(delivered)
        .map(|(ue, bytes)| {
            let used = cell.ue(end, UeId(ue)).unwrap().resources - resources[ue as usize];
            (bytes.as_f64() / span.as_secs_f64(), used as f64 / total)
        })
        .collect()
}

/// The first packet of a batch; at its arrival the next batch comes.
const FIRST: FlowId = FlowId(1);
const OTHER: FlowId = FlowId(0);

fn top_up(cell: &mut Cell<Sent>, now: Instant, ue: u32) {
    for flow in std::iter::once(FIRST).chain([OTHER; 4_000]) {
        let packet = Packet { flow, size: Bytes(1_500), ecn: Ecn::NotEct, payload: Sent::default() };
        cell.handle_downlink(now, UeId(ue), packet);
    }
}
