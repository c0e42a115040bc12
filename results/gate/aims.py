"""Aims of the gate, each with the figure that it is about, and how far a point is from it."""

import dataclasses
import math
import statistics
from collections.abc import Callable

import points

# Quantiles 0.975 of Student's t, by degrees of freedom.
STUDENT = {1: 12.706, 2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}
UNMARKED, REFERENCE = "none", "l4span"
SEGMENT_MBIT = 1500 * 8 / 1e6
TINY = 1e-3
"""Least figure that counts: a flow that stands still would have no logarithm."""


@dataclasses.dataclass(frozen=True)
class Aim:
    """A figure of a row beside those of the unmarked run and of l4span, its points, and its least and largest value.

    Where flows in DRBs of their own are outside of a range of shares even unmarked, they are asked for no more than that:
    a start that goes on or a path is no law's fault.
    """

    name: str
    applies: Callable[[points.Point], bool]
    figure: Callable[[dict, dict, dict], float]
    least: float = 0
    largest: float = math.inf
    is_share: bool = False


def shares(placement):
    """Condition of L4S flows beside CUBIC in such a placement."""
    return lambda case: case.sender in points.L4S and case.placement == placement


def on_drive(condition):
    """Condition on measured drives, and elsewhere."""
    drive = lambda case: condition(case) and case.channel == "trace"
    return drive, lambda case: condition(case) and case.channel != "trace"


def over_unmarked(row, unmarked, _):
    """Cell's rate over the unmarked one's."""
    return row["cell_mbps"] / unmarked["cell_mbps"]


def tail(row, unmarked, _):
    """Percentile 99 of L4S queues over 20 ms and the round of the scheduler.

    No sender has a window below two segments: a round in a crowd is no shorter than two segments of everybody take.
    """
    two_segments = 2 * SEGMENT_MBIT * row["flows"] / unmarked["cell_mbps"]
    return row["l4s_p99_ms"] / (20 + max(row["round_ms"], 1000 * two_segments))


def classic_queue(row, _, reference):
    """Mean classic queue over l4span's."""
    return row["classic_mean_ms"] / reference["classic_mean_ms"]


def has_several(case):
    """True for a point with more than one flow."""
    return case.ues > 1 or case.placement != "alone"


DRIVES, SYNTHETIC = on_drive(lambda case: True)
# BBR answers no mark, but its point has the classic queue of the CUBIC beside it.
CLASSIC_ON_DRIVE, CLASSIC = on_drive(lambda case: case.sender in points.CLASSIC or case.placement != "alone")
OWN_DRB_ON_DRIVE, OWN_DRB = on_drive(lambda case: case.sender in points.L4S and case.placement != "shared")
AIMS = (
    Aim("L4S over CUBIC's rate, other DRBs", shares("other"), lambda row, *_: row["ratio"], 0.7, 1.4, True),
    Aim("L4S over CUBIC's rate, same DRB", shares("shared"), lambda row, *_: row["ratio"], 0.7, 1.4),
    Aim("least flow over equal share", has_several, lambda row, *_: row["least"], 0.3, is_share=True),
    Aim("rate over unmarked, one UE", lambda case: SYNTHETIC(case) and case.ues == 1, over_unmarked, 0.85),
    Aim("rate over unmarked, several UEs", lambda case: SYNTHETIC(case) and case.ues > 1, over_unmarked, 0.95),
    Aim("rate over unmarked, drives", DRIVES, over_unmarked, 0.7),
    Aim("L4S p99 over 20 ms and a round", OWN_DRB, tail, largest=1),
    Aim("L4S p99 over 20 ms, a round, drives", OWN_DRB_ON_DRIVE, tail, largest=1),
    Aim("classic mean queue over l4span's", CLASSIC, classic_queue, largest=0.6),
    Aim("classic mean queue, drives", CLASSIC_ON_DRIVE, classic_queue, largest=0.6),
)


class Judgement:
    """Figures of an aim under a law, point by point and seed by seed."""

    def __init__(self, aim, law, rows):
        found = {(row["point"], row["law"], row["seed"]): row for row in rows}
        self.aim, self.law, self.figures, self.unmarked = aim, law, {}, {}
        for row in rows:
            case, seed = row["point"], row["seed"]
            if row["law"] != law or not aim.applies(case):
                continue
            unmarked, reference = (found.get((case, other, seed)) for other in (UNMARKED, REFERENCE))
            self.figures.setdefault(case, {})[seed] = max(aim.figure(row, unmarked, reference) or 0, TINY)
            if aim.is_share and case.placement != "shared":
                own = max(aim.figure(unmarked, unmarked, reference) or 0, TINY)
                self.unmarked.setdefault(case, {})[seed] = own

    def value(self, case):
        """Geometric mean over seeds."""
        return geometric(self.figures[case].values())

    def bounds(self, case):
        """Least and largest value of a point."""
        least, largest = self.aim.least, self.aim.largest
        if case not in self.unmarked:
            return least, largest
        unmarked = geometric(self.unmarked[case].values())
        return min(least, unmarked), max(largest, unmarked)

    def excess(self, case):
        """Logarithm of how far a point is outside of the aim; 0 inside."""
        value, (least, largest) = self.value(case), self.bounds(case)
        below = math.log(least / value) if least else 0
        return max(below, math.log(value / largest), 0) if largest < math.inf else max(below, 0)

    def wanted(self, case):
        """Range of the aim in words."""
        least, largest = self.bounds(case)
        if largest == math.inf:
            return f"at least {least:.2g}"
        return f"{least:.2g} to {largest:.2g}" if least else f"at most {largest:.2g}"

    def misses(self):
        """Points that miss the aim, the worst first."""
        return sorted((case for case in self.figures if self.excess(case) > 0), key=self.excess, reverse=True)

    def met(self):
        """Number of points that meet the aim."""
        return len(self.figures) - len(self.misses())

    def overall(self):
        """Geometric mean over points with its 95 % confidence interval over seeds; no interval with one seed."""
        seeds = sorted({seed for each in self.figures.values() for seed in each})
        logs = [math.log(geometric(each[seed] for each in self.figures.values() if seed in each)) for seed in seeds]
        half = STUDENT[len(logs) - 1] * statistics.stdev(logs) / len(logs) ** 0.5 if len(logs) > 1 else None
        middle = statistics.fmean(logs)
        return math.exp(middle), None if half is None else (math.exp(middle - half), math.exp(middle + half))


def geometric(values):
    """Geometric mean."""
    return math.exp(statistics.fmean(map(math.log, values)))


def judge(law, rows):
    """Judgements of a law, one an aim that some point has."""
    return [judgement for judgement in (Judgement(aim, law, rows) for aim in AIMS) if judgement.figures]
