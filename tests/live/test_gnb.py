"""A miniature gNB: the kernel's TCP behind a UPF, the CU-UP of bindings/c/examples on libtidemark's glue, and `tidemark gnb du` at a real F1-U socket."""

import contextlib
import json
import os
import pathlib
import signal
import socket
import struct
import subprocess
import sys
import threading

import pytest

from conftest import GATEWAY, ROOT, TIDEMARK, UE, needs
from test_md5 import TCP_MD5SIG, failures, key_for
from test_shell import wait_for

N3, UPF, F1U, DU = "127.0.0.4:2152", "127.0.0.5:2152", "127.0.0.1:2152", "127.0.0.2:2152"
SECONDS = 5
SEGMENT = 64
"""Octets of the CU-UP's buffers, less than the headers of a packet need."""

L4SPAN = 'law = "l4span"'
RAMP = 'law = "ramp"\nclassic = true'
"""Marks a flow with classic ECN so often that each half of a run has some."""

# One PDU session of a UPF between a TUN device and N3: QFI 9 down, a copy of the packet's ECN field outside, as the CU-UP does it up.
CORE = """
import fcntl, os, select, socket, struct, subprocess, sys
gateway, mtu, own, gnb = sys.argv[1], sys.argv[2], *(((a, int(p)) for a, p in (end.split(":") for end in sys.argv[3:5])))
tun = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
fcntl.ioctl(tun, 0x400454CA, struct.pack("16sH22x", b"upf0", 0x1001))  # TUNSETIFF, IFF_TUN | IFF_NO_PI
for words in (["address", "add", gateway + "/24", "dev", "upf0"], ["link", "set", "upf0", "mtu", mtu, "up"]):
    subprocess.run(["ip", *words], check=True)
n3 = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
n3.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
n3.bind(own); n3.connect(gnb); n3.setblocking(False)
print("ready", flush=True)
ecn = None
while True:
    select.select([tun, n3], [], [])
    try:
        for _ in range(64):
            packet = os.read(tun, 10000)
            if packet[0] >> 4 == 4:
                if packet[1] & 3 != ecn:
                    ecn = packet[1] & 3
                    n3.setsockopt(0, 1, ecn)
                n3.send(struct.pack("!BBHIHBBBBBB", 0x34, 255, 8 + len(packet), 0x1001, 0, 0, 0x85, 1, 0, 9, 0) + packet)
    except BlockingIOError:
        pass
    try:
        for _ in range(64):
            os.write(tun, n3.recv(10000)[16:])
    except (BlockingIOError, ConnectionRefusedError):
        pass
"""

# Stays for a moment after its end: with the command its cell ends, and what is in the uplink then would never arrive.
CLIENT = """
import socket, sys, time
address, port, option, key = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), bytes.fromhex(sys.argv[4])
client = socket.socket()
if key:
    client.setsockopt(socket.IPPROTO_TCP, option, key)
client.settimeout(10)
client.connect((address, port))
while client.recv(1 << 16):
    pass
client.close()
time.sleep(0.5)
print(open("/proc/net/netstat").read())
"""


@pytest.fixture(scope="session")
def cu_up():
    """The CU-UP, compiled against this repository's library."""
    for program in ("c++", "make", "cargo"):
        needs(program)
    target = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    made = subprocess.run(["make", "-s", "-C", ROOT / "bindings/c", "cu_up"], capture_output=True, text=True)
    assert made.returncode == 0, made.stderr
    return target / "c-examples/cu_up"


def tcp_info(connection):
    """Acknowledged segments of the kernel, and those acknowledged with a mark: tcpi_delivered and tcpi_delivered_ce of linux/tcp.h."""
    info = connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 256)
    return struct.unpack_from("=II", info, 192)


class Sender(threading.Thread):
    """Sends to one client for some seconds, and waits until everything has arrived."""

    def __init__(self, listener, at_half):
        super().__init__()
        self.listener, self.at_half = listener, at_half
        self.sent = self.delivered = self.with_ce = 0

    def run(self):
        connection, _ = self.listener.accept()
        with connection:
            connection.settimeout(10)
            clock = threading.Event()
            end = threading.Timer(SECONDS, clock.set)
            half = threading.Timer(SECONDS / 2, self.at_half)
            end.start()
            half.start()
            with contextlib.suppress(OSError):
                while not clock.is_set():
                    self.sent += connection.send(bytes(1 << 16))
                connection.shutdown(socket.SHUT_WR)
                connection.recv(1)
            end.cancel()
            half.cancel()
            self.delivered, self.with_ce = tcp_info(connection)


def download(cu_up, folder, ecn, mtu, law=L4SPAN, is_signed=False, at_half=lambda program: None):
    """Gives the sender's counts, each CU-UP instance's counts on its second DRB, and the DU's summary of the UE."""
    (folder / "policy.toml").write_text(f"[otherwise]\n{law}\nshort_circuit = true\n")
    try:
        pathlib.Path("/proc/sys/net/ipv4/tcp_ecn").write_text(str(ecn))
    except OSError:
        pytest.skip(f"this kernel has no net.ipv4.tcp_ecn={ecn}: its TCP can't be asked for AccECN")
    programs = []
    try:
        core = subprocess.Popen([sys.executable, "-c", CORE, GATEWAY, str(mtu), UPF, N3], stdout=subprocess.PIPE, text=True)
        programs.append(core)
        assert core.stdout.readline() == "ready\n"
        gnb = subprocess.Popen([cu_up, N3, F1U, UPF, DU, "60", str(SEGMENT), folder / "policy.toml"], stdout=subprocess.PIPE, text=True)
        programs.append(gnb)
        assert gnb.stdout.readline().startswith("n3 ")
        with socket.create_server((GATEWAY, 0)) as listener:
            listener.settimeout(20)
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_CONGESTION, b"cubic")
            if is_signed:
                try:
                    listener.setsockopt(socket.IPPROTO_TCP, TCP_MD5SIG, key_for(UE))
                except OSError as error:
                    pytest.skip(f"this kernel does not sign TCP: {error}")
            sender = Sender(listener, lambda: at_half(gnb))
            sender.start()
            key = key_for(GATEWAY).hex() if is_signed else ""
            client = [sys.executable, "-c", CLIENT, GATEWAY, listener.getsockname()[1], TCP_MD5SIG, key]
            du = subprocess.run(
                [TIDEMARK, "gnb", "du", "--cell", "5g-static", "--round-trip", "10 ms", "--mtu", str(mtu), "--bind", DU.split(":")[0], "--cu", F1U.split(":")[0],
                 "--tunnel", "teid=0x4002,peer-teid=0x3002", "--set", "warmup=1 s", "--out", folder / "out", "--",
                 "sh", "-c", f'echo {ecn} > /proc/sys/net/ipv4/tcp_ecn; exec "$@"', "sh", *map(str, client)],
                capture_output=True, text=True, timeout=60,
            )  # fmt: skip
            sender.join(timeout=20)
        assert (du.returncode, sender.is_alive()) == (0, False), du.stdout + du.stderr
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
            address, port = N3.split(":")
            end.sendto(struct.pack("!BBHI", 0x30, 254, 0, 0x1001), (address, int(port)))
        printed, _ = gnb.communicate(timeout=10)
    finally:
        for program in programs:
            if program.poll() is None:
                program.kill()
                program.wait()
    names = ("packets", "marks", "rewritten", "reports", "let_go")
    lines = [line.split(": ")[1] for line in printed.splitlines() if line.startswith("drb 2: ")]
    counted = [dict(zip(names, (int(word) for word in line.split() if word.isdigit()), strict=True)) for line in lines]
    summary = json.loads((folder / "out/summary.json").read_text())
    ue = {**summary["ues"][0], "with_ce": sum(flow["marked"] for flow in summary["flows"])}
    seen = {"sent": sender.sent, "delivered": sender.delivered, "with_ce": sender.with_ce}
    print(seen, counted, {name: ue[name] for name in ("throughput_mbps", "queue_ms", "with_ce")}, printed)
    return {**seen, "netstat": du.stdout, "printed": printed}, counted, ue


CLASSIC, ACCURATE = 1, 3
"""Values of net.ipv4.tcp_ecn: RFC 3168, and AccECN where the other end has it too."""


@pytest.mark.parametrize("ecn", [CLASSIC, ACCURATE], ids=["classic", "accecn"])
def test_the_kernels_tcp_reads_the_marks_that_a_cu_up_writes_by_the_glue(cu_up, tmp_path, nothing_left, ecn):
    seen, (counted,), ue = download(cu_up, tmp_path, ecn, 1500)
    # Marks are in acknowledgements and reach the sender there; no packet had one.
    assert counted["rewritten"] > 0 < counted["marks"] and counted["reports"] > 100
    assert ue["with_ce"] == 0 < seen["with_ce"]
    if ecn == ACCURATE:
        # A counter, not a flag that is up until it is answered: nothing is read that was not told.
        assert seen["with_ce"] == counted["marks"] - counted["let_go"]
    assert ue["throughput_mbps"] > 10 and ue["queue_ms"]["p50"] < 100


def test_signed_tcp_in_jumbo_packets_is_marked_in_its_packets(cu_up, tmp_path, nothing_left):
    seen, (counted,), ue = download(cu_up, tmp_path, CLASSIC, 9000, is_signed=True)
    assert counted["rewritten"] == 0 < counted["marks"]
    assert seen["sent"] > 3_000 * counted["packets"], "packets are larger than 1500 octets"
    # The client reads the marks and says so: signed acknowledgements pass as they are.
    assert seen["with_ce"] > 0 < ue["with_ce"]
    assert failures(seen["netstat"]) == [0, 0, 0]
    assert ue["throughput_mbps"] > 10


def test_a_connection_moves_to_another_instance_in_the_middle(cu_up, tmp_path, nothing_left):
    seen, counted, ue = download(cu_up, tmp_path, CLASSIC, 1500, law=RAMP, at_half=lambda program: program.send_signal(signal.SIGUSR1))
    assert "moved: 148 bytes\n" in seen["printed"], "12 octets, and 136 of the one connection"
    # The second instance has not seen the connection's opening. It writes into acknowledgements all the same.
    for instance in counted:
        assert instance["packets"] > 200 and instance["marks"] > 0 < instance["rewritten"], instance
    assert len(counted) == 2 and seen["with_ce"] > 0 == ue["with_ce"]
    assert ue["throughput_mbps"] > 3
