//! Round-trip time of a flow whose packets pass in both directions, from their headers. For most protocols each half of the path is
//! measured; their sum is the sender's round trip.

mod media;
mod median;
mod recent;
mod spin;
mod tcp;

use tidemark_core::{Duration, Instant};
use tidemark_wire::ip::Headers;
use tidemark_wire::{tcp as segment, udp};

use self::media::Media;
use self::median::Median;
use self::spin::Spin;
use self::tcp::Tcp;

/// Longest wait for an answer.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Direction of a packet that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Towards the UE.
    Down,
    /// From the UE.
    Up,
}

impl Way {
    /// Gives the half that a packet goes to and the half that it comes from, out of the UE's half and the other end's.
    fn halves<T>(self, [down, up]: &mut [T; 2]) -> (&mut T, &mut T) {
        match self {
            Self::Down => (down, up),
            Self::Up => (up, down),
        }
    }
}

/// Measures one flow.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrip {
    tcp: Tcp,
    spin: Spin,
    media: Media,
    median: Median,
}

impl RoundTrip {
    /// Looks at an IP packet with these headers that passes now, and gives a round trip that ends with it.
    pub(super) fn pass(&mut self, now: Instant, way: Way, headers: &Headers, bytes: &[u8]) -> Option<Duration> {
        let trip = self.measure(now, way, headers, bytes)?;
        self.median.add(now, trip);
        Some(trip)
    }

    /// Median of the recent round trips; `None` where there were none.
    pub(super) fn median(&self, now: Instant) -> Option<Duration> {
        self.median.at(now)
    }

    fn measure(&mut self, now: Instant, way: Way, headers: &Headers, bytes: &[u8]) -> Option<Duration> {
        let transport = bytes.get(headers.transport.clone()?)?;
        match headers.five_tuple.protocol {
            segment::PROTOCOL => self.tcp.pass(now, way, &segment::Packet::new_checked(transport).ok()?),
            udp::PROTOCOL => {
                let packet = udp::Packet::new_checked(transport).ok()?;
                let spun = if way == Way::Down { self.spin.pass(now, packet.payload()) } else { None };
                spun.or_else(|| self.media.pass(now, way, packet.payload()))
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tidemark_core::TcpFlags;
    use tidemark_wire::ipv4;
    use tidemark_wire::tcp::TcpOption;

    use super::*;

    const SERVER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
    const UE: Ipv4Addr = Ipv4Addr::new(10, 45, 0, 2);

    fn at(ms: u64) -> Instant {
        Instant::from_millis(ms)
    }

    fn pass(trip: &mut RoundTrip, now: Instant, way: Way, bytes: &[u8]) -> Option<Duration> {
        trip.pass(now, way, &Headers::parse(bytes).unwrap(), bytes)
    }

    fn ip(way: Way, protocol: u8, transport: &[u8]) -> Vec<u8> {
        let (source, destination) = if way == Way::Down { (SERVER, UE) } else { (UE, SERVER) };
        let total = 20 + transport.len() as u16;
        let mut bytes = vec![0x45, 0, 0, 0, 0, 0, 0x40, 0, 64, protocol, 0, 0];
        bytes[2..4].copy_from_slice(&total.to_be_bytes());
        bytes.extend(source.octets());
        bytes.extend(destination.octets());
        bytes.extend(transport);
        assert!(ipv4::Packet::new_checked(&bytes).is_ok());
        bytes
    }

    fn stretch(way: Way, seq: u32, ack: u32, len: usize, options: &[TcpOption<'_>]) -> Vec<u8> {
        let (source_port, destination_port) = if way == Way::Down { (443, 5000) } else { (5000, 443) };
        let flags = TcpFlags { ack: true, ..TcpFlags::default() };
        let repr = segment::Repr {
            source_port,
            destination_port,
            seq,
            ack,
            flags,
            push: false,
            urgent: None,
            window: 1000,
            options,
        };
        let mut transport = vec![0; 80];
        let header = repr.emit(&mut transport).unwrap();
        transport.truncate(header);
        transport.resize(header + len, 0);
        ip(way, segment::PROTOCOL, &transport)
    }

    fn stamped(way: Way, value: u32, echo: u32, len: usize) -> Vec<u8> {
        stretch(way, value * 10_000, 1, len, &[TcpOption::Timestamps { value, echo }])
    }

    #[test]
    fn timestamps_give_both_halves_of_a_download_together() {
        let mut trip = RoundTrip::default();
        // The UE answers after 30 ms, the server after 20.
        assert_eq!(pass(&mut trip, at(0), Way::Down, &stamped(Way::Down, 100, 7, 1000)), None);
        assert_eq!(pass(&mut trip, at(1), Way::Down, &stamped(Way::Down, 100, 7, 1000)), None);
        assert_eq!(
            pass(&mut trip, at(30), Way::Up, &stamped(Way::Up, 8, 100, 0)),
            None,
            "the other half is not known yet"
        );
        assert_eq!(pass(&mut trip, at(50), Way::Down, &stamped(Way::Down, 150, 8, 1000)), None);
        let sample = pass(&mut trip, at(85), Way::Up, &stamped(Way::Up, 9, 150, 0));
        assert_eq!(sample, Some(Duration::from_millis(35 + 20)));
        // The server pauses for a second: its late echo does not lengthen the round trip.
        assert_eq!(pass(&mut trip, at(1085), Way::Down, &stamped(Way::Down, 1100, 9, 1000)), None);
        let sample = pass(&mut trip, at(1115), Way::Up, &stamped(Way::Up, 10, 1100, 0));
        assert_eq!(sample, Some(Duration::from_millis(30 + 20)));
    }

    #[test]
    fn an_echo_of_a_later_packet_is_no_answer() {
        let mut trip = RoundTrip::default();
        pass(&mut trip, at(0), Way::Up, &stamped(Way::Up, 7, 1, 10));
        pass(&mut trip, at(5), Way::Down, &stamped(Way::Down, 100, 7, 1000));
        assert_eq!(pass(&mut trip, at(900), Way::Up, &stamped(Way::Up, 8, 101, 0)), None);
    }

    #[test]
    fn sequence_numbers_tell_where_there_are_no_timestamps() {
        let mut trip = RoundTrip::default();
        pass(&mut trip, at(0), Way::Up, &stretch(Way::Up, 1, 1, 100, &[]));
        pass(&mut trip, at(20), Way::Down, &stretch(Way::Down, 1, 101, 1000, &[]));
        let sample = pass(&mut trip, at(50), Way::Up, &stretch(Way::Up, 101, 1001, 0, &[]));
        assert_eq!(sample, Some(Duration::from_millis(30 + 20)));
        // A segment that is sent twice gives none.
        pass(&mut trip, at(60), Way::Down, &stretch(Way::Down, 1001, 101, 1000, &[]));
        pass(&mut trip, at(90), Way::Down, &stretch(Way::Down, 1001, 101, 1000, &[]));
        assert_eq!(pass(&mut trip, at(95), Way::Up, &stretch(Way::Up, 101, 2001, 0, &[])), None);
    }

    fn datagram(way: Way, payload: &[u8]) -> Vec<u8> {
        let mut transport = vec![0x01, 0xBB, 0x13, 0x88, 0, 8 + payload.len() as u8, 0, 0];
        transport.extend(payload);
        ip(way, udp::PROTOCOL, &transport)
    }

    /// Samples of packets 1 ms apart with these spin bits.
    fn spun(first: &[u8], bits: impl Iterator<Item = bool>) -> Vec<u64> {
        let mut trip = RoundTrip::default();
        pass(&mut trip, at(0), Way::Down, &datagram(Way::Down, first));
        let samples = (1..).zip(bits).filter_map(|(ms, bit)| {
            pass(&mut trip, at(ms), Way::Down, &datagram(Way::Down, &[if bit { 0x60 } else { 0x40 }, 1, 2]))
        });
        samples.map(|sample| sample.as_millis_f64() as u64).collect()
    }

    #[test]
    fn edges_of_the_spin_bit_are_a_round_trip_apart() {
        let initial = [0xC3, 0, 0, 0, 1, 8];
        assert_eq!(spun(&initial, (0..100).map(|ms| ms / 25 % 2 == 1)), [25, 25]);
        assert_eq!(spun(&[0x80, 0x60], (0..100).map(|ms| ms / 25 % 2 == 1)), Vec::<u64>::new(), "no QUIC");
        assert_eq!(spun(&initial, (0..100).map(|_| true)), Vec::<u64>::new(), "an end that does not spin");
        assert_eq!(
            spun(&initial, (0..1000).map(|ms| ms * 7919 / 13 % 2 == 1)),
            Vec::<u64>::new(),
            "a bit that is drawn"
        );
    }
}
