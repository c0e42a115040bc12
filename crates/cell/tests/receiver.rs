//! Losses of receivers, in SNR.

use proptest::prelude::*;
use tidemark_cell::channel::{FixedConfig, StaticConfig, TraceConfig, TraceFormat};
use tidemark_cell::{Cell, CellConfig, ChannelConfig, Output, UeConfig, UeId, UplinkConfig};
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet};

use crate::sent::Sent;

/// Runs a cell for two seconds in which its UE is sent 1500 bytes each `down` and sends as much each `up`; gives what leaves.
fn outputs(channel: &ChannelConfig, loss_db: f64, [down, up]: [Duration; 2], seed: u64) -> Vec<String> {
    let uplink = UplinkConfig { receiver_loss_db: loss_db, ..UplinkConfig::default() };
    let mut cell = Cell::new(&CellConfig { uplink, ..CellConfig::default() }, seed).unwrap();
    let ue = UeConfig { channel: channel.clone(), receiver_loss_db: loss_db, ..UeConfig::default() };
    cell.add_ue(&ue).unwrap();
    let packet = |flow| Packet { flow: FlowId(flow), size: Bytes(1_500), ecn: Ecn::Ect1, payload: Sent::default() };
    let (mut out, mut next) = (Vec::new(), [Instant::ZERO; 2]);
    let end = Instant::from_millis(2_000);
    while next[0] < end {
        let at = next[0].min(next[1]);
        while let Some(now) = cell.next_deadline().filter(|deadline| *deadline <= at) {
            cell.handle_timeout(now);
            while let Some(output) = cell.poll_output() {
                out.push(format!("{output:?}"));
            }
        }
        if next[0] <= at {
            cell.handle_downlink(at, UeId(0), packet(0));
            next[0] += down;
        } else {
            cell.handle_uplink(at, UeId(0), packet(1));
            next[1] += up;
        }
    }
    out.push(format!("{:?}", cell.ue(end, UeId(0))));
    out
}

fn at(snr_db: f64) -> ChannelConfig {
    ChannelConfig::Static(StaticConfig { snr_db })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn a_loss_is_as_much_less_snr(
        snr_db in -4.0f64..30.0,
        loss_db in 0.0f64..6.0,
        down_us in 300u64..5_000,
        up_us in 1_000u64..9_000,
        seed in any::<u64>(),
    ) {
        let every = [down_us, up_us].map(Duration::from_micros);
        prop_assert_eq!(outputs(&at(snr_db), loss_db, every, seed), outputs(&at(snr_db - loss_db), 0.0, every, seed));
    }
}

/// Mbit/s to one saturated UE, its downlink alone.
fn capacity(snr_db: f64, loss_db: f64) -> f64 {
    let mut cell = Cell::new(&CellConfig::default(), 1).unwrap();
    let ue = UeConfig { channel: at(snr_db), receiver_loss_db: loss_db, ..UeConfig::default() };
    cell.add_ue(&ue).unwrap();
    let mut delivered = Bytes(0);
    let (warm, end) = (Instant::from_millis(1_000), Instant::from_millis(5_000));
    let mut tops = (0..5_000).map(Instant::from_millis).peekable();
    while let Some(top) = tops.next() {
        while cell.ue(top, UeId(0)).unwrap().queue.packets < 60 {
            let packet = Packet { flow: FlowId(0), size: Bytes(1_500), ecn: Ecn::NotEct, payload: Sent::default() };
            cell.handle_downlink(top, UeId(0), packet);
        }
        let until = tops.peek().copied().unwrap_or(end);
        while let Some(now) = cell.next_deadline().filter(|deadline| *deadline <= until) {
            cell.handle_timeout(now);
            while let Some(output) = cell.poll_output() {
                match output {
                    Output::Downlink { at, packet, .. } if at >= warm => delivered += packet.size,
                    _ => {}
                }
            }
        }
    }
    delivered.as_f64() * 8.0 / end.since(warm).as_secs_f64() / 1e6
}

#[test]
fn capacity_rises_with_the_snr_and_losses_are_free_at_the_highest_mcs() {
    let [whole, lossy] = [0.0, 2.0].map(|loss_db| [0.0, 6.0, 12.0, 18.0, 24.0].map(|snr_db| capacity(snr_db, loss_db)));
    assert!(whole.is_sorted() && lossy.is_sorted(), "{whole:?} {lossy:?}");
    let ratios = [0, 1, 2, 3, 4].map(|place| lossy[place] / whole[place]);
    // Two decibels are two fifths of the rate in noise, a tenth under 64QAM, and nothing above the table.
    assert!(ratios[0] < 0.75 && ratios.is_sorted(), "{ratios:?}");
    assert!((ratios[4] - 1.0).abs() < 1e-3, "{ratios:?}");
}

#[test]
fn what_was_measured_behind_the_receiver_loses_nothing_more() {
    let every = [Duration::from_millis(1), Duration::from_millis(8)];
    let trace = |column: &str, text: &str| {
        let mut config = TraceConfig {
            file: "trace".into(),
            format: Some(TraceFormat::Csv),
            column: Some(column.into()),
            ..TraceConfig::default()
        };
        config.read(text).unwrap();
        ChannelConfig::Trace(config)
    };
    let cqi = trace("cqi", "time_s,cqi\n0,7\n1,9\n");
    let fixed = ChannelConfig::Fixed(FixedConfig { rate: BitRate::from_mbps(20) });
    for channel in [cqi, fixed, trace("x_mbps", "time_s,x_mbps\n0,14\n1,20\n")] {
        assert_eq!(outputs(&channel, 0.0, every, 3), outputs(&channel, 4.0, every, 3), "{channel:?}");
    }
    // An SNR is reported of what comes in (TS 38.215 5.1.5): the receiver's loss is still to come.
    let snr = |snr_db: f64| trace("snr_db", &format!("time_s,snr_db\n0,{snr_db}\n"));
    assert_eq!(outputs(&snr(10.0), 4.0, every, 3), outputs(&snr(6.0), 0.0, every, 3));
    assert_ne!(outputs(&snr(10.0), 4.0, every, 3), outputs(&snr(10.0), 0.0, every, 3));
}
