//! Head of a browser's request.

use std::io::{self, BufRead, Read as _};

/// Longest head in bytes.
const MAX_LENGTH: u64 = 16 * 1024;

/// Request line and headers, as far as the server needs them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// `GET` or `POST`.
    pub method: String,
    /// Path with the query.
    pub path: String,
    /// Token of the header `Authorization: Bearer`; empty without one.
    pub token: String,
    /// Length of the body in bytes; `None` where the request does not say it.
    pub length: Option<u64>,
    host: String,
}

impl Head {
    /// Reads a head up to its empty line.
    ///
    /// # Errors
    /// The connection ends or takes too long, or the head is no text.
    pub(super) fn read(from: &mut impl BufRead) -> io::Result<Self> {
        let mut lines = from.take(MAX_LENGTH).lines();
        let request = lines.next().transpose()?.unwrap_or_default();
        let mut words = request.split(' ').map(str::to_string);
        let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let mut head = Self { method, path, ..Self::default() };
        for line in lines {
            let line = line?;
            if line.is_empty() {
                break;
            }
            if let Some((name, value)) = line.split_once(':') {
                head.header(&name.to_ascii_lowercase(), value.trim());
            }
        }
        Ok(head)
    }

    fn header(&mut self, name: &str, value: &str) {
        match name {
            "host" => self.host = value.into(),
            "content-length" => self.length = value.parse().ok(),
            "authorization" => self.token = value.strip_prefix("Bearer ").unwrap_or_default().trim().into(),
            _ => {}
        }
    }

    /// True if the request names this machine. A foreign page whose name resolves to this machine must not read anything (DNS
    /// rebinding).
    pub(super) fn is_for_this_machine(&self) -> bool {
        let name = self.host.rsplit_once(':').map_or(self.host.as_str(), |(name, _)| name);
        matches!(name, "localhost" | "127.0.0.1")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Head of a text, and what is left of the text.
    fn read(text: &str) -> (Head, &str) {
        let mut bytes = text.as_bytes();
        let head = Head::read(&mut bytes).unwrap_or_default();
        (head, &text[text.len() - bytes.len()..])
    }

    #[test]
    fn a_head_is_read_to_its_empty_line_and_no_further() {
        let text =
            "POST /ctl HTTP/1.1\r\nhOST: localhost:80\r\nAuthorization: Bearer 0aF\r\nContent-Length: 4\r\n\r\nbody";
        let (head, body) = read(text);
        assert_eq!((head.method.as_str(), head.path.as_str(), head.token.as_str()), ("POST", "/ctl", "0aF"));
        assert_eq!((head.length, head.is_for_this_machine(), body), (Some(4), true, "body"));
    }

    #[test]
    fn a_head_that_is_none_names_no_machine_and_no_length() {
        for text in
            ["", "\r\n", "POST\r\n", "GET / HTTP/1.1\r\nHost: localhost.evil.example\r\nContent-Length: -1\r\n\r\n"]
        {
            let (head, _) = read(text);
            assert!(!head.is_for_this_machine() && head.length.is_none(), "{text}");
        }
        let endless = "x".repeat(40_000);
        assert!(read(&endless).1.len() == 40_000 - MAX_LENGTH as usize, "the rest is not read");
        assert_eq!(read("GET / HTTP/1.1\r\nAuthorization: Basic 0aF\r\n\r\n").0.token, "");
    }
}
