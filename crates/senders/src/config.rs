//! How a flow is configured, and how its two ends are made.

use thiserror::Error;
use tidemark_core::{Bytes, Duration, FlowId, Stream};

use crate::app::{AppConfig, Bulk, Constant, OnOff, OneTransfer, ShortFlowsConfig, Source, Web};
use crate::controller::{
    BbrV1, BbrV1Config, BbrV2Config, BbrV3Config, Controller, Cubic, CubicConfig, Prague, PragueConfig, Reno,
    RenoConfig, Sizes,
};
use crate::endpoint::Endpoint;
use crate::media::{
    self, Al4s, Al4sConfig, Anbr, AnbrConfig, Fixed, FixedConfig, Gcc, GccConfig, L4sCc, L4sCcConfig, MediaController,
    ReportPolicy, Scream, ScreamConfig, ScreamV1, ScreamV1Config, SdnL4s, SdnL4sConfig, VideoConfig,
};
use crate::tcp;
use crate::udp::{self, UdpConfig};
use crate::udp_prague::{self, UdpPragueConfig};

/// A field of a configuration that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, Error)]
#[error("{field}: {expected}")]
pub struct ConfigError {
    /// The field.
    pub field: &'static str,
    /// What would be right.
    pub expected: &'static str,
}

impl ConfigError {
    pub(crate) const fn new(field: &'static str, expected: &'static str) -> Self {
        Self { field, expected }
    }
}

/// What a flow's sender is: its congestion controller, and the transport below it.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "controller", rename_all = "kebab-case"))]
#[cfg_attr(feature = "serde", serde(expecting = "a table with its `controller`, as in { controller = \"prague\" }"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SenderConfig {
    /// Reno (RFC 5681, RFC 6582).
    Reno(RenoConfig),
    /// CUBIC (RFC 9438).
    Cubic(CubicConfig),
    /// BBR version 1, as in Linux.
    BbrV1(BbrV1Config),
    /// BBR version 2 with its response to ECN, as in the L4S team's kernel.
    BbrV2(BbrV2Config),
    /// BBR version 3, as in Google's code.
    BbrV3(BbrV3Config),
    /// TCP Prague (draft-briscoe-iccrg-prague-congestion-control).
    Prague(PragueConfig),
    /// UDP Prague, bulk or in frames.
    UdpPrague(UdpPragueConfig),
    /// UDP without a controller.
    Udp(UdpConfig),
    /// A fixed rate, for video.
    Fixed(FixedConfig),
    /// SCReAM version 1 (RFC 8298), for video.
    ScreamV1(ScreamV1Config),
    /// SCReAM version 2 (draft-ietf-ccwg-rfc8298bis-screamv2), for video.
    Scream(ScreamConfig),
    /// Google Congestion Control as in libwebrtc, for video.
    Gcc(GccConfig),
    /// L4S-CC, for video.
    L4sCc(L4sCcConfig),
    /// aL4S-CC as sL4S or cL4S, for video.
    Al4s(Al4sConfig),
    /// The access network's recommendation, alone or beside Prague, for video.
    Anbr(AnbrConfig),
    /// The rate rule of SDN-L4S, for video.
    SdnL4s(SdnL4sConfig),
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self::Prague(PragueConfig::default())
    }
}

/// What the two ends of a TCP connection negotiate for congestion feedback.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum EcnMode {
    /// No ECN: packets are Not-ECT and congestion shows as loss.
    Off,
    /// One signal a round trip (RFC 3168), packets ECT(0).
    #[default]
    Classic,
    /// A count of CE marks (RFC 9768); packets ECT(1) if the controller is scalable, else ECT(0).
    Accecn,
}

/// The TCP transport, the same for every controller.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TcpConfig {
    /// What the server is willing to negotiate. Default: `accecn` for Prague and BBR version 2, `classic` for
    /// Reno and CUBIC, `off` for BBR versions 1 and 3.
    pub ecn: Option<EcnMode>,
    /// What the client asks for. Default: the same as the server.
    pub client_ecn: Option<EcnMode>,
    /// Payload of a full segment. Default 1448 B: an Ethernet frame with timestamps.
    pub mss: Bytes,
    /// Initial window in segments. Default 10 (RFC 6928).
    pub initial_window: u32,
    /// Payload that the sender's socket holds: what is in flight and what the application has written ahead. It fills the buffer, and
    /// writes again once a third is free (Linux `sk_stream_min_wspace`). Default 4 MB: the upper end of Linux' `tcp_wmem`, 4 MiB, less
    /// the 4 % that its packet records take (measured with 6.18).
    pub send_buffer: Bytes,
    /// Receive buffer, advertised whole, since the application reads at once. Default 6 MB, more than the send buffer's, as with Linux'
    /// defaults: 6.18 advertises such a sender 12 MB.
    pub receive_window: Bytes,
    /// Longest delay of an acknowledgement. Default 40 ms, as in Linux.
    pub delayed_ack: Duration,
    /// Segments that an acknowledgement answers at most. Default 2 (RFC 5681 4.2).
    pub ack_every: u32,
    /// Lower limit of the variance term of the retransmission timeout. Default 200 ms, as in Linux
    /// (RFC 6298 asks for a timeout of 1 s at least).
    pub min_rto: Duration,
}

impl Default for TcpConfig {
    fn default() -> Self {
        Self {
            ecn: None,
            client_ecn: None,
            mss: Bytes(1448),
            initial_window: 10,
            send_buffer: Bytes(4_000_000),
            receive_window: Bytes(6_000_000),
            delayed_ack: Duration::from_millis(40),
            ack_every: 2,
            min_rto: Duration::from_millis(200),
        }
    }
}

impl TcpConfig {
    fn validate(&self) -> Result<(), ConfigError> {
        if !(64..=9000).contains(&self.mss.0) {
            return Err(ConfigError::new("tcp.mss", "a segment carries 64 B to 9000 B"));
        }
        if !(1..=1000).contains(&self.initial_window) {
            return Err(ConfigError::new("tcp.initial_window", "it must lie between 1 and 1000 segments"));
        }
        if !(2 * self.mss.0..=1 << 30).contains(&self.receive_window.0) {
            return Err(ConfigError::new(
                "tcp.receive_window",
                "it must lie between two segments and 1 GiB (RFC 7323)",
            ));
        }
        if !(3 * self.mss.0..=1 << 30).contains(&self.send_buffer.0) {
            return Err(ConfigError::new("tcp.send_buffer", "it must lie between three segments and 1 GiB"));
        }
        if self.delayed_ack > Duration::from_millis(500) {
            return Err(ConfigError::new("tcp.delayed_ack", "at most 500 ms (RFC 5681 4.2)"));
        }
        if !(1..=1000).contains(&self.ack_every) {
            return Err(ConfigError::new("tcp.ack_every", "it must lie between 1 and 1000 segments"));
        }
        if self.min_rto < Duration::from_millis(1) || self.min_rto > Duration::from_secs(60) {
            return Err(ConfigError::new("tcp.min_rto", "it must lie between 1 ms and 60 s"));
        }
        Ok(())
    }
}

impl SenderConfig {
    /// Says which field cannot be used, and what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if let Some(tcp) = self.tcp() {
            tcp.validate()?;
        }
        match self {
            Self::Reno(_) | Self::Cubic(_) | Self::BbrV1(_) | Self::BbrV2(_) | Self::BbrV3(_) => Ok(()),
            Self::Prague(prague) => prague.validate(),
            Self::UdpPrague(prague) => prague.validate(),
            Self::Udp(udp) => udp.validate(),
            Self::Fixed(fixed) => fixed.validate(),
            Self::ScreamV1(scream) => scream.validate(),
            Self::Scream(scream) => scream.validate(),
            Self::Gcc(gcc) => gcc.validate(),
            Self::L4sCc(l4s_cc) => l4s_cc.validate(),
            Self::Al4s(al4s) => al4s.validate(),
            Self::Anbr(anbr) => anbr.validate(),
            Self::SdnL4s(sdn) => sdn.validate(),
        }
    }

    /// The transport's part, where that is TCP.
    pub fn tcp(&self) -> Option<&TcpConfig> {
        match self {
            Self::Reno(reno) => Some(&reno.tcp),
            Self::Cubic(cubic) => Some(&cubic.tcp),
            Self::BbrV1(bbr) => Some(&bbr.tcp),
            Self::BbrV2(bbr) => Some(&bbr.tcp),
            Self::BbrV3(bbr) => Some(&bbr.tcp),
            Self::Prague(prague) => Some(&prague.tcp),
            _ => None,
        }
    }

    /// What the server is willing to negotiate, over TCP.
    pub fn ecn(&self) -> EcnMode {
        let usual = match self {
            Self::Reno(_) | Self::Cubic(_) => EcnMode::Classic,
            Self::BbrV1(_) | Self::BbrV3(_) => EcnMode::Off,
            _ => EcnMode::Accecn,
        };
        self.tcp().and_then(|tcp| tcp.ecn).unwrap_or(usual)
    }

    /// What the client asks for, over TCP.
    fn client_ecn(&self) -> EcnMode {
        self.tcp().and_then(|tcp| tcp.client_ecn).unwrap_or(self.ecn())
    }
}

/// The two ends of a flow: first the one that sends the data, then the one that receives it.
pub type Ends = (Box<dyn Endpoint + Send>, Box<dyn Endpoint + Send>);

/// What UDP without a controller may be given at once: all of it waits somewhere.
const MOST_AT_ONCE: Bytes = Bytes(100_000_000);

/// The two ends of one flow: the server, which sends the data, and the client, which opens the connection
/// and receives it. That is how a download runs: the first packet goes up, the second one down.
///
/// `seed` is the run's; together with `flow` it names the random streams of controllers that draw numbers.
///
/// # Errors
/// The first field that cannot be used.
pub fn connect(sender: &SenderConfig, app: &AppConfig, flow: FlowId, seed: u64) -> Result<Ends, ConfigError> {
    sender.validate()?;
    app.validate()?;
    let random = || Stream::new(seed, flow.0, "application");
    match app {
        AppConfig::Bulk(bulk)
            if matches!(sender, SenderConfig::Udp(_)) && bulk.size.is_none_or(|size| size > MOST_AT_ONCE) =>
        {
            Err(ConfigError::new(
                "app",
                "udp sends at once what there is: use app = \"constant\", or a `size` of at most 100 MB",
            ))
        }
        AppConfig::Bulk(bulk) => stream(sender, Box::new(Bulk::new(bulk)), bulk.size, flow, seed),
        AppConfig::ShortFlows(flows) => short_flows(sender, flows, flow, seed),
        AppConfig::Constant(constant) => stream(sender, Box::new(Constant::new(constant)), None, flow, seed),
        AppConfig::OnOff(on_off) => stream(sender, Box::new(OnOff::new(on_off, random())), None, flow, seed),
        AppConfig::Web(web) => stream(sender, Box::new(Web::new(web, random())), None, flow, seed),
        AppConfig::Video(config) => video(sender, config, flow, seed),
        AppConfig::Xr(xr) => video(sender, &xr.video(), flow, seed),
    }
}

fn video(sender: &SenderConfig, config: &VideoConfig, flow: FlowId, seed: u64) -> Result<Ends, ConfigError> {
    let controller = media_controller(sender)?;
    let policy = controller.report_policy();
    let policy = ReportPolicy { interval: config.report_interval.unwrap_or(policy.interval), ..policy };
    let client = media::Receiver::new(flow, policy);
    Ok((Box::new(media::Sender::new(config, flow, seed, controller)), Box::new(client)))
}

fn media_controller(sender: &SenderConfig) -> Result<Box<dyn MediaController + Send>, ConfigError> {
    Ok(match sender {
        SenderConfig::Fixed(config) => Box::new(Fixed::new(config)),
        SenderConfig::ScreamV1(config) => Box::new(ScreamV1::new(config)),
        SenderConfig::Scream(config) => Box::new(Scream::new(config)),
        SenderConfig::Gcc(config) => Box::new(Gcc::new(config)),
        SenderConfig::L4sCc(config) => Box::new(L4sCc::new(config)),
        SenderConfig::Al4s(config) => Box::new(Al4s::new(config)),
        SenderConfig::Anbr(config) => Box::new(Anbr::new(config)),
        SenderConfig::SdnL4s(config) => Box::new(SdnL4s::new(config)),
        _ => return Err(ConfigError::new("app", "video needs a controller for video, such as scream or gcc")),
    })
}

/// The controller of a TCP connection.
fn controller(sender: &SenderConfig, flow: FlowId, seed: u64) -> Option<Box<dyn Controller + Send>> {
    let sizes = Sizes::of(sender.tcp()?);
    Some(match sender {
        SenderConfig::Reno(config) => Box::new(Reno::new(config, sizes)),
        SenderConfig::Cubic(config) => Box::new(Cubic::new(config, sizes)),
        SenderConfig::BbrV1(_) => Box::new(BbrV1::new(sizes, flow, seed)),
        SenderConfig::BbrV2(config) => Box::new(config.controller(sizes, flow, seed)),
        SenderConfig::BbrV3(config) => Box::new(config.controller(sizes, flow, seed)),
        SenderConfig::Prague(config) => Box::new(Prague::new(config, sizes)),
        _ => return None,
    })
}

/// The ends of a flow that carries a stream of bytes; its size is known where `expected` says so.
fn stream(
    sender: &SenderConfig,
    source: Box<dyn Source + Send>,
    expected: Option<Bytes>,
    flow: FlowId,
    seed: u64,
) -> Result<Ends, ConfigError> {
    if let (Some(tcp), Some(controller)) = (sender.tcp(), controller(sender, flow, seed)) {
        let client = tcp::Receiver::new(tcp, sender.client_ecn(), flow, source.start()).expecting(expected);
        return Ok((Box::new(tcp::Sender::new(tcp, sender.ecn(), flow, controller, source)), Box::new(client)));
    }
    Ok(match sender {
        SenderConfig::UdpPrague(config) => {
            let client = udp_prague::Receiver::new(config, flow, source.start());
            (Box::new(udp_prague::Sender::new(config, flow, source)), Box::new(client))
        }
        SenderConfig::Udp(config) => (Box::new(udp::Sender::new(config, flow, source)), Box::new(udp::Receiver::new())),
        _ => return Err(ConfigError::new("app", "a controller for video needs app = \"video\"")),
    })
}

/// The ends of short flows, each over a connection of its own.
fn short_flows(sender: &SenderConfig, flows: &ShortFlowsConfig, flow: FlowId, seed: u64) -> Result<Ends, ConfigError> {
    let Some(tcp) = sender.tcp().cloned() else {
        return Err(ConfigError::new("app", "short flows need a controller of TCP, such as cubic or prague"));
    };
    let (client_tcp, ecn, client_ecn) = (tcp.clone(), sender.ecn(), sender.client_ecn());
    let (sender, sizes) = (sender.clone(), flows.clone());
    // Each connection draws its own numbers, and both ends the same size.
    let seed_of = move |number: u32| seed.wrapping_add(u64::from(number) << 32);
    let size_of = move |number| sizes.draw_size(&mut Stream::new(seed_of(number), flow.0, "size"));
    let size_at_client = size_of.clone();
    let server = tcp::RepeatedSender::new(Box::new(move |number| {
        let controller = controller(&sender, flow, seed_of(number)).expect("TCP has a controller");
        tcp::Sender::new(&tcp, ecn, flow, controller, Box::new(OneTransfer(size_of(number))))
    }));
    let client = Box::new(move |number, start| {
        tcp::Receiver::new(&client_tcp, client_ecn, flow, start).expecting(Some(size_at_client(number)))
    });
    let client = tcp::RepeatedReceiver::new(flows, client, Stream::new(seed, flow.0, "application"));
    Ok((Box::new(server), Box::new(client)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        let tcp = TcpConfig { mss: Bytes(3), ..TcpConfig::default() };
        let config = SenderConfig::Cubic(CubicConfig { tcp, ..CubicConfig::default() });
        assert_eq!(config.validate().unwrap_err().to_string(), "tcp.mss: a segment carries 64 B to 9000 B");
        assert_eq!(SenderConfig::default().validate(), Ok(()));
    }

    #[test]
    fn a_controller_asks_for_the_feedback_that_it_understands() {
        assert_eq!(SenderConfig::default().ecn(), EcnMode::Accecn);
        assert_eq!(SenderConfig::Cubic(CubicConfig::default()).ecn(), EcnMode::Classic);
    }

    #[test]
    fn udp_needs_an_end_of_what_it_sends_at_once() {
        let udp = SenderConfig::Udp(UdpConfig::default());
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

    #[cfg(feature = "serde")]
    #[test]
    fn a_scenario_names_the_controller_and_what_differs_from_its_defaults() {
        let text = r#"{"controller": "cubic", "pacing": true, "tcp": {"ecn": "accecn", "receive_window": "2 MB"}}"#;
        let config: SenderConfig = serde_json::from_str(text).unwrap();
        let SenderConfig::Cubic(cubic) = &config else { panic!("{config:?}") };
        assert!(cubic.pacing && cubic.fast_convergence);
        assert_eq!((config.ecn(), config.tcp().unwrap().receive_window), (EcnMode::Accecn, Bytes(2_000_000)));
        let wrong = r#"{"controller": "cubic", "pasing": true}"#;
        let error = serde_json::from_str::<SenderConfig>(wrong).unwrap_err().to_string();
        assert!(error.contains("pasing") && error.contains("pacing"), "{error}");
        let back: SenderConfig = serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
        assert_eq!(back, config);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_scenario_names_the_application() {
        let text = r#"{"app": "short-flows", "size": "14 kB", "think": {"law": "exponential", "mean": "500 ms"}}"#;
        let app: AppConfig = serde_json::from_str(text).unwrap();
        let AppConfig::ShortFlows(flows) = &app else { panic!("{app:?}") };
        assert_eq!((flows.size, flows.count), (Bytes(14_000), None));
        assert_eq!(serde_json::from_str::<AppConfig>(r#"{"app": "xr"}"#).unwrap().times(), (Duration::ZERO, None));
        let bbr: SenderConfig = serde_json::from_str(r#"{"controller": "bbr-v2", "ecn_max_rtt": "5 ms"}"#).unwrap();
        assert_eq!(bbr.ecn(), EcnMode::Accecn);
        assert!(connect(&bbr, &app, FlowId(0), 1).is_ok());
        let error = connect(&SenderConfig::Udp(UdpConfig::default()), &app, FlowId(0), 1).err().unwrap();
        assert!(error.to_string().contains("short flows need a controller of TCP"), "{error}");
    }
}
