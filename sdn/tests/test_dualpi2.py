"""The choice between the kernel's DualPI2 and the program, by what tc answers."""

from collections.abc import Sequence

import pytest

from tests.lab import needs_lab
from tidemark_sdn.agent import dualpi2
from tidemark_sdn.agent.protocol import Marking
from tidemark_sdn.agent.shaper import ROOT_CLASS

MARKING = Marking(3.92e7, 0.0008, 0.0012, 0.015, 0.16, 3.2, 2.0)


class FakeTc:
    """Answers as tc would, and remembers what it was asked."""

    def __init__(self, status: int, said: str = "") -> None:
        self._answer = status, said
        self.asked: list[Sequence[str]] = []

    def __call__(self, command: Sequence[str]) -> tuple[int, str]:
        self.asked.append(command)
        return self._answer


def test_where_the_kernel_has_it_it_is_used() -> None:
    tc = FakeTc(0)
    choice = dualpi2.choose(tc)
    assert choice.dualpi2
    assert str(choice) == "sch_dualpi2: kernel and tc have it"
    # The try leaves nothing behind: it is made in a namespace of its own.
    assert tc.asked[0][:2] == ["unshare", "--net"]


@pytest.mark.parametrize("said", ["Error: Specified qdisc kind is unknown.", 'Unknown qdisc "dualpi2", hence ...'])
def test_where_it_is_missing_the_program_is_used_and_says_why(said: str) -> None:
    choice = dualpi2.choose(FakeTc(2, said))
    assert not choice.dualpi2
    assert str(choice) == f"tc-BPF program: no sch_dualpi2 here ({said})"


def test_what_it_cannot_do_is_left_to_the_program() -> None:
    assert dualpi2.can_do(MARKING, None)
    assert not dualpi2.can_do(MARKING, 46)
    assert not dualpi2.can_do(None, None)


def test_it_is_told_the_settings_of_the_sound_mode() -> None:
    tc = FakeTc(0)
    dualpi2.install("line", ROOT_CLASS, MARKING, tc)
    assert " ".join(tc.asked[0]) == (
        "tc qdisc replace dev line parent 1:fffe handle d2: dualpi2"
        " target 15000us alpha 0.16 beta 3.2 coupling_factor 2 step_thresh 1000us"
    )
    with pytest.raises(OSError, match="line: tc refused dualpi2: no"):
        dualpi2.install("line", ROOT_CLASS, MARKING, FakeTc(2, "no"))


@needs_lab
def test_the_real_tc_is_asked() -> None:
    choice = dualpi2.choose()
    assert choice.dualpi2 or "no sch_dualpi2 here" in choice.why
