"""Runs from Python: they give the command's bytes, errors name a place, and a signal ends them."""

import os
import pickle
import signal
import threading
import time
from pathlib import Path

import polars as pl
import pytest
import tidemark

FIRST_LOOK = "scenarios/first-look.toml"
SHORT = {"duration": "3 s", "warmup": "1 s"}
LONG = {"duration": "1440 min", "sample_interval": "10 s"}


@pytest.mark.parametrize("scenario", [FIRST_LOOK, "scenarios/uplink-l4s.toml", "scenarios/capacity.toml"])
def test_the_summary_has_the_bytes_of_the_commands(scenario, command):
    folder = command(scenario, "--seed", "7", "--set", "duration=3 s", "--set", "warmup=1 s")
    result = tidemark.run(scenario, seed=7, set=SHORT)
    assert result.summary_json.encode() == (folder / "summary.json").read_bytes()


def test_the_folder_is_the_commands_with_its_page(command, tmp_path):
    folder = command(FIRST_LOOK, "--set", "duration=3 s", "--set", "warmup=1 s")
    tidemark.run(FIRST_LOOK, set=SHORT, keep_marks=True).write(tmp_path / "python")
    written = {path.name: path.read_bytes() for path in (tmp_path / "python").iterdir()}
    assert written == {path.name: path.read_bytes() for path in folder.iterdir()}


def test_results_of_another_scenario_are_replaced_by_force_alone(command, tmp_path):
    short = {"duration": "300 ms", "warmup": "0 s"}
    first, other = (tidemark.run(FIRST_LOOK, set=short | {"marker.law": law}) for law in ("l4span", "none"))
    first.write(tmp_path / "run")
    first.write(tmp_path / "run")
    with pytest.raises(FileExistsError, match=r"(?s)another scenario.* force=True"):
        other.write(tmp_path / "run")
    assert (tmp_path / "run/summary.json").read_text() == first.summary_json
    other.write(tmp_path / "run", force=True)
    assert (tmp_path / "run/summary.json").read_text() == other.summary_json
    seeds = command(FIRST_LOOK, "--set", "duration=300 ms", "--set", "warmup=0 s", "--seeds", "2")
    with pytest.raises(FileExistsError, match="results of 2 seeds"):
        first.write(seeds)
    first.write(seeds, force=True)
    assert (seeds / "summary.json").exists() and not list(seeds.glob("seed-*")) and not (seeds / "pool.csv").exists()


def test_the_report_is_the_commands_page(command, tmp_path):
    folder = command(FIRST_LOOK, "--set", "duration=3 s", "--set", "warmup=1 s")
    tidemark.run(FIRST_LOOK, set=SHORT, keep_marks=True).report(tmp_path / "x.html")
    assert (tmp_path / "x.html").read_bytes() == (folder / "report.html").read_bytes()


def test_a_page_that_can_not_be_written_leaves_the_old_one(full_disk, tmp_path):
    page = tmp_path / "x.html"
    page.write_text("old")
    result = tidemark.run(FIRST_LOOK, set={"duration": "300 ms", "warmup": "0 s"})
    with full_disk(), pytest.raises(OSError, match=r"x\.html"):
        result.report(page)
    assert page.read_text() == "old" and list(tmp_path.iterdir()) == [page]


def test_a_file_a_text_and_a_dict_give_the_same_figures():
    import tomllib

    text = Path(FIRST_LOOK).read_text()
    results = [tidemark.run(source, set=SHORT) for source in (Path(FIRST_LOOK), text, tomllib.loads(text))]
    assert all(result.flows.equals(results[0].flows) for result in results)


def test_values_are_set_by_their_type():
    values = {"ue.0.count": 2, "marker": {"law": "step"}, "name": "7", "cell": {"scheduling": 1}}
    with pytest.raises(tidemark.ScenarioError, match="scheduling"):
        tidemark.check(FIRST_LOOK, set=values)
    values.pop("cell")
    summary = tidemark.run(FIRST_LOOK, set=SHORT | values).summary
    assert (len(summary.ues), summary.name, {flow.law for flow in summary.flows}) == (5, "7", {"step"})


@pytest.mark.parametrize("file", ["flows", "bearers"])
def test_frames_have_the_columns_and_values_of_the_csv_files(file, command):
    written = pl.read_csv(command(FIRST_LOOK) / f"{file}.csv", infer_schema_length=None)
    frame = getattr(tidemark.run(FIRST_LOOK), file)
    for name in written.columns:
        if frame[name].dtype.is_numeric():
            # The files show fewer decimals.
            assert frame[name].to_list() == pytest.approx(written[name].to_list(), abs=0.06, nan_ok=True), name
        elif frame[name].dtype == pl.String:
            assert frame[name].to_list() == written[name].to_list(), name


NETWORK = "scenarios/network/21-cells.toml"
# Videos begin late, so that the first rows have no values for longer than readers look ahead.
MANY_ROWS = {"duration": "1 s", "warmup": "0 s", "sample_interval": "5 ms", "flow.0.app.start": "800 ms"}


def types_of(frame: pl.DataFrame) -> dict[str, str]:
    names = {pl.String: "text", pl.Int64: "integer", pl.Float64: "number", pl.Boolean: "boolean"}
    return {column: names.get(dtype, str(dtype)) for column, dtype in frame.schema.items()}


def test_every_table_of_a_network_has_the_types_that_are_said(command):
    folder = command(NETWORK, *(word for key, value in MANY_ROWS.items() for word in ("--set", f"{key}={value}")))
    described = pl.read_csv(folder / "columns.csv")
    files = described["file"].unique().to_list()
    assert sorted(files) == sorted(path.name for path in folder.glob("*.csv") if path.name != "columns.csv")
    guessed_wrong = []
    for file in files:
        said = dict(described.filter(file=file).select("column", "type").iter_rows())
        assert types_of(tidemark.read_table(folder / file)) == said, file
        # All rows tell the type too, but for columns without a value.
        whole = pl.read_csv(folder / file, infer_schema_length=None)
        with_values = [column for column in whole.columns if whole[column].null_count() < whole.height]
        types = types_of(whole)
        assert {column: types[column] for column in with_values} == {column: said[column] for column in with_values}, (
            file
        )
        guessed = types_of(pl.read_csv(folder / file, ignore_errors=True))
        guessed_wrong += [column for column in with_values if guessed[column] != said[column]]
    assert guessed_wrong, "no column begins with enough missing values to lead a reader astray"


def test_frames_of_a_network_have_the_types_of_its_tables():
    result = tidemark.run(NETWORK, set=MANY_ROWS, keep_marks=True)
    for kind in ("flows", "ues", "uplinks", "routers", "cells"):
        file, frame = f"series-{kind}.csv", getattr(result.series, kind)
        assert frame.schema == result.table(file).schema, kind
    for kind in ("flows", "bearers", "ues", "cells", "routers"):
        frame, table = getattr(result, kind), result.table(f"{kind}.csv")
        # Lists stay lists in a frame.
        shared = [column for column in table.columns if column in frame.columns and frame[column].dtype != pl.List]
        assert len(shared) > 5 and all(frame[column].dtype == table[column].dtype for column in shared), kind
    assert result.marks.schema == result.table("marks.csv").schema
    assert result.freezes.columns == ["flow", "t_s", "frozen_s"]


def test_a_table_that_a_run_does_not_have_is_named():
    result = tidemark.run(FIRST_LOOK, set=SHORT)
    assert result.table("run.csv")["seed"].to_list() == [result.summary.seed]
    for missing in ("nonsense.csv", "marks.csv"):
        with pytest.raises(KeyError, match=missing):
            result.table(missing)
    with pytest.raises(KeyError, match=r"no `delay`: use one of owd, rtt, "):
        result.cdf("delay")


def test_what_a_routers_queue_exceeded_is_a_row():
    link = {"name": "link", "rate": "10 Mbit/s", "tdq": ["1 ms", "20 ms"]}
    flow = {"name": "bulk", "round_trip": "20 ms", "router": "link", "sender": {"controller": "cubic"}}
    result = tidemark.run({"name": "wire", "duration": "3 s", "warmup": "0 s", "router": [link], "flow": [flow]})
    (router,) = result.summary.routers
    assert result.table("tdq.csv").rows() == [("link", over, seconds) for over, seconds in router.tdq_s]
    assert router.tdq_s[0][1] > router.tdq_s[1][1] > 0


def test_attributes_are_those_of_the_summary():
    result = tidemark.run(FIRST_LOOK, set=SHORT)
    flow = result.summary.flows[0]
    assert (flow.name, flow.ue, flow.controller) == ("prague-desk", "desk", "prague")
    assert flow.owd_ms.p50 <= flow.owd_ms.p95 <= flow.owd_ms.p99
    split = flow.split_ms
    parts = [split.propagation, split.cu, split.queuing, split.scheduling, split.harq, split.rlc, split.reordering]
    assert sum(parts) == pytest.approx(flow.owd_ms.mean, abs=0.01)
    assert result.summary.cells is None and result.cells.is_empty()


def test_series_have_a_row_for_each_interval_and_name_and_no_column_of_text():
    result = tidemark.run(FIRST_LOOK, set=SHORT)
    for frame, names in ((result.series.flows, 4), (result.series.ues, 4), (result.series.uplinks, 4)):
        assert frame.height == 30 * names
        assert all(dtype.is_numeric() for dtype in frame.dtypes[2:])


def test_a_network_has_a_series_for_each_cell():
    scenario = "scenarios/network/handover.toml"
    scenario = scenario if Path(scenario).exists() else str(next(Path("scenarios/network").glob("*.toml")))
    result = tidemark.run(scenario, set={"duration": "1 s", "warmup": "0 s"})
    assert result.cells.height == result.series.cells["cell"].n_unique() > 1
    assert result.ues["position_m"].list.len().to_list() == [2] * result.ues.height


def test_a_cdf_rises_to_one():
    cdf = tidemark.run(FIRST_LOOK, set=SHORT).cdf("owd").partition_by("flow")
    assert len(cdf) == 4
    for flow in cdf:
        assert flow["share"].is_sorted() and flow["ms"].is_sorted() and flow["share"][-1] == 1.0


def test_marks_are_kept_on_demand():
    assert tidemark.run(FIRST_LOOK, set=SHORT).marks is None
    marks = tidemark.run(FIRST_LOOK, set=SHORT, keep_marks=True).marks
    assert set(marks["law"]) == {"l4span"} and marks.height > 0


@pytest.mark.parametrize(
    ("source", "values", "line", "key"),
    [
        ('name = "x"\nduration = "1 s"\n[[ue]]\nname = "a"\nrlc = { queue_sdus = 0 }\n', {}, 5, "ue.0.rlc.queue_sdus"),
        ('name = "x"\nduration = = 3\n', {}, 2, None),
        (
            {"name": "x", "duration": "1 s", "ue": [{"name": "a", "rlc": {"queue_sdus": 0}}]},
            {},
            None,
            "ue.0.rlc.queue_sdus",
        ),
        ({"name": "x", "duration": "1 s", "ue": [{"name": None}]}, {}, None, "ue.0.name"),
        (FIRST_LOOK, {"ue.9.count": 1}, None, "ue.9.count"),
        (FIRST_LOOK, {"marker.law": None}, None, "marker.law"),
        (FIRST_LOOK, {"marker.law": "nope"}, None, "marker.law"),
    ],
)
def test_an_error_names_line_and_key(source, values, line, key):
    with pytest.raises(tidemark.ScenarioError) as raised:
        tidemark.run(source, set=values)
    assert (raised.value.line, raised.value.key) == (line, key)
    copy = pickle.loads(pickle.dumps(raised.value))
    assert (str(copy), copy.line, copy.key) == (str(raised.value), line, key)


def test_a_file_that_is_missing_is_an_error_of_files():
    with pytest.raises(FileNotFoundError):
        tidemark.run("missing.toml")


def test_an_interrupt_ends_a_run():
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        tidemark.run(FIRST_LOOK, set=LONG)


def test_other_threads_go_on_meanwhile():
    counted = []
    over = threading.Event()

    def count() -> None:
        while not over.is_set():
            counted.append(None)
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    try:
        tidemark.run(FIRST_LOOK)
        before = len(counted)
        tidemark.run(FIRST_LOOK)
    finally:
        over.set()
        thread.join()
    assert len(counted) > before


def test_progress_is_drawn_on_demand(capsys):
    tidemark.run(FIRST_LOOK, set={"duration": "20 s"}, progress=True)
    shown = capsys.readouterr().err
    assert "first-look" in shown and "% of the scenario" in shown
    tidemark.run(FIRST_LOOK, set=SHORT)
    assert capsys.readouterr().err == ""


def test_what_a_progress_bar_raises_ends_the_run():
    from tidemark import _engine, scenario

    def fail(now: float) -> None:
        raise ZeroDivisionError(now)

    with pytest.raises(ZeroDivisionError):
        _engine.run(scenario.read(FIRST_LOOK, set=LONG), keep_marks=False, progress=fail)


def test_the_version_is_the_commands():
    assert tidemark.run(FIRST_LOOK, set=SHORT).summary.tidemark.startswith(tidemark.__version__)
