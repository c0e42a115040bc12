//! `tidemark ctl`: requests to a running cell over a socket that only its owner may use.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration as Wait;

use clap::{Args, Subcommand};
use miette::{IntoDiagnostic, Result, miette};
use tidemark_cell::{UeConfig, UeId};
use tidemark_core::{Duration, Instant};
use tidemark_emu::{Change, Control, lease};
use tidemark_record::fields::Rounded as _;
use tidemark_sim::scenario::Scenario;
use tidemark_sim::{Event, EventKind};

use super::controls::Controls;
use super::view;
use super::watch::Shared;
use super::web::{Commands, Source};

/// Longest request in bytes.
const MAX_REQUEST: u64 = 64 * 1024;
/// Error for an unknown request.
pub(crate) const UNKNOWN: &str = "unknown request: the cell runs another kind or version of program";

/// Arguments of `tidemark ctl`.
#[derive(Args)]
pub(crate) struct Ctl {
    /// Number of the cell if several are live: the N of its device tidemarkN
    #[arg(long, value_name = "N")]
    cell: Option<u32>,
    #[command(subcommand)]
    request: Request,
}

#[derive(Subcommand)]
enum Request {
    /// List your live cells: number, name, kind and commands
    List,
    /// Show the cell's state, updated four times a second
    Watch,
    /// Print the cell's state as JSON
    Status,
    /// Print counters in Prometheus' text format
    Metrics,
    /// Change channels or laws: ue.0.channel.snr_db=5 marker.law=ramp marker.high="20 ms"
    Set {
        /// Scenario keys with their new values
        #[arg(required = true, value_name = "KEY=VALUE")]
        assignments: Vec<String>,
    },
    /// Take a UE out of coverage for a time, as in: outage ue "500 ms"
    Outage {
        /// Name of the UE
        ue: String,
        /// Duration of the outage
        time: Duration,
    },
    /// Move a UE to another cell of the same kind
    Handover {
        /// Name of the UE
        ue: String,
    },
}

impl Ctl {
    /// Sends the request and prints the answer.
    ///
    /// # Errors
    /// No live cell, several without `--cell`, or a request that the cell refuses.
    pub(crate) fn execute(&self) -> Result<()> {
        let words = match &self.request {
            Request::List => {
                let cells = lease::sockets();
                if cells.is_empty() {
                    return Err(none());
                }
                print!("{}", list(&cells));
                return Ok(());
            }
            Request::Watch => {
                let socket = find(self.cell)?;
                return view::show(|| ask(&socket, &["status".into()]));
            }
            Request::Status => vec!["status".into()],
            Request::Metrics => vec!["metrics".into()],
            Request::Set { assignments } => [vec!["set".into()], assignments.clone()].concat(),
            Request::Outage { ue, time } => vec!["outage".into(), ue.clone(), time.to_string()],
            Request::Handover { ue } => vec!["handover".into(), ue.clone()],
        };
        print!("{}", ask(&find(self.cell)?, &words)?);
        Ok(())
    }
}

/// Takes a UE out of coverage for a time.
///
/// # Errors
/// A cell that is not running, or that refuses.
pub(super) fn outage(cell: u32, ue: &str, time: &str) -> Result<()> {
    ask(&find(Some(cell))?, &["outage".into(), ue.into(), time.into()]).map(drop)
}

/// The socket of the cell with this number, or of the only cell.
fn find(cell: Option<u32>) -> Result<PathBuf> {
    let sockets = lease::sockets();
    match (cell, sockets.as_slice()) {
        (Some(cell), _) => sockets
            .into_iter()
            .find(|(number, _)| *number == cell)
            .map(|(_, path)| path)
            .ok_or_else(|| miette!("no live cell of yours has the number {cell}")),
        (None, [(_, path)]) => Ok(path.clone()),
        (None, []) => Err(none()),
        (None, several) => {
            Err(miette!("several live cells are running: name one with --cell N\n{}", list(several).trim_end()))
        }
    }
}

fn none() -> miette::Report {
    miette!("no live cell of yours is running: start one with `tidemark shell`")
}

/// Lists these cells, one on a line.
fn list(cells: &[(u32, PathBuf)]) -> String {
    let line = |(number, socket): &(u32, PathBuf)| {
        let about = ask(socket, &["about".into()]).unwrap_or_else(|_| "does not answer\n".into());
        format!("{number}  {about}")
    };
    cells.iter().map(line).collect()
}

fn ask(socket: &Path, words: &[String]) -> Result<String> {
    let answer = tidemark_emu::ask(socket, words).map_err(|error| miette!("{}: {error}", socket.display()))?;
    answer.map_err(|reason| miette!("{reason}"))
}

/// Listens at this socket until the process ends. `handle` turns a request's words into the answer or an error.
pub(crate) fn listen(
    path: &Path,
    handle: impl Fn(&[&str]) -> std::result::Result<String, String> + Send + 'static,
) -> Result<()> {
    let _ = fs::remove_file(path);
    let listener = UnixListener::bind(path).map_err(|error| miette!("{}: {error}", path.display()))?;
    // The folder is closed to other users, too; this protects users who open it.
    fs::set_permissions(path, fs::Permissions::from_mode(0o600)).into_diagnostic()?;
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            answer(stream, &handle);
        }
    });
    Ok(())
}

/// Answers one request, without waiting for a client that sends nothing.
fn answer(mut stream: UnixStream, handle: impl Fn(&[&str]) -> std::result::Result<String, String>) {
    let patience = Some(Wait::from_secs(1));
    let mut request = String::new();
    let timeouts = stream.set_read_timeout(patience).and_then(|()| stream.set_write_timeout(patience));
    if timeouts.is_err() || (&stream).take(MAX_REQUEST).read_to_string(&mut request).is_err() {
        return;
    }
    let words: Vec<&str> = request.split('\n').collect();
    let answer = match handle(&words) {
        Ok(body) => format!("ok\n{body}"),
        Err(reason) => format!("error\n{reason}\n"),
    };
    // A client that has gone needs no answer.
    let _ = stream.write_all(answer.as_bytes());
}

/// Answers `status` or `metrics`.
pub(crate) fn state(source: &impl Source, word: &str) -> std::result::Result<String, String> {
    let text = if word == "status" { source.status().map(|text| text + "\n") } else { source.metrics() };
    text.ok_or_else(|| "the cell has ended".into())
}

/// Answers the requests to a live cell.
pub(crate) struct Server {
    scenario: Mutex<Scenario>,
    control: Control,
    shared: Shared,
    /// A line that describes the cell.
    about: String,
}

impl Commands for Server {
    fn controls(&self) -> String {
        let scenario = self.scenario.lock().unwrap_or_else(PoisonError::into_inner);
        serde_json::to_string(&Controls::new(&scenario, self.shared.is_du())).unwrap_or_default()
    }

    fn handle(&self, words: &[&str]) -> std::result::Result<String, String> {
        match words {
            ["about"] => Ok(format!("{}\n", self.about)),
            ["status" | "metrics"] => state(&*self.shared, words[0]),
            ["controls"] => Ok(self.controls()),
            ["set", assignments @ ..] => self.set(assignments),
            ["outage", ue, time] => {
                let time: Duration = time.parse()?;
                let at = self.change(Change::Outage(self.ue(ue)?, time))?;
                self.shared.happened(event(at, EventKind::Outage, Some(ue), Some(time.to_string())));
                Ok(String::new())
            }
            ["handover", ue] => {
                let at = self.change(Change::Handover(self.ue(ue)?))?;
                self.shared.happened(event(at, EventKind::Handover, Some(ue), None));
                Ok(String::new())
            }
            _ => Err(UNKNOWN.into()),
        }
    }
}

impl Server {
    /// Takes commands for the cell of this scenario.
    pub(crate) fn new(scenario: &Scenario, control: Control, shared: Shared, about: String) -> Arc<Self> {
        Arc::new(Self { scenario: Mutex::new(scenario.clone()), control, shared, about })
    }

    /// Answers at this socket until the process ends.
    pub(crate) fn listen(self: &Arc<Self>, path: &Path) -> Result<()> {
        let server = Arc::clone(self);
        listen(path, move |words| server.handle(words))
    }

    fn ue(&self, name: &str) -> std::result::Result<UeId, String> {
        let scenario = self.scenario.lock().unwrap_or_else(PoisonError::into_inner);
        let names: Vec<_> = scenario.ues().into_iter().map(|ue| ue.name).collect();
        let index = names.iter().position(|known| known == name);
        index
            .map(|index| UeId(index as u32))
            .ok_or_else(|| format!("there is no UE `{name}`: use {}", names.join(", ")))
    }

    /// Applies assignments to the scenario and passes their changes on.
    fn set(&self, assignments: &[&str]) -> std::result::Result<String, String> {
        let mut scenario = self.scenario.lock().unwrap_or_else(PoisonError::into_inner);
        let assignments: Vec<_> = assignments.iter().map(ToString::to_string).collect();
        let mut wanted = Scenario::parse("the running scenario", &scenario.text, &scenario.folder, &assignments)
            .map_err(|error| error.to_string())?;
        only_ues_of(&scenario, &mut wanted);
        if wanted.cell != scenario.cell || wanted.ues().len() != scenario.ues().len() {
            return Err("only `channel` and `marker` can change while the cell runs".into());
        }
        let (mut text, mut changes, mut laws) = (String::new(), Vec::new(), Vec::new());
        for (index, (old, new)) in scenario.ues().into_iter().zip(wanted.ues()).enumerate() {
            let id = UeId(index as u32);
            let (channel, marker) = (old.config.channel.clone(), old.config.marker.clone());
            if old.config != (UeConfig { channel, marker, ..new.config.clone() }) {
                return Err("only `channel` and `marker` can change while the cell runs".into());
            }
            if old.config.channel != new.config.channel {
                let [to, from] = [new.config.channel, old.config.channel].map(Box::new);
                changes.push((Change::Channel(id, to), Change::Channel(id, from)));
                text += &format!("{}: changed channel\n", new.name);
            }
            if old.config.marker != new.config.marker {
                let [to, from] = [new.config.marker, old.config.marker].map(Box::new);
                laws.push((index, to.law.properties().name.to_string()));
                changes.push((Change::Marker(id, to), Change::Marker(id, from)));
                text += &format!("{}: changed law or threshold\n", new.name);
            }
        }
        if let Some(at) = all_or_none(changes, |change| self.change(change))? {
            self.shared.happened(event(at, EventKind::Set, None, Some(assignments.join(" "))));
            laws.into_iter().for_each(|(ue, law)| self.shared.marked_by(at, ue, law));
        }
        self.shared.describe(&wanted);
        *scenario = wanted;
        Ok(if text.is_empty() { "nothing changed\n".into() } else { text })
    }

    fn change(&self, change: Change) -> std::result::Result<Instant, String> {
        self.control.change(change).map_err(|refusal| refusal.to_string())
    }
}

/// Adapts a scenario that was read again as a live cell did at its start.
fn only_ues_of(running: &Scenario, read: &mut Scenario) {
    read.flow.clear();
    read.ue.truncate(running.ue.len());
    read.ue.iter_mut().zip(&running.ue).for_each(|(read, running)| read.count = running.count);
}

fn event(at: Instant, event: EventKind, ue: Option<&str>, detail: Option<String>) -> Event {
    Event { t_s: at.as_secs_f64(), event, ue: ue.map(str::to_string), detail }.rounded()
}

/// Makes changes, each paired with the change that undoes it. If one is refused, undoes the earlier ones. Gives the last one's result.
fn all_or_none<C, T>(
    changes: Vec<(C, C)>,
    change: impl Fn(C) -> std::result::Result<T, String>,
) -> std::result::Result<Option<T>, String> {
    let (mut made, mut last) = (Vec::new(), None);
    for (wanted, back) in changes {
        match change(wanted) {
            Ok(given) => last = Some(given),
            Err(refusal) => {
                // The earlier state is never refused.
                made.into_iter().rev().for_each(|back| drop(change(back)));
                return Err(refusal);
            }
        }
        made.push(back);
    }
    Ok(last)
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::*;

    #[test]
    fn where_one_change_is_refused_those_before_it_are_taken_back() {
        let state = RefCell::new([1, 1, 1]);
        let change = |(index, value): (usize, i32)| {
            if value == 7 {
                return Err("seven".into());
            }
            state.borrow_mut()[index] = value;
            Ok(())
        };
        let set = |values: [i32; 3]| all_or_none((0..).zip(values).map(|new| (new, (new.0, 1))).collect(), change);
        assert_eq!(set([2, 3, 7]), Err("seven".into()));
        assert_eq!(*state.borrow(), [1, 1, 1]);
        assert_eq!(set([2, 3, 4]), Ok(Some(())));
        assert_eq!(*state.borrow(), [2, 3, 4]);
    }
}
