//! Multiplexing of a UE's bearers into one transport block of either direction: logical channel prioritisation (TS 38.321 5.4.3.1).

use crate::index::DrbIndex;
use crate::rlc::Segment;
use crate::room::MIN_BLOCK;
use crate::ue_stack::group::Group;

/// Content of a transport block.
#[derive(Debug, Default)]
pub(crate) struct Content {
    /// Segments, those of one bearer side by side.
    pub(crate) segments: Vec<Segment>,
    /// Bearers in the order of their segments.
    pub(crate) parts: Vec<Part>,
}

/// A bearer's part of a transport block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) drb: DrbIndex,
    /// Number of its segments.
    pub(crate) segments: usize,
    /// Their bytes with headers.
    pub(crate) bytes: u32,
    /// IP bytes that RLC sends in it for the first time.
    pub(crate) first_sent: u64,
}

impl Content {
    /// Adds the segments after the first `before`; true if there are any.
    pub(crate) fn add(&mut self, drb: DrbIndex, before: usize, bytes: u32, first_sent: u64) -> bool {
        let segments = self.segments.len() - before;
        if segments > 0 {
            self.parts.push(Part { drb, segments, bytes, first_sent });
        }
        segments > 0
    }
    /// Each bearer's part with its segments.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (&Part, &[Segment])> {
        let mut segments = &self.segments[..];
        self.parts.iter().map(move |part| {
            let (own, others) = segments.split_at(part.segments);
            segments = others;
            (part, own)
        })
    }
    /// Bytes of all parts with headers.
    pub(crate) fn bytes(&self) -> u32 {
        self.parts.iter().map(|part| part.bytes).sum()
    }
    /// Empties the lists, which keep their room.
    pub(crate) fn clear(&mut self) {
        self.segments.clear();
        self.parts.clear();
    }
}

/// Bearers of a UE that can fill a block.
pub(crate) trait Channels {
    /// Bytes that a bearer has to send, with headers; none above its maximum rate.
    fn waiting(&mut self, drb: DrbIndex) -> u32;
    /// True while a bearer has not had its guaranteed rate.
    fn is_owed(&mut self, drb: DrbIndex) -> bool;
    /// Bytes of what waits that a bearer's prioritised bit rate covers.
    fn due(&mut self, drb: DrbIndex) -> u32;
    /// Puts at most this many bytes of a bearer into the block, headers included; gives how many.
    fn fill(&mut self, drb: DrbIndex, limit: u32) -> u32;
}

/// Fills the room of a block, and gives the room that is left. Guaranteed rates that are owed come first, then one priority level after
/// the other, with equal treatment within a level. Each level leaves room for the rates due to later levels.
pub(crate) fn prioritise(groups: &[Group], mut room: u32, channels: &mut impl Channels) -> u32 {
    // Most UEs have one bearer, which has the block for itself.
    if let [Group { drbs, .. }] = groups
        && let [drb] = drbs[..]
    {
        return room - channels.fill(drb, room);
    }
    for drb in groups.iter().flat_map(|group| &group.drbs) {
        // Guarantees of all groups come before the rest of any (TS 38.321 5.4.3.1.3).
        if channels.is_owed(*drb) && channels.waiting(*drb) > 0 {
            room -= channels.fill(*drb, room);
        }
    }
    let mut behind: u32 = groups.iter().map(|group| due(&group.drbs, channels)).sum();
    for Group { drbs, .. } in groups {
        behind -= due(drbs, channels);
        room = share(drbs, room, behind, channels);
    }
    room
}

fn due(drbs: &[DrbIndex], channels: &mut impl Channels) -> u32 {
    drbs.iter().map(|drb| channels.due(*drb)).sum()
}

/// Fills a block with bearers of one level, which leave `behind` to others; gives what is left of the room. Whoever has the least to send
/// goes first, so that what it leaves is shared by those that have more.
fn share(drbs: &[DrbIndex], mut room: u32, behind: u32, channels: &mut impl Channels) -> u32 {
    // A UE has fewer bearers than there are bits.
    let mut filled = 0u32;
    loop {
        let mut waiting = 0;
        let mut least: Option<(u32, usize)> = None;
        for (position, drb) in drbs.iter().enumerate().filter(|(position, _)| filled & 1 << position == 0) {
            let bytes = channels.waiting(*drb);
            waiting += u32::from(bytes > 0);
            // A bearer without data takes no share from the others.
            if bytes > 0 && least.is_none_or(|(least, _)| bytes < least) {
                least = Some((bytes, position));
            }
        }
        // Nobody of this level has anything left: the others have what remains.
        let Some((_, position)) = least else { return room };
        let drb = drbs[position];
        // Less carries nothing but headers.
        let own = (room.saturating_sub(behind) / waiting).max(MIN_BLOCK).max(channels.due(drb));
        room -= channels.fill(drb, own.min(room));
        filled |= 1 << position;
    }
}
