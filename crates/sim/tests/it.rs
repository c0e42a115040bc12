//! Runs of the simulator from outside, in one program: linking costs more than most of the tests.

mod common;
mod replay;

mod anbr;
mod faces;
mod gate;
mod golden;
mod marks;
mod network;
mod oracle;
mod overload;
mod physics;
mod qos;
mod reports;
mod routers;
mod schedulers;
mod tide;
mod traces;
mod uplink;
mod video;
