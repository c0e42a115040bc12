"""The wired bottleneck between two namespaces: the kernel's TCP and the ends of UDP Prague, compared with the same router in the simulator."""

import json
import pathlib
import signal
import subprocess
import time
import urllib.request

import pytest

from conftest import BRIEF, TIDEMARK, needs

LEFT, RIGHT = "10.77.0.1", "10.77.0.2"
RATE_MBPS = 20
SECONDS = 5 if BRIEF else 8


def run(*command, inside=None, **options):
    command = [str(word) for word in command]
    if inside:
        command = ["ip", "netns", "exec", inside, *command]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60, **options).stdout


@pytest.fixture
def ends():
    """Two namespaces, `left` and `right`, each with one end of a veth whose other end, `to-left` or `to-right`, is the hop's."""
    pathlib.Path("/run/netns").mkdir(exist_ok=True)
    run("mount", "-t", "tmpfs", "tmpfs", "/run/netns")
    for name, address in (("left", LEFT), ("right", RIGHT)):
        run("ip", "netns", "add", name)
        run("ip", "link", "add", f"to-{name}", "type", "veth", "peer", "name", "end", "netns", name)
        run("ip", "link", "set", f"to-{name}", "up")
        for words in ("link set lo up", "link set end up", f"addr add {address}/24 dev end"):
            run("ip", "-n", name, *words.split())
        run("sh", "-c", "echo 1 > /proc/sys/net/ipv4/tcp_ecn", inside=name)
    yield
    for name in ("left", "right"):
        subprocess.run(["ip", "link", "del", f"to-{name}"], check=False)
        run("ip", "netns", "del", name)
    run("umount", "/run/netns")


@pytest.fixture
def hop():
    """Starts hops between the two namespaces, ready to forward, and ends those that a test leaves running."""
    started = []

    def start(*arguments, out):
        command = [TIDEMARK, "net", "hop", "--left", "to-left", "--right", "to-right", "--out", out, *arguments]
        process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        started.append(process)
        assert any("hop between to-left and to-right" in line for line in process.stderr)
        return process

    yield start
    for process in started:
        if process.poll() is None:
            process.kill()
            process.communicate(timeout=10)


def finish(process, out, how=signal.SIGINT):
    """Ends a hop; gives its last line and the summary of its folder."""
    process.send_signal(how)
    stdout, stderr = process.communicate(timeout=20)
    assert process.returncode == 0, stderr
    assert (out / "report.html").exists()
    return json.loads(stdout), json.loads((out / "summary.json").read_text())


def since_the_start(address):
    """The first event of a live page: times, and the figures since the start by row."""
    with urllib.request.urlopen(address + "events", timeout=5) as events:
        assert events.readline() == b"event: past\n"
        past = json.loads(events.readline()[6:])
    return past["t_s"], past["rows"]


def serve():
    needs("iperf3")
    server = subprocess.Popen(["ip", "netns", "exec", "right", "iperf3", "--server", "--one-off"], stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 5
    while ":5201" not in run("ss", "-Hltn", inside="right"):
        assert time.monotonic() < deadline, "iperf3 does not listen"
        time.sleep(0.05)
    return server


def carries(rate, expected, rel):
    """Checks a rate against the link's: never more. Less can be the machine's fault, so only the full tests check that, not the selection."""
    assert rate < expected * (1 + rel)
    assert BRIEF or rate > expected * (1 - rel)


def test_bundles_of_the_kernel_are_cut_and_the_rate_is_kept(nothing_left, ends, hop, tmp_path):
    link = ["--rate", f"{RATE_MBPS} Mbit/s", "--rate-back", "50 Mbit/s", "--delay", "5 ms"]
    process = hop(*link, "--web", 8123, out=tmp_path)
    trips = run("ping", "-c", 5, "-i", 0.2, RIGHT, inside="left").split("rtt min/avg/max/mdev = ")[1]
    # 5 ms each way; what is beyond is the machine's.
    assert 10.0 <= float(trips.split("/")[0]) < 12.0, trips
    server = serve()
    report = json.loads(run("iperf3", "--client", RIGHT, "--time", SECONDS, "--json", inside="left"))
    server.wait(timeout=10)
    address = "http://127.0.0.1:8123/"
    assert b"EventSource" in urllib.request.urlopen(address, timeout=5).read()
    t_s, figures = since_the_start(address)
    carried, _ = figures["carried_bytes"]
    assert len(carried) == len(t_s) > 5 * SECONDS and carried == sorted(carried)
    assert carried[-1] > report["end"]["sum_received"]["bytes"] and max(filter(None, figures["queue_p95_ms"][0])) > 5
    last, summary = finish(process, tmp_path)
    to_right, to_left = summary["routers"]
    rates = [step["sum"]["bits_per_second"] for step in report["intervals"][2:]]
    # Of an IP packet of 1500 bytes, 1448 are data.
    carries(sum(rates) / len(rates), RATE_MBPS * 1e6 * 1448 / 1500, rel=0.05)
    assert (last["unreadable"], last["refused"], last["ways"][0]["marked"]) == (0, 0, 0)
    assert to_right["capacity_mbps"] == pytest.approx(RATE_MBPS) and to_left["capacity_mbps"] == pytest.approx(50)
    # More packets than bundles: each carries at most an MTU.
    assert last["ways"][0]["packets_in"] > report["end"]["sum_received"]["bytes"] / 1448


SIMULATED = f"""
name = "hop"
duration = "{SECONDS} s"
[[router]]
name = "to-right"
rate = "{RATE_MBPS} Mbit/s"
delay = "5 ms"
queue = {{ discipline = "dualpi2" }}
[[flow]]
name = "prague"
router = "to-right"
round_trip = "10 ms"
sender = {{ controller = "udp-prague" }}
"""


@pytest.mark.brief
@pytest.mark.parametrize("discipline", ["dualpi2", pytest.param("sdn-port", marks=pytest.mark.full)])
def test_prague_is_marked_as_by_the_simulators_router(ends, hop, tmp_path, discipline):
    out = tmp_path / "live"
    process = hop("--rate", f"{RATE_MBPS} Mbit/s", "--delay", "5 ms", "--discipline", discipline, out=out)
    receiver = subprocess.Popen(
        ["ip", "netns", "exec", "right", str(TIDEMARK), "net", "receive", "--listen", "4100", "--time", f"{SECONDS} s"],
        stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    time.sleep(0.5)
    run(TIDEMARK, "net", "send", f"{RIGHT}:4100", "--time", f"{SECONDS} s", inside="left")
    lines = [json.loads(line) for line in receiver.communicate(timeout=20)[0].splitlines()]
    last, live = finish(process, out, signal.SIGTERM)
    # Every mark of the hop reaches the receiver, less what was under way when it ended.
    marked = last["ways"][0]["marked"]
    assert marked > 50
    assert lines[-1]["marked"] == pytest.approx(marked, rel=0.02, abs=5)
    scenario = tmp_path / "hop.toml"
    scenario.write_text(SIMULATED)
    run(TIDEMARK, "run", scenario, "--set", f"router.0.queue.discipline={discipline}", "--out", tmp_path / "simulated")
    simulated = json.loads((tmp_path / "simulated/summary.json").read_text())
    flow = max(live["flows"], key=lambda flow: flow["throughput_mbps"])
    ours = simulated["flows"][0]
    print(f"live {flow['throughput_mbps']} Mbit/s, {live['routers'][0]['queue_ms']}; simulated {ours['throughput_mbps']}, {simulated['routers'][0]['queue_ms']}")
    carries(flow["throughput_mbps"], ours["throughput_mbps"], rel=0.1)
    queues = [summary["routers"][0]["queue_ms"]["p50"] for summary in (live, simulated)]
    assert BRIEF or abs(queues[0] - queues[1]) < 1.0, queues


@pytest.mark.brief
def test_errors_name_the_interface_and_the_command_that_helps(ends, tmp_path):
    def error(left, right, *arguments):
        command = [TIDEMARK, "net", "hop", "--left", left, "--right", right, *arguments]
        ended = subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=20)
        assert ended.returncode == 2
        return ended.stderr

    rate = ["--rate", "20 Mbit/s"]
    assert "to-left, to-right" in error("none", "to-right", *rate)
    assert "name another interface" in error("to-left", "to-left", *rate)
    assert "it has no Ethernet frames" in error("lo", "to-right", *rate)
    assert "router.0.queue" in error("to-left", "to-right", *rate, "--discipline", "red")
    assert "--rate" in error("to-left", "to-right")
    run("ip", "link", "set", "to-left", "mtu", 9000)
    assert "`ip link set to-left mtu 1500`" in error("to-left", "to-right", *rate)
    run("ip", "link", "set", "to-left", "down")
    assert "`ip link set to-left up`" in error("to-left", "to-right", *rate)


def promiscuity(side):
    return json.loads(run("ip", "-details", "-json", "link", "show", "dev", f"to-{side}"))[0]["promiscuity"]


CONTROL = pathlib.Path("/run/tidemark/0.ctl")


@pytest.mark.brief
@pytest.mark.parametrize("how", [signal.SIGTERM, signal.SIGINT, pytest.param(signal.SIGHUP, marks=pytest.mark.full), signal.SIGKILL])
def test_nothing_is_left_however_it_ends(nothing_left, ends, hop, tmp_path, how):
    process = hop("--rate", "20 Mbit/s", "--delay", "20 ms", out=tmp_path)
    assert [promiscuity("left"), promiscuity("right")] == [1, 1]
    # In its queues and on its wire there is something when it ends.
    run("ping", "-c", 1, RIGHT, inside="left")
    with subprocess.Popen(["ip", "netns", "exec", "left", "ping", "-q", "-i", "0.002", "-w", "1", RIGHT], stdout=subprocess.DEVNULL):
        time.sleep(0.3)
        if how is signal.SIGKILL:
            process.kill()
            process.communicate(timeout=10)
        else:
            finish(process, tmp_path, how)
    assert [promiscuity("left"), promiscuity("right")] == [0, 0]
    if how is signal.SIGKILL:
        # A socket that nobody answers is the one thing that a killed hop leaves; the next one takes it away.
        assert CONTROL.exists()
        finish(hop("--rate", "20 Mbit/s", out=tmp_path), tmp_path)
    assert not CONTROL.exists()


def test_ctrl_c_ends_it(nothing_left, ends, ctrl_c, tmp_path):
    command = [TIDEMARK, "net", "hop", "--left", "to-left", "--right", "to-right", "--rate", "20 Mbit/s", "--out", tmp_path]
    assert ctrl_c(command, CONTROL) == 0
    summary = json.loads((tmp_path / "summary.json").read_text())
    assert summary["live"]["unreadable"] == 0
    # A hop measures neither, and was given no flow.
    assert not {"unroutable", "uplink_busy_s"} & summary["live"].keys()
    assert "flow" not in summary["scenario"]


@pytest.mark.parametrize("kind", ["ipv6", "jumbo"])
def test_rate_and_marks_are_kept_for(nothing_left, ends, hop, tmp_path, kind):
    # Of an IP packet, all but 20 or 40 bytes of IP and 32 of TCP are data.
    address, mtu, headers = RIGHT, 1500, 52
    for index, name in enumerate(("left", "right"), 1):
        if kind == "ipv6":
            run("ip", "-n", name, "addr", "add", f"fd77::{index}/64", "dev", "end", "nodad")
            address, headers = "fd77::2", 72
        else:
            mtu = 9000
            run("ip", "link", "set", f"to-{name}", "mtu", mtu)
            run("ip", "-n", name, "link", "set", "end", "mtu", mtu)
    process = hop("--rate", "50 Mbit/s", "--delay", "5 ms", "--discipline", "dualpi2", out=tmp_path)
    server = serve()
    report = json.loads(run("iperf3", "--client", address, "--time", 4, "--json", inside="left"))
    server.wait(timeout=10)
    last, _ = finish(process, tmp_path)
    rates = [step["sum"]["bits_per_second"] for step in report["intervals"][2:]]
    carries(sum(rates) / len(rates), 50e6 * (mtu - headers) / mtu, rel=0.06)
    to_right, to_left = last["ways"]
    assert (last["unreadable"], last["refused"]) == (0, 0)
    # Classic ECN: the queue marks, and CUBIC has nothing to send again but what its start lost.
    assert to_right["marked"] > 0 and to_left["marked"] == 0
    carried = to_right["packets_out"] * (mtu - headers)
    assert carried == pytest.approx(report["end"]["sum_received"]["bytes"], rel=0.05)


# Tagged frames with an ECT(1) packet each, as they lie on the wire: kernels without VLANs have no interface that makes them.
SEND_TAGGED = """
import socket, struct
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
packets.bind(("end", 0))
def header(checksum):
    return struct.pack("!BBHHHBBH8B", 0x45, 1, 1400, 7, 0, 64, 253, checksum, 192, 0, 2, 1, 192, 0, 2, 2)
words = sum(struct.unpack("!10H", header(0)))
packet = header(0xFFFF - words % 0xFFFF) + bytes(1380)
for number in range(COUNT):
    packets.send(bytes([0xFF] * 6 + [2, 0, 0, 0, 0, 1]) + struct.pack("!HHH", 0x8100, TAG, 0x0800) + packet)
"""
# The kernel takes a tag out of the frame and says it beside: struct tpacket_auxdata of linux/if_packet.h.
RECEIVE_TAGGED = """
import json, socket, struct
packets = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(0x0003))
packets.bind(("end", 0x0003))
packets.setsockopt(263, 8, 1)
print("ready", flush=True)
found = []
packets.settimeout(5)
while len(found) < COUNT:
    frame, control, _, _ = packets.recvmsg(2000, 64)
    tag = struct.unpack("IIIHHHH", control[0][2])[5]
    if frame[26:34] == bytes([192, 0, 2, 1, 192, 0, 2, 2]):
        found.append([tag, frame[15] & 3, sum(struct.unpack("!10H", frame[14:34])) % 0xFFFF])
print(json.dumps(found))
"""


def test_vlan_tags_come_through_and_packets_behind_them_are_marked(nothing_left, ends, hop, tmp_path):
    # Priority 5, VLAN 7.
    count, tag = 40, 5 << 13 | 7
    send, receive = (text.replace("COUNT", str(count)).replace("TAG", str(tag)) for text in (SEND_TAGGED, RECEIVE_TAGGED))
    process = hop("--rate", "5 Mbit/s", "--discipline", "dualpi2", out=tmp_path)
    with subprocess.Popen(["ip", "netns", "exec", "right", "python3", "-c", receive], stdout=subprocess.PIPE, text=True) as receiver:
        assert receiver.stdout.readline() == "ready\n"
        run("python3", "-c", send, inside="left")
        found = json.loads(receiver.communicate(timeout=20)[0])
    last, _ = finish(process, tmp_path)
    assert {(tci, checksum) for tci, _, checksum in found} == {(tag, 0)}
    # A burst of 40 fills the L4S queue above its threshold of 1 ms at once, and is too short for drops.
    marked = sum(ecn == 3 for _, ecn, _ in found)
    assert {ecn for _, ecn, _ in found} == {1, 3} and marked == last["ways"][0]["marked"]


def test_an_interface_that_vanishes_ends_the_hop_with_its_name(ends, hop, tmp_path):
    process = hop("--rate", "20 Mbit/s", out=tmp_path)
    run("ip", "link", "set", "to-right", "down")
    _, stderr = process.communicate(timeout=10)
    assert process.returncode == 2 and "to-right is gone or down" in stderr
    assert (tmp_path / "summary.json").exists()
