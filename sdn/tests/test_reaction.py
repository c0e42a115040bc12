"""Reactions from times of sending: a queue that is worked out again."""

import pytest

from tidemark_sdn.lab.probe import due_times
from tidemark_sdn.lab.reaction import Crossing, crossing_of, describe, reactions

# A packet of 1442 bytes takes the line a millisecond.
LINE = Crossing(1_442_000.0, 4 * 1442.0)


def test_a_reaction_is_the_time_from_the_crossing_to_the_first_mark() -> None:
    # Two packets a millisecond: the queue grows by one packet a millisecond and has four after eight.
    burst = [index * 0.0005 for index in range(40)]
    packets = [(sent_at, sent_at >= 0.010) for sent_at in burst]
    assert reactions(packets, LINE, 0.3) == [pytest.approx(0.006, abs=0.0011)]
    again = packets + [(1.0 + sent_at, ce) for sent_at, ce in packets]
    assert len(reactions(again, LINE, 0.3)) == 2
    # Nothing is said of a burst without marks; one that was marked before it crossed was not late.
    assert reactions([(sent_at, False) for sent_at in burst], LINE, 0.3) == []
    assert reactions([(sent_at, True) for sent_at in burst], LINE, 0.3) == [0.0]
    assert describe([]) == "no reaction was seen"


def test_each_mode_has_its_own_queue() -> None:
    assert crossing_of("literal", 8e6, 30_000, 0.8) == Crossing(1e6, 24_000.0)
    sound = crossing_of("sound", 8e6, 30_000, 0.8)
    assert sound.rate == 0.98e6
    assert sound.threshold == pytest.approx(784.0)


def test_packets_come_in_bursts() -> None:
    times = list(due_times(2.0, 0.25, 0.5, 0.5))
    assert times == [0.0, 0.25, 1.0, 1.25]
    assert len(list(due_times(1.0, 0.25, 0.0, 0.0))) == 4
