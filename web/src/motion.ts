/** State of a cell at a time of its run: who uses its resource blocks, what waits for each UE, and marks on their way back. */

import { bisectLeft, cumsum, max, sum } from "d3-array";
import type { Ensemble } from "./ensemble.ts";
import { count, percent } from "./format.ts";
import type { Measured } from "./read.ts";
import type { Report } from "./report.ts";
import { directions } from "./sets.ts";

/** Values of the ECN field, with the series that count them and their colours. */
export const ECN = [
  { key: "not_ect", name: "Not-ECT", colour: "var(--muted)" },
  { key: "ect1", name: "ECT(1)", colour: "var(--series-5)" },
  { key: "ect0", name: "ECT(0)", colour: "var(--series-4)" },
  { key: "ce", name: "CE", colour: "var(--text)" },
] as const;

/** Squares of the resource grid, and the largest number of squares of a queue. */
export const [BLOCKS, SQUARES] = [200, 75];
/** UEs that have a lane. */
const MOST = 6;
/** Intervals whose marks can be under way, and for which a queue may have sent nothing. */
const NEAR = 20;

/** A UE at a time. */
export interface Lane {
  name: string;
  /** Place of its colour in the palette; null for one that has no line in the plots. */
  colour: number | null;
  /** Share of the interval's resource blocks. */
  share: Measured;
  /** Packets in its queue. */
  queued: Measured;
  /** Packets that arrived, by their ECN field: the best estimate of what the queue holds. */
  arrived: number[];
  /** Marks of the interval. */
  marked: number;
  /** Places of marks under way: 0 at the UE, 1 at the sender. */
  marks: number[];
}

/** True for a run that says who had the resource blocks. */
export const isMoving = (report: Report): boolean => directions(report).down && report.series.ues.prb_share.length > 0;

/** UEs that a cell serves in an interval; those of a run without a list of cells are all in its only one. */
export const servedBy = ({ ues, cells, series }: Report, cell: number, at: number): number[] => [...ues.keys()].filter((ue) => cells.length === 0 || series.ues.cell[ue]?.[at] === cell);

/** Of UEs that a cell serves, those that have a lane: with a line in the plots, and of the others the worst off. */
export function lanesOf({ ues }: Report, ensemble: Ensemble, served: number[]): number[] {
  const picked = ensemble.picked.map(({ entity }) => entity).filter((ue) => served.includes(ue));
  const delay = (ue: number): number => ues[ue]?.queue_ms?.p99 ?? -1;
  const others = ensemble.many ? served.filter((ue) => !picked.includes(ue)).sort((a, b) => delay(b) - delay(a)) : [];
  return [...picked, ...others].slice(0, MOST);
}

/** Interval that a time is in. */
export const intervalAt = ({ t_s }: Report, time: number): number => Math.min(bisectLeft(t_s, time), t_s.length - 1);

/** Packets that a square of a queue stands for, over the whole run. */
export const packetsPerSquare = ({ series }: Report, shown: number[]): number => Math.max(1, Math.ceil((max(shown, (ue) => max(series.ues.queued[ue] ?? [], (packets) => packets ?? 0)) ?? 0) / SQUARES));

/** Whole numbers in proportion to others, which add up to `total`. */
export function portions(parts: number[], total: number): number[] {
  const whole = sum(parts);
  const ends = [...cumsum(parts)].map((end) => Math.round((whole > 0 ? end / whole : 0) * total));
  return ends.map((end, index) => end - (ends[index - 1] ?? 0));
}

/** A UE at a time. */
export function laneAt(report: Report, ensemble: Ensemble, ue: number, time: number): Lane {
  const at = intervalAt(report, time);
  const { ues } = report.series;
  const value = (rows: Measured[][], interval = at): Measured => rows[ue]?.[interval] ?? null;
  // Packets that wait leave in the next interval in which any packet arrives.
  const next = Array.from({ length: NEAR }, (_, later) => ECN.map(({ key }) => value(ues[key], at + later) ?? 0));
  return {
    name: ensemble.names[ue] ?? "",
    colour: ensemble.colourOf(ue),
    share: value(ues.prb_share),
    queued: value(ues.queued),
    arrived: next.find((counts) => sum(counts) > 0) ?? ECN.map(() => 0),
    ...marksAt(report, ue, time, at),
  };
}

/** Marks of a UE's flows: each interval's at even distances, for half a round trip. */
function marksAt({ t_s, flows, ues, series }: Report, ue: number, time: number, at: number): { marked: number; marks: number[] } {
  const own = flows.flatMap((flow, index) => (flow.ue === ues[ue]?.name ? [{ flow, index }] : []));
  // Flows whose rates exceed what the UE received are uploads, whose marks come from elsewhere.
  const isDown = sum(own, ({ flow }) => flow.throughput_mbps ?? 0) <= 1.02 * (ues[ue]?.throughput_mbps ?? 0);
  const marks: number[] = [];
  for (const { index } of isDown ? own : []) {
    for (let interval = Math.max(0, at - NEAR); interval <= at; interval++) {
      const [number, rtt] = [series.flows.marks[index]?.[interval] ?? 0, series.flows.rtt_ms[index]?.[interval] ?? null];
      if (rtt === null) continue;
      const [from, to] = [t_s[interval - 1] ?? 0, t_s[interval] ?? 0];
      for (let mark = 0; mark < number; mark++) {
        const place = (time - from - ((mark + 0.5) / number) * (to - from)) / (rtt / 2e3);
        if (place >= 0 && place <= 1) marks.push(place);
      }
    }
  }
  return { marked: isDown ? sum(own, ({ index }) => series.flows.marks[index]?.[at] ?? 0) : 0, marks };
}

/** Squares of the grid: those of each lane, of all other UEs that the cell serves, and empty ones. */
export function gridOf({ series }: Report, lanes: Lane[], served: number[], at: number): number[] {
  const shares = lanes.map(({ share }) => share ?? 0);
  const others = Math.max(0, sum(served, (ue) => series.ues.prb_share[ue]?.[at] ?? 0) - sum(shares));
  return portions([...shares, others, Math.max(0, 1 - sum(shares) - others)], BLOCKS);
}

/** Words on a lane. */
export const said = ({ name, share, queued, arrived, marked }: Lane): string => {
  const fields = ECN.flatMap(({ name }, field) => (arrived[field] ? [`${percent(0)((arrived[field] ?? 0) / sum(arrived))} % ${name}`] : []));
  return `${name}: ${percent(1)(share)} % of the resource blocks, packets queued: ${count(queued)}${fields.length > 0 ? ` (${fields.join(", ")})` : ""}, ${count(marked)} marks`;
};
