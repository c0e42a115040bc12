import { describe, expect, test } from "vitest";
import { network, sample, uploads } from "../sample/sample.js";
import { BLOCKS, ECN, gridOf, intervalAt, isMoving, laneAt, lanesOf, packetsPerSquare, portions, said, servedBy, SQUARES } from "../src/motion.ts";
import { parse } from "../src/report.ts";
import { setsOf } from "../src/sets.ts";

const prepared = (run: unknown) => {
  const report = parse(JSON.stringify(run));
  return { report, ues: setsOf(report).ues };
};

describe("a cell in motion", () => {
  test("is shown of one cell and of a network", () => {
    expect(isMoving(prepared(sample(3)).report)).toBe(true);
    expect(isMoving(prepared(network(3)).report)).toBe(true);
  });

  test("of a network has the UEs that the cell serves at the time", () => {
    const { report, ues } = prepared(network(9));
    for (const at of [10, 150]) {
      const served = report.cells.map((_, cell) => servedBy(report, cell, at));
      expect(served.flat().toSorted()).toEqual([0, 1, 2]);
      for (const [cell, of] of served.entries()) {
        expect(of.every((ue) => report.series.ues.cell[ue]?.[at] === cell)).toBe(true);
        const lanes = lanesOf(report, ues, of).map((ue) => laneAt(report, ues, ue, report.t_s[at] ?? 0));
        const grid = gridOf(report, lanes, of, at);
        expect([lanes.length, grid.length, grid.reduce((sum, squares) => sum + squares)]).toEqual([of.length, of.length + 2, BLOCKS]);
      }
    }
  });

  test("has the numbers of the interval that the time is in", () => {
    const { report, ues } = prepared(sample(3));
    const { queued, prb_share, ect1, ce } = report.series.ues;
    for (const [time, at] of [[0, 0], [0.05, 0], [0.1, 0], [0.11, 1], [3.2, 31], [20, 199], [99, 199]] as const) {
      expect(intervalAt(report, time)).toBe(at);
      const lane = laneAt(report, ues, 0, time);
      expect([lane.name, lane.queued, lane.share]).toEqual(["ue-1", queued[0]?.[at], prb_share[0]?.[at]]);
      expect(lane.arrived).toEqual([0, ect1[0]?.[at], 0, ce[0]?.[at]]);
    }
    expect(said(laneAt(report, ues, 1, 3.2))).toMatch(/^ue-2: [\d.]+ % of the resource blocks, packets queued: \d+ \(\d+ % Not-ECT/);
  });

  test("a queue that stands still has the fields of what leaves it next", () => {
    const run = sample(3);
    for (const { key } of ECN) run.series.ues[key][0]?.fill(0, 30, 33);
    const { report, ues } = prepared(run);
    expect(laneAt(report, ues, 0, 3.1).arrived).toEqual(laneAt(report, ues, 0, 3.4).arrived);
  });

  test("every mark goes back once, for half a round trip", () => {
    const { report, ues } = prepared(sample(3));
    const at = 31;
    const flight = (report.series.flows.rtt_ms[0]?.[at] ?? 0) / 2e3;
    const [from, to] = [report.t_s[at - 1] ?? 0, report.t_s[at] ?? 0];
    const marked = report.series.flows.marks[0]?.[at] ?? 0;
    expect(marked).toBeGreaterThan(0);
    // A mark that is under way for a time of `flight` is seen in as many of the moments of such a distance.
    const alone = { ...report, series: { ...report.series, flows: { ...report.series.flows, marks: report.series.flows.marks.map((row, flow) => row.map((value, index) => (flow === 0 && index === at ? value : 0))) } } };
    let seen = 0;
    for (let time = from; time < to + 2 * flight; time += flight) seen += laneAt(alone, ues, 0, time + 1e-6).marks.length;
    expect(seen).toBe(marked);
    const places = laneAt(alone, ues, 0, to).marks;
    expect(places.every((place) => place >= 0 && place <= 1)).toBe(true);
    expect(laneAt(report, ues, 0, to).marked).toBe(marked);
  });

  test("marks of flows that go up are not shown on their way down", () => {
    const { report, ues } = prepared(uploads());
    const up = { ...report, ues: report.ues.map((ue) => ({ ...ue, throughput_mbps: 0.1 })) };
    expect([laneAt(up, ues, 0, 5).marked, laneAt(up, ues, 0, 5).marks]).toEqual([0, []]);
  });

  test("of many UEs those with lines come first, then those with the longest delays", () => {
    const { report, ues } = prepared(sample(64));
    ues.pick([7]);
    const lanes = lanesOf(report, ues, servedBy(report, -1, 0));
    const delays = lanes.slice(1).map((ue) => report.ues[ue]?.queue_ms.p99 ?? 0);
    expect([lanes.length, lanes[0], new Set(lanes).size]).toEqual([6, 7, 6]);
    expect(delays).toEqual([...delays].sort((a, b) => b - a));
    expect(delays[0]).toBe(Math.max(...report.ues.filter((_, ue) => ue !== 7).map(({ queue_ms }) => queue_ms.p99 ?? 0)));
  });

  test("squares add up to the grid, and to a queue that fits", () => {
    const { report, ues } = prepared(sample(64));
    const at = 77;
    const served = servedBy(report, -1, at);
    const lanes = lanesOf(report, ues, served);
    const grid = gridOf(report, lanes.map((ue) => laneAt(report, ues, ue, report.t_s[at] ?? 0)), served, at);
    expect(grid.reduce((sum, squares) => sum + squares)).toBe(BLOCKS);
    const used = report.series.ues.prb_share.reduce((sum, row) => sum + (row[at] ?? 0), 0);
    expect(Math.abs((BLOCKS - (grid.at(-1) ?? 0)) / BLOCKS - used)).toBeLessThan(1 / BLOCKS);
    const longest = Math.max(...lanes.flatMap((ue) => (report.series.ues.queued[ue] ?? []).map((packets) => packets ?? 0)));
    expect(Math.ceil(longest / packetsPerSquare(report, lanes))).toBeLessThanOrEqual(SQUARES);
    expect(portions([1, 1, 1], 10)).toEqual([3, 4, 3]);
    expect(portions([0, 0], 10)).toEqual([0, 0]);
  });
});
