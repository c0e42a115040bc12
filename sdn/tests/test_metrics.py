"""Prometheus' text format."""

import re

from tidemark_sdn.metrics import exposition

TRAFFIC = {"packets": 10, "bytes": 1, "came_marked": 0, "ramp_marked": 3, "coupled_marked": 4, "dropped": 0}
QUEUE = {"switch": "s1", "port": 'a"b\\', "queue": "l4s", "backlog_bytes": 5, "delay": 0.001, "size": 100}
STATUS = {
    "switches": [{"name": "s1", "connected": True, "agent": False}],
    "links": [{"from": "s1 a", "to": "s2 b", "load": 0.5}, {"from": "s2 b", "to": "s1 a", "load": None}],
    "flows": [{}],
    "queues": [
        QUEUE | {"sent_packets": 7, "overflowed": 0, "traffic": TRAFFIC},
        # A queue of which no agent has reported yet.
        {"switch": "s1", "port": "c", "queue": "l4s", "congested": False},
    ],
    "counters": {"packet_in": 12},
}


def test_every_line_is_one_that_prometheus_reads() -> None:
    text = exposition(STATUS)
    sample = re.compile(r'tidemark_sdn_[a-z0-9_]+(\{([a-z]+="([^"\\\n]|\\.)*",?)+\})? -?[0-9.e+-]+')
    for line in text.splitlines():
        assert line.startswith(("# HELP tidemark_sdn_", "# TYPE tidemark_sdn_")) or sample.fullmatch(line), line
    families = re.findall(r"# TYPE (\S+)", text)
    assert len(families) == len(set(families))


def test_what_was_not_measured_is_absent() -> None:
    text = exposition(STATUS)
    assert r'tidemark_sdn_queue_ramp_marked_packets_total{switch="s1",port="a\"b\\",queue="l4s"} 3' in text
    assert 'port="c"' not in text
    assert 'link="s2 b"' not in text
    assert 'tidemark_sdn_events_total{kind="packet_in"} 12' in text
    assert 'tidemark_sdn_agent_connected{switch="s1"} 0' in text
