"""A study on a local Ray of two workers, of which one is killed."""

import os
import signal
import threading
import time
from pathlib import Path

import pytest
import tidemark

ray = pytest.importorskip("ray", reason="Ray is not installed")

STUDY = {"vary": {"marker.law": ["none", "l4span", "step"]}, "seeds": 8, "name": "laws"}


@pytest.fixture
def two_workers():
    ray.init(num_cpus=2, include_dashboard=False, logging_level=40, log_to_driver=False)
    yield
    ray.shutdown()


def parent(process: int) -> int:
    """Gives the parent of a process; 0 for one that has ended."""
    try:
        return int(Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[1])
    except OSError:
        return 0


def is_ours(process: int) -> bool:
    """True for a process that this one started, at any remove."""
    while process > 1 and process != os.getpid():
        process = parent(process)
    return process == os.getpid()


def workers() -> list[int]:
    """Processes of this test's Ray that make runs now."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        if b"ray::make_run" in command and is_ours(int(folder.name)):
            found.append(int(folder.name))
    return found


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
def test_a_run_that_fails_ends_the_study_with_its_error():
    from tidemark import cluster

    with pytest.raises(tidemark.StudyError):
        list(cluster.records([("key", "{}")], None))
