import fc from "fast-check";
import { expect, test } from "vitest";
import { decimate, envelope, visible } from "../src/decimate.ts";

const values = fc.array(fc.option(fc.integer({ min: -1000, max: 1000 })), { minLength: 1, maxLength: 400 });
const buckets = fc.integer({ min: 1, max: 50 });
const axis = (length: number): number[] => Array.from({ length }, (_, index) => index / 10);

test("a line keeps its extremes, its order and no more than two points a run", () => {
  fc.assert(
    fc.property(values, buckets, (y, most) => {
      const points = decimate(axis(y.length), y, [0, y.length - 1], most);
      const kept = points.flatMap(([, value]) => value ?? []);
      const all = y.flatMap((value) => value ?? []);
      expect(points.length).toBeLessThanOrEqual(2 * most);
      expect([Math.min(...kept), Math.max(...kept)]).toEqual([Math.min(...all), Math.max(...all)]);
      const times = points.map(([x]) => x);
      expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
      // Nothing is made up: every point is one of the line's.
      for (const [x, value] of points) if (value !== null) expect(y[Math.round(x * 10)]).toBe(value);
    }),
  );
});

test("a line with few points is as it was, gaps and all", () => {
  expect(decimate([1, 2, 3, 4], [5, null, 7, 6], [0, 3], 4)).toEqual([[1, 5], [2, null], [3, 7], [4, 6]]);
});

test("a band holds all that lies between its edges", () => {
  fc.assert(
    fc.property(values, buckets, (low, most) => {
      const high = low.map((value) => (value === null ? null : value + 10));
      const stripes = envelope(axis(low.length), low, high, [0, low.length - 1], most);
      const all = low.flatMap((value) => value ?? []);
      const lows = stripes.flatMap(([, edge]) => edge ?? []);
      const highs = stripes.flatMap(([, , edge]) => edge ?? []);
      expect(stripes.length).toBeLessThanOrEqual(most);
      expect([Math.min(...lows), Math.max(...highs)]).toEqual([Math.min(...all), all.length === 0 ? -Infinity : Math.max(...all) + 10]);
    }),
  );
});

test("what is visible reaches beyond both ends of the range, so that lines leave the plot", () => {
  const x = axis(101);
  expect(visible(x, [2, 3])).toEqual([20, 30]);
  expect(visible(x, [2.05, 2.95])).toEqual([20, 30]);
  expect(visible(x, [-5, 50])).toEqual([0, 100]);
  expect(visible(x, [60, 70])).toEqual([100, 100]);
});
