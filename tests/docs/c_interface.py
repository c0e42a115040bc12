#!/usr/bin/env python3
"""Writes docs/reference/c-interface.md from the C header, which is made from the Rust sources. Standard library only.

Without an option the page is compared with what the header gives, and a difference fails; `--write` writes the page.
"""

import argparse
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "bindings/c/include/tidemark.h"
PAGE = ROOT / "docs/reference/c-interface.md"

COMMENT = r"/\*\*\n(?P<doc>(?:[ \t]*\*(?!/)[^\n]*\n)*?)[ \t]*\*/\n"
FUNCTION = re.compile(COMMENT + r"(?P<code>(?!typedef|#|struct \w+;)[^;{}#]*?\b(?P<name>tidemark_\w+)\([^;{}]*?\)\s*(?:TIDEMARK_\w+\s*)*;)")
TYPE = re.compile(COMMENT + r"typedef (?P<kind>enum|struct) \w+ (?:\{\n(?P<body>.*?)\n\} )?(?P<name>tidemark_\w+);", re.S)
CONSTANT = re.compile(COMMENT + r"#define (?P<name>TIDEMARK_\w+) (?P<value>\S+)\n")
MEMBER = re.compile(r"  " + COMMENT + r"[ \t]*(?P<code>[^\n]*?)[,;]\n")


def prose(doc: str) -> str:
    """Gives a comment as Markdown: one line a paragraph, a heading inside as bold words, code as it is."""
    lines = [re.sub(r"^[ \t]*\* ?", "", line) for line in doc.splitlines()]
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return "\n\n".join(re.sub(r"^# (\w+)\s*", r"**\1.** ", part if part.startswith("```") else " ".join(part.split("\n")))
                       for part in paragraphs)


def rows(body: str) -> list[str]:
    """Gives a row of a table for each member of a type."""
    return [f"| `{match['code']}` | {prose(match['doc'])} |".replace("\n\n", " ") for match in MEMBER.finditer(body + "\n")]


def page(header: str) -> str:
    """Gives the page."""
    out = ["# The C interface", "", "Calls, types and constants of `libtidemark`, written by `make reference` from "
           "[tidemark.h](../../bindings/c/include/tidemark.h). Where each call goes in a CU-UP, and which thread may make it: "
           "[embedding.md](../guide/embedding.md).", "", "## Calls", ""]
    for match in FUNCTION.finditer(header):
        code = re.sub(r"\s*TIDEMARK_NOEXCEPT", "", match["code"]).replace("\n;", ";")
        code = re.sub(r"\s*TIDEMARK_HOT", "", code)
        hot = "\n\nOn the packet path: allocates nothing, takes no lock." if "TIDEMARK_HOT" in match["code"] else ""
        out += [f"### `{match['name']}`", "", "```c", code, "```", "", prose(match["doc"]) + hot, ""]
    out += ["## Types", ""]
    for match in TYPE.finditer(header):
        out += [f"### `{match['name']}`", "", prose(match["doc"]), ""]
        if match["body"]:
            out += [f"| {'value' if match['kind'] == 'enum' else 'field'} | meaning |", "| --- | --- |", *rows(match["body"]), ""]
    out += ["## Constants", "", "| name | value | meaning |", "| --- | --- | --- |"]
    out += [f"| `{match['name']}` | {match['value']} | {prose(match['doc'])} |" for match in CONSTANT.finditer(header)]
    return "\n".join(out) + "\n"


def main() -> int:
    """Compares the page with the header, or writes it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the page")
    options = parser.parse_args()
    header = HEADER.read_text()
    made = page(header)
    missing = [name for name in sorted(set(re.findall(r"\b(tidemark_\w+)\(", header))) if f"### `{name}`" not in made]
    if missing:
        print(f"the page would lack {' '.join(missing)}", file=sys.stderr)
        return 1
    if options.write:
        PAGE.write_text(made)
    elif not PAGE.exists() or PAGE.read_text() != made:
        print(f"{PAGE.relative_to(ROOT)} is out of date: run `make reference`", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
