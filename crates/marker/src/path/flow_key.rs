//! From a five-tuple to a flow's id, under a secret key.

use core::hash::Hasher;
use core::net::IpAddr;

use siphasher::sip::SipHasher13;
use tidemark_core::FlowId;
use tidemark_wire::ip::FiveTuple;

/// The secret that flows are hashed with (SipHash-1-3), so that nobody outside can craft tuples that meet in one place
/// of a table.
#[derive(Clone, Copy)]
pub struct FlowKey([u64; 2]);

impl FlowKey {
    /// From 16 random bytes, drawn once for each instance.
    pub fn new(secret: &[u8; 16]) -> Self {
        let (low, high) = secret.split_at(8);
        let word = |half: &[u8]| half.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
        Self([word(low), word(high)])
    }

    /// The id of the flow that downlink packets with this five-tuple belong to.
    #[inline]
    pub fn flow(&self, tuple: &FiveTuple) -> FlowId {
        let mut hasher = SipHasher13::new_with_keys(self.0[0], self.0[1]);
        // Addresses of one version are of one length, so that no two tuples are hashed as the same words.
        match (tuple.source, tuple.destination) {
            (IpAddr::V4(source), IpAddr::V4(destination)) => {
                hasher.write_u64(u64::from(source.to_bits()) << 32 | u64::from(destination.to_bits()));
            }
            (source, destination) => {
                for address in [wide(source), wide(destination)] {
                    hasher.write_u64((address >> 64) as u64);
                    hasher.write_u64(address as u64);
                }
            }
        }
        let (source_port, destination_port) = tuple.ports.unwrap_or_default();
        let ports = u64::from(source_port) << 48 | u64::from(destination_port) << 32;
        let kind = u64::from(tuple.source.is_ipv6()) << 1 | u64::from(tuple.ports.is_some());
        hasher.write_u64(ports | u64::from(tuple.protocol) << 8 | kind);
        let hash = hasher.finish();
        FlowId((hash ^ hash >> 32) as u32)
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
}
