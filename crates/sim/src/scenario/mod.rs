//! Scenarios.
pub mod diagnostic;
pub mod overrides;
