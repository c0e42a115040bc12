"""The network as it is known: links by LLDP, hosts by what they send."""

from dataclasses import dataclass


@dataclass(frozen=True, order=True)
class Attachment:
    """A port of a switch."""

    datapath_id: int
    port: int


# Hosts that are remembered; a flood of made-up addresses pushes out the oldest.
MAX_HOSTS = 65536


class Topology:
    """Links in one direction each, and where hosts live."""

    def __init__(self) -> None:
        self._links: dict[Attachment, Attachment] = {}
        self._seen_at: dict[Attachment, float] = {}
        self.hosts: dict[str, Attachment] = {}

    @property
    def links(self) -> dict[Attachment, Attachment]:
        """Ports that lead to ports."""
        return self._links

    def hear(self, source: Attachment, destination: Attachment, now: float) -> bool:
        """Notes that a frame came over a link; true for a link that is new."""
        new = self._links.get(source) != destination
        self._links[source] = destination
        self._seen_at[source] = now
        if new:
            self._forget_hosts(source)
            self._forget_hosts(destination)
        return new

    def is_link(self, attachment: Attachment) -> bool:
        """Tells whether a switch is on the other side."""
        return attachment in self._links or attachment in self._links.values()

    def expire(self, before: float) -> list[Attachment]:
        """Takes out links without a probe since."""
        silent = [source for source, seen_at in self._seen_at.items() if seen_at < before]
        for source in silent:
            self._remove(source)
        return silent

    def remove_port(self, attachment: Attachment) -> list[Attachment]:
        """Takes out a port that is down: the links both ways, and the hosts behind it."""
        self._forget_hosts(attachment)
        gone = [source for source, other in self._links.items() if attachment in (source, other)]
        for source in gone:
            self._remove(source)
        return gone

    def remove_switch(self, datapath_id: int) -> list[Attachment]:
        """Takes out a switch's links. Its hosts stay known: where they live does not change when a switch restarts."""
        gone = [
            source for source, other in self._links.items() if datapath_id in (source.datapath_id, other.datapath_id)
        ]
        for source in gone:
            self._remove(source)
        return gone

    def learn(self, mac: str, attachment: Attachment) -> bool:
        """Notes where a host lives; true if it has moved."""
        before = self.hosts.pop(mac, None)
        self.hosts[mac] = attachment
        if len(self.hosts) > MAX_HOSTS:
            del self.hosts[next(iter(self.hosts))]
        return before is not None and before != attachment

    def neighbours(self) -> dict[int, list[tuple[int, int]]]:
        """Gives for each switch its ports that lead to switches, with those."""
        found: dict[int, list[tuple[int, int]]] = {}
        for source, destination in sorted(self._links.items()):
            found.setdefault(source.datapath_id, []).append((source.port, destination.datapath_id))
        return found

    def _remove(self, source: Attachment) -> None:
        self._links.pop(source, None)
        self._seen_at.pop(source, None)

    def _forget_hosts(self, attachment: Attachment) -> None:
        self.hosts = {mac: home for mac, home in self.hosts.items() if home != attachment}
