//! `POST /ctl`: commands of a page, from whoever has the token that was printed.

use std::sync::Arc;

use miette::{Result, miette};
use tidemark_emu::Token;
use tidemark_emu::http::{Answer, Request};

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
    pub(super) fn answer(&self, request: &Request) -> Answer {
        let Some(body) = &request.body else {
            return Answer::text("411 Length Required", "the request needs a Content-Length");
        };
        if !self.token.matches(&request.token) {
            return Answer::text("403 Forbidden", "the token is missing or wrong: open the address that was printed");
        }
        let words: Vec<&str> = body.split('\n').collect();
        match self.commands.handle(&words) {
            Ok(answer) => Answer::new("200 OK", "text/plain; charset=utf-8", answer),
            Err(reason) => Answer::text("400 Bad Request", reason),
        }
    }
}
