//! Every pair of controllers over one bottleneck, as CSV: `cargo run --release -p tidemark-senders --example fairness`.
//! `docs/measured/controllers/plot.py` draws it.
//!
//! 40 Mbit/s, both round trips 20 ms; the second flow begins 2 s after the first; what counts is from 30 s to 90 s.

#[path = "../tests/dumbbell/mod.rs"]
mod dumbbell;

use dumbbell::{Dumbbell, Queue};
use tidemark_core::{BitRate, Duration};
use tidemark_senders::app::BulkConfig;
use tidemark_senders::controller::{BbrV1Config, BbrV2Config, BbrV3Config, CubicConfig, PragueConfig, RenoConfig};
use tidemark_senders::media::{
    Al4sConfig, AnbrConfig, AnbrRule, GccConfig, L4sCcConfig, MarkingScheme, RateLimits, ScreamConfig, ScreamV1Config,
    SdnL4sConfig, VideoConfig,
};
use tidemark_senders::udp_prague::UdpPragueConfig;
use tidemark_senders::{AppConfig, SenderConfig};

const RATE: BitRate = BitRate::from_mbps(40);
const RTT: Duration = Duration::from_millis(20);
const WARM: Duration = Duration::from_secs(30);
const SPAN: Duration = Duration::from_secs(60);

/// Each controller by its name; true if it carries a video.
fn controllers() -> Vec<(&'static str, SenderConfig, bool)> {
    let rates =
        RateLimits { min: BitRate::from_kbps(500), initial: BitRate::from_mbps(2), max: BitRate::from_mbps(60) };
    let marking = Some(MarkingScheme { low: Duration::from_micros(800), high: Duration::from_micros(1200) });
    let gradual = AnbrConfig { rule: AnbrRule::Gradual, rates, ..AnbrConfig::default() };
    let sdn = SdnL4sConfig { window: Some(Duration::from_millis(500)), rates, ..SdnL4sConfig::default() };
    vec![
        ("Reno", SenderConfig::Reno(RenoConfig::default()), false),
        ("CUBIC", SenderConfig::Cubic(CubicConfig::default()), false),
        ("BBR v1", SenderConfig::BbrV1(BbrV1Config::default()), false),
        ("BBR v2", SenderConfig::BbrV2(BbrV2Config::default()), false),
        ("BBR v3", SenderConfig::BbrV3(BbrV3Config::default()), false),
        ("Prague", SenderConfig::Prague(PragueConfig::default()), false),
        ("UDP Prague", SenderConfig::UdpPrague(UdpPragueConfig::default()), false),
        ("SCReAM v1", SenderConfig::ScreamV1(ScreamV1Config { ramp_up_speed: BitRate::from_mbps(5), rates }), true),
        ("SCReAM v2", SenderConfig::Scream(ScreamConfig { rates, ..ScreamConfig::default() }), true),
        ("GCC", SenderConfig::Gcc(GccConfig { rates, ..GccConfig::default() }), true),
        ("L4S-CC", SenderConfig::L4sCc(L4sCcConfig { rates, ..L4sCcConfig::default() }), true),
        ("sL4S", SenderConfig::Al4s(Al4sConfig { rates, ..Al4sConfig::default() }), true),
        ("cL4S", SenderConfig::Al4s(Al4sConfig { marking, rates, ..Al4sConfig::default() }), true),
        ("Hybrid", SenderConfig::Anbr(gradual), true),
        ("SDN-L4S", SenderConfig::SdnL4s(sdn), true),
    ]
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
