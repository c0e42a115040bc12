#!/usr/bin/env python3
"""Lists the imports between the files of each crate, and checks three rules. Standard library only.

1. No circle of files that import each other has more than MAX_CIRCLE files.
2. In a crate with layers (layers.tsv, from the top down) a file imports from its own layer or from a lower one. At most
   as many imports as the table allows run the other way.
3. A crate's program of tests, tests/it.rs, names every file beside it: what it does not name is not compiled, and fails never.

An import leads from the file that says `crate::a::Item` to the file that defines `Item`: a name that a module passes on
(`pub use`) is followed to its file. `super::Item` counts as well. Tests inside a file, files of tests and the crate's
root do not count. Prints one line a crate.
"""

import argparse
import pathlib
import re
import sys

MAX_CIRCLE = 4
"""Most files in an import cycle."""

NO_TESTS = ("unwind.rs",)
"""Files beside tests that are compiled by scripts."""

LAYERS = pathlib.Path(__file__).with_name("layers.tsv")

COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.S)
STRING = re.compile(r'r(#*)".*?"\1|"(?:\\.|[^"\\])*"', re.S)
TESTS = re.compile(r"^#\[cfg\((?:all\()?test\b[^\n]*\n(?:\s*#\[[^\n]*\n)*\s*(?:pub(?:\([^)]*\))? )?mod \w+ ?(\{.*|;)", re.S | re.M)
USE = re.compile(r"^[ \t]*(pub(?:\([^)]*\))? )?use ([^;]+);", re.M)
PATH = re.compile(r"(?<![\w:$])((?:crate|super)(?:::\w+)+)")


def expand(tree: str) -> list[tuple[str, ...]]:
    """Gives the paths of the tree of a `use`, each as its names, followed by the name that it is used by."""
    tree = tree.strip()
    if "{" not in tree:
        path, _, alias = tree.partition(" as ")
        names = tuple(name.strip() for name in path.split("::") if name.strip())
        return [(*names, alias.strip() or (names[-2] if names[-1] == "self" and len(names) > 1 else names[-1]))]
    head, inside = tree.split("{", 1)
    inside = inside.rsplit("}", 1)[0]
    prefix = tuple(name.strip() for name in head.split("::") if name.strip())
    parts, depth, start = [], 0, 0
    for index, sign in enumerate(inside):
        depth += {"{": 1, "}": -1}.get(sign, 0)
        if sign == "," and depth == 0:
            parts.append(inside[start:index])
            start = index + 1
    parts.append(inside[start:])
    return [prefix + path for part in parts if part.strip() for path in expand(part)]


class Crate:
    """The modules of a crate, one per file, and the arrows between them."""

    def __init__(self, source: pathlib.Path):
        self.source = source
        self.modules: dict[tuple[str, ...], str] = {}
        self.passed_on: dict[tuple[str, ...], dict[str, tuple[str, ...]]] = {}
        self.texts: dict[tuple[str, ...], str] = {}
        for file in sorted(source.rglob("*.rs")):
            names = list(file.relative_to(source).with_suffix("").parts)
            if names[-1] == "mod":
                names.pop()
            if names in (["lib"], ["main"]):
                names = []
            if "tests" in names or "bin" in names[:1]:
                continue
            text = STRING.sub('""', COMMENT.sub("", file.read_text()))
            tests = {match[0].split("mod ")[1].split()[0].strip(";{") for match in TESTS.finditer(text) if match[1] == ";"}
            self.texts[tuple(names)] = TESTS.sub("", text)
            self.modules[tuple(names)] = str(file.relative_to(source))
            for test in tests:
                self.passed_on.setdefault(("#tests",), {})[test] = (*names, test)
        for module in self.passed_on.pop(("#tests",), {}).values():
            self.modules.pop(module, None)
            self.texts.pop(module, None)
        for module, text in self.texts.items():
            names = self.passed_on.setdefault(module, {})
            for match in USE.finditer(text):
                for *path, name in expand(match[2]):
                    if target := self.absolute(module, tuple(path)):
                        names[name] = target

    def absolute(self, module: tuple[str, ...], path: tuple[str, ...]) -> tuple[str, ...] | None:
        """Gives a path from the crate's root, or None for a path outside the crate."""
        if path[0] == "crate":
            return path[1:]
        while path and path[0] in ("super", "self"):
            module, path = (module[:-1] if path[0] == "super" else module), path[1:]
            if not path or path[0] != "super":
                return module + path
        return module + path if (*module, path[0]) in self.modules else None

    def resolve(self, path: tuple[str, ...], depth: int = 0) -> tuple[str, ...] | None:
        """Gives the module that defines what a path from the root names."""
        module: tuple[str, ...] = ()
        for index, name in enumerate(path):
            if (*module, name) in self.modules:
                module = (*module, name)
                continue
            onward = self.passed_on.get(module, {}).get(name)
            if onward and onward != path[: index + 1] and depth < 9:
                return self.resolve(onward + path[index + 1:], depth + 1)
            break
        return module

    def arrows(self) -> set[tuple[str, str]]:
        """Gives the imports, from file to file."""
        found = set()
        for module, text in self.texts.items():
            if not module:
                continue
            paths = [tuple(path) for match in USE.finditer(text) for *path, _ in expand(match[2]) if not match[1]]
            paths += [tuple(match[1].split("::")) for match in PATH.finditer(USE.sub("", text))]
            for path in paths:
                target = self.absolute(module, path)
                target = None if target is None else self.resolve(target)
                if target and target != module:
                    found.add((self.modules[module], self.modules[target]))
        return found


def circles(arrows: set[tuple[str, str]]) -> list[list[str]]:
    """Gives the sets of files that reach each other (strongly connected components, Tarjan), the largest first."""
    ahead: dict[str, list[str]] = {}
    for start, end in sorted(arrows):
        ahead.setdefault(start, []).append(end)
        ahead.setdefault(end, [])
    order: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    result = []

    def visit(file: str) -> None:
        order[file] = low[file] = len(order)
        stack.append(file)
        for other in ahead[file]:
            if other not in order:
                visit(other)
                low[file] = min(low[file], low[other])
            elif other in stack:
                low[file] = min(low[file], order[other])
        if low[file] == order[file]:
            at = stack.index(file)
            result.append(sorted(stack[at:]))
            del stack[at:]

    for file in ahead:
        if file not in order:
            visit(file)
    return sorted((circle for circle in result if len(circle) > 1), key=lambda circle: (-len(circle), circle))


def read_layers(text: str) -> dict[str, tuple[int, list[list[str]]]]:
    """Gives for each crate the arrows allowed against its layers, and its layers from the top down, each as the files
    and folders in it. Lines: crate, allowed arrows, nothing; then crate, layer's name, files and folders."""
    result: dict[str, tuple[int, list[list[str]]]] = {}
    for line in text.splitlines():
        if not line or line.startswith("#"):
            continue
        crate, word, *rest = line.split("\t")
        if word.isdigit():
            result[crate] = (int(word), [])
        else:
            result[crate][1].append(rest[0].split())
    return result


def against(arrows: set[tuple[str, str]], layers: list[list[str]]) -> tuple[list[tuple[str, str]], set[str]]:
    """Gives the arrows that lead from a lower layer to a higher one, and the files that no layer names."""

    def layer(file: str) -> int | None:
        best = max(((len(entry), index) for index, entries in enumerate(layers) for entry in entries
                    if file == entry or (entry.endswith("/") and file.startswith(entry))), default=None)
        return best and best[1]

    levels = {file: layer(file) for arrow in arrows for file in arrow}
    missing = {file for file, level in levels.items() if level is None}
    return sorted((start, end) for start, end in arrows if not {start, end} & missing and levels[start] > levels[end]), missing


def left_out(tests: pathlib.Path) -> list[str]:
    """Gives the files of a test folder that its it.rs does not name."""
    root = tests / "it.rs"
    if not root.exists():
        return []
    named = re.findall(r"^mod (\w+);", root.read_text(), re.M)
    return sorted(file.name for file in tests.glob("*.rs") if file != root and file.stem not in named and file.name not in NO_TESTS)


def main() -> int:
    """Checks every crate below crates/ and bindings/ and that of the papers, or prints the arrows of one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--arrows", metavar="CRATE", help="print the arrows of a crate, as crates/cell, and check nothing")
    parser.add_argument("--root", type=pathlib.Path, default=pathlib.Path(__file__).resolve().parents[2],
                        help="the repository (default: the one that this file is part of)")
    options = parser.parse_args()
    if options.arrows:
        for start, end in sorted(Crate(options.root / options.arrows / "src").arrows()):
            print(f"{start} -> {end}")
        return 0
    layers = read_layers(LAYERS.read_text())
    faults = []
    print("crate              files   imports   largest circle   against layers")
    for source in sorted([*options.root.glob("crates/*/src"), *options.root.glob("bindings/*/src"), *options.root.glob("papers/src")]):
        name = str(source.parent.relative_to(options.root))
        crate = Crate(source)
        arrows = crate.arrows()
        largest = next(iter(circles(arrows)), [])
        wrong, missing = against(arrows, layers[name][1]) if name in layers else ([], set())
        print(f"{name:<18} {len(crate.modules):>5} {len(arrows):>9} {len(largest):>16} {len(wrong) if name in layers else '':>16}")
        if len(largest) > MAX_CIRCLE:
            faults.append(f"{name}: {len(largest)} files import each other, at most {MAX_CIRCLE} may: {' '.join(largest)}")
        if name in layers and len(wrong) > layers[name][0]:
            listed = "".join(f"\n  {start} -> {end}" for start, end in wrong)
            faults.append(f"{name}: {len(wrong)} imports run against its layers, at most {layers[name][0]} may:{listed}")
        elif name in layers and len(wrong) < layers[name][0]:
            print(f"{name}: {len(wrong)} imports run against its layers: lower the number in {LAYERS.name}")
        faults += [f"{name}/tests/it.rs does not name {file}" for file in left_out(source.parent / "tests")]
        faults += [f"{name}: no layer of {LAYERS.name} has {file}" for file in sorted(missing)]
    for fault in faults:
        print(fault, file=sys.stderr)
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
