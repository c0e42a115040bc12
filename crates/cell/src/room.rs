//! Check that the slots of a cell have room for data.

use tidemark_core::{ConfigError, Duration};

use crate::config::{CellConfig, Duplex};
use tidemark_radio::slots::{SYMBOLS_PER_SLOT, may_be_period};

/// Bytes of the smallest transport block that carries anything: headers of RLC and MAC, and a few bytes of an SDU.
pub(crate) const MIN_BLOCK: u32 = 16;
/// Bytes of a buffer status report of all eight logical channel groups with its subheader (TS 38.321 6.1.3.1).
const LONGEST_BSR: u32 = 11;

impl CellConfig {
    /// Checks the fields that could give an impossible pattern, or slots without room for data.
    pub(crate) fn validate_slots(&self) -> Result<(), ConfigError> {
        let error = |field, problem| Err(ConfigError::new(field, problem));
        if self.duplex == Duplex::Tdd && !may_be_period(self.slot(), self.tdd.len() as u64) {
            let most = Duration::from_millis(20).as_nanos() / self.slot().as_nanos();
            let choice: Vec<_> =
                (1..=most).filter(|slots| may_be_period(self.slot(), *slots)).map(|slots| slots.to_string()).collect();
            let problem = format!(
                "has {} slots: at this numerology use {}, which take 0.5 ms at least and divide 20 ms (TS 38.213 11.1)",
                self.tdd.len(),
                choice.join(", ")
            );
            return Err(ConfigError::new("tdd", problem));
        }
        let Some(pattern) = self.pattern() else {
            return error("tdd", "use the letters D, S and U, with downlink symbols and a U among them");
        };
        let pdsch = self.pdsch();
        let fullest = pattern.downlink_symbols_of_period().max().unwrap_or(0);
        if pdsch.whole_block(fullest, self.mcs_table.rows().len() - 1) < MIN_BLOCK {
            let problem = "no downlink slot has room for data: use more, a D in `tdd`, or less of `control_symbols`, `dmrs` and `overhead`";
            return error("special_symbols", problem);
        }
        let whole_slots = [pdsch, self.pusch()].map(|channel| channel.whole_block(SYMBOLS_PER_SLOT, 0));
        if whole_slots[0] < MIN_BLOCK || whole_slots[1] < MIN_BLOCK + LONGEST_BSR {
            let problem =
                "are too few for data in a slot at the lowest MCS: use more, or more `layers` and `uplink.layers`";
            return error("prbs", problem);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_a_gnb_may_have_are_accepted_and_others_name_their_right_lengths() {
        let with = |numerology, tdd: &str| {
            let config = CellConfig { numerology, tdd: tdd.into(), ..CellConfig::default() };
            config.validate()
        };
        for (numerology, tdd) in [
            (0, "DDDSU"),
            (0, "DSUDDDSUDD"),
            (1, "DDDSU"),
            (1, "DSUUU"),
            (1, "DDDDDDDSUU"),
            (1, "DDDSUUDDDD"),
            (1, "DDDSUDDSUU"),
            (1, "SU"),
            (2, "DDDSU"),
            (3, "DDDSU"),
        ] {
            assert_eq!(with(numerology, tdd), Ok(()), "{tdd}");
        }
        // 1.5, 3 and 3.5 ms; 0.25 ms is shorter than the shortest.
        for (numerology, tdd) in [(1, "DSU"), (0, "DSU"), (1, "DDDDDSU"), (3, "SU")] {
            assert_eq!(with(numerology, tdd).unwrap_err().field(), "tdd", "{tdd}");
        }
        let error = with(1, "DDDDDSU").unwrap_err().to_string();
        assert!(error.contains("has 7 slots") && error.contains("use 1, 2, 4, 5, 8, 10, 20, 40,"), "{error}");
        let paired = CellConfig { duplex: Duplex::Fdd, tdd: "unused".into(), ..CellConfig::default() };
        assert_eq!(paired.validate(), Ok(()), "paired spectrum has no pattern");
    }
}
