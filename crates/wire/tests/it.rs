//! Readers and writers from outside, in one program: linking costs more than most of the tests.

mod etherparse;
mod faults;
mod fronts;
mod limits;
mod rtcp;
