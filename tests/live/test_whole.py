"""Results of a live session, a run and a study on a full disk, and of killed sessions: no earlier results are lost."""

import json
import subprocess
import time

import pytest
from conftest import ROOT, TIDEMARK, needs

SCENARIO = ROOT / "scenarios/first-look.toml"
BRIEF = ["--set", "duration=300 ms", "--set", "warmup=0 s"]


def files(folder):
    """Gives the files of a folder with their bytes, without hidden ones."""
    return {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file() and not path.name.startswith(".")}


@pytest.fixture
def disk(tmp_path):
    """A disk of 8 MB."""
    needs("mount")
    folder = tmp_path / "disk"
    folder.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=8m", "tmpfs", folder], check=True)
    yield folder
    subprocess.run(["umount", "--lazy", folder], check=True)


def fill(disk):
    """Fills a disk except for 20 kB."""
    usage = subprocess.check_output(["stat", "--file-system", "--format=%a %S", disk], text=True)
    blocks, size = map(int, usage.split())
    (disk / "ballast").write_bytes(bytes(blocks * size - 20_000))


def session(out, law, *more, seconds=0.3):
    """Gives the command of a short live session."""
    options = ["--cell", "5g-static", "--set", f"marker.law={law}", "--set", "warmup=0 s", "--out", out, "--force"]
    return [TIDEMARK, "shell", *options, *more, "--", "sleep", str(seconds)]


@pytest.mark.parametrize("kind", ["session", "run", "seeds", "study"])
def test_a_full_disk_leaves_what_was_there(kind, disk):
    out = disk / "out"
    command = {
        "session": lambda law: session(out, law),
        "run": lambda law: [TIDEMARK, "run", SCENARIO, *BRIEF, "--set", f"marker.law={law}", "--out", out, "--force"],
        "seeds": lambda law: [TIDEMARK, "run", SCENARIO, *BRIEF, "--set", f"marker.law={law}", "--seeds", "2", "--out", out, "--force"],
        "study": lambda law: [TIDEMARK, "run", SCENARIO, *BRIEF, "--vary", f"marker.law=none,{law}", "--seeds", "3", "--out", out],
    }[kind]
    subprocess.run(command("none" if kind != "study" else "tide"), check=True, capture_output=True)
    before = files(out) if kind != "seeds" else files(out / "seed-1")
    fill(disk)
    done = subprocess.run(command("l4span"), capture_output=True, text=True)
    (disk / "ballast").unlink()
    assert done.returncode == 2 and "No space left" in done.stderr, done.stderr
    assert (files(out) if kind != "seeds" else files(out / "seed-1")) == before
    # With space again the same command does it.
    assert subprocess.run(command("l4span"), capture_output=True).returncode == 0


@pytest.mark.full
def test_a_killed_session_leaves_the_old_result_the_new_one_or_none(tmp_path):
    out = tmp_path / "out"

    def law():
        summary = json.loads((out / "summary.json").read_text())
        scenario = (out / "scenario.toml").read_text()
        assert summary["scenario"] == scenario and summary["scenario"] in json.loads(page_data())["scenario"]
        return next(line for line in scenario.splitlines() if line.startswith("law"))

    def page_data():
        page = (out / "report.html").read_text()
        return page.split('type="application/json"', 1)[1].split(">", 1)[1].split("</script>", 1)[0]

    began = time.monotonic()
    subprocess.run(session(out, "none"), check=True, capture_output=True)
    took = time.monotonic() - began
    for moment in range(20):
        subprocess.run(session(out, "none"), check=True, capture_output=True)
        running = subprocess.Popen(session(out, "l4span"), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        # Most of the moments are near the end, where files are written.
        time.sleep(took * (1.05 - (moment / 20) ** 2))
        running.kill()
        running.wait()
        if (out / "summary.json").exists():
            assert law() in ('law = "none"', 'law = "l4span"'), moment
    subprocess.run(session(out, "none"), check=True, capture_output=True)
    assert not list(out.glob(".part-*")), "what the killed ones left goes with the next"
