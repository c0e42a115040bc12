//! RLC (TS 38.322): the queue at the DU, segmentation into transport blocks, reassembly and order at the UE.
//!
//! One object stands for both ends of a bearer, since the simulator sees both: what is sent stays in the window until
//! it has arrived in order or is given up.

mod bearer;
mod poll;
mod ranges;
mod reassembly;
mod status;
mod window;

pub(crate) use bearer::Bearer;
pub(crate) use status::Status;
pub(crate) use window::Released;

/// Bytes of headers below IP.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Overhead {
    /// PDCP header of each SDU.
    pub(crate) sdu: u32,
    /// RLC header and MAC subheader of each segment.
    pub(crate) segment: u32,
    /// What a segment that is not the first of its SDU has in addition: the segment offset.
    pub(crate) offset: u32,
}

impl Overhead {
    /// No headers: a rate channel says what reaches the IP layer.
    pub(crate) const NONE: Self = Self { sdu: 0, segment: 0, offset: 0 };

    /// Headers of a bearer with this PDCP header: an RLC header with 18-bit SN (3 bytes) and a MAC subheader with a
    /// 16-bit length (3 bytes).
    pub(crate) fn with_pdcp_header(sdu: u32) -> Self {
        Self { sdu, segment: 3 + 3, offset: 2 }
    }
}

/// A part of an SDU inside a transport block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Segment {
    /// Number of the SDU, counted from the bearer's beginning.
    pub(crate) sdu: u64,
    /// Where in the SDU it begins.
    pub(crate) offset: u32,
    /// Bytes of it.
    pub(crate) bytes: u32,
    /// AM: the sender asks for a status report.
    pub(crate) poll: bool,
}
