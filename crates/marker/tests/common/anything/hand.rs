//! Packets given to a call whole, or as a front of them, and what it may change.

use allocation_counter::measure;
use tidemark_core::Ecn;
use tidemark_marker::Verdict;

use super::reading;

/// Part of a packet that the marker gets.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Hand {
    Whole,
    /// A buffer that ends somewhere behind the headers.
    Front,
}

impl Hand {
    /// Gives a packet to a call: whole, or as a front, after one that ends within the headers, which has to be refused where the packet
    /// would be looked at. Returns the verdict, the packet afterwards, and how many fronts were refused.
    pub fn over(
        self,
        before: &[u8],
        is_looked_at: bool,
        mut call: impl FnMut(&mut [u8], usize) -> Verdict,
    ) -> (Verdict, Vec<u8>, u64) {
        let mut give = |present: usize| {
            // A buffer of its own, in which nothing lies behind the front.
            let (mut front, mut verdict) = (before[..present].to_vec(), Verdict::Pass);
            assert_eq!(measure(|| verdict = call(&mut front, before.len())).count_total, 0);
            (verdict, [&front, &before[present..]].concat())
        };
        let headers = reading::read(before).and_then(|layout| reading::headers_end(before, &layout));
        let (Hand::Front, Some(headers)) = (self, headers) else {
            let (verdict, after) = give(before.len());
            return (verdict, after, 0);
        };
        // Any number will do that is the same each time.
        let any = before.iter().fold(0usize, |any, byte| any.wrapping_mul(31) + usize::from(*byte));
        if is_looked_at {
            assert!(
                give(any % headers) == (Verdict::Pass, before.to_vec()),
                "a front without its headers stays as it is"
            );
        }
        let (verdict, after) = give(headers + any % (before.len() - headers + 1));
        (verdict, after, is_looked_at.into())
    }
}

/// An ECT packet became CE, and nothing else of it changed but the IPv4 header's checksum, which stayed right.
pub fn marking_changed_only_the_mark(before: &[u8], after: &[u8], layout: &reading::Layout) {
    assert!(matches!(layout.ecn, Ecn::Ect0 | Ecn::Ect1), "{:?} was marked", layout.ecn);
    let marked = reading::read(after).expect("a marked packet is a packet");
    assert_eq!(marked, reading::Layout { ecn: Ecn::Ce, ..*layout });
    for (at, (old, new)) in before.iter().zip(after).enumerate() {
        let may_change = match (at, layout.v4) {
            (1, true) => 0b11,
            (1, false) => 0b11_0000,
            (10 | 11, true) => 0xFF,
            _ => 0,
        };
        assert_eq!((old ^ new) & !may_change, 0, "byte {at} became {new:#x} from {old:#x}");
    }
    assert_eq!(reading::header_is_valid(before, layout), reading::header_is_valid(after, layout));
    assert_eq!(reading::transport_is_valid(before, layout), reading::transport_is_valid(after, layout));
}
