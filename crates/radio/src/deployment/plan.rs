//! The fixed part of a deployment: sites, antennas and environment.

use super::antenna::Antenna;
use super::layout::{Layout, Point};
use super::propagation::Environment;

/// Description of a grid of identical sites.
#[derive(Clone, Copy, Debug)]
pub struct Grid {
    /// Path loss, line of sight and shadowing.
    pub environment: Environment,
    /// Sites: 1, 7 or 19.
    pub sites: u32,
    /// Sectors of a site, each a cell.
    pub sectors: u32,
    /// Distance between neighbouring sites in metres.
    pub distance_m: f64,
    /// True if copies of the grid continue it in all directions.
    pub wrap_around: bool,
    /// Carrier in GHz.
    pub carrier_ghz: f64,
    /// Total transmission power of a cell in dBm.
    pub power_dbm: f64,
    /// Elements in a sector's column.
    pub rows: u32,
    /// Angle of the beam below the horizon, in degrees.
    pub downtilt_deg: f64,
}

/// Sites, antennas and environment.
#[derive(Clone, Debug)]
pub struct Plan {
    pub(super) environment: Environment,
    pub(super) carrier_ghz: f64,
    pub(super) power_dbm: f64,
    pub(super) layout: Layout,
    /// Antennas of one site; all sites are alike.
    pub(super) antennas: Vec<Antenna>,
}

impl Grid {
    /// Direction of a sector in radians from east, counterclockwise. The first sector of a site faces 30 degrees north of east.
    fn azimuth(&self, sector: u32) -> f64 {
        let turn = f64::from(sector) / f64::from(self.sectors);
        core::f64::consts::FRAC_PI_6 + core::f64::consts::TAU * turn
    }

    /// Position of each cell, and the direction that it faces, in degrees from east, counterclockwise.
    pub fn cells(&self) -> Vec<(Point, f64)> {
        let sites = Layout::new(self.sites, self.distance_m, false).sites;
        let cells = |site| (0..self.sectors).map(move |sector| (site, self.azimuth(sector).to_degrees()));
        sites.into_iter().flat_map(cells).collect()
    }
}

impl Plan {
    /// Plans a grid.
    pub fn new(grid: &Grid) -> Self {
        Self {
            environment: grid.environment,
            carrier_ghz: grid.carrier_ghz,
            power_dbm: grid.power_dbm,
            layout: Layout::new(grid.sites, grid.distance_m, grid.wrap_around),
            antennas: (0..grid.sectors)
                .map(|sector| Antenna::new(grid.azimuth(sector), grid.rows, grid.downtilt_deg))
                .collect(),
        }
    }

    /// Carrier in GHz.
    pub fn carrier_ghz(&self) -> f64 {
        self.carrier_ghz
    }
}
