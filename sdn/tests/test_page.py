"""The page of the network: what it shows, who may ask, and the report of a run."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from tests.test_config import LEAST
from tidemark_sdn.config import ConfigError, parse
from tidemark_sdn.page import page, write_run_report
from tidemark_sdn.panels import PLOTS, Picture
from tidemark_sdn.panels import page as page_of
from tidemark_sdn.statistics import SERIES_COLUMNS
from tidemark_sdn.web import WebServer

STATUS: dict[str, Any] = {
    "mode": "sound",
    "started": 0.0,
    "uptime": 12.0,
    "switches": [
        {"name": "s1", "datapath_id": "0" * 15 + "1", "connected": True, "agent": True},
        {"name": "<s2>", "datapath_id": "0" * 15 + "2", "connected": True, "agent": False},
    ],
    "links": [
        {"from": "s1 line", "to": "<s2> line", "load": 0.93},
        {"from": "<s2> line", "to": "s1 line", "load": None},
    ],
    "hosts": {},
    "queues": [
        {
            "switch": "s1",
            "port": "line",
            "queue": "l4s",
            "congested": False,
            "backlog_bytes": 1500,
            "delay": 0.0006,
            "rate": 2e7,
            "overflowed": 3,
            "sent_packets": 5,
            "size": 100_000,
            "traffic": {"packets": 10, "came_marked": 0, "ramp_marked": 4, "coupled_marked": 2, "dropped": 0},
        },
        {"switch": "s1", "port": "line", "queue": "classic", "congested": True},
    ],
    "flows": [{"from": "10.0.1.1:1", "to": "10.0.0.1:2", "protocol": 6, "kind": "classic", "path": ["s1 line"]}],
    "counters": {"rerouted": 1},
    "events": [{"at": 1.5, "what": "port s1 <line> is down"}],
}


def test_the_page_shows_links_queues_flows_and_events() -> None:
    text = page(STATUS)
    # A switch without its agent is drawn as one that is gone; a link has the load of its fuller direction.
    switches = '[{"name":"s1","connected":true},{"name":"\\u003cs2>","connected":false}]'
    assert f'"topology":{{"switches":{switches},"links":[{{"ends":[1,0],"load":0.93}}]}}' in text
    cells = ("20 Mbit/s", "1500", "600 us", "10", "6", "3", "no")
    assert "<td>s1 line l4s</td>" + "".join(f"<td>{cell}</td>" for cell in cells) in text
    assert "10.0.1.1:1 to 10.0.0.1:2" in text
    # What a switch or a host calls itself is text, not markup.
    assert "&lt;s2&gt;" in text
    assert "<s2>" not in text
    assert "<line>" not in text


def test_a_network_without_anything_has_a_page() -> None:
    empty: dict[str, Any] = {name: [] for name in ("switches", "links", "queues", "flows", "events")}
    assert "<h2>Flows</h2><p>None.</p>" in page(STATUS | empty | {"counters": {}})


def test_a_run_has_a_report_with_its_series(tmp_path: Path) -> None:
    row = ["0.1", "s1", "line", "l4s", "1500", "0.0006", *["0"] * 9, "0.1", "0.0025"]
    assert len(row) == len(SERIES_COLUMNS)
    (tmp_path / "series.csv").write_text(",".join(SERIES_COLUMNS) + "\n" + ",".join(row) + "\n", encoding="utf-8")
    text = write_run_report(tmp_path, STATUS).read_text(encoding="utf-8")
    assert '"queues":["s1 line l4s"]' in text
    # 0.6 ms of queue, and the coupled probability of an L4S packet.
    assert '"t_s":[0.1],"rows":[[0.6]]' in text
    assert '"rows":[[10.0]]' in text


def test_a_queue_goes_on_from_its_last_point_and_ends_no_script() -> None:
    picture = Picture("Delay", "ms", {"<l4s>": [(0.0, 1.0), (2.0, 3.0)], "classic": [(1.0, 2.0)]})
    text = page_of("a & b", f"<h1>A</h1>{PLOTS}", [picture])
    assert '"queues":["\\u003cl4s>","classic"]' in text
    assert '"t_s":[0.0,1.0,2.0],"rows":[[1.0,1.0,3.0],[null,2.0,2.0]]' in text
    assert "<title>a &amp; b</title>" in text


def test_a_package_without_the_built_page_has_one_without_drawings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tidemark_sdn.panels.files", lambda _: Path("/nowhere"))
    assert "There are no drawings" in page_of("a", f"<h1>A</h1>{PLOTS}")
    assert "There are no drawings" in page(STATUS)


def ask(request: str) -> str:
    """The answer to a request."""
    return WebServer(lambda: STATUS)._answer(request).decode()


def test_it_is_read_only_and_for_this_machine_only() -> None:
    live = ask("GET / HTTP/1.1\r\nHost: 127.0.0.1:8090\r\n\r\n")
    assert live.startswith("HTTP/1.1 200")
    assert "\r\nRefresh: 2\r\n" in live
    assert ask("GET /metrics HTTP/1.1\r\nHost: localhost:8090\r\n\r\n").count("tidemark_sdn_link_load_ratio{") == 1
    assert ask("GET /other HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 404")
    assert ask("POST / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n").startswith("HTTP/1.1 405")
    assert ask("GET / HTTP/1.1\r\nHost: example.org\r\n\r\n").startswith("HTTP/1.1 403")
    assert parse('page = "127.0.0.1:8090"\n' + LEAST).page == "127.0.0.1:8090"
    with pytest.raises(ConfigError, match="not a loopback address"):
        parse('page = "0.0.0.0:8090"\n' + LEAST)


def test_it_answers_over_a_socket_and_survives_nonsense() -> None:
    async def test() -> None:
        server = WebServer(lambda: STATUS)
        await server.start("127.0.0.1:0")
        assert server._server is not None
        port = server._server.sockets[0].getsockname()[1]
        for sent, expected in ((b"\xff\r\n\r\n", b"405"), (b"x" * 9000, b""), (b"GET / HTTP/1.1\r\n\r\n", b"200 OK")):
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.write(sent)
            writer.write_eof()
            answer = b""
            try:
                answer = await reader.read()
            except ConnectionError:
                assert not expected
            assert expected in answer
            writer.close()
        server.stop()

    asyncio.run(test())
