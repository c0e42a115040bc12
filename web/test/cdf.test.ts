import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { cdfRows, fractionAt, grid, tailRows } from "../src/cdf.ts";
import type { Cdf } from "../src/report.ts";

/** A rising distribution over whole milliseconds. */
const cdfs = fc.array(fc.tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 0, max: 1000 })), { minLength: 1, maxLength: 30 }).map((points): Cdf => {
  const delays = points.map(([delay]) => delay).sort((a, b) => a - b);
  const fractions = points.map(([, fraction]) => fraction / 1000).sort((a, b) => a - b);
  return delays.map((delay, i) => [delay, i === delays.length - 1 ? 1 : (fractions[i] as number)]);
});

describe("grid", () => {
  test("reaches from the least to the largest delay of all, in equal ratios", () => {
    const delays = grid([[[2, 0], [50, 1]], [[8, 0], [200, 1]], []]);
    expect(delays[0]).toBe(2);
    expect(delays.at(-1)).toBe(200);
    const ratio = (200 / 2) ** (1 / (delays.length - 1));
    delays.slice(1).forEach((delay, i) => expect(delay / (delays[i] as number)).toBeCloseTo(ratio, 9));
  });

  test("has room around a single delay, and none without any", () => {
    const delays = grid([[[10, 1]]]);
    expect([delays[0], delays.at(-1)]).toEqual([5, 20]);
    expect(grid([])).toEqual([]);
    expect(grid([[], [[0, 1]]])).toEqual([]);
  });

  test("leaves out a delay of zero, which a logarithmic axis has no place for", () => {
    expect(grid([[[0, 0.5], [1, 0.8], [4, 1]]])[0]).toBe(1);
  });
});

describe("fractionAt", () => {
  const cdf: Cdf = [[10, 0], [20, 0.5], [40, 1]];

  test("is on the straight line between two points", () => {
    expect([5, 10, 15, 20, 30, 40, 99].map((delay) => fractionAt(cdf, delay))).toEqual([0, 0, 0.25, 0.5, 0.75, 1, 1]);
  });

  test("at a step is the upper end: at most this delay", () => {
    expect(fractionAt([[10, 0], [10, 0.9], [20, 1]], 10)).toBe(0.9);
    expect(fractionAt([[10, 1]], 10)).toBe(1);
    expect(fractionAt([[10, 1]], 9.99)).toBe(0);
  });

  test("never falls, and goes through every point where the delay moves on", () => {
    fc.assert(
      fc.property(cdfs, (cdf) => {
        let last = 0;
        for (let delay = 0; delay <= 510; delay += 5) {
          const fraction = fractionAt(cdf, delay);
          expect(fraction).toBeGreaterThanOrEqual(last);
          expect(fraction).toBeLessThanOrEqual(1);
          last = fraction;
        }
        cdf.forEach(([delay, fraction], i) => {
          if (cdf[i + 1]?.[0] !== delay) expect(fractionAt(cdf, delay)).toBeCloseTo(fraction, 12);
        });
      }),
    );
  });
});

test("a flow without packets has no distribution", () => {
  expect(cdfRows([[[1, 0], [3, 1]], []], [1, 2, 3])).toEqual([[0, 0.5, 1], [null, null, null]]);
});

test("a tail is what is above, down to where the samples end", () => {
  expect(tailRows([[0, 0.75, 0.998, 0.9995, 1, null]], 1e-3)[0]).toEqual([1, 0.25, expect.closeTo(0.002, 12), null, null, null]);
});
