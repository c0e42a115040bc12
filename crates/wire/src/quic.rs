//! The part of a QUIC header that a node on the path can read (RFC 9000 17).

/// Bit of a long header (RFC 9000 17.2).
const LONG: u8 = 0x80;
/// Bit that QUIC sets in every packet (RFC 9000 17.2, 17.3.1).
const FIXED: u8 = 0x40;
/// Latency spin bit (RFC 9000 17.4).
const SPIN: u8 = 0x20;
/// Versions 1 (RFC 9000 15) and 2 (RFC 9369 3.1).
const VERSIONS: [u32; 2] = [1, 0x6B33_43CF];

/// Header of a QUIC packet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Header {
    /// Long header, used in the handshake, of a known version.
    Long,
    /// Short header. Other protocols may look the same, so trust it only after a long header of the same flow.
    Short {
        /// Spin bit; random or constant if an endpoint does not use it.
        spin: bool,
    },
}

impl Header {
    /// Reads the header at the front of a UDP payload; `None` if it can't be QUIC.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let first = *payload.first()?;
        if first & FIXED == 0 {
            return None;
        }
        if first & LONG == 0 {
            return Some(Self::Short { spin: first & SPIN != 0 });
        }
        let version = u32::from_be_bytes(*payload.get(1..)?.first_chunk()?);
        VERSIONS.contains(&version).then_some(Self::Long)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_are_told_apart_and_other_protocols_are_none() {
        let parse = Header::parse;
        assert_eq!(parse(&[0xC3, 0, 0, 0, 1, 8]), Some(Header::Long));
        assert_eq!(parse(&[0xD3, 0x6B, 0x33, 0x43, 0xCF]), Some(Header::Long));
        assert_eq!(parse(&[0xC3, 0, 0, 0, 9, 8]), None, "an unknown version");
        assert_eq!(parse(&[0xC3, 0, 0]), None, "a version cut off");
        assert_eq!(parse(&[0x61]), Some(Header::Short { spin: true }));
        assert_eq!(parse(&[0x41]), Some(Header::Short { spin: false }));
        assert_eq!(parse(&[0x80, 0x60, 0, 1]), None, "RTP");
        assert_eq!(parse(&[]), None);
    }
}
