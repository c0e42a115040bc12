//! Antenna of a sector: a column of elements half a wavelength apart, tilted electrically, on one port. TR 38.901 7.8.1
//! uses it for calibration, and each element has the pattern of its table 7.3-1. Several antennas of a sector are
//! identical and stand side by side.

/// Beamwidth of an element in degrees, both ways.
const ELEMENT_DEG: f64 = 65.0;
/// Attenuation of an element outside of its beam, in dB.
const MAX_ATTENUATION_DB: f64 = 30.0;
/// Gain of an element in dBi.
const ELEMENT_DBI: f64 = 8.0;

/// A sector's antenna.
#[derive(Clone, Copy, Debug)]
pub(super) struct Antenna {
    /// Direction of the sector, in radians from east, counterclockwise.
    azimuth: f64,
    /// Elements of the column.
    rows: u32,
    /// Cosine of the zenith angle of the beam.
    beam: f64,
}

impl Antenna {
    /// An antenna whose beam points this far below the horizon.
    pub(super) fn new(azimuth: f64, rows: u32, downtilt_deg: f64) -> Self {
        Self { azimuth, rows, beam: -libm::sin(downtilt_deg.to_radians()) }
    }

    /// Gain in dBi towards an azimuth in radians and below the horizon, in radians.
    pub(super) fn gain_dbi(&self, azimuth: f64, below: f64) -> f64 {
        let part = |angle: f64| {
            let ratio = angle.to_degrees() / ELEMENT_DEG;
            (12.0 * ratio * ratio).min(MAX_ATTENUATION_DB)
        };
        let turned = azimuth - self.azimuth;
        let turned = turned - core::f64::consts::TAU * libm::round(turned / core::f64::consts::TAU);
        let element = ELEMENT_DBI - (part(turned) + part(below)).min(MAX_ATTENUATION_DB);
        element + self.column_db(below)
    }

    /// Gain of the column over one element. What is scattered fills the nulls between its lobes to what an element lets
    /// through behind it.
    fn column_db(&self, below: f64) -> f64 {
        let rows = f64::from(self.rows);
        // Half the phase between neighbours: pi d / lambda (cos theta - cos theta_tilt), d = lambda / 2.
        let half = core::f64::consts::FRAC_PI_2 * (-libm::sin(below) - self.beam);
        let sine = libm::sin(half);
        let amplitude = if sine.abs() < 1e-9 { rows } else { libm::sin(rows * half) / sine };
        let power = amplitude * amplitude / rows;
        10.0 * libm::log10(power.max(rows * 1e-3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn antenna() -> Antenna {
        Antenna::new(0.5, 10, 12.0)
    }

    #[test]
    fn the_beam_has_the_gain_of_its_elements_together() {
        // 8 dBi + 10 log10(10), less 12 (12 / 65)^2 = 0.409 dB, since the elements themselves look at the horizon.
        let gain = antenna().gain_dbi(0.5, 12f64.to_radians());
        assert!((gain - (18.0 - 0.409)).abs() < 1e-3, "{gain}");
    }

    #[test]
    fn half_the_power_is_left_half_a_beamwidth_aside_and_a_thousandth_behind() {
        let antenna = antenna();
        let below = 12f64.to_radians();
        let beam = antenna.gain_dbi(0.5, below);
        for side in [-32.5f64, 32.5] {
            assert!((beam - antenna.gain_dbi(0.5 + side.to_radians(), below) - 3.0).abs() < 1e-9);
        }
        // All directions of the compass, counted in whichever turn.
        assert!((antenna.gain_dbi(0.5 + 4.0 * core::f64::consts::TAU, below) - beam).abs() < 1e-9);
        let behind = beam - antenna.gain_dbi(0.5 + core::f64::consts::PI, below);
        assert!((behind - (30.0 - 0.409)).abs() < 1e-3, "{behind}");
    }

    #[test]
    fn the_column_is_narrow_and_its_nulls_are_filled() {
        let antenna = antenna();
        let column = |below: f64| antenna.column_db(below.to_radians());
        // Ten elements: 0.886 x 2 / 10 radians = 10.2 degrees between half powers, a little wider off the horizon.
        assert!((column(12.0) - 10.0).abs() < 1e-9);
        assert!((column(12.0 - 5.2) - 7.0).abs() < 0.2, "{}", column(6.8));
        let deepest = (0..900).map(|tenth| column(f64::from(tenth) / 10.0)).fold(f64::MAX, f64::min);
        assert!((deepest - (10.0 - 30.0)).abs() < 0.01, "{deepest}");
    }

    #[test]
    fn one_element_has_no_column() {
        let single = Antenna::new(0.0, 1, 12.0);
        assert!((single.gain_dbi(0.0, 0.0) - 8.0).abs() < 1e-9);
    }
}
