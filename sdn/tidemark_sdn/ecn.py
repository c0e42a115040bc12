"""ECN marker: decides who sets CE, and when.

Sound: the program at the port, packet by packet. Literal: the controller, by a rule that is active while a queue's
load is at q1 or above. Plain: nobody.
"""

from tidemark_sdn.agent.protocol import Marking
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.config import Config
from tidemark_sdn.parser import Ecn
from tidemark_sdn.rules import Action, Drop, Output, SetEcn
from tidemark_sdn.topology import Attachment


class EcnMarker:
    """Marks of all queues."""

    def __init__(self, config: Config) -> None:
        self._config = config
        self._congested: set[tuple[Attachment, Kind]] = set()

    def marking(self, rate: float) -> Marking | None:
        """Gives the program's marking at a port of this rate; None if only rules mark, or nothing."""
        if self._config.mode != "sound":
            return None
        sound = self._config.sound
        return Marking(
            virtual_rate=rate * sound.virtual_rate,
            ramp_low=sound.ramp_low,
            ramp_high=sound.ramp_high,
            target=sound.target,
            alpha=sound.alpha,
            beta=sound.beta,
            coupling=sound.coupling,
        )

    def actions(self, port: Attachment, kind: Kind, queue_id: int) -> list[Action]:
        """Current alpha of a queue (Algorithm 2, lines 13 to 19)."""
        if (port, kind) not in self._congested:
            return [Output(port.port, queue_id)]
        if kind is Kind.L4S:
            return [SetEcn(Ecn.CE), Output(port.port, queue_id)]
        return [SetEcn(Ecn.CE), Drop()]

    def observe(self, port: Attachment, kind: Kind, load: float) -> bool:
        """Takes the load of a queue as a share of its size; true if its rule has to change."""
        if self._config.mode != "literal":
            return False
        congested, before = load >= self._config.literal.q1, (port, kind) in self._congested
        if congested:
            self._congested.add((port, kind))
        else:
            self._congested.discard((port, kind))
        return congested != before

    def is_congested(self, port: Attachment, kind: Kind) -> bool:
        """True if the rule of a queue currently marks or drops."""
        return (port, kind) in self._congested

    def forget(self, port: Attachment, kind: Kind) -> None:
        """Treats a queue as new."""
        self._congested.discard((port, kind))
