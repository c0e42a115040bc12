#!/usr/bin/env python3
"""Checks the repository's language by the rules of CONTRIBUTING.md, 'Language'. Standard library only.

1. Doc comments of a crate that is held open with a verb or a noun, and so do the docstrings and JSDoc comments of
   `HELD_COMMENTS`. The share that opens with another word stays below 2 %. The shares of the other crates are printed,
   so that a crate joins `HELD` when it is done.
2. A reference to a section of a standard names one that sections.tsv lists, in the whole repository. In a crate that
   is held it has the one form of `TS 38.322 5.3.3`, `RFC 9332 2.5.1`, `TS 38.214 table 5.1.3.1-1`; further sections of
   the same standard follow after `,`, `and` or `to`. An Internet-Draft has its version, since sections move between them.
3. The names of a held crate's tests have at most 80 characters, and its constants say MAX_ and MIN_.
4. Every item of a held binary that other modules see has a doc comment, as rustc asks of a library's public items.

Prints one line a fault, as `file:line: fault`, and fails if there is any.
"""

import argparse
import ast
import dataclasses
import pathlib
import re
import subprocess
import sys

HELD = (
    "bindings/c",
    "bindings/python",
    "crates/cell",
    "crates/cli",
    "crates/core",
    "crates/emu",
    "crates/marker",
    "crates/radio",
    "crates/record",
    "crates/router",
    "crates/scenario",
    "crates/senders",
    "crates/sim",
    "crates/stream",
    "crates/study",
    "crates/version",
    "crates/wire",
)
"""Folders of the crates that the rules cover."""

BINARIES = ("crates/cli",)
"""Covered crates without a public interface: rustc's `missing_docs` skips them."""

HELD_COMMENTS = ("docs", "results", "sdn", "tests", "web")
"""Folders outside the crates whose Python and TypeScript comments rule 1 covers."""

MAX_SHARE = 0.02
"""Greatest share of a crate's doc comments that open with a word of `OPENERS`."""

MAX_TEST_NAME = 80
"""Most characters of a test's name."""

OPENERS = frozenset(
    # Relative and interrogative words.
    "how that what whatever when whenever where wherever whether which whichever while who whoever whose why "
    # Conjunctions and comparisons.
    "and as because both but either if neither nor or same so such than then though unless "
    # Prepositions.
    "above across after against along among around at before behind below beneath beside besides between beyond by "
    "during for from in inside into like of off on onto out outside over past per since through to toward towards under "
    "until up upon with within without "
    # Pronouns, whose noun would have to come first.
    "another anybody anything everybody everything he her his it its nobody nothing other others ours she somebody "
    "something their theirs them these they this those we you your".split()
)
"""Words, in lower case, that are neither verb nor noun nor the beginning of a noun phrase."""

GENERATED = re.compile(
    r"(^|/)(Cargo\.lock|package-lock\.json|scenario\.schema\.json|tidemark\.h)$|\.snap$|(^|/)proptest-regressions/"
)
"""Generated files, whose sources are checked instead."""

SECTIONS = pathlib.Path(__file__).with_name("sections.tsv")
OWN = "tests/language/"

STANDARD = r"(?:T[SR] \d\d\.\d{3}(?:-\d+)?|RFC \d+|draft-[a-z\d]+(?:-[a-z\d]+)*)"
# A standard as sections.tsv has it.
LISTED = r"(?:T[SR] \d\d\.\d{3}(?:-\d+)?|RFC \d+|draft-[a-z\d-]+-\d\d)"
# A space, or a line's end with the next line's indentation and comment signs.
SPACE = r"(?: |[ \t]*\n[ \t]*(?:(?://[/!]?|[#*>])[ \t]*)*)"
DOTTED = r"(?:[A-Z]\.\d+|\d+\.\d+)(?:\.\d+)*[a-z]?(?!\d)(?!\.\d)"
WORD = r"(?:sections?|clauses?|appendix|annex|§)"
FLOAT = r"(?:tables?|figures?|Fig\.|equation)"
REFERENCE = re.compile(
    rf"\b(?P<standard>{STANDARD})"
    rf"(?:(?P<comma>,?)(?P<gap>{SPACE})(?:(?P<word>{WORD}){SPACE}?)?"
    rf"(?:(?P<float>{FLOAT}){SPACE})?"
    rf"(?P<section>(?:{DOTTED}|(?:[A-Z]\.)?\d+|(?<=appendix )[A-Z]|(?<=annex )[A-Z])(?:-\d+\w?)?)(?![\w%])"
    rf"(?P<more>(?:(?:,{SPACE}|,?{SPACE}(?:and|to|or){SPACE}){DOTTED}(?:-\d+\w?)?(?![\w%]))*))?"
)
# Other ways to name a section: after the section's number, or without the space.
TURNED = re.compile(rf"\b{WORD}{SPACE}[A-Z\d.]+{SPACE}(?:of|in){SPACE}{STANDARD}")
JOINED = re.compile(r"\b(?:RFC\d{3,5}|T[SR]\d\d\.\d{3})\b(?![A-Za-z-])")
DOC = re.compile(r"\s*(?:///(?!/)|//!)(.*)")
JSDOC = re.compile(r"/\*\*(?!/)[ \t]*(?:\n[ \t]*\*)?(.*)")
TEST = re.compile(r"#\[test\]\s*(?:#\[[^\]]*\]\s*|//[^\n]*\n\s*)*(?:pub )?(?:unsafe )?fn (\w+)")
PUBLIC = re.compile(
    r"^[ \t]*(?P<doc>///[^\n]*\n)?(?:[ \t]*#\[(?:[^\[\]]|\[[^\]]*\])*\]\n)*[ \t]*"
    r"(?P<item>pub(?:\((?:crate|super)\))? (?:(?:const|async|unsafe) )*(?:(?:fn|struct|enum|trait|const|static|type) \w+|mod \w+ \{|\w+:))", re.M
)
OLD_BOUND = re.compile(r"\b(?:MOST|LEAST)_[A-Z][A-Z0-9_]*|\b[A-Z][A-Z0-9_]*_(?:MOST|LEAST)\b")


@dataclasses.dataclass(frozen=True)
class Fault:
    """A violation of a rule at a line of a file."""

    file: str
    line: int
    text: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}: {self.text}"


def line_of(text: str, offset: int) -> int:
    """Gives the line, counted from 1, of an offset into a text."""
    return text.count("\n", 0, offset) + 1


def opener(comment: str) -> str:
    """Gives the first word of a comment, of "The same" its second, in lower case and without signs around it. One in
    capitals, such as AT, is a noun and stays as it is."""
    words = re.sub(r"[^\w'’\-]+", " ", re.sub(r"^\W*`[^`]*`", " code ", comment)).split()
    if len(words) > 1 and words[0].lower() == "the" and words[1].lower() == "same":
        return "same"
    if not words:
        return ""
    return words[0] if len(words[0]) > 1 and words[0].isupper() else words[0].lower()


def doc_comments(source: str):
    """Gives line and first line of every doc comment of a Rust source."""
    within = False
    for number, line in enumerate(source.split("\n"), 1):
        match = DOC.match(line)
        if match and not within:
            yield number, match[1].strip()
        within = match is not None


def docstrings(source: str):
    """Gives line and first line of every docstring of a Python source; of one that can't be read, none."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)):
            text = ast.get_docstring(node)
            if text:
                yield node.body[0].lineno, text.split("\n")[0]


def jsdoc_comments(source: str):
    """Gives line and first line of every JSDoc comment of a TypeScript source."""
    for match in JSDOC.finditer(source):
        yield line_of(source, match.start()), match[1].removesuffix("*/").strip()


def comments_of(file: str, source: str):
    """Gives line and first line of every comment of a source that describes what follows it."""
    if file.endswith(".rs"):
        return doc_comments(source)
    if file.endswith(".py") or source.startswith("#!/usr/bin/env python"):
        return docstrings(source)
    return jsdoc_comments(source) if file.endswith((".ts", ".tsx")) else ()


def bad_openers(file: str, source: str) -> tuple[int, list[Fault]]:
    """Counts the doc comments of a source, and finds those that open with a word of `OPENERS`."""
    count, faults = 0, []
    for line, comment in comments_of(file, source):
        count += 1
        if (word := opener(comment)) in OPENERS:
            faults.append(Fault(file, line, f"a doc comment opens with '{word}': open with a verb or a noun: {comment}"))
    return count, faults


def test_names(source: str):
    """Gives line and name of every `#[test]` of a Rust source."""
    for match in TEST.finditer(source):
        yield line_of(source, match.start(1)), match[1]


def bad_names(file: str, source: str) -> list[Fault]:
    """Finds names in a covered source that are too long, or for which the naming table has another word."""
    faults = [
        Fault(file, line, f"the test's name has {len(name)} characters: at most {MAX_TEST_NAME}: {name}")
        for line, name in test_names(source)
        if len(name) > MAX_TEST_NAME
    ]
    for match in OLD_BOUND.finditer(source):
        faults.append(Fault(file, line_of(source, match.start()), f"{match[0]}: constants say MAX_ and MIN_"))
    return faults


def undocumented(file: str, source: str) -> list[Fault]:
    """Finds the items and fields that other modules see and that have no doc comment."""
    return [Fault(file, line_of(source, match.start("item")), f"no doc comment: {match['item']}")
            for match in PUBLIC.finditer(source) if not match["doc"]]


def read_sections(text: str, file: str) -> tuple[dict[str, dict[str, str]], list[Fault]]:
    """Reads sections.tsv: by standard the titles, by section. A title in brackets is one that was not verified."""
    sections: dict[str, dict[str, str]] = {}
    faults = []
    for number, line in enumerate(text.splitlines(), 1):
        if not line or line.startswith("#"):
            continue
        fields = line.split("\t")
        if len(fields) != 3 or not re.fullmatch(LISTED, fields[0]) or not all(fields):
            faults.append(Fault(file, number, "not three fields between tabs, as in `RFC 9332\t2.5.1\tFunctional Requirements`"))
            continue
        standard, section, title = fields
        if section in sections.setdefault(standard, {}):
            faults.append(Fault(file, number, f"{standard} {section} is listed twice"))
        sections[standard][section] = title
    return sections, faults


def references(source: str):
    """Gives every reference to a section: offset, standard, section as sections.tsv has it, fixed form, and true if the
    reference has this form."""
    for match in REFERENCE.finditer(source):
        section = match["section"]
        if section is None:
            continue
        standard = match["standard"]
        # A number without a dot after a comma or a line's end belongs to the sentence.
        plain = not match["word"] and not match["float"] and "." not in section
        if plain and (match["comma"] or "\n" in match["gap"]):
            continue
        parts = [section, *re.findall(rf"{DOTTED}(?:-\d+\w?)?", match["more"])]
        floating = {"t": "table ", "f": "figure ", "e": "equation "}[match["float"][0].lower()] if match["float"] else ""
        spelt = not floating or match["float"].rstrip("s") == floating.strip()
        good = spelt and not match["word"] and not match["comma"]
        for part in parts:
            # 3GPP numbers tables and figures within their section, RFCs throughout.
            base = part.split("-")[0] if "-" in part else floating + part
            yield match.start(), standard, base, f"{standard} {floating}{part}", good


def bad_references(file: str, source: str, sections: dict[str, dict[str, str]], held: bool) -> list[Fault]:
    """Finds references to sections that are not listed and, in a held crate, those of another form."""
    faults = []
    for offset, standard, section, form, good in references(source):
        line = line_of(source, offset)
        known = sections.get(standard, {})
        if section not in known:
            # The right one is most likely in the same chapter.
            chapter = [other for other in known if other.split(".")[0] == section.split(".")[0]] or list(known)
            listed = ", ".join(f"{other} {known[other]}" for other in sorted(chapter, key=natural)) or "none"
            faults.append(Fault(file, line, f"{standard} {section} is not in {OWN}sections.tsv: cite a section that is "
                                            f"({listed}), or add this one with its title"))
        elif held and not good:
            faults.append(Fault(file, line, f"write `{form}`"))
    if held:
        for pattern in (TURNED, JOINED):
            for match in pattern.finditer(source):
                text = " ".join(match[0].split())
                faults.append(Fault(file, line_of(source, match.start()), f"{text}: write standard and section as `RFC 9331 5.1`"))
    return faults


def natural(section: str) -> list[tuple[int, int, str]]:
    """Gives a key that sorts 5.4.10 behind 5.4.9."""
    return [(0, int(part), "") if part.isdigit() else (1, 0, part) for part in re.split(r"[. -]", section)]


def tracked(root: pathlib.Path) -> list[str]:
    """Lists the text files of the repository, but for those that are generated and the check itself."""
    names = subprocess.run(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
                           cwd=root, check=True, capture_output=True, text=True).stdout.split("\0")
    return sorted(name for name in set(names) if name and not GENERATED.search(name) and not name.startswith(OWN))


def crate_of(file: str) -> str | None:
    """Gives the folder of the crate that a file belongs to."""
    match = re.match(r"(crates/[^/]+|bindings/[^/]+)/", file)
    return match[1] if match else None


def part_of(file: str) -> str | None:
    """Gives the folder whose share of comments a file counts to: its crate, or one of `HELD_COMMENTS`."""
    folder = file.split("/")[0]
    return crate_of(file) or (folder if folder in HELD_COMMENTS else None)


def check(root: pathlib.Path, held=HELD, sections_text: str | None = None) -> tuple[list[Fault], list[str]]:
    """Checks the repository at `root`: its faults, and a table of its parts to be printed."""
    text = SECTIONS.read_text() if sections_text is None else sections_text
    sections, faults = read_sections(text, OWN + "sections.tsv")
    cited: set[tuple[str, str]] = set()
    counts: dict[str, int] = {}
    openers: dict[str, list[Fault]] = {}
    longest: dict[str, int] = {}
    for file in tracked(root):
        try:
            source = (root / file).read_text()
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        crate = crate_of(file)
        is_held = crate in held
        faults += bad_references(file, source, sections, is_held)
        cited.update((standard, section) for _, standard, section, _, _ in references(source))
        if part := part_of(file):
            count, found = bad_openers(file, source)
            counts[part] = counts.get(part, 0) + count
            openers.setdefault(part, []).extend(found)
        if crate is not None and file.endswith(".rs"):
            longest[crate] = max([longest.get(crate, 0), *(len(name) for _, name in test_names(source))])
            if is_held:
                faults += bad_names(file, source)
            if crate in BINARIES and is_held:
                faults += undocumented(file, source)
    table = ["part               doc comments   other openers   longest test name"]
    for part in sorted(part for part, count in counts.items() if count):
        share = len(openers[part]) / counts[part]
        is_held = part in held or part in HELD_COMMENTS
        table.append(f"{part:<18} {counts[part]:>12} {len(openers[part]):>6} {share:>7.1%} {longest.get(part, ''):>19}"
                     + ("   held" if is_held else ""))
        if is_held and share >= MAX_SHARE:
            faults += openers[part]
    for standard, known in sections.items():
        faults += [Fault(OWN + "sections.tsv", 0, f"{standard} {section} is cited nowhere: remove it")
                   for section in known if (standard, section) not in cited]
    return faults, table


def main() -> int:
    """Checks the repository that this file is part of."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        print("SKIPPED: no Git repository, whose list of files the check reads", file=sys.stderr)
        return 0
    faults, table = check(root)
    print("\n".join(table))
    for fault in faults:
        print(fault, file=sys.stderr)
    if faults:
        print(f"{len(faults)} faults; the rules are in CONTRIBUTING.md, 'Language'", file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
