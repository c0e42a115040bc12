"""Holds the index of results/ against its files and the pages that they are of."""

import csv
import pathlib
import unittest

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
            self.assertTrue((ROOT / line["page"]).is_file(), line)


if __name__ == "__main__":
    unittest.main()
