//! Packets read in the tests' own words, so that what is asserted of them does not lean on the code under test.
#![allow(dead_code)] // each test file uses its own part of it

use tidemark_core::Ecn;

pub const TCP: u8 = 6;
pub const UDP: u8 = 17;

/// Positions of the parts of an IP packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Layout {
    pub v4: bool,
    pub ecn: Ecn,
    /// Length of the IPv4 header, or of the fixed IPv6 header.
    pub header: usize,
    /// Length of the packet; the buffer may be longer.
    pub len: usize,
    /// Protocol and offset of the transport header, of packets that are no fragments.
    pub transport: Option<(u8, usize)>,
}

/// `None` for what no IP header of either version can begin with.
pub fn read(bytes: &[u8]) -> Option<Layout> {
    let word = |at: usize| usize::from(bytes[at]) << 8 | usize::from(bytes[at + 1]);
    match bytes.first()? >> 4 {
        4 if bytes.len() >= 20 => {
            let (header, len) = (usize::from(bytes[0] & 15) * 4, word(2));
            if header < 20 || len < header || len > bytes.len() {
                return None;
            }
            let is_fragment = word(6) & 0x3FFF != 0;
            let transport = (!is_fragment).then_some((bytes[9], header));
            Some(Layout { v4: true, ecn: Ecn::from_bits(bytes[1] & 3), header, len, transport })
        }
        6 if bytes.len() >= 40 => {
            let len = 40 + word(4);
            if len > bytes.len() {
                return None;
            }
            let (mut protocol, mut at) = (bytes[6], 40);
            // Hop-by-hop options, routing, destination options: each says its length in units of 8 bytes beyond the first.
            while matches!(protocol, 0 | 43 | 60) && at + 8 <= len {
                protocol = bytes[at];
                at += 8 + usize::from(bytes[at + 1]) * 8;
            }
            let transport = (at <= len).then_some((protocol, at));
            Some(Layout { v4: false, ecn: Ecn::from_bits(bytes[1] >> 4 & 3), header: 40, len, transport })
        }
        _ => None,
    }
}

/// End of the headers of a whole packet of TCP or UDP: of TCP's options, or of UDP's ports. `None` for others, and for a header that passes
/// the packet's end.
pub fn headers_end(bytes: &[u8], layout: &Layout) -> Option<usize> {
    let end = match layout.transport? {
        (TCP, at) => at + usize::from(bytes.get(at + 12)? >> 4).max(5) * 4,
        (UDP, at) => at + 4,
        _ => return None,
    };
    (end <= layout.len).then_some(end)
}

/// The ones' complement sum of RFC 1071.
fn sum(parts: &[&[u8]]) -> u16 {
    let mut total = 0u64;
    for part in parts {
        // Every part but the last is of even length.
        for pair in part.chunks(2) {
            total += u64::from(pair[0]) << 8 | u64::from(pair.get(1).copied().unwrap_or(0));
        }
    }
    while total > 0xFFFF {
        total = (total & 0xFFFF) + (total >> 16);
    }
    total as u16
}

fn transport_sum(bytes: &[u8], layout: &Layout, protocol: u8, at: usize) -> u16 {
    let addresses = if layout.v4 { &bytes[12..20] } else { &bytes[8..40] };
    let len = (layout.len - at) as u32;
    sum(&[addresses, &len.to_be_bytes(), &[0, protocol], &bytes[at..layout.len]])
}

/// Position of the transport header's checksum, if all of it is there.
fn checksum_position(layout: &Layout) -> Option<(u8, usize, usize)> {
    let (protocol, at) = layout.transport?;
    let (header, offset) = match protocol {
        TCP => (20, 16),
        UDP => (8, 6),
        _ => return None,
    };
    (at + header <= layout.len).then_some((protocol, at, at + offset))
}

/// True if the IPv4 header's checksum fits, and for IPv6.
pub fn header_is_valid(bytes: &[u8], layout: &Layout) -> bool {
    !layout.v4 || sum(&[&bytes[..layout.header]]) == 0xFFFF
}

/// True if the TCP or UDP checksum fits; `None` where there is none to check.
pub fn transport_is_valid(bytes: &[u8], layout: &Layout) -> Option<bool> {
    let (protocol, at, _) = checksum_position(layout)?;
    Some(transport_sum(bytes, layout, protocol, at) == 0xFFFF)
}

/// Sets every checksum of a packet right.
pub fn fill_checksums(bytes: &mut [u8]) {
    let Some(layout) = read(bytes) else { return };
    if layout.v4 {
        bytes[10..12].fill(0);
        let header = !sum(&[&bytes[..layout.header]]);
        bytes[10..12].copy_from_slice(&header.to_be_bytes());
    }
    if let Some((protocol, at, checksum)) = checksum_position(&layout) {
        bytes[checksum..checksum + 2].fill(0);
        let transport = !transport_sum(bytes, &layout, protocol, at);
        bytes[checksum..checksum + 2].copy_from_slice(&transport.to_be_bytes());
    }
}

/// Fields of a TCP header.
pub struct Segment {
    /// Version, addresses and ports of the connection, the server's first.
    pub connection: Vec<u8>,
    /// AE, CWR and ECE as a number.
    pub ace: u8,
    /// `ace` of a segment that has SYN and ACK set.
    pub syn_ack: Option<u8>,
}

/// Reads a TCP header. `None` for other packets, and for fragments but the first.
pub fn segment(bytes: &[u8], layout: &Layout, is_downlink: bool) -> Option<Segment> {
    let at = tcp_header(bytes, layout)?;
    let (addresses, ports) = (if layout.v4 { &bytes[12..20] } else { &bytes[8..40] }, &bytes[at..at + 4]);
    let mut ends = [addresses, ports].map(|both| both.split_at(both.len() / 2));
    if !is_downlink {
        ends = ends.map(|(source, destination)| (destination, source));
    }
    let [(server, ue), (server_port, ue_port)] = ends;
    let ace = (bytes[at + 12] & 1) << 2 | bytes[at + 13] >> 6;
    let is_syn_ack = bytes[at + 13] & 0x12 == 0x12;
    Some(Segment {
        connection: [&[layout.v4.into()], server, ue, server_port, ue_port].concat(),
        ace,
        syn_ack: is_syn_ack.then_some(ace),
    })
}

/// Offset of a TCP header of which the fixed part is there.
fn tcp_header(bytes: &[u8], layout: &Layout) -> Option<usize> {
    // A first fragment has its TCP header, too.
    let (protocol, at) = layout.transport.or_else(|| {
        let first = layout.v4 && bytes[6] & 0x1F == 0 && bytes[7] == 0;
        first.then_some((bytes[9], layout.header))
    })?;
    (protocol == TCP && at + 20 <= layout.len).then_some(at)
}

/// The bits of a packet that congestion feedback may change: for each byte of a TCP segment a mask. `None` for
/// anything that must stay as it is: SYN, RST, segments without ACK, and what is no TCP segment.
pub fn feedback_bits(bytes: &[u8], layout: &Layout) -> Option<Vec<u8>> {
    let at = tcp_header(bytes, layout)?;
    let segment = &bytes[at..layout.len];
    let end = usize::from(segment[12] >> 4) * 4;
    let (syn, rst, ack) = (segment[13] & 2 != 0, segment[13] & 4 != 0, segment[13] & 16 != 0);
    if end < 20 || end > segment.len() || syn || rst || !ack {
        return None;
    }
    let mut bits = vec![0; bytes.len()];
    bits[at + 12] = 0b0000_0001; // AE
    bits[at + 13] = 0b1100_0000; // CWR, ECE
    bits[at + 16..at + 18].fill(0xFF); // the checksum
    let mut option = 20;
    while option < end {
        let len = match segment[option] {
            0 => break,
            1 => 1,
            kind => {
                let len = segment.get(option + 1).map_or(0, |len| usize::from(*len));
                if len < 2 || option + len > end {
                    break;
                }
                if kind == 172 || kind == 174 {
                    // Up to three counters of three bytes.
                    bits[at + option + 2..at + option + len.min(11)].fill(0xFF);
                }
                len
            }
        };
        option += len;
    }
    Some(bits)
}
