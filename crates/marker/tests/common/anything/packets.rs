//! Packets made from arbitrary bytes.

use tidemark_core::Ecn;

use super::bytes::{Flow, view};
use super::choices::Choices;
use super::reading;

/// Whole packets with and without options and extension headers, fragments, damaged and cut packets, and noise.
pub fn packet(downlink: bool, choices: &mut Choices) -> Vec<u8> {
    let shape = choices.byte();
    if shape >= 240 {
        return (0..choices.below(90)).map(|_| choices.byte()).collect();
    }
    let flow = Flow { v6: choices.flag(), port: choices.below(3).into() };
    let ecn = Ecn::from_bits(choices.below(4));
    let payload = [0, 1, 7, 1_361][usize::from(choices.below(4))];
    let mut bytes = if shape & 3 == 3 {
        flow.udp(downlink, ecn, payload)
    } else {
        let (ace, kind) = (choices.below(8), choices.byte());
        let (seq, ack) = (u32::from(choices.byte()) * 1_361, u32::from(choices.byte()) * 1_361);
        let counters = (kind & 1 != 0).then(|| [1, u32::from(choices.byte()) * 1_361, choices.word() >> 8]);
        let syn = kind & 0xF0 == 0xF0;
        let ack = (kind & 0x0E != 0).then_some(1_000 + ack);
        let mut bytes = flow.tcp(downlink, ecn, &view(ace, syn, ack, 1_000 + seq, payload.into(), counters));
        // The counters in the other order.
        let option = if flow.v6 { 60 } else { 40 };
        if counters.is_some() && kind & 0x10 != 0 && bytes[option] == 174 {
            bytes[option] = 172;
        }
        bytes
    };
    match shape >> 2 & 7 {
        0 if flow.v6 => {
            // A hop-by-hop options header, of padding.
            let next = std::mem::replace(&mut bytes[6], 0);
            bytes.splice(40..40, [next, 0, 1, 4, 0, 0, 0, 0]);
            let len = bytes.len() as u16 - 40;
            bytes[4..6].copy_from_slice(&len.to_be_bytes());
        }
        0 => {
            // A router alert option.
            bytes.splice(20..20, [0x94, 4, 0, 0]);
            bytes[0] = 0x46;
            let len = bytes.len() as u16;
            bytes[2..4].copy_from_slice(&len.to_be_bytes());
        }
        1 if !flow.v6 => bytes[6..8].copy_from_slice(&[choices.below(4) << 5, choices.below(3)]),
        _ => {}
    }
    reading::fill_checksums(&mut bytes);
    match shape >> 5 {
        5 => {
            for _ in 0..choices.below(4) {
                let at = usize::from(choices.byte()) % bytes.len();
                bytes[at] = choices.byte();
            }
        }
        6 => bytes.truncate(usize::from(choices.byte())),
        0 => bytes.extend([0xEE; 3]), // what Ethernet pads with
        _ => {}
    }
    bytes
}
