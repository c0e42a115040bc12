#!/usr/bin/env python3
"""Writes the reference page of the C interface from the header, which is generated from Rust. Standard library only.

The page goes to book/reference of Cargo's target folder. A call, a type, a field or a constant without a comment fails.
"""

import argparse
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
HEADER = ROOT / "bindings/c/include/tidemark.h"
PAGE = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"), "book/reference/c-interface.md")

COMMENT = r"/\*\*\n(?P<doc>(?:[ \t]*\*(?!/)[^\n]*\n)*?)[ \t]*\*/\n"
FUNCTION = re.compile(COMMENT + r"(?P<code>(?!typedef|#|struct \w+;)[^;{}#]*?\b(?P<name>tidemark_\w+)\([^;{}]*?\)\s*(?:TIDEMARK_\w+\s*)*;)")
TYPE = re.compile(COMMENT + r"typedef (?P<kind>enum|struct) \w+ (?:\{\n(?P<body>.*?)\n\} )?(?P<name>tidemark_\w+);", re.S)
CONSTANT = re.compile(COMMENT + r"#define (?P<name>TIDEMARK_\w+) (?P<value>\S+)\n")
MEMBER = re.compile(r"  " + COMMENT + r"[ \t]*(?P<code>[^\n]*?)[,;]\n")

FIELD = re.compile(r"^  +([^\n]*?)[,;]\n", re.M)
MARKS = frozenset({"TIDEMARK_NOEXCEPT", "TIDEMARK_HOT", "TIDEMARK_H"})
"""Macros that mark declarations and have no value."""


def prose(doc: str) -> str:
    """Gives a comment as Markdown: one line per paragraph, headings as bold text, code unchanged."""
    lines = [re.sub(r"^[ \t]*\* ?", "", line) for line in doc.splitlines()]
    paragraphs = "\n".join(lines).strip().split("\n\n")
    return "\n\n".join(re.sub(r"^# (\w+)\s*", r"**\1.** ", part if part.startswith("```") else " ".join(part.split("\n")))
                       for part in paragraphs)


def rows(body: str) -> list[str]:
    """Gives a row of a table for each member of a type."""
    return [f"| `{match['code']}` | {prose(match['doc'])} |".replace("\n\n", " ") for match in MEMBER.finditer(body + "\n")]


def page(header: str) -> str:
    """Gives the page."""
    out = ["# The C interface", "", "Calls, types and constants of `libtidemark`, written from "
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


def undescribed(header: str, made: str) -> list[str]:
    """Lists the calls, types, constants and fields of a header that its page lacks or that have no comment."""
    calls = [name for name in sorted(set(re.findall(r"\b(tidemark_\w+)\(", header))) if f"### `{name}`" not in made]
    types = [name for name in re.findall(r"^(?:\} |typedef struct \w+ )(tidemark_\w+);", header, re.M) if f"### `{name}`" not in made]
    constants = [name for name in re.findall(r"^#define (TIDEMARK_\w+) \S", header, re.M) if f"| `{name}` |" not in made and name not in MARKS]
    fields = [field for of in TYPE.finditer(header) for field in FIELD.findall(re.sub(" *" + COMMENT, "", of["body"] or "") + "\n")
              if f"| `{field}` |" not in made]
    return calls + types + constants + fields


def main() -> int:
    """Writes the page."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    header = HEADER.read_text()
    made = page(header)
    if missing := undescribed(header, made):
        print(f"{HEADER.relative_to(ROOT)}: these have no comment: {', '.join(missing)}", file=sys.stderr)
        return 1
    PAGE.parent.mkdir(parents=True, exist_ok=True)
    PAGE.write_text(made)
    return 0


if __name__ == "__main__":
    sys.exit(main())
