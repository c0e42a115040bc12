//! Identical UEs with identical traffic in either direction.

use tidemark_cell::{Cell, CellConfig, Output, UeConfig, UeId};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, Stream};

use crate::sent::Sent;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Direction {
    Down,
    Up,
}

/// A constant rate for each UE.
#[derive(Clone, Copy, Debug)]
pub struct Traffic {
    pub direction: Direction,
    pub ues: u32,
    /// Mbit/s of each UE.
    pub mbps: f64,
    pub size: Bytes,
    /// Every packet comes at the time of all other UEs' packets; else at any time before the next does.
    pub in_phase: bool,
}

/// Outcome of one UE's packets.
#[derive(Clone, Copy, Debug)]
pub struct Outcome {
    pub mbps: f64,
    /// Mean of the delay, in ms: delays are whole slots and a constant, so that a median is one of a few values.
    pub delay_ms: f64,
}

/// End of the warm-up: later packets are counted.
const WARM_UP: Duration = Duration::from_millis(500);

/// Outcome over `span`.
pub fn run(config: &CellConfig, ue: &UeConfig, traffic: Traffic, span: Duration) -> Vec<Outcome> {
    let Traffic { direction, ues, mbps, size, in_phase } = traffic;
    let mut cell: Cell<Sent> = Cell::new(config, 1).unwrap();
    for _ in 0..ues {
        cell.add_ue(ue).unwrap();
    }
    let interval = BitRate::from_bps_f64(mbps * 1e6).time_to_send(size);
    let mut draws: Vec<_> = (0..ues).map(|ue| Stream::new(7, ue, "arrivals")).collect();
    let mut arrival = |ue: usize, number: u64| {
        let late = if in_phase { 0.0 } else { draws[ue].uniform() };
        Instant::ZERO + interval * number + interval.mul_f64(late)
    };
    let (warm, end) = (Instant::ZERO + WARM_UP, Instant::ZERO + WARM_UP + span);
    let mut next: Vec<_> = (0..ues as usize).map(|ue| (arrival(ue, 0), 0)).collect();
    let mut delays = vec![Vec::new(); ues as usize];
    loop {
        let (ue, at) = next.iter().map(|(at, _)| *at).enumerate().min_by_key(|(_, at)| *at).unwrap();
        while let Some(now) = cell.next_deadline().filter(|deadline| *deadline <= at.min(end)) {
            cell.handle_timeout(now);
            while let Some(output) = cell.poll_output() {
                match output {
                    Output::Downlink { at, ue, packet, .. } | Output::Uplink { at, ue, packet, .. } if at >= warm => {
                        delays[ue.0 as usize].push(at.since(packet.payload.at));
                    }
                    _ => {}
                }
            }
        }
        if at >= end {
            break;
        }
        let number = next[ue].1 + 1;
        next[ue] = (arrival(ue, number), number);
        let packet =
            Packet { flow: FlowId(ue as u32), size, ecn: Ecn::NotEct, payload: Sent { at, ..Sent::default() } };
        match direction {
            Direction::Down => cell.handle_downlink(at, UeId(ue as u32), packet),
            Direction::Up => cell.handle_uplink(at, UeId(ue as u32), packet),
        }
    }
    let outcome = |delays: Vec<Duration>| {
        let mbps = delays.len() as f64 * size.as_f64() * 8e-6 / span.as_secs_f64();
        Outcome { mbps, delay_ms: mean_ms(&delays) }
    };
    delays.into_iter().map(outcome).collect()
}

fn mean_ms(delays: &[Duration]) -> f64 {
    delays.iter().map(|delay| delay.as_millis_f64()).sum::<f64>() / delays.len() as f64
}

/// Jain's index of the rates: 1 where all are the same.
pub fn jain(outcomes: &[Outcome]) -> f64 {
    let rates = || outcomes.iter().map(|outcome| outcome.mbps);
    let sum = rates().sum::<f64>();
    sum * sum / rates().map(|rate| rate * rate).sum::<f64>() / outcomes.len() as f64
}
/// Gives the factor by which the greatest mean of the delay exceeds the least.
pub fn spread(outcomes: &[Outcome]) -> f64 {
    let delays = || outcomes.iter().map(|outcome| outcome.delay_ms);
    delays().fold(0.0, f64::max) / delays().fold(f64::MAX, f64::min) - 1.0
}
