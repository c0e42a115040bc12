//! The largest value of each field is written, and the next one is rejected.

use std::net::{Ipv4Addr, Ipv6Addr};

use tidemark_core::{Bytes, Dscp, Ecn};
use tidemark_wire::mac::{BufferTable, ShortBsr};
use tidemark_wire::nru::{DiscardBlock, DiscardBlocks, DlDataDeliveryStatus, DlUserData, SnRange, SnRanges};
use tidemark_wire::rfc8888::{self, Arrival, ArrivalOffset, Feedback};
use tidemark_wire::sdap::{Downlink, Uplink};
use tidemark_wire::{Error, gtpu, ipv4, ipv6, nru};

const V4: ipv4::Repr = ipv4::Repr {
    dscp: Dscp(63),
    ecn: Ecn::Ce,
    identification: 0xABCD,
    dont_fragment: false,
    more_fragments: true,
    fragment_offset: (1 << 13) - 1,
    ttl: 255,
    protocol: 254,
    source: Ipv4Addr::BROADCAST,
    destination: Ipv4Addr::LOCALHOST,
    payload_len: 0xFFFF - 20,
};

const V6: ipv6::Repr = ipv6::Repr {
    dscp: Dscp(63),
    ecn: Ecn::Ce,
    flow_label: (1 << 20) - 1,
    payload_len: 0xFFFF,
    next_header: 254,
    hop_limit: 255,
    source: Ipv6Addr::LOCALHOST,
    destination: Ipv6Addr::UNSPECIFIED,
};

#[test]
fn ip_headers_refuse_each_field_that_is_too_large() {
    let mut bytes = vec![0; 1 << 16];
    assert_eq!(V4.emit(&mut bytes), Ok(20));
    let packet = ipv4::Packet::new_checked(&bytes[..0xFFFF]).unwrap();
    assert_eq!(ipv4::Repr::parse(&packet), V4);
    assert_eq!((packet.identification(), packet.dont_fragment()), (0xABCD, false));
    for repr in [
        ipv4::Repr { dscp: Dscp(64), fragment_offset: 0, ..V4 },
        ipv4::Repr { dscp: Dscp(0), fragment_offset: 1 << 13, ..V4 },
        ipv4::Repr { payload_len: 0xFFFF - 19, ..V4 },
    ] {
        assert_eq!(repr.emit(&mut bytes), Err(Error::Value), "{repr:?}");
    }
    assert_eq!(V6.emit(&mut bytes), Ok(40));
    bytes.resize(0xFFFF + 40, 0);
    assert_eq!(ipv6::Repr::parse(&ipv6::Packet::new_checked(&bytes).unwrap()), V6);
    for repr in
        [ipv6::Repr { dscp: Dscp(64), flow_label: 0, ..V6 }, ipv6::Repr { dscp: Dscp(0), flow_label: 1 << 20, ..V6 }]
    {
        assert_eq!(repr.emit(&mut bytes), Err(Error::Value), "{repr:?}");
    }
}

#[test]
fn a_gtp_u_header_has_up_to_eight_extensions_none_of_type_zero() {
    let mut bytes = [0; 100];
    let mut list = [gtpu::Extension { kind: gtpu::ExtensionType(0x20), content: &[1, 2] }; 9];
    let message = gtpu::Repr::g_pdu(1);
    assert_eq!(message.emit(&mut bytes, &list[..8], 0), Ok(12 + 8 * 4));
    assert_eq!(gtpu::Packet::new_checked(&bytes).unwrap().extensions().count(), 8);
    assert_eq!(message.emit(&mut bytes, &list, 0), Err(Error::Value));
    list[1].kind = gtpu::ExtensionType(0);
    assert_eq!(message.emit(&mut bytes, &list[..1], 0), Ok(16));
    assert_eq!(message.emit(&mut bytes, &list[..2], 0), Err(Error::Value));
}

#[test]
fn an_nr_u_frame_has_up_to_1018_bytes() {
    let ranges = [SnRange { start: 1, end: 2 }; 162];
    let (mut lost, mut delivered) = ([[0; 6]; 162], [[0; 6]; 162]);
    let mut emit = |count: usize, highest_transmitted| {
        let frame = DlDataDeliveryStatus {
            final_frame: false,
            desired_buffer_size: 0,
            desired_data_rate: None,
            lost: Some(SnRanges::pack(&ranges[..161], &mut lost).unwrap()),
            highest_delivered: Some(1),
            highest_transmitted,
            cause: None,
            highest_delivered_retransmitted: None,
            highest_retransmitted: None,
            delivered_out_of_sequence: Some(SnRanges::pack(&ranges[..count], &mut delivered).unwrap()),
        };
        frame.emit(&mut [0; 2_000])
    };
    let lengths: Vec<_> = (0..12).map(|half| emit(half / 2, (half % 2 == 1).then_some(2))).collect();
    let expected = [978, 982, 986, 986, 990, 994, 998, 998, 1_002, 1_006, 1_010, 1_010].map(Ok);
    assert_eq!(lengths, expected);
    assert_eq!([emit(6, None), emit(6, Some(2))], [1_014, nru::MAX_LEN].map(Ok));
    assert_eq!([emit(7, None), emit(7, Some(2))], [Err(Error::Value); 2]);
    assert_eq!(SnRanges::pack(&ranges, &mut lost).map(drop), Err(Error::Value));
}

#[test]
fn a_list_of_discards_has_up_to_255_blocks() {
    let blocks = [DiscardBlock { start: 0xFF_FFFF, len: 255 }; 256];
    let mut storage = [[0; 4]; 256];
    assert_eq!(DiscardBlocks::pack(&blocks, &mut storage), Err(Error::Value));
    assert_eq!(DiscardBlocks::pack(&[DiscardBlock { start: 1 << 24, len: 1 }], &mut storage), Err(Error::Value));
    // So many have no room in a frame, and half of them do.
    assert_eq!(DiscardBlocks::pack(&blocks[..255], &mut storage).unwrap().iter().len(), 255);
    let packed = DiscardBlocks::pack(&blocks[..128], &mut storage).unwrap();
    let frame = DlUserData { discard_blocks: Some(packed), ..DlUserData::default() };
    let mut bytes = [0; 600];
    let len = frame.emit(&mut bytes).unwrap();
    assert_eq!(DlUserData::parse(&bytes[..len]), Ok(frame));
}

#[test]
fn qos_flow_identifiers_have_six_bits() {
    for qfi in 0..=255 {
        let expected = |octet: u8| if qfi < 64 { Ok(octet | qfi) } else { Err(Error::Value) };
        assert_eq!(Downlink { rdi: false, rqi: true, qfi }.emit(), expected(0x40));
        assert_eq!(Uplink::Data { qfi }.emit(), expected(0x80));
        assert_eq!(Uplink::EndMarker { qfi }.emit(), expected(0));
    }
    for octet in 0..=255 {
        let (header, sdu) = Uplink::parse(core::slice::from_ref(&octet)).unwrap();
        assert!(sdu.is_empty());
        // The reserved bit stays out of the value.
        assert_eq!(header.emit(), Ok(octet & !0x40));
    }
}

#[test]
fn short_buffer_status_reports_have_eight_groups_and_32_indices() {
    for (group, index, is_written) in [(7, 31, true), (8, 31, false), (7, 32, false), (0, 255, false)] {
        assert_eq!(ShortBsr { group, index }.emit().is_ok(), is_written, "{group} {index}");
    }
    assert_eq!(BufferTable::C.index(Bytes(4_751)), None);
    assert_eq!(BufferTable::C.index(Bytes(4_752)), Some(0));
    assert_eq!(BufferTable::C.index(Bytes(750_000)), Some(255));
    assert_eq!(BufferTable::C.index(Bytes(750_001)), None);
}

#[test]
fn a_stream_reports_on_up_to_a_quarter_of_the_sequence_numbers() {
    let mut bytes = vec![0; 2 * rfc8888::MAX_REPORTS + 100];
    let emitted = |count: usize, bytes: &mut [u8]| {
        let mut builder = rfc8888::Builder::new(bytes, 1)?;
        builder.stream(2, 3, std::iter::repeat_n(None, count))?;
        builder.finish(4)
    };
    let len = emitted(rfc8888::MAX_REPORTS, &mut bytes).unwrap();
    let feedback = Feedback::parse(&bytes[..len]).unwrap();
    assert_eq!(feedback.streams().next().unwrap().packets().len(), rfc8888::MAX_REPORTS);
    // A count that is larger by one, with the reports that it announces.
    let mut larger = bytes[..len].to_vec();
    larger[14..16].copy_from_slice(&(rfc8888::MAX_REPORTS as u16 + 1).to_be_bytes());
    larger.splice(len - 4..len - 4, [0; 4]);
    let words = larger.len() as u16 / 4 - 1;
    larger[2..4].copy_from_slice(&words.to_be_bytes());
    assert_eq!(Feedback::parse(&larger).map(drop), Err(Error::Length));
    for count in [rfc8888::MAX_REPORTS + 1, rfc8888::MAX_REPORTS + 2] {
        assert_eq!(emitted(count, &mut bytes), Err(Error::Value));
    }
}

#[test]
fn arrival_offsets_reach_up_to_the_reserved_values() {
    for units in [0, 0x1FFD, 0x1FFE, 0x1FFF, 0xFFFF] {
        let mut bytes = [0; 64];
        let mut builder = rfc8888::Builder::new(&mut bytes, 1).unwrap();
        let arrival = Arrival { ecn: Ecn::Ce, offset: ArrivalOffset::Before(units) };
        let expected = if units <= 0x1FFD { Ok(()) } else { Err(Error::Value) };
        assert_eq!(builder.stream(2, 3, [Some(arrival)]), expected, "{units:#x}");
    }
}
