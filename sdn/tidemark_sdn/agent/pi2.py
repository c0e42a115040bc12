"""PI2 (RFC 9332 A.1) on the backlog of the classic queue."""

from dataclasses import dataclass

# The interval for which RFC 9332 gives alpha and beta.
UPDATE_INTERVAL = 0.016


@dataclass(frozen=True)
class Pi2Settings:
    """Target in seconds, gains in Hz at the update interval, coupling factor k."""

    target: float
    alpha: float
    beta: float
    coupling: float


class Pi2:
    """The base probability p', from which p_C = p'^2 and p_CL = k p' follow."""

    def __init__(self, settings: Pi2Settings) -> None:
        self.settings = settings
        self.base = 0.0
        self._delay = 0.0

    def update(self, delay: float, elapsed: float) -> None:
        """Takes a delay in seconds, `elapsed` seconds after the last one."""
        # The gain of the integral part is per interval: a late update makes up for its lateness.
        intervals = min(elapsed / UPDATE_INTERVAL, 10.0)
        change = self.settings.alpha * intervals * (delay - self.settings.target)
        change += self.settings.beta * (delay - self._delay)
        self._delay = delay
        # RFC 9332 A.1: p_C at most 1 / k^2, where p_CL is 1.
        highest = 1.0 / self.settings.coupling if self.settings.coupling > 1.0 else 1.0
        self.base = min(max(self.base + change, 0.0), highest)

    @property
    def classic(self) -> float:
        """p_C."""
        return self.base**2

    @property
    def coupled(self) -> float:
        """p_CL."""
        return min(self.settings.coupling * self.base, 1.0)
