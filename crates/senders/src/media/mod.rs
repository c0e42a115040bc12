//! Real-time media: encoder, RTP, reports, and the controllers that answer with a rate.

mod assembly;

pub(crate) use assembly::Assembly;
