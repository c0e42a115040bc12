//! Capacity of a carrier: it follows from width, numerology, duplex, layers and MCS table.

use crate::saturated::rates;
use tidemark_cell::channel::StaticConfig;
use tidemark_cell::{CellConfig, ChannelConfig, Duplex};
use tidemark_core::Duration;
use tidemark_radio::mcs::McsTable;

/// The rate of TS 38.306 4.1.2, `v Q_m R_max (12 N_PRB / T_s) (1 - OH)`, times the downlink's share of the symbols. The
/// overhead is what this cell leaves of a resource block's 168 elements: two control symbols, 12 elements of DMRS, no other.
fn peak(config: &CellConfig, downlink: f64) -> f64 {
    let best = *config.mcs_table.rows().last().unwrap();
    let symbol = 1e-3 / (14.0 * f64::from(1 << config.numerology));
    let elements = f64::from(12 * config.resource_blocks()) / symbol * (132.0 / 168.0);
    f64::from(config.layers) * best.efficiency() * elements * downlink / 8.0
}

#[test]
fn a_saturated_carrier_reaches_its_peak_rate_less_headers_and_rounding() {
    let fdd = (Duplex::Fdd, "", 1.0);
    // Seven whole slots and one of six symbols, of which control takes two and DMRS one: 36 of 132 elements.
    let tdd = (Duplex::Tdd, "DDDDDDDSUU", (7.0 + 36.0 / 132.0) / 10.0);
    let short = (Duplex::Tdd, "DDSU", (2.0 + 36.0 / 132.0) / 4.0);
    for (numerology, mhz, layers, mcs_table, (duplex, pattern, downlink)) in [
        (0, 5, 1, McsTable::Qam64, fdd),
        (0, 20, 2, McsTable::Qam256, fdd),
        (1, 20, 1, McsTable::Qam64, tdd),
        (1, 40, 2, McsTable::Qam256, tdd),
        (1, 100, 4, McsTable::Qam256, tdd),
        (2, 60, 3, McsTable::Qam64, short),
        (3, 100, 4, McsTable::Qam256, short),
        (3, 50, 1, McsTable::Qam64, fdd),
    ] {
        let config = CellConfig {
            numerology,
            bandwidth_mhz: Some(mhz),
            layers,
            mcs_table,
            duplex,
            tdd: pattern.into(),
            dmrs: 12,
            overhead: 0,
            ..CellConfig::default()
        };
        let channel = ChannelConfig::Static(StaticConfig { snr_db: 40.0 });
        let [(rate, share)] = rates(&config, &[channel], Duration::from_millis(100), Duration::from_millis(500))[..]
        else {
            unreachable!()
        };
        let reached = rate / peak(&config, downlink);
        // Headers take 0.6 %; the standard rounds a block by up to 1.6 % up or down.
        assert!((0.978..1.01).contains(&reached), "{mhz} MHz at numerology {numerology}: {reached} of the peak");
        assert!(share > 0.99, "{mhz} MHz at numerology {numerology}: {share} of the resources");
    }
}
