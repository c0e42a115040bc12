//! No packet, however wrong, makes an endpoint panic or grow without bound.

use crate::link::{Bottleneck, Link};
use proptest::prelude::*;
use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{BitRate, Bytes, Duration, Ecn, FlowId, Instant, Packet, TcpFlags};
use tidemark_senders::app::ShortFlowsConfig;
use tidemark_senders::media::{GccConfig, PragueVideoConfig, ScreamConfig, VideoConfig};
use tidemark_senders::payload::{
    FramePart, Metric, Metrics, PragueAck, PragueData, PragueReport, PragueWord, Report, RtpPacket, SackBlocks,
    TcpSegment,
};
use tidemark_senders::udp_prague::{FrameConfig, UdpPragueConfig};
use tidemark_senders::{AppConfig, Payload, SenderConfig};

/// Small numbers that may hit what is under way, and large ones that cannot.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..200, 0u64..200_000, any::<u64>(), Just(u64::MAX)]
}

fn time() -> impl Strategy<Value = Instant> {
    prop_oneof![0u64..2_000_000_000, any::<u64>()].prop_map(Instant::from_nanos)
}

fn ecn() -> impl Strategy<Value = Ecn> {
    (0u8..4).prop_map(Ecn::from_bits)
}

fn flags() -> impl Strategy<Value = TcpFlags> {
    (any::<bool>(), any::<bool>(), 0u8..8)
        .prop_map(|(syn, ack, ace)| TcpFlags { syn, ack, ..TcpFlags::default() }.with_ace(ace))
}

fn segment() -> impl Strategy<Value = Payload> {
    let numbers = (number(), number(), any::<u32>(), any::<u32>());
    let blocks = prop::collection::vec((number(), number()), 0..4);
    let option = proptest::option::of((any::<u32>(), any::<u32>()));
    let recommended = proptest::option::of(any::<u64>().prop_map(BitRate::from_bps));
    (flags(), numbers, time(), time(), blocks, option, recommended).prop_map(
        |(flags, (seq, ack, payload, window), timestamp, echo, blocks, option, recommended)| {
            let mut sack = SackBlocks::default();
            for (start, end) in blocks {
                sack.push(ack, start, end);
            }
            let accecn = option.map(|(e1b, ceb)| AccEcnCounters { e0b: None, ceb: Some(ceb), e1b: Some(e1b) });
            let connection = window % 3;
            Payload::Tcp(TcpSegment {
                connection,
                flags,
                seq,
                ack,
                payload,
                window,
                timestamp,
                echo,
                sack,
                accecn,
                recommended,
            })
        },
    )
}

fn part() -> impl Strategy<Value = FramePart> {
    (number(), any::<u32>(), any::<u32>(), time()).prop_map(|(number, size, len, captured)| FramePart {
        number,
        size,
        len,
        captured,
    })
}

fn prague() -> impl Strategy<Value = Payload> {
    let data = (number(), time(), time(), any::<u32>(), proptest::option::of(part())).prop_map(
        |(seq, timestamp, echo, size, frame)| Payload::PragueData(PragueData { seq, timestamp, echo, size, frame }),
    );
    let ack = (number(), time(), time(), (number(), number(), number()), any::<bool>()).prop_map(
        |(ack_seq, timestamp, echo, (received, marked, lost), error)| {
            Payload::PragueAck(PragueAck { ack_seq, timestamp, echo, received, marked, lost, error })
        },
    );
    let report = (number(), prop::collection::vec(any::<u16>().prop_map(PragueWord), 0..100))
        .prop_map(|(begin, words)| Payload::PragueReport(PragueReport { begin, words }));
    prop_oneof![data, ack, report]
}

fn media() -> impl Strategy<Value = Payload> {
    let rtp = (number(), part(), time(), any::<bool>())
        .prop_map(|(seq, frame, sent_at, marker)| Payload::Rtp(RtpPacket { seq, frame, sent_at, marker }));
    let ccfb = (number(), time(), prop::collection::vec(any::<u16>().prop_map(Metric), 0..100))
        .prop_map(|(begin, timestamp, metrics)| (begin, timestamp, Metrics::Ccfb(metrics)));
    let wide = (number(), time(), prop::collection::vec(proptest::option::of(time()), 0..100))
        .prop_map(|(begin, timestamp, times)| (begin, timestamp, Metrics::TransportWide(times)));
    let report = prop_oneof![ccfb, wide].prop_map(|(begin, timestamp, metrics)| {
        Payload::Report(Box::new(Report { begin, timestamp, metrics, recommended: None }))
    });
    prop_oneof![rtp, report]
}

fn bombard(config: &SenderConfig, app: &AppConfig, payloads: Vec<(Payload, Ecn, bool)>) {
    let mut link = Link::new(config, app, Duration::from_millis(10));
    link.bottleneck = Some(Bottleneck::new(BitRate::from_mbps(20), Bytes(100_000), Duration::from_millis(5)));
    link.run_for(Duration::from_millis(100));
    for (payload, ecn, at_server) in payloads {
        let packet = Packet { flow: FlowId(3), size: Bytes(100), ecn, payload };
        let end = if at_server { &mut link.server } else { &mut link.client };
        end.handle_packet(link.now, packet.as_ref());
        // A burst of what it answers may be large, but it ends.
        link.run_for(Duration::from_micros(500));
    }
    link.run_for(Duration::from_millis(300));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn tcp(payloads in prop::collection::vec((segment(), ecn(), any::<bool>()), 1..40)) {
        bombard(&SenderConfig::default(), &AppConfig::default(), payloads);
    }

    #[test]
    fn short_flows(payloads in prop::collection::vec((segment(), ecn(), any::<bool>()), 1..40)) {
        bombard(&SenderConfig::default(), &AppConfig::ShortFlows(ShortFlowsConfig::default()), payloads);
    }

    #[test]
    fn udp_prague(payloads in prop::collection::vec((prague(), ecn(), any::<bool>()), 1..40), in_frames in any::<bool>(), reports in any::<bool>()) {
        let frames = in_frames.then(FrameConfig::default);
        let report_interval = reports.then_some(Duration::from_millis(25));
        let config = SenderConfig::UdpPrague(UdpPragueConfig { frames, report_interval, ..UdpPragueConfig::default() });
        bombard(&config, &AppConfig::default(), payloads);
    }

    #[test]
    fn video(payloads in prop::collection::vec((media(), ecn(), any::<bool>()), 1..40), which in 0usize..3) {
        let config: [SenderConfig; 3] = [GccConfig::default().into(), ScreamConfig::default().into(), PragueVideoConfig::default().into()];
        let config = &config[which];
        bombard(config, &AppConfig::Video(VideoConfig::default()), payloads);
    }
}
