//! Changes of a running cell.

use tidemark_core::{ConfigError, Duration, Inspect, Instant};
use tidemark_marker::MarkerConfig;
use tidemark_radio::channel::ChannelConfig;

use super::Cell;
use crate::du::Means;
use crate::output::UeId;

impl<P: Inspect> Cell<P> {
    /// The UE's radio is another one from now on. A UE that does not exist is left alone.
    ///
    /// # Errors
    /// A field that cannot be used; a channel with a rate cannot become one with a quality, nor the reverse, since RLC's
    /// headers count in one of them only.
    pub fn set_channel(&mut self, id: UeId, config: &ChannelConfig) -> Result<(), ConfigError> {
        self.du.set_channel(id, config)
    }

    /// Changes the means that the fading of a deployed UE goes around.
    pub(crate) fn set_means(&mut self, id: UeId, means: Means) {
        self.du.queues_mut().set_means(id, means);
    }

    /// The UE's default bearer is marked by another law, or with other thresholds. What is known of flows and of the queue stays.
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

    /// Takes a UE's coverage away: nothing is sent to it or by it for `span`. Its packets wait.
    pub fn interrupt(&mut self, now: Instant, id: UeId, span: Duration) {
        self.du.queues_mut().interrupt(now, id, span);
    }

    /// The UE's modem is asked to send a query, the two octets of its control element. While bitRateQueryProhibitTimer runs
    /// the query waits for its end (TS 38.321 5.18.10). False where one waits already, which is sent for both, or where the
    /// bearer knows no recommendations.
    pub fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2]) -> bool {
        let (du, mut upstream) = self.split();
        du.query_bit_rate(now, id, octets, &mut upstream)
    }
}
