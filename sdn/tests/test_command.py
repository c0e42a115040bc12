"""The command `tidemark` that a laboratory takes its senders from."""

from pathlib import Path

import pytest

from tidemark_sdn.lab.demo import find_tidemark
from tidemark_sdn.lab.isolation import LabError


def test_a_command_that_is_missing_is_not_replaced_by_another(tmp_path: Path) -> None:
    there = tmp_path / "tidemark"
    there.touch()
    assert find_tidemark(there) == there
    with pytest.raises(LabError, match=r"there is no .*gone"):
        find_tidemark(tmp_path / "gone")
