//! GTP-U (TS 29.281): the header, its chain of extension headers, and the messages that check a path.

use crate::cursor::{Reader, Writer};
use crate::{Error, Result};

mod signalling;
pub use signalling::{ErrorIndication, emit_echo_response, emit_supported_extension_headers};

/// The UDP port of GTP-U (TS 29.281 4.4.2).
pub const PORT: u16 = 2152;

/// Length of the header without its optional fields.
pub const HEADER_LEN: usize = 8;

/// Largest number of extension headers that are walked. It bounds the work on hostile packets; real packets have one or two.
pub const MAX_EXTENSIONS: usize = 8;

const EXTENSION: u8 = 0b100;
const SEQUENCE: u8 = 0b010;
const N_PDU: u8 = 0b001;

/// Purpose of a message (TS 29.281 6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum MessageType {
    /// 1: asks whether the peer is alive.
    EchoRequest,
    /// 2: answers an echo request.
    EchoResponse,
    /// 26: a packet arrived for a tunnel that does not exist.
    ErrorIndication,
    /// 31: the extension headers that the sender understands.
    SupportedExtensionHeaders,
    /// 254: no more packets come through this tunnel.
    EndMarker,
    /// 255: a user packet.
    GPdu,
    /// Any other.
    Unknown(u8),
}

impl From<u8> for MessageType {
    fn from(octet: u8) -> Self {
        match octet {
            1 => Self::EchoRequest,
            2 => Self::EchoResponse,
            26 => Self::ErrorIndication,
            31 => Self::SupportedExtensionHeaders,
            254 => Self::EndMarker,
            255 => Self::GPdu,
            other => Self::Unknown(other),
        }
    }
}

impl From<MessageType> for u8 {
    fn from(message: MessageType) -> Self {
        match message {
            MessageType::EchoRequest => 1,
            MessageType::EchoResponse => 2,
            MessageType::ErrorIndication => 26,
            MessageType::SupportedExtensionHeaders => 31,
            MessageType::EndMarker => 254,
            MessageType::GPdu => 255,
            MessageType::Unknown(other) => other,
        }
    }
}

/// Type of an extension header (TS 29.281 5.2.1).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ExtensionType(pub u8);

impl ExtensionType {
    /// Long PDCP PDU number: 18 bits.
    pub const LONG_PDCP_PDU_NUMBER: Self = Self(0x03);
    /// PDU Set Information Container (TS 38.415 6.5.2.1), Release 18.
    pub const PDU_SET_INFORMATION: Self = Self(0x04);
    /// Service class indicator.
    pub const SERVICE_CLASS_INDICATOR: Self = Self(0x20);
    /// Source UDP port of the packet that an error indication is about.
    pub const UDP_PORT: Self = Self(0x40);
    /// RAN container, used on X2-U of E-UTRA.
    pub const RAN_CONTAINER: Self = Self(0x81);
    /// Xw RAN container.
    pub const XW_RAN_CONTAINER: Self = Self(0x83);
    /// NR RAN container: a frame of the NR user plane protocol, [`crate::nru`].
    pub const NR_RAN_CONTAINER: Self = Self(0x84);
    /// PDU Session Container: [`crate::pdu_session`].
    pub const PDU_SESSION_CONTAINER: Self = Self(0x85);
    /// PDCP PDU number: 16 bits.
    pub const PDCP_PDU_NUMBER: Self = Self(0xC0);

    /// What a node that does not know this type must do, from the two top bits (TS 29.281 5.2.1, figure 5.2.1-2).
    pub const fn comprehension(self) -> Comprehension {
        match self.0 >> 6 {
            0b00 => Comprehension::Optional,
            0b01 => Comprehension::OptionalAndNotForwarded,
            0b10 => Comprehension::RequiredByEndpoint,
            _ => Comprehension::RequiredByAll,
        }
    }
}

/// Required behaviour of a node that does not know an extension header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Comprehension {
    /// Skip it; an intermediate node forwards it.
    Optional,
    /// Skip it; an intermediate node does not forward it.
    OptionalAndNotForwarded,
    /// The tunnel's endpoint discards the message; an intermediate node forwards it.
    RequiredByEndpoint,
    /// The receiver, endpoint or not, discards the message.
    RequiredByAll,
}

/// An extension header.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Extension<'a> {
    /// Type of the header.
    pub kind: ExtensionType,
    /// Content, padded to two bytes less than a multiple of four.
    pub content: &'a [u8],
}

/// A view over a GTP-U message. All its extension headers are known to lie within the message.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<T> {
    buffer: T,
    payload: usize,
}

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks version and lengths and walks the extension headers. Bytes beyond the message's length are not part of it.
    ///
    /// # Errors
    /// `Type` for GTP of another version or GTP', `Truncated` for a message longer than the buffer or an extension
    /// header longer than the message, `Length` for an extension header of length zero or too many of them.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let bytes = buffer.as_ref();
        let flags = *bytes.first().ok_or(Error::Truncated)?;
        // Version 1 and protocol type GTP; the spare bit is not looked at (TS 29.281 5.1).
        if flags >> 4 != 0b0011 {
            return Err(Error::Type);
        }
        let header = bytes.get(..HEADER_LEN).ok_or(Error::Truncated)?;
        let len = HEADER_LEN + usize::from(u16::from_be_bytes([header[2], header[3]]));
        let message = bytes.get(..len).ok_or(Error::Truncated)?;
        if flags & (EXTENSION | SEQUENCE | N_PDU) == 0 {
            return Ok(Self { buffer, payload: HEADER_LEN });
        }
        message.get(..HEADER_LEN + 4).ok_or(Error::Truncated)?;
        let mut walk = Extensions::new(message);
        walk.by_ref().try_for_each(|extension| extension.map(drop))?;
        let payload = walk.at;
        Ok(Self { buffer, payload })
    }

    fn message(&self) -> &[u8] {
        let bytes = self.buffer.as_ref();
        &bytes[..HEADER_LEN + usize::from(u16::from_be_bytes([bytes[2], bytes[3]]))]
    }
    fn flags(&self) -> u8 {
        self.buffer.as_ref()[0]
    }
    /// Purpose of the message.
    pub fn message_type(&self) -> MessageType {
        self.buffer.as_ref()[1].into()
    }
    /// Tunnel endpoint identifier.
    pub fn teid(&self) -> u32 {
        let bytes = self.buffer.as_ref();
        u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]])
    }
    /// Sequence number.
    pub fn sequence(&self) -> Option<u16> {
        let bytes = self.buffer.as_ref();
        (self.flags() & SEQUENCE != 0).then(|| u16::from_be_bytes([bytes[8], bytes[9]]))
    }
    /// N-PDU number.
    pub fn n_pdu(&self) -> Option<u8> {
        (self.flags() & N_PDU != 0).then(|| self.buffer.as_ref()[10])
    }
    /// The extension headers in their order.
    pub fn extensions(&self) -> impl Iterator<Item = Extension<'_>> {
        Extensions::new(self.message()).flatten()
    }
    /// The content of the first extension header of a type.
    pub fn extension(&self, kind: ExtensionType) -> Option<&[u8]> {
        self.extensions().find(|extension| extension.kind == kind).map(|extension| extension.content)
    }
    /// The first extension header that an endpoint with only the types in `known` may not ignore. The endpoint discards
    /// such a message and may answer with the types that it supports (TS 29.281 5.2.1).
    pub fn not_understood(&self, known: &[ExtensionType]) -> Option<ExtensionType> {
        use Comprehension::{RequiredByAll, RequiredByEndpoint};
        self.extensions()
            .map(|extension| extension.kind)
            .find(|kind| !known.contains(kind) && matches!(kind.comprehension(), RequiredByEndpoint | RequiredByAll))
    }
    /// Range of the payload within the buffer: the user packet, or the information elements of the message.
    pub fn payload_range(&self) -> core::ops::Range<usize> {
        self.payload..self.message().len()
    }
    /// The user packet, or the information elements of the message.
    pub fn payload(&self) -> &[u8] {
        &self.message()[self.payload..]
    }
    /// The header as a value.
    pub fn repr(&self) -> Repr {
        Repr { message_type: self.message_type(), teid: self.teid(), sequence: self.sequence(), n_pdu: self.n_pdu() }
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// The user packet, mutable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let range = self.payload_range();
        &mut self.buffer.as_mut()[range]
    }
}

/// A walk over the extension headers of a message.
struct Extensions<'a> {
    message: &'a [u8],
    next: u8,
    at: usize,
    left: usize,
}

impl<'a> Extensions<'a> {
    /// Begins the walk. The caller has checked that the message contains the optional fields that its flags announce.
    fn new(message: &'a [u8]) -> Self {
        let next = if message[0] & EXTENSION != 0 { message[11] } else { 0 };
        Self { message, next, at: HEADER_LEN + 4, left: MAX_EXTENSIONS }
    }
    fn read(&mut self) -> Result<Extension<'a>> {
        self.left = self.left.checked_sub(1).ok_or(Error::Length)?;
        let mut reader = Reader::new(self.message.get(self.at..).ok_or(Error::Truncated)?);
        let len = usize::from(reader.u8()?) * 4;
        let content = reader.take(len.checked_sub(2).ok_or(Error::Length)?)?;
        let kind = ExtensionType(core::mem::replace(&mut self.next, reader.u8()?));
        self.at += len;
        Ok(Extension { kind, content })
    }
}

impl<'a> Iterator for Extensions<'a> {
    type Item = Result<Extension<'a>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.next == 0 {
            return None;
        }
        let extension = self.read();
        if extension.is_err() {
            self.next = 0;
        }
        Some(extension)
    }
}

/// A header as a value. [`emit`](Self::emit) takes its extension headers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repr {
    /// Purpose of the message.
    pub message_type: MessageType,
    /// Tunnel endpoint identifier.
    pub teid: u32,
    /// Sequence number.
    pub sequence: Option<u16>,
    /// N-PDU number.
    pub n_pdu: Option<u8>,
}

impl Repr {
    /// The header of a user packet in the tunnel `teid`.
    pub const fn g_pdu(teid: u32) -> Self {
        Self { message_type: MessageType::GPdu, teid, sequence: None, n_pdu: None }
    }
    /// A complete end marker, which has no payload (TS 29.281 7.3.2).
    pub const fn end_marker(teid: u32) -> Self {
        Self { message_type: MessageType::EndMarker, teid, sequence: None, n_pdu: None }
    }
    /// A complete echo request, which needs no payload (TS 29.281 7.2.1).
    pub const fn echo_request(sequence: u16) -> Self {
        Self { message_type: MessageType::EchoRequest, teid: 0, sequence: Some(sequence), n_pdu: None }
    }
    /// Writes the header and `extensions` to the front of `buffer`. Each extension is padded with zeros to a multiple of
    /// four bytes. The caller appends a payload of `payload_len` bytes. Returns the length written.
    ///
    /// # Errors
    /// `Truncated` for too short a buffer; `Value` for more than [`MAX_EXTENSIONS`], an extension of type zero or longer
    /// than 1018 bytes, or a message that is too long.
    pub fn emit(&self, buffer: &mut [u8], extensions: &[Extension<'_>], payload_len: usize) -> Result<usize> {
        if extensions.len() > MAX_EXTENSIONS || extensions.iter().any(|extension| extension.kind.0 == 0) {
            return Err(Error::Value);
        }
        let mut writer = Writer::new(buffer);
        let flag = |set: bool, bit: u8| if set { bit } else { 0 };
        let flags = flag(!extensions.is_empty(), EXTENSION)
            | flag(self.sequence.is_some(), SEQUENCE)
            | flag(self.n_pdu.is_some(), N_PDU);
        writer.u8(0b0011_0000 | flags)?;
        writer.u8(self.message_type.into())?;
        writer.u16(0)?;
        writer.u32(self.teid)?;
        if flags != 0 {
            writer.u16(self.sequence.unwrap_or(0))?;
            writer.u8(self.n_pdu.unwrap_or(0))?;
            writer.u8(extensions.first().map_or(0, |extension| extension.kind.0))?;
        }
        for (at, extension) in extensions.iter().enumerate() {
            let words = (extension.content.len() + 2).div_ceil(4);
            writer.u8(u8::try_from(words).map_err(|_| Error::Value)?)?;
            writer.put(extension.content)?;
            writer.pad(4, 3)?;
            writer.u8(extensions.get(at + 1).map_or(0, |next| next.kind.0))?;
        }
        let len = writer.len();
        let field = u16::try_from(len - HEADER_LEN + payload_len).map_err(|_| Error::Value)?;
        writer.overwrite(2, &field.to_be_bytes())?;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    #[test]
    fn a_g_pdu_with_a_pdu_session_container() {
        let mut bytes = [0; 19];
        let extension = Extension { kind: ExtensionType::PDU_SESSION_CONTAINER, content: &[0, 1] };
        assert_eq!(Repr::g_pdu(0x0102_0304).emit(&mut bytes, &[extension], 3), Ok(16));
        bytes[16..].copy_from_slice(b"abc");
        // TS 29.281 figure 5.1-1: length counts from octet 9; the container is the facts' minimal example.
        assert_eq!(bytes[..12], [0x34, 0xFF, 0, 11, 1, 2, 3, 4, 0, 0, 0, 0x85]);
        assert_eq!(bytes[12..16], [1, 0, 1, 0]);
        let packet = Packet::new_checked(&bytes).unwrap();
        assert_eq!(packet.repr(), Repr::g_pdu(0x0102_0304));
        assert_eq!(packet.extension(ExtensionType::PDU_SESSION_CONTAINER), Some(&[0, 1][..]));
        assert_eq!(packet.payload(), b"abc");
    }

    #[test]
    fn messages_of_the_path() {
        let mut bytes = [0; 12];
        assert_eq!(Repr::echo_request(7).emit(&mut bytes, &[], 0), Ok(12));
        assert_eq!(bytes, [0x32, 1, 0, 4, 0, 0, 0, 0, 0, 7, 0, 0]);
        assert_eq!(Repr::end_marker(9).emit(&mut bytes, &[], 0), Ok(8));
        assert_eq!(bytes[..8], [0x30, 254, 0, 0, 0, 0, 0, 9]);
    }

    #[test]
    fn the_top_bits_of_an_unknown_type_say_what_to_do() {
        use Comprehension::*;
        for (kind, wanted) in
            [(0x3F, Optional), (0x40, OptionalAndNotForwarded), (0x85, RequiredByEndpoint), (0xC0, RequiredByAll)]
        {
            assert_eq!(ExtensionType(kind).comprehension(), wanted);
        }
        let extensions = [0x21, 0x85, 0x99].map(|kind| Extension { kind: ExtensionType(kind), content: &[0, 0] });
        let mut bytes = [0; 24];
        Repr::g_pdu(1).emit(&mut bytes, &extensions, 0).unwrap();
        let packet = Packet::new_checked(&bytes).unwrap();
        assert_eq!(packet.not_understood(&[ExtensionType(0x85)]), Some(ExtensionType(0x99)));
        assert_eq!(packet.not_understood(&[ExtensionType(0x85), ExtensionType(0x99)]), None);
    }

    #[test]
    fn extension_headers_of_length_zero_or_without_end_are_refused() {
        let zero = [0x34, 255, 0, 8, 0, 0, 0, 1, 0, 0, 0, 0x85, 0, 0, 0, 0];
        assert_eq!(Packet::new_checked(zero).map(|_| ()), Err(Error::Length));
        let mut long = zero;
        long[12] = 2;
        assert_eq!(Packet::new_checked(long).map(|_| ()), Err(Error::Truncated));
        let mut endless = std::vec![0x34, 255, 0, 84, 0, 0, 0, 1, 0, 0, 0, 0x20];
        endless.extend([1, 0, 0, 0x20].repeat(20));
        assert_eq!(Packet::new_checked(endless).map(|_| ()), Err(Error::Length));
    }

    #[test]
    fn other_versions_and_gtp_prime_are_refused() {
        for flags in [0x10, 0x50, 0x20] {
            assert_eq!(Packet::new_checked([flags, 255, 0, 0, 0, 0, 0, 1]).map(|_| ()), Err(Error::Type));
        }
        assert_eq!(Packet::new_checked([0x32, 255, 0, 3, 0, 0, 0, 1, 0, 0, 0]).map(|_| ()), Err(Error::Truncated));
    }

    proptest! {
        #[test]
        fn a_message_comes_back_as_it_was_written(
            message in any::<u8>().prop_map(MessageType::from), teid: u32, sequence: Option<u16>, n_pdu: Option<u8>,
            extensions in proptest::collection::vec((1u8.., proptest::collection::vec(any::<u8>(), 0..30)), 0..4),
            payload in proptest::collection::vec(any::<u8>(), 0..30),
        ) {
            let repr = Repr { message_type: message, teid, sequence, n_pdu };
            let list: Vec<_> = extensions
                .iter()
                .map(|(kind, content)| Extension { kind: ExtensionType(*kind), content })
                .collect();
            let mut bytes = std::vec![0xEE; 400];
            let len = repr.emit(&mut bytes, &list, payload.len()).unwrap();
            bytes.truncate(len);
            bytes.extend(&payload);
            bytes.extend(b"beyond");
            let packet = Packet::new_checked(&bytes).unwrap();
            prop_assert_eq!(packet.repr(), repr);
            prop_assert_eq!(packet.payload(), &payload[..]);
            prop_assert_eq!(packet.extensions().count(), list.len());
            for (read, written) in packet.extensions().zip(&list) {
                prop_assert_eq!(read.kind, written.kind);
                prop_assert_eq!((read.content.len() + 2) % 4, 0);
                let (content, padding) = read.content.split_at(written.content.len());
                prop_assert_eq!(content, written.content);
                prop_assert!(padding.len() < 4 && padding.iter().all(|octet| *octet == 0));
            }
        }

        #[test]
        fn arbitrary_bytes_never_panic(flags in 0x30u8..0x38, mut bytes in proptest::collection::vec(any::<u8>(), 1..64)) {
            bytes[0] = flags;
            if bytes.len() > 8 {
                let len = bytes.len() as u16 - 8;
                bytes[2..4].copy_from_slice(&len.to_be_bytes());
            }
            if let Ok(mut packet) = Packet::new_checked(&mut bytes) {
                let count = packet.extensions().count();
                prop_assert!(count <= MAX_EXTENSIONS);
                prop_assert_eq!(packet.payload().len(), packet.payload_mut().len());
            }
        }
    }
}
