"""Holds the check of the documentation's links against small repositories with one fault each."""

import pathlib
import tempfile
import unittest

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


if __name__ == "__main__":
    unittest.main()
