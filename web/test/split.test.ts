import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { routed } from "../sample/sample.js";
import { parse, type Split } from "../src/report.ts";
import { mean, PARTS, partsOf, ticks, total } from "../src/split.ts";

const split = (propagation: number | null, queuing: number | null, scheduling: number | null, harq: number | null): Split => ({
  propagation,
  router: 0,
  cu: 0,
  queuing,
  scheduling,
  harq,
  rlc: 0,
  reordering: 0,
});

test("the parts are all of a packet's way, each once", () => {
  expect(PARTS.map(({ key }) => key)).toEqual(["propagation", "router", "cu", "queuing", "scheduling", "harq", "rlc", "reordering"]);
});

test("the bar's parts sum to the mean one-way delay, also over routers", () => {
  const { flows } = parse(JSON.stringify(routed()));
  const parts = partsOf(flows);
  expect(flows.map((flow) => flow.split_ms.router)).toEqual([5.6, 18.3, 0]);
  for (const { split_ms, owd_ms } of flows) {
    expect(parts.reduce((sum, { key }) => sum + (split_ms[key] ?? 0), 0)).toBeCloseTo(owd_ms.mean ?? Number.NaN, 6);
    expect(total(split_ms)).toBeCloseTo(owd_ms.mean ?? Number.NaN, 6);
  }
});

test("routers are no part where a run has none", () => {
  const { flows } = parse(JSON.stringify(routed()));
  expect(partsOf(flows)).toEqual(PARTS);
  expect(partsOf(flows.slice(2)).map(({ key }) => key)).not.toContain("router");
});

test("the total is the sum, and absent where a part is", () => {
  expect(total(split(19, 8.5, 2, 0.5))).toBe(30);
  expect(total(split(0, 0, 0, 0))).toBe(0);
  expect(total(split(19, null, 2, 0.5))).toBeNull();
});

test("the mean is over the whole ones only", () => {
  expect(mean([split(10, 4, 2, 0), split(20, 8, 4, 1), split(900, null, 900, 900)])).toEqual(split(15, 6, 3, 0.5));
  expect(Object.values(mean([]))).toEqual(Array(8).fill(null));
  expect(total(mean([split(1, null, 1, 1)]))).toBeNull();
});

describe("ticks", () => {
  test.each([
    [30, [0, 5, 10, 15, 20, 25, 30]],
    [31, [0, 10, 20, 30]],
    [100, [0, 20, 40, 60, 80, 100]],
    [0.6, [0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]],
    [7, [0, 2, 4, 6]],
    [0, [0]],
    [Number.NaN, [0]],
  ])("to %d", (max, expected) => expect(ticks(max)).toEqual(expected));

  test("are few, round, and end within one step of the largest", () => {
    fc.assert(
      fc.property(fc.double({ min: 1e-3, max: 1e6, noNaN: true }), (max) => {
        const all = ticks(max);
        const step = all[1] as number;
        expect(all.length).toBeGreaterThanOrEqual(3);
        expect(all.length).toBeLessThanOrEqual(7);
        expect(step.toExponential(0)).toMatch(/^[125]e/);
        expect(all.at(-1)).toBeLessThanOrEqual(max * (1 + 1e-5));
        expect(max - (all.at(-1) as number)).toBeLessThan(step * (1 + 1e-5));
      }),
    );
  });
});
