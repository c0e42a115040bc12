//! Uplink packets of a UE's IP stack.

use tidemark_core::{Inspect, Instant, Packet};

use super::Cell;
use crate::output::UeId;

impl<P: Inspect> Cell<P> {
    /// Takes a packet from the IP stack of a UE. SDAP finds its bearer, and the bearer's queue takes it if there is room.
    pub fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let (du, mut upstream) = self.split();
        du.handle_uplink(now, id, packet, &mut upstream);
    }
}
