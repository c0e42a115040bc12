"""`tidemark shell` from a user's view: what the command sees, the load on the machine, and that nothing remains."""

import fcntl
import json
import os
import pathlib
import pwd
import shutil
import signal
import stat
import subprocess
import tempfile
import termios
import time

import pytest

from conftest import GATEWAY, GATEWAY6, TIDEMARK, needs


def inside(shell, script, *arguments, **options):
    """Runs a script inside; gives its output."""
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
    """A shell with a sleeping command, and the file that shows that it runs."""

    def start(seconds=60):
        ready = tmp_path / f"ready-{time.monotonic_ns()}"
        cell = shell("--cell", "5g-static", command=["sh", "-c", f"touch {ready}; exec sleep {seconds}"])
        wait_for(ready.exists, "the command does not start")
        return cell

    return start


@pytest.mark.brief
def test_the_command_has_one_device_and_its_exit_code_is_ours(shell, nothing_left):
    devices = inside(shell, "ip -brief link").split("\n")
    assert [line.split()[0] for line in devices if line] == ["lo", "cell0"]
    cell = shell(command=["sh", "-c", "exit 7"])
    assert cell.finish() == 7
    cell = shell(command=["/no/such/program"])
    assert cell.finish() == 127


@pytest.mark.brief
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


@pytest.mark.brief
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


def test_a_table_of_flows_has_no_rows_of_the_hosts_own(shell, tmp_path, nothing_left):
    # In its first seconds a device's kernel reports the multicast groups that it listens to.
    cell = shell("--cell", "5g-static", command=["sleep", "3"], out=tmp_path)
    assert cell.finish() == 0, cell.stderr
    summary = cell.summary()
    assert (summary["flows"], summary["live"]["unroutable"]) == ([], 0)


def test_two_cells_at_once_do_not_meet(shell, sleeper, nothing_left):
    first = sleeper()
    text = inside(shell, "ip -brief -4 address show cell0; ping -c 3 -i 0.2 100.96.1.1; ping -c 3 -i 0.2 100.96.0.1")
    assert "100.96.1.2" in text and text.count(" 0% packet loss") == 2
    # Each command knows the host by the same names.
    assert inside(shell, "echo $TIDEMARK_HOST $TIDEMARK_HOST6").split() == ["100.96.1.1", GATEWAY6.replace("::", ":1::")]
    second = sleeper()
    listed = subprocess.run([TIDEMARK, "ctl", "list"], capture_output=True, text=True).stdout.splitlines()
    assert [line.split(": ")[0] for line in listed] == ["0  5g-static, shell", "1  5g-static, shell"]
    assert all("sleep 60" in line for line in listed)
    refused = subprocess.run([TIDEMARK, "ctl", "status"], capture_output=True, text=True)
    assert refused.returncode == 2 and "--cell N" in refused.stderr and "1  5g-static, shell: " in refused.stderr
    second.process.terminate()
    second.finish()
    # The first one goes on, and can still reach the host when the second has ended.
    assert first.process.poll() is None
    first.process.terminate()
    first.finish()


@pytest.mark.brief
@pytest.mark.parametrize("end", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_ends_everything(sleeper, nothing_left, end):
    cell = sleeper()
    cell.process.send_signal(end)
    assert cell.finish(timeout=10) != 0


@pytest.fixture
def ctrl_c_inside(ctrl_c, tmp_path):
    """Types Ctrl-C to a script inside a cell; gives the cell's exit code."""
    ready = tmp_path / "ready"
    return lambda script: ctrl_c([TIDEMARK, "shell", "--cell", "5g-static", "--", "sh", "-c", f"touch {ready}; {script}"], ready)


def test_ctrl_c_ends_the_command(ctrl_c_inside, nothing_left):
    assert ctrl_c_inside("exec sleep 60") == 128 + signal.SIGINT


def test_ctrl_c_goes_to_the_command(ctrl_c_inside, tmp_path, nothing_left):
    # A command that takes note of it and goes on: a wrapper must not end it.
    note = tmp_path / "note"
    assert ctrl_c_inside(f"trap 'echo caught > {note}' INT; sleep 2 & wait; wait; echo done") == 0
    assert note.read_text() == "caught\n"


def test_programs_inside_have_all_signals(shell, nothing_left):
    assert int(inside(shell, "grep SigBlk /proc/self/status").split()[1], 16) == 0
    # By `timeout` and by number, which init of the namespace must not have blocked for them.
    script = "timeout 0.2 sleep 60; echo $?; sleep 60 & kill $!; wait $!; echo $?"
    assert inside(shell, script).split() == ["124", str(128 + signal.SIGTERM)]


@pytest.mark.brief
def test_what_a_killed_cell_left_is_cleared_by_the_next(shell, sleeper, nothing_left):
    cell = sleeper()
    cell.process.kill()
    cell.finish(timeout=10)
    # Processes and devices end at once; the table waits for the next start.
    wait_for(lambda: "tidemark0" not in subprocess.getoutput("ip -brief link"), "the device stays")
    wait_for(lambda: "sleep 60" not in subprocess.getoutput("ps -eo args | grep -v grep"), "the command stays")
    assert "tidemark0" in subprocess.getoutput("nft list tables")
    assert inside(shell, "echo well") == "well\n"


@pytest.mark.parametrize("namespaces", [["--net"], ["--net", "--pid", "--fork", "--mount-proc"]])
def test_what_a_killed_cell_left_is_not_forgotten_by_a_start_in_another_network(shell, sleeper, nothing_left, namespaces):
    journal = pathlib.Path("/run/tidemark/0")
    cell = sleeper()
    cell.process.kill()
    cell.finish(timeout=10)
    left = journal.read_text()
    assert "table tidemark0" in left
    subprocess.run(["unshare", *namespaces, TIDEMARK, "shell", "--cell", "5g-static", "--", "true"], check=True, timeout=20)
    assert journal.read_text() == left
    # The next one here undoes it; `nothing_left` looks.
    assert inside(shell, "echo well") == "well\n"


@pytest.fixture
def member(tmp_path):
    """The user `nobody`, who for this test is a member of another group."""
    group = tmp_path / "group"
    group.write_text(pathlib.Path("/etc/group").read_text().rstrip() + "\ncellular:x:54321:nobody\n")
    group.chmod(0o644)
    subprocess.run(["mount", "--bind", group, "/etc/group"], check=True)
    yield pwd.getpwnam("nobody")
    subprocess.run(["umount", "/etc/group"], check=True)


def test_through_sudo_the_command_is_the_callers(shell, member, nothing_left):
    called = {"SUDO_UID": str(member.pw_uid), "SUDO_GID": str(member.pw_gid), "SUDO_USER": member.pw_name}
    root = {"USER": "root", "LOGNAME": "root", "HOME": "/root", "SHELL": "/bin/false"}
    script = "id -u; id -g; id -G; echo $USER:$LOGNAME:$HOME:$SHELL"
    lines = inside(shell, script, env={**os.environ, **root, **called}).splitlines()
    assert lines[:2] == [str(member.pw_uid), str(member.pw_gid)]
    assert set(lines[2].split()) == {str(member.pw_gid), "54321"}
    assert lines[3] == ":".join([member.pw_name, member.pw_name, member.pw_dir, member.pw_shell])


def test_a_device_deleted_from_outside_ends_the_cell_with_a_message(sleeper, nothing_left):
    cell = sleeper()
    subprocess.run(["ip", "link", "delete", "tidemark0"], check=True)
    assert cell.finish(timeout=10) == 2
    assert "tidemark0 is gone" in cell.stderr


@pytest.mark.brief
def test_without_privileges_the_message_says_what_to_do(shell):
    needs("setpriv")
    command = ["setpriv", "--bounding-set=-all", "--inh-caps=-all", "unshare", "--user", TIDEMARK, "shell", "--", "true"]
    # A user namespace without a mapping has no rights and may make no other.
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2, done
    assert "sudo" in done.stderr and "CAP_NET_ADMIN" in done.stderr


@pytest.fixture
def tun_for_all(tmp_path):
    """/dev/net/tun as most systems have it; some give it to root alone."""
    node = tmp_path / "tun"
    os.mknod(node, stat.S_IFCHR, os.makedev(10, 200))
    node.chmod(0o666)
    subprocess.run(["mount", "--bind", node, "/dev/net/tun"], check=True)
    yield
    subprocess.run(["umount", "/dev/net/tun"], check=True)


@pytest.mark.brief
def test_an_ordinary_user_gets_a_cell_where_the_system_gives_user_namespaces(tun_for_all):
    needs("setpriv")
    user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    if subprocess.run([*user, "unshare", "--user", "--net", "true"], capture_output=True).returncode != 0:
        pytest.skip("this system gives no user namespaces to ordinary users")
    # Root there is this user under another name, in numbers, and what sudo left behind does not make it somebody else.
    script = f"ping -c 3 -i 0.2 {GATEWAY}; id -u; ls -d /tmp/tidemark-65534; {TIDEMARK} ctl status"
    environment = {"PATH": os.environ["PATH"], "SUDO_UID": "1", "SUDO_GID": "1"}
    done = subprocess.run([*user, TIDEMARK, "shell", "--", "sh", "-c", script], capture_output=True, text=True, env=environment)
    assert " 0% packet loss" in done.stdout, done
    user, folder, status = done.stdout.splitlines()[-3:]
    assert (user, folder) == ("0", "/tmp/tidemark-65534") and "ues" in json.loads(status)
    assert "Use sudo" in done.stderr


def test_a_squatted_folder_stops_no_ordinary_user(tun_for_all):
    needs("setpriv")
    user = ["setpriv", "--reuid=65533", "--regid=65533", "--clear-groups"]
    if subprocess.run([*user, "unshare", "--user", "--net", "true"], capture_output=True).returncode != 0:
        pytest.skip("this system gives no user namespaces to ordinary users")
    squatted = pathlib.Path("/tmp/tidemark-65533")
    squatted.mkdir(mode=0o777)
    own = None
    try:
        script = f"ls -d /tmp/tidemark-65533.*; {TIDEMARK} ctl status"
        done = subprocess.run([*user, TIDEMARK, "shell", "--", "sh", "-c", script], capture_output=True, text=True, env={"PATH": os.environ["PATH"]})
        assert done.returncode == 0, done
        folder, status = done.stdout.splitlines()[-2:]
        own = pathlib.Path(folder)
        assert stat.S_IMODE(own.stat().st_mode) == 0o700 and own.stat().st_uid == 65533 and "ues" in json.loads(status)
        assert not any(squatted.iterdir())
    finally:
        squatted.rmdir()
        if own:
            shutil.rmtree(own)


def test_rights_of_the_programs_file_are_none_of_the_programs_that_it_starts(tun_for_all):
    needs("setpriv")
    needs("setcap")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        copy = shutil.copy(TIDEMARK, folder)
        subprocess.run(["setcap", "cap_net_admin,cap_sys_admin+ep", copy], check=True)
        user = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
        done = subprocess.run([*user, copy, "shell", "--", "true"], capture_output=True, text=True)
    # Without those rights, or with a word about them; never halfway with what `ip` may not do.
    assert "Use sudo" in done.stderr if done.returncode == 0 else "ambient" in done.stderr, done
