//! Proportional fair in a cell gives two UEs what theory gives them.

use crate::saturated::rates;
use tidemark_cell::channel::{Channel, PedestrianConfig, Quality, StaticConfig};
use tidemark_cell::{CellConfig, ChannelConfig, Duplex, ProportionalFairConfig, SchedulerConfig};
use tidemark_core::{Duration, Instant, Stream};
use tidemark_radio::bler::Curve;
use tidemark_radio::mcs::McsTable;
use tidemark_radio::segmentation::CodeBlocks;

fn cell(scheduler: SchedulerConfig) -> CellConfig {
    // A report a millisecond and next to no errors, so that the channel is what the scheduler thinks it is: an outer loop that
    // aims at more learns one offset from the peaks that proportional fair serves, another from all that comes in turn. No special
    // slots: they carry little in many resources.
    let every = Duration::from_millis(1);
    CellConfig {
        scheduler,
        cqi_period: every,
        cqi_delay: Duration::ZERO,
        duplex: Duplex::Fdd,
        target_bler: 0.001,
        ..CellConfig::default()
    }
}
/// An average over many coherence times, which are 40 ms at walking speed.
fn proportional_fair() -> CellConfig {
    cell(SchedulerConfig::ProportionalFair(ProportionalFairConfig { window: Duration::from_secs(1) }))
}
const WARM_UP: Duration = Duration::from_secs(5);

#[test]
fn without_fading_the_resources_are_halved_and_rates_follow_the_channel() {
    let channels = [20.0, 5.0].map(|snr_db| ChannelConfig::Static(StaticConfig { snr_db }));
    let shared = rates(&proportional_fair(), &channels, WARM_UP, Duration::from_secs(10));
    for (ue, channel) in channels.iter().enumerate() {
        let alone = rates(&proportional_fair(), std::slice::from_ref(channel), WARM_UP, Duration::from_secs(10))[0].0;
        let (rate, share) = shared[ue];
        assert!((share - 0.5).abs() < 0.01, "UE {ue} has {share} of the resources");
        assert!((rate / alone - 0.5).abs() < 0.02, "UE {ue} has {} of what it has alone", rate / alone);
    }
}

/// The efficiencies that a UE's channel offers, sampled over its fading.
fn efficiencies(config: &ChannelConfig, ue: u32) -> Vec<f64> {
    let mut channel = Channel::new(config, CellConfig::default().band(), Stream::new(1, ue, "channel")).unwrap();
    // The cell's own thresholds, to a tenth of a dB: its blocks over the whole carrier have two or three of these.
    let blocks = CodeBlocks { count: 2, bits: 6_000.0 };
    let reported = McsTable::Qam64.cqi().map(|cqi| (Curve::of(cqi).threshold_db(blocks, 0.1), cqi.efficiency()));
    (0..4_000)
        .map(|sample| {
            let Quality::Snr(snr_db) = channel.at(Instant::from_millis(5_000 + 10 * sample)) else { unreachable!() };
            reported.iter().filter(|(threshold, _)| snr_db >= *threshold).fold(0.0, |_, (_, efficiency)| *efficiency)
        })
        .collect()
}

/// Proportional fair's rates for two independent channels, in parts of what round robin gives: what its average tends to as
/// its window grows (Kushner and Whiting, 2004), with draws in place of the channels' succession in time.
fn theory(offered: [&[f64]; 2]) -> [f64; 2] {
    let means = offered.map(|values| values.iter().sum::<f64>() / values.len() as f64);
    let mut stream = Stream::new(1, 0, "draws");
    let (slots, window) = (1_000_000, 10_000.0);
    let (mut averages, mut sums) = (means, [0.0; 2]);
    for slot in 0..slots {
        let rates = offered.map(|values| values[(stream.uniform() * values.len() as f64) as usize]);
        let chosen = usize::from(rates[1] / averages[1] > rates[0] / averages[0]);
        for ue in 0..2 {
            let served = if ue == chosen { rates[ue] } else { 0.0 };
            averages[ue] += (served - averages[ue]) / window;
            sums[ue] += if slot < slots / 2 { 0.0 } else { served };
        }
    }
    [0, 1].map(|ue| sums[ue] / f64::from(slots / 2) / (means[ue] / 2.0))
}

#[test]
fn over_fading_both_gain_on_round_robin_what_theory_says() {
    let channels = [14.0, 4.0].map(|snr_db| {
        ChannelConfig::Pedestrian(PedestrianConfig { snr_db, speed_kmh: 3.0, ..PedestrianConfig::default() })
    });
    let span = Duration::from_secs(40);
    let fair = rates(&proportional_fair(), &channels, WARM_UP, span);
    let turns = rates(&cell(SchedulerConfig::RoundRobin(Default::default())), &channels, WARM_UP, span);
    let offered = [0, 1].map(|ue| efficiencies(&channels[ue as usize], ue));
    let expected = theory([&offered[0], &offered[1]]);
    for ue in 0..2 {
        let gain = fair[ue].0 / turns[ue].0;
        assert!(expected[ue] > 1.08, "UE {ue}: the channel fades enough to tell: {}", expected[ue]);
        assert!((gain / expected[ue] - 1.0).abs() < 0.04, "UE {ue} gains {gain}, theory says {}", expected[ue]);
    }
}
