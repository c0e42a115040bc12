//! Makes the two ends of a flow from its congestion control and its application.

use tidemark_core::{Bytes, ConfigError, FlowId, Stream};

use crate::app::{AppConfig, Bulk, Constant, OnOff, OneTransfer, ShortFlowsConfig, Web};
use crate::control::{CongestionControl, Transport};
use crate::controller::Sizes;
use crate::endpoint::Ends;
use crate::media::{self, ReportPolicy, VideoConfig};
use crate::source::Source;
use crate::tcp;

/// Makes the two ends of one flow: the server, which sends the data, and the client, which opens the connection and
/// receives it. In a download the first packet goes up and the second one down.
///
/// `seed` is that of the run. Together with `flow` it names the random streams of controllers that draw numbers.
///
/// # Errors
/// The first field that cannot be used, or an application that the congestion control cannot carry.
pub fn connect(sender: &dyn CongestionControl, app: &AppConfig, flow: FlowId, seed: u64) -> Result<Ends, ConfigError> {
    sender.validate()?;
    app.validate()?;
    let random = || Stream::new(seed, flow.0, "application");
    match app {
        AppConfig::Bulk(bulk) => {
            sender.check_bulk(bulk.size)?;
            stream(sender, Box::new(Bulk::new(bulk)), bulk.size, flow, seed)
        }
        AppConfig::ShortFlows(flows) => short_flows(sender, flows, flow, seed),
        AppConfig::Constant(constant) => stream(sender, Box::new(Constant::new(constant)), None, flow, seed),
        AppConfig::OnOff(on_off) => stream(sender, Box::new(OnOff::new(on_off, random())), None, flow, seed),
        AppConfig::Web(web) => stream(sender, Box::new(Web::new(web, random())), None, flow, seed),
        AppConfig::Video(config) => video(sender, config, flow, seed),
        AppConfig::Xr(xr) => video(sender, &xr.video(), flow, seed),
    }
}

fn video(sender: &dyn CongestionControl, config: &VideoConfig, flow: FlowId, seed: u64) -> Result<Ends, ConfigError> {
    let controller = match sender.transport() {
        Transport::Rtp(controller) => controller(),
        Transport::Tcp(_) | Transport::Udp { .. } => {
            return Err(ConfigError::new("app", "video needs a controller for video, such as scream or gcc"));
        }
    };
    let policy = controller.report_policy();
    let policy = ReportPolicy { interval: config.report_interval.unwrap_or(policy.interval), ..policy };
    let client = media::Receiver::new(flow, policy);
    Ok((Box::new(media::Sender::new(config, flow, seed, controller)), Box::new(client)))
}

/// Makes the ends of a flow that carries a stream of bytes; its size is known where `expected` says so.
fn stream(
    sender: &dyn CongestionControl,
    source: Box<dyn Source + Send>,
    expected: Option<Bytes>,
    flow: FlowId,
    seed: u64,
) -> Result<Ends, ConfigError> {
    match sender.transport() {
        Transport::Tcp(tcp) => {
            let controller = (tcp.controller)(Sizes::of(tcp.config), flow, seed);
            let client = tcp::Receiver::new(tcp.config, tcp.client_ecn(), flow, source.start()).expecting(expected);
            Ok((Box::new(tcp::Sender::new(tcp.config, tcp.ecn(), flow, controller, source)), Box::new(client)))
        }
        Transport::Udp { ends, .. } => Ok(ends(flow, source)),
        Transport::Rtp(_) => Err(ConfigError::new("app", "a controller for video needs app = \"video\"")),
    }
}

/// Makes the ends of short flows, each over a connection of its own.
fn short_flows(
    sender: &dyn CongestionControl,
    flows: &ShortFlowsConfig,
    flow: FlowId,
    seed: u64,
) -> Result<Ends, ConfigError> {
    let tcp = match sender.transport() {
        Transport::Tcp(tcp) => tcp,
        Transport::Rtp(_) | Transport::Udp { .. } => {
            return Err(ConfigError::new("app", "short flows need a controller of TCP, such as cubic or prague"));
        }
    };
    let (ecn, client_ecn) = (tcp.ecn(), tcp.client_ecn());
    let (config, client_config, controller) = (tcp.config.clone(), tcp.config.clone(), tcp.controller);
    let sizes = flows.clone();
    // Each connection draws its own numbers, and both ends the same size.
    let seed_of = move |number: u32| seed.wrapping_add(u64::from(number) << 32);
    let size_of = move |number| sizes.draw_size(&mut Stream::new(seed_of(number), flow.0, "size"));
    let size_at_client = size_of.clone();
    let server = tcp::RepeatedSender::new(Box::new(move |number| {
        let controller = controller(Sizes::of(&config), flow, seed_of(number));
        tcp::Sender::new(&config, ecn, flow, controller, Box::new(OneTransfer(size_of(number))))
    }));
    let client = Box::new(move |number, start| {
        tcp::Receiver::new(&client_config, client_ecn, flow, start).expecting(Some(size_at_client(number)))
    });
    let client = tcp::RepeatedReceiver::new(flows, client, Stream::new(seed, flow.0, "application"));
    Ok((Box::new(server), Box::new(client)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::declared::SenderConfig;
    use crate::udp::UdpConfig;

    #[test]
    fn a_bulk_transfer_over_udp_needs_an_end() {
        let udp = UdpConfig::default();
        let with = |size| {
            let app = AppConfig::Bulk(crate::app::BulkConfig { size, ..Default::default() });
            connect(&udp, &app, FlowId(0), 1).map(|_| ()).map_err(|error| error.to_string())
        };
        assert_eq!(with(Some(Bytes(100_000_000))), Ok(()));
        for endless in [None, Some(Bytes(100_000_001))] {
            assert!(
                with(endless).unwrap_err().contains("app: udp sends at once what there is: use app = \"constant\"")
            );
        }
    }

    #[test]
    fn an_application_that_the_transport_cannot_carry_is_refused() {
        for sender in SenderConfig::all() {
            let accepts = |app: AppConfig| connect(&sender, &app, FlowId(0), 1).is_ok();
            let accepted = [
                accepts(AppConfig::Web(Default::default())),
                accepts(AppConfig::Video(Default::default())),
                accepts(AppConfig::ShortFlows(Default::default())),
            ];
            let expected = match sender.transport() {
                Transport::Tcp(_) => [true, false, true],
                Transport::Rtp(_) => [false, true, false],
                Transport::Udp { .. } => [true, false, false],
            };
            assert_eq!(accepted, expected, "{}", sender.name());
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_scenario_names_the_application() {
        use tidemark_core::Duration;

        let text = r#"{"app": "short-flows", "size": "14 kB", "think": {"law": "exponential", "mean": "500 ms"}}"#;
        let app: AppConfig = serde_json::from_str(text).unwrap();
        let AppConfig::ShortFlows(flows) = &app else { panic!("{app:?}") };
        assert_eq!((flows.size, flows.count), (Bytes(14_000), None));
        assert_eq!(serde_json::from_str::<AppConfig>(r#"{"app": "xr"}"#).unwrap().times(), (Duration::ZERO, None));
        let bbr: SenderConfig = serde_json::from_str(r#"{"controller": "bbr-v2", "ecn_max_rtt": "5 ms"}"#).unwrap();
        assert!(connect(&bbr, &app, FlowId(0), 1).is_ok());
        let error = connect(&UdpConfig::default(), &app, FlowId(0), 1).err().unwrap();
        assert!(error.to_string().contains("short flows need a controller of TCP"), "{error}");
    }
}
