//! Connections of a page: how many there are, and how long one may take.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Connections at a time: a page has one.
pub(super) const MAX_CONNECTIONS: usize = 32;

/// Open connections in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct Connections(Mutex<Open>);

#[derive(Debug, Default)]
struct Open {
    next: u64,
    entries: Vec<Entry>,
}

#[derive(Debug)]
struct Entry {
    id: u64,
    /// The connection, to shut it down from outside of its thread.
    stream: TcpStream,
    /// True once a whole request has come.
    asked: bool,
}

/// Place of a connection among the open ones, free again when it is dropped.
#[derive(Debug)]
pub(super) struct Connection {
    id: u64,
    connections: Arc<Connections>,
}

impl Connections {
    /// Admits a connection. Where there is no room, the oldest that has not asked for anything is evicted: whoever connects and says
    /// nothing cannot keep a page away. `None` if all have asked.
    ///
    /// # Errors
    /// The system has no descriptor left.
    pub(super) fn admit(connections: &Arc<Self>, stream: &TcpStream) -> io::Result<Option<Connection>> {
        let mut open = connections.lock();
        if open.entries.len() >= MAX_CONNECTIONS {
            let Some(silent) = open.entries.iter().position(|entry| !entry.asked) else { return Ok(None) };
            let evicted = open.entries.remove(silent);
            // It may have gone by itself.
            let _ = evicted.stream.shutdown(Shutdown::Both);
        }
        let id = open.next;
        open.next += 1;
        open.entries.push(Entry { id, stream: stream.try_clone()?, asked: false });
        Ok(Some(Connection { id, connections: Arc::clone(connections) }))
    }

    fn lock(&self) -> MutexGuard<'_, Open> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Connection {
    /// Notes that a whole request has come: the connection is kept until it is answered.
    pub(super) fn has_asked(&self) {
        let mut open = self.connections.lock();
        open.entries.iter_mut().filter(|entry| entry.id == self.id).for_each(|entry| entry.asked = true);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.connections.lock().entries.retain(|entry| entry.id != self.id);
    }
}

/// Stream whose reads and writes end together at one time, however many there are: a peer that sends or takes a byte at a time
/// gains nothing.
#[derive(Debug)]
pub(super) struct Deadline<'a> {
    stream: &'a TcpStream,
    at: Instant,
}

impl<'a> Deadline<'a> {
    /// Gives `stream` this time from now on.
    pub(super) fn new(stream: &'a TcpStream, patience: Duration) -> Self {
        Self { stream, at: Instant::now() + patience }
    }
    /// Gives the stream this time anew.
    pub(super) fn renew(&mut self, patience: Duration) {
        self.at = Instant::now() + patience;
    }

    fn remaining(&self) -> io::Result<Duration> {
        let left = self.at.saturating_duration_since(Instant::now());
        if left.is_zero() { Err(io::ErrorKind::TimedOut.into()) } else { Ok(left) }
    }
}

impl Read for Deadline<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.stream.set_read_timeout(Some(self.remaining()?))?;
        self.stream.read(buffer)
    }
}

impl Write for Deadline<'_> {
    fn write(&mut self, buffer: &[u8]) -> io::Result<usize> {
        self.stream.set_write_timeout(Some(self.remaining()?))?;
        self.stream.write(buffer)
    }
    fn flush(&mut self) -> io::Result<()> {
        self.stream.flush()
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        (client, listener.accept().unwrap().0)
    }

    #[test]
    fn the_oldest_silent_connection_makes_room_and_who_asked_stays() {
        let connections = Arc::new(Connections::default());
        let pairs: Vec<_> = (0..=MAX_CONNECTIONS).map(|_| pair()).collect();
        let admit = |index: usize| Connections::admit(&connections, &pairs[index].1).unwrap();
        let mut admitted: Vec<_> = (0..MAX_CONNECTIONS).map(|index| admit(index).unwrap()).collect();
        admitted[0].has_asked();
        let newest = admit(MAX_CONNECTIONS).unwrap();
        assert_eq!((&pairs[1].0).read(&mut [0]).unwrap(), 0, "closed");
        drop(admitted.remove(1));
        newest.has_asked();
        admitted.iter().for_each(Connection::has_asked);
        assert!(admit(1).is_none(), "an evicted connection gives its place back once");
        drop(newest);
        assert!(admit(1).is_some());
    }

    #[test]
    fn time_is_that_of_all_reads_together() {
        let (client, server) = pair();
        (&client).write_all(b"GET").unwrap();
        let mut deadline = Deadline::new(&server, Duration::ZERO);
        assert_eq!(deadline.read(&mut [0]).unwrap_err().kind(), io::ErrorKind::TimedOut);
        deadline.renew(Duration::from_secs(60));
        assert_eq!(deadline.read(&mut [0]).unwrap(), 1);
    }
}
