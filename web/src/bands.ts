/** Percentiles across many entities, one column at a time. */

import type { Measured, Rows } from "./read.ts";

export interface Band {
  min: Measured[];
  p10: Measured[];
  median: Measured[];
  p90: Measured[];
  max: Measured[];
}

/** Quantile `p` by linear interpolation; `sorted` must not be empty. */
export function quantile(sorted: ArrayLike<number>, p: number): number {
  const place = p * (sorted.length - 1);
  const below = Math.floor(place);
  const low = sorted[below] as number;
  const high = sorted[Math.min(below + 1, sorted.length - 1)] as number;
  return low + (high - low) * (place - below);
}

/** The spread of the members' values in every column; a column without values has no band. */
export function band(rows: Rows, members: number[], columns: number): Band {
  const result: Band = { min: [], p10: [], median: [], p90: [], max: [] };
  // With 500 members a new list for each column is too slow: this one is reused.
  const all = new Float64Array(members.length);
  for (let column = 0; column < columns; column++) {
    let measured = 0;
    for (const member of members) {
      const value = rows[member]?.[column];
      if (value != null) all[measured++] = value;
    }
    const values = all.subarray(0, measured).sort();
    const at = (p: number): Measured => (values.length === 0 ? null : quantile(values, p));
    result.min.push(at(0));
    result.p10.push(at(0.1));
    result.median.push(at(0.5));
    result.p90.push(at(0.9));
    result.max.push(at(1));
  }
  return result;
}

/** The entity whose value in this column is nearest to `value`. */
export function nearest(rows: Rows, column: number, value: number): number | null {
  let found: number | null = null;
  let distance = Infinity;
  rows.forEach((row, entity) => {
    const there = row[column];
    if (there != null && Math.abs(there - value) < distance) {
      distance = Math.abs(there - value);
      found = entity;
    }
  });
  return found;
}

export function anyMeasured(rows: Rows): boolean {
  return rows.some((row) => row.some((value) => value !== null));
}
