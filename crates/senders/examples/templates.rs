//! The two templates of `docs/guide/adding-a-controller.md` at work, without being variants of `SenderConfig`:
//! `cargo run --release -p tidemark-senders --example templates`.

// The templates say `crate::config` and so on, as they will where they are copied to.
use tidemark_senders::{app, config, controller, media};

#[path = "../tests/link/mod.rs"]
mod link;
#[path = "../templates/media_controller.rs"]
mod media_template;
#[path = "../templates/controller.rs"]
mod template;

use link::{Bottleneck, Link};
use media_template::{MediaTemplate, MediaTemplateConfig};
use template::{Template, TemplateConfig};
use tidemark_core::{BitRate, Duration, FlowId, Instant};
use tidemark_senders::config::{ConfigError, Ends};
use tidemark_senders::media::MediaController;
use tidemark_senders::tcp;

fn over_tcp() -> Result<Ends, ConfigError> {
    let template = TemplateConfig::default();
    template.validate()?;
    let controller = Template::new(&template, controller::Sizes::of(&template.tcp));
    let source = app::Bulk::new(&app::BulkConfig::default());
    let ecn = config::EcnMode::Accecn;
    let server = tcp::Sender::new(&template.tcp, ecn, FlowId(0), Box::new(controller), Box::new(source));
    Ok((Box::new(server), Box::new(tcp::Receiver::new(&template.tcp, ecn, FlowId(0), Instant::ZERO))))
}

fn over_rtp() -> Result<Ends, ConfigError> {
    let template = MediaTemplateConfig::default();
    template.validate()?;
    let controller = MediaTemplate::new(&template);
    let client = media::Receiver::new(FlowId(0), controller.report_policy());
    let video = media::VideoConfig::default();
    Ok((Box::new(media::Sender::new(&video, FlowId(0), 1, Box::new(controller))), Box::new(client)))
}

fn main() -> Result<(), ConfigError> {
    for (name, ends) in [("controller", over_tcp()?), ("media controller", over_rtp()?)] {
        let mut link = Link::between(ends, Duration::from_millis(10));
        let rate = BitRate::from_mbps(20);
        link.bottleneck =
            Some(Bottleneck::new(rate, rate.bytes_in(Duration::from_millis(100)), Duration::from_millis(2)));
        link.run_until(Instant::from_millis(30_000));
        let rate = link.stats().1.delivered.as_f64() * 8e-6 / 30.0;
        println!("{name}: {rate:.1} of 20 Mbit/s, {:?} in the end", link.stats().0.smoothed_rtt);
    }
    Ok(())
}
