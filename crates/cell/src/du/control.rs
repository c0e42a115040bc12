//! What can be changed of a UE's radio while a DU runs.

use tidemark_core::{ConfigError, Duration, Inspect, Instant, Stream};
use tidemark_radio::channel::{Channel, ChannelConfig};

use super::Du;
use crate::output::UeId;

/// Means that the fading of a deployed UE goes around.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Means {
    /// Mean SINR in dB.
    pub(crate) sinr_db: f64,
    /// Mean SNR in dB at the gNB, where the UE sends on the whole carrier: nobody interferes there.
    pub(crate) uplink_db: f64,
    /// Power of the wave in line of sight over that of all others.
    pub(crate) rice_k: f64,
}

impl<P: Inspect> Du<P> {
    /// The UE's radio is another one from now on. A UE that does not exist is left alone.
    ///
    /// # Errors
    /// A field that cannot be used; a channel with a rate cannot become one with a quality, nor the reverse, since RLC's
    /// headers count in one of them only.
    pub(crate) fn set_channel(&mut self, id: UeId, config: &ChannelConfig) -> Result<(), ConfigError> {
        let (stream, band) = (Stream::new(self.seed, id.0, "channel"), self.config.band());
        let Some(ue) = self.ue_mut(id) else { return Ok(()) };
        let channel = Channel::new(config, band, stream)?;
        ue.set_channel(channel)
    }

    /// Changes the means that the fading of a deployed UE goes around.
    pub(crate) fn set_means(&mut self, id: UeId, means: Means) {
        if let Some(ue) = self.ue_mut(id) {
            ue.set_means(means.sinr_db, means.uplink_db, means.rice_k);
        }
    }

    /// Takes a UE's coverage away: nothing is sent to it or by it for `span`. Its packets wait.
    pub(crate) fn interrupt(&mut self, now: Instant, id: UeId, span: Duration) {
        if let Some(ue) = self.ue_mut(id) {
            ue.silence(now + span);
        }
    }
}
