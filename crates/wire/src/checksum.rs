//! The internet checksum (RFC 1071) and its incremental update (RFC 1624).

use core::net::IpAddr;

/// One's complement sum in progress: 16-bit words are added and their carries kept for later.
#[derive(Clone, Copy, Default, Debug)]
pub struct Sum(u64);

impl Sum {
    /// The sum of no words.
    pub const ZERO: Self = Self(0);

    /// Adds `bytes` as big-endian words; an odd last byte is padded with zero, so only the last call may be odd.
    pub fn bytes(mut self, bytes: &[u8]) -> Self {
        let (words, rest) = bytes.as_chunks::<4>();
        for word in words {
            self.0 += u64::from(u32::from_be_bytes(*word));
        }
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        self.0 += u64::from(u32::from_be_bytes(last));
        self
    }
    /// Adds one word.
    pub const fn word(mut self, word: u16) -> Self {
        self.0 += word as u64;
        self
    }
    /// Adds the pseudo header of TCP and UDP (RFC 9293 3.1, RFC 8200 8.1). With addresses of two different families the
    /// checksum is one that no receiver accepts.
    pub fn pseudo_header(self, source: IpAddr, destination: IpAddr, protocol: u8, len: u32) -> Self {
        let address = |sum: Self, address| match address {
            IpAddr::V4(v4) => sum.bytes(&v4.octets()),
            IpAddr::V6(v6) => sum.bytes(&v6.octets()),
        };
        let sum = address(address(self, source), destination);
        sum.word(u16::from(protocol)).bytes(&len.to_be_bytes())
    }
    /// The sum from which a checksum field was made, to change it and write it back (RFC 1624).
    pub(crate) const fn from_checksum(checksum: u16) -> Self {
        Self(!checksum as u64)
    }
    /// Replaces four bytes at an even offset, `old` by `new`.
    pub(crate) const fn replace(mut self, old: u32, new: u32) -> Self {
        self.0 += !old as u64 + new as u64;
        self
    }
    /// The sum of the same bytes from an odd offset: each takes the other place in its word (RFC 1071 2 (B)).
    pub(crate) const fn odd(self) -> Self {
        Self(self.0 << 8)
    }
    /// Adds another sum.
    pub(crate) const fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
    /// The sum folded into 16 bits.
    const fn folded(self) -> u16 {
        let mut sum = self.0;
        while sum > 0xFFFF {
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        sum as u16
    }
    /// The checksum field that makes these words valid.
    pub const fn checksum(self) -> u16 {
        !self.folded()
    }
    /// True for a sum over data that includes its correct checksum field.
    pub const fn is_valid(self) -> bool {
        self.folded() == 0xFFFF
    }
}

/// The checksum after one word of the covered data changed from `old` to `new` (RFC 1624 equation 3).
///
/// A wrong checksum stays wrong by the same amount, so the receiver still detects earlier damage.
pub const fn update(checksum: u16, old: u16, new: u16) -> u16 {
    let sum = !checksum as u32 + !old as u32 + new as u32;
    let sum = (sum & 0xFFFF) + (sum >> 16);
    !(((sum & 0xFFFF) + (sum >> 16)) as u16)
}

/// The checksum after `old`, which begins `offset` bytes into the covered data, was replaced by `new`.
///
/// The parity of the offset decides whether a byte is the first or second of its word. If one slice is longer, its
/// excess is ignored.
pub fn update_bytes(checksum: u16, offset: usize, old: &[u8], new: &[u8]) -> u16 {
    let sum = old.iter().zip(new).enumerate().fold(u64::from(!checksum), |sum, (index, (&old, &new))| {
        let shift = if (offset + index).is_multiple_of(2) { 8 } else { 0 };
        sum + u64::from(!(u16::from(old) << shift)) + u64::from(u16::from(new) << shift)
    });
    Sum(sum).checksum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Numbers of RFC 1071 3, word by word.
    fn reference(bytes: &[u8]) -> u16 {
        let mut sum = 0u32;
        for pair in bytes.chunks(2) {
            sum += u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0));
            sum = (sum & 0xFFFF) + (sum >> 16);
        }
        !(sum as u16)
    }

    #[test]
    fn the_worked_example_of_rfc_1071() {
        assert_eq!(Sum::ZERO.bytes(&[0x00, 0x01, 0xF2, 0x03, 0xF4, 0xF5, 0xF6, 0xF7]).checksum(), !0xDDF2);
    }

    #[test]
    fn the_worked_example_of_rfc_1624() {
        // Section 4: equation 3 gives 0x0000 where the older equation gave 0xFFFF.
        assert_eq!(update(0xDD2F, 0x5555, 0x3285), 0x0000);
    }

    #[test]
    fn a_word_updated_at_the_carries_is_the_word_summed() {
        let edges = [0, 1, 2, 0x7FFF, 0x8000, 0xFFFD, 0xFFFE, 0xFFFF];
        let words = || edges.into_iter().flat_map(|a| edges.map(|b| (a, b)));
        for ((checksum, old), new) in words().flat_map(|pair| edges.map(|new| (pair, new))) {
            // Folded until nothing is left to fold.
            let mut sum = u32::from(!checksum) + u32::from(!old) + u32::from(new);
            while sum > 0xFFFF {
                sum = (sum & 0xFFFF) + (sum >> 16);
            }
            assert_eq!(update(checksum, old, new), !(sum as u16), "{checksum:#x} {old:#x} {new:#x}");
        }
    }

    proptest! {
        #[test]
        fn the_sum_agrees_with_the_plain_algorithm(bytes: Vec<u8>) {
            prop_assert_eq!(Sum::ZERO.bytes(&bytes).checksum(), reference(&bytes));
        }

        #[test]
        fn an_update_at_any_offset_gives_a_valid_checksum(
            mut bytes in proptest::collection::vec(any::<u8>(), 4..64),
            at: prop::sample::Index,
            new in proptest::collection::vec(any::<u8>(), 0..5),
        ) {
            bytes[0] = 1; // all-zero data has two valid checksums
            let check = reference(&bytes);
            let at = 1 + at.index(bytes.len() - 1);
            let end = bytes.len().min(at + new.len());
            let new = &new[..end - at];
            let updated = update_bytes(check, at, &bytes[at..end], new);
            bytes[at..end].copy_from_slice(new);
            prop_assert_eq!(updated, reference(&bytes));
        }
    }
}
