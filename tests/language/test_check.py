"""Tests of the check itself: it finds planted faults, and passes correct texts."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import check  # noqa: E402

SECTIONS = {
    "RFC 9332": {"2.5": "Normative Requirements for a DualQ Coupled AQM", "A": "Example DualQ Coupled PI2 Algorithm"},
    "RFC 9768": {"table 2": "(not verified)", "A.1": "Example Algorithm", "3.2": "AccECN Feedback"},
    "TS 38.214": {"5.1": "UE procedure", "5.1.3.1": "Modulation order", "6.1": "UE procedure"},
    "TS 38.101-1": {"6.2.1": "UE maximum output power"},
}


def texts(faults):
    """Gives the texts of faults."""
    return [fault.text for fault in faults]


class Openers(unittest.TestCase):
    """Rule 1."""

    def test_planted_comments_are_found_with_their_lines(self):
        words = ["What it is.", "How many.", "Of these, some.", "As above.", "Where it lies.", "The same of media.",
                 "So many units.", "Another kind.", "Whoever comes.", "Which way.", "From a list.", "Its type.",
                 "*When* it came."]
        for comment in words:
            count, faults = check.bad_openers("a.rs", f"fn a() {{}}\n\n/// {comment}\nfn b() {{}}\n")
            self.assertEqual((count, [fault.line for fault in faults]), (1, [3]), comment)

    def test_verbs_and_nouns_pass(self):
        for comment in ["Reads a field.", "The type.", "A list.", "`as` is a keyword.", "True for L4S.", "00: Not-ECT.",
                        "Whole SDUs.", "Asks the peer.", "AT commands.", "One packet.", "Offset in bytes.", "Inner field."]:
            self.assertEqual(check.bad_openers("a.rs", f"/// {comment}\n")[1], [], comment)

    def test_only_the_first_line_of_a_comment_counts(self):
        source = "//! The page.\n//! What follows.\n\n/// Reads.\n///\n/// What is left.\nfn f() {}\n    // What else.\n"
        self.assertEqual(check.bad_openers("a.rs", source), (2, []))

    def test_docstrings_and_jsdoc_comments_are_read_as_well(self):
        python = '"""The module."""\n\n\ndef f():\n    """What it does."""\n    "What else."\n'
        count, faults = check.bad_openers("a.py", python)
        self.assertEqual((count, [fault.line for fault in faults]), (2, [5]))
        self.assertEqual(check.bad_openers("run", "#!/usr/bin/env python3\n" + python)[0], 2)
        script = "/** Draws. */\nf()\n/**\n * What is drawn.\n */\n/* What else. */\n// What more.\n"
        count, faults = check.bad_openers("a.ts", script)
        self.assertEqual((count, [fault.line for fault in faults]), (2, [3]))

    def test_a_crate_passes_below_two_percent_and_fails_at_it(self):
        good = "".join(f"/// Reads.\nfn f{n}() {{}}\n" for n in range(98))
        for bad, fails in ((1, False), (2, True)):
            source = good + "".join(f"/// What.\nfn g{n}() {{}}\n" for n in range(bad))
            with repository({"crates/core/src/lib.rs": source}) as root:
                faults, _ = check.check(root, ("crates/core",), "")
            self.assertEqual(len(faults), bad if fails else 0)


class Documentation(unittest.TestCase):
    """Rule 4."""

    def test_items_that_other_modules_see_without_a_doc_comment_are_found(self):
        good = "/// A.\n#[derive(Clone)]\npub struct A {\n    /// B.\n    #[serde(default)]\n    pub b: u8,\n    c: u8,\n}\npub mod d;\nfn e() {}\n"
        self.assertEqual(check.undocumented("a.rs", good), [])
        for bad in ["pub fn a() {}", "pub const fn a() {}", "#[derive(Clone)]\npub enum A {}", "pub(crate) struct A;", "pub(super) type B = u8;",
                    "/// A.\nstruct A {\n    pub b: u8,\n}"]:
            self.assertEqual(len(check.undocumented("a.rs", bad)), 1, bad)


class References(unittest.TestCase):
    """Rule 2."""

    def faults(self, source, held=True):
        """Checks a source that the rules cover."""
        return texts(check.bad_references("a.rs", source, SECTIONS, held))

    def test_the_fixed_form_passes(self):
        for source in ["(RFC 9332 2.5)", "RFC 9332 2.5.", "TS 38.214 5.1 and 6.1", "TS 38.214 5.1, 6.1: both",
                       "TS 38.214 table 5.1.3.1-1.", "TS 38.101-1 6.2.1", "RFC 9768 A.1", "RFC 9768 table 2", "RFC 9768, twice",
                       "/// as RFC 9332\n    /// 2.5 has it", "see RFC 9332", "RFC 9768, 20 packets",
                       "TS 38.214\n2. An item"]:
            self.assertEqual(self.faults(source), [], source)

    def test_an_unknown_section_is_found_with_its_line_and_what_would_be_right(self):
        faults = check.bad_references("a.rs", "//\n// RFC 9332 2.6\n", SECTIONS, False)
        self.assertEqual([(fault.file, fault.line) for fault in faults], [("a.rs", 2)])
        self.assertIn("2.5 Normative Requirements for a DualQ Coupled AQM", faults[0].text)
        for source in ["TS 38.214 5.1 and 6.2", "TS 38.214 5.1, 5.1.9", "RFC 9768 table 3", "RFC 1 1", "RFC 9332\n// 2.6",
                       "TS 38.214 table 5.1.3.2-1", "TS 38.101-2 6.2.1", "TS 38.214 5.1 to 7.1"]:
            self.assertEqual(len(self.faults(source)), 1, source)

    def test_a_wrapped_reference_is_found_in_every_kind_of_comment(self):
        for sign in ["/// ", "//! ", "// ", "# ", " * ", ""]:
            faults = check.bad_references("a", f"{sign}as RFC 9332\n{sign}2.6 has it", SECTIONS, False)
            self.assertEqual([fault.line for fault in faults], [1], sign)

    def test_a_draft_is_cited_with_its_version(self):
        sections = {"draft-ietf-ccwg-bbr-06": {"5.5.9": "BBR.extra_acked"}}
        for source, faults in [("draft-ietf-ccwg-bbr-06 5.5.9", 0), ("after draft-ietf-ccwg-bbr", 0),
                               ("draft-ietf-ccwg-bbr-06 5.5.8", 1), ("draft-ietf-ccwg-bbr 5.5.9", 1)]:
            self.assertEqual(len(check.bad_references("a.rs", source, sections, True)), faults, source)
        self.assertEqual(len(check.read_sections("draft-ietf-ccwg-bbr\t5.5.9\tBBR.extra_acked\n", "l")[1]), 1)

    def test_another_form_is_found_in_a_held_crate_only(self):
        for source, form in [("RFC 9332 section 2.5", "RFC 9332 2.5"), ("RFC 9332, section 2.5", "RFC 9332 2.5"),
                             ("RFC 9332 §2.5", "RFC 9332 2.5"), ("RFC 9332, 2.5", "RFC 9332 2.5"),
                             ("TS 38.214 clause 5.1", "TS 38.214 5.1"), ("RFC 9332 appendix A", "RFC 9332 A")]:
            self.assertEqual(self.faults(source), [f"write `{form}`"], source)
            self.assertEqual(self.faults(source, held=False), [], source)
        for source in ["section 2.5 of RFC 9332", "RFC9332", "TS38.214"]:
            self.assertEqual(len(self.faults(source)), 1, source)
            self.assertEqual(self.faults(source, held=False), [], source)

    def test_an_unknown_section_in_another_form_is_found_everywhere(self):
        self.assertEqual(len(self.faults("RFC 9332 section 2.6", held=False)), 1)

    def test_the_list_is_read_with_its_errors(self):
        sections, faults = check.read_sections("# why\nRFC 1\t2\tTitle\nRFC 1\t2\tTitle\nRFC 1 3 Title\nRFC1\t4\tTitle\n", "s")
        self.assertEqual(sections["RFC 1"], {"2": "Title"})
        self.assertEqual([fault.line for fault in faults], [3, 4, 5])

    def test_a_listed_section_that_is_cited_nowhere_is_found(self):
        with repository({"README.md": "RFC 1 2.1\n"}) as root:
            faults, _ = check.check(root, (), "RFC 1\t2.1\tOne\nRFC 1\t2.2\tTwo\n")
        self.assertEqual(texts(faults), ["RFC 1 2.2 is cited nowhere: remove it"])


class Names(unittest.TestCase):
    """Rule 3."""

    def test_a_long_test_name_is_found(self):
        for length, found in ((80, 0), (81, 1)):
            source = f"#[test]\n#[ignore]\nfn {'a' * length}() {{}}\nfn {'b' * 90}() {{}}\n"
            faults = check.bad_names("a.rs", source)
            self.assertEqual(len(faults), found)
            self.assertTrue(all(fault.line == 3 for fault in faults))

    def test_old_names_of_bounds_are_found(self):
        faults = check.bad_names("a.rs", "const MAX_UES: u32 = 1;\nconst MOST_UES: u32 = 1;\nconst ALMOST: u8 = LEAST_SN;\n")
        self.assertEqual([fault.line for fault in faults], [2, 3])


class Repository(unittest.TestCase):
    """The check as a whole."""

    def test_the_table_has_every_crate_and_says_which_are_held(self):
        files = {"crates/core/src/lib.rs": "/// Reads.\nfn f() {}\n", "crates/cell/src/lib.rs": "/// What.\nfn f() {}\n"}
        with repository(files) as root:
            faults, table = check.check(root, ("crates/core",), "")
        self.assertEqual(faults, [])
        self.assertIn("100.0%", table[1])
        self.assertTrue(table[2].startswith("crates/core") and table[2].endswith("held"))

    def test_crates_that_are_held_exist(self):
        root = HERE.parents[1]
        self.assertEqual([crate for crate in check.HELD if not (root / crate).is_dir()], [])


def repository(files):
    """Makes a Git repository with these files in a temporary folder."""
    folder = tempfile.TemporaryDirectory()
    root = pathlib.Path(folder.name)
    subprocess.run(["git", "init", "--quiet", str(root)], check=True)
    for name, content in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(content)

    class Root:
        """The folder, for a `with` statement."""

        def __enter__(self):
            return root

        def __exit__(self, *_):
            folder.cleanup()

    return Root()


if __name__ == "__main__":
    unittest.main()
