"""The known network: links found by LLDP, hosts found by their packets."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Attachment:
    """A port of a switch."""

    datapath_id: int
    port: int


# Most hosts that are remembered; a flood of forged addresses evicts the oldest.
MAX_HOSTS = 65536


class Topology:
    """Unidirectional links, and places of hosts."""

    def __init__(self) -> None:
        self._links: dict[Attachment, Attachment] = {}
        self._seen_at: dict[Attachment, float] = {}
        self.hosts: dict[str, Attachment] = {}

    @property
    def links(self) -> dict[Attachment, Attachment]:
        """Links from port to port."""
        return self._links

    def hear(self, source: Attachment, destination: Attachment, now: float) -> bool:
        """Notes a frame over a link; true for a new link."""
        new = self._links.get(source) != destination
        self._links[source] = destination
        self._seen_at[source] = now
        if new:
            self._forget_hosts(source)
            self._forget_hosts(destination)
        return new

    def is_link(self, attachment: Attachment) -> bool:
        """True if a switch is at the other end."""
        return attachment in self._links or attachment in self._links.values()

    def expire(self, before: float) -> list[Attachment]:
        """Removes links without a probe since this time."""
        silent = [source for source, seen_at in self._seen_at.items() if seen_at < before]
        for source in silent:
            self._remove(source)
        return silent

    def remove_port(self, attachment: Attachment) -> list[Attachment]:
        """Removes a port that is down: its links in both directions, and the hosts behind it."""
        self._forget_hosts(attachment)
        gone = [source for source, other in self._links.items() if attachment in (source, other)]
        for source in gone:
            self._remove(source)
        return gone

    def remove_switch(self, datapath_id: int) -> list[Attachment]:
        """Removes a switch's links. Its hosts stay known, because a restart of a switch does not move them."""
        gone = [
            source for source, other in self._links.items() if datapath_id in (source.datapath_id, other.datapath_id)
        ]
        for source in gone:
            self._remove(source)
        return gone

    def learn(self, mac: str, attachment: Attachment) -> bool:
        """Notes the place of a host; true if it has moved."""
        before = self.hosts.pop(mac, None)
        self.hosts[mac] = attachment
        if len(self.hosts) > MAX_HOSTS:
            del self.hosts[next(iter(self.hosts))]
        return before is not None and before != attachment

    def neighbours(self) -> dict[int, list[tuple[int, int]]]:
        """Gives for each switch its ports to other switches, with those switches."""
        found: dict[int, list[tuple[int, int]]] = {}
        for source, destination in sorted(self._links.items()):
            found.setdefault(source.datapath_id, []).append((source.port, destination.datapath_id))
        return found

    def _remove(self, source: Attachment) -> None:
        self._links.pop(source, None)
        self._seen_at.pop(source, None)

    def _forget_hosts(self, attachment: Attachment) -> None:
        self.hosts = {mac: home for mac, home in self.hosts.items() if home != attachment}
