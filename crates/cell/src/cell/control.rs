//! Changes of a running cell.

use tidemark_core::{ConfigError, Duration, Inspect, Instant};
use tidemark_marker::MarkerConfig;
use tidemark_radio::channel::ChannelConfig;

use super::Cell;
use crate::du::Means;
use crate::output::UeId;

impl<P: Inspect> Cell<P> {
    /// Changes the channel of a UE from now on. A UE that does not exist is ignored.
    ///
    /// # Errors
    /// A field that cannot be used. A rate channel cannot become one with a radio quality, nor the reverse, because RLC
    /// headers count in only one of them.
    pub fn set_channel(&mut self, id: UeId, config: &ChannelConfig) -> Result<(), ConfigError> {
        self.du.set_channel(id, config)
    }

    /// Changes the means of a deployed UE's fading.
    pub(crate) fn set_means(&mut self, id: UeId, means: Means) {
        self.du.queues_mut().set_means(id, means);
    }

    /// Marks the UE's default bearer by another law or with other thresholds. The state of flows and of the queue is kept.
    ///
    /// # Errors
    /// A field that cannot be used.
    pub fn set_marker(&mut self, now: Instant, id: UeId, config: &MarkerConfig) -> Result<(), ConfigError> {
        let Some(first) = self.du.queues().ue(id).map(|ue| ue.drbs().default_drb()) else { return Ok(()) };
        let drb = self.du.queues_mut().drb_mut(first);
        self.cu.reconfigure(now, drb.id(), config)?;
        // Its drops leave SNs that never come: the UE must not wait for them.
        if self.cu.decides_at_dequeue(drb.id()) {
            drb.expect_holes();
        }
        Ok(())
    }

    /// Takes a UE out of coverage: nothing is sent to it or by it for `span`. Its packets wait.
    pub fn interrupt(&mut self, now: Instant, id: UeId, span: Duration) {
        self.du.queues_mut().interrupt(now, id, span);
    }

    /// Asks the UE's modem to send a query, given as the two octets of its control element. While bitRateQueryProhibitTimer runs, the
    /// query waits for its end (TS 38.321 5.18.10). False if a query already waits, which then serves both, or if the bearer gets no
    /// recommendations.
    pub fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2]) -> bool {
        let (du, mut upstream) = self.split();
        du.query_bit_rate(now, id, octets, &mut upstream)
    }
}
