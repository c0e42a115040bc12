"""The command `tidemark` that a laboratory takes its senders from, and what it says of the machine."""

from pathlib import Path

import pytest

from tidemark_sdn.cli import main
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


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["demo", "--round-trip", "10"], "argument --round-trip: '10' is not a number with one of the units"),
        (["demo", "--l4s-size", "10 s"], "argument --l4s-size: '10 s' is not a number with one of the units"),
        (["measure", "--rate", "20"], "argument --rate: '20' is not a number with one of the units"),
    ],
)
def test_a_quantity_without_its_unit_is_refused_by_the_arguments_name(
    arguments: list[str], says: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.argv", ["tidemark-sdn", *arguments])
    with pytest.raises(SystemExit) as ended:
        main()
    assert ended.value.code == 2 and says in capsys.readouterr().err


def test_a_demo_without_senders_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark_sdn.cli.enter", lambda _: None)
    monkeypatch.setattr("sys.argv", ["tidemark-sdn", "demo", "--l4s", "0", "--classic", "0"])
    with pytest.raises(SystemExit, match=r"--l4s, --classic: .* at least"):
        main()
