"""One-way delay and loss of a class of traffic: small packets with a codepoint, between two ends that share a clock."""

import argparse
import json
import socket
import struct
import time
from collections.abc import Iterable, Iterator
from pathlib import Path

from tidemark_sdn.parser import Ecn

# Number and sending time (monotonic ns), then padding.
_HEADER = struct.Struct("!QQ")
_SIZE = 100
_INTERVAL = 0.02
_MAX_SIZE = 1500
# Time that the receiver waits for packets still on their way.
_GRACE = 1.0


def due_times(seconds: float, interval: float, burst: float, pause: float) -> Iterator[float]:
    """Times of packets from the start, at an interval, with a pause after each burst if there are bursts."""
    began, number = 0.0, 0
    while (due := began + number * interval) < seconds:
        if burst and due - began >= burst:
            began, number = began + burst + pause, 0
            continue
        yield due
        number += 1


def send(address: str, port: int, ecn: Ecn, size: int, times: Iterable[float]) -> None:
    """Sends a packet at each of these times and prints their number."""
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sender.setsockopt(socket.IPPROTO_IP, socket.IP_TOS, int(ecn))
    begin, number = time.monotonic(), 0
    for due in times:
        time.sleep(max(0.0, begin + due - time.monotonic()))
        sender.sendto(_HEADER.pack(number, time.monotonic_ns()).ljust(size, b"\0"), (address, port))
        number += 1
    print(json.dumps({"sent": number}))


def receive(port: int, seconds: float, output: Path) -> None:
    """Writes number, sending time, delay in seconds and codepoint of every packet."""
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
    receiver.bind(("", port))
    deadline = time.monotonic() + seconds + _GRACE
    # Line by line, because others read along.
    with output.open("w", encoding="utf-8", buffering=1) as file:
        file.write("number,sent_at,delay,ecn\n")
        while (left := deadline - time.monotonic()) > 0:
            receiver.settimeout(left)
            try:
                data, control, _, _ = receiver.recvmsg(_MAX_SIZE, 64)
            except TimeoutError:
                break
            now = time.monotonic_ns()
            number, sent_at = _HEADER.unpack_from(data)
            tos = next((value[0] for _, kind, value in control if kind == socket.IP_TOS), 0)
            file.write(f"{number},{sent_at / 1e9:.6f},{(now - sent_at) / 1e9:.6f},{tos & 3}\n")


def _main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("role", choices=("send", "receive"))
    parser.add_argument("--address", default="")
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--ecn", type=int, default=0)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--size", type=int, default=_SIZE)
    parser.add_argument("--interval", type=float, default=_INTERVAL)
    parser.add_argument("--burst", type=float, default=0.0)
    parser.add_argument("--pause", type=float, default=0.0)
    parser.add_argument("--output", type=Path, default=Path("probe.csv"))
    arguments = parser.parse_args()
    if arguments.role == "send":
        times = due_times(arguments.seconds, arguments.interval, arguments.burst, arguments.pause)
        send(arguments.address, arguments.port, Ecn(arguments.ecn), arguments.size, times)
    else:
        receive(arguments.port, arguments.seconds, arguments.output)


if __name__ == "__main__":
    _main()
