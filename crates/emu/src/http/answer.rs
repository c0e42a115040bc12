//! Answer to a request: a text, or events for as long as the client listens.

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write as _};

use super::PATIENCE;
use super::connections::Deadline;

/// Headers of every answer. A page may load nothing from elsewhere, whatever text it shows.
const COMMON: &str = "Cache-Control: no-store\r\n\
    Content-Security-Policy: default-src 'self' 'unsafe-inline'; img-src data:\r\nConnection: close\r\n\r\n";

/// Writes events until it returns, or until the client has gone.
type Tell = Box<dyn FnOnce(&mut Events<'_>) -> io::Result<()>>;

/// An answer.
pub struct Answer {
    status: &'static str,
    kind: &'static str,
    location: Option<String>,
    body: Body,
}

enum Body {
    Text(Cow<'static, str>),
    Events(Tell),
}

impl Answer {
    /// Makes an answer of a status, such as `200 OK`, a media type and its text.
    pub fn new(status: &'static str, kind: &'static str, body: impl Into<Cow<'static, str>>) -> Self {
        Self { status, kind, location: None, body: Body::Text(body.into()) }
    }

    /// Makes an answer that is a page.
    pub fn page(html: impl Into<Cow<'static, str>>) -> Self {
        Self::new("200 OK", "text/html; charset=utf-8", html)
    }

    /// Makes an answer of JSON.
    pub fn json(json: impl Into<Cow<'static, str>>) -> Self {
        Self::new("200 OK", "application/json", json)
    }

    /// Makes an answer that is a sentence.
    pub fn text(status: &'static str, text: impl Into<String>) -> Self {
        Self::new(status, "text/plain; charset=utf-8", text.into() + "\n")
    }

    /// Makes an answer of server-sent events, which `tell` sends.
    pub fn events(tell: impl FnOnce(&mut Events<'_>) -> io::Result<()> + 'static) -> Self {
        Self { status: "200 OK", kind: "text/event-stream", location: None, body: Body::Events(Box::new(tell)) }
    }

    /// Adds the path of what was created.
    pub fn at(self, location: String) -> Self {
        Self { location: Some(location), ..self }
    }

    /// Sends the answer.
    ///
    /// # Errors
    /// The client has gone, or takes too long.
    pub(super) fn send(self, mut stream: Deadline<'_>) -> io::Result<()> {
        let Self { status, kind, location, body } = self;
        let location = location.map_or_else(String::new, |location| format!("Location: {location}\r\n"));
        let head = format!("HTTP/1.1 {status}\r\nContent-Type: {kind}\r\n{location}");
        match body {
            Body::Text(text) => write!(stream, "{head}Content-Length: {}\r\n{COMMON}{text}", text.len()),
            Body::Events(tell) => {
                write!(stream, "{head}{COMMON}")?;
                tell(&mut Events(stream))
            }
        }
    }
}

impl fmt::Debug for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Answer").field("status", &self.status).field("kind", &self.kind).finish_non_exhaustive()
    }
}

/// A client that listens to events.
#[derive(Debug)]
pub struct Events<'a>(Deadline<'a>);

impl Events<'_> {
    /// Sends an event of this type, which is empty for a message, with a line of data.
    ///
    /// # Errors
    /// The client has gone, or takes too long.
    pub fn send(&mut self, kind: &str, data: &str) -> io::Result<()> {
        self.0.renew(PATIENCE);
        let kind = if kind.is_empty() { String::new() } else { format!("event: {kind}\n") };
        write!(self.0, "{kind}data: {data}\n\n")
    }
}
