//! The receiving side of an RLC UM entity: the parts of SDUs that it keeps, and for how long (TS 38.322 5.2.2.2).

use tidemark_core::{Duration, Instant};

use super::Segment;
use super::window::Window;

/// State variables of the receiving side. Only SDUs that went out in segments have SNs; here they keep the bearer's numbers.
#[derive(Debug)]
pub(super) struct Reassembly {
    /// UM_Window_Size.
    size: u32,
    /// RX_Next_Reassembly: the first SDU with an SN that is neither whole nor given up, or one behind `highest`.
    rx_next: u64,
    /// The last SDU of which a segment came: the one before RX_Next_Highest.
    highest: Option<u64>,
    /// t-Reassembly: `highest` when it was started, and its end.
    timer: Option<(u64, Instant)>,
}

impl Reassembly {
    pub(super) fn new(size: u32) -> Self {
        Self { size, rx_next: 0, highest: None, timer: None }
    }
    /// Begins anew at the first SDU of an entity that is established anew.
    pub(super) fn begin(&mut self, sdu: u64) {
        *self = Self { rx_next: sdu, ..Self::new(self.size) };
    }

    /// Stores a segment that the receive window has already accepted. A whole SDU has no SN and says nothing of others.
    pub(super) fn arrived<P>(
        &mut self,
        now: Instant,
        window: &mut Window<P>,
        segment: Segment,
        t_reassembly: Duration,
    ) {
        let sn = window.um_sn(segment.sdu);
        // Neither moves a window of SNs (TS 38.322 6.2.2.3).
        if sn == 0 {
            return;
        }
        // A new highest SN is the upper edge of the window (TS 38.322 5.2.2.2.3).
        if self.highest < Some(segment.sdu) {
            self.highest = Some(segment.sdu);
            self.move_window(window, sn);
        }
        self.advance(window);
        let is_closed = |trigger| self.rx_next > trigger || self.highest == Some(self.rx_next) && !self.has_gap(window);
        // What the timer was started for is whole: no gap is left that it could bound.
        if self.timer.is_some_and(|(trigger, _)| is_closed(trigger)) {
            self.timer = None;
        }
        self.watch(now, window, t_reassembly);
    }
    /// The reassembly window ends with the highest SN: parts of SDUs that fall out of it are thrown away (TS 38.322 5.2.2.2.3).
    /// SNs are counted on, where a receiver takes one from before its window for a new one.
    fn move_window<P>(&mut self, window: &mut Window<P>, highest_sn: u32) {
        self.advance(window);
        while self.highest > Some(self.rx_next) && highest_sn.wrapping_sub(window.um_sn(self.rx_next)) >= self.size {
            window.give_up(self.rx_next);
            self.rx_next += 1;
            self.advance(window);
        }
    }
    fn advance<P>(&mut self, window: &Window<P>) {
        // What arrived out of order counts once nothing before it is missing.
        while self.highest.is_some_and(|highest| self.rx_next <= highest) && !window.lacks_segments(self.rx_next) {
            self.rx_next += 1;
        }
    }
    fn has_gap<P>(&self, window: &Window<P>) -> bool {
        self.highest > Some(self.rx_next) || self.highest == Some(self.rx_next) && window.has_gap(self.rx_next)
    }
    fn watch<P>(&mut self, now: Instant, window: &Window<P>, t_reassembly: Duration) {
        // One timer at a time bounds the wait for everything up to the highest SN of its start.
        if let Some(highest) = self.highest.filter(|_| self.timer.is_none() && self.has_gap(window)) {
            self.timer = Some((highest, now + t_reassembly));
        }
    }

    /// Gives the end of t-Reassembly.
    pub(super) fn ends(&self) -> Option<Instant> {
        self.timer.map(|(_, end)| end)
    }
    /// Discards parts of SDUs up to the one that t-Reassembly was started for, once it has ended.
    pub(super) fn expire<P>(&mut self, now: Instant, window: &mut Window<P>, t_reassembly: Duration) {
        let Some((trigger, _)) = self.timer.take_if(|(_, end)| *end <= now) else { return };
        for sdu in self.rx_next..=trigger {
            window.give_up(sdu);
        }
        self.rx_next = self.rx_next.max(trigger + 1);
        self.advance(window);
        self.watch(now, window, t_reassembly);
    }
}
