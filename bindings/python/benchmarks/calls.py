"""Compares the processor time of a law and a controller in Python with that of the ones in Rust.

    python bindings/python/benchmarks/calls.py [rounds]

Runs of both kinds take turns, and the least time of each counts: what else the machine does only adds to it.
"""

import sys
import time
from collections.abc import Callable

import tidemark

SCENARIO = "scenarios/first-look.toml"
LENGTH = {"duration": "20 s"}
THRESHOLD_MS = 5.3


class Step:
    """A copy of the law `step`, so that both runs agree in every packet."""

    asked = 0

    def arrive(self, arrival: tidemark.Arrival) -> float | None:
        """Marks L4S packets behind a queue whose oldest packet is older than the threshold."""
        Step.asked += 1
        if arrival.flow_class == "l4s":
            return float(arrival.head_of_line_ms > THRESHOLD_MS)
        return None


class Aimd(tidemark.Controller):
    """Grows by a segment per round trip; shrinks by half a byte per marked byte."""

    asked = 0

    def on_ack(self, ack: tidemark.Ack) -> None:
        """Grows by what was acknowledged, and shrinks by what was marked."""
        Aimd.asked += 1
        self.window = max(2 * self.mss, self.window + self.mss * ack.acked / self.window - ack.marked / 2)

    def on_congestion(self, now_s: float, signal: str, in_flight: int) -> None:
        """Halves the window."""
        self.window = max(2 * self.mss, self.window / 2)


def least(rounds: int, *runs: Callable[[], tidemark.Result]) -> list[tuple[float, int]]:
    """Gives the minimum processor time of each run in seconds, and the number of packets sent."""
    times: list[list[float]] = [[] for _ in runs]
    packets = [0] * len(runs)
    for _ in range(rounds):
        for index, run in enumerate(runs):
            begin = time.process_time()
            result = run()
            times[index].append(time.process_time() - begin)
            packets[index] = sum(flow.sent_packets for flow in result.summary.flows)
    return [(min(of_run), sent) for of_run, sent in zip(times, packets, strict=True)]


def main() -> None:
    """Prints the measurements."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    step = tidemark.law("step", threshold=f"{THRESHOLD_MS:g} ms")
    (rust, _), (python, _) = least(
        rounds,
        lambda: tidemark.run(SCENARIO, set=LENGTH, law=step),
        lambda: tidemark.run(SCENARIO, set=LENGTH, law=Step),
    )
    calls = Step.asked // rounds
    print(f"law `step`: {rust:.3f} s in Rust, {python:.3f} s in Python, which was asked {calls} times:", end=" ")
    print(f"{(python - rust) / calls * 1e6:.2f} us more a call")
    (rust, sent), (python, of_python) = least(
        rounds,
        lambda: tidemark.run(SCENARIO, set=LENGTH | {"flow.*.sender.controller": "reno"}),
        lambda: tidemark.run(SCENARIO, set=LENGTH, controllers={"*": Aimd}),
    )
    calls = Aimd.asked // rounds
    print(f"controllers of all flows: {rust:.3f} s and {sent} packets with `reno` in Rust,", end=" ")
    print(f"{python:.3f} s and {of_python} packets with one in Python, which was called {calls} times:", end=" ")
    # The runs differ: a packet costs what it costs with the controller in Rust, and the rest is the calls'.
    print(f"{(python - rust * of_python / sent) / calls * 1e6:.2f} us more a call")


if __name__ == "__main__":
    main()
