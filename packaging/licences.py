"""Copies the licences of the crates in the command: licences.py <target> <folder>."""

import json
import pathlib
import shutil
import subprocess
import sys

NAMES = ("LICENSE*", "LICENCE*", "COPYING*", "COPYRIGHT*", "NOTICE*", "UNLICENSE*")


def crates(target: str) -> list[dict]:
    """Third-party packages that are linked into the command, without build scripts and macros."""
    common = ["--locked", "--filter-platform", target, "--format-version", "1"]
    metadata = json.loads(subprocess.run(["cargo", "metadata", *common], check=True, capture_output=True).stdout)
    packages = {package["id"]: package for package in metadata["packages"]}
    nodes = {node["id"]: node for node in metadata["resolve"]["nodes"]}
    waiting = [package["id"] for package in packages.values() if package["name"] == "tidemark-cli"]
    found = set()
    while waiting:
        name = waiting.pop()
        if name not in found:
            found.add(name)
            for dependency in nodes[name]["deps"]:
                if any(kind["kind"] is None for kind in dependency["dep_kinds"]):
                    waiting.append(dependency["pkg"])
    return sorted((packages[name] for name in found if packages[name]["source"]), key=lambda package: package["name"])


def main() -> None:
    """Writes a folder for each crate, and a table of all crates."""
    target, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True)
    lines = []
    for package in crates(target):
        source = pathlib.Path(package["manifest_path"]).parent
        name = f"{package['name']}-{package['version']}"
        lines.append(f"{name}\t{package['license'] or 'see its file'}\n")
        for file in sorted({file for pattern in NAMES for file in source.glob(pattern) if file.is_file()}):
            (folder / name).mkdir(exist_ok=True)
            shutil.copyfile(file, folder / name / file.name)
    (folder / "crates.tsv").write_text("".join(["crate\tlicence\n", *lines]), encoding="utf-8")


if __name__ == "__main__":
    main()
