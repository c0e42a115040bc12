"""The live cell between third-party programs, in a network namespace made by `run`."""

import contextlib
import fcntl
import json
import multiprocessing
import os
import pathlib
import re
import shutil
import signal
import subprocess
import termios
import time

import pytest
from _pytest.runner import runtestprotocol

ROOT = pathlib.Path(__file__).resolve().parents[2]
TIDEMARK = pathlib.Path(os.environ.get("TIDEMARK", ROOT / "target/release/tidemark"))
GATEWAY = "100.96.0.1"
UE = "100.96.0.2"
GATEWAY6 = "fd74:6d61:726b::1"


def needs(program):
    """Skips, loudly, if a program is missing."""
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
        """Waits for the end of a process, and gives its exit code and what was written to both streams."""
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
    """Starts shells, and ends those that a test leaves running."""
    started = []

    def start(*arguments, command, out=None, **options):
        started.append(Shell(*arguments, command=command, out=out, **options))
        return started[-1]

    yield start
    for shell in started:
        if shell.process.poll() is None:
            shell.process.terminate()
            shell.process.wait(timeout=10)


@pytest.fixture
def ctrl_c():
    """Types Ctrl-C to a command in its own terminal as soon as the command's file or socket exists; gives the exit code."""

    def press(command, ready):
        leader, follower = os.openpty()
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=follower,
            stdout=follower,
            stderr=follower,
            start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
        )
        os.close(follower)
        try:
            deadline = time.monotonic() + 10
            while not ready.exists():
                assert time.monotonic() < deadline, f"{ready} has not appeared"
                time.sleep(0.02)
            time.sleep(0.2)
            os.write(leader, b"\x03")
            return process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            pytest.fail(f"Ctrl-C does not end {command[1]}")
        finally:
            os.close(leader)
            process.kill()
            process.wait()

    return press


class State:
    """Traces on a machine that a live cell could leave behind."""

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
            if "--tidemark-init" in arguments or arguments.split()[0].endswith("/tidemark")
        )
        self.namespaces = {namespace for namespace in map(self.namespace, pathlib.Path("/proc").glob("[0-9]*")) if namespace}

    @staticmethod
    def namespace(process):
        """The network namespace of one of the cell's processes."""
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


def descendants():
    """The descendants of this process: number, arguments and state of each."""
    parents = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            state, parent = (folder / "stat").read_text().rsplit(")", 1)[1].split()[:2]
            arguments = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
            parents[int(folder.name)] = (int(parent), state, arguments.strip()[:200], (folder / "wchan").read_text())
        except OSError:
            continue  # it has ended
    found, own, watchers = {}, {os.getpid()}, {watcher.pid for watcher in WATCHERS}
    while more := {pid: of for pid, of in parents.items() if of[0] in own and pid not in found and pid not in watchers}:
        found.update(more)
        own |= more.keys()
    return {pid: f"{arguments} (state {state}, in {place})" for pid, (_, state, arguments, place) in found.items()}


class Hang(Exception):
    """A test reached its time limit."""


def hang(limit):
    """Reports hanging processes and ends them, because they would delay later tests."""
    left = descendants()
    for pid in left:
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    raise Hang(f"not ended after {limit} s; still there:\n" + ("\n".join(left.values()) or "no process: the test itself hangs"))


# What follows makes tests in real time fit for a machine that does other things as well. With BRIEF set (`make test`) those run
# that are marked `brief`, but for parameters that are marked `full`, and what is left when the time is over is skipped.
BRIEF = bool(os.environ.get("BRIEF"))
BUDGET_S = 150
# What a test may take. Most take a few seconds, the longest of the selection one minute; `run` allows for one more that hangs twice.
LIMIT_S = 120 if BRIEF else 300
STARTED = time.monotonic()
# The share of time in which something that could run had to wait for a processor (PSI, Linux' Documentation/accounting/psi.rst).
MOST_PRESSURE = 0.3
# The share of time that a processor was taken away without a sign of pressure (`watch`, `lost_s`). The tests leave 0.025 at most, beside two
# programs of a lower priority as well. A quota of half a processor for them comes to 0.06 where it makes one fail, 0.3 of one to 0.1 to 0.4.
MOST_LOST = 0.05
NAP_S, LATE_S = 0.002, 0.004
ATTEMPTS = 2


def pytest_configure(config):
    config.addinivalue_line("markers", "brief: in the selection where time is short (BRIEF)")
    config.addinivalue_line("markers", "full: a parameter that is left out there")


def pytest_collection_modifyitems(config, items):
    if BRIEF:
        brief = [item for item in items if item.get_closest_marker("brief") and not item.get_closest_marker("full")]
        config.hook.pytest_deselected(items=[item for item in items if item not in brief])
        items[:] = brief


def pytest_runtest_setup(item):
    if BRIEF and time.monotonic() > STARTED + BUDGET_S:
        pytest.skip("no time is left for it in `make test`: run `make live-test`")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item):
    """Makes a hanging test fail, and reports the hanging processes."""
    signal.signal(signal.SIGALRM, lambda *_: hang(LIMIT_S))
    signal.alarm(LIMIT_S)
    try:
        return (yield)
    finally:
        signal.alarm(0)


def watch(processor, lost, parent):
    """Sleeps briefly again and again on one processor while the tests run, and adds up the lateness in seconds."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    os.sched_setaffinity(0, {processor})
    now = time.monotonic()
    while os.getppid() == parent:
        time.sleep(NAP_S)
        before, now = now, time.monotonic()
        late = now - before - NAP_S
        if late > LATE_S:
            lost.value += late


# The seconds that each processor was late, by its name in /proc/stat, and the processes that count them: a thread would wait for the interpreter.
LATE = {f"cpu{processor}": multiprocessing.RawValue("d", 0) for processor in os.sched_getaffinity(0)}
WATCHERS = [
    multiprocessing.Process(target=watch, args=(int(name.removeprefix("cpu")), lost, os.getpid()), daemon=True)
    for name, lost in LATE.items()
]


def pytest_sessionstart():
    for watcher in WATCHERS:
        watcher.start()


def lost_s():
    """Gives the seconds that each processor was not ours since the machine or the tests started: late naps, and what the host says that it took
    ("steal" of proc(5)), which not every host does."""
    seconds = {f"late on {name}": late.value for name, late in LATE.items()}
    for line in pathlib.Path("/proc/stat").read_text().splitlines():
        name, *ticks = line.split()
        if name in LATE:
            seconds[f"steal on {name}"] = int(ticks[7]) / os.sysconf("SC_CLK_TCK")
    return seconds


def stalled_us():
    """Gives the time for which some task had to wait for a processor since the machine started; None if the kernel does not tell."""
    try:
        text = pathlib.Path("/proc/pressure/cpu").read_text()
    except OSError:
        return None
    return int(text.split("total=")[1].split()[0])


def words(report):
    """Gives the text of a failure, without the folder and the addresses that each attempt has for itself; None where it says nothing or that it waited too long."""
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None or "timed out" in crash.message.lower():
        return None
    return re.sub(r"/tmp/pytest-of-\S+", "/tmp", re.sub(r" at 0x[0-9a-f]+", "", crash.message))


def pytest_runtest_protocol(item, nextitem):
    """A test that fails is tried again. One that fails then, too, while others need the processors or the host of a virtual machine takes them away,
    is skipped with that as reason; but one that hangs twice, or fails twice with the same words, fails whatever the
    others do: what a lack of time spoils is a figure, and another one each time."""
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    said = None
    for attempt in range(1, ATTEMPTS + 1):
        began, stalled, lost = time.monotonic(), stalled_us(), lost_s()
        reports = runtestprotocol(item, nextitem=nextitem, log=False)
        failed = [report for report in reports if report.failed]
        if not failed:
            break
        took = time.monotonic() - began
        pressure = 0 if stalled is None else (stalled_us() - stalled) / 1e6 / took
        where, lost = max(((name, (seconds - lost[name]) / took) for name, seconds in lost_s().items()), key=lambda of: of[1])
        if pressure < MOST_PRESSURE and lost < MOST_LOST and attempt == ATTEMPTS:
            break
        reason = f"failed {attempt} times: something waited for a processor {pressure:.0%} of the time, {lost:.0%} of it {where}"
        print(f"{item.nodeid}: {reason}\n{failed[0].longreprtext}")
        before, said = said, words(failed[0])
        if attempt == ATTEMPTS and (said is not None and said == before or any("Hang: not ended" in report.longreprtext for report in failed)):
            break
        if attempt == ATTEMPTS:
            path, line, _ = item.location
            for report in failed:
                report.outcome, report.longrepr = "skipped", (path, line, f"Skipped: {reason}")
        else:
            item._initrequest()
    for report in reports:
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True
