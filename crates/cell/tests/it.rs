//! All integration tests in one program, because linking takes longer than most of the tests.

mod identical;
mod saturated;
mod sent;

mod bearers;
mod capacity;
mod control;
mod fairness;
mod layers;
mod lead;
mod network;
mod proportional_fair;
mod qos;
mod receiver;
mod sharing;
mod split_du;
mod uplink;
