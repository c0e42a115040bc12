//! HTTP for the pages of a running program: one request a connection, each in its own thread, bounded in number, size and time.
//!
//! A page has a few connections, and its server stands beside threads that must never wait. So there is no runtime: the head is
//! parsed by `httparse`, which is hyper's parser, and the rest of a request and of an answer is a length and bytes.

mod answer;
mod connections;
mod request;

use std::io;
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

pub use self::answer::{Answer, Events};
use self::connections::{Connections, Deadline};
pub use self::request::{MAX_BODY, Request};

/// Time for a whole request, and for a whole answer or event.
const PATIENCE: Duration = Duration::from_secs(5);

/// Serves until the process ends. Clients that do not name this machine are refused.
pub fn serve(listener: TcpListener, answer: impl Fn(&Request) -> Answer + Send + Sync + 'static) {
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

fn exchange(stream: &TcpStream, answer: &impl Fn(&Request) -> Answer, has_asked: impl FnOnce()) -> io::Result<()> {
    let request = Request::read(&mut Deadline::new(stream, PATIENCE), stream.local_addr()?.ip().to_canonical());
    has_asked();
    match request {
        Ok(request) => answer(&request).send(Deadline::new(stream, PATIENCE)),
        Err(Some(refusal)) => refusal.send(Deadline::new(stream, PATIENCE)),
        Err(None) => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::net::SocketAddr;

    use super::connections::MAX_CONNECTIONS;
    use super::*;

    fn start() -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        serve(listener, |request| match request.path.as_str() {
            "/events" => Answer::events(|events| {
                events.send("past", "[]")?;
                events.send("", "1")
            }),
            _ => {
                let Request { method, path, local, .. } = request;
                let (l4s, length) = (request.query("l4s"), request.body.as_ref().map(String::len));
                Answer::text("200 OK", format!("{method} {path} {l4s:?} {length:?} {local}")).at("/there".into())
            }
        });
        address
    }

    /// Whole answer to a request with this text, in which HERE is the server.
    fn ask(address: SocketAddr, text: &str) -> String {
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
        let text = format!("POST /whep?a=b&l4s=0 HTTP/1.1\r\nHost: HERE\r\nContent-Length: 100000\r\n\r\n{body}");
        let answer = ask(start(), &text);
        assert!(answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.contains("\r\nLocation: /there\r\n"), "{answer}");
        assert!(answer.ends_with("\r\n\r\nPOST /whep Some(\"0\") Some(100000) 127.0.0.1\n"), "{answer}");
    }

    #[test]
    fn what_is_no_request_or_too_long_or_for_another_host_is_refused() {
        let address = start();
        let too_long = format!("POST / HTTP/1.1\r\nHost: HERE\r\nContent-Length: {}\r\n\r\n", MAX_BODY + 1);
        for (text, status) in [
            ("no request\r\n\r\n", "400"),
            (&too_long, "413"),
            ("GET / HTTP/1.1\r\nHost: evil.example\r\n\r\n", "403"),
            ("GET / HTTP/1.1\r\nHost: localhost:8080\r\n\r\n", "200"),
        ] {
            let answer = ask(address, text);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{text}: {answer}");
        }
    }

    #[test]
    fn events_follow_their_head() {
        let answer = ask(start(), "GET /events HTTP/1.1\r\nHost: HERE\r\n\r\n");
        assert!(
            answer.contains("Content-Type: text/event-stream\r\n") && !answer.contains("Content-Length"),
            "{answer}"
        );
        assert!(answer.ends_with("\r\n\r\nevent: past\ndata: []\n\ndata: 1\n\n"), "{answer}");
    }

    #[test]
    fn connections_that_ask_for_nothing_do_not_block_the_page() {
        let address = start();
        let slow: Vec<_> = (0..2 * MAX_CONNECTIONS)
            .map(|_| {
                let mut stream = TcpStream::connect(address).unwrap();
                // An evicted one may be closed already.
                let _ = stream.write_all(b"G");
                stream
            })
            .collect();
        assert!(ask(address, "GET / HTTP/1.1\r\nHost: HERE\r\n\r\n").starts_with("HTTP/1.1 200"));
        drop(slow);
    }
}
