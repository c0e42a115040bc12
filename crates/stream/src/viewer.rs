//! One viewer's thread: a session between its socket and the clock.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::os::fd::AsFd as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use serde::Serialize;
use tidemark_core::Bytes;
use tidemark_emu::EcnSocket;

use crate::lateness::Lateness;
use crate::media::Media;
use crate::negotiation::{Feedback, Refused};
use crate::record::{Record, Row, Shown};
use crate::references::References;
use crate::session::{Choice, Session, State, Status};
use crate::wake::Wake;

/// Time between two rows of the series.
const INTERVAL: Duration = Duration::from_millis(100);
/// Largest datagram that is read; a viewer only sends feedback.
const MAX_DATAGRAM: usize = 2048;
/// Datagrams that are read before packets are sent again.
const BURST: usize = 64;

/// State shown on a page.
#[derive(Debug, Serialize)]
pub(crate) struct Told<'a> {
    controller: &'a str,
    l4s: bool,
    feedback: Option<Feedback>,
    /// Number of frames from one picture that the page sends back to the next; absent without references.
    reference: Option<u32>,
    is_over: bool,
    rows: &'a [Row],
}

/// The server's handle of a viewer.
pub(crate) struct Viewer {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    controller: String,
    l4s: bool,
    references: Option<Arc<References>>,
    wake: Wake,
    close: AtomicBool,
    flash: AtomicBool,
    pause: AtomicBool,
    over: AtomicBool,
    state: Mutex<(Record, Option<Status>)>,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, (Record, Option<Status>)> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Parts that a thread starts with, beside its session.
pub(crate) struct Start {
    pub(crate) socket: EcnSocket,
    pub(crate) wake: Wake,
    pub(crate) controller: String,
    /// Sent pictures to compare with the shown ones.
    pub(crate) references: Option<Arc<References>>,
    /// Folder of the results, if any are wanted.
    pub(crate) out: Option<PathBuf>,
}

impl Start {
    /// Answers an offer with these frames at a local address, and starts the viewer's thread.
    ///
    /// # Errors
    /// The offer can't be answered.
    pub(crate) fn answer<M: Media + Send + 'static>(
        self,
        offer: &str,
        address: SocketAddr,
        choice: Choice,
        frames: M,
    ) -> Result<(Viewer, String), Refused> {
        let (session, answer) = Session::answer(Instant::now(), offer, address, choice, frames)?;
        Ok((Viewer::start(session, self), answer))
    }
}

impl Viewer {
    fn start<M: Media + Send + 'static>(session: Session<M>, start: Start) -> Self {
        let Start { socket, wake, controller, references, out } = start;
        let l4s = session.is_l4s();
        let shared = Arc::new(Shared {
            controller,
            l4s,
            references,
            wake,
            close: AtomicBool::new(false),
            flash: AtomicBool::new(false),
            pause: AtomicBool::new(false),
            over: AtomicBool::new(false),
            state: Mutex::default(),
        });
        let of_thread = Arc::clone(&shared);
        let thread = Some(thread::spawn(move || {
            let (status, lateness) = run(session, &socket, &of_thread);
            of_thread.lock().0.lateness = lateness;
            if let Some(folder) = out
                && let Err(error) = of_thread.lock().0.write(&folder, &of_thread.controller, l4s, &status)
            {
                eprintln!("{}: {error}", folder.display());
            }
            of_thread.over.store(true, Relaxed);
        }));
        Self { shared, thread }
    }

    pub(crate) fn is_over(&self) -> bool {
        self.shared.over.load(Relaxed)
    }

    /// State as JSON, with the rows from `row` on.
    pub(crate) fn told(&self, row: usize) -> String {
        let Shared { controller, l4s, references, .. } = &*self.shared;
        let (record, status) = &*self.shared.lock();
        let feedback = status.map(|status| status.feedback);
        let rows = record.rows.get(row..).unwrap_or_default();
        let reference = references.as_ref().map(|references| references.interval());
        let told = Told { controller, l4s: *l4s, feedback, reference, is_over: self.is_over(), rows };
        serde_json::to_string(&told).unwrap_or_default()
    }

    pub(crate) fn shown(&self, shown: Shown) {
        let compared = self.shared.references.as_ref().map(|references| shown.compared(references));
        self.shared.lock().0.shown(shown, compared.unwrap_or_default());
    }

    pub(crate) fn flash(&self) {
        self.shared.flash.store(true, Relaxed);
        self.shared.wake.wake();
    }

    /// Stops the frames.
    pub(crate) fn pause(&self) {
        self.shared.pause.store(true, Relaxed);
        self.shared.wake.wake();
    }

    /// Ends the stream, after the remaining datagrams have been sent.
    pub(crate) fn close(mut self) {
        self.shared.close.store(true, Relaxed);
        self.shared.wake.wake();
        if let Some(thread) = self.thread.take() {
            // The panic message is on the terminal.
            let _ = thread.join();
        }
    }
}

fn run<M: Media>(mut session: Session<M>, socket: &EcnSocket, shared: &Shared) -> (Status, Lateness) {
    let (mut buffer, mut lateness) = ([0; MAX_DATAGRAM], Lateness::default());
    let mut series = Series::default();
    while session.status().state != State::Over {
        if shared.close.load(Relaxed) {
            session.close();
        }
        if shared.flash.swap(false, Relaxed)
            && let Some(frames) = session.frames_mut()
        {
            frames.flash();
        }
        if shared.pause.load(Relaxed)
            && let Some(frames) = session.frames_mut()
        {
            frames.pause();
        }
        for _ in 0..BURST {
            // No datagram waits, or the system reports an error of an earlier one.
            let Ok((length, from, _)) = socket.try_receive(&mut buffer) else { break };
            session.handle_datagram(Instant::now(), from, &buffer[..length]);
        }
        session.handle_timeout(Instant::now());
        send(&mut session, socket, &mut lateness);
        let now = Instant::now();
        if let Some(row) = series.row(now, &session.status()) {
            let mut state = shared.lock();
            state.0.add(row);
            state.1 = Some(session.status());
        }
        let until = session.next_deadline().map_or(INTERVAL, |at| at.saturating_duration_since(Instant::now()));
        // Signals are handled by the main thread.
        let _ = shared.wake.wait(socket.as_fd(), until.min(INTERVAL));
    }
    send(&mut session, socket, &mut lateness);
    (session.status(), lateness)
}

fn send<M: Media>(session: &mut Session<M>, socket: &EcnSocket, lateness: &mut Lateness) {
    while let Some(datagram) = session.poll_transmit(Instant::now()) {
        // A viewer that can't be reached does not answer, so it is forgotten soon.
        let _: io::Result<()> = socket.send(&datagram.bytes, datagram.to, datagram.ecn);
        if let Some(due) = datagram.due {
            lateness.record(Instant::now().saturating_duration_since(due));
        }
    }
}

/// Writes rows at regular times.
#[derive(Default)]
struct Series {
    begin: Option<Instant>,
    last: Option<(Instant, Bytes)>,
}

impl Series {
    fn row(&mut self, now: Instant, status: &Status) -> Option<Row> {
        if status.state != State::Streaming {
            return None;
        }
        let begin = *self.begin.get_or_insert(now);
        let (at, sent) = *self.last.get_or_insert((now, status.sender.bytes_sent));
        let span = now.duration_since(at);
        if span < INTERVAL {
            return None;
        }
        let sender = &status.sender;
        self.last = Some((now, sender.bytes_sent));
        Some(Row {
            time_s: now.duration_since(begin).as_secs_f64(),
            target_mbps: sender.target_rate.map_or(0.0, |rate| rate.as_mbps()),
            sent_mbps: 8e-6 * (sender.bytes_sent.as_f64() - sent.as_f64()) / span.as_secs_f64(),
            rtt_ms: sender.smoothed_rtt.map(|rtt| rtt.as_millis_f64()),
            packets: sender.packets_sent,
            marks: sender.marks_reported,
            losses: sender.losses,
            frames: sender.frames_sent,
            discarded: sender.frames_discarded,
        })
    }
}

/// Makes a socket at `ip`; also gives its address.
///
/// # Errors
/// An error of the system.
pub(crate) fn bind(ip: IpAddr) -> io::Result<(EcnSocket, SocketAddr)> {
    let socket = EcnSocket::bind_to(SocketAddr::new(ip, 0)).map_err(io::Error::other)?;
    let port = socket.port()?;
    Ok((socket, SocketAddr::new(ip, port)))
}
