//! The cell in real time: `tidemark shell`, `test`, `n3`, `cu`, `du`, `hop` and `ctl`.

mod admission;
mod buckets;
pub(crate) mod control;
mod controls;
pub(crate) mod cu;
mod exposition;
mod flows;
mod history;
pub(crate) mod hop;
mod lab;
mod modem;
mod past;
mod pcap;
mod preset;
mod price;
pub(crate) mod probe;
mod record;
mod round_trip;
mod session;
pub(crate) mod shell;
mod snapshot;
pub(crate) mod stream;
mod traffic;
pub(crate) mod trial;
mod trips;
pub(crate) mod tunnels;
mod verdict;
mod view;
mod warning;
mod watch;
mod web;

pub(crate) use modem::NAME as MODEM;
