#!/usr/bin/env python3
"""Checks the links of the documentation. Standard library only.

1. Every relative link in a Markdown file leads to a file or folder, and its anchor to a heading of that file.
2. Every page below docs/ is reached by links from docs/README.md.
3. Every path below docs/ and results/ that code, a script, a scenario or a page names exists, and every file of the repository that a
   page names. The changelog tells of its own time, and pages on how to add something name files that are to be written.
4. Every package, example, bench and test that a page gives to Cargo exists, and every target that it gives to make.
5. Every test that a page names as `name` in [file](path) is in that file, and each threat of the page on who can send what
   names one.
6. Every number in the columns `budget` and `measured` of the table of budgets stands in the section that its row names.
7. All pages have short lines, short cells, short sentences; commands are broken with backslashes. The pages below docs/
   have no more words than `MAX_WORDS`. Tables of findings and of results/ are short. Guides are short, and
   so are the findings, at most `MAX_FINDINGS`: their title is a question, their first line its answer, and they have one
   table, one picture, and one line that repeats them with its commit.

Pages of `BUILT` are made by `make reference`. Anchors in them are checked where they are found; `--built` fails where they are not.
Pictures below `DRAWN` are drawn by `make book`, which fails for one that nothing draws.

lychee would check rule 1 alone, and would have to be fetched.

Prints the words of docs/ and one line a fault, as `file:line: fault`, and fails if there is any.
"""

import argparse
import csv
import itertools
import os
import pathlib
import posixpath
import re
import subprocess
import sys

MAP = "docs/README.md"
"""The page from which every other page is reached."""

BUDGETS = "results/performance/budgets.csv"
"""The table of budgets."""

SPEED = "docs/measured/performance.md"
"""The page with a section for each budget."""

THREATS = "docs/concepts/threats.md"
"""The page each of whose threats, an item of a list in bold, names a test."""

HISTORY = frozenset({"CHANGELOG.md", "results/book/pages.csv"})
"""Files that may name paths that no longer exist."""

TO_BE_WRITTEN = "docs/guide/adding-a-"
"""Prefix of the pages that name files which their reader writes."""

BUILT = tuple(f"docs/reference/{name}.md" for name in ("scenario", "study", "command", "results", "laws", "controllers", "c-interface"))
"""Pages generated from declarations below book/ of Cargo's target folder, which are not in git."""

MAX_WORDS = 60_000
"""Most words of all pages below docs/."""

FINDINGS = "docs/measured/"
"""Folder of the pages that answer one question each, besides its own."""

PAPERS = "docs/reproduction/README.md"
"""A finding in a folder of its own, with the papers' pages beside it."""

MAX_FINDINGS = 10
"""Pages that answer one question each."""

DRAWN = ("docs/measured/", "docs/reproduction/pictures/", "docs/reference/laws/", "docs/concepts/report/", "docs/guide/controllers/", "docs/guide/stream/")
"""Folders of pictures drawn from data, which are not in git."""

GUIDES = "docs/guide/"
"""Prefix of the pages that each have a task."""

MAX_LINE, MAX_CELL = 120, 60
"""Most characters of a line, and of a table cell as shown."""

MAX_SENTENCE = 30
"""Most words of the sentence at the 90th percentile of a page."""

MAX_GUIDE = 150
"""Most lines of a guide."""

MAX_LINES, MAX_ROWS = 90, 12
"""Most lines of a finding, and rows of each table of a finding or of a page below results/."""

HEADINGS = ("## Where it falls short", "## Repeat it")
"""Sections of each finding."""

COMMIT = re.compile(r"^    .*# .*as of ([0-9a-f]{7,})$")
"""The line of a finding with the command that repeats it and the commit of its data."""

LINK = re.compile(r"\]\(([^)\s]+)\)")
HEADING = re.compile(r"#{1,6}\s+(.*?)\s*#*$")
# A path below docs/ or results/ with a file's ending, in any text.
PATH = re.compile(r"(?<![\w./-])(?:docs|results)/[\w./-]*\.(?:md|py|json|csv|svg|png)\b")
# Any file of the repository, in a page.
FILE = re.compile(r"(?<![\w./-])(?:docs|results|crates|bindings|scenarios|tests|sdn|web/src|fuzz)/[\w./-]*\.[a-z]{1,5}\b")

# What a page gives to Cargo and to make, in code.
CODE = re.compile(r"^    .*|`[^`\n]+`", re.M)
TARGET = re.compile(r"(?:-p|--package) (tidemark[\w-]*)|--(example|bench|test) ([\w-]+)|(?<![\w-])make (?!-)([\w-]+)")
# A test that a page names with its file, and how a language declares one.
TEST = re.compile(r"`(\w+)`\s+in\s+\[[^\]]*\]\(([^)\s#]+)\)")
DECLARED = {
    ".rs": r"#\[test\]\s*(?:#\[[^\n]*\]\s*)*fn {}\s*\(",
    ".py": r"^ *def (?=test_){}\s*\(",
    ".c": r"^(?:static )?\w+ {}\s*\(",
    ".cpp": r"^(?:static )?\w+ {}\s*\(",
}
NUMBER = re.compile(r"\d[\d,]*(?:\.\d+)?")


def is_finding(file: str) -> bool:
    """True for a page that answers one question."""
    return file == PAPERS or file.startswith(FINDINGS) and file.endswith(".md") and file != f"{FINDINGS}README.md"


def is_drawn(file: str) -> bool:
    """True for a picture drawn from data."""
    return file.startswith(DRAWN) and file.endswith(".svg")


def prose(page: str) -> list[str]:
    """Gives the lines of a page, with those inside code blocks empty."""
    lines, fenced = [], False
    for line in page.split("\n"):
        fence = line.lstrip().startswith("```")
        lines.append("" if fenced or fence or line.startswith("    ") else re.sub(r"`[^`]*`", lambda code: code[0]
                     if "](" not in code[0] else "", line))
        fenced ^= fence
    return lines


def slug(heading: str) -> str:
    """Gives a heading's anchor, as GitHub makes it."""
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).strip().lower()
    return re.sub(r"[^\w\- ]", "", text).replace(" ", "-")


def anchors(page: str) -> set[str]:
    """Gives the anchors of a page's headings; the second of the same name ends with -1, the third with -2."""
    found: dict[str, int] = {}
    result = set()
    for line in prose(page):
        if match := HEADING.match(line):
            name = slug(match[1])
            result.add(f"{name}-{found[name]}" if name in found else name)
            found[name] = found.get(name, 0) + 1
    return result


def links(page: str):
    """Gives line, counted from 1, and target of every relative link of a page."""
    for number, line in enumerate(prose(page), 1):
        for match in LINK.finditer(line):
            if not re.match(r"[a-z]+:", match[1]):
                yield number, match[1]


def section(page: str, anchor: str) -> str:
    """Gives the text below the heading with this anchor, with the headings below it."""
    lines = prose(page)
    start = next(at for at, line in enumerate(lines) if (match := HEADING.match(line)) and slug(match[1]) == anchor)
    level = lines[start].index(" ")
    ends = (at for at in range(start + 1, len(lines)) if (match := HEADING.match(lines[at])) and lines[at].index(" ") <= level)
    return "\n".join(page.split("\n")[start + 1:next(ends, len(lines))])


def numbers(text: str) -> set[str]:
    """Gives the numbers in a text, without the commas between thousands."""
    return {number.replace(",", "") for number in NUMBER.findall(text)}


def budgets(page: str, table: str) -> list[str]:
    """Gives the faults of the table of budgets: rows without a section, and numbers that their section lacks."""
    faults = []
    for number, row in enumerate(csv.DictReader(table.splitlines()), 2):
        if row["section"] not in anchors(page):
            faults.append(f"{BUDGETS}:{number}: {SPEED} has no section {row['section']}")
            continue
        missing = numbers(f"{row['budget']} {row['measured']}") - numbers(section(page, row["section"]))
        faults += [f"{BUDGETS}:{number}: {SPEED}#{row['section']} does not have {one}" for one in sorted(missing)]
    return faults


def targets(file: str, page: str, files: set[str], makefiles: str, manifests: str):
    """Gives the faults of a page's commands for Cargo and make."""
    def stem(kind: str, name: str) -> bool:
        return any(re.fullmatch(rf"(?:.*/)?{kind}s?(?:es)?/{name}(?:\.rs|/main\.rs)", path) for path in files)

    for code in CODE.finditer(page):
        for package, kind, name, target in (match.groups() for match in TARGET.finditer(code[0])):
            line = page.count("\n", 0, code.start()) + 1
            if package and f'name = "{package}"' not in manifests:
                yield f"{file}:{line}: no package is named {package}"
            if kind and not stem(kind, name):
                yield f"{file}:{line}: there is no {kind} {name}"
            if target and not re.search(rf"^{target}:", makefiles, re.M):
                yield f"{file}:{line}: no makefile has the target {target}"


def tests(file: str, page: str, root: pathlib.Path, known: set[str]):
    """Gives the faults of the tests that a page names: files without them, and threats without a test."""
    lines = prose(page)
    text = "\n".join(lines)
    for match in TEST.finditer(text):
        name, link = match.groups()
        target = posixpath.normpath(posixpath.join(posixpath.dirname(file), link))
        declared = DECLARED.get(posixpath.splitext(target)[1])
        if declared and target in known and not re.search(declared.format(name), (root / target).read_text(), re.M):
            yield f"{file}:{text.count(chr(10), 0, match.start()) + 1}: {target} has no test {name}"
    for number, line in enumerate(lines, 1):
        if file == THREATS and re.match(r"- \*\*.*\*\*:", line):
            item = itertools.takewhile(lambda more: more.startswith("  "), lines[number:])
            if not TEST.search("\n".join([line, *item])):
                yield f"{file}:{number}: the threat names no test, as `name` in [file](path)"


def shown(line: str) -> str:
    """Gives a line as a reader sees it: a link is its text."""
    return re.sub(r"!?\[([^\]]*)\]\([^)]*\)", r"\1", line).replace("**", "").replace("`", "")


def form(file: str, page: str):
    """Gives the faults of a page's form: long lines, cells and sentences, and too long guides and findings."""
    lines = page.rstrip("\n").split("\n")
    rows, tables, is_fenced = 0, 0, False
    for number, line in enumerate(lines, 1):
        is_row = line.startswith("|")
        is_fenced ^= line.startswith("```")
        if is_fenced:
            continue
        if len(shown(line) if is_row or line.startswith("![") else line) > MAX_LINE:
            yield f"{file}:{number}: a line of more than {MAX_LINE} characters"
        if line.startswith("    "):
            continue
        if is_row and (long := [cell for cell in shown(line).strip("|").split("|") if len(cell.strip()) > MAX_CELL]):
            yield f"{file}:{number}: a cell of more than {MAX_CELL} characters: {long[0].strip()}"
        rows = rows + 1 if is_row else 0
        tables += rows == 1
        if (is_finding(file) or file.startswith("results/")) and rows == MAX_ROWS + 3:
            yield f"{file}:{number}: a table of more than {MAX_ROWS} rows: the rest is data"
    if (count := long_sentences(page)) > MAX_SENTENCE:
        yield f"{file}:1: a tenth of the sentences has {count} words or more, where {MAX_SENTENCE} are the bound"
    if file.startswith(GUIDES) and len(lines) > MAX_GUIDE:
        yield f"{file}:{len(lines)}: a guide of more than {MAX_GUIDE} lines: two tasks are two pages"
    if not is_finding(file):
        return
    if len(lines) > MAX_LINES:
        yield f"{file}:{len(lines)}: a finding of more than {MAX_LINES} lines"
    if not re.match(r"# .*\?$", lines[0]):
        yield f"{file}:1: the title of a finding is a question"
    if (pictures := sum(line.startswith("![") for line in lines)) != 1 or tables != 1:
        yield f"{file}:1: {tables} tables and {pictures} pictures where a finding has one of each: the rest is data"
    if not (lines[2:] and lines[2].startswith("**")):
        yield f"{file}:3: the first line of a finding answers its title, in bold"
    commits = [match[1] for line in lines if (match := COMMIT.match(line))]
    if len(commits) != 1 or page.count(commits[0]) != 1:
        yield f"{file}:1: {len(commits)} lines that repeat it say `# as of COMMIT` where a finding has one, and names its commit once"
    yield from (f"{file}:1: a finding lacks the heading `{heading}`" for heading in HEADINGS if heading not in lines)


def long_sentences(page: str) -> int:
    """Gives the number of words of the sentence at a page's 90th percentile. List items count as sentences, code does not."""
    text = re.sub(r"^(?:(?:\||#|<!--|!\[).*|[ ]*)$|^ *(?:[-*]|\d+\.) ", "\0", "\n".join(prose(page)), flags=re.M)
    counts = sorted(len(one.split()) for one in re.split(r"(?<=[.?!])\s+|\0", shown(text.replace("\n", " "))) if len(one) > 1)
    return counts[len(counts) * 9 // 10] if counts else 0


def words(pages: dict[str, str]) -> int:
    """Gives the words of the pages below docs/."""
    return sum(len(page.split()) for file, page in pages.items() if file.startswith("docs/"))


def check(root: pathlib.Path, files: list[str], built: pathlib.Path | None = None) -> list[str]:
    """Gives the faults of the repository at `root` with these `files`. `built` lists the existing built pages."""
    folders = {str(folder) for file in files for folder in pathlib.PurePosixPath(file).parents} | {"."}
    known = set(files) | folders | set(BUILT)
    pages = {file: (root / file).read_text() for file in files if file.endswith(".md") and (root / file).is_file()}
    made = {file: built / pathlib.PurePosixPath(file).relative_to("docs") for file in BUILT} if built else {}
    linked = pages | {file: path.read_text() for file, path in made.items() if path.is_file()}
    headings = {file: anchors(page) for file, page in linked.items()}
    faults, leads = [], {}
    for file, page in linked.items():
        for line, link in links(page):
            path, _, anchor = link.partition("#")
            target = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
            if target not in known and not is_drawn(target):
                faults.append(f"{file}:{line}: the link {link} leads nowhere: no file {target}")
            elif anchor and target not in set(BUILT) - set(headings) and anchor not in headings.get(target, ()):
                faults.append(f"{file}:{line}: the link {link} leads to no heading of {target}")
            leads.setdefault(file, set()).add(target)
    reached, open_ends = {MAP}, [MAP]
    while open_ends:
        for target in leads.get(open_ends.pop(), ()):
            target = target if target in pages else f"{target}/README.md"
            if target in pages and target not in reached:
                reached.add(target)
                open_ends.append(target)
    faults += [f"{page}:1: no link leads here from {MAP}: name it there, or on a page that is named there"
               for page in pages if page.startswith("docs/") and page not in reached]
    if BUDGETS in files:
        faults += budgets(pages.get(SPEED, ""), (root / BUDGETS).read_text())
    if (count := sum(map(is_finding, pages))) > MAX_FINDINGS:
        faults.append(f"{FINDINGS}:1: {count} findings where {MAX_FINDINGS} are the bound: two are one, or one is a page of another kind")
    if (count := words(pages)) > MAX_WORDS:
        faults.append(f"docs/:1: {count} words where {MAX_WORDS} are the bound: what is added throws something out")
    faults += [fault for file in pages for fault in form(file, pages[file])]
    for file, page in pages.items():
        faults += tests(file, page, root, set(files))

    def texts(name: str) -> str:
        return "\n".join((root / file).read_text() for file in files if posixpath.basename(file) == name)

    makefiles, manifests = texts("Makefile"), texts("Cargo.toml")
    for file, page in pages.items():
        if file not in HISTORY and not file.startswith(TO_BE_WRITTEN):
            faults += targets(file, page, set(files), makefiles, manifests)
    for file in files:
        if file in HISTORY or file.startswith("tests/docs/"):
            continue
        try:
            lines = (root / file).read_text().split("\n")
        except (UnicodeDecodeError, FileNotFoundError, IsADirectoryError):
            continue
        pattern = FILE if file in pages and not file.startswith(TO_BE_WRITTEN) else PATH
        for number, line in enumerate(lines, 1):
            faults += [f"{file}:{number}: there is no {path[0]}" for path in pattern.finditer(line)
                       if path[0] not in known and not is_drawn(path[0])]
    return faults


def main() -> int:
    """Checks the repository that this file is part of."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--built", action="store_true", help="fail where a built page is not found")
    options = parser.parse_args()
    root = pathlib.Path(__file__).resolve().parents[2]
    if not (root / ".git").exists():
        print("SKIPPED: no Git repository, whose list of files the check reads", file=sys.stderr)
        return 0
    command = ["git", "-C", str(root), "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    files = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\0")
    files = sorted(file for file in files if file and (root / file).exists())
    built = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", root / "target"), "book")
    faults = check(root, files, built)
    absent = [file for file in BUILT if not (built / pathlib.PurePosixPath(file).relative_to("docs")).is_file()]
    if options.built:
        faults += [f"{file}:1: not built: run `make reference`" for file in absent]
    elif absent:
        print(f"not built, so that their anchors are not checked: {', '.join(absent)} (`make reference`)", file=sys.stderr)
    count = words({file: (root / file).read_text() for file in files if file.endswith(".md")})
    print(f"docs/: {count} words of at most {MAX_WORDS}")
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
