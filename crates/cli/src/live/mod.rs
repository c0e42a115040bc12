//! The cell in real time: `tidemark shell`, `tidemark live` and `tidemark ctl`.

pub mod control;
pub mod lab;
mod pcap;
mod preset;
pub mod probe;
mod record;
mod series;
mod session;
pub mod shell;
mod snapshot;
mod view;
mod watch;
mod web;
