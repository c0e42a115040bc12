//! The modem of each UE, for programs at the UE: AT commands for bit rate recommendations (TS 27.007 10.1.68, 10.1.69)
//! on an abstract Unix socket, which only the UE's network namespace can reach.
//!
//! Lines end with CR and LF, as on a serial port. `AT+CGBRRREP=1` enables reports on a connection.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration as Wait;

use tidemark_cell::{UeConfig, UeId};
use tidemark_emu::{Change, Control};
use tidemark_sim::modem;
use tidemark_wire::Error;
use tidemark_wire::at::{Command, Line};
use tidemark_wire::mac::BitRateMultiplier;

/// The name of the socket.
pub(crate) const NAME: &str = "tidemark-modem";
/// Most recommendations that wait to be written; more are lost.
const WAITING: usize = 256;
/// Most programs at a modem at a time.
const PROGRAMS: usize = 16;
/// Longest command line in bytes.
const MAX_LINE: u64 = 256;
/// Time without a read after which a program gets no more reports.
const PATIENCE: Wait = Wait::from_millis(100);
/// `+CME ERROR: operation not allowed` (TS 27.007 9.2.1).
const NOT_ALLOWED: Line = Line::CmeError(3);
/// `+CME ERROR: operation not supported`.
const NOT_SUPPORTED: Line = Line::CmeError(4);
/// `+CME ERROR: incorrect parameters`.
const INCORRECT: Line = Line::CmeError(50);

/// Octets of a control element for a UE's modem.
type Element = (UeId, [u8; 3]);

/// Sending end of the channel to the modems, for the cell's thread. It never blocks.
#[derive(Clone)]
pub(super) struct Inbox(SyncSender<Element>);

/// Receiving end: recommendations for modems.
pub(super) struct Outbox(Receiver<Element>);

/// A UE's modem.
struct Modem {
    ue: UeId,
    multiplier: BitRateMultiplier,
    /// Logical channels of its bearers.
    channels: Vec<u8>,
    programs: Mutex<Vec<Arc<Program>>>,
}

/// A program that has opened the modem.
struct Program {
    stream: UnixStream,
    reporting: AtomicBool,
}

/// Makes the channel from the cell to its modems.
pub(super) fn channel() -> (Inbox, Outbox) {
    let (inbox, outbox) = sync_channel(WAITING);
    (Inbox(inbox), Outbox(outbox))
}

impl Inbox {
    /// Hands over a recommendation. It is lost if there is no room; the next one replaces it anyway.
    pub(super) fn put(&self, ue: UeId, octets: [u8; 3]) {
        match self.0.try_send((ue, octets)) {
            Ok(()) | Err(TrySendError::Full(_) | TrySendError::Disconnected(_)) => {}
        }
    }
}

/// Serves the modems of UEs with recommendations, by UE number, until the process ends.
pub(super) fn serve(ues: Vec<(u32, &UeConfig, UnixListener)>, outbox: Outbox, control: &Control) {
    let mut modems: Vec<Arc<Modem>> = Vec::new();
    for (index, ue, listener) in ues {
        let Some(anbr) = &ue.anbr else { continue };
        let modem = Arc::new(Modem {
            ue: UeId(index),
            multiplier: anbr.multiplier.on_wire(),
            channels: (modem::FIRST_CHANNEL..).take(1 + ue.drb.len()).collect(),
            programs: Mutex::default(),
        });
        modems.push(Arc::clone(&modem));
        let control = control.clone();
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                modem.open(stream, &control);
            }
        });
    }
    thread::spawn(move || {
        while let Ok((ue, octets)) = outbox.0.recv() {
            if let Some(modem) = modems.iter().find(|modem| modem.ue == ue) {
                modem.report(octets);
            }
        }
    });
}

impl Modem {
    /// Opens the modem for a program, unless too many programs use it.
    fn open(self: &Arc<Self>, stream: UnixStream, control: &Control) {
        let mut programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        if programs.len() >= PROGRAMS || stream.set_write_timeout(Some(PATIENCE)).is_err() {
            return;
        }
        let program = Arc::new(Program { stream, reporting: AtomicBool::new(false) });
        programs.push(Arc::clone(&program));
        let (modem, control) = (Arc::clone(self), control.clone());
        thread::spawn(move || {
            modem.listen(&program, &control);
            let mut programs = modem.programs.lock().unwrap_or_else(PoisonError::into_inner);
            programs.retain(|other| !Arc::ptr_eq(other, &program));
        });
    }

    /// Answers a program's commands until it disconnects.
    fn listen(&self, program: &Program, control: &Control) {
        let mut lines = BufReader::new(&program.stream);
        loop {
            let mut line = String::new();
            match (&mut lines).take(MAX_LINE).read_line(&mut line) {
                Ok(0) | Err(_) => return,
                Ok(_) if line.trim().is_empty() => continue,
                Ok(_) => {}
            }
            let query = |octets| control.change(Change::Query(self.ue, octets)).is_ok();
            let (line, verdict) = self.handle(line.trim(), &program.reporting, query);
            let answer = line.into_iter().chain([verdict]).map(|line| format!("{line}\r\n")).collect::<String>();
            if (&program.stream).write_all(answer.as_bytes()).is_err() {
                return;
            }
        }
    }

    /// Answers a command line: an information line, if there is one, and the final result.
    fn handle(&self, line: &str, reporting: &AtomicBool, query: impl Fn([u8; 2]) -> bool) -> (Option<Line>, Line) {
        match line.parse() {
            Ok(Command::SetReporting(on)) => {
                reporting.store(on, Ordering::Relaxed);
                (None, Line::Ok)
            }
            Ok(Command::ReadReporting) => (Some(Line::Reporting(reporting.load(Ordering::Relaxed))), Line::Ok),
            Ok(Command::Query { cid, .. }) if cid != modem::CID => (None, INCORRECT),
            Ok(Command::Query { .. }) => {
                // The command names a PDU session; each of its logical channels has a query of its own.
                let octets = self.channels.iter().filter_map(|channel| modem::query(line, *channel));
                let sent = octets.filter(|octets| query(*octets)).count();
                (None, if sent > 0 { Line::Ok } else { NOT_ALLOWED })
            }
            Ok(Command::TestQuery) => (Some(modem::queries(self.multiplier)), Line::Ok),
            Ok(Command::TestReporting) => (Some(Line::Reportings), Line::Ok),
            Err(_) if line.eq_ignore_ascii_case("AT") => (None, Line::Ok),
            Err(Error::Type) => (None, NOT_SUPPORTED),
            Err(_) => (None, INCORRECT),
        }
    }

    /// Reports a recommendation to the programs that enabled reports.
    fn report(&self, octets: [u8; 3]) {
        let Some((_, line)) = modem::report(octets, self.multiplier) else { return };
        let line = format!("{line}\r\n");
        let programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for program in programs.iter().filter(|program| program.reporting.load(Ordering::Relaxed)) {
            if (&program.stream).write_all(line.as_bytes()).is_err() {
                program.reporting.store(false, Ordering::Relaxed);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use tidemark_core::BitRate;
    use tidemark_wire::mac::{BitRateIndex, Direction, RecommendedBitRate, lcid};

    use super::*;

    fn modem() -> Modem {
        let channels = vec![4, 5];
        Modem { ue: UeId(0), multiplier: BitRateMultiplier::X40, channels, programs: Mutex::default() }
    }

    #[test]
    fn commands_are_answered_as_a_modem_does() {
        let (modem, reporting) = (modem(), AtomicBool::new(false));
        let say = |line: &str, allowed: bool| {
            let (line, verdict) = modem.handle(line, &reporting, |_| allowed);
            (line.map(|line| line.to_string()), verdict.to_string())
        };
        let ok = |line: Option<&str>| (line.map(String::from), "OK".to_string());
        assert_eq!(say("AT+CGBRRREP?", true), ok(Some("+CGBRRREP: 0")));
        assert_eq!(say("at+cgbrrrep=1", true), ok(None));
        assert_eq!(say("AT+CGBRRREP?", true), ok(Some("+CGBRRREP: 1")));
        assert_eq!(say("AT+CGBRRREQ=1,0,1", true), ok(None));
        assert_eq!(say("AT+CGBRRREQ=1,0,1", false).1, "+CME ERROR: 3");
        assert_eq!(say("ATD112", true).1, "+CME ERROR: 4");
        assert_eq!(say("AT+CGBRRREP=?", true), ok(Some("+CGBRRREP: (0,1)")));
        // The highest rate that a control element can say, times the multiplier.
        assert_eq!(say("AT+CGBRRREQ=?", true), ok(Some("+CGBRRREQ: (1),(0-320000),(1,2)")));
        for line in ["AT+CGBRRREP=2", "AT+CGBRRREQ=1,0", "AT+CGBRRREQ=1,0,3", "AT+CGBRRREQ=2,0,1"] {
            assert_eq!(say(line, true).1, "+CME ERROR: 50", "{line}");
        }
    }

    #[test]
    fn a_question_goes_out_for_every_logical_channel_in_its_direction() {
        let asked = Mutex::new(Vec::new());
        let query = |octets: [u8; 2]| {
            asked.lock().unwrap().push(RecommendedBitRate::parse(&octets).unwrap());
            true
        };
        modem().handle("AT+CGBRRREQ=1,0,1", &AtomicBool::new(false), query);
        let asked: Vec<_> = asked.lock().unwrap().iter().map(|query| (query.lcid, query.direction)).collect();
        assert_eq!(asked, [(4, Direction::Uplink), (5, Direction::Uplink)]);
    }

    #[test]
    fn a_recommendation_is_reported_to_those_who_want_it() {
        let modem = modem();
        let (ours, theirs) = UnixStream::pair().unwrap();
        theirs.set_read_timeout(Some(Wait::from_secs(5))).unwrap();
        let program = Arc::new(Program { stream: ours, reporting: AtomicBool::new(false) });
        modem.programs.lock().unwrap().push(Arc::clone(&program));
        let bit_rate = BitRateIndex::at_most(BitRate::from_kbps(750));
        let element = RecommendedBitRate { lcid: 4, direction: Direction::Downlink, bit_rate, multiplied: false };
        let [first, second] = element.emit().unwrap();
        let octets = [lcid::RECOMMENDED_BIT_RATE, first, second];
        modem.report(octets);
        program.reporting.store(true, Ordering::Relaxed);
        modem.report(octets);
        let mut line = String::new();
        BufReader::new(&theirs).read_line(&mut line).unwrap();
        let kbps = bit_rate.rate().unwrap().as_bps() / 1_000;
        assert_eq!(line, format!("+CGBRRREP: {kbps},2,1,1\r\n"));
        // A program that went away is not written to any more.
        drop(theirs);
        modem.report(octets);
        assert!(!program.reporting.load(Ordering::Relaxed));
    }
}
