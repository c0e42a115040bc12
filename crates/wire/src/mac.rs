//! MAC control elements (TS 38.321): the recommended bit rate and buffer status reports.

mod bit_rate;
mod buffer_status;
mod tables;

pub use bit_rate::{BitRateIndex, BitRateMultiplier, Direction, RecommendedBitRate};
pub use buffer_status::{BufferSize, BufferTable, LongBsr, ShortBsr};

/// Logical channel IDs of control elements (TS 38.321 tables 6.2.1-1 and 6.2.1-2).
pub mod lcid {
    /// Recommended bit rate, downlink.
    pub const RECOMMENDED_BIT_RATE: u8 = 47;
    /// Recommended bit rate query, uplink.
    pub const RECOMMENDED_BIT_RATE_QUERY: u8 = 53;
    /// Short truncated BSR, uplink.
    pub const SHORT_TRUNCATED_BSR: u8 = 59;
    /// Long truncated BSR, uplink.
    pub const LONG_TRUNCATED_BSR: u8 = 60;
    /// Short BSR, uplink.
    pub const SHORT_BSR: u8 = 61;
    /// Long BSR, uplink.
    pub const LONG_BSR: u8 = 62;
}
