//! The channel of a UE: its signal-to-noise ratio, or the value of a trace, as a function of time.
//!
//! A channel is a pure function of (seed, UE, time). An idle UE costs nothing, and a new UE does not change the channels of others.

mod fading;
pub mod trace;

use std::sync::Arc;

use tidemark_core::{BitRate, Bounded, ConfigError, Duration, Instant, Range, Stream, bounds};

use crate::deployment::DeployedConfig;
pub use fading::{Band, Fading, Surroundings};
pub use trace::{Trace, TraceConfig, TraceError, TraceFormat, TraceUnit};

/// The channel of one UE.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(tag = "model", rename_all = "kebab-case"))]
#[cfg_attr(feature = "serde", serde(expecting = "a table with its `model`, as in { model = \"pedestrian\" }"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum ChannelConfig {
    /// A constant SNR.
    Static(StaticConfig),
    /// Fading at walking speed.
    Pedestrian(PedestrianConfig),
    /// Fading at driving speed.
    Vehicular(VehicularConfig),
    /// A measured trace.
    Trace(TraceConfig),
    /// A constant rate without radio errors.
    Fixed(FixedConfig),
    /// A place in a network of cells. The SINR follows from the position of the UE and the transmissions of other cells.
    Deployed(DeployedConfig),
}

/// A constant SNR.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<StaticConfig>))]
pub struct StaticConfig {
    /// SNR in dB before the UE's receiver, which loses `receiver_loss_db` of it. Default 22 dB: good, above the threshold of the
    /// highest MCS of table 1.
    pub snr_db: f64,
}

impl Default for StaticConfig {
    fn default() -> Self {
        Self { snr_db: 22.0 }
    }
}

/// RMS delay spread of an urban macro cell.
const URBAN_MACRO: Duration = Duration::from_nanos(363);

const SNR_DB: Range<f64> = Range::between(-20.0, 60.0).unit("dB");
/// Speeds of UEs and of what passes them.
pub(crate) const SPEED_KMH: Range<f64> = Range::between(0.1, 500.0).unit("km/h");

bounds! { StaticConfig {
    snr_db: SNR_DB,
} }

macro_rules! fading_config {
    ($name:ident, $what:literal, $speed:literal, $speed_doc:literal) => {
        #[doc = $what]
        #[derive(Clone, PartialEq, Debug)]
        #[cfg_attr(
            feature = "serde",
            derive(serde::Serialize, serde::Deserialize),
            serde(default, deny_unknown_fields)
        )]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<$name>))]
        pub struct $name {
            /// Mean SNR in dB before the UE's receiver, which loses `receiver_loss_db` of it. Default 22 dB, as for the static
            /// channel.
            pub snr_db: f64,
            #[doc = $speed_doc]
            pub speed_kmh: f64,
            /// Carrier in GHz. Default 3.75, the n78 cell of the L4Span paper.
            pub carrier_ghz: f64,
            /// RMS delay spread. The shorter it is, the more of the band fades together. Default 363 ns, an urban macro cell
            /// (TR 38.901 table 7.7.3-2).
            pub delay_spread: Duration,
        }

        impl Default for $name {
            fn default() -> Self {
                Self { snr_db: 22.0, speed_kmh: $speed, carrier_ghz: 3.75, delay_spread: URBAN_MACRO }
            }
        }

        impl $name {
            fn around(&self, band: Band) -> Surroundings {
                let Self { speed_kmh, carrier_ghz, delay_spread, .. } = *self;
                Surroundings { speed_kmh, carrier_ghz, delay_spread, band, antennas: 1 }
            }
        }

        bounds! { $name {
            snr_db: SNR_DB,
            speed_kmh: SPEED_KMH,
            carrier_ghz: Range::between(0.4, 100.0).unit("GHz"),
            delay_spread: Range::at_most(Duration::from_micros(10)),
        } }
    };
}

fading_config!(PedestrianConfig, "Fading at walking speed.", 3.0, "Speed in km/h. Default 3.");
fading_config!(
    VehicularConfig,
    "Fading at driving speed.",
    70.0,
    "Speed in km/h. Default 70, the speed behind L4Span's coherence time."
);

/// A constant rate.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<FixedConfig>))]
pub struct FixedConfig {
    /// Rate of the cell if this UE had it alone. Default 40 Mbit/s.
    pub rate: BitRate,
}

impl Default for FixedConfig {
    fn default() -> Self {
        Self { rate: BitRate::from_mbps(40) }
    }
}

bounds! { FixedConfig {
    rate: Range::between(BitRate::from_kbps(10), BitRate::from_mbps(20_000)).because("IMT-2020's peak rate, ITU-R M.2410 4.1"),
} }

impl Default for ChannelConfig {
    fn default() -> Self {
        Self::Static(StaticConfig::default())
    }
}

impl ChannelConfig {
    /// Checks every field.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let checked = match self {
            Self::Static(config) => config.check_bounds(),
            Self::Pedestrian(config) => config.check_bounds(),
            Self::Vehicular(config) => config.check_bounds(),
            Self::Trace(config) => config.validate(),
            Self::Fixed(config) => config.check_bounds(),
            Self::Deployed(config) => config.validate(),
        };
        checked.map_err(|error| error.within("channel"))
    }
}

/// The quality of a channel at an instant.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Quality {
    /// The SNR in dB before the receiver. Minus the receiver's loss, it determines MCS, transport block and block errors.
    Snr(f64),
    /// The CQI that the UE reported, which includes the loss of its receiver. Blocks fail at the rate that link adaptation aims at.
    Cqi(u8),
    /// The rate of the cell if this UE had it alone. Nothing fails.
    Rate(BitRate),
}

/// The channel of one UE.
#[derive(Clone, Debug)]
pub enum Channel {
    /// A constant SNR in dB.
    Static(f64),
    /// Fading around a mean.
    Fading(Box<Fading>),
    /// A measured trace.
    Trace(Arc<Trace>),
    /// A constant rate.
    Fixed(BitRate),
    /// The mean SINR in dB, which the network sets, and fading around it.
    Deployed(f64, Option<Box<Fading>>),
}

impl Channel {
    /// The channel of this configuration on a carrier of `band`. Its random numbers come from `stream`.
    pub fn new(config: &ChannelConfig, band: Band, stream: Stream) -> Result<Self, ConfigError> {
        config.validate()?;
        let fading = |snr_db, around| Box::new(Fading::new(snr_db, around, stream));
        Ok(match config {
            ChannelConfig::Static(config) => Self::Static(config.snr_db),
            ChannelConfig::Pedestrian(config) => Self::Fading(fading(config.snr_db, config.around(band))),
            ChannelConfig::Vehicular(config) => Self::Fading(fading(config.snr_db, config.around(band))),
            ChannelConfig::Trace(config) => Self::Trace(
                config.content.clone().ok_or(ConfigError::new("channel.file", "the trace has not been read"))?,
            ),
            ChannelConfig::Fixed(config) => Self::Fixed(config.rate),
            ChannelConfig::Deployed(config) => {
                let outside = ConfigError::new("channel.model", "`deployed` needs a network of cells around it");
                let carrier_ghz = config.carrier_ghz.ok_or(outside)?;
                let (delay_spread, antennas) = (URBAN_MACRO, config.antennas);
                let around = |speed_kmh| Surroundings { speed_kmh, carrier_ghz, delay_spread, band, antennas };
                Self::Deployed(0.0, config.doppler_kmh().map(|speed| fading(0.0, around(speed))))
            }
        })
    }

    /// The channel at an instant.
    pub fn at(&mut self, now: Instant) -> Quality {
        match self {
            Self::Static(snr_db) => Quality::Snr(*snr_db),
            Self::Fading(fading) => Quality::Snr(fading.snr_db(now)),
            Self::Trace(trace) => trace.at(now),
            Self::Fixed(rate) => Quality::Rate(*rate),
            Self::Deployed(_, Some(fading)) => Quality::Snr(fading.snr_db(now)),
            Self::Deployed(snr_db, None) => Quality::Snr(*snr_db),
        }
    }

    /// True if the channel gives a rate instead of a radio quality.
    pub fn is_rate(&self) -> bool {
        match self {
            Self::Trace(trace) => trace.is_rate(),
            Self::Fixed(_) => true,
            Self::Static(_) | Self::Fading(_) | Self::Deployed(..) => false,
        }
    }

    /// The highest rate of a rate channel over a second; `None` for other channels.
    pub fn peak_rate(&self) -> Option<BitRate> {
        match self {
            Self::Trace(trace) => trace.is_rate().then(|| trace.peak_rate()),
            Self::Fixed(rate) => Some(*rate),
            Self::Static(_) | Self::Fading(_) | Self::Deployed(..) => None,
        }
    }

    /// Sets the mean SINR of a deployed UE, in dB, and the power of the wave in line of sight over that of all others. Other
    /// channels stay as they are.
    pub fn set_mean(&mut self, mean_db: f64, rice_k: f64) {
        if let Self::Deployed(snr_db, fading) = self {
            *snr_db = mean_db;
            if let Some(fading) = fading {
                fading.set_mean(mean_db, rice_k);
            }
        }
    }

    /// Bytes that a rate channel carries between two instants; `None` for other channels.
    pub fn bytes_between(&self, from: Instant, to: Instant) -> Option<f64> {
        match self {
            Self::Trace(trace) if trace.is_rate() => Some(trace.bytes_between(from, to)),
            Self::Fixed(rate) => Some(rate.as_bytes_per_sec() * to.since(from).as_secs_f64()),
            _ => None,
        }
    }
}

/// Shortest time in which a channel changes. Link adaptation sees nothing faster than a slot.
pub(crate) const RESOLUTION: Duration = Duration::from_micros(500);
