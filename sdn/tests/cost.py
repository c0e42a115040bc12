"""What a packet costs the program of a port: `python -m tests.cost`, in sdn/, as root.

The kernel runs it over one packet again and again (BPF_PROG_TEST_RUN) and says the mean time.
Not a test: it times things.
"""

import ctypes
import tempfile
from pathlib import Path

from tests.test_parser import ipv4
from tidemark_sdn.agent import program
from tidemark_sdn.agent.program import Program, Settings
from tidemark_sdn.parser import Ecn

_REPEAT = 200_000


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


def main() -> None:
    """Prints a table."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "port.o"
        program.compile_program(file)
        loaded = Program(file)
    settings = {
        "classifies only": Settings(l4s_class=0x10002, classic_class=0x10003),
        "marks": Settings(
            l4s_class=0x10002,
            classic_class=0x10003,
            marking=True,
            virtual_rate=1e10,
            ramp_low=0.0008,
            ramp_high=0.0012,
            coupled=0.2,
            classic=0.01,
            lifetime=60.0,
        ),
    }
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


if __name__ == "__main__":
    main()
