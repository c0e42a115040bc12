/** Delay distributions on one logarithmic grid, so that flows can be compared and grouped at every delay. */

import { bisector } from "d3-array";
import type { Measured, Rows } from "./read.ts";
import type { Cdf } from "./report.ts";

/** Number of points per decade that gives a smooth line; the ends are those of the data. */
const GRID = 400;

/** Delays from the least to the largest of all distributions, evenly spaced on a logarithmic axis. */
export function grid(cdfs: Cdf[]): number[] {
  const delays = cdfs.flatMap((cdf) => cdf.map(([delay]) => delay)).filter((delay) => delay > 0);
  if (delays.length === 0) return [];
  let low = Infinity;
  let high = 0;
  for (const delay of delays) {
    low = Math.min(low, delay);
    high = Math.max(high, delay);
  }
  if (low === high) [low, high] = [low / 2, high * 2];
  const [start, end] = [Math.log(low), Math.log(high)];
  const points = Array.from({ length: GRID }, (_, i) => Math.exp(start + ((end - start) * i) / (GRID - 1)));
  points[0] = low;
  points[GRID - 1] = high;
  return points;
}

const byDelay = bisector<[number, number], number>(([delay]) => delay);

/** The fraction of packets with at most this delay, interpolated linearly between two points. */
export function fractionAt(cdf: Cdf, delay: number): number {
  const above = byDelay.right(cdf, delay);
  if (above === 0) return 0;
  if (above === cdf.length) return cdf.at(-1)?.[1] ?? 0;
  const [lowDelay, low] = cdf[above - 1] as [number, number];
  const [highDelay, high] = cdf[above] as [number, number];
  return low + ((high - low) * (delay - lowDelay)) / (highDelay - lowDelay);
}

/** One row for each flow; a flow without packets has no distribution, which differs from one with no packet in time. */
export function cdfRows(cdfs: Cdf[], delays: number[]): Rows {
  return cdfs.map((cdf) => delays.map((delay) => (cdf.length === 0 ? null : fractionAt(cdf, delay))));
}

/** The share of packets with a longer delay, down to `floor`, below which there are too few samples. */
export function tailRows(rows: Rows, floor: number): Rows {
  const tail = (value: Measured): Measured => (value === null || 1 - value < floor ? null : 1 - value);
  return rows.map((row) => row.map(tail));
}
