"""Studies from Python, on the cores of this machine and on Ray."""

import os
import signal
import threading

import polars as pl
import pytest
import tidemark
from scipy import stats

FIRST_LOOK = "scenarios/first-look.toml"
SHORT = {"duration": "2 s", "warmup": "1 s"}
LAWS = {"marker.law": ["none", "l4span"]}


def study(**more):
    return tidemark.Study(FIRST_LOOK, **{"vary": LAWS, "set": SHORT, "seeds": 3, "name": "laws", **more})


def test_a_study_gives_a_row_for_each_run_and_flow(tmp_path):
    table = study().run(tmp_path / "a")
    assert table.frame.height == 2 * 3 * 4
    assert table.frame.columns[:3] == ["marker.law", "seed", "flow"]
    assert table.units["throughput_mbps"] == "Mbit/s"
    flow = tidemark.run(FIRST_LOOK, seed=2, set=SHORT | {"marker.law": "none"}).flows.row(0, named=True)
    row = table.frame.filter(pl.col("marker.law") == "none", seed=2, flow=flow["flow"]).row(0, named=True)
    assert row["throughput_mbps"] == flow["throughput_mbps"]


def test_means_have_scipys_intervals(tmp_path):
    table = study().run(tmp_path / "a")
    values = table.frame.filter(pl.col("marker.law") == "l4span", flow="cubic-car")["throughput_mbps"].to_numpy()
    low, high = stats.t.interval(0.95, 2, values.mean(), stats.sem(values))
    mean = table.means.filter(pl.col("marker.law") == "l4span", flow="cubic-car", metric="throughput_mbps")
    assert mean["mean"].item() == pytest.approx(values.mean())
    assert mean["half"].item() == pytest.approx((high - low) / 2)


def test_one_seed_has_no_interval(tmp_path):
    assert study(seeds=1).run(tmp_path / "a").means["half"].null_count() > 0


def test_a_widened_study_runs_only_what_is_new(tmp_path):
    study(seeds=2).run(tmp_path / "a")
    before = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "a" / "runs").iterdir()}
    table = study(seeds=3).run(tmp_path / "a")
    after = {file.name: file.stat().st_mtime_ns for file in (tmp_path / "a" / "runs").iterdir()}
    assert len(before) == 4 and len(after) == 6
    assert all(after[name] == time for name, time in before.items())
    assert table.csv == study().run(tmp_path / "b").csv


def test_series_are_kept_on_demand(tmp_path):
    table = study(seeds=1, series=True).run(tmp_path / "a")
    run = table.frame.filter(pl.col("marker.law") == "l4span")["run"][0]
    flows = table.series(run)["flows"]
    alone = tidemark.run(FIRST_LOOK, seed=1, set=SHORT | {"marker.law": "l4span"}).series.flows
    assert flows["throughput_mbps"].to_list() == pytest.approx(alone["throughput_mbps"].to_list(), abs=1e-3)
    plain = study(seeds=1).run(tmp_path / "b")
    with pytest.raises(tidemark.StudyError, match="series=True"):
        plain.series(plain.frame["run"][0])


def test_columns_of_numbers_are_numbers(tmp_path):
    table = study(vary={"ue.desk.channel.snr_db": [10, 20]}, seeds=1).run(tmp_path / "a")
    assert table.means["ue.desk.channel.snr_db"].unique().sort().to_list() == [10, 20]


@pytest.mark.parametrize(
    ("wrong", "error", "text"),
    [
        ({"vary": {"marker.low": ["none"]}}, tidemark.ScenarioError, "marker.low"),
        ({"vary": {"marker.law": ["nonsense"]}}, tidemark.ScenarioError, "nonsense"),
        ({"metrics": ["nonsense_ms"]}, tidemark.StudyError, "nonsense_ms"),
        ({"seeds": 0}, tidemark.StudyError, "seeds"),
        ({"vary": {"seed": "1..1000000000+1"}}, tidemark.StudyError, "most"),
    ],
)
def test_a_bad_study_is_refused_before_anything_is_written(wrong, error, text, tmp_path):
    with pytest.raises(error, match=text):
        study(**wrong).run(tmp_path / "a")
    assert not (tmp_path / "a").exists()


def test_a_folder_of_another_study_is_refused(tmp_path):
    study(seeds=1).run(tmp_path / "a")
    with pytest.raises(tidemark.StudyError, match="another study"):
        study(name="other", seeds=1).run(tmp_path / "a")


def test_an_interrupt_keeps_what_was_run(tmp_path):
    interrupt = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
    interrupt.start()
    with pytest.raises(KeyboardInterrupt):
        study(set={"duration": "1440 min"}).run(tmp_path / "a")
    assert list((tmp_path / "a" / "runs").iterdir()) == []


def test_without_ray_the_error_says_how_to_get_it(tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(tidemark.StudyError, match=r"pip install .\[ray\]"):
        study().run(tmp_path / "a", executor="ray")
    assert study().run(tmp_path / "a").frame.height == 24
