//! Configuration of a cell's uplink.

use tidemark_core::{BitRate, Bounded, Bytes, ConfigError, Duration, Range, bounds};

use crate::config::{DEFAULT_RECEIVER_LOSS_DB, RECEIVER_LOSS_DB};
use crate::ue_stack::buffer_status::BsrFormat;
use tidemark_radio::mcs::McsTable;

/// The uplink of a cell.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<UplinkConfig>))]
pub struct UplinkConfig {
    /// Period of a UE's occasions for scheduling requests, which the UEs take in turn. Default 5 ms, the length of the default
    /// TDD pattern.
    pub sr_period: Duration,
    /// Slots from a request or report at the gNB to the first slot that it can grant in response: processing and k2 (TS 38.214
    /// 6.1.2.1). The grant goes in a downlink slot, so `cell.scheduling_lead` is added. Default 4, OCUDU's lowest k2.
    pub grant_delay: u64,
    /// Size of the grant that answers a scheduling request, when the gNB does not know yet what waits. Default 256 B: a few
    /// acknowledgements and a buffer status report.
    pub first_grant: Bytes,
    /// Format of the UEs' buffer status reports. Default `short`: one logical channel group has data (TS 38.321 5.4.5).
    pub bsr: BsrFormat,
    /// Rate that a bearer with data gets in its UE's blocks before more important bearers get more, prioritisedBitRate (TS 38.321 5.4.3.1).
    /// Default 64 kbit/s (kBps8). A guaranteed rate comes before everything else.
    pub prioritised_bit_rate: BitRate,
    /// Time for which a bearer keeps its unused `prioritised_bit_rate`, bucketSizeDuration. Default 100 ms.
    pub bucket_size_duration: Duration,
    /// A grant that each UE has without a request. Default: none.
    pub configured_grant: Option<ConfiguredGrant>,
    /// Difference between the SNR at the UE and its SNR at the gNB, in dB, since the UE sends with less power. Default 0 dB.
    pub snr_loss_db: f64,
    /// SNR that the gNB's receiver loses, in dB, as in a UE's receiver. Default 2 dB (docs/measured/limits.md).
    pub receiver_loss_db: f64,
    /// Spatial layers. Default 1: most UEs have one transmitter.
    pub layers: u32,
    /// MCS table. Default `qam64`, independent of the downlink's: a UE's transmitter need not support 256QAM.
    pub mcs_table: McsTable,
}

/// A configured grant (TS 38.321 5.8.2).
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<ConfiguredGrant>))]
pub struct ConfiguredGrant {
    /// Period of the grants. Default 5 ms.
    pub period: Duration,
    /// Size of each grant. Default 256 B.
    pub size: Bytes,
}

impl Default for ConfiguredGrant {
    fn default() -> Self {
        Self { period: Duration::from_millis(5), size: Bytes(256) }
    }
}

impl Default for UplinkConfig {
    fn default() -> Self {
        Self {
            sr_period: Duration::from_millis(5),
            grant_delay: 4,
            first_grant: Bytes(256),
            bsr: BsrFormat::default(),
            prioritised_bit_rate: BitRate::from_bps(64_000),
            bucket_size_duration: Duration::from_millis(100),
            configured_grant: None,
            snr_loss_db: 0.0,
            receiver_loss_db: DEFAULT_RECEIVER_LOSS_DB,
            layers: 1,
            mcs_table: McsTable::Qam64,
        }
    }
}

/// Periods of requests and of configured grants: a slot of 120 kHz to the longest of TS 38.331.
const PERIOD: Range<Duration> =
    Range::between(Duration::from_micros(125), Duration::from_millis(640)).because("TS 38.331");
const GRANT: Range<Bytes> = Range::between(Bytes(16), Bytes(100_000));

bounds! { UplinkConfig {
    sr_period: PERIOD,
    grant_delay: Range::at_most(64u64).unit("slots"),
    first_grant: GRANT,
    prioritised_bit_rate: Range::at_most(BitRate::from_bps(65_536 * 8_000)).because("65536 kB/s, TS 38.331"),
    bucket_size_duration: Range::between(Duration::from_millis(5), Duration::from_secs(1)).because("TS 38.331"),
    snr_loss_db: Range::between(-30.0, 60.0).unit("dB"),
    receiver_loss_db: RECEIVER_LOSS_DB,
    layers: Range::between(1u32, 4),
    ..bsr, configured_grant, mcs_table
} }

bounds! { ConfiguredGrant {
    period: PERIOD,
    size: GRANT,
} }

impl UplinkConfig {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        let grant = self.configured_grant.as_ref();
        grant.map_or(Ok(()), |grant| grant.check_bounds().map_err(|error| error.within("configured_grant")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_field_is_named() {
        let right = UplinkConfig::default;
        assert!(right().validate().is_ok());
        let grant = ConfiguredGrant { size: Bytes(1), ..ConfiguredGrant::default() };
        for (wrong, field) in [
            (UplinkConfig { sr_period: Duration::ZERO, ..right() }, "sr_period"),
            (UplinkConfig { grant_delay: 65, ..right() }, "grant_delay"),
            (UplinkConfig { first_grant: Bytes(0), ..right() }, "first_grant"),
            (UplinkConfig { configured_grant: Some(grant), ..right() }, "configured_grant.size"),
            (UplinkConfig { snr_loss_db: f64::NAN, ..right() }, "snr_loss_db"),
            (UplinkConfig { receiver_loss_db: 21.0, ..right() }, "receiver_loss_db"),
            (UplinkConfig { layers: 0, ..right() }, "layers"),
            (UplinkConfig { prioritised_bit_rate: BitRate::from_mbps(525), ..right() }, "prioritised_bit_rate"),
            (UplinkConfig { bucket_size_duration: Duration::ZERO, ..right() }, "bucket_size_duration"),
        ] {
            assert_eq!(wrong.validate().unwrap_err().field(), field);
        }
    }
}
