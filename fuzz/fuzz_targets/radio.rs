//! NR-U, SDAP, PDCP and MAC: what was read is written and read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemark_wire::mac::{LongBsr, RecommendedBitRate, ShortBsr};
use tidemark_wire::nru::{MAX_LEN, Pdu};
use tidemark_wire::pdcp::{self, SnLength};
use tidemark_wire::{Error, sdap};

fn nr_user_plane(content: &[u8]) {
    let Ok(pdu) = Pdu::parse(content) else { return };
    let mut bytes = [0; 4000];
    match pdu.emit(&mut bytes) {
        Ok(len) => {
            assert!(len <= MAX_LEN && len % 4 == 2);
            assert_eq!(Pdu::parse(&bytes[..len]), Ok(pdu));
            // What is written is what was read, up to spare bits and padding.
            let known = match content[0] >> 4 {
                0 => [0b1111_0111, 0b0001_1111],
                1 => [0b1111_1111, 0b0001_1111],
                _ => [0b1111_1111, content[0] >> 3 & 1], // a suggestion counts where its flag says so
            };
            assert_eq!([bytes[0], bytes[1]], [content[0] & known[0], content[1] & known[1]]);
            let common = len.min(content.len());
            let differs = (2..common).find(|&at| bytes[at] != content[at]);
            assert!(differs.is_none_or(|at| bytes[at..len].iter().all(|octet| *octet == 0) && len - at < 4));
        }
        Err(error) => assert_eq!(error, Error::Value, "only a frame that is too long is not written"),
    }
    match pdu {
        Pdu::DlUserData(frame) => drop(frame.discard_blocks.map(|blocks| blocks.iter().count())),
        Pdu::DlDataDeliveryStatus(frame) => drop(frame.lost.map(|ranges| ranges.iter().count())),
        Pdu::AssistanceInformationData(frame) => {
            let fields = frame.fields.map(|fields| fields.iter().count());
            assert_eq!(fields, frame.fields.map(|_| usize::from(content[2])));
        }
    }
}

fn layer_two(pdu: &[u8]) {
    for length in [SnLength::Bits12, SnLength::Bits18] {
        if let Ok(pdcp::Pdu::Data { sn, data }) = pdcp::Pdu::parse(pdu, length) {
            let mut header = [0; 3];
            let len = pdcp::emit_data_header(sn, length, &mut header).unwrap();
            assert_eq!(&pdu[len..], data);
            assert_eq!(pdcp::Pdu::parse(&header[..len], length), Ok(pdcp::Pdu::Data { sn, data: &[] }));
        }
    }
    if let Ok((header, sdu)) = sdap::Downlink::parse(pdu) {
        assert_eq!((header.emit(), sdu), (Ok(pdu[0]), &pdu[1..]));
    }
    if let Ok((header, _)) = sdap::Uplink::parse(pdu) {
        assert_eq!(header.emit(), Ok(pdu[0] & !0x40));
    }
    if let Ok(element) = RecommendedBitRate::parse(pdu) {
        assert_eq!(element.emit(), Ok([pdu[0], pdu[1] & !0b11]));
    }
    if let Some(&octet) = pdu.first() {
        assert_eq!(ShortBsr::parse(octet).emit(), Ok(octet));
    }
    if let Ok((bitmap, indices)) = LongBsr::parse_truncated(pdu) {
        assert_eq!((bitmap, indices), (pdu[0], &pdu[1..]));
        assert_eq!(LongBsr::parse(pdu).is_ok(), bitmap.count_ones() as usize <= indices.len());
    }
    if let Ok(report) = LongBsr::parse(pdu) {
        let mut bytes = [0; 9];
        match report.emit(&mut bytes) {
            Ok(len) => assert_eq!(&bytes[..len], &pdu[..len]),
            Err(_) => assert!(report.indices.contains(&Some(255))),
        }
    }
}

fuzz_target!(|bytes: &[u8]| {
    nr_user_plane(bytes);
    layer_two(bytes);
});
