/** Picture of means with intervals, as data: over a parameter, or of one metric against another. */

import { extent } from "d3-array";
import { scaleLinear, scaleLog } from "d3-scale";
import { type Frame, type Level, MARGIN } from "../picture.ts";
import type { Entry } from "../take.tsx";
import type { Style } from "./study.ts";

export interface Place {
  x: [low: number, mean: number, high: number];
  y: [low: number, mean: number, high: number];
  isHollow: boolean;
  /** Text at the pointer. */
  title: string;
}

/** Points with one style. */
export interface Trace {
  style: Style;
  places: Place[];
}

export interface Scatter {
  id: string;
  title: string;
  xLabel: string;
  yLabel: string;
  logX: boolean;
  /** Values of the horizontal axis that have names. */
  named?: [number, string][];
  traces: Trace[];
  /** True if lines join the points of a trace. */
  isJoined: boolean;
  /** Pixels from each trace to the next, so that their intervals don't cover each other. */
  apart: number;
  /** Line through the points that no other beats. */
  front: Place[];
  levels: Level[];
  legend: Entry[];
  /** All data, as cells of a table. */
  cells: () => (string | number)[][];
}

/** An axis whose values span more than this is logarithmic. */
const WIDE = 8;

/** True for values that only a logarithmic axis shows. */
export const isWide = (values: number[]): boolean => values.length > 0 && Math.min(...values) > 0 && Math.max(...values) / Math.min(...values) >= WIDE;

/** Room on either side of the values, as a share of their span. */
const ROOM = 0.08;

/** Values from least to largest, with room beside them. */
function padded(values: number[], isLog: boolean): [number, number] {
  const [low = 0, high = 1] = extent(values);
  if (isLog) {
    const room = low === high ? 2 : (high / low) ** ROOM;
    return [low / room, high * room];
  }
  const room = low === high ? 0.1 * (Math.abs(low) || 1) : ROOM * (high - low);
  return [low - room, high + room];
}

/** Scales of a picture in a box of this size. */
export function frameOf({ traces, named, logX, levels }: Scatter, size: { width: number; height: number }): Frame {
  const [width, height] = [size.width - MARGIN.left - MARGIN.right, size.height - MARGIN.top - MARGIN.bottom];
  const places = traces.flatMap((trace) => trace.places);
  const across = [...places.flatMap(({ x }) => x), ...(named ?? []).map(([value]) => value)];
  const x = (logX ? scaleLog() : scaleLinear()).domain(padded(across, logX)).range([0, width]);
  const y = scaleLinear(padded([...places.flatMap(({ y }) => y), ...levels.map(({ value }) => value)], false), [height, 0]);
  return { x, y, range: [0, 0], width, height };
}
