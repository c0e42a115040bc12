"""Statistics from the reports of agents and switches, now and over time."""

import csv
import json
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TextIO

from tidemark_sdn.agent.protocol import PortStatistics
from tidemark_sdn.page import write_run_report
from tidemark_sdn.topology import Attachment

# Events remembered for `status`.
_MAX_EVENTS = 1000
# Most rows of a recording: a hundred ports, ten times a second, for an hour. Further rows are only counted.
_MAX_ROWS = 3_600_000
# Weight of the newest interval in a port's load.
_LOAD_GAIN = 0.5

SERIES_COLUMNS = (
    "at",
    "switch",
    "port",
    "queue",
    "backlog_bytes",
    "delay",
    "load",
    "sent_bytes",
    "sent_packets",
    "overflowed",
    "arrived_packets",
    "came_marked",
    "ramp_marked",
    "coupled_marked",
    "dropped",
    "coupled",
    "classic",
)


@dataclass(frozen=True)
class Event:
    """An event of a run, with its time in seconds since the start."""

    at: float
    what: str


class StatisticsStore:
    """The newest figures of every port, and events."""

    def __init__(self) -> None:
        self.started = time.monotonic()
        self.ports: dict[Attachment, PortStatistics] = {}
        # Recently used share of a port's rate.
        self.loads: dict[Attachment, float] = {}
        self.events: deque[Event] = deque(maxlen=_MAX_EVENTS)
        self.counters: dict[str, int] = {}
        self._sent: dict[Attachment, tuple[float, int]] = {}
        self._recorder: Recorder | None = None

    def record(self, folder: Path, names: dict[int, str]) -> None:
        """Records everything from now on in a folder."""
        self._recorder = Recorder(folder, names)

    def event(self, what: str) -> None:
        """Notes an event."""
        event = Event(time.monotonic() - self.started, what)
        self.events.append(event)
        if self._recorder:
            self._recorder.event(event)

    def count(self, name: str) -> None:
        """Counts something that happens too often to be an event."""
        self.counters[name] = self.counters.get(name, 0) + 1

    def report(self, port: Attachment, name: str, figures: PortStatistics) -> None:
        """Takes an agent's report on a port."""
        self.ports[port] = figures
        if self._recorder:
            self._recorder.port(time.monotonic() - self.started, port, name, figures)

    def sent(self, port: Attachment, sent_bytes: int, rate: float, now: float) -> None:
        """Takes a switch's counters of a port."""
        before = self._sent.get(port)
        self._sent[port] = (now, sent_bytes)
        if before is not None and now > before[0] and sent_bytes >= before[1]:
            load = (sent_bytes - before[1]) * 8 / (now - before[0]) / rate
            self.loads[port] = self.loads.get(port, 0.0) + _LOAD_GAIN * (load - self.loads.get(port, 0.0))

    def forget(self, datapath_id: int) -> None:
        """Forgets the figures of a switch that is gone."""
        for figures in (self.ports, self.loads, self._sent):
            for port in [port for port in figures if port.datapath_id == datapath_id]:
                del figures[port]

    def close(self, summary: dict[str, Any]) -> None:
        """Ends the recording."""
        if self._recorder:
            self._recorder.close(summary)


class Recorder:
    """`series.csv`, `events.csv`, `summary.json` and `report.html` of a run."""

    def __init__(self, folder: Path, names: dict[int, str]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self._folder = folder
        self._names = names
        self._rows = 0
        self._left_out = 0
        self._series_file = self._open("series.csv")
        self._events_file = self._open("events.csv")
        self._series = csv.writer(self._series_file)
        self._events = csv.writer(self._events_file)
        self._series.writerow(SERIES_COLUMNS)
        self._events.writerow(("at", "event"))

    def _open(self, name: str) -> TextIO:
        return (self._folder / name).open("w", encoding="utf-8", newline="")

    def event(self, event: Event) -> None:
        """Writes an event."""
        self._write(self._events, [(f"{event.at:.6f}", event.what)])
        self._events_file.flush()

    def port(self, at: float, port: Attachment, name: str, figures: PortStatistics) -> None:
        """Writes a row for each queue."""
        switch = self._names.get(port.datapath_id, f"{port.datapath_id:016x}")
        rows = []
        for queue, queue_figures in figures.queues.items():
            traffic = figures.traffic[queue]
            rows.append(
                (
                    f"{at:.6f}",
                    switch,
                    name,
                    queue,
                    queue_figures.backlog_bytes,
                    f"{queue_figures.delay:.6f}",
                    f"{queue_figures.backlog_bytes / queue_figures.size:.4f}",
                    queue_figures.sent_bytes,
                    queue_figures.sent_packets,
                    queue_figures.overflowed,
                    traffic.packets,
                    traffic.came_marked,
                    traffic.ramp_marked,
                    traffic.coupled_marked,
                    traffic.dropped,
                    f"{figures.coupled:.6f}",
                    f"{figures.classic:.6f}",
                )
            )
        self._write(self._series, rows)

    def _write(self, writer: Any, rows: list[tuple[Any, ...]]) -> None:
        if self._rows + len(rows) > _MAX_ROWS:
            self._left_out += len(rows)
            return
        self._rows += len(rows)
        writer.writerows(rows)

    def close(self, summary: dict[str, Any]) -> None:
        """Writes the summary and the report."""
        if self._left_out:
            summary = summary | {"rows_left_out": self._left_out}
        (self._folder / "summary.json").write_text(json.dumps(summary, indent=1) + "\n", encoding="utf-8")
        self._series_file.close()
        self._events_file.close()
        write_run_report(self._folder, summary)
