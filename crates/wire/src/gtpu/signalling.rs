//! Content of GTP-U signalling messages (TS 29.281 7): echo requests and responses, and error indications.

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use super::{ExtensionType, MessageType, Repr};
use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

/// Information element types (TS 29.281 table 8.1-1).
const RECOVERY: u8 = 14;
const TEID_DATA_I: u8 = 16;
const PEER_ADDRESS: u8 = 133;
const EXTENSION_HEADER_TYPES: u8 = 141;

/// First type of the elements that have a length field.
const WITH_LENGTH: u8 = 128;

/// The header of a path management message, which has a sequence number but no tunnel (TS 29.281 5.1).
const fn header(message_type: MessageType, sequence: u16) -> Repr {
    Repr { message_type, teid: 0, sequence: Some(sequence), n_pdu: None }
}

/// Writes a message; `elements` writes its information elements.
fn emit(header: Repr, buffer: &mut [u8], elements: impl FnOnce(&mut Writer<'_>) -> Result<()>) -> Result<usize> {
    let header_len = header.emit(buffer, &[], 0)?;
    let mut writer = Writer::new(buffer.get_mut(header_len..).ok_or(Error::Truncated)?);
    elements(&mut writer)?;
    let len = writer.len();
    header.emit(buffer, &[], len)?;
    Ok(header_len + len)
}

/// Writes the answer to an echo request. Its restart counter is zero because it is no longer used (TS 29.281 7.2.2).
///
/// # Errors
/// `Truncated` for a buffer shorter than the 14 bytes of the message.
pub fn emit_echo_response(sequence: u16, buffer: &mut [u8]) -> Result<usize> {
    emit(header(MessageType::EchoResponse, sequence), buffer, |writer| writer.put(&[RECOVERY, 0]))
}

/// Writes the list of extension headers that this node understands. It answers a peer whose message required another
/// one (TS 29.281 7.2.3).
///
/// # Errors
/// `Truncated` for too short a buffer, `Value` for more than 255 types.
pub fn emit_supported_extension_headers(types: &[ExtensionType], buffer: &mut [u8]) -> Result<usize> {
    emit(header(MessageType::SupportedExtensionHeaders, 0), buffer, |writer| {
        writer.u8(EXTENSION_HEADER_TYPES)?;
        writer.u8(u8::try_from(types.len()).map_err(|_| Error::Value)?)?;
        types.iter().try_for_each(|kind| writer.u8(kind.0))
    })
}

/// Error indication: the peer sent a packet to a tunnel that does not exist here (TS 29.281 7.3.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ErrorIndication {
    /// The tunnel endpoint identifier of that packet.
    pub teid: u32,
    /// The address to which that packet was sent.
    pub address: IpAddr,
}

impl ErrorIndication {
    /// Reads the information elements of the message, its [`super::Packet::payload`]. Other elements are skipped.
    ///
    /// # Errors
    /// `Truncated` if an element passes the end or one of the two is missing, `Length` for an address that is neither
    /// IPv4 nor IPv6, `Type` for an element of unknown length.
    pub fn parse(elements: &[u8]) -> Result<Self> {
        let mut reader = Reader::new(elements);
        let (mut teid, mut address) = (None, None);
        while !reader.rest().is_empty() {
            match reader.u8()? {
                RECOVERY => drop(reader.u8()?),
                TEID_DATA_I => teid = Some(reader.u32()?),
                PEER_ADDRESS => {
                    let len = usize::from(reader.u16()?);
                    address = Some(ip_address(reader.take(len)?)?);
                }
                WITH_LENGTH.. => {
                    let len = usize::from(reader.u16()?);
                    reader.take(len)?;
                }
                _ => return Err(Error::Type),
            }
        }
        Ok(Self { teid: teid.ok_or(Error::Truncated)?, address: address.ok_or(Error::Truncated)? })
    }
    /// Writes the message to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        emit(header(MessageType::ErrorIndication, 0), buffer, |writer| {
            writer.u8(TEID_DATA_I)?;
            writer.u32(self.teid)?;
            writer.u8(PEER_ADDRESS)?;
            match self.address {
                IpAddr::V4(v4) => writer.u16(4).and_then(|()| writer.put(&v4.octets())),
                IpAddr::V6(v6) => writer.u16(16).and_then(|()| writer.put(&v6.octets())),
            }
        })
    }
}

fn ip_address(octets: &[u8]) -> Result<IpAddr> {
    match (<[u8; 4]>::try_from(octets), <[u8; 16]>::try_from(octets)) {
        (Ok(v4), _) => Ok(Ipv4Addr::from(v4).into()),
        (_, Ok(v6)) => Ok(Ipv6Addr::from(v6).into()),
        _ => Err(Error::Length),
    }
}

#[cfg(test)]
mod tests {
    use super::super::Packet;
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_echo_response() {
        let mut bytes = [0xEE; 14];
        assert_eq!(emit_echo_response(7, &mut bytes), Ok(14));
        assert_eq!(bytes, [0x32, 2, 0, 6, 0, 0, 0, 0, 0, 7, 0, 0, 14, 0]);
        assert_eq!(Packet::new_checked(&bytes).unwrap().payload(), [14, 0]);
        assert_eq!(emit_echo_response(7, &mut bytes[..13]), Err(Error::Truncated));
    }

    #[test]
    fn the_supported_extension_headers() {
        let mut bytes = [0xEE; 16];
        let types = [ExtensionType::NR_RAN_CONTAINER, ExtensionType::PDU_SESSION_CONTAINER];
        assert_eq!(emit_supported_extension_headers(&types, &mut bytes), Ok(16));
        assert_eq!(bytes, [0x32, 31, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 141, 2, 0x84, 0x85]);
        assert_eq!(emit_supported_extension_headers(&[ExtensionType(1); 256], &mut [0; 300]), Err(Error::Value));
    }

    #[test]
    fn an_error_indication() {
        let indication = ErrorIndication { teid: 0x0102_0304, address: Ipv4Addr::new(192, 0, 2, 1).into() };
        let mut bytes = [0xEE; 24];
        assert_eq!(indication.emit(&mut bytes), Ok(24));
        let octets = [0x32, 26, 0, 16, 0, 0, 0, 0, 0, 0, 0, 0, 16, 1, 2, 3, 4, 133, 0, 4, 192, 0, 2, 1];
        assert_eq!(bytes, octets);
        assert_eq!(ErrorIndication::parse(&octets[12..]), Ok(indication));
        let with_private_extension = [&octets[12..], &[255, 0, 2, 9, 9]].concat();
        assert_eq!(ErrorIndication::parse(&with_private_extension), Ok(indication));
        let with_recovery = [&[14, 133], &octets[12..]].concat();
        assert_eq!(ErrorIndication::parse(&with_recovery), Ok(indication));
        assert_eq!(ErrorIndication::parse(&octets[12..17]), Err(Error::Truncated), "no address");
        assert_eq!(ErrorIndication::parse(&[133, 0, 3, 1, 2, 3]), Err(Error::Length));
        assert_eq!(ErrorIndication::parse(&[99]), Err(Error::Type));
    }

    proptest! {
        #[test]
        fn an_error_indication_comes_back(teid: u32, address: IpAddr) {
            let mut bytes = [0; 64];
            let len = ErrorIndication { teid, address }.emit(&mut bytes).unwrap();
            let packet = Packet::new_checked(&bytes[..len]).unwrap();
            prop_assert_eq!(packet.message_type(), MessageType::ErrorIndication);
            prop_assert_eq!(ErrorIndication::parse(packet.payload()), Ok(ErrorIndication { teid, address }));
        }

        #[test]
        fn arbitrary_elements_never_panic(bytes in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = ErrorIndication::parse(&bytes);
        }
    }
}
