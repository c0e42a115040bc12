//! Wired bottlenecks: what is known of a queue without running one.

use tidemark_sim::RunResult;

use crate::common::run;

const CONSTANT: &str = r#"
name = "constant"
duration = "10 s"
warmup = "1 s"

[[router]]
name = "link"
rate = "10 Mbit/s"
queue = { discipline = "fifo", limit = "125 kB" }
tdq = ["50 ms", "150 ms"]

[[flow]]
name = "udp"
round_trip = "20 ms"
router = "link"
sender = { controller = "udp" }
app = { app = "constant", rate = "8 Mbit/s" }
"#;

#[test]
fn below_its_rate_a_link_carries_everything_and_nobody_waits() {
    let result = run(CONSTANT, &[]);
    let (router, flow) = (&result.routers[0], &result.flows[0]);
    // 8 Mbit/s of payload, in packets of 1200 B and 28 B of headers.
    assert!((router.utilisation - 0.8 * 1228.0 / 1200.0).abs() < 0.001, "{}", router.utilisation);
    assert!(router.queue_ms.unwrap().p99 < 1.5 && router.dropped == 0);
    // A packet of 1228 B takes a link of 10 Mbit/s for 0.982 ms, which is the router's; the wire is what it is without.
    let split = flow.split_ms.unwrap();
    assert!((split.propagation - 10.0).abs() < 1e-9 && (split.router.unwrap() - 0.982).abs() < 0.002, "{split:?}");
    assert!(flow.ue.is_none() && flow.queue_ms.is_none(), "there is no radio");
    assert_eq!(flow.routers, ["link"]);
    assert_eq!(result.cell.utilisation, None);
    assert_eq!(result.jain, None, "one flow shares with nobody");
}

#[test]
fn above_its_rate_a_full_drop_tail_queue_holds_its_limit_over_its_rate() {
    let result = run(CONSTANT, &["flow.0.app.rate=20 Mbit/s"]);
    let router = &result.routers[0];
    // 125 kB at 10 Mbit/s are 100 ms; half of what comes is dropped.
    let queue = router.queue_ms.unwrap();
    assert!((queue.p50 - 100.0).abs() < 2.0, "{queue:?}");
    assert!(router.utilisation > 0.999);
    let lost = result.flows[0].dropped as f64 / result.flows[0].sent_packets as f64;
    assert!((lost - 0.5).abs() < 0.02, "{lost}");
    // The queue is older than 50 ms all the time, and never older than 150 ms.
    assert!((router.tdq_s[0].1 - 9.0).abs() < 0.1 && router.tdq_s[1].1 == 0.0, "{:?}", router.tdq_s);
}

#[test]
fn what_waits_too_long_is_dropped_by_age() {
    let overload = ["flow.0.app.rate=11 Mbit/s", "router.0.queue.limit=5 MB"];
    let oldest = |overrides: &[&str]| run(CONSTANT, overrides).routers[0].queue_ms.unwrap().p999;
    let without = oldest(&overload);
    let with = oldest(&[overload[0], overload[1], "router.0.queue.overdue={}"]);
    // 1.2 Mbit/s too much for 10 s; a look every 200 ms leaves nothing that is older than 500 ms, and little comes to be in between.
    assert!(without > 1_000.0 && (400.0..560.0).contains(&with), "{with} ms after {without}");
}

#[test]
fn retransmissions_delay_packets_and_take_nothing_of_the_rate() {
    let late = run(CONSTANT, &["router.0.harq={}"]);
    let delay = |result: &RunResult| result.flows[0].owd_ms.unwrap();
    let (before, after) = (delay(&run(CONSTANT, &[])), delay(&late));
    assert!(after.p99 > before.p99 + 7.0 && after.p50 < before.p50 + 7.9, "{after:?} after {before:?}");
    assert!((late.routers[0].utilisation - 0.8 * 1228.0 / 1200.0).abs() < 0.002 && late.flows[0].dropped == 0);
}

#[test]
fn with_a_queue_for_each_flow_nobody_waits_behind_another() {
    let greedy = r#"
[[flow]]
name = "greedy"
round_trip = "20 ms"
router = "link"
sender = { controller = "udp" }
app = { app = "constant", rate = "20 Mbit/s" }
"#;
    let of = |overrides: &[&str]| run(&format!("{CONSTANT}{greedy}"), overrides);
    let modest = "flow.0.app.rate=2 Mbit/s";
    let delay = |result: &RunResult| result.flows[0].owd_ms.unwrap().p99;
    let (one, each) = (of(&[modest]), of(&[modest, "router.0.queue.per_flow=true"]));
    // Behind 125 kB a packet waits 100 ms; in a queue of its own for the packet on the link and the other flow's.
    assert!(delay(&one) > 100.0 && delay(&each) < 10.0 + 3.0 * 0.983, "{} and {}", delay(&one), delay(&each));
    assert!(each.flows[0].dropped == 0 && each.routers[0].utilisation > 0.999);
    // Two that want more than half have half.
    let both = of(&["flow.0.app.rate=8 Mbit/s", "router.0.queue.per_flow=true"]);
    let [first, second] = [0, 1].map(|flow| both.flows[flow].throughput_mbps);
    assert!((first / second - 1.0).abs() < 0.01, "{first} and {second} Mbit/s");
}

#[test]
fn a_rate_that_changes_is_followed() {
    let change = r#"router.0.changes=[{ at = "4 s", rate = "5 Mbit/s", over = "2 s" }]"#;
    let result = run(CONSTANT, &["flow.0.app.rate=20 Mbit/s", change, "warmup=0 s"]);
    // 4 s at 10, 2 s at 7.5 on average, 4 s at 5.
    assert!((result.routers[0].capacity_mbps - 7.5).abs() < 1e-6);
    assert!((result.routers[0].throughput_mbps - 7.5).abs() < 0.1);
}

#[test]
fn feedback_waits_in_the_router_of_its_way_back() {
    let text = r#"
name = "back"
duration = "20 s"
warmup = "5 s"

[[router]]
name = "back"
rate = "2 Mbit/s"

[[flow]]
name = "tcp"
round_trip = "20 ms"
return_router = "back"
sender = { controller = "reno" , tcp = { receive_window = "100 kB" } }

[[flow]]
name = "against it"
round_trip = "20 ms"
router = "back"
sender = { controller = "cubic", tcp = { receive_window = "100 kB" } }
"#;
    let result = run(text, &[]);
    // 100 kB less what is on the wire stand before 2 Mbit/s.
    assert!(result.flows[0].rtt_ms.unwrap().p50 > 300.0, "{:?}", result.flows[0].rtt_ms);
    assert!(result.flows[0].owd_ms.unwrap().p99 < 11.0, "its data does not");
}

#[test]
fn a_router_before_the_cell_takes_the_queue_out_of_the_cell() {
    let text = r#"
name = "before"
duration = "20 s"
warmup = "5 s"

[marker]
law = "l4span"

[[router]]
name = "link"
rate = "20 Mbit/s"
queue = { discipline = "dualpi2" }

[[ue]]
name = "ue"

[[flow]]
name = "prague"
ue = "ue"
router = "link"
round_trip = "20 ms"
sender = { controller = "prague" }
"#;
    let result = run(text, &[]);
    let split = result.flows[0].split_ms.unwrap();
    assert!(split.router.unwrap() < 2.0 && split.queuing < 3.0, "{split:?}");
    assert!(result.routers[0].utilisation > 0.9, "{}", result.routers[0].utilisation);
    let owd = result.flows[0].owd_ms.unwrap().mean;
    let cell = split.cu + split.queuing + split.scheduling + split.harq + split.rlc + split.reordering;
    let parts = split.propagation + split.router.unwrap() + cell;
    assert!((parts - owd).abs() < 0.01, "{parts} {owd}");
}

#[test]
fn frames_and_transfers_are_counted_where_there_are_some() {
    let text = r#"
name = "media"
duration = "20 s"

[[router]]
name = "link"
rate = "20 Mbit/s"

[[flow]]
name = "video"
round_trip = "20 ms"
router = "link"
sender = { controller = "fixed", rate = "5 Mbit/s" }
app = { app = "video", size_deviation = 0.0 }

[[flow]]
name = "clicks"
round_trip = "20 ms"
router = "link"
sender = { controller = "reno" }
app = { app = "short-flows", size = "14 kB" }
"#;
    let result = run(text, &[]);
    let media = result.flows[0].media.unwrap();
    assert!(media.frames_sent >= 1_195 && media.frames_received >= media.frames_sent - 2, "{media:?}");
    assert!(media.freezes == 0 && media.delay_ms.unwrap().p50 < 30.0, "{media:?}");
    assert!(result.flows[0].transfers.is_none() && result.flows[1].media.is_none());
    let transfers = result.flows[1].transfers.unwrap();
    // A handshake and the data: two round trips of 20 ms and the time for 14 kB at 20 Mbit/s.
    let fastest = 40.0 + 14_000.0 * 8.0 / 20_000.0;
    assert!(transfers.completed > 10, "{transfers:?}");
    assert!((fastest..fastest + 15.0).contains(&transfers.completion_ms.unwrap().p50), "{transfers:?}");
}

#[test]
fn a_ramp_marks_by_the_time_that_a_packet_has_waited() {
    // 125 kB at 10 Mbit/s are 100 ms for every packet: a ramp from 50 to 150 ms marks half of them, and none without ECT(1).
    let ramp = r#"router.0.queue={ discipline = "fifo", limit = "125 kB", ramp = { low = "50 ms", high = "150 ms" } }"#;
    let sender = |ect| format!(r#"flow.0.sender={{ controller = "udp", codepoint = "{ect}" }}"#);
    let result = run(CONSTANT, &["flow.0.app.rate=20 Mbit/s", ramp, &sender("ect1")]);
    let flow = &result.flows[0];
    let share = flow.marked as f64 / (flow.sent_packets - flow.dropped) as f64;
    assert!((share - 0.5).abs() < 0.03, "{share}");
    assert_eq!(result.routers[0].law, "ramp");
    // The router counts what it marked, the flow what arrived with a mark, 10 ms later.
    assert!(result.routers[0].marked.abs_diff(flow.marked) <= 20, "{} {}", result.routers[0].marked, flow.marked);
    let series: u64 = result.series.routers.marks[0].iter().sum();
    assert!(series >= result.routers[0].marked, "{series} with the warm-up's");
    assert_eq!(run(CONSTANT, &["flow.0.app.rate=20 Mbit/s", ramp, &sender("ect0")]).flows[0].marked, 0);
}

/// Two routers of ample rate, 3 ms and 4 ms of wire beside them, and a flow each way.
const SERIES: &str = r#"
name = "series"
duration = "10 s"
warmup = "1 s"

[[router]]
name = "a"
rate = "1 Gbit/s"
delay = "3 ms"
queue = { discipline = "drop-tail", limit = "125 kB" }

[[router]]
name = "b"
rate = "1 Gbit/s"
delay = "4 ms"
queue = { discipline = "drop-tail", limit = "125 kB" }

[[flow]]
name = "udp"
round_trip = "20 ms"
router = ["a", "b"]
sender = { controller = "udp" }
app = { app = "constant", rate = "20 Mbit/s" }

[[flow]]
name = "tcp"
round_trip = "20 ms"
return_router = ["b", "a"]
sender = { controller = "reno", tcp = { receive_window = "100 kB" } }
"#;

#[test]
fn wires_beside_routers_are_a_part_of_the_round_trip_both_ways() {
    let result = run(SERIES, &[]);
    let owd = result.flows[0].owd_ms.unwrap();
    assert!((owd.p50 - 10.0).abs() < 0.1, "{owd:?}");
    let rtt = result.flows[1].rtt_ms.unwrap();
    assert!((rtt.p50 - 20.0).abs() < 0.2, "{rtt:?}");
}

#[test]
fn the_slower_of_two_routers_holds_the_queue_and_the_other_none() {
    for (slow, idle) in [(0, 1), (1, 0)] {
        let result = run(
            SERIES,
            &[&format!("router.{slow}.rate=10 Mbit/s"), "flow.1.app={ app = \"bulk\", start = \"9.9 s\" }"],
        );
        // 125 kB at 10 Mbit/s are 100 ms.
        let queue = result.routers[slow].queue_ms.unwrap();
        assert!((queue.p50 - 100.0).abs() < 2.0, "{queue:?}");
        assert!(result.routers[slow].utilisation > 0.999 && result.routers[slow].dropped > 0);
        assert!(result.routers[idle].queue_ms.unwrap().p99 < 0.1 && result.routers[idle].dropped == 0);
        let split = result.flows[0].split_ms.unwrap();
        let total = split.propagation + split.router.unwrap();
        // And a packet of 1228 B takes 0.98 ms there, and 0.01 ms at the other.
        assert!((split.router.unwrap() - 101.0).abs() < 2.0 && (split.propagation - 10.0).abs() < 1e-9, "{split:?}");
        assert!((total - result.flows[0].owd_ms.unwrap().mean).abs() < 0.01, "{split:?}");
        // A flow that is dropped by the first alone loads the second with what is left.
        let [before, behind] = [0, 1].map(|index| result.routers[index].throughput_mbps);
        let (more, less) = if slow == 0 { (10.0, 10.0) } else { (20.0 * 1228.0 / 1200.0, 10.0) };
        assert!((before - more).abs() < 0.1 && (behind - less).abs() < 0.1, "{before} {behind}");
    }
}

#[test]
fn codel_by_its_own_name_is_the_law_in_a_fifo() {
    let load = "flow.0.app.rate=20 Mbit/s";
    for (name, law) in [("codel", "codel"), ("codel\", ecn = true, target = \"5 ms", "ecn-codel")] {
        let by_name = run(CONSTANT, &[load, &format!(r#"router.0.queue={{ discipline = "{name}" }}"#)]);
        let by_law = format!(r#"router.0.queue={{ discipline = "fifo", marker = {{ law = "{law}" }} }}"#);
        let by_law = run(CONSTANT, &[load, &by_law]);
        assert_eq!(by_name.routers[0].law, law);
        assert!(by_name.routers[0].dropped > 100);
        let same = |result: &RunResult| (result.routers[0].dropped, result.routers[0].queue_ms, result.flows[0].owd_ms);
        assert_eq!(same(&by_name), same(&by_law));
    }
    let tail = run(CONSTANT, &[load, r#"router.0.queue={ discipline = "drop-tail", limit = "125 kB" }"#]);
    assert_eq!(tail.routers[0].queue_ms, run(CONSTANT, &[load]).routers[0].queue_ms);
}

#[test]
fn a_bottleneck_moves_along_the_way() {
    let text = include_str!("../../../scenarios/moving-bottleneck.toml");
    let result = run(text, &[]);
    // In the settled seconds of each part: where packets wait, and what is carried.
    for (place, rate) in [(0, 15.0), (1, 20.0), (2, 40.0)] {
        let steps = place * 100 + 40..place * 100 + 98;
        let mean = |series: &[Option<f64>]| {
            let known: Vec<f64> = series[steps.clone()].iter().flatten().copied().collect();
            known.iter().sum::<f64>() / known.len() as f64
        };
        let [transit, peering] = [0, 1].map(|router| mean(&result.series.routers.queue_ms[router]));
        // At the cell a packet waits for its slot as well, which is planned 2.5 ms ahead.
        let queues = [transit, peering, mean(&result.series.ues.queue_ms[0]) - 5.5];
        let carried = &result.series.flows.throughput_mbps[0][steps.clone()];
        let carried = carried.iter().sum::<f64>() / carried.len() as f64;
        for (other, queue) in queues.iter().enumerate() {
            assert_eq!(*queue > 1.0, other == place, "{place}: {queues:?}");
        }
        assert!(carried > 0.85 * rate && carried < 1.02 * rate, "{place}: {carried}");
    }
}

#[test]
fn a_port_whose_agent_couples_its_classes_shares_as_dualpi2_does() {
    let text = include_str!("../../../scenarios/sdn-port.toml");
    let shares = |queue: &str| {
        let result = run(text, &["duration=30 s", queue]);
        let mean = |l4s: bool| {
            let flows: Vec<_> = result.flows.iter().filter(|flow| flow.name.starts_with("l4s") == l4s).collect();
            let rate = flows.iter().map(|flow| flow.throughput_mbps).sum::<f64>() / flows.len() as f64;
            let delay = flows.iter().map(|flow| flow.owd_ms.unwrap().p50).sum::<f64>() / flows.len() as f64;
            (rate, delay)
        };
        (mean(true), mean(false), result.flows.iter().map(|flow| flow.dropped).sum::<u64>())
    };
    let (l4s, classic, drops) = shares("router.0.queue.l4s_share=0.9");
    let (reference_l4s, reference_classic, _) = shares(r#"router.0.queue={ discipline = "dualpi2" }"#);
    assert!((0.5..2.0).contains(&(classic.0 / l4s.0)), "{l4s:?} {classic:?}");
    assert!((l4s.0 / reference_l4s.0 - 1.0).abs() < 0.15, "{l4s:?} {reference_l4s:?}");
    // 5 ms are the wire; classic packets wait for PI2's 15 ms more.
    assert!(l4s.1 < 7.0 && (l4s.1 - reference_l4s.1).abs() < 0.5, "{l4s:?} {reference_l4s:?}");
    assert!((classic.1 - 20.0).abs() < 2.0 && (classic.1 - reference_classic.1).abs() < 2.0, "{classic:?}");
    assert!(drops > 100);
    // Without marks the same classes starve the classic flows.
    let (l4s, classic, _) = shares(r#"router.0.queue.marking={ mode = "literal", q1 = 1.0 }"#);
    assert!(l4s.0 > 5.0 * classic.0, "{l4s:?} {classic:?}");
}
