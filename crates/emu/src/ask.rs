//! Requests to a live cell's control socket.

use std::io::{self, Read as _, Write as _};
use std::net::Shutdown;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Longest wait for an answer: a cell that is stopped must not hold up who asks.
const MAX_WAIT: Duration = Duration::from_secs(10);

/// Sends the words of a request to the cell that answers at this socket; gives its answer, or the reason why it refuses.
///
/// # Errors
/// An error of the system, or a cell that ends before it answers, or does not answer within ten seconds.
pub fn ask(socket: &Path, words: &[impl AsRef<str>]) -> io::Result<Result<String, String>> {
    let words: Vec<&str> = words.iter().map(AsRef::as_ref).collect();
    ask_within(MAX_WAIT, socket, &words)
}

fn ask_within(wait: Duration, socket: &Path, words: &[&str]) -> io::Result<Result<String, String>> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(wait))?;
    stream.write_all(words.join("\n").as_bytes())?;
    stream.shutdown(Shutdown::Write)?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer).map_err(|error| match error.kind() {
        io::ErrorKind::WouldBlock => io::Error::new(io::ErrorKind::TimedOut, "the live cell does not answer"),
        _ => error,
    })?;
    match answer.split_once('\n') {
        Some(("ok", body)) => Ok(Ok(body.into())),
        Some((_, body)) => Ok(Err(body.trim().into())),
        None => Err(io::Error::new(io::ErrorKind::UnexpectedEof, "the live cell ended")),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::net::UnixListener;
    use std::thread;

    use super::*;

    /// Answer to `set` and `x=1` of a cell that says this.
    fn answer(text: &'static str) -> io::Result<Result<String, String>> {
        let path = std::env::temp_dir().join(format!("tidemark-ask-{}-{}", std::process::id(), text.len()));
        let listener = UnixListener::bind(&path).unwrap();
        let cell = thread::spawn(move || {
            let (mut stream, _) = listener.accept().unwrap();
            let mut request = String::new();
            stream.read_to_string(&mut request).unwrap();
            assert_eq!(request, "set\nx=1");
            stream.write_all(text.as_bytes()).unwrap();
        });
        let answer = ask(&path, &["set", "x=1"]);
        cell.join().unwrap();
        std::fs::remove_file(&path).unwrap();
        answer
    }

    #[test]
    fn an_answer_is_its_text_or_the_reason_of_a_refusal_or_that_the_cell_ended() {
        assert_eq!(answer("ok\ndone\n").unwrap(), Ok("done\n".into()));
        assert_eq!(answer("error\nx: no\n").unwrap(), Err("x: no".into()));
        assert_eq!(answer("").unwrap_err().kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn a_cell_that_says_nothing_is_given_up() {
        let path = std::env::temp_dir().join(format!("tidemark-ask-{}-silent", std::process::id()));
        let _listener = UnixListener::bind(&path).unwrap();
        let answer = ask_within(Duration::from_millis(50), &path, &["about"]);
        std::fs::remove_file(&path).unwrap();
        assert_eq!(answer.unwrap_err().kind(), io::ErrorKind::TimedOut);
    }
}
