//! Standardised 5QIs (TS 23.501 table 5.7.4-1).

use tidemark_core::Duration;

/// Resource type of a QoS flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Resource {
    /// No rate is guaranteed.
    NonGbr,
    /// A rate is guaranteed.
    Gbr,
    /// A rate is guaranteed, and a packet that comes late counts as lost.
    DelayCritical,
}

/// Characteristics of a 5QI.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Characteristics {
    /// The 5QI.
    pub five_qi: u8,
    /// Resource type: guaranteed rate or not.
    pub resource: Resource,
    /// Default priority level; the lower goes first.
    pub priority: u8,
    /// Packet delay budget, from the UPF to the UE.
    pub delay_budget: Duration,
    /// Packet error rate: the share of packets that may be lost or exceed the budget.
    pub error_rate: f64,
}

const fn row(five_qi: u8, resource: Resource, priority: u8, delay_ms: u64, error_rate: f64) -> Characteristics {
    Characteristics { five_qi, resource, priority, delay_budget: Duration::from_millis(delay_ms), error_rate }
}

const TABLE: [Characteristics; 31] = {
    use Resource::{DelayCritical, Gbr, NonGbr};
    [
        row(1, Gbr, 20, 100, 1e-2),
        row(2, Gbr, 40, 150, 1e-3),
        row(3, Gbr, 30, 50, 1e-3),
        row(4, Gbr, 50, 300, 1e-6),
        row(5, NonGbr, 10, 100, 1e-6),
        row(6, NonGbr, 60, 300, 1e-6),
        row(7, NonGbr, 70, 100, 1e-3),
        row(8, NonGbr, 80, 300, 1e-6),
        row(9, NonGbr, 90, 300, 1e-6),
        row(10, NonGbr, 90, 1100, 1e-6),
        row(65, Gbr, 7, 75, 1e-2),
        row(66, Gbr, 20, 100, 1e-2),
        row(67, Gbr, 15, 100, 1e-3),
        row(69, NonGbr, 5, 60, 1e-6),
        row(70, NonGbr, 55, 200, 1e-6),
        row(71, Gbr, 56, 150, 1e-6),
        row(72, Gbr, 56, 300, 1e-4),
        row(73, Gbr, 56, 300, 1e-8),
        row(74, Gbr, 56, 500, 1e-8),
        row(76, Gbr, 56, 500, 1e-4),
        row(79, NonGbr, 65, 50, 1e-2),
        row(80, NonGbr, 68, 10, 1e-6),
        row(82, DelayCritical, 19, 10, 1e-4),
        row(83, DelayCritical, 22, 10, 1e-4),
        row(84, DelayCritical, 24, 30, 1e-5),
        row(85, DelayCritical, 21, 5, 1e-5),
        row(86, DelayCritical, 18, 5, 1e-4),
        row(87, DelayCritical, 25, 5, 1e-3),
        row(88, DelayCritical, 25, 10, 1e-3),
        row(89, DelayCritical, 25, 15, 1e-4),
        row(90, DelayCritical, 25, 20, 1e-4),
    ]
};

/// Error text for a 5QI that is not in the table.
pub const KNOWN_FIVE_QIS: &str =
    "must be a standardised 5QI: 1 to 10, 65 to 67, 69 to 74, 76, 79, 80, or 82 to 90 (TS 23.501 table 5.7.4-1)";

impl Characteristics {
    /// Gives the characteristics of a standardised 5QI; `None` for others.
    pub fn of(five_qi: u8) -> Option<&'static Self> {
        TABLE.iter().find(|row| row.five_qi == five_qi)
    }
    /// True if a packet that comes late counts as lost.
    pub fn is_delay_critical(&self) -> bool {
        self.resource == Resource::DelayCritical
    }
    /// True if a rate is guaranteed.
    pub fn is_gbr(&self) -> bool {
        self.resource != Resource::NonGbr
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_as_the_standard_has_them() {
        let ar = Characteristics::of(80).unwrap();
        assert_eq!((ar.priority, ar.delay_budget, ar.is_gbr()), (68, Duration::from_millis(10), false));
        let rendering = Characteristics::of(89).unwrap();
        assert_eq!(rendering.resource, Resource::DelayCritical);
        assert_eq!((rendering.delay_budget, rendering.error_rate), (Duration::from_millis(15), 1e-4));
        assert!(Characteristics::of(3).unwrap().is_gbr());
        let mission_critical = Characteristics::of(65).unwrap();
        assert_eq!((mission_critical.priority, mission_critical.delay_budget), (7, Duration::from_millis(75)));
        assert_eq!(Characteristics::of(70).unwrap().delay_budget, Duration::from_millis(200));
        assert!([3, 8, 9, 80, 82, 83, 84, 85, 86, 87, 88, 89, 90].map(Characteristics::of).iter().all(Option::is_some));
        assert!(Characteristics::of(0).is_none() && Characteristics::of(81).is_none());
    }

    #[test]
    fn delay_critical_5qis_have_the_short_budgets() {
        let short = |row: &Characteristics| row.delay_budget <= Duration::from_millis(30);
        assert!(TABLE.iter().all(|row| row.resource != Resource::DelayCritical || short(row)));
        assert!(TABLE.is_sorted_by_key(|row| row.five_qi));
    }
}
