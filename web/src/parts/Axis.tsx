import { axisBottom, axisLeft } from "d3-axis";
import { select } from "d3-selection";
import { useLayoutEffect, useRef } from "preact/hooks";
import { plain } from "../format.ts";
import type { Frame, Scale } from "../picture.ts";

const GAP = 5;
/** Pixels from one tick to the next, about. */
const STEP = { across: 80, up: 32 };

interface Props {
  frame: Frame;
  xLabel: string;
  yLabel: string;
}

/** The axes of a plot with their labels, and the grid. */
export function Axes({ frame: { x, y, width, height }, xLabel, yLabel }: Props) {
  const [bottom, left] = [useRef<SVGGElement>(null), useRef<SVGGElement>(null)];
  useLayoutEffect(() => {
    const across = labelled(axisBottom<number>(x), x, width / STEP.across).tickSize(-height).tickPadding(GAP);
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

const LOGARITHMIC = "~g";

function labelled<A extends { ticks(...of: [number, string?]): A; tickFormat(format: (value: number) => string): A }>(axis: A, scale: Scale, count: number): A {
  return "base" in scale ? axis.ticks(Math.max(3, count), LOGARITHMIC) : axis.ticks(Math.max(2, count)).tickFormat(plain);
}
