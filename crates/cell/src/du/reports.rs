//! Delivery statuses from the DU to the CU, over F1-U.

use tidemark_core::{Duration, Inspect, Instant};

use super::timers::{Timer, Timers};
use super::{Drb, Port};
use crate::index::DrbIndex;

/// Reports of a DU, sent at once or at the end of a period that all bearers share.
pub(super) struct Reports {
    period: Duration,
}

impl Reports {
    /// Reports once a period, or at once without one.
    pub(super) fn new(period: Duration) -> Self {
        Self { period }
    }

    /// Reports news of a bearer, now or later.
    pub(super) fn report<P: Inspect>(
        &self,
        now: Instant,
        index: DrbIndex,
        drb: &mut Drb<P>,
        timers: &mut Timers,
        port: &mut impl Port<P>,
    ) {
        // A report without news would only cost F1-U and the CU time.
        if !drb.has_news() {
            return;
        }
        // Periods are counted from zero, not from the event: reports of all bearers come at the same ticks, as a DU's timer gives them.
        if self.period.is_zero() {
            send(now, index, drb, port);
        } else if drb.schedule_report() {
            // One timer a bearer: a report that is due already will have this event too.
            let at = Instant::ZERO + self.period * (now.as_nanos() / self.period.as_nanos() + 1);
            timers.set(at, index, Timer::Report);
        }
    }
}

/// Reports a bearer as it is now.
pub(super) fn send<P: Inspect>(now: Instant, index: DrbIndex, drb: &mut Drb<P>, port: &mut impl Port<P>) {
    let status = drb.make_report();
    port.report(now, (index, drb.id), status);
}
