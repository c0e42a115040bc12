//! Many cells: sites on a grid, and UEs that attach to the best cell and change it when they move.
//!
//! Each cell sends to its own UEs as if it were alone. Its transmissions interfere with the UEs of all other cells. Once in a
//! measurement period the [`Radio`] reads the positions of UEs, the power that they receive from each cell, and the load of each cell
//! since the last measurement. A UE's SINR is the power of its own cell over noise plus the power of the others times their load.
//! Interference does not fade by itself, and an idle cell sends nothing (NR has no common reference signals). The uplink has the same
//! path loss and fading as the downlink, and no interference.
//!
//! Between two measurements cells do not affect each other. [`Cells`] can therefore be driven together or separately. The driver
//! hands UEs over between them when the radio decides so.

mod cells;
mod config;
mod radio;

pub use cells::Cells;
pub use config::{HandoverConfig, NetworkConfig};
pub use radio::{Handover, Radio, UeRadio};
pub use tidemark_radio::deployment::{DeployedConfig, Environment, Mobility, Point};
