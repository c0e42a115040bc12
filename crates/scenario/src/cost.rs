//! Estimate of what a run takes.

use std::fmt;

use crate::Scenario;

/// Milliseconds of a processor that a simulated second takes for each UE, cell and resource block of a cell.
const UE_MS: f64 = 1.0;
const CELL_MS: f64 = 1.0;
const RESOURCE_BLOCK_MS: f64 = 0.1;
/// Megabytes of memory of the program, of each UE with its flow, and of a row of the series with its part of the report.
const PROGRAM_MB: f64 = 15.0;
const UE_MB: f64 = 0.2;
const ROW_MB: f64 = 500e-6;
/// Megabytes of files of any run, and of a row of the series in its table and in the report.
const TABLES_MB: f64 = 1.0;
const WRITTEN_ROW_MB: f64 = 145e-6;

/// Estimate of what a simulation takes, within a factor of three of what was measured on a processor of 2.5 GHz
/// (results/performance/estimate.csv). Its text has one digit of each.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cost {
    /// Time of a processor in seconds.
    pub processor_s: f64,
    /// Largest memory in megabytes.
    pub memory_mb: f64,
    /// Size of all files, the report among them, in megabytes.
    pub files_mb: f64,
}

impl Scenario {
    /// Estimates the processor's time, the memory and the files of a run.
    pub fn cost(&self) -> Cost {
        let ues = self.ues();
        let subjects = ues.len().max(self.flows(&ues).len()) as f64;
        let cells = self.network.as_ref().map_or(usize::from(!ues.is_empty()), |network| network.cells()) as f64;
        let rows = self.rows(self.sample_interval()) as f64;
        let cell_ms = CELL_MS + RESOURCE_BLOCK_MS * f64::from(self.cell.resource_blocks());
        Cost {
            processor_s: self.duration.as_secs_f64() * (UE_MS * subjects + cells * cell_ms) / 1000.0,
            memory_mb: PROGRAM_MB + UE_MB * subjects + ROW_MB * rows,
            files_mb: TABLES_MB + WRITTEN_ROW_MB * rows,
        }
    }
}

impl fmt::Display for Cost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [processor, memory, files] = [self.processor_s, self.memory_mb, self.files_mb].map(digit);
        write!(f, "{processor} s of a processor, {memory} MB of memory, {files} MB of files")
    }
}

/// Rounds a positive number to one digit.
fn digit(value: f64) -> f64 {
    format!("{value:.0e}").parse().unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crate::Scenario;

    fn said(text: &str) -> String {
        Scenario::parse("t.toml", text, Path::new(""), &[]).unwrap().cost().to_string()
    }

    #[test]
    fn an_hour_of_many_costs_what_was_measured() {
        let crowd = "name = \"t\"\nduration = \"3600 s\"\n[cell]\nprbs = 273\n[[ue]]\nname = \"u\"\ncount = 500\n\
                     [[flow]]\nname = \"f\"\nue = \"u\"\nround_trip = \"38 ms\"\nsender = { controller = \"prague\" }\n";
        // Measured: 1786 s, 340 MB, 53 MB.
        assert_eq!(said(crowd), "2000 s of a processor, 300 MB of memory, 50 MB of files");
        // The series of a long run have no more rows, so that its memory is the same.
        let day = crowd.replace("3600 s", "86400 s");
        assert!(said(&day).contains(" 300 MB of memory"), "{}", said(&day));
    }

    #[test]
    fn a_wire_alone_has_no_cell_to_pay_for() {
        let wire = "name = \"t\"\nduration = \"100 s\"\n[[router]]\nname = \"r\"\nrate = \"10 Mbit/s\"\n\
                    [[flow]]\nname = \"f\"\nrouter = \"r\"\nround_trip = \"20 ms\"\nsender = { controller = \"cubic\" }\n";
        assert!(said(wire).starts_with("0.1 s of a processor"), "{}", said(wire));
    }
}
