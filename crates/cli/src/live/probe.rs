//! `tidemark net probe`: checks whether a path keeps ECT(1) and CE, without captures at both ends.

use std::net::{SocketAddr, ToSocketAddrs as _};
use std::thread;
use std::time::{Duration, Instant};

use clap::Args;
use miette::{IntoDiagnostic as _, Result, miette};
use serde::Serialize;
use tidemark_core::Ecn;
use tidemark_emu::EcnSocket;

/// First bytes of every probe and answer, so that nothing else is answered.
const MAGIC: &[u8; 8] = b"tidemark";
/// Probes for each codepoint.
const PROBES: u8 = 10;
/// Time between two probes.
const GAP: Duration = Duration::from_millis(20);
/// Time to wait after the last probe.
const PATIENCE: Duration = Duration::from_secs(1);
/// Exit code if nothing came back, so that ECN is unknown.
const NO_ANSWER: u8 = 3;
/// Codepoints of the probes: Not-ECT first, which shows whether the path carries anything.
const CODEPOINTS: [Ecn; 4] = [Ecn::NotEct, Ecn::Ect1, Ecn::Ect0, Ecn::Ce];

/// Arguments of `tidemark net probe`.
#[derive(Args)]
pub(crate) struct Probe {
    /// Address at which `tidemark net probe --listen PORT` answers, such as host:4000
    #[arg(value_name = "HOST:PORT", required_unless_present = "listen")]
    to: Option<String>,
    /// Answer probes at this port, until Ctrl-C
    #[arg(long, value_name = "PORT", conflicts_with = "to")]
    listen: Option<u16>,
}

/// Outcome for one codepoint: a line of the output.
#[derive(Debug, PartialEq, Serialize)]
struct Outcome {
    codepoint: &'static str,
    sent: u8,
    /// Probes that came back.
    answered: u8,
    /// Codepoint with which most probes arrived at the peer.
    there: Option<&'static str>,
    /// Codepoint with which most answers arrived here; they were sent with the probes' codepoint.
    back: Option<&'static str>,
    verdict: &'static str,
}

impl Probe {
    /// Answers probes, or sends them and gives the exit code.
    pub(crate) fn execute(&self) -> Result<u8> {
        let (to, outcomes) = match (&self.to, self.listen) {
            (_, Some(port)) => answer(&EcnSocket::bind(port).map_err(|error| miette!("{error}"))?),
            (Some(to), None) => (to, probe(to)?),
            (None, None) => return Ok(0),
        };
        for outcome in &outcomes {
            println!("{}", serde_json::to_string(outcome).unwrap_or_default());
        }
        match Path::of(&outcomes) {
            Path::CarriesL4s => Ok(0),
            Path::BreaksL4s => Err(miette!("this path does not carry L4S: see the lines above")),
            Path::Silent => {
                let port = to.rsplit(':').next().unwrap_or_default();
                eprintln!(
                    "tidemark: {to} did not answer, so the path's ECN is unknown: start `tidemark net probe --listen {port}` there, \
                     and let UDP pass both ways"
                );
                Ok(NO_ANSWER)
            }
        }
    }
}

/// Verdict of all outcomes together.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Path {
    /// ECT(1) and CE arrive as sent, in both directions.
    CarriesL4s,
    /// One of them is changed.
    BreaksL4s,
    /// No answer at all: no peer is there, or no UDP passes.
    Silent,
}

impl Path {
    fn of(outcomes: &[Outcome]) -> Self {
        let kept =
            |ecn| outcomes.iter().any(|outcome| outcome.codepoint == codepoint_name(ecn) && outcome.verdict == "kept");
        if outcomes.iter().all(|outcome| outcome.answered == 0) {
            Self::Silent
        } else if kept(Ecn::Ect1) && kept(Ecn::Ce) {
            Self::CarriesL4s
        } else {
            Self::BreaksL4s
        }
    }
}

/// Answers probes at a free port until this process ends; gives the port.
///
/// # Errors
/// An error of the system.
pub(super) fn answer_beside() -> Result<u16> {
    let socket = EcnSocket::bind(0).map_err(|error| miette!("{error}"))?;
    let port = socket.port().into_diagnostic()?;
    thread::spawn(move || answer(&socket));
    Ok(port)
}

/// Answers each probe. The answer names the codepoint that arrived, and is sent with the codepoint that the probe was sent with.
fn answer(socket: &EcnSocket) -> ! {
    let mut bytes = [0; 64];
    loop {
        let Ok((length, from, seen)) = socket.receive(&mut bytes) else { continue };
        // An answer is as long as its probe, so that a forged source gets no amplified traffic.
        if length == MAGIC.len() + 3 && bytes.starts_with(MAGIC) {
            bytes[MAGIC.len() + 2] = seen.bits();
            // An answer that can't be sent is a probe that was lost.
            let _ = socket.send(&bytes[..length], from, Ecn::from_bits(bytes[MAGIC.len()]));
        }
    }
}

/// Sends probes and gives the outcome of each codepoint.
fn probe(to: &str) -> Result<Vec<Outcome>> {
    let mut addresses = to.to_socket_addrs().map_err(|error| miette!("{to}: {error}: write HOST:PORT"))?;
    let to = addresses.next().ok_or_else(|| miette!("{to}: no address"))?;
    let socket = EcnSocket::bind(0).map_err(|error| miette!("{error}"))?;
    let mut seen = [[None; PROBES as usize]; CODEPOINTS.len()];
    for number in 0..PROBES {
        for ecn in CODEPOINTS {
            let probe = [&MAGIC[..], &[ecn.bits(), number, 0]].concat();
            socket.send(&probe, to, ecn).map_err(|error| miette!("{to}: {error}"))?;
            collect(&socket, to, GAP, &mut seen);
        }
    }
    collect(&socket, to, PATIENCE, &mut seen);
    Ok(judge(&seen))
}

type Seen = [[Option<(Ecn, Ecn)>; PROBES as usize]; CODEPOINTS.len()];

/// Receives answers for a time.
fn collect(socket: &EcnSocket, to: SocketAddr, time: Duration, seen: &mut Seen) {
    let end = Instant::now() + time;
    let mut bytes = [0; 64];
    // The last answers end the wait.
    while let Some(left) = end.checked_duration_since(Instant::now()).filter(|left| !left.is_zero())
        && seen.iter().flatten().any(Option::is_none)
    {
        if socket.set_timeout(Some(left)).is_err() {
            return;
        }
        let Ok((length, from, back)) = socket.receive(&mut bytes) else { continue };
        let [codepoint, number, there] = [0, 1, 2].map(|at| bytes[MAGIC.len() + at]);
        if length != MAGIC.len() + 3 || !bytes.starts_with(MAGIC) || from.port() != to.port() {
            continue;
        }
        let index = CODEPOINTS.iter().position(|ecn| ecn.bits() == codepoint & 3);
        if let Some(place) = index.and_then(|index| seen[index].get_mut(usize::from(number))) {
            *place = Some((Ecn::from_bits(there), back));
        }
    }
}

fn judge(seen: &Seen) -> Vec<Outcome> {
    let alive = seen[0].iter().flatten().count() > 0;
    let outcome = |(ecn, answers): (&Ecn, &[Option<(Ecn, Ecn)>; PROBES as usize])| {
        let answered = answers.iter().flatten().count();
        let there = most(answers.iter().flatten().map(|(there, _)| *there));
        let back = most(answers.iter().flatten().map(|(_, back)| *back));
        let kept = |seen: Option<Ecn>| seen == Some(*ecn);
        let verdict = match (answered, there, back) {
            (0, ..) if !alive => "no answer",
            (0, ..) => "black-holed",
            _ if kept(there) && kept(back) => "kept",
            (_, Some(Ecn::NotEct), _) => "bleached on the way there",
            _ if kept(there) && back == Some(Ecn::NotEct) => "bleached on the way back",
            _ => "changed",
        };
        let answered = answered as u8;
        Outcome {
            codepoint: codepoint_name(*ecn),
            sent: PROBES,
            answered,
            there: there.map(codepoint_name),
            back: back.map(codepoint_name),
            verdict,
        }
    };
    CODEPOINTS.iter().zip(seen).map(outcome).collect()
}

/// The most frequent codepoint, because a router on the path may mark single packets.
fn most(seen: impl Iterator<Item = Ecn> + Clone) -> Option<Ecn> {
    CODEPOINTS
        .into_iter()
        .filter(|ecn| seen.clone().any(|other| other == *ecn))
        .max_by_key(|ecn| seen.clone().filter(|other| other == ecn).count())
}

/// Name of a codepoint in RFC 3168.
pub(crate) fn codepoint_name(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotEct => "Not-ECT",
        Ecn::Ect1 => "ECT(1)",
        Ecn::Ect0 => "ECT(0)",
        Ecn::Ce => "CE",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_in_which_a_path_fails_has_its_name() {
        let all = |there, back| [Some((there, back)); PROBES as usize];
        let none = [None; PROBES as usize];
        let verdict = |seen: &Seen| judge(seen).into_iter().map(|outcome| outcome.verdict).collect::<Vec<_>>();
        let fine = CODEPOINTS.map(|ecn| all(ecn, ecn));
        assert_eq!(verdict(&fine), ["kept"; 4]);
        let broken = [fine[0], all(Ecn::NotEct, Ecn::Ect1), none, all(Ecn::Ce, Ecn::NotEct)];
        assert_eq!(verdict(&broken), ["kept", "bleached on the way there", "black-holed", "bleached on the way back"]);
        assert_eq!(verdict(&[none; 4]), ["no answer"; 4]);
        let path = |seen: &Seen| Path::of(&judge(seen));
        assert_eq!([&fine, &broken, &[none; 4]].map(path), [Path::CarriesL4s, Path::BreaksL4s, Path::Silent]);
    }
}
