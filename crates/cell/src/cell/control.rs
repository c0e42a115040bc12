//! Changes of a running cell.

use tidemark_core::{ConfigError, Duration, Inspect, Instant, Stream};
use tidemark_marker::MarkerConfig;

use super::Cell;
use crate::output::UeId;
use tidemark_radio::channel::{Channel, ChannelConfig};

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

impl<P: Inspect> Cell<P> {
    /// The UE's radio is another one from now on. A UE that does not exist is left alone.
    ///
    /// # Errors
    /// A field that cannot be used; a channel with a rate cannot become one with a quality, nor the reverse, since RLC's
    /// headers count in one of them only.
    pub fn set_channel(&mut self, id: UeId, config: &ChannelConfig) -> Result<(), ConfigError> {
        let (stream, band) = (Stream::new(self.du.seed(), id.0, "channel"), self.du.config().band());
        let Some(ue) = self.du.ue_mut(id) else { return Ok(()) };
        let channel = Channel::new(config, band, stream)?;
        ue.set_channel(channel)
    }

    /// Changes the means that the fading of a deployed UE goes around.
    pub(crate) fn set_means(&mut self, id: UeId, means: Means) {
        if let Some(ue) = self.du.ue_mut(id) {
            ue.set_means(means.sinr_db, means.uplink_db, means.rice_k);
        }
    }

    /// The UE's default bearer is marked by another law, or with other thresholds. What is known of flows and of the queue stays.
    ///
    /// # Errors
    /// A field that cannot be used.
    pub fn set_marker(&mut self, now: Instant, id: UeId, config: &MarkerConfig) -> Result<(), ConfigError> {
        let Some(first) = self.du.ue(id).map(|ue| ue.drbs().default_drb()) else { return Ok(()) };
        let drb = self.du.drb_mut(first);
        self.cu.reconfigure(now, drb.id(), config)?;
        if self.cu.decides_at_dequeue(drb.id()) {
            drb.expect_holes();
        }
        Ok(())
    }

    /// Takes a UE's coverage away: nothing is sent to it or by it for `span`. Its packets wait.
    pub fn interrupt(&mut self, now: Instant, id: UeId, span: Duration) {
        if let Some(ue) = self.du.ue_mut(id) {
            ue.silence(now + span);
        }
    }

    /// The UE's modem is asked to send a query, the two octets of its control element. While bitRateQueryProhibitTimer runs
    /// the query waits for its end (TS 38.321 5.18.10). False where one waits already, which is sent for both, or where the
    /// bearer knows no recommendations.
    pub fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2]) -> bool {
        let (du, mut upstream) = self.split();
        du.query_bit_rate(now, id, octets, &mut upstream)
    }
}
