//! Round-trip time of a flow whose packets pass in both directions, from what their headers show.
//!
//! - **TCP**: the time from a packet to the one that echoes its timestamp (RFC 7323 3) is the half of the round trip behind one end. The
//!   other half is measured alike, and both together are what the sender sees. Without timestamps acknowledgements tell.
//! - **QUIC**: the time between two edges of the spin bit is a whole round trip (RFC 9000 17.4), where both ends spin.

use tidemark_core::{Duration, Instant};

use tidemark_wire::ip::Headers;
use tidemark_wire::quic::Header;
use tidemark_wire::tcp::{self, TcpOption};
use tidemark_wire::udp;

/// Time after which no answer is waited for any more.
const MAX_WAIT: Duration = Duration::from_secs(10);
/// Samples of a half of which the least counts: an end that has nothing to send keeps an echo back.
const RECENT: usize = 8;

/// Direction of a packet that passes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Way {
    /// Towards the UE.
    Down,
    /// From the UE.
    Up,
}

/// Measures one flow. It holds one packet of each direction at most.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundTrip {
    /// Half behind the UE's end, of packets that go down, and the half behind the other end.
    halves: [Half; 2],
    spin: Spin,
}

impl RoundTrip {
    /// Looks at an IP packet with these headers that passes now, and gives a round trip that ends with it.
    pub(super) fn pass(&mut self, now: Instant, way: Way, headers: &Headers, bytes: &[u8]) -> Option<Duration> {
        let transport = bytes.get(headers.transport.clone()?)?;
        match headers.five_tuple.protocol {
            tcp::PROTOCOL => self.pass_tcp(now, way, &tcp::Packet::new_checked(transport).ok()?),
            // One direction has every edge.
            udp::PROTOCOL if way == Way::Down => {
                self.spin.pass(now, udp::Packet::new_checked(transport).ok()?.payload())
            }
            _ => None,
        }
    }

    fn pass_tcp(&mut self, now: Instant, way: Way, packet: &tcp::Packet<&[u8]>) -> Option<Duration> {
        let [down, up] = &mut self.halves;
        let (behind, before) = match way {
            Way::Down => (down, up),
            Way::Up => (up, down),
        };
        let timestamps = packet.options().find_map(|option| match option {
            Ok(TcpOption::Timestamps { value, echo }) => Some((value, echo)),
            _ => None,
        });
        let (mark, answer) = match timestamps {
            Some((value, echo)) => (Mark::Timestamp(value), Mark::Timestamp(echo)),
            None => (Mark::Sequence(end(packet)), Mark::Sequence(packet.ack())),
        };
        let sample = if packet.flags().ack { before.answered(now, answer) } else { None };
        behind.passed(now, mark, end(packet) != packet.seq());
        Some(sample? + behind.least()?)
    }
}

/// First sequence number behind a segment: SYN and FIN have one each (RFC 9293 3.4).
fn end(packet: &tcp::Packet<&[u8]>) -> u32 {
    let flags = packet.flags();
    let len = packet.payload().len() as u32 + u32::from(flags.syn) + u32::from(flags.fin);
    packet.seq().wrapping_add(len)
}

/// Number of a packet that its answer has, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Mark {
    /// TSval.
    Timestamp(u32),
    /// First sequence number behind it.
    Sequence(u32),
}

impl Mark {
    /// Distance of an answer from this; `None` for one of another kind.
    fn distance(self, answer: Self) -> Option<i32> {
        match (self, answer) {
            (Self::Timestamp(own), Self::Timestamp(other)) | (Self::Sequence(own), Self::Sequence(other)) => {
                Some(other.wrapping_sub(own) as i32)
            }
            _ => None,
        }
    }
}

/// Half of a round trip: from here to one end and back.
#[derive(Clone, Debug, Default)]
struct Half {
    /// Packet whose answer is waited for: its number, its time, and whether the end answers it at once.
    probe: Option<(Mark, Instant, bool)>,
    /// Number of the packet before: only the first one of a timestamp tells its time.
    last: Option<Mark>,
    recent: [Option<Duration>; RECENT],
    samples: usize,
}

impl Half {
    /// Takes a packet that goes to the end. Data is answered at once, and an acknowledgement with what comes next.
    fn passed(&mut self, now: Instant, mark: Mark, is_data: bool) {
        let is_first = self.last.is_none_or(|last| last.distance(mark).is_none_or(|distance| distance > 0));
        match self.probe {
            // A segment that is sent once more: nobody knows which one is acknowledged (RFC 6298 3).
            Some((Mark::Sequence(_), ..)) if is_data && !is_first => self.probe = None,
            Some((_, at, _)) if now.since(at) < MAX_WAIT => {}
            _ if is_first && (is_data || matches!(mark, Mark::Timestamp(_))) => self.probe = Some((mark, now, is_data)),
            _ => {}
        }
        if is_first {
            self.last = Some(mark);
        }
    }

    /// Takes an answer, and gives the time that it took, where the end gave it at once.
    fn answered(&mut self, now: Instant, answer: Mark) -> Option<Duration> {
        let (mark, at, is_prompt) = self.probe?;
        let distance = mark.distance(answer).filter(|distance| *distance >= 0)?;
        self.probe = None;
        // A later timestamp is that of a later packet.
        if distance > 0 && matches!(mark, Mark::Timestamp(_)) {
            return None;
        }
        let took = now.since(at);
        self.recent[self.samples % RECENT] = Some(took);
        self.samples += 1;
        is_prompt.then_some(took)
    }

    /// Least of the recent times.
    fn least(&self) -> Option<Duration> {
        self.recent.iter().flatten().min().copied()
    }
}

/// Edges of a spin bit.
#[derive(Clone, Debug, Default)]
struct Spin {
    /// A long header was among the flow's.
    is_quic: bool,
    /// Bit of the last packet, and the time of the last edge.
    last: Option<(bool, Option<Instant>)>,
    packets: u64,
    edges: u64,
}

impl Spin {
    fn pass(&mut self, now: Instant, payload: &[u8]) -> Option<Duration> {
        match Header::parse(payload)? {
            Header::Long => {
                self.is_quic = true;
                None
            }
            Header::Short { spin } if self.is_quic => self.spun(now, spin),
            Header::Short { .. } => None,
        }
    }

    fn spun(&mut self, now: Instant, spin: bool) -> Option<Duration> {
        self.packets += 1;
        let (bit, edge) = *self.last.get_or_insert((spin, None));
        if bit == spin {
            return None;
        }
        self.last = Some((spin, Some(now)));
        self.edges += 1;
        // An end that does not spin may draw the bit for each packet: then every second one is an edge.
        edge.filter(|_| 4 * self.edges <= self.packets).map(|edge| now.since(edge))
    }
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use tidemark_core::TcpFlags;
    use tidemark_wire::ipv4;

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

    fn segment(way: Way, seq: u32, ack: u32, len: usize, options: &[TcpOption<'_>]) -> Vec<u8> {
        let (source_port, destination_port) = if way == Way::Down { (443, 5000) } else { (5000, 443) };
        let flags = TcpFlags { ack: true, ..TcpFlags::default() };
        let repr = tcp::Repr {
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
        ip(way, tcp::PROTOCOL, &transport)
    }

    fn stamped(way: Way, value: u32, echo: u32, len: usize) -> Vec<u8> {
        segment(way, value * 10_000, 1, len, &[TcpOption::Timestamps { value, echo }])
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
        pass(&mut trip, at(0), Way::Up, &segment(Way::Up, 1, 1, 100, &[]));
        pass(&mut trip, at(20), Way::Down, &segment(Way::Down, 1, 101, 1000, &[]));
        let sample = pass(&mut trip, at(50), Way::Up, &segment(Way::Up, 101, 1001, 0, &[]));
        assert_eq!(sample, Some(Duration::from_millis(30 + 20)));
        // A segment that is sent twice gives none.
        pass(&mut trip, at(60), Way::Down, &segment(Way::Down, 1001, 101, 1000, &[]));
        pass(&mut trip, at(90), Way::Down, &segment(Way::Down, 1001, 101, 1000, &[]));
        assert_eq!(pass(&mut trip, at(95), Way::Up, &segment(Way::Up, 101, 2001, 0, &[])), None);
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
