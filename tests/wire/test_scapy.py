"""scapy builds packets that we parse and mark, and reads what we emit."""

import random

import pytest

scapy = pytest.importorskip("scapy", reason="scapy is missing: pip install scapy")

from scapy.config import conf
from scapy.contrib.gtp import GTP_U_Header, GTPPDUSessionContainer
from scapy.layers.inet import IP, TCP, UDP
from scapy.layers.inet6 import (
    IPv6,
    IPv6ExtHdrDestOpt,
    IPv6ExtHdrFragment,
    IPv6ExtHdrHopByHop,
    IPv6ExtHdrRouting,
)
from scapy.packet import Raw
from scapy.utils import rdpcap

conf.verb = 0
COUNT = 300


def some(rng):
    return Raw(rng.randbytes(rng.randrange(40)))


def ip_layer(rng, **fields):
    """IPv4, in every third packet with options, or IPv6 with any extension headers."""
    tos, source, destination = rng.randrange(256), rng.randrange(1, 255), rng.randrange(1, 255)
    if rng.random() < 0.5:
        options = [Raw(b"\x01" * rng.randrange(1, 40))] if rng.random() < 0.3 else []
        addresses = {"src": f"10.0.0.{source}", "dst": f"10.0.1.{destination}"}
        return IP(tos=tos, id=rng.randrange(1 << 16), ttl=9, options=options, **addresses, **fields)
    layer = IPv6(tc=tos, fl=rng.randrange(1 << 20), src=f"2001:db8::{source:x}", dst=f"2001:db8::1:{destination:x}")
    for header in (IPv6ExtHdrHopByHop, IPv6ExtHdrDestOpt, IPv6ExtHdrRouting):
        if rng.random() < 0.3:
            # Without addresses left to visit, the routing header leaves the destination and the checksum as they are.
            layer /= header() if header is not IPv6ExtHdrRouting else IPv6ExtHdrRouting(segleft=0)
    return layer


def tcp_layer(rng):
    candidates = [
        ("MSS", rng.randrange(1 << 16)),
        ("NOP", None),
        ("WScale", rng.randrange(15)),
        ("SAckOK", b""),
        ("Timestamp", (rng.randrange(1 << 32), rng.randrange(1 << 32))),
        ("SAck", tuple(rng.randrange(1 << 32) for _ in range(2))),
        (rng.choice((172, 174)), rng.randbytes(rng.choice((0, 3, 6, 9)))),
    ]
    options = rng.sample(candidates, rng.randrange(4))
    return TCP(
        sport=rng.randrange(1 << 16),
        dport=rng.randrange(1 << 16),
        seq=rng.randrange(1 << 32),
        ack=rng.randrange(1 << 32),
        flags=rng.randrange(1 << 9),
        window=rng.randrange(1 << 16),
        urgptr=rng.randrange(1 << 16),
        options=options,
    )


def option_seen(option):
    name, value = option
    match name:
        case "MSS":
            return {"mss": value}
        case "WScale":
            return {"window_scale": value}
        case "SAckOK":
            return "sack_permitted"
        case "Timestamp":
            return {"timestamps": list(value)}
        case "SAck":
            return {"sack": [list(value)]}
        case int():
            fields = [int.from_bytes(value[at : at + 3], "big") for at in range(0, len(value), 3)]
            first, ceb, third = fields + [None] * (3 - len(fields))
            e0b, e1b = (first, third) if name == 172 else (third, first)
            return {"accecn": name, "e0b": e0b, "ceb": ceb, "e1b": e1b}


def tos(packet):
    return packet.tos if IP in packet else packet.tc


def test_we_read_tcp_that_scapy_built(inspect):
    rng = random.Random(1)
    packets = [ip_layer(rng) / tcp_layer(rng) / some(rng) for _ in range(COUNT)]
    for packet, seen in zip(packets, inspect(packets), strict=True):
        tcp = packet[TCP]
        flags = int(tcp.flags)
        urgent = tcp.urgptr if flags & 0x20 else None
        options = [option_seen(option) for option in tcp.options if option[0] != "NOP"]
        assert (seen["protocol"], seen["ports"]) == (6, [tcp.sport, tcp.dport])
        assert (seen["dscp"], seen["ecn"]) == (tos(packet) >> 2, tos(packet) & 3)
        assert seen["len"] == len(packet)
        assert seen.get("header_checksum_valid", True)
        assert seen["tcp"] == {
            "seq": tcp.seq,
            "ack": tcp.ack,
            "window": tcp.window,
            "payload": len(tcp.payload),
            "fin": bool(flags & 1),
            "syn": bool(flags & 2),
            "rst": bool(flags & 4),
            "push": bool(flags & 8),
            "has_ack": bool(flags & 0x10),
            "ace": flags >> 6,
            "urgent": urgent,
            "options": options,
            "checksum_valid": True,
        }


def test_scapy_would_have_built_what_we_marked(inspect):
    rng = random.Random(2)
    packets = [
        ip_layer(rng) / rng.choice((tcp_layer, lambda _: UDP(sport=1, dport=2)))(rng) / some(rng) for _ in range(COUNT)
    ]
    for packet, seen in zip(packets, inspect(packets, "mark"), strict=True):
        marked = packet.copy()
        setattr(marked, "tos" if IP in packet else "tc", tos(packet) | 3)
        assert seen["bytes"] == bytes(marked).hex()


def test_fragments(inspect):
    rng = random.Random(3)
    cases = [(0, 0, "Whole"), (0, 1, "First"), (5, 1, "Later"), (5, 0, "Later")]
    ports = UDP(sport=7, dport=8)
    packets = [IP(dst="10.0.0.1", frag=offset, flags=more) / ports / some(rng) for offset, more, _ in cases]
    packets += [
        IPv6(dst="::1") / IPv6ExtHdrFragment(offset=offset, m=more) / ports / some(rng) for offset, more, _ in cases
    ]
    for (offset, _, kind), seen in zip(cases * 2, inspect(packets), strict=True):
        assert (seen["fragment"], seen["protocol"]) == (kind, 17)
        assert seen["ports"] == (None if offset else [7, 8])


def container(rng):
    """A PDU Session Container of Release 16 made by scapy, and our expected reading of it."""
    qfi, flag = rng.randrange(64), lambda: rng.randrange(2)
    word, long, sn = (lambda: rng.randrange(1 << 32)), (lambda: rng.randrange(1 << 64)), rng.randrange(1 << 24)
    if flag():
        fields = {"type": 0, "QFI": qfi, "RQI": flag(), "PPP": flag(), "PPI": rng.randrange(8)}
        fields |= {"QMP": flag(), "SNP": flag(), "dlSendTime": long(), "dlQFISeqNum": sn}
        seen = {
            "qfi": qfi,
            "rqi": bool(fields["RQI"]),
            "ppi": fields["PPI"] if fields["PPP"] else None,
            "sending_timestamp": fields["dlSendTime"] if fields["QMP"] else None,
            "qfi_sn": sn if fields["SNP"] else None,
        }
        absent = {"PPI": "PPP", "dlSendTime": "QMP", "dlQFISeqNum": "SNP"}
        side = "dl"
    else:
        fields = {"type": 1, "QFI": qfi, "QMP": flag(), "SNP": flag(), "dlDelayInd": flag(), "ulDelayInd": flag()}
        fields |= {"N3N9DelayInd": flag(), "dlSendTimeRpt": long(), "dlRecvTime": long(), "ulSendTime": long()}
        fields |= {"dlDelayRslt": word(), "ulDelayRslt": word(), "N3N9DelayRslt": word(), "UlQFISeqNum": sn}
        times = [fields["dlSendTimeRpt"], fields["dlRecvTime"], fields["ulSendTime"]]
        seen = {
            "qfi": qfi,
            "timestamps": times if fields["QMP"] else None,
            "dl_delay": fields["dlDelayRslt"] if fields["dlDelayInd"] else None,
            "ul_delay": fields["ulDelayRslt"] if fields["ulDelayInd"] else None,
            "qfi_sn": sn if fields["SNP"] else None,
            "n3_n9_delay": fields["N3N9DelayRslt"] if fields["N3N9DelayInd"] else None,
        }
        absent = {"dlSendTimeRpt": "QMP", "dlRecvTime": "QMP", "ulSendTime": "QMP", "UlQFISeqNum": "SNP"}
        absent |= {"dlDelayRslt": "dlDelayInd", "ulDelayRslt": "ulDelayInd", "N3N9DelayRslt": "N3N9DelayInd"}
        side = "ul"
    for field, gate in absent.items():
        if not fields[gate]:
            del fields[field]
    return GTPPDUSessionContainer(**fields), side, seen


def test_we_read_gtp_u_that_scapy_built(inspect):
    rng = random.Random(4)
    packets, expected = [], []
    for _ in range(COUNT):
        extension, side, seen = container(rng)
        inner = IP(src="10.1.0.1", dst="10.1.0.2", tos=rng.randrange(256)) / UDP(sport=7, dport=8) / some(rng)
        teid = rng.randrange(1 << 32)
        header = GTP_U_Header(
            teid=teid, gtp_type=255, S=rng.randrange(2), seq=rng.randrange(1 << 16), E=1, next_ex=0x85
        )
        packets.append(ip_layer(rng) / UDP(sport=2152, dport=2152) / header / extension / inner)
        expected.append((header, side, seen, inner))
    for (header, side, wanted, inner), seen in zip(expected, inspect(packets), strict=True):
        gtpu = seen["gtpu"]
        assert (gtpu["message_type"], gtpu["teid"]) == (255, header.teid)
        assert gtpu["sequence"] == (header.seq if header.S else None)
        [extension] = gtpu["extensions"]
        assert extension["type"] == 0x85
        assert extension[side] == wanted
        assert (gtpu["inner"]["ecn"], gtpu["inner"]["ports"], gtpu["inner"]["len"]) == (
            inner.tos & 3,
            [7, 8],
            len(inner),
        )


def rebuilt(packet):
    """The packet as scapy rebuilds it from the parsed fields, with its own checksums."""
    packet = packet.copy()
    for layer in (IP, TCP, UDP):
        if layer in packet:
            del packet[layer].chksum
    return bytes(packet)


@pytest.fixture(scope="session")
def ours(capture):
    return {packet.comment.decode(): packet for packet in rdpcap(str(capture))}


def test_scapy_computes_our_checksums(ours):
    for name, packet in ours.items():
        assert rebuilt(packet) == bytes(packet.original), name


def test_scapy_reads_the_tcp_that_we_emit(ours):
    tcp = ours["tcp-accecn1"][TCP]
    assert (tcp.seq, tcp.ack, tcp.window, int(tcp.flags)) == (1000, 2000, 0x1234, 0x150)
    options = [option for option in tcp.options if option[0] != "EOL"]
    assert options == [("Timestamp", (11, 22)), (174, bytes([1, 2, 3, 4, 5, 6, 7, 8, 9]))]
    rewritten = ours["tcp-rewritten"]
    assert (rewritten[IP].tos & 3, int(rewritten[TCP].flags)) == (3, 0x090)
    assert (174, bytes([0x21, 0x22, 0x23, 0x24, 0x25, 0x26, 7, 8, 9])) in rewritten[TCP].options


def test_scapy_reads_the_gtp_u_that_we_emit(ours):
    dl = ours["gtpu-dl-all"]
    assert dl[GTP_U_Header].teid == 0x01020304
    extension = dl[GTPPDUSessionContainer]
    assert (extension.type, extension.QFI, extension.RQI, extension.PPI) == (0, 9, 1, 5)
    assert (extension.dlSendTime, extension.dlQFISeqNum) == (0x0102030405060708, 77)
    ul = ours["gtpu-ul-all"][GTPPDUSessionContainer]
    assert (ul.type, ul.QFI, ul.dlSendTimeRpt, ul.dlRecvTime, ul.ulSendTime) == (1, 5, 1, 2, 3)
    assert (ul.dlDelayRslt, ul.ulDelayRslt, ul.UlQFISeqNum, ul.N3N9DelayRslt) == (4, 5, 6, 7)
    assert ours["gtpu-end-marker"][GTP_U_Header].gtp_type == 254
