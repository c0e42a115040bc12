"""`tidemark test`: a program without marks, with marks and with an outage."""

import csv
import io
import os
import signal
import subprocess

from conftest import GATEWAY, TIDEMARK

CELL = ["--cell", "5g-static", "--set", "warmup=1 s", "--outage-at", "2 s", "--format", "csv", "--quiet"]


def trial(out, *command):
    done = subprocess.run([TIDEMARK, "test", *CELL, "--out", out, "--", *command], capture_output=True, text=True, timeout=90)
    return done.returncode, list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


def test_a_sender_that_gives_way_passes_and_is_said_to_do_l4s(tmp_path):
    loop = f"while :; do '{TIDEMARK}' net send --listen 4100 --time '4 s'; done"
    servers = subprocess.Popen(["sh", "-c", loop], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        code, rows, said = trial(tmp_path, TIDEMARK, "net", "receive", f"{GATEWAY}:4100", "--time", "4 s")
    finally:
        os.killpg(servers.pid, signal.SIGKILL)
        servers.wait()
    assert code == 0, said
    assert [row["session"] for row in rows] == ["without marks", "with marks", "with an outage"], rows
    assert "gave way: does L4S" in said and "was not marked: nothing is known" in said, said
    without, marks, _ = rows
    assert int(float(without["marked"])) == 0 < float(marks["marked"])
    assert float(marks["queue_p95_ms"]) < float(without["queue_p95_ms"])
    assert '"outage"' in (tmp_path / "with-an-outage-1/summary.json").read_text()


def test_a_program_that_fails_fails_the_test(tmp_path):
    code, _, said = trial(tmp_path, "false")
    assert code == 1, said
