//! Every controller against its law, as CSV: `cargo run --release -p tidemark-senders --example laws`.
//! `results/draw` draws it.

#[path = "../tests/laws/mod.rs"]
mod laws;
#[path = "../tests/link/mod.rs"]
mod link;

use laws::How;
use link::Fate;
use tidemark_senders::SenderConfig;

/// Probabilities from `from` over a decade.
fn decade(from: f64) -> impl Iterator<Item = f64> {
    (0..=6).map(move |step| from * libm::pow(10.0, f64::from(step) / 6.0))
}

fn row(panel: &str, series: &str, p: f64, measured: f64, law: f64) {
    println!("{panel},{series},{p:.6},{measured:.4},{law:.4}");
}

fn windows(panel: &str, config: &SenderConfig, rtt: u64, from: f64, fate: Fate, how: How, law: impl Fn(f64) -> f64) {
    let verb = if fate == Fate::Drop { "losses" } else { "marks" };
    let how_name = if how == How::Regular { "regular" } else { "random" };
    for p in decade(from) {
        let measured = laws::window(config, rtt, p, fate, how, 500);
        row(panel, &format!("{how_name} {verb}"), p, measured, law(p));
    }
}

fn main() {
    println!("panel,series,p,measured,law");
    windows("reno", &laws::reno(), 40, 0.001, Fate::Mark, How::Regular, laws::reno_regular);
    windows("reno", &laws::reno(), 40, 0.001, Fate::Drop, How::Random, laws::reno_random);
    windows("cubic", &laws::cubic(), 100, 3e-5, Fate::Mark, How::Regular, |p| laws::cubic_regular(p, 0.1));
    windows("cubic", &laws::cubic(), 100, 3e-5, Fate::Drop, How::Regular, |p| laws::cubic_regular(p, 0.1));
    windows("prague", &laws::prague(), 25, 0.01, Fate::Mark, How::Regular, laws::prague_regular);
    windows("prague", &laws::prague(), 25, 0.01, Fate::Mark, How::Random, laws::prague_random);
    for p in decade(0.02) {
        row("udp-prague", "random marks", p, laws::udp_prague_rate(40, p), laws::udp_prague_law(40, p));
    }
    for p in decade(0.02) {
        row("bbr-v2", "random marks", p, laws::bbr_v2(p).1, laws::bbr_v2_law(p));
    }
    for p in decade(0.01) {
        row("scream", "regular marks", p, laws::scream_window(p), laws::scream_law(p));
    }
    for p in decade(0.01) {
        row("scream-video", "random marks", p, laws::scream_video(p).0, 2.0);
    }
}
