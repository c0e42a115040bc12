"""The user's laws and controllers in studies: runs keyed by code, in processes, compared and drawn with intervals."""

import os
import signal
import threading
import time
from pathlib import Path

import polars as pl
import pytest
import tidemark
from matplotlib import pyplot
from scipy import stats

FIRST_LOOK = "scenarios/first-look.toml"
SHORT = {"duration": "2 s", "warmup": "1 s"}


class Step:
    """A copy of the law `step`."""

    limit_ms = 5.3

    def arrive(self, arrival):
        return float(arrival.head_of_line_ms > self.limit_ms) if arrival.flow_class == "l4s" else None


class Late(Step):
    limit_ms = 50


class Aimd(tidemark.Controller):
    """Grows by a segment per round trip; shrinks by half of the marked payload."""

    def on_ack(self, ack):
        self.window = max(2 * self.mss, self.window + self.mss * ack.acked / self.window - ack.marked / 2)


def study(**more):
    return tidemark.Study(
        FIRST_LOOK, **{"set": SHORT, "seeds": 2, "name": "own", "metrics": ["throughput_mbps", "owd_ms.p95"], **more}
    )


def runs(folder: Path) -> dict[str, int]:
    return {file.name: file.stat().st_mtime_ns for file in (folder / "runs").iterdir()}


def test_a_run_of_a_study_is_that_of_run(tmp_path):
    table = study(law=Step, controllers={"prague-desk": Aimd}).run(tmp_path / "a")
    alone = tidemark.run(FIRST_LOOK, seed=2, set=SHORT, law=Step, controllers={"prague-desk": Aimd}).flows
    assert table.frame.filter(seed=2)["throughput_mbps"].to_list() == alone["throughput_mbps"].to_list()
    rust = study(law=tidemark.law("step", threshold=tidemark.ms(5.3))).run(tmp_path / "b")
    assert study(law=Step).run(tmp_path / "a").frame.drop("run").equals(rust.frame.drop("run"))


def test_an_unchanged_class_is_read_and_a_changed_one_run_anew(tmp_path, monkeypatch):
    first = study(law=Step).run(tmp_path / "a")
    before = runs(tmp_path / "a")
    assert len(before) == 2
    assert study(law=Step).run(tmp_path / "a").csv == first.csv
    assert runs(tmp_path / "a") == before
    monkeypatch.setattr(Step, "limit_ms", 9.1)
    changed = study(law=Step).run(tmp_path / "a")
    after = runs(tmp_path / "a")
    assert len(after) == 4 and before.items() <= after.items()
    assert set(changed.frame["run"]).isdisjoint(first.frame["run"])
    # Without it the study is the command's.
    assert set(study().run(tmp_path / "a").frame["run"]).isdisjoint(f.removesuffix(".json") for f in after)


def meeting(folder: Path):
    """A law whose runs wait for each other, so that a single process never finishes."""

    class Meeting:
        def __init__(self):
            (folder / str(os.getpid())).touch()
            end = time.monotonic() + 120
            while len(list(folder.iterdir())) < 2:
                if time.monotonic() > end:
                    raise TimeoutError("no other run is under way")
                time.sleep(0.01)

        def arrive(self, arrival):
            return 0.0

    return Meeting


def test_runs_go_on_in_processes_at_once(tmp_path):
    (tmp_path / "met").mkdir()
    study(law=meeting(tmp_path / "met")).run(tmp_path / "a", jobs=2)
    met = {path.name for path in (tmp_path / "met").iterdir()}
    assert len(met) == 2 and str(os.getpid()) not in met


def test_an_interrupt_ends_the_processes(tmp_path):
    class Endless:
        def __init__(self):
            (tmp_path / f"process {os.getpid()}").touch()

        def arrive(self, arrival):
            return 0.0

    def interrupt():
        end = time.monotonic() + 120
        while not list(tmp_path.glob("process *")) and time.monotonic() < end:
            time.sleep(0.05)
        os.kill(os.getpid(), signal.SIGINT)

    threading.Thread(target=interrupt).start()
    with pytest.raises(KeyboardInterrupt):
        study(law=Endless, set={"duration": "1440 min"}).run(tmp_path / "a", jobs=1)
    (process,) = (path.name.removeprefix("process ") for path in tmp_path.glob("process *"))
    end = time.monotonic() + 60
    while Path("/proc", process).exists() and time.monotonic() < end:
        time.sleep(0.05)
    assert not Path("/proc", process).exists() and runs(tmp_path / "a") == {}


class Failing(Step):
    def arrive(self, arrival):
        raise ZeroDivisionError("of the law")


def test_what_a_class_raises_ends_the_study(tmp_path):
    with pytest.raises(ZeroDivisionError, match="of the law"):
        study(law=Failing).run(tmp_path / "a")
    assert runs(tmp_path / "a") == {}


def test_wrong_algorithms_are_refused_before_anything_is_written():
    with pytest.raises(tidemark.ScenarioError, match="prague-desk"):
        study(controllers={"nobody": Aimd})
    with pytest.raises(TypeError, match="arrive"):
        study(law=object)
    with pytest.raises(TypeError, match=r"Slip\.on_acked is never called: use one of .*on_ack, on_congestion"):
        type("Slip", (tidemark.Controller,), {"on_acked": None})
    for wrong in (object, "cubic"):
        with pytest.raises(TypeError, match=r"extends tidemark\.Controller"):
            study(controllers={"prague-desk": wrong})


def test_a_study_of_a_file_takes_them(tmp_path):
    (tmp_path / "s.toml").write_text(Path(FIRST_LOOK).read_text())
    (tmp_path / "study.toml").write_text('scenario = "s.toml"\nseeds = 1\nset = { duration = "2 s", warmup = "1 s" }\n')
    table = tidemark.Study.load(tmp_path / "study.toml", law=Late).run(tmp_path / "a")
    plain = tidemark.Study.load(tmp_path / "study.toml").run(tmp_path / "b")
    assert not table.frame.drop("run").equals(plain.frame.drop("run"))


def test_seeds_are_added_where_a_study_of_a_class_asks_for_them(tmp_path):
    until = {"within": "1 %", "metric": "throughput_mbps", "max_seeds": 3}
    assert study(law=Step, until_ci=until).run(tmp_path / "a").frame["seed"].n_unique() == 3


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """Tables of two laws at two round trips, with three and four seeds."""
    os.chdir(Path(__file__).resolve().parents[3])
    vary = {"flow.*.round_trip": [tidemark.ms(10), tidemark.ms(20)]}
    folder = tmp_path_factory.mktemp("tables")
    first = study(law=Step, vary=vary, seeds=3).run(folder / "first")
    return first, study(law=Late, vary=vary, seeds=4).run(folder / "late")


def test_compare_pairs_seeds_and_has_scipys_intervals(tables):
    first, late = tables
    compared = tidemark.compare(first, late)
    assert compared.columns == [
        "flow.*.round_trip", "flow", "metric", "before", "after", "difference", "half", "seeds",
    ]  # fmt: skip
    assert compared.height == 2 * 4 * 2 and set(compared["seeds"]) == {3}
    at = {"flow.*.round_trip": 20, "flow": "prague-desk"}

    def values(table):
        rows = table.frame.filter(*(pl.col(key) == value for key, value in at.items()), pl.col("seed") <= 3)
        return rows.sort("seed")["owd_ms.p95"].to_numpy()

    old, new = values(first), values(late)
    row = compared.filter(*(pl.col(key) == value for key, value in at.items()), metric="owd_ms.p95").row(0, named=True)
    interval = stats.ttest_rel(new, old).confidence_interval(0.95)
    assert (row["before"], row["after"]) == (pytest.approx(old.mean()), pytest.approx(new.mean()))
    assert row["difference"] == pytest.approx((interval.high + interval.low) / 2)
    assert row["half"] == pytest.approx((interval.high - interval.low) / 2)
    same = tidemark.compare(first, first)
    assert set(same["difference"]) == set(same["half"]) == {0.0}


def test_a_study_that_varies_more_is_compared_at_each_of_its_values(tables, tmp_path):
    laws = study(vary={"marker.law": ["none", "step"], "flow.*.round_trip": ["10 ms", "20 ms"]}).run(tmp_path / "a")
    compared = tidemark.compare(tables[0], laws)
    assert compared["marker.law"].unique().sort().to_list() == ["none", "step"]
    assert compared.height == 2 * 2 * 4 * 2


def test_tables_without_a_common_seed_or_metric_are_refused(tables, tmp_path):
    others = study(law=Step, seeds=[7], vary={"flow.*.round_trip": ["10 ms"]})
    with pytest.raises(tidemark.StudyError, match="no seed in common"):
        tidemark.compare(tables[0], others.run(tmp_path / "a"))
    with pytest.raises(tidemark.StudyError, match="no metric in common"):
        tidemark.compare(tables[0], study(metrics=["utilisation"], seeds=1).run(tmp_path / "b"))


def test_means_are_drawn_with_their_intervals(tables):
    axes = tidemark.plot.means({"step": tables[0], "late": tables[1]}, "owd_ms.p95", flows=["prague-desk"])
    assert axes.get_ylabel() == "p95 one-way delay (ms)" and axes.get_xlabel().endswith("(ms)")
    assert [bars.get_label() for bars in axes.containers] == ["step", "late"]
    means = tables[1].means.filter(metric="owd_ms.p95", flow="prague-desk").sort("flow.*.round_trip")
    line, _, (bars,) = axes.containers[1]
    assert list(line.get_xdata()) == [10, 20] and list(line.get_ydata()) == means["mean"].to_list()
    halves = [float(bar[1][1] - bar[0][1]) / 2 for bar in bars.get_segments()]
    assert halves == pytest.approx(means["half"].to_list()) and min(halves) > 0
    pyplot.close("all")


def test_names_stand_side_by_side_with_intervals(tables):
    axes = tidemark.plot.means(tables[0], "throughput_mbps", x="flow")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == tables[0].frame["flow"].unique(
        maintain_order=True
    ).to_list()
    assert len(axes.containers) == 2
    assert axes.get_xlim() == (-0.5, len(axes.get_xticks()) - 0.5)
    with pytest.raises(ValueError, match=r"use one of .*owd_ms\.p95"):
        tidemark.plot.means(tables[0], "nonsense")
    with pytest.raises(ValueError, match=r"use one of .*flow"):
        tidemark.plot.means(tables[0], "throughput_mbps", x="marker.law")
    pyplot.close("all")
