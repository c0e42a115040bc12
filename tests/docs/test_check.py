"""Tests the check of the documentation with small repositories that have one fault each."""

import pathlib
import tempfile
import unittest
import unittest.mock

import check


def faults(**files: str) -> list[str]:
    """Checks a repository of these files, whose names have `__` for a slash and `_md` for their ending."""
    with tempfile.TemporaryDirectory() as folder:
        root, names = pathlib.Path(folder), []
        for name, text in files.items():
            name = name.replace("__", "/").replace("_md", ".md").replace("_rs", ".rs")
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
            names.append(name)
        return check.check(root, names)


class Links(unittest.TestCase):
    def test_a_map_and_a_page_that_it_names_are_right(self):
        page = "# Page\n\n## Two words: `code`\n"
        self.assertEqual(faults(docs__README_md="[a](guide/a.md#two-words-code)", docs__guide__a_md=page), [])

    def test_a_link_to_no_file_is_a_fault(self):
        self.assertIn("leads nowhere", faults(docs__README_md="\n[a](b.md)")[0])

    def test_a_link_to_no_heading_is_a_fault(self):
        self.assertIn("no heading", faults(docs__README_md="# Map\n[a](#elsewhere)")[0])

    def test_the_second_heading_of_a_name_has_a_number(self):
        self.assertEqual(check.anchors("# A\n## A\n## B_c-d, e\n"), {"a", "a-1", "b_c-d-e"})

    def test_a_page_that_nobody_names_is_a_fault(self):
        self.assertEqual(len(faults(docs__README_md="# Map", docs__a_md="# A")), 1)

    def test_a_folder_stands_for_its_readme(self):
        self.assertEqual(faults(docs__README_md="[all](d)", docs__d__README_md="[a](a.md)", docs__d__a_md="# A"), [])

    def test_code_is_no_link(self):
        self.assertEqual(faults(docs__README_md="    [a](b.md)\n```\n[a](b.md)\n```\n`[a](b.md)`"), [])

    def test_a_path_in_a_source_has_to_exist(self):
        self.assertEqual(faults(docs__README_md="# Map", src__a_rs="// docs/gone.md")[0], "src/a.rs:1: there is no docs/gone.md")

    def test_a_source_that_a_page_names_has_to_exist(self):
        self.assertEqual(len(faults(docs__README_md="`crates/x/src/gone.rs` and `crates/x/src/a.rs`", crates__x__src__a_rs="")), 1)

    def test_what_a_page_gives_to_cargo_and_make_has_to_exist(self):
        page = "Text of --example prose.\n\n    cargo run -p tidemark-a --example there\n\n`make lint`"
        files = {"crates__a__examples__there_rs": "", "crates__a__Cargo.toml": 'name = "tidemark-a"', "Makefile": "lint: web\n"}
        self.assertEqual(faults(docs__README_md=page, **files), [])
        self.assertEqual(len(faults(docs__README_md=page)), 3)

    def test_a_test_may_be_a_folder(self):
        self.assertEqual(faults(docs__README_md="`cargo test --test a`", crates__x__tests__a__main_rs=""), [])


class Built(unittest.TestCase):
    MAP = "[a](reference/scenario.md#cell)"

    def faults(self, page: str | None) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            (root / "docs").mkdir()
            (root / "docs/README.md").write_text(self.MAP)
            if page is not None:
                (root / "book/reference").mkdir(parents=True)
                (root / "book/reference/scenario.md").write_text(page)
            return check.check(root, ["docs/README.md"], root / "book")

    def test_a_link_to_a_page_that_is_not_built_yet_is_right(self):
        self.assertEqual(self.faults(None), [])

    def test_an_anchor_of_a_built_page_is_checked(self):
        self.assertEqual(self.faults("# Fields\n\n## Cell\n"), [])
        self.assertIn("leads to no heading of docs/reference/scenario.md", self.faults("# Fields\n")[0])

    def test_a_link_of_a_built_page_is_checked_from_its_place_in_the_book(self):
        self.assertEqual(self.faults("## Cell\n[map](../README.md)"), [])
        self.assertIn("no file docs/reference/README.md", self.faults("## Cell\n[map](README.md)")[0])


class Form(unittest.TestCase):
    REST = "\n\n![a](a/a.svg)\n\n## Where it falls short\n\n## Repeat it\n\n    run a     # as of 1234567\n"
    TABLE = "| a |\n" * 3
    ANSWERED = "# Is it?\n\n**It is.**\n\n"

    def faults(self, page: str) -> list[str]:
        page = page.replace("# Is it?\n", self.ANSWERED, 1) + ("" if "| " in page else f"\n\n{self.TABLE}") + self.REST
        return [fault.partition(": ")[2] for fault in check.form("docs/measured/a.md", page)]

    def test_a_short_page_that_answers_a_question_is_right(self):
        self.assertEqual(self.faults("# Is it?\n\nIt is.\n" + "| a |\n" * 14), [])

    def test_a_finding_has_one_table_one_picture_and_its_sections(self):
        self.assertIn("2 tables and 1 pictures", self.faults(f"# Is it?\n{self.TABLE}\n{self.TABLE}")[0])
        self.assertEqual(len(list(check.form("docs/measured/a.md", "# Is it?\n"))), 5)
        self.assertEqual(list(check.form("docs/guide/a.md", "# Do it\n")), [])

    def test_an_eleventh_finding_is_a_fault(self):
        pages = {f"docs__measured__{name}_md": f"{self.ANSWERED}{self.TABLE}{self.REST}" for name in "abcdefghijk"}
        drawn = "\n".join(f"[{name}](measured/{name}.md)" for name in "abcdefghijk")
        self.assertEqual(faults(docs__README_md=drawn, **pages), ["docs/measured/:1: 11 findings where 10 are the bound: two are one, or one is a page of another kind"])
        del pages["docs__measured__k_md"]
        self.assertEqual(faults(docs__README_md=drawn.removesuffix("[k](measured/k.md)"), **pages), [])

    def test_long_lines_cells_tables_and_pages_are_faults(self):
        self.assertEqual(self.faults("# Is it?\n" + "x" * 121), ["a line of more than 120 characters"])
        self.assertEqual(self.faults("# Is it?\n| " + "x" * 61 + " | y |"), ["a cell of more than 60 characters: " + "x" * 61])
        self.assertEqual(self.faults("# Is it?\n" + "| a |\n" * 16), ["a table of more than 12 rows: the rest is data"])
        self.assertEqual(self.faults("# Is it?\n" + "\n" * 80 + "a"), ["a finding of more than 90 lines"])
        self.assertEqual(self.faults("# It is\n\n**So.**\n"), ["the title of a finding is a question"])

    def test_a_long_command_is_a_fault_and_a_broken_one_is_none(self):
        self.assertEqual(self.faults("# Is it?\n\n    run " + "x" * 120), ["a line of more than 120 characters"])
        self.assertEqual(self.faults("# Is it?\n\n    run " + "x" * 100 + " \\\n      " + "x" * 100), [])

    def test_pages_outside_docs_have_the_same_form(self):
        long = "x" * 121
        self.assertEqual(faults(docs__README_md="", a_md=long, results__b__README_md=long),
                         [f"{file}:1: a line of more than 120 characters" for file in ("a.md", "results/b/README.md")])

    def test_tables_of_results_are_as_short_as_those_of_findings(self):
        self.assertEqual(len(list(check.form("results/README.md", "| a |\n" * 15))), 1)
        self.assertEqual(list(check.form("ARCHITECTURE.md", "| a |\n" * 15)), [])

    def test_the_first_line_of_a_finding_answers_in_bold(self):
        answer = "the first line of a finding answers its title, in bold"
        page = f"# Is it?\n\nIt may be.\n{self.TABLE}{self.REST}"
        self.assertEqual(list(check.form("docs/measured/a.md", page)), [f"docs/measured/a.md:3: {answer}"])

    def test_a_finding_names_its_commit_once(self):
        self.assertIn("names its commit once", self.faults("# Is it?\nAs of 1234567.\n")[0])

    def test_nine_in_ten_sentences_are_short(self):
        short, long = "It is so.\n", "It is\n" + "very\n" * 40 + "so.\n"
        self.assertEqual(self.faults("# Is it?\n\n" + short * 19 + long), [])
        self.assertIn("a tenth of the sentences", self.faults("# Is it?\n\n" + short * 5 + long)[0])

    def test_items_of_a_list_are_sentences(self):
        self.assertEqual(check.long_sentences("- one two three\n- four five six\n" * 20), 3)

    def test_code_is_no_sentence_and_a_colon_ends_none(self):
        self.assertEqual(check.long_sentences("One two:\n\n```\na b c d e f\n```\n\n    a b c d e f\n"), 2)
        self.assertEqual(check.long_sentences("One two: three four; five six."), 6)

    def test_a_link_in_a_cell_counts_as_its_text(self):
        self.assertEqual(self.faults("# Is it?\n| [a](" + "x" * 200 + ") |"), [])

    def test_more_words_than_the_bound_are_a_fault(self):
        with unittest.mock.patch.object(check, "MAX_WORDS", 3):
            self.assertEqual(faults(docs__README_md="a b c", a_md="d e"), [])
            self.assertEqual(len(faults(docs__README_md="a b c d")), 1)


class Tests(unittest.TestCase):
    SOURCE = "    #[test]\n    #[ignore]\n    fn there() {}\n\nfn helper() {}\n"

    def faults(self, row: str) -> list[str]:
        page = f"{row}\n"
        return faults(docs__README_md="[a](concepts/threats.md)", docs__concepts__threats_md=page, src__a_rs=self.SOURCE)

    def test_a_test_that_is_there_is_right(self):
        self.assertEqual(self.faults("- **Bytes**: nothing.\n  `there` in [a.rs](../../src/a.rs)."), [])

    def test_a_test_that_is_gone_is_a_fault(self):
        self.assertEqual(self.faults("- **Bytes**: nothing.\n  `gone` in [a.rs](../../src/a.rs)."),
                         ["docs/concepts/threats.md:2: src/a.rs has no test gone"])

    def test_a_function_that_is_no_test_is_a_fault(self):
        self.assertEqual(len(self.faults("- **Bytes**: `helper` in [a.rs](../../src/a.rs).")), 1)

    def test_a_threat_without_a_test_is_a_fault(self):
        self.assertEqual(self.faults("- **Bytes**: [a.rs](../../src/a.rs)."),
                         ["docs/concepts/threats.md:1: the threat names no test, as `name` in [file](path)"])

    def test_a_test_in_python_begins_with_its_prefix(self):
        page = "[m](README.md) `test_a` in [t.py](../t.py), `other` in [t.py](../t.py)"
        self.assertEqual(faults(docs__README_md=page, **{"t.py": "def test_a():\n    pass\n\ndef other():\n    pass\n"}),
                         ["docs/README.md:1: t.py has no test other"])


class Budgets(unittest.TestCase):
    PAGE = "# Figures\n\n2 and 7\n\n## Speed\n\n1,000 of 3.5\n\n### Beside others\n\n4\n\n## Memory\n\n5\n"

    def faults(self, budget: str, measured: str, section: str = "speed") -> list[str]:
        return check.budgets(self.PAGE, f"what,budget,measured,section\nx,{budget},{measured},{section}\n")

    def test_numbers_of_the_section_and_of_those_below_it_count(self):
        self.assertEqual(self.faults("1000", "3.5 to 4"), [])

    def test_a_number_of_another_section_is_a_fault(self):
        self.assertEqual(self.faults("1000", "5 to 7"), [f"{check.BUDGETS}:2: {check.SPEED}#speed does not have {one}" for one in "57"])

    def test_a_part_of_a_number_is_another_number(self):
        self.assertEqual(len(self.faults("100", "3")), 2)

    def test_a_row_of_no_section_is_a_fault(self):
        self.assertEqual(len(self.faults("5", "5", "all")), 1)


if __name__ == "__main__":
    unittest.main()
