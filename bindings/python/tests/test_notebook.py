"""Results in notebooks."""

import re
import subprocess
import sys

import nbformat
import pytest
import tidemark
from matplotlib import pyplot
from nbclient import NotebookClient
from tidemark import ms, s

FIRST_LOOK = "scenarios/first-look.toml"
SHORT = {"duration": s(2), "warmup": s(1)}


@pytest.fixture(autouse=True)
def no_figure_is_left_open():
    """A figure of pyplot would be shown twice."""
    before = pyplot.get_fignums()
    yield
    assert pyplot.get_fignums() == before


def headings(html: str) -> list[str]:
    return re.findall("<th>(.*?)</th>", html)


def test_a_result_shows_a_table_of_flows_and_four_pictures():
    result = tidemark.run(FIRST_LOOK, set=SHORT)
    html = result._repr_html_()
    assert headings(html)[:4] == ["flow", "controller", "law", "throughput (Mbit/s)"]
    assert "p99 one-way delay (ms)" in headings(html) and len(headings(html)) <= 10
    assert html.count("<tr>") == 1 + 4 and "<td>prague-desk</td>" in html
    assert html.count("<svg") == 1 and html.count('<g id="axes_') == 4


def test_a_table_shows_means_with_intervals_and_a_picture_a_metric(tmp_path):
    metrics = ["throughput_mbps", "owd_ms.p95", "owd_ms.p99", "rtt_ms.p50"]
    vary = {"marker.law": ["none", "l4span"]}
    table = tidemark.Study(FIRST_LOOK, vary=vary, set=SHORT, seeds=2, metrics=metrics).run(tmp_path / "a")
    html = table._repr_html_()
    assert headings(html)[:3] == ["marker.law", "flow", "throughput (Mbit/s)"]
    assert html.count("<tr>") == 1 + 2 * 4 and html.count(" ± ") >= 2 * 4 * 4
    assert html.count("<svg") == 1 and html.count('<g id="axes_') == 4


def test_a_study_that_varies_nothing_and_runs_without_flows_are_shown(tmp_path):
    alone = tidemark.Study(FIRST_LOOK, set=SHORT, seeds=1, metrics=["utilisation"]).run(tmp_path / "a")
    assert alone._repr_html_().count('<g id="axes_') == 1
    link = {"name": "link", "rate": "10 Mbit/s"}
    flow = {"name": "bulk", "round_trip": ms(20), "router": "link", "sender": {"controller": "cubic"}}
    wire = {"name": "wire", "duration": s(2), "warmup": s(0), "router": [link], "flow": [flow]}
    assert tidemark.run(wire)._repr_html_().count('<g id="axes_') == 4


def test_many_flows_have_a_short_table_and_few_curves():
    html = tidemark.run(FIRST_LOOK, set=SHORT | {"ue.0.count": 30})._repr_html_()
    assert html.count("<tr>") == 1 + 24 and "more flows" in html
    assert len(html) < 500_000


def test_names_are_no_html():
    html = tidemark.run(FIRST_LOOK, set=SHORT | {"flow.0.name": "<script>"})._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;" in html


WITHOUT = """
import sys
import tidemark
assert "matplotlib" not in sys.modules
sys.modules["matplotlib"] = None
print(tidemark.run("scenarios/first-look.toml", set={"duration": "2 s", "warmup": "1 s"})._repr_html_())
"""


def test_without_matplotlib_there_is_the_table_alone():
    html = subprocess.check_output([sys.executable, "-c", WITHOUT], text=True)
    assert "<td>prague-desk</td>" in html and "<svg" not in html


CELLS = [
    "import tidemark\nfrom tidemark import s",
    "class Mine:\n    limit = 5\n    def arrive(self, arrival):\n        return arrival.head_of_line_ms > self.limit",
    """
short = {"duration": s(2), "warmup": s(1)}
study = tidemark.Study("scenarios/first-look.toml", law=Mine, set=short, seeds=2, metrics=["throughput_mbps"])
table = study.run("out", progress=False)
table""",
    "assert study.run('out', progress=False).csv == table.csv",
]


def test_a_class_of_a_cell_is_studied_and_shown(tmp_path, monkeypatch):
    from conftest import ROOT

    (tmp_path / "scenarios").symlink_to(ROOT / "scenarios")
    monkeypatch.chdir(tmp_path)
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in CELLS])
    NotebookClient(notebook, timeout=300).execute()
    (output,) = notebook.cells[2].outputs
    assert "± half-width of their 95 % confidence intervals" in output["data"]["text/html"]
    assert len(list((tmp_path / "out/runs").iterdir())) == 2


def test_the_same_result_shows_the_same_bytes():
    assert tidemark.run(FIRST_LOOK, set=SHORT)._repr_html_() == tidemark.run(FIRST_LOOK, set=SHORT)._repr_html_()
