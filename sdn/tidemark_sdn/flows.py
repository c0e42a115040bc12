"""Flows that have rules."""

import itertools
import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field

from tidemark_sdn.parser import Ecn
from tidemark_sdn.paths import Path
from tidemark_sdn.rules import COOKIE, FlowMatch
from tidemark_sdn.topology import Attachment


@dataclass
class Flow:
    """A flow of one kind in one direction."""

    match: FlowMatch
    cookie: int
    # The first switch, None for a flow that was read back, and the output ports along the path.
    source: int | None
    path: Path
    # Installed rules by switch: a switch reports each removed rule.
    rules: set[tuple[int, Ecn]] = field(default_factory=set)

    def port_at(self, datapath_id: int) -> Attachment | None:
        """The output port at a switch; None off the path."""
        return next((hop for hop in self.path if hop.datapath_id == datapath_id), None)

    def expected(self) -> set[tuple[int, Ecn]]:
        """Rules of the whole path."""
        return {(hop.datapath_id, ecn) for hop in self.path for ecn in self.match.codepoints}


class FlowTable:
    """Flows by match and by cookie."""

    def __init__(self) -> None:
        self._by_match: dict[FlowMatch, Flow] = {}
        self._by_cookie: dict[int, Flow] = {}
        # A part of each cookie that differs from earlier controllers'.
        self._generation = secrets.randbits(16) << 32
        self._numbers = itertools.count(1)

    def __len__(self) -> int:
        return len(self._by_match)

    def __iter__(self) -> Iterator[Flow]:
        return iter(list(self._by_match.values()))

    def find(self, match: FlowMatch) -> Flow | None:
        """The flow of a match."""
        return self._by_match.get(match)

    def of_cookie(self, cookie: int) -> Flow | None:
        """The flow that a rule belongs to."""
        return self._by_cookie.get(cookie)

    def add(self, match: FlowMatch, source: int, path: Path) -> Flow:
        """A new flow."""
        cookie = COOKIE | self._generation | next(self._numbers) & 0xFFFF_FFFF
        flow = Flow(match, cookie, source, path)
        self._by_match[match] = self._by_cookie[cookie] = flow
        return flow

    def adopt(self, match: FlowMatch, cookie: int, port: Attachment) -> Flow | None:
        """The flow of a rule that was read back from a switch; None if the rule is not the flow's current one there."""
        flow = self._by_match.get(match)
        if flow is None:
            flow = Flow(match, cookie, None, (port,))
            self._by_match[match] = self._by_cookie[cookie] = flow
        elif flow.cookie != cookie:
            return None
        elif flow.source is None and flow.port_at(port.datapath_id) is None:
            flow.path = (*flow.path, port)
        return flow if port in flow.path else None

    def remove(self, flow: Flow) -> None:
        """Forgets a flow."""
        self._by_match.pop(flow.match, None)
        self._by_cookie.pop(flow.cookie, None)
