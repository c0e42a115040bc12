"""Faults around a cell: it continues or ends with a clear message, and leaves nothing behind."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import time

import pytest

from conftest import GATEWAY, TIDEMARK, UE, needs
from test_shell import sleeper, wait_for  # noqa: F401: a fixture
from test_tunnels import GNB, NOT_ECT, TEID, datagram, gnb, seen, upf  # noqa: F401: a fixture


def test_an_endpoint_that_is_killed_ends_alone(tmp_path, nothing_left):
    lab = tmp_path / "lab.toml"
    lab.write_text("""
name = "lab"
duration = "20 s"
[[ue]]
name = "victim"
command = "kill -9 $$"
[[ue]]
name = "other"
command = "sleep 2; exec ping -q -c 5 -i 0.1 100.96.0.1"
[[server]]
name = "server"
command = "kill -9 $$"
""")
    done = subprocess.run([TIDEMARK, "shell", lab], capture_output=True, text=True, timeout=30)
    # 128 and the signal, as a shell says it.
    assert done.returncode == 137, done
    assert " 0% packet loss" in done.stdout


@pytest.mark.brief
def test_a_ue_device_deleted_from_inside_ends_the_cell_with_a_message(shell, nothing_left):
    cell = shell("--cell", "5g-static", command=["sh", "-c", "ip link delete cell0; exec sleep 60"])
    assert cell.finish(timeout=20) == 2
    assert "cell0 is gone" in cell.stderr


def test_a_namespace_that_is_ended_from_outside_ends_the_cell(sleeper, nothing_left):  # noqa: F811
    cell = sleeper()
    children = subprocess.run(["pgrep", "-P", str(cell.process.pid), "-f", "tidemark-init"], capture_output=True, text=True)
    os.kill(int(children.stdout.split()[0]), signal.SIGKILL)
    assert cell.finish(timeout=10) == 137


def test_without_any_coverage_packets_wait_or_are_lost_and_the_cell_goes_on(shell, tmp_path, nothing_left):
    needs("ping")
    ready = tmp_path / "ready"
    script = f"touch {ready}; sleep 1; ping -q -c 20 -i 0.1 -W 1 {GATEWAY}"
    cell = shell("--cell", "5g-static", command=["sh", "-c", script], out=tmp_path / "out")
    wait_for(ready.exists, "the command does not start")
    subprocess.run([TIDEMARK, "ctl", "--cell", "0", "outage", "ue", "100 s"], check=True)
    assert cell.finish() == 1
    assert " 100% packet loss" in cell.stdout
    assert cell.summary()["live"]["overload"] == 0


@pytest.mark.brief
def test_malformed_and_oversized_packets_are_survived(tmp_path, upf, nothing_left):  # noqa: F811
    process = gnb(tmp_path, "--cell", "5g-static")
    header = bytes([0x34, 255]) + (8).to_bytes(2, "big") + TEID.to_bytes(4, "big") + bytes([0, 0, 0, 0x85, 1, 0, 9, 0])
    for message in [
        b"", b"\0", b"\xff" * 1400, header[:9], header,
        header[:15] + b"\x85",  # an extension header that is announced and missing
        bytes([0x34, 255, 0xFF, 0xFF]) + header[4:],  # longer than the datagram
        header[:12] + b"\0" * 40,  # an extension header of length zero
    ]:  # fmt: skip
        upf.socket.sendto(message, (GNB, 2152))
    for inner in [b"", b"\x45", os.urandom(1200), b"\x60" * 39, datagram(1, NOT_ECT)[:27]]:
        upf.send(inner, NOT_ECT, 9)
    # Longer than the UE's device takes: the kernel fragments it or refuses it, as it does a packet of that size.
    upf.send(datagram(2, NOT_ECT, size=9_000), NOT_ECT, 9)
    time.sleep(0.5)
    upf.send(datagram(0, NOT_ECT), NOT_ECT, 9)
    assert seen(process)[-1] == (0, NOT_ECT)


def test_a_machine_that_is_too_slow_is_told(shell, tmp_path, nothing_left):
    ready = tmp_path / "ready"
    cell = shell("--cell", "5g-static", command=["sh", "-c", f"touch {ready}; exec sleep 4"], out=tmp_path / "out")
    wait_for(ready.exists, "the command does not start")
    sender, end = socket.socket(socket.AF_INET, socket.SOCK_DGRAM), time.monotonic() + 3
    # As if the machine had no time for the cell, twice for half a second.
    stopped = False
    while time.monotonic() < end:
        sender.sendto(bytes(1000), (UE, 9))
        should_stop = time.monotonic() % 1 < 0.5
        if should_stop != stopped:
            cell.process.send_signal(signal.SIGSTOP if should_stop else signal.SIGCONT)
            stopped = should_stop
        time.sleep(0.001)
    cell.process.send_signal(signal.SIGCONT)
    assert cell.finish() == 0
    assert cell.summary()["live"]["overload"] > 0
    assert re.search(r"OVERLOAD: \d+ packets were dropped .* this machine can carry \d+ Mbit/s of this cell", cell.stderr)
    assert not pathlib.Path(f"/proc/{cell.process.pid}").exists()


def test_a_clock_that_has_nothing_to_do_with_the_wall_clock_is_as_good(shell, nothing_left):
    """A step of the wall clock moves that clock and not the cell's. Nobody but the machine's owner may step the one; the
    other can be moved, for a namespace, by eleven days. That no other is read, crates/emu/clippy.toml sees to."""
    needs("unshare")
    needs("ping")
    moved = ["unshare", "--time", "--monotonic", "1000000", "--boottime", "1000000"]
    if subprocess.run([*moved, "true"], capture_output=True).returncode != 0:
        pytest.skip("no time namespace may be made here")
    command = [*moved, TIDEMARK, "shell", "--cell", "5g-static", "--", "ping", "-c", "20", "-i", "0.05", GATEWAY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert done.returncode == 0 and " 0% packet loss" in done.stdout, done
    # Uplink: 4 ms to the grant, then the next uplink slot's end; downlink: a slot and its decoding.
    assert 5 < float(done.stdout.split("min/avg/max/mdev = ")[1].split("/")[1]) < 15
