//! SDAP headers (TS 37.324 6.2): one octet before the IP packet, on bearers configured to use it.

use crate::{Error, Result};

/// Header of a downlink data PDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Downlink {
    /// Reflective mapping: the UE updates its rule for mapping flows to bearers.
    pub rdi: bool,
    /// Reflective QoS: SDAP informs the upper layers of the UE.
    pub rqi: bool,
    /// QoS flow identifier, 6 bits.
    pub qfi: u8,
}

/// Header of an uplink PDU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uplink {
    /// Data of this QoS flow, 6 bits.
    Data {
        /// QoS flow identifier, 6 bits.
        qfi: u8,
    },
    /// The last PDU of this QoS flow on this bearer; nothing follows the header.
    EndMarker {
        /// QoS flow identifier, 6 bits.
        qfi: u8,
    },
}

const QFI: u8 = 0x3F;
const DATA: u8 = 0x80;

impl Downlink {
    /// Splits a PDU into its header and the IP packet.
    ///
    /// # Errors
    /// `Truncated` for an empty PDU.
    pub fn parse(pdu: &[u8]) -> Result<(Self, &[u8])> {
        let (octet, sdu) = pdu.split_first().ok_or(Error::Truncated)?;
        Ok((Self { rdi: octet & 0x80 != 0, rqi: octet & 0x40 != 0, qfi: octet & QFI }, sdu))
    }
    /// The header octet.
    ///
    /// # Errors
    /// `Value` for a QFI of more than 6 bits.
    pub fn emit(self) -> Result<u8> {
        let flags = u8::from(self.rdi) << 7 | u8::from(self.rqi) << 6;
        if self.qfi <= QFI { Ok(flags | self.qfi) } else { Err(Error::Value) }
    }
}

impl Uplink {
    /// Splits a PDU into its header and the IP packet. The reserved bit is ignored.
    ///
    /// # Errors
    /// `Truncated` for an empty PDU.
    pub fn parse(pdu: &[u8]) -> Result<(Self, &[u8])> {
        let (octet, sdu) = pdu.split_first().ok_or(Error::Truncated)?;
        let qfi = octet & QFI;
        Ok((if octet & DATA != 0 { Self::Data { qfi } } else { Self::EndMarker { qfi } }, sdu))
    }
    /// The header octet.
    ///
    /// # Errors
    /// `Value` for a QFI of more than 6 bits.
    pub fn emit(self) -> Result<u8> {
        match self {
            Self::Data { qfi } if qfi <= QFI => Ok(DATA | qfi),
            Self::EndMarker { qfi } if qfi <= QFI => Ok(qfi),
            _ => Err(Error::Value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_octet_is_a_downlink_header_and_comes_back() {
        for octet in 0..=255 {
            let (header, sdu) = Downlink::parse(core::slice::from_ref(&octet)).unwrap();
            assert!(sdu.is_empty());
            assert_eq!(header.emit(), Ok(octet));
        }
        let header = Downlink { rdi: true, rqi: false, qfi: 9 };
        assert_eq!(header.emit(), Ok(0b1000_1001));
        assert_eq!(Downlink::parse(&[0b1000_1001, 7]), Ok((header, &[7][..])));
        assert_eq!(Downlink { qfi: 64, ..header }.emit(), Err(Error::Value));
    }

    #[test]
    fn uplink_data_and_end_markers() {
        assert_eq!(Uplink::Data { qfi: 9 }.emit(), Ok(0b1000_1001));
        assert_eq!(Uplink::EndMarker { qfi: 9 }.emit(), Ok(0b0000_1001));
        assert_eq!(Uplink::parse(&[0b1100_1001, 7]), Ok((Uplink::Data { qfi: 9 }, &[7][..])));
        assert_eq!(Uplink::parse(&[]), Err(Error::Truncated));
    }
}
