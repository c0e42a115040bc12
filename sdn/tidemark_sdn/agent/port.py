"""A configured port: its queues, its program, and the PI2 that couples them."""

from pathlib import Path

from pyroute2 import IPRoute

from tidemark_sdn.agent import dualpi2
from tidemark_sdn.agent.pi2 import Pi2, Pi2Settings
from tidemark_sdn.agent.program import Program, Settings
from tidemark_sdn.agent.protocol import (
    PortStatistics,
    QueueStatistics,
    SetPort,
    TrafficStatistics,
)
from tidemark_sdn.agent.shaper import ROOT_CLASS, ClassCounters, Kind, QueueSettings, Shaper

# Weight of the newest interval in the rate at which the classic queue drains: 8 intervals, an eighth of a second.
_DRAIN_GAIN = 1 / 8
_TRAFFIC = ("l4s", "classic", "other")


class Port:
    """One device of the bridge. All calls are made from one thread."""

    def __init__(self, netlink: IPRoute, device: str, object_file: Path, has_dualpi2: bool = False) -> None:
        self._shaper = Shaper(netlink, device)
        self._shaper.clear()
        self._has_dualpi2 = has_dualpi2
        # True if the kernel's qdisc marks at this port instead of the program.
        self._in_kernel = False
        self._program = Program(object_file)
        self._request = SetPort(device, 0.0)
        self._pi2: Pi2 | None = None
        self._updated_at = 0.0
        self._arrived = 0
        self._sent = 0
        self._drain = 0.0
        self._counters: dict[Kind, ClassCounters] = {}

    def configure(self, request: SetPort) -> None:
        """Sets rate and marking; unchanged values stay."""
        marking = request.marking
        in_kernel = self._has_dualpi2 and dualpi2.can_do(marking, request.dscp)
        if in_kernel != self._in_kernel:
            self._shaper.clear()
            self._in_kernel = in_kernel
        first = self._shaper.rate == 0.0
        self._request = request
        self._shaper.set_rate(request.rate, whole=in_kernel)
        if in_kernel and marking is not None:
            self._pi2 = None
            dualpi2.install(request.port, ROOT_CLASS, marking)
            return
        if marking is None:
            self._pi2 = None
        else:
            settings = Pi2Settings(marking.target, marking.alpha, marking.beta, marking.coupling)
            if self._pi2 is None or self._pi2.settings != settings:
                self._pi2 = Pi2(settings)
        self._write()
        if first:
            self._shaper.attach(self._program.fd)

    def set_queue(self, kind: Kind, settings: QueueSettings) -> None:
        """Makes or changes a queue and sends its traffic there. The kernel's qdisc has both queues from the start."""
        if self._in_kernel:
            self._shaper.queues[kind] = settings
            return
        self._shaper.set_queue(kind, settings)
        self._write()

    def remove_queue(self, kind: Kind) -> None:
        """Sends a queue's traffic elsewhere and removes it."""
        if self._in_kernel:
            self._shaper.queues.pop(kind, None)
            return
        queues = dict(self._shaper.queues)
        self._shaper.queues.pop(kind, None)
        self._write()
        self._shaper.queues = queues
        self._shaper.remove_queue(kind)

    def queues(self) -> list[str]:
        """Names of the existing queues."""
        return [kind.name.lower() for kind in sorted(self._shaper.queues)]

    def forget_reaction(self) -> None:
        """Empties the virtual queue and clears its times."""
        self._program.forget_reaction()

    def clear(self) -> None:
        """Leaves the device as it was found."""
        self._shaper.clear()
        self._program.close()

    def update(self, now: float) -> None:
        """Takes the next step of PI2."""
        elapsed, self._updated_at = now - self._updated_at, now
        if self._pi2 is None:
            return
        # Reading classes costs a millisecond. Without an earlier backlog, arrivals below half of the rate leave none.
        arrived = self._program.counters(Kind.L4S).bytes + self._program.counters(Kind.CLASSIC).bytes
        came, self._arrived = arrived - self._arrived, arrived
        busy = came * 8 > self._shaper.rate * elapsed / 2
        if busy or any(counters.backlog_bytes for counters in self._counters.values()):
            self._counters = self._shaper.counters()
        classic = self._counters.get(Kind.CLASSIC)
        if classic is not None:
            sent, self._sent = classic.sent_bytes - self._sent, classic.sent_bytes
            if classic.backlog_bytes and sent >= 0 and elapsed < 1.0:
                self._drain += _DRAIN_GAIN * (sent * 8 / elapsed - self._drain)
        self._pi2.update(max(self._delay(kind) for kind in Kind), elapsed)
        self._write()

    def statistics(self) -> PortStatistics:
        """Reports the port's state, without the queues of the kernel's qdisc, which are not read."""
        if self._in_kernel:
            return PortStatistics(self._shaper.rate, {}, {}, 0.0, 0.0, 0, 0)
        self._counters = self._shaper.counters()
        reaction = self._program.reaction()
        queues = {}
        for kind, settings in self._shaper.queues.items():
            if counters := self._counters.get(kind):
                queues[kind.name.lower()] = QueueStatistics(
                    backlog_bytes=counters.backlog_bytes,
                    backlog_packets=counters.backlog_packets,
                    sent_bytes=counters.sent_bytes,
                    sent_packets=counters.sent_packets,
                    overflowed=counters.dropped,
                    delay=self._delay(kind),
                    size=settings.size,
                )
        return PortStatistics(
            rate=self._shaper.rate,
            queues=queues,
            traffic={
                name: TrafficStatistics(**vars(self._program.counters(index))) for index, name in enumerate(_TRAFFIC)
            },
            coupled=self._pi2.coupled if self._pi2 else 0.0,
            classic=self._pi2.classic if self._pi2 else 0.0,
            first_over=reaction.first_over,
            first_mark=reaction.first_mark,
        )

    def _delay(self, kind: Kind) -> float:
        """Seconds that a packet of this kind would wait, from the backlog and its drain rate."""
        counters, settings = self._counters.get(kind), self._shaper.queues.get(kind)
        if counters is None or settings is None:
            return 0.0
        # L4S goes first, at the port's rate. The classic queue gets at least its own rate, or the measured one.
        rate = self._shaper.rate if kind is Kind.L4S else max(settings.rate, self._drain)
        return counters.backlog_bytes * 8 / rate

    def _write(self) -> None:
        marking, queues = self._request.marking, self._shaper.queues
        # Traffic of a kind without a queue uses the other kind's queue.
        homes = {kind: kind if kind in queues else next(iter(queues), None) for kind in Kind}
        classes = {kind: 0 if home is None else home.class_id for kind, home in homes.items()}
        settings = Settings(
            l4s_class=classes[Kind.L4S],
            classic_class=classes[Kind.CLASSIC],
            dscp=self._request.dscp,
            marking=marking is not None,
        )
        if marking is not None and self._pi2 is not None:
            settings = Settings(
                l4s_class=settings.l4s_class,
                classic_class=settings.classic_class,
                dscp=settings.dscp,
                marking=True,
                virtual_rate=marking.virtual_rate,
                ramp_low=marking.ramp_low,
                ramp_high=marking.ramp_high,
                coupled=self._pi2.coupled,
                classic=self._pi2.classic,
            )
        self._program.write(settings)
