"""Hosts and switches in network namespaces."""

import os
import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from tidemark_sdn.lab.isolation import LabError

_SCHEMA = "/usr/share/openvswitch/vswitch.ovsschema"
_PATIENCE = 15.0


def run(*command: str) -> str:
    """Runs a command to its end and gives what it printed."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise LabError(f"{' '.join(command)}: {done.stderr.strip() or done.stdout.strip()}")
    return done.stdout


def wait_for(path: Path) -> None:
    """Waits for a file or socket."""
    deadline = time.monotonic() + _PATIENCE
    while not path.exists():
        if time.monotonic() > deadline:
            raise LabError(f"{path} has not appeared")
        time.sleep(0.02)


class Namespace:
    """A network namespace with a name."""

    def __init__(self, name: str) -> None:
        self.name = name
        run("ip", "netns", "add", name)
        self.run("ip", "link", "set", "lo", "up")
        self.run("sysctl", "-q", "net.ipv6.conf.all.disable_ipv6=1", "net.ipv6.conf.default.disable_ipv6=1")

    def run(self, *command: str) -> str:
        """Runs a command inside."""
        return run("ip", "netns", "exec", self.name, *command)

    def start(
        self, *command: str, log: Path, environment: Mapping[str, str] | None = None
    ) -> "subprocess.Popen[bytes]":
        """Starts a command inside, in the background, with its output in a file."""
        with log.open("ab") as output:
            return subprocess.Popen(
                ["ip", "netns", "exec", self.name, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env=os.environ | dict(environment or {}),
            )


@dataclass(frozen=True)
class Host:
    """A host with one device, eth0."""

    namespace: Namespace
    address: str


def _pair(first: Namespace, first_name: str, second: Namespace, second_name: str) -> None:
    """A cable between two namespaces. Offloads are off, because HTB would see packets of 64 kB and TCP would stall."""
    run(
        *("ip", "link", "add", first_name, "netns", first.name, "type", "veth"),
        *("peer", "name", second_name, "netns", second.name),
    )
    for namespace, name in ((first, first_name), (second, second_name)):
        namespace.run("ethtool", "-K", name, "tx", "off", "tso", "off", "gso", "off", "gro", "off")
        namespace.run("ip", "link", "set", name, "up")


class OpenVSwitch:
    """A separate Open vSwitch in its own namespace, with the datapath in user space."""

    def __init__(self, name: str, number: int, folder: Path) -> None:
        self.name = name
        self.datapath_id = number
        self.namespace = Namespace(name)
        self.folder = folder / name
        self.folder.mkdir()
        self.database = self.folder / "db.sock"
        self._environment = {f"OVS_{what}": str(self.folder) for what in ("RUNDIR", "DBDIR", "LOGDIR")}
        run("ovsdb-tool", "create", str(self.folder / "conf.db"), _SCHEMA)
        self.start_database()
        self.vsctl("init")
        self.start_datapath()
        settings = ["datapath_type=netdev", "protocols=OpenFlow13", "fail_mode=secure"]
        settings += [f"other-config:datapath-id={number:016x}", "other-config:disable-in-band=true"]
        self.vsctl("add-br", name, "--", "set", "bridge", name, *settings)

    def start_database(self) -> None:
        """Starts OVSDB."""
        self.database_process = self.namespace.start(
            "ovsdb-server",
            str(self.folder / "conf.db"),
            f"--remote=punix:{self.database}",
            "--remote=db:Open_vSwitch,Open_vSwitch,manager_options",
            f"--unixctl={self.folder}/ovsdb.ctl",
            log=self.folder / "ovsdb.log",
            environment=self._environment,
        )
        wait_for(self.database)

    def start_datapath(self) -> None:
        """Starts the switch itself."""
        self.datapath_process = self.namespace.start(
            "ovs-vswitchd",
            f"unix:{self.database}",
            f"--unixctl={self.folder}/vswitchd.ctl",
            "--pidfile",
            log=self.folder / "vswitchd.log",
            environment=self._environment,
        )
        wait_for(self.folder / "vswitchd.ctl")

    def vsctl(self, *arguments: str) -> str:
        """Runs ovs-vsctl."""
        return run("ovs-vsctl", "--timeout=10", f"--db=unix:{self.database}", *self._no_wait(arguments), *arguments)

    @staticmethod
    def _no_wait(arguments: tuple[str, ...]) -> list[str]:
        return ["--no-wait"] if arguments == ("init",) else []

    def ofctl(self, *arguments: str) -> str:
        """Runs ovs-ofctl on the bridge: a command, and the arguments after the bridge's name."""
        command, *rest = arguments
        return run("ovs-ofctl", "-O", "OpenFlow13", command, f"unix:{self.folder}/{self.name}.mgmt", *rest)

    def plug(self, port: str, namespace: Namespace, device: str) -> None:
        """Lays a cable from a new port to a new device in another namespace."""
        _pair(self.namespace, port, namespace, device)
        self.vsctl("add-port", self.name, port)

    def connect(self, other: "OpenVSwitch", port: str, other_port: str) -> None:
        """Lays a cable to another switch."""
        self.plug(port, other.namespace, other_port)
        other.vsctl("add-port", other.name, other_port)

    def attach(self, host: Namespace, address: str) -> Host:
        """Connects a host by a port with the host's name."""
        self.plug(host.name, host, "eth0")
        host.run("ip", "address", "add", f"{address}/16", "dev", "eth0")
        return Host(host, address)

    def stop(self) -> None:
        """Ends both programs."""
        for process in (self.datapath_process, self.database_process):
            process.terminate()
        for process in (self.datapath_process, self.database_process):
            process.wait()


def control_address(switch: OpenVSwitch) -> str:
    """A switch's address on its cable to the controller."""
    return f"10.255.{switch.datapath_id}.2"


def connect_control(switch: OpenVSwitch) -> str:
    """Lays a cable from this namespace, where the controller runs, and gives this end's address."""
    near, device = f"10.255.{switch.datapath_id}.1", f"to-{switch.name}"
    run("ip", "link", "add", device, "type", "veth", "peer", "name", "control", "netns", switch.name)
    run("ip", "address", "add", f"{near}/30", "dev", device)
    run("ip", "link", "set", device, "up")
    switch.namespace.run("ip", "address", "add", f"{control_address(switch)}/30", "dev", "control")
    switch.namespace.run("ip", "link", "set", "control", "up")
    return near
