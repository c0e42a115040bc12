//! A viewer in memory: the WebRTC stack with RFC 8888 reports that carry the ECN field of each datagram, like a browser's.

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use bytes::BytesMut;
use rtc::interceptor::{Registry, Slot, TwccReceiverBuilder};
use rtc::peer_connection::configuration::RTCConfigurationBuilder;
use rtc::peer_connection::configuration::media_engine::{MIME_TYPE_H264, MediaEngine};
use rtc::peer_connection::event::{RTCPeerConnectionEvent, RTCTrackEvent};
use rtc::peer_connection::message::{RTCMessage, TaggedRTCMessage};
use rtc::peer_connection::sdp::RTCSessionDescription;
use rtc::peer_connection::transport::{CandidateConfig, CandidateHostConfig, RTCIceCandidate};
use rtc::peer_connection::{RTCPeerConnection, RTCPeerConnectionBuilder};
use rtc::rtcp;
use rtc::rtcp::transport_feedbacks::cc_feedback_report::{
    CcFeedbackMetricBlock, CcFeedbackReport, CcFeedbackReportBlock, Ecn as Reported,
};
use rtc::rtp_transceiver::RTCRtpReceiverId;
use rtc::rtp_transceiver::rtp_sender::{
    RTCPFeedback, RTCRtpCodec, RTCRtpCodecParameters, RTCRtpHeaderExtensionCapability, RtpCodecKind,
};
use rtc::sansio::Protocol as _;
use rtc::shared::{TaggedBytesMut, TransportContext, TransportProtocol};
use tidemark_core::Ecn;
use tidemark_stream::Feedback;

/// Time between two reports, as Chromium's.
const INTERVAL: Duration = Duration::from_millis(33);
const TRANSPORT_WIDE: &str = "http://www.ietf.org/id/draft-holmer-rmcat-transport-wide-cc-extensions-01";

/// A packet that arrived.
pub(crate) struct Arrival {
    pub(crate) at: Instant,
    pub(crate) seq: u16,
    pub(crate) ecn: Ecn,
    pub(crate) payload: bytes::Bytes,
}

pub(crate) struct Peer {
    connection: RTCPeerConnection,
    local: SocketAddr,
    pub(crate) server: SocketAddr,
    feedback: Feedback,
    receiver: Option<RTCRtpReceiverId>,
    ssrc: u32,
    epoch: Instant,
    report_at: Instant,
    reported: usize,
    pub(crate) arrivals: Vec<Arrival>,
    pub(crate) is_silent: bool,
}

impl Peer {
    /// A viewer and its offer.
    pub(crate) fn offer(now: Instant, local: SocketAddr, server: SocketAddr, feedback: Feedback) -> (Self, String) {
        let pair = |typ: &str, parameter: &str| RTCPFeedback { typ: typ.into(), parameter: parameter.into() };
        let mut rtcp_feedback = vec![pair("nack", ""), pair("nack", "pli")];
        let mut registry = Registry::new();
        match feedback {
            Feedback::Rfc8888 => rtcp_feedback.push(pair("ack", "ccfb")),
            Feedback::TransportWide => {
                rtcp_feedback.push(pair("transport-cc", ""));
                registry = registry.with(Slot::TwccReceiver, TwccReceiverBuilder::new().build());
            }
            Feedback::None => {}
        }
        let mut media = MediaEngine::default();
        let rtp_codec = RTCRtpCodec {
            mime_type: MIME_TYPE_H264.into(),
            clock_rate: 90_000,
            channels: 0,
            sdp_fmtp_line: "level-asymmetry-allowed=1;packetization-mode=1;profile-level-id=42e01f".into(),
            rtcp_feedback,
        };
        let codec = RTCRtpCodecParameters { rtp_codec, payload_type: 109 };
        media.register_codec(codec, RtpCodecKind::Video).unwrap();
        if feedback == Feedback::TransportWide {
            let extension = RTCRtpHeaderExtensionCapability { uri: TRANSPORT_WIDE.into() };
            media.register_header_extension(extension, RtpCodecKind::Video, None).unwrap();
        }
        let mut connection = RTCPeerConnectionBuilder::new()
            .with_configuration(RTCConfigurationBuilder::new().build())
            .with_media_engine(media)
            .with_interceptor_registry(registry)
            .build(now)
            .unwrap();
        connection.add_transceiver_from_kind(RtpCodecKind::Video, None).unwrap();
        let base_config = CandidateConfig {
            network: "udp".into(),
            address: local.ip().to_string(),
            port: local.port(),
            component: 1,
            ..Default::default()
        };
        let candidate = CandidateHostConfig { base_config, ..Default::default() }.new_candidate_host().unwrap();
        connection.add_local_candidate(RTCIceCandidate::from(&candidate).to_json().unwrap()).unwrap();
        let offer = connection.create_offer(None).unwrap();
        connection.set_local_description(now, offer).unwrap();
        let offer = connection.local_description().unwrap().sdp;
        let peer = Self {
            connection,
            local,
            server,
            feedback,
            receiver: None,
            ssrc: 0,
            epoch: now,
            report_at: now,
            reported: 0,
            arrivals: Vec::new(),
            is_silent: false,
        };
        (peer, offer)
    }

    pub(crate) fn accept(&mut self, now: Instant, answer: String) {
        self.connection.set_remote_description(now, RTCSessionDescription::answer(answer).unwrap()).unwrap();
    }

    pub(crate) fn handle_datagram(&mut self, now: Instant, bytes: &[u8], ecn: Ecn) {
        let transport = TransportContext {
            local_addr: self.local,
            peer_addr: self.server,
            ecn: None,
            transport_protocol: TransportProtocol::UDP,
        };
        let _ = self.connection.handle_read(TaggedBytesMut { now, transport, message: BytesMut::from(bytes) });
        while let Some(event) = self.connection.poll_event() {
            if let RTCPeerConnectionEvent::OnTrack(RTCTrackEvent::OnOpen(track)) = event {
                (self.receiver, self.ssrc) = (Some(track.receiver_id), track.ssrc);
            }
        }
        while let Some(TaggedRTCMessage { message, .. }) = self.connection.poll_read() {
            if let RTCMessage::RtpPacket(_, packet) = message {
                let seq = packet.header.sequence_number;
                self.arrivals.push(Arrival { at: now, seq, ecn, payload: packet.payload });
            }
        }
    }

    pub(crate) fn handle_timeout(&mut self, now: Instant) {
        if self.connection.poll_timeout().is_some_and(|at| at <= now) {
            self.connection.handle_timeout(now).unwrap();
        }
        if now >= self.report_at {
            self.report_at = now + INTERVAL;
            self.report(now);
        }
    }

    /// Reports the arrivals since the last report; missing numbers between arrivals count as lost.
    fn report(&mut self, now: Instant) {
        let new = &self.arrivals[self.reported..];
        if self.feedback != Feedback::Rfc8888 || self.is_silent || new.is_empty() {
            return;
        }
        let begin_sequence = new[0].seq;
        let span = usize::from(new.iter().map(|arrival| arrival.seq.wrapping_sub(begin_sequence)).max().unwrap()) + 1;
        let mut metric_blocks = vec![CcFeedbackMetricBlock::default(); span];
        for arrival in new {
            let offset = now.duration_since(arrival.at).as_nanos() * 1024 / 1_000_000_000;
            let ecn = [Reported::NotEct, Reported::Ect1, Reported::Ect0, Reported::Ce][usize::from(arrival.ecn.bits())];
            metric_blocks[usize::from(arrival.seq.wrapping_sub(begin_sequence))] =
                CcFeedbackMetricBlock { received: true, ecn, arrival_time_offset: offset as u16 };
        }
        self.reported = self.arrivals.len();
        self.send_blocks(now, vec![CcFeedbackReportBlock { media_ssrc: self.ssrc, begin_sequence, metric_blocks }]);
    }

    pub(crate) fn ssrc(&self) -> u32 {
        self.ssrc
    }

    /// Sends a report with these blocks.
    pub(crate) fn send_blocks(&mut self, now: Instant, report_blocks: Vec<CcFeedbackReportBlock>) {
        let report_timestamp = (now.duration_since(self.epoch).as_nanos() * 65_536 / 1_000_000_000) as u32;
        self.send(now, Box::new(CcFeedbackReport { sender_ssrc: 1, report_blocks, report_timestamp }));
    }

    pub(crate) fn send(&mut self, now: Instant, packet: Box<dyn rtcp::Packet>) {
        let Some(receiver) = self.receiver else { return };
        self.connection.rtp_receiver(receiver).unwrap().write_rtcp(now, vec![packet]).unwrap();
    }

    pub(crate) fn poll_transmit(&mut self) -> Option<BytesMut> {
        self.connection.poll_write().map(|out| out.message)
    }

    pub(crate) fn next_deadline(&mut self) -> Instant {
        self.connection.poll_timeout().map_or(self.report_at, |at| at.min(self.report_at))
    }
}
