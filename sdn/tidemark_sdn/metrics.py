"""A controller's status as Prometheus metrics (text format 0.0.4)."""

from collections.abc import Iterator
from typing import Any

# Name, type, help, and the key of a queue's status.
_QUEUE = (
    ("backlog_bytes", "gauge", "Bytes in the queue.", "backlog_bytes"),
    ("delay_seconds", "gauge", "Expected wait of a new packet.", "delay"),
    ("size_bytes", "gauge", "Size of the queue.", "size"),
    ("sent_packets_total", "counter", "Packets that left the queue.", "sent_packets"),
    ("overflowed_packets_total", "counter", "Packets dropped because the queue was full.", "overflowed"),
)
_TRAFFIC = (
    ("packets_total", "counter", "Packets that arrived at the queue.", "packets"),
    ("came_marked_packets_total", "counter", "Packets that arrived with CE.", "came_marked"),
    ("ramp_marked_packets_total", "counter", "Packets marked by the ramp.", "ramp_marked"),
    ("coupled_marked_packets_total", "counter", "Packets marked by PI2 or its coupling.", "coupled_marked"),
    ("dropped_packets_total", "counter", "Packets dropped by PI2.", "dropped"),
)


def _label(value: str) -> str:
    return value.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")


def _labels(**values: str) -> str:
    return ",".join(f'{name}="{_label(value)}"' for name, value in values.items())


def exposition(status: dict[str, Any]) -> str:
    """All metrics of a status, without values that were not measured."""
    return "".join(f"{line}\n" for line in _lines(status))


def _lines(status: dict[str, Any]) -> Iterator[str]:
    yield from _family("switch_connected", "gauge", "Whether a switch is connected.")
    for switch in status["switches"]:
        yield f"tidemark_sdn_switch_connected{{{_labels(switch=switch['name'])}}} {int(switch['connected'])}"
    yield from _family("agent_connected", "gauge", "Whether the agent beside a switch is connected.")
    for switch in status["switches"]:
        yield f"tidemark_sdn_agent_connected{{{_labels(switch=switch['name'])}}} {int(switch['agent'])}"
    yield from _family("flows", "gauge", "Flows that have rules.")
    yield f"tidemark_sdn_flows {len(status['flows'])}"
    yield from _family("link_load_ratio", "gauge", "Recently used share of a link's rate.")
    for link in status["links"]:
        if link["load"] is not None:
            yield f"tidemark_sdn_link_load_ratio{{{_labels(link=link['from'], to=link['to'])}}} {link['load']:.6g}"
    queues = [queue for queue in status["queues"] if "traffic" in queue]
    for columns, values in ((_QUEUE, queues), (_TRAFFIC, [queue | queue["traffic"] for queue in queues])):
        for name, kind, text, key in columns:
            yield from _family(f"queue_{name}", kind, text)
            for queue in values:
                labels = _labels(switch=queue["switch"], port=queue["port"], queue=queue["queue"])
                yield f"tidemark_sdn_queue_{name}{{{labels}}} {queue[key]:.9g}"
    yield from _family("events_total", "counter", "Counters of the controller, by kind.")
    for name, count in sorted(status["counters"].items()):
        yield f"tidemark_sdn_events_total{{{_labels(kind=name)}}} {count}"


def _family(name: str, kind: str, text: str) -> Iterator[str]:
    yield f"# HELP tidemark_sdn_{name} {text}"
    yield f"# TYPE tidemark_sdn_{name} {kind}"
