//! Uplink packets on their way from a UE's IP stack to its RLC queue.

use tidemark_core::{Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::Cell;
use crate::event::Event;
use crate::output::{DropReason, Output, UeId};
use crate::qos::Mapped;

impl<P: Inspect> Cell<P> {
    /// Takes a packet of the IP stack of a UE: SDAP finds its bearer, whose queue takes it if there is room.
    pub fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(stack) = self.ues.get_mut(id) else { return };
        let Mapped { qfi, drb, .. } = stack.sdap_mut().map(&packet);
        let bearer = self.du.drb(drb).id();
        self.events.emit(now, bearer, || Event::UplinkArrived { packet: &packet, qfi });
        if stack.is_full(drb, packet.size) {
            let (direction, reason) = (Direction::Uplink, DropReason::QueueFull);
            self.events.emit(now, bearer, || Event::Dropped { packet: &packet, direction, reason });
            self.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason });
            return;
        }
        let is_first = stack.push(now, drb, qfi, packet);
        let (du, mut upstream) = self.split();
        du.handle_uplink_arrival(now, drb, is_first, &mut upstream);
    }
}
