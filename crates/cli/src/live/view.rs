//! The live view in the terminal.

use std::time::Duration;

use miette::{IntoDiagnostic, Result, miette};
use ratatui::crossterm::event::{self, Event, KeyCode, KeyModifiers};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::Style;
use ratatui::widgets::{Block, Paragraph, Row, Sparkline, Table};
use ratatui::{DefaultTerminal, Frame};

use super::snapshot::{Snapshot, UeSnapshot};

/// Time between two snapshots of the cell.
const PERIOD: Duration = Duration::from_millis(250);
/// Minimum height of a curve.
const CURVE: u16 = 3;
/// Snapshots that the curves show.
const PAST: usize = 240;
/// Heading of a column, and its text for a UE.
type Column = (&'static str, fn(&UeSnapshot) -> String);
/// Columns of the table of UEs.
const COLUMNS: [Column; 11] = [
    ("UE", |ue| ue.name.clone()),
    ("channel", |ue| ue.channel.clone()),
    ("law", |ue| ue.law.clone()),
    ("down Mbit/s", |ue| format!("{:.2}", ue.down_mbps)),
    ("up Mbit/s", |ue| format!("{:.2}", ue.up_mbps)),
    ("queue p95 ms", UeSnapshot::queue_p95),
    ("backlog kB", |ue| format!("{:.0}", ue.backlog_bytes as f64 / 1e3)),
    ("marks", UeSnapshot::marks),
    ("drops", |ue| ue.dropped.to_string()),
    ("MCS", |ue| ue.mcs.map_or("–".into(), |mcs| mcs.to_string())),
    ("ANBR Mbit/s", UeSnapshot::recommended),
];

/// Shows the state from `status` until `q`, Escape or Ctrl-C, or until the cell ends.
pub(super) fn show(status: impl Fn() -> Result<String>) -> Result<()> {
    let mut terminal = ratatui::try_init().into_diagnostic()?;
    let outcome = repeat(&mut terminal, status);
    ratatui::restore();
    outcome
}

fn repeat(terminal: &mut DefaultTerminal, status: impl Fn() -> Result<String>) -> Result<()> {
    let mut past: Vec<(u64, u64)> = Vec::new();
    loop {
        let snapshot: Snapshot = serde_json::from_str(&status()?)
            .map_err(|_| miette!("only cells have a view, not a CU or a hop: use `tidemark ctl status`"))?;
        let rate: f64 = snapshot.ues.iter().map(|ue| ue.down_mbps).sum();
        let queue = snapshot.ues.iter().filter_map(|ue| ue.queue_ms).fold(0.0, f64::max);
        past.push(((rate * 10.0) as u64, (queue * 10.0) as u64));
        past.drain(..past.len().saturating_sub(PAST));
        terminal.draw(|frame| draw(frame, &snapshot, &past)).into_diagnostic()?;
        if event::poll(PERIOD).into_diagnostic()?
            && let Event::Key(key) = event::read().into_diagnostic()?
        {
            let interrupt = key.code == KeyCode::Char('c') && key.modifiers.contains(KeyModifiers::CONTROL);
            if interrupt || matches!(key.code, KeyCode::Char('q') | KeyCode::Esc) {
                return Ok(());
            }
        }
    }
}

fn draw(frame: &mut Frame<'_>, now: &Snapshot, past: &[(u64, u64)]) {
    let rows = now.ues.len() as u16 + 3;
    let [top, table, rate, queue, last, bottom] = Layout::vertical([
        Constraint::Length(2),
        Constraint::Length(rows),
        Constraint::Min(CURVE),
        Constraint::Min(CURVE),
        Constraint::Length(height_of_marks(now, frame.area().height.saturating_sub(rows))),
        Constraint::Length(1),
    ])
    .areas(frame.area());
    frame.render_widget(Paragraph::new(head(now)), top);
    if let Some(warning) = &now.warning {
        frame.render_widget(Paragraph::new(warning.as_str()).style(Style::new().red().bold()), bottom);
    } else {
        frame.render_widget(Paragraph::new("q: quit").style(Style::new().dim()), bottom);
    }
    frame.render_widget(ues(now), table);
    for (area, title, values) in [
        (rate, "downlink, Mbit/s", past.iter().map(|(rate, _)| *rate).collect::<Vec<_>>()),
        (queue, "queue delay of the worst UE, ms", past.iter().map(|(_, queue)| *queue).collect()),
    ] {
        let highest = values.iter().max().copied().unwrap_or(0) as f64 / 10.0;
        let block = Block::bordered().title(format!("{title} (up to {highest:.1})"));
        frame.render_widget(Sparkline::default().data(values).block(block), area);
    }
    frame.render_widget(marks(now, last.height.saturating_sub(3).into()), last);
}

/// Table of the UEs.
fn ues(now: &Snapshot) -> Table<'_> {
    let heading = Row::new(COLUMNS.map(|(heading, _)| heading)).style(Style::new().bold());
    let lines = now.ues.iter().map(|ue| Row::new(COLUMNS.map(|(_, show)| show(ue))));
    Table::new(lines, COLUMNS.map(|_| Constraint::Fill(1))).header(heading).block(Block::bordered())
}

/// Height of the list of marks on the rows that the UEs leave; none without marks, or if the curves need the rows.
fn height_of_marks(now: &Snapshot, height: u16) -> u16 {
    // State, curves and the line at the bottom; a border and a heading.
    let room = height.saturating_sub(2 + 2 * CURVE + 1 + 3);
    let count = room.min(now.marks.len() as u16);
    if count == 0 { 0 } else { count + 3 }
}

/// List of this many last marks, newest first.
fn marks(now: &Snapshot, count: usize) -> Table<'_> {
    let show = |ms: Option<f64>| ms.map_or("–".into(), |ms| format!("{ms:.1}"));
    let lines = now.marks.iter().rev().take(count).map(move |mark| {
        Row::new([
            format!("{:.3}", mark.t_s),
            mark.flow.clone(),
            mark.verdict.clone(),
            format!("{}: {}", mark.law, mark.rule),
            show(mark.estimated_ms),
            show(mark.queued_ms),
        ])
    });
    let heading = ["last marks, s", "flow", "verdict", "law: rule", "estimated ms", "RLC queue ms"];
    let widths = [2, 4, 2, 3, 2, 2].map(Constraint::Fill);
    Table::new(lines, widths).header(Row::new(heading).style(Style::new().bold())).block(Block::bordered())
}

fn head(now: &Snapshot) -> String {
    let late = now.lateness_us.map_or("–".into(), |late| {
        format!("p50 {:.0} us, p99 {:.0} us, p99.9 {:.0} us, worst {:.0} us", late.p50, late.p99, late.p999, late.max)
    });
    let uplink = now.uplink_use.map_or("–".into(), |used| format!("{:.0} %", used * 100.0));
    format!(
        "{}, {:.0} s; {:.0} % of a processor; uplink {uplink} used; {} packets in, {} out\nslots late by {late}",
        now.name,
        now.t_s,
        now.busy * 100.0,
        now.packets_in,
        now.packets_out
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::live::snapshot::MarkSnapshot;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    /// Text of a screen of this height.
    fn drawn(now: &Snapshot, height: u16) -> String {
        let mut terminal = Terminal::new(TestBackend::new(120, height)).unwrap();
        terminal.draw(|frame| draw(frame, now, &[(1, 2), (3, 4)])).unwrap();
        terminal.backend().buffer().content.iter().map(|cell| cell.symbol()).collect()
    }

    #[test]
    fn the_last_marks_are_listed_where_there_is_room() {
        let mark = |t_s, queued_ms| MarkSnapshot {
            t_s,
            flow: "tcp 192.0.2.1:443".into(),
            law: "l4span".into(),
            rule: "l4s sojourn".into(),
            estimated_ms: Some(12.34),
            queued_ms,
            ..MarkSnapshot::default()
        };
        let marks = vec![mark(1.5, Some(9.0)), mark(2.5, None)];
        let now = Snapshot { ues: vec![UeSnapshot::default()], marks, ..Snapshot::default() };
        let text = drawn(&now, 24);
        for expected in ["tcp 192.0.2.1:443", "l4span: l4s sojourn", "12.3", "9.0", "1.500", "2.500"] {
            assert!(text.contains(expected), "{expected}");
        }
        let newest = drawn(&now, 17);
        assert!(newest.contains("2.500") && !newest.contains("1.500"));
        assert!(!drawn(&now, 16).contains("2.500"), "the curves come first");
        assert!(!drawn(&Snapshot::default(), 40).contains("last marks"));
    }

    #[test]
    fn the_view_shows_every_ue_and_what_was_not_measured_as_a_dash() {
        let ue = UeSnapshot {
            name: "walker".into(),
            law: "l4span".into(),
            down_mbps: 12.345,
            uplink_queue_p95_ms: Some(109.0),
            ..UeSnapshot::default()
        };
        let now =
            Snapshot { ues: vec![ue], uplink_use: Some(0.97), warning: Some("OVERLOAD".into()), ..Snapshot::default() };
        let text = drawn(&now, 20);
        for expected in ["walker", "l4span", "12.35", "–", "↑109.0", "uplink 97 % used", "OVERLOAD"] {
            assert!(text.contains(expected), "{expected}");
        }
    }
}
