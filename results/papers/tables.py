"""Writes the counts of results.json and the table of headlines.json into the pages of docs/reproduction:

    python3 results/papers/tables.py            writes
    python3 results/papers/tables.py --check    fails if a page would change

A page says `<!-- counts NAME -->` and `<!-- end -->` around a table. NAME is `papers`, or the beginning of targets' names: then the table has a
line for each figure. `<!-- headlines -->` stands before the table of headlines, which shows the first part of each. Everything else on a page is
written by hand. Python's own library is all it needs.
"""

import argparse
import json
import pathlib
import re
import sys
import tomllib

HERE = pathlib.Path(__file__).parent
RESULTS = HERE / "results.json"
HEADLINES = HERE / "headlines.json"
DECLARED = HERE.parents[1] / "scenarios/papers/headlines"
PAPERS = ("anbr", "brunello", "l4span", "sdn", "al4s")
PAGES = HERE.parents[1] / "docs/reproduction"
GOOD = ("agrees", "better")
ASIDE = ("contradicted", "calibrated")
"""Verdicts that are not counted."""
BLOCK = re.compile(r"(<!-- counts (\S+) -->\n).*?(<!-- end -->)", re.DOTALL)
HEADLINE_BLOCK = re.compile(r"(<!-- headlines -->\n).*?(<!-- end -->)", re.DOTALL)
FIGURE = re.compile(r"(Figs?\.|[Tt]able|section) ([\w. ]*?\w)(?=\(|,|;|$)")


def figure(source: str) -> str:
    """Gives the figure, table or section that a source names first, without its part."""
    found = FIGURE.search(source)
    return f"{found[1][0].upper()}{found[1][1:]} {found[2]}" if found else source


def tally(targets: list[dict]) -> tuple[int, int, int, int, int]:
    """Gives how many of the papers' rows agree, of how many, and how many are missed, ties, and not counted."""
    verdicts = [row["verdict"] for target in targets for row in target["rows"] if not row.get("own")]
    aside = sum(verdict in ASIDE for verdict in verdicts)
    good = sum(verdict in GOOD for verdict in verdicts)
    return good, len(verdicts) - aside, verdicts.count("missed"), verdicts.count("tie"), aside


def table(groups: dict[str, list[dict]], head: str) -> str:
    """Gives the table of counts, a line a group of targets."""
    lines = [f"| {head} | rows that agree | missed | tie | not counted |", "| --- | ---: | ---: | ---: | ---: |"]
    for name, targets in groups.items():
        good, of, *others = tally(targets)
        cells = (name, f"{good} of {of}", *(str(count or "") for count in others))
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def counts(name: str, targets: list[dict]) -> str:
    """Gives the table of a block: all papers, or one by its figures."""
    groups: dict[str, list[dict]] = {}
    for target in targets:
        if name == "papers":
            groups.setdefault(target["id"].partition(".")[0], []).append(target)
        elif target["id"].startswith(f"{name}."):
            groups.setdefault(figure(target["source"]), []).append(target)
    if name == "papers":
        return table({f"[{of[0]['paper']}]({paper}.md)": of for paper, of in groups.items()}, "paper")
    return table(groups, "figure")


def short(value: float) -> str:
    """Gives a number to three digits."""
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e" in text and abs(value) >= 1 else text


def headline(of: dict) -> str:
    """Gives the line of a headline: its name, published and our effect by its first part, and the verdict."""
    part = of["parts"][0] if of["parts"] else {}
    published = "" if part.get("published") is None else short(part["published"])
    ours = "" if part.get("ours") is None else short(part["ours"])
    if ours and part.get("low") is not None:
        ours += f" [{short(part['low'])},{short(part['high'])}]"
    verdict = of["verdict"].replace("-", " ")
    return f"|{of['id']}|{published}|{ours}|{f'**{verdict}**' if verdict == 'holds' else verdict}|"


def headlines(of: list[dict]) -> str:
    """Gives the table of headlines, without blanks: a bar is no word of a page."""
    return "\n".join(["|headline|published|ours|verdict|", "|---|---:|---:|---|", *map(headline, of)]) + "\n"


def page(text: str, targets: list[dict], of: list[dict]) -> str:
    """Gives a page with its tables written anew."""
    text = HEADLINE_BLOCK.sub(lambda found: f"{found[1]}\n{headlines(of)}\n{found[2]}", text)
    return BLOCK.sub(lambda found: f"{found[1]}\n{counts(found[2], targets)}\n{found[3]}", text)


def read_headlines() -> list[dict]:
    """Reads the outcomes of all headlines in their files' order; one that has no runs yet is not run."""
    run = {of["id"]: of for of in json.loads(HEADLINES.read_text())["headlines"]}
    declared = [of for paper in PAPERS for of in tomllib.loads((DECLARED / f"{paper}.toml").read_text())["headline"]]
    unrun = [{"id": of["id"], "verdict": "not-run", "parts": []} for of in declared]
    return [run.get(of["id"], of) for of in unrun]


def read() -> list[dict]:
    """Reads the results of all targets."""
    return json.loads(RESULTS.read_text())["targets"]


def main() -> int:
    """Writes or checks the pages."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="write nothing; fail if a page would change")
    check = parser.parse_args().check
    targets, of, stale = read(), read_headlines(), 0
    for file in sorted(PAGES.glob("*.md")):
        before = file.read_text()
        after = page(before, targets, of)
        if after != before:
            stale += 1
            if check:
                print(f"docs/reproduction/{file.name}: its counts are old: run python3 results/papers/tables.py")
            else:
                file.write_text(after)
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
