//! Radio between cells and UEs: powers, loads, and the UEs that should change cells.

use tidemark_core::{ConfigError, Instant};
use tidemark_radio::channel::ChannelConfig;
use tidemark_radio::deployment::{Plan, Point, Reception};

use super::config::{HandoverConfig, NetworkConfig};
use crate::config::{CellConfig, UeConfig};
use crate::du::Means;
use crate::handover::HandoverExecution;
use crate::output::{CellStats, UeId};

/// Thermal noise in dBm/Hz.
const NOISE_DBM_HZ: f64 = -174.0;
/// Noise figure of a gNB's receiver, in dB, as in 3GPP's evaluations (TR 38.802 table A.2.1-1).
const GNB_NOISE_FIGURE_DB: f64 = 5.0;

/// Radio between the cells and the UEs of a network: the cell of each UE, and its reception.
#[derive(Clone, Debug)]
pub struct Radio {
    config: NetworkConfig,
    plan: Plan,
    /// Noise of the whole carrier in mW.
    noise_mw: f64,
    /// Power of a layer at the UE that it is for, over what one antenna with all the power gives there, as a factor.
    layer: f64,
    /// SNR of a layer at the gNB, over the whole carrier, over what a UE receives of its cell, in dB over mW.
    uplink_db: f64,
    ues: Vec<RadioState>,
    /// Share of its resources that each cell used of late.
    load: Vec<f64>,
    used: Vec<u64>,
    measured: Instant,
    next: Instant,
}

/// Radio of one UE.
#[derive(Clone, Debug)]
struct RadioState {
    reception: Reception,
    serving: usize,
    sinr_db: f64,
    /// Begin of the time in which each cell is better than the UE's own by the hysteresis; `None` if it is not.
    better: Vec<Option<Instant>>,
    handovers: u64,
    sinr_sum_db: f64,
    measurements: u64,
}

/// A UE that changes cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handover {
    /// The UE.
    pub ue: UeId,
    /// Number of its old cell.
    pub source: usize,
    /// Number of its new cell.
    pub target: usize,
}

/// Position of a UE and its reception. Counters count from the start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct UeRadio {
    /// Number of its cell.
    pub cell: usize,
    /// Metres east and north of the centre site.
    pub position: Point,
    /// Power received from its cell at full load, in dBm, of the whole carrier and not of one resource element.
    pub power_dbm: f64,
    /// Mean SINR of a layer now, without fading, in dB.
    pub sinr_db: f64,
    /// Sum of the SINRs in dB over all measurements.
    pub sinr_sum_db: f64,
    /// Number of measurements.
    pub measurements: u64,
    /// Number of changes of its cell.
    pub handovers: u64,
}

impl Radio {
    /// Radio of a network of cells with this configuration.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn new(config: &NetworkConfig, cell: &CellConfig) -> Result<Self, ConfigError> {
        config.validate()?;
        let hertz = f64::from(cell.resource_blocks() * 12 * 15_000 * (1 << cell.numerology));
        let thermal_dbm = NOISE_DBM_HZ + 10.0 * libm::log10(hertz);
        let noise_dbm = thermal_dbm + config.noise_figure_db;
        let antennas = f64::from(config.antennas);
        // The antennas combine each layer.
        let uplink_layer_db = 10.0 * libm::log10(antennas) - 10.0 * libm::log10(f64::from(cell.uplink.layers));
        // The way up loses what the way down does.
        let uplink_db = config.ue_power_dbm + uplink_layer_db - config.power_dbm() - thermal_dbm - GNB_NOISE_FIGURE_DB;
        let cells = config.cells();
        Ok(Self {
            plan: Plan::new(&config.grid()),
            noise_mw: libm::exp10(noise_dbm / 10.0),
            layer: antennas / f64::from(cell.layers),
            uplink_db,
            ues: Vec::new(),
            load: vec![0.0; cells],
            used: vec![0; cells],
            measured: Instant::ZERO,
            next: Instant::ZERO + config.measurement_period,
            config: config.clone(),
        })
    }

    /// Adds the next UE and attaches it to the best cell. Sets carrier and antennas in its channel's configuration.
    ///
    /// # Errors
    /// The first field that cannot be used; `channel.model` if the UE has no position.
    pub fn add_ue(&mut self, config: &mut UeConfig, seed: u64) -> Result<usize, ConfigError> {
        config.validate()?;
        let ChannelConfig::Deployed(deployed) = &mut config.channel else {
            return Err(ConfigError::new("channel.model", "must be `deployed` in a network of cells"));
        };
        (deployed.carrier_ghz, deployed.antennas) = (Some(self.plan.carrier_ghz()), self.config.antennas);
        let reception = Reception::new(&self.plan, deployed, self.ues.len() as u32, seed);
        let serving = reception.best();
        let sinr_db = self.sinr(&reception, serving);
        let better = vec![None; self.load.len()];
        self.ues.push(RadioState {
            reception,
            serving,
            sinr_db,
            better,
            handovers: 0,
            sinr_sum_db: 0.0,
            measurements: 0,
        });
        Ok(serving)
    }

    /// Execution of the handovers that measurements cause.
    pub fn execution(&self) -> HandoverExecution {
        self.config.handover.execution()
    }

    /// Time of the next measurement.
    pub fn next_measurement(&self) -> Instant {
        self.next
    }

    /// Gives the means of a UE's channel in its cell, as of the last measurement.
    pub fn means(&self, id: UeId) -> Means {
        let RadioState { reception, serving, sinr_db, .. } = &self.ues[id.0 as usize];
        Means {
            sinr_db: *sinr_db,
            uplink_db: 10.0 * libm::log10(reception.power_mw()[*serving]) + self.uplink_db,
            rice_k: reception.rice_k(&self.plan, *serving),
        }
    }

    /// Measures loads, positions and powers. `cells` are the counters of all cells in order, and `available` gives the resources that
    /// each had since an instant. Returns the UEs that change cells, in order; their means are those in the new cell.
    pub fn measure(
        &mut self,
        now: Instant,
        cells: impl Iterator<Item = CellStats>,
        available: impl FnOnce(Instant) -> u64,
    ) -> Vec<Handover> {
        let available = available(self.measured).max(1) as f64;
        for ((load, used), stats) in self.load.iter_mut().zip(&mut self.used).zip(cells) {
            *load = ((stats.resources - *used) as f64 / available).min(1.0);
            *used = stats.resources;
        }
        self.measured = now;
        self.next = now + self.config.measurement_period;
        (0..self.ues.len()).filter_map(|ue| self.update_ue(now, ue)).collect()
    }

    /// Looks at a UE, which may change cells.
    fn update_ue(&mut self, now: Instant, index: usize) -> Option<Handover> {
        let ue = &mut self.ues[index];
        ue.reception.update(&self.plan, now);
        let (powers, source) = (ue.reception.power_mw(), ue.serving);
        let target = should_change(&mut ue.better, powers, now, source, &self.config.handover);
        ue.serving = target.unwrap_or(source);
        ue.handovers += u64::from(target.is_some());
        let sinr_db = self.sinr(&self.ues[index].reception, target.unwrap_or(source));
        let ue = &mut self.ues[index];
        ue.sinr_db = sinr_db;
        ue.sinr_sum_db += sinr_db;
        ue.measurements += 1;
        target.map(|target| Handover { ue: UeId(index as u32), source, target })
    }

    /// Gives a UE's cell, position and reception; `None` if there is no such UE.
    pub fn ue(&self, id: UeId) -> Option<UeRadio> {
        let ue = self.ues.get(id.0 as usize)?;
        Some(UeRadio {
            cell: ue.serving,
            position: ue.reception.position(),
            power_dbm: 10.0 * libm::log10(ue.reception.power_mw()[ue.serving]),
            sinr_db: ue.sinr_db,
            sinr_sum_db: ue.sinr_sum_db,
            measurements: ue.measurements,
            handovers: ue.handovers,
        })
    }

    /// Computes a layer's SINR, in dB: its share of the power, precoded for this UE, over noise and what other cells send now, which is
    /// precoded for others and adds up here as if it came from one antenna.
    fn sinr(&self, reception: &Reception, serving: usize) -> f64 {
        let mut interference = self.noise_mw;
        for (cell, (power, load)) in reception.power_mw().iter().zip(&self.load).enumerate() {
            interference += if cell == serving { 0.0 } else { power * load };
        }
        10.0 * libm::log10(reception.power_mw()[serving] * self.layer / interference)
    }
}

/// Event A3 (TS 38.331 5.5.4.4) with its time to trigger, which runs for each cell (5.5.4.1): the best of those whose entering
/// condition, Mn - Hys > Mp + Off, has held for that long. The leaving condition, Mn + Hys < Mp + Off, is for cells that were
/// reported: here the first report is answered with a handover, after which all begins anew.
fn should_change(
    better: &mut [Option<Instant>],
    powers: &[f64],
    now: Instant,
    serving: usize,
    config: &HandoverConfig,
) -> Option<usize> {
    let enough = powers[serving] * libm::exp10((config.hysteresis_db + config.offset_db) / 10.0);
    let mut target = None;
    for (cell, (power, since)) in powers.iter().zip(better.iter_mut()).enumerate() {
        // The entering condition fails: its time to trigger has to begin anew.
        if *power <= enough || cell == serving {
            *since = None;
            continue;
        }
        let since = *since.get_or_insert(now);
        // Several may have held for long enough: the strongest is the target.
        if now.since(since) >= config.time_to_trigger && target.is_none_or(|best: usize| powers[best] < *power) {
            target = Some(cell);
        }
    }
    if target.is_some() {
        better.fill(None);
    }
    target
}

#[cfg(test)]
mod tests {
    use tidemark_core::Duration;
    use tidemark_radio::deployment::DeployedConfig;

    use super::*;

    fn deployed() -> UeConfig {
        let deployed = DeployedConfig { position: Some([150.0, 0.0]), ..DeployedConfig::default() };
        UeConfig { channel: ChannelConfig::Deployed(deployed), ..UeConfig::default() }
    }

    #[test]
    fn the_time_to_trigger_runs_for_each_cell() {
        let mut better = [None; 3];
        let handover = HandoverConfig::default();
        let span = handover.time_to_trigger;
        let mut at = |now, powers: [f64; 3]| should_change(&mut better, &powers, Instant::ZERO + now, 0, &handover);
        // Two neighbours are better by the hysteresis throughout and alternate as the best.
        let alternate = |step: u64| if step.is_multiple_of(2) { [1.0, 8.0, 4.0] } else { [1.0, 4.0, 8.0] };
        for step in 0..8 {
            assert_eq!(at(span * step / 8, alternate(step)), None);
        }
        assert_eq!(at(span, alternate(8)), Some(1), "the best of those whose time is over");
        // One that was worse for once starts anew.
        assert_eq!(at(span, [1.0, 4.0, 0.5]), None);
        assert_eq!(at(span * 3 / 2, [1.0, 1.5, 4.0]), None);
        assert_eq!(at(span * 2, [1.0, 8.0, 4.0]), None);
        assert_eq!(at(span * 5 / 2, [1.0, 8.0, 4.0]), Some(2), "not the better one, whose time still runs");
    }

    #[test]
    fn the_entering_condition_has_an_offset_beside_the_hysteresis() {
        // Mn - Hys > Mp + Off, over a serving cell of 0 dB.
        for (hysteresis_db, offset_db, neighbour_db, changes) in [
            (3.0, 0.0, 2.9, false),
            (3.0, 0.0, 3.1, true),
            (1.0, 2.0, 2.9, false),
            (1.0, 2.0, 3.1, true),
            (1.0, -4.0, -3.1, false),
            (1.0, -4.0, -2.9, true),
        ] {
            let powers = [1.0, libm::exp10(neighbour_db / 10.0), 1e-9];
            let handover = HandoverConfig {
                hysteresis_db,
                offset_db,
                time_to_trigger: Duration::ZERO,
                ..HandoverConfig::default()
            };
            let target = should_change(&mut [None; 3], &powers, Instant::ZERO, 0, &handover);
            assert_eq!(target, changes.then_some(1), "{hysteresis_db}, {offset_db}, {neighbour_db} dB");
        }
    }

    #[test]
    fn a_lone_cell_is_measured_as_it_is_received_but_for_powers_and_noise() {
        let config = NetworkConfig { sites: 1, sectors: 1, ..NetworkConfig::default() };
        let mut radio = Radio::new(&config, &CellConfig::default()).unwrap();
        radio.add_ue(&mut deployed(), 1).unwrap();
        let Means { sinr_db: down, uplink_db: up, .. } = radio.means(UeId(0));
        // 23 instead of 49 dBm, with a noise figure of 5 instead of 9 dB.
        assert!((up - (down - 26.0 + 4.0)).abs() < 1e-9, "{up} dB, down {down} dB");
    }

    #[test]
    fn antennas_add_up_at_their_own_ue_and_not_at_others() {
        let means = |antennas| {
            let config = NetworkConfig { sites: 1, antennas, ..NetworkConfig::default() };
            let mut radio = Radio::new(&config, &CellConfig::default()).unwrap();
            // The other two cells send all the time.
            radio.load.fill(1.0);
            radio.add_ue(&mut deployed(), 1).unwrap();
            (radio.means(UeId(0)), radio.ue(UeId(0)).unwrap().power_dbm)
        };
        let (one, power) = means(1);
        let (four, same) = means(4);
        let gain = 10.0 * libm::log10(4.0);
        assert!((four.sinr_db - one.sinr_db - gain).abs() < 1e-9, "{} and {} dB", four.sinr_db, one.sinr_db);
        assert!((four.uplink_db - one.uplink_db - gain).abs() < 1e-9, "combined on the way up");
        assert_eq!((power, one.rice_k), (same, four.rice_k), "RSRP is of one antenna with all the power");
    }
}
