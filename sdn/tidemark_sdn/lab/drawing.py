"""The paper's Figures 4 to 6 as it draws them: delay over q2 and over q1, and with and without queue management."""

import json
import statistics
from collections.abc import Mapping
from pathlib import Path

from tidemark_sdn.chart import COLOURS, bar_chart, line_chart
from tidemark_sdn.lab.measure import FIGURES, Point

# Figures of the cases, as `figures.json` has them.
Cases = Mapping[str, Mapping[str, float]]

_NAMES = {"l4s": "SDN-L4S", "classic": "SDN-TCC"}
_STYLE = "body{font:15px/1.5 system-ui,sans-serif;max-width:60rem;margin:2rem auto;padding:0 1rem}svg{width:100%}"
_STYLE += "svg{font-size:12px;margin:1rem 0}svg .title{font-weight:600;font-size:13px}svg .grid{stroke:#ddd}"


def simulated(folder: Path) -> dict[str, dict[str, float]]:
    """Mean delays of the simulator's runs, from the folder `sdn` that `tidemark-papers sdn --out` keeps."""
    cases: dict[str, dict[str, float]] = {}
    for case in sorted(folder.iterdir()):
        delays: dict[str, list[float]] = {"l4s": [], "classic": []}
        for summary in sorted(case.glob("*/summary.json")):
            for flow in json.loads(summary.read_text(encoding="utf-8"))["flows"]:
                kind = "l4s" if flow["name"].startswith("l4s") else "classic"
                if flow["owd_ms"]:
                    delays[kind].append(flow["owd_ms"]["mean"])
        cases[case.name] = {f"{kind}_delay_mean_ms": statistics.fmean(of) for kind, of in delays.items() if of}
    return cases


def draw(sources: Mapping[str, Cases]) -> str:
    """A page with the figures of each source: switches, simulator."""
    parts = []
    for source, cases in sources.items():
        parts.append(f"<h2>{source}</h2>")
        parts.append(_over("fig4", "q2", "Fig. 4 (q1 = 80 %)", cases))
        parts.append(_over("fig5", "q1", "Fig. 5 (q2 = 1 %)", cases))
        parts += [_management(mode, cases) for mode in ("literal", "sound")]
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>SDN-L4S: figures</title>'
        f"<style>{_STYLE}</style><h1>SDN-L4S, Figs. 4 to 6</h1>{''.join(parts)}</html>\n"
    )


def _over(figure: str, axis: str, title: str, cases: Cases) -> str:
    lines: dict[str, list[tuple[float, float]]] = {}
    for point in FIGURES[figure]:
        for kind, name in _NAMES.items():
            value = cases.get(point.name, {}).get(f"{kind}_delay_mean_ms")
            if value is None:
                continue
            line = lines.setdefault(f"{name}, {point.mode}", [])
            # The sound mode has no q1: a line across.
            of_q1 = [other.q1 for other in FIGURES[figure] if other.q1 is not None]
            places = [point.q2] if axis == "q2" else [point.q1] if point.q1 is not None else sorted(set(of_q1))
            line += [(float(place), value) for place in places if place is not None]
    return line_chart(title, f"{axis}, %", "ms", lines)


def _management(mode: str, cases: Cases) -> str:
    bars = [
        (f"{name[4:]} {what}{' 1' if one_queue else ''}", figures[f"{kind}_delay_{what}_ms"], COLOURS[index])
        for one_queue in (False, True)
        for figures in [cases.get(Point(mode, 80 if mode == "literal" else None, 1, one_queue).name, {})]
        for index, (kind, name) in enumerate(_NAMES.items())
        for what in ("min", "median", "max")
        if f"{kind}_delay_{what}_ms" in figures
    ]
    return bar_chart(f"Fig. 6, {mode}: with queue management, and with one queue (1)", "ms", bars)
