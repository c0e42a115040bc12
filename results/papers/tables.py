"""Writes the counts of rows, the fit of columns and the table of headlines into the pages of docs/reproduction:

    python3 results/papers/tables.py            writes
    python3 results/papers/tables.py --check    fails if a page would change

A page says `<!-- BLOCK -->` and `<!-- end -->` around a table, and BLOCK is one of
    headlines NAME  the first part of each of a paper's headlines
    counts NAME     rows by their verdicts; NAME is `papers`, then with the headlines that hold, or the beginning of targets' names: then the
                    table has a line for each figure, and that of L4Span how many rows agree with the law as printed (as-printed.csv)
    columns NAME    columns of this paper's tables beside the published ones
Everything else on a page is written by hand. Tables have no blanks: a bar is no word of a page. Python's own library is all it needs.
"""

import argparse
import csv
import json
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "results.json"
HEADLINES = HERE / "headlines.json"
COLUMNS = HERE / "columns.csv"
PRINTED = HERE / "as-printed.csv"
DECLARED = HERE.parents[1] / "scenarios/papers/headlines"
PAPERS = ("anbr", "brunello", "l4span", "sdn", "al4s")
THESIS = "anbr"
"""The paper whose headlines' names begin with `thesis`."""
PAGES = HERE.parents[1] / "docs/reproduction"
ASIDE = ("contradicted", "calibrated")
"""Verdicts that are not counted."""
EFFECTS = ("sign", "size", "value")
"""Verdicts on what a row says of an effect, columns of effects.csv."""
BLOCK = re.compile(r"(<!-- (headlines|counts|columns) ?(\S*) -->\n).*?(<!-- end -->)", re.DOTALL)
FIGURE = re.compile(r"(Figs?\.|[Tt]able|section) ([\w. ]*?\w)(?=\(|,|;|$)")


def figure(source: str) -> str:
    """Gives the figure, table or section that a source names first, without its part."""
    found = FIGURE.search(source)
    return f"{found[1][0].upper()}{found[1][1:]} {found[2]}" if found else source


def tally(targets: list[dict]) -> tuple[int, int, int, int]:
    """Gives how many of the papers' rows agree, of how many, and how many are ties, and not counted."""
    verdicts = [row["verdict"] for target in targets for row in target["rows"] if not row.get("own")]
    aside = sum(verdict in ASIDE for verdict in verdicts)
    return verdicts.count("agrees"), len(verdicts) - aside, verdicts.count("tie"), aside


def share(some: int, whole: int) -> str:
    """Gives a share in words; nothing of nothing is empty."""
    return f"{some} of {whole}" if whole else ""


def by_effect(targets: list[dict], effects: dict) -> list[str]:
    """Gives how many of the counted rows have the published sign, size and value, of those that have one."""
    rows = [effects[target["id"], row["name"]] for target in targets for row in target["rows"]
            if not row.get("own") and row["verdict"] not in ASIDE]
    verdicts = [[row[name] for row in rows if row[name]] for name in EFFECTS]
    return [share(some.count("yes"), len(some)) for some in verdicts]


def own(targets: list[dict]) -> str:
    """Gives how many of this project's own claims agree."""
    verdicts = [row["verdict"] for target in targets for row in target["rows"] if row.get("own")]
    return share(verdicts.count("agrees"), len(verdicts))


def as_printed(targets: list[dict], printed: dict[str, int]) -> str:
    """Gives how many rows agree where the law is as its paper prints it; empty where no run has it."""
    found = [printed[target["id"]] for target in targets if target["id"] in printed]
    return str(sum(found)) if found else ""


def table(head: str, lines: list[list[str]]) -> str:
    """Gives a table; a column whose head begins with `:` is one of numbers."""
    names = head.split("|")
    bars = ["---:" if name.startswith(":") else "---" for name in names]
    return "".join(f"|{'|'.join(cells)}|\n" for cells in [[name.lstrip(":") for name in names], bars, *lines])


def of_paper(paper: str, of: list[dict]) -> list[dict]:
    """Gives the headlines of a paper; of all for `all`."""
    begin = "thesis" if paper == THESIS else paper
    return [one for one in of if paper == "all" or one["id"].startswith(f"{begin}.")]


def holding(of: list[dict]) -> str:
    """Gives how many headlines hold."""
    return share(sum(one["verdict"] == "holds" for one in of), len(of))


def counts(name: str, targets: list[dict], of: list[dict], effects: dict) -> str:
    """Gives the rows by their verdicts: those of all papers, or those of one by its figures."""
    groups: dict[str, list[dict]] = {}
    papers: dict[str, str] = {"all": "all"}
    for target in targets:
        paper = target["id"].partition(".")[0]
        if name == "papers":
            groups.setdefault(f"[{target['paper']}]({paper}.md)", []).append(target)
            papers.setdefault(f"[{target['paper']}]({paper}.md)", paper)
        elif paper == name:
            groups.setdefault(figure(target["source"]), []).append(target)
    if name == "papers":
        groups["all"] = targets
    printed = read_printed() if name == "l4span" else None
    lines = []
    for group, some in groups.items():
        good, counted, *others = tally(some)
        beside = [] if printed is None else [as_printed(some, printed)]
        held = [holding(of_paper(papers[group], of))] if name == "papers" else []
        lines.append([group, *held, f"{good} of {counted}", *beside, *by_effect(some, effects), *(str(count or "") for count in others), own(some)])
    beside = "" if printed is None else ":as printed|"
    first = "paper|:headlines that hold|:rows that agree" if name == "papers" else "figure|:agree"
    return table(f"{first}|{beside}:sign|:size|:value|:tie|:not counted|:our own", lines)


def columns(name: str, targets: list[dict]) -> str:
    """Gives the columns of a paper's tables beside the published ones."""
    paper = next(target["paper"] for target in targets if target["id"].startswith(f"{name}."))
    with COLUMNS.open(newline="") as file:
        found = [row for row in csv.DictReader(file) if row["paper"] == paper]
    number = lambda text: f"{float(text):.2f}" if text else ""
    lines = [[f"{of['table'][0].upper()}{of['table'][1:]}", of["column"], of["rows"], number(of["rank"]), number(of["slope"]), of["within"],
              of["constant_within"]] for of in found]
    rows, ours, constant = (str(sum(int(of[key]) for of in found)) for key in ("rows", "within", "constant_within"))
    lines.append(["all", "", rows, "", "", ours, constant])
    return table("table|column|:rows|:rank|:slope|:ours|:one constant", lines)


def is_ratio(part: dict) -> bool:
    """Tells whether a part of a headline is a ratio that was published and run."""
    return bool(re.match(r"interval (above|below) 1\b", part["needs"]) and part.get("published")) and (part.get("ours") or 0) > 0


def short(value: float) -> str:
    """Gives a number to three digits."""
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e" in text and abs(value) >= 1 else text


def headline(of: dict) -> list[str]:
    """Gives the cells of a headline: its name, published and our effect by its first part, and the verdict."""
    part = of["parts"][0] if of["parts"] else {}
    published = "" if part.get("published") is None else short(part["published"])
    ours = "" if part.get("ours") is None else short(part["ours"])
    if ours and part.get("low") is not None:
        ours += f" [{short(part['low'])},{short(part['high'])}]"
    verdict = of["verdict"].replace("-", " ")
    return [of["id"].partition(".")[2], published, ours, f"**{verdict}**" if verdict == "holds" else verdict]


def headlines(of: list[dict]) -> str:
    """Gives the table of headlines; a name has no beginning: the page says the paper."""
    return table("headline|:published|:ours|verdict", [headline(one) for one in of])


def page(text: str, targets: list[dict], of: list[dict], effects: dict) -> str:
    """Gives a page with its tables written anew."""
    def block(found: re.Match) -> str:
        kind, name = found[2], found[3]
        made = {"headlines": lambda: headlines(of_paper(name, of)), "columns": lambda: columns(name, targets),
                "counts": lambda: counts(name, targets, of, effects)}
        lines = made[kind]()
        return f"{found[1]}\n{lines}\n{found[4]}"
    return BLOCK.sub(block, text)


def read_printed() -> dict[str, int]:
    """Reads how many of a target's rows agree with the law as its paper prints it."""
    agree: dict[str, int] = {}
    with PRINTED.open(newline="") as file:
        for row in csv.DictReader(file):
            is_counted = row["own"] == "false" and row["verdict_of_alternative"] == "agrees"
            agree[row["target"]] = agree.get(row["target"], 0) + is_counted
    return agree


def read_effects() -> dict:
    """Reads the verdicts on effects by target and row."""
    with (HERE / "effects.csv").open(newline="") as file:
        return {(row["target"], row["row"]): row for row in csv.DictReader(file)}


def read_headlines() -> list[dict]:
    """Reads the outcomes of all headlines in their files' order; one that has no runs yet is not run."""
    run = {of["id"]: of for of in json.loads(HEADLINES.read_text())["headlines"]}
    declared = [of for paper in PAPERS for of in tomllib.loads((DECLARED / f"{paper}.toml").read_text())["headline"]]
    said = ("id", "claim", "published", "source", "conditions")
    unrun = [{**{key: of[key] for key in said}, "null": of["null"]["says"], "verdict": "not-run", "parts": []} for of in declared]
    return [run.get(of["id"], of) for of in unrun]


def read() -> list[dict]:
    """Reads the results of all targets."""
    return json.loads(RESULTS.read_text())["targets"]


def main() -> int:
    """Writes or checks the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page would change")
    check = parser.parse_args().check
    targets, of, effects, stale = read(), read_headlines(), read_effects(), 0
    for file in sorted(PAGES.glob("*.md")):
        before = file.read_text()
        after = page(before, targets, of, effects)
        if after != before:
            stale += 1
            if check:
                print(f"docs/reproduction/{file.name}: its counts are old: run python3 results/papers/tables.py")
            else:
                file.write_text(after)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
