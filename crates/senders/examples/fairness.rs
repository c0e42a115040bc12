//! Every pair of controllers over one bottleneck, as CSV: `cargo run --release -p tidemark-senders --example fairness`.
//! `results/draw` draws it.
//!
//! The link has 40 Mbit/s, and both round trips are 20 ms. The second flow begins 2 s after the first. Rates are measured from 30 s to 90
//! s.

#[path = "../tests/dumbbell/mod.rs"]
mod dumbbell;

use dumbbell::{Dumbbell, Queue};
use tidemark_core::{BitRate, Duration};
use tidemark_senders::app::BulkConfig;
use tidemark_senders::media::{
    Al4sConfig, AnbrConfig, AnbrRule, GccConfig, L4sCcConfig, MarkingScheme, PragueVideoConfig, RateLimits,
    Scream2021Config, ScreamConfig, ScreamV1Config, SdnL4sConfig, VideoConfig,
};
use tidemark_senders::{AppConfig, CongestionControl, SenderConfig, Transport};

const RATE: BitRate = BitRate::from_mbps(40);
const RTT: Duration = Duration::from_millis(20);
const WARM: Duration = Duration::from_secs(30);
const SPAN: Duration = Duration::from_secs(60);

/// Each controller by its name in the figure; true if it carries a video.
fn controllers() -> Vec<(&'static str, SenderConfig, bool)> {
    let is_video = |sender: &SenderConfig| matches!(sender.transport(), Transport::Rtp(_));
    let variants = SenderConfig::all().into_iter().flat_map(variants);
    variants.map(|(name, sender)| (name, sender.clone(), is_video(&sender))).collect()
}

/// Variants of a controller. One that is declared and not named here is drawn with its title and its defaults.
fn variants(sender: SenderConfig) -> Vec<(&'static str, SenderConfig)> {
    let rates =
        RateLimits { min: BitRate::from_kbps(500), initial: BitRate::from_mbps(2), max: BitRate::from_mbps(60) };
    let marking = Some(MarkingScheme { low: Duration::from_micros(800), high: Duration::from_micros(1200) });
    match sender {
        SenderConfig::Cubic(it) => vec![("CUBIC", it.into())],
        SenderConfig::BbrV1(it) => vec![("BBR v1", it.into())],
        SenderConfig::BbrV2(it) => vec![("BBR v2", it.into())],
        SenderConfig::BbrV3(it) => vec![("BBR v3", it.into())],
        SenderConfig::Prague(it) => vec![("Prague", it.into())],
        SenderConfig::UdpPrague(it) => vec![("UDP Prague", it.into())],
        SenderConfig::ScreamV1(_) => {
            vec![("SCReAM v1", ScreamV1Config { ramp_up_speed: BitRate::from_mbps(5), rates }.into())]
        }
        SenderConfig::Scream2021(it) => {
            vec![("SCReAM of 2021", Scream2021Config { ramp_up_speed: BitRate::from_mbps(5), rates, ..it }.into())]
        }
        SenderConfig::Scream(it) => vec![("SCReAM v2", ScreamConfig { rates, ..it }.into())],
        SenderConfig::PragueVideo(it) => vec![("Prague's video", PragueVideoConfig { rates, ..it }.into())],
        SenderConfig::Gcc(it) => vec![("GCC", GccConfig { rates, ..it }.into())],
        SenderConfig::L4sCc(it) => vec![("L4S-CC", L4sCcConfig { rates, ..it }.into())],
        SenderConfig::Al4s(it) => vec![
            ("sL4S", Al4sConfig { rates, ..it.clone() }.into()),
            ("cL4S", Al4sConfig { marking, rates, ..it }.into()),
        ],
        SenderConfig::Anbr(it) => vec![("Hybrid", AnbrConfig { rule: AnbrRule::Gradual, rates, ..it }.into())],
        SenderConfig::SdnL4s(it) => {
            vec![("SDN-L4S", SdnL4sConfig { window: Some(Duration::from_millis(500)), rates, ..it }.into())]
        }
        // None of these adapts, the oracle without a cell. Without its recommendations a hint changes nothing.
        SenderConfig::Udp(_) | SenderConfig::Fixed(_) | SenderConfig::Oracle(_) => vec![],
        SenderConfig::PragueHint(_) | SenderConfig::ScreamHint(_) | SenderConfig::Al4sHint(_) => vec![],
        other => vec![(other.properties().title, other)],
    }
}

fn app(video: bool, start: Duration) -> AppConfig {
    if video {
        AppConfig::Video(VideoConfig { start, ..VideoConfig::default() })
    } else {
        AppConfig::Bulk(BulkConfig { start, ..BulkConfig::default() })
    }
}

fn main() {
    println!("queue,row,column,row_mbps,column_mbps,row_delay_ms,column_delay_ms,row_drops,column_drops");
    let controllers = controllers();
    for queue in ["drop-tail", "dualpi2"] {
        for (index, (row, row_config, row_video)) in controllers.iter().enumerate() {
            for (column, column_config, column_video) in &controllers[index..] {
                let bottleneck = match queue {
                    // Two bandwidth-delay products.
                    "drop-tail" => Queue::drop_tail(RATE.bytes_in(RTT * 2)),
                    _ => Queue::dual_pi2(),
                };
                let flows = [
                    (row_config.clone(), app(*row_video, Duration::ZERO), RTT),
                    (column_config.clone(), app(*column_video, Duration::from_secs(2)), RTT),
                ];
                let mut dumbbell = Dumbbell::new(RATE, bottleneck, &flows);
                dumbbell.run_for(WARM);
                dumbbell.clear();
                dumbbell.run_for(SPAN);
                let [a, b] = [&dumbbell.flows[0], &dumbbell.flows[1]];
                let rates = [a.mbps(SPAN), b.mbps(SPAN)];
                let delays = [a.mean_delay(), b.mean_delay()];
                println!(
                    "{queue},{row},{column},{:.3},{:.3},{:.3},{:.3},{},{}",
                    rates[0], rates[1], delays[0], delays[1], a.drops, b.drops
                );
            }
        }
    }
}
