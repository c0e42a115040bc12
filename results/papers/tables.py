"""Writes the tables of the pages in this folder from results.json, and what is not in it from ../measured/reproduction.md:

    python3 results/papers/tables.py            writes
    python3 results/papers/tables.py --check    fails if a page would change

A page says `<!-- rows TARGET -->` and `<!-- end -->` around its tables, and `<!-- calibration -->` around what was calibrated; everything else on it is written by hand. TARGET is a name or its beginning up
to a dot; a target stands where the longest fits. Python's own library is all it needs.
"""

import argparse
import json
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "results.json"
WHOLE = "../measured/reproduction.md"
"""Page with every row of every target."""
MAX_ROWS = 16
"""Rows of a table that is shown whole; of a longer one those that do not agree."""
ORDERS = {"<=": "≤", ">=": "≥"}
MAX_CASES = 6
"""Cases that are compared with their limit one by one; of more their range."""
GOOD = ("agrees", "better")
BLOCK = re.compile(r"(<!-- rows (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)


def number(value: float | None) -> str:
    """Gives a figure with four digits that count."""
    if value is None:
        return "–"
    return f"{value:.4g}" if abs(value) < 1000 else f"{value:.0f}"


def ours(row: dict) -> str:
    """Gives our values with their intervals, those of a claim with the orders that it wants between them."""
    if "text" in row:
        return row["text"]
    texts = [number(of["mean"]) + (f" ± {of['half']:.2g}" if is_wide(of) else "") for of in row["ours"]]
    orders = [ORDERS.get(order, order) for order in row.get("agrees_if", "").split()] if "published" not in row else []
    return texts[0] + "".join(f" {order} {text}" for order, text in zip(orders, texts[1:], strict=False))


def is_wide(value: dict) -> bool:
    """Says whether an interval is more than the last bits of a constant."""
    return bool(value.get("half")) and value["half"] > 1e-9 * abs(value["mean"])


def count(rows: list[dict]) -> str:
    """Gives how many rows agree, of those that count."""
    verdicts = [
        row["verdict"] for row in rows if not row.get("own") and row["verdict"] not in ("calibrated", "contradicted")
    ]
    return f"{sum(verdict in GOOD for verdict in verdicts)} of {len(verdicts)} rows agree"


def cell(text: str) -> str:
    """Gives a text as a cell of a table has it."""
    return text.replace("|", "\\|")


def span(values: list[float], digits: int) -> str:
    """Gives the least and the highest of values."""
    low, high = (f"{value:.{digits}f}" for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def limit(target: dict) -> str:
    """Gives what a sender has that knows the capacity one loop late, and how far the target's cases are from it."""
    says = target.get("limit_says", "")
    pairs = (("rate", "oracle_rate"), ("delay", "oracle_delay"))
    cases = [of for of in target.get("limit", []) if all(of[key] for pair in pairs for key in pair)]
    if not cases:
        return says
    oracle = [span([of[key] for of in cases], 1) for _, key in pairs]
    beside = [(of["case"], 100 * of["rate"] / of["oracle_rate"], of["delay"] / of["oracle_delay"]) for of in cases]
    if len(cases) <= MAX_CASES:
        ours = "; ".join(f"`{case}` has {share:.0f} % of its rate at {times:.2f} times its delay" for case, share, times in beside)
    else:
        shares, times = span([share for _, share, _ in beside], 0), span([times for *_, times in beside], 2)
        ours = f"{len(cases)} cases have {shares} % of its rate at {times} times its delay"
    return f"an oracle has {oracle[0]} Mbit/s at {oracle[1]} ms; {ours}. {says}".strip()


def table(target: dict) -> str:
    """Gives a target's verdict and rows."""
    rows = [row for row in target["rows"] if not row.get("own")]
    shown = rows if len(rows) <= MAX_ROWS else [row for row in rows if row["verdict"] not in GOOD]
    link = f"[{target['id']}]({WHOLE})"
    run = " in an earlier run" if "earlier" in target else ""
    lines = [f"{link}: **{target['verdict']}**, {count(target['rows'])}{run}."]
    if len(shown) < len(rows):
        lines[0] += " Those that do not:" if shown else ""
    if shown:
        lines += ["", "| row | published | ours | agrees if | verdict |", "| --- | ---: | ---: | --- | --- |"]
    for row in shown:
        published = number(row["published"]) if "published" in row else ""
        agrees_if = row.get("agrees_if", "") if "published" in row else ""
        cells = (row["name"], published, ours(row), agrees_if, row["verdict"])
        lines.append("| " + " | ".join(cell(text) for text in cells) + " |")
    if sentence := limit(target):
        lines += ["", f"Limit: {sentence}"]
    for of in target.get("contradicted", []):
        lines += ["", f"Contradicted ({', '.join(of['rows'])}): {of['evidence'].strip()} By: {of['by'].strip()}"]
    return "\n".join(lines) + "\n"


def place(target: str, places: list[str]) -> str | None:
    """Gives the longest of the places that is the target's name, or its beginning up to a dot."""
    return max((name for name in places if f"{target}.".startswith(f"{name}.")), key=len, default=None)


def places(pages: list[str]) -> list[str]:
    """Gives what the pages have tables for."""
    return [name for text in pages for _, name, _ in BLOCK.findall(text)]


def page(text: str, targets: dict[str, dict], named: list[str]) -> str:
    """Gives a page with its tables written anew; a place without results keeps a link alone. `named` are the places of all pages."""

    def block(found: re.Match[str]) -> str:
        of_place = [target for name, target in targets.items() if place(name, named) == found[2]]
        tables = "\n".join(table(target) for target in of_place) or f"[{found[2]}]({WHOLE})\n"
        return f"{found[1]}\n{tables}\n{found[3]}"

    text = CALIBRATION.sub(lambda found: f"{found[1]}\n{calibration(targets, scenarios())}\n{found[2]}", text)
    return BLOCK.sub(block, text)


CALIBRATION = re.compile(r"(<!-- calibration -->\n).*?(<!-- end -->)", re.DOTALL)


def calibration(targets: dict[str, dict], scenarios: dict[str, str]) -> str:
    """Gives what was calibrated: to which figures, and the rows of its scenario that it is checked against."""
    lines: list[str] = []
    for name, target in targets.items():
        if "calibrated" not in target:
            continue
        lines += [f"### {name}", "", f"{target['source']}. Calibrated: {target['calibrated'].strip()}", ""]
        lines += ["| calibrated to | published | ours | agrees if | reached |", "| --- | ---: | ---: | --- | --- |"]
        for row in target["rows"]:
            if row["verdict"] == "calibrated" or row["name"] in target.get("calibrated_to", []):
                reached = "yes" if row["verdict"] == "calibrated" else "**no**"
                cells = (row["name"], number(row["published"]), ours(row), row["agrees_if"], reached)
                lines.append("| " + " | ".join(cell(text) for text in cells) + " |")
        same = [other for other in targets if scenarios.get(other) == scenarios.get(name)]
        checked = "; ".join(f"`{other}`: {count(targets[other]['rows'])}" for other in same)
        lines += ["", f"Checked against the other rows of its scenario: {checked}.", ""]
    return "\n".join(lines)


def scenarios() -> dict[str, str]:
    """Gives the scenario of each target."""
    files = (HERE.parents[1] / "scenarios" / "papers" / "targets").glob("*.toml")
    targets = (target for file in files for target in tomllib.loads(file.read_text()).get("target", []))
    return {target["id"]: target["scenario"] for target in targets}


SECTION = re.compile(r"^## (\S+)\n\n.*?: \*\*(.*?)\*\*\.\n(.*?)(?=^## |\Z)", re.DOTALL | re.MULTILINE)
CELLS = re.compile(r"^\| (?!---|figure \||what must hold \|)(.+) \|$", re.MULTILINE)
WORDS = {"holds": "agrees", "**missed**": "missed"}


def of_page(text: str) -> dict[str, dict]:
    """Gives the targets of the page with every row, which has our values as text."""
    targets = {}
    for name, verdict, body in SECTION.findall(text):
        rows = []
        for cells in (line.split(" | ") for line in CELLS.findall(body)):
            row: dict = {"name": cells[0], "verdict": WORDS.get(cells[-1], cells[-1]), "ours": []}
            if len(cells) == 5:
                row |= {"published": float(cells[1]), "text": cells[2], "agrees_if": cells[3]}
            else:
                row["text"] = cells[1]
            rows.append(row)
        targets[name] = {"id": name, "verdict": verdict, "rows": rows, "earlier": True}
    return targets


def read() -> dict[str, dict]:
    """Gives the results by target; those that results.json does not have come from the page with every row."""
    results = json.loads(RESULTS.read_text())["targets"] if RESULTS.exists() else []
    found = {target["id"]: target for target in results}
    return found | {name: target for name, target in of_page((HERE / WHOLE).read_text()).items() if name not in found}


def main() -> int:
    """Writes or checks the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page would change")
    check = parser.parse_args().check
    targets = read()
    pages = {file: file.read_text() for file in sorted(HERE.glob("*.md"))}
    named = places(list(pages.values()))
    stale = 0
    for file, before in pages.items():
        after = page(before, targets, named)
        if after != before:
            stale += 1
            if check:
                print(f"docs/reproduction/{file.name}: its tables are old: run python3 results/papers/tables.py")
            else:
                file.write_text(after)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
