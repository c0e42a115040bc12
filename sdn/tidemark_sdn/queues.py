"""Queue manager: an L4S and a classic queue per port, made when needed and removed when idle."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from tidemark_sdn.agent.protocol import ClearPort, Description, QueueName, RemoveQueue, Request, SetPort, SetQueue
from tidemark_sdn.agent.shaper import Kind, QueueSettings
from tidemark_sdn.config import Config
from tidemark_sdn.ecn import EcnMarker
from tidemark_sdn.topology import Attachment


@dataclass
class _Plan:
    """Queues that a port should have."""

    name: str
    rate: float
    queues: dict[Kind, QueueSettings] = field(default_factory=dict)


@dataclass
class _Use:
    """Number of flows of a kind through a port, and the time since it is zero."""

    flows: int = 0
    idle_since: float = 0.0


class QueueManager:
    """Planned queues of all ports. An agent gets its whole plan when it connects."""

    def __init__(self, config: Config, marker: EcnMarker, send: Callable[[int, Request], None]) -> None:
        self._config = config
        self._marker = marker
        self._send = send
        self._plans: dict[Attachment, _Plan] = {}
        self._uses: dict[tuple[Attachment, Kind], _Use] = {}

    def queue_of(self, kind: Kind) -> Kind:
        """The queue for a kind of traffic: one for all without queue management."""
        return kind if self._config.queues.separate else Kind.CLASSIC

    def exists(self, port: Attachment, kind: Kind) -> bool:
        """True if a queue exists for a kind of traffic."""
        return port in self._plans and self.queue_of(kind) in self._plans[port].queues

    def queues(self) -> list[tuple[Attachment, Kind]]:
        """All queues."""
        return [(port, kind) for port, plan in self._plans.items() for kind in plan.queues]

    def ensure(self, port: Attachment, name: str, kind: Kind, now: float) -> bool:
        """Makes a queue for a kind of traffic if there is none (Algorithm 2, line 12); true if there was none."""
        queue = self.queue_of(kind)
        use = self._uses.setdefault((port, queue), _Use())
        if not use.flows:
            use.idle_since = now
        if self.exists(port, kind):
            return False
        if port not in self._plans:
            self._plans[port] = _Plan(name, self._rate(port.datapath_id, name))
            self._send(port.datapath_id, self._set_port(self._plans[port]))
        plan = self._plans[port]
        plan.queues[queue] = self._settings(queue, plan.rate)
        self._send(port.datapath_id, self._set_queue(plan, queue))
        return True

    def hold(self, port: Attachment, kind: Kind) -> None:
        """Counts a flow in."""
        self._uses.setdefault((port, self.queue_of(kind)), _Use()).flows += 1

    def release(self, port: Attachment, kind: Kind, now: float) -> None:
        """Counts a flow out."""
        if use := self._uses.get((port, self.queue_of(kind))):
            use.flows, use.idle_since = max(0, use.flows - 1), now

    def expire(self, now: float) -> list[tuple[Attachment, Kind]]:
        """Removes idle queues, and names them."""
        idle = [
            (port, kind)
            for port, kind in self.queues()
            if not self._uses[port, kind].flows and now - self._uses[port, kind].idle_since >= self._config.queues.idle
        ]
        for port, kind in idle:
            plan = self._plans[port]
            del plan.queues[kind], self._uses[port, kind]
            self._marker.forget(port, kind)
            if plan.queues:
                self._send(port.datapath_id, RemoveQueue(plan.name, _name(kind)))
            else:
                del self._plans[port]
                self._send(port.datapath_id, ClearPort(plan.name))
        return idle

    def reconcile(self, datapath_id: int, description: Description, now: float) -> Iterable[Request]:
        """Takes over an agent's existing queues, so that idle ones are removed, and sends it the whole plan."""
        for name, queues in description.queues.items():
            if name not in description.ports:
                continue
            port = Attachment(datapath_id, description.ports[name])
            plan = self._plans.setdefault(port, _Plan(name, self._rate(datapath_id, name)))
            for queue in queues:
                kind = Kind[queue.upper()]
                plan.queues.setdefault(kind, self._settings(kind, plan.rate))
                self._uses.setdefault((port, kind), _Use(idle_since=now))
        for port, plan in self._plans.items():
            if port.datapath_id == datapath_id:
                yield self._set_port(plan)
                for kind in plan.queues:
                    yield self._set_queue(plan, kind)

    def _rate(self, datapath_id: int, name: str) -> float:
        switch = next(switch for switch in self._config.switch if switch.datapath_id == datapath_id)
        return switch.port_named(name).rate or switch.rate

    def _settings(self, kind: Kind, rate: float) -> QueueSettings:
        queues = self._config.queues
        size = queues.l4s_size if kind is Kind.L4S else queues.classic_size
        if not queues.separate:
            return QueueSettings(rate, 0, size)
        share = queues.l4s_share if kind is Kind.L4S else 1.0 - queues.l4s_share
        return QueueSettings(rate * share, kind.value, size)

    def _set_port(self, plan: _Plan) -> SetPort:
        return SetPort(plan.name, plan.rate, self._config.match.dscp, self._marker.marking(plan.rate))

    @staticmethod
    def _set_queue(plan: _Plan, kind: Kind) -> SetQueue:
        settings = plan.queues[kind]
        return SetQueue(plan.name, _name(kind), settings.rate, settings.priority, settings.size)


def _name(kind: Kind) -> QueueName:
    return "l4s" if kind is Kind.L4S else "classic"
