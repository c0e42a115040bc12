import { expect, test } from "vitest";
import { interval } from "../src/series.ts";

test("the interval is the usual step, whatever the last one is cut to", () => {
  expect(interval([0.1, 0.2, 0.3, 0.35])).toBeCloseTo(0.1, 12);
  expect(interval([1, 2, 3])).toBe(1);
  expect(interval([0.5, 10])).toBe(9.5);
});

test("one interval or none has no step", () => {
  expect(interval([1])).toBeNull();
  expect(interval([])).toBeNull();
});
