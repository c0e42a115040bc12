//! Report of the DU about a DRB, and the state of its RLC queue if CU and DU are one.

use tidemark_core::{Bytes, Duration};

/// The fields of one DL DATA DELIVERY STATUS that concern queueing (TS 38.425 5.5.2.2).
///
/// The frame carries no time, so it describes the moment of its arrival. Every field may be absent; before the first
/// transmission all are. SNs are PDCP SNs of the DRB's length and wrap around.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct DeliveryStatus {
    /// Highest PDCP SN whose first segment was handed to the lower layers.
    pub highest_transmitted: Option<u32>,
    /// Highest PDCP SN delivered in sequence to the UE; RLC AM only.
    pub highest_delivered: Option<u32>,
    /// Highest PDCP SN handed to the lower layers among the SDUs that were sent to the DU again, for example after a handover. A DU reports
    /// those in this field and not in `highest_transmitted`.
    pub highest_retransmitted: Option<u32>,
    /// Highest PDCP SN delivered in sequence among the SDUs that were sent to the DU again; RLC AM only.
    pub highest_delivered_retransmitted: Option<u32>,
    /// Bytes that the DU wants to hold for this DRB. Real gNBs send a configured constant, so nothing here is
    /// computed from it.
    pub desired_buffer_size: Option<Bytes>,
}

/// Length of the PDCP SN of a DRB (TS 38.323 6.2.2).
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum SnLength {
    /// 12 bits: SNs run to 4095, and at most 2048 may be under way.
    #[cfg_attr(feature = "serde", serde(rename = "12"))]
    Bits12,
    /// 18 bits: SNs run to 262143, and at most 131072 may be under way.
    #[default]
    #[cfg_attr(feature = "serde", serde(rename = "18"))]
    Bits18,
}

impl SnLength {
    /// Number of bits.
    pub const fn bits(self) -> u32 {
        match self {
            Self::Bits12 => 12,
            Self::Bits18 => 18,
        }
    }
    /// Number of different SNs.
    pub const fn modulus(self) -> u32 {
        1 << self.bits()
    }
    /// Distance of `sn` ahead of `reference`, between minus and plus half of the SN space. Surplus high bits
    /// of either are ignored.
    pub const fn distance(self, reference: u32, sn: u32) -> i64 {
        let shift = 32 - self.bits();
        (((sn.wrapping_sub(reference) << shift) as i32) >> shift) as i64
    }
}

/// The true state of an RLC queue, for callers that can see it: a monolithic gNB or the simulator.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct RlcQueue {
    /// Bytes waiting for their first transmission.
    pub backlog: Bytes,
    /// SDUs waiting.
    pub packets: u32,
    /// Age of the oldest SDU; zero for an empty queue.
    pub head_of_line: Duration,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn distances_take_the_short_way_round_the_sn_space() {
        let twelve = SnLength::Bits12;
        assert_eq!(twelve.distance(4095, 0), 1);
        assert_eq!(twelve.distance(0, 4095), -1);
        assert_eq!(twelve.distance(10, 10 + 2047), 2047);
        assert_eq!(twelve.distance(10, 10 + 2048), -2048);
        assert_eq!(SnLength::Bits18.distance(262_143, 5), 6);
        assert_eq!(SnLength::Bits18.distance(0, u32::MAX), -1);
    }
}
