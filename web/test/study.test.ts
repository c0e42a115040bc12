import { describe, expect, test } from "vitest";
import { against, tradeOff } from "../src/study/pictures.ts";
import { estimate, said } from "../src/study/statistics.ts";
import { quantity, Study } from "../src/study/study.ts";

/** Quantiles of Student's t at 97.5 % (NIST, Engineering Statistics Handbook 1.3.6.7.2). */
const QUANTILES = [null, null, 12.706, 4.303];

const point = (values: (string | null)[], metrics: (number | null)[][], seeds = [1, 2, 3]) => ({ values, flow: null, seeds, keys: seeds.map(String), set: [], metrics });

/** Two laws over three round-trip times: rates, and delays that the second law has less of. */
const study = new Study({
  name: "made up", description: "", version: "0.1.0", commit: null, columns: ["marker.law", "flow.*.round_trip"], by_flow: false,
  metrics: [{ name: "throughput_mbps", unit: "Mbit/s" }, { name: "owd_ms.p99", unit: "ms" }],
  points: [["none", 100], ["l4span", 10]].flatMap(([law, delay]) => ["10 ms", "40 ms", "0.16 s"].map((time, index) => point([String(law), time], [[5, 6, 7], [1, 2, 3].map((seed) => Number(delay) * (1 + index) + seed)]))),
  search: { key: "flow.*.round_trip", condition: "owd_ms.p99 <= 50", metric: "owd_ms.p99", bound: 50 }, found: [], quantiles: QUANTILES, scenario: "", file: null, has_reports: false,
});
const { points } = study.data;

describe("figures of a study", () => {
  test("values with units are numbers, and names are not", () => {
    expect(["10 ms", "1.5 Mbit/s", "20", "1e-3", "l4span", "x264 fast", "5 apples"].map(quantity)).toEqual([0.01, 1.5e6, 20, 1e-3, null, null, null]);
  });

  test("a mean has its interval where seeds have a spread", () => {
    expect(estimate([1, 2, 3], QUANTILES)).toEqual({ mean: 2, half: 4.303 / Math.sqrt(3) });
    expect(estimate([null, 4, null], QUANTILES)).toEqual({ mean: 4, half: null });
    expect([estimate([2, 2], QUANTILES), estimate([null], QUANTILES)]).toEqual([{ mean: 2, half: 0 }, null]);
    expect([said({ mean: 12.345, half: 0.567 }), said({ mean: 12.345, half: null }), said(null)]).toEqual(["12.35 ± 0.57", "12.35", "–"]);
  });

  test("differences pair the values of a seed", () => {
    const [a, b] = [point([], [[1, 5, 9]]), point([], [[11, 6, 2]], [3, 2, 1])];
    expect(study.difference(b, a, 0)?.mean).toBeCloseTo((11 - 9 + 6 - 5 + 2 - 1) / 3);
    expect(study.difference(point([], [[1]], [7]), a, 0)).toBeNull();
  });
});

describe("pictures of a study", () => {
  test("over a parameter: its values with their names, the bound of the search, and differences with their ties", () => {
    const { scatter, note } = against(study, points, { metric: 1, x: "flow.*.round_trip", base: "" });
    expect(scatter.named).toEqual([[0.01, "10 ms"], [0.04, "40 ms"], [0.16, "0.16 s"]]);
    expect([scatter.logX, scatter.isJoined, scatter.levels]).toEqual([true, true, [{ label: "owd_ms.p99 <= 50", value: 50 }]]);
    expect(scatter.traces.map(({ style }) => style)).toEqual([{ colour: 0, shape: 0 }, { colour: 1, shape: 1 }]);
    expect(note).toMatch(/^Colour and marker mean marker\.law\. Means/);
    const rates = against(study, points, { metric: 0, x: "flow.*.round_trip", base: "none" }).scatter;
    expect(rates.traces.flatMap(({ places }) => places.map(({ isHollow, y }) => [isHollow, y[1]]))).toEqual(Array(6).fill([true, 0]));
  });

  test("a single line has means, not differences from itself", () => {
    const alone = points.slice(0, 3);
    const { scatter } = against(study, alone, { metric: 1, x: "flow.*.round_trip", base: "" });
    expect(scatter.traces.map(({ places }) => places.map(({ y }) => y[1]))).toEqual([[102, 202, 302]]);
    expect(scatter.legend.map(({ name }) => name)).toEqual(["all points"]);
  });

  test("over names: places side by side, without lines", () => {
    const { scatter } = against(study, points, { metric: 0, x: "marker.law", base: "" });
    expect([scatter.named, scatter.isJoined, scatter.logX]).toEqual([[[0, "none"], [1, "l4span"]], false, false]);
  });

  test("against another metric: filled is what nothing beats in both", () => {
    const { scatter } = tradeOff(study, points, { x: 1, y: 0, flow: "" });
    expect(scatter.traces.map(({ places }) => places[0]?.isHollow)).toEqual([true, true, true, false, true, true]);
    expect(scatter.front.map(({ x }) => x[1])).toEqual([12]);
    expect(scatter.legend.map(({ name, colour, shape }) => [name, colour, shape])).toEqual([["none", 0, 0], ["l4span", 1, 0], ["10 ms", null, 0], ["40 ms", null, 1], ["0.16 s", null, 2]]);
    expect(scatter.cells().length).toBe(1 + points.length);
  });
});
