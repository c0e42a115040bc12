"""Measures the controller's load: `python -m tests.scale`, in sdn/.

Paths through growing networks, and flows that are set up a second, against scripted switches.
Not a test: it times things.
"""

import asyncio
import tempfile
import time
from pathlib import Path

from tests.peer import Cables
from tests.test_controller import A, B, frame, scene
from tidemark_sdn.lab.figures import quantile
from tidemark_sdn.parser import Ecn
from tidemark_sdn.paths import Graph, select
from tidemark_sdn.topology import Attachment

_FLOWS = 500


def ring_with_chords(size: int) -> Cables:
    """Every switch has four links."""
    cables: Cables = {}
    for number in range(1, size + 1):
        cables[number, 1] = (number % size + 1, 2)
        cables[number, 3] = ((number + 6) % size + 1, 5)
    return cables


def graph_of(cables: Cables) -> Graph:
    """The network as the path selector sees it."""
    graph: dict[int, list[tuple[int, int]]] = {}
    for (first, port), (second, other) in cables.items():
        graph.setdefault(first, []).append((port, second))
        graph.setdefault(second, []).append((other, first))
    return graph


def path_times(size: int) -> list[float]:
    """Seconds for a path from the first switch to each of the others."""
    graph, times = graph_of(ring_with_chords(size)), []
    for destination in range(2, size + 1):
        began_at = time.perf_counter()
        select(graph, 1, Attachment(destination, 6), {})
        times.append(time.perf_counter() - began_at)
    return times


async def set_up(size: int, folder: Path) -> tuple[float, float]:
    """Flows and rules a second."""
    settings = '[discovery]\ninterval = "1 s"\nlifetime = "20 s"\n'
    async with scene(folder, ring_with_chords(size), size, ports=6, settings=settings) as here:
        await asyncio.sleep(3)
        here.plane.inject(1, 6, frame(A, b"\xff" * 6, 0))
        here.plane.inject(size // 2, 6, frame(B, b"\xff" * 6, 0))
        await here.until(lambda: len(here.controller.topology.hosts) == 2)
        began_at = time.monotonic()
        for port in range(_FLOWS):
            here.plane.inject(1, 6, frame(A, B, Ecn.ECT_1, port + 1))
        await here.until(lambda: len(here.controller.flows) == _FLOWS, 60)
        took = time.monotonic() - began_at
        return _FLOWS / took, sum(len(flow.rules) for flow in here.controller.flows) / took


def main() -> None:
    """Prints a table."""
    print("| switches | path p50, ms | p99, ms | PACKET_INs that make a flow, 1/s | rules, 1/s |")
    print("| ---: | ---: | ---: | ---: | ---: |")
    for size in (10, 25, 50, 100, 200):
        times = path_times(size)
        median, worst = (quantile(times, share) * 1e3 for share in (0.5, 0.99))
        rates = "| |"
        # More than 64 at a time are turned away while they say hello; a switch comes again, a scripted one does not.
        if size <= 50:
            with tempfile.TemporaryDirectory() as folder:
                flows, rules = asyncio.run(set_up(size, Path(folder)))
            rates = f"{flows:.0f} | {rules:.0f} |"
        print(f"| {size} | {median:.2f} | {worst:.2f} | {rates}", flush=True)


if __name__ == "__main__":
    main()
