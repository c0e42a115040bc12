//! Copy of the peer's AccECN counters, by the end that sends.

use tidemark_core::Bytes;
use tidemark_core::packet::AccEcnCounters;

use super::{Counters, INITIAL, Marks};

/// Segments after which silence about ECN means something.
const ENOUGH_TO_TELL: u64 = 64;

/// A sender's copy of its peer's counters (RFC 9768 3.2.2.5 and appendix A).
#[derive(Clone, Debug)]
pub(in crate::tcp) struct Decoder {
    counters: Counters,
    mss: u64,
    /// Moving average of segments acknowledged at once: where acknowledgements are thinned, the safe guess
    /// about a wrapped ACE field would be wrong more often than right.
    acked_at_once: f64,
    /// Segments acknowledged, and whether any feedback ever reported an ECN codepoint on them.
    acked: u64,
    reported: bool,
}

impl Decoder {
    pub(in crate::tcp) fn new(mss: Bytes) -> Self {
        Self { counters: INITIAL, mss: mss.0, acked_at_once: 2.0, acked: 0, reported: false }
    }

    /// The third segment of the handshake, seen by the server. False if it forbids to send ECT (RFC 9768 3.2.2.1, table 4).
    pub(in crate::tcp) fn handshake(&mut self, ace: u8) -> bool {
        // The client received the SYN/ACK with CE, and begins its counter one higher (RFC 9768 table 4).
        if ace == 0b110 {
            self.counters.cep = 6;
        }
        ace != 0
    }

    /// An acknowledgement that is newer than all before and newly acknowledges `acked` segments.
    pub(in crate::tcp) fn decode(&mut self, ace: u8, option: Option<&AccEcnCounters>, acked: u32) -> Marks {
        let min = (u64::from(ace) + 8 - self.counters.cep % 8) % 8;
        let bytes = option.and_then(|option| option.ceb).map(|field| {
            let delta = (u64::from(field) + (1 << 24) - self.counters.ceb % (1 << 24)) % (1 << 24);
            self.counters.ceb += delta;
            delta
        });
        self.acked += u64::from(acked);
        self.reported |= min > 0 || option.is_some();
        // Only acknowledgements of data show how they are thinned.
        if acked > 0 {
            self.acked_at_once += (f64::from(acked) - self.acked_at_once) / 8.0;
        }
        let packets = self.safer(min, u64::from(acked), bytes);
        self.counters.cep += packets;
        Marks { packets: packets as u32, bytes: Bytes(bytes.unwrap_or(packets * self.mss)) }
    }

    /// The receiver sends an option as soon as it has received ECT or CE (RFC 9768 3.2.3.3). If after this many
    /// segments it never did, something on the path clears the field.
    pub(in crate::tcp) fn is_bleached(&self) -> bool {
        !self.reported && self.acked >= ENOUGH_TO_TELL
    }

    /// The ACE field has 3 bits: with eight or more segments acknowledged it may have wrapped.
    fn safer(&self, min: u64, acked: u64, bytes: Option<u64>) -> u64 {
        // Fewer segments than marks: the field cannot have wrapped.
        if acked <= min {
            return min;
        }
        let max = acked - (acked - min) % 8;
        match bytes {
            // More bytes than so few full segments have: it wrapped.
            Some(bytes) if bytes > min * self.mss => max,
            // Too few bytes for the most, even in segments of half the size.
            Some(bytes) if 2 * bytes < max * self.mss => min,
            Some(_) => max,
            // Thinned acknowledgements often cover eight segments: the most would nearly always be too many.
            None if self.acked_at_once > 4.0 => min,
            None => max,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u32 = 1448;

    fn ceb(value: u32) -> Option<AccEcnCounters> {
        Some(AccEcnCounters { e0b: None, ceb: Some(value), e1b: Some(1) })
    }

    #[test]
    fn the_wrap_of_the_ace_field_is_resolved_as_in_appendix_a() {
        // RFC 9768 A.2.1: with 9 segments acknowledged an increase by 2 means 2, with 10 it may mean 10.
        let decode = |acked| Decoder::new(Bytes(u64::from(MSS))).decode(7, None, acked).packets;
        assert_eq!(decode(9), 2);
        assert_eq!(decode(10), 10);
        // The option tells which of the two it was.
        let with_option = |bytes| Decoder::new(Bytes(u64::from(MSS))).decode(7, ceb(bytes).as_ref(), 10).packets;
        assert_eq!(with_option(2 * MSS), 2);
        assert_eq!(with_option(10 * MSS), 10);
    }

    #[test]
    fn a_byte_counter_wraps_at_24_bits() {
        // The example of RFC 9768 A.1: s.ceb 33,554,433, a field of 1461 is an increase by 1460.
        let mut decoder = Decoder::new(Bytes(1460));
        decoder.counters.ceb = 33_554_433;
        assert_eq!(decoder.decode(6, ceb(1461).as_ref(), 1), Marks { packets: 1, bytes: Bytes(1460) });
        assert_eq!(decoder.counters.ceb, 33_555_893);
    }
}
