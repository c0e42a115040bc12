"""A running cell: it is queried, commanded, watched, captured and mistreated."""

import json
import os
import pathlib
import re
import socket
import stat
import struct
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from conftest import GATEWAY, ROOT, TIDEMARK, UE, needs
from test_shell import inside, wait_for

SOCKET = pathlib.Path("/run/tidemark/0.ctl")
DASHBOARD = ROOT / "packaging/grafana/tidemark.json"


def ctl(*request, code=0):
    done = subprocess.run([TIDEMARK, "ctl", "--cell", "0", *request], capture_output=True, text=True, timeout=10)
    assert done.returncode == code, done
    return done.stdout if code == 0 else done.stderr


@pytest.fixture
def running(shell, tmp_path):
    """A cell with running pings, and the file with their output."""

    def start(*options, seconds=30):
        log = tmp_path / "pings"
        script = f"exec ping -D -i 0.01 -w {seconds} {GATEWAY} > {log}"
        cell = shell("--cell", "5g-static", *options, command=["sh", "-c", script], out=tmp_path / "out")
        wait_for(lambda: log.exists() and log.read_text().count("time=") > 20, "no pings")
        return cell, log

    return start


def latest_pings(log, count):
    times = re.findall(r"time=([\d.]+)", log.read_text())
    return sorted(map(float, times[-count:]))


@pytest.mark.brief
def test_a_running_cell_says_how_it_is(running, nothing_left):
    cell, _ = running()
    mode = SOCKET.stat().st_mode
    assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
    assert stat.S_IMODE(SOCKET.parent.stat().st_mode) == 0o700
    time.sleep(0.5)
    status = json.loads(ctl("status"))
    assert status["ues"][0]["law"] == "tide" and status["packets_in"] > 20
    metrics = dict(
        line.rsplit(" ", 1) for line in ctl("metrics").splitlines() if line and not line.startswith("#")
    )  # fmt: skip
    assert float(metrics['tidemark_delivered_bytes_total{ue="ue"}']) > 20 * 84
    cell.process.terminate()
    cell.finish()


def test_another_user_may_not_ask(running):
    needs("setpriv")
    cell, _ = running()
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    done = subprocess.run([*user, "ls", SOCKET], capture_output=True, text=True)
    assert "Permission denied" in done.stderr
    cell.process.terminate()
    cell.finish()


@pytest.mark.brief
def test_channel_law_outage_and_handover_are_changed_while_it_runs(running, nothing_left):
    cell, log = running()
    assert "changed channel" in ctl("set", "ue.0.channel.snr_db=3")
    assert "changed law" in ctl("set", "marker.law=ramp", "marker.high=20 ms")
    assert "nothing changed" in ctl("set", "marker.law=ramp")
    # Another law drops the fields that it lacks.
    assert "changed law" in ctl("set", "marker.law=none")
    assert "changed law" in ctl("set", "marker.law=ramp")
    time.sleep(0.3)
    status = json.loads(ctl("status"))["ues"][0]
    assert status["mcs"] < 10 and status["law"] == "ramp"
    # The longest ping shows the outage; later ones are as before.
    ctl("outage", "ue", "600 ms")
    time.sleep(1.2)
    assert 550 < latest_pings(log, 120)[-1] < 700
    ctl("handover", "ue")
    time.sleep(0.5)
    longest = latest_pings(log, 70)[-1]
    assert 40 < longest < 120
    for wrong, reason in [
        (["set", "cell.prbs=10"], "only `channel` and `marker`"),
        (["set", "marker.law=magic"], "magic"),
        (["outage", "nobody", "1 s"], "there is no UE `nobody`"),
    ]:
        assert reason in ctl(*wrong, code=2)
    cell.process.terminate()
    cell.finish()
    summary = cell.summary()
    events = [(event["event"], event.get("ue"), event.get("detail")) for event in summary["events"]]
    assert events == [
        ("set", None, "ue.0.channel.snr_db=3"),
        ("set", None, "marker.law=ramp marker.high=20 ms"),
        ("set", None, "marker.law=none"),
        ("set", None, "marker.law=ramp"),
        ("outage", "ue", "600 ms"),
        ("handover", "ue", None),
    ]
    times = [event["t_s"] for event in summary["events"]]
    assert times == sorted(times) and 0 < times[0] < times[-1] < summary["duration_s"]
    law = re.fullmatch(r"tide, ramp from ([\d.]+) s, none from ([\d.]+) s, ramp from ([\d.]+) s", summary["bearers"][0]["law"])
    assert law and abs(float(law[1]) - times[1]) < 0.06, summary["bearers"][0]["law"]


def test_what_a_handover_leaves_behind_is_counted_once_and_everywhere(running, nothing_left):
    cell, _ = running("--set", 'cell.handover={ data = "lost" }')
    # What comes for a UE without coverage waits at the gNB, and is lost as the UE moves.
    ctl("outage", "ue", "1 s")
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(60):
            sender.sendto(bytes(500), (UE, 9))
    time.sleep(0.2)
    ctl("handover", "ue")
    time.sleep(0.3)
    status = json.loads(ctl("status"))["ues"][0]["dropped"]
    counted = re.search(r'^tidemark_dropped_packets_total{ue="ue"} (\d+)$', ctl("metrics"), re.MULTILINE)
    cell.process.terminate()
    cell.finish()
    summary = cell.summary()
    lost = summary["ues"][0]["dropped"]
    assert lost >= 60 and status == int(counted[1]) == lost, (status, counted, lost)
    assert lost == sum(bearer["dropped"] for bearer in summary["bearers"] if bearer["direction"] == "downlink")
    assert lost == sum(flow["dropped"] for flow in summary["flows"]) and f", {lost} drops" in cell.stderr


def test_the_page_and_the_counters_are_served_on_loopback(shell, nothing_left):
    cell = shell("--cell", "5g-static", "--web", "0", command=["sleep", "20"])
    address = re.search(r"http://[\d.:]+/", cell.process.stderr.readline()).group()
    assert address.startswith("http://127.0.0.1:")
    page = urllib.request.urlopen(address).read()
    assert b"EventSource" in page and b"Last marks" in page
    assert b"# TYPE tidemark_delivered_bytes_total counter" in urllib.request.urlopen(address + "metrics").read()
    events = urllib.request.urlopen(address + "events")
    seen = [events.readline() for _ in range(6)]
    past, *shown = [json.loads(line[6:]) for line in seen if line.startswith(b"data: ")]
    assert seen[0] == b"event: past\n" and set(past) == {"t_s", "rows"}
    assert shown and all(now["name"] in ("5g-static", "") and now["marks"] == [] for now in shown)
    events.close()
    cell.process.terminate()
    cell.finish()


@pytest.mark.brief
def test_the_flows_of_programs_are_shown_while_they_run(shell, nothing_left):
    with socket.create_server(("0.0.0.0", 4000)) as server:
        read = f"import socket\ns = socket.create_connection(('{GATEWAY}', 4000))\nwhile s.recv(1 << 16): pass"
        cell = shell("--cell", "5g-static", command=["python3", "-c", read])
        client, _ = server.accept()
        with client:
            end = time.monotonic() + 2
            while time.monotonic() < end:
                client.sendall(bytes(1 << 16))
            (flow,) = [flow for flow in json.loads(ctl("status"))["flows"] if flow["name"].startswith("tcp")]
            assert (flow["name"], flow["ue"]) == (f"tcp {GATEWAY}:4000", "ue")
            assert flow["down_mbps"] > 5 and 0 < flow["up_mbps"] < flow["down_mbps"], flow
            assert 5 < flow["round_trip_ms"] < 1_000, flow
            packets = flow["ect1"] + flow["ect0"] + flow["not_ect"] + flow["ce"]
            assert packets > 500 and flow["marked"] + flow["dropped"] <= packets, flow
            assert f'tidemark_flow_round_trip_seconds{{flow="{flow["name"]}",ue="ue"}} 0.' in ctl("metrics")
    assert cell.finish() == 0


def test_the_page_does_what_ctl_does_for_whoever_has_the_token(shell, tmp_path, nothing_left):
    options = ["--cell", "5g-static", "--web", "0", "--web-control"]
    cell = shell(*options, command=["sleep", "20"], out=tmp_path / "out")
    address, token = re.search(r"(http://[\d.:]+/)#token=(\w{32})\n", cell.process.stderr.readline()).groups()

    def post(*words, token=token):
        headers = {"Authorization": f"Bearer {token}"}
        request = urllib.request.Request(address + "ctl", "\n".join(words).encode(), headers)
        try:
            return urllib.request.urlopen(request).read().decode()
        except urllib.error.HTTPError as error:
            return f"{error.code}: {error.read().decode()}"

    events = urllib.request.urlopen(address + "events")

    def settings():
        """Kinds and numbers of the UE's channel and law, as the stream has them next."""
        while events.readline() != b"event: controls\n":
            pass
        channel, law = json.loads(events.readline()[6:])["ues"][0]["settings"]
        return channel["kind"], law["kind"], [dial["value"] for dial in law["dials"]]

    assert settings() == ("static", "tide", [10])
    assert post("set", "marker.law=ramp", "marker.high=20 ms") == "ue: changed law or threshold\n"
    assert settings() == ("static", "ramp", [5, 20])
    assert post("outage", "ue", "100 ms") == post("handover", "ue") == ""
    assert post("outage", "nobody", "1 s").startswith("400: there is no UE `nobody`")
    assert post("handover", "ue", token="0" * 32).startswith("403: the token is missing or wrong")
    events.close()
    cell.process.terminate()
    cell.finish()
    assert [event["event"] for event in cell.summary()["events"]] == ["set", "outage", "handover"]


@pytest.mark.brief
def test_the_dashboard_asks_for_metrics_that_a_cell_has(running, nothing_left):
    cell, _ = running("--web", "0")
    time.sleep(0.5)
    address = re.search(r"http://[\d.:]+/", cell.process.stderr.readline()).group()
    metrics = urllib.request.urlopen(address + "metrics").read().decode()
    cell.process.terminate()
    cell.finish()
    samples = re.findall(r"^(\w+)(?:{(.*)})? \S+$", metrics, re.MULTILINE)
    # Prometheus itself adds the instance that it asked.
    known = {name: {"instance", *re.findall(r'(\w+)="', labels)} for name, labels in samples}
    dashboard = json.loads(DASHBOARD.read_text())
    targets = [(target["expr"], target["legendFormat"]) for panel in dashboard["panels"] for target in panel["targets"]]
    variables = [variable["query"] for variable in dashboard["templating"]["list"][1:]]
    assert len(dashboard["panels"]) == 6 and len(targets) >= 6 and len(variables) == 2
    values = [re.fullmatch(r"label_values\((.+), (\w+)\)", variable).groups() for variable in variables]
    for expression, named in targets + [(selector, f"{{{{{label}}}}}") for selector, label in values]:
        names, labels = asked(expression)
        assert names and all(labels | set(re.findall(r"{{(\w+)}}", named)) <= known.get(name, set()) for name in names), expression


def asked(expression):
    """Metrics that an expression of PromQL reads, and the labels that they need; skips without a parser."""
    promql = pytest.importorskip("promql_parser", reason="promql-parser is not installed: see requirements.txt")
    names, labels = set(), set()

    def visit(node):
        selector = getattr(node, "vector_selector", node)
        if isinstance(selector, promql.VectorSelector):
            names.add(selector.name)
            labels.update(matcher.name for matcher in selector.matchers.matchers)
        if isinstance(node, promql.AggregateExpr):
            labels.update(node.modifier.labels)

    # Grafana puts a time in its place before it asks.
    promql.walk(promql.parse(expression.replace("$__rate_interval", "1m")), visit)
    return names, labels


@pytest.mark.brief
def test_grafanas_own_types_read_all_of_the_dashboard():
    missing = "grafana-foundation-sdk is not installed: see requirements.txt"
    models = pytest.importorskip("grafana_foundation_sdk.models.dashboard", reason=missing)
    from grafana_foundation_sdk.cog import encoder, plugins

    plugins.register_default_plugins()
    file = json.loads(DASHBOARD.read_text())
    read = json.loads(encoder.JSONEncoder().encode(models.Dashboard.from_json(file)))

    def lost(ours, theirs, path=""):
        """Paths of what the file has and Grafana's types don't: an unknown field, or one of another type."""
        if isinstance(ours, dict) and isinstance(theirs, dict):
            return [one for key in ours for one in lost(ours[key], theirs.get(key), f"{path}/{key}")]
        if isinstance(ours, list) and isinstance(theirs, list) and len(ours) == len(theirs):
            pairs = enumerate(zip(ours, theirs, strict=True))
            return [one for index, (own, their) in pairs for one in lost(own, their, f"{path}/{index}")]
        return [] if ours == theirs else [path]

    assert lost(file, read) == []


@pytest.mark.brief
def test_both_sides_are_captured_and_the_run_leaves_its_folder(shell, tmp_path, nothing_left):
    needs("ping")
    inside(shell, f"ping -c 10 -i 0.05 {GATEWAY}", "--pcap", str(tmp_path / "pcap"), out=tmp_path / "out")
    for name in ("core", "ue"):
        data = (tmp_path / "pcap" / f"{name}.pcap").read_bytes()
        assert struct.unpack("=I", data[:4])[0] == 0xA1B23C4D
        at, icmp = 24, 0
        while at < len(data):
            length = struct.unpack("=I", data[at + 8 : at + 12])[0]
            icmp += data[at + 16] >> 4 == 4 and data[at + 16 + 9] == 1
            at += 16 + length
        assert at == len(data) and icmp == 20
    names = {path.name for path in (tmp_path / "out").iterdir()}
    kinds = ["flows", "ues", "uplinks", "cells", "routers"]
    series = {f"series-{kind}.csv" for kind in kinds}
    tables = {f"{kind}.csv" for kind in [*kinds, "run", "bearers", "tdq", "freezes", "marks", "columns"]}
    assert names == tables | series | {"summary.json", "scenario.toml", "report.html"}
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    flow = next(flow for flow in summary["flows"] if flow["name"] == f"icmp {GATEWAY}")
    assert flow["sent_packets"] == 10
    # What a live cell can't know is absent.
    assert flow["goodput_mbps"] is None and flow["rtt_ms"] is None


def test_a_full_disk_ends_the_capture_and_not_the_cell(shell, tmp_path, nothing_left):
    needs("ping")
    disk = tmp_path / "disk"
    disk.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk], check=True)
    try:
        cell = shell("--pcap", str(disk), command=["ping", "-f", "-q", "-s", "1400", "-c", "300", GATEWAY])
        assert cell.finish() == 0
        assert " 0% packet loss" in cell.stdout
        assert "capture is not complete" in cell.stderr
    finally:
        subprocess.run(["umount", disk], check=True)


def test_a_lab_has_its_own_core_and_servers(tmp_path, nothing_left):
    needs("iperf3")
    needs("ping")
    command = [TIDEMARK, "shell", ROOT / "scenarios/live/lab.toml", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True, timeout=40)
    assert done.returncode == 0, done
    assert "iperf Done" in done.stdout and " 0% packet loss" in done.stdout
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert [ue["name"] for ue in summary["ues"]] == ["walker", "driver"]
    assert summary["ues"][0]["throughput_mbps"] > 5


def test_a_lab_ends_when_its_time_is_over(tmp_path, nothing_left):
    lab = tmp_path / "lab.toml"
    lab.write_text('name = "lab"\nduration = "2 s"\n[[ue]]\nname = "ue"\ncommand = "exec sleep 100"\n')
    started = time.monotonic()
    done = subprocess.run([TIDEMARK, "shell", lab], capture_output=True, text=True, timeout=20)
    assert done.returncode == 0, done
    assert 2 <= time.monotonic() - started < 5


def test_a_burst_of_ten_thousand_packets_is_queued_and_delivered(shell, tmp_path, nothing_left):
    receive = (
        "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); s.bind(('', 9));"
        f"s.setsockopt(socket.SOL_SOCKET, 33, 64 << 20); open('{tmp_path}/ready', 'w').close(); s.settimeout(3); n = 0\n"
        "try:\n while s.recv(2000): n += 1\nexcept TimeoutError: print(n)"
    )
    cell = shell("--cell", "5g-static", command=["python3", "-c", receive], out=tmp_path / "out")
    wait_for((tmp_path / "ready").exists, "no receiver")
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.SOL_SOCKET, 32, 64 << 20)  # SO_SNDBUFFORCE
    for _ in range(10_000):
        sender.sendto(bytes(200), (UE, 9))
    assert cell.finish() == 0, cell.stderr
    assert int(cell.stdout) == 10_000
    assert cell.summary()["live"]["device_drops"] == 0


def test_packets_that_it_does_not_understand_pass_unharmed(shell, tmp_path, nothing_left):
    """Odd headers, sent raw to the UE, which captures arriving packets."""
    pcap = tmp_path / "pcap"
    script = f"touch {tmp_path}/ready; sleep 2"
    cell = shell("--cell", "5g-static", "--pcap", str(pcap), command=["sh", "-c", script])
    wait_for((tmp_path / "ready").exists, "no cell")
    sender = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW)
    bodies = [
        (0x45, 6, b"\x00" * 3),  # TCP cut short
        (0x45, 6, b"\x00\x50\x01\xbb" + b"\xff" * 40),  # TCP with an impossible data offset
        (0x45, 132, os.urandom(100)),  # SCTP
        (0x45, 253, os.urandom(1400)),  # an experiment
        (0x46, 17, b"\x94\x04\x00\x00" + os.urandom(30)),  # IP options
        (0x45, 50, os.urandom(200)),  # ESP
    ]
    sent = []
    for first, protocol, body in bodies:
        length = 20 + len(body)
        header = struct.pack("!BBHHHBBH4s4s", first, 1, length, 7, 0, 9, protocol, 0,
                             socket.inet_aton(GATEWAY), socket.inet_aton(UE))  # fmt: skip
        sender.sendto(header + body, (UE, 0))
        sent.append(body)
    assert cell.finish() == 0
    arrived = (pcap / "ue.pcap").read_bytes()
    assert all(body in arrived for body in sent)


def test_memory_stays_flat(shell, tmp_path, nothing_left):
    needs("iperf3")
    server = subprocess.Popen(["iperf3", "--server", "--one-off"], stdout=subprocess.DEVNULL)
    cell = shell("--cell", "5g-static", command=["iperf3", "--client", GATEWAY, "--reverse", "--time", "20"])
    try:

        def resident():
            text = pathlib.Path(f"/proc/{cell.process.pid}/status").read_text()
            return int(re.search(r"VmRSS:\s+(\d+)", text).group(1))

        time.sleep(8)
        early = resident()
        time.sleep(10)
        # kB; the time series and the histograms may fill a page more.
        assert resident() < early + 1_000
        assert cell.finish() == 0
    finally:
        server.terminate()
        server.wait()
