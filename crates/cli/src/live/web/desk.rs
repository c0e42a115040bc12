//! `POST /ctl`: commands of a page, from whoever has the token that was printed.

use std::io::{self, Read};
use std::sync::Arc;

use miette::{Result, miette};
use tidemark_emu::Token;

use super::head::Head;

/// Longest command in bytes.
const MAX_LENGTH: u64 = 64 * 1024;

/// Receiver of a page's commands.
pub(crate) trait Commands: Send + Sync + 'static {
    /// Settings that can be changed, with their present values, as JSON.
    fn controls(&self) -> String;
    /// Carries out the words of a command of `tidemark ctl`; gives the answer.
    ///
    /// # Errors
    /// The reason why the command is refused.
    fn handle(&self, words: &[&str]) -> std::result::Result<String, String>;
}

/// Commands behind a token.
pub(crate) struct Desk {
    token: Token,
    commands: Arc<dyn Commands>,
}

/// Status line and text of an answer.
type Answer = (&'static str, String);

impl Desk {
    /// Guards these commands with a new token.
    pub(crate) fn new(commands: Arc<dyn Commands>) -> Result<Self> {
        let token = Token::random().map_err(|error| miette!("{error}"))?;
        Ok(Self { token, commands })
    }

    /// Fragment of the page's address that hands it the token. A browser sends no fragment to anybody.
    pub(crate) fn fragment(&self) -> String {
        format!("#token={}", self.token)
    }

    /// Settings that can be changed, as JSON.
    pub(super) fn controls(&self) -> String {
        self.commands.controls()
    }

    /// Carries out the command in the request's body: words as for the control socket, one on a line.
    pub(super) fn answer(&self, head: &Head, body: impl Read) -> io::Result<Answer> {
        let text = match head.length {
            None => return Ok(("411 Length Required", "the request needs a Content-Length\n".into())),
            Some(MAX_LENGTH..) => {
                return Ok(("413 Content Too Large", format!("a command has less than {MAX_LENGTH} bytes\n")));
            }
            // A body that nobody reads would reset the connection, and the answer with it.
            Some(length) => read(body.take(length))?,
        };
        if !self.token.matches(&head.token) {
            return Ok(("403 Forbidden", "the token is missing or wrong: open the address that was printed\n".into()));
        }
        let words: Vec<&str> = text.split('\n').collect();
        Ok(match self.commands.handle(&words) {
            Ok(answer) => ("200 OK", answer),
            Err(reason) => ("400 Bad Request", format!("{reason}\n")),
        })
    }
}

/// Reads a whole body. Bytes that are no text become U+FFFD, which no command has.
fn read(mut body: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    body.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
