//! Modulation and coding: the MCS and CQI tables of TS 38.214.

/// Modulation order and code rate.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Mcs {
    /// Bits per symbol, Q_m.
    pub order: u32,
    /// Code rate R x 1024.
    pub rate: f64,
}

impl Mcs {
    /// Information bits per resource element and layer.
    pub fn efficiency(self) -> f64 {
        f64::from(self.order) * self.rate / 1024.0
    }
}

/// MCS and CQI tables of a UE.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum McsTable {
    /// 64QAM at most: tables 5.1.3.1-1 and 5.2.2.1-2.
    #[default]
    Qam64,
    /// 256QAM at most: tables 5.1.3.1-2 and 5.2.2.1-3.
    Qam256,
}

const fn mcs(order: u32, rate: f64) -> Mcs {
    Mcs { order, rate }
}

/// TS 38.214 table 5.1.3.1-1.
const QAM64: [Mcs; 29] = [
    mcs(2, 120.0),
    mcs(2, 157.0),
    mcs(2, 193.0),
    mcs(2, 251.0),
    mcs(2, 308.0),
    mcs(2, 379.0),
    mcs(2, 449.0),
    mcs(2, 526.0),
    mcs(2, 602.0),
    mcs(2, 679.0),
    mcs(4, 340.0),
    mcs(4, 378.0),
    mcs(4, 434.0),
    mcs(4, 490.0),
    mcs(4, 553.0),
    mcs(4, 616.0),
    mcs(4, 658.0),
    mcs(6, 438.0),
    mcs(6, 466.0),
    mcs(6, 517.0),
    mcs(6, 567.0),
    mcs(6, 616.0),
    mcs(6, 666.0),
    mcs(6, 719.0),
    mcs(6, 772.0),
    mcs(6, 822.0),
    mcs(6, 873.0),
    mcs(6, 910.0),
    mcs(6, 948.0),
];

/// TS 38.214 table 5.1.3.1-2.
const QAM256: [Mcs; 28] = [
    mcs(2, 120.0),
    mcs(2, 193.0),
    mcs(2, 308.0),
    mcs(2, 449.0),
    mcs(2, 602.0),
    mcs(4, 378.0),
    mcs(4, 434.0),
    mcs(4, 490.0),
    mcs(4, 553.0),
    mcs(4, 616.0),
    mcs(4, 658.0),
    mcs(6, 466.0),
    mcs(6, 517.0),
    mcs(6, 567.0),
    mcs(6, 616.0),
    mcs(6, 666.0),
    mcs(6, 719.0),
    mcs(6, 772.0),
    mcs(6, 822.0),
    mcs(6, 873.0),
    mcs(8, 682.5),
    mcs(8, 711.0),
    mcs(8, 754.0),
    mcs(8, 797.0),
    mcs(8, 841.0),
    mcs(8, 885.0),
    mcs(8, 916.5),
    mcs(8, 948.0),
];

/// CQI 1 to 15, TS 38.214 table 5.2.2.1-2.
const CQI64: [Mcs; 15] = [
    mcs(2, 78.0),
    mcs(2, 120.0),
    mcs(2, 193.0),
    mcs(2, 308.0),
    mcs(2, 449.0),
    mcs(2, 602.0),
    mcs(4, 378.0),
    mcs(4, 490.0),
    mcs(4, 616.0),
    mcs(6, 466.0),
    mcs(6, 567.0),
    mcs(6, 666.0),
    mcs(6, 772.0),
    mcs(6, 873.0),
    mcs(6, 948.0),
];

/// CQI 1 to 15, TS 38.214 table 5.2.2.1-3.
const CQI256: [Mcs; 15] = [
    mcs(2, 78.0),
    mcs(2, 193.0),
    mcs(2, 449.0),
    mcs(4, 378.0),
    mcs(4, 490.0),
    mcs(4, 616.0),
    mcs(6, 466.0),
    mcs(6, 567.0),
    mcs(6, 666.0),
    mcs(6, 772.0),
    mcs(6, 873.0),
    mcs(8, 711.0),
    mcs(8, 797.0),
    mcs(8, 885.0),
    mcs(8, 948.0),
];

impl McsTable {
    /// The rows, from MCS 0.
    pub fn rows(self) -> &'static [Mcs] {
        match self {
            Self::Qam64 => &QAM64,
            Self::Qam256 => &QAM256,
        }
    }
    /// Modulation and code rate of CQI 1 to 15.
    pub fn cqi(self) -> &'static [Mcs; 15] {
        match self {
            Self::Qam64 => &CQI64,
            Self::Qam256 => &CQI256,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn efficiency_rises_with_the_index_and_the_tables_end_where_the_standard_says() {
        for table in [McsTable::Qam64, McsTable::Qam256] {
            // 17 follows 16 with a lower efficiency in table 1 (2.5664 after 2.5703), as the standard has it.
            let rows = table.rows().windows(2);
            assert!(rows.filter(|pair| pair[1].efficiency() < pair[0].efficiency()).count() <= 1);
            assert!(table.cqi().windows(2).all(|pair| pair[1].efficiency() > pair[0].efficiency()));
        }
        assert!((McsTable::Qam64.rows()[28].efficiency() - 5.5547).abs() < 1e-4);
        assert!((McsTable::Qam256.rows()[27].efficiency() - 7.4063).abs() < 1e-4);
    }
}
