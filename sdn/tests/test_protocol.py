"""The agents' protocol: what is written is read, and nothing else is."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.test_config import JSON
from tidemark_sdn.agent import protocol
from tidemark_sdn.agent.protocol import (
    Describe,
    Marking,
    PortStatistics,
    ProtocolError,
    QueueStatistics,
    RemoveQueue,
    Request,
    SetPort,
    SetQueue,
    Statistics,
    Subscribe,
    TrafficStatistics,
)

REQUESTS = [
    Describe(),
    SetPort("line", 40e6, 46, Marking(39e6, 8e-4, 1.2e-3, 0.015, 0.16, 3.2, 2.0)),
    SetPort("line", 40e6),
    SetQueue("line", "l4s", 36e6, 0, 100_000),
    RemoveQueue("line", "classic"),
    Subscribe(0.1),
]


@pytest.mark.parametrize("request_", REQUESTS)
def test_what_is_written_is_read(request_: Request) -> None:
    assert protocol.decode_request(protocol.encode_request(7, request_)) == (7, request_)


def test_statistics_are_read_as_written() -> None:
    queue = QueueStatistics(1, 2, 3, 4, 5, 0.25, 100)
    traffic = TrafficStatistics(1, 2, 3, 4, 5, 6)
    figures = Statistics(1.5, {"line": PortStatistics(4e7, {"l4s": queue}, {"l4s": traffic}, 0.1, 0.2, 3, 4)})
    assert protocol.decode_as(Statistics, json.loads(json.dumps(asdict(figures))), "statistics") == figures


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (b"{", "not JSON"),
        (b"[]", "not an object"),
        (b'{"describe": {}}', "id: None"),
        (b'{"id": 1}', "one request"),
        (b'{"id": 1, "reboot": {}}', "reboot: unknown request: use describe"),
        (b'{"id": 1, "subscribe": {}}', "subscribe.period: is missing"),
        (b'{"id": 1, "subscribe": {"period": NaN}}', "subscribe.period: nan"),
        (b'{"id": 1, "subscribe": {"period": -1}}', "subscribe.period: -1"),
        (b'{"id": 1, "subscribe": {"period": 1, "now": 1}}', "subscribe.now: unknown field"),
        (b'{"id": 1, "remove_queue": {"port": "p", "queue": "best"}}', "remove_queue.queue: 'best'"),
        (b'{"id": 1, "clear_port": {"port": ""}}', "clear_port.port: ''"),
        (b'{"id": true, "describe": {}}', "id: True"),
        (b"[" * 100_000, "not JSON"),
    ],
)
def test_what_is_wrong_is_named(line: bytes, message: str) -> None:
    with pytest.raises(ProtocolError, match=message):
        protocol.decode_request(line)


@given(st.binary())
def test_no_bytes_get_further_than_an_error(line: bytes) -> None:
    with pytest.raises(ProtocolError):
        protocol.decode_request(line)


@given(st.sampled_from(list(protocol._REQUESTS)), JSON)
def test_no_values_get_further_than_an_error(name: str, value: object) -> None:
    line = json.dumps({"id": 1, name: value}).encode()
    try:
        _, request = protocol.decode_request(line)
    except ProtocolError:
        return
    assert protocol.decode_request(protocol.encode_request(1, request))[1] == request


@given(JSON)
def test_agents_statistics_are_not_believed_either(value: object) -> None:
    with pytest.raises(ProtocolError):
        protocol.decode_as(Statistics, value, "statistics")
