"""`tidemark gnb n3`, `cu` and `du`: the cell behind GTP-U sockets, with our own byte-level UPF, and the kernel's TCP."""

import contextlib
import json
import pathlib
import socket
import struct
import subprocess
import threading
import time
import urllib.request

import pytest

from conftest import BRIEF, GATEWAY, TIDEMARK, needs
from test_shell import wait_for

UPF, GNB, ADDRESS, SERVER = "127.0.0.2", "127.0.0.1", "10.45.0.2", "198.51.100.7"
TEID, UPF_TEID = 0x1001, 0x2001
SESSION = f"teid={TEID:#x},peer-teid={UPF_TEID:#x},address={ADDRESS}"
NOT_ECT, ECT1, CE = 0, 1, 3

# At the UE: says of each datagram its number and ECN field, and sends it back with ECT(1). A number of 0 ends it.
ECHO = """
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 9)); s.setsockopt(0, 13, 1); s.setsockopt(0, 1, 1)  # IP_RECVTOS, IP_TOS
s.setsockopt(socket.SOL_SOCKET, 33, 8 << 20)  # SO_RCVBUFFORCE
open(sys.argv[1], "w").close()
while True:
    data, control, _, peer = s.recvmsg(2000, 64)
    print(data[0], control[0][2][0] & 3, flush=True)
    if data[0] == 0:
        break
    s.sendto(data, peer)
"""


def checksum(header):
    total = sum(struct.unpack(f"!{len(header) // 2}H", header))
    total = (total & 0xFFFF) + (total >> 16)
    return ~((total & 0xFFFF) + (total >> 16)) & 0xFFFF


def datagram(number, ecn, size=1, port=5000):
    """A UDP datagram from a port of the server to the UE, as an IP packet."""
    body = struct.pack("!HHHH", port, 9, 8 + size, 0) + bytes([number]) + bytes(size - 1)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, ecn, 20 + len(body), 1, 0, 64, 17, 0, socket.inet_aton(SERVER), socket.inet_aton(ADDRESS))
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body


class Upf:
    """One end of N3."""

    def __init__(self):
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.bind((UPF, 2152))
        self.socket.settimeout(5)
        self.socket.setsockopt(0, 13, 1)

    def send(self, packet, outer, qfi, teid=TEID):
        # G-PDU with a PDU session container of type 0 (TS 29.281 5.1, TS 38.415 5.5.2.1).
        extension = struct.pack("!HBBBBBB", 0, 0, 0x85, 1, 0, qfi, 0)
        self.socket.setsockopt(0, 1, outer)
        self.socket.sendto(struct.pack("!BBHI", 0x34, 255, len(extension) + len(packet), teid) + extension + packet, (GNB, 2152))

    def receive(self):
        message, control, _, _ = self.socket.recvmsg(2000, 64)
        return message, control[0][2][0] & 3


@pytest.fixture
def upf():
    upf = Upf()
    yield upf
    upf.socket.close()


def gnb(tmp_path, *options, session=SESSION):
    ready = tmp_path / "ready"
    process = subprocess.Popen(
        [TIDEMARK, "gnb", "n3", *options, "--bind", GNB, "--upf", UPF, "--session", session, "--", "python3", "-c", ECHO, ready],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_for(ready.exists, "no UE")
    return process


def seen(process):
    out, err = process.communicate(timeout=20)
    assert process.returncode == 0, err
    return [tuple(map(int, line.split())) for line in out.splitlines()]


@pytest.mark.brief
def test_a_upf_reaches_a_ue_and_ecn_survives_the_tunnel(tmp_path, upf, nothing_left):
    needs("tshark")
    needs("tcpdump")
    capture = tmp_path / "n3.pcap"
    sniffer = subprocess.Popen(["tcpdump", "-q", "-U", "--immediate-mode", "-i", "lo", "-w", capture, "udp port 2152"], stderr=subprocess.PIPE, text=True)
    while "listening" not in sniffer.stderr.readline():
        assert sniffer.poll() is None
    process = gnb(tmp_path, "--cell", "5g-static")
    # The path's echo, with sequence number 7.
    upf.socket.sendto(bytes([0x32, 1, 0, 4, 0, 0, 0, 0, 0, 7, 0, 0]), (GNB, 2152))
    answer, _ = upf.receive()
    assert answer[1] == 2 and answer[8:10] == b"\0\x07"
    # A tunnel that is not there: an error indication names it.
    upf.send(datagram(1, ECT1), NOT_ECT, 9, teid=0x7777)
    answer, _ = upf.receive()
    assert answer[1] == 26 and b"\0\0\x77\x77" in answer[8:]
    # Inner and outer field, and what RFC 6040 makes of them; a packet that is marked and can't say so is dropped.
    combinations = [(ECT1, ECT1, ECT1), (ECT1, CE, CE), (NOT_ECT, NOT_ECT, NOT_ECT), (NOT_ECT, CE, None), (CE, ECT1, CE)]
    for number, (inner, outer, _) in enumerate(combinations, 1):
        upf.send(datagram(number, inner), outer, 9)
    back = [upf.receive() for _, _, after in combinations if after is not None]
    upf.send(datagram(0, NOT_ECT), NOT_ECT, 9)
    assert seen(process) == [(n, after) for n, (_, _, after) in enumerate(combinations, 1) if after is not None] + [(0, NOT_ECT)]
    for message, outer in back:
        # Uplink: the UPF's tunnel, PDU type 1 with the default QoS flow, and a copy of the packet's ECT(1) outside.
        assert struct.unpack("!I", message[4:8])[0] == UPF_TEID and outer == ECT1
    sniffer.terminate()
    sniffer.wait()
    fields = ["gtp.teid", "gtp.ext_hdr.pdu_ses_con.pdu_type", "gtp.ext_hdr.pdu_ses_con.qos_flow_id", "ip.src"]
    command = ["tshark", "-r", capture, "-Y", f"gtp.teid == {UPF_TEID}", "-T", "fields", *sum((["-e", name] for name in fields), [])]
    lines = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    assert len(lines) == len(back)
    for line in lines:
        teid, kind, qfi, sources = line.split("\t")
        assert (int(teid, 0), int(kind, 0), int(qfi, 0), sources) == (UPF_TEID, 1, 1, f"{GNB},{ADDRESS}")
    malformed = subprocess.run(["tshark", "-r", capture, "-Y", "_ws.malformed"], capture_output=True, text=True, check=True)
    assert malformed.stdout == ""


def test_qos_flows_take_their_own_bearers(tmp_path, upf, nothing_left):
    scenario = tmp_path / "gnb.toml"
    scenario.write_text("""
name = "gnb"
duration = "30 s"
marker = { law = "none" }
[[ue]]
name = "ue"
[[ue.drb]]
qos_flow = [{ qfi = 5, five_qi = 80 }]
""")
    process = gnb(tmp_path, scenario)
    # A second's worth of the cell's rate in one QoS flow, at once, then a packet of another and one of the first.
    packet = datagram(1, NOT_ECT, size=1_300)
    for _ in range(3_000):
        upf.send(packet, NOT_ECT, 9)
    upf.send(datagram(2, NOT_ECT), NOT_ECT, 5)
    time.sleep(3)
    upf.send(datagram(0, NOT_ECT), NOT_ECT, 9)
    order = [number for number, _ in seen(process)]
    assert order[-1] == 0 and order.count(2) == 1
    assert order.index(2) < len(order) / 2


def test_uplink_packets_carry_the_qfi_of_their_rule_or_of_what_they_answer(tmp_path, upf, nothing_left):
    scenario = tmp_path / "gnb.toml"
    scenario.write_text("""
name = "gnb"
duration = "30 s"
[[ue]]
name = "ue"
[[ue.drb]]
qos_flow = [{ qfi = 5, filter = [{ remote_port = "6000-6999", protocol = "udp" }] }, { qfi = 6 }]
""")
    process = gnb(tmp_path, scenario, session=SESSION + ",qfi=9")
    # Port, downlink QFI with the bit that lets the UE reflect it, and the QFI of the answer.
    reflective = 0x40
    cases = [(5000, 9, 9), (6000, 9, 5), (5001, 6 | reflective, 6), (5002, 6, 9), (5003, 33 | reflective, 33), (6999, 6 | reflective, 6)]
    answers = []
    for number, (port, qfi, _) in enumerate(cases, 1):
        upf.send(datagram(number, NOT_ECT, port=port), NOT_ECT, qfi)
        answers.append(upf.receive()[0][14] & 63)
    upf.send(datagram(0, NOT_ECT), NOT_ECT, 9)
    assert [number for number, _ in seen(process)] == [1, 2, 3, 4, 5, 6, 0]
    assert answers == [qfi for _, _, qfi in cases]


def test_ipv6_inside_and_outside(tmp_path, nothing_left):
    gnb6, upf6, ue, server = "::1", "fd00:6e33::2", "2001:db8:45::2", "2001:db8:100::7"
    subprocess.run(["ip", "-6", "address", "add", f"{upf6}/128", "dev", "lo", "nodad"], check=True)
    peer, process = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM), None
    try:
        peer.bind((upf6, 2152))
        peer.settimeout(5)
        peer.setsockopt(41, 66, 1)  # IPV6_RECVTCLASS
        scenario = tmp_path / "gnb.toml"
        scenario.write_text("""
name = "gnb"
duration = "30 s"
[[ue]]
name = "ue"
[[ue.drb]]
qos_flow = [{ qfi = 5, filter = [{ remote_address = "2001:db8:100::/48", traffic_class = "0xB8/0xFC" }] }]
""")
        ready = tmp_path / "ready"
        echo = ECHO.replace("AF_INET,", "AF_INET6,").replace("(0, 13, 1)", "(41, 66, 1)").replace("(0, 1, 1)", "(41, 67, 0xB9)")
        process = subprocess.Popen(
            [TIDEMARK, "gnb", "n3", scenario, "--bind", gnb6, "--upf", upf6, "--session", f"teid={TEID},peer-teid={UPF_TEID},address={ue}",
             "--", "python3", "-c", echo, ready],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        wait_for(ready.exists, "no UE")

        def send(number, inner, outer):
            """A UDP datagram over IPv6, where the checksum is mandatory (RFC 8200 8.1)."""
            ends = socket.inet_pton(socket.AF_INET6, server) + socket.inet_pton(socket.AF_INET6, ue)
            body = struct.pack("!HHHHBB", 5000, 9, 10, 0, number, 0)
            total = checksum(ends + struct.pack("!II", len(body), 17) + body) or 0xFFFF
            body = body[:6] + struct.pack("!H", total) + body[8:]
            packet = struct.pack("!IHBB", 6 << 28 | inner << 20, len(body), 17, 64) + ends + body
            extension = struct.pack("!HBBBBBB", 0, 0, 0x85, 1, 0, 1, 0)
            peer.setsockopt(41, 67, outer)  # IPV6_TCLASS
            header = struct.pack("!BBHI", 0x34, 255, len(extension) + len(packet), TEID)
            peer.sendto(header + extension + packet, (gnb6, 2152))

        for number, inner, outer in [(1, ECT1, CE), (2, ECT1, ECT1)]:
            send(number, inner, outer)
            message, control, _, _ = peer.recvmsg(2000, 64)
            # The answer goes with EF and ECT(1), which the rule for both puts into its QoS flow.
            assert struct.unpack("!I", message[4:8])[0] == UPF_TEID and message[14] & 63 == 5
            assert control[0][2][0] & 3 == ECT1  # an int of this machine
            assert message[16] >> 4 == 6 and message[24:40] == socket.inet_pton(socket.AF_INET6, ue)
        send(0, NOT_ECT, NOT_ECT)
        assert seen(process) == [(1, CE), (2, ECT1), (0, NOT_ECT)]
    finally:
        if process and process.poll() is None:
            process.kill()
        peer.close()
        subprocess.run(["ip", "-6", "address", "del", f"{upf6}/128", "dev", "lo"], check=True)


def test_a_du_leaves_laws_to_its_cu(nothing_left):
    du = subprocess.Popen(
        [TIDEMARK, "gnb", "du", "--cell", "5g-static", "--bind", GNB, "--cu", UPF, "--tunnel", "teid=5,peer-teid=6", "--", "sleep", "20"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        wait_for(pathlib.Path("/run/tidemark/0.ctl").exists, "no DU")
        for words, said in [("ue.0.marker.law=ramp", "in its CU"), ("ue.0.channel.snr_db=5", "changed channel")]:
            done = subprocess.run([TIDEMARK, "ctl", "set", words], capture_output=True, text=True)
            assert said in done.stdout + done.stderr, done
    finally:
        du.terminate()
        du.wait(timeout=10)


def test_ctrl_c_ends_what_runs_no_command(ctrl_c, nothing_left):
    tunnel = ["--tunnel", "teid=5,peer-teid=6"]
    for command in (
        ["cu", "--bind", GNB, "--du", UPF, *tunnel],
        ["du", "--cell", "5g-static", "--bind", GNB, "--cu", UPF, *tunnel],
        ["n3", "--cell", "5g-static", "--bind", GNB, "--upf", UPF, "--session", SESSION],
    ):
        assert ctrl_c([TIDEMARK, "gnb", *command], pathlib.Path("/run/tidemark/0.ctl")) == 0, command


def test_a_cu_without_root_says_that_it_takes_some():
    needs("setpriv")
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    command = [*user, TIDEMARK, "gnb", "cu", "--bind", GNB, "--du", UPF, "--tunnel", "teid=5,peer-teid=6"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=10)
    assert done.returncode == 2 and "with sudo" in done.stderr, done


def test_wrong_tunnels_are_named(tmp_path):
    def said(*options):
        done = subprocess.run([TIDEMARK, "gnb", *options], capture_output=True, text=True)
        assert done.returncode == 2
        return done.stderr

    n3 = ["n3", "--bind", GNB, "--upf", UPF]
    assert "peer-teid is missing" in said(*n3, "--session", "teid=1")
    scenario = tmp_path / "gnb.toml"
    scenario.write_text(
        'name = "gnb"\nduration = "9 s"\n[[ue]]\nname = "ue"\nchannel = { model = "static" }\n[[ue.drb]]\nqos_flow = [{ qfi = 5, five_qi = 80 }]\n'
    )
    # Not in the lines that a message is broken into.
    refusal = " ".join(said("n3", scenario, *n3[1:], "--session", f"{SESSION},qfi=5").replace("│", " ").split())
    assert "both have qfi=5" in refusal and "drb.0.qos_flow.0" in refusal
    assert "named twice" in said(*n3, "--session", SESSION, "--session", SESSION)
    assert "1 UEs, but 2 sessions" in said(*n3, "--session", SESSION, "--session", "teid=5,peer-teid=6", "--", "true")
    assert "1 bearers, but 2 tunnels" in said("du", "--bind", GNB, "--cu", UPF, "--tunnel", SESSION, "--tunnel", "teid=5,peer-teid=6")
    assert "is not an address" in said("du", "--bind", GNB, "--cu", "elsewhere", "--tunnel", SESSION)


def download_through_two_halves(folder, law, *settings, both=()):
    """Gives the counts of the CU and the DU's cell for a download by the kernel's CUBIC with classic ECN. The CU has only the settings `both`."""
    seconds, warmup = 8, 3
    cu = subprocess.Popen(
        [TIDEMARK, "gnb", "cu", "--bind", GNB, "--du", UPF, "--tunnel", "teid=0x3001,peer-teid=0x4001", "--set", f"marker.law={law}",
         *both, "--out", folder / "cu"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "--number 0" in cu.stderr.readline()
    server = subprocess.Popen(["iperf3", "--server", "--one-off"], stdout=subprocess.DEVNULL)
    wait_for(lambda: ":5201" in subprocess.getoutput("ss -Hltn"), "iperf3 does not listen")
    client = f"echo 1 > /proc/sys/net/ipv4/tcp_ecn; exec iperf3 --client {GATEWAY} --reverse --time {seconds} --congestion cubic"
    try:
        du = subprocess.run(
            [TIDEMARK, "gnb", "du", "--cell", "5g-static", "--bind", UPF, "--cu", GNB, "--tunnel", "teid=0x4001,peer-teid=0x3001",
             "--set", f"warmup={warmup} s", *settings, *both, "--out", folder, "--", "sh", "-c", client],
            capture_output=True, text=True, timeout=40,
        )  # fmt: skip
        assert du.returncode == 0, du
    finally:
        server.terminate()
        server.wait()
        cu.terminate()
        out, _ = cu.communicate(timeout=10)
    summary = json.loads((folder / "summary.json").read_text())
    with_ce = sum(flow["marked"] for flow in summary["flows"])
    assert f" {with_ce} packets with CE" in du.stderr, du.stderr
    return json.loads(out), {**summary["ues"][0], "with_ce": with_ce}


@pytest.mark.brief
def test_l4s_has_a_bearer_of_its_own_through_both_halves(tmp_path, nothing_left):
    needs("iperf3")
    # The CU's packet filter steers ECT(1) to the second bearer, which has a law; CUBIC fills the first one's queue, which has none.
    scenario = tmp_path / "gnb.toml"
    scenario.write_text("""
name = "gnb"
duration = "30 s"
warmup = "3 s"
marker = { law = "none" }
[[ue]]
name = "ue"
channel = { model = "static" }
[[ue.drb]]
marker = { law = "l4span" }
qos_flow = [{ qfi = 4, five_qi = 9, filter = [{ ecn = ["ect1", "ce"] }] }]
""")
    cu_tunnels, du_tunnels = (
        [option for n in (1, 2) for option in ("--tunnel", f"teid=0x{own}00{n},peer-teid=0x{peer}00{n}")] for own, peer in ((3, 4), (4, 3))
    )
    cu = subprocess.Popen([TIDEMARK, "gnb", "cu", scenario, "--bind", GNB, "--du", UPF, *cu_tunnels], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "--number 0" in cu.stderr.readline()
    iperf3 = subprocess.Popen(["iperf3", "--server", "--one-off"], stdout=subprocess.DEVNULL)
    prague = subprocess.Popen([TIDEMARK, "net", "send", "--listen", "4100", "--time", "9 s"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    wait_for(lambda: ":5201" in subprocess.getoutput("ss -Hltn") and ":4100" in subprocess.getoutput("ss -Hlun"), "a server does not listen")
    clients = f"iperf3 --client {GATEWAY} --reverse --time 9 --congestion cubic > /dev/null & {TIDEMARK} net receive {GATEWAY}:4100 --time '9 s' > /dev/null; wait"
    try:
        du = subprocess.Popen(
            [TIDEMARK, "gnb", "du", scenario, "--bind", UPF, "--cu", GNB, *du_tunnels, "--out", tmp_path / "out", "--", "sh", "-c", clients],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        # Another channel does not bring a law into the DU.
        time.sleep(2)
        changed = subprocess.run([TIDEMARK, "ctl", "--cell", "1", "set", "ue.0.channel.snr_db=29"], capture_output=True, text=True)
        assert changed.stdout == "ue: changed channel\n", changed
        assert du.wait(timeout=40) == 0, du.communicate()
    finally:
        for process in (iperf3, prague):
            process.terminate()
            process.wait()
        cu.terminate()
        counted = json.loads(cu.communicate(timeout=10)[0])
    summary = json.loads((tmp_path / "out/summary.json").read_text())
    default, l4s = (bearer for bearer in summary["bearers"] if bearer["direction"] == "downlink")
    # Acknowledgements and feedback come up by the bearer of what they answer.
    up = {bearer["drb"]: bearer for bearer in summary["bearers"] if bearer["direction"] == "uplink"}
    assert all(up[drb]["throughput_mbps"] > 0.02 and up[drb]["queue_ms"]["p50"] < 20 for drb in (1, 2)), up
    print(counted, default, l4s)
    # Bearers of one priority halve the cell between them (a figure, held by all tests), and the queues have nothing to do with each other.
    assert BRIEF or min(default["throughput_mbps"], l4s["throughput_mbps"]) > 15
    assert counted["marked"] > 0 and counted["dropped"] == 0
    # The CU alone knows what it marks.
    assert all("marked" not in bearer and bearer["law"] == "at the CU" for bearer in (default, l4s))
    assert l4s["queue_ms"]["p95"] * 5 < default["queue_ms"]["p95"]


def delivery_status(desired, transmitted, lost=None):
    """A DL DATA DELIVERY STATUS (TS 38.425 5.5.2.2) with the highest SN transmitted and a range of lost NR-U SNs, in GTP-U."""
    body = struct.pack("!BBI", 0x18 | (lost is not None), 0, desired)
    if lost is not None:
        body += bytes([1]) + b"".join(sn.to_bytes(3, "big") for sn in lost)
    body += transmitted.to_bytes(3, "big")
    body += bytes(-(len(body) + 2) % 4)
    extension = struct.pack("!HBBB", 0, 0, 0x84, (len(body) + 2) // 4) + body + bytes([0])
    return struct.pack("!BBHI", 0x34, 255, len(extension), 0x3001) + extension


HOST, PEER, THIRD = "192.0.2.1", "192.0.2.2", "192.0.2.9"

# On a third host: sends each line of its input, in hexadecimal, from GTP-U's port, and says how many answers came.
SEND = f"""
import socket, sys
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("{THIRD}", 2152)); s.settimeout(0.5)
for line in sys.stdin:
    s.sendto(bytes.fromhex(line), ("{HOST}", 2152))
answers = 0
try:
    while True:
        s.recv(2000); answers += 1
except TimeoutError:
    print(answers)
"""


@pytest.fixture
def third_host():
    """A host in its own network namespace, linked to this one. Gives a function that sends messages from there and returns the number of answers."""
    holder = subprocess.Popen(["unshare", "--net", "sh", "-c", "echo ready; exec sleep 100"], stdout=subprocess.PIPE, text=True)
    assert holder.stdout.readline() == "ready\n"
    inside = ["nsenter", "--net", "--target", str(holder.pid)]

    def ip(*words, where=()):
        subprocess.run([*where, "ip", *words], check=True)

    def send(*messages):
        done = subprocess.run([*inside, "python3", "-c", SEND], input="\n".join(m.hex() for m in messages), capture_output=True, text=True, check=True)
        return int(done.stdout)

    try:
        ip("link", "add", "third", "type", "veth", "peer", "name", "eth0", "netns", str(holder.pid))
        for address in (HOST, PEER):
            ip("address", "add", f"{address}/24", "dev", "third")
        # An address of the link's own would come and go while a test looks at routes.
        ip("link", "set", "third", "addrgenmode", "none", "up")
        ip("address", "add", f"{THIRD}/24", "dev", "eth0", where=inside)
        ip("link", "set", "eth0", "addrgenmode", "none", "up", where=inside)
        yield send
    finally:
        subprocess.run(["ip", "link", "delete", "third"])
        holder.kill()
        holder.wait()


def g_pdu(teid, payload):
    return struct.pack("!BBHI", 0x30, 255, len(payload), teid) + payload


def from_ue(source, number, teid=0x3001):
    """A UE's datagram to the host, in a PDCP PDU with an SN of 18 bits, in GTP-U."""
    body = struct.pack("!HHHHB", 5000, 7, 9, 0, number)
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(body), 1, 0, 64, 17, 0, socket.inet_aton(source), socket.inet_aton(GATEWAY))
    return g_pdu(teid, bytes([0x80, 0, number]) + head[:10] + struct.pack("!H", checksum(head)) + head[12:] + body)


@contextlib.contextmanager
def cu_beside_a_third_host(*options):
    """A CU with a byte-level DU. Gives the DU's socket, a socket of the host that UEs send to, and a function that asks for the CU's state."""
    cu = subprocess.Popen(
        [TIDEMARK, "gnb", "cu", "--bind", HOST, "--du", PEER, "--tunnel", "teid=0x3001,peer-teid=0x4001", *options],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert "--number 0" in cu.stderr.readline()
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as du, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as core:
            du.bind((PEER, 2152))
            du.settimeout(5)
            core.bind((GATEWAY, 7))
            core.settimeout(5)

            def ctl(word):
                return subprocess.run([TIDEMARK, "ctl", word], capture_output=True, text=True, check=True).stdout

            yield cu, du, core, ctl
    finally:
        if cu.poll() is None:
            cu.terminate()
            cu.communicate(timeout=10)


@pytest.mark.brief
def test_a_third_host_reaches_neither_the_host_nor_the_marker_of_a_cu(third_host, nothing_left):
    with cu_beside_a_third_host() as (cu, du, core, ctl):
        # Packets from any address, delivery statuses, and a scan for TEIDs: five each.
        forged = [from_ue("100.96.0.2", n) for n in range(5)] + 5 * [delivery_status(0, 0)] + [g_pdu(teid, b"") for teid in range(0x3002, 0x3007)]
        assert third_host(*forged) == 0
        # The DU is let in with what its UE may send, and with no delivery status of what was never sent.
        for source in ("100.96.0.3", "203.0.113.5", "100.96.0.2"):
            du.sendto(from_ue(source, 77), (HOST, 2152))
        assert core.recvfrom(2000) == (bytes([77]), ("100.96.0.2", 5000))
        du.sendto(delivery_status(100_000, 200_000), (HOST, 2152))
        for teid in range(0x5000, 0x5000 + 100):
            du.sendto(g_pdu(teid, b"data"), (HOST, 2152))
        wait_for(lambda: json.loads(ctl("status"))["not_admitted"]["unknown_teids"] == 100, "not all packets came")
        now = json.loads(ctl("status"))
        refused = now["not_admitted"]
        expected = {"other_peers": 15, "other_sources": 2, "impossible_reports": 1, "unknown_teids": 100}
        assert expected.items() <= refused.items() and refused["unanswered"] >= 50, refused
        assert (now["uplink"], now["reports"]) == (1, 0)
        assert f"tidemark_gtpu_other_peers_total {refused['other_peers']}\n" in ctl("metrics")
        cu.terminate()
        out, err = cu.communicate(timeout=10)
    assert json.loads(out)["not_admitted"] == refused and "118 messages and packets were refused" in err


def test_by_name_a_cu_takes_any_peer_and_any_source(third_host, nothing_left):
    with cu_beside_a_third_host("--any-peer", "--any-source") as (_, _, core, ctl):
        third_host(*[from_ue("100.96.0.7", n) for n in range(5)])
        assert [core.recvfrom(2000)[0][0] for _ in range(5)] == list(range(5))
        assert not any(json.loads(ctl("status"))["not_admitted"].values())


def test_a_gnb_takes_packets_of_its_upf_and_of_its_ues_own_address_alone(tmp_path, third_host, nothing_left):
    # The UE has a second address, which the core did not give it.
    sends = """
import socket, sys
for source, number in [("10.45.0.9", 9), ("10.45.0.2", 2)]:
    s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    s.bind((source, 5000)); s.sendto(bytes([number]), ("198.51.100.7", 9))
s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
s.bind(("", 9)); s.settimeout(10)
print(s.recv(2000)[0])
"""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as upf:
        upf.bind((PEER, 2152))
        upf.settimeout(10)
        gnb = subprocess.Popen(
            [TIDEMARK, "gnb", "n3", "--cell", "5g-static", "--set", "warmup=0 s", "--bind", HOST, "--upf", PEER, "--session", SESSION, "--out", tmp_path,
             "--", "sh", "-c", f"ip address add 10.45.0.9/32 dev cell0 && exec python3 -c '{sends}'"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )  # fmt: skip
        try:
            assert upf.recv(2000)[-1] == 2, "the first packet that comes is that of the UE's own address"
            assert third_host(g_pdu(TEID, datagram(66, NOT_ECT)), g_pdu(TEID + 1, datagram(66, NOT_ECT))) == 0
            upf.sendto(g_pdu(TEID, datagram(5, NOT_ECT)), (HOST, 2152))
            out, err = gnb.communicate(timeout=20)
        finally:
            if gnb.poll() is None:
                gnb.terminate()
                gnb.communicate(timeout=10)
    assert (gnb.returncode, out) == (0, "5\n"), err
    assert json.loads((tmp_path / "summary.json").read_text())["live"]["not_admitted"] == 3
    assert "3 messages and packets were refused" in err


def test_a_tunnel_without_a_teid_gets_one_at_random(nothing_left):
    def drawn():
        done = subprocess.run(
            [TIDEMARK, "gnb", "n3", "--cell", "5g-static", "--bind", GNB, "--upf", UPF, "--session", f"peer-teid=1,address={ADDRESS}", "--", "true"],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return int(done.stderr.split("tunnel 1 has teid=")[1].split(",")[0], 0)

    assert drawn() != drawn()


@pytest.mark.parametrize("law", ["codel", "ecn-codel", "drop-head"])
def test_a_cu_refuses_laws_that_decide_in_the_queue_of_its_du(law):
    refused = subprocess.run(
        [TIDEMARK, "gnb", "cu", "--bind", GNB, "--du", UPF, "--tunnel", "teid=5,peer-teid=6", "--set", f"marker.law={law}"],
        capture_output=True, text=True, timeout=10,
    )  # fmt: skip
    assert refused.returncode == 2 and f"`{law}` decides as packets leave the RLC queue" in " ".join(refused.stderr.split()), refused


def test_a_running_cu_is_asked_told_and_hears_of_losses(nothing_left):
    """A byte-level DU, which transmits nothing by itself."""
    cu = subprocess.Popen(
        [TIDEMARK, "gnb", "cu", "--bind", GNB, "--du", UPF, "--tunnel", "teid=0x3001,peer-teid=0x4001", "--web", "0",
         "--set", "marker.law=none"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "--number 0" in cu.stderr.readline()
    web = cu.stderr.readline().split()[-1]

    def ctl(*words):
        return subprocess.run([TIDEMARK, "ctl", *words], capture_output=True, text=True)

    def bearer():
        return json.loads(ctl("status").stdout)["bearers"][0]

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as du, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as core:
            du.bind((UPF, 2152))
            du.settimeout(5)
            core.setsockopt(0, 1, ECT1)  # IP_TOS
            # What the kernel says of itself on a new device comes first.
            pathlib.Path("/proc/sys/net/ipv6/conf/tidemark0/disable_ipv6").write_text("1")
            time.sleep(0.2)
            before = bearer()

            def sent(number):
                """Makes this many packets of 1000 octets as the DU receives them: G-PDUs with an NR RAN container and a PDCP header of 3 octets."""
                for _ in range(number):
                    core.sendto(bytes(972), ("100.96.0.2", 9))
                frames = []
                while len(frames) < number:
                    frames += [frame for frame in [du.recv(2000)] if len(frame) > 1000]
                assert all(frame[11] == 0x84 for frame in frames)
                return frames

            frames = sent(10)
            # NR-U's numbers and PDCP's are counted apart.
            first, sn = int.from_bytes(frames[0][15:18], "big"), int.from_bytes(frames[0][-1003:-1000], "big") & 0x3FFFF
            whole = 10 * 1003
            now = bearer()
            assert (now["law"], now["standing_bytes"], now["sent_bytes"]) == ("none", before["standing_bytes"] + whole, before["sent_bytes"] + whole)
            # F1-U lost the third to the fifth of them, and only the first was transmitted.
            du.sendto(delivery_status(100_000, sn, lost=(first + 2, first + 4)), (GNB, 2152))
            wait_for(lambda: bearer()["reports"] == 1, "no report is counted")
            assert (bearer()["lost"], bearer()["standing_bytes"]) == (3, whole - 4 * 1003)
            du.sendto(delivery_status(100_000, sn + 9), (GNB, 2152))
            wait_for(lambda: bearer()["standing_bytes"] == 0, "what was lost is kept queued")

            def marks(number):
                return [frame[-999] & 3 for frame in sent(number)]

            # Without a law what waits is not marked; with one that marks all that waits for a millisecond, it is.
            assert marks(1) == [ECT1]
            time.sleep(0.01)
            assert marks(2) == 2 * [ECT1]
            answer = ctl("set", "marker.law=step")
            assert (answer.returncode, answer.stdout) == (0, "ue, bearer 1: changed law or threshold\n"), answer
            assert bearer()["law"] == "step"
            # While no rate is known, the head is as old as the last report shows it: one that still says the same.
            du.sendto(delivery_status(100_000, sn + 9), (GNB, 2152))
            wait_for(lambda: bearer()["reports"] == 3, "no report is counted")
            assert marks(2) == 2 * [CE], ctl("status").stdout
            for words, why in [(["marker.law=codel"], "does not see"), (["marker.law=ecn-codel"], "does not see"), (["ue.0.channel.snr_db=5"], "the DU's"), (["marker.law=cod"], "codel")]:
                refused = ctl("set", *words)
                assert refused.returncode != 0 and why in refused.stderr, refused
            assert "the DU" in ctl("outage", "ue", "1 s").stderr
            text = ctl("metrics").stdout
            assert 'tidemark_cu_lost_sns_total{ue="ue",drb="1"} 3\n' in text and "# TYPE tidemark_cu_standing_bytes gauge" in text
            scraped = urllib.request.urlopen(web + "metrics", timeout=5).read().decode()
            assert b"EventSource" in urllib.request.urlopen(web, timeout=5).read()
            with urllib.request.urlopen(web + "events", timeout=5) as events:
                past = json.loads([events.readline() for _ in range(2)][1][6:])
            (sent_bytes,) = past["rows"]["sent_bytes"]
            assert len(sent_bytes) == len(past["t_s"]) > 0 and sent_bytes[-1] >= whole
            assert [line for line in scraped.splitlines() if "lost_sns" in line] == [line for line in text.splitlines() if "lost_sns" in line]
    finally:
        cu.terminate()
        out, _ = cu.communicate(timeout=10)
    counted = json.loads(out)
    assert (counted["lost"], counted["reports"]) == (3, 3) and counted["downlink"] >= 15


def test_what_f1_u_loses_between_the_halves_is_counted_and_stands_in_no_queue(nothing_left):
    relay_address, losses, stop = "127.0.0.3", [], threading.Event()
    relay = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    relay.bind((relay_address, 2152))
    relay.settimeout(0.1)

    def carry():
        while not stop.is_set():
            with contextlib.suppress(TimeoutError):
                message, sender = relay.recvfrom(2000)
                down = sender[0] == GNB
                # One of ten of the full packets on the way down: octets 15 to 17 are the NR-U SN.
                number = int.from_bytes(message[15:18], "big")
                if down and len(message) > 1000 and number % 10 == 3:
                    losses.append(number)
                else:
                    relay.sendto(message, (UPF if down else GNB, 2152))

    thread = threading.Thread(target=carry)
    thread.start()
    cu = subprocess.Popen(
        [TIDEMARK, "gnb", "cu", "--bind", GNB, "--du", relay_address, "--tunnel", "teid=0x3001,peer-teid=0x4001"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert "--number 0" in cu.stderr.readline()
    du = subprocess.Popen(
        [TIDEMARK, "gnb", "du", "--cell", "5g-static", "--bind", UPF, "--cu", relay_address, "--tunnel", "teid=0x4001,peer-teid=0x3001", "--", "sleep", "60"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip

    def bearer():
        return json.loads(subprocess.run([TIDEMARK, "ctl", "--cell", "0", "status"], capture_output=True, text=True).stdout)["bearers"][0]

    try:
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as core:
            # Until the DU is there nothing tells of what was sent.
            def reports():
                core.sendto(bytes(10), ("100.96.0.2", 9))
                return bearer()["reports"]

            wait_for(reports, "no report comes")
            for _ in range(200):
                core.sendto(bytes(1200), ("100.96.0.2", 9))
                time.sleep(0.001)
            core.sendto(bytes(10), ("100.96.0.2", 9))
            wait_for(lambda: bearer()["standing_bytes"] == 0, "something is kept queued")
        assert bearer()["lost"] == len(losses) > 10
    finally:
        for process in (du, cu):
            process.terminate()
            out, _ = process.communicate(timeout=10)
        stop.set()
        thread.join()
        relay.close()
    counted = json.loads(out)
    assert counted["lost"] == len(losses) and counted["marker"]["unknown_sns"] == 0


def test_a_cu_holds_back_what_its_du_has_no_room_for(tmp_path, nothing_left):
    needs("iperf3")
    # Without marks CUBIC fills what queue there is: 60 kB at the DU, the rest waits in the CU, and nothing is dropped.
    counted, ue = download_through_two_halves(tmp_path, "none", "--set", "ue.0.rlc.queue_bytes=60 kB")
    print(counted, ue["throughput_mbps"], ue["queue_ms"], ue["dropped"])
    assert counted["held"] > 1_000 and counted["overflow"] == 0 and ue["dropped"] == 0
    # 60 kB are 12 ms of 40 Mbit/s.
    assert ue["queue_ms"]["p99"] < 20 and ue["throughput_mbps"] > 30


def test_a_du_refuses_a_law_for_the_uplink(nothing_left):
    refused = subprocess.run(
        [TIDEMARK, "gnb", "du", "--cell", "5g-static", "--bind", UPF, "--cu", GNB, "--tunnel", "teid=0x4001,peer-teid=0x3001",
         "--set", 'ue.0.uplink_marker={ law = "ramp" }', "--", "true"],
        capture_output=True, text=True,
    )  # fmt: skip
    assert refused.returncode == 2 and "uplink_marker: must be left out" in refused.stderr, refused


def test_sns_of_twelve_bits_go_round_between_the_halves(tmp_path, nothing_left):
    needs("iperf3")
    counted, ue = download_through_two_halves(tmp_path, "l4span", both=["--set", 'ue.0.rlc={ pdcp_sn = "12", queue_sdus = 1000 }'])
    print(counted, ue["throughput_mbps"], ue["queue_ms"], ue["dropped"])
    assert counted["downlink"] > 3 * 4096 and counted["overflow"] == 0
    assert counted["marker"]["unknown_sns"] == 0 < counted["marked"]
    assert ue["throughput_mbps"] > 20


@pytest.mark.parametrize("period", ["0 ms", "5 ms", "10 ms"])
def test_a_cu_marks_by_delivery_statuses_alone(tmp_path, nothing_left, period):
    needs("iperf3")
    # A DU reports each slot, or as gNBs do: every 5 or 10 ms.
    report = ["--set", f"cell.f1u.report_period={period}"]
    (marking, marked), (counting, unmarked) = (download_through_two_halves(tmp_path / law, law, *report) for law in ("l4span", "none"))
    print(marked["throughput_mbps"], marked["queue_ms"], marking, unmarked["throughput_mbps"], unmarked["queue_ms"], counting)
    # The DU has no law of its own: what was marked, the CU marked, and the DU saw it come over F1-U, since its warm-up.
    assert unmarked["with_ce"] == counting["marked"] == 0 < marked["with_ce"] <= marking["marked"]
    assert "marked" not in marked and "marked" not in unmarked
    # The CU keeps its marks with what it knows of them, the DU keeps none.
    rows = json.loads(subprocess.check_output([TIDEMARK, "explain", tmp_path / "l4span" / "cu", "--format", "json"]))
    assert 0 < len(rows) <= marking["marked"] and all(row["flow"].startswith("tcp ") and row["estimated_kb"] > 0 for row in rows)
    assert not any(row[column] for row in rows for column in ("queued_kb", "arrived_s", "answered_s"))
    assert "no marking law" in subprocess.check_output([TIDEMARK, "explain", tmp_path / "none" / "cu"], text=True)
    refused = subprocess.run([TIDEMARK, "explain", tmp_path / "l4span"], capture_output=True, text=True)
    assert refused.returncode == 2 and "a DU makes no marks" in refused.stderr
    # Of 8 s, in which a slot takes half a millisecond.
    most = {"0 ms": 16_000, "5 ms": 1_700, "10 ms": 900}[period] + 200
    assert most / 4 < marking["reports"] < most and counting["reports"] < most
    assert marking["marker"]["blind_drbs"] == 0
    assert marked["queue_ms"]["p95"] < min(60, unmarked["queue_ms"]["p95"])
    assert marked["throughput_mbps"] > 0.6 * unmarked["throughput_mbps"]
