//! Checks of a scenario beyond its syntax and types. Each part checks itself; here are the checks that concern several
//! parts.

use tidemark_cell::{HandoverExecution, NetworkConfig};
use tidemark_core::{Bounded, ConfigError};

use crate::diagnostic::is_written;
use crate::{Scenario, copies};

/// Intervals of the series at most.
const MAX_SAMPLES: u64 = 1_000_000;

impl Scenario {
    /// Checks all parts.
    ///
    /// # Errors
    /// The first field that cannot be used.
    pub(super) fn check(&self) -> Result<(), ConfigError> {
        self.check_run()?;
        self.check_cell()?;
        self.check_network()?;
        self.marker.validate().map_err(|error| error.within("marker"))?;
        check_each("policy", &self.policy, |rule| rule.validate())?;
        if self.ue.is_empty() && self.flow.is_empty() {
            return Err(ConfigError::new("ue", "needs at least one [[ue]], or a [[flow]] to a host on the wire"));
        }
        check_names("ue", self.ue.iter().map(|ue| &ue.name))?;
        check_each("ue", &self.ue, |ue| ue.check(self))?;
        check_names("router", self.router.iter().map(|router| &router.name))?;
        check_each("router", &self.router, |router| router.validate())?;
        check_names("flow", self.flow.iter().map(|flow| &flow.name))?;
        check_each("flow", &self.flow, |flow| flow.check(self))?;
        copies::check(self)
    }

    /// Checks the run's name and times.
    fn check_run(&self) -> Result<(), ConfigError> {
        let error = |field, right: String| Err(ConfigError::new(field, right));
        if self.name.is_empty() || !self.name.chars().all(|c| c.is_ascii_alphanumeric() || "._-".contains(c)) {
            return Err(ConfigError::of_value("name", "use letters, digits, `.`, `_` and `-`: it names a folder"));
        }
        self.check_bounds()?;
        if self.warmup >= self.duration {
            return error("warmup", format!("must be shorter than the duration, {}", self.duration));
        }
        let interval = self.sample_interval();
        if interval > self.duration {
            return error("sample_interval", format!("must be at most the duration, {}", self.duration));
        }
        if self.duration.as_nanos() / interval.as_nanos() > MAX_SAMPLES {
            return error("sample_interval", format!("makes more than {MAX_SAMPLES} intervals: use a longer one"));
        }
        Ok(())
    }

    fn check_cell(&self) -> Result<(), ConfigError> {
        self.cell.validate().map_err(|error| error.within("cell"))?;
        if self.cell.bandwidth_mhz.is_some() && is_written(&self.text, &["cell", "prbs"]) {
            let right = format!("bandwidth_mhz already says {}: leave one of them out", self.cell.resource_blocks());
            return Err(ConfigError::new("cell.prbs", right));
        }
        Ok(())
    }

    fn check_network(&self) -> Result<(), ConfigError> {
        let Some(network) = &self.network else { return Ok(()) };
        NetworkConfig::validate(network).map_err(|error| error.within("network"))?;
        if self.cell.handover != HandoverExecution::default() {
            let right = "belongs to a scenario without [network]: here network.handover has the same keys";
            return Err(ConfigError::new("cell.handover", right));
        }
        if network.antennas > 1 && self.cell.layers > 1 {
            let right = "more than one precode one layer: set cell.layers to 1";
            return Err(ConfigError::new("network.antennas", right).found(network.antennas));
        }
        self.misplaced_carrier(network.carrier_ghz)
            .map_or(Ok(()), |right| Err(ConfigError::new("network.carrier_ghz", right)))
    }

    /// Remedy for a carrier whose subcarriers are those of the other frequency range (TS 38.101-1 and -2, 5.1).
    fn misplaced_carrier(&self, carrier_ghz: f64) -> Option<&'static str> {
        match self.cell.numerology {
            0 | 1 if carrier_ghz >= 24.25 => {
                Some("must be below 24.25 with 15 or 30 kHz: set cell.numerology to 2 or 3 above")
            }
            3 if carrier_ghz < 24.25 => {
                Some("must be 24.25 or more with 120 kHz: set cell.numerology to 0, 1 or 2 below")
            }
            _ => None,
        }
    }
}

/// Checks every entry of a list.
fn check_each<T>(list: &str, entries: &[T], check: impl Fn(&T) -> Result<(), ConfigError>) -> Result<(), ConfigError> {
    (0..).zip(entries).try_for_each(|(index, entry): (usize, _)| {
        check(entry).map_err(|error| error.within(&format!("{list}.{index}")))
    })
}

/// Checks that no two entries of a list have one name.
fn check_names<'a>(list: &str, names: impl Iterator<Item = &'a String>) -> Result<(), ConfigError> {
    let mut taken = Vec::new();
    for (index, name) in names.enumerate() {
        if taken.contains(&name) {
            let right = format!("`{name}` is taken by an earlier [[{list}]]");
            return Err(ConfigError::new(format!("{list}.{index}.name"), right));
        }
        taken.push(name);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tidemark_core::Duration;

    use super::*;

    const TEXT: &str = r#"
name = "t"
duration = "1 s"

[[ue]]
name = "a"

[[flow]]
name = "f"
ue = "a"
round_trip = "10 ms"
"#;

    fn with(assignment: &str) -> String {
        let text = crate::overrides::apply(TEXT, &[assignment.to_string()]).unwrap();
        match Scenario::parse("t.toml", &text, Path::new(""), &[]) {
            Ok(_) => "accepted".into(),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn what_a_flag_has_wrong_is_named_as_the_flag() {
        let set = |assignments: &[&str]| {
            let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
            Scenario::parse("t.toml", TEXT, Path::new(""), &assignments).map(drop).unwrap_err().to_string()
        };
        let said = set(&["seed=2", "marker.law=tyde", "duration=2 s"]);
        assert!(
            said.starts_with("--set marker.law=tyde: marker.law: unknown name `tyde`: did you mean `tide`?"),
            "{said}"
        );
        assert_eq!(set(&["ue.*.count=0"]), "--set ue.*.count=0: ue.0.count: must lie between 1 and 4096 UEs, not 0");
        let said = set(&["duration=1 hour", "marker.law=tyde"]);
        let beginnings = ["--set duration=1 hour: duration: ", "--set marker.law=tyde: marker.law: "];
        assert!(said.lines().zip(beginnings).all(|(line, begin)| line.starts_with(begin)), "{said}");
        assert_eq!(said.lines().count(), 2, "{said}");
    }

    #[test]
    fn an_error_of_the_file_keeps_its_line_beside_one_of_a_flag() {
        let text = TEXT.replace("round_trip", "sender = { controller = \"cubc\" }\nround_trip");
        let assignments = ["description=other".to_string(), "marker.law=tyde".to_string()];
        let said = Scenario::parse("t.toml", &text, Path::new(""), &assignments).map(drop).unwrap_err().to_string();
        let lines: Vec<_> = said.lines().collect();
        assert!(lines[0].starts_with("t.toml:11: flow.0.sender.controller: unknown name `cubc`"), "{said}");
        assert!(lines[1].starts_with("--set marker.law=tyde: marker.law: unknown name `tyde`"), "{said}");
    }

    #[test]
    fn all_that_is_wrong_with_the_form_is_named_at_once() {
        let text = TEXT
            .replace("[[ue]]", "sed = 2\n[marker]\nlaw = \"tyde\"\n[[ue]]\nchannel = { model = \"static\", snr = 3 }");
        let said = Scenario::parse("t.toml", &text, Path::new(""), &[]).map(drop).unwrap_err().to_string();
        let lines: Vec<_> = said.lines().collect();
        assert_eq!(lines.len(), 3, "{said}");
        assert!(lines[0].contains("t.toml:5: sed:") && lines[0].contains("did you mean `seed`?"), "{said}");
        assert!(lines[1].contains("t.toml:7: marker.law: unknown name `tyde`"), "{said}");
        assert!(lines[2].contains("t.toml:9: ue.0.channel.snr:") && lines[2].contains("`snr_db`"), "{said}");
    }

    #[test]
    fn a_long_run_of_many_has_a_long_interval_unless_it_names_one() {
        let interval = |assignments: &[&str]| {
            let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
            let scenario = Scenario::parse("t.toml", TEXT, Path::new(""), &assignments).unwrap();
            (scenario.sample_interval(), scenario.outline())
        };
        assert_eq!(interval(&[]).0, Duration::from_millis(100));
        // 500 UEs and as many flows for an hour: 720 intervals.
        let (long, outline) = interval(&["duration=3600 s", "ue.0.count=500"]);
        assert_eq!(long, Duration::from_secs(10));
        assert!(outline.ends_with("series of 360000 rows"), "{outline}");
        let wish = interval(&["duration=3600 s", "ue.0.count=500", "sample_interval=1 s"]);
        assert_eq!(wish.0, Duration::from_secs(1));
    }

    #[test]
    fn what_is_wrong_is_named_with_line_key_and_what_would_be_right() {
        assert_eq!(with("seed=2"), "accepted");
        let filter = |text: &str| format!("ue.0.drb=[{{ qos_flow = [{{ filter = [{{ {text} }}] }}] }}]");
        assert_eq!(with(&filter("remote_port = 443, local_address = \"::1\", protocol = 17")), "accepted");
        for (assignment, line, key, right) in [
            ("duration=0 s", 3, "duration", "above 0 s"),
            ("duration=-1 s", 3, "duration:", "zero or more"),
            ("duration=5", 3, "duration:", "10 ms"),
            ("warmup=1 s", 4, "warmup", "shorter"),
            ("sample_interval=2 s", 4, "sample_interval", "duration"),
            ("cell.prbs=0", 0, "cell.prbs", "between 1 and 275"),
            ("cell.f1u.delay=5 s", 0, "cell.f1u.delay", "at most 1 s"),
            ("network.sites=3", 0, "network.sites", "1, 7 or 19"),
            ("network.sites=7", 0, "ue.0.channel", "deployed"),
            ("cell={ prbs = 51, bandwidth_mhz = 20 }", 0, "cell.prbs:", "already says 51: leave one"),
            ("cell.mcs_table=2", 0, "cell.mcs_table:", "`qam64` or `qam256`"),
            ("cell.scheduler=round-robin", 0, "cell.scheduler:", "{ kind = \"round-robin\" }"),
            (
                "cell.scheduler={ kind = \"delay-based\", threshold = \"5 ms\" }",
                0,
                "cell.scheduler.threshold:",
                "lifts = [80]",
            ),
            ("cell.queue_sdus=5", 0, "cell.queue_sdus:", "is a field of `ue.rlc`"),
            ("network.handover={ hysteresis_db = -1 }", 0, "network.handover.hysteresis_db", "between 0 and 30"),
            ("ue.0.channel={ model = \"deployed\" }", 0, "ue.0.channel.model", "[network]"),
            ("marker.law=magic", 0, "", "l4span"),
            ("marker=l4span", 0, "marker:", "{ law = \"l4span\" }"),
            ("flow.0.sender=prague", 0, "flow.0.sender:", "{ controller = \"prague\" }"),
            ("flow.0.app=web", 0, "flow.0.app:", "{ app = \"bulk\" }"),
            ("ue.0.count=0", 0, "ue.0.count", "between 1 and 4096 UEs"),
            ("ue.0.channel={ model = \"static\", snr_db = 99 }", 0, "ue.0.channel.snr_db", "between"),
            ("ue.0.chanel=1", 0, "", "chanel"),
            ("ue.0.five_qi=81", 0, "ue.0.five_qi", "standardised"),
            ("ue.0.channel=pedestrian", 0, "ue.0.channel:", "{ model = \"pedestrian\""),
            ("ue.0.rlc={ pdcp_sn = 12 }", 0, "ue.0.rlc.pdcp_sn:", "write \"12\""),
            ("ue.0.rlc={ pdcp_sn = 16 }", 0, "ue.0.rlc.pdcp_sn:", "`12` or `18`"),
            ("ue.0.rlc={ pdcp_sn = \"12\" }", 0, "ue.0.rlc.queue_sdus:", "1 to 2048"),
            ("ue.0.rlc.queue_sdus=131073", 0, "ue.0.rlc.queue_sdus:", "half of the 18-bit SNs"),
            ("ue.0.drb=[{ five_qi = 80 }]", 0, "ue.0.drb.0.five_qi:", "is a field of `ue.drb.qos_flow`"),
            ("ue.0.drb=[{}]", 0, "ue.0.drb.0.qos_flow", "at least one"),
            ("ue.0.drb=[{ qos_flow = [{ qfi = 2, five_qi = 89 }] }]", 0, "ue.0.drb.0.qos_flow.0.gbr", "GBR 5QI"),
            (filter("ecn = [\"l4s\"]").as_str(), 0, "", "ect1"),
            (filter("remote_address = \"10.0.0.9/8\"").as_str(), 0, "remote_address:", "10.0.0.0/8"),
            (filter("remote_port = \"9-8\"").as_str(), 0, "remote_port:", "8-9"),
            (filter("protocol = \"quic\"").as_str(), 0, "protocol:", "udp"),
            (filter("traffic_class = \"0xB8\"").as_str(), 0, "traffic_class:", "0xB8/0xFC"),
            (filter("dscp = [64]").as_str(), 0, "ue.0.drb.0.qos_flow.0.filter.0.dscp", "0 to 63"),
            (
                filter("protocol = \"icmp\", local_port = 7").as_str(),
                0,
                "ue.0.drb.0.qos_flow.0.filter.0.local_port",
                "tcp, udp",
            ),
            (filter("precedence = 256").as_str(), 0, "precedence", "from 0 to 255"),
            ("flow.0.dscp=64", 0, "flow.0.dscp", "at most 63 (six bits"),
            ("flow.0.remote_address=::1", 0, "remote_address", "IPv4"),
            (
                "policy=[{ five_qi = 0, marker = { law = \"step\" } }]",
                0,
                "policy.0.five_qi",
                "between 1 and 255, not 0",
            ),
            ("ue.0.anbr={ query_prohibit = \"1 s\" }", 0, "ue.0.anbr.query_prohibit", "800 ms"),
            ("ue.0.uplink_marker={ law = \"codel\" }", 0, "ue.0.uplink_marker.law", "ramp"),
            ("cell.uplink.sr_period=1 s", 0, "cell.uplink.sr_period", "640 ms"),
            ("flow.0.qfi=3", 0, "flow.0.qfi", "leave it out"),
            ("flow.0.ue=b", 10, "flow.0.ue", "use one of a"),
            ("flow.0.round_trip=1 h", 11, "flow.0.round_trip:", "ms"),
            ("flow.0.jitter=2 ms", 0, "flow.0.jitter", "6th of round_trip"),
            ("flow.0.app={ app = \"bulk\", start = \"2 s\", stop = \"1 s\" }", 0, "flow.0.app", "stop"),
            ("flow.0.sender.controller=magic", 0, "", "prague"),
            ("flow.0.sender={ controller = \"udp\" }", 0, "flow.0.app:", "app = \"constant\", or a `size`"),
            ("flow.0.sender={ controller = \"scream\" }", 0, "flow.0.app:", "app = \"video\""),
            ("cell.tdd=DDDDDSU", 0, "cell.tdd:", "has 7 slots: at this numerology use 1, 2, 4, 5,"),
            ("cell={ tdd = \"SU\", special_symbols = 1 }", 0, "cell.special_symbols:", "a D in `tdd`"),
            ("cell.scheduler={ kind = \"oldest-first\", lifts = [80] }", 0, "cell.scheduler.lifts:", "unknown field"),
            (
                "cell.scheduler={ kind = \"round-robin\", window = \"5 ms\" }",
                0,
                "cell.scheduler.window:",
                "unknown field",
            ),
            ("cell.scheduler={ kind = \"max-rate\", window = \"5 ms\" }", 0, "", "unknown field `window`"),
            ("cell.scheduler={ kind = \"strict-priority\", window = \"5 ms\" }", 0, "", "unknown field `window`"),
            (
                "ue.0.channel={ model = \"deployed\", mobility = { kind = \"still\", speed_kmh = 4000 } }",
                0,
                "",
                "unknown field `speed_kmh`",
            ),
            ("network={ carrier_ghz = 30 }", 0, "network.carrier_ghz:", "set cell.numerology to 2 or 3"),
            ("ue.0.rlc.max_retransmissions=33", 0, "ue.0.rlc.max_retransmissions:", "between 1 and 32"),
            ("ue.0.channel={ model = \"fixed\", rate = \"21 Gbit/s\" }", 0, "ue.0.channel.rate:", "20 Gbit/s"),
            ("ue.0.count=4097", 0, "ue.0.count:", "4096 UEs"),
            ("router=[{ name = \"r\" }]", 0, "missing field `rate`: Rate of its link", "at the start"),
        ] {
            let message = with(assignment);
            assert!(message.starts_with("t.toml:"), "{assignment}: {message}");
            assert!(message.contains(key) && message.contains(right), "{assignment}: {message}");
            if line > 0 {
                assert!(message.starts_with(&format!("t.toml:{line}:")), "{assignment}: {message}");
            }
        }
    }

    #[test]
    fn several_antennas_of_a_sector_send_one_layer() {
        let with = |assignments: &[&str]| {
            let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
            Scenario::parse("t.toml", TEXT, Path::new(""), &assignments)
        };
        let antennas = ["network={ antennas = 4 }", "ue.0.channel={ model = \"deployed\" }", "cell.layers=2"];
        assert!(with(&antennas[..2]).is_ok());
        let error = with(&antennas).unwrap_err().to_string();
        assert!(error.contains("network.antennas: more than one precode one layer"), "{error}");
    }

    #[test]
    fn copies_have_names_of_their_own_and_are_not_too_many() {
        let more = "\n[[ue]]\nname = \"a-1\"\n[[flow]]\nname = \"f-1\"\nue = \"a-1\"\nround_trip = \"10 ms\"\n";
        let text = format!("{TEXT}{more}");
        let with = |assignments: &[&str]| {
            let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
            Scenario::parse("t.toml", &text, Path::new(""), &assignments)
                .map_or_else(|error| error.to_string(), |_| "accepted".into())
        };
        assert_eq!(with(&[]), "accepted");
        assert_eq!(
            with(&["ue.0.count=4", "flow.0.name=g", "ue.1.name=b", "flow.1.ue=b", "flow.0.count=4095"]),
            "accepted"
        );
        let same = with(&["ue.0.count=2", "flow.0.name=g"]);
        assert!(same.contains("ue.1.name: `a-1` is the name of a copy of [[ue]] `a`"), "{same}");
        let same = with(&["flow.0.count=2"]);
        assert!(same.contains("flow.1.name: `f-1` is the name of a copy of [[flow]] `f`"), "{same}");
        let many = with(&["ue.0.count=4095", "flow.0.count=4096", "ue.1.name=b", "flow.1.ue=b"]);
        assert!(many.contains("flow.0.count: at most 16384 flows in all") && many.contains("makes 16773120"), "{many}");
    }

    #[test]
    fn what_is_wrong_with_a_router_is_named() {
        let router = |queue: &str| format!("[[router]]\nname = \"r\"\nrate = \"9 Mbit/s\"\n{queue}\n");
        let with = |queue: &str, assignment: &str| {
            let text = format!("{TEXT}\n{}\n[[router]]\nname = \"s\"\nrate = \"9 Mbit/s\"\n", router(queue));
            let text = crate::overrides::apply(&text, &[assignment.to_string()]).unwrap();
            match Scenario::parse("t.toml", &text, Path::new(""), &[]) {
                Ok(_) => "accepted".into(),
                Err(error) => error.to_string(),
            }
        };
        for path in ["\"r\"", "[\"r\", \"s\"]", "[]"] {
            assert_eq!(with("", &format!("flow.0.router={path}")), "accepted");
        }
        for queue in ["{ discipline = \"drop-tail\" }", "{ discipline = \"codel\", ecn = true, interval = \"50 ms\" }"]
        {
            assert_eq!(with(&format!("queue = {queue}"), "seed=1"), "accepted");
        }
        for (queue, assignment, key, right) in [
            ("", "flow.0.router=q", "flow.0.router:", "use one of r, s"),
            ("", "flow.0.router=[\"s\", \"q\"]", "flow.0.router:", "use one of r, s"),
            ("", "flow.0.return_router=[\"s\", \"s\"]", "flow.0.return_router:", "once"),
            ("", "flow.0.router=7", "flow.0.router:", "a list of names"),
            ("delay = \"6 ms\"", "flow.0.router=r", "flow.0.router:", "lengthen round_trip"),
            ("queue = \"codel\"", "seed=1", "router.0.queue:", "{ discipline = \"codel\" }"),
            ("queue = { discipline = \"fair\" }", "seed=1", "", "`drop-tail`"),
            ("queue = { discipline = \"drop-tail\", limit = \"1 kB\" }", "seed=1", "router.0.queue.limit:", "3000 B"),
            (
                "queue = { discipline = \"codel\", target = \"0 ms\" }",
                "seed=1",
                "router.0.queue.target:",
                "must be above 0 s, not 0 s",
            ),
            ("queue = { discipline = \"codel\", law = \"step\" }", "seed=1", "", "interval"),
        ] {
            let message = with(queue, assignment);
            assert!(message.starts_with("t.toml:"), "{queue} {assignment}: {message}");
            assert!(message.contains(key) && message.contains(right), "{queue} {assignment}: {message}");
        }
    }

    #[test]
    fn handovers_by_the_clock_have_no_place_in_a_network() {
        let moving = ["ue.0.channel={ model = \"deployed\" }", "ue.0.handovers=[\"500 ms\"]", "network.sites=7"];
        let with = |assignments: &[&str]| {
            let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
            Scenario::parse("t.toml", TEXT, Path::new(""), &assignments)
        };
        assert!(with(&moving[1..2]).is_ok() && with(&[moving[0], moving[2]]).is_ok());
        let error = with(&moving).unwrap_err().to_string();
        assert!(error.contains("ue.0.handovers: in a [network]") && error.contains("network.handover"), "{error}");
        let lost = "cell.handover.data=lost";
        assert!(with(&[lost]).is_ok());
        let error = with(&[moving[0], moving[2], lost]).unwrap_err().to_string();
        assert!(error.contains("cell.handover: ") && error.contains("network.handover has the same keys"), "{error}");
    }

    #[test]
    fn the_delays_of_routers_leave_room_for_the_jitter() {
        let text = format!("{TEXT}router = \"r\"\njitter = \"1 ms\"\n[[router]]\nname = \"r\"\nrate = \"9 Mbit/s\"\n");
        let with = |delay: &str| Scenario::parse("t.toml", &text, Path::new(""), &[format!("router.0.delay={delay}")]);
        assert!(with("2 ms").is_ok());
        let error = with("2.1 ms").unwrap_err().to_string();
        assert!(error.contains("flow.0.jitter: must be at most a 6th of 5800 us"), "{error}");
    }

    #[test]
    fn a_scenario_without_ues_is_refused() {
        let text = "name = \"t\"\nduration = \"1 s\"\nue = []\n";
        let error = Scenario::parse("t.toml", text, Path::new(""), &[]).unwrap_err().to_string();
        assert!(error.contains("t.toml:3: ue: needs at least one"), "{error}");
    }

    #[test]
    fn a_trace_that_is_missing_or_malformed_is_named() {
        let folder = std::env::temp_dir().join(format!("tidemark-trace-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        std::fs::write(folder.join("bad.mahi"), "1\n2\nthree\n").unwrap();
        std::fs::write(folder.join("empty.mahi"), "").unwrap();
        for (file, says) in
            [("none.mahi", "No such file"), ("bad.mahi", "bad.mahi:3:"), ("empty.mahi", "empty.mahi:1:")]
        {
            let assignment = format!("ue.0.channel={{ model = \"trace\", file = \"{file}\", format = \"mahimahi\" }}");
            let error = Scenario::parse("t.toml", TEXT, &folder, &[assignment]).unwrap_err().to_string();
            assert!(error.contains("ue.0.channel.file") && error.contains(says), "{error}");
        }
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
