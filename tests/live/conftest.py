"""The live cell between programs that we did not write, in a network namespace that `run` made."""

import json
import os
import pathlib
import shutil
import subprocess
import time

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = pathlib.Path(os.environ.get("TIDEMARK", ROOT / "target/release/tidemark"))
GATEWAY = "100.96.0.1"
UE = "100.96.0.2"
GATEWAY6 = "fd74:6d61:726b::1"


def needs(program):
    """Skips, loudly, where a program is missing."""
    if shutil.which(program) is None:
        pytest.skip(f"{program} is not installed: run tests/install-packages.sh")


@pytest.fixture(scope="session", autouse=True)
def host():
    """The namespace that stands for the host."""
    if not TIDEMARK.exists():
        pytest.skip(f"{TIDEMARK} is not built: run `make build`")
    needs("ip")
    needs("nft")
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)


class Shell:
    """One `tidemark shell` with its command."""

    def __init__(self, *arguments, command, out=None, **options):
        self.out = out
        arguments = [str(argument) for argument in arguments] + (["--out", str(out)] if out else [])
        self.process = subprocess.Popen(
            [TIDEMARK, "shell", *arguments, "--", *command],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            stdin=subprocess.DEVNULL,
            text=True,
            **options,
        )

    def finish(self, timeout=60):
        """Its exit code and what was written to both streams."""
        try:
            self.stdout, self.stderr = self.process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            self.process.terminate()
            self.process.communicate(timeout=10)
            raise
        return self.process.returncode

    def summary(self):
        return json.loads((self.out / "summary.json").read_text())


@pytest.fixture
def shell():
    """Starts shells and ends those that a test leaves behind."""
    started = []

    def start(*arguments, command, out=None, **options):
        started.append(Shell(*arguments, command=command, out=out, **options))
        return started[-1]

    yield start
    for shell in started:
        if shell.process.poll() is None:
            shell.process.terminate()
            shell.process.wait(timeout=10)


class State:
    """What a machine has that a live cell could leave behind."""

    def __init__(self):
        def lines(*command):
            return sorted(subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines())

        self.devices = lines("ip", "-brief", "link")
        self.routes = lines("ip", "route", "show", "table", "all") + lines("ip", "-6", "route", "show", "table", "all")
        self.tables = lines("nft", "list", "ruleset")
        self.settings = {
            str(path): path.read_text()
            for version in ("ipv4", "ipv6")
            for path in pathlib.Path(f"/proc/sys/net/{version}/conf").glob("*/*")
            if path.name in ("forwarding", "accept_ra")
        }
        # Those that a cell could have made: other programs of the machine come and go.
        self.processes = sorted(
            arguments
            for arguments in lines("ps", "-eo", "args")
            if "tidemark" in arguments and "pytest" not in arguments and "tests/live/run" not in arguments
        )
        self.namespaces = {namespace for namespace in map(self.namespace, pathlib.Path("/proc").glob("[0-9]*")) if namespace}

    @staticmethod
    def namespace(process):
        """The network namespace of one of the cell's processes: those of others come and go."""
        try:
            if b"tidemark" in (process / "cmdline").read_bytes():
                return os.readlink(process / "ns/net")
        except OSError:
            pass
        return None


@pytest.fixture
def nothing_left():
    """Fails if the machine differs after the test."""
    before = vars(State())
    yield
    deadline = time.monotonic() + 5
    while vars(State()) != before and time.monotonic() < deadline:
        time.sleep(0.1)
    after = vars(State())
    assert after == before
