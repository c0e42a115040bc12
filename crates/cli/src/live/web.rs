//! `--web`: serves the live view as a page with server-sent events, and Prometheus' counters, on loopback only.

use std::io::{BufRead as _, BufReader, Read as _, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use miette::{Result, miette};
use tidemark_emu::{Connections, Deadline};

/// Time for a whole request head, and for a whole answer or event.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest request head in bytes.
const MAX_HEAD: u64 = 16 * 1024;
const PERIOD: Duration = Duration::from_millis(250);

/// State of a running live cell or CU, as text; `None` once it has ended.
pub(crate) trait Source: Send + Sync + 'static {
    /// The page that shows the state.
    const PAGE: Option<&'static str>;
    /// Figures since the start as JSON, which a page loads first; `None` if they are not recorded.
    fn past(&self) -> Option<String> {
        None
    }
    /// State as JSON.
    fn status(&self) -> Option<String>;
    /// Counters in Prometheus' text format.
    fn metrics(&self) -> Option<String>;
}

/// Serves until the process ends; gives the address.
pub(super) fn start<S: Source>(port: u16, shared: Arc<S>) -> Result<SocketAddr> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).map_err(|error| miette!("--web {port}: {error}"))?;
    let address = listener.local_addr().map_err(|error| miette!("--web {port}: {error}"))?;
    let connections = Arc::new(Connections::default());
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(Some(connection)) = Connections::admit(&connections, &stream) else { continue };
            let shared = Arc::clone(&shared);
            thread::spawn(move || {
                // A browser that has gone is not an error.
                let _ = answer(&stream, &*shared, || connection.has_asked());
            });
        }
    });
    Ok(address)
}

fn answer<S: Source>(stream: &TcpStream, shared: &S, has_asked: impl FnOnce()) -> std::io::Result<()> {
    let mut lines = BufReader::new(Deadline::new(stream, PATIENCE).take(MAX_HEAD)).lines();
    let request = lines.next().transpose()?.unwrap_or_default();
    let mut host = String::new();
    for line in lines {
        let line = line?;
        if line.is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("host")
        {
            host = value.trim().into();
        }
    }
    has_asked();
    let mut stream = Deadline::new(stream, PATIENCE);
    // A foreign page whose name resolves to this machine must not read anything (DNS rebinding).
    let name = host.rsplit_once(':').map_or(host.as_str(), |(name, _)| name);
    if !matches!(name, "localhost" | "127.0.0.1") {
        return reply(&mut stream, "403 Forbidden", "text/plain", "this page is for this machine only\n");
    }
    let path = request.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    match (path, S::PAGE) {
        (Some("/"), Some(page)) => reply(&mut stream, "200 OK", "text/html; charset=utf-8", page),
        (Some("/metrics"), _) => {
            reply(&mut stream, "200 OK", "text/plain; version=0.0.4", &shared.metrics().unwrap_or_default())
        }
        (Some("/events"), _) => events(stream, shared),
        (_, Some(_)) => reply(&mut stream, "404 Not Found", "text/plain", "there are /, /events and /metrics\n"),
        (_, None) => reply(&mut stream, "404 Not Found", "text/plain", "there are /events and /metrics\n"),
    }
}

fn reply(stream: &mut impl Write, status: &str, kind: &str, body: &str) -> std::io::Result<()> {
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nCache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'self' 'unsafe-inline'; img-src data:\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn events(mut stream: Deadline<'_>, shared: &impl Source) -> std::io::Result<()> {
    let head =
        "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nCache-Control: no-store\r\nConnection: close\r\n\r\n";
    stream.write_all(head.as_bytes())?;
    if let Some(past) = shared.past() {
        write!(stream, "event: past\ndata: {past}\n\n")?;
    }
    while let Some(now) = shared.status() {
        stream.renew(PATIENCE);
        write!(stream, "data: {now}\n\n")?;
        thread::sleep(PERIOD);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use tidemark_emu::MAX_CONNECTIONS;

    use super::*;
    use crate::live::watch::Board;

    fn get(address: SocketAddr, path: &str, host: &str) -> String {
        let mut stream = TcpStream::connect(address).unwrap();
        write!(stream, "GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").unwrap();
        let head = BufReader::new(stream).lines().map(Result::unwrap).take_while(|line| !line.is_empty());
        head.collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn the_page_the_events_and_the_counters_are_served_to_this_machine_only() {
        let address = start(0, Arc::new(Board::default())).unwrap();
        assert!(address.ip().is_loopback());
        let here = address.to_string();
        for (path, kind) in [("/", "text/html"), ("/events", "text/event-stream"), ("/metrics", "text/plain")] {
            assert!(get(address, path, &here).contains(kind), "{path}");
        }
        assert!(get(address, "/etc", &here).starts_with("HTTP/1.1 404"));
        assert!(get(address, "/events", "evil.example").starts_with("HTTP/1.1 403"));
    }

    #[test]
    fn connections_that_ask_for_nothing_do_not_block_the_page() {
        let address = start(0, Arc::new(Board::default())).unwrap();
        let slow: Vec<_> = (0..2 * MAX_CONNECTIONS)
            .map(|_| {
                let mut stream = TcpStream::connect(address).unwrap();
                // An evicted one may be closed already.
                let _ = stream.write_all(b"G");
                stream
            })
            .collect();
        assert!(get(address, "/", &address.to_string()).contains("text/html"));
        drop(slow);
    }
}
