"""Compares the index of results/ with its files and their pages, and the findings' tables with the data."""

import csv
import pathlib
import sys
import unittest

import check

ROOT = pathlib.Path(__file__).parents[2]
FOLDER = ROOT / "results"


class Index(unittest.TestCase):
    def setUp(self):
        with (FOLDER / "index.csv").open(newline="") as file:
            self.lines = list(csv.DictReader(file))

    def test_each_table_has_a_line_and_each_line_a_table(self):
        files = (file for file in FOLDER.rglob("*") if file.suffix in (".csv", ".json") and file.name != "index.csv")
        self.assertEqual(sorted(line["file"] for line in self.lines), sorted(str(file.relative_to(FOLDER)) for file in files))

    def test_each_line_says_page_command_commit_and_machine(self):
        for line in self.lines:
            self.assertTrue(all(line.values()), line)
            self.assertTrue(line["page"] in check.BUILT or (ROOT / line["page"]).is_file(), line)


class Tables(unittest.TestCase):
    def test_the_measured_tables_of_the_pages_are_those_of_the_data(self):
        sys.path.insert(0, str(FOLDER / "draw"))
        import findings

        pages = {file: file.read_text() for file in (ROOT / "docs").rglob("*.md")}
        for file, text in pages.items():
            self.assertEqual(findings.page(file.stem, text), text, f"{file}: run python3 results/draw/findings.py")
        answers = {file.stem for file, text in pages.items() if file.parent.name == "measured" and "<!-- table -->\n" in text}
        self.assertEqual(answers, {file.stem for file in (ROOT / "docs/measured").glob("*.md")} - {"README"})
        self.assertEqual(answers, findings.FINDINGS.keys())


if __name__ == "__main__":
    unittest.main()
