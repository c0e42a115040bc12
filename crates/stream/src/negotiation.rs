//! Agreement of the two ends before anything is sent: H.264, and feedback on every packet.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use rtc::interceptor::{NackResponderBuilder, Registry, SenderReportBuilder, Slot};
use rtc::media_stream::MediaStreamTrack;
use rtc::peer_connection::configuration::RTCConfigurationBuilder;
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_H264, MediaEngine};
use rtc::peer_connection::configuration::setting_engine::SettingEngineBuilder;
use rtc::peer_connection::sdp::RTCSessionDescription;
use rtc::peer_connection::transport::{CandidateConfig, CandidateHostConfig, RTCIceCandidate};
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::rtp_transceiver::RTCRtpSenderId;
use rtc::rtp_transceiver::rtp_sender::{
    RTCPFeedback, RTCRtpCodec, RTCRtpCodecParameters, RTCRtpCodingParameters, RTCRtpEncodingParameters,
    RTCRtpHeaderExtensionCapability, RtpCodecKind,
};
use rtc::shared::error::Error;
use serde::Serialize;
use tidemark_senders::media::ReportFormat;

use crate::tap::Tap;

/// Longest offer in bytes. Chromium's offer for one picture has some 6 kB.
pub const MAX_OFFER: usize = 64 * 1024;
/// Header extension with transport-wide numbers.
const TRANSPORT_WIDE: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";
/// Constrained baseline, level 3.1, which every browser decodes, in packets with fragments and aggregates (RFC 6184 8.1).
const FORMAT: &str = "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f";
/// Silence after which a viewer counts as away, and further silence after which it is forgotten.
const AWAY: Duration = Duration::from_secs(4);
const FORGOTTEN: Duration = Duration::from_secs(4);

/// Feedback that both ends support.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// RFC 8888: arrival times and ECN of every packet.
    Rfc8888,
    /// Transport-wide feedback: arrival times, but no marks.
    TransportWide,
    /// No feedback: the rate is fixed.
    None,
}

impl Feedback {
    /// Chooses feedback from an offer: RFC 8888, unless the controller ignores marks and wants finer times.
    fn offered(offer: &str, wanted: ReportFormat) -> Self {
        let has = |feedback: &str| {
            offer.lines().any(|line| line.starts_with("a=rtcp-fb:") && line.trim_end().ends_with(feedback))
        };
        let is_transport_wide = has(" transport-cc") && offer.contains(TRANSPORT_WIDE);
        match (has(" ack ccfb"), is_transport_wide) {
            (_, true) if wanted == ReportFormat::TransportWide => Self::TransportWide,
            (true, _) => Self::Rfc8888,
            (false, true) => Self::TransportWide,
            (false, false) => Self::None,
        }
    }
}

/// Reason why an offer can't be answered.
#[derive(Debug, thiserror::Error)]
pub enum Refused {
    /// Longer than any browser's offer.
    #[error("the offer has {0} bytes, more than {MAX_OFFER}")]
    TooLong(usize),
    /// Media other than a single video to receive.
    #[error("the offer must ask for one video, with a=recvonly and H.264, and nothing else")]
    NoVideo,
    /// Content that can't be parsed.
    #[error("the offer can't be read: {0}")]
    Unreadable(#[from] Error),
}

/// A connection that waits for its viewer.
pub(crate) struct Agreed {
    pub(crate) connection: RTCPeerConnection,
    pub(crate) track: RTCRtpSenderId,
    pub(crate) ssrc: u32,
    pub(crate) payload_type: u8,
    pub(crate) feedback: Feedback,
    /// Header extension of the transport-wide number.
    pub(crate) extension: Option<u8>,
    pub(crate) answer: String,
}

fn capability(typ: &str, parameter: &str) -> RTCPFeedback {
    RTCPFeedback { typ: typ.into(), parameter: parameter.into() }
}

/// Answers an offer (RFC 9725, WHEP's draft: one exchange, all candidates in it) for a server that receives at `local`.
pub(crate) fn answer(
    now: Instant,
    offer: &str,
    local: SocketAddr,
    wanted: ReportFormat,
    ssrc: u32,
    tap: &Tap,
) -> Result<Agreed, Refused> {
    let offer = checked(offer)?;
    let feedback = Feedback::offered(&offer, wanted);
    let (media, codec) = media_engine(feedback)?;
    let settings = SettingEngineBuilder::new()
        .with_ice_timeouts(Some(AWAY), Some(FORGOTTEN), Some(Duration::from_secs(1)))
        .with_include_loopback_candidate(true)
        .build();
    let registry = Registry::new()
        .with(Slot::CongestionControl, tap.interceptor())
        .with(Slot::NackResponder, NackResponderBuilder::new().build())
        .with(Slot::SenderReport, SenderReportBuilder::new().build());
    let mut connection = RTCPeerConnectionBuilder::new()
        .with_configuration(RTCConfigurationBuilder::new().build())
        .with_setting_engine(settings)
        .with_media_engine(media)
        .with_interceptor_registry(registry)
        .build(now)?;
    let coding = RTCRtpCodingParameters { ssrc: Some(ssrc), ..Default::default() };
    let encoding = RTCRtpEncodingParameters { rtp_coding_parameters: coding, codec, ..Default::default() };
    let name = |of: &str| format!("tidemark-{of}");
    let picture =
        MediaStreamTrack::new(name("stream"), name("picture"), name("picture"), RtpCodecKind::Video, vec![encoding]);
    let track = connection.add_track(picture)?;
    connection.set_remote_description(now, RTCSessionDescription::offer(offer)?)?;
    let base_config = CandidateConfig {
        network: "udp".into(),
        address: local.ip().to_string(),
        port: local.port(),
        component: 1,
        ..Default::default()
    };
    let candidate = CandidateHostConfig { base_config, ..Default::default() }.new_candidate_host()?;
    connection.add_local_candidate(RTCIceCandidate::from(&candidate).to_json()?)?;
    let answer = connection.create_answer(None)?;
    connection.set_local_description(now, answer)?;
    let answer = connection.local_description().ok_or(Refused::NoVideo)?.sdp;
    let mut sender = connection.rtp_sender(track).ok_or(Refused::NoVideo)?;
    let parameters = &sender.get_parameters().rtp_parameters;
    let payload_type = parameters.codecs.first().ok_or(Refused::NoVideo)?.payload_type;
    let extension = parameters.header_extensions.iter().find(|extension| extension.uri == TRANSPORT_WIDE);
    let extension = extension.and_then(|extension| u8::try_from(extension.id).ok());
    Ok(Agreed { track, ssrc, payload_type, feedback, extension, answer, connection })
}

/// Offer as it is read here, if it asks for one video.
fn checked(offer: &str) -> Result<String, Refused> {
    if offer.len() > MAX_OFFER {
        return Err(Refused::TooLong(offer.len()));
    }
    let media: Vec<&str> = offer.lines().filter(|line| line.starts_with("m=")).collect();
    let [video] = media[..] else { return Err(Refused::NoVideo) };
    if !video.starts_with("m=video") || !offer.to_ascii_uppercase().contains("H264/90000") {
        return Err(Refused::NoVideo);
    }
    // mDNS names can't be looked up here; the viewer's checks reveal its address (RFC 8445 7.3.1.3).
    let lines = offer.lines().filter(|line| !line.contains(".local "));
    Ok(lines.flat_map(|line| [line.trim_end(), "\r\n"]).collect())
}

/// Codec and feedback of the answer.
fn media_engine(feedback: Feedback) -> Result<(MediaEngine, RTCRtpCodec), Error> {
    let mut rtcp_feedback = vec![capability("nack", ""), capability("nack", "pli"), capability("ccm", "fir")];
    match feedback {
        Feedback::Rfc8888 => rtcp_feedback.push(capability("ack", "ccfb")),
        Feedback::TransportWide => rtcp_feedback.push(capability("transport-cc", "")),
        Feedback::None => {}
    }
    let rtp_codec = RTCRtpCodec {
        mime_type: MIME_TYPE_H264.into(),
        clock_rate: 90_000,
        channels: 0,
        sdp_fmtp_line: FORMAT.into(),
        rtcp_feedback,
    };
    let mut media = MediaEngine::default();
    let parameters = RTCRtpCodecParameters { rtp_codec: rtp_codec.clone(), payload_type: 102 };
    media.register_codec(parameters, RtpCodecKind::Video)?;
    if feedback == Feedback::TransportWide {
        let extension = RTCRtpHeaderExtensionCapability { uri: TRANSPORT_WIDE.into() };
        media.register_header_extension(extension, RtpCodecKind::Video, None)?;
    }
    Ok((media, rtp_codec))
}
