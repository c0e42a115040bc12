//! Binding transactions of STUN (RFC 8489 5), with which both ends of a call check the path every few seconds. They are not
//! encrypted, even where the media is.

/// Magic cookie of every message.
const COOKIE: [u8; 4] = 0x2112_A442_u32.to_be_bytes();
/// Types of a binding request and of its success response.
const REQUEST: [u8; 2] = [0x00, 0x01];
const RESPONSE: [u8; 2] = [0x01, 0x01];

/// Transaction ID, which a response copies from its request.
pub type Transaction = [u8; 12];

/// Half of a binding transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Binding {
    /// A request.
    Request(Transaction),
    /// The response, which is sent at once.
    Response(Transaction),
}

impl Binding {
    /// Reads the message in a UDP payload; `None` for anything else.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let (&[type_high, type_low, len_high, len_low, a, b, c, d], rest) = payload.split_first_chunk()?;
        let (transaction, attributes) = rest.split_first_chunk()?;
        if [a, b, c, d] != COOKIE || usize::from(u16::from_be_bytes([len_high, len_low])) != attributes.len() {
            return None;
        }
        match [type_high, type_low] {
            REQUEST => Some(Self::Request(*transaction)),
            RESPONSE => Some(Self::Response(*transaction)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::vec::Vec;

    use super::*;

    #[test]
    fn a_response_has_the_number_of_its_request() {
        let message = |kind: [u8; 2], attributes: &[u8]| {
            let header = [&kind[..], &[0, attributes.len() as u8], &COOKIE, &[7; 12]].concat();
            [&header, attributes].concat()
        };
        let parse = |bytes: Vec<u8>| Binding::parse(&bytes);
        assert_eq!(parse(message(REQUEST, &[0; 8])), Some(Binding::Request([7; 12])));
        assert_eq!(parse(message(RESPONSE, &[])), Some(Binding::Response([7; 12])));
        assert_eq!(parse(message([0x01, 0x11], &[])), None, "an error");
        assert_eq!(parse(message(REQUEST, &[0; 8])[..27].to_vec()), None, "cut short");
        let mut other = message(REQUEST, &[]);
        other[4] = 0;
        assert_eq!(parse(other), None, "another cookie");
    }
}
