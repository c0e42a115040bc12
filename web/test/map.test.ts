import fc from "fast-check";
import { expect, test } from "vitest";
import { network, sample } from "../sample/sample.js";
import { BY, classes, handoversOf, hasMap, projection, track } from "../src/map.ts";
import { parse } from "../src/report.ts";

const report = parse(JSON.stringify(network(21)));
const times = report.t_s.length;

test("only a run whose UEs have places has a map", () => {
  expect(hasMap(report)).toBe(true);
  expect(hasMap(parse(JSON.stringify(sample(3))))).toBe(false);
});

test("every UE has one colour at every time, and that of its value", () => {
  fc.assert(
    fc.property(fc.constantFrom(...BY), fc.integer({ min: 0, max: times - 1 }), (by, at) => {
      const found = classes(report, by, at);
      expect(found.flatMap(({ ues }) => ues).sort()).toEqual(report.ues.map((_, ue) => ue));
      for (const { label, ues, colour } of found) {
        for (const ue of ues) {
          if (by === "cell") expect(label).toBe(report.cells[report.series.ues.cell[ue]?.[at] ?? -1]?.name);
          const value = (by === "queue" ? report.series.ues.queue_ms : report.series.ues.sinr_db)[ue]?.[at];
          if (by !== "cell") expect(colour === null).toBe(value === null);
        }
      }
    }),
  );
});

test("colours of a queue go with its length", () => {
  const at = times - 1;
  const known = classes(report, "queue", at).filter(({ colour }) => colour !== null);
  const lengths = known.map(({ ues }) => ues.map((ue) => report.series.ues.queue_ms[ue]?.[at] as number));
  lengths.slice(1).forEach((own, index) => expect(Math.max(...(lengths[index] ?? []), -Infinity)).toBeLessThanOrEqual(Math.min(...own, Infinity)));
});

test("a metre is as long across as along, and everything is on the map", () => {
  fc.assert(
    fc.property(fc.integer({ min: 200, max: 1600 }), fc.integer({ min: 200, max: 700 }), (width, most) => {
      const { height, place } = projection(report, width, most);
      const [origin, east, north] = [place(0, 0), place(100, 0), place(0, 100)];
      expect(east[0] - origin[0]).toBeCloseTo(origin[1] - north[1], 0);
      expect(height).toBeLessThanOrEqual(most + 1);
      const { east_m, north_m } = report.series.ues;
      for (const [ue] of report.ues.entries()) {
        const [x, y] = place(east_m[ue]?.[0] ?? 0, north_m[ue]?.[0] ?? 0);
        expect(x >= 0 && x <= width && y >= 0 && y <= height).toBe(true);
      }
    }),
  );
});

test("a UE's handovers are where its cell changes, and its way breaks where it leaves the map", () => {
  expect([0, 1, 2].map((ue) => handoversOf(report, ue).map((at) => report.t_s[at]))).toEqual([[], [10.1], [6.1, 14]]);
  const { place } = projection(report, 800, 500);
  const whole = track(report, 1, [0, times - 1], place, 100);
  expect(whole.map((part) => part.length)).toEqual([times]);
  const broken = { ...report, series: { ...report.series, ues: { ...report.series.ues, east_m: report.series.ues.east_m.map((row) => row.map((east, at) => (at < 50 ? east : (east ?? 0) + 1000))) } } };
  expect(track(broken, 1, [0, times - 1], place, 100).map((part) => part.length)).toEqual([50, times - 50]);
});
