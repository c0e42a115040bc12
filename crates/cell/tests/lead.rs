//! A scheduler that plans ahead: it costs delay and nothing else.

use std::collections::BTreeSet;

use proptest::prelude::*;
use tidemark_cell::channel::{FixedConfig, StaticConfig};
use tidemark_cell::{Cell, CellConfig, ChannelConfig, DelaySplit, Duplex, Output, RlcConfig, RlcMode, UeConfig, UeId};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};

use crate::sent::Sent;

const UE: UeId = UeId(0);

fn packet(number: u64, now: Instant, size: u64) -> Packet<Sent> {
    Packet { flow: FlowId(0), size: Bytes(size), ecn: Ecn::Ect1, payload: Sent { number, at: now, ..Sent::default() } }
}

fn cell(config: &CellConfig, snr_db: f64, mode: RlcMode, seed: u64) -> Cell<Sent> {
    let mut cell = Cell::new(config, seed).unwrap();
    let channel = ChannelConfig::Static(StaticConfig { snr_db });
    let rlc = RlcConfig { mode, ..RlcConfig::default() };
    cell.add_ue(&UeConfig { channel, rlc, ..UeConfig::default() }).unwrap();
    cell
}

fn with_lead(config: &CellConfig, lead: u64) -> CellConfig {
    CellConfig { scheduling_lead: Some(lead), ..config.clone() }
}

fn run(cell: &mut Cell<Sent>, until: Instant, mut each: impl FnMut(Output<Sent>)) {
    while let Some(now) = cell.next_deadline().filter(|at| *at <= until) {
        cell.handle_timeout(now);
        while let Some(output) = cell.poll_output() {
            each(output);
        }
    }
}

/// Delays of lone packets without errors, one every 50 ms and a little, so that they fall anywhere in a period.
fn lone(config: &CellConfig, up: bool) -> Vec<Duration> {
    let mut cell = cell(config, 40.0, RlcMode::Um, 1);
    let mut delays = Vec::new();
    for number in 0..1_000 {
        let now = Instant::ZERO + Duration::from_micros(50_005) * number;
        let mut keep = |output: Output<Sent>| match output {
            Output::Downlink { at, packet, .. } | Output::Uplink { at, packet, .. } => {
                delays.push(at.since(packet.payload.at));
            }
            other => panic!("{other:?}"),
        };
        match up {
            true => cell.handle_uplink(now, UE, packet(number, now, 100)),
            false => cell.handle_downlink(now, UE, packet(number, now, 100)),
        }
        run(&mut cell, now + Duration::from_millis(50), &mut keep);
        assert_eq!(cell.next_deadline(), None, "an idle cell has nothing to do");
    }
    delays
}

fn mean(delays: &[Duration]) -> Duration {
    delays.iter().fold(Duration::ZERO, |sum, delay| sum + *delay) / delays.len() as u64
}

#[test]
fn a_lone_packet_takes_the_lead_longer() {
    let fdd = CellConfig { duplex: Duplex::Fdd, ..CellConfig::default() };
    let before = lone(&with_lead(&fdd, 0), false);
    for lead in 1..=6 {
        let after = lone(&with_lead(&fdd, lead), false);
        assert!(before.iter().zip(&after).all(|(before, after)| *after == *before + fdd.slot() * lead), "{lead}");
    }
    // In TDD it comes to another place of the pattern: one by one more or less, in the mean over all places as much.
    let tdd = CellConfig::default();
    let before = lone(&with_lead(&tdd, 0), false);
    for lead in 1..=6 {
        let after = lone(&with_lead(&tdd, lead), false);
        assert_eq!(mean(&after), mean(&before) + tdd.slot() * lead, "{lead}");
    }
    assert_eq!(lone(&tdd, false), lone(&with_lead(&tdd, 5), false), "OCUDU's default in TDD");
    assert_eq!(lone(&fdd, false), lone(&with_lead(&fdd, 2), false), "and in FDD");
}

#[test]
fn a_grant_takes_the_lead_longer() {
    // Each packet is one request and one grant.
    let fdd = CellConfig { duplex: Duplex::Fdd, ..CellConfig::default() };
    let before = lone(&with_lead(&fdd, 0), true);
    for lead in 1..=6 {
        let after = lone(&with_lead(&fdd, lead), true);
        assert!(before.iter().zip(&after).all(|(before, after)| *after == *before + fdd.slot() * lead), "{lead}");
    }
}

#[test]
fn a_retransmission_is_planned_when_its_acknowledgement_was_received() {
    for (lead, harq_processing) in [(0, 4), (2, 4), (3, 4), (4, 4), (6, 4), (6, 12), (0, 0), (3, 0)] {
        let fdd = CellConfig {
            duplex: Duplex::Fdd,
            target_bler: 0.3,
            harq_processing,
            scheduling_lead: Some(lead),
            ..CellConfig::default()
        };
        let mut cell = cell(&fdd, 11.0, RlcMode::Am, 7);
        let mut waits = BTreeSet::new();
        for number in 0..1_000 {
            let now = Instant::from_millis(number);
            run(&mut cell, now, |output| match output {
                Output::Downlink { delay, .. } => drop(waits.insert(delay.harq)),
                other => panic!("{other:?}"),
            });
            cell.handle_downlink(now, UE, packet(number, now, 300));
        }
        // k1 is 4; what was heard in a slot is known when it is over.
        let round = fdd.slot() * (4 + harq_processing.max(1 + lead));
        assert_eq!(waits.iter().take(2).copied().collect::<Vec<_>>(), [Duration::ZERO, round], "lead {lead}");
    }
}

/// A UE whose queue is never empty, over a second: Mbit/s, share of first transmissions that fail, share of the resources used.
fn saturated(config: &CellConfig, snr_db: f64, seconds: u64) -> (f64, f64, f64) {
    let mut cell = cell(config, snr_db, RlcMode::Um, 1);
    let (mut delivered, warm, end) = (Bytes(0), Instant::from_millis(200), Instant::from_millis(200 + 1_000 * seconds));
    let mut before = (0, 0, 0);
    for ms in 0..200 + 1_000 * seconds {
        let now = Instant::from_millis(ms);
        let stats = cell.ue(now, UE).unwrap();
        if now <= warm {
            before = (stats.blocks, stats.failed_blocks, stats.resources);
        }
        for _ in stats.queue.packets..60 {
            cell.handle_downlink(now, UE, packet(0, now, 1_500));
        }
        run(&mut cell, now + Duration::from_millis(1), |output| match output {
            Output::Downlink { at, packet, .. } if at >= warm => delivered += packet.size,
            _ => {}
        });
    }
    let stats = cell.ue(end, UE).unwrap();
    let failed = (stats.failed_blocks - before.1) as f64 / (stats.blocks - before.0) as f64;
    let used = (stats.resources - before.2) as f64 / cell.resources_between(warm, end) as f64;
    (delivered.as_f64() * 8.0 / 1e6 / seconds as f64, failed, used)
}

/// HARQ processes that a whole round trip of a pattern takes.
fn processes(config: &CellConfig) -> usize {
    let pattern = config.tdd.as_bytes();
    let is = |slot: usize, letter| pattern[slot % pattern.len()] == letter;
    let from = |slot, letter| (slot..).find(|slot| is(*slot, letter)).unwrap();
    let downlink = |slot: &usize| !is(*slot, b'U');
    let processing = config.harq_processing.max(1 + config.scheduling_lead()) as usize;
    let round_trip = |slot| slot..from(slot + config.harq_k1 as usize, b'U') + processing;
    (0..pattern.len()).filter(downlink).map(|slot| round_trip(slot).filter(downlink).count()).max().unwrap()
}

/// Patterns of `D`s, perhaps an `S`, and `U`s, of 1 to 5 ms.
fn pattern() -> impl Strategy<Value = String> {
    let lengths = prop::sample::select(vec![2_usize, 4, 5, 8, 10]);
    lengths.prop_flat_map(|length| (1..length, any::<bool>(), Just(length))).prop_map(|(up, special, length)| {
        let special = usize::from(special && length - up > 1);
        "D".repeat(length - up - special) + &"S".repeat(special) + &"U".repeat(up)
    })
}

#[test]
fn where_blocks_fail_the_share_that_does_and_the_resources_stay() {
    // The rate need not: the outer loop hears later of what failed, and swings further around its target.
    for (duplex, tdd) in [(Duplex::Tdd, "DDDDDDDSUU"), (Duplex::Tdd, "DDDSU"), (Duplex::Fdd, "")] {
        let config = CellConfig { duplex, tdd: tdd.into(), ..CellConfig::default() };
        for snr_db in [6.0, 11.0, 16.0] {
            for lead in [0, 2, 4, 6] {
                let (_, failed, used) = saturated(&with_lead(&config, lead), snr_db, 4);
                assert!((0.09..0.11).contains(&failed), "{duplex:?} {tdd} {snr_db} dB, lead {lead}: {failed} fail");
                assert!(used > 0.95, "{duplex:?} {tdd} {snr_db} dB, lead {lead}: {used} of the resources");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn a_saturated_cell_carries_as_much_whatever_the_lead(tdd in pattern(), lead in 0u64..=6) {
        let config = CellConfig { tdd, ..CellConfig::default() };
        let [before, after] = [0, lead].map(|lead| saturated(&with_lead(&config, lead), 40.0, 1).0);
        let change = after / before - 1.0;
        if processes(&with_lead(&config, lead)) <= 16 {
            // A period of the pattern at either end of the second.
            prop_assert!(change.abs() < 0.01, "{before} and {after} Mbit/s");
        } else {
            prop_assert!(change < 0.01, "{before} and {after} Mbit/s: more than sixteen processes would be under way");
        }
    }

    #[test]
    fn nothing_is_lost_whatever_the_lead_and_parts_add_up(
        tdd in pattern(),
        lead in 0u64..=6,
        snr_db in 0.0f64..30.0,
        seed in any::<u64>(),
        gaps_us in prop::collection::vec(0u64..6_000, 1..300),
        outages in prop::collection::vec((0u64..300, 1u64..60, any::<bool>()), 0..4),
    ) {
        let config = with_lead(&CellConfig { tdd, target_bler: 0.2, harq_transmissions: 2, ..CellConfig::default() }, lead);
        let whole_run = || {
            let mut cell = cell(&config, snr_db, RlcMode::Am, seed);
            let mut down: Vec<(Instant, u64, Instant, DelaySplit)> = Vec::new();
            let mut up = 0;
            let mut now = Instant::ZERO;
            let mut each = |output: Output<Sent>| match output {
                Output::Downlink { at, packet, delay, .. } => down.push((at, packet.payload.number, packet.payload.at, delay)),
                Output::Uplink { .. } => up += 1,
                other => panic!("{other:?}"),
            };
            for (number, gap) in (0..).zip(&gaps_us) {
                now += Duration::from_micros(*gap);
                run(&mut cell, now, &mut each);
                for (_, length, leaves) in outages.iter().filter(|(at, ..)| *at == number) {
                    match leaves {
                        true => cell.hand_over(now, UE),
                        false => cell.interrupt(now, UE, Duration::from_millis(*length)),
                    }
                }
                cell.handle_downlink(now, UE, packet(number, now, 1_000));
                if number % 3 == 0 {
                    cell.handle_uplink(now, UE, packet(number, now, 200));
                }
            }
            run(&mut cell, now + Duration::from_secs(60), &mut each);
            (down, up, cell.next_deadline())
        };
        let (down, up, deadline) = whole_run();
        prop_assert_eq!(down.iter().map(|(_, number, ..)| *number).collect::<Vec<_>>(), (0..gaps_us.len() as u64).collect::<Vec<_>>());
        prop_assert_eq!(up, gaps_us.len().div_ceil(3));
        prop_assert_eq!(deadline, None);
        // A handover forgets when a packet came to the first cell.
        if !outages.iter().any(|(.., leaves)| *leaves) {
            prop_assert!(down.iter().all(|(at, _, sent, delay)| delay.total() == at.since(*sent)));
        }
        prop_assert_eq!(whole_run(), (down, up, deadline));
    }
}

#[test]
fn what_was_planned_into_an_outage_does_not_arrive_in_it_and_is_retransmitted() {
    let fixed = ChannelConfig::Fixed(FixedConfig { rate: BitRate::from_mbps(20) });
    for (lead, channel) in [(0, ChannelConfig::default()), (5, ChannelConfig::default()), (5, fixed)] {
        let config = with_lead(&CellConfig::default(), lead);
        let mut cell = Cell::new(&config, 1).unwrap();
        cell.add_ue(&UeConfig { channel, ..UeConfig::default() }).unwrap();
        (0..1_000).for_each(|number| cell.handle_downlink(Instant::ZERO, UE, packet(number, Instant::ZERO, 1_500)));
        let mut arrived = Vec::new();
        let mut each = |output: Output<Sent>| match output {
            Output::Downlink { at, packet, .. } => arrived.push((at, packet.payload.number)),
            other => panic!("{other:?}"),
        };
        let (begins, ends) = (Instant::from_millis(51), Instant::from_millis(151));
        run(&mut cell, begins, &mut each);
        cell.interrupt(begins, UE, ends.since(begins));
        run(&mut cell, Instant::from_millis(10_000), &mut each);
        let decoded = begins + config.slot() * 2;
        assert!(arrived.iter().all(|(at, _)| *at <= decoded || *at >= ends), "lead {lead}");
        assert!(arrived.iter().map(|(_, number)| *number).eq(0..1_000), "lead {lead}");
    }
}
