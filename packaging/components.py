"""Writes the command's components as CycloneDX 1.6: components.py <target> <version>."""

import json
import sys

from licences import crates


def component(package: dict) -> dict:
    """A crate with its licence, if it names one."""
    name, version = package["name"], package["version"]
    purl = f"pkg:cargo/{name}@{version}"
    licence = {"licenses": [{"expression": package["license"].replace("/", " OR ")}]} if package["license"] else {}
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl, **licence}


def main() -> None:
    """Prints the document."""
    target, version = sys.argv[1:]
    command = {"type": "application", "bom-ref": "tidemark", "name": "tidemark", "version": version}
    document = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": command},
        "components": [component(package) for package in crates(target)],
    }
    print(json.dumps(document, indent=1))


if __name__ == "__main__":
    main()
