"""The tc-BPF program of a port: compiled by clang, loaded and configured through libbpf."""

import ctypes
import ctypes.util
import functools
import os
import shutil
import struct
import subprocess
import sysconfig
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

SOURCE = Path(__file__).with_name("port.bpf.c")

# Layouts of port.bpf.c.
_SETTINGS = struct.Struct("=IIIIQQQQQQQ")
_COUNTERS = struct.Struct("=QQQQQQ")
_VIRTUAL_QUEUE = struct.Struct("=IIQQQQ")

ONE = 1 << 32
ANY_DSCP = 64

NANOSECONDS = 1e9


class ProgramError(Exception):
    """The program could not be compiled, loaded or reached."""


@dataclass(frozen=True)
class Settings:
    """Parameters of the program. Times in seconds, rates in bits per second, probabilities from 0 to 1."""

    l4s_class: int = 0
    classic_class: int = 0
    dscp: int | None = None
    marking: bool = False
    virtual_rate: float = 0.0
    ramp_low: float = 0.0
    ramp_high: float = 0.0
    coupled: float = 0.0
    classic: float = 0.0
    # Probabilities that the agent has not renewed for this long are ignored.
    lifetime: float = 1.0

    def pack(self) -> bytes:
        """Bytes of `struct settings`."""
        return _SETTINGS.pack(
            self.l4s_class,
            self.classic_class,
            ANY_DSCP if self.dscp is None else self.dscp,
            self.marking,
            int(self.virtual_rate / 8),
            int(self.ramp_low * NANOSECONDS),
            int(self.ramp_high * NANOSECONDS),
            min(ONE, int(self.coupled * ONE)),
            min(ONE, int(self.classic * ONE)),
            time.monotonic_ns(),
            int(self.lifetime * NANOSECONDS),
        )


@dataclass(frozen=True)
class Counters:
    """Counters of the program for one kind of traffic."""

    packets: int = 0
    bytes: int = 0
    came_marked: int = 0
    ramp_marked: int = 0
    coupled_marked: int = 0
    dropped: int = 0


@dataclass(frozen=True)
class Reaction:
    """Monotonic ns of the first packet at `ramp_low` or above, and of the first mark; 0 for not yet."""

    first_over: int
    first_mark: int


@functools.cache
def _libbpf() -> ctypes.CDLL:
    try:
        library = ctypes.CDLL("libbpf.so.1", use_errno=True)
    except OSError:
        raise ProgramError("libbpf.so.1 is missing: install libbpf1 (on Debian it comes with iproute2)") from None
    pointer, text, number = ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int
    for name, result, arguments in [
        ("bpf_object__open_file", pointer, [text, pointer]),
        ("bpf_object__load", number, [pointer]),
        ("bpf_object__close", None, [pointer]),
        ("bpf_object__find_program_by_name", pointer, [pointer, text]),
        ("bpf_program__fd", number, [pointer]),
        ("bpf_object__find_map_fd_by_name", number, [pointer, text]),
        ("bpf_map_update_elem", number, [number, pointer, pointer, ctypes.c_uint64]),
        ("bpf_map_lookup_elem", number, [number, pointer, pointer]),
        ("libbpf_num_possible_cpus", number, []),
        ("libbpf_set_print", pointer, [pointer]),
    ]:
        function = getattr(library, name)
        function.restype, function.argtypes = result, arguments
    library.libbpf_set_print(None)
    return library


def compile_program(output: Path) -> None:
    """Compiles the program with clang."""
    clang = shutil.which("clang")
    if clang is None:
        raise ProgramError("clang is missing: install clang and libbpf-dev, or give --program")
    # Debian keeps the architecture's asm/ here, where -target bpf does not look.
    multiarch = sysconfig.get_config_var("MULTIARCH")
    include = [f"-I/usr/include/{multiarch}"] if multiarch else []
    command = [clang, "-O2", "-g", "-Wall", "-Werror", "-target", "bpf", *include, "-c", str(SOURCE), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ProgramError(f"clang did not compile {SOURCE.name}: {done.stderr.strip()}")


class Program:
    """One loaded instance, of one port."""

    def __init__(self, file: Path) -> None:
        library = _libbpf()
        self._object = library.bpf_object__open_file(os.fsencode(file), None)
        if not self._object:
            raise ProgramError(f"{file}: not a compiled program: {os.strerror(ctypes.get_errno())}")
        if library.bpf_object__load(self._object) != 0:
            error = ctypes.get_errno()
            library.bpf_object__close(self._object)
            raise ProgramError(f"{file}: the kernel refused the program: {os.strerror(error)}")
        self.fd: int = library.bpf_program__fd(library.bpf_object__find_program_by_name(self._object, b"mark"))
        self._maps = {
            name: library.bpf_object__find_map_fd_by_name(self._object, name.encode())
            for name in ("settings_map", "counters_map", "virtual_queue_map")
        }
        # A per-CPU map gives a value for each possible CPU.
        self._cpus: int = library.libbpf_num_possible_cpus()

    def close(self) -> None:
        """Closes the instance; the kernel keeps it where it is attached."""
        _libbpf().bpf_object__close(self._object)
        self._object = None

    def write(self, settings: Settings) -> None:
        """Changes the settings from the next packet on."""
        self._update("settings_map", settings.pack())

    def counters(self, kind: int) -> Counters:
        """Counters of L4S (0), classic (1) or other (2) traffic."""
        value = self._lookup("counters_map", kind, _COUNTERS.size * self._cpus)
        columns = zip(*_COUNTERS.iter_unpack(value), strict=True)
        return Counters(*(sum(column) for column in columns))

    def reaction(self) -> Reaction:
        """Times of the first crossing and mark since `forget_reaction`."""
        *_, first_over, first_mark = _VIRTUAL_QUEUE.unpack(self._lookup("virtual_queue_map", 0, _VIRTUAL_QUEUE.size))
        return Reaction(first_over, first_mark)

    def forget_reaction(self) -> None:
        """Empties the virtual queue and its times."""
        self._update("virtual_queue_map", bytes(_VIRTUAL_QUEUE.size))

    def _update(self, name: str, value: bytes) -> None:
        index = ctypes.c_uint32(0)
        if _libbpf().bpf_map_update_elem(self._maps[name], ctypes.byref(index), value, 0) != 0:
            raise ProgramError(f"{name}: {os.strerror(ctypes.get_errno())}")

    def _lookup(self, name: str, index: int, size: int) -> bytes:
        value = ctypes.create_string_buffer(size)
        if _libbpf().bpf_map_lookup_elem(self._maps[name], ctypes.byref(ctypes.c_uint32(index)), value) != 0:
            raise ProgramError(f"{name}: {os.strerror(ctypes.get_errno())}")
        return value.raw


def compiled() -> Path:
    """Compiles the program into a temporary folder."""
    output = Path(tempfile.mkdtemp(prefix="tidemark-sdn-")) / "port.bpf.o"
    compile_program(output)
    return output
