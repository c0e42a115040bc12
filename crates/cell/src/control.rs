//! What can be changed while a cell runs.

use tidemark_core::{ConfigError, Duration, Inspect, Instant, Stream};
use tidemark_marker::MarkerConfig;

use crate::cell::Cell;
use crate::network::Means;
use crate::output::UeId;
use tidemark_radio::channel::{Channel, ChannelConfig};

impl<P: Inspect> Cell<P> {
    /// The UE's radio is another one from now on. A UE that does not exist is left alone.
    ///
    /// # Errors
    /// A field that cannot be used; a channel with a rate cannot become one with a quality, nor the reverse, since RLC's
    /// headers count in one of them only.
    pub fn set_channel(&mut self, id: UeId, config: &ChannelConfig) -> Result<(), ConfigError> {
        let stream = Stream::new(self.seed, id.0, "channel");
        let Some(ue) = self.ues.get_mut(id.0 as usize) else { return Ok(()) };
        let channel = Channel::new(config, self.config.band(), stream)?;
        if channel.is_rate() != ue.channel.is_rate() {
            return Err(ConfigError::new("channel.model", "can't change between a rate and a radio quality"));
        }
        ue.channel = channel;
        Ok(())
    }

    /// What the fading of a deployed UE goes around is something else from now on.
    pub(crate) fn set_means(&mut self, id: UeId, means: Means) {
        if let Some(ue) = self.ues.get_mut(id.0 as usize) {
            ue.channel.set_mean(means.sinr_db, means.rice_k);
            ue.uplink_radio.set_gain(means.uplink_db - means.sinr_db);
        }
    }

    /// The UE's default bearer is marked by another law, or with other thresholds. What is known of flows and of the queue stays.
    ///
    /// # Errors
    /// A field that cannot be used.
    pub fn set_marker(&mut self, now: Instant, id: UeId, config: &MarkerConfig) -> Result<(), ConfigError> {
        let Some(ue) = self.ues.get(id.0 as usize) else { return Ok(()) };
        let drb = &mut self.drbs[ue.drbs.start as usize];
        self.cu.reconfigure(now, drb.id, config, drb.standing())?;
        if self.cu.decides_at_dequeue(drb.id) {
            drb.bearer.expect_holes();
        }
        Ok(())
    }

    /// Nothing is sent to or by the UE for this long: it has no coverage. Its packets wait.
    pub fn interrupt(&mut self, now: Instant, id: UeId, span: Duration) {
        if let Some(ue) = self.ues.get_mut(id.0 as usize) {
            ue.silent_until = ue.silent_until.max(now + span);
        }
    }
}
