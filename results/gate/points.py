"""Points of the gate: what a run is made of, and its scenario."""

import csv
import dataclasses
import pathlib

HERE = pathlib.Path(__file__).parent
L4S = ("prague", "udp-prague", "scream")
"""Senders of ECT(1). UDP Prague and SCReAM have no handshake that a gNB could time."""
CLASSIC = ("cubic", "reno")
"""Senders that answer a mark as RFC 3168 asks. BBR version 3 sends Not-ECT by default, so no law marks it."""
BESIDE = "cubic"
"""Sender that the others stand beside."""
SKIP_S = 29
"""Seconds of a trace between the starts of two seeds: each sees another part of a drive. UEs of a cell sit in the same car."""
FEW_SEEDS = 100
"""Seeds of a half: those of the second begin above this."""


@dataclasses.dataclass(frozen=True)
class Point:
    """A cell and its flows.

    UEs are all of the cell's: half of them have CUBIC where the placement is `other`, each has CUBIC too where it is `shared`.
    A round trip is one in ms, or several with `+` between them that the UEs have by turns.
    """

    half: str
    id: str
    bandwidth_mhz: int
    layers: int
    ues: int
    placement: str
    channel: str
    snr_db: str
    speed_kmh: str
    trace: str
    sender: str
    round_trip: str
    beside_round_trip: str
    report_ms: float
    seconds: int
    warmup: int

    def channel_toml(self, seed, traces):
        """Inline table of the UEs' channel."""
        if self.channel == "trace":
            file, _, column = self.trace.partition(":")
            column = f', column = "{column}"' if column else ""
            skip = SKIP_S * (seed % FEW_SEEDS - 1)
            return f'{{ model = "trace", file = "{traces / file}"{column}, skip = "{skip} s" }}'
        speed = f", speed_kmh = {self.speed_kmh}" if self.speed_kmh else ""
        return f'{{ model = "{self.channel}", snr_db = {self.snr_db}{speed} }}'

    def senders(self, number):
        """Senders of the UE with this number, each with its round trip in ms."""
        own, beside = (trips.split("+") for trips in (self.round_trip, self.beside_round_trip or self.round_trip))
        turn = number // 2 if self.placement == "other" else number
        flow, cubic = (self.sender, own[turn % len(own)]), (BESIDE, beside[turn % len(beside)])
        if self.placement == "other":
            return [cubic if number % 2 else flow]
        return [flow, cubic] if self.placement == "shared" else [flow]

    def scenario(self, seed, traces):
        """Text of the scenario, without the marker."""
        # The two cells of `tidemark new`: with several layers come the MCS of good radio.
        table = "qam256" if self.layers > 1 else "qam64"
        lines = [f'name = "gate"\nseed = {seed}\nduration = "{self.seconds} s"\nwarmup = "{self.warmup} s"']
        lines += ['sample_interval = "1 s"']
        lines += [f'[cell]\nbandwidth_mhz = {self.bandwidth_mhz}\nlayers = {self.layers}\nmcs_table = "{table}"']
        lines += [f'[cell.f1u]\nreport_period = "{round(1000 * self.report_ms)} us"']
        for number in range(self.ues):
            lines += [f'[[ue]]\nname = "u{number}"\nchannel = {self.channel_toml(seed, traces)}']
            for index, (sender, trip) in enumerate(self.senders(number)):
                lines += [f'[[flow]]\nname = "f{number}-{index}"\nue = "u{number}"\nround_trip = "{trip} ms"']
                lines += [sender_toml(sender)]
        return "\n".join(lines) + "\n"


def sender_toml(controller):
    """Lines of a flow's sender.

    A video may be as slow as one of a crowd, and as fast as the widest cell: its encoder's bounds are not the law's.
    """
    if controller == "scream":
        rates = '{ min = "100 kbit/s", initial = "1 Mbit/s", max = "1 Gbit/s" }'
        return f'sender = {{ controller = "scream", rates = {rates} }}\napp = {{ app = "video" }}'
    return f'sender = {{ controller = "{controller}" }}'


def load(half):
    """Points of a half, in the order of the file."""
    with (HERE / "points.csv").open() as file:
        return [read(row) for row in csv.DictReader(file) if row["half"] == half]


def read(row):
    """Point of a row of points.csv."""
    return Point(**{field.name: field.type(row[field.name]) for field in dataclasses.fields(Point)})


def save(points):
    """Writes points.csv."""
    with (HERE / "points.csv").open("w", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(field.name for field in dataclasses.fields(Point))
        writer.writerows(dataclasses.astuple(point) for point in points)
