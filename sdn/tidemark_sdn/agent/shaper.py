"""Queues of one port: HTB classes of the kernel, with Open vSwitch's numbers for OpenFlow queues."""

import errno
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from pyroute2 import IPRoute
from pyroute2.netlink.exceptions import NetlinkError
from pyroute2.netlink.rtnl.tcmsg import plugins

# A FIFO limited in bytes takes the same parameters as one limited in packets.
plugins.setdefault("bfifo", plugins["pfifo"])


class Kind(IntEnum):
    """The kinds of traffic; the value is the OpenFlow queue's number minus one."""

    L4S = 0
    CLASSIC = 1

    @property
    def queue_id(self) -> int:
        """Number in `set_queue`. 0 is OpenFlow's default queue."""
        return self.value + 1

    @property
    def minor(self) -> int:
        """HTB class: Open vSwitch's kernel datapath maps queue q to 1:(q + 1)."""
        return self.queue_id + 1

    @property
    def class_id(self) -> int:
        """Class as a number, which `skb->priority` may carry."""
        return _MAJOR | self.minor


_MAJOR = 0x10000
# Parent class of both, with the port's rate. Open vSwitch uses the same number.
ROOT_CLASS = _MAJOR | 0xFFFE
_EGRESS = "ffff:fff3"
FILTER_NAME = "tidemark-sdn"

# HTB sends up to this much at once. A millisecond at the rate limits the processor's wake-ups; two
# packets are the minimum that keeps a slow line busy.
_BURST_TIME = 1e-3
_MIN_BURST = 2 * 1514


@dataclass(frozen=True)
class QueueSettings:
    """A queue: guaranteed rate in bit/s, priority (0 first), size in bytes."""

    rate: float
    priority: int
    size: int


@dataclass(frozen=True)
class ClassCounters:
    """Counters of the kernel for a class."""

    backlog_bytes: int
    backlog_packets: int
    sent_bytes: int
    sent_packets: int
    dropped: int


def _burst(rate: float) -> int:
    return max(_MIN_BURST, int(rate / 8 * _BURST_TIME))


def _ignore(error: NetlinkError, *codes: int) -> None:
    if error.code not in codes:
        raise error


class Shaper:
    """HTB and program of one device."""

    def __init__(self, netlink: IPRoute, device: str) -> None:
        self._netlink = netlink
        self._index: int = netlink.link_lookup(ifname=device)[0]
        self.rate = 0.0
        self.queues: dict[Kind, QueueSettings] = {}

    def set_rate(self, rate: float, whole: bool = False) -> None:
        """Limits the traffic with queues, or all traffic, to the port's rate.

        Traffic without a queue (LLDP, ARP) is not delayed.
        """
        if self.rate == 0.0:
            # Class 0 does not exist, so unclassified packets leave at once.
            self._netlink.tc("replace", "htb", self._index, "1:", default=ROOT_CLASS & 0xFFFF if whole else 0)
        self._class("replace-class", ROOT_CLASS, _MAJOR, rate, rate, 0)
        self.rate = rate
        for kind, settings in list(self.queues.items()):
            self.set_queue(kind, settings)

    def set_queue(self, kind: Kind, settings: QueueSettings) -> None:
        """Makes or changes a queue."""
        rate = min(settings.rate, self.rate)
        self._class("replace-class", kind.class_id, ROOT_CLASS, rate, self.rate, settings.priority)
        handle = kind.minor << 16
        self._netlink.tc("replace", "bfifo", self._index, handle, parent=kind.class_id, limit=settings.size)
        self.queues[kind] = settings

    def remove_queue(self, kind: Kind) -> None:
        """Removes a queue and its packets."""
        self.queues.pop(kind, None)
        try:
            self._netlink.tc("del-class", None, self._index, kind.class_id, parent=ROOT_CLASS)
        except NetlinkError as error:
            _ignore(error, errno.ENOENT)

    def attach(self, program: int) -> None:
        """Runs a program over all outgoing packets."""
        self._netlink.tc("replace", "clsact", self._index)
        self._netlink.tc(
            "replace-filter",
            "bpf",
            self._index,
            ":1",
            fd=program,
            name=FILTER_NAME,
            parent=_EGRESS,
            prio=1,
            direct_action=True,
        )

    def counters(self) -> dict[Kind, ClassCounters]:
        """Current backlogs and counters of the queues."""
        found = {}
        for message in self._netlink.get_classes(self._index):
            for kind in self.queues:
                if message["handle"] == kind.class_id:
                    found[kind] = _class_counters(message)
        return found

    def clear(self) -> None:
        """Removes everything that this class may have made, now or in an earlier process."""
        for kind, handle in (("htb", "1:"), ("clsact", None)):
            try:
                self._netlink.tc("del", kind, self._index, handle)
            except NetlinkError as error:
                _ignore(error, errno.ENOENT, errno.EINVAL)
        self.rate = 0.0
        self.queues.clear()

    def _class(self, command: str, handle: int, parent: int, rate: float, ceil: float, priority: int) -> None:
        self._netlink.tc(
            command,
            "htb",
            self._index,
            handle,
            parent=parent,
            rate=int(rate / 8),
            ceil=int(ceil / 8),
            burst=_burst(rate),
            cburst=_burst(ceil),
            prio=priority,
            quantum=_MIN_BURST,
        )


def _class_counters(message: Any) -> ClassCounters:
    statistics = message.get_attr("TCA_STATS2")
    queue, basic = statistics.get_attr("TCA_STATS_QUEUE"), statistics.get_attr("TCA_STATS_BASIC")
    return ClassCounters(
        backlog_bytes=queue["backlog"],
        backlog_packets=queue["qlen"],
        sent_bytes=basic["bytes"],
        sent_packets=basic["packets"],
        dropped=queue["drops"],
    )
