//! All integration tests in one program, because linking takes longer than most of the tests.

mod etherparse;
mod faults;
mod fronts;
mod limits;
