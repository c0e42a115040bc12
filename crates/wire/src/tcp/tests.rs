use core::net::{IpAddr, Ipv4Addr};
use std::vec::Vec;

use proptest::prelude::*;

use super::*;

const A: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 1));
const B: IpAddr = IpAddr::V4(Ipv4Addr::new(10, 0, 0, 2));

/// A segment with these raw option bytes, which the test pads to whole words.
fn segment(options: &[u8], payload: &[u8]) -> Vec<u8> {
    assert_eq!(options.len() % 4, 0);
    let repr = Repr {
        source_port: 443,
        destination_port: 50_000,
        seq: 0x0102_0304,
        ack: 0xA0B0_C0D0,
        flags: TcpFlags { ack: true, ..TcpFlags::default() }.with_ace(5),
        push: true,
        urgent: None,
        window: 0x1234,
        options: &[],
    };
    let mut bytes = std::vec![0; HEADER_LEN];
    repr.emit(&mut bytes).unwrap();
    bytes[12] = bytes[12] & 0xF | (5 + options.len() as u8 / 4) << 4;
    bytes.extend(options);
    bytes.extend(payload);
    Packet::new_checked(&mut bytes).unwrap().fill_checksum(A, B);
    bytes
}

fn options(bytes: &[u8]) -> Vec<Result<TcpOption<'_>>> {
    Options::new(bytes).collect()
}

#[test]
fn flags_lie_where_the_standards_put_them() {
    let bytes = segment(&[], &[]);
    // RFC 9768 figure 2: AE is the low bit of octet 12, CWR and ECE the top bits of octet 13.
    assert_eq!((bytes[12], bytes[13]), (0x51, 0b0101_1000));
    let packet = Packet::new_checked(&bytes).unwrap();
    assert_eq!(packet.flags(), TcpFlags { ack: true, ae: true, ece: true, ..TcpFlags::default() });
    assert!(packet.push());
    assert_eq!((packet.seq(), packet.ack(), packet.window()), (0x0102_0304, 0xA0B0_C0D0, 0x1234));
}

#[test]
fn both_accecn_options_are_read_in_their_own_order() {
    let fields = [0, 0, 1, 0, 0, 2, 0, 0, 3];
    for (kind, order, counters) in [
        (172, AccEcnOrder::Ect0First, AccEcnCounters { e0b: Some(1), ceb: Some(2), e1b: Some(3) }),
        (174, AccEcnOrder::Ect1First, AccEcnCounters { e1b: Some(1), ceb: Some(2), e0b: Some(3) }),
    ] {
        let mut bytes = std::vec![kind, 11];
        bytes.extend(fields);
        assert_eq!(options(&bytes), [Ok(TcpOption::AccEcn(AccEcnOption { order, counters }))]);
    }
}

#[test]
fn accecn_options_of_every_length_give_their_whole_fields() {
    for len in 2..=14u8 {
        let mut bytes = std::vec![174, len];
        bytes.extend((2..len).map(|octet| octet + 1));
        let [Ok(TcpOption::AccEcn(option))] = options(&bytes)[..] else { panic!("{len}") };
        let AccEcnCounters { e1b, ceb, e0b } = option.counters;
        assert_eq!(e1b, (len >= 5).then_some(0x03_04_05));
        assert_eq!(ceb, (len >= 8).then_some(0x06_07_08));
        assert_eq!(e0b, (len >= 11).then_some(0x09_0A_0B));
    }
}

#[test]
fn a_part_of_a_counter_is_not_rewritten() {
    // One whole counter and two bytes, then padding that a third byte would hit.
    let before = segment(&[174, 7, 1, 2, 3, 4, 5, 1], &[]);
    let mut bytes = before.clone();
    let mut packet = Packet::new_checked(&mut bytes).unwrap();
    packet.set_feedback(TcpFeedback::AccEcn(AccEcnChange { ace: 0, e0b: 9, ceb: 9, e1b: 9 }));
    assert!(packet.has_valid_checksum(A, B));
    assert_eq!(bytes[20..], [174, 7, 1, 2, 12, 4, 5, 1]);
    assert_eq!(bytes[..16], before[..16]);
}

#[test]
fn a_signed_syn_is_authenticated_wherever_its_options_have_the_signature() {
    let syn = |options: &[u8], flags| {
        let mut bytes = segment(options, &[]);
        bytes[13] = flags;
        Packet::new_checked(&bytes).unwrap().view().is_authenticated
    };
    const SYN: u8 = 1 << 1;
    const ACK: u8 = 1 << 4;
    let signature = |kind| [&[kind, 18][..], &[7; 16]].concat();
    for flags in [SYN, SYN | ACK] {
        assert!(!syn(&[2, 4, 5, 180], flags) && !syn(&[], flags));
        for kind in [19, 29] {
            assert!(syn(&[&signature(kind)[..], &[1, 1]].concat(), flags));
            // Behind AccECN's counters, where a reader of these alone would end.
            assert!(syn(&[&[1, 1, 2, 4, 5, 180, 172, 2][..], &signature(kind), &[1, 1]].concat(), flags));
            // Its kind within another option, and behind the end of the list.
            assert!(!syn(&[253, 4, kind, 18], flags) && !syn(&[0, kind, 2, 0], flags));
        }
    }
    // The first segments speak for the others.
    assert!(!syn(&[&signature(19)[..], &[1, 1]].concat(), ACK));
}

#[test]
fn an_option_of_length_zero_or_one_ends_the_list() {
    assert_eq!(options(&[1, 8, 0, 1, 1]), [Err(Error::Length)]);
    assert_eq!(options(&[4, 2, 172, 1]), [Ok(TcpOption::SackPermitted), Err(Error::Length)]);
}

#[test]
fn the_end_of_list_option_ends_the_list() {
    assert_eq!(options(&[4, 2, 0, 172, 2, 1]), [Ok(TcpOption::SackPermitted)]);
}

#[test]
fn an_option_that_passes_the_header_is_truncated() {
    assert_eq!(options(&[1, 1, 1, 172]), [Err(Error::Truncated)]);
    assert_eq!(options(&[172, 5, 0, 0]), [Err(Error::Truncated)]);
}

#[test]
fn a_known_option_of_a_wrong_length_is_unknown() {
    assert_eq!(options(&[8, 4, 1, 2]), [Ok(TcpOption::Unknown { kind: 8, data: &[1, 2] })]);
    assert_eq!(options(&[5, 2]), [Ok(TcpOption::Unknown { kind: 5, data: &[] })]);
}

#[test]
fn accecn_counters_that_skip_a_field_cannot_be_sent() {
    let counters = AccEcnCounters { e0b: Some(1), ceb: None, e1b: Some(2) };
    let option = TcpOption::AccEcn(AccEcnOption { order: AccEcnOrder::Ect0First, counters });
    assert_eq!(option.emit(&mut [0; 40]), Err(Error::Value));
}

#[test]
fn a_segment_with_a_bad_data_offset_is_refused() {
    let mut bytes = segment(&[], &[]);
    bytes[12] = 0x40;
    assert_eq!(Packet::new_checked(&bytes).map(|_| ()), Err(Error::Length));
    bytes[12] = 0x60;
    assert_eq!(Packet::new_checked(&bytes).map(|_| ()), Err(Error::Truncated));
}

#[test]
fn a_sack_option_without_a_block_cannot_be_sent() {
    assert_eq!(TcpOption::Sack(SackBlocks::default()).emit(&mut [0; 40]), Err(Error::Value));
}

#[test]
fn each_flag_has_its_bit() {
    let none = TcpFlags::default();
    for (flags, push, urgent, bits) in [
        (none, false, None, 0),
        (TcpFlags { fin: true, ..none }, false, None, 0x001),
        (TcpFlags { syn: true, ..none }, false, None, 0x002),
        (TcpFlags { rst: true, ..none }, false, None, 0x004),
        (none, true, None, 0x008),
        (TcpFlags { ack: true, ..none }, false, None, 0x010),
        (none, false, Some(7), 0x020),
        (TcpFlags { ece: true, ..none }, false, None, 0x040),
        (TcpFlags { cwr: true, ..none }, false, None, 0x080),
        (TcpFlags { ae: true, ..none }, false, None, 0x100),
    ] {
        let repr =
            Repr { source_port: 1, destination_port: 2, seq: 3, ack: 4, flags, push, urgent, window: 5, options: &[] };
        let mut bytes = [0; HEADER_LEN];
        repr.emit(&mut bytes).unwrap();
        assert_eq!(u16::from_be_bytes([bytes[12], bytes[13]]), 5 << 12 | bits);
        let packet = Packet::new_checked(&bytes).unwrap();
        assert_eq!((packet.flags(), packet.push(), packet.urgent()), (flags, push, urgent));
    }
}

#[test]
fn congestion_flags_are_rewritten_alone_with_the_checksum() {
    // ACE is 5: AE and ECE are set, CWR is not.
    let before = segment(&[], b"payload");
    type Rewrite = fn(&mut Packet<&mut Vec<u8>>);
    let rewrites: [(Rewrite, u8); 6] = [
        (|packet| packet.set_ece(false), 0b100),
        (|packet| packet.set_ece(true), 0b101),
        (|packet| packet.set_cwr(true), 0b111),
        (|packet| packet.set_cwr(false), 0b101),
        (|packet| packet.set_ace(0b010), 0b010),
        (|packet| packet.set_ace(0xFF), 0b111),
    ];
    for (rewrite, ace) in rewrites {
        let mut bytes = before.clone();
        let mut packet = Packet::new_checked(&mut bytes).unwrap();
        rewrite(&mut packet);
        assert_eq!(packet.flags(), TcpFlags { ack: true, ..TcpFlags::default() }.with_ace(ace));
        assert!(packet.push() && packet.has_valid_checksum(A, B));
    }
}

#[test]
fn a_damaged_segment_has_no_valid_checksum() {
    let mut bytes = segment(&[], b"payload");
    for at in 0..bytes.len() {
        assert!(Packet::new_checked(&bytes).unwrap().has_valid_checksum(A, B));
        bytes[at] ^= 1;
        // The lengths in octet 12 stay as they are; its low bit is AE.
        assert!(!Packet::new_checked(&bytes).unwrap().has_valid_checksum(A, B), "{at}");
        bytes[at] ^= 1;
    }
}

fn change() -> impl Strategy<Value = AccEcnChange> {
    any::<(u8, u32, u32, u32)>().prop_map(|(ace, e0b, ceb, e1b)| AccEcnChange { ace, e0b, ceb, e1b })
}

fn sack() -> impl Strategy<Value = SackBlocks> {
    proptest::collection::vec(any::<(u32, u32)>(), 1..5).prop_map(|blocks| SackBlocks::new(&blocks).unwrap())
}

fn accecn() -> impl Strategy<Value = AccEcnOption> {
    let order = prop_oneof![Just(AccEcnOrder::Ect0First), Just(AccEcnOrder::Ect1First)];
    (order, proptest::collection::vec(0u32..1 << 24, 0..4)).prop_map(|(order, fields)| {
        let [first, ceb, third] = [0, 1, 2].map(|at| fields.get(at).copied());
        let (e0b, e1b) = if order == AccEcnOrder::Ect0First { (first, third) } else { (third, first) };
        AccEcnOption { order, counters: AccEcnCounters { e0b, ceb, e1b } }
    })
}

fn option() -> impl Strategy<Value = TcpOption<'static>> {
    prop_oneof![
        any::<u16>().prop_map(TcpOption::MaximumSegmentSize),
        any::<u8>().prop_map(TcpOption::WindowScale),
        Just(TcpOption::SackPermitted),
        sack().prop_map(TcpOption::Sack),
        any::<(u32, u32)>().prop_map(|(value, echo)| TcpOption::Timestamps { value, echo }),
        accecn().prop_map(TcpOption::AccEcn),
        (30u8..170).prop_map(|kind| TcpOption::Unknown { kind, data: b"xyz" }),
    ]
}

proptest! {
    #[test]
    fn options_come_back_as_they_were_written(list in proptest::collection::vec(option(), 0..5)) {
        let repr = Repr {
            source_port: 1, destination_port: 2, seq: 3, ack: 4, flags: TcpFlags::default(), push: false,
            urgent: Some(6), window: 7, options: &list,
        };
        let mut bytes = [0; 60];
        match repr.emit(&mut bytes) {
            Ok(len) => {
                let packet = Packet::new_checked(&bytes[..len]).unwrap();
                prop_assert_eq!(packet.urgent(), Some(6));
                let read: Result<Vec<_>> = packet.options().collect();
                prop_assert_eq!(read.unwrap(), list);
            }
            Err(error) => prop_assert_eq!(error, Error::Value),
        }
    }

    #[test]
    fn arbitrary_options_end_and_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..41)) {
        prop_assert!(Options::new(&bytes).count() <= bytes.len());
    }

    /// Rewriting keeps the checksum valid with any options at any offset, odd ones included. Existing counters take the
    /// new values, and no other byte changes.
    #[test]
    fn rewritten_feedback_keeps_the_checksum_valid_and_every_other_byte(
        mut list in proptest::collection::vec(
            prop_oneof![Just(std::vec![1u8]), accecn().prop_map(|option| {
                let mut bytes = std::vec![0; 11];
                let len = TcpOption::AccEcn(option).emit(&mut bytes).unwrap();
                bytes.truncate(len);
                bytes
            })], 0..4),
        payload in proptest::collection::vec(any::<u8>(), 0..50),
        change in change(),
    ) {
        list.push(std::vec![0]);
        let mut raw = list.concat();
        raw.resize(raw.len().next_multiple_of(4), 0);
        let before = segment(&raw, &payload);
        let mut bytes = before.clone();
        let mut packet = Packet::new_checked(&mut bytes).unwrap();
        let ace = packet.flags().ace().wrapping_add(change.ace) % 8;
        packet.set_feedback(TcpFeedback::AccEcn(change));
        prop_assert!(packet.has_valid_checksum(A, B));
        prop_assert_eq!(packet.flags().ace(), ace);

        // The same change in the test's own words: walk the list that was built, and overwrite.
        let mut expected = before.clone();
        expected[12] = expected[12] & !1 | ace >> 2;
        expected[13] = expected[13] & 0x3F | ace << 6;
        let mut at = HEADER_LEN;
        for option in &list {
            let AccEcnChange { e0b, ceb, e1b, .. } = change;
            let order = if option[0] == 174 { [e1b, ceb, e0b] } else { [e0b, ceb, e1b] };
            for (field, value) in order.iter().enumerate().take((option.len().max(2) - 2) / 3) {
                let start = at + 2 + 3 * field;
                let old = expected[start..start + 3].iter().fold(0, |old, byte| old * 256 + u64::from(*byte));
                let new = ((old + u64::from(*value)) % (1 << 24)) as u32;
                expected[start..start + 3].copy_from_slice(&new.to_be_bytes()[1..]);
            }
            at += option.len();
        }
        expected[16..18].copy_from_slice(&bytes[16..18]);
        prop_assert_eq!(bytes, expected);
    }

    #[test]
    fn arbitrary_segments_never_panic_when_read_or_rewritten(
        mut bytes in proptest::collection::vec(any::<u8>(), 0..80), change in change(), ece: bool,
    ) {
        let len = bytes.len();
        if let Ok(mut packet) = Packet::new_checked(&mut bytes) {
            let view = packet.view();
            prop_assert!(view.payload as usize <= len);
            packet.set_feedback(TcpFeedback::AccEcn(change));
            packet.set_feedback(TcpFeedback::Classic { ece });
            prop_assert_eq!(packet.flags().ece, ece);
        }
    }
}
