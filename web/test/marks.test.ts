import { expect, test } from "vitest";
import { sample } from "../sample/sample.js";
import { type Mark, parse } from "../src/report.ts";
import { drawn, nearestMarks } from "../src/marks.ts";

/** Mark with the fields that the list shows. */
const mark = (t_s: number, rest: Partial<Mark> = {}): Mark => ({
  t_s,
  flow: "f",
  packet: 1,
  verdict: "mark",
  law: "l4span",
  rule: "l4s sojourn",
  odds: 0.5,
  draw_kind: "random",
  draw: 0.25,
  estimated_ms: 9,
  queued_ms: 8,
  delay_ms: 20,
  answered_s: null,
  ...rest,
}) as Mark;

test("the marks nearest to a time are chosen from both sides, in the order of time", () => {
  const marks = [0, 1, 2, 3, 4, 5].map((t) => mark(t));
  const times = (time: number, count: number): number[] => nearestMarks(marks, time, count).map(({ t_s }) => t_s);
  expect(times(2.4, 3)).toEqual([1, 2, 3]);
  expect(times(-1, 2)).toEqual([0, 1]);
  expect(times(9, 2)).toEqual([4, 5]);
  expect(times(3, 10)).toEqual([0, 1, 2, 3, 4, 5]);
  expect(nearestMarks([], 1, 3)).toEqual([]);
});

test("odds stand beside what was drawn", () => {
  expect(drawn(mark(0))).toBe("0.500, drawn 0.250");
  expect(drawn(mark(0, { draw_kind: "regular", draw: 1.2 }))).toBe("0.500, sum 1.20");
  expect(drawn(mark(0, { draw_kind: "certain", draw: null, odds: 1 }))).toBe("1.00");
});

test("marks are read in the order of time, and none without one", () => {
  const csv = 'flow,sent_s,t_s,verdict,mark_odds,drop_odds,estimated_ms,arrived_s\nb,1.9,2.0,drop,0.0,0.5,,\nc,,,,,,4.0,\n"a, ""1""",0.98,1.0,mark,0.25,0.0,3.0,1.01\n';
  const report = parse(JSON.stringify({ ...sample(3), marks: csv }));
  const marks = report.marks();
  expect([report.hasMarks, report.marks() === marks]).toEqual([true, true]);
  expect(marks.map(({ flow, estimated_ms, odds }) => [flow, estimated_ms, odds])).toEqual([['a, "1"', 3, 0.25], ["b", null, 0.5]]);
  expect(marks.map(({ delay_ms }) => delay_ms && Math.round(delay_ms))).toEqual([30, null]);
  const without = parse(JSON.stringify({ ...sample(3), marks: null }));
  expect([without.hasMarks, without.marks()]).toEqual([false, []]);
});
