#!/usr/bin/env python3
"""Runs parts of `make test` and prints the time of each. Standard library only.

    parts.py [--set NAME=VALUE] [--record FILE] GROUP...

A group is parts that run beside each other, with ` + ` between them; a part is targets of make. Groups run one after another, and the first
that fails is the last. Prints seconds of time and of processors. Of each part that passes, FILE keeps these, the day and the commit.
"""

import argparse
import csv
import datetime
import os
import pathlib
import subprocess
import sys
import tempfile
import time


def run(group: str, settings: list[str]) -> list[tuple[str, float, float, bool]]:
    """Runs the parts of a group; gives each part's name, seconds of time and of processors, and whether it passed."""
    began = time.monotonic()
    running, done = {}, []
    parts = group.split(" + ")
    for part in parts:
        # The output of a single part is shown at once; parallel parts are shown one after the other.
        output = None if len(parts) == 1 else tempfile.TemporaryFile()
        print(f"== {part}", flush=True)
        process = subprocess.Popen(["make", "--no-print-directory", *settings, *part.split()], stdout=output, stderr=output)
        running[process.pid] = (part, process, output)
    while running:
        pid, status, used = os.wait4(-1, 0)
        part, process, output = running.pop(pid)
        process.returncode = os.waitstatus_to_exitcode(status)
        if output:
            output.seek(0)
            print(f"== output of {part}", flush=True)
            sys.stdout.buffer.write(output.read())
            sys.stdout.flush()
        done.append((part, time.monotonic() - began, used.ru_utime + used.ru_stime, process.returncode == 0))
    return done


def commit() -> str:
    """Names the commit of the sources, and whether they were changed."""
    return subprocess.run(["git", "describe", "--always", "--dirty=-modified", "--exclude=*"], capture_output=True, text=True).stdout.strip()


def record(file: pathlib.Path, done: list[tuple[str, float, float, bool]], tested: str) -> None:
    """Writes the parts that passed at this commit into a table, replacing their earlier rows."""
    rows = {}
    if file.exists():
        with file.open(newline="") as table:
            rows = {row["part"]: row for row in csv.DictReader(table)}
    day = datetime.datetime.now(datetime.timezone.utc).date().isoformat()
    for part, seconds, used, passed in done:
        if passed:
            rows[part] = {"part": part, "day": day, "commit": tested, "seconds": round(seconds), "processor_seconds": round(used)}
    with file.open("w", newline="") as table:
        writer = csv.DictWriter(table, ["part", "day", "commit", "seconds", "processor_seconds"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows.values())


def main() -> int:
    """Runs the groups of the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", default=[], metavar="NAME=VALUE", help="a variable for make")
    parser.add_argument("--record", type=pathlib.Path, metavar="FILE", help="a table (CSV) of when each part ran last, and what it took")
    parser.add_argument("group", nargs="+")
    options = parser.parse_args()
    began = time.monotonic()
    # The table, once written, is a change itself.
    tested = commit()
    done = []
    for group in options.group:
        finished = run(group, options.set)
        done += finished
        if options.record:
            record(options.record, finished, tested)
        if not all(passed for *_, passed in done):
            break
    print("\n   seconds   of processors   part")
    for part, seconds, used, passed in done:
        print(f"{seconds:>10.0f} {used:>15.0f}   {part}{'' if passed else ': FAILED'}")
    print(f"{time.monotonic() - began:>10.0f} {sum(used for _, _, used, _ in done):>15.0f}   together")
    return 0 if all(passed for *_, passed in done) else 1


if __name__ == "__main__":
    sys.exit(main())
