"""Linux's own DualPI2 (sch_dualpi2, kernel 6.17 and later), which replaces the program if it is available."""

import subprocess
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from tidemark_sdn.agent.protocol import Marking

# Runs a command and gives its status and error output.
Runner = Callable[[Sequence[str]], tuple[int, str]]

_HANDLE = "d2:"


@dataclass(frozen=True)
class DataPlane:
    """What marks at the ports of this machine, and why."""

    dualpi2: bool
    why: str

    def __str__(self) -> str:
        return f"{'sch_dualpi2' if self.dualpi2 else 'tc-BPF program'}: {self.why}"


def run(command: Sequence[str]) -> tuple[int, str]:
    """Runs a command to its end."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError as error:
        return 127, f"{command[0]}: {error.strerror}"
    return done.returncode, done.stderr.strip()


def choose(runner: Runner = run) -> DataPlane:
    """Tries the qdisc on the loopback of a temporary network namespace."""
    status, said = runner(["unshare", "--net", "tc", "qdisc", "add", "dev", "lo", "root", "dualpi2"])
    if status == 0:
        return DataPlane(True, "kernel and tc have it")
    return DataPlane(False, f"no sch_dualpi2 here ({said.splitlines()[0] if said else 'tc failed'})")


def can_do(marking: Marking | None, dscp: int | None) -> bool:
    """True if the qdisc can do what is asked, since it classifies only by the ECN field."""
    return marking is not None and dscp is None


def install(device: str, parent: int, marking: Marking, runner: Runner = run) -> None:
    """Puts the qdisc below a class, in place of the class's queue.

    It has a step in the middle of the program's ramp. Its L4S queue marks by its own delay.

    Raises OSError if tc refuses.
    """
    step = (marking.ramp_low + marking.ramp_high) / 2
    settings = [
        *("target", f"{marking.target * 1e6:.0f}us"),
        *("alpha", f"{marking.alpha:g}"),
        *("beta", f"{marking.beta:g}"),
        *("coupling_factor", f"{marking.coupling:.0f}"),
        *("step_thresh", f"{step * 1e6:.0f}us"),
    ]
    place = ["dev", device, "parent", f"{parent >> 16:x}:{parent & 0xFFFF:x}", "handle", _HANDLE]
    status, said = runner(["tc", "qdisc", "replace", *place, "dualpi2", *settings])
    if status != 0:
        raise OSError(f"{device}: tc refused dualpi2: {said}")
