//! Configuration of a UE with a position.

use tidemark_core::{Bounded, ConfigError, Range, bounds};

use super::layout::Point;
use super::mobility::{Mobility, is_position};
use crate::channel::SPEED_KMH;

/// A UE in a network, whose SINR follows from its position.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<DeployedConfig>))]
pub struct DeployedConfig {
    /// Position at the start: metres east and north of the centre site. Default: random within the network, from the seed.
    pub position: Option<Point>,
    /// Movement of the UE. Default: none.
    pub mobility: Mobility,
    /// Speed in km/h that determines the fading. Default: the speed of the movement, or 3 for a still UE.
    pub fading_kmh: Option<f64>,
    /// False for a channel without fast fading. Default true.
    pub fading: bool,
    /// Loss between the street and the UE in dB: a car's body is 9 (TR 38.901 7.4.3.2), a house some 10 to 30. Default 0.
    pub penetration_db: f64,
    /// Carrier of the network in GHz, once it is known.
    #[cfg_attr(feature = "serde", serde(skip))]
    pub carrier_ghz: Option<f64>,
    /// Antennas of each cell in the network, once known.
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
    /// Checks every field.
    ///
    /// # Errors
    /// The first field that cannot be used, and the rule that it breaks.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.position.is_some_and(|position| !is_position(position)) {
            return Err(ConfigError::of_value("position", "must lie within 100 km of the centre site"));
        }
        self.check_bounds()?;
        self.mobility.validate().map_err(|error| error.within("mobility"))?;
        if matches!(self.mobility, Mobility::Line { .. }) && self.position.is_none() {
            return Err(ConfigError::new("position", "must be given for movement on a line"));
        }
        Ok(())
    }

    /// Speed of the fading in km/h; `None` without fading.
    pub fn doppler_kmh(&self) -> Option<f64> {
        let moving = Some(self.mobility.speed_kmh()).filter(|speed| *speed > 0.0);
        self.fading.then(|| self.fading_kmh.or(moving).unwrap_or(STILL_KMH))
    }
}

/// Speed in km/h for the fading of a still UE, since people and cars pass it. 3GPP evaluations use it for every UE.
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
