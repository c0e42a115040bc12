/** Lines with no more points than a screen can show: of points that coincide, the lowest and the highest remain. */

import type { Measured } from "./read.ts";

/** Point of a line; a gap has no value. */
export type Point = [x: number, y: Measured];
/** Point of a band: its lower and its upper edge. */
export type Stripe = [x: number, low: number, high: number] | [x: number, low: null, high: null];

/** Indices of the axis from the last one at or before `from` to the first at or after `to`. */
export function visible(x: number[], [from, to]: [number, number]): [first: number, last: number] {
  let first = x.findIndex((value) => value > from) - 1;
  let last = x.findLastIndex((value) => value < to) + 1;
  if (first === -2) first = x.length - 1;
  first = Math.max(0, first);
  last = Math.min(x.length - 1, last);
  return [first, last];
}

/** Splits indices into at most `buckets` runs, each at least one long. */
function* runs([first, last]: [number, number], buckets: number): Generator<[start: number, end: number]> {
  const length = last - first + 1;
  const count = Math.min(length, buckets);
  for (let run = 0; run < count; run++) {
    yield [first + Math.floor((run * length) / count), first + Math.floor(((run + 1) * length) / count)];
  }
}

/** Points of a line between two indices: the lowest and the highest of each of at most `buckets` runs, in their order. */
export function decimate(x: number[], y: Measured[], range: [number, number], buckets: number): Point[] {
  const points: Point[] = [];
  for (const [start, end] of runs(range, buckets)) {
    let [least, largest] = [-1, -1];
    for (let i = start; i < end; i++) {
      const value = y[i];
      if (value == null) continue;
      if (least < 0 || value < (y[least] as number)) least = i;
      if (largest < 0 || value >= (y[largest] as number)) largest = i;
    }
    if (least < 0) points.push([x[start] as number, null]);
    else if (least === largest) points.push([x[least] as number, y[least] as number]);
    else for (const i of [Math.min(least, largest), Math.max(least, largest)]) points.push([x[i] as number, y[i] as number]);
  }
  return points;
}

/** Points of a band between two indices: each of at most `buckets` runs with its lowest and its highest edge. */
export function envelope(x: number[], low: Measured[], high: Measured[], range: [number, number], buckets: number): Stripe[] {
  const stripes: Stripe[] = [];
  for (const [start, end] of runs(range, buckets)) {
    let [least, largest] = [Infinity, -Infinity];
    for (let i = start; i < end; i++) {
      least = Math.min(least, low[i] ?? Infinity);
      largest = Math.max(largest, high[i] ?? -Infinity);
    }
    stripes.push(least <= largest ? [x[start] as number, least, largest] : [x[start] as number, null, null]);
  }
  return stripes;
}
