"""Programs of a run: those that outlast it say what they have."""

import subprocess
from pathlib import Path

from tidemark_sdn.lab.experiment import finish


def test_a_program_that_outlasts_the_run_is_ended_and_still_says_what_it_has(tmp_path: Path) -> None:
    said = tmp_path / "said"
    with said.open("wb") as output:
        program = "import signal, time\n" + (
            "def end(*_): print('nothing came', flush=True); raise SystemExit\n"
            "signal.signal(signal.SIGTERM, end)\nprint('up', flush=True)\ntime.sleep(60)\n"
        )
        late = subprocess.Popen(["python3", "-c", program], stdout=output)
        while "up" not in said.read_text(encoding="utf-8"):
            assert late.poll() is None
        punctual = subprocess.Popen(["true"])
        finish([late, punctual], 0.1)
    assert said.read_text(encoding="utf-8").splitlines() == ["up", "nothing came"]
    assert punctual.returncode == 0
