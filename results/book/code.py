#!/usr/bin/env python3
"""Measures the Rust code of this checkout, or of another one, crate by crate. Standard library only.

    code.py [ROOT] [--when now|before] [--commit NAME]

Prints rows of code.csv: lines that are not empty, words, the share of lines that are plain comments, the longest function and the struct with
the most fields. Tests and examples do not count: neither folders of them nor modules that only tests compile.
"""

import argparse
import csv
import pathlib
import re
import statistics
import sys

COLUMNS = ["crate", "when", "files", "lines", "words", "comments_percent", "functions", "median_lines", "above_60_lines",
           "longest_function", "its_lines", "largest_struct", "its_fields", "commit"]
"""Columns of a row."""

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|b?r(#*)".*?"\1|"(?:\\.|[^"\\])*"|\'(?:\\[^\']*|[^\'\\])\'', re.S)
"""A comment or a literal, whose braces open nothing."""


def block(text: str, start: int) -> str:
    """Gives what stands between the first brace behind `start` and its end."""
    begin, depth = text.index("{", start), 0
    for brace in re.finditer("[{}]", text[begin:]):
        depth += 1 if brace[0] == "{" else -1
        if depth == 0:
            return text[begin:begin + brace.end()]
    return text[begin:]


def crate_of(path: pathlib.Path) -> str:
    """Gives the crate of a file below the root."""
    return "/".join(path.parts[:2]) if path.parts[0] in ("crates", "bindings") else path.parts[0]


def sources(root: pathlib.Path):
    """Gives crate and text of every file without its tests."""
    tested = set()
    texts = {}
    for file in sorted(root.rglob("*.rs")):
        path = file.relative_to(root)
        if {"benches", "examples", "fuzz", "node_modules", "target", "tests"} & set(path.parts):
            continue
        text = texts[path] = file.read_text()
        folder = path.parent if path.stem in ("mod", "lib", "main") else path.parent / path.stem
        tested.update(folder / f"{name}.rs" for name in re.findall(r"#\[cfg\(test\)\]\s*mod (\w+);", text))
    for path, text in texts.items():
        if path not in tested:
            yield crate_of(path), re.split(r"^\s*#\[cfg\(test\)\]\s*mod \w+ \{", text, flags=re.M)[0]


def functions(text: str):
    """Gives name and lines of every function with a body; `text` has no literals and no comments."""
    for match in re.finditer(r"\bfn\s+(\w+)", text):
        # A declaration without a body ends with a semicolon; one in an array's type does not count.
        if (end := re.search(r"\{|;(?![^\[]*\])", text[match.end():])) and end[0] == "{":
            yield match[1], text[match.start():match.end() + end.start()].count("\n") + block(text, match.end()).count("\n") + 1


def structs(text: str):
    """Gives name and number of fields of every struct."""
    for match in re.finditer(r"\bstruct\s+(\w+)[^;{(]*\{", text):
        yield match[1], len(re.findall(r"^\s*(?:pub(?:\([^)]*\))?\s+)?\w+\s*:(?!:)", block(text, match.end() - 1)[1:], re.M))


def row(crate: str, texts: list[str]) -> dict:
    """Measures a crate."""
    lines = [line.strip() for text in texts for line in text.splitlines() if line.strip()]
    comments = sum(line.startswith("//") and not re.match(r"//[/!]", line) for line in lines)
    bare = [TOKEN.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text) for text in texts]
    longest = sorted((found for text in bare for found in functions(text)), key=lambda found: found[1]) or [("", 0)]
    largest = max((found for text in bare for found in structs(text)), key=lambda found: found[1], default=("", 0))
    return {
        "crate": crate, "files": len(texts), "lines": len(lines), "words": sum(len(text.split()) for text in texts),
        "comments_percent": round(100 * comments / max(1, len(lines)), 1), "functions": len(longest),
        "median_lines": round(statistics.median(size for _, size in longest)),
        "above_60_lines": sum(size > 60 for _, size in longest), "longest_function": longest[-1][0], "its_lines": longest[-1][1],
        "largest_struct": largest[0], "its_fields": largest[1],
    }


def main() -> None:
    """Prints the rows of a checkout."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=pathlib.Path, default=pathlib.Path(__file__).parents[2])
    parser.add_argument("--when", default="now")
    parser.add_argument("--commit", default="that of the file")
    options = parser.parse_args()
    crates = {}
    for crate, text in sources(options.root):
        crates.setdefault(crate, []).append(text)
    writer = csv.DictWriter(sys.stdout, COLUMNS, lineterminator="\n")
    writer.writeheader()
    for crate, texts in [*sorted(crates.items()), ("together", [text for texts in crates.values() for text in texts])]:
        writer.writerow(row(crate, texts) | {"when": options.when, "commit": options.commit})


if __name__ == "__main__":
    main()
