//! The air interface: numerology, transport blocks, link adaptation and HARQ.

pub(crate) mod bler;
pub(crate) mod blocks;
pub mod carrier;
pub(crate) mod link;
pub mod mcs;
pub(crate) mod slots;
pub(crate) mod tbs;
