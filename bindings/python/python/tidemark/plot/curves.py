"""Curves: series over time, and distributions."""

from matplotlib.axes import Axes

from tidemark.plot.labels import label
from tidemark.plot.style import drawing, styles
from tidemark.result import Result

MARKS_A_CURVE = 8
"""Markers on a curve: enough to tell curves apart, few enough to see their shape."""


def series(result: Result, value: str = "throughput_mbps", *, of: str = "flows", axes: Axes | None = None) -> Axes:
    """Draws a column of a series over time, one curve a flow (or what else `of` names: ues, uplinks, routers, cells).

    >>> import tidemark
    >>> result = tidemark.run("scenarios/first-look.toml", set={"duration": "3 s", "warmup": "1 s"})
    >>> tidemark.plot.series(result, "rtt_ms").get_ylabel()
    'round-trip time (ms)'
    """
    frame = getattr(result.series, of)
    noun = frame.columns[1]
    with drawing(axes) as drawn:
        groups = frame.partition_by(noun, maintain_order=True)
        for index, (group, style) in enumerate(zip(groups, styles(), strict=False)):
            every = max(1, group.height // MARKS_A_CURVE)
            # Markers of curves that lie close stand beside each other.
            first = every * index // len(groups)
            drawn.plot(group["t_s"], group[value], label=group[noun][0], markevery=(first, every), **style)
        drawn.set(xlabel="time (s)", ylabel=label(value), xlim=(0, frame["t_s"].max()))
        drawn.set_ylim(bottom=0)
        if len(groups) > 1:
            drawn.legend()
        return drawn
