/** Numbers with a fixed precision, and a dash for what was not measured. */

import type { Measured } from "./read.ts";

export const ABSENT = "–";
const MINUS = "\u2212";

const signed = (digits: string): string => digits.replace("-", MINUS);

/** Digits in groups of three, separated by a thin space (ISO 80000-1). */
const grouped = (digits: string): string => digits.replace(/\B(?=(\d{3})+(?!\d))/g, "\u2009");

/** A whole number: packets, marks. */
export function count(value: Measured): string {
  return value === null ? ABSENT : signed(grouped(Math.round(value).toString()));
}

/** A figure with three significant digits and its whole integer part: 0.00123, 12.3, 1 234. */
export function figure(value: Measured): string {
  if (value === null) return ABSENT;
  if (value === 0) return "0";
  // Rounded first: 9.999 has as many decimals as 10.0.
  const size = Math.abs(Number(value.toPrecision(3)));
  if (size < 0.001) return signed(value.toExponential(1));
  const decimals = Math.max(0, 2 - Math.floor(Math.log10(size)));
  const [whole = "", fraction] = value.toFixed(decimals).split(".");
  return signed(grouped(whole) + (fraction ? `.${fraction}` : ""));
}

/** A figure with a fixed number of decimals, so that a column lines up at its point. */
export function fixed(decimals: number): (value: Measured) => string {
  return (value) => {
    if (value === null) return ABSENT;
    const [whole = "", fraction] = value.toFixed(decimals).split(".");
    return signed(grouped(whole) + (fraction ? `.${fraction}` : ""));
  };
}

/** A share as a percentage without the sign, which is in the column's heading. */
export function percent(decimals: number): (value: Measured) => string {
  const write = fixed(decimals);
  return (value) => write(value === null ? null : value * 100);
}

/** A figure and its unit, separated by a non-breaking space; a dash has no unit. */
export function withUnit(written: string, unit: string): string {
  return written === ABSENT ? ABSENT : `${written}\u00a0${unit}`;
}

/** The shortest form of a number that is exact to six digits: 20, 0.5, 1 500. For ticks and for values of the scenario. */
export function plain(value: Measured): string {
  if (value === null) return ABSENT;
  const [whole = "", fraction] = String(Number(value.toPrecision(6))).split(".");
  return signed(grouped(whole) + (fraction ? `.${fraction}` : ""));
}

/** Places of the grid on a logarithmic axis: 1 to 9 times every power of ten that lies within. */
export function logSplits(min: number, max: number): number[] {
  const splits: number[] = [];
  for (let power = Math.floor(Math.log10(min)); power <= Math.log10(max); power++) {
    for (let mantissa = 1; mantissa < 10; mantissa++) {
      const split = Number(`${mantissa}e${power}`);
      if (split >= min && split <= max) splits.push(split);
    }
  }
  return splits;
}

/** Tick labels of a logarithmic axis: the fewer decades it has, the more of each are written. */
export function logTick(value: number, decades: number): string {
  const power = Math.floor(Math.log10(value) + 1e-9);
  const mantissa = Math.round(value / 10 ** power);
  const shown = decades > 3 ? [1] : decades > 1.5 ? [1, 3] : [1, 2, 3, 5, 7];
  return shown.includes(mantissa) ? String(Number(value.toPrecision(3))) : "";
}
