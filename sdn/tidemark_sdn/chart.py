"""Line charts and bars as SVG."""

from collections.abc import Mapping, Sequence
from html import escape

Points = Sequence[tuple[float, float]]

_WIDTH, _HEIGHT = 760, 260
_LEFT, _RIGHT, _TOP, _BOTTOM = 62, 12, 26, 40
# Okabe and Ito: distinguished by readers who don't see all colours.
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")
# More points than pixels only make the file large.
_MAX_POINTS = 1500


def _ticks(most: float) -> list[float]:
    """Round values from zero to about `most`."""
    step = 10.0 ** (len(f"{int(most)}") - 1) if most >= 1 else 0.1
    while most < step:
        step /= 10
    for factor in (5, 2):
        if most / step < factor:
            step /= 10 / factor if most / step < 2 else 2
            break
    return [step * index for index in range(int(most / step) + 1)]


def line_chart(title: str, x_label: str, y_label: str, lines: Mapping[str, Points]) -> str:
    """One chart with a line for each name; both axes begin at zero."""
    points = [point for line in lines.values() for point in line]
    if not points:
        return ""
    x_most = max(x for x, _ in points) or 1.0
    y_most = max(y for _, y in points) or 1.0
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM

    def place(x: float, y: float) -> tuple[float, float]:
        return _LEFT + x / x_most * wide, _TOP + high - y / y_most * high

    parts = [_frame(title, x_label, y_label)]
    for tick in _ticks(y_most):
        y = place(0, tick)[1]
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    parts += [
        f'<text x="{place(tick, 0)[0]:.1f}" y="{_HEIGHT - 22}" text-anchor="middle">{tick:g}</text>'
        for tick in _ticks(x_most)
    ]
    for index, (name, line) in enumerate(lines.items()):
        colour = COLOURS[index % len(COLOURS)]
        thinned = line[:: max(1, len(line) // _MAX_POINTS)]
        path = "L".join("{:.1f} {:.1f}".format(*place(x, y)) for x, y in thinned)
        if path:
            parts.append(f'<path d="M{path}" fill="none" stroke="{colour}" stroke-width="1.3"/>')
        legend = _LEFT + 130 * index + 190
        parts.append(f'<rect x="{legend}" y="8" width="10" height="10" fill="{colour}"/>')
        parts.append(f'<text x="{legend + 14}" y="17">{escape(name)}</text>')
    return _svg(parts)


def bar_chart(title: str, y_label: str, bars: Sequence[tuple[str, float, str]]) -> str:
    """A bar for each name, with its value and colour."""
    if not bars:
        return ""
    y_most = max(value for _, value, _ in bars) or 1.0
    wide, high = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM
    step = wide / len(bars)
    parts = [_frame(title, "", y_label)]
    for tick in _ticks(y_most):
        y = _TOP + high - tick / y_most * high
        parts.append(f'<path d="M{_LEFT} {y:.1f}H{_WIDTH - _RIGHT}" class="grid"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{y + 4:.1f}" text-anchor="end">{tick:g}</text>')
    for index, (name, value, colour) in enumerate(bars):
        x, tall = _LEFT + step * (index + 0.15), value / y_most * high
        corner = f'x="{x:.1f}" y="{_TOP + high - tall:.1f}"'
        parts.append(f'<rect {corner} width="{step * 0.7:.1f}" height="{tall:.1f}" fill="{colour}"/>')
        middle = x + step * 0.35
        parts.append(f'<text x="{middle:.1f}" y="{_HEIGHT - 22}" text-anchor="middle">{escape(name)}</text>')
    return _svg(parts)


def _frame(title: str, x_label: str, y_label: str) -> str:
    middle = _TOP + (_HEIGHT - _TOP - _BOTTOM) / 2
    return (
        f'<text x="{_LEFT}" y="17" class="title">{escape(title)}</text>'
        f'<text x="{_WIDTH - _RIGHT}" y="{_HEIGHT - 6}" text-anchor="end">{escape(x_label)}</text>'
        f'<text x="14" y="{middle}" text-anchor="middle" transform="rotate(-90 14 {middle})">{escape(y_label)}</text>'
    )


def _svg(parts: list[str]) -> str:
    return f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img">{"".join(parts)}</svg>'
