//! Every congestion control of this crate, one line each: its name in a scenario, its configuration, a sentence for the
//! schema. Everything else about a control is in the [`CongestionControl`] of its configuration, in a file of its own.

use tidemark_core::{BitRate, Bytes, ConfigError};

use crate::control::{CongestionControl, Properties, Transport};
use crate::custom::CustomControl;
use crate::{controller, media, udp, udp_prague};

/// Makes of the lines below the enum, its list and its names.
// `"reno" Reno(controller::RenoConfig), "Reno (RFC 5681, RFC 6582).";` becomes
//
//     #[serde(tag = "controller")]
//     pub enum SenderConfig { #[serde(rename = "reno")] Reno(controller::RenoConfig), Custom(CustomControl) }
//     impl SenderConfig {
//         pub fn all() -> Vec<Self> { vec![Self::Reno(controller::RenoConfig::default())] }
//         pub fn name(&self) -> &'static str { match self { Self::Reno(_) => "reno", .. } }
//         fn control(&self) -> &dyn CongestionControl { match self { Self::Reno(config) => config, .. } }
//     }
//     impl From<controller::RenoConfig> for SenderConfig { .. }
macro_rules! congestion_controls {
    ($($name:literal $variant:ident($config:path), $doc:literal;)*) => {
        /// A flow's sender: its congestion control, and the transport below it.
        #[derive(Clone, PartialEq, Debug)]
        #[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
        #[cfg_attr(feature = "serde", serde(tag = "controller"))]
        #[cfg_attr(feature = "serde", serde(expecting = "a table with its `controller`, as in { controller = \"prague\" }"))]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        pub enum SenderConfig {
            $(
                #[doc = $doc]
                #[cfg_attr(feature = "serde", serde(rename = $name))]
                $variant($config),
            )*
            /// A congestion control of another crate.
            #[cfg_attr(feature = "serde", serde(rename = "custom", skip_deserializing))]
            #[cfg_attr(feature = "schema", schemars(skip))]
            Custom(CustomControl),
        }

        impl SenderConfig {
            /// Lists every congestion control, with its defaults.
            pub fn all() -> Vec<Self> {
                vec![$(Self::$variant(<$config>::default())),*]
            }

            /// Name in a scenario.
            pub fn name(&self) -> &'static str {
                match self {
                    $(Self::$variant(_) => $name,)*
                    Self::Custom(custom) => custom.name(),
                }
            }

            fn control(&self) -> &dyn CongestionControl {
                match self {
                    $(Self::$variant(config) => config,)*
                    Self::Custom(custom) => custom.control(),
                }
            }
        }

        $(
            impl From<$config> for SenderConfig {
                fn from(config: $config) -> Self {
                    Self::$variant(config)
                }
            }
        )*
    };
}

congestion_controls! {
    "reno" Reno(controller::RenoConfig), "Reno (RFC 5681, RFC 6582).";
    "cubic" Cubic(controller::CubicConfig), "CUBIC (RFC 9438).";
    "bbr-v1" BbrV1(controller::BbrV1Config), "BBR version 1, as in Linux.";
    "bbr-v2" BbrV2(controller::BbrV2Config), "BBR version 2 with its response to ECN, as in the L4S team's kernel.";
    "bbr-v3" BbrV3(controller::BbrV3Config), "BBR version 3, as in Google's code.";
    "prague" Prague(controller::PragueConfig), "TCP Prague (draft-briscoe-iccrg-prague-congestion-control).";
    "prague-hint" PragueHint(controller::PragueHintConfig), "Prague over TCP that climbs by recommendations, within what marks allow.";
    "udp-prague" UdpPrague(udp_prague::UdpPragueConfig), "UDP Prague, bulk or in frames.";
    "oracle" Oracle(controller::OracleConfig), "Sends what recommendations say: with exact ones the limit of what a controller can have.";
    "udp" Udp(udp::UdpConfig), "UDP without a controller.";
    "fixed" Fixed(media::FixedConfig), "A fixed rate, for video.";
    "prague-video" PragueVideo(media::PragueVideoConfig), "UDP Prague's rate, for video.";
    "scream-v1" ScreamV1(media::ScreamV1Config), "SCReAM version 1 (RFC 8298), for video.";
    "scream-2021" Scream2021(media::Scream2021Config), "SCReAM version 1 as the public program of 2021 has it, with its answer to L4S, for video.";
    "scream" Scream(media::ScreamConfig), "SCReAM version 2 (draft-ietf-ccwg-rfc8298bis-screamv2), for video.";
    "scream-hint" ScreamHint(media::ScreamHintConfig), "SCReAM version 2 that climbs by recommendations, within what marks allow, for video.";
    "gcc" Gcc(media::GccConfig), "Google Congestion Control as in libwebrtc, for video.";
    "l4s-cc" L4sCc(media::L4sCcConfig), "L4S-CC, for video.";
    "al4s" Al4s(media::Al4sConfig), "aL4S-CC as sL4S or cL4S, for video.";
    "al4s-hint" Al4sHint(media::Al4sHintConfig), "aL4S-CC as sL4S or cL4S that climbs by recommendations, within what marks allow, for video.";
    "anbr" Anbr(media::AnbrConfig), "The access network's recommendation, alone or beside Prague, for video.";
    "sdn-l4s" SdnL4s(media::SdnL4sConfig), "The rate rule of SDN-L4S, for video or over TCP.";
}

impl SenderConfig {
    /// Wraps a congestion control of another crate, for programs that embed the simulator. Results call it `name`.
    pub fn custom(name: &'static str, control: impl CongestionControl + Send + Sync + 'static) -> Self {
        Self::Custom(CustomControl::new(name, control))
    }
}

impl Default for SenderConfig {
    fn default() -> Self {
        Self::Prague(controller::PragueConfig::default())
    }
}

impl CongestionControl for SenderConfig {
    fn properties(&self) -> &'static Properties {
        self.control().properties()
    }
    fn validate(&self) -> Result<(), ConfigError> {
        self.control().validate()
    }
    fn transport(&self) -> Transport<'_> {
        self.control().transport()
    }
    fn check_bulk(&self, size: Option<Bytes>) -> Result<(), ConfigError> {
        self.control().check_bulk(size)
    }
    fn min_rate(&self) -> Option<BitRate> {
        self.control().min_rate()
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::Ecn;

    use super::*;
    use crate::config::{EcnMode, TcpConfig};
    use crate::controller::{CubicConfig, PragueConfig};

    fn ecn(sender: &SenderConfig) -> EcnMode {
        match sender.transport() {
            Transport::Tcp(tcp) => tcp.ecn(),
            Transport::Rtp(_) | Transport::Udp { .. } => panic!("{sender:?} has TCP below it"),
        }
    }

    #[test]
    fn a_wrong_field_of_the_transport_is_named() {
        let tcp = TcpConfig { mss: Bytes(3), ..TcpConfig::default() };
        let config = SenderConfig::Cubic(CubicConfig { tcp, ..CubicConfig::default() });
        assert_eq!(config.validate().unwrap_err().to_string(), "tcp.mss: must lie between 64 B and 9000 B, not 3 B");
    }

    #[test]
    fn the_defaults_of_every_congestion_control_are_valid_and_names_differ() {
        let all = SenderConfig::all();
        for (index, sender) in all.iter().enumerate() {
            assert_eq!(sender.validate(), Ok(()), "{}", sender.name());
            assert!(
                !sender.properties().title.is_empty() && !sender.properties().answers.is_empty(),
                "{}",
                sender.name()
            );
            assert!(all[..index].iter().all(|other| other.name() != sender.name()), "{} twice", sender.name());
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn every_controller_over_tcp_checks_its_transport() {
        let wrong = TcpConfig { ack_every: 0, ..TcpConfig::default() };
        for sender in SenderConfig::all() {
            let Transport::Tcp(_) = sender.transport() else { continue };
            let text = format!("{}", with_tcp(sender, &wrong).validate().unwrap_err());
            assert!(text.starts_with("tcp.ack_every"), "{text}");
        }
    }

    #[cfg(feature = "serde")]
    fn with_tcp(sender: SenderConfig, tcp: &TcpConfig) -> SenderConfig {
        let mut value = serde_json::to_value(&sender).unwrap();
        value["tcp"] = serde_json::to_value(tcp).unwrap();
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn a_controller_asks_for_the_feedback_that_it_understands() {
        assert_eq!(ecn(&SenderConfig::default()), EcnMode::Accecn);
        assert_eq!(ecn(&SenderConfig::Cubic(CubicConfig::default())), EcnMode::Classic);
    }

    #[test]
    fn the_codepoint_follows_from_mode_and_response() {
        let codepoint = |name: &str| SenderConfig::all().into_iter().find(|it| it.name() == name).unwrap().codepoint();
        assert_eq!(["prague", "bbr-v2", "udp-prague", "scream", "scream-2021"].map(codepoint), [Ecn::Ect1; 5]);
        assert_eq!(["reno", "cubic", "scream-v1"].map(codepoint), [Ecn::Ect0; 3]);
        assert_eq!(["bbr-v1", "bbr-v3", "gcc", "udp", "fixed"].map(codepoint), [Ecn::NotEct; 5]);
        let tcp = TcpConfig { ecn: Some(EcnMode::Classic), ..TcpConfig::default() };
        assert_eq!(PragueConfig { tcp, ..PragueConfig::default() }.codepoint(), Ecn::Ect0);
    }

    #[cfg(feature = "serde")]
    #[test]
    fn the_name_is_the_one_that_a_scenario_uses() {
        for sender in SenderConfig::all() {
            let back: SenderConfig =
                serde_json::from_str(&format!("{{\"controller\": \"{}\"}}", sender.name())).unwrap();
            assert_eq!(back, sender);
        }
    }

    #[cfg(feature = "serde")]
    #[test]
    fn a_scenario_names_the_controller_and_what_differs_from_its_defaults() {
        let text = r#"{"controller": "cubic", "pacing": true, "tcp": {"ecn": "accecn", "receive_window": "2 MB"}}"#;
        let config: SenderConfig = serde_json::from_str(text).unwrap();
        let SenderConfig::Cubic(cubic) = &config else { panic!("{config:?}") };
        assert!(cubic.pacing && cubic.fast_convergence);
        assert_eq!((ecn(&config), cubic.tcp.receive_window), (EcnMode::Accecn, Bytes(2_000_000)));
        let wrong = r#"{"controller": "cubic", "pasing": true}"#;
        let error = serde_json::from_str::<SenderConfig>(wrong).unwrap_err().to_string();
        assert!(error.contains("pasing") && error.contains("pacing"), "{error}");
        let back: SenderConfig = serde_json::from_str(&serde_json::to_string(&config).unwrap()).unwrap();
        assert_eq!(back, config);
    }
}
