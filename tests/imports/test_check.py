"""Tests the check of imports with small crates."""

import pathlib
import tempfile
import unittest

import check


def arrows(**files: str) -> set[tuple[str, str]]:
    """Gives the imports of a crate of these files, whose names have `__` for a slash."""
    with tempfile.TemporaryDirectory() as folder:
        source = pathlib.Path(folder)
        for name, text in {"lib": "", **files}.items():
            path = source / f"{name.replace('__', '/')}.rs"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return check.Crate(source).arrows()


class Imports(unittest.TestCase):
    def test_a_name_is_followed_to_the_file_that_defines_it(self):
        crate = {"lib": "pub use m::Item;", "m__mod": "mod part;\npub use part::Item;", "m__part": "pub struct Item;"}
        self.assertEqual(arrows(**crate, user="use crate::Item;"), {("user.rs", "m/part.rs")})

    def test_nested_trees_and_paths_in_code_count(self):
        files = {"a": "use crate::{b::{B, b2}, c};\nfn f() { crate::d::g() }", "b": "", "c": "", "d": ""}
        self.assertEqual(arrows(**files), {("a.rs", "b.rs"), ("a.rs", "c.rs"), ("a.rs", "d.rs")})

    def test_comments_strings_and_tests_do_not_count(self):
        text = '// use crate::b::B;\nconst A: &str = "crate::b::B";\n#[cfg(test)]\nmod tests {\n    use crate::b::B;\n}\n'
        self.assertEqual(arrows(a=text, b=""), set())

    def test_super_counts_as_the_folder_and_as_the_one_above(self):
        crate = {"m__mod": "", "m__n__mod": "", "m__n__x": "use super::y::Y;\nuse super::super::o::O;", "m__n__y": "", "m__o": ""}
        self.assertEqual(arrows(**crate), {("m/n/x.rs", "m/n/y.rs"), ("m/n/x.rs", "m/o.rs")})

    def test_a_circle_has_all_files_that_reach_each_other(self):
        found = check.circles({("a", "b"), ("b", "c"), ("c", "a"), ("c", "d"), ("e", "f"), ("f", "e")})
        self.assertEqual(found, [["a", "b", "c"], ["e", "f"]])

    def test_an_import_from_below_runs_against_the_layers(self):
        table = "crates/x\t0\ncrates/x\ttop\ta.rs\ncrates/x\tbottom\tb/ c.rs\n"
        _, layers = check.read_layers(table)["crates/x"]
        wrong, missing = check.against({("a.rs", "b/d.rs"), ("c.rs", "a.rs"), ("a.rs", "new.rs")}, layers)
        self.assertEqual((wrong, missing), ([("c.rs", "a.rs")], {"new.rs"}))

    def test_a_file_of_tests_that_the_program_does_not_name_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            tests = pathlib.Path(folder)
            for name, text in {"it": "mod a;\nmod common;\n", "a": "", "b": ""}.items():
                (tests / f"{name}.rs").write_text(text)
            self.assertEqual(check.left_out(tests), ["b.rs"])


if __name__ == "__main__":
    unittest.main()
