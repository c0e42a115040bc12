"""The pages of running programs in a browser, wide and narrow, light and dark."""

import json
import shutil
import subprocess
import time

import pytest

from conftest import GATEWAY, ROOT, TIDEMARK, needs
from test_hop import RIGHT, ends, hop, serve as serve_right  # noqa: F401
from test_iperf3 import serve
from test_tunnels import GNB, UPF

WEB = ROOT / "web"
# The kernel's CUBIC with classic ECN, at the UE.
DOWNLOAD = f"echo 1 > /proc/sys/net/ipv4/tcp_ecn; exec iperf3 --client {GATEWAY} --reverse --time 60 --congestion cubic"


def look(address, name):
    """Gives the plots with the numbers of their lines, and the tables with those of their rows, as each window shows them."""
    needs("node")
    if not (WEB / "node_modules").exists() or not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        pytest.skip("the browser's tests are not installed: run `make web`, and tests/install-packages.sh")
    command = ["node", WEB / "test/browser/watch.mjs", address, name]
    done = subprocess.run(command, capture_output=True, text=True, timeout=90)
    assert done.returncode == 0, done.stderr
    seen = json.loads(done.stdout)
    assert [one["wrong"] for one in seen] == 4 * [[]]
    return [(dict(one["drawn"]), dict(one["tables"])) for one in seen]


def test_the_page_of_a_cell_shows_its_traffic(shell, nothing_left):
    needs("iperf3")
    server = serve()
    cell = shell("--cell", "5g-static", "--web", "0", command=["sh", "-c", DOWNLOAD])
    address = cell.process.stderr.readline().split()[-1]
    time.sleep(2)
    for drawn, tables in look(address, "running-cell"):
        assert drawn["down_mbps"] == drawn["queue_p95_ms"] == drawn["mcs"] == 1
        assert tables["UEs now"] == 1 and tables["Flows now"] >= 2 and tables["Last marks"] > 0
    cell.process.terminate()
    cell.finish()
    server.terminate()
    server.communicate(timeout=10)


def test_the_page_of_a_cu_shows_its_bearers(nothing_left):
    needs("iperf3")
    cu = subprocess.Popen(
        [TIDEMARK, "gnb", "cu", "--bind", GNB, "--du", UPF, "--tunnel", "teid=0x3001,peer-teid=0x4001", "--web", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "--number 0" in cu.stderr.readline()
    address = cu.stderr.readline().split()[-1]
    server = serve()
    du = subprocess.Popen(
        [TIDEMARK, "gnb", "du", "--cell", "5g-static", "--bind", UPF, "--cu", GNB, "--tunnel", "teid=0x4001,peer-teid=0x3001",
         "--", "sh", "-c", DOWNLOAD],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        time.sleep(2)
        for drawn, tables in look(address, "running-cu"):
            assert drawn["sent_bytes"] == drawn["queue_ms"] == drawn["egress_mbps"] == drawn["marked"] == 1
            assert tables["Bearers now"] == 1
    finally:
        for process in (du, cu, server):
            process.terminate()
            process.communicate(timeout=10)


def test_the_page_of_a_hop_shows_both_directions(nothing_left, ends, hop, tmp_path):  # noqa: F811
    process = hop("--rate", "20 Mbit/s", "--delay", "5 ms", "--discipline", "dualpi2", "--web", 8123, out=tmp_path)
    server = serve_right()
    upload = ["iperf3", "--client", RIGHT, "--time", "60", "--congestion", "cubic"]
    client = subprocess.Popen(["ip", "netns", "exec", "left", *upload], stdout=subprocess.DEVNULL)
    try:
        time.sleep(2)
        for drawn, tables in look("http://127.0.0.1:8123/", "running-hop"):
            assert drawn["carried_bytes"] == drawn["queue_p95_ms"] == drawn["marked"] == 2
            assert tables["Directions now"] == 2
    finally:
        for ended in (client, server, process):
            ended.terminate()
            ended.wait(timeout=10)
