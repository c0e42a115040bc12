//! `--web`: serves the live view as a page with server-sent events, and Prometheus' counters, on loopback only. `--web-control`
//! adds commands.

mod desk;

use std::io;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use miette::{Result, miette};
use tidemark_emu::http::{self, Answer, Events, Request};

pub(crate) use self::desk::{Commands, Desk};
use super::exposition::CONTENT_TYPE;

const PERIOD: Duration = Duration::from_millis(250);

/// State of a running live cell, CU or hop, as text; `None` once it has ended.
pub(crate) trait Source: Send + Sync + 'static {
    /// Figures since the start as JSON, which a page loads first.
    fn past(&self) -> String;
    /// State as JSON.
    fn status(&self) -> Option<String>;
    /// Counters in Prometheus' text format.
    fn metrics(&self) -> Option<String>;
}

/// Served parts of a cell.
struct Site<S> {
    source: Arc<S>,
    /// Commands, if the page may send them.
    desk: Option<Desk>,
}

/// Serves until the process ends; gives the address.
pub(super) fn start<S: Source>(port: u16, source: Arc<S>, desk: Option<Desk>) -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| miette!("--web {port}: {error}"))?;
    let address = listener.local_addr().map_err(|error| miette!("--web {port}: {error}"))?;
    let site = Arc::new(Site { source, desk });
    http::serve(listener, move |request| Site::answer(&site, request));
    Ok(address)
}

impl<S: Source> Site<S> {
    fn answer(site: &Arc<Self>, request: &Request) -> Answer {
        match (request.method.as_str(), request.path.as_str(), &site.desk) {
            ("GET", "/", _) => Answer::page(tidemark_report::LIVE),
            ("GET", "/metrics", _) => Answer::new("200 OK", CONTENT_TYPE, site.source.metrics().unwrap_or_default()),
            ("GET", "/events", _) => {
                let site = Arc::clone(site);
                Answer::events(move |events| site.tell(events))
            }
            ("POST", "/ctl", Some(desk)) => desk.answer(request),
            _ => Answer::text("404 Not Found", "there are /, /events and /metrics"),
        }
    }

    /// Sends the state until it ends.
    fn tell(&self, events: &mut Events<'_>) -> io::Result<()> {
        events.send("past", &self.source.past())?;
        let mut shown = None;
        while let Some(now) = self.source.status() {
            let controls = self.desk.as_ref().map(Desk::controls);
            if let Some(controls) = controls.as_ref().filter(|_| controls != shown) {
                events.send("controls", controls)?;
            }
            shown = controls;
            events.send("", &now)?;
            thread::sleep(PERIOD);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::TcpStream;

    use super::*;
    use crate::live::watch::Board;

    /// First bytes of the answer to a request with this text, up to the end or to this many.
    fn ask(address: SocketAddr, request: &str, most: u64) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = Vec::new();
        stream.take(most).read_to_end(&mut answer).unwrap();
        String::from_utf8_lossy(&answer).into_owned()
    }

    fn get(address: SocketAddr, path: &str, host: &str) -> String {
        ask(address, &format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n"), 90)
    }

    #[test]
    fn the_page_the_events_and_the_counters_are_served_to_this_machine_only() {
        let address = start(0, Arc::new(Board::default()), None).unwrap();
        assert!(address.ip().is_loopback());
        let here = address.to_string();
        for (path, kind) in [("/", "text/html"), ("/events", "text/event-stream"), ("/metrics", "text/plain")] {
            assert!(get(address, path, &here).contains(kind), "{path}");
        }
        assert!(get(address, "/etc", &here).starts_with("HTTP/1.1 404"));
        assert!(get(address, "/events", "evil.example").starts_with("HTTP/1.1 403"));
    }

    /// Repeats commands, and refuses `no`.
    struct Echo;

    impl Commands for Echo {
        fn controls(&self) -> String {
            "{\"ues\":[]}".into()
        }
        fn handle(&self, words: &[&str]) -> std::result::Result<String, String> {
            if words == ["no"] { Err("refused".into()) } else { Ok(words.join("|")) }
        }
    }

    /// Server with commands, and its token.
    fn controlled() -> (SocketAddr, String) {
        let desk = Desk::new(Arc::new(Echo)).unwrap();
        let token = desk.fragment().strip_prefix("#token=").unwrap().to_string();
        (start(0, Arc::new(Board::default()), Some(desk)).unwrap(), token)
    }

    fn post(address: SocketAddr, headers: &str, body: &str) -> String {
        let length = body.len();
        let request =
            format!("POST /ctl HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\n{headers}\r\n{body}");
        ask(address, &request, u64::MAX)
    }

    #[test]
    fn commands_are_taken_from_whoever_has_the_token() {
        let (address, token) = controlled();
        let own = format!("Authorization: Bearer {token}\r\n");
        let answer = post(address, &own, "outage\nue\n500 ms");
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.ends_with("\r\n\r\noutage|ue|500 ms"), "{answer}");
        let refused = post(address, &own, "no");
        assert!(refused.starts_with("HTTP/1.1 400") && refused.ends_with("refused\n"), "{refused}");
        let wrong = format!("Authorization: Bearer {}\r\n", "0".repeat(32));
        for headers in ["", wrong.as_str(), "Authorization: Bearer \r\n"] {
            assert!(post(address, headers, "no").starts_with("HTTP/1.1 403"), "{headers}");
        }
        let without = start(0, Arc::new(Board::default()), None).unwrap();
        assert!(post(without, &own, "no").starts_with("HTTP/1.1 404"));
        assert!(get(address, "/ctl", &address.to_string()).starts_with("HTTP/1.1 404"), "commands are posted");
    }

    #[test]
    fn a_command_has_a_length_and_a_host_of_this_machine() {
        let (address, token) = controlled();
        let here = address.to_string();
        for (host, rest, status) in [(here.as_str(), "", "411"), ("evil.example", "Content-Length: 0\r\n", "403")] {
            let head = format!("POST /ctl HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{rest}\r\n");
            let answer = ask(address, &head, 90);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{rest}: {answer}");
        }
        let whole = post(address, &format!("Authorization: Bearer {token}\r\n"), &"x".repeat(65_535));
        assert!(whole.starts_with("HTTP/1.1 200"));
    }

    #[test]
    fn the_page_gets_the_controls_once_and_only_where_there_are_commands() {
        let request = |address| ask(address, &format!("GET /events HTTP/1.1\r\nHost: {address}\r\n\r\n"), 2_000);
        let text = request(controlled().0);
        assert_eq!(text.matches("event: controls\ndata: {\"ues\":[]}\n\n").count(), 1, "{text}");
        assert!(!request(start(0, Arc::new(Board::default()), None).unwrap()).contains("controls"));
    }
}
