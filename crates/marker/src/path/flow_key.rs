//! Flow ids: a keyed hash of five-tuples.

use core::hash::Hasher;
use core::net::IpAddr;

use siphasher::sip::SipHasher13;
use tidemark_core::FlowId;
use tidemark_wire::ip::FiveTuple;

/// Secret key of the flow hash, so that nobody outside can craft tuples that collide in one slot of a table.
///
/// The hash has two keyed steps of some twenty instructions; a cipher takes hundreds. The first is NH (Black et al., "UMAC", CRYPTO 1999,
/// section 4.2): pairs of words, a secret number added to each, are multiplied and the products summed. Two tuples give
/// the same sum for one key in 2^64. The second is multilinear hashing (Carter and Wegman; Lemire and Kaser, "Strongly
/// universal string hashing is fast", 2014) of the sum: two sums get the same id, or ids with any other relation, for one
/// key in 2^32. So tuples chosen without the key collide no more often than by chance.
#[derive(Clone, Copy)]
#[repr(C)]
pub struct FlowKey {
    sum: [u64; 5],
    pairs: [[u64; 2]; 3],
}

impl FlowKey {
    /// Makes a key from 16 random bytes, drawn once for each instance.
    pub fn new(secret: &[u8; 16]) -> Self {
        let (low, high) = secret.split_at(8);
        let word = |half: &[u8]| half.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        let cipher = SipHasher13::new_with_keys(word(low), word(high));
        let number = |index: u64| {
            let mut hasher = cipher;
            hasher.write_u64(index);
            hasher.finish()
        };
        let [a, b, c, d, e, f, sum @ ..] = core::array::from_fn::<_, 11, _>(|index| number(index as u64));
        Self { pairs: [[a, b], [c, d], [e, f]], sum }
    }

    /// The id of the flow of downlink packets with this five-tuple.
    // Part of its caller, so that the tuple is never put together in memory.
    #[inline(always)]
    pub fn flow(&self, tuple: &FiveTuple) -> FlowId {
        let (source_port, destination_port) = tuple.ports.unwrap_or_default();
        // A tuple without ports is not one with ports of zero: the lowest bit tells them apart.
        let ports = u64::from(source_port) << 48 | u64::from(destination_port) << 32;
        let rest = ports | u64::from(tuple.protocol) << 8 | u64::from(tuple.ports.is_some());
        let product = |pair: usize, one: u64, other: u64| {
            let [first, second] = self.pairs[pair];
            u128::from(one.wrapping_add(first)) * u128::from(other.wrapping_add(second))
        };
        let sum = match (tuple.source, tuple.destination) {
            // Two words fill one pair: one multiplication, and no more of the key is read.
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                product(0, u64::from(source.to_bits()) << 32 | u64::from(destination.to_bits()), rest)
            }
            // Five words, where IPv4 has two; a sixth fills the last pair.
            (source, destination) => {
                let [source, destination] = [wide(source), wide(destination)];
                product(0, (source >> 64) as u64, rest)
                    .wrapping_add(product(1, source as u64, (destination >> 64) as u64))
                    .wrapping_add(product(2, destination as u64, 1))
            }
        };
        let [start, words @ ..] = self.sum;
        let quarter = |index: usize| u64::from((sum >> (32 * index)) as u32);
        let hash = (0..4).fold(start, |hash, index| hash.wrapping_add(words[index].wrapping_mul(quarter(index))));
        // The lower half is not universal: its low bits don't depend on the high bits of the words.
        FlowId((hash >> 32) as u32)
    }
}

fn wide(address: IpAddr) -> u128 {
    match address {
        IpAddr::V4(address) => u128::from(address.to_bits()),
        IpAddr::V6(address) => address.to_bits(),
    }
}

impl core::fmt::Debug for FlowKey {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("FlowKey(..)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::collections::BTreeSet;
    use core::net::{Ipv4Addr, Ipv6Addr};

    fn tuple(source_port: u16) -> FiveTuple {
        FiveTuple {
            source: Ipv4Addr::new(10, 0, 0, 1).into(),
            destination: Ipv4Addr::new(10, 0, 0, 2).into(),
            protocol: 6,
            ports: Some((source_port, 443)),
        }
    }

    #[test]
    fn crafted_tuples_do_not_meet_under_a_key_that_they_were_not_crafted_for() {
        // Tuples that all fall into the first of 8 sets under one key are spread over all of them under another.
        let (known, secret) = (FlowKey::new(&[1; 16]), FlowKey::new(&[2; 16]));
        let crafted = (0..60_000).map(tuple).filter(|tuple| known.flow(tuple).0 % 8 == 0);
        let mut sets = [0u32; 8];
        for tuple in crafted {
            sets[secret.flow(&tuple).0 as usize % 8] += 1;
        }
        assert!(sets.iter().all(|count| (700..1_200).contains(count)), "{sets:?}");
    }

    #[test]
    fn every_part_of_the_tuple_counts() {
        let key = FlowKey::new(&[7; 16]);
        let base = tuple(1);
        let v6 = |low: u16| IpAddr::from(Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0x0A00, low));
        let others = [
            base,
            base.reversed(),
            FiveTuple { protocol: 17, ..base },
            FiveTuple { ports: None, ..base },
            FiveTuple { ports: Some((0, 0)), ..base },
            FiveTuple { source: v6(1), destination: v6(2), ..base },
        ];
        let ids: BTreeSet<_> = others.iter().map(|tuple| key.flow(tuple)).collect();
        assert_eq!(ids.len(), others.len());
    }

    /// The two steps in plain arithmetic, word by word.
    fn reference(secret: &[u8; 16], tuple: &FiveTuple) -> u32 {
        let modulus = 1u128 << 64;
        let key = |range: core::ops::Range<usize>| u64::from_le_bytes(secret[range].try_into().unwrap());
        let number = |index: u64| {
            let mut hasher = SipHasher13::new_with_keys(key(0..8), key(8..16));
            hasher.write_u64(index);
            u128::from(hasher.finish())
        };
        let bits = |address: IpAddr| match address {
            IpAddr::V4(v4) => u128::from(u32::from(v4)),
            IpAddr::V6(v6) => u128::from(v6),
        };
        let (source_port, destination_port) = tuple.ports.unwrap_or((0, 0));
        let rest = u128::from(source_port) * (1 << 48)
            + u128::from(destination_port) * (1 << 32)
            + u128::from(tuple.protocol) * (1 << 8)
            + u128::from(tuple.ports.is_some());
        let (source, destination) = (bits(tuple.source), bits(tuple.destination));
        let pairs = if tuple.source.is_ipv4() && tuple.destination.is_ipv4() {
            alloc::vec![(source * (1 << 32) + destination, rest)]
        } else {
            alloc::vec![(source / modulus, rest), (source % modulus, destination / modulus), (destination % modulus, 1),]
        };
        let sum = (0..).step_by(2).zip(pairs).fold(0u128, |sum, (index, (one, other))| {
            let (one, other) = ((one + number(index)) % modulus, (other + number(index + 1)) % modulus);
            sum.wrapping_add(one * other)
        });
        let hash = (0..4).fold(number(6), |hash, index| {
            let quarter = sum / (1 << (32 * index)) % (1 << 32);
            (hash + number(7 + index) * quarter % modulus) % modulus
        });
        (hash / (1 << 32)) as u32
    }

    proptest::proptest! {
        #[test]
        fn an_id_is_the_multilinear_hash_of_the_sum_of_products(
            secret: [u8; 16], source: IpAddr, destination: IpAddr, protocol: u8, ports: Option<(u16, u16)>,
        ) {
            let tuple = FiveTuple { source, destination, protocol, ports };
            proptest::prop_assert_eq!(FlowKey::new(&secret).flow(&tuple).0, reference(&secret, &tuple));
        }
    }

    #[test]
    fn a_key_is_printed_without_its_numbers() {
        assert_eq!(alloc::format!("{:?}", FlowKey::new(&[7; 16])), "FlowKey(..)");
    }
}
