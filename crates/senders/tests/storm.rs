//! Every packet is marked for some seconds, then none: whoever was held down by it has to come back.

use crate::link::{self, Bottleneck, Fate, Link, Node, WithTcp, is_data};
use tidemark_core::{BitRate, Duration, Instant, Stream};
use tidemark_marker::{DrbMarker, LawConfig, MarkerConfig, RampConfig, RlcQueue, SnLength, Verdict};
use tidemark_senders::{AppConfig, CongestionControl, EcnMode, TcpConfig};

const LINE: BitRate = BitRate::from_mbps(20);
/// The storm, and how long it may take to get over it. From a window of one or two segments Reno needs one round for
/// each of the 55 segments that fill the path, and Prague some more.
const STORM: std::ops::Range<Instant> = Instant::from_millis(5_000)..Instant::from_millis(15_000);
const RECOVERY: Duration = Duration::from_secs(10);

/// Every controller over TCP, with either feedback.
fn senders() -> Vec<(String, WithTcp)> {
    let modes = [EcnMode::Classic, EcnMode::Accecn];
    let with = |ecn| {
        let tcp = TcpConfig { ecn: Some(ecn), ..TcpConfig::default() };
        link::finding_their_rate()
            .map(move |sender| (format!("{}, {ecn:?}", sender.name()), WithTcp { sender, tcp: tcp.clone() }))
    };
    modes.into_iter().flat_map(with).collect()
}

/// Node that marks during the storm.
#[derive(Clone, Copy, Debug)]
enum By {
    /// A router, in the IP header.
    Router,
    /// A node, in the IP header or, where it short-circuits, in acknowledgements.
    Node { short_circuit: bool },
    /// The node, in acknowledgements; then a router marks a single packet: the bottleneck has moved.
    NodeThenRouter,
    /// The node, whose queue is full as well: a tenth of what it has marked is lost behind it.
    FullNode,
}

/// A node whose queue has an age, of which its law marks a hundredth for every millisecond.
fn node(short_circuit: bool, age: impl Fn(Instant) -> Duration + 'static) -> Node {
    let (low, high) = (Duration::ZERO, Duration::from_millis(100));
    let law = LawConfig::Ramp(RampConfig { classic: true, alpha: 1.0, low, high, ..RampConfig::default() });
    let config = MarkerConfig { short_circuit, ..MarkerConfig::with_law(law) };
    let mut marker =
        DrbMarker::new(&config, SnLength::Bits18, Stream::new(1, 0, "node")).expect("a valid configuration");
    Box::new(move |now, down, packet| {
        if !down {
            marker.handle_uplink(now, packet);
            return;
        }
        let queue = RlcQueue { head_of_line: age(now), ..RlcQueue::default() };
        if marker.handle_downlink(now, packet, Some(queue)) == Verdict::Mark {
            packet.ecn = packet.ecn.marked();
        }
    })
}

/// Runs a storm in which everything is marked; the line is as fast as before, or `slow`.
fn storm(sender: &dyn CongestionControl, by: By, slow: Option<BitRate>) -> Link {
    let mut link = Link::new(sender, &AppConfig::default(), Duration::from_millis(10));
    link.bottleneck = Some(Bottleneck::new(LINE, LINE.bytes_in(Duration::from_millis(100)), Duration::MAX));
    let old = |now: Instant| Duration::from_millis(if STORM.contains(&now) { 100 } else { 0 });
    match by {
        By::Router => {}
        By::Node { short_circuit } => link.node = Some(node(short_circuit, old)),
        By::NodeThenRouter | By::FullNode => link.node = Some(node(true, old)),
    }
    let (mut losses, mut marked) = (Stream::new(1, 0, "losses"), false);
    link.down = Box::new(move |now, packet| match by {
        _ if !is_data(packet) => Fate::Deliver,
        By::Router if STORM.contains(&now) => Fate::Mark,
        By::NodeThenRouter if now >= STORM.end && !std::mem::replace(&mut marked, true) => Fate::Mark,
        By::FullNode if STORM.contains(&now) && losses.uniform() < 0.1 => Fate::Drop,
        _ => Fate::Deliver,
    });
    link.run_until(STORM.start);
    if let (Some(rate), Some(bottleneck)) = (slow, &mut link.bottleneck) {
        bottleneck.rate = rate;
    }
    link.run_until(STORM.end);
    if let Some(bottleneck) = &mut link.bottleneck {
        bottleneck.rate = LINE;
    }
    link
}

#[test]
fn a_flow_comes_back_to_the_line_rate_after_a_storm_of_marks() {
    let mut failures = Vec::new();
    for (name, sender) in senders() {
        for by in [
            By::Router,
            By::Node { short_circuit: false },
            By::Node { short_circuit: true },
            By::NodeThenRouter,
            By::FullNode,
        ] {
            for slow in [None, Some(BitRate::from_mbps(2)), Some(BitRate::from_kbps(200))] {
                let mut link = storm(&sender, by, slow);
                link.run_for(RECOVERY);
                let before = link.stats().1.delivered;
                link.run_for(Duration::from_secs(5));
                let rate = (link.stats().1.delivered - before).as_f64() * 8e-6 / 5.0;
                let stats = link.stats().0;
                println!("{name}, {by:?}, {slow:?}: {rate:.1} Mbit/s, {:?} {:?}", stats.window, stats.alpha);
                if rate < 0.9 * LINE.as_mbps() {
                    failures.push(format!("{name}, {by:?}, {slow:?}: {rate:.2} of {LINE}"));
                }
            }
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}
