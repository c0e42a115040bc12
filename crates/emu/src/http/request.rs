//! Request of a client: its head, which `httparse` parses, and its body.

use std::io::Read;
use std::net::{IpAddr, SocketAddr};

use httparse::{EMPTY_HEADER, Status};

use super::Answer;

/// Longest head in bytes, and largest number of its headers. Browsers send less than a quarter of both.
const MAX_HEAD: usize = 16 * 1024;
const MAX_HEADERS: usize = 64;
/// Longest body in bytes.
pub const MAX_BODY: usize = 256 * 1024;
/// Bytes of a head that are read at a time.
const CHUNK: usize = 4096;

/// A request, as far as pages need it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Request {
    /// Method, such as `GET`.
    pub method: String,
    /// Path without the query.
    pub path: String,
    /// Token of the header `Authorization: Bearer`; empty without one.
    pub token: String,
    /// Body; `None` where the request does not say its length. Bytes that are no text are U+FFFD.
    pub body: Option<String>,
    /// Address by which the client reached this machine.
    pub local: IpAddr,
    query: String,
}

/// Answer that refuses a request; `None` for a client that has gone or takes too long, which gets none.
type Refusal = Option<Answer>;

/// Head of a request, and what follows from it.
#[derive(Debug)]
struct Head {
    request: Request,
    /// Bytes of the head itself.
    size: usize,
    /// Bytes of the body; `None` where the head does not say it.
    length: Option<usize>,
}

impl Request {
    /// Value of a name in the query, without decoding of escapes.
    pub fn query(&self, name: &str) -> Option<&str> {
        let mut pairs = self.query.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Reads a request that came to the address `local`.
    ///
    /// # Errors
    /// The answer to what is no request, is too long or is not for this machine.
    pub(super) fn read(from: &mut impl Read, local: IpAddr) -> Result<Self, Refusal> {
        let (mut bytes, mut chunk) = (Vec::new(), [0; CHUNK]);
        loop {
            if let Some(Head { request, size, length }) = Head::parse(&bytes, local)? {
                let body = length.map(|length| body(bytes.split_off(size), length, from)).transpose()?;
                return Ok(Self { body, ..request });
            }
            let room = CHUNK.min(MAX_HEAD - bytes.len());
            if room == 0 {
                return Err(Some(Answer::text("431 Request Header Fields Too Large", "a head has at most 16 KiB")));
            }
            match from.read(&mut chunk[..room]).map_err(|_| None)? {
                0 => return Err(Some(no_request("its head does not end"))),
                read => bytes.extend_from_slice(&chunk[..read]),
            }
        }
    }
}

impl Head {
    /// Parses the head at the start of these bytes; `None` while it does not end there.
    fn parse(bytes: &[u8], local: IpAddr) -> Result<Option<Self>, Answer> {
        let mut headers = [EMPTY_HEADER; MAX_HEADERS];
        let mut parsed = httparse::Request::new(&mut headers);
        let Status::Complete(size) = parsed.parse(bytes).map_err(|error| no_request(&error.to_string()))? else {
            return Ok(None);
        };
        let header = |name: &str| {
            let found = parsed.headers.iter().find(|header| header.name.eq_ignore_ascii_case(name))?;
            std::str::from_utf8(found.value).ok().map(str::trim)
        };
        if !names_this_machine(header("host").unwrap_or_default()) {
            return Err(Answer::text("403 Forbidden", "name this machine by its address, or localhost"));
        }
        let target = parsed.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let token = header("authorization").and_then(|value| value.strip_prefix("Bearer ")).unwrap_or_default();
        let method = parsed.method.unwrap_or_default().into();
        let request =
            Request { method, path: path.into(), token: token.trim().into(), body: None, local, query: query.into() };
        Ok(Some(Self { request, size, length: header("content-length").map(length).transpose()? }))
    }
}

/// True for a host that is this machine by its address or as localhost. A foreign page whose name resolves to this machine must not
/// read anything (DNS rebinding).
fn names_this_machine(host: &str) -> bool {
    host.parse::<SocketAddr>().is_ok()
        || host.trim_matches(['[', ']']).parse::<IpAddr>().is_ok()
        || host.split(':').next() == Some("localhost")
}

/// Reads the length of a body in bytes.
fn length(value: &str) -> Result<usize, Answer> {
    match value.parse() {
        Ok(length) if length <= MAX_BODY => Ok(length),
        Ok(_) => Err(Answer::text("413 Content Too Large", "a body has at most 256 KiB")),
        Err(_) => Err(no_request("its Content-Length must be a number of bytes")),
    }
}

/// Reads a body of this length, of which the first bytes came with the head.
fn body(mut bytes: Vec<u8>, length: usize, from: &mut impl Read) -> Result<String, Refusal> {
    let read = bytes.len().min(length);
    bytes.resize(length, 0);
    from.read_exact(&mut bytes[read..]).map_err(|_| None)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn no_request(reason: &str) -> Answer {
    Answer::text("400 Bad Request", format!("this is not an HTTP request: {reason}"))
}

#[cfg(test)]
mod tests {
    use std::net::Ipv4Addr;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// Bytes that come a few at a time, with the number of those that were read.
    struct Slow<'a> {
        bytes: &'a [u8],
        at_a_time: usize,
        read: usize,
    }

    impl Read for Slow<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let length = buffer.len().min(self.at_a_time);
            let read = self.bytes.read(&mut buffer[..length])?;
            self.read += read;
            Ok(read)
        }
    }

    /// Request in these bytes or status of its refusal, and the number of bytes that were read.
    fn read(bytes: &[u8], at_a_time: usize) -> (Result<Request, String>, usize) {
        let mut slow = Slow { bytes, at_a_time, read: 0 };
        let request = Request::read(&mut slow, Ipv4Addr::LOCALHOST.into());
        (request.map_err(|refusal| format!("{refusal:?}")), slow.read)
    }

    /// Request in these bytes, which is one.
    fn request(text: &str) -> Request {
        read(text.as_bytes(), usize::MAX).0.unwrap()
    }

    #[test]
    fn a_request_is_read_to_its_end() {
        let request = request(
            "POST /ctl?a&b=1&c= HTTP/1.1\r\nhOST: localhost:80\r\nAuthorization: Bearer 0aF\r\ncontent-length: 4\r\n\r\nbodyGET /",
        );
        let Request { method, path, token, body, .. } = &request;
        assert_eq!(
            (method.as_str(), path.as_str(), token.as_str(), body.as_deref()),
            ("POST", "/ctl", "0aF", Some("body"))
        );
        assert_eq!(["a", "b", "c"].map(|name| request.query(name)), [None, Some("1"), Some("")]);
    }

    #[test]
    fn a_request_names_this_machine() {
        let status = |headers: &str| read(format!("GET / HTTP/1.1\r\n{headers}\r\n").as_bytes(), usize::MAX).0;
        for host in ["localhost", "localhost:1", "127.0.0.1", "100.96.0.1:8080", "::1", "[::1]", "[fe80::1]:80"] {
            assert!(status(&format!("Host: {host}\r\n")).is_ok(), "{host}");
        }
        for host in ["", "Host: \r\n", "Host: evil.example\r\n", "Host: localhost.evil.example\r\n", "Host: 1.evil\r\n"]
        {
            assert!(status(host).unwrap_err().contains("403"), "{host}");
        }
    }

    #[test]
    fn a_refusal_names_what_is_wrong() {
        let post = |headers: &str| format!("POST / HTTP/1.1\r\nHost: localhost\r\n{headers}\r\n\r\n");
        let endless = format!("GET /{}", "x".repeat(2 * MAX_HEAD));
        for (text, status) in [
            ("", "400"),
            ("GET / HTTP/1.1\r\nHost: localhost\r\n", "400"),
            ("POST\r\n\r\n", "400"),
            (&endless, "431"),
            (&post(&"A: b\r\n".repeat(MAX_HEADERS)), "400"),
            (&post("Content-Length: -1"), "400"),
            (&post("Content-Length: 262145"), "413"),
            (&post("Content-Length: 2"), "None"),
        ] {
            let (refused, read) = read(text.as_bytes(), usize::MAX);
            assert!(refused.unwrap_err().contains(status) && read <= MAX_HEAD, "{status}: {read}");
        }
        assert_eq!(request("GET / HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic 0aF\r\n\r\n").token, "");
    }

    /// Bytes of any kind, and parts of requests.
    fn anything() -> impl Strategy<Value = Vec<u8>> {
        let part = prop_oneof![
            Just(b"POST /a?b=c HTTP/1.1\r\n".to_vec()),
            Just(b"Host: localhost\r\n".to_vec()),
            (0..20_u32).prop_map(|length| format!("Content-Length: {length}\r\n").into_bytes()),
            Just(b"\r\n".to_vec()),
            Just(vec![b'x'; 9_000]),
            vec(any::<u8>(), 0..40),
        ];
        vec(part, 0..9).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn bytes_are_read_within_limits_and_alike_in_any_pieces(bytes in anything(), at_a_time in 1..50_usize) {
            let (whole, read_whole) = read(&bytes, usize::MAX);
            let (slow, read_slow) = read(&bytes, at_a_time);
            prop_assert_eq!(whole, slow);
            prop_assert!(read_whole <= MAX_HEAD + MAX_BODY && read_slow <= read_whole);
        }
    }
}
