/** Lines of the plots besides series: delays that queues are held to, rates that the cell can carry, and events. */

import { figure, plain, withUnit } from "./format.ts";
import type { Happening, Level } from "./picture.ts";
import type { Report } from "./report.ts";

/** Share of used resource blocks above which a cell is called full. */
export const FULL = 0.9;

/** Gives each level of a plot one line, also if several entities share it. */
function distinct(levels: Level[]): Level[] {
  return [...new Map(levels.map((level) => [level.label, level])).values()].sort((a, b) => a.value - b.value);
}

/** Thresholds of the laws that held a run's downlink queues, budgets of its frames, and the rate at which its cell is full. */
export function levelsOf(report: Report): { queue: Level[]; frames: Level[]; capacity: Level[] } {
  const held = report.bearers.filter(({ direction, thresholds }) => direction === "downlink" && thresholds.length > 0);
  const laws = new Set(held.map(({ law }) => law));
  const queue = held.flatMap(({ law, thresholds }) =>
    thresholds.map(({ key, delay_ms }) => {
      const name = laws.size > 1 ? `${law} ${key}` : key;
      return { label: `${name} ${withUnit(plain(delay_ms), "ms")}`, value: delay_ms ?? Number.NaN };
    }),
  );
  const frames = report.flows.flatMap(({ media }) => media?.delay_budget_ms ?? []).map((value) => ({ label: `budget ${withUnit(plain(value), "ms")}`, value }));
  const capacity = capacityOf(report);
  return {
    queue: distinct(queue.filter(({ value }) => Number.isFinite(value))),
    frames: distinct(frames),
    capacity: capacity === null ? [] : [{ label: `the cell, full: ${withUnit(figure(capacity), "Mbit/s")}`, value: capacity }],
  };
}

/** Rate that one cell would carry with all of its resource blocks, at the mean rate of those that it used; null if it used few. */
function capacityOf({ cell: { utilisation, throughput_mbps }, cells }: Report): number | null {
  if (cells.length > 0 || utilisation === null || throughput_mbps === null || utilisation < FULL / 2) return null;
  return throughput_mbps / utilisation;
}

/** Events, links whose rate changed, and UEs that changed cells; in the order of time. */
export function happenings({ events, t_s, series, routers, ues, cells }: Report): Happening[] {
  const done = events.map(({ t_s, event, ue, detail }) => ({ t_s, label: [event, ue, detail].filter((part) => part !== "").join(" ") }));
  const links = changes(series.routers.capacity_mbps, t_s, (router, rate) => `${routers[router]?.name} ${withUnit(figure(rate), "Mbit/s")}`);
  const handovers = changes(series.ues.cell, t_s, (ue, cell) => `handover ${ues[ue]?.name} ${cells[cell]?.name ?? ""}`);
  return [...done, ...links, ...handovers].sort((a, b) => a.t_s - b.t_s);
}

/** More changes than this are not shown as events: the radio or the link changes all the time. */
const MOST_CHANGES = 20;

/** Times at which a row has another value than before. */
function changes(rows: (number | null)[][], times: number[], label: (entity: number, value: number) => string): Happening[] {
  const found = rows.flatMap((row, entity) =>
    row.flatMap((value, index) => (index > 0 && value !== null && value !== row[index - 1] && row[index - 1] !== null ? [{ t_s: times[index] ?? 0, label: label(entity, value) }] : [])),
  );
  return found.length > MOST_CHANGES ? [] : found;
}
