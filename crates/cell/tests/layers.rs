//! Promises of RLC, HARQ and the schedulers, seen from outside the cell.

use proptest::prelude::*;
use tidemark_cell::channel::{FixedConfig, StaticConfig};
use tidemark_cell::{
    Cell, CellConfig, ChannelConfig, DropReason, Duplex, Numbering, Output, RlcConfig, RlcMode, SchedulerConfig,
    UeConfig, UeId,
};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};

use crate::sent::Sent;

fn packet(number: u32, size: u64) -> Packet<Sent> {
    Packet {
        flow: FlowId(number % 3),
        size: Bytes(size),
        ecn: Ecn::Ect1,
        payload: Sent { number: number.into(), ..Sent::default() },
    }
}

fn drain(cell: &mut Cell<Sent>, until: Instant, mut each: impl FnMut(Output<Sent>)) {
    while let Some(now) = cell.next_deadline().filter(|at| *at <= until) {
        cell.handle_timeout(now);
        while let Some(output) = cell.poll_output() {
            each(output);
        }
    }
    while let Some(output) = cell.poll_output() {
        each(output);
    }
}

fn cell(mode: RlcMode, bler: f64, harq_transmissions: u32, seed: u64) -> (Cell<Sent>, UeId) {
    let config = CellConfig { target_bler: bler, harq_transmissions, ..CellConfig::default() };
    let mut cell = Cell::new(&config, seed).unwrap();
    let channel = ChannelConfig::Static(StaticConfig { snr_db: 9.0 });
    let ue = UeConfig { channel, rlc: RlcConfig { mode, ..RlcConfig::default() }, ..UeConfig::default() };
    let ue = cell.add_ue(&ue).unwrap();
    (cell, ue)
}

#[test]
fn a_retransmission_comes_after_k1_and_the_gnbs_processing() {
    for (harq_k1, harq_processing) in [(4, 4), (8, 4), (4, 12)] {
        let fdd =
            CellConfig { duplex: Duplex::Fdd, target_bler: 0.3, harq_k1, harq_processing, ..CellConfig::default() };
        let mut cell = Cell::<Sent>::new(&fdd, 7).unwrap();
        let channel = ChannelConfig::Static(StaticConfig { snr_db: 9.0 });
        let ue = cell.add_ue(&UeConfig { channel, ..UeConfig::default() }).unwrap();
        let mut waits = std::collections::BTreeSet::new();
        for number in 0..1_000 {
            let now = Instant::from_millis(u64::from(number));
            drain(&mut cell, now, |output| match output {
                Output::Downlink { delay, .. } => drop(waits.insert(delay.harq)),
                other => panic!("{other:?}"),
            });
            cell.handle_downlink(now, ue, packet(number, 300));
        }
        // None or some rounds, which in FDD wait for no uplink slot.
        let round = fdd.slot() * (harq_k1 + harq_processing);
        assert_eq!(waits.iter().take(2).copied().collect::<Vec<_>>(), [Duration::ZERO, round]);
        assert!(waits.iter().all(|wait| (wait.as_nanos() % round.as_nanos()) == 0), "{waits:?}");
    }
}

#[test]
fn pdcp_discards_what_waits_too_long_when_its_time_is_over_also_without_coverage() {
    let mut cell = Cell::<Sent>::new(&CellConfig::default(), 1).unwrap();
    let rlc = RlcConfig {
        discard_timer: Some(Duration::from_millis(100)),
        t_reordering: Some(Duration::from_millis(50)),
        queue_sdus: 150,
        ..RlcConfig::default()
    };
    let ue = cell.add_ue(&UeConfig { rlc, ..UeConfig::default() }).unwrap();
    cell.interrupt(Instant::ZERO, ue, Duration::from_millis(1_000));
    let (mut discarded, mut arrived) = (Vec::new(), Vec::new());
    for number in 0..2_000 {
        let now = Instant::from_millis(u64::from(number));
        drain(&mut cell, now, |output| match output {
            Output::Dropped { at, packet, reason, .. } => {
                // Dead ones make room: the queue is never full.
                assert_eq!(reason, DropReason::Discarded);
                discarded.push((at, packet.payload.number));
            }
            Output::Downlink { packet, .. } => arrived.push(packet.payload.number),
            other => panic!("{other:?}"),
        });
        cell.handle_downlink(now, ue, packet(number, 1_000));
    }
    assert!(discarded.iter().all(|(at, number)| *at == Instant::from_millis(*number + 100)));
    assert_eq!(discarded.len(), 901, "those of the first 900 ms");
    assert!(arrived.starts_with(&[901, 902]));
}

#[test]
fn am_delivers_every_packet_once_and_in_order_at_thirty_percent_block_errors() {
    // Without HARQ retransmissions all of them are RLC's to repair.
    let (mut cell, ue) = cell(RlcMode::Am, 0.3, 1, 7);
    let mut arrived = Vec::new();
    for number in 0..3_000 {
        let now = Instant::from_millis(u64::from(number));
        drain(&mut cell, now, |output| match output {
            Output::Downlink { packet, .. } => arrived.push(packet.payload.number),
            other => panic!("{other:?}"),
        });
        cell.handle_downlink(now, ue, packet(number, 100 + u64::from(number) % 1_400));
    }
    drain(&mut cell, Instant::from_millis(60_000), |output| match output {
        Output::Downlink { packet, .. } => arrived.push(packet.payload.number),
        other => panic!("{other:?}"),
    });
    let stats = cell.ue(Instant::from_millis(60_000), ue).unwrap();
    let share = stats.failed_blocks as f64 / stats.blocks as f64;
    assert!((0.25..0.35).contains(&share), "{share} of the blocks failed");
    assert!(stats.lost_blocks > 100);
    assert_eq!(arrived, (0..3_000).collect::<Vec<_>>());
    assert!(cell.next_deadline().is_none(), "an idle cell has nothing to do");
}

#[test]
fn unacknowledged_mode_loses_what_the_radio_loses_and_keeps_the_order() {
    let (mut cell, ue) = cell(RlcMode::Um, 0.3, 1, 7);
    let (mut arrived, mut lost) = (Vec::new(), 0);
    for number in 0..3_000 {
        cell.handle_downlink(Instant::from_millis(u64::from(number)), ue, packet(number, 1_000));
        drain(&mut cell, Instant::from_millis(u64::from(number)), |output| match output {
            Output::Downlink { packet, .. } => arrived.push(packet.payload.number),
            _ => lost += 1,
        });
    }
    drain(&mut cell, Instant::from_millis(60_000), |output| match output {
        Output::Downlink { packet, .. } => arrived.push(packet.payload.number),
        _ => lost += 1,
    });
    assert!(arrived.is_sorted() && arrived.windows(2).all(|pair| pair[0] < pair[1]));
    assert_eq!(arrived.len() + lost, 3_000);
    assert!((600..1_500).contains(&lost), "{lost} lost at 30 % block errors");
}

#[test]
fn harq_repairs_nearly_all_that_fails_first() {
    let (mut cell, ue) = cell(RlcMode::Um, 0.1, 4, 3);
    for number in 0..20_000u64 {
        cell.handle_downlink(Instant::ZERO + Duration::from_micros(700) * number, ue, packet(0, 1_400));
        drain(&mut cell, Instant::ZERO + Duration::from_micros(700) * number, |_| {});
    }
    let stats = cell.ue(Instant::from_millis(14_000), ue).unwrap();
    assert!(stats.failed_blocks > 500, "{}", stats.failed_blocks);
    // Energies of the same SNR add up to 3 dB: beyond the foot of the error curve.
    assert!(stats.lost_blocks * 1_000 < stats.failed_blocks, "{} of {}", stats.lost_blocks, stats.failed_blocks);
}

/// Megabits a second of saturated UEs over ten seconds.
fn saturate(scheduler: SchedulerConfig, channels: &[ChannelConfig]) -> Vec<f64> {
    let config = CellConfig { scheduler, ..CellConfig::default() };
    let mut cell = Cell::new(&config, 1).unwrap();
    let ues: Vec<_> = channels
        .iter()
        .map(|channel| cell.add_ue(&UeConfig { channel: channel.clone(), ..UeConfig::default() }).unwrap())
        .collect();
    for ms in 0..10_000 {
        let now = Instant::from_millis(ms);
        for ue in &ues {
            while cell.ue(now, *ue).unwrap().queue.packets < 60 {
                cell.handle_downlink(now, *ue, packet(0, 1_500));
            }
        }
        drain(&mut cell, now, |_| {});
    }
    let at = Instant::from_millis(10_000);
    ues.iter().map(|ue| cell.ue(at, *ue).unwrap().delivered.as_f64() * 8.0 / 10.0 / 1e6).collect()
}

#[test]
fn fair_schedulers_share_time_equally_and_max_rate_serves_the_best_ue_alone() {
    let fixed = |mbps| ChannelConfig::Fixed(FixedConfig { rate: BitRate::from_mbps(mbps) });
    let channels = [fixed(40), fixed(10)];
    // Each would have its rate alone; sharing time equally, half of it.
    for scheduler in
        [SchedulerConfig::RoundRobin(Default::default()), SchedulerConfig::ProportionalFair(Default::default())]
    {
        let rates = saturate(scheduler.clone(), &channels);
        assert!((rates[0] / 20.0 - 1.0).abs() < 0.03, "{scheduler:?} {rates:?}");
        assert!((rates[1] / 5.0 - 1.0).abs() < 0.03, "{scheduler:?} {rates:?}");
    }
    let rates = saturate(SchedulerConfig::MaxRate(Default::default()), &channels);
    assert!(rates[0] > 39.0 && rates[1] < 0.5, "{rates:?}");
}

#[test]
fn who_is_out_of_range_takes_nothing_and_comes_back_with_the_next_report() {
    let at = |snr_db| ChannelConfig::Static(StaticConfig { snr_db });
    let mut cell = Cell::new(&CellConfig::default(), 1).unwrap();
    // A pacer is the downlink's alone.
    let rlc = RlcConfig { numbering: Numbering::OnLeaving, paced: true, ..RlcConfig::default() };
    let ue = cell.add_ue(&UeConfig { channel: at(-20.0), rlc, ..UeConfig::default() }).unwrap();
    for _ in 0..20 {
        cell.handle_downlink(Instant::ZERO, ue, packet(0, 1_500));
        cell.handle_uplink(Instant::ZERO, ue, packet(1, 1_500));
    }
    drain(&mut cell, Instant::from_millis(500), |_| {});
    let stats = cell.ue(Instant::from_millis(500), ue).unwrap();
    assert_eq!((stats.cqi, stats.resources, stats.uplink.resources), (Some(0), 0, 0));
    cell.set_channel(ue, &at(22.0)).unwrap();
    let mut left = (0, 0);
    drain(&mut cell, Instant::from_millis(1_000), |output| match output {
        Output::Downlink { .. } => left.0 += 1,
        Output::Uplink { .. } => left.1 += 1,
        _ => {}
    });
    assert_eq!(left, (20, 20));
}

#[test]
fn sixteen_equal_ues_get_equal_rates_although_slots_and_ues_have_a_common_factor() {
    let rates = saturate(SchedulerConfig::RoundRobin(Default::default()), &vec![ChannelConfig::default(); 16]);
    let mean = rates.iter().sum::<f64>() / 16.0;
    assert!(rates.iter().all(|rate| (rate / mean - 1.0).abs() < 0.03), "{rates:?}");
    assert!((39.0..41.0).contains(&(mean * 16.0)), "{}", mean * 16.0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn whatever_comes_in_goes_out_is_dropped_or_is_held(
        arrivals in prop::collection::vec((0u64..4_000, 40u64..1_500, any::<bool>()), 1..400),
        (um, paced) in any::<(bool, bool)>(),
        queue_sdus in 1u32..60,
        snr_db in -5.0f64..30.0,
        seed in any::<u64>(),
        stop_ms in 0u64..400,
    ) {
        let mut cell = Cell::new(&CellConfig::default(), seed).unwrap();
        let mode = if um { RlcMode::Um } else { RlcMode::Am };
        let numbering = if paced { Numbering::OnLeaving } else { Numbering::OnArrival };
        let rlc = RlcConfig { mode, queue_sdus, numbering, paced, ..RlcConfig::default() };
        let channel = ChannelConfig::Static(StaticConfig { snr_db });
        let ue = cell.add_ue(&UeConfig { channel, rlc, ..UeConfig::default() }).unwrap();
        let (mut put_in, mut out) = (Bytes(0), Bytes(0));
        let mut now = Instant::ZERO;
        for (number, (gap_us, size, up)) in arrivals.into_iter().enumerate() {
            now += Duration::from_micros(gap_us);
            drain(&mut cell, now, |output| out += size_of_output(&output));
            put_in += Bytes(size);
            if up {
                cell.handle_uplink(now, ue, packet(number as u32, size));
            } else {
                cell.handle_downlink(now, ue, packet(number as u32, size));
            }
        }
        now += Duration::from_millis(stop_ms);
        drain(&mut cell, now, |output| out += size_of_output(&output));
        let held: Bytes = cell.packets().map(|packet| packet.size).sum();
        prop_assert_eq!(put_in, out + held);
    }
}

fn size_of_output<P>(output: &Output<P>) -> Bytes {
    match output {
        Output::Recommendation { .. } | Output::ShortCircuited { .. } => Bytes(0),
        Output::Downlink { packet, .. } | Output::Uplink { packet, .. } | Output::Dropped { packet, .. } => packet.size,
    }
}

#[test]
fn sixteen_harq_processes_fill_a_round_trip_of_sixteen_slots_and_no_longer_one() {
    // TS 38.214 5.1. In FDD acknowledgements wait for no slot, and nothing fails.
    let rate = |harq_k1, harq_processing| {
        let fdd = CellConfig { duplex: Duplex::Fdd, harq_k1, harq_processing, ..CellConfig::default() };
        let mut cell = Cell::<Sent>::new(&fdd, 7).unwrap();
        let channel = ChannelConfig::Static(StaticConfig { snr_db: 40.0 });
        let ue = cell.add_ue(&UeConfig { channel, ..UeConfig::default() }).unwrap();
        (0..10_000).for_each(|number| cell.handle_downlink(Instant::ZERO, ue, packet(number, 1_500)));
        let mut bytes = 0;
        // Ten times the longest round trip.
        drain(&mut cell, Instant::from_millis(640), |output| match output {
            Output::Downlink { packet, .. } => bytes += packet.size.0,
            other => panic!("{other:?}"),
        });
        bytes as f64
    };
    let full = rate(4, 4);
    let shares = [(8, 8), (16, 16), (64, 64)].map(|(k1, processing)| rate(k1, processing) / full);
    assert!(
        shares.iter().zip([1.0, 0.5, 0.125]).all(|(share, ideal)| (share / ideal - 1.0).abs() < 0.15),
        "{shares:?}"
    );
}
