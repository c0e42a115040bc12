"""tshark reads the captures that `tidemark run --pcap` writes without an error."""

import collections
import shutil
import subprocess

import pytest
from test_tshark import NOTE, OPTIONS

if not shutil.which("tshark"):
    pytest.skip("tshark is missing: run tests/install-packages.sh", allow_module_level=True)

def fields(capture, *names):
    """One tuple per packet, with the values of these fields."""
    command = ["tshark", "-r", capture, "-T", "fields", "-E", "occurrence=a", *OPTIONS, "-dudp.port==5004,rtp"]
    for name in names:
        command += ["-e", name]
    out = subprocess.run(command, capture_output=True, check=True, text=True).stdout
    return [tuple(line.split("\t")) for line in out.splitlines()]


@pytest.mark.parametrize("name", ["core", "f1u"])
def test_no_packet_is_malformed_and_no_checksum_wrong(captures, name):
    rows = fields(captures / f"{name}.pcapng", "_ws.expert.severity", "_ws.malformed", "ip.checksum.status", "tcp.checksum.status")
    assert len(rows) > 2_000
    for severities, malformed, ip, tcp in rows:
        assert all(int(severity) < NOTE for severity in severities.split(",") if severity), severities
        assert not malformed
        # 1 is good, 2 unverified: of a packet that is not kept whole.
        assert set(ip.split(",")) == {"1"} and set(tcp.split(",")) <= {"1", "2", ""}
    if name == "core":
        assert sum(tcp == "1" for *_, tcp in rows) > 500, "acknowledgements are kept whole"


def test_what_happened_can_be_read_back(captures):
    core = fields(captures / "core.pcapng", "frame.comment", "ip.dsfield.ecn", "ip.src")
    comments = collections.Counter(comment for comment, _, source in core if source.startswith("198.18."))
    assert comments["passed"] > 1_000 and set(comments) <= {"passed", "marked"}
    # The short-circuit leaves packets as they are: what is marked here are the datagrams.
    assert comments["marked"] > 0
    frames = fields(captures / "f1u.pcapng", "gtp.message", "gtp.teid", "nrup.pdu_type")
    kinds = collections.Counter(message for message, *_ in frames)
    assert kinds.pop("0xfe") == 1, "one handover, one end marker"
    assert set(kinds) == {"0xff"}
    assert len({teid for _, teid, _ in frames}) == 2
    types = collections.Counter(kind for *_, kind in frames)
    assert types["1"] > 200, "a report every 5 ms in which something was sent"
    assert types["0"] > 1_000 and types[""] > 500, "user data downwards, and upwards without NR-U"
