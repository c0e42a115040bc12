//! Reads packets as hexadecimal lines from standard input and prints the fields that this crate reads as lines of JSON.
//!
//! `inspect mark` marks each packet first and adds its bytes; `inspect tables` prints the tables of TS 38.321 instead.
//! The tests in `tests/wire` compare the output with independent decoders.

use std::io::BufRead;

use serde_json::{Value, json};
use tidemark_core::Ecn;
use tidemark_wire::gtpu::{self, Extension, ExtensionType};
use tidemark_wire::mac::{BitRateIndex, BufferTable};
use tidemark_wire::nru::Pdu;
use tidemark_wire::pdu_session::{DlInformation, UlInformation};
use tidemark_wire::tcp::{self, TcpOption};
use tidemark_wire::{Error, ip, ipv4, udp};

fn main() {
    let mode = std::env::args().nth(1).unwrap_or_default();
    if mode == "tables" {
        println!("{}", tables());
        return;
    }
    for line in std::io::stdin().lock().lines() {
        let line = line.expect("standard input is text");
        let mut bytes = hex(line.trim()).expect("a line is hexadecimal");
        let marked = mode == "mark" && ip::set_ecn(&mut bytes, Ecn::Ce).is_ok();
        let mut seen = packet(&bytes, 2).unwrap_or_else(|error| json!({ "error": error.to_string() }));
        if marked {
            seen["bytes"] = json!(bytes.iter().map(|octet| format!("{octet:02x}")).collect::<String>());
        }
        println!("{seen}");
    }
}

fn hex(text: &str) -> Option<Vec<u8>> {
    let digits = text.as_bytes().as_chunks::<2>().0.iter();
    digits.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()).collect()
}

/// An IP packet and its content, down to `depth` tunnels.
fn packet(bytes: &[u8], depth: usize) -> Result<Value, Error> {
    let headers = ip::Headers::parse(bytes)?;
    let tuple = headers.five_tuple;
    let mut seen = json!({
        "source": tuple.source, "destination": tuple.destination, "protocol": tuple.protocol, "ports": tuple.ports,
        "ecn": headers.ecn.bits(), "dscp": headers.dscp.0, "len": headers.len,
        "fragment": format!("{:?}", headers.fragment),
    });
    if let Ok(packet) = ipv4::Packet::new_checked(bytes) {
        seen["header_checksum_valid"] = json!(packet.has_valid_checksum());
    }
    let Some(range) = headers.transport else { return Ok(seen) };
    let whole = headers.fragment == ip::Fragment::Whole;
    match tuple.protocol {
        tcp::PROTOCOL => {
            let segment = tcp::Packet::new_checked(&bytes[range])?;
            seen["tcp"] = tcp_segment(&segment);
            seen["tcp"]["checksum_valid"] = json!(whole && segment.has_valid_checksum(tuple.source, tuple.destination));
        }
        udp::PROTOCOL if whole => {
            let datagram = udp::Packet::new_checked(&bytes[range])?;
            seen["udp"] = json!({
                "payload": datagram.payload().len(),
                "checksum_valid": datagram.has_valid_checksum(tuple.source, tuple.destination),
            });
            if datagram.destination_port() == gtpu::PORT && depth > 0 {
                seen["gtpu"] = gtp(datagram.payload(), depth - 1)?;
            }
        }
        _ => (),
    }
    Ok(seen)
}

fn tcp_segment(segment: &tcp::Packet<&[u8]>) -> Value {
    let flags = segment.flags();
    let options: Vec<_> =
        segment.options().map(|option| option.map_or_else(|error| json!(error.to_string()), option_json)).collect();
    json!({
        "seq": segment.seq(), "ack": segment.ack(), "window": segment.window(), "payload": segment.payload().len(),
        "syn": flags.syn, "fin": flags.fin, "rst": flags.rst, "has_ack": flags.ack, "push": segment.push(),
        "ace": flags.ace(), "urgent": segment.urgent(), "options": options,
    })
}

fn option_json(option: TcpOption<'_>) -> Value {
    match option {
        TcpOption::MaximumSegmentSize(size) => json!({ "mss": size }),
        TcpOption::WindowScale(shift) => json!({ "window_scale": shift }),
        TcpOption::SackPermitted => json!("sack_permitted"),
        TcpOption::Sack(blocks) => json!({ "sack": blocks.iter().collect::<Vec<_>>() }),
        TcpOption::Timestamps { value, echo } => json!({ "timestamps": [value, echo] }),
        TcpOption::AccEcn(option) => {
            let counters = option.counters;
            json!({ "accecn": option.order.kind(), "e0b": counters.e0b, "ceb": counters.ceb, "e1b": counters.e1b })
        }
        TcpOption::Unknown { kind, data } => json!({ "kind": kind, "data": data }),
    }
}

fn gtp(bytes: &[u8], depth: usize) -> Result<Value, Error> {
    let message = gtpu::Packet::new_checked(bytes)?;
    let extensions: Vec<_> = message.extensions().map(extension_json).collect();
    let mut seen = json!({
        "message_type": u8::from(message.message_type()), "teid": message.teid(), "sequence": message.sequence(),
        "n_pdu": message.n_pdu(), "payload": message.payload().len(), "extensions": extensions,
    });
    if message.message_type() == gtpu::MessageType::GPdu
        && let Ok(inner) = packet(message.payload(), depth)
    {
        seen["inner"] = inner;
    }
    Ok(seen)
}

fn extension_json(extension: Extension<'_>) -> Value {
    let content = extension.content;
    let mut seen = json!({ "type": extension.kind.0, "content": content });
    match extension.kind {
        ExtensionType::PDU_SESSION_CONTAINER => {
            if let Ok(info) = DlInformation::parse(content) {
                seen["dl"] = json!({
                    "qfi": info.qfi, "rqi": info.rqi, "ppi": info.ppi, "sending_timestamp": info.sending_timestamp,
                    "qfi_sn": info.qfi_sn,
                });
            }
            if let Ok(info) = UlInformation::parse(content) {
                let timestamps = info.timestamps.map(|times| [times.dl_sent, times.dl_received, times.ul_sent]);
                seen["ul"] = json!({
                    "qfi": info.qfi, "timestamps": timestamps, "dl_delay": info.dl_delay, "ul_delay": info.ul_delay,
                    "qfi_sn": info.qfi_sn, "n3_n9_delay": info.n3_n9_delay,
                });
            }
        }
        ExtensionType::NR_RAN_CONTAINER => seen["nru"] = json!(Pdu::parse(content).map(|pdu| format!("{pdu:?}")).ok()),
        _ => (),
    }
    seen
}

/// Bit rates in kbit/s from index 1 on, and the upper ends of the buffer sizes.
fn tables() -> Value {
    let rates: Vec<_> =
        (1..=56).map_while(|index| BitRateIndex::new(index)?.rate()).map(|rate| rate.as_bps() / 1000).collect();
    let sizes = |table: BufferTable| -> Vec<_> {
        (0..=255).map_while(|index| table.size(index)?.at_most).map(|bytes| bytes.0).collect()
    };
    json!({ "bit_rates": rates, "a": sizes(BufferTable::A), "b": sizes(BufferTable::B), "c": sizes(BufferTable::C) })
}
