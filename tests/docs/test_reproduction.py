"""Holds the pages of docs/reproduction/ against targets, pictures and results."""

import importlib.util
import pathlib
import re
import tomllib
import unittest

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "docs" / "reproduction"
MAX_PICTURE = 200_000
"""Bytes of a picture."""

spec = importlib.util.spec_from_file_location("tables", FOLDER / "tables.py")
tables = importlib.util.module_from_spec(spec)
spec.loader.exec_module(tables)


def row(name: str, verdict: str, **others: object) -> dict:
    """Gives a row of the results."""
    return {"name": name, "verdict": verdict, "ours": [{"formula": "f", "mean": 1.23456, "half": 0.1}]} | others


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

    def test_each_target_has_a_place_and_each_place_a_target(self):
        files = (ROOT / "scenarios" / "papers" / "targets").glob("*.toml")
        targets = [target["id"] for file in files for target in tomllib.loads(file.read_text()).get("target", [])]
        places = tables.places(list(self.pages.values()))
        self.assertEqual(sorted({tables.place(target, places) or target for target in targets}), sorted(places))

    def test_each_picture_is_shown_once_and_has_its_table(self):
        shown = [name for page in self.pages.values() for name in re.findall(r"\(pictures/([\w.-]+)\.svg\)", page)]
        drawn = {file.stem: file for file in (FOLDER / "pictures").glob("*.svg")}
        self.assertEqual(sorted(shown), sorted(drawn))
        self.assertEqual(sorted(drawn), sorted(file.stem for file in (FOLDER / "pictures").glob("*.csv")))
        self.assertLess(max(file.stat().st_size for file in drawn.values()), MAX_PICTURE)

    def test_a_reader_finds_each_figure_of_an_evaluation_by_its_number(self):
        self.assertEqual(numbered("## Table 5.1 and Fig. 5.1: x\n## Figs. 5.4 to 5.6: y\n"), {"Table 5.1", "Fig. 5.1", "Fig. 5.4", "Fig. 5.5", "Fig. 5.6"})
        for page, names in EVALUATIONS.items():
            self.assertEqual([name for name in names if name not in numbered(self.pages[page])], [], page)

    def test_tables_are_those_of_the_results(self):
        results, places = tables.read(), tables.places(list(self.pages.values()))
        for name, page in self.pages.items():
            self.assertEqual(
                tables.page(page, results, places), page, f"{name}: run python3 results/papers/tables.py"
            )


class Tables(unittest.TestCase):
    def test_a_block_is_filled_and_the_rest_stays(self):
        target = {"id": "a.b", "verdict": "agrees", "rows": [row("x, |y|", "agrees", published=1, agrees_if="1 to 2")]}
        page = tables.page("before\n<!-- rows a.b -->\nold\n<!-- end -->\nafter\n", {"a.b": target}, ["a.b"])
        self.assertIn("| x, \\|y\\| | 1 | 1.235 ± 0.1 | 1 to 2 | agrees |", page)
        self.assertIn("**agrees**, 1 of 1 rows agree.", page)
        self.assertTrue(
            page.startswith("before\n<!-- rows a.b -->\n\n[a.b]") and page.endswith("<!-- end -->\nafter\n")
        )
        self.assertNotIn("old", page)

    def test_of_many_rows_those_are_shown_that_do_not_agree(self):
        rows = [row(f"r{k}", "agrees") for k in range(20)] + [
            row("bad", "missed"),
            row("a claim of ours", "missed", own=True),
        ]
        text = tables.table({"id": "a", "verdict": "missed", "rows": rows})
        self.assertIn("20 of 21 rows agree. Those that do not:", text)
        self.assertEqual(
            [line for line in text.split("\n") if line.startswith("| r")],
            ["| row | published | ours | agrees if | verdict |"],
        )
        self.assertIn("| bad |", text)
        self.assertNotIn("a claim of ours", text)

    def test_what_was_fitted_or_is_contradicted_is_not_counted(self):
        rows = [row("a", "better"), row("b", "calibrated"), row("c", "contradicted"), row("d", "tie")]
        self.assertEqual(tables.count(rows), "1 of 2 rows agree")

    def test_a_claim_has_its_orders_between_its_values(self):
        values = [{"mean": mean, "half": half} for mean, half in ((10.0, 1e-15), (16.93, 0.33), (30.0, None))]
        claim = {"name": "x", "verdict": "agrees", "ours": values, "agrees_if": "<= <"}
        self.assertEqual(tables.ours(claim), "10 ≤ 16.93 ± 0.33 < 30")

    def test_each_case_stands_beside_its_limit(self):
        def case(name: str, delay: float) -> dict:
            return {"case": name, "rate": 30.0, "delay": delay, "oracle_rate": 40.0, "oracle_delay": 10.0}

        few = tables.limit({"limit": [case("a", 15.0), case("b", 80.0)], "limit_says": "A caveat."})
        self.assertEqual(
            few,
            "an oracle has 40.0 Mbit/s at 10.0 ms; `a` has 75 % of its rate at 1.50 times its delay; "
            "`b` has 75 % of its rate at 8.00 times its delay. A caveat.",
        )
        many = tables.limit({"limit": [case(f"c{k}", 10.0 + k) for k in range(9)]})
        self.assertIn("9 cases have 75 % of its rate at 1.00 to 1.80 times its delay.", many)
        self.assertEqual(tables.limit({"limit": [], "limit_says": "no oracle, since the result is a header."}), "no oracle, since the result is a header.")

    def test_the_page_with_every_row_is_read(self):
        page = """# P\n\n## a.b\n\nA, Fig. 1: **missed (1 of 3)**.\nText.\n
| figure | published | ours | agrees if | |\n| --- | ---: | ---: | --- | --- |\n| x | 1.5 | 2.00 | 1 to 2 | **missed** |\n
| what must hold | ours | |\n| --- | --- | --- |\n| y | 1 and 2 | holds |\n\nA note.\n\n## c\n\nC: **agrees**.\n"""
        targets = tables.of_page(page)
        self.assertEqual(list(targets), ["a.b", "c"])
        x, y = targets["a.b"]["rows"]
        self.assertEqual((x["published"], tables.ours(x), x["verdict"]), (1.5, "2.00", "missed"))
        self.assertEqual((y["name"], tables.ours(y), y["verdict"]), ("y", "1 and 2", "agrees"))

    def test_a_target_without_results_is_a_link(self):
        self.assertIn("[a.b](../measured/reproduction.md)", tables.page("<!-- rows a.b -->\n<!-- end -->", {}, ["a.b"]))

    def test_a_target_stands_where_the_longest_name_fits(self):
        self.assertEqual(tables.place("a.fig2.wired", ["a.fig2", "a.fig2.wired"]), "a.fig2.wired")
        self.assertEqual(tables.place("a.fig2.other", ["a.fig2", "a.fig2.wired"]), "a.fig2")
        self.assertIsNone(tables.place("a.fig20", ["a.fig2"]))


if __name__ == "__main__":
    unittest.main()
