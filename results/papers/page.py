"""Writes one page that a reviewer can take along: a card for each headline, and the rows by their verdicts.

    python3 results/papers/page.py --out FILE    writes it, as `make book` does, with the pictures in the folder _images beside it
    python3 results/papers/page.py mine.json     writes mine.html of another paper's headlines, without rows

It needs no network and no script. Python's own library is all that this needs: who changes the page knows HTML, and need not build anything.
"""

import argparse
import csv
import json
import math
import pathlib
import re
import sys
import tomllib
from html import escape

import effects
import tables

HERE = pathlib.Path(__file__).parent
PAPERS = {"thesis": "Ikedionwu: L4S and ANBR", "brunello": "Brunello et al.: L4S at PDCP", "l4span": "Wan and Jamieson: L4Span",
          "sdn": "Messaoudi et al.: SDN-L4S", "al4s": "Son et al.: aL4S-CC"}
"""Papers by the beginnings of headlines' names."""
PICTURES = "_images"
"""Folder of the papers' pictures, from the page."""
REPOSITORY = "https://github.com/tidemark-l4s/tidemark/blob/main"
"""Where the files are that show a cause."""
VERDICTS = ("holds", "direction-only", "fails", "no-power", "disputed", "not-run")
ROW_VERDICTS = ("missed", "tie", "agrees", "contradicted", "calibrated")
BOUNDS = re.compile(r"(-?[\d.]+) to (-?[\d.]+)")
MIN_RANGE = math.log(2)
"""Least distance from the middle of a bar to its ends, as a logarithm."""

STYLE = """
:root { color-scheme: light dark; --page: #f6f7f9; --card: #fff; --ink: #1b1f24; --soft: #5a6472; --line: #d9dee5; --band: #cfe3f7; --dot: #0b5cad;
  --holds: #11753b; --direction: #8a5a00; --fails: #b3261e; --other: #5a6472 }
@media (prefers-color-scheme: dark) { :root { --page: #14171b; --card: #1d2228; --ink: #e8ebef; --soft: #a3adba; --line: #363e48; --band: #23425f;
  --dot: #7db8f2; --holds: #5fcf8c; --direction: #e5b454; --fails: #ff8a80; --other: #a3adba } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 76rem; padding: 1.5rem 1rem 4rem; background: var(--page); color: var(--ink); font: 16px/1.5 system-ui, sans-serif }
h1 { font-size: 1.6rem; line-height: 1.25; margin: 0 0 .5rem } h2 { font-size: 1.25rem; margin: 2.5rem 0 .75rem } h3 { font-size: 1.05rem; margin: 0; line-height: 1.35 }
p { margin: .4rem 0; max-width: 46rem } code { font-size: .85em; overflow-wrap: anywhere }
.counts { display: flex; flex-wrap: wrap; gap: .5rem; margin: 1rem 0; padding: 0; list-style: none }
.counts li { background: var(--card); border: 1px solid var(--line); border-radius: .5rem; padding: .4rem .8rem } .counts b { font-size: 1.4rem; margin-right: .35rem }
.cards { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fill, minmax(min(100%, 30rem), 1fr)); align-items: start }
.card { background: var(--card); border: 1px solid var(--line); border-left: .3rem solid currentColor; border-radius: .5rem; padding: 1rem; min-width: 0 }
.card > * { color: var(--ink) } .head { display: flex; gap: .75rem; justify-content: space-between; align-items: baseline; overflow-wrap: anywhere }
.holds { color: var(--holds) } .direction-only { color: var(--direction) } .fails, .missed { color: var(--fails) }
.no-power, .disputed, .not-run { color: var(--other) } .badge { font-weight: 600; white-space: nowrap }
.head .holds { color: var(--holds) } .head .direction-only { color: var(--direction) } .head .fails { color: var(--fails) } .head .badge:not(.holds, .direction-only, .fails) { color: var(--other) }
.soft, dt, .scale { color: var(--soft); font-size: .875rem } .part { border-top: 1px solid var(--line); padding: .5rem 0; margin-top: .5rem }
.bar { position: relative; height: 1.1rem; margin-top: .35rem; background: linear-gradient(var(--line), var(--line)) center / 100% 1px no-repeat }
.bar i { position: absolute; top: 0; bottom: 0 } .band { background: var(--band); border-radius: .2rem } .one { border-left: 2px solid var(--soft) }
.bar .whisker { top: .45rem; bottom: .45rem; background: var(--dot) } .bar .dot { top: .2rem; width: .7rem; height: .7rem; margin-left: -.35rem; border-radius: 50%; background: var(--dot) }
.scale { display: grid; grid-template-columns: 1fr auto 1fr } .scale :last-child { text-align: right } dl { display: grid; grid-template-columns: auto 1fr; gap: .15rem .75rem; margin: .75rem 0 0; font-size: .875rem } dd { margin: 0; min-width: 0; overflow-wrap: anywhere } dd img { width: 100%; background: #fff; border-radius: .25rem }
figure { margin: 0; max-width: 34rem } figure img { width: 100%; background: #fff; border-radius: .5rem }
.scroll { overflow-x: auto } table { border-collapse: collapse; font-size: .875rem; background: var(--card) }
th, td { border: 1px solid var(--line); padding: .25rem .5rem; text-align: left; vertical-align: top } td.n, th.n { text-align: right; white-space: nowrap } td { min-width: 3rem; overflow-wrap: anywhere } td:first-child { min-width: 9rem }
details { margin: .5rem 0 } summary { cursor: pointer; padding: .35rem 0 }
"""


def word(verdict: str) -> str:
    """Gives a verdict in words."""
    return verdict.replace("-", " ")


def number(value: float | None) -> str:
    """Gives a number to three digits, or a dash."""
    return "–" if value is None else tables.short(value)


def ratios(part: dict) -> dict[str, float] | None:
    """Gives the logarithms of ours, of its interval and of the bounds over the published effect; nothing where one is not positive."""
    published, ours = part.get("published"), part.get("ours")
    if not published or ours is None or ours / published <= 0:
        return None
    values = {"ours": ours, "low": part.get("low"), "high": part.get("high")}
    if found := BOUNDS.search(part["needs"]):
        values |= {"from": float(found[1]), "to": float(found[2])}
    return {name: math.log(value / published) for name, value in values.items() if value is not None and value / published > 0}


def bar(part: dict) -> str:
    """Gives the bar of ours over the published effect, on a logarithmic scale with the published one in its middle."""
    of = ratios(part)
    if of is None:
        return ""
    reach = max(MIN_RANGE, 1.05 * max(map(abs, of.values())))
    place = lambda name: 50 + 50 * of[name] / reach
    between = lambda kind, *ends: "" if any(end not in of for end in ends) else (
        f'<i class="{kind}" style="left:{min(map(place, ends)):.1f}%;width:{abs(place(ends[1]) - place(ends[0])):.1f}%"></i>')
    end = number(math.exp(reach))
    says = f"ours is {number(math.exp(of['ours']))} times the published effect"
    return (f'<div class="bar" role="img" aria-label="{says}" title="{says}">{between("band", "from", "to")}<i class="one" style="left:50%"></i>'
            f'{between("whisker", "low", "high")}<i class="dot" style="left:{place("ours"):.1f}%"></i></div>'
            f'<div class="scale"><span>1/{end}</span><span>as published</span><span>{end} times</span></div>')


def part_of(part: dict) -> str:
    """Gives a part of a headline."""
    interval = f" [{number(part['low'])}, {number(part['high'])}]" if part.get("low") is not None else ""
    facts = [f"ours <b>{number(part.get('ours'))}</b>{interval}"]
    facts += [f"published <b>{number(part['published'])}</b>"] if part.get("published") is not None else []
    facts += [f"rank {number(part['rank'])}"] if part.get("rank") is not None else []
    facts += [f"needs {escape(part['needs'])}"]
    return (f'<div class="part"><div class="head"><span>{escape(part["says"])}</span><span class="badge {part["verdict"]}">{word(part["verdict"])}</span></div>'
            f'<div class="soft">{"; ".join(facts)}</div>{bar(part)}</div>')


def read_causes() -> dict[str, dict]:
    """Gives what is known besides the runs of a headline, by its name: picture, cause of a miss, and the file that shows it."""
    with (HERE / "causes.toml").open("rb") as file:
        return tomllib.load(file)


def card(of: dict, known: dict) -> str:
    """Gives the card of a headline, with what is known besides its runs."""
    null = {True: " Its runs fail the headline.", False: " Its runs hold it too.", None: " Argued, not run."}[of.get("null_fails")]
    facts = {"published": of["published"], "source": of["source"], "without it": of["null"] + (null if of["parts"] else ""), "chosen": of["conditions"]}
    if of.get("reason"):
        facts["reason"] = of["reason"]
    if of["parts"]:
        facts["took"] = f"{of['seconds']:.0f} s of one processor, {of['seeds']} seeds from {of['first_seed']}, at {of.get('commit') or 'no commit'}"
    lines = "".join(f"<dt>{name}</dt><dd>{escape(text)}</dd>" for name, text in facts.items())
    if known.get("cause") and of["verdict"] != "holds":
        shown = f"{REPOSITORY}/{known['shown']}"
        lines += f'<dt>cause</dt><dd>{escape(known["cause"])} <a href="{shown}">The run</a></dd>'
    if known.get("picture"):
        lines += f'<dt>picture</dt><dd><a href="{PICTURES}/{known["picture"]}.svg"><img src="{PICTURES}/{known["picture"]}.svg" alt="{of["source"]}" loading="lazy"></a></dd>'
    return (f'<article class="card {of["verdict"]}" id="{of["id"]}"><div class="head"><h3>{escape(of["claim"])}</h3>'
            f'<span class="badge {of["verdict"]}">{word(of["verdict"])}</span></div>{"".join(map(part_of, of["parts"]))}'
            f'<dl>{lines}<dt>repeat</dt><dd><code>tidemark-papers --headlines --only {of["id"]}</code></dd></dl></article>')


def scatter(headlines: list[dict], is_drawn: bool) -> str:
    """Gives ours over the published effect for every part that is a ratio: the slope, and the picture where results/draw made it."""
    points = [(math.log(part["published"]), math.log(part["ours"])) for of in headlines for part in of["parts"] if tables.is_ratio(part)]
    if len(points) < effects.MIN_ROWS:
        return ""
    slope = effects.slope(*map(list, zip(*points, strict=True)))
    drawn = f'<img src="{PICTURES}/headlines.svg" alt="Our effects against the published ones, by verdict">' if is_drawn else ""
    return (f'<figure>{drawn}<figcaption class="soft">Ours over the published effect, {len(points)} ratios. The slope of logarithms is '
            f"<b>{slope:.2f}</b>; 1 is the papers'.</figcaption></figure>")


def table(head: list[str], lines: list[list[str]], numbers: range) -> str:
    """Gives a table that scrolls by itself; columns of `numbers` are aligned to the right."""
    kind = lambda index: ' class="n"' if index in numbers else ""
    row = lambda tag, cells: "<tr>" + "".join(f"<{tag}{kind(index)}>{cell}</{tag}>" for index, cell in enumerate(cells)) + "</tr>"
    return f'<div class="scroll"><table>{row("th", head)}{"".join(row("td", cells) for cells in lines)}</table></div>'


def row_cells(target: str, row: dict, of: dict) -> list[str]:
    """Gives the cells of a row."""
    value = lambda one: number(one["mean"]) + (f" ± {number(one['half'])}" if one.get("half") else "")
    ours = "; ".join(value(one) for one in row["ours"])
    name = f'{escape(row["name"])}<br><span class="soft">{target}</span>'
    return [name, number(row.get("published")), ours, escape(row["agrees_if"]), *(of[effect] for effect in tables.EFFECTS)]


def rows(targets: list[dict], by_row: dict) -> str:
    """Gives the counts of rows, the columns of published tables, and each row by its verdict."""
    from_markdown = lambda text: [re.sub(r"\[(.*?)\]\(.*?\)", r"\1", line)[1:-1].split("|") for line in text.strip().split("\n")]
    head, _, *lines = from_markdown(tables.counts("papers", targets, tables.read_headlines(), by_row))
    out = [f'<h2 id="rows">Rows</h2><p>A row is a published figure, a published change or a claim of the text. It agrees if ours lies within its tolerance; better is '
           f'missed. Sign, size and value say what the rows show of effects.</p>{table(head, lines, range(1, 9))}']
    with tables.COLUMNS.open(newline="") as file:
        head, *lines = list(csv.reader(file))
    out.append(f"<details><summary>{len(lines)} columns of published tables: rank, slope, and what one constant would meet</summary>{table(head, lines, range(3, 9))}</details>")
    each = [(target["id"], row) for target in targets for row in target["rows"]]
    groups = {verdict: [(name, row) for name, row in each if not row.get("own") and row["verdict"] == verdict] for verdict in ROW_VERDICTS}
    groups["our own claims, not counted"] = [(name, row) for name, row in each if row.get("own")]
    head = ["row", "published", "ours", "agrees if", *tables.EFFECTS]
    for verdict, some in groups.items():
        lines = [row_cells(name, row, by_row[name, row["name"]]) for name, row in some]
        out.append(f"<details><summary>{len(some)} {verdict}</summary>{table(head, lines, range(1, 2))}</details>")
    return "".join(out)


def page(headlines: list[dict], known: dict[str, dict], below: str) -> str:
    """Gives the page: counts, scatter and cards with what is known of each, and what stands below them."""
    count = lambda of, verdict: sum(headline["verdict"] == verdict for headline in of)
    paper = lambda of: of["id"].partition(".")[0]
    papers = {name: [of for of in headlines if paper(of) == name] for name in dict.fromkeys(map(paper, headlines))}
    shown = [verdict for verdict in VERDICTS if count(headlines, verdict)]
    chips = "".join(f'<li class="{verdict}"><b>{count(headlines, verdict)}</b>{word(verdict)}</li>' for verdict in shown)
    title = lambda name: escape(PAPERS.get(name, name))
    lines = [[f'<a href="#{name}">{title(name)}</a>', *(str(count(of, verdict) or "") for verdict in shown)] for name, of in papers.items()]
    cards = "".join(f'<h2 id="{name}">{title(name)}</h2><div class="cards">{"".join(card(one, known.get(one["id"], {})) for one in of)}</div>' for name, of in papers.items())
    return (f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<title>Which claims are reproduced?</title><link rel="icon" href="data:,"><style>{STYLE}</style></head><body>'
            f'<h1>{count(headlines, "holds")} of {len(headlines)} headlines hold</h1>'
            '<p>A headline is a claim of an abstract, a conclusion or a main figure, as an effect between runs that differ in one thing, over paired seeds. It holds if '
            'every part does: intervals exclude no effect, and sizes lie within their bounds. Direction only: a size lies outside. No power: a system without the '
            'mechanism holds it, or ours was fitted to it. Bars show ours over the published effect: a dot with its interval, shaded the bounds.</p>'
            f'<ul class="counts">{chips}</ul>{table(["paper", *map(word, shown)], lines, range(1, len(shown) + 1))}<h2>Ours over published</h2>'
            f'{scatter(headlines, bool(below))}{cards}{below}</body></html>\n').replace("</article>", "</article>\n").replace("</tr>", "</tr>\n")


def main() -> int:
    """Writes the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("headlines", nargs="?", type=pathlib.Path, help="what `tidemark-papers --headlines --targets FILE --results` wrote")
    parser.add_argument("--out", type=pathlib.Path, metavar="FILE", help="where the page of the five papers goes")
    options = parser.parse_args()
    if options.headlines:
        of = json.loads(options.headlines.read_text())["headlines"]
        options.headlines.with_suffix(".html").write_text(page(of, {}, ""))
    if options.out:
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(whole())
    return 0


def whole() -> str:
    """Gives the page of the five papers."""
    return page(tables.read_headlines(), read_causes(), rows(tables.read(), tables.read_effects()))


if __name__ == "__main__":
    sys.exit(main())
