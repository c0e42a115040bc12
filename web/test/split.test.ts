import { expect, test } from "vitest";
import { routed, sample } from "../sample/sample.js";
import { Ensemble } from "../src/ensemble.ts";
import { parse, type Split } from "../src/report.ts";
import { barsOf, mean, PARTS, partsOf, total } from "../src/split.ts";

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

test("a part that no flow has is not shown", () => {
  const { flows } = parse(JSON.stringify(routed()));
  expect(partsOf(flows).map(({ key }) => key)).toContain("router");
  expect(partsOf(flows.slice(2)).map(({ key }) => key)).not.toContain("router");
  expect(partsOf(flows).map(({ key }) => key)).not.toContain("cu");
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

test("of many flows the means of groups come first, then the longest bars, and what was not measured has none", () => {
  const run = sample(64);
  const { flows } = parse(JSON.stringify({ ...run, flows: run.flows.map((flow, i) => (i === 5 ? { ...flow, split_ms: null } : flow)) }));
  const ensemble = new Ensemble("flow", flows.map(({ name }) => name), [{ label: "controller", of: flows.map(({ controller }) => controller) }], []);
  const bars = barsOf(flows, ensemble, 12);
  expect(bars.slice(0, 3).map(({ name }) => name)).toEqual(["bbr, mean", "cubic, mean", "prague, mean"]);
  const sums = flows.flatMap(({ split_ms }) => total(split_ms) ?? []).sort((a, b) => b - a);
  expect(bars.slice(3).map(({ sum }) => sum)).toEqual(sums.slice(0, 12));
  expect(barsOf(flows, ensemble, 64)).toHaveLength(3 + 63);
});
