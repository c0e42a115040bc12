"""Studies on a local Ray with two workers, one of which is killed."""

import json
import os
import signal
import threading
import time
from pathlib import Path

import pytest
import tidemark

ray = pytest.importorskip("ray", reason="Ray is not installed")

STUDY = {"vary": {"marker.law": ["none", "l4span", "step"]}, "seeds": 8, "name": "laws"}


@pytest.fixture(scope="module")
def two_workers():
    start()
    yield
    ray.shutdown()


def start(tries: int = 3) -> None:
    """Starts Ray. It gives itself 30 s, which is too little where other tests take the processors."""
    try:
        ray.init(num_cpus=2, include_dashboard=False, logging_level=40, log_to_driver=False)
    except Exception:
        ray.shutdown()
        if tries == 1:
            raise
        start(tries - 1)


def parent(process: int) -> int:
    """Gives the parent of a process; 0 for one that has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def is_ours(process: int) -> bool:
    """True for a descendant of this process."""
    while process > 1 and process != os.getpid():
        process = parent(process)
    return process == os.getpid()


def workers() -> list[int]:
    """Processes of this test's Ray that are making runs."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"ray::make_run" in command and is_ours(int(folder.name)):
            found.append(int(folder.name))
    return found


@pytest.mark.full
@pytest.mark.usefixtures("two_workers")
def test_the_table_is_the_local_one_although_a_worker_is_killed(tmp_path):
    study = tidemark.Study("scenarios/first-look.toml", set={"duration": "20 s"}, **STUDY)
    killed = []

    def kill() -> None:
        end = time.monotonic() + 120
        while not killed and time.monotonic() < end:
            for process in workers()[:1]:
                os.kill(process, signal.SIGKILL)
                killed.append(process)
            time.sleep(0.02)

    killer = threading.Thread(target=kill)
    killer.start()
    table = study.run(tmp_path / "ray", executor="ray")
    killer.join()
    assert killed, "no worker was found at work"
    assert table.frame["run"].n_unique() == 24 and table.frame.height == 24 * 4
    local = study.run(tmp_path / "local")
    assert table.csv == local.csv
    records = [sorted(file.read_bytes() for file in (tmp_path / name / "runs").iterdir()) for name in ("ray", "local")]
    assert records[0] == records[1]


@pytest.mark.usefixtures("two_workers")
@pytest.mark.parametrize(
    "asks",
    [
        {"until_ci": {"within": "5 %", "max_seeds": 5}},
        {"find": {"key": "flow.0.count", "until": "throughput_mbps >= 2", "max": 8}},
    ],
    ids=["seeds are added", "a search"],
)
def test_what_a_study_asks_for_runs_on_the_cluster(asks, tmp_path, monkeypatch):
    from tidemark import cluster

    study = tidemark.Study(
        "scenarios/first-look.toml",
        vary={"marker.law": ["none", "l4span"]},
        set={"duration": "2 s", "warmup": "1 s"},
        seeds=2,
        metrics=["throughput_mbps"],
        **asks,
    )
    made = []
    records = cluster._records
    monkeypatch.setattr(cluster, "_records", lambda ray, runs, code: records(ray, made.append(len(runs)) or runs, code))
    table = study.run(tmp_path / "ray", executor="ray")
    local = study.run(tmp_path / "local")
    assert table.csv == local.csv
    assert table.found.equals(local.found)
    assert made[0] == 4 and len(made) > 1 and sum(made) == table.frame["run"].n_unique()


class Step:
    limit_ms = 5.3

    def arrive(self, arrival):
        return float(arrival.head_of_line_ms > self.limit_ms) if arrival.flow_class == "l4s" else None


class Failing(tidemark.Controller):
    def on_ack(self, ack):
        raise ZeroDivisionError("of the controller")


@pytest.mark.usefixtures("two_workers")
def test_a_class_of_ones_own_runs_on_the_cluster_as_here(tmp_path):
    study = tidemark.Study("scenarios/first-look.toml", set={"duration": "2 s", "warmup": "1 s"}, seeds=3, law=Step)
    assert study.run(tmp_path / "ray", executor="ray").csv == study.run(tmp_path / "local").csv


@pytest.mark.usefixtures("two_workers")
def test_what_a_class_raises_on_the_cluster_is_raised_here(tmp_path):
    study = tidemark.Study("scenarios/first-look.toml", seeds=1, controllers={"*": Failing})
    with pytest.raises(ZeroDivisionError, match="of the controller"):
        study.run(tmp_path / "a", executor="ray")


@pytest.mark.usefixtures("two_workers")
def test_a_worker_of_another_build_is_refused():
    from tidemark import cluster

    program = {"build": "another", "commit": None}
    run = {"key": "0", "point": 0, "seed": 1, "values": [], "file": "", "text": "", "folder": "", "assignments": []}
    text = json.dumps(run | {"series": False, "program": program})
    with pytest.raises(tidemark.StudyError, match="same wheel"):
        list(cluster._records(ray, [("0", text)], None))


@pytest.mark.usefixtures("two_workers")
def test_a_run_that_fails_ends_the_study_with_its_error():
    from tidemark import cluster

    with pytest.raises(tidemark.StudyError):
        list(cluster._records(ray, [("key", "{}")], None))
