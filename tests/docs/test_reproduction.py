"""Compares the pages of docs/reproduction/ with targets, pictures and results."""

import csv
import importlib
import math
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reproduction"
DATA = ROOT / "results" / "papers"

sys.path.insert(0, str(DATA))
tables, effects, page = (importlib.import_module(name) for name in ("tables", "effects", "page"))


def target(name: str, source: str, *verdicts: str) -> dict:
    """Gives a target of the results, with a row for each verdict."""
    rows = [{"name": str(index), "verdict": verdict, "own": verdict == "own"} for index, verdict in enumerate(verdicts)]
    return {"id": name, "paper": name.partition(".")[0].upper(), "source": source, "rows": rows}


EVALUATIONS = {
    "l4span.md": ["Fig. 2", *(f"Fig. {k}" for k in range(9, 22)), "Table 1", "Fig. 24"],
    "anbr.md": [*(f"Fig. 5.{k}" for k in range(1, 23)), "Table 5.1", "Table 5.2"],
    "brunello.md": [*(f"Fig. {k}" for k in range(2, 7)), "Table III", "Table IV", "Table V"],
    "al4s.md": ["Fig. 1", "Fig. 4", "Fig. 5", "Table 1", "Table 2"],
    "sdn.md": ["Fig. 4", "Fig. 5", "Fig. 6", "Table II"],
}
"""Figures and tables of each paper's evaluation, by its own numbers."""
NUMBERED = re.compile(r"(Fig|Table)(?:s?\. | )([\dIV.]*[\dIV])(?: (and|to) ([\d.]*\d))?")


def numbered(page: str) -> set[str]:
    """Gives the figures and tables that the headings of a page name."""
    found = set()
    for heading in re.findall(r"^## (.*)$", page, re.MULTILINE):
        for kind, first, between, last in NUMBERED.findall(heading):
            names = [first, last] if between == "and" else [first]
            if between == "to":
                chapter, _, start = first.rpartition(".")
                stop = int(last.rpartition(".")[2])
                names = [f"{chapter}.{k}" if chapter else str(k) for k in range(int(start), stop + 1)]
            found |= {f"{kind}{'.' if kind == 'Fig' else ''} {name}" for name in names}
    return found


class Pages(unittest.TestCase):
    def setUp(self):
        self.pages = {file.name: file.read_text() for file in FOLDER.glob("*.md")}

    def test_each_paper_has_a_page_with_its_counts_and_one_has_all(self):
        papers = sorted({target["id"].partition(".")[0] for target in tables.read()})
        blocks = {name: [f"{kind} {of}".strip() for _, kind, of, _ in tables.BLOCK.findall(text)] for name, text in self.pages.items()}
        expected = {f"{paper}.md": [f"headlines {paper}", f"counts {paper}", f"columns {paper}"] for paper in papers}
        self.assertEqual(blocks, {**expected, "README.md": ["counts papers"], "rfc8867.md": []})

    def test_each_paper_opens_with_its_mechanisms_and_their_files(self):
        for paper in self.pages.keys() - {"README.md", "rfc8867.md"}:
            opening = self.pages[paper].split("<!--")[0]
            self.assertIn("|mechanism|here|file|\n", opening, paper)
            for line in opening.partition("|---|---|---|\n")[2].partition("\n\n")[0].split("\n"):
                self.assertRegex(line, r"^\|[^|]+\|(as described|changed on purpose|simplified|missing)[^|]*\|\[[^|]+\]\([^|]+\)\|$", paper)

    def test_each_picture_is_shown_once_and_has_its_table(self):
        shown = [name for page in self.pages.values() for name in re.findall(r"\(pictures/([\w.-]+)\.svg\)", page)]
        self.assertEqual(sorted(shown), sorted(["headlines", *(file.stem for file in (DATA / "pictures").glob("*.csv"))]))

    def test_a_reader_finds_each_figure_of_an_evaluation_by_its_number(self):
        self.assertEqual(numbered("## Table 5.1 and Fig. 5.1: x\n## Figs. 5.4 to 5.6: y\n"), {"Table 5.1", "Fig. 5.1", "Fig. 5.4", "Fig. 5.5", "Fig. 5.6"})
        for page, names in EVALUATIONS.items():
            self.assertEqual([name for name in names if name not in numbered(self.pages[page])], [], page)

    def test_counts_are_those_of_the_results(self):
        for name, text in self.pages.items():
            written = tables.page(text, tables.read(), tables.read_headlines(), tables.read_effects())
            self.assertEqual(written, text, f"{name}: run python3 results/papers/tables.py")

    def test_the_opening_of_each_page_has_its_papers_count(self):
        results = tables.read()
        for paper in {target["id"].partition(".")[0] for target in results}:
            good, of = tables.tally([target for target in results if target["id"].startswith(f"{paper}.")])[:2]
            self.assertIn(f"{good} of {of}", self.pages[f"{paper}.md"].split("<!--")[0], paper)
        good, of = tables.tally(results)[:2]
        self.assertIn(f"**{good} of {of} ", self.pages["README.md"])


class Data(unittest.TestCase):
    def test_the_table_of_rows_has_those_of_the_results(self):
        with (DATA / "rows.csv").open(newline="") as file:
            found = [(row["target"], row["row"], row["verdict"]) for row in csv.DictReader(file)]
        self.assertEqual(found, [(of["id"], row["name"], row["verdict"]) for of in tables.read() for row in of["rows"]])


    def test_effects_and_columns_are_those_of_the_results(self):
        for name, text in effects.tables(tables.read()).items():
            self.assertEqual((DATA / name).read_text(), text, f"{name}: run python3 results/papers/effects.py")

    def test_the_page_opens_with_the_count_of_the_headlines(self):
        text, of = (FOLDER / "README.md").read_text(), tables.read_headlines()
        holds = sum(headline["verdict"] == "holds" for headline in of)
        self.assertIn(f"**{holds} of {len(of)} headlines hold", text.split("<!--")[0])
        self.assertEqual(len(of), 52)


def row(name: str, published: float | None, ours: float, half: float, agrees_if: str, kind: str = "value", verdict: str = "agrees") -> dict:
    """Gives a row of the results."""
    return {"name": name, "kind": kind, "verdict": verdict, "published": published, "agrees_if": agrees_if,
            "ours": [{"formula": "f", "mean": ours, "half": half}]}


class Headlines(unittest.TestCase):
    def test_a_line_has_name_published_and_our_effect_and_the_verdict(self):
        part = {"published": 0.25, "ours": 0.3, "low": 0.2512, "high": 0.4}
        of = {"id": "a.claim", "verdict": "direction-only", "parts": [part, {}]}
        self.assertEqual(tables.headline(of), ["claim", "0.25", "0.3 [0.251,0.4]", "direction only"])
        self.assertEqual(tables.headline({**of, "verdict": "not-run", "parts": []}), ["claim", "", "", "not run"])

    def test_large_and_small_numbers_are_short(self):
        self.assertEqual([tables.short(value) for value in (12345.6, 1734.78, 0.0113, -3.14159, 0.0)], ["12346", "1735", "0.0113", "-3.14", "0"])


class Effects(unittest.TestCase):
    def verdicts(self, of: dict, column: list[dict] | None = None) -> tuple[str, ...]:
        """Gives the verdicts on sign, size and value."""
        return effects.row_line({"id": "t"}, of, column)[-3:]

    def test_a_change_has_a_sign_a_size_and_a_value(self):
        half = lambda ours, width=1.0, verdict="agrees": row("x", -50.0, ours, width, "-52.00 to -48.00", "reduction", verdict)
        self.assertEqual(self.verdicts(half(-50.0)), ("yes", "yes", "yes"))
        # ln 0.1 over ln 0.5 is 3.3: further than published, and not the published size.
        self.assertEqual(self.verdicts(half(-90.0, verdict="missed")), ("yes", "no", "no"))
        self.assertEqual(self.verdicts(half(-20.0, verdict="missed")), ("yes", "no", "no"))
        self.assertEqual(self.verdicts(half(-20.0, 25.0, "missed"))[0], "no")

    def test_a_value_beyond_its_tolerance_is_missed_on_either_side(self):
        self.assertEqual(self.verdicts(row("x", 10.0, 6.0, 0.0, "7.50 to 12.50 (± 25 %)", verdict="missed")), ("", "", "no"))
        self.assertEqual(self.verdicts(row("x", 10.0, 8.0, 0.0, "7.50 to 12.50 (± 25 %)")), ("", "", "yes"))

    def test_the_effect_of_a_value_is_its_ratio_to_its_column(self):
        flat = [row("a", 1.0, 9.0, 0.0, "0 to 90"), row("b", 10.0, 10.0, 0.0, "0 to 90"), row("c", 100.0, 11.0, 0.0, "0 to 90")]
        self.assertEqual(self.verdicts(flat[0], flat), ("yes", "no", "yes"))
        same = [row("a", 1.0, 2.0, 0.1, "0 to 900"), row("b", 10.0, 20.0, 0.1, "0 to 900"), row("c", 100.0, 200.0, 0.1, "0 to 900")]
        self.assertEqual(self.verdicts(same[2], same), ("yes", "yes", "yes"))

    def test_a_column_has_its_rank_its_slope_and_the_best_constant(self):
        column = [row("a: d", 1.0, 2.0, 0.0, "0.5 to 1.5"), row("b: d", 10.0, 20.0, 0.0, "1 to 30"), row("c: d", 100.0, 200.0, 0.0, "90 to 210")]
        self.assertEqual(effects.column_line(("P", "t", "d"), column)[3:], ("3", "1", "1", "2", "1", "2"))
        self.assertIsNone(effects.spearman([1.0, 2.0, 3.0], [5.0, 5.0, 5.0]))


class Tables(unittest.TestCase):
    RESULTS = [
        target("a.one", "A, Fig. 2(b), (c)", "agrees", "missed", "own"),
        target("a.two", "A, Fig. 2(a)", "agrees", "contradicted"),
        target("b.x", "B, table IV", "tie"),
    ]
    EFFECTS = {(of["id"], row["name"]): {"sign": "yes", "size": "", "value": "no" if row["verdict"] == "missed" else "yes"} for of in RESULTS for row in of["rows"]}

    def test_a_block_is_filled_and_the_rest_stays(self):
        text = tables.page("before\n<!-- counts a -->\nold\n<!-- end -->\nafter\n", self.RESULTS, [], self.EFFECTS)
        self.assertTrue(text.startswith("before\n<!-- counts a -->\n\n|figure|") and text.endswith("<!-- end -->\nafter\n"))
        self.assertNotIn("old", text)

    def test_targets_of_one_figure_are_one_line_and_what_is_not_counted_stands_apart(self):
        self.assertIn("|Fig. 2|2 of 3|3 of 3||2 of 3||1|0 of 1|\n", tables.counts("a", self.RESULTS, [], self.EFFECTS))

    def test_rows_that_agree_with_a_law_as_printed_are_counted_where_it_was_run(self):
        some = [of for of in self.RESULTS if of["id"].startswith("a.")]
        self.assertEqual([tables.as_printed(some, of) for of in ({"a.one": 1, "a.two": 1, "b.x": 5}, {"b.x": 5}, {})], ["2", "", ""])

    def test_papers_are_a_line_each_and_all(self):
        headlines = [{"id": "a.one", "verdict": "holds"}, {"id": "a.two", "verdict": "fails"}]
        lines = tables.counts("papers", self.RESULTS, headlines, self.EFFECTS).splitlines()[2:]
        cells = [["[A](a.md)", "1 of 2", "2 of 3"], ["[B](b.md)", "", "0 of 1"], ["all", "1 of 2", "2 of 4"]]
        self.assertEqual([line.split("|")[1:4] for line in lines], cells)

    def test_a_source_is_shown_by_its_figure(self):
        sources = {"P, Figs. 5.15 and 5.16": "Figs. 5.15 and 5.16", "P, section 6.3.1": "Section 6.3.1", "P, Table III; RFC 6040, Fig. 4": "Table III",
                   "P, Fig. 9(a), section 6.2.1: little": "Fig. 9"}
        self.assertEqual({source: tables.figure(source) for source in sources}, sources)


class Page(unittest.TestCase):
    PART = {"says": "delay", "verdict": "holds", "published": 0.25, "ours": 0.5, "low": 0.4, "high": 0.6, "needs": "interval below 1, 0.0625 to 0.5"}
    HEADLINE = {"id": "a.b", "verdict": "holds", "claim": "less <delay>", "published": "a quarter", "source": "Fig. 1", "conditions": "None.", "null": "A ratio of 1.",
                "null_fails": True, "seeds": 10, "first_seed": 9001, "seconds": 12.4, "parts": [PART]}

    def test_the_page_is_that_of_the_results_and_needs_no_network(self):
        text = page.whole()
        self.assertEqual(text.count("<article"), 52)
        self.assertNotRegex(text, r"<script|src=.https?:|@import|url\(")

    def test_a_card_has_claim_effects_null_and_the_command(self):
        card = page.card(self.HEADLINE, {})
        for words in ("less &lt;delay&gt;", "<b>0.5</b> [0.4, 0.6]", "published <b>0.25</b>", "Its runs fail the headline", "12 s of one processor, 10 seeds from 9001",
                      "tidemark-papers --headlines --only a.b"):
            self.assertIn(words, card)
        unrun = page.card({**self.HEADLINE, "verdict": "not-run", "parts": []}, {})
        self.assertIn("not run", unrun)
        self.assertNotIn("processor", unrun)

    def test_a_missed_headline_says_its_cause_and_one_that_holds_does_not(self):
        known = {"cause": "The encoder is slow.", "shown": "results/a.csv", "picture": "a.fig1"}
        missed = page.card({**self.HEADLINE, "verdict": "fails"}, known)
        self.assertIn('The encoder is slow. <a href="https://github.com/tidemark-l4s/tidemark/blob/main/results/a.csv">', missed)
        held = page.card(self.HEADLINE, known)
        self.assertNotIn("slow", held)
        self.assertIn("_images/a.fig1.svg", held)

    def test_every_missed_headline_has_a_cause_and_every_cause_its_run(self):
        causes, headlines = page.read_causes(), {of["id"]: of["verdict"] for of in tables.read_headlines()}
        self.assertEqual(set(causes) - set(headlines), set())
        missed = {name for name, verdict in headlines.items() if verdict in ("fails", "direction-only", "no-power")}
        self.assertEqual({name for name in missed if not causes.get(name, {}).get("cause")}, set())
        for name, known in causes.items():
            with self.subTest(name):
                files = [ROOT / known["shown"].partition("#")[0]] if "cause" in known else []
                files += [DATA / f"pictures/{known['picture']}.csv"] if "picture" in known else []
                self.assertEqual([file for file in files if not file.exists()], [])

    def test_a_bar_has_the_published_effect_in_its_middle_and_the_bounds(self):
        of = page.ratios(self.PART)
        self.assertAlmostEqual(of["ours"], math.log(2))
        self.assertAlmostEqual(of["from"], math.log(0.25))
        self.assertIn('class="one" style="left:50%"', page.bar(self.PART))
        self.assertEqual(page.bar({**self.PART, "ours": -0.5}), "", "another sign has no ratio")

    def test_the_slope_of_ours_on_the_published_effects_stands_below_the_scatter(self):
        parts = [{**self.PART, "published": value, "ours": value**0.5} for value in (0.1, 2.0, 30.0)]
        self.assertIn("<b>0.50</b>", page.scatter([{**self.HEADLINE, "parts": parts}], True))
        self.assertEqual(page.scatter([self.HEADLINE], True), "")


if __name__ == "__main__":
    unittest.main()
