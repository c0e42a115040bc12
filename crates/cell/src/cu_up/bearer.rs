//! One DRB in the CU-UP, where PDCP numbers its packets and a law marks them.

use tidemark_core::{Bytes, ConfigError, Inspect, Instant, Packet, Stream};
use tidemark_marker::{DrbMarker, MarkerConfig, RlcQueue, Verdict};

use super::pdcp::Pdcp;
use crate::config::BearerConfig;
use crate::event::BearerId;

/// Number of the random stream of the first bearer's uplink law; further bearers count downwards from it.
const UPLINK_MARKER: u8 = 255;

/// Bearer of a UE in the CU-UP.
pub(super) struct CuBearer {
    pub(super) marker: DrbMarker,
    /// Configuration of the marker, for another that takes over.
    config: MarkerConfig,
    /// 5QI of the first QoS flow.
    five_qi: u8,
    pdcp: Pdcp,
    /// Law that marks uplink packets.
    uplink_marker: Option<DrbMarker>,
    /// Marks of markers before this one.
    past_marks: u64,
}

impl CuBearer {
    /// Sets up a bearer.
    ///
    /// # Errors
    /// The first field of a marker's configuration that cannot be used.
    pub(super) fn new(id: BearerId, bearer: &BearerConfig, seed: u64) -> Result<Self, ConfigError> {
        let index = id.drb - 1;
        let (marker, uplink_marker) = (bearer.marker.for_five_qi(bearer.five_qi), bearer.uplink_marker);
        let uplink_marker = uplink_marker.map(|config| new_marker(id, UPLINK_MARKER - index, config, seed));
        Ok(Self {
            marker: new_marker(id, index, &marker, seed)?,
            config: marker,
            five_qi: bearer.five_qi,
            pdcp: Pdcp::new(id.sn_length),
            uplink_marker: uplink_marker.transpose()?,
            past_marks: 0,
        })
    }

    /// Numbers an SDU, and announces it to the marker.
    pub(super) fn number(&mut self, now: Instant, size: Bytes) -> u32 {
        let sn = self.pdcp.number();
        self.marker.handle_pdcp_pdu(now, sn, self.pdcp.pdu(size));
        sn
    }

    /// Announces SDUs in the queue, SN and size, to a marker that knows nothing of them.
    fn announce(&mut self, now: Instant, queued: impl Iterator<Item = (u32, Bytes)>) {
        queued.for_each(|(sn, size)| self.marker.handle_pdcp_pdu(now, sn, self.pdcp.pdu(size)));
    }

    /// Decides on a packet from the UE, behind which the UE reported `waiting`.
    pub(super) fn decide_up<P: Inspect>(&mut self, now: Instant, packet: &Packet<P>, waiting: RlcQueue) -> Verdict {
        let law = self.uplink_marker.as_mut();
        law.map_or(Verdict::Pass, |law| law.handle_downlink(now, packet, Some(waiting)))
    }

    /// Goes on with another configuration of the marker, which keeps what it knows of the queue.
    ///
    /// # Errors
    /// The first field that cannot be used; nothing has changed then.
    pub(super) fn reconfigure(&mut self, now: Instant, config: &MarkerConfig) -> Result<(), ConfigError> {
        let config = config.for_five_qi(self.five_qi);
        self.marker.reconfigure(now, &config, self.pdcp.sn_length()).map_err(|error| error.within("marker"))?;
        self.config = config;
        Ok(())
    }

    /// Moves to another DU: the marker forgets the old radio, and gets the SDUs that are sent there.
    pub(super) fn hand_over(&mut self, now: Instant, queued: impl Iterator<Item = (u32, Bytes)>) {
        self.marker.handle_handover(now);
        self.announce(now, queued);
    }

    /// Replaces the marker by one that knows no flow, and announces to it the SDUs that are sent to the DU.
    pub(super) fn restart(
        &mut self,
        now: Instant,
        id: BearerId,
        seed: u64,
        queued: impl Iterator<Item = (u32, Bytes)>,
    ) {
        // The configuration was good when the bearer was set up, and has not changed for the worse.
        if let Ok(marker) = new_marker(id, id.drb - 1, &self.config, seed) {
            self.past_marks += std::mem::replace(&mut self.marker, marker).counters().marks();
        }
        self.announce(now, queued);
    }

    /// Downlink packets marked.
    pub(super) fn marked(&self) -> u64 {
        self.past_marks + self.marker.counters().marks()
    }

    /// Uplink packets marked.
    pub(super) fn uplink_marked(&self) -> u64 {
        self.uplink_marker.as_ref().map_or(0, |law| law.counters().marks())
    }
}

/// Makes a marker with random draws of its own.
fn new_marker(id: BearerId, index: u8, config: &MarkerConfig, seed: u64) -> Result<DrbMarker, ConfigError> {
    let stream = Stream::new(seed, id.ue.0 | u32::from(index) << 24, "mark");
    DrbMarker::new(config, id.sn_length, stream).map_err(|error| error.within("marker"))
}
