"""The controller against scripted switches and agents: Algorithm 2, links, faults, strangers, and fifty switches."""

import asyncio
import contextlib
import itertools
import json
import random
import socket
import struct
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.peer import Cables, ControlPlane, ScriptedAgent, encode, packet_in
from tests.test_parser import ipv4
from tidemark_sdn import config, lldp, parser
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.agents import AgentClient, AgentError
from tidemark_sdn.controller import Controller
from tidemark_sdn.lldp import Announcement
from tidemark_sdn.openflow import ofp
from tidemark_sdn.parser import Ecn

# 1 - 2, and 1 - 3 - 4 - 2 besides: ports 1 to 3 may have cables, 4 and 5 have hosts.
RING: Cables = {(1, 1): (2, 1), (1, 2): (3, 1), (3, 2): (4, 1), (4, 2): (2, 2)}
SETTINGS = '[discovery]\ninterval = "50 ms"\nlifetime = "400 ms"\n'


def both_ways(cables: Cables) -> Cables:
    return cables | {other: this for this, other in cables.items()}


@dataclass
class Scene:
    """A running controller."""

    controller: Controller
    plane: ControlPlane
    agents: dict[int, ScriptedAgent]
    port: int

    async def until(self, condition: Callable[[], object], seconds: float = 10.0) -> float:
        began_at = time.monotonic()
        while not condition():
            assert time.monotonic() - began_at < seconds, self.controller.status()["events"]
            await asyncio.sleep(0.005)
        return time.monotonic() - began_at

    def events(self) -> list[str]:
        return [event.what for event in self.controller.statistics.events]


@asynccontextmanager
async def scene(
    folder: Path, cables: Cables, size: int, ports: int = 5, settings: str = SETTINGS
) -> AsyncIterator[Scene]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    text = f'socket = "{folder}/c.sock"\n{settings}[openflow]\nlisten = "127.0.0.1:{port}"\n'
    for number in range(1, size + 1):
        text += f'[[switch]]\nname = "s{number}"\ndatapath_id = "{number:016x}"\nagent = "unix:{folder}/a{number}"\n'
    controller = Controller(config.parse(text))
    agents = {number: ScriptedAgent(folder / f"a{number}", number, ports) for number in range(1, size + 1)}
    servers = [await agent.start() for agent in agents.values()]
    ready = asyncio.Event()
    running = asyncio.create_task(controller.run(ready.set))
    await ready.wait()
    plane = ControlPlane(both_ways(cables), dict.fromkeys(range(1, size + 1), ports))
    peers = [asyncio.create_task(peer.run(port)) for peer in plane.peers.values()]
    here = Scene(controller, plane, agents, port)
    # What hangs fails.
    limit = asyncio.get_running_loop().call_later(90, running.cancel)
    try:
        await here.until(lambda: len(controller.topology.links) == 2 * len(cables))
        await here.until(lambda: all(agent.asked for agent in agents.values()))
        # Ports without a link are found to be ports of hosts.
        await asyncio.sleep(0.15)
        yield here
    finally:
        limit.cancel()
        running.cancel()
        for task in peers:
            task.cancel()
        await asyncio.gather(running, *peers, return_exceptions=True)
        for server in servers:
            server.close()


A, B = bytes.fromhex("020000000a0a"), bytes.fromhex("020000000b0b")


def frame(source: bytes, destination: bytes, tos: int, port: int = 1000) -> bytes:
    udp = struct.pack("!HHHH", port, 2000, 8, 0)
    return destination + source + b"\x08\x00" + ipv4(tos, payload=udp)


async def introduce(here: Scene, last: int = 2) -> None:
    """Hosts A at switch 1 and B at the last one are known."""
    here.plane.inject(1, 4, frame(A, b"\xff" * 6, 0))
    here.plane.inject(last, 4, frame(B, b"\xff" * 6, 0))
    await here.until(lambda: len(here.controller.topology.hosts) == 2)


def test_algorithm_2_makes_queues_and_rules_on_the_shortest_path(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, RING, 4) as here:
            await introduce(here)
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            await here.until(lambda: len(here.controller.flows) == 1)
            flow = next(iter(here.controller.flows))
            assert flow.match.kind is Kind.L4S
            assert [(hop.datapath_id, hop.port) for hop in flow.path] == [(1, 1), (2, 4)]
            await here.until(lambda: here.plane.peers[1].packet_outs and here.agents[2].asked[-1].get("set_queue"))
            assert here.agents[2].asked[-1]["set_queue"]["queue"] == "l4s"
            rules = [rule for rule in here.plane.peers[1].flow_mods if rule.cookie == flow.cookie]
            assert sorted(rule.match["ip_ecn"] for rule in rules) == [Ecn.ECT_1, Ecn.CE]
            assert not [rule for rule in here.plane.peers[3].flow_mods if rule.cookie == flow.cookie]
            # The packet itself goes on, through the rules.
            assert here.plane.peers[1].packet_outs[-1] == [ofp.OFPP_TABLE]
            # Another packet of the flow, too late for the rule, makes no second flow.
            here.plane.inject(1, 4, frame(A, B, Ecn.CE))
            here.plane.inject(1, 4, frame(A, B, Ecn.NOT_ECT))
            await here.until(lambda: len(here.controller.flows) == 2)
            kinds = {flow.match.kind for flow in here.controller.flows}
            assert kinds == {Kind.L4S, Kind.CLASSIC}

    asyncio.run(test())


def test_a_dead_link_moves_flows_and_a_dead_network_is_reported(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, RING, 4) as here:
            await introduce(here)
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            await here.until(lambda: len(here.controller.flows) == 1)
            here.plane.peers[1].port_status(1, down=True)
            took = await here.until(lambda: here.controller.statistics.counters.get("rerouted"))
            assert took < 1
            flow = next(iter(here.controller.flows))
            assert [hop.datapath_id for hop in flow.path] == [1, 3, 4, 2]
            # The other way is cut without a word: LLDP misses it.
            here.plane.dead |= {(3, 2), (4, 1)}
            await here.until(lambda: any("unreachable" in event for event in here.events()))
            assert len(here.controller.flows) == 0
            rules = here.plane.peers[3].flow_mods
            await here.until(lambda: (ofp.OFPFC_DELETE, flow.cookie) in [(rule.command, rule.cookie) for rule in rules])

    asyncio.run(test())


def test_a_switch_that_comes_back_gets_its_rules_again(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2) as here:
            await introduce(here)
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            await here.until(lambda: len(here.controller.flows) == 1)
            here.plane.peers[2].writer.transport.abort()
            await here.until(lambda: "switch s2 is gone" in here.events())
            assert len(here.controller.flows) == 0
            again = asyncio.create_task(here.plane.peers[2].run(here.port))
            await here.until(lambda: len(here.controller.topology.links) == 2)
            # Where its hosts are is still known.
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            await here.until(lambda: len(here.controller.flows) == 1)
            again.cancel()

    asyncio.run(test())


def test_who_only_listens_is_asked_for(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2) as here:
            before = len(here.plane.peers[2].packet_outs)
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            # The packet itself, and a question, out of every port of hosts.
            await here.until(lambda: [2, 3, 4, 5] in here.plane.peers[2].packet_outs[before:])
            answer = A + B + b"\x08\x06" + bytes(28)
            here.plane.inject(2, 4, answer)
            await here.until(lambda: B.hex(":") in here.controller.topology.hosts)
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            await here.until(lambda: len(here.controller.flows) == 1)

    asyncio.run(test())


def test_strangers_and_gibberish_change_nothing(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2) as here:
            await introduce(here)
            links, hosts = dict(here.controller.topology.links), dict(here.controller.topology.hosts)
            draw = random.Random(1)
            reader, writer = await asyncio.open_connection("127.0.0.1", here.port)
            # An unknown switch is turned away.
            writer.write(encode(ofp.OFPT_HELLO))
            writer.write(encode(ofp.OFPT_FEATURES_REPLY, struct.pack("!QIBB2xII", 99, 0, 1, 0, 0, 0)))
            with contextlib.suppress(ConnectionError):
                await reader.read()
            assert here.controller.statistics.counters["switch_refused"] == 1
            # A switch of another version, and bytes at random.
            for sent in (
                encode(ofp.OFPT_HELLO, version=1),
                b"GET / HTTP/1.1\r\n\r\n",
                draw.randbytes(300),
                b"\x04\x00\x00\x04",
            ):
                _, writer = await asyncio.open_connection("127.0.0.1", here.port)
                writer.write(sent)
                writer.close()
            # A known switch that talks nonsense: every type of message with every kind of body.
            for kind, length in itertools.product(range(32), (0, 1, 7, 8, 16, 40, 90)):
                if kind not in (ofp.OFPT_HELLO, ofp.OFPT_PORT_STATUS):
                    here.plane.peers[1].writer.write(encode(kind, draw.randbytes(length), xid=0xFFFF0000))
            # A host that lies about links.
            spoofed = lldp.build(Announcement(2, 3, 1), B, bytes(32), 5)
            for port in (1, 4):
                here.plane.inject(1, port, spoofed)
                here.plane.inject(1, port, spoofed[:30])
            await here.until(lambda: here.controller.statistics.counters.get("lldp_refused", 0) >= 4)
            assert dict(here.controller.topology.links) == links
            assert dict(here.controller.topology.hosts) == hosts
            # And it still works.
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            await here.until(lambda: len(here.controller.flows) == 1)

    asyncio.run(test())


def test_an_agent_that_talks_nonsense_is_not_believed(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2) as here:
            asked = len(here.agents[1].asked)
            for line in (
                b"\xff\n",
                b'{"statistics": {"at": "now"}}\n',
                b'{"statistics": {"at": 1, "ports": {"p1": 1}}}\n',
            ):
                await here.until(lambda: here.agents[1].writer)
                writer = here.agents[1].writer
                assert writer is not None
                here.agents[1].writer = None
                writer.write(line)
                # The controller hangs up and comes again.
                await here.until(lambda: here.agents[1].writer)
            assert len(here.agents[1].asked) > asked
            assert not here.controller.statistics.ports

    asyncio.run(test())


def test_nonsense_right_after_a_description_ends_the_session(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2) as here:
            agent = here.agents[1]
            agent.nonsense = b"\xff\n"
            assert agent.writer is not None
            agent.writer.write(agent.nonsense)

            def described() -> int:
                return sum("describe" in request for request in agent.asked)

            # Half a second a time, not the ten seconds that an answer may take.
            until = described() + 3
            await here.until(lambda: described() >= until, 5)

    asyncio.run(test())


def test_an_agents_connection_ends_whenever_it_is_cancelled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also while its session ends by itself."""

    async def read(_: AgentClient, __: asyncio.StreamReader) -> None:
        raise AgentError("is gone")

    async def connect(_: AgentClient) -> tuple[object, object]:
        return None, None

    async def introduce(_: AgentClient) -> None:
        await asyncio.sleep(10)

    async def test() -> None:
        for turns in range(6):
            agent = AgentClient("unix:none", 1, 0.1, None, lambda _: None, lambda _: None, lambda: None)
            task = asyncio.create_task(agent.run())
            for _ in range(turns):
                await asyncio.sleep(0)
            task.cancel()
            await asyncio.wait({task}, timeout=2)
            assert task.cancelled(), turns

    for part in (read, connect, introduce):
        monkeypatch.setattr(AgentClient, f"_{part.__name__}", part)
    asyncio.run(test())


def test_the_literal_mode_marks_and_drops_by_rules_while_the_load_is_at_q1(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2, settings='mode = "literal"\n' + SETTINGS) as here:
            await introduce(here)
            for tos in (Ecn.ECT_1, Ecn.NOT_ECT):
                here.plane.inject(1, 4, frame(A, B, tos))
            await here.until(lambda: len(here.controller.flows) == 2)
            await here.until(lambda: len(here.agents[1].asked) >= 5)
            # The agent's orders say that rules mark, not the program.
            assert next(item["set_port"] for item in here.agents[1].asked if "set_port" in item)["marking"] is None

            def report(l4s: int, classic: int) -> None:
                queues = {
                    name: {"backlog_bytes": backlog, "backlog_packets": 1, "sent_bytes": 0, "sent_packets": 0}
                    | {"overflowed": 0, "delay": 0.0, "size": 100}
                    for name, backlog in (("l4s", l4s), ("classic", classic))
                }
                counters = dict.fromkeys(
                    ("packets", "bytes", "came_marked", "ramp_marked", "coupled_marked", "dropped"), 0
                )
                port = {"rate": 1e9, "queues": queues, "traffic": dict.fromkeys(("l4s", "classic", "other"), counters)}
                port |= {"coupled": 0.0, "classic": 0.0, "first_over": 0, "first_mark": 0}
                assert here.agents[1].writer is not None
                text = json.dumps({"statistics": {"at": 1.0, "ports": {"p1": port}}})
                here.agents[1].writer.write(text.encode() + b"\n")

            def newest(kind: Kind) -> list[str]:
                """Actions of the newest rule of a queue of port 1."""
                rules = [
                    rule
                    for rule in here.plane.peers[1].flow_mods
                    if rule.table_id == 1 and rule.match["metadata"] == 1 << 8 | kind.queue_id
                ]
                actions = rules[-1].instructions[0].actions if rules[-1].instructions else []
                return [type(action).__name__.removeprefix("OFPAction") for action in actions]

            await here.until(lambda: newest(Kind.CLASSIC) == ["SetQueue", "Output"])
            report(l4s=80, classic=79)
            await here.until(lambda: newest(Kind.L4S) == ["SetField", "SetQueue", "Output"])
            assert newest(Kind.CLASSIC) == ["SetQueue", "Output"]
            report(l4s=79, classic=80)
            # Marked, and dropped: an action list without output.
            await here.until(lambda: newest(Kind.CLASSIC) == ["SetField"])
            await here.until(lambda: newest(Kind.L4S) == ["SetQueue", "Output"])
            report(l4s=0, classic=0)
            await here.until(lambda: newest(Kind.CLASSIC) == ["SetQueue", "Output"])

    asyncio.run(test())


@pytest.mark.parametrize("size", [12, pytest.param(50, marks=pytest.mark.full)])
def test_many_switches(tmp_path: Path, size: int) -> None:
    """A ring with chords: every switch has four links."""
    cables: Cables = {}
    for number in range(1, size + 1):
        cables[number, 1] = (number % size + 1, 2)
        cables[number, 3] = ((number + 6) % size + 1, 5)

    async def test() -> None:
        async with scene(tmp_path, cables, size, ports=6, settings='[discovery]\ninterval = "1 s"\n') as here:
            await asyncio.sleep(2)
            here.plane.inject(1, 6, frame(A, b"\xff" * 6, 0))
            here.plane.inject(size // 2, 6, frame(B, b"\xff" * 6, 0))
            await here.until(lambda: len(here.controller.topology.hosts) == 2)
            flows = 500
            began_at = time.monotonic()
            for port in range(flows):
                here.plane.inject(1, 6, frame(A, B, Ecn.ECT_1, port + 1))
            await here.until(lambda: len(here.controller.flows) == flows, 60)
            took = time.monotonic() - began_at
            rules = sum(len(flow.rules) for flow in here.controller.flows)
            print(f"{flows / took:.0f} flows and {rules / took:.0f} rules a second, {size} switches")
            lengths = {len(flow.path) for flow in here.controller.flows}
            assert len(lengths) == 1

    asyncio.run(test())


def test_packet_ins_of_a_flood_are_limited_in_the_switch(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2) as here:
            misses = [rule for rule in here.plane.peers[1].flow_mods if rule.table_id == 0 and rule.priority == 0]
            assert [rule.match["in_port"] for rule in misses] == [1, 2, 3, 4, 5]
            meters = set()
            for rule in misses:
                kinds = [type(item).__name__ for item in rule.instructions]
                assert kinds == ["OFPInstructionMeter", "OFPInstructionActions"]
                meters.add(rule.instructions[0].meter_id)
            assert len(meters) == 5
            # A port that many share, as a receiver's, has to answer for its addresses while flows begin there.
            arp = [rule for rule in here.plane.peers[1].flow_mods if rule.match.get("eth_type") == parser.ARP]
            assert [rule.match["in_port"] for rule in arp] == [1, 2, 3, 4, 5]
            assert all(rule.priority > 0 for rule in arp)
            meters |= {rule.instructions[0].meter_id for rule in arp}
            assert len(meters) == 10

    asyncio.run(test())


@pytest.mark.parametrize("step", [86400.0, -86400.0])
def test_a_step_of_the_clock_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: float) -> None:
    """A day forwards or back, as after a long time without NTP: links, flows and queues stay."""
    wall, ahead = time.time, [0.0]
    monkeypatch.setattr(time, "time", lambda: wall() + ahead[0])
    monkeypatch.setattr(time, "time_ns", lambda: int((wall() + ahead[0]) * 1e9))

    async def test() -> None:
        async with scene(tmp_path, RING, 4) as here:
            await introduce(here)
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1))
            await here.until(lambda: len(here.controller.flows) == 1)
            before, links = here.events(), dict(here.controller.topology.links)
            ahead[0] = step
            # More than twice as long as a link lives that nobody hears of.
            await asyncio.sleep(1.0)
            assert here.controller.topology.links == links
            assert len(here.controller.flows) == 1
            assert here.events() == before
            # New flows are set up as before.
            here.plane.inject(1, 4, frame(A, B, Ecn.ECT_1, 1001))
            await here.until(lambda: len(here.controller.flows) == 2)

    asyncio.run(test())


def test_more_flows_than_there_is_room_for_go_without_rules(tmp_path: Path) -> None:
    async def test() -> None:
        async with scene(tmp_path, {(1, 1): (2, 1)}, 2, settings=SETTINGS + "[rules]\nmax_flows = 3\n") as here:
            await introduce(here)
            for port in range(6):
                here.plane.peers[1].writer.write(packet_in(4, frame(A, B, Ecn.ECT_1, port + 1)))
            await here.until(lambda: here.controller.statistics.counters.get("flow_table_full") == 3)
            assert len(here.controller.flows) == 3

    asyncio.run(test())
