"""Checks pictures by their data: axes with units, number of artists, drawn values."""

import polars as pl
import pytest
import tidemark
from matplotlib import pyplot
from tidemark.labels import label
from tidemark.plot.style import COLOURS, HATCHES, LINES, MARKERS

SHORT = {"duration": "3 s", "warmup": "1 s"}


@pytest.fixture(scope="module")
def results():
    laws = ("none", "l4span")
    return {law: tidemark.run("scenarios/first-look.toml", set=SHORT | {"marker.law": law}) for law in laws}


@pytest.fixture(autouse=True)
def close():
    yield
    pyplot.close("all")


def test_series_have_a_curve_a_flow_over_time(results):
    axes = tidemark.plot.series(results["l4span"], "throughput_mbps")
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("time (s)", "throughput (Mbit/s)")
    assert [line.get_label() for line in axes.lines] == results["l4span"].flows["flow"].to_list()
    first = results["l4span"].series.flows.filter(flow="prague-desk")
    assert list(axes.lines[0].get_ydata()) == first["throughput_mbps"].to_list()
    assert len(axes.get_legend().get_texts()) == 4


def test_a_series_that_is_not_there_is_named(results):
    with pytest.raises(ValueError, match=r"use one of .*rtt_ms"):
        tidemark.plot.series(results["none"], "nonsense")


def test_series_of_ues_have_curves_of_ues(results):
    axes = tidemark.plot.series(results["none"], "queue_ms", of="ues")
    assert (axes.get_ylabel(), len(axes.lines)) == ("RLC queue delay (ms)", 4)


def test_a_cdf_has_a_curve_for_each_run_and_flow_up_to_one(results):
    axes = tidemark.plot.cdf(results, "owd", flows=["prague-desk"])
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("one-way delay (ms)", "share of samples")
    assert [line.get_label() for line in axes.lines] == ["prague-desk none", "prague-desk l4span"]
    assert all(line.get_ydata()[-1] == 1 for line in axes.lines)


def test_boxes_stand_side_by_side(results):
    axes = tidemark.plot.delay_boxes(results, "owd")
    assert axes.get_ylabel() == "one-way delay (ms)"
    boxes = list(axes.patches)
    assert len(boxes) == 8 and len(axes.get_legend().get_texts()) == 2
    assert [tick.get_text() for tick in axes.get_xticklabels()] == results["none"].flows["flow"].to_list()
    low, high = sorted(boxes[0].get_path().vertices[:4, 1])[0], max(boxes[0].get_path().vertices[:4, 1])
    curve = results["none"].cdf("owd").filter(flow="prague-desk")
    inside = curve.filter(pl.col("ms").is_between(low, high))["share"]
    assert inside.min() == pytest.approx(0.25, abs=0.02) and inside.max() == pytest.approx(0.75, abs=0.02)


def test_boxes_of_a_table_have_its_quartiles():
    table = pl.DataFrame({"law": ["a"] * 5 + ["b"] * 5, "owd_p95_ms": [1.0, 2, 3, 4, 5, 11, 12, 13, 14, 15]})
    axes = tidemark.plot.boxes(table, "owd_p95_ms", x="law")
    assert axes.get_ylabel() == "p95 one-way delay (ms)" and axes.get_xlabel() == "law"
    heights = [sorted({float(y) for y in patch.get_path().vertices[:4, 1]}) for patch in axes.patches]
    assert heights == [[2.0, 4.0], [12.0, 14.0]]


def test_the_parts_of_a_delay_add_up_to_its_mean(results):
    axes = tidemark.plot.split(results["l4span"])
    assert axes.get_ylabel() == "mean one-way delay (ms)"
    parts = {text.get_text() for text in axes.get_legend().get_texts()}
    assert {"propagation", "queuing", "scheduling"} <= parts and "router" not in parts
    tops = [max(bar.get_y() + bar.get_height() for bar in bars) for bars in zip(*axes.containers, strict=True)]
    means = [flow.owd_ms.mean for flow in results["l4span"].summary.flows]
    # Parts below a hundredth of the longest bar are left out.
    assert tops == pytest.approx(means, abs=max(means) / 50)


def test_a_front_leads_through_what_nothing_beats():
    table = pl.DataFrame({"owd_p95_ms": [10.0, 20, 30, 40], "throughput_mbps": [5.0, 4, 9, 9], "law": list("aabb")})
    axes = tidemark.plot.front(table)
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("p95 one-way delay (ms)", "throughput (Mbit/s)")
    points, front = axes.lines
    assert len(points.get_xdata()) == 4 and list(front.get_xdata()) == [10, 30]
    grouped = tidemark.plot.front(table, group="law")
    assert len(grouped.lines) == 4 and len(grouped.get_legend().get_texts()) == 2


def test_curves_differ_without_colour(results):
    axes = tidemark.plot.series(results["none"])
    shapes = {(line.get_linestyle(), line.get_marker()) for line in axes.lines}
    assert len(shapes) == len(axes.lines)
    assert len(set(COLOURS)) == len(set(map(str, LINES))) == len(set(MARKERS)) == len(set(HATCHES)) == 7


def test_colours_differ_in_brightness_where_hatches_and_markers_repeat_nothing():
    from matplotlib.colors import to_rgb

    def brightness(colour):
        red, green, blue = to_rgb(colour)
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    assert abs(brightness(COLOURS[0]) - brightness(COLOURS[1])) > 0.05


@pytest.mark.parametrize("ending", ["pdf", "svg", "png"])
def test_a_picture_is_written_the_same_twice(ending, results, tmp_path):
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        tidemark.plot.save(tidemark.plot.series(results["none"], "rtt_ms"), file)
    first, second = (file.read_bytes() for file in files)
    assert first == second
    assert first.startswith({"pdf": b"%PDF", "svg": b"<?xml", "png": b"\x89PNG"}[ending])


def test_a_picture_that_can_not_be_written_leaves_the_old_one(full_disk, results, tmp_path):
    file = tmp_path / "a.svg"
    file.write_text("old")
    axes = tidemark.plot.series(results["none"], "rtt_ms")
    with full_disk(), pytest.raises(OSError, match=r"a\.svg"):
        tidemark.plot.save(axes, file)
    assert file.read_text() == "old" and list(tmp_path.iterdir()) == [file]


def test_text_of_an_svg_is_text(results, tmp_path):
    tidemark.plot.save(tidemark.plot.series(results["none"], "rtt_ms"), tmp_path / "a.svg")
    assert "round-trip time (ms)" in (tmp_path / "a.svg").read_text()


def test_a_picture_goes_into_axes_that_are_there(results):
    figure, (left, right) = pyplot.subplots(1, 2)
    assert tidemark.plot.series(results["none"], axes=left) is left
    assert tidemark.plot.split(results["none"], axes=right) is right
    assert len(figure.axes) == 2


@pytest.mark.parametrize(
    ("draw", "axis"),
    [
        (lambda results: tidemark.plot.series(results["none"], "rtt_ms"), "y"),
        (lambda results: tidemark.plot.cdf(results, "owd"), "x"),
        (lambda results: tidemark.plot.delay_boxes(results, "owd"), "y"),
    ],
)
def test_delays_begin_at_zero_and_on_a_logarithmic_axis_at_the_shortest(results, draw, axis):
    axes = draw(results)
    assert getattr(axes, f"get_{axis}lim")()[0] == 0
    getattr(axes, f"set_{axis}scale")("log")
    low, high = getattr(axes, f"get_{axis}lim")()
    # Packets take longer than the wire, 10 ms or more, and no longer than the run.
    assert 1 < low < 100 < high < 10_000


def test_every_delay_and_series_has_a_unit(results):
    for delay in ("owd", "rtt", "queue", "router_queue", "completion", "frame", "sender_queue"):
        assert label(f"{delay}_ms").endswith("(ms)")
    for column in results["none"].series.flows.columns[2:]:
        assert label(column).endswith(")") or column in ("marks", "alpha")
