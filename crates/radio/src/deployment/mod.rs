//! Deployment of a network: sites on a grid, and the power that a UE receives from each of them at its position.

mod antenna;
mod config;
mod layout;
mod mobility;
mod plan;
mod propagation;
mod reception;

pub use config::DeployedConfig;
pub use layout::{Point, SITES};
pub use mobility::Mobility;
pub use plan::{Grid, Plan};
pub use propagation::Environment;
pub use reception::Reception;
