import { type Axis, axisBottom, axisLeft } from "d3-axis";
import { select } from "d3-selection";
import { useLayoutEffect, useRef } from "preact/hooks";
import { plain } from "../format.ts";
import type { Frame, Scale } from "../picture.ts";

const GAP = 5;
/** Approximate pixels from one tick to the next. */
const STEP = { across: 80, up: 32 };

interface Props {
  frame: Frame;
  xLabel: string;
  yLabel: string;
  /** Positions on the horizontal axis with their names, if it does not show numbers. */
  named?: [number, string][];
}

/** The axes of a plot with their labels, and the grid. */
export function Axes({ frame: { x, y, width, height }, xLabel, yLabel, named }: Props) {
  const [bottom, left] = [useRef<SVGGElement>(null), useRef<SVGGElement>(null)];
  useLayoutEffect(() => {
    const below = named ? withNames(axisBottom<number>(x), named) : labelled(axisBottom<number>(x), x, width / STEP.across);
    const across = below.tickSize(-height).tickPadding(GAP);
    const up = labelled(axisLeft<number>(y), y, height / STEP.up).tickSize(-width).tickPadding(GAP);
    select(bottom.current as SVGGElement).call(across).attr("font-size", null).attr("font-family", null);
    select(left.current as SVGGElement).call(up).attr("font-size", null).attr("font-family", null);
  });
  return (
    <>
      <g class="axis" ref={bottom} transform={`translate(0,${height})`} />
      <g class="axis" ref={left} />
      <text class="label" text-anchor="middle" x={width / 2} y={height + 31}>
        {xLabel}
      </text>
      <text class="label" text-anchor="middle" transform={`translate(-38,${height / 2}) rotate(-90)`}>
        {yLabel}
      </text>
    </>
  );
}

/** Approximate width of a letter, and the smallest gap between names, in pixels. */
const [LETTER, BETWEEN] = [6.5, 8];

/** Gives positions their names, as many as fit beside each other. */
function withNames(axis: Axis<number>, named: [number, string][]): Axis<number> {
  const x = axis.scale<Scale>();
  let end = -Infinity;
  const shown = new Map<number, string>();
  for (const [value, name] of named.toSorted(([a], [b]) => a - b)) {
    const half = (LETTER * name.length) / 2;
    if (x(value) - half < end + BETWEEN) continue;
    shown.set(value, name);
    end = x(value) + half;
  }
  return axis.tickValues(named.map(([value]) => value)).tickFormat((value) => shown.get(value) ?? "");
}

const LOGARITHMIC = "~g";

function labelled<A extends { ticks(...of: [number, string?]): A; tickFormat(format: (value: number) => string): A }>(axis: A, scale: Scale, count: number): A {
  return "base" in scale ? axis.ticks(Math.max(3, count), LOGARITHMIC) : axis.ticks(Math.max(2, count)).tickFormat(plain);
}
