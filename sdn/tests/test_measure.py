"""Statistics of repeated runs, and the points of the figures."""

import itertools
import json
import math
from pathlib import Path

import pytest

from tests.test_config import LEAST
from tidemark_sdn.config import parse
from tidemark_sdn.lab.experiment import Losses, Queues, losses_of_iperf3, losses_of_sender
from tidemark_sdn.lab.isolation import LabError
from tidemark_sdn.lab.measure import FIGURES, Point, _document, interval, measure, points_of, write


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
    literal = [point for point in FIGURES["table2"] if point.mode == "literal"]
    assert [(point.q1, point.q2) for point in literal] == [(50, 1), (50, 10), (80, 1), (80, 10)]
    # q1 is a threshold of the paper's mode only.
    assert [point.name for point in FIGURES["fig5"] if point.mode == "sound"] == ["sound.q2-1"]
    assert {point.one_queue for point in FIGURES["fig6"]} == {True, False}


def test_the_literal_mode_has_queues_of_one_size() -> None:
    assert {point.queues for point in points_of(FIGURES) if point.mode == "literal"} == {Queues(50_000, 50_000, 0.7)}
    arguments = Point("literal", 50, 1).arguments()
    given = dict(itertools.pairwise(arguments))
    assert (given["--l4s-size"], given["--classic-size"], given["--l4s-share"]) == ("50000 B", "50000 B", "0.7")
    # The demo's own, which nobody has to give.
    assert "--l4s-size" not in Point("sound", None, 1).arguments()
    # 50 kB at 6 Mbit/s are 66.7 ms, 50 kB at 14 Mbit/s 28.6 ms; 80 kB at 2 Mbit/s are 320 ms.
    assert Queues(50_000, 50_000, 0.7).longest_wait(20e6) == pytest.approx(1.1 * 0.0667, abs=1e-4)
    assert Queues().longest_wait(20e6) == pytest.approx(1.1 * 0.32)


def test_losses_after_the_warm_up_are_of_what_was_sent_then(tmp_path: Path) -> None:
    file = tmp_path / "l0.sender.json"
    lines = [{"kind": "interval", "t_s": at, "packets": sent, "lost": lost} for at, sent, lost in _SECONDS]
    lines.append({"kind": "summary", "t_s": 3.99, "packets": 1000, "lost": 512})
    file.write_text("".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines), encoding="utf-8")
    # The last second has no interval of its own.
    assert losses_of_sender(file, 2.0) == Losses(200, 12)
    seconds = [{"sum": {"start": at - 1, "bytes": sent * 1448, "retransmits": lost}} for at, sent, lost in _SECONDS]
    # iperf3 counts bytes once, however often they are sent.
    assert losses_of_iperf3({"intervals": seconds}, 2.0) == Losses(110, 10)
    assert losses_of_iperf3({}, 2.0) == Losses()


# Ends of the intervals as both programs have them, packets sent, packets lost.
_SECONDS = ((1.0001, 700, 480), (2.0002, 100, 20), (3.0001, 100, 10))


def test_what_was_not_measured_is_left_empty() -> None:
    points = FIGURES["fig6"]
    results: dict[Point, list[dict[str, dict[str, float]]]] = {point: [] for point in points} | {
        points[0]: [{"l4s": {"line_mbps": 3.0}}, {"l4s": {"line_mbps": 5.0}}]
    }
    rows = [line for line in _document(["fig6"], results).splitlines() if line.startswith("| literal")]
    assert rows[0].endswith("| SDN-L4S | 2 |  |  |  |  |  |  | 4.00 ± 12.71 |")
    assert rows[1].endswith("| SDN-TCC | 0 |  |  |  |  |  |  |  |")


def test_means_and_intervals_go_into_a_file_by_case_and_name(tmp_path: Path) -> None:
    point = Point("literal", 80, 1)
    results = {point: [{"l4s": {"mbps": 3.0}}, {"l4s": {"mbps": 5.0}, "classic": {"mbps": 1.0}}]}
    write(["fig6"], results, tmp_path)
    cases = json.loads((tmp_path / "figures.json").read_text(encoding="utf-8"))
    assert cases == {
        "literal.q1-80.q2-1": {
            "runs": 2,
            "classic_mbps": 1.0,
            "l4s_mbps": 4.0,
            "l4s_mbps_half": pytest.approx(12.71, abs=0.01),
        }
    }
    runs = json.loads((tmp_path / "runs.json").read_text(encoding="utf-8"))
    assert runs == {"literal.q1-80.q2-1": [{"l4s_mbps": 3.0}, {"l4s_mbps": 5.0, "classic_mbps": 1.0}]}


def test_a_run_that_is_there_is_not_made_again(tmp_path: Path) -> None:
    point = Point("sound", None, 10, one_queue=True)
    said: list[str] = []
    folder = tmp_path / point.name / "0"
    folder.mkdir(parents=True)
    (folder / "summary.json").write_text('{"summary": {"l4s": {"mbps": 7.0}}}', encoding="utf-8")
    (folder / "arguments.json").write_text(json.dumps(["--rate", "1 Mbit/s", *point.arguments()]), encoding="utf-8")
    found = measure([point], 1, ["--rate", "1 Mbit/s"], Path("/nonexistent"), tmp_path, said.append)
    assert found == {point: [{"l4s": {"mbps": 7.0}}]}
    assert not said
    # With other arguments it is another run, which fails here.
    with pytest.raises(LabError):
        measure([point], 1, ["--rate", "1 Mbit/s", "--l4s", "wrong"], Path("/nonexistent"), tmp_path, said.append)
    assert len(said) == 1


def test_a_run_that_the_machine_disturbed_does_not_count(tmp_path: Path) -> None:
    point, rate = Point("sound", None, 1), ["--rate", "20 Mbit/s"]
    said: list[str] = []
    # 80 kB at 2 Mbit/s are 320 ms, and 352 with everything else.
    for repetition, longest in enumerate((351.0, 353.0)):
        folder = tmp_path / point.name / str(repetition)
        folder.mkdir(parents=True)
        summary = {"summary": {"classic": {"delay_max_ms": longest}}}
        (folder / "summary.json").write_text(json.dumps(summary), encoding="utf-8")
        (folder / "arguments.json").write_text(json.dumps([*rate, *point.arguments()]), encoding="utf-8")
    found = measure([point], 2, rate, Path("/nonexistent"), tmp_path, said.append)
    assert found == {point: [{"classic": {"delay_max_ms": 351.0}}]}
    assert said == ["sound.q2-1, repetition 1: disturbed, a probe took 353 ms: not counted"]
    # It is made anew the next time.
    assert not (tmp_path / point.name / "1" / "arguments.json").exists()


def test_one_queue_is_a_setting_of_the_controller() -> None:
    assert not parse(LEAST + "[queues]\nseparate = false").queues.separate
