"""`tidemark-sdn demo`, whole: what it prints and leaves, and that nothing else is left however it ends."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.lab import command, needs_lab, tidemark, until
from tidemark_sdn.lab import isolation

pytestmark = needs_lab

SMALL = ("--l4s", "2", "--classic", "2", "--rate", "20 Mbit/s", "--time", "5 s")


def processes() -> set[str]:
    """Command lines of all processes that a demo might leave."""
    found = set()
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if any(name in line for name in ("ovs-vswitchd", "ovsdb-server", "tidemark_sdn agent", "tidemark_sdn run")):
            found.add(line)
    return found


def interfaces() -> str:
    return subprocess.run(["ip", "-br", "link"], capture_output=True, text=True, check=True).stdout


@pytest.mark.full
def test_the_demo_prints_a_table_and_names_its_report(tmp_path: Path) -> None:
    before = interfaces()
    done = subprocess.run(
        command("demo", *SMALL, "--tidemark", tidemark(), "--out", tmp_path),
        capture_output=True,
        text=True,
        timeout=90,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[1].split()[:3] == ["traffic", "flows", "Mbit/s"]
    assert lines[2].split()[:2] == ["L4S", "2"]
    assert lines[3].split()[:2] == ["classic", "2"]
    report = Path(lines[4].removeprefix("report: "))
    assert all(title in report.read_text(encoding="utf-8") for title in ("One-way delay", "Queue of the line", "PI2"))
    summary = json.loads((tmp_path / "summary.json").read_text(encoding="utf-8"))
    l4s, classic = summary["summary"]["l4s"], summary["summary"]["classic"]
    # The line is used, as far as a busy machine lets the senders. Marks were set, and L4S packets waited less.
    assert 12 < l4s["line_mbps"] + classic["line_mbps"] < 20.5
    assert l4s["marked_percent"] > 1
    assert l4s["queue_lost_percent"] == 0
    assert l4s["delay_median_ms"] < classic["delay_median_ms"] / 2
    assert summary["controller"]["counters"].get("openflow_error", 0) == 0
    assert not processes()
    assert interfaces() == before


@pytest.mark.parametrize("how", [pytest.param(signal.SIGINT, marks=pytest.mark.full), signal.SIGKILL])
def test_nothing_is_left_when_it_is_interrupted(tmp_path: Path, how: signal.Signals) -> None:
    before = interfaces()
    demo = subprocess.Popen(
        command("demo", *SMALL, "--tidemark", tidemark(), "--out", tmp_path),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    until(lambda: any("ovs-vswitchd" in line for line in processes()), 30)
    time.sleep(0.5)
    if how is signal.SIGINT:
        # As a terminal does it: to all of the group.
        os.killpg(demo.pid, how)
    else:
        demo.send_signal(how)
    assert demo.wait(20) != 0
    until(lambda: not processes())
    assert interfaces() == before


def test_what_is_missing_is_named(tmp_path: Path) -> None:
    environment = os.environ | {"PATH": str(tmp_path)}
    done = subprocess.run(command("demo"), capture_output=True, text=True, env=environment, check=False)
    assert done.returncode != 0
    assert "there is no unshare here: install util-linux" in done.stderr
    assert isolation.missing() is None
