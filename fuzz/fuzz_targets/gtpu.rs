//! GTP-U, its containers and tunnels: what was read is written and read back the same.
#![no_main]

use libfuzzer_sys::fuzz_target;
use tidemark_wire::gtpu::{ErrorIndication, Extension, MAX_EXTENSIONS, Packet};
use tidemark_wire::pdu_session::{DlInformation, PduSetInformation, UlInformation};
use tidemark_wire::tunnel::{Carried, Outer};
use tidemark_wire::{ip, ipv4};

fn message(bytes: &[u8]) {
    let Ok(packet) = Packet::new_checked(bytes) else { return };
    let extensions: Vec<Extension<'_>> = packet.extensions().collect();
    assert!(extensions.len() <= MAX_EXTENSIONS);
    assert_eq!(packet.payload(), &bytes[packet.payload_range()]);
    let mut again = vec![0; bytes.len() + 16];
    let len = packet.repr().emit(&mut again, &extensions, packet.payload().len()).unwrap();
    again.truncate(len);
    again.extend(packet.payload());
    let read = Packet::new_checked(&again).unwrap();
    assert_eq!(read.repr(), packet.repr());
    assert!(read.extensions().eq(extensions.iter().copied()));
    assert_eq!(read.payload(), packet.payload());
    let _ = packet.not_understood(&[]);
    extensions.iter().for_each(|extension| containers(extension.content));
}

fn containers(content: &[u8]) {
    let mut bytes = [0; 64];
    if let Ok(info) = DlInformation::parse(content) {
        let len = info.emit(&mut bytes).unwrap();
        assert_eq!(DlInformation::parse(&bytes[..len]), Ok(info));
    }
    if let Ok(info) = UlInformation::parse(content) {
        let len = info.emit(&mut bytes).unwrap();
        assert_eq!(UlInformation::parse(&bytes[..len]), Ok(info));
    }
    if let Ok(info) = PduSetInformation::parse(content) {
        let len = info.emit(&mut bytes).unwrap();
        assert_eq!(PduSetInformation::parse(&bytes[..len]), Ok(info));
    }
}

/// Decapsulation changes the inner ECN bits and header checksum only, and keeps a valid checksum valid.
fn tunnel(bytes: &[u8]) {
    let Ok(outer) = Outer::parse(bytes) else { return };
    let Carried::GPdu { inner, .. } = &outer.carried else { return };
    let mut after = bytes[inner.clone()].to_vec();
    let before = after.clone();
    let valid = ipv4::Packet::new_checked(&before).is_ok_and(|packet| packet.has_valid_checksum());
    match outer.decapsulate_into(&mut after) {
        Err(_) => assert_eq!(before, after),
        Ok(outcome) => {
            let ecn = ip::ecn(&after).unwrap();
            assert_eq!(ecn, outcome.ecn.unwrap_or(ip::ecn(&before).unwrap()));
            assert!(!valid || ipv4::Packet::new_checked(&after).unwrap().has_valid_checksum());
            let touched = before.iter().zip(&after).enumerate().filter(|(_, (a, b))| a != b).map(|(at, _)| at);
            assert!(touched.into_iter().all(|at| [1, 10, 11].contains(&at)));
        }
    }
}

fn error_indication(elements: &[u8]) {
    let Ok(indication) = ErrorIndication::parse(elements) else { return };
    let mut bytes = [0; 64];
    let len = indication.emit(&mut bytes).unwrap();
    assert_eq!(ErrorIndication::parse(Packet::new_checked(&bytes[..len]).unwrap().payload()), Ok(indication));
}

fuzz_target!(|bytes: &[u8]| {
    message(bytes);
    error_indication(bytes);
    containers(bytes);
    tunnel(bytes);
});
