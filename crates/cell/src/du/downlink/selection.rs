//! Selection of the UEs that a slot serves, and of their resource blocks.

use tidemark_core::Inspect;

use crate::du::Drb;
use crate::du::carrier::{Carrier, DownlinkSlot};
use crate::du::queues::Queues;
use crate::du::scheduler::{Candidate, Contender, Need, Offer, Remaining, Scheduler};
use crate::index::DrbIndex;
use crate::output::UeId;
use crate::room::MIN_BLOCK;

/// Scheduler with the UEs that contend for the slot that is being run.
pub(super) struct Selection {
    scheduler: Scheduler,
    /// UEs that can be sent something in that slot, and those that were given something before.
    contenders: Vec<Contender>,
    given: Vec<Contender>,
}

impl Selection {
    pub(super) fn new(scheduler: Scheduler) -> Self {
        Self { scheduler, contenders: Vec::new(), given: Vec::new() }
    }

    /// A slot begins in which something can be sent.
    pub(super) fn begin_slot(&mut self, at: &DownlinkSlot) {
        self.scheduler.begin_slot(at.slot);
    }

    /// A UE was sent this many bytes in the slot.
    pub(super) fn served(&mut self, ue: UeId, bytes: u32) {
        self.scheduler.served(ue, bytes);
    }

    /// Hands out the rest of a slot to UEs with `active` bearers: first to those that are owed a guaranteed rate, then by the choice of the
    /// scheduler among all.
    pub(super) fn choose<P: Inspect>(
        &mut self,
        at: &DownlinkSlot,
        remaining: &mut Remaining,
        active: &[DrbIndex],
        carrier: &Carrier,
        queues: &mut Queues<P>,
    ) {
        self.contenders.clear();
        // A guaranteed rate comes first under every scheduler (decision 15); without one nobody is looked at twice.
        for only_owed in [true, false] {
            if remaining.prbs > 0 && (queues.has_gbr || !only_owed) {
                self.contend(at, only_owed, active, carrier, queues);
                let need = |candidate: &_, free| need(candidate, free, only_owed, at, carrier, queues);
                self.scheduler.share(&mut self.contenders, remaining, only_owed, need);
            }
        }
    }

    /// UEs that were given something, to be put back by [`put_back`](Self::put_back).
    pub(super) fn take_contenders(&mut self) -> Vec<Contender> {
        std::mem::take(&mut self.contenders)
    }

    /// Takes the list back, which keeps its room.
    pub(super) fn put_back(&mut self, contenders: Vec<Contender>) {
        self.contenders = contenders;
    }

    /// Finds the UEs to which a slot can send, in order, each with the bearer that the scheduler ranks highest and its previous share of the
    /// slot.
    fn contend<P: Inspect>(
        &mut self,
        at: &DownlinkSlot,
        only_owed: bool,
        active: &[DrbIndex],
        carrier: &Carrier,
        queues: &mut Queues<P>,
    ) {
        let &DownlinkSlot { slot, symbols, now } = at;
        let Carrier { pattern, table, sizes, .. } = carrier;
        let Queues { ues, drbs, .. } = queues;
        let Self { scheduler, contenders, given } = self;
        std::mem::swap(contenders, given);
        let begins = pattern.start(slot);
        let before = pattern.start(pattern.previous_downlink(slot));
        let sizes = sizes.in_slot(symbols);
        let weights = [sizes.capacity, pattern.wait_for_downlink(slot)].map(Contender::weight);
        // Bearers of a UE are side by side.
        for index in active {
            let drb = &mut drbs[*index];
            let ue = &mut ues[drb.id.ue];
            // A retransmission may be all that a bearer waits for, and without coverage none is scheduled.
            if !drb.bearer.has_data() || ue.is_silent(now) {
                continue;
            }
            // A maximum rate that is used up holds the bearer back, and a UE whose HARQ processes all wait for feedback has no block.
            if only_owed && !drb.qos.is_owed(now) || !drb.qos.may_send(now) || !ue.processes.has_free(slot) {
                continue;
            }
            let offer = ue.offer(table, now, before..begins);
            // CQI 0: no MCS would arrive (TS 38.214 table 5.2.2.1-2).
            if ue.is_out_of_range() {
                continue;
            }
            // A rate channel has no MCS: its bytes come by the time since the last slot.
            let (capacity, weight) = match offer {
                Offer::Mcs(mcs) => (f64::from(sizes.whole(mcs)), weights[0]),
                Offer::Bytes(bytes) => (bytes, weights[1]),
            };
            let head_of_line = drb.bearer.head_of_line(now);
            let (priority, five_qi) = (drb.qos.priority, drb.qos.five_qi);
            let candidate = Candidate { ue: drb.id.ue, capacity, head_of_line, priority, five_qi, offer };
            // A UE has one turn a slot, that of its most urgent bearer.
            match contenders.last_mut().filter(|last| last.candidate.ue == candidate.ue) {
                Some(last) if scheduler.rank(&candidate) > scheduler.rank(&last.candidate) => {
                    last.candidate = candidate
                }
                Some(_) => {}
                None => contenders.push(Contender::new(candidate, weight)),
            }
        }
        for given in given.drain(..).filter(|given| given.prbs > 0) {
            let position = contenders.binary_search_by_key(&given.candidate.ue, |contender| contender.candidate.ue);
            // What was guaranteed is kept beside what the rule gives.
            if let Ok(position) = position {
                contenders[position].prbs = given.prbs;
            }
        }
    }
}

/// Resource blocks that a UE can use for what waits, out of `free`; `None` if those carry nothing.
fn need<P: Inspect>(
    candidate: &Candidate,
    free: u32,
    only_owed: bool,
    at: &DownlinkSlot,
    carrier: &Carrier,
    queues: &mut Queues<P>,
) -> Option<Need> {
    let Queues { ues, drbs, .. } = queues;
    let (ue, all) = (&mut ues[candidate.ue], carrier.config.prbs);
    let wanted = |drb: &mut Drb<P>| {
        let waits = drb.bearer.has_data() && drb.qos.may_send(at.now) && (!only_owed || drb.qos.is_owed(at.now));
        // Above its maximum rate a bearer has to wait, and in the round of guarantees one that is owed nothing.
        if waits { drb.bearer.backlog() } else { 0 }
    };
    let wanted = ue.drbs().iter().map(|index| wanted(&mut drbs[index])).sum::<u32>();
    let least = wanted.min(MIN_BLOCK);
    // An MCS gives bytes by resource blocks, a rate channel what came since its last slot.
    let need = match candidate.offer {
        Offer::Mcs(mcs) => {
            let sizes = &carrier.sizes.of(at.symbols, mcs)[..=free as usize];
            // The least is found among the first few. Where much waits there is nothing to look for.
            let fewest = |bytes| sizes.iter().take_while(|size| **size < bytes).count() as u32;
            let is_too_little = |size: &u32| *size < wanted;
            let all = match sizes.last() {
                Some(size) if is_too_little(size) => sizes.len(),
                _ => sizes.partition_point(is_too_little),
            };
            Need { least: fewest(least), all: all as u32 }
        }
        Offer::Bytes(bytes) => {
            let fewest = |wanted| ue.fewest_prbs(wanted, bytes, all);
            let need = Need { least: fewest(least), all: fewest(wanted) };
            // An offer that is too small for a block is kept for the next slot.
            if need.least > all {
                ue.keep(bytes);
            }
            need
        }
    };
    (need.least <= free).then_some(need)
}
