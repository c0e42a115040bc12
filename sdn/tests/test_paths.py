"""Path selection, against networks that are small enough to see and ones that are made at random."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tidemark_sdn.paths import Graph, Path, select, simple_paths
from tidemark_sdn.topology import Attachment

# A square with a diagonal from 1 to 4: ports are the numbers of the switches that they lead to.
SQUARE = {1: [(2, 2), (3, 3)], 2: [(1, 1), (4, 4)], 3: [(1, 1), (4, 4)], 4: [(2, 2), (3, 3)]}
HOST = Attachment(4, 9)


def hops(*ports: tuple[int, int]) -> Path:
    return tuple(Attachment(*port) for port in ports)


def test_all_simple_paths_shortest_first() -> None:
    graph = SQUARE | {1: [(2, 2), (3, 3), (4, 4)]}
    assert list(simple_paths(graph, 1, HOST)) == [
        hops((1, 4), (4, 9)),
        hops((1, 2), (2, 4), (4, 9)),
        hops((1, 3), (3, 4), (4, 9)),
    ]


def test_the_least_loaded_of_the_shortest() -> None:
    loads = {Attachment(1, 2): 0.5, Attachment(3, 4): 0.4, Attachment(4, 9): 0.9}
    assert select(SQUARE, 1, HOST, loads) == hops((1, 3), (3, 4), (4, 9))
    # A longer path is not taken, however idle.
    assert select(SQUARE | {1: [(4, 4), (2, 2)]}, 1, HOST, {Attachment(1, 4): 1.0}) == hops((1, 4), (4, 9))


def test_where_there_is_no_path() -> None:
    assert select({1: [(2, 2)]}, 1, HOST, {}) is None
    assert select({}, 4, HOST, {}) == (HOST,)


@st.composite
def graphs(draw: st.DrawFn) -> Graph:
    size = draw(st.integers(1, 6))
    pairs = draw(st.sets(st.tuples(st.integers(1, size), st.integers(1, size))))
    return {
        switch: [(other, other) for first, other in sorted(pairs) if first == switch and other != switch]
        for switch in range(1, size + 1)
    }


def brute_force(graph: Graph, source: int, destination: int) -> set[tuple[int, ...]]:
    """Every order of every choice of switches that is a walk."""
    inner = [switch for switch in graph if switch not in (source, destination)]
    walks: set[tuple[int, ...]] = {(source,)} if source == destination else set()
    for length in range(len(inner) + 1):
        for choice in itertools.permutations(inner, length):
            walk = (source, *choice, destination)
            edges = itertools.pairwise(walk)
            if source != destination and all(any(to == b for _, to in graph.get(a, ())) for a, b in edges):
                walks.add(walk)
    return walks


@given(graphs(), st.integers(1, 6), st.integers(1, 6))
def test_simple_paths_are_all_of_them(graph: Graph, source: int, destination: int) -> None:
    if source not in graph or destination not in graph:
        return
    found = list(simple_paths(graph, source, Attachment(destination, 9)))
    walks = [tuple(hop.datapath_id for hop in path) for path in found]
    assert len(walks) == len(set(walks))
    assert set(walks) == brute_force(graph, source, destination)
    assert [len(walk) for walk in walks] == sorted(len(walk) for walk in walks)


@pytest.mark.parametrize("size", [50])
def test_a_full_mesh_of_fifty_is_no_trouble(size: int) -> None:
    graph = {a: [(b, b) for b in range(size) if b != a] for a in range(size)}
    assert select(graph, 0, Attachment(size - 1, 99), {}) == hops((0, size - 1), (size - 1, 99))
