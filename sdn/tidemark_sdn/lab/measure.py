"""The paper's Figures 4 to 6 and Table II from repeated runs on real switches."""

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tidemark_sdn.lab.isolation import LabError

# Two-sided 95 % of Student's t by degrees of freedom; beyond the last one 1.96 is near enough.
_STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)
_MODES = ("literal", "sound")


@dataclass(frozen=True)
class Point:
    """A run of the demo with its own thresholds."""

    mode: str
    q1: float
    q2: float
    one_queue: bool = False

    @property
    def name(self) -> str:
        """Name of its folder."""
        return f"{self.mode}-q1-{self.q1:g}-q2-{self.q2:g}{'-one-queue' if self.one_queue else ''}"

    def arguments(self) -> list[str]:
        """Arguments of the demo."""
        rest = ["--one-queue"] if self.one_queue else []
        # The paper's senders in both modes, so that only the switches differ.
        senders = ["--controller", "sdn-l4s"]
        return ["--mode", self.mode, "--q1", f"{self.q1:g}", "--q2", f"{self.q2:g}", *senders, *rest]


def _both(points: Iterable[tuple[float, float, bool]]) -> list[Point]:
    return [Point(mode, *values) for values in points for mode in _MODES]


FIGURES: dict[str, list[Point]] = {
    "fig4": _both((0.8, q2, False) for q2 in (0.01, 0.1, 0.3, 0.6, 0.9)),
    "fig5": _both((q1, 0.01, False) for q1 in (0.2, 0.4, 0.6, 0.8)),
    "fig6": _both((0.8, 0.01, one_queue) for one_queue in (False, True)),
    "table2": _both((q1, q2, False) for q1 in (0.5, 0.8) for q2 in (0.01, 0.1)),
}

_METRICS = ("delay_mean_ms", "delay_median_ms", "lost_percent", "mbps")


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half of the 95 % interval, infinite for one value."""
    if len(values) < 2:
        return values[0], math.inf
    student = _STUDENT[len(values) - 2] if len(values) - 2 < len(_STUDENT) else 1.96
    return statistics.fmean(values), student * statistics.stdev(values) / len(values) ** 0.5


def measure(figures: list[str], repetitions: int, common: list[str], out: Path, say: Callable[[str], None]) -> Path:
    """Runs all points, repetition by repetition, so that a change of the machine's load meets all of them."""
    points = list(dict.fromkeys(point for figure in figures for point in FIGURES[figure]))
    results: dict[Point, list[dict[str, dict[str, float]]]] = {point: [] for point in points}
    for repetition in range(repetitions):
        for point in points:
            folder = out / point.name / str(repetition)
            command = [sys.executable, "-m", "tidemark_sdn", "demo", "--out", str(folder), *common, *point.arguments()]
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode != 0:
                say(f"{point.name}, repetition {repetition}: {done.stderr.strip().splitlines()[-1:]}")
                continue
            results[point].append(json.loads((folder / "summary.json").read_text(encoding="utf-8"))["summary"])
            say(f"{point.name}, repetition {repetition}")
    document = out / "figures.md"
    document.write_text(_document(figures, results), encoding="utf-8")
    if not any(results.values()):
        raise LabError("no run has succeeded")
    return document


def _document(figures: list[str], results: dict[Point, list[dict[str, dict[str, float]]]]) -> str:
    lines = [
        "Means with 95 % intervals over the repetitions. SDN-TCC is the kernel's CUBIC and Reno in the same runs.",
        "",
    ]
    for figure in figures:
        lines += [f"## sdn.{figure}", "", "| mode | q1 | q2 | queues | traffic | runs | " + " | ".join(_METRICS) + " |"]
        lines.append("| --- " * (6 + len(_METRICS)) + "|")
        for point in FIGURES[figure]:
            for kind, name in (("l4s", "SDN-L4S"), ("classic", "SDN-TCC")):
                runs = [run[kind] for run in results[point] if kind in run]
                cells = [_cell([run[metric] for run in runs if metric in run]) for metric in _METRICS]
                queues = "one" if point.one_queue else "two"
                head = f"| {point.mode} | {point.q1:.0%} | {point.q2:.0%} | {queues} | {name} | {len(runs)} |"
                lines.append(f"{head} {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    if not values:
        return ""
    mean, half = interval(values)
    return f"{mean:.2f}" if math.isinf(half) else f"{mean:.2f} ± {half:.2f}"
