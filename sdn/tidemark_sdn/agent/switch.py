"""The agent's switch in OVSDB: the bridge, its ports, and who manages their queues."""

from dataclasses import dataclass
from typing import Any

from ovsdbapp.backend.ovs_idl import connection
from ovsdbapp.exceptions import OvsdbAppException
from ovsdbapp.schema.open_vswitch import impl_idl

# Marks our rows, so that those of a killed agent are found.
_OWNER = {"owner": "tidemark-sdn"}
_TIMEOUT = 10


class SwitchError(Exception):
    """The switch's database refused a request."""


@dataclass(frozen=True)
class Bridge:
    """A bridge: number, and OpenFlow port numbers by name."""

    datapath_id: int
    datapath_type: str
    ports: dict[str, int]


class SwitchDatabase:
    """OVSDB of one switch."""

    def __init__(self, address: str, bridge: str) -> None:
        self._bridge = bridge
        try:
            idl = connection.OvsdbIdl.from_server(address, "Open_vSwitch")
            self._connection = connection.Connection(idl, timeout=_TIMEOUT)
            self._api = impl_idl.OvsdbIdl(self._connection)
        except Exception as error:  # the library passes exceptions of its streams on
            raise SwitchError(f"{address}: no OVSDB server answers: {error}") from None

    def close(self) -> None:
        """Ends the connection's thread."""
        self._connection.stop()

    def bridge(self) -> Bridge:
        """The current bridge."""
        columns = ["datapath_id", "datapath_type"]
        rows = self._run(self._api.db_find("Bridge", ("name", "=", self._bridge), columns=columns))
        if not rows or not rows[0]["datapath_id"]:
            raise SwitchError(f"there is no bridge {self._bridge!r}, or it is not running: see ovs-vsctl show")
        datapath_id = rows[0]["datapath_id"]
        names = self._run(self._api.list_ifaces(self._bridge))
        interfaces = self._run(self._api.db_list("Interface", columns=["name", "ofport"]))
        ports = {row["name"]: row["ofport"] for row in interfaces if row["name"] in names}
        return Bridge(
            datapath_id=int(datapath_id if isinstance(datapath_id, str) else datapath_id[0], 16),
            datapath_type=rows[0]["datapath_type"] or "system",
            ports={name: number for name, number in ports.items() if isinstance(number, int) and number > 0},
        )

    def claim(self, port: str) -> None:
        """Tells Open vSwitch to leave a port's queues alone, by the type linux-noop, which exists for this."""
        with self._api.transaction(check_error=True) as transaction:
            row = transaction.add(self._api.db_create("QoS", type="linux-noop", external_ids=_OWNER))
            transaction.add(self._api.db_set("Port", port, ("qos", row)))

    def release(self, port: str) -> None:
        """Gives a port's queues back."""
        self._run(self._api.db_clear("Port", port, "qos"))
        self._sweep()

    def claimed(self) -> list[str]:
        """Claimed ports of the bridge, including those of a killed agent."""
        ours = {row["_uuid"] for row in self._owned()}
        names = set(self._run(self._api.list_ports(self._bridge)))
        rows = self._run(self._api.db_list("Port", columns=["name", "qos"]))
        return [row["name"] for row in rows if row["name"] in names and _reference(row["qos"]) in ours]

    def _owned(self) -> list[dict[str, Any]]:
        command = self._api.db_find("QoS", ("external_ids", "=", _OWNER), columns=["_uuid"])
        return list(self._run(command))

    def _sweep(self) -> None:
        """Removes our rows that no port refers to."""
        used = {_reference(row["qos"]) for row in self._run(self._api.db_list("Port", columns=["qos"]))}
        for row in self._owned():
            if row["_uuid"] not in used:
                self._run(self._api.db_destroy("QoS", row["_uuid"]))

    def _run(self, command: Any) -> Any:
        try:
            return command.execute(check_error=True)
        except (OvsdbAppException, RuntimeError, KeyError) as error:
            raise SwitchError(f"OVSDB: {error}") from None


def _reference(value: Any) -> Any:
    """An optional reference of a row, which is a list or a single value."""
    if isinstance(value, list):
        return value[0] if value else None
    return value
