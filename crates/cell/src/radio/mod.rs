//! The air interface: numerology, transport blocks, link adaptation and HARQ.

pub mod bler;
pub(crate) mod blocks;
pub mod carrier;
mod constellation;
pub(crate) mod link;
pub mod mcs;
mod room;
pub mod segmentation;
pub(crate) mod slots;
pub(crate) mod tbs;
