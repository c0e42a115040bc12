"""The paper's network: two switches in line, L4S and classic senders at the first, one receiver at the second."""

import contextlib
import csv
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tidemark_sdn import config
from tidemark_sdn.agent.shaper import Kind
from tidemark_sdn.lab.hop import line_rates
from tidemark_sdn.lab.isolation import LabError
from tidemark_sdn.lab.network import Namespace, OpenVSwitch, connect_control, control_address, wait_for
from tidemark_sdn.lab.pki import Authority
from tidemark_sdn.parser import Ecn
from tidemark_sdn.status import read_status
from tidemark_sdn.units import format_rate, format_time

_FOLDER = Path("/run/tidemark-sdn")
_RECEIVER = "10.0.0.1"
_L4S_PORT, _CLASSIC_PORT, _PROBE_PORT = 4100, 5200, 6100
# The kernel's congestion controls, which classic senders use in turn.
_CLASSIC_CONTROLLERS = ("cubic", "reno")
_AGENT_PORT = 6700
# Bytes of TCP payload in a packet of 1500.
_SEGMENT = 1448
_PATIENCE = 20.0
# Rate of a hop that is only a wire: nothing waits for it.
_WIRE_RATE = "1 Gbit/s"
_SUFFIXES = (".csv", ".html", ".json", ".log", ".toml")
PROBES = {Kind.L4S: Ecn.ECT_1, Kind.CLASSIC: Ecn.NOT_ECT}


@dataclass(frozen=True)
class Queues:
    """Queues of the line. Sizes in bytes.

    The user-space datapath sends through a packet socket. Its buffer of 208 kB (net.core.wmem_default, in the
    kernel's accounting) holds about 90 packets of all queues of a port, so queues that can fill up must be smaller.
    """

    l4s_size: int = 30_000
    classic_size: int = 80_000
    # Share of the line's rate. The classic queue gets the rest, as in RFC 9332's scheduler (Linux: 90 and 10 %).
    l4s_share: float = 0.9

    @property
    def settings(self) -> str:
        """Keys of the table in the configuration."""
        sizes = f'l4s_size = "{self.l4s_size} B"\nclassic_size = "{self.classic_size} B"\n'
        return f"{sizes}l4s_share = {self.l4s_share:g}\n"

    @property
    def arguments(self) -> list[str]:
        """Arguments of the demo."""
        sizes = ["--l4s-size", f"{self.l4s_size} B", "--classic-size", f"{self.classic_size} B"]
        return [*sizes, "--l4s-share", f"{self.l4s_share:g}"]

    def longest_wait(self, rate: float) -> float:
        """Longest wait of a packet in seconds on a line with this rate in bit/s: a full queue at its guaranteed rate.

        Includes a tenth more for the rest of the path.
        """
        queues = ((self.l4s_size, self.l4s_share), (self.classic_size, 1.0 - self.l4s_share))
        return 1.1 * max(size * 8 / (share * rate) for size, share in queues)


@dataclass(frozen=True)
class Experiment:
    """Parameters of a run. Rates in bit/s, times in seconds."""

    tidemark: Path
    out: Path
    mode: str = "sound"
    l4s: int = 12
    classic: int = 12
    # Rate of the line between the switches.
    rate: float = 20e6
    seconds: float = 8.0
    # Left out at the start of every figure.
    warm_up: float = 2.0
    # One queue for all traffic, the paper's comparison without queue management.
    one_queue: bool = False
    queues: Queues = Queues()
    # Discipline of a `tidemark net hop` that replaces the line; the switches then only forward.
    hop: str | None = None
    # Round-trip time of the wire between the switches in seconds; a `tidemark net hop` delays by half of it each way.
    round_trip: float = 0.0
    # Additional configuration, as TOML.
    settings: str = ""
    # The L4S ends: UDP Prague, or the paper's rule with its threshold q2, and how long its share looks back
    # (None: to the beginning, as published).
    controller: str = "udp-prague"
    # Thresholds of the literal mode's switches and of the paper's senders.
    q1: float = 0.8
    q2: float = 0.01
    window: float | None = None

    @property
    def l4s_arguments(self) -> list[str]:
        """Arguments of both ends of every L4S flow."""
        arguments = ["--controller", self.controller, "--time", f"{self.seconds:g} s"]
        if self.controller == "sdn-l4s":
            # Algorithm 1: the line rate until marks come. The minimum rate keeps a flow alive that is always marked.
            line_rate = format_rate(self.rate)
            settings = {"rates.min": "100 kbit/s", "rates.initial": line_rate, "rates.max": line_rate}
            texts = [f'sender.{name}="{value}"' for name, value in settings.items()]
            texts.append(f"sender.threshold={self.q2:g}")
            if self.window is not None:
                texts.append(f'sender.window="{self.window:g} s"')
            arguments += [item for text in texts for item in ("--set", text)]
        return arguments


@dataclass
class Losses:
    """Packets that a flow has sent, with retransmissions, and lost packets."""

    sent: int = 0
    lost: int = 0


@dataclass
class FlowFigures:
    """Figures from a flow's own programs."""

    name: str
    kind: Kind
    controller: str
    mbps: float
    packets: int
    marked: int
    lost: int
    # Sent and lost after the warm-up.
    later: "Losses"


@dataclass
class ProbeFigures:
    """Delays in seconds of packets of a kind that arrived after the warm-up, by sending time."""

    sent: int
    delays: list[tuple[float, float]] = field(default_factory=list)
    marked: int = 0


@dataclass
class Outcome:
    """All figures."""

    experiment: Experiment
    began_at: float
    flows: list[FlowFigures]
    probes: dict[Kind, ProbeFigures]
    # Rows of series.csv for the line between the switches, after the warm-up.
    series: list[dict[str, str]]
    status: dict[str, Any]
    # The machine's one-minute load average before the run.
    load_before: float
    # Mbit/s of each kind through a hop, if a hop is the line.
    hop_mbps: dict[Kind, float] = field(default_factory=dict)


class Laboratory:
    """The running network. Everything that it starts ends with `close` or with this process."""

    def __init__(self, experiment: Experiment, detour: bool = False) -> None:
        """Builds the network; `detour` adds a third switch with a path around the line."""
        self.experiment = experiment
        self._load_before = os.getloadavg()[0]
        self._processes: list[subprocess.Popen[bytes]] = []
        _FOLDER.mkdir(mode=0o700)
        experiment.out.mkdir(parents=True, exist_ok=True)
        # Left by an earlier run in the same folder.
        for file in experiment.out.iterdir():
            if file.suffix in _SUFFIXES:
                file.unlink()
        self.authority = Authority(_FOLDER / "certificates")
        self.switches = [OpenVSwitch(name, number, _FOLDER) for number, name in ((1, "s1"), (2, "s2"))]
        self.hop: subprocess.Popen[bytes] | None = None
        if experiment.hop is None and experiment.round_trip == 0.0:
            self.switches[0].connect(self.switches[1], "line", "line")
        else:
            self._connect_by_hop()
        if detour:
            self.switches.append(OpenVSwitch("s3", 3, _FOLDER))
            for switch in self.switches[:2]:
                switch.connect(self.switches[2], "detour", f"to-{switch.name}")
        receiver = Namespace("receiver")
        self.receiver = self.switches[1].attach(receiver, _RECEIVER)
        self.hosts = {
            kind: [
                self.switches[0].attach(Namespace(f"{prefix}{index}"), f"10.0.{1 + kind}.{index + 1}")
                for index in range(count)
            ]
            for kind, prefix, count in ((Kind.L4S, "l", experiment.l4s), (Kind.CLASSIC, "c", experiment.classic))
        }
        self.socket = _FOLDER / "controller.sock"
        self.config = experiment.out / "config.toml"
        self.config.write_text(self._configuration(), encoding="utf-8")
        # An error in the experiment's values ends it here, with the key's name.
        config.load(self.config)
        # Where each switch finds the controller.
        self.targets: dict[str, str] = {}
        # Receivers of probes, which end a second after the last packet was sent.
        self.probes: dict[Kind, subprocess.Popen[bytes]] = {}
        self.agents: dict[str, subprocess.Popen[bytes]] = {}
        for switch in self.switches:
            self.start_agent(switch)
            tls = self.authority.issue(switch.name)
            switch.vsctl("set-ssl", str(tls.private_key), str(tls.certificate), str(tls.authority))
            self.targets[switch.name] = f"ssl:{connect_control(switch)}:6653"
            switch.vsctl("set-controller", switch.name, self.targets[switch.name])
        self.controller = self.start_controller()

    def _configuration(self) -> str:
        experiment, tls = self.experiment, self.authority.issue("controller")
        # Beside a hop the ports have the rate of their cables, which delays nothing.
        rate = "" if experiment.hop else f', rate = "{format_rate(experiment.rate)}"'
        switches = [
            f'[[switch]]\nname = "{switch.name}"\ndatapath_id = "{switch.datapath_id:016x}"\n'
            f'agent = "{self._agent_address(switch, control_address(switch))}"\n'
            f'port = [{{ name = "line"{rate} }}]\n'
            for switch in self.switches
        ]
        return "\n".join(
            [
                f'mode = "{experiment.mode}"\nsocket = "{self.socket}"\n{experiment.settings}',
                f"[literal]\nq1 = {experiment.q1:g}\n",
                f"[queues]\nseparate = {str(not experiment.one_queue).lower()}\n{experiment.queues.settings}",
                '[openflow]\nlisten = "0.0.0.0:6653"\n',
                f'[tls]\ncertificate = "{tls.certificate}"\nprivate_key = "{tls.private_key}"\n'
                f'authority = "{tls.authority}"\n',
                *switches,
            ]
        )

    def _connect_by_hop(self) -> None:
        """Makes the line from two cables and a `tidemark net hop` between them, which is a queue, a delay, or both."""
        experiment, hop = self.experiment, Namespace("hop")
        for switch in self.switches:
            switch.plug("line", hop, switch.name)
        ends = ("--left", self.switches[0].name, "--right", self.switches[1].name)
        if experiment.hop is None:
            queue = ["--rate", _WIRE_RATE]
        else:
            queue = ["--rate", format_rate(experiment.rate), "--discipline", experiment.hop]
            queue += ["--out", str(experiment.out / "hop")]
        if experiment.round_trip > 0.0:
            queue += ["--delay", format_time(experiment.round_trip / 2)]
        command = (str(experiment.tidemark), "net", "hop", *ends, *queue)
        self.hop = self._start(hop, *command, log=experiment.out / "hop.log")

    def start_agent(self, switch: OpenVSwitch) -> None:
        """Starts the agent beside a switch."""
        tls = self.authority.issue(f"agent-{switch.name}")
        self.agents[switch.name] = self._start(
            switch.namespace,
            *(sys.executable, "-m", "tidemark_sdn", "agent", "--bridge", switch.name),
            *("--database", f"unix:{switch.database}", "--listen", self._agent_address(switch, "0.0.0.0")),
            *("--certificate", str(tls.certificate), "--private-key", str(tls.private_key)),
            *("--authority", str(tls.authority)),
            log=self.experiment.out / f"agent-{switch.name}.log",
        )

    @staticmethod
    def _agent_address(switch: OpenVSwitch, host: str) -> str:
        """The first switch's agent is reached by TLS, as across a network, the others by Unix sockets."""
        return f"tls:{host}:{_AGENT_PORT}" if switch.datapath_id == 1 else f"unix:{switch.folder}/agent.sock"

    def start_controller(self) -> "subprocess.Popen[bytes]":
        """Starts the controller, with the experiment's folder for its results."""
        command = [sys.executable, "-m", "tidemark_sdn", "run", str(self.config), "--out", str(self.experiment.out)]
        with (self.experiment.out / "controller.log").open("ab") as log:
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT)
        self._processes.append(process)
        wait_for(self.socket)
        return process

    def _start(self, namespace: Namespace, *command: str, log: Path) -> "subprocess.Popen[bytes]":
        process = namespace.start(*command, log=log)
        self._processes.append(process)
        return process

    def wait_until_ready(self) -> None:
        """Waits for switches, agents and the link in both directions."""
        deadline = time.monotonic() + _PATIENCE
        while time.monotonic() < deadline:
            if self.hop is not None and self.hop.poll() is not None:
                raise LabError(f"the hop has ended: {(self.experiment.out / 'hop.log').read_text(encoding='utf-8')}")
            status = read_status(self.socket)
            there = all(switch["connected"] and switch["agent"] for switch in status["switches"])
            # The line, and a link from each of its ends to the detour.
            if there and len(status["links"]) == 2 * (2 * len(self.switches) - 3):
                return
            time.sleep(0.1)
        raise LabError(f"switches, agents or links are missing: see {self.experiment.out}/controller.log")

    def run(self) -> Outcome:
        """Runs all flows and collects their results."""
        experiment, out = self.experiment, self.experiment.out
        seconds = f"{experiment.seconds:g}"
        for kind in PROBES:
            self.probe(kind, experiment.seconds + 1)
        servers, clients = [], []
        for index, host in enumerate(self.hosts[Kind.L4S]):
            port = _L4S_PORT + index
            receive = (str(experiment.tidemark), "net", "receive", "--listen", str(port), *experiment.l4s_arguments)
            servers.append(self._start(self.receiver.namespace, *receive, log=out / f"l{index}.receiver.json"))
            connect = (str(experiment.tidemark), "net", "send", f"{_RECEIVER}:{port}", *experiment.l4s_arguments)
            clients.append((host, connect, out / f"l{index}.sender.json"))
        for index, host in enumerate(self.hosts[Kind.CLASSIC]):
            own_port = ("--port", str(_CLASSIC_PORT + index))
            serve = ("iperf3", "--server", "--one-off", *own_port)
            self._start(self.receiver.namespace, *serve, log=out / f"c{index}.receiver.log")
            controller = _CLASSIC_CONTROLLERS[index % len(_CLASSIC_CONTROLLERS)]
            ask = ("iperf3", "--client", _RECEIVER, *own_port, "--time", seconds, "--json", "--congestion", controller)
            clients.append((host, ask, out / f"c{index}.sender.json"))
        time.sleep(0.5)
        began_at = time.monotonic()
        running = [self._start(host.namespace, *command, log=log) for host, command, log in clients]
        finish([*running, *servers], experiment.seconds + _PATIENCE)
        # Packets on their way arrive, and the probes' receivers end.
        time.sleep(1.5)
        status = read_status(self.socket)
        self.stop_controller()
        return self._gather(began_at, status)

    def probe(self, kind: Kind, length: float) -> Path:
        """Sends probes of a kind for a time, and names the file with their results."""
        output = self.experiment.out / f"probe-{kind.name.lower()}.csv"
        output.unlink(missing_ok=True)
        if not self.hosts[kind]:
            return output
        module = (sys.executable, "-m", "tidemark_sdn.lab.probe")
        port, seconds, ecn = str(_PROBE_PORT + kind), f"{length:g}", PROBES[kind]
        receive = (*module, "receive", "--port", port, "--seconds", seconds, "--output", str(output))
        self.probes[kind] = self._start(self.receiver.namespace, *receive, log=output.with_suffix(".receiver.log"))
        send = (*module, "send", "--address", _RECEIVER, "--port", port, "--ecn", str(int(ecn)), "--seconds", seconds)
        self._start(self.hosts[kind][0].namespace, *send, log=output.with_suffix(".sender.log"))
        return output

    def stop_controller(self) -> None:
        """Ends the controller, which then writes its summary."""
        self.controller.send_signal(signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.controller.wait(5)

    def close(self) -> None:
        """Ends everything."""
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        for switch in self.switches:
            switch.stop()
        shutil.rmtree(_FOLDER, ignore_errors=True)

    def _gather(self, began_at: float, status: dict[str, Any]) -> Outcome:
        out, after = self.experiment.out, began_at + self.experiment.warm_up
        flows = [self._l4s_figures(index) for index in range(self.experiment.l4s)]
        flows += [self._classic_figures(index) for index in range(self.experiment.classic)]
        probes = {}
        for kind in PROBES:
            file = out / f"probe-{kind.name.lower()}.csv"
            if not file.exists():
                continue
            with file.open(encoding="utf-8", newline="") as stream:
                rows = [
                    row for row in csv.DictReader(stream) if after <= float(row["sent_at"]) < after + self._measured
                ]
            delays = [(float(row["sent_at"]) - began_at, float(row["delay"])) for row in rows]
            numbers = [int(row["number"]) for row in rows]
            sent = max(numbers) - min(numbers) + 1 if numbers else 0
            probes[kind] = ProbeFigures(sent, delays, sum(int(row["ecn"]) == Ecn.CE for row in rows))
        # The switches' counters do not cover a hop's queue.
        if self.hop is not None and self.experiment.hop is not None:
            self.hop.terminate()
            self.hop.wait(_PATIENCE)
            rates = line_rates(out / "hop" / "series-flows.csv", self.experiment.warm_up)
            return Outcome(self.experiment, began_at, flows, probes, [], status, self._load_before, rates)
        # The controller's series begins with the controller.
        offset = status["started"]
        with (out / "series.csv").open(encoding="utf-8", newline="") as stream:
            series = [
                row | {"at": str(float(row["at"]) + offset - began_at)}
                for row in csv.DictReader(stream)
                if row["switch"] == "s1"
                and row["port"] == "line"
                and after <= float(row["at"]) + offset < after + self._measured
            ]
        return Outcome(self.experiment, began_at, flows, probes, series, status, self._load_before)

    @property
    def _measured(self) -> float:
        return self.experiment.seconds - self.experiment.warm_up

    def _l4s_figures(self, index: int) -> FlowFigures:
        ends, later = {}, Losses()
        for role in ("sender", "receiver"):
            file = self.experiment.out / f"l{index}.{role}.json"
            lines = [line for line in file.read_text(encoding="utf-8").splitlines() if '"kind":"summary"' in line]
            if not lines and role == "sender" and "said nothing" in file.read_text(encoding="utf-8"):
                # It never got through a queue that was always full.
                return FlowFigures(f"l{index}", Kind.L4S, self.experiment.controller, 0.0, 0, 0, 0, later)
            if not lines:
                raise LabError(f"{file}: the flow did not end as it should: {file.read_text(encoding='utf-8')[-300:]}")
            ends[role] = json.loads(lines[-1])
            if role == "sender":
                later = losses_of_sender(file, self.experiment.warm_up)
        receiver = ends["receiver"]
        return FlowFigures(
            name=f"l{index}",
            kind=Kind.L4S,
            controller=self.experiment.controller,
            mbps=receiver["mbps"],
            packets=receiver["packets"],
            marked=receiver["marked"],
            lost=ends["sender"]["lost"],
            later=later,
        )

    def _classic_figures(self, index: int) -> FlowFigures:
        file = self.experiment.out / f"c{index}.sender.json"
        try:
            document = json.loads(file.read_text(encoding="utf-8"))
        except ValueError:
            raise LabError(f"{file}: iperf3 did not end as it should") from None
        # A connection that never got through a queue that drops everything has sent nothing.
        nothing = {"bytes": 0, "retransmits": 0, "bits_per_second": 0.0}
        sent = document["end"].get("sum_sent", nothing)
        received = document["end"].get("sum_received", nothing)
        return FlowFigures(
            name=f"c{index}",
            kind=Kind.CLASSIC,
            controller=_CLASSIC_CONTROLLERS[index % len(_CLASSIC_CONTROLLERS)],
            mbps=received["bits_per_second"] / 1e6,
            packets=sent["bytes"] // _SEGMENT,
            marked=0,
            lost=sent["retransmits"],
            later=losses_of_iperf3(document, self.experiment.warm_up),
        )


def finish(processes: Iterable["subprocess.Popen[bytes]"], seconds: float) -> None:
    """Waits this long for programs, and ends the unfinished ones, which then write their results so far.

    A connection that can't open waits for minutes.
    """
    deadline = time.monotonic() + seconds
    for process in processes:
        try:
            process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            process.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(5)


def losses_of_sender(sender: Path, warm_up: float) -> Losses:
    """Losses that `tidemark net send` counted after the warm-up, in intervals of a second."""
    later = Losses()
    for line in sender.read_text(encoding="utf-8").splitlines():
        if '"kind":"interval"' not in line and '"kind":"summary"' not in line:
            continue
        counted = json.loads(line)
        # Subtract the warm-up's intervals from the summary.
        if counted["kind"] == "summary":
            sign = 1
        elif counted["t_s"] < warm_up + 0.5:
            sign = -1
        else:
            continue
        later.sent += sign * counted["packets"]
        later.lost += sign * counted["lost"]
    return later


def losses_of_iperf3(document: dict[str, Any], warm_up: float) -> Losses:
    """Losses that iperf3 counted after the warm-up, in intervals of a second."""
    later = Losses()
    for interval in document.get("intervals", []):
        counted = interval["sum"]
        if counted["start"] > warm_up - 0.5:
            later.sent += counted["bytes"] // _SEGMENT + counted["retransmits"]
            later.lost += counted["retransmits"]
    return later
