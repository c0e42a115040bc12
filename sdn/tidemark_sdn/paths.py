"""Path selector: lists simple paths, and chooses the least loaded of the shortest."""

from collections.abc import Iterator, Mapping, Sequence
from itertools import islice

from tidemark_sdn.topology import Attachment

# For each switch, its ports to other switches.
Graph = Mapping[int, Sequence[tuple[int, int]]]
# A packet's output ports, switch by switch; the last one leads to the host.
Path = tuple[Attachment, ...]

# Most paths that are compared for one flow. A network of 50 switches can have astronomically many simple paths.
MAX_PATHS = 256


def _distances(graph: Graph, destination: int) -> dict[int, int]:
    """Hops to the destination, from each switch that can reach it."""
    incoming: dict[int, list[int]] = {}
    for switch, edges in graph.items():
        for _, other in edges:
            incoming.setdefault(other, []).append(switch)
    distances, edge = {destination: 0}, [destination]
    while edge:
        following = []
        for switch in edge:
            for other in incoming.get(switch, ()):
                if other not in distances:
                    distances[other] = distances[switch] + 1
                    following.append(other)
        edge = following
    return distances


def simple_paths(graph: Graph, source: int, destination: Attachment) -> Iterator[Path]:
    """Paths without repeated switches, shortest first."""
    distances = _distances(graph, destination.datapath_id)
    if source not in distances:
        return

    def extend(switch: int, hops: tuple[Attachment, ...], seen: frozenset[int], left: int) -> Iterator[Path]:
        if switch == destination.datapath_id:
            if left == 0:
                yield (*hops, destination)
            return
        for port, other in graph.get(switch, ()):
            # Stay within the remaining hops.
            if other not in seen and distances.get(other, left) < left:
                yield from extend(other, (*hops, Attachment(switch, port)), seen | {other}, left - 1)

    for length in range(distances[source], len(distances)):
        yield from extend(source, (), frozenset([source]), length)


def select(graph: Graph, source: int, destination: Attachment, loads: Mapping[Attachment, float]) -> Path | None:
    """The least loaded of the shortest paths, by its busiest port; None if there is no path.

    The port to the host is the same for all and does not count.
    """
    best: tuple[float, Path] | None = None
    for path in islice(simple_paths(graph, source, destination), MAX_PATHS):
        if best and len(path) > len(best[1]):
            break
        candidate = max((loads.get(hop, 0.0) for hop in path[:-1]), default=0.0), path
        best = min(best, candidate) if best else candidate
    return best[1] if best else None
