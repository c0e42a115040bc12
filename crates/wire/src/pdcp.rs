//! PDCP headers of data radio bearers (TS 38.323 6.2). The bytes after a data header are ciphered.

use crate::cursor::Reader;
use crate::{Error, Result};

/// Length of the sequence number of a bearer.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum SnLength {
    /// 12 bits.
    Bits12,
    /// 18 bits.
    Bits18,
}

impl SnLength {
    /// The length in bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits12 => 12,
            Self::Bits18 => 18,
        }
    }
    /// Number of sequence numbers.
    pub const fn modulus(self) -> u32 {
        1 << self.bits()
    }
    /// Window_Size: half the modulus (TS 38.323 7.2).
    pub const fn window(self) -> u32 {
        self.modulus() / 2
    }
    /// Length of the data header in bytes.
    pub const fn header_len(self) -> usize {
        match self {
            Self::Bits12 => 2,
            Self::Bits18 => 3,
        }
    }
}

/// Kind of a control PDU (TS 38.323 6.3.8).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ControlType {
    /// 0: status report.
    StatusReport,
    /// 1: interspersed ROHC feedback.
    RohcFeedback,
    /// 2: EHC feedback.
    EhcFeedback,
    /// 3: UDC feedback.
    UdcFeedback,
    /// 4: SN gap report (Release 18).
    SnGapReport,
    /// Reserved.
    Reserved(u8),
}

/// A PDCP PDU of a data radio bearer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pdu<'a> {
    /// User data.
    Data {
        /// Sequence number.
        sn: u32,
        /// Ciphered SDU, with the MAC-I if integrity is protected.
        data: &'a [u8],
    },
    /// Control.
    Control {
        /// Kind of the control PDU.
        kind: ControlType,
        /// The bytes after the first octet.
        content: &'a [u8],
    },
}

impl<'a> Pdu<'a> {
    /// Reads a PDU. Reserved bits are ignored.
    ///
    /// # Errors
    /// `Truncated` if the header is incomplete.
    pub fn parse(pdu: &'a [u8], length: SnLength) -> Result<Self> {
        let first = *pdu.first().ok_or(Error::Truncated)?;
        let mut reader = Reader::new(pdu);
        if first & 0x80 == 0 {
            reader.u8()?;
            let kind = match first >> 4 & 0b111 {
                0 => ControlType::StatusReport,
                1 => ControlType::RohcFeedback,
                2 => ControlType::EhcFeedback,
                3 => ControlType::UdcFeedback,
                4 => ControlType::SnGapReport,
                other => ControlType::Reserved(other),
            };
            return Ok(Self::Control { kind, content: reader.rest() });
        }
        let header = match length {
            SnLength::Bits12 => u32::from(reader.u16()?),
            SnLength::Bits18 => reader.u24()?,
        };
        Ok(Self::Data { sn: header & (length.modulus() - 1), data: reader.rest() })
    }
}

/// Writes the header of a data PDU to the front of `buffer` and returns its length.
///
/// # Errors
/// `Value` for a sequence number that is too large, `Truncated` for a buffer shorter than the header.
pub fn emit_data_header(sn: u32, length: SnLength, buffer: &mut [u8]) -> Result<usize> {
    if sn >= length.modulus() {
        return Err(Error::Value);
    }
    let header = buffer.get_mut(..length.header_len()).ok_or(Error::Truncated)?;
    header.copy_from_slice(&sn.to_be_bytes()[4 - length.header_len()..]);
    header[0] |= 0x80;
    Ok(length.header_len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequence_numbers_of_both_lengths() {
        // TS 38.323 figures 6.2.2.2-1 and 6.2.2.3-1: D/C is the top bit, the rest before the SN is reserved.
        assert_eq!(Pdu::parse(&[0x8A, 0xBC, 1], SnLength::Bits12), Ok(Pdu::Data { sn: 0xABC, data: &[1] }));
        assert_eq!(Pdu::parse(&[0xFA, 0xBC], SnLength::Bits12), Ok(Pdu::Data { sn: 0xABC, data: &[] }));
        assert_eq!(Pdu::parse(&[0xFE, 0xAB, 0xCD, 1], SnLength::Bits18), Ok(Pdu::Data { sn: 0x2ABCD, data: &[1] }));
        assert_eq!(Pdu::parse(&[0x80, 1], SnLength::Bits18), Err(Error::Truncated));
    }

    #[test]
    fn the_window_is_half_of_the_sequence_numbers() {
        assert_eq!((SnLength::Bits12.modulus(), SnLength::Bits12.window()), (4_096, 2_048));
        assert_eq!((SnLength::Bits18.modulus(), SnLength::Bits18.window()), (262_144, 131_072));
    }

    #[test]
    fn control_pdus() {
        let kinds = [
            ControlType::StatusReport,
            ControlType::RohcFeedback,
            ControlType::EhcFeedback,
            ControlType::UdcFeedback,
            ControlType::SnGapReport,
            ControlType::Reserved(5),
        ];
        for (value, kind) in kinds.into_iter().enumerate() {
            let octet = (value as u8) << 4;
            assert_eq!(Pdu::parse(&[octet, 9], SnLength::Bits18), Ok(Pdu::Control { kind, content: &[9] }));
        }
        assert_eq!(Pdu::parse(&[], SnLength::Bits12), Err(Error::Truncated));
    }

    #[test]
    fn every_sequence_number_comes_back() {
        for length in [SnLength::Bits12, SnLength::Bits18] {
            let mut header = [0; 3];
            for sn in 0..length.modulus() {
                let len = emit_data_header(sn, length, &mut header).unwrap();
                assert_eq!(Pdu::parse(&header[..len], length), Ok(Pdu::Data { sn, data: &[] }));
            }
            assert_eq!(emit_data_header(length.modulus(), length, &mut header), Err(Error::Value));
            assert_eq!(emit_data_header(0, length, &mut header[..1]), Err(Error::Truncated));
        }
    }
}
