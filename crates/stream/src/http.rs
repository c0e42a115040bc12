//! HTTP for one page and WHEP: one request per connection, bounded in size and time.

use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use tidemark_emu::{Connections, Deadline};

/// Time for a whole request, and for a whole answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// Longest request head, and longest body, in bytes.
const MAX_HEAD: u64 = 16 * 1024;
const MAX_BODY: usize = 256 * 1024;

/// A request.
#[derive(Debug, Default)]
pub(crate) struct Request {
    pub(crate) method: String,
    pub(crate) path: String,
    query: String,
    host: String,
    pub(crate) body: String,
    /// Token of the header `Authorization: Bearer`; empty without one.
    pub(crate) token: String,
    /// Address by which the client reached this machine.
    pub(crate) local: Option<IpAddr>,
}

impl Request {
    /// A value of the query, without decoding of escapes.
    pub(crate) fn query(&self, name: &str) -> Option<&str> {
        self.query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .find(|(key, _)| *key == name)
            .map(|(_, value)| value)
    }

    /// True for a client that named this machine by its address or localhost. A foreign page whose name resolves to this machine must have
    /// no access (DNS rebinding).
    fn is_for_this_machine(&self) -> bool {
        let host = &self.host;
        host.parse::<SocketAddr>().is_ok()
            || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
            || host.split(':').next() == Some("localhost")
    }
}

/// An answer.
#[derive(Debug)]
pub(crate) struct Answer {
    status: &'static str,
    kind: &'static str,
    location: Option<String>,
    body: String,
}

impl Answer {
    pub(crate) fn new(status: &'static str, kind: &'static str, body: impl Into<String>) -> Self {
        Self { status, kind, location: None, body: body.into() }
    }
    pub(crate) fn text(status: &'static str, body: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", body.into() + "\n")
    }
    pub(crate) fn at(self, location: String) -> Self {
        Self { location: Some(location), ..self }
    }
}

/// Serves until the process ends, each connection in its own thread.
pub(crate) fn serve(listener: TcpListener, answer: impl Fn(Request) -> Answer + Send + Sync + 'static) {
    let (connections, answer) = (Arc::new(Connections::default()), Arc::new(answer));
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let Ok(Some(connection)) = Connections::admit(&connections, &stream) else { continue };
            let answer = Arc::clone(&answer);
            thread::spawn(move || {
                // A browser that has gone is not an error.
                let _ = exchange(&stream, &*answer, || connection.has_asked());
            });
        }
    });
}

fn exchange(stream: &TcpStream, answer: &impl Fn(Request) -> Answer, has_asked: impl FnOnce()) -> io::Result<()> {
    let request = read(stream)?;
    has_asked();
    let answer = match request {
        None => Answer::text("400 Bad Request", "this is not an HTTP request with a body of at most 256 KiB"),
        Some(request) if !request.is_for_this_machine() => {
            Answer::text("403 Forbidden", "name this machine by its address, or localhost")
        }
        Some(request) => answer(request),
    };
    let mut stream = Deadline::new(stream, PATIENCE);
    let Answer { status, kind, location, body } = answer;
    let location = location.map_or_else(String::new, |location| format!("Location: {location}\r\n"));
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n{location}Cache-Control: no-store\r\n\
         Content-Security-Policy: default-src 'self' 'unsafe-inline'\r\nConnection: close\r\n\r\n{body}",
        body.len()
    )
}

/// Reads a request; `None` for an invalid or overlong one.
fn read(stream: &TcpStream) -> io::Result<Option<Request>> {
    let mut reader = BufReader::new(Deadline::new(stream, PATIENCE).take(MAX_HEAD));
    let mut request = Request { local: Some(stream.local_addr()?.ip().to_canonical()), ..Request::default() };
    let mut length = 0;
    let mut line = String::new();
    reader.read_line(&mut line)?;
    let mut words = line.split_whitespace();
    let (Some(method), Some(target)) = (words.next(), words.next()) else { return Ok(None) };
    request.method = method.into();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    (request.path, request.query) = (path.into(), query.into());
    loop {
        line.clear();
        if reader.read_line(&mut line)? == 0 {
            return Ok(None);
        }
        let Some((name, value)) = line.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "host" => request.host = value.trim().into(),
            "authorization" => request.token = value.trim().strip_prefix("Bearer ").unwrap_or_default().into(),
            "content-length" => length = value.trim().parse().unwrap_or(usize::MAX),
            _ => {}
        }
    }
    if length > MAX_BODY {
        return Ok(None);
    }
    // The reader's buffer has the bytes that came with the head; the rest may be longer than a head.
    reader.get_mut().set_limit(length as u64);
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    request.body = String::from_utf8(body).unwrap_or_default();
    Ok(Some(request))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ask(text: &str) -> String {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        serve(listener, |request| {
            let Request { method, path, body, .. } = &request;
            Answer::text("200 OK", format!("{method} {path} {:?} {}", request.query("l4s"), body.len()))
                .at("/there".into())
        });
        let mut stream = TcpStream::connect(address).unwrap();
        stream.write_all(text.replace("HERE", &address.to_string()).as_bytes()).unwrap();
        let mut all = String::new();
        // A connection refused in the middle of its body may be reset.
        let _ = stream.read_to_string(&mut all);
        all
    }

    #[test]
    fn a_request_has_its_path_query_and_body() {
        let body = "v".repeat(100_000);
        let answer =
            ask(&format!("POST /whep?a=b&l4s=0 HTTP/1.1\r\nHost: HERE\r\nContent-Length: 100000\r\n\r\n{body}"));
        assert!(answer.starts_with("HTTP/1.1 200 OK") && answer.contains("Location: /there"), "{answer}");
        assert!(answer.ends_with("POST /whep Some(\"0\") 100000\n"), "{answer}");
    }

    #[test]
    fn what_is_no_request_or_too_long_or_for_another_host_is_refused() {
        assert!(ask("\r\n\r\n").starts_with("HTTP/1.1 400"));
        assert!(ask("POST / HTTP/1.1\r\nHost: HERE\r\nContent-Length: 999999\r\n\r\n").starts_with("HTTP/1.1 400"));
        assert!(ask("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n").starts_with("HTTP/1.1 403"));
        assert!(ask("GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n").starts_with("HTTP/1.1 200"));
    }
}
