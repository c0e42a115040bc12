use std::vec::Vec;

use proptest::collection::vec;
use proptest::option::of;
use proptest::prelude::*;

use super::*;

fn emitted(pdu: Pdu<'_>) -> Vec<u8> {
    let mut bytes = std::vec![0xEE; 1100];
    let len = pdu.emit(&mut bytes).unwrap();
    bytes.truncate(len);
    bytes
}

#[test]
fn user_data_with_every_field() {
    let mut storage = [[0; 4]; 1];
    let frame = DlUserData {
        sn: 0x01_02_03,
        report_polling: true,
        flush: Some(0x11_12_13),
        discard_blocks: Some(DiscardBlocks::pack(&[DiscardBlock { start: 0x21_22_23, len: 4 }], &mut storage).unwrap()),
        retransmission: true,
        assistance_polling: true,
        user_data_exists: true,
        report_delivered: Some(0x31_32_33),
        request_out_of_sequence_report: true,
    };
    // TS 38.425 figure 5.5.2.1-1, octet by octet; the last one is padding.
    let octets = [0b0000_0111, 0b0001_1111, 1, 2, 3, 0x11, 0x12, 0x13, 1, 0x21, 0x22, 0x23, 4, 0x31, 0x32, 0x33, 0, 0];
    assert_eq!(emitted(Pdu::DlUserData(frame)), octets);
    assert_eq!(Pdu::parse(&octets), Ok(Pdu::DlUserData(frame)));
}

#[test]
fn delivery_status_with_every_field() {
    let (mut lost, mut delivered) = ([[0; 6]; 1], [[0; 6]; 2]);
    let range = |start, end| SnRange { start, end };
    let frame = DlDataDeliveryStatus {
        final_frame: true,
        desired_buffer_size: 0x0102_0304,
        desired_data_rate: Some(0x1112_1314),
        lost: Some(SnRanges::pack(&[range(1, 2)], &mut lost).unwrap()),
        highest_delivered: Some(0x21_22_23),
        highest_transmitted: Some(0x31_32_33),
        cause: Some(Cause::DownlinkOutage),
        highest_delivered_retransmitted: Some(0x41_42_43),
        highest_retransmitted: Some(0x51_52_53),
        delivered_out_of_sequence: Some(SnRanges::pack(&[range(5, 6), range(8, 9)], &mut delivered).unwrap()),
    };
    // TS 38.425 figure 5.5.2.2-1, octet by octet.
    let octets = [
        0b0001_1111,
        0b0001_1111,
        1,
        2,
        3,
        4,
        0x11,
        0x12,
        0x13,
        0x14,
        1,
        0,
        0,
        1,
        0,
        0,
        2,
        0x21,
        0x22,
        0x23,
        0x31,
        0x32,
        0x33,
        4,
        0x41,
        0x42,
        0x43,
        0x51,
        0x52,
        0x53,
        2,
        0,
        0,
        5,
        0,
        0,
        6,
        0,
        0,
        8,
        0,
        0,
        9,
        0,
        0,
        0,
    ];
    assert_eq!(emitted(Pdu::DlDataDeliveryStatus(frame)), octets);
    assert_eq!(Pdu::parse(&octets), Ok(Pdu::DlDataDeliveryStatus(frame)));
}

#[test]
fn a_status_before_anything_was_sent_has_no_sequence_numbers() {
    let frame = DlDataDeliveryStatus { desired_buffer_size: 3000, ..DlDataDeliveryStatus::default() };
    let octets = [0x10, 0, 0, 0, 0x0B, 0xB8];
    assert_eq!(emitted(Pdu::DlDataDeliveryStatus(frame)), octets);
    assert_eq!(Pdu::parse(&octets), Ok(Pdu::DlDataDeliveryStatus(frame)));
}

#[test]
fn assistance_information_with_every_field() {
    let mut storage = [0; 8];
    let fields = [
        AssistanceField { kind: AssistanceType::AverageCqi, value: &[11] },
        AssistanceField { kind: AssistanceType::PowerHeadroom, value: &[1, 2, 3] },
    ];
    let frame = AssistanceInformationData {
        duplicate: Some(true),
        fields: Some(AssistanceFields::pack(&fields, &mut storage).unwrap()),
        ul_delay: Some(7),
        dl_delay: Some(8),
    };
    let octets = [0b0010_1111, 1, 2, 1, 1, 11, 6, 3, 1, 2, 3, 0, 0, 0, 7, 0, 0, 0, 8, 0, 0, 0];
    assert_eq!(emitted(Pdu::AssistanceInformationData(frame)), octets);
    assert_eq!(Pdu::parse(&octets), Ok(Pdu::AssistanceInformationData(frame)));
    let Ok(Pdu::AssistanceInformationData(read)) = Pdu::parse(&octets) else { panic!() };
    assert!(read.fields.unwrap().iter().eq(fields));
}

#[test]
fn lists_longer_than_the_frame_are_truncated() {
    assert_eq!(Pdu::parse(&[0x11, 0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 2]), Err(Error::Truncated));
    assert_eq!(Pdu::parse(&[0x04, 0, 0, 0, 0, 1, 0, 0, 0]), Err(Error::Truncated));
    assert_eq!(Pdu::parse(&[0x24, 0, 1, 1, 9]), Err(Error::Truncated));
    assert_eq!(Pdu::parse(&[0x30, 0, 0, 0, 0, 0]), Err(Error::Type));
    assert_eq!(Pdu::parse(&[]), Err(Error::Truncated));
}

#[test]
fn a_frame_above_1018_octets_is_not_written() {
    let (mut lost, mut delivered) = ([[0; 6]; 161], [[0; 6]; 162]);
    let ranges = [SnRange { start: 1, end: 2 }; 162];
    let lost = SnRanges::pack(&ranges[..161], &mut lost).unwrap();
    let status = DlDataDeliveryStatus { lost: Some(lost), ..DlDataDeliveryStatus::default() };
    assert_eq!(status.emit(&mut [0; 2000]), Ok(974));
    let both = DlDataDeliveryStatus { delivered_out_of_sequence: Some(lost), ..status };
    assert_eq!(both.emit(&mut [0; 2000]), Err(Error::Value));
    assert_eq!(SnRanges::pack(&ranges, &mut delivered), Err(Error::Value));
}

fn sn() -> impl Strategy<Value = u32> {
    0u32..1 << 24
}

fn ranges() -> impl Strategy<Value = Option<Vec<SnRange>>> {
    of(vec((sn(), sn()).prop_map(|(start, end)| SnRange { start, end }), 0..12))
}

proptest! {
    #[test]
    fn user_data_comes_back(sn_ in sn(), flush in of(sn()), report in of(sn()), flags in any::<[bool; 5]>(),
        blocks in of(vec((sn(), any::<u8>()).prop_map(|(start, len)| DiscardBlock { start, len }), 0..12))) {
        let mut storage = [[0; 4]; 12];
        let discard_blocks = blocks.as_ref().map(|blocks| DiscardBlocks::pack(blocks, &mut storage).unwrap());
        let frame = DlUserData {
            sn: sn_, flush, discard_blocks, report_delivered: report,
            report_polling: flags[0], retransmission: flags[1], assistance_polling: flags[2],
            user_data_exists: flags[3], request_out_of_sequence_report: flags[4],
        };
        let bytes = emitted(Pdu::DlUserData(frame));
        prop_assert_eq!(bytes.len() % 4, 2);
        prop_assert_eq!(Pdu::parse(&bytes), Ok(Pdu::DlUserData(frame)));
        if let (Some(packed), Some(blocks)) = (discard_blocks, blocks) {
            prop_assert!(packed.iter().eq(blocks));
        }
    }

    #[test]
    fn delivery_status_comes_back(final_frame: bool, size: u32, rate: Option<u32>, lost in ranges(),
        sns in any::<[bool; 4]>().prop_flat_map(|_| (of(sn()), of(sn()), of(sn()), of(sn()))),
        cause: Option<u8>, delivered in ranges()) {
        let (mut first, mut second) = ([[0; 6]; 12], [[0; 6]; 12]);
        let frame = DlDataDeliveryStatus {
            final_frame,
            desired_buffer_size: size,
            desired_data_rate: rate,
            lost: lost.as_ref().map(|ranges| SnRanges::pack(ranges, &mut first).unwrap()),
            highest_delivered: sns.0,
            highest_transmitted: sns.1,
            cause: cause.map(Cause::from),
            highest_delivered_retransmitted: sns.2,
            highest_retransmitted: sns.3,
            delivered_out_of_sequence: delivered.as_ref().map(|ranges| SnRanges::pack(ranges, &mut second).unwrap()),
        };
        let bytes = emitted(Pdu::DlDataDeliveryStatus(frame));
        prop_assert_eq!(bytes.len() % 4, 2);
        prop_assert_eq!(Pdu::parse(&bytes), Ok(Pdu::DlDataDeliveryStatus(frame)));
        if let (Some(packed), Some(lost)) = (frame.lost, lost) {
            prop_assert!(packed.iter().eq(lost));
        }
    }

    #[test]
    fn assistance_information_comes_back(duplicate: Option<bool>, ul_delay: Option<u32>, dl_delay: Option<u32>,
        fields in of(vec((any::<u8>(), vec(any::<u8>(), 0..5)), 0..10))) {
        let mut storage = [0; 100];
        let fields: Option<Vec<_>> = fields.as_ref().map(|fields| {
            fields.iter().map(|(kind, value)| AssistanceField { kind: (*kind).into(), value }).collect()
        });
        let packed = fields.as_ref().map(|fields| AssistanceFields::pack(fields, &mut storage).unwrap());
        let frame = AssistanceInformationData { duplicate, fields: packed, ul_delay, dl_delay };
        let bytes = emitted(Pdu::AssistanceInformationData(frame));
        prop_assert_eq!(Pdu::parse(&bytes), Ok(Pdu::AssistanceInformationData(frame)));
        if let (Some(packed), Some(fields)) = (packed, fields) {
            prop_assert!(packed.iter().eq(fields));
        }
    }

    /// A frame that can be read is written back to the same octets, except for unknown fields and spare bits.
    #[test]
    fn arbitrary_frames_never_panic(kind in 0u8..4, mut bytes in vec(any::<u8>(), 2..80)) {
        bytes[0] = kind << 4 | bytes[0] & 0xF;
        if let Ok(pdu) = Pdu::parse(&bytes) {
            let mut written = [0; 100];
            let len = pdu.emit(&mut written).unwrap();
            prop_assert_eq!(Pdu::parse(&written[..len]), Ok(pdu));
            let known = len.min(bytes.len()).saturating_sub(3);
            prop_assert_eq!(&written[2..known.max(2)], &bytes[2..known.max(2)]);
        }
    }
}
