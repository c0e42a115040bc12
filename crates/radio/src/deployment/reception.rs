//! Reception of all cells at one UE, from its position: path loss, line of sight, shadowing and antennas.

use tidemark_core::{Instant, Stream, normal_cdf};

use super::config::DeployedConfig;
use super::layout::{Point, length, way};
use super::mobility::Walk;
use super::plan::Plan;

/// Shortest distance in metres after which the reception of a UE is computed again.
const STEP_M: f64 = 1.0;

/// The position of a UE, and the power that it receives there.
#[derive(Clone, Debug)]
pub struct Reception {
    walk: Walk,
    position: Point,
    penetration_db: f64,
    sites: Vec<SiteLink>,
    /// Received power of each cell in mW, the whole carrier at full power.
    power_mw: Vec<f64>,
}

/// Obstacles between a UE and a site: correlated along the UE's way, independent between sites and UEs.
#[derive(Clone, Debug)]
struct SiteLink {
    stream: Stream,
    /// Standard normal value. Multiplied by the deviation, it is the shadowing.
    shadowing: f64,
    /// Standard normal value. There is a line of sight if its quantile is below the probability of one.
    sight: f64,
}

impl Reception {
    /// Places a UE. Its random numbers depend on `seed` and the number of the UE.
    pub fn new(plan: &Plan, config: &DeployedConfig, ue: u32, seed: u64) -> Self {
        let stream = |purpose: &str| Stream::new(seed, ue, purpose);
        let min_m = plan.environment.min_distance_m();
        let position = config.position.unwrap_or_else(|| plan.layout.random(&mut stream("place"), min_m));
        let sites = (0..plan.layout.sites.len()).map(|site| {
            let mut stream = stream(&format!("shadowing of site {site}"));
            SiteLink { shadowing: stream.normal(), sight: stream.normal(), stream }
        });
        let mut reception = Self {
            walk: Walk::new(config.mobility.clone(), position, stream("waypoint"), min_m),
            position: plan.layout.home(position),
            penetration_db: config.penetration_db,
            sites: sites.collect(),
            power_mw: vec![0.0; plan.antennas.len() * plan.layout.sites.len()],
        };
        reception.evaluate(plan);
        reception
    }

    /// Moves the UE to its position at `now`.
    pub fn update(&mut self, plan: &Plan, now: Instant) {
        let position = self.walk.at(now, &plan.layout);
        // Seen from the nearest copy of its old place, lest it seems to jump from one side of the plane to the other.
        let moved = length(plan.layout.home(way(self.position, position)));
        if moved < STEP_M {
            return;
        }
        self.position = position;
        for (site, link) in self.sites.iter_mut().enumerate() {
            let distance = length(plan.layout.seen_from(site, position));
            let clear = link.clear(plan, distance);
            link.shadowing =
                correlated(link.shadowing, moved, plan.environment.shadowing_reach_m(clear), &mut link.stream);
            link.sight = correlated(link.sight, moved, plan.environment.sight_reach_m(), &mut link.stream);
        }
        self.evaluate(plan);
    }

    fn evaluate(&mut self, plan: &Plan) {
        let environment = plan.environment;
        for (site, link) in self.sites.iter().enumerate() {
            let way = plan.layout.seen_from(site, self.position);
            let distance = length(way);
            let clear = link.clear(plan, distance);
            let shadowing = link.shadowing * environment.shadowing_db(distance, plan.carrier_ghz, clear);
            let loss = environment.path_loss_db(distance, plan.carrier_ghz, clear) + shadowing + self.penetration_db;
            let azimuth = libm::atan2(way[1], way[0]);
            let below = libm::atan2(environment.height_m() - super::propagation::UE_HEIGHT_M, distance);
            for (sector, antenna) in plan.antennas.iter().enumerate() {
                let dbm = plan.power_dbm + antenna.gain_dbi(azimuth, below) - loss;
                self.power_mw[site * plan.antennas.len() + sector] = libm::exp10(dbm / 10.0);
            }
        }
    }

    /// Power of the wave in line of sight over that of all others, for the site of a cell (TR 38.901 table 7.5-6); zero if
    /// there is no line of sight.
    pub fn rice_k(&self, plan: &Plan, cell: usize) -> f64 {
        let site = cell / plan.antennas.len();
        let distance = length(plan.layout.seen_from(site, self.position));
        if self.sites[site].clear(plan, distance) { libm::exp10(plan.environment.rice_k_db() / 10.0) } else { 0.0 }
    }

    /// Position of the UE within the grid itself, not in a copy.
    pub fn position(&self) -> Point {
        self.position
    }

    /// Power received from each cell in mW, with the whole carrier at full power.
    pub fn power_mw(&self) -> &[f64] {
        &self.power_mw
    }

    /// The cell with the highest received power.
    pub fn best(&self) -> usize {
        let cells = self.power_mw.iter().enumerate();
        cells.max_by(|a, b| a.1.total_cmp(b.1)).map_or(0, |(cell, _)| cell)
    }
}

impl SiteLink {
    fn clear(&self, plan: &Plan, distance: f64) -> bool {
        normal_cdf(self.sight) < plan.environment.line_of_sight(distance)
    }
}

/// A standard normal after a way, whose autocorrelation falls to 1/e over `reach` (TR 38.901 7.4.4).
fn correlated(value: f64, way: f64, reach: f64, stream: &mut Stream) -> f64 {
    let kept = libm::exp(-way / reach);
    kept * value + libm::sqrt(1.0 - kept * kept) * stream.normal()
}

#[cfg(test)]
mod tests {
    use super::super::mobility::Mobility;
    use super::super::plan::Grid;
    use super::super::propagation::Environment;
    use super::*;

    /// UMa with these sites and sectors.
    fn plan(sites: u32, sectors: u32) -> Plan {
        Plan::new(&Grid {
            environment: Environment::Uma,
            sites,
            sectors,
            distance_m: 500.0,
            wrap_around: true,
            carrier_ghz: 3.75,
            power_dbm: 49.0,
            rows: 10,
            downtilt_deg: 12.0,
        })
    }

    #[test]
    fn shadowing_has_its_deviation_and_its_autocorrelation() {
        let mut stream = Stream::new(1, 0, "way");
        let mut values = vec![stream.normal()];
        for _ in 0..200_000 {
            values.push(correlated(values[values.len() - 1], 5.0, 37.0, &mut stream));
        }
        let mean_of = |lag: usize| {
            let products = values.windows(lag + 1).map(|window| window[0] * window[lag]);
            products.sum::<f64>() / (values.len() - lag) as f64
        };
        for lag in [0, 1, 4, 8, 20] {
            let expected = libm::exp(-5.0 * lag as f64 / 37.0);
            assert!((mean_of(lag) - expected).abs() < 0.03, "{} at {lag}", mean_of(lag));
        }
    }

    #[test]
    fn the_share_of_ues_in_sight_is_the_models() {
        let plan = plan(1, 3);
        for distance in [50.0, 100.0, 200.0] {
            let config = DeployedConfig { position: Some([distance, 0.0]), ..DeployedConfig::default() };
            let clear = (0..4_000).filter(|ue| Reception::new(&plan, &config, *ue, 1).sites[0].clear(&plan, distance));
            let share = clear.count() as f64 / 4_000.0;
            let expected = plan.environment.line_of_sight(distance);
            assert!((share - expected).abs() < 0.025, "{share} for {expected} at {distance} m");
        }
    }

    #[test]
    fn received_power_is_power_and_gain_less_path_loss_and_shadowing() {
        let plan = plan(1, 1);
        let ue = DeployedConfig { position: Some([100.0, 0.0]), penetration_db: 9.0, ..DeployedConfig::default() };
        let count = 4_000;
        let mut sums = [(0.0, 0.0, 0.0); 2];
        for id in 0..count {
            let reception = Reception::new(&plan, &ue, id, 1);
            let sum = &mut sums[usize::from(reception.sites[0].clear(&plan, 100.0))];
            let dbm = 10.0 * libm::log10(reception.power_mw[0]);
            *sum = (sum.0 + 1.0, sum.1 + dbm, sum.2 + dbm * dbm);
        }
        // The sector looks 30 degrees aside; the UE is atan(23.5 / 100) = 13.22 degrees below the horizon.
        let gain = plan.antennas[0].gain_dbi(0.0, libm::atan2(23.5, 100.0));
        for (clear, deviation) in [(true, 4.0), (false, 6.0)] {
            let (n, sum, squares) = sums[usize::from(clear)];
            let mean = sum / n;
            let expected = 49.0 + gain - plan.environment.path_loss_db(100.0, 3.75, clear) - 9.0;
            assert!((mean - expected).abs() < 0.3, "{mean} for {expected}");
            let measured = libm::sqrt(squares / n - mean * mean);
            assert!((measured - deviation).abs() < 0.2, "{measured} for {deviation}");
        }
    }

    #[test]
    fn a_ue_outside_the_tile_receives_what_it_does_at_the_same_place_inside() {
        let plan = plan(7, 3);
        let step = way([0.0, 0.0], plan.layout.home([5_000.0, 0.0]));
        for mobility in [Mobility::Still {}, Mobility::Line { to: [5_000.0, 30.0], speed_kmh: 100.0 }] {
            let at = |position| DeployedConfig {
                position: Some(position),
                mobility: mobility.clone(),
                ..DeployedConfig::default()
            };
            let far = Reception::new(&plan, &at([5_000.0, 0.0]), 0, 1);
            let near = Reception::new(&plan, &at(step), 0, 1);
            assert!(
                length(way(far.position, near.position)) < 1e-6 && length(far.position) < 800.0,
                "{:?}",
                far.position
            );
            assert_eq!(far.best(), near.best());
            let (far_mw, near_mw) = (far.power_mw[far.best()], near.power_mw[near.best()]);
            assert!((far_mw / near_mw - 1.0).abs() < 1e-6);
            let mut later = far.clone();
            later.update(&plan, Instant::from_millis(100));
            assert!(length(way(later.position, far.position)) < 3.0, "it does not jump");
        }
    }

    #[test]
    fn who_sees_its_site_has_a_wave_that_stands_out() {
        let plan = plan(1, 3);
        let config = DeployedConfig { position: Some([100.0, 0.0]), ..DeployedConfig::default() };
        for ue in 0..100 {
            let reception = Reception::new(&plan, &config, ue, 1);
            // 9 dB in UMa.
            let expected = if reception.sites[0].clear(&plan, 100.0) { 7.943 } else { 0.0 };
            assert!((reception.rice_k(&plan, 2) - expected).abs() < 1e-3);
        }
    }

    #[test]
    fn a_ue_that_goes_round_the_plane_receives_the_same_sites_again() {
        let plan = plan(7, 3);
        let config = DeployedConfig {
            position: Some([100.0, 0.0]),
            mobility: Mobility::Line { to: [100_000.0, 0.0], speed_kmh: 360.0 },
            ..DeployedConfig::default()
        };
        let mut reception = Reception::new(&plan, &config, 0, 1);
        for second in 1..600 {
            reception.update(&plan, Instant::from_millis(1_000 * second));
            // Never in a hole: the nearest of 21 cells is at most a site's distance away.
            let best = 10.0 * libm::log10(reception.power_mw[reception.best()]);
            assert!((-110.0..0.0).contains(&best), "{best} dBm after {second} s");
            assert!(length(reception.position) < 800.0);
        }
    }
}
