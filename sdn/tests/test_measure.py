"""Statistics of repeated runs, and the points of the figures."""

import math

import pytest

from tests.test_config import LEAST
from tidemark_sdn.config import parse
from tidemark_sdn.lab.measure import FIGURES, Point, _document, interval


def test_the_interval_is_students() -> None:
    # Of 1 to 5: mean 3, deviation 1.581, t of 4 degrees of freedom 2.776.
    mean, half = interval([1.0, 2.0, 3.0, 4.0, 5.0])
    assert mean == 3.0
    assert half == pytest.approx(1.963, abs=0.01)
    assert math.isinf(interval([2.0])[1])


def test_each_figure_has_both_modes_and_the_published_points() -> None:
    for points in FIGURES.values():
        assert {point.mode for point in points} == {"literal", "sound"}
        assert len({point.name for point in points}) == len(points)
    assert {(point.q1, point.q2) for point in FIGURES["table2"]} == {(0.5, 0.01), (0.5, 0.1), (0.8, 0.01), (0.8, 0.1)}
    assert {point.one_queue for point in FIGURES["fig6"]} == {True, False}


def test_what_was_not_measured_is_left_empty() -> None:
    points = FIGURES["fig6"]
    results: dict[Point, list[dict[str, dict[str, float]]]] = {point: [] for point in points} | {
        points[0]: [{"l4s": {"mbps": 3.0}}, {"l4s": {"mbps": 5.0}}]
    }
    rows = [line for line in _document(["fig6"], results).splitlines() if line.startswith("| literal")]
    assert rows[0].endswith("| SDN-L4S | 2 |  |  |  | 4.00 ± 12.71 |")
    assert rows[1].endswith("| SDN-TCC | 0 |  |  |  |  |")


def test_one_queue_is_a_setting_of_the_controller() -> None:
    assert not parse(LEAST + "[queues]\nseparate = false").queues.separate
