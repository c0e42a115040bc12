//! Path loss, line of sight and shadowing by TR 38.901 7.4, for outdoor UEs at street level.

/// Speed of light in m/s, with the value of the report.
const C: f64 = 3e8;
/// Antenna height of a UE in metres (table 7.2-1).
pub(super) const UE_HEIGHT_M: f64 = 1.5;
/// RMa: average height of buildings and width of streets in metres (table 7.4.1-1).
const BUILDINGS_M: f64 = 5.0;
const STREET_M: f64 = 20.0;
/// Height that takes part in the break point of UMa and UMi, in metres (note 1 of table 7.4.1-1).
const ENVIRONMENT_M: f64 = 1.0;

/// Environment of the antennas.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum Environment {
    /// Urban macro: antennas above the roofs, 25 m.
    #[default]
    Uma,
    /// Urban micro, street canyon: antennas below the roofs, 10 m.
    Umi,
    /// Rural macro: antennas at 35 m.
    Rma,
}

/// The middle of a link's geometry: distance on the ground and in space, in metres.
#[derive(Clone, Copy, Debug)]
struct Span {
    ground: f64,
    space: f64,
}

impl Environment {
    /// Height of a site's antennas in metres.
    pub fn height_m(self) -> f64 {
        match self {
            Self::Uma => 25.0,
            Self::Umi => 10.0,
            Self::Rma => 35.0,
        }
    }

    /// The shortest distance on the ground between a site and a UE, in metres, for which the formulas hold.
    pub fn min_distance_m(self) -> f64 {
        match self {
            Self::Uma | Self::Rma => 35.0,
            Self::Umi => 10.0,
        }
    }

    /// Path loss in dB over a distance on the ground in metres, at a carrier in GHz (table 7.4.1-1).
    pub fn path_loss_db(self, distance_m: f64, carrier_ghz: f64, line_of_sight: bool) -> f64 {
        let rise = self.height_m() - UE_HEIGHT_M;
        let ground = distance_m.max(10.0);
        let span = Span { ground, space: libm::sqrt(ground * ground + rise * rise) };
        let clear = self.clear_db(span, carrier_ghz);
        if line_of_sight { clear } else { clear.max(self.obstructed_db(span, carrier_ghz)) }
    }

    fn clear_db(self, Span { ground, space }: Span, carrier_ghz: f64) -> f64 {
        let frequency = 20.0 * libm::log10(carrier_ghz);
        let height = self.height_m();
        let point = self.break_point_m(carrier_ghz);
        // Beyond the break point the ground's reflection makes the loss grow with the fourth power.
        let dual = |intercept: f64, near: f64, correction: f64| {
            if ground <= point {
                return intercept + near * libm::log10(space) + frequency;
            }
            let rise = height - UE_HEIGHT_M;
            intercept + 40.0 * libm::log10(space) + frequency - correction * libm::log10(point * point + rise * rise)
        };
        match self {
            Self::Uma => dual(28.0, 22.0, 9.0),
            Self::Umi => dual(32.4, 21.0, 9.5),
            Self::Rma => {
                let near = |d: f64| {
                    let grown = libm::pow(BUILDINGS_M, 1.72);
                    20.0 * libm::log10(40.0 * core::f64::consts::PI * d * carrier_ghz / 3.0)
                        + (0.03 * grown).min(10.0) * libm::log10(d)
                        - (0.044 * grown).min(14.77)
                        + 0.002 * libm::log10(BUILDINGS_M) * d
                };
                if ground <= point { near(space) } else { near(point) + 40.0 * libm::log10(space / point) }
            }
        }
    }

    fn obstructed_db(self, Span { space, .. }: Span, carrier_ghz: f64) -> f64 {
        let (distance, frequency) = (libm::log10(space), libm::log10(carrier_ghz));
        match self {
            // The terms for UEs above 1.5 m are zero.
            Self::Uma => 13.54 + 39.08 * distance + 20.0 * frequency,
            Self::Umi => 22.4 + 35.3 * distance + 21.3 * frequency,
            Self::Rma => {
                let height = self.height_m();
                let roofs = BUILDINGS_M / height;
                let ue = libm::log10(11.75 * UE_HEIGHT_M);
                161.04 - 7.1 * libm::log10(STREET_M) + 7.5 * libm::log10(BUILDINGS_M)
                    - (24.37 - 3.7 * roofs * roofs) * libm::log10(height)
                    + (43.42 - 3.1 * libm::log10(height)) * (distance - 3.0)
                    + 20.0 * frequency
                    - (3.2 * ue * ue - 4.97)
            }
        }
    }

    /// Notes 1 and 5 of table 7.4.1-1.
    fn break_point_m(self, carrier_ghz: f64) -> f64 {
        let waves = carrier_ghz * 1e9 / C;
        match self {
            Self::Uma | Self::Umi => 4.0 * (self.height_m() - ENVIRONMENT_M) * (UE_HEIGHT_M - ENVIRONMENT_M) * waves,
            Self::Rma => 2.0 * core::f64::consts::PI * self.height_m() * UE_HEIGHT_M * waves,
        }
    }

    /// The probability of a line of sight over a distance on the ground in metres (table 7.4.2-1).
    pub fn line_of_sight(self, distance_m: f64) -> f64 {
        let street = |reach: f64| {
            let near = 18.0 / distance_m;
            if distance_m <= 18.0 { 1.0 } else { near + libm::exp(-distance_m / reach) * (1.0 - near) }
        };
        match self {
            Self::Uma => street(63.0),
            Self::Umi => street(36.0),
            Self::Rma => libm::exp(-(distance_m - 10.0).max(0.0) / 1000.0),
        }
    }

    /// Standard deviation of the shadowing in dB (table 7.4.1-1).
    pub fn shadowing_db(self, distance_m: f64, carrier_ghz: f64, line_of_sight: bool) -> f64 {
        match (self, line_of_sight) {
            (Self::Uma | Self::Umi, true) => 4.0,
            (Self::Uma, false) => 6.0,
            (Self::Umi, false) => 7.82,
            (Self::Rma, true) if distance_m <= self.break_point_m(carrier_ghz) => 4.0,
            (Self::Rma, true) => 6.0,
            (Self::Rma, false) => 8.0,
        }
    }

    /// Ricean K in dB in line of sight: the mean of its log-normal distribution (table 7.5-6).
    pub fn rice_k_db(self) -> f64 {
        match self {
            Self::Uma | Self::Umi => 9.0,
            Self::Rma => 7.0,
        }
    }

    /// Distance in metres over which the autocorrelation of the shadowing falls to 1/e (table 7.5-6).
    pub fn shadowing_reach_m(self, line_of_sight: bool) -> f64 {
        match (self, line_of_sight) {
            (Self::Uma, true) | (Self::Rma, true) => 37.0,
            (Self::Uma, false) => 50.0,
            (Self::Umi, true) => 10.0,
            (Self::Umi, false) => 13.0,
            (Self::Rma, false) => 120.0,
        }
    }

    /// Distance in metres over which the autocorrelation of the line of sight falls to 1/e (table 7.6.3.1-2).
    pub fn sight_reach_m(self) -> f64 {
        match self {
            Self::Uma | Self::Umi => 50.0,
            Self::Rma => 60.0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Environment::{Rma, Uma, Umi};

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 0.01, "{value} for {expected}");
    }

    /// Each worked by hand from table 7.4.1-1 at 3.5 GHz: 20 log10(3.5) = 10.8814.
    #[test]
    fn path_loss_at_spot_distances() {
        // UMa, 100 m: d3D = sqrt(100^2 + 23.5^2) = 102.7241, log10 = 2.011672.
        // 28 + 22 x 2.011672 + 10.8814 = 83.1382. NLOS: 13.54 + 39.08 x 2.011672 + 10.8814 = 103.0375.
        near(Uma.path_loss_db(100.0, 3.5, true), 83.138);
        near(Uma.path_loss_db(100.0, 3.5, false), 103.038);
        // 1000 m, beyond 4 x 24 x 0.5 x 3.5e9 / 3e8 = 560 m: log10 d3D = 3.000120; 560^2 + 23.5^2 = 314152.25, log10 = 5.497140.
        // 28 + 120.0048 + 10.8814 - 49.4743 = 109.4119. NLOS: 13.54 + 117.2447 + 10.8814 = 141.6661.
        near(Uma.path_loss_db(1000.0, 3.5, true), 109.412);
        near(Uma.path_loss_db(1000.0, 3.5, false), 141.666);
        // UMi, 50 m: d3D = sqrt(50^2 + 8.5^2) = 50.7174, log10 = 1.705157. 32.4 + 35.8083 + 10.8814 = 79.0897.
        // NLOS: 22.4 + 35.3 x 1.705157 + 21.3 x 0.544068 = 22.4 + 60.1920 + 11.5886 = 94.1807.
        near(Umi.path_loss_db(50.0, 3.5, true), 79.090);
        near(Umi.path_loss_db(50.0, 3.5, false), 94.181);
        // 500 m, beyond 4 x 9 x 0.5 x 11.6667 = 210 m: log10 d3D = 2.699033; 210^2 + 8.5^2 = 44172.25, log10 = 4.645150.
        // 32.4 + 107.9613 + 10.8814 - 44.1289 = 107.1138.
        near(Umi.path_loss_db(500.0, 3.5, true), 107.114);
    }

    /// Distances beyond the break points, without a line of sight.
    #[test]
    fn obstructed_path_loss_at_far_spot_distances() {
        // UMi, 500 m at 3.5 GHz: log10 d3D = 2.699033. 22.4 + 35.3 x 2.699033 + 21.3 x 0.544068 = 22.4 + 95.2759 + 11.5886.
        near(Umi.path_loss_db(500.0, 3.5, false), 129.265);
        // RMa, 2000 m at 0.7 GHz, with the terms of the test below: log10 d3D - 3 = 0.301091, times 43.42 - 4.786611 = 38.633389
        // is 11.6322. 161.04 - 9.2373 + 5.2423 - 37.5123 + 11.6322 - 3.0980 + 0.0009.
        near(Rma.path_loss_db(2000.0, 0.7, false), 128.068);
    }

    /// RMa at 0.7 GHz: break point 2 pi x 35 x 1.5 x 0.7e9 / 3e8 = 769.69 m; 5^1.72 = 15.9305.
    #[test]
    fn rural_path_loss_at_spot_distances() {
        // 500 m: d3D = sqrt(500^2 + 33.5^2) = 501.1210, log10 = 2.699943. 20 log10(40 pi x 501.1210 x 0.7 / 3) = 20 x 4.167129
        // = 83.3426; + 0.477914 x 2.699943 = 1.2903; - 0.700940; + 0.002 x 0.69897 x 501.1210 = 0.7005. Sum 84.6325.
        near(Rma.path_loss_db(500.0, 0.7, true), 84.633);
        // NLOS: 161.04 - 7.1 x 1.301030 + 7.5 x 0.698970 - (24.37 - 3.7 / 49) x 1.544068 + (43.42 - 3.1 x 1.544068) x -0.300057
        // + 20 x -0.154902 - (3.2 x 1.246130^2 - 4.97), log10(17.625) = 1.246129
        // = 161.04 - 9.2373 + 5.2423 - 37.5123 - 11.5922 - 3.0980 - (4.9691 - 4.97) = 104.8433.
        near(Rma.path_loss_db(500.0, 0.7, false), 104.843);
        // 2000 m: PL1 at 769.69 m = 20 x 4.353503 + 0.477914 x 2.886316 - 0.700940 + 0.00139794 x 769.69 = 87.0701 + 1.3794
        // - 0.7009 + 1.0760 = 88.8245; + 40 log10(2000.2806 / 769.69) = 40 x 0.414775 = 16.5910. Sum 105.4155.
        near(Rma.path_loss_db(2000.0, 0.7, true), 105.416);
    }

    #[test]
    fn line_of_sight_at_spot_distances() {
        // UMa, 100 m: 0.18 + exp(-1.587302) x 0.82 = 0.18 + 0.204476 x 0.82 = 0.347670.
        assert!((Uma.line_of_sight(100.0) - 0.347_670).abs() < 1e-5);
        // UMi, 100 m: 0.18 + exp(-2.777778) x 0.82 = 0.18 + 0.062177 x 0.82 = 0.230985.
        assert!((Umi.line_of_sight(100.0) - 0.230_985).abs() < 1e-5);
        assert!((Rma.line_of_sight(1010.0) - 0.367_879).abs() < 1e-5);
        for environment in [Uma, Umi, Rma] {
            assert_eq!(environment.line_of_sight(10.0), 1.0);
        }
    }

    #[test]
    fn obstacles_cost_something_and_so_does_distance() {
        for environment in [Uma, Umi, Rma] {
            let mut last = [0.0, 0.0];
            for step in 2..400 {
                let distance = f64::from(step) * 10.0;
                let loss = [true, false].map(|sight| environment.path_loss_db(distance, 3.5, sight));
                assert!(loss[0] > last[0] && loss[1] > last[1], "{environment:?} at {distance}");
                // The larger of the two formulas is meant to be that of the obstacles: by 9 dB in the town at 20 m, and 8 dB in the
                // country from 100 m on, never by more than 33 dB.
                let lowest = if environment == Rma && step < 10 { 0.5 } else { 8.0 };
                assert!((lowest..33.0).contains(&(loss[1] - loss[0])), "{environment:?} at {distance}");
                last = loss;
            }
        }
    }
}
