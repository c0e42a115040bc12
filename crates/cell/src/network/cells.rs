//! Cells that are driven together.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::{Arc, Mutex};

use tidemark_core::{ConfigError, FlowId, Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use super::radio::Handover;
use crate::cell::{Cell, Leaving};
use crate::config::{CellConfig, UeConfig};
use crate::du::Means;
use crate::event::Observer;
use crate::handover::HandoverExecution;
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{CellStats, DrbStats, Output, UeId, UeStats};

/// Cells of one kind with their UEs, driven together like one [`Cell`]: all cells of a network, or some.
pub struct Cells<P> {
    cells: Vec<Cell<P>>,
    /// Number of the first cell; the others follow.
    first: usize,
    /// Next deadline of each cell.
    deadlines: Vec<Instant>,
    /// Cells that may have something to say.
    ready: VecDeque<usize>,
    /// Place of each UE's cell among these; `None` for a UE of other cells.
    serving: Vec<Option<usize>>,
}

impl<P> Default for Cells<P> {
    fn default() -> Self {
        Self { cells: Vec::new(), first: 0, deadlines: Vec::new(), ready: VecDeque::new(), serving: Vec::new() }
    }
}

impl<P: Inspect> Cells<P> {
    /// `count` cells, numbered from 0. All their random numbers derive from `seed`.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn new(config: &CellConfig, count: usize, seed: u64) -> Result<Self, ConfigError> {
        let cells = (0..count).map(|_| Cell::new(config, seed)).collect::<Result<_, _>>()?;
        Ok(Self::of(cells, 0))
    }

    fn of(cells: Vec<Cell<P>>, first: usize) -> Self {
        let deadlines = vec![Instant::FAR; cells.len()];
        let mut cells = Self { cells, first, deadlines, ..Self::default() };
        (0..cells.cells.len()).for_each(|cell| cells.touched(cell));
        cells
    }

    /// Splits this into single cells, each with its UEs.
    pub fn apart(self) -> Vec<Self> {
        let Self { cells, first, serving, .. } = self;
        let one = |(place, cell)| {
            let serving = serving.iter().map(|serves| (*serves == Some(place)).then_some(0));
            Self { serving: serving.collect(), ..Self::of(vec![cell], first + place) }
        };
        cells.into_iter().enumerate().map(one).collect()
    }

    /// Adds the cells with the next numbers, and their UEs.
    pub fn join(&mut self, others: Self) {
        let behind = self.cells.len();
        self.cells.extend(others.cells);
        self.deadlines.extend(others.deadlines);
        self.ready.extend(others.ready.into_iter().map(|cell| behind + cell));
        for (ue, cell) in others.serving.into_iter().enumerate() {
            if let Some(cell) = cell {
                self.set_serving(ue, Some(behind + cell));
            }
        }
    }

    /// Admits a UE to the cell with this number. Its random numbers derive from its unique index. Its bearers have indices from
    /// `first` on. Gives the index after its last bearer.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn add_ue(
        &mut self,
        cell: usize,
        id: UeId,
        first: DrbIndex,
        config: &UeConfig,
    ) -> Result<DrbIndex, ConfigError> {
        let place = cell - self.first;
        self.cells[place].add_ue_as(id, first, config)?;
        self.set_serving(id.0 as usize, Some(place));
        Ok(UeDrbs::new(first, config.bearers().count()).end())
    }

    /// Puts a flow of a UE into the QoS flow with this QFI, regardless of the packet filters.
    ///
    /// # Errors
    /// The QFI, if there is no such QoS flow.
    pub fn name_qos_flow(&mut self, id: UeId, flow: FlowId, qfi: u8) -> Result<(), ConfigError> {
        let Some(cell) = self.serving(id) else { return Ok(()) };
        self.cells[cell].name_qos_flow(id, flow, qfi)
    }

    /// The logical channel that carries a flow to its UE, or from it; `None` if there is no such UE.
    pub fn logical_channel(&self, id: UeId, flow: FlowId, direction: Direction) -> Option<u8> {
        self.cells[self.serving(id)?].logical_channel(id, flow, direction)
    }

    /// Asks the UE to send a bit rate query with a MAC control element; false if it may not.
    pub fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2]) -> bool {
        let Some(cell) = self.serving(id) else { return false };
        let sent = self.cells[cell].query_bit_rate(now, id, octets);
        self.touched(cell);
        sent
    }

    /// Takes a downlink packet at the CU of the UE's cell.
    pub fn handle_downlink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(cell) = self.serving(id) else { return };
        self.cells[cell].handle_downlink(now, id, packet);
        self.touched(cell);
    }

    /// Takes a packet from the IP stack of a UE.
    pub fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(cell) = self.serving(id) else { return };
        self.cells[cell].handle_uplink(now, id, packet);
        self.touched(cell);
    }

    /// Time of the next event without a new packet; `None` if there is none.
    pub fn next_deadline(&self) -> Option<Instant> {
        let first = self.deadlines.iter().fold(Instant::FAR, |first, at| first.min(*at));
        (first != Instant::FAR).then_some(first)
    }

    /// Handles all events that are due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        for cell in 0..self.cells.len() {
            // Each cell has a deadline of its own: a call for one leaves the others alone.
            if self.deadlines[cell] <= now {
                self.cells[cell].handle_timeout(now);
                self.touched(cell);
            }
        }
    }

    /// The next output of a cell.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        while let Some(cell) = self.ready.front() {
            if let Some(output) = self.cells[*cell].poll_output() {
                return Some(output);
            }
            self.ready.pop_front();
        }
        None
    }

    /// Shows every event of every cell to `observer` from now on.
    pub fn observe(&mut self, observer: Observer<P>)
    where
        P: 'static,
    {
        let shared = Arc::new(Mutex::new(observer));
        self.cells.iter_mut().for_each(|cell| cell.observe(one_of(&shared)));
    }

    /// Shows `observer` the decisions of every cell to mark or drop, as [`Cell::observe_signals`] does.
    pub fn observe_signals(&mut self, observer: Observer<P>)
    where
        P: 'static,
    {
        let shared = Arc::new(Mutex::new(observer));
        self.cells.iter_mut().for_each(|cell| cell.observe_signals(one_of(&shared)));
    }

    /// Moves the UE to another cell of the same kind, which its cell then represents.
    pub fn hand_over(&mut self, now: Instant, id: UeId) {
        let Some(cell) = self.serving(id) else { return };
        self.cells[cell].hand_over(now, id);
        self.touched(cell);
    }

    /// Removes a UE that moves to another cell of the network.
    pub fn take_ue(&mut self, now: Instant, id: UeId) -> Option<Leaving<P>> {
        let cell = self.serving(id)?;
        let leaving = self.cells[cell].take_ue(now, id);
        self.set_serving(id.0 as usize, None);
        self.touched(cell);
        leaving
    }

    /// Places a UE that left another cell in the target of its handover.
    pub fn place_ue(&mut self, now: Instant, to: &Handover, leaving: Leaving<P>, execution: &HandoverExecution) {
        let cell = to.target - self.first;
        self.cells[cell].place_ue(now, to.ue, leaving, execution);
        self.set_serving(to.ue.0 as usize, Some(cell));
        self.touched(cell);
    }

    /// Sets the means of a UE's fading from now on.
    pub fn set_means(&mut self, id: UeId, means: Means) {
        let Some(cell) = self.serving(id) else { return };
        self.cells[cell].set_means(id, means);
    }

    /// State of a UE, and its counters over all its cells; `None` if there is no such UE.
    pub fn ue(&self, now: Instant, id: UeId) -> Option<UeStats> {
        self.cells[self.serving(id)?].ue(now, id)
    }

    /// Counters of a UE's bearers over all its cells, the default one first; none if there is no such UE.
    pub fn bearers(&self, id: UeId) -> impl Iterator<Item = DrbStats> + '_ {
        self.serving(id).into_iter().flat_map(move |cell| self.cells[cell].bearers(id))
    }

    /// The bearer that carries a flow from its UE: the DRB identity, from 1; `None` if there is no such UE.
    pub fn carries_up(&self, id: UeId, flow: FlowId) -> Option<u8> {
        self.cells[self.serving(id)?].carries_up(id, flow)
    }

    /// The number of a UE's cell; `None` for a UE of other cells.
    pub fn cell_of(&self, id: UeId) -> Option<usize> {
        Some(self.first + self.serving(id)?)
    }

    /// Numbers of the cells.
    pub fn numbers(&self) -> Range<usize> {
        self.first..self.first + self.cells.len()
    }

    /// Counters of each cell.
    pub fn stats(&self) -> impl Iterator<Item = CellStats> + '_ {
        self.cells.iter().map(Cell::stats)
    }

    /// Resource blocks x symbols in the downlink slots of one cell between two instants.
    pub fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.cells.first().map_or(0, |cell| cell.resources_between(from, to))
    }

    /// Resource blocks x symbols in the uplink slots of one cell between two instants.
    pub fn uplink_resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.cells.first().map_or(0, |cell| cell.uplink_resources_between(from, to))
    }

    /// Packets inside the cells.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.cells.iter().flat_map(Cell::packets)
    }

    #[inline]
    fn serving(&self, id: UeId) -> Option<usize> {
        self.serving.get(id.0 as usize).copied().flatten()
    }

    fn set_serving(&mut self, ue: usize, cell: Option<usize>) {
        if self.serving.len() <= ue {
            self.serving.resize(ue + 1, None);
        }
        self.serving[ue] = cell;
    }

    fn touched(&mut self, cell: usize) {
        let touched = &self.cells[cell];
        self.deadlines[cell] = touched.next_deadline().unwrap_or(Instant::FAR);
        // The last in the list gives all that it has when its turn comes: once is enough.
        if touched.has_output() && self.ready.back() != Some(&cell) {
            self.ready.push_back(cell);
        }
    }
}

/// Observer that hands on to one that several cells share.
fn one_of<P: 'static>(shared: &Arc<Mutex<Observer<P>>>) -> Observer<P> {
    let shared = Arc::clone(shared);
    Box::new(move |now, bearer, event| {
        if let Ok(mut observer) = shared.lock() {
            observer(now, bearer, event);
        }
    })
}
