//! The cell in real time: `tidemark shell`, `tidemark live`, `n3`, `cu`, `du`, `hop` and `ctl`.

mod connections;
pub mod control;
pub mod cu;
mod exposition;
mod flows;
mod history;
pub mod hop;
pub mod lab;
mod modem;
mod pcap;
mod preset;
pub mod probe;
mod record;
mod session;
pub mod shell;
mod snapshot;
pub mod tunnels;
mod view;
mod warning;
mod watch;
mod web;

pub use modem::NAME as MODEM;
