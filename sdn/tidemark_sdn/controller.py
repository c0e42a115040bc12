"""The controller: Algorithm 2 of the paper, and the upkeep of its view of the network."""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from tidemark_sdn import paths
from tidemark_sdn.agent.protocol import Description, Request, Statistics, encode
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.agents import AgentClient
from tidemark_sdn.config import Config, Switch
from tidemark_sdn.discovery import Discovery, port_is_up, send_packet
from tidemark_sdn.ecn import EcnMarker
from tidemark_sdn.flows import Flow, FlowTable
from tidemark_sdn.interceptor import PacketInterceptor, arp_request, flood
from tidemark_sdn.openflow import ChannelError, Server, SwitchChannel, message, ofp, ofp_parser
from tidemark_sdn.parser import Ecn, Packet
from tidemark_sdn.queues import QueueManager
from tidemark_sdn.rules import FlowMatch, FlowRule, RuleManager, classify
from tidemark_sdn.statistics import StatisticsStore
from tidemark_sdn.tls import client_context, server_context
from tidemark_sdn.topology import Attachment, Topology
from tidemark_sdn.web import WebServer

_LOG = logging.getLogger(__name__)

# Seconds between readings of port counters, for link loads; seconds between clean-ups.
_PORT_STATISTICS_INTERVAL = 1.0


class Controller:
    """All parts, joined."""

    def __init__(self, config: Config, record: Path | None = None) -> None:
        self._config = config
        self._switches = {switch.datapath_id: switch for switch in config.switch}
        self.topology = Topology()
        self.statistics = StatisticsStore()
        if record is not None:
            self.statistics.record(record, {switch.datapath_id: switch.name for switch in config.switch})
        self.flows = FlowTable()
        self._port_names: dict[int, dict[int, str]] = {}
        self._unreachable: set[tuple[str, int]] = set()
        self._edges: set[Attachment] = set()
        self._server = Server(self, config.openflow.silence)
        self._rules = RuleManager(config.rules.priority, config.rules.idle_timeout)
        self._marker = EcnMarker(config)
        self._queues = QueueManager(config, self._marker, self._send_to_agent)
        self._discovery = Discovery(self.topology, config.discovery.interval, config.discovery.lifetime)
        self._interceptor = PacketInterceptor(
            self.topology,
            self._discovery,
            self.statistics,
            self._edges,
            on_link=self._on_link,
            on_group=self._on_group,
            on_packet=self._on_packet,
        )
        tls = client_context(config.tls) if config.tls else None
        self._agents = {
            switch.datapath_id: AgentClient(
                switch.agent,
                switch.datapath_id,
                config.period,
                tls if switch.agent.startswith("tls:") else None,
                on_connected=partial(self._on_agent, switch),
                on_statistics=partial(self._on_statistics, switch),
                on_gone=partial(self.statistics.event, f"agent of {switch.name} is gone"),
            )
            for switch in config.switch
        }

    async def run(self, started: Callable[[], None]) -> None:
        """Runs until it is cancelled."""
        tls = server_context(self._config.tls) if self._config.tls else None
        await self._server.start(self._config.openflow.listen, tls)
        status = await asyncio.start_unix_server(self._serve_status, self._config.socket)
        self._config.socket.chmod(0o600)
        web = WebServer(self.status)
        if self._config.page:
            await web.start(self._config.page)
        started()
        try:
            async with asyncio.TaskGroup() as tasks:
                for agent in self._agents.values():
                    tasks.create_task(agent.run())
                tasks.create_task(self._discover())
                tasks.create_task(self._keep_house())
        finally:
            status.close()
            web.stop()
            await self._server.stop()
            with contextlib.suppress(OSError):
                self._config.socket.unlink()
            self.statistics.close(self.status())

    # Algorithm 2 (SDN-L4S controller). Line numbers are the paper's.

    def algorithm_2(self, source: int, packet: Packet) -> Flow | None:
        """Finds or makes the rules for a packet that arrived at a switch; None if it has no path."""
        assert packet.ip is not None
        match = self._match(packet)
        flow = self.flows.find(match)
        if flow is not None and flow.port_at(source) is not None:
            # Lines 4 and 5: the path and its rules exist, but an idle rule has expired.
            self._apply(flow)
            return flow
        if flow is not None:
            self._end(flow)
        destination = self._home(packet.destination)
        if destination is None:
            return None
        path = paths.select(self.topology.neighbours(), source, destination, self.statistics.loads)
        if path is None:
            # Lines 8 and 9.
            self._report_unreachable(packet.destination, source)
            return None
        if len(self.flows) >= self._config.rules.max_flows:
            self.statistics.count("flow_table_full")
            return None
        # Lines 11 to 16: make missing queues. The marker does lines 13, 14 and 17 to 19.
        return self._set_up(match, source, path)

    def _set_up(self, match: FlowMatch, source: int, path: paths.Path) -> Flow:
        flow = self.flows.add(match, source, path)
        for hop in path:
            self._ensure_queue(hop, match.kind)
            self._queues.hold(hop, match.kind)
        # Line 20.
        self._apply(flow)
        return flow

    def _report_unreachable(self, mac: str, source: int) -> None:
        """Reports a destination once, until the network changes."""
        self.statistics.count("unreachable")
        if (mac, source) not in self._unreachable:
            self._unreachable.add((mac, source))
            self.statistics.event(f"{mac} is unreachable from {self._name(source)}")

    def _match(self, packet: Packet) -> FlowMatch:
        ip = packet.ip
        assert ip is not None
        dscp = self._config.match.dscp
        return FlowMatch(
            destination_mac=packet.destination,
            vlan=packet.vlan,
            source=ip.source,
            destination=ip.destination,
            protocol=ip.protocol,
            source_port=ip.source_port,
            destination_port=ip.destination_port,
            kind=classify(ip, dscp),
            dscp=None if dscp is None else ip.dscp,
        )

    def _apply(self, flow: Flow) -> None:
        """Installs a flow's missing rules from the far end, so that packets find the next switch ready."""
        missing = flow.expected() - flow.rules
        for hop in reversed(flow.path):
            switch = self._server.switches.get(hop.datapath_id)
            codepoints = [ecn for ecn in flow.match.codepoints if (hop.datapath_id, ecn) in missing]
            if switch is not None and codepoints:
                self._rules.install_flow(switch, flow.match, hop.port, flow.cookie, codepoints)
                flow.rules |= {(hop.datapath_id, ecn) for ecn in codepoints}

    def _end(self, flow: Flow) -> None:
        """Removes a flow and its rules."""
        self.flows.remove(flow)
        for hop in flow.path:
            self._queues.release(hop, flow.match.kind, time.monotonic())
        for datapath_id in {datapath_id for datapath_id, _ in flow.rules}:
            if switch := self._server.switches.get(datapath_id):
                self._rules.remove_flow(switch, flow.cookie)

    def _ensure_queue(self, port: Attachment, kind: Kind) -> None:
        if not self._queues.ensure(port, self._port_name(port), kind, time.monotonic()):
            return
        queue = self._queues.queue_of(kind)
        self.statistics.event(f"{queue.name.lower()} queue made at {self._place(port)}")
        self._write_queue_rules(port, queue)

    def _write_queue_rules(self, port: Attachment, queue: Kind) -> None:
        switch = self._server.switches.get(port.datapath_id)
        for kind in Kind:
            if switch is not None and self._queues.queue_of(kind) is queue:
                actions = self._marker.actions(port, kind, queue.queue_id)
                self._rules.install_queue(switch, port.port, kind, actions)

    # Messages of switches.

    def is_known(self, datapath_id: int, common_name: str | None) -> str | None:
        """Gives the reason why a switch may not connect, or None."""
        switch = self._switches.get(datapath_id)
        if switch is None:
            self.statistics.count("switch_refused")
            return f"switch {datapath_id:016x} is not in the configuration"
        if self._config.tls and common_name != (switch.common_name or switch.name):
            self.statistics.count("switch_refused")
            return f"the certificate of {common_name!r} is not that of switch {switch.name}"
        return None

    async def on_connected(self, switch: SwitchChannel) -> None:
        """Sets a switch up, and takes over the rules that it has."""
        known = self._switches[switch.datapath_id]
        before = self._port_names.get(switch.datapath_id, {})
        names = {number: port.name.decode(errors="replace") for number, port in switch.ports.items()}
        self._port_names[switch.datapath_id] = names
        for number in [number for number, name in before.items() if names.get(number) != name]:
            # The switch has renumbered its ports.
            self.topology.remove_port(Attachment(switch.datapath_id, number))
            self._edges.discard(Attachment(switch.datapath_id, number))
        for number, name in names.items():
            if known.port_named(name).edge:
                self._edges.add(Attachment(switch.datapath_id, number))
        for flow in self.flows:
            # A restarted switch has lost them.
            flow.rules -= {(switch.datapath_id, ecn) for ecn in flow.match.codepoints}
        for rule in await self._rules.read_back(switch):
            self._take_over(switch, rule)
        self._rules.prepare(switch, self._config.openflow.packet_in_limit)
        for port, kind in self._queues.queues():
            if port.datapath_id == switch.datapath_id:
                self._write_queue_rules(port, kind)
        for flow in self.flows:
            self._apply(flow)
        self._discovery.announce([switch], self._edges)
        self.statistics.event(f"switch {known.name} connected, {len(switch.ports)} ports")

    def _take_over(self, switch: SwitchChannel, rule: FlowRule) -> None:
        """Keeps a rule from before, so that its flow continues; removes an invalid one."""
        port = Attachment(switch.datapath_id, rule.port)
        if rule.port not in switch.ports or not (flow := self.flows.adopt(rule.match, rule.cookie, port)):
            self._rules.remove_flow(switch, rule.cookie)
            return
        if (switch.datapath_id, rule.ecn) not in flow.rules:
            flow.rules.add((switch.datapath_id, rule.ecn))
            self._ensure_queue(port, rule.match.kind)
            self._queues.hold(port, rule.match.kind)

    def on_gone(self, switch: SwitchChannel) -> None:
        """Forgets the links of a switch, and gives its flows other paths."""
        self.statistics.event(f"switch {self._name(switch.datapath_id)} is gone")
        gone = self.topology.remove_switch(switch.datapath_id)
        for number in switch.ports:
            self._discovery.forget(Attachment(switch.datapath_id, number))
        self._reroute(set(gone))

    def on_malformed(self, switch: SwitchChannel) -> None:
        """Counts unreadable messages, and reports the first."""
        self.statistics.count("malformed_openflow")
        if self.statistics.counters["malformed_openflow"] == 1:
            self.statistics.event(f"switch {self._name(switch.datapath_id)} sends unreadable messages")

    def on_message(self, switch: SwitchChannel, received: Any) -> None:
        """Handles a message that a switch sends by itself."""
        match received.msg_type:
            case ofp.OFPT_PACKET_IN:
                self._interceptor.intercept(switch, received)
            case ofp.OFPT_FLOW_REMOVED:
                self._on_flow_removed(switch, received)
            case ofp.OFPT_PORT_STATUS:
                self._on_port(switch, received)
            case ofp.OFPT_ERROR:
                self.statistics.count("openflow_error")
                _LOG.warning("switch %s: error of type %d, code %d", switch.name, received.type, received.code)

    def _on_flow_removed(self, switch: SwitchChannel, received: Any) -> None:
        flow = self.flows.of_cookie(received.cookie)
        if flow is None or received.reason == ofp.OFPRR_DELETE:
            return
        flow.rules.discard((switch.datapath_id, Ecn(received.match.get("ip_ecn", 0))))
        # The rule for CE may be idle at the first switch; a flow has ended when none of its rules is left there.
        if not any(datapath_id == flow.source or flow.source is None for datapath_id, _ in flow.rules):
            self._end(flow)

    def _on_port(self, switch: SwitchChannel, received: Any) -> None:
        number, attachment = received.desc.port_no, Attachment(switch.datapath_id, received.desc.port_no)
        if number > ofp.OFPP_MAX:
            return
        if received.reason == ofp.OFPPR_DELETE:
            switch.ports.pop(number, None)
        else:
            switch.ports[number] = received.desc
        if received.reason == ofp.OFPPR_ADD:
            self._rules.admit_port(switch, number, self._config.openflow.packet_in_limit)
        if received.reason != ofp.OFPPR_DELETE and port_is_up(received.desc):
            if attachment not in self._edges:
                self._discovery.announce_at(switch, number)
            return
        self._discovery.forget(attachment)
        gone = self.topology.remove_port(attachment)
        name = received.desc.name.decode(errors="replace")
        self.statistics.event(f"port {self._name(switch.datapath_id)} {name} is down")
        self._reroute({*gone, attachment})

    # Information from packets.

    def _on_link(self, source: Attachment, destination: Attachment) -> None:
        self._unreachable.clear()
        self.statistics.event(f"link from {self._place(source)} to {self._place(destination)}")

    def _on_group(self, arrival: Attachment, frame: bytes) -> None:
        ports = [
            port
            for datapath_id, switch in self._server.switches.items()
            for number, description in switch.ports.items()
            if (port := Attachment(datapath_id, number)) != arrival
            and port_is_up(description)
            and not self.topology.is_link(port)
            and (port in self._edges or self._discovery.is_decided(port))
        ]
        flood(self._server.switches, ports, frame)

    def _on_packet(self, switch: SwitchChannel, arrival: Attachment, packet: Packet, frame: bytes) -> None:
        home = self._home(packet.destination)
        if home is None:
            # The packet reaches its receiver anyway; the ARP request also finds a receiver that never sends.
            self.statistics.count("unknown_destination")
            self._on_group(arrival, frame)
            if question := arp_request(packet):
                self._on_group(arrival, question)
            return
        if packet.ip is not None:
            if self.algorithm_2(switch.datapath_id, packet) is not None:
                send_packet(switch, frame, ofp.OFPP_TABLE, in_port=arrival.port)
            return
        if last := self._server.switches.get(home.datapath_id):
            send_packet(last, frame, home.port)

    def _home(self, mac: str) -> Attachment | None:
        """Gives switch and port of a host, if both exist."""
        home = self.topology.hosts.get(mac)
        switch = self._server.switches.get(home.datapath_id) if home else None
        return home if switch is not None and home is not None and home.port in switch.ports else None

    # Messages of agents.

    def _send_to_agent(self, datapath_id: int, request: Request) -> None:
        self._agents[datapath_id].send(request)

    def _on_agent(self, switch: Switch, description: Description) -> None:
        plane = "" if description.data_plane is None else f", {description.data_plane}"
        self.statistics.event(f"agent of {switch.name} connected{plane}")
        for request in self._queues.reconcile(switch.datapath_id, description, time.monotonic()):
            self._send_to_agent(switch.datapath_id, request)

    def _on_statistics(self, switch: Switch, figures: Statistics) -> None:
        channel = self._server.switches.get(switch.datapath_id)
        if channel is None:
            return
        numbers = {port.name.decode(errors="replace"): number for number, port in channel.ports.items()}
        for name, port_figures in figures.ports.items():
            if name not in numbers:
                continue
            port = Attachment(switch.datapath_id, numbers[name])
            self.statistics.report(port, name, port_figures)
            for queue, queue_figures in port_figures.queues.items():
                load = queue_figures.backlog_bytes / queue_figures.size if queue_figures.size else 0.0
                kinds = [kind for kind in Kind if self._queues.queue_of(kind) is Kind[queue.upper()]]
                changed = [self._marker.observe(port, kind, load) for kind in kinds]
                if any(changed):
                    self._write_queue_rules(port, Kind[queue.upper()])

    # Periodic work.

    async def _discover(self) -> None:
        while True:
            self._discovery.announce(list(self._server.switches.values()), self._edges)
            await asyncio.sleep(self._discovery.interval)
            if silent := self._discovery.expire():
                for port in silent:
                    self.statistics.event(f"link from {self._place(port)} is silent")
                self._reroute(set(silent))

    async def _keep_house(self) -> None:
        while True:
            await asyncio.sleep(_PORT_STATISTICS_INTERVAL)
            for switch in list(self._server.switches.values()):
                with contextlib.suppress(ChannelError):
                    await self._read_port_counters(switch)
            for port, queue in self._queues.expire(time.monotonic()):
                self.statistics.event(f"{queue.name.lower()} queue removed at {self._place(port)}")
                if switch_there := self._server.switches.get(port.datapath_id):
                    for kind in Kind:
                        if self._queues.queue_of(kind) is queue:
                            self._rules.remove_queue(switch_there, port.port, kind)

    async def _read_port_counters(self, switch: SwitchChannel) -> None:
        known = self._switches[switch.datapath_id]
        for part in await switch.request(message(ofp_parser.OFPPortStatsRequest, 0, ofp.OFPP_ANY)):
            for figures in part.body:
                if figures.port_no in switch.ports:
                    port = Attachment(switch.datapath_id, figures.port_no)
                    rate = known.port_named(self._port_name(port)).rate or known.rate
                    self.statistics.sent(port, figures.tx_bytes, rate, time.monotonic())

    def _reroute(self, gone: set[Attachment]) -> None:
        """Gives flows over lost ports another path, or ends them."""
        for flow in [flow for flow in self.flows if not gone.isdisjoint(flow.path)]:
            destination = self.topology.hosts.get(flow.match.destination_mac)
            path = None
            if destination is not None and flow.source is not None:
                path = paths.select(self.topology.neighbours(), flow.source, destination, self.statistics.loads)
            self._end(flow)
            if path is not None and flow.source is not None:
                self._set_up(flow.match, flow.source, path)
                self.statistics.count("rerouted")
            elif destination is not None and flow.source is not None:
                self._report_unreachable(flow.match.destination_mac, flow.source)

    # Queries.

    def status(self) -> dict[str, Any]:
        """Gives the whole state, in the form of the JSON output."""
        return {
            "mode": self._config.mode,
            # On the monotonic clock. Times of events and of series.csv are relative to it.
            "started": self.statistics.started,
            "uptime": time.monotonic() - self.statistics.started,
            "switches": [
                {
                    "name": switch.name,
                    "datapath_id": f"{datapath_id:016x}",
                    "connected": datapath_id in self._server.switches,
                    "agent": self._agents[datapath_id].connected,
                }
                for datapath_id, switch in self._switches.items()
            ],
            "links": [
                {
                    "from": self._place(source),
                    "to": self._place(other),
                    "load": self.statistics.loads.get(source),
                }
                for source, other in sorted(self.topology.links.items())
            ],
            "hosts": {mac: self._place(home) for mac, home in sorted(self.topology.hosts.items())},
            "queues": [self._queue_status(port, kind) for port, kind in sorted(self._queues.queues())],
            "flows": [
                {
                    "from": f"{flow.match.source}:{flow.match.source_port}",
                    "to": f"{flow.match.destination}:{flow.match.destination_port}",
                    "protocol": flow.match.protocol,
                    "kind": flow.match.kind.name.lower(),
                    "path": [self._place(hop) for hop in flow.path],
                }
                for flow in self.flows
            ],
            "counters": self.statistics.counters,
            "events": [asdict(event) for event in self.statistics.events],
        }

    def _queue_status(self, port: Attachment, kind: Kind) -> dict[str, Any]:
        status: dict[str, Any] = {
            "switch": self._name(port.datapath_id),
            "port": self._port_name(port),
            "queue": kind.name.lower(),
            "congested": self._marker.is_congested(port, kind),
        }
        figures = self.statistics.ports.get(port)
        if figures and (queue := figures.queues.get(kind.name.lower())):
            status |= asdict(queue) | {"traffic": asdict(figures.traffic[kind.name.lower()])}
            status |= {"rate": figures.rate, "coupled": figures.coupled, "classic": figures.classic}
        return status

    async def _serve_status(self, _reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            writer.write(encode(self.status()))
            await writer.drain()
        writer.close()

    def _name(self, datapath_id: int) -> str:
        return self._switches[datapath_id].name if datapath_id in self._switches else f"{datapath_id:016x}"

    def _place(self, port: Attachment) -> str:
        return f"{self._name(port.datapath_id)} {self._port_name(port)}"

    def _port_name(self, port: Attachment) -> str:
        switch = self._server.switches.get(port.datapath_id)
        if switch is None or port.port not in switch.ports:
            return str(port.port)
        return str(switch.ports[port.port].name.decode(errors="replace"))
