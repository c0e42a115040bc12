//! GCC over a link: probing finds what it carries, and losses limit by how many they are.

use crate::link::{Bottleneck, Fate, Link, is_data};
use tidemark_core::{BitRate, Bytes, Duration, Instant, Probability, Stream};
use tidemark_senders::media::{GccConfig, GccLosses, RateLimits, VideoConfig};
use tidemark_senders::{AppConfig, SenderConfig};

/// A video over 20 Mbit/s and 20 ms with a queue of 300 ms; a share of packets is lost at random behind it.
fn link(config: GccConfig, lost: f64) -> Link {
    let rates = RateLimits { min: BitRate::from_kbps(300), initial: BitRate::from_kbps(300), ..RateLimits::default() };
    let config = SenderConfig::Gcc(GccConfig { rates, ..config });
    let mut link = Link::new(&config, &AppConfig::Video(VideoConfig::default()), Duration::from_millis(10));
    let rate = BitRate::from_mbps(20);
    link.bottleneck =
        Some(Bottleneck::new(rate, rate.bytes_in(Duration::from_millis(300)), Duration::from_millis(300)));
    let mut draws = Stream::new(1, 0, "losses");
    link.down =
        Box::new(
            move |_, packet| {
                if is_data(packet) && draws.chance(Probability::new(lost)) { Fate::Drop } else { Fate::Deliver }
            },
        );
    link
}

fn target_after(link: &mut Link, millis: u64) -> f64 {
    link.run_until(Instant::from_millis(millis));
    link.stats().0.target_rate.unwrap().as_bps() as f64 * 1e-6
}

#[test]
fn probing_finds_20_mbit_in_seconds_and_growth_alone_does_not() {
    let mut link = link(GccConfig::default(), 0.0);
    let found = target_after(&mut link, 3000);
    let kept = target_after(&mut link, 10_000);
    println!("{found:.1} Mbit/s after 3 s, {kept:.1} after 10 s");
    assert!((15.0..20.5).contains(&found) && (14.0..20.5).contains(&kept), "{found} {kept}");
    let mut slow = self::link(GccConfig { probing: false, ..GccConfig::default() }, 0.0);
    let grown = target_after(&mut slow, 10_000);
    assert!(grown < 1.0, "8 % a second: {grown}");
}

#[test]
fn padding_of_probes_is_no_media() {
    let mut link = link(GccConfig::default(), 0.0);
    link.run_until(Instant::from_millis(10_000));
    let (server, client) = link.stats();
    assert_eq!(client.frames_lost, 0);
    assert!(client.frames_received > 590, "{}", client.frames_received);
    let media: u64 = link.frames.iter().map(|frame| frame.size.0).sum();
    assert!(client.delivered.0 >= media && client.delivered.0 < media + 100_000);
    let sent = server.bytes_sent.0;
    assert!(sent > media + 10_000 && Bytes(sent) < Bytes(media * 11 / 10 + 300_000), "{sent} of {media}");
}

#[test]
fn the_links_own_losses_are_borne_and_more_limit() {
    let [few, many] = [0.01, 0.12].map(|lost| {
        let mut link = link(GccConfig::default(), lost);
        target_after(&mut link, 40_000)
    });
    println!("{few:.2} Mbit/s at 1 %, {many:.2} Mbit/s at 12 % of losses");
    assert!(few > 12.0, "{few}");
    // 100 kbit/s over the excess beyond 5 % are 1.4 Mbit/s, or what arrives.
    assert!((0.3..2.5).contains(&many), "{many}");
}

#[test]
fn the_thresholds_of_before_bear_the_same_few() {
    let mut link = link(GccConfig { losses: GccLosses::Thresholds, ..GccConfig::default() }, 0.01);
    let few = target_after(&mut link, 40_000);
    assert!(few > 12.0, "{few}");
}
