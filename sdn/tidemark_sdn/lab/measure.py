"""The paper's Figures 4 to 6 and Table II from repeated runs on real switches."""

import json
import math
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from tidemark_sdn.lab.experiment import Queues
from tidemark_sdn.lab.isolation import LabError
from tidemark_sdn.units import parse_rate

# Two-sided 95 % quantiles of Student's t by degrees of freedom; beyond the last one, 1.96 is close enough.
_STUDENT = (12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23)


# Queues of the literal mode, read as in the simulator (scenarios/papers/targets/sdn.toml): the paper has one size for
# both and gives it no number. Two of 50 kB fit the datapath's socket. The L4S queue's "superior output rate" has no
# number either: its share was calibrated to Fig. 5 in the simulator, and is no other here.
_LITERAL = Queues(l4s_size=50_000, classic_size=50_000, l4s_share=0.7)


@dataclass(frozen=True)
class Point:
    """Thresholds and mode of a demo run, in percent. The sound mode has no q1."""

    mode: str
    q1: int | None
    q2: int
    one_queue: bool = False

    @property
    def name(self) -> str:
        """Name of the run's folder, and of the case in `tidemark-papers`."""
        q1 = "" if self.q1 is None else f".q1-{self.q1}"
        return f"{self.mode}{q1}.q2-{self.q2}{'.one-queue' if self.one_queue else ''}"

    @property
    def queues(self) -> Queues:
        """The paper's queues in the literal mode, the demo's in the other."""
        return _LITERAL if self.mode == "literal" else Queues()

    def arguments(self) -> list[str]:
        """Arguments of the demo."""
        rest = [] if self.q1 is None else ["--q1", f"{self.q1 / 100:g}"]
        rest += [] if self.queues == Queues() else self.queues.arguments
        rest += ["--one-queue"] if self.one_queue else []
        # The paper's senders in both modes, so that only the switches differ.
        senders = ["--controller", "sdn-l4s"]
        return ["--mode", self.mode, "--q2", f"{self.q2 / 100:g}", *senders, *rest]


def _both(points: Iterable[tuple[int, int, bool]]) -> list[Point]:
    points = list(points)
    literal = [Point("literal", *values) for values in points]
    return literal + list(dict.fromkeys(Point("sound", None, q2, one_queue) for _, q2, one_queue in points))


FIGURES: dict[str, list[Point]] = {
    "fig4": _both((80, q2, False) for q2 in (1, 10, 50, 90)),
    "fig5": _both((q1, 1, False) for q1 in (20, 50, 80)),
    "fig6": _both((80, 1, one_queue) for one_queue in (False, True)),
    "table2": _both((q1, q2, False) for q1 in (50, 80) for q2 in (1, 10)),
}

# Figures of the runs, by kind of traffic.
Summary = dict[str, dict[str, float]]
Results = dict[Point, list[Summary]]


def interval(values: list[float]) -> tuple[float, float]:
    """Mean and half-width of the 95 % confidence interval, infinite for one value."""
    if len(values) < 2:
        return values[0], math.inf
    student = _STUDENT[len(values) - 2] if len(values) - 2 < len(_STUDENT) else 1.96
    return statistics.fmean(values), student * statistics.stdev(values) / len(values) ** 0.5


def measure(
    points: list[Point],
    repetitions: int,
    common: list[str],
    tidemark: Path,
    out: Path,
    say: Callable[[str], None],
) -> Results:
    """Runs all points, repetition by repetition, so that a change of the machine's load affects all points.

    A run that the folder already has with the same arguments is not repeated. A run in which a probe took longer than
    full queues can delay it was disturbed by the machine, and does not count.
    """
    rate = parse_rate(common[common.index("--rate") + 1])
    results: Results = {point: [] for point in points}
    for repetition in range(repetitions):
        for point in points:
            folder = out / point.name / str(repetition)
            arguments = [*common, *point.arguments()]
            summary, note = folder / "summary.json", folder / "arguments.json"
            if not (summary.exists() and note.exists() and json.loads(note.read_text(encoding="utf-8")) == arguments):
                note.unlink(missing_ok=True)
                command = [sys.executable, "-m", "tidemark_sdn", "demo", "--out", str(folder), *arguments]
                command += ["--tidemark", str(tidemark)]
                done = subprocess.run(command, capture_output=True, text=True, check=False)
                if done.returncode != 0:
                    say(f"{point.name}, repetition {repetition}: {done.stderr.strip().splitlines()[-1:]}")
                    continue
                note.write_text(json.dumps(arguments) + "\n", encoding="utf-8")
                say(f"{point.name}, repetition {repetition}")
            figures: Summary = json.loads(summary.read_text(encoding="utf-8"))["summary"]
            longest = max((of.get("delay_max_ms", 0.0) for of in figures.values()), default=0.0)
            if longest > point.queues.longest_wait(rate) * 1e3:
                note.unlink()
                say(f"{point.name}, repetition {repetition}: disturbed, a probe took {longest:.0f} ms: not counted")
                continue
            results[point].append(figures)
    if not any(results.values()):
        raise LabError("no run has succeeded")
    return results


def points_of(figures: Iterable[str]) -> list[Point]:
    """All points of some figures, each once."""
    return list(dict.fromkeys(point for figure in figures for point in FIGURES[figure]))


def write(figures: list[str], results: Results, out: Path) -> Path:
    """Writes `runs.json`, `figures.json` and `figures.md`, and gives the text of the last."""
    each = {point.name: [_by_name(run) for run in runs] for point, runs in results.items() if runs}
    (out / "runs.json").write_text(json.dumps(each, indent=1) + "\n", encoding="utf-8")
    cases = {point.name: _figures(runs) for point, runs in results.items() if runs}
    (out / "figures.json").write_text(json.dumps(cases, indent=1) + "\n", encoding="utf-8")
    document = out / "figures.md"
    document.write_text(_document(figures, results), encoding="utf-8")
    return document


def _by_name(run: Summary) -> dict[str, float]:
    """Figures of a run as `kind_metric`."""
    return {f"{kind}_{metric}": value for kind, figures in run.items() for metric, value in figures.items()}


def _figures(runs: list[Summary]) -> dict[str, float]:
    """Means and half-widths of intervals over the runs of a point, by name, without figures that no run measured."""
    found: dict[str, float] = {"runs": len(runs)}
    named = [_by_name(run) for run in runs]
    for name in sorted({name for run in named for name in run}):
        mean, half = interval([run[name] for run in named if name in run])
        found[name] = mean
        if math.isfinite(half):
            found[f"{name}_half"] = half
    return found


_METRICS = (
    "delay_mean_ms",
    "delay_min_ms",
    "delay_median_ms",
    "delay_max_ms",
    "lost_percent",
    "lost_later_percent",
    "line_mbps",
)


def _document(figures: list[str], results: Results) -> str:
    lines = [
        "Means with 95 % confidence intervals over repetitions. SDN-TCC is the kernel's CUBIC and Reno in these runs.",
        "",
    ]
    for figure in figures:
        lines += [f"## sdn.{figure}", "", "| mode | q1 | q2 | queues | traffic | runs | " + " | ".join(_METRICS) + " |"]
        lines.append("| --- " * (6 + len(_METRICS)) + "|")
        for point in FIGURES[figure]:
            for kind, name in (("l4s", "SDN-L4S"), ("classic", "SDN-TCC")):
                runs = [run[kind] for run in results.get(point, []) if kind in run]
                cells = [_cell([run[metric] for run in runs if metric in run]) for metric in _METRICS]
                queues = "one" if point.one_queue else "two"
                q1 = "" if point.q1 is None else f"{point.q1} %"
                head = f"| {point.mode} | {q1} | {point.q2} % | {queues} | {name} | {len(runs)} |"
                lines.append(f"{head} {' | '.join(cells)} |")
        lines.append("")
    return "\n".join(lines)


def _cell(values: list[float]) -> str:
    if not values:
        return ""
    mean, half = interval(values)
    return f"{mean:.2f}" if math.isinf(half) else f"{mean:.2f} ± {half:.2f}"
