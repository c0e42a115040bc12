"""Writes what two builds of the command answer to the same bad inputs, where it differs: messages.py BEFORE NOW > messages.csv."""

import argparse
import csv
import pathlib
import shlex
import subprocess
import sys
import tempfile
import tomllib

ROOT = pathlib.Path(__file__).parents[2]
BASE = {
    "name": 'name = "t"',
    "duration": 'duration = "1 s"',
    "ue": 'ue = [{ name = "a" }]',
    "flow": 'flow = [{ name = "f", round_trip = "9 ms" }]',
}
"""Lines of a scenario that is right."""

COMMANDS = (
    "run t.toml --set marker.law=tyde",
    "run t.toml --set markr.law=tide",
    "run t.toml --set duration=5",
    "run t.toml --set 'duration=5 hours' --set marker.law=tyde",
    "run t.toml --set ue.*.chanel.model=static",
    "run t.toml --set ue.*.count=0",
    "run t.toml --seed x",
    "run t.toml --seeds x",
    "run t.toml --seeds -1",
    "study t.toml --vary marker.law=none --until-ci 5",
    "study t.toml --vary marker.law=none --find ue.0.count --until 'satisfied >= 90'",
    "study t.toml --vary marker.law=tyde,none --seeds 2",
    "explain nothing --at soon",
    "explain nothing --worst x",
    "run nothing.toml",
    "compare nothing neither",
)
"""Commands beside the scenarios, in the words of a shell."""


def scenarios() -> list[str]:
    """Gives the lines that the tests hold to be refused."""
    lists = tomllib.loads((ROOT / "crates/scenario/tests/refused.toml").read_text(encoding="utf-8"))
    return [*lists["by_both"], *(lines for lines, _ in lists["by_the_check"])]


def scenario(lines: str) -> str:
    """Gives the scenario of these lines, in the place of those of one that is right."""
    replaced = tomllib.loads(lines)
    return "\n".join([*(line for key, line in BASE.items() if key not in replaced), lines, ""])


def answer(program: pathlib.Path, words: str, folder: str, study: str) -> str:
    """Gives the message of a program, without the lines that it shows of the file."""
    words = shlex.split(words.replace("study ", f"{study} ", 1))
    done = subprocess.run([program.resolve(), *words], cwd=folder, capture_output=True, text=True)
    if done.returncode == 0:
        return "accepted"
    said = []
    for line in done.stderr.splitlines():
        if "╭" in line or line.startswith("Usage"):
            break
        said.append(line.removeprefix("  × ").removeprefix("  │ ").removeprefix("error: ").strip())
    return "; ".join(line for line in said if line)


def main() -> None:
    """Prints the table, and how many of the inputs have another answer."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("before", type=pathlib.Path, help="the older command")
    parser.add_argument("now", type=pathlib.Path, help="the newer command")
    options = parser.parse_args()
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(["input", "before", "now"])
    inputs = [(lines, "check t.toml", scenario(lines)) for lines in scenarios()]
    inputs += [(f"tidemark {words}", words, "\n".join(BASE.values())) for words in COMMANDS]
    changed = 0
    for shown, words, text in inputs:
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "t.toml").write_text(text, encoding="utf-8")
            answers = [answer(of, words, folder, study) for of, study in ((options.before, "sweep"), (options.now, "run"))]
        if answers[0] != answers[1]:
            changed += 1
            table.writerow([shown.replace("\n", "; ").replace("tidemark study", "tidemark run"), *answers])
    print(f"{changed} of {len(inputs)} inputs have another answer", file=sys.stderr)


if __name__ == "__main__":
    main()
