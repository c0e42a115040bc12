"""Faults of real switches, agents and the controller: how long traffic suffers, and that nothing is left over."""

import csv
import itertools
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.lab import furnished, needs_lab, until
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.lab.experiment import Experiment, Laboratory
from tidemark_sdn.lab.network import OpenVSwitch
from tidemark_sdn.status import read_status

pytestmark = needs_lab

# Of a probe every 20 ms: what is not noticed.
UNNOTICED = 0.5
SETTINGS = '[discovery]\ninterval = "200 ms"\nlifetime = "2 s"\n[rules]\nidle_timeout = "3 s"\n'


@pytest.fixture(scope="module")
def laboratory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Laboratory]:
    """Two switches, with a third one as a way around the line. Each test leaves it working."""
    with furnished():
        out = tmp_path_factory.mktemp("laboratory")
        experiment = Experiment(Path("/bin/false"), out, l4s=1, classic=1, rate=20e6, settings=SETTINGS)
        built = Laboratory(experiment, detour=True)
        try:
            built.wait_until_ready()
            # Ports of hosts are decided after two rounds.
            time.sleep(0.6)
            yield built
        finally:
            built.close()


def rules(switch: OpenVSwitch) -> list[str]:
    """Rules of flows in table 0."""
    return [line for line in switch.ofctl("dump-flows", "table=0").splitlines() if "write_metadata" in line]


def classes(switch: OpenVSwitch, port: str) -> str:
    return switch.namespace.run("tc", "class", "show", "dev", port)


def outage(laboratory: Laboratory, fault: Callable[[], None], seconds: float = 3.0) -> float:
    """The longest silence of a probe while something happens as soon as it runs."""
    output = laboratory.probe(Kind.L4S, seconds)
    until(lambda: output.exists() and output.read_text(encoding="utf-8").count("\n") > 20)
    fault()
    laboratory.probes[Kind.L4S].wait(seconds + 5)
    with output.open(encoding="utf-8", newline="") as file:
        arrivals = [float(row["sent_at"]) + float(row["delay"]) for row in csv.DictReader(file)]
    assert arrivals[-1] - arrivals[0] > seconds - 1.5, "the probe did not come back"
    longest = max(later - earlier for earlier, later in itertools.pairwise(arrivals[1:]))
    print(f"longest silence {longest * 1e3:.0f} ms")
    return longest


@pytest.mark.full
def test_the_data_plane_goes_on_without_the_controller_and_a_new_one_takes_over(laboratory: Laboratory) -> None:
    def kill() -> None:
        laboratory.controller.kill()
        laboratory.controller.wait()
        time.sleep(1)
        laboratory.socket.unlink()
        laboratory.controller = laboratory.start_controller()
        laboratory.wait_until_ready()
        flows = read_status(laboratory.socket)["flows"]
        assert [flow["kind"] for flow in flows].count("l4s") == 1

    assert outage(laboratory, kill, 7.0) < UNNOTICED
    assert "1:2" in classes(laboratory.switches[0], "line")
    # What is not used any more goes away, though another controller wrote it.
    until(lambda: not rules(laboratory.switches[0]) and not rules(laboratory.switches[1]), 25)
    assert not read_status(laboratory.socket)["flows"]


def test_a_link_that_dies_is_gone_around(laboratory: Laboratory) -> None:
    def cut() -> None:
        laboratory.switches[0].namespace.run("ip", "link", "set", "line", "down")

    assert outage(laboratory, cut) < 1.0
    flow = next(flow for flow in read_status(laboratory.socket)["flows"] if flow["kind"] == "l4s")
    assert flow["path"][0] == "s1 detour"
    laboratory.switches[0].namespace.run("ip", "link", "set", "line", "up")
    laboratory.wait_until_ready()


@pytest.mark.full
def test_a_restarted_switch_gets_its_rules_and_queues_again(laboratory: Laboratory) -> None:
    switch = laboratory.switches[1]

    def restart() -> None:
        switch.datapath_process.kill()
        switch.datapath_process.wait()
        (switch.folder / "vswitchd.ctl").unlink()
        switch.start_datapath()

    assert outage(laboratory, restart, 6.0) < 5.0
    assert rules(switch)
    assert "1:2" in classes(switch, "receiver")
    status = read_status(laboratory.socket)
    assert all(there["connected"] for there in status["switches"])


@pytest.mark.full
def test_a_restarted_database_costs_a_moment(laboratory: Laboratory) -> None:
    """Rules and queues stay, and packets wait until ovs-vswitchd connects anew, after its 1 s."""
    switch = laboratory.switches[0]

    def restart() -> None:
        switch.database_process.terminate()
        switch.database_process.wait()
        switch.start_database()

    assert outage(laboratory, restart) < 3.0
    # The agent asks the new server.
    until(lambda: all(there["agent"] for there in read_status(laboratory.socket)["switches"]))
    assert "1:2" in classes(switch, "line")


def test_an_agent_that_is_killed_leaves_a_working_port_and_its_successor_cleans_up(laboratory: Laboratory) -> None:
    switch = laboratory.switches[0]
    agent = laboratory.agents[switch.name]
    assert "line" in _ports_with_queues(switch)

    def kill() -> None:
        agent.kill()
        agent.wait()
        time.sleep(1)
        laboratory.start_agent(switch)

    assert outage(laboratory, kill) < UNNOTICED
    until(lambda: all(there["agent"] for there in read_status(laboratory.socket)["switches"]))
    # The controller sends the new one what there should be, port by port. Each port then has one row.
    # Which other ports have queues changes with the flows meanwhile.
    until(lambda: "1:2" in classes(switch, "line"))
    until(lambda: len(_ports_with_queues(switch)) == _rows_of_ports_left_alone(switch))


def _rows_of_ports_left_alone(switch: OpenVSwitch) -> int:
    return switch.vsctl("--columns=_uuid", "find", "qos", "type=linux-noop").count("_uuid")


def _ports_with_queues(switch: OpenVSwitch) -> set[str]:
    return {port for port in ("line", "detour", "l0", "c0") if "1:fffe" in classes(switch, port)}


def test_an_agent_that_ends_leaves_nothing(laboratory: Laboratory) -> None:
    switch = laboratory.switches[0]

    def end() -> None:
        until(lambda: "1:2" in classes(switch, "line"))
        agent = laboratory.agents[switch.name]
        agent.send_signal(signal.SIGTERM)
        assert agent.wait(10) == 0
        assert not classes(switch, "line")
        assert "clsact" not in switch.namespace.run("tc", "qdisc", "show", "dev", "line")
        assert not switch.vsctl("--columns=_uuid", "find", "qos", "type=linux-noop").strip()

    assert outage(laboratory, end, 2.0) < UNNOTICED
    laboratory.start_agent(switch)
    laboratory.wait_until_ready()


def test_floods_of_unknown_flows_are_held_in_the_switch(laboratory: Laboratory) -> None:
    host = laboratory.hosts[Kind.CLASSIC][0].namespace
    before = read_status(laboratory.socket)["counters"].get("packet_in", 0)
    # Every packet is a flow of its own: 20000 in about a second, where 200 a second may come up.
    text = (
        "import socket, random\n"
        "s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)\n"
        "for i in range(20000): s.sendto(b'x', ('10.0.0.1', 10000 + i))\n"
    )
    began_at = time.monotonic()
    host.run("python3", "-c", text)
    took = time.monotonic() - began_at
    time.sleep(1)
    came = read_status(laboratory.socket)["counters"]["packet_in"] - before
    assert came < 200 * (took + 2) + 200, came
    # Those who behave are still served.
    assert outage(laboratory, lambda: None, 2.0) < 1.0


def test_a_switch_without_the_right_certificate_is_turned_away(laboratory: Laboratory) -> None:
    switch = laboratory.switches[1]
    other = laboratory.authority.issue("mallory")
    switch.vsctl("set-ssl", str(other.private_key), str(other.certificate), str(other.authority))
    switch.vsctl("del-controller", switch.name)
    until(lambda: not read_status(laboratory.socket)["switches"][1]["connected"])
    switch.vsctl("set-controller", switch.name, laboratory.targets[switch.name])
    until(lambda: read_status(laboratory.socket)["counters"].get("switch_refused"))
    assert not read_status(laboratory.socket)["switches"][1]["connected"]
    own = laboratory.authority.issue(switch.name)
    switch.vsctl("set-ssl", str(own.private_key), str(own.certificate), str(own.authority))
    laboratory.wait_until_ready()


def test_lldp_of_a_host_makes_no_link(laboratory: Laboratory) -> None:
    host = laboratory.hosts[Kind.CLASSIC][0].namespace
    links = {(link["from"], link["to"]) for link in read_status(laboratory.socket)["links"]}
    text = (
        "import socket, sys\n"
        "sys.path[:0] = [sys.argv[1]]\n"
        "from tidemark_sdn.lldp import Announcement, build\n"
        "s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)\n"
        "s.bind(('eth0', 0))\n"
        "for port in range(1, 4): s.send(build(Announcement(2, port, 5), bytes([2, 0, 0, 0, 0, 9]), bytes(32), 5))\n"
    )
    host.run("python3", "-c", text, str(Path(__file__).parents[1]))
    until(lambda: read_status(laboratory.socket)["counters"].get("lldp_refused", 0) >= 3)
    assert {(link["from"], link["to"]) for link in read_status(laboratory.socket)["links"]} == links
