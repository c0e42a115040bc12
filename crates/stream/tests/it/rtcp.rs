//! Cross-checks with rtc-rtcp, an independent crate: each side reads the RTCP feedback that the other writes.

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;
use rtc_rtcp::packet::{Packet, marshal, unmarshal};
use rtc_rtcp::transport_feedbacks::cc_feedback_report as ccfb;
use rtc_rtcp::transport_feedbacks::transport_layer_cc::{
    PacketStatusChunk, RecvDelta, RunLengthChunk, StatusChunkTypeTcc, StatusVectorChunk, SymbolSizeTypeTcc,
    SymbolTypeTcc, TransportLayerCc,
};
use tidemark_core::Ecn;
use tidemark_wire::rfc8888::{Arrival, ArrivalOffset, Builder, Feedback};
use tidemark_wire::twcc;

/// Report on a packet: its ECN field and the raw 13 bits of its arrival offset.
type Fate = Option<(u8, u16)>;

fn stream() -> impl Strategy<Value = (u32, u16, Vec<Fate>)> {
    (any::<u32>(), any::<u16>(), vec(of((0u8..4, 0u16..0x2000)), 0..20))
}

fn arrival(fate: Fate) -> Option<Arrival> {
    fate.map(|(ecn, bits)| Arrival {
        ecn: Ecn::from_bits(ecn),
        offset: match bits {
            0x1FFE => ArrivalOffset::TooLong,
            0x1FFF => ArrivalOffset::Unavailable,
            units => ArrivalOffset::Before(units),
        },
    })
}

fn report(sender_ssrc: u32, report_timestamp: u32, streams: &[(u32, u16, Vec<Fate>)]) -> ccfb::CcFeedbackReport {
    let ecns = [ccfb::Ecn::NotEct, ccfb::Ecn::Ect1, ccfb::Ecn::Ect0, ccfb::Ecn::Ce];
    let metric = |fate: &Fate| match *fate {
        None => ccfb::CcFeedbackMetricBlock::default(),
        Some((ecn, arrival_time_offset)) => {
            ccfb::CcFeedbackMetricBlock { received: true, ecn: ecns[usize::from(ecn)], arrival_time_offset }
        }
    };
    let block = |(media_ssrc, begin_sequence, fates): &(u32, u16, Vec<Fate>)| ccfb::CcFeedbackReportBlock {
        media_ssrc: *media_ssrc,
        begin_sequence: *begin_sequence,
        metric_blocks: fates.iter().map(metric).collect(),
    };
    ccfb::CcFeedbackReport { sender_ssrc, report_blocks: streams.iter().map(block).collect(), report_timestamp }
}

fn unmarshalled(mut bytes: &[u8]) -> Box<dyn Packet> {
    let mut packets = unmarshal(&mut bytes).unwrap();
    assert_eq!(packets.len(), 1);
    packets.remove(0)
}

/// Packets with known arrival: symbol and delta in units of 250 us.
fn chunks_of(deltas: &[Option<i16>]) -> (Vec<PacketStatusChunk>, Vec<RecvDelta>) {
    let symbol = |delta: &Option<i16>| match delta {
        None => SymbolTypeTcc::PacketNotReceived,
        Some(0..=255) => SymbolTypeTcc::PacketReceivedSmallDelta,
        Some(_) => SymbolTypeTcc::PacketReceivedLargeDelta,
    };
    let chunks = deltas.chunks(7).map(|seven| {
        let mut symbol_list: Vec<_> = seven.iter().map(symbol).collect();
        let first = symbol_list[0];
        if symbol_list.iter().all(|symbol| *symbol == first) {
            return PacketStatusChunk::RunLengthChunk(RunLengthChunk {
                type_tcc: StatusChunkTypeTcc::RunLengthChunk,
                packet_status_symbol: first,
                run_length: seven.len() as u16,
            });
        }
        symbol_list.resize(7, SymbolTypeTcc::PacketNotReceived);
        PacketStatusChunk::StatusVectorChunk(StatusVectorChunk {
            type_tcc: StatusChunkTypeTcc::StatusVectorChunk,
            symbol_size: SymbolSizeTypeTcc::TwoBit,
            symbol_list,
        })
    });
    let recv = deltas.iter().filter_map(|delta| {
        delta.map(|units| RecvDelta { type_tcc_packet: symbol(delta), delta: i64::from(units) * 250 })
    });
    (chunks.collect(), recv.collect())
}

proptest! {
    #[test]
    fn congestion_control_feedback_both_ways(sender: u32, timestamp: u32, streams in vec(stream(), 0..4)) {
        let theirs = report(sender, timestamp, &streams);

        let mut ours = [0xEE; 400];
        let mut builder = Builder::new(&mut ours, sender).unwrap();
        for (ssrc, begin, fates) in &streams {
            builder.stream(*ssrc, *begin, fates.iter().map(|fate| arrival(*fate))).unwrap();
        }
        let len = builder.finish(timestamp).unwrap();
        let read = unmarshalled(&ours[..len]);
        prop_assert_eq!(read.as_any().downcast_ref::<ccfb::CcFeedbackReport>(), Some(&theirs));

        let written = marshal(&[Box::new(theirs)]).unwrap();
        prop_assert_eq!(&written[..], &ours[..len], "the format leaves no choice");
        let feedback = Feedback::parse(&written).unwrap();
        prop_assert_eq!((feedback.sender_ssrc, feedback.report_timestamp), (sender, timestamp));
        for (read, (ssrc, begin, fates)) in feedback.streams().zip(&streams) {
            prop_assert_eq!((read.ssrc, read.begin_seq), (*ssrc, *begin));
            prop_assert!(read.packets().map(|(_, arrival)| arrival).eq(fates.iter().map(|fate| arrival(*fate))));
        }
    }

    #[test]
    fn transport_wide_feedback_both_ways(
        sender_ssrc: u32, media_ssrc: u32, base_sequence: u16, reference_time in 0i32..1 << 23, feedback_count: u8,
        first in 0i16..256,
        more in vec(prop_oneof![Just(None), (0i16..256).prop_map(Some), any::<i16>().prop_map(Some)], 0..60),
    ) {
        // rtc-rtcp refuses feedback in which nothing arrived, so the first packet does.
        let deltas: Vec<_> = [Some(first)].into_iter().chain(more).collect();
        let repr = twcc::Repr { sender_ssrc, media_ssrc, base_sequence, reference_time, feedback_count };
        let (packet_chunks, recv_deltas) = chunks_of(&deltas);
        let theirs = TransportLayerCc {
            sender_ssrc,
            media_ssrc,
            base_sequence_number: base_sequence,
            packet_status_count: deltas.len() as u16,
            reference_time: reference_time as u32,
            fb_pkt_count: feedback_count,
            packet_chunks,
            recv_deltas: recv_deltas.clone(),
        };
        let written = marshal(&[Box::new(theirs)]).unwrap();
        let feedback = twcc::Feedback::parse(&written).unwrap();
        prop_assert_eq!(feedback.repr, repr);
        prop_assert!(feedback.deltas().map(|(_, delta)| delta).eq(deltas.iter().copied()));

        let mut ours = [0xEE; 400];
        let len = twcc::emit(&repr, &deltas, &mut ours).unwrap();
        let read = unmarshalled(&ours[..len]);
        let read = read.as_any().downcast_ref::<TransportLayerCc>().unwrap();
        prop_assert_eq!((read.sender_ssrc, read.media_ssrc), (sender_ssrc, media_ssrc));
        prop_assert_eq!((read.base_sequence_number, read.packet_status_count), (base_sequence, deltas.len() as u16));
        prop_assert_eq!((read.reference_time, read.fb_pkt_count), (reference_time as u32, feedback_count));
        prop_assert_eq!(&read.recv_deltas, &recv_deltas);
    }
}
