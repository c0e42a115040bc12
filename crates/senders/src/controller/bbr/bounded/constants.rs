//! Numbers by which versions 2 and 3 differ.

/// Sign that `PROBE_UP` has found the limit, if neither losses nor marks tell it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in super::super) enum UpEnd {
    /// A flight of 1.25 bandwidth-delay products after a minimum round trip: it must have built a queue.
    Flight,
    /// A bandwidth that grows no more.
    Plateau,
}

/// Constants of a version.
#[derive(Debug)]
pub(in super::super) struct Constants {
    pub(in super::super) startup_gain: f64,
    /// Gain of the window in `STARTUP` and `DRAIN`.
    pub(in super::super) startup_window_gain: f64,
    /// Segments lost in a round of `STARTUP` from which a share of losses counts.
    pub(in super::super) startup_losses: u32,
    /// True if what was delivered in the last round bounds the bound from below where losses or marks end `STARTUP`.
    pub(in super::super) keeps_delivered: bool,
    pub(in super::super) up_end: UpEnd,
    /// Aggregation is trusted up to this many seconds at the bandwidth.
    pub(in super::super) longest_aggregation: f64,
}
