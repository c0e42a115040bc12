//! Many cells: sites on a grid, UEs that attach to the cell they receive best, and change it when they move.
//!
//! A [`Network`] is driven as a [`Cell`] is, and is one for many. Each cell sends to its own UEs as if it were alone; what it
//! sends is interference to the UEs of all others. Once in a measurement period the network looks where UEs are, what they
//! receive of each cell, and how much of its resources each cell used since it last looked: a UE's SINR is the
//! power of its own cell over noise and the others' power times their use. Interference has no fading of its own, and an idle cell
//! sends nothing (NR has no common reference signals). What UEs send loses as much on its way as what they receive, and fades
//! with it; it does not interfere.
//!
//! A network of one cell without a position adds nothing.

mod config;
mod radio;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use tidemark_core::{ConfigError, FlowId, Inspect, Instant, Packet};
use tidemark_wire::mac::Direction;

use crate::cell::Cell;
use crate::config::{CellConfig, UeConfig};
use crate::event::Observer;
use crate::index::{DrbIndex, UeDrbs};
use crate::output::{CellStats, DrbStats, Output, UeId, UeStats};
pub use config::{HandoverConfig, NetworkConfig};
use radio::Radio;
pub use radio::UeRadio;
use tidemark_radio::channel::ChannelConfig;
pub use tidemark_radio::deployment::{DeployedConfig, Environment, Mobility, Point};

/// Cells and their UEs.
pub struct Network<P> {
    cells: Vec<Cell<P>>,
    /// Next deadline of each cell.
    deadlines: Vec<Instant>,
    /// Cells that may have something to say.
    ready: VecDeque<u32>,
    /// The cell of each UE.
    serving: Vec<u32>,
    /// Bearers of all UEs.
    next_drb: DrbIndex,
    /// Radio between cells and UEs; `None` where there is one cell without a position.
    radio: Option<Radio>,
    seed: u64,
}

impl<P: Inspect> Network<P> {
    /// One cell, whose UEs have channels of their own; or a grid of cells of one kind.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub fn new(cell: &CellConfig, network: Option<&NetworkConfig>, seed: u64) -> Result<Self, ConfigError> {
        let radio = network.map(|config| Radio::new(config, cell)).transpose()?;
        let count = network.map_or(1, NetworkConfig::cells);
        let cells: Vec<_> = (0..count).map(|_| Cell::new(cell, seed)).collect::<Result<_, _>>()?;
        Ok(Self {
            deadlines: vec![Instant::FAR; count],
            ready: VecDeque::new(),
            cells,
            serving: Vec::new(),
            next_drb: DrbIndex(0),
            radio,
            seed,
        })
    }

    /// Admits a UE: to the cell that it receives best.
    ///
    /// # Errors
    /// The first field that cannot be used; `channel.model` where a UE has a position without a network, or the reverse.
    pub fn add_ue(&mut self, config: &UeConfig) -> Result<UeId, ConfigError> {
        config.validate()?;
        let id = UeId(self.serving.len() as u32);
        let mut config = config.clone();
        let mut cell = 0;
        // Among cells a UE's position says which is its own.
        if let Some(radio) = &mut self.radio {
            let ChannelConfig::Deployed(deployed) = &mut config.channel else {
                return Err(ConfigError::new("channel.model", "in a network of cells it is `deployed`"));
            };
            (deployed.carrier_ghz, deployed.antennas) = (Some(radio.carrier_ghz()), radio.antennas());
            cell = radio.add_ue(deployed, self.seed);
        }
        self.cells[cell].add_ue_as(id, self.next_drb, &config)?;
        self.next_drb = UeDrbs::new(self.next_drb, config.bearers().count()).end();
        self.serving.push(cell as u32);
        // Its channel begins with the means of where it stands, not with the first measurement.
        if let Some(radio) = &self.radio {
            self.cells[cell].set_means(id, radio.means(id, cell));
        }
        Ok(id)
    }

    /// Puts a flow of a UE into the QoS flow with this QFI, whatever the packet filters say.
    ///
    /// # Errors
    /// There is no such QoS flow.
    pub fn name_qos_flow(&mut self, id: UeId, flow: FlowId, qfi: u8) -> Result<(), ConfigError> {
        let Some(cell) = self.cell_of(id) else { return Ok(()) };
        self.cells[cell].name_qos_flow(id, flow, qfi)
    }

    /// The logical channel that carries a flow to its UE, or from it; `None` if there is no such UE.
    pub fn logical_channel(&self, id: UeId, flow: FlowId, direction: Direction) -> Option<u8> {
        self.cells[self.cell_of(id)?].logical_channel(id, flow, direction)
    }

    /// The UE asks for a bit rate recommendation with a MAC control element; false if it may not.
    pub fn query_bit_rate(&mut self, now: Instant, id: UeId, octets: [u8; 2]) -> bool {
        let Some(cell) = self.cell_of(id) else { return false };
        let sent = self.cells[cell].query_bit_rate(now, id, octets);
        self.touched(cell);
        sent
    }

    /// A downlink packet reaches the CU of the UE's cell.
    pub fn handle_downlink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(cell) = self.cell_of(id) else { return };
        self.cells[cell].handle_downlink(now, id, packet);
        self.touched(cell);
    }

    /// The IP stack of a UE hands over a packet.
    pub fn handle_uplink(&mut self, now: Instant, id: UeId, packet: Packet<P>) {
        let Some(cell) = self.cell_of(id) else { return };
        self.cells[cell].handle_uplink(now, id, packet);
        self.touched(cell);
    }

    /// Gives the next deadline, if nothing comes in.
    pub fn next_deadline(&self) -> Option<Instant> {
        let measurement = self.radio.as_ref().map_or(Instant::FAR, Radio::next_measurement);
        let first = self.deadlines.iter().fold(measurement, |first, at| first.min(*at));
        (first != Instant::FAR).then_some(first)
    }

    /// Does what is due at `now`.
    pub fn handle_timeout(&mut self, now: Instant) {
        for cell in 0..self.cells.len() {
            // Each cell has a deadline of its own: a call for one leaves the others alone.
            if self.deadlines[cell] <= now {
                self.cells[cell].handle_timeout(now);
                self.touched(cell);
            }
        }
        // Measurements are due at the same times for all cells.
        if self.radio.as_ref().is_some_and(|radio| radio.next_measurement() <= now) {
            self.measure(now);
        }
    }

    /// The next thing that left a cell.
    pub fn poll_output(&mut self) -> Option<Output<P>> {
        while let Some(cell) = self.ready.front() {
            if let Some(output) = self.cells[*cell as usize].poll_output() {
                return Some(output);
            }
            self.ready.pop_front();
        }
        None
    }

    /// Shows `observer` from now on every event of every cell.
    pub fn observe(&mut self, observer: Observer<P>)
    where
        P: 'static,
    {
        let shared = Arc::new(Mutex::new(observer));
        self.cells.iter_mut().for_each(|cell| cell.observe(one_of(&shared)));
    }

    /// Shows `observer` from now on each mark of every cell, as [`Cell::observe_signals`] does.
    pub fn observe_signals(&mut self, observer: Observer<P>)
    where
        P: 'static,
    {
        let shared = Arc::new(Mutex::new(observer));
        self.cells.iter_mut().for_each(|cell| cell.observe_signals(one_of(&shared)));
    }

    /// The UE moves to another cell of the same kind, which need not be one of the network's.
    pub fn hand_over(&mut self, now: Instant, id: UeId) {
        let Some(cell) = self.cell_of(id) else { return };
        self.cells[cell].hand_over(now, id);
        self.touched(cell);
    }

    /// State and counters of a UE, over all cells that it was in; `None` if there is no such UE.
    pub fn ue(&self, now: Instant, id: UeId) -> Option<UeStats> {
        self.cells[self.cell_of(id)?].ue(now, id)
    }

    /// Counters of a UE's bearers, the default one first, over all cells that it was in; none if there is no such UE.
    pub fn bearers(&self, id: UeId) -> impl Iterator<Item = DrbStats> + '_ {
        self.cell_of(id).into_iter().flat_map(move |cell| self.cells[cell].bearers(id))
    }

    /// The bearer that carries a flow from its UE: the DRB identity, from 1; `None` if there is no such UE.
    pub fn carries_up(&self, id: UeId, flow: FlowId) -> Option<u8> {
        self.cells[self.cell_of(id)?].carries_up(id, flow)
    }

    /// The cell of a UE, from 0.
    pub fn cell_of(&self, id: UeId) -> Option<usize> {
        self.serving.get(id.0 as usize).map(|cell| *cell as usize)
    }

    /// Counters of each cell.
    pub fn cells(&self) -> impl Iterator<Item = CellStats> + '_ {
        self.cells.iter().map(Cell::stats)
    }

    /// Gives a UE's position and what it receives; `None` where cells have no positions.
    pub fn radio(&self, id: UeId) -> Option<UeRadio> {
        self.radio.as_ref()?.ue(id, self.cell_of(id)?)
    }

    /// Resource blocks x symbols that the downlink slots of one cell have between two instants.
    pub fn resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.cells.first().map_or(0, |cell| cell.resources_between(from, to))
    }

    /// Counts the resource blocks x symbols of one cell's uplink slots between two instants.
    pub fn uplink_resources_between(&self, from: Instant, to: Instant) -> u64 {
        self.cells.first().map_or(0, |cell| cell.uplink_resources_between(from, to))
    }

    /// Packets inside the cells.
    pub fn packets(&self) -> impl Iterator<Item = &Packet<P>> {
        self.cells.iter().flat_map(Cell::packets)
    }

    fn touched(&mut self, cell: usize) {
        let touched = &self.cells[cell];
        self.deadlines[cell] = touched.next_deadline().unwrap_or(Instant::FAR);
        // The last in the list gives all that it has when its turn comes: once is enough.
        if touched.has_output() && self.ready.back() != Some(&(cell as u32)) {
            self.ready.push_back(cell as u32);
        }
    }

    /// Looks at positions, powers and loads; moves the UEs whose time has come.
    fn measure(&mut self, now: Instant) {
        // A single cell has nobody to hand over to.
        let Some(radio) = &mut self.radio else { return };
        radio.measure(now, self.cells.iter().map(Cell::stats), |from| self.cells[0].resources_between(from, now));
        for (index, serving) in self.serving.iter_mut().enumerate() {
            let id = UeId(index as u32);
            let source = *serving as usize;
            // It stays, and only its channel has moved.
            let Some(target) = radio.update_ue(now, id, source) else {
                self.cells[source].set_means(id, radio.means(id, source));
                continue;
            };
            // The cell does not know the UE: there is nothing to move.
            let Some(leaving) = self.cells[source].take_ue(now, id) else { continue };
            self.cells[target].place_ue(now, id, leaving, &radio.handover().execution());
            *serving = target as u32;
            self.cells[target].set_means(id, radio.means(id, target));
            for cell in [source, target] {
                self.deadlines[cell] = self.cells[cell].next_deadline().unwrap_or(Instant::FAR);
                // The handover itself may deliver and drop.
                if self.cells[cell].has_output() {
                    self.ready.push_back(cell as u32);
                }
            }
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
