"""`tidemark net probe` over paths that keep, bleach and drop ECN."""

import contextlib
import json
import subprocess

import pytest

from conftest import GATEWAY, ROOT, TIDEMARK
from test_shell import sleeper  # noqa: F401

ECT1_RULES = {
    "kept": "",
    "bleached": "ip ecn ect1 ip ecn set not-ect",
    "black-holed": "ip ecn ect1 drop",
}


@contextlib.contextmanager
def filtered(rule):
    """A host that treats arriving packets in this way."""
    table = f"table ip path {{\n chain input {{\n type filter hook prerouting priority raw\n {rule}\n }}\n }}\n"
    subprocess.run(["nft", "-f", "-"], input=table, text=True, check=True)
    try:
        yield
    finally:
        subprocess.run(["nft", "delete", "table", "ip", "path"], check=True)


@pytest.mark.brief
@pytest.mark.parametrize("path", ["bleached", *(pytest.param(path, marks=pytest.mark.full) for path in ECT1_RULES if path != "bleached")])
def test_a_path_is_told_by_what_it_does_to_ect1(shell, path):
    answering = subprocess.Popen([TIDEMARK, "net", "probe", "--listen", "4000"])
    try:
        with filtered(ECT1_RULES[path]):
            cell = shell("--cell", "5g-static", command=[TIDEMARK, "net", "probe", f"{GATEWAY}:4000"])
            assert cell.finish() == (0 if path == "kept" else 2), cell.stderr
        verdicts = {line["codepoint"]: line["verdict"] for line in map(json.loads, cell.stdout.splitlines())}
        assert verdicts["ECT(1)"].startswith(path)
        assert verdicts["Not-ECT"] == verdicts["ECT(0)"] == verdicts["CE"] == "kept"
    finally:
        answering.terminate()
        answering.wait()


def test_nobody_there_is_told_from_a_path_that_breaks_ecn(shell):
    cell = shell("--cell", "5g-static", command=[TIDEMARK, "net", "probe", f"{GATEWAY}:4000"])
    assert cell.finish() == 3, cell.stderr
    assert {line["verdict"] for line in map(json.loads, cell.stdout.splitlines())} == {"no answer"}
    assert "did not answer" in cell.stderr and "does not carry" not in cell.stderr


def test_the_page_reaches_the_host_from_a_second_cell(sleeper):  # noqa: F811
    page = (ROOT / "docs/guide/test-your-app.md").read_text()
    listens, asks = [line.split("#")[0].strip(" &") for line in page.splitlines() if line.startswith("    ") and "tidemark net probe" in line]
    sleeper()
    asks = asks.removeprefix("sudo ").replace("tidemark net probe", f"{TIDEMARK} net probe").replace("tidemark shell", f"{TIDEMARK} shell")
    answering = subprocess.Popen([TIDEMARK, *listens.split()[1:]])
    try:
        asked = subprocess.run(asks, shell=True, capture_output=True, text=True, timeout=60)
    finally:
        answering.terminate()
        answering.wait()
    assert asked.returncode == 0, asked.stderr
    assert [json.loads(line)["verdict"] for line in asked.stdout.splitlines()] == ["kept"] * 4
