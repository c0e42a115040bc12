//! Configuration of a UE that has a place.

use tidemark_core::{Bounded, ConfigError, Range, bounds};

use super::layout::Point;
use super::mobility::{Mobility, is_position};
use crate::channel::SPEED_KMH;

/// A UE in a network, whose SINR follows from where it is.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<DeployedConfig>))]
pub struct DeployedConfig {
    /// Position at first: metres east and north of the centre site. Default: anywhere in the network, by the seed.
    pub position: Option<Point>,
    /// Movement of the UE. Default: it stays.
    pub mobility: Mobility,
    /// Speed of the fading in km/h. Default: that of its movement, 3 if it stays.
    pub fading_kmh: Option<f64>,
    /// False for a channel without fast fading. Default true.
    pub fading: bool,
    /// Loss between the street and the UE in dB: a car's body is 9 (TR 38.901 7.4.3.2), a house some 10 to 30. Default 0.
    pub penetration_db: f64,
    /// The network's carrier, once it is known.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub carrier_ghz: Option<f64>,
    /// Antennas of the network's cells, once they are known.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub antennas: u32,
}

impl Default for DeployedConfig {
    fn default() -> Self {
        Self {
            position: None,
            mobility: Mobility::Still {},
            fading_kmh: None,
            fading: true,
            penetration_db: 0.0,
            carrier_ghz: None,
            antennas: 1,
        }
    }
}

bounds! { DeployedConfig {
    fading_kmh: SPEED_KMH,
    penetration_db: Range::between(0.0, 60.0).unit("dB"),
    ..position, mobility, fading, carrier_ghz, antennas
} }

impl DeployedConfig {
    /// Names the first field that cannot be used.
    ///
    /// # Errors
    /// The field and what would be right.
    pub fn validate(&self) -> Result<(), ConfigError> {
        let error = |field, problem| Err(ConfigError::new(field, problem));
        if self.position.is_some_and(|position| !is_position(position)) {
            return error("position", "must lie within 100 km of the centre site");
        }
        self.check_bounds()?;
        self.mobility.validate().map_err(|error| error.within("mobility"))?;
        if matches!(self.mobility, Mobility::Line { .. }) && self.position.is_none() {
            return error("position", "a line needs the place where it begins");
        }
        Ok(())
    }

    /// Speed of the fading in km/h; `None` without fading.
    pub fn doppler_kmh(&self) -> Option<f64> {
        let moving = Some(self.mobility.speed_kmh()).filter(|speed| *speed > 0.0);
        self.fading.then(|| self.fading_kmh.or(moving).unwrap_or(STILL_KMH))
    }
}

/// Speed in km/h that a still UE fades with: people and cars pass it. 3GPP's evaluations give everybody this speed.
const STILL_KMH: f64 = 3.0;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_ue_is_named() {
        let line = |speed_kmh| Mobility::Line { to: [1.0, 0.0], speed_kmh };
        let ue = |position, mobility| DeployedConfig { position, mobility, ..DeployedConfig::default() };
        for (field, config) in [
            ("position", ue(None, line(3.0))),
            ("mobility.speed_kmh", ue(Some([0.0, 0.0]), line(0.0))),
            ("position", ue(Some([0.0, f64::INFINITY]), Mobility::Still {})),
        ] {
            assert_eq!(config.validate().unwrap_err().field(), field);
        }
        assert!(ue(Some([0.0, 0.0]), line(3.0)).validate().is_ok());
    }
}
