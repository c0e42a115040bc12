//! The two templates of `docs/guide/adding-a-controller.md` at work, without being variants of `SenderConfig`:
//! `cargo run --release -p tidemark-senders --example templates`.

// The templates say `crate::config` and so on, as they will where they are copied to.
use tidemark_senders::{config, control, controller, media};

#[path = "../tests/link/mod.rs"]
mod link;
#[path = "../templates/media_controller.rs"]
mod media_template;
#[path = "../templates/controller.rs"]
mod template;

use link::{Bottleneck, Link};
use media_template::MediaTemplateConfig;
use template::TemplateConfig;
use tidemark_core::{BitRate, Duration, FlowId, Instant};
use tidemark_senders::{AppConfig, ConfigError, CongestionControl, connect};

fn main() -> Result<(), ConfigError> {
    let templates: [(&str, &dyn CongestionControl, AppConfig); 2] = [
        ("controller", &TemplateConfig::default(), AppConfig::default()),
        ("media controller", &MediaTemplateConfig::default(), AppConfig::Video(media::VideoConfig::default())),
    ];
    for (name, template, app) in templates {
        let mut link = Link::between(connect(template, &app, FlowId(0), 1)?, Duration::from_millis(10));
        let rate = BitRate::from_mbps(20);
        link.bottleneck =
            Some(Bottleneck::new(rate, rate.bytes_in(Duration::from_millis(100)), Duration::from_millis(2)));
        link.run_until(Instant::from_millis(30_000));
        let rate = link.stats().1.delivered.as_f64() * 8e-6 / 30.0;
        println!("{name}: {rate:.1} of 20 Mbit/s, {:?} in the end", link.stats().0.smoothed_rtt);
    }
    Ok(())
}
