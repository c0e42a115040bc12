//! A UE leaves a cell and comes to another.

use tidemark_core::{ConfigError, Duration, Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use crate::cell::Cell;
use crate::config::RlcMode;
use crate::cu_up::UeContext;
use crate::drb::Drb;
use crate::event::Event;
use crate::output::{DropReason, Output, UeId};
use crate::ue::Ue;

/// What a handover costs, and what goes with the UE: its execution (TS 38.300 9.2.3.2).
#[derive(Clone, PartialEq, Debug)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(default, deny_unknown_fields))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct HandoverExecution {
    /// How long nothing is sent to or by the UE. Default 45 ms: a little below the mean of 49.5 ms for a handover without
    /// random-access failures (TR 36.881 table 5.2.1-1).
    pub interruption: Duration,
    /// What becomes of what RLC holds. Default `forwarded`.
    pub data: HandoverData,
    /// What becomes of what the marker knows. Default `moves`.
    pub marker: HandoverMarker,
}

impl Default for HandoverExecution {
    fn default() -> Self {
        Self {
            interruption: Duration::from_millis(45),
            data: HandoverData::default(),
            marker: HandoverMarker::default(),
        }
    }
}

impl HandoverExecution {
    pub(crate) fn validate(&self) -> Result<(), ConfigError> {
        if self.interruption > Duration::from_secs(10) {
            return Err(ConfigError::new("handover.interruption", "must be at most 10 s"));
        }
        Ok(())
    }
}

/// What becomes of what RLC holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HandoverData {
    /// What has not left the UE's PDCP in order is sent again by the new cell (TS 38.300 9.2.3.2.3); of UM what was not begun.
    #[default]
    Forwarded,
    /// It is dropped.
    Lost,
}

/// What becomes of what the marker knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize), serde(rename_all = "kebab-case"))]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub enum HandoverMarker {
    /// Flows, their feedback and the law's state move with the UE; what was estimated of the old radio is forgotten.
    #[default]
    Moves,
    /// The new cell's marker knows nothing.
    StartsAnew,
}

/// A UE between two cells, with what its old cell held of it.
pub(crate) struct Leaving<P> {
    ue: Box<Ue>,
    context: Box<UeContext>,
    drbs: Vec<LeavingDrb<P>>,
}

struct LeavingDrb<P> {
    drb: Box<Drb<P>>,
    /// What has not left its PDCP in order: SN, time of arrival, packet.
    downlink: Vec<(u32, Instant, Packet<P>)>,
    /// What has not reached the gNB in order: QFI, time of arrival, packet.
    uplink: Vec<(u32, Instant, Packet<P>)>,
}

impl<P: Inspect> Cell<P> {
    /// The UE moves to another cell of the same kind, which this one goes on to stand for: `handover` of the cell's configuration
    /// says for how long the UE is silent and what goes with it.
    pub fn hand_over(&mut self, now: Instant, id: UeId) {
        let Some(leaving) = self.take_ue(now, id) else { return };
        let execution = self.config.handover.clone();
        self.place_ue(now, id, leaving, &execution);
    }

    /// The UE leaves: MAC and RLC are reset (TS 38.331 5.3.5.5), so that what is in the air of it is gone.
    pub(crate) fn take_ue(&mut self, now: Instant, id: UeId) -> Option<Leaving<P>> {
        for index in self.ues.get(id.0 as usize)?.drbs.clone() {
            self.conclude_unacknowledged(now, index);
        }
        let (mut ue, context) = (self.ues.take(id.0)?, self.cu.take_ue(id)?);
        ue.reset(&self.config);
        let own = ue.drbs.clone();
        self.active.retain(|drb| !own.contains(drb));
        self.planned.retain(|(_, block)| block.ue != id.0);
        self.decoded.retain(|(_, drb, _)| !own.contains(drb));
        self.feedback.retain(|feedback| feedback.ue != id.0);
        self.sending_again.retain(|other| *other != id.0);
        self.f1_up.retain(|(_, drb, _)| !own.contains(drb));
        self.timers.forget(&own);
        let mut drbs: Vec<_> = own
            .clone()
            .filter_map(|index| {
                let mut drb = self.drbs.take(index)?;
                let downlink = drb.reset();
                let uplink = drb.uplink.re_establish();
                Some(LeavingDrb { drb, downlink, uplink })
            })
            .collect();
        for (at, drb, sn, packet) in std::mem::take(&mut self.f1_down) {
            if own.contains(&drb) {
                drbs[(drb - own.start) as usize].downlink.push((sn, at, packet));
            } else {
                self.f1_down.push_back((at, drb, sn, packet));
            }
        }
        self.turns.retain(|turn| turn.ue != id.0);
        self.uplink.retain(|(.., block)| block.ue != id.0);
        self.statuses_down.retain(|(_, drb, _)| !own.contains(drb));
        self.plan();
        Some(Leaving { ue, context, drbs })
    }

    /// After a handover UM sends only what was not begun, and its receiver delivers what it has (TS 38.323 5.1.2); of what
    /// was begun the rest is lost.
    fn conclude_unacknowledged(&mut self, now: Instant, index: u32) {
        let drb = &mut self.drbs[index as usize];
        if drb.bearer.mode() == RlcMode::Um {
            drb.bearer.conclude();
            drb.uplink.conclude();
            let ue = drb.ue;
            self.release_or_lose(now, index, DropReason::Handover);
            self.settle_up_or_lose(now, ue, index, DropReason::Handover);
        }
    }

    /// The UE comes: after the interruption it is sent what is forwarded.
    pub(crate) fn place_ue(&mut self, now: Instant, id: UeId, leaving: Leaving<P>, config: &HandoverExecution) {
        let Leaving { mut ue, context, drbs } = leaving;
        self.cu.put_ue(id, context);
        let mut sends = false;
        ue.silent_until = ue.silent_until.max(now + config.interruption);
        for (index, LeavingDrb { mut drb, downlink, uplink }) in ue.drbs.clone().zip(drbs) {
            for (sn, arrived, packet) in downlink {
                match config.data {
                    HandoverData::Forwarded => drb.bearer.push(arrived.min(now), arrived.min(now), sn, packet),
                    HandoverData::Lost => {
                        ue.stats.dropped_by_handover += 1;
                        drb.stats.dropped += 1;
                        let (direction, reason) = (Direction::Downlink, DropReason::Handover);
                        self.events.emit(now, drb.id, || Event::Dropped { packet: &packet, direction, reason });
                        self.outputs.push_back(Output::Dropped { at: now, ue: id, packet, reason });
                    }
                }
            }
            let anew = config.marker == HandoverMarker::StartsAnew;
            self.cu.hand_over(now, drb.id, anew, drb.standing());
            if !anew && self.events.has_listener() {
                self.events.emit(now, drb.id, || Event::HandedOver);
                for (sn, packet) in drb.bearer.standing() {
                    self.events.emit(now, drb.id, || Event::Forwarded { packet, sn });
                }
            }
            self.has_gbr |= drb.qos.is_gbr();
            sends |= !uplink.is_empty();
            uplink.into_iter().for_each(|(qfi, came, packet)| drb.uplink.push(came, came, qfi, packet));
            let waiting = drb.bearer.has_data();
            self.drbs.put(index, drb);
            self.arm_uplink(now, index);
            self.arm_discard(index, Direction::Uplink);
            if waiting {
                self.activate(now, index);
            }
        }
        self.stats.handovers += 1;
        self.ues.put(id.0, ue);
        if sends {
            self.wake_uplink(now, id.0);
        }
    }
}
