"""Runs of the gate: a point under a law with a seed, through the command `tidemark`.

What was run is kept, so that a stopped table goes on.
"""

import concurrent.futures
import dataclasses
import hashlib
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

import points

ROOT = pathlib.Path(__file__).parents[2]
TIMEOUT_S = 900
"""Longest run. The widest cell takes a tenth of it on one processor."""
SLOT_MS = 0.5
"""Slot of a cell at 30 kHz."""
GROUPS = {20: 13, 40: 14, 100: 18}
"""Resource block groups by bandwidth in MHz: no more UEs share a slot (TS 38.214 table 5.1.2.2.1-1)."""
DOWNLINK_SHARE = (7 + 6 / 14) / 10
"""Part of the default pattern that is downlink: seven slots and six symbols of ten slots."""


@dataclasses.dataclass(frozen=True)
class Law:
    """A program and its marker. Runs are shared by those that are equal."""

    name: str
    program: pathlib.Path
    marker: tuple[str, ...]

    def options(self):
        """Overrides of the command."""
        return [word for assignment in self.marker for word in ("--set", assignment)]


class Runner:
    """Runs on several processors, with a folder for what they measured."""

    def __init__(self, folder, traces, jobs):
        self.folder, self.traces, self.jobs = folder, traces, jobs
        self.digests, self.shares = {}, {}

    def table(self, cases, laws, seeds):
        """Rows of points x laws x seeds, in this order. Points on drives are left out where there are no traces."""
        cases = self.with_traces(cases)
        wanted = [(case, law, seed) for case in cases for law in laws for seed in seeds]
        for law in laws:
            self.prepare(law)
        with concurrent.futures.ThreadPoolExecutor(self.jobs) as pool:
            rows = []
            # Seed by seed, so that one that was stopped has whole ones; the longest first, so that no processor waits for the last.
            order = sorted(range(len(wanted)), key=lambda index: (wanted[index][2], -cost(wanted[index][0])))
            futures = {index: pool.submit(self.run, *wanted[index]) for index in order}
            try:
                for index in range(len(wanted)):
                    rows.append(futures[index].result())
            except BaseException:
                pool.shutdown(cancel_futures=True)
                raise
        return rows

    def with_traces(self, cases):
        """Points that can be run here."""
        there = [case for case in cases if not case.trace or (self.traces / case.trace.partition(":")[0]).is_file()]
        if len(there) < len(cases):
            absent = len(cases) - len(there)
            print(f"SKIPPED: {absent} points on drives, whose traces are not in {self.traces}", file=sys.stderr)
        return there

    def prepare(self, law):
        """Learns the digest of a program, and how many UEs share a slot by its default: one where it has no such key."""
        if law.program in self.digests:
            return
        if not law.program.is_file():
            sys.exit(f"{law.program} is absent: cargo build --release, or name a program with --tidemark")
        self.digests[law.program] = hashlib.sha256(law.program.read_bytes()).hexdigest()[:16]
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "gate.toml")
            file.write_text(points.load("choosing")[0].scenario(1, self.traces))
            resolved = call([law.program, "check", "--resolved", file])
        lines = [line.partition("=") for line in resolved.splitlines()]
        self.shares[law.program] = next((int(value) for key, _, value in lines if key.strip() == "ues_per_slot"), 1)

    def round_ms(self, law, case):
        """Round of the scheduler: the time after which every UE has had a turn."""
        together = min(self.shares[law.program], GROUPS[case.bandwidth_mhz])
        return -(-case.ues // together) * SLOT_MS / DOWNLINK_SHARE

    def run(self, case, law, seed):
        """Row of one run, which is kept."""
        text = case.scenario(seed, self.traces)
        key = hashlib.sha256("\n".join([text, *law.marker]).encode()).hexdigest()[:24]
        kept = self.folder / self.digests[law.program] / f"{key}.json"
        try:
            row = json.loads(kept.read_text())
        except FileNotFoundError:
            with tempfile.TemporaryDirectory() as folder:
                file = pathlib.Path(folder, "gate.toml")
                file.write_text(text)
                call([law.program, "run", file, "--out", f"{folder}/out", *law.options()])
                row = measured(json.loads(pathlib.Path(folder, "out/summary.json").read_text()))
            kept.parent.mkdir(parents=True, exist_ok=True)
            partial = kept.with_suffix(f".{os.getpid()}-{seed}-{id(row)}")
            partial.write_text(json.dumps(row))
            partial.replace(kept)
        return {"point": case, "law": law.name, "seed": seed, "round_ms": self.round_ms(law, case), **row}


def call(command):
    """Output of a command. Its error is the error of this one."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        sys.exit(f"{' '.join(map(str, command))}: not done after {TIMEOUT_S} s")
    if done.returncode:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stderr}")
    return done.stdout


def cost(case):
    """Number that grows with the time of a run: packets, and slots of each UE."""
    return case.seconds * (case.bandwidth_mhz * case.layers / 4 + case.ues)


def measured(summary):
    """Figures of a run: means over the flows of each kind. What a run does not have is None."""
    flows = summary["flows"]
    kinds = {"l4s": points.L4S, "classic": points.CLASSIC, "cubic": (points.BESIDE,)}
    kinds = {kind: [flow for flow in flows if flow["controller"] in names] for kind, names in kinds.items()}
    rates = [flow["throughput_mbps"] for flow in flows]
    row = {"cell_mbps": summary["cell"]["throughput_mbps"], "flows": len(flows)}
    for kind in ("l4s", "cubic"):
        row[f"{kind}_mbps"] = mean(flow["throughput_mbps"] for flow in kinds[kind])
    for kind in ("l4s", "classic"):
        for figure in ("mean", "p99"):
            row[f"{kind}_{figure}_ms"] = mean(flow["queue_ms"][figure] for flow in kinds[kind] if flow["queue_ms"])
        marked, sent = (sum(flow[count] for flow in kinds[kind]) for count in ("marked", "sent_packets"))
        row[f"{kind}_ce"] = share(marked, sent)
    for figure in ("mean", "p99"):
        row[f"{figure}_ms"] = mean(flow["queue_ms"][figure] for flow in flows if flow["queue_ms"])
    row["ratio"] = share(row["l4s_mbps"], row["cubic_mbps"])
    row["least"] = share(min(rates), statistics.fmean(rates)) if len(rates) > 1 else None
    squares = len(rates) * sum(rate**2 for rate in rates)
    row["jain"] = share(sum(rates) ** 2, squares) if len(rates) > 1 else None
    return row


def mean(values):
    """Mean, or None of nothing."""
    values = list(values)
    return statistics.fmean(values) if values else None


def share(part, whole):
    """Part of a whole, or None of nothing."""
    return part / whole if part is not None and whole else None
