//! Senders from outside, in one program: linking costs more than most of the tests.

mod dumbbell;
mod laws;
mod link;

mod applications;
mod bbr;
mod buffers;
mod classic_aqm;
mod conformance;
mod declared;
mod fairness;
mod feedback;
mod gcc;
mod hint;
mod hostile;
mod media;
mod recommendation;
mod scream_2021;
mod steady_state;
mod storm;
mod transfer;
mod udp_prague;
