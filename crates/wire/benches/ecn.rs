//! Cost of the work on packet bytes: finding the headers, marking, and rewriting feedback.

use std::hint::black_box;
use std::net::Ipv4Addr;

use criterion::{Criterion, criterion_group, criterion_main};
use tidemark_core::packet::{AccEcnChange, AccEcnCounters};
use tidemark_core::{Dscp, Ecn, Inspect, TcpFeedback, TcpFlags};
use tidemark_wire::tcp::{AccEcnOption, AccEcnOrder, TcpOption};
use tidemark_wire::{View, ip, ipv4, tcp};

/// A TCP segment of 1500 bytes over IPv4, with timestamps and AccECN counters as Linux sends them.
fn segment() -> Vec<u8> {
    let counters = AccEcnCounters { e1b: Some(1), ceb: Some(2), e0b: Some(3) };
    let repr = tcp::Repr {
        source_port: 443,
        destination_port: 50_000,
        seq: 1,
        ack: 2,
        flags: TcpFlags { ack: true, ..TcpFlags::default() },
        push: false,
        urgent: None,
        window: 3,
        options: &[
            TcpOption::Timestamps { value: 1, echo: 2 },
            TcpOption::AccEcn(AccEcnOption { order: AccEcnOrder::Ect1First, counters }),
        ],
    };
    let mut bytes = vec![0; 1500];
    repr.emit(&mut bytes[20..]).unwrap();
    let (source, destination) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
    let header = ipv4::Repr {
        dscp: Dscp(0),
        ecn: Ecn::Ect1,
        identification: 1,
        dont_fragment: true,
        more_fragments: false,
        fragment_offset: 0,
        ttl: 64,
        protocol: tcp::PROTOCOL,
        source,
        destination,
        payload_len: 1480,
    };
    header.emit(&mut bytes).unwrap();
    tcp::Packet::new_checked(&mut bytes[20..]).unwrap().fill_checksum(source.into(), destination.into());
    bytes
}

fn benches(criterion: &mut Criterion) {
    let mut bytes = segment();
    criterion.bench_function("find the headers of TCP over IPv4 and mark", |bencher| {
        bencher.iter(|| {
            let mut view = View::parse(black_box(&mut bytes)).unwrap();
            view.set_ecn(black_box(Ecn::Ce));
            view.headers().five_tuple
        });
    });
    criterion.bench_function("mark", |bencher| {
        bencher.iter(|| ip::set_ecn(black_box(&mut bytes), black_box(Ecn::Ce)));
    });
    criterion.bench_function("read TCP feedback and rewrite it", |bencher| {
        let mut view = View::parse(&mut bytes).unwrap();
        bencher.iter(|| {
            black_box(black_box(&mut view).tcp());
            let change = AccEcnChange { ace: 1, ceb: 1_400, e1b: 1_400_u32.wrapping_neg(), e0b: 0 };
            view.set_tcp_feedback(black_box(TcpFeedback::AccEcn(change)));
        });
    });
}

criterion_group!(group, benches);
criterion_main!(group);
