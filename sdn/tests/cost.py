"""Measures the cost of a packet at the program of a port: `unshare --net python -m tests.cost`, in sdn/, as root.

The kernel runs it over one packet again and again (BPF_PROG_TEST_RUN) and says the mean time.
Not a test: it times things.
"""

import ctypes
import subprocess
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.test_data_plane import Cable
from tests.test_parser import ipv4
from tidemark_sdn.agent import program
from tidemark_sdn.agent.program import Program, Settings
from tidemark_sdn.agent.shaper import Kind, QueueSettings
from tidemark_sdn.parser import Ecn

_REPEAT = 200_000
_REPEAT_RATE, _PACKETS = 5, 100_000
# More than a sender can fill, so that nothing waits.
_LINE_RATE = 5e10
_MARKING = Settings(
    l4s_class=Kind.L4S.class_id,
    classic_class=Kind.CLASSIC.class_id,
    marking=True,
    virtual_rate=_LINE_RATE,
    ramp_low=0.0008,
    ramp_high=0.0012,
    coupled=0.2,
    classic=0.01,
    lifetime=60.0,
)


class _Options(ctypes.Structure):
    """struct bpf_test_run_opts of libbpf."""

    _fields_ = (
        ("size", ctypes.c_size_t),
        ("data_in", ctypes.c_void_p),
        ("data_out", ctypes.c_void_p),
        ("data_size_in", ctypes.c_uint32),
        ("data_size_out", ctypes.c_uint32),
        ("context_in", ctypes.c_void_p),
        ("context_out", ctypes.c_void_p),
        ("context_size_in", ctypes.c_uint32),
        ("context_size_out", ctypes.c_uint32),
        ("result", ctypes.c_uint32),
        ("repeat", ctypes.c_int),
        ("duration", ctypes.c_uint32),
        ("flags", ctypes.c_uint32),
        ("cpu", ctypes.c_uint32),
        ("batch_size", ctypes.c_uint32),
    )


def nanoseconds(loaded: Program, frame: bytes) -> int:
    """Mean time of a packet."""
    data = ctypes.create_string_buffer(frame, len(frame))
    options = _Options(
        size=ctypes.sizeof(_Options), data_in=ctypes.addressof(data), data_size_in=len(frame), repeat=_REPEAT
    )
    run = ctypes.CDLL("libbpf.so.1", use_errno=True).bpf_prog_test_run_opts
    if run(loaded.fd, ctypes.byref(options)) != 0:
        raise OSError(ctypes.get_errno(), "the kernel did not run the program")
    return int(options.duration)


def processor_time(cable: Cable) -> float:
    """Seconds of this process, kernel's work included, for a packet of 60 bytes from a socket to the other end."""
    frame = bytes.fromhex("020000000002020000000001") + b"\x08\x00" + ipv4(Ecn.ECT_1, payload=bytes(40))
    times = []
    for _ in range(_REPEAT_RATE):
        began_at = time.process_time()
        for _ in range(_PACKETS):
            cable.sender.send(frame)
        times.append((time.process_time() - began_at) / _PACKETS)
    return min(times)


def rates(folder: Path) -> None:
    """Prints what a packet costs from a socket to the other end of a veth, in three steps."""
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    cable = Cable(folder)
    # Nobody reads: what has arrived is dropped.
    cable.receiver.close()
    cable.shaper.clear()
    print("\n| port | us a packet | packets a second, one sender |\n| --- | ---: | ---: |")

    def line(name: str) -> None:
        cost = processor_time(cable)
        print(f"| {name} | {cost * 1e6:.2f} | {1 / cost:.0f} |")

    line("nothing")
    cable.shaper.attach(cable.program.fd)
    cable.program.write(_MARKING)
    line("program")
    cable.shaper.set_rate(_LINE_RATE)
    for kind in Kind:
        cable.shaper.set_queue(kind, QueueSettings(_LINE_RATE / 2, kind.value, 1_000_000))
    line("program and HTB")
    cable.close()


def main() -> None:
    """Prints two tables."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "port.o"
        program.compile_program(file)
        loaded = Program(file)
    settings = {"classifies only": replace(_MARKING, marking=False), "marks": _MARKING}
    print("| program | L4S, ns | classic, ns | other, ns |\n| --- | ---: | ---: | ---: |")
    for name, what in settings.items():
        loaded.write(what)
        ethernet = bytes(12) + b"\x08\x00"
        frames = [ethernet + ipv4(tos, payload=bytes(1400)) for tos in (Ecn.ECT_1, Ecn.ECT_0)]
        frames.append(bytes(12) + b"\x08\x06" + bytes(46))
        # The least of five: what else the machine does only adds to it.
        times = [min(nanoseconds(loaded, frame) for _ in range(5)) for frame in frames]
        print(f"| {name} | {' | '.join(map(str, times))} |")
    loaded.close()
    with tempfile.TemporaryDirectory() as folder:
        rates(Path(folder))


if __name__ == "__main__":
    main()
