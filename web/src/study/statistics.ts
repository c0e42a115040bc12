/** Intervals over seeds: the same as the command's, by quantiles that it wrote. */

import { deviation, mean } from "d3-array";
import { fixed } from "../format.ts";
import type { Measured } from "../read.ts";

/** Mean over seeds, with the half-width of its 95 % confidence interval; null for one seed, which has no spread. */
export interface Estimate {
  mean: number;
  half: Measured;
}

/** Estimate of the values that were measured; null where none was. `quantiles` are standard errors in the half-width of an interval, by the number of values. */
export function estimate(values: Measured[], quantiles: Measured[]): Estimate | null {
  const known = values.filter((value) => value !== null);
  const centre = mean(known);
  if (centre === undefined) return null;
  if (known.length === 1) return { mean: centre, half: null };
  const error = (deviation(known) ?? 0) / Math.sqrt(known.length);
  return { mean: centre, half: error === 0 ? 0 : error * (quantiles[known.length] ?? Number.NaN) };
}

/** True for a difference that may be zero. */
export const isTie = ({ mean, half }: Estimate): boolean => half !== null && Math.abs(mean) <= half;

export const ends = ({ mean, half }: Estimate): [number, number] => [mean - (half ?? 0), mean + (half ?? 0)];

/** Decimals that show two digits of a number. */
const decimals = (of: number): number => (of > 0 && Number.isFinite(of) ? Math.min(4, Math.max(0, 1 - Math.floor(Math.log10(of)))) : 2);

/** Mean and half-width, with as many decimals as show two digits of the half-width; without one, of a hundredth of the mean. */
export function said(of: Estimate | null): string {
  if (of === null) return fixed(0)(null);
  const show = fixed(decimals(of.half || Math.abs(of.mean) / 100));
  return of.half === null ? show(of.mean) : `${show(of.mean)} ± ${show(of.half)}`;
}
