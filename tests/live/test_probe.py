"""`tidemark probe` over paths that keep, bleach and swallow ECN."""

import contextlib
import json
import subprocess

import pytest

from conftest import GATEWAY, TIDEMARK

ECT1_RULES = {
    "kept": "",
    "bleached": "ip ecn ect1 ip ecn set not-ect",
    "black-holed": "ip ecn ect1 drop",
}


@contextlib.contextmanager
def filtered(rule):
    """A host that does this to what arrives at it."""
    table = f"table ip path {{\n chain input {{\n type filter hook prerouting priority raw\n {rule}\n }}\n }}\n"
    subprocess.run(["nft", "-f", "-"], input=table, text=True, check=True)
    try:
        yield
    finally:
        subprocess.run(["nft", "delete", "table", "ip", "path"], check=True)


@pytest.mark.parametrize("path", ECT1_RULES)
def test_a_path_is_told_by_what_it_does_to_ect1(shell, path):
    answering = subprocess.Popen([TIDEMARK, "probe", "--listen", "4000"])
    try:
        with filtered(ECT1_RULES[path]):
            cell = shell("--cell", "5g-static", command=[TIDEMARK, "probe", f"{GATEWAY}:4000"])
            assert cell.finish() == (0 if path == "kept" else 2), cell.stderr
        verdicts = {line["codepoint"]: line["verdict"] for line in map(json.loads, cell.stdout.splitlines())}
        assert verdicts["ECT(1)"].startswith(path)
        assert verdicts["Not-ECT"] == verdicts["ECT(0)"] == verdicts["CE"] == "kept"
    finally:
        answering.terminate()
        answering.wait()
