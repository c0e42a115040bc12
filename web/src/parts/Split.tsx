import { axisTop } from "d3-axis";
import { scaleBand, scaleLinear } from "d3-scale";
import { select } from "d3-selection";
import { useLayoutEffect, useRef } from "preact/hooks";
import type { Ensemble } from "../ensemble.ts";
import { figure, fixed } from "../format.ts";
import type { Flow } from "../report.ts";
import { type Bar, barsOf, PARTS, partsOf } from "../split.ts";
import { COLUMN } from "../take.tsx";
import { Figure } from "./Figure.tsx";
import { useWidth } from "./useWidth.ts";

/** Number of bars if there are many flows: the longest ones. */
const MOST = 12;
/** Heights of a bar with its gap, of the axis and of the key, in pixels. */
const [BAR, AXIS, KEY] = [20, 24, 16];
const SUM = 44;

/** Parts that the mean one-way delay of each flow is made of. */
export function Split({ flows, ensemble }: { flows: Flow[]; ensemble: Ensemble }) {
  const [host, width] = useWidth<HTMLDivElement>();
  const bars = barsOf(flows, ensemble, MOST);
  if (bars.length === 0) return null;
  const parts = partsOf(flows);
  const heightIn = (width: number): number => AXIS + BAR * bars.length + KEY * keyRows(parts.length, width);
  const cells = () => {
    const all = barsOf(flows, ensemble, flows.length);
    return [["flow", ...parts.map(({ name }) => `${name} (ms)`)], ...all.map(({ name, split }) => [name, ...parts.map(({ key }) => split[key] ?? "")])];
  };
  const draw = (width: number) => <Bars bars={bars} parts={parts} width={width} height={heightIn(width)} />;
  const said = bars.map(({ name, sum }) => `${name} ${fixed(1)(sum)} ms`).join(", ");
  return (
    <Figure id="split" title="Parts of the mean one-way delay (ms)" height={heightIn(COLUMN)} draw={({ width }) => draw(width)} cells={cells}>
      <div ref={host} role="img" aria-label={`Mean one-way delays: ${said}`}>
        {width > 0 && draw(width)}
      </div>
    </Figure>
  );
}

/** Entries of the key beside each other. */
const beside = (width: number): number => Math.max(2, Math.floor(width / 150));
const keyRows = (parts: number, width: number): number => Math.ceil(parts / beside(width));

function Bars({ bars, parts, width, height }: { bars: Bar[]; parts: typeof PARTS; width: number; height: number }) {
  const left = Math.min(180, Math.round(width * 0.28));
  const rows = keyRows(parts.length, width);
  const top = AXIS + KEY * rows;
  const x = scaleLinear([0, Math.max(...bars.map(({ sum }) => sum)) || 1], [left, width - SUM]);
  const y = scaleBand(bars.keys(), [top, height]).paddingInner(0.4).paddingOuter(0.2);
  const axis = useRef<SVGGElement>(null);
  useLayoutEffect(() => {
    select(axis.current as SVGGElement)
      .call(axisTop(x).ticks(Math.max(2, width / 100)).tickSize(-(height - top)).tickPadding(4))
      .attr("font-size", null)
      .attr("font-family", null);
  });
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {parts.map(({ key, name, colour }, index) => (
        <g key={key} transform={`translate(${(index % beside(width)) * (width / beside(width))},${KEY * Math.floor(index / beside(width))})`}>
          <rect width={10} height={10} y={2} fill={colour} />
          <text x={15} y={11}>
            {name}
          </text>
        </g>
      ))}
      <g class="axis" ref={axis} transform={`translate(0,${top})`} />
      {bars.map(({ name, split, sum }, index) => {
        let from = 0;
        return (
          <g key={name} class="bar" transform={`translate(0,${y(index) ?? 0})`}>
            <title>{`${name}: ${parts.map(({ key, name }) => `${name} ${figure(split[key])} ms`).join(", ")}`}</title>
            <text class="name" x={left - 6} y={10} text-anchor="end">
              {short(name, left)}
            </text>
            {parts.map(({ key, colour }) => {
              const start = from;
              from += split[key] ?? 0;
              return split[key] ? <rect key={key} data-part={key} x={x(start)} width={x(from) - x(start)} height={y.bandwidth()} fill={colour} stroke="var(--ground)" stroke-width={0.5} /> : null;
            })}
            <text class="sum" x={x(sum) + 4} y={10}>
              {fixed(1)(sum)}
            </text>
          </g>
        );
      })}
    </svg>
  );
}

/** Name that fits into so many pixels. */
function short(name: string, width: number): string {
  const most = Math.floor(width / 6.5);
  return name.length > most ? `${name.slice(0, most - 1)}…` : name;
}
