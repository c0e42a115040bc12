//! UDP (RFC 768).

use core::net::IpAddr;

use crate::checksum::Sum;
use crate::{Error, Result};

/// UDP's protocol number.
pub const PROTOCOL: u8 = 17;

/// Length of the header.
pub const HEADER_LEN: usize = 8;

/// A view over a UDP datagram whose length is known to be consistent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Packet<T>(T);

impl<T: AsRef<[u8]>> Packet<T> {
    /// Checks the length. Bytes beyond it are not part of the datagram.
    ///
    /// # Errors
    /// `Truncated` for a datagram longer than the buffer, `Length` for one shorter than its header.
    pub fn new_checked(buffer: T) -> Result<Self> {
        let packet = Self(buffer);
        let available = packet.0.as_ref().len();
        if available < HEADER_LEN {
            return Err(Error::Truncated);
        }
        match packet.total_len() {
            len if len < HEADER_LEN => Err(Error::Length),
            len if len > available => Err(Error::Truncated),
            _ => Ok(packet),
        }
    }

    fn word(&self, at: usize) -> u16 {
        let bytes = self.0.as_ref();
        u16::from_be_bytes([bytes[at], bytes[at + 1]])
    }

    /// Source port.
    pub fn source_port(&self) -> u16 {
        self.word(0)
    }
    /// Destination port.
    pub fn destination_port(&self) -> u16 {
        self.word(2)
    }
    /// Length of the datagram, header included, in bytes.
    pub fn total_len(&self) -> usize {
        usize::from(self.word(4))
    }
    /// The checksum field; zero means that there is none.
    pub fn checksum(&self) -> u16 {
        self.word(6)
    }
    /// True if the checksum fits, or if there is none (which IPv6 allows in tunnels only, RFC 6935).
    pub fn has_valid_checksum(&self, source: IpAddr, destination: IpAddr) -> bool {
        self.checksum() == 0 || self.sum(source, destination).is_valid()
    }
    fn sum(&self, source: IpAddr, destination: IpAddr) -> Sum {
        let len = self.total_len();
        Sum::ZERO.pseudo_header(source, destination, PROTOCOL, len as u32).bytes(&self.0.as_ref()[..len])
    }
    /// The bytes after the header.
    pub fn payload(&self) -> &[u8] {
        &self.0.as_ref()[HEADER_LEN..self.total_len()]
    }
}

impl<T: AsRef<[u8]> + AsMut<[u8]>> Packet<T> {
    /// The bytes after the header, mutable.
    pub fn payload_mut(&mut self) -> &mut [u8] {
        let len = self.total_len();
        &mut self.0.as_mut()[HEADER_LEN..len]
    }
    /// Computes the checksum from scratch.
    pub fn fill_checksum(&mut self, source: IpAddr, destination: IpAddr) {
        self.0.as_mut()[6..8].fill(0);
        let checksum = match self.sum(source, destination).checksum() {
            0 => 0xFFFF, // zero would mean that there is none
            checksum => checksum,
        };
        self.0.as_mut()[6..8].copy_from_slice(&checksum.to_be_bytes());
    }
}

/// A header as a value, without checksum.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Repr {
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Length of the payload in bytes.
    pub payload_len: u16,
}

impl Repr {
    /// Reads a header.
    pub fn parse<T: AsRef<[u8]>>(packet: &Packet<T>) -> Self {
        Self {
            source_port: packet.source_port(),
            destination_port: packet.destination_port(),
            payload_len: (packet.total_len() - HEADER_LEN) as u16,
        }
    }
    /// Writes the header, without checksum, to the front of `buffer` and returns its length.
    ///
    /// # Errors
    /// `Value` for a payload that is too long, `Truncated` for a buffer shorter than the header.
    pub fn emit(&self, buffer: &mut [u8]) -> Result<usize> {
        let total = self.payload_len.checked_add(HEADER_LEN as u16).ok_or(Error::Value)?;
        let header = buffer.first_chunk_mut::<HEADER_LEN>().ok_or(Error::Truncated)?;
        header[..2].copy_from_slice(&self.source_port.to_be_bytes());
        header[2..4].copy_from_slice(&self.destination_port.to_be_bytes());
        header[4..6].copy_from_slice(&total.to_be_bytes());
        header[6..].fill(0);
        Ok(HEADER_LEN)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use core::net::Ipv4Addr;

    #[test]
    fn a_datagram_comes_back_as_it_was_written() {
        let repr = Repr { source_port: 2152, destination_port: 9, payload_len: 3 };
        let mut bytes = [0; 12];
        repr.emit(&mut bytes).unwrap();
        let (a, b) = (IpAddr::V4(Ipv4Addr::LOCALHOST), IpAddr::V4(Ipv4Addr::BROADCAST));
        let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
        packet.payload_mut().copy_from_slice(b"abc");
        packet.fill_checksum(a, b);
        assert!(packet.has_valid_checksum(a, b));
        assert_eq!(Repr::parse(&packet), repr);
        packet.payload_mut()[2] ^= 1;
        assert!(!packet.has_valid_checksum(a, b));
    }

    #[test]
    fn a_checksum_of_zero_is_sent_as_its_other_representation() {
        // Ports, length and protocol add up to 0xFFFF with the payload below, so that the checksum is zero.
        let (a, b) = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), IpAddr::V4(Ipv4Addr::UNSPECIFIED));
        let mut bytes = [0; 10];
        Repr { source_port: 0, destination_port: 0, payload_len: 2 }.emit(&mut bytes).unwrap();
        let payload = 0xFFFFu16 - 10 - 10 - u16::from(PROTOCOL);
        bytes[8..].copy_from_slice(&payload.to_be_bytes());
        let mut packet = Packet::new_checked(&mut bytes[..]).unwrap();
        packet.fill_checksum(a, b);
        assert_eq!(packet.checksum(), 0xFFFF);
        assert!(packet.has_valid_checksum(a, b));
    }

    #[test]
    fn lengths_that_contradict_are_refused() {
        let with = |len: u8| Packet::new_checked([0, 1, 0, 2, 0, len, 0, 0, 0]).map(|_| ());
        assert_eq!(with(7), Err(Error::Length));
        assert_eq!(with(8), Ok(()));
        assert_eq!(with(10), Err(Error::Truncated));
    }
}
