import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { anyMeasured, band, nearest, quantile } from "../src/bands.ts";

const numbers = fc.array(fc.integer({ min: -1000, max: 1000 }), { minLength: 1, maxLength: 80 });

describe("quantile", () => {
  test("lies between the two nearest", () => {
    // 0 to 10: the share p lies at 10 p.
    const ramp = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10];
    expect([0, 0.1, 0.25, 0.5, 0.99, 1].map((p) => quantile(ramp, p))).toEqual([0, 1, 2.5, 5, 9.9, 10]);
    expect(quantile([7], 0.3)).toBe(7);
    expect(quantile([2, 4], 0.5)).toBe(3);
  });

  test("leaves its share of the values on each side", () => {
    fc.assert(
      fc.property(numbers, fc.double({ min: 0, max: 1, noNaN: true }), (values, p) => {
        const q = quantile(values.sort((a, b) => a - b), p);
        const n = values.length - 1;
        expect(values.filter((value) => value < q - 1e-9).length).toBeLessThanOrEqual(Math.floor(p * n + 1e-9) + 1);
        expect(values.filter((value) => value > q + 1e-9).length).toBeLessThanOrEqual(n - Math.floor(p * n));
      }),
    );
  });
});

describe("band", () => {
  const rows = [[1, null, 5], [3, null, null], [100, 100, 100], [2, null, 7]];

  test("spans its members only, and what they measured", () => {
    const spread = band(rows, [0, 1, 3], 3);
    expect(spread.min).toEqual([1, null, 5]);
    expect(spread.median).toEqual([2, null, 6]);
    expect(spread.max).toEqual([3, null, 7]);
    // Of 1, 2, 3: a tenth of the way over two steps is 1.2 and 2.8.
    expect(spread.p10[0]).toBeCloseTo(1.2, 12);
    expect(spread.p90[0]).toBeCloseTo(2.8, 12);
  });

  test("of nobody is nothing", () => {
    expect(band(rows, [], 2).median).toEqual([null, null]);
    expect(band(rows, [9], 1).max).toEqual([null]);
  });

  test("a zero is a value", () => {
    expect(band([[0], [4]], [0, 1], 1)).toMatchObject({ min: [0], median: [2], max: [4] });
  });

  test("its edges do not cross, in whatever order the members come", () => {
    fc.assert(
      fc.property(numbers, (values) => {
        const column = values.map((value) => [value]);
        const members = values.map((_, index) => index);
        const { min, p10, median, p90, max } = band(column, members, 1);
        const edges = [min, p10, median, p90, max].map((edge) => edge[0] as number);
        expect(edges).toEqual([...edges].sort((a, b) => a - b));
        expect([edges[0], edges[4]]).toEqual([Math.min(...values), Math.max(...values)]);
        expect(band(column, members.reverse(), 1).p90).toEqual(p90);
      }),
    );
  });
});

test("nearest is the row at the least distance that has a value", () => {
  const rows = [[10, null], [20, 5], [null, 90]];
  expect(nearest(rows, 0, 14)).toBe(0);
  expect(nearest(rows, 0, 16)).toBe(1);
  expect(nearest(rows, 1, 0)).toBe(1);
  expect(nearest(rows, 1, 1000)).toBe(2);
  expect(nearest(rows, 7, 1)).toBeNull();
  expect(nearest([], 0, 1)).toBeNull();
});

test("something measured is more than gaps", () => {
  expect(anyMeasured([[null], [null, null]])).toBe(false);
  expect(anyMeasured([[null], [null, 0]])).toBe(true);
});
