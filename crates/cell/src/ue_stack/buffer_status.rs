//! Buffer status reports (TS 38.321 5.4.5).

use tidemark_core::Bytes;
use tidemark_wire::mac::BufferTable;

/// Logical channel groups of a UE at most (TS 38.321 6.1.3.1). The first is the most important.
pub(crate) const MAX_GROUPS: usize = 8;

/// Bytes by logical channel group.
pub(crate) type Groups = [u64; MAX_GROUPS];

/// Buffer status report in a block.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Report {
    waiting: Groups,
    number: u64,
    granted: u64,
    first: Option<usize>,
}

impl Report {
    /// Makes the report with this number, written when `granted` bytes had been granted in all.
    pub(crate) fn new(waiting: Groups, number: u64, granted: u64) -> Self {
        Self { waiting, number, granted, first: waiting.iter().position(|waiting| *waiting > 0) }
    }
    /// Bytes as the gNB reads them in the report.
    pub(crate) fn waiting(&self) -> Groups {
        self.waiting
    }
    /// Position in the order of writing, from 1.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }
    /// Bytes that had been granted in all when it was written.
    pub(crate) fn granted(&self) -> u64 {
        self.granted
    }
    /// The most important group with data, by the report.
    pub(crate) fn first(&self) -> Option<usize> {
        self.first
    }
}

/// Table by which a buffer status is quantised.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum BsrFormat {
    /// 5 bits (TS 38.321 table 6.1.3.1-1): steps of 39 %.
    #[default]
    Short,
    /// 8 bits (TS 38.321 table 6.1.3.1-2): steps of 6.5 %.
    Long,
}

/// Format of a buffer status report to write.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BsrShape {
    table: BufferTable,
    /// Octets with the subheader (TS 38.321 6.1.3.1).
    pub(crate) octets: u32,
}

impl BsrFormat {
    /// The report of this many groups with data. For more than one group it is the long format.
    pub(crate) fn of_groups(self, groups: usize) -> BsrShape {
        match self {
            // A short report has room for one group (TS 38.321 6.1.3.1).
            Self::Short if groups <= 1 => BsrShape { table: BufferTable::A, octets: 2 },
            _ => BsrShape { table: BufferTable::B, octets: 3 + groups.max(1) as u32 },
        }
    }
}

impl BsrShape {
    /// Bytes that the gNB reads in a report of `waiting`: the upper end of the step, or the lower end of the table's last step.
    pub(crate) fn reported(self, waiting: u64) -> u64 {
        if waiting == 0 {
            return 0;
        }
        let step = self.table.index(Bytes(waiting)).and_then(|index| self.table.size(index));
        step.and_then(|step| step.at_most.or(step.above)).map_or(waiting, |bytes| bytes.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_rounds_up_to_its_tables_step() {
        let [short, long] = [BsrFormat::Short, BsrFormat::Long].map(|format| format.of_groups(1));
        for waiting in [0, 1, 10, 777, 20_000, 140_000] {
            let (short, long) = (short.reported(waiting), long.reported(waiting));
            assert!(waiting <= long && waiting <= short, "{waiting}: {long}, {short}");
            let waiting = waiting as f64;
            assert!(short as f64 <= waiting * 1.4 + 10.0 && long as f64 <= waiting * 1.07 + 10.0);
        }
        assert_eq!(short.reported(1_000_000), 150_000);
        assert_eq!(long.reported(0), 0);
        assert_eq!([0, 1, 3].map(|groups| BsrFormat::Short.of_groups(groups).octets), [2, 2, 6]);
    }
}
