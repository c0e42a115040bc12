//! Many cells: sites on a grid, UEs that attach to the cell they receive best, and change it when they move.
//!
//! Each cell sends to its own UEs as if it were alone; what it sends is interference to the UEs of all others. Once in a
//! measurement period the [`Radio`] looks where UEs are, what they receive of each cell, and how much of its resources each cell
//! used since it last looked: a UE's SINR is the power of its own cell over noise and the others' power times their use.
//! Interference has no fading of its own, and an idle cell sends nothing (NR has no common reference signals). What UEs send loses
//! as much on its way as what they receive, and fades with it; it does not interfere.
//!
//! Between two measurements no cell feels another. [`Cells`] are therefore driven together or apart, and a driver hands UEs over
//! from one to another when the radio says so.

mod cells;
mod config;
mod radio;

pub use cells::Cells;
pub use config::{HandoverConfig, NetworkConfig};
pub use radio::{Handover, Radio, UeRadio};
pub use tidemark_radio::deployment::{DeployedConfig, Environment, Mobility, Point};
