//! Cost of an event at the marker (L4Span, Fig. 21): single calls on bytes, by this machine's clock.
//!
//! Every figure includes reading the clock and whatever else the machine does meanwhile. The benchmarks of
//! `docs/measured/performance.md` time the same calls separately; this is the paper's measurement.

use std::collections::BTreeMap;
use std::net::Ipv4Addr;
use std::time::Instant as WallClock;

use miette::{IntoDiagnostic, Result, miette};
use tidemark_core::packet::AccEcnCounters;
use tidemark_core::{Bytes, Dscp, Duration, Ecn, Instant, Stream, TcpFlags};
use tidemark_marker::path::{DrbId, FlowKey, Shard, Ue, UeHandle};
use tidemark_marker::{DeliveryStatus, L4SpanConfig, LawConfig, MarkerConfig, SnLength};
use tidemark_wire::{ipv4, tcp};

const DRB: DrbId = DrbId(1);
const QFI: u8 = 1;
const FLOWS: u16 = 4;
/// Queued SDUs of each UE.
const QUEUED: u32 = 32;
/// Timed events of each kind, after as many untimed ones.
const EVENTS: u32 = 200_000;
/// TCP payload of a downlink packet.
const PAYLOAD: u16 = 1_360;
/// Time between two turns of a UE: 64 UEs share 40 Mbit/s.
const ROUND: Duration = Duration::from_millis(18);

/// Figures in microseconds, e.g. `downlink_p97`, for a case that is a number of UEs, e.g. `64ue`.
pub(super) fn run(case: &str) -> Result<BTreeMap<String, f64>> {
    let ues = case.strip_suffix("ue").and_then(|ues| ues.parse().ok());
    let mut load = Load::new(ues.ok_or_else(|| miette!("{case} is not a number of UEs"))?)?;
    for _ in 0..EVENTS {
        load.turn();
    }
    let mut nanos = [const { Vec::new() }; 3];
    for _ in 0..EVENTS {
        load.turn().iter().zip(&mut nanos).for_each(|(event, all)| all.push(*event));
    }
    let mut figures = BTreeMap::new();
    for (name, mut all) in ["downlink", "report", "uplink"].iter().zip(nanos) {
        all.sort_unstable();
        for (quantile, per_mille) in [("p50", 500), ("p97", 970), ("p99", 990), ("p999", 999)] {
            figures.insert(format!("{name}_{quantile}"), all[all.len() * per_mille / 1_000] as f64 / 1e3);
        }
    }
    Ok(figures)
}

/// UEs that all download, each with the same number of SDUs queued.
struct Load {
    shard: Shard,
    ues: Vec<UeHandle>,
    data: Vec<Vec<u8>>,
    acks: Vec<Vec<u8>>,
    now: Instant,
    /// Events of each kind so far.
    turns: u32,
}

impl Load {
    fn new(ues: u32) -> Result<Self> {
        let law = LawConfig::L4span(L4SpanConfig::default());
        let config = MarkerConfig { short_circuit: true, ..MarkerConfig::with_law(law) };
        let mut shard = Shard::new(ues);
        let mut handles = Vec::new();
        for id in 0..ues {
            let mut ue = Ue::new(FlowKey::new(&[7; 16]));
            ue.add_drb(DRB, &[QFI], &config, SnLength::Bits18, Stream::new(1, id, "mark")).into_diagnostic()?;
            for flow in 0..FLOWS {
                ue.uplink(Instant::ZERO, &mut segment(flow, Way::Up, Kind::Syn, 0)?);
                ue.downlink(Instant::ZERO, QFI, &mut segment(flow, Way::Down, Kind::SynAck, 0)?);
            }
            handles.push(shard.add(Box::new(ue)).map_err(|_| miette!("a shard of {ues} UEs is full"))?);
        }
        let flows = |way, payload| (0..FLOWS).map(|flow| segment(flow, way, Kind::Ack, payload)).collect();
        let (data, acks): (Result<_>, Result<_>) = (flows(Way::Down, PAYLOAD), flows(Way::Up, 0));
        Ok(Self { shard, ues: handles, data: data?, acks: acks?, now: Instant::from_millis(100), turns: 0 })
    }

    /// Handles a packet, a report and an acknowledgement of the next UE; gives each one's time in nanoseconds.
    fn turn(&mut self) -> [u64; 3] {
        let ues = self.ues.len() as u32;
        let (place, sn) = ((self.turns % ues) as usize, self.turns / ues % SnLength::Bits18.modulus());
        self.turns += 1;
        self.now += ROUND / u64::from(ues);
        let Some(ue) = self.shard.ue(self.ues[place]) else { return [0; 3] };
        let flow = sn as usize % self.data.len();
        let downlink = timed(|| ue.downlink(self.now, QFI, &mut self.data[flow]));
        ue.pdcp_pdu(self.now, DRB, sn, Bytes(u64::from(PAYLOAD) + 43));
        let left = sn.checked_sub(QUEUED);
        let status = DeliveryStatus { highest_transmitted: left, highest_delivered: left, ..Default::default() };
        let report = timed(|| ue.feedback(self.now, DRB, &status));
        let uplink = timed(|| ue.uplink(self.now, &mut self.acks[flow]));
        [downlink, report, uplink]
    }
}

fn timed<T>(event: impl FnOnce() -> T) -> u64 {
    let start = WallClock::now();
    std::hint::black_box(event());
    start.elapsed().as_nanos() as u64
}

#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
}

#[derive(Clone, Copy)]
enum Kind {
    Syn,
    SynAck,
    Ack,
}

/// A segment of an AccECN connection (RFC 9768 3.1), with the counters' option from the client's side.
fn segment(flow: u16, way: Way, kind: Kind, payload: u16) -> Result<Vec<u8>> {
    let (server, client) = (Ipv4Addr::new(192, 0, 2, 1), Ipv4Addr::new(10, 45, 0, 2));
    let ports = (443, 50_000 + flow);
    let ((source, destination), (source_port, destination_port)) = match way {
        Way::Down => ((server, client), ports),
        Way::Up => ((client, server), (ports.1, ports.0)),
    };
    let (flags, ace) = match kind {
        Kind::Syn => (TcpFlags { syn: true, ..Default::default() }, 0b111),
        Kind::SynAck => (TcpFlags { syn: true, ack: true, ..Default::default() }, 0b010),
        Kind::Ack => (TcpFlags { ack: true, ..Default::default() }, 0b101),
    };
    let counters = AccEcnCounters { e0b: Some(1), ceb: Some(0), e1b: Some(1) };
    let option = tcp::TcpOption::AccEcn(tcp::AccEcnOption { order: tcp::AccEcnOrder::Ect1First, counters });
    let options: &[_] = if matches!((way, kind), (Way::Up, Kind::Ack)) { &[option] } else { &[] };
    let mut bytes = vec![0; 20 + 60 + usize::from(payload)];
    let header = tcp::Repr {
        source_port,
        destination_port,
        seq: 1,
        ack: 1,
        flags: flags.with_ace(ace),
        push: false,
        urgent: None,
        window: 5_000,
        options,
    }
    .emit(&mut bytes[20..])
    .into_diagnostic()?;
    let len = header + usize::from(payload);
    bytes.truncate(20 + len);
    tcp::Packet::new_checked(&mut bytes[20..]).into_diagnostic()?.fill_checksum(source.into(), destination.into());
    let ecn = if matches!(way, Way::Down) && payload > 0 { Ecn::Ect1 } else { Ecn::NotEct };
    ipv4::Repr {
        dscp: Dscp(0),
        ecn,
        identification: 0,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 60,
        protocol: tcp::PROTOCOL,
        source,
        destination,
        payload_len: len as u16,
    }
    .emit(&mut bytes)
    .into_diagnostic()?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_keeps_its_queue_and_its_packets_are_understood() {
        let mut load = Load::new(3).unwrap();
        for _ in 0..3 * 200 {
            load.turn();
        }
        for handle in load.ues.clone() {
            let ue = load.shard.ue(handle).unwrap();
            // What has left since the last report is estimated.
            let queued = ue.estimate(load.now, DRB).unwrap().backlog.0 / (u64::from(PAYLOAD) + 43);
            assert!((QUEUED - 2..=QUEUED).contains(&(queued as u32)), "{queued}");
            assert_eq!((ue.counters().unparsed, ue.counters().unknown_qfi), (0, 0));
        }
    }

    #[test]
    fn a_case_is_a_number_of_ues() {
        assert!(run("many").unwrap_err().to_string().contains("many is not a number of UEs"));
    }
}
