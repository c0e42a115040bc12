"""Our senders compared with the kernel's, over the same queue: rate and round trip agree within 15 %.

The kernel's run in real time through a router, a namespace of its own since a host holds back what its own queues are full of
(TCP small queues), whose way out is an HTB class with a packet FIFO; ours in virtual time over a router of the same rate and
length. Acknowledgements take their way back through a program that holds each of them for a while (this needs no netem).
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import time

import pytest
from conftest import TIDEMARK, needs

SENDER, ROUTER, RECEIVER = NAMESPACES = [f"tidemark-{name}{os.getpid()}" for name in ("sender", "router", "receiver")]
SERVER = "10.9.2.2"
PACKET, HEADER = 1500, 14
MBIT, PACKETS = 20, 100
SECONDS, WARMUP = 25, 5
DELAY_MS = 20

# Whatever is routed into the device comes back out of it so many milliseconds later.
HOLD = """
import collections, fcntl, os, select, struct, sys, time
device, held, late = os.open("/dev/net/tun", os.O_RDWR), collections.deque(), []
fcntl.ioctl(device, 0x400454CA, struct.pack("16sH", b"hold", 0x1001))  # TUNSETIFF, IFF_TUN | IFF_NO_PI
print("ready", flush=True)
while True:
    wait = max(0, held[0][0] - time.monotonic()) if held else None
    ready = select.select([device, 0], [], [], wait)[0]
    if 0 in ready:  # a line asks by how much packets were late since the last one: the 99.9th percentile, ms
        os.read(0, 100)
        print(1e3 * sorted(late)[len(late) * 999 // 1000] if late else 0, flush=True)
        late.clear()
    if device in ready:
        held.append((time.monotonic() + float(sys.argv[1]) / 1e3, os.read(device, 2000)))
    while held and held[0][0] <= time.monotonic():
        late.append(time.monotonic() - held[0][0])
        os.write(device, held.popleft()[1])
"""

SCENARIO = f"""
name = "beside-the-kernel"
duration = "{SECONDS + WARMUP} s"
warmup = "{WARMUP} s"

[[router]]
name = "htb"
# HTB counts Ethernet headers, a router does not.
rate = "{MBIT * 1000 * PACKET // (PACKET + HEADER)} kbit/s"
queue = {{ discipline = "fifo", limit = "{PACKETS * PACKET} B" }}

[[flow]]
name = "flow"
router = "htb"
round_trip = "{DELAY_MS * 1000 + 200} us"
sender = {{ controller = "cubic", tcp = {{ ecn = "off" }} }}
"""


# What the machine may be late by for BBR's round trip to mean something: its model of the path takes the rate of a bunch of packets
# for the link's.
STILL_MS = 5


def inside(namespace, *command):
    return ["ip", "netns", "exec", namespace, *map(str, command)]


def at_once(*command):
    """The command with a high priority, if that is allowed."""
    first = ["chrt", "--fifo", "50"]
    allowed = shutil.which("chrt") and subprocess.run([*first, "true"], capture_output=True).returncode == 0
    return [*first, *command] if allowed else command


def do(*command):
    subprocess.run(list(map(str, command)), check=True)


def connect(left, right, network):
    """A link between two namespaces, whose addresses there are `network`.1 and `network`.2."""
    device = f"net{network[-1]}"
    do("ip", "link", "add", device, "netns", left, "type", "veth", "peer", "name", device, "netns", right)
    for namespace, host in ((left, 1), (right, 2)):
        # A packet is a packet: nothing larger than the link carries reaches the queue.
        do(*inside(namespace, "ip", "link", "set", device, "gso_max_segs", 1, "gso_max_size", PACKET, "up"))
        do(*inside(namespace, "ip", "address", "add", f"{network}.{host}/24", "dev", device))


@pytest.fixture(scope="module")
def link():
    """A sender, a router and a receiver; the router's way to the receiver is slow."""
    needs("iperf3")
    needs("tc")
    hold = None
    for namespace in NAMESPACES:
        do("ip", "netns", "add", namespace)
    try:
        connect(SENDER, ROUTER, "10.9.1")
        connect(ROUTER, RECEIVER, "10.9.2")
        do(*inside(SENDER, "ip", "route", "add", "default", "via", "10.9.1.2"))
        do(*inside(RECEIVER, "ip", "route", "add", "default", "via", "10.9.2.1"))
        do(*inside(ROUTER, "sh", "-c", "echo 1 > /proc/sys/net/ipv4/ip_forward"))
        tc = inside(ROUTER, "tc")
        do(*tc, "qdisc", "add", "dev", "net2", "root", "handle", "1:", "htb", "default", 1)
        rate = ["rate", f"{MBIT}mbit", "burst", 1600, "quantum", 1600]
        do(*tc, "class", "add", "dev", "net2", "parent", "1:", "classid", "1:1", "htb", *rate)
        do(*tc, "qdisc", "add", "dev", "net2", "parent", "1:1", "pfifo", "limit", PACKETS)
        command = inside(ROUTER, *at_once(sys.executable, "-c", HOLD, DELAY_MS))
        hold = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        assert hold.stdout.readline() == "ready\n"
        do(*inside(ROUTER, "ip", "link", "set", "hold", "up"))
        do(*inside(ROUTER, "ip", "route", "add", "default", "dev", "hold", "table", 100))
        do(*inside(ROUTER, "ip", "rule", "add", "iif", "net2", "lookup", 100))


        def lateness():
            """Gives the lateness of packets since the last call: the 99.9th percentile in ms."""
            hold.stdin.write("?\n")
            hold.stdin.flush()
            return float(hold.stdout.readline())

        yield lateness
    finally:
        if hold:
            hold.kill()
            hold.wait()
        for namespace in NAMESPACES:
            subprocess.run(["ip", "netns", "delete", namespace], check=False)


def kernel(controller):
    """Mbit/s and median round trip in ms of the kernel's sender."""
    command = inside(RECEIVER, *at_once("iperf3", "--server", "--one-off"))
    server = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 5
        while ":5201" not in subprocess.run(inside(RECEIVER, "ss", "-Hltn"), capture_output=True, text=True).stdout:
            assert time.monotonic() < deadline, "iperf3 does not listen"
            time.sleep(0.05)
        command = inside(
            SENDER, *at_once("iperf3"), "--client", SERVER, "--congestion", controller, "--time", SECONDS, "--omit", WARMUP,
            "--interval", 0.1, "--json",
        )  # fmt: skip
        report = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    finally:
        server.terminate()
        server.wait(timeout=10)
    intervals = [interval for interval in report["intervals"] if not interval["sum"]["omitted"]]
    round_trips = [interval["streams"][0]["rtt"] / 1e3 for interval in intervals]
    return report["end"]["sum_received"]["bits_per_second"] / 1e6, statistics.median(round_trips)


def ours(controller, folder):
    """Gives these figures of our sender."""
    (folder / "scenario.toml").write_text(SCENARIO)
    do(
        TIDEMARK, "run", folder / "scenario.toml", "--out", folder / "out", "--set",
        f"flow.flow.sender.controller={controller}",
    )  # fmt: skip
    flow = json.loads((folder / "out/summary.json").read_text())["flows"][0]
    return flow["goodput_mbps"], flow["rtt_ms"]["p50"]


@pytest.mark.parametrize(("theirs", "name"), [("cubic", "cubic"), ("reno", "reno"), ("bbr", "bbr-v1")])
def test_the_kernels_sender_and_ours_fill_the_same_queue_alike(link, tmp_path, theirs, name):
    link()
    (rate, round_trip), (our_rate, our_round_trip) = kernel(theirs), ours(name, tmp_path)
    late = link()
    print(
        f"{theirs}: kernel {rate:.2f} Mbit/s, {round_trip:.1f} ms; ours {our_rate:.2f} Mbit/s, {our_round_trip:.1f} ms; "
        f"machine late by {late:.2f} ms, load {os.getloadavg()[0]:.1f}"
    )
    assert our_rate == pytest.approx(rate, rel=0.15)
    if theirs == "bbr":
        # Whatever the machine does: BBR keeps out of the queue of 60 ms that the others fill.
        assert DELAY_MS <= round_trip < 2.5 * DELAY_MS and DELAY_MS <= our_round_trip < 2.5 * DELAY_MS
        if late > STILL_MS:
            pytest.skip(f"rates agree, but the machine was late by {late:.1f} ms: BBR's round trip would be its stalls")
    assert our_round_trip == pytest.approx(round_trip, rel=0.15)
