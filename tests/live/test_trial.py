"""`tidemark test`: a program without marks, with marks, with throughput first and with an outage."""

import contextlib
import csv
import fcntl
import io
import json
import os
import signal
import subprocess
import sys

from conftest import GATEWAY, TIDEMARK, needs
from test_probe import ECT1_RULES, filtered

CELL = ["--cell", "5g-static", "--set", "warmup=1 s", "--outage-at", "2 s", "--format", "csv"]


def trial(out, *command):
    """Runs a test of a command, before which options can stand, and `--`."""
    options = command if "--" in command else ("--", *command)
    done = subprocess.run([TIDEMARK, "test", *CELL, "--out", out, *options], capture_output=True, text=True, timeout=90)
    return done.returncode, list(csv.DictReader(io.StringIO(done.stdout))), done.stderr


@contextlib.contextmanager
def serving(seconds):
    """A server of L4S that takes one client after the other; gives the client's command."""
    loop = f"while :; do '{TIDEMARK}' net send --listen 4100 --time '{seconds} s'; done"
    servers = subprocess.Popen(["sh", "-c", loop], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
    try:
        yield [TIDEMARK, "net", "receive", f"{GATEWAY}:4100", "--time", f"{seconds} s"]
    finally:
        os.killpg(servers.pid, signal.SIGKILL)
        servers.wait()


def test_a_sender_that_gives_way_passes_and_is_said_to_do_l4s(tmp_path):
    with serving(4) as client:
        code, rows, said = trial(tmp_path, *client)
    assert code == 0, said
    assert [row["session"] for row in rows] == ["without marks", "with marks", "throughput first", "with an outage"], rows
    assert "gave way: it does L4S" in said and "was not marked: its response is unknown" in said, said
    without, marks, _, _ = rows
    assert int(float(without["marked"])) == 0 < float(marks["marked"])
    assert float(marks["queue_p95_ms"]) < float(without["queue_p95_ms"])
    assert 'mode = "throughput-first"' in (tmp_path / "throughput-first-1/scenario.toml").read_text()
    assert without["empty_under_marks"] == "" and 0 <= float(marks["empty_under_marks"]) < 1, rows
    assert '"outage"' in (tmp_path / "with-an-outage-1/summary.json").read_text()
    [flow, *_] = csv.DictReader((tmp_path / "with-marks-1/flows.csv").open())
    counts = [int(flow[f"ecn_{codepoint}"]) for codepoint in ("not_ect", "ect1", "ect0", "ce")]
    assert counts[1] > 1000 > counts[0] and sum(counts) == int(flow["sent_packets"]), flow


def test_a_ue_with_a_marker_of_its_own_is_not_marked_in_the_session_without_marks(tmp_path):
    scenario = tmp_path / "own.toml"
    scenario.write_text(
        'name = "own"\nduration = "60 min"\nwarmup = "1 s"\ncell = { prbs = 20 }\n'
        '[[ue]]\nname = "phone"\nmarker = { law = "step", threshold = "1 ms" }\n'
    )
    with serving(3) as client:
        test = [TIDEMARK, "test", scenario, "--format", "csv", "--out", tmp_path / "out", "--", *client]
        done = subprocess.run(test, capture_output=True, text=True, timeout=90)
    without, marks, _, _ = csv.DictReader(io.StringIO(done.stdout))
    assert float(without["marked"]) == 0 < float(marks["marked"]), done.stderr
    written = (tmp_path / "out/throughput-first-1/scenario.toml").read_text()
    assert written.count('mode = "throughput-first"') == 1 and "threshold" not in written, written


def test_the_outage_is_in_the_tests_own_cell_beside_one_that_starts_meanwhile(tmp_path):
    """Number 0 is another session's, whose control socket appears after the test's session has begun."""
    program = (
        "import os, socket, time\n"
        "cell = socket.socket(socket.AF_UNIX)\n"
        "cell.bind('/run/tidemark/0.ctl')\n"
        "cell.listen()\n"
        "time.sleep(3)\n"
        "os.unlink('/run/tidemark/0.ctl')\n"
    )
    with open("/run/tidemark/0", "w") as journal:
        fcntl.flock(journal, fcntl.LOCK_EX)
        _, rows, said = trial(tmp_path, sys.executable, "-c", program)
    assert [row["succeeded"] for row in rows] == ["1"] * 4, said
    assert '"outage"' in (tmp_path / "with-an-outage-1/summary.json").read_text(), said


def test_a_path_that_bleaches_fails_the_test(tmp_path):
    with filtered(ECT1_RULES["bleached"]):
        code, _, said = trial(tmp_path, "true")
    assert code == 1 and "tidemark: path: ECT(1): bleached on the way there" in said, said
    _, _, said = trial(tmp_path, "true")
    assert "path:" not in said, said


def test_a_program_that_fails_fails_the_test(tmp_path):
    code, _, said = trial(tmp_path, "false")
    assert code == 1 and "tidemark: with marks, 1 of 1: the program failed" in said, said


def test_a_quiet_test_says_only_why_it_failed(tmp_path):
    code, rows, said = trial(tmp_path, "--quiet", "--", "false")
    assert code == 1 and len(rows) == 4, said
    assert all(line.startswith(("tidemark: with", "tidemark: throughput")) for line in said.splitlines()), said


def test_a_session_that_can_not_start_has_no_figures_of_an_earlier_one(tmp_path):
    trial(tmp_path, "true")
    code, rows, said = trial(tmp_path, "--round-trip", "20 s", "--", "true")
    assert code == 2 and rows == [] and said.count("--round-trip: must be at most 10 s") == 1, said
    code, rows, said = trial(tmp_path, "--set", "cell.prb=10", "--", "true")
    assert code == 2 and said.count("did you mean `prbs`") == 1, said


def test_a_program_that_ends_before_something_is_measured_fails_the_test(tmp_path):
    code, rows, said = trial(tmp_path, "true")
    assert code == 1 and [(row["succeeded"], row["measured"]) for row in rows] == [("1", "0")] * 4, said


def test_a_server_that_takes_one_client_serves_one_session_after_the_other(tmp_path):
    needs("iperf3")
    server = subprocess.Popen(["iperf3", "--server"], stdout=subprocess.DEVNULL)
    try:
        code, rows, said = trial(tmp_path, "iperf3", "--client", GATEWAY, "--reverse", "--time", "4")
    finally:
        server.kill()
        server.wait()
    assert code == 0 and [row["measured"] for row in rows] == ["1"] * 4, said


def test_a_sender_that_takes_no_notice_of_its_marks_fails_the_test(tmp_path):
    """A flood with ECT(1) at twice the cell's rate, from the host to the program's UE."""
    flood = (
        "import socket, sys, time\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "s.setsockopt(0, 1, 1)  # IP_TOS: ECT(1)\n"
        "s.bind(('0.0.0.0', 4200))\n"
        "while True:\n"
        "    _, ue = s.recvfrom(100)\n"
        "    end = time.monotonic() + 3\n"
        "    while time.monotonic() < end:\n"
        "        for _ in range(12):\n"
        "            s.sendto(bytes(1200), ue)\n"
        "        time.sleep(0.001)\n"
    )
    ask = f"import socket, time; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.sendto(b'go', ('{GATEWAY}', 4200)); time.sleep(4)"
    server = subprocess.Popen([sys.executable, "-c", flood], start_new_session=True)
    try:
        code, rows, said = trial(tmp_path, sys.executable, "-c", ask)
    finally:
        os.killpg(server.pid, signal.SIGKILL)
        server.wait()
    assert code == 1 and "did not give way: it harms others" in said, said
    _, marks, _, _ = rows
    assert marks["harmful"] == "1", rows
    flows = json.loads((tmp_path / "with-marks-1/summary.json").read_text())["flows"]
    assert [flow["gave_way"] for flow in flows if "gave_way" in flow] == [False], flows
