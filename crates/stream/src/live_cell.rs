//! The live cell before the viewers: its state, and commands to it, by the socket of `tidemark ctl`.

use std::path::PathBuf;

use tidemark_emu::http::{Answer, Request};
use tidemark_emu::{Error, Token, ask, lease};

/// A live cell that the server shows. It need not run yet.
#[derive(Debug)]
pub struct LiveCell {
    number: u32,
    token: Token,
}

impl LiveCell {
    /// Names the cell with this number. Whoever has the new token may change it.
    ///
    /// # Errors
    /// The system gives no random bytes.
    pub fn new(number: u32) -> Result<Self, Error> {
        Ok(Self { number, token: Token::random()? })
    }

    /// Fragment of the page's address that hands it the token. A browser sends no fragment to anybody.
    pub fn fragment(&self) -> String {
        format!("#token={}", self.token)
    }

    fn socket(&self) -> Option<PathBuf> {
        lease::sockets().into_iter().find(|(number, _)| *number == self.number).map(|(_, path)| path)
    }

    /// State and controls of the cell as JSON; `None` while it does not run.
    fn state(&self) -> Option<String> {
        let socket = self.socket()?;
        let part = |word: &str| ask(&socket, &[word]).ok()?.ok();
        Some(format!("{{\"now\":{},\"controls\":{}}}", part("status")?, part("controls")?))
    }

    /// Answers a page that asks what the cell does.
    pub(crate) fn now(&self) -> Answer {
        Answer::json(self.state().unwrap_or_else(|| "null".into()))
    }

    /// Carries out the command in a request's body: words of `tidemark ctl`, one on a line.
    pub(crate) fn command(&self, request: &Request) -> Answer {
        if !self.token.matches(&request.token) {
            return Answer::text("403 Forbidden", "the token is missing or wrong: open the address that was printed");
        }
        let words: Vec<&str> = request.body.as_deref().unwrap_or_default().split('\n').collect();
        let answer = self.socket().map(|socket| ask(&socket, &words));
        match answer {
            Some(Ok(Ok(text))) => Answer::new("200 OK", "text/plain; charset=utf-8", text),
            Some(Ok(Err(reason))) => Answer::text("400 Bad Request", reason),
            Some(Err(error)) => Answer::text("502 Bad Gateway", error.to_string()),
            None => Answer::text("502 Bad Gateway", format!("the live cell {} does not run", self.number)),
        }
    }
}
