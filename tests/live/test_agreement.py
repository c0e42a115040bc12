"""The simulator and the live cell say the same of the same scenario."""

import pytest

import agreement

BRIEFLY = "UDP Prague, walking, l4span"
# There the marks of one run are a matter of chance, simulated or live: docs/live.md has the figures.
BY_CHANCE = {"SCReAM, still, l4span": ["marks"]}


@pytest.mark.parametrize("case", [case if case == BRIEFLY else pytest.param(case, marks=pytest.mark.full) for case in agreement.CASES])
def test_live_agrees_with_simulated(case):
    simulated, live, _ = agreement.both(case)
    print(case, simulated, live)
    wrong = [what for what in agreement.disagreements(simulated, live) if what not in BY_CHANCE.get(case, [])]
    assert not wrong, (simulated, live)
