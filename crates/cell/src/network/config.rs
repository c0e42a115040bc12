//! Configuration of a network.

use tidemark_core::{Bounded, ConfigError, Duration, Range, bounds};
use tidemark_radio::deployment::{Environment, Grid, Point, SITES};

use crate::handover::{HandoverData, HandoverExecution, HandoverMarker, INTERRUPTION};

/// Sites on a hexagonal grid, each with cells of one kind.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<NetworkConfig>))]
pub struct NetworkConfig {
    /// Surroundings of the antennas: path loss, line of sight and shadowing of TR 38.901. Default `uma`.
    pub environment: Environment,
    /// Sites, in rings around the first. Default 7.
    pub sites: u32,
    /// Sectors of a site, each a cell. The first faces 30 degrees north of east. Default 3.
    pub sectors: u32,
    /// Distance between neighbouring sites in metres. Default: 500 in UMa, 200 in UMi, 1732 in RMa (TR 38.901 7.2 and 7.8).
    pub distance_m: Option<f64>,
    /// True if copies of the grid continue it in all directions, so that no cell lies at an edge. Default true.
    pub wrap_around: bool,
    /// Carrier in GHz. Default 3.75, as for fading channels.
    pub carrier_ghz: f64,
    /// Total transmission power of a cell in dBm. Default: 49 in UMa and RMa, 44 in UMi (TR 38.901 7.8).
    pub power_dbm: Option<f64>,
    /// Noise that a UE's receiver adds to thermal noise, in dB. Default 9.
    pub noise_figure_db: f64,
    /// Total transmission power of a UE in dBm. Default 23: power class 3 (TS 38.101-1 6.2.1). The gNB adds 5 dB to thermal noise.
    pub ue_power_dbm: f64,
    /// Antennas of a sector. Each is a column on its own port and fades independently. They send one layer, ideally precoded: N antennas
    /// give N times the SNR at the UE that they serve, and shallower fades. At other UEs they interfere like one antenna. The uplink is
    /// combined in the same way. More than one needs `cell.layers = 1`. Default 1 (TR 38.901 7.8.1).
    pub antennas: u32,
    /// Elements in a sector's column. Default 10 (TR 38.901 7.8.1).
    pub rows: u32,
    /// Angle of the beam below the horizon, in degrees. Default 12 (TR 38.901 7.8.1).
    pub downtilt_deg: f64,
    /// Period at which RSRP and interference are measured. Default 40 ms.
    pub measurement_period: Duration,
    /// Handover between the cells: its trigger, and the state that moves with a UE.
    pub handover: HandoverConfig,
}

/// Handover between the cells: its trigger, and the state that moves with a UE.
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(transform = tidemark_core::bounds::in_schema::<HandoverConfig>))]
pub struct HandoverConfig {
    /// Hys of event A3 (TS 38.331 5.5.4.4): another cell's RSRP must be higher by more than this and the offset, in dB. Default 3.
    pub hysteresis_db: f64,
    /// Offset of event A3, Off, in dB. Below zero, UEs move to cells that they receive with less power. Default 0.
    pub offset_db: f64,
    /// Time for which the condition of event A3 must hold. Default 160 ms.
    pub time_to_trigger: Duration,
    /// Time in which nothing is sent to or by the UE. Default 45 ms: a little below the mean of 49.5 ms for a handover without
    /// random-access failures (TR 36.881 table 5.2.1-1).
    pub interruption: Duration,
    /// Fate of the packets in RLC. Default `forwarded`.
    pub data: HandoverData,
    /// Fate of the marker's state. Default `moves`.
    pub marker: HandoverMarker,
}

impl Default for NetworkConfig {
    fn default() -> Self {
        Self {
            environment: Environment::Uma,
            sites: 7,
            sectors: 3,
            distance_m: None,
            wrap_around: true,
            carrier_ghz: 3.75,
            power_dbm: None,
            noise_figure_db: 9.0,
            ue_power_dbm: 23.0,
            antennas: 1,
            rows: 10,
            downtilt_deg: 12.0,
            measurement_period: Duration::from_millis(40),
            handover: HandoverConfig::default(),
        }
    }
}

impl Default for HandoverConfig {
    fn default() -> Self {
        let execution = HandoverExecution::default();
        Self {
            hysteresis_db: 3.0,
            offset_db: 0.0,
            time_to_trigger: Duration::from_millis(160),
            interruption: execution.interruption,
            data: execution.data,
            marker: execution.marker,
        }
    }
}

/// Carrier up to which TR 38.901 has a model of the country.
const MAX_RURAL_GHZ: f64 = 30.0;

bounds! { NetworkConfig {
    sites: Range::one_of(&SITES).because("one site with none, one or two rings around it"),
    sectors: Range::between(1u32, 6),
    distance_m: Range::between(20.0, 20_000.0).unit("m"),
    carrier_ghz: Range::between(0.5, 100.0).unit("GHz").because("TR 38.901 7.4.1"),
    power_dbm: Range::between(-10.0, 80.0).unit("dBm"),
    noise_figure_db: Range::between(0.0, 30.0).unit("dB"),
    ue_power_dbm: Range::between(-40.0, 40.0).unit("dBm"),
    antennas: Range::between(1u32, 8),
    rows: Range::between(1u32, 64),
    downtilt_deg: Range::between(-30.0, 90.0).unit("degrees"),
    measurement_period: Range::between(Duration::from_millis(5), Duration::from_secs(10)),
    ..environment, wrap_around, handover
} }

bounds! { HandoverConfig {
    hysteresis_db: Range::between(0.0, 30.0).unit("dB"),
    offset_db: Range::between(-15.0, 15.0).unit("dB").because("TS 38.331"),
    time_to_trigger: Range::at_most(Duration::from_millis(5_120)).because("TS 38.331"),
    interruption: INTERRUPTION,
    ..data, marker
} }

impl NetworkConfig {
    /// Checks every field.
    ///
    /// # Errors
    /// The first field that cannot be used, and the rule that it breaks.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.check_bounds()?;
        if self.environment == Environment::Rma && self.carrier_ghz > MAX_RURAL_GHZ {
            let right = format!("must be at most {MAX_RURAL_GHZ} GHz in `rma` (TR 38.901 7.4.1)");
            return Err(ConfigError::new("carrier_ghz", right).found(self.carrier_ghz));
        }
        self.handover.check_bounds().map_err(|error| error.within("handover"))
    }

    /// Distance between neighbouring sites in metres.
    pub fn distance_m(&self) -> f64 {
        self.distance_m.unwrap_or(match self.environment {
            Environment::Uma => 500.0,
            Environment::Umi => 200.0,
            Environment::Rma => 1732.0,
        })
    }
    /// Total transmission power of a cell in dBm.
    pub fn power_dbm(&self) -> f64 {
        self.power_dbm.unwrap_or(match self.environment {
            Environment::Uma | Environment::Rma => 49.0,
            Environment::Umi => 44.0,
        })
    }
    /// Grid of its sites.
    pub(crate) fn grid(&self) -> Grid {
        Grid {
            environment: self.environment,
            sites: self.sites,
            sectors: self.sectors,
            distance_m: self.distance_m(),
            wrap_around: self.wrap_around,
            carrier_ghz: self.carrier_ghz,
            power_dbm: self.power_dbm(),
            rows: self.rows,
            downtilt_deg: self.downtilt_deg,
        }
    }
    /// Cells of the network.
    pub fn cells(&self) -> usize {
        (self.sites * self.sectors) as usize
    }
    /// Position of each cell in metres east and north of the centre site, and the direction that it faces, in degrees from east,
    /// counterclockwise.
    pub fn cell_places(&self) -> Vec<(Point, f64)> {
        self.grid().cells()
    }
    /// The name of a cell: its site, from 1, and the letter of its sector.
    pub fn cell_name(&self, cell: usize) -> String {
        let (site, sector) = (cell as u32 / self.sectors, cell as u32 % self.sectors);
        format!("{}{}", site + 1, char::from(b'a' + sector as u8))
    }
}

impl HandoverConfig {
    /// Handover without its trigger. Its fields are listed beside the trigger's, one by one: a flattened table would take any key.
    pub(crate) fn execution(&self) -> HandoverExecution {
        HandoverExecution { interruption: self.interruption, data: self.data, marker: self.marker }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_wrong_field_is_named() {
        type Spoil = fn(&mut NetworkConfig);
        let wrong: [(&str, Spoil); 14] = [
            ("sites", |c| c.sites = 3),
            ("sectors", |c| c.sectors = 0),
            ("distance_m", |c| c.distance_m = Some(f64::NAN)),
            ("carrier_ghz", |c| (c.environment, c.carrier_ghz) = (Environment::Rma, 31.0)),
            ("power_dbm", |c| c.power_dbm = Some(81.0)),
            ("noise_figure_db", |c| c.noise_figure_db = -1.0),
            ("ue_power_dbm", |c| c.ue_power_dbm = f64::NAN),
            ("antennas", |c| c.antennas = 0),
            ("rows", |c| c.rows = 0),
            ("downtilt_deg", |c| c.downtilt_deg = 91.0),
            ("measurement_period", |c| c.measurement_period = Duration::ZERO),
            ("handover.hysteresis_db", |c| c.handover.hysteresis_db = -1.0),
            ("handover.offset_db", |c| c.handover.offset_db = f64::NAN),
            ("handover.time_to_trigger", |c| c.handover.time_to_trigger = Duration::from_secs(6)),
        ];
        for (field, spoil) in wrong {
            let mut config = NetworkConfig::default();
            assert!(config.validate().is_ok());
            spoil(&mut config);
            assert_eq!(config.validate().unwrap_err().field(), field);
        }
    }

    #[test]
    fn cells_are_named_and_placed_by_site_and_sector() {
        let config = NetworkConfig::default();
        let places = config.cell_places();
        assert_eq!((places.len(), places[2].0), (config.cells(), [0.0, 0.0]));
        assert!((places[3].0[0] - config.distance_m()).abs() < 1e-6, "the second site stands east of the first");
        let directions: Vec<_> = places[..3].iter().map(|(_, degrees)| degrees.round()).collect();
        assert_eq!(directions, [30.0, 150.0, 270.0]);
        assert_eq!(config.cells(), 21);
        assert_eq!([0, 2, 3, 20].map(|cell| config.cell_name(cell)), ["1a", "1c", "2a", "7c"]);
    }
}
