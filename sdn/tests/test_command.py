"""The command `tidemark` that a laboratory takes its senders from, and what it says of the machine."""

from pathlib import Path

import pytest

from tidemark_sdn.lab.demo import find_tidemark
from tidemark_sdn.lab.figures import conditions
from tidemark_sdn.lab.isolation import LabError


def test_a_command_that_is_missing_is_not_replaced_by_another(tmp_path: Path) -> None:
    there = tmp_path / "tidemark"
    there.touch()
    assert find_tidemark(there) == there
    with pytest.raises(LabError, match=r"there is no .*gone"):
        find_tidemark(tmp_path / "gone")


def test_a_table_says_what_of_it_is_the_machines_and_how_busy_that_was() -> None:
    assert conditions(0.3, 2) == (
        "load average before 0.3 on 2 processors; "
        "tails, losses and shares depend on the machine; the order of the medians does not"
    )
    assert "2 processors: it was busy with other work, so run again; tails" in conditions(1.2, 2)
