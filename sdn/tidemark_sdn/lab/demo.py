"""`tidemark-sdn demo`: the paper's network on this machine, a table and a report."""

import os
import shutil
import signal
from pathlib import Path
from typing import NoReturn

from tidemark_sdn.lab.experiment import Experiment, Laboratory
from tidemark_sdn.lab.figures import conditions, table
from tidemark_sdn.lab.isolation import LabError
from tidemark_sdn.lab.report import write_report
from tidemark_sdn.units import format_rate


def find_tidemark(given: Path | None) -> Path:
    """The command `tidemark`, which provides the L4S ends. A given path is never replaced by another one."""
    if given is not None:
        if not given.is_file():
            raise LabError(f"--tidemark: there is no {given}")
        return given.resolve()
    built = Path(__file__).parents[3] / "target" / "release" / "tidemark"
    here = Path("target/release/tidemark")
    for candidate in (built, here, shutil.which("tidemark")):
        if candidate and Path(candidate).is_file():
            return Path(candidate).resolve()
    raise LabError("the command `tidemark`, which has the L4S ends, is missing: run `make build`, or give --tidemark")


def run_demo(experiment: Experiment) -> None:
    """Runs the demo, prints the table and names the report."""

    def stop(_signal: int, _frame: object) -> NoReturn:
        raise KeyboardInterrupt

    # Process 1 of a process namespace receives only signals that it handles.
    signal.signal(signal.SIGTERM, stop)
    lines = f"{experiment.l4s} L4S and {experiment.classic} classic senders"
    print(f"two switches, {lines}, {format_rate(experiment.rate)}, mode {experiment.mode}: a moment", flush=True)
    laboratory = Laboratory(experiment)
    try:
        laboratory.wait_until_ready()
        outcome = laboratory.run()
    finally:
        laboratory.close()
    print(table(outcome))
    print(f"report: {write_report(outcome)}")
    print(conditions(outcome.load_before, os.cpu_count() or 1))
