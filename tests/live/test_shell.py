"""`tidemark shell` as a user meets it: what the command sees, what it costs the machine, and that nothing stays."""

import os
import pathlib
import signal
import subprocess
import time

import pytest

from conftest import GATEWAY, GATEWAY6, TIDEMARK, needs


def inside(shell, script, *arguments, **options):
    """Runs a script inside; gives what it wrote."""
    cell = shell("--cell", "5g-static", *arguments, command=["sh", "-c", script], **options)
    assert cell.finish() == 0, cell.stdout + cell.stderr
    return cell.stdout


def wait_for(condition, what):
    deadline = time.monotonic() + 10
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


@pytest.fixture
def sleeper(shell, tmp_path):
    """A shell whose command sleeps, and the file that shows that it runs."""

    def start(seconds=60):
        ready = tmp_path / f"ready-{time.monotonic_ns()}"
        cell = shell("--cell", "5g-static", command=["sh", "-c", f"touch {ready}; exec sleep {seconds}"])
        wait_for(ready.exists, "the command does not start")
        return cell

    return start


def test_the_command_has_one_device_and_its_exit_code_is_ours(shell, nothing_left):
    devices = inside(shell, "ip -brief link").split("\n")
    assert [line.split()[0] for line in devices if line] == ["lo", "cell0"]
    cell = shell(command=["sh", "-c", "exit 7"])
    assert cell.finish() == 7
    cell = shell(command=["/no/such/program"])
    assert cell.finish() == 127


def test_a_ping_takes_the_cells_time(shell, nothing_left):
    needs("ping")
    for address in (GATEWAY, GATEWAY6):
        text = inside(shell, f"ping -c 20 -i 0.05 {address}")
        assert " 0% packet loss" in text
        median = float(text.split("min/avg/max/mdev = ")[1].split("/")[1])
        # Uplink: 4 ms to the grant, then the next uplink slot's end; downlink: a slot and its decoding.
        assert 5 < median < 15


def test_a_wired_path_adds_its_round_trip(shell, nothing_left):
    needs("ping")
    text = inside(shell, f"ping -c 20 -i 0.05 {GATEWAY}", "--round-trip", "40 ms")
    assert 45 < float(text.split("min/avg/max/mdev = ")[1].split("/")[1]) < 55


def test_large_packets_pass_whole_and_in_fragments(shell, nothing_left):
    needs("ping")
    for address in (GATEWAY, GATEWAY6):
        for size, mtu in [(1452, 1500), (8000, 1500), (8000, 9000), (60000, 65521)]:
            text = inside(shell, f"ping -c 3 -i 0.2 -s {size} {address}", "--mtu", str(mtu))
            assert " 0% packet loss" in text


def test_the_outside_is_reached_as_the_host_reaches_it(shell, nothing_left):
    needs("ping")
    # Another network behind the host, which knows nothing of the cell's addresses.
    outside = subprocess.Popen(["unshare", "--net", "sleep", "60"])
    try:
        wait_for(lambda: pathlib.Path(f"/proc/{outside.pid}/comm").read_text().strip() == "sleep", "no namespace")
        commands = f"""
            ip link add out0 type veth peer name out1 netns {outside.pid}
            ip address add 192.0.2.1/24 dev out0
            ip address add 2001:db8::1/64 dev out0 nodad
            ip link set out0 up
            nsenter --net --target {outside.pid} sh -c '
                ip link set out1 up
                ip address add 192.0.2.2/24 dev out1
                ip address add 2001:db8::2/64 dev out1 nodad'
        """
        subprocess.run(["sh", "-ec", commands], check=True)
        for address in ("192.0.2.2", "2001:db8::2"):
            assert " 0% packet loss" in inside(shell, f"ping -c 3 -i 0.2 -W 2 {address}")
    finally:
        subprocess.run(["ip", "link", "delete", "out0"], check=False)
        outside.kill()
        outside.wait()


def test_shells_may_be_nested(shell, nothing_left):
    needs("ping")
    nested = f"{TIDEMARK} shell --cell 5g-static -- ping -c 10 -i 0.05 {GATEWAY}"
    text = inside(shell, nested)
    assert " 0% packet loss" in text
    assert float(text.split("min/avg/max/mdev = ")[1].split("/")[1]) > 10  # twice the cell's


def test_two_cells_at_once_do_not_meet(shell, sleeper, nothing_left):
    first = sleeper()
    text = inside(shell, "ip -brief -4 address show cell0; ping -c 3 -i 0.2 100.96.1.1; ping -c 3 -i 0.2 100.96.0.1")
    assert "100.96.1.2" in text and text.count(" 0% packet loss") == 2
    # The first one goes on, and can still reach the host when the second has ended.
    assert first.process.poll() is None
    first.process.terminate()
    first.finish()


@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_everything(sleeper, nothing_left, end):
    cell = sleeper()
    cell.process.send_signal(end)
    assert cell.finish(timeout=10) != 0


def test_ctrl_c_goes_to_the_command(shell, tmp_path, nothing_left):
    # A command that takes note of it and goes on: a wrapper must not end it.
    ready, note = tmp_path / "ready", tmp_path / "note"
    script = f"trap 'echo caught > {note}' INT; touch {ready}; sleep 2 & wait; wait; echo done"
    leader, follower = os.openpty()
    cell = subprocess.Popen(
        [TIDEMARK, "shell", "--", "sh", "-c", script],
        stdin=follower, stdout=follower, stderr=follower, start_new_session=True,
        preexec_fn=lambda: __import__("fcntl").ioctl(0, __import__("termios").TIOCSCTTY, 0),
    )  # fmt: skip
    os.close(follower)
    try:
        wait_for(ready.exists, "the command does not start")
        os.write(leader, b"\x03")
        assert cell.wait(timeout=10) == 0
        assert note.read_text() == "caught\n"
    finally:
        os.close(leader)
        cell.kill()


def test_what_a_killed_cell_left_is_cleared_by_the_next(shell, sleeper, nothing_left):
    cell = sleeper()
    cell.process.kill()
    cell.finish(timeout=10)
    # Processes and devices end at once; the table waits for the next start.
    wait_for(lambda: "tidemark0" not in subprocess.getoutput("ip -brief link"), "the device stays")
    wait_for(lambda: "sleep 60" not in subprocess.getoutput("ps -eo args | grep -v grep"), "the command stays")
    assert "tidemark0" in subprocess.getoutput("nft list tables")
    assert inside(shell, "echo well") == "well\n"


def test_a_device_deleted_from_outside_ends_the_cell_with_a_message(sleeper, nothing_left):
    cell = sleeper()
    subprocess.run(["ip", "link", "delete", "tidemark0"], check=True)
    assert cell.finish(timeout=10) == 2
    assert "tidemark0 is gone" in cell.stderr


def test_without_privileges_the_message_says_what_to_do(shell):
    needs("setpriv")
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "unshare", "--user", TIDEMARK, "shell", "--", "true"]
    # A user namespace without a mapping has no rights and may make no other.
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2, done
    assert "sudo" in done.stderr and "CAP_NET_ADMIN" in done.stderr


def test_an_ordinary_user_gets_a_cell_where_the_system_gives_user_namespaces():
    needs("setpriv")
    if os.stat("/dev/net/tun").st_mode & 0o006 != 0o006:
        pytest.skip("this system gives /dev/net/tun to root alone")
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*user, "unshare", "--user", "--net", "true"], capture_output=True).returncode != 0:
        pytest.skip("this system gives no user namespaces to ordinary users")
    command = [*user, TIDEMARK, "shell", "--", "ping", "-c", "3", "-i", "0.2", GATEWAY]
    done = subprocess.run(command, capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
    assert " 0% packet loss" in done.stdout, done
    assert "Use sudo" in done.stderr
