/** Run in the page, read and checked. */

import { csvParseRows } from "d3-dsv";
import { type Beside, besideOf } from "./beside.ts";
import { unreadable } from "./check.ts";
import type * as declared from "./fields.ts";
import { type Json, list, type Measured, measured, object, type Read, read, readRow, readSeries, type Rows, text } from "./read.ts";

export type Quantiles = Read<declared.Quantiles>;
export type Split = Read<declared.Split>;
export type Ue = Read<declared.UeResult & Partial<declared.UePlace>>;
export type Anbr = Read<declared.AnbrResult>;
export type Bearer = Read<declared.BearerResult>;
export type Router = Read<declared.RouterResult>;
export type Cell = Read<declared.NetworkCellResult & Partial<declared.CellPlace>>;
export type Live = Read<declared.LiveResult>;

/** Result with a time, without which it has no position on the axis. */
type Timed<T> = Read<T> & { t_s: number };
export type Event = Timed<declared.Event>;
export type Freeze = Timed<declared.Freeze> & { frozen_s: number };

/** (delay in ms, fraction of packets with at most this delay), both rising. */
export type Cdf = [number, number][];

/** Distributions of a flow, which only the page has. */
const CDFS = ["owd_cdf", "queue_cdf", "frame_cdf", "completion_cdf"] as const;
export type Flow = Read<declared.FlowResult> & Record<(typeof CDFS)[number], Cdf>;

/** Mark with its reasons, or a drop that a law decided on. */
export type Mark = Timed<declared.MarkResult> & {
  /** Odds of what happened, a mark or a drop. */
  odds: Measured;
  /** One-way delay of the packet; null where it did not arrive. */
  delay_ms: Measured;
};

/** Series by kind of entity. */
export interface Series {
  flows: Record<keyof declared.FlowSeries, Rows>;
  ues: Record<keyof declared.UeSeries, Rows>;
  /** Uplink of each UE, and what the gNB took to wait there. */
  uplinks: Record<keyof declared.UplinkSeries, Rows>;
  routers: Record<keyof declared.RouterSeries, Rows>;
  cells: Record<keyof declared.CellSeries, Rows>;
}

/** Figure of an application itself, which was joined with the run. */
export interface Figure {
  name: string;
  unit: string;
  /** One value for each interval. */
  values: Measured[];
}

export interface Report extends Omit<Read<declared.RunResult>, "seed" | "flows" | "ues" | "cells" | "events"> {
  seed: string;
  flows: Flow[];
  ues: Ue[];
  cells: Cell[];
  events: Event[];
  freezes: Freeze[];
  /** True for a run that kept marks. */
  hasMarks: boolean;
  /** Reads the marks in the order of time, on demand: there are thousands, which a reader may never ask for. */
  marks: () => Mark[];
  t_s: number[];
  series: Series;
  /** Empty if no file of an application was joined. */
  application: Figure[];
  /** Null if no other run was put beside this one. */
  beside: Beside | null;
}

/** Error for a page that can't be drawn; the message tells the reader what to do. */
export class DataError extends Error {}

/** Keeps the points that are numbers and that do not fall. */
function cdf(value: unknown): Cdf {
  const points: Cdf = [];
  for (const entry of list(value)) {
    const [delay, fraction] = list(entry).map(measured);
    if (delay == null || fraction == null) continue;
    const last = points.at(-1);
    if (!last || (delay >= last[0] && fraction >= last[1])) points.push([delay, fraction]);
  }
  return points;
}

function flow(value: unknown, distributions: Json): Flow {
  const given = object(value);
  const cdfs = Object.fromEntries(CDFS.map((name) => [name, cdf(distributions[name])])) as Record<(typeof CDFS)[number], Cdf>;
  const of = read<declared.FlowResult>("FlowResult", given);
  // A flow that passes no router has no such part.
  if (object(given.split_ms).router === undefined) of.split_ms.router = 0;
  return { ...of, ...cdfs };
}

/** Keeps what has a time. */
function timed<T extends { t_s: Measured }>(results: T[]): (T & { t_s: number })[] {
  return results.filter((result): result is T & { t_s: number } => result.t_s !== null);
}

/** Gives a reader of the marks, which keeps nothing of the page's data but their text. */
function marksOf(value: unknown): () => Mark[] {
  let read: Mark[] | undefined;
  return () => (read ??= marks(value).sort((a, b) => a.t_s - b.t_s));
}

/** Reads the text of `marks.csv`. */
function marks(value: unknown): Mark[] {
  const [heading = [], ...rows] = csvParseRows(text(value));
  const read = timed(rows.map((row) => readRow<declared.MarkResult>("MarkResult", heading, row)));
  return read.map((mark) => ({
    ...mark,
    odds: mark.verdict === "drop" ? mark.drop_odds : mark.mark_odds,
    delay_ms: mark.sent_s === null || mark.arrived_s === null ? null : (mark.arrived_s - mark.sent_s) * 1e3,
  }));
}

/** The times of the series; a missing one would shift all that follow. */
function times(value: unknown): number[] {
  let last = -Infinity;
  return list(value).map((entry) => {
    const t = measured(entry);
    if (t === null || t <= last) throw new DataError("The times of the series in this page do not increase, so its data is damaged.");
    last = t;
    return t;
  });
}

/** The seed as written: it has 64 bits, a number of JavaScript only 53. Inside a string the quotes would be escaped. */
function seed(source: string, parsed: unknown): string {
  const written = /(?<!\\)"seed"\s*:\s*(\d+)/.exec(source)?.[1];
  return written !== undefined && Number(written) === parsed ? written : text(parsed);
}

/** Reads the text of the data element as JSON of a run of this version. */
function json(source: string): Json {
  // The placeholder is a comment, which JSON does not have. It is not spelled out here: it may stand in the page only once.
  if (source === "" || source.startsWith("/*")) {
    throw new DataError("This page holds no run. “tidemark run FILE” writes a report with the run's data inside.");
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(source);
  } catch (error) {
    throw new DataError(`The data in this page is not valid JSON, so the file may be cut short: ${(error as Error).message}`);
  }
  const data = object(parsed);
  if (!Array.isArray(data.flows) || !Array.isArray(data.ues)) {
    throw new DataError("The data in this page has no list of flows and UEs, so it is not a Tidemark run.");
  }
  const reason = unreadable(data);
  if (reason !== undefined) throw new DataError(reason);
  return data;
}

/**
 * Reads the text of the data element.
 * @throws DataError where it is no run of this version, or lacks a field; a figure that was not measured is `null` and no error.
 */
export function parse(source: string): Report {
  const trimmed = source.trim();
  const data = json(trimmed);
  const run = read<declared.RunResult>("RunResult", data);
  const given = object(data.series);
  const t_s = times(given.t_s);
  const { flows, ues, routers, cells } = run;
  const cdfs = list(data.cdfs);
  const series = <T>(type: string, of: string, entities: unknown[]): Record<keyof T, Rows> => readSeries<T>(type, given[of], entities.length, t_s.length);
  return {
    ...run,
    seed: seed(trimmed, data.seed),
    flows: list(data.flows).map((value, index) => flow(value, object(cdfs[index]))),
    ues: ues as Ue[],
    cells: cells as Cell[],
    events: timed(run.events),
    freezes: timed(list(data.freezes).map((freeze) => read<declared.Freeze>("Freeze", freeze))).filter((freeze): freeze is Freeze => freeze.frozen_s !== null),
    hasMarks: text(data.marks) !== "",
    marks: marksOf(data.marks),
    t_s,
    series: {
      flows: series("FlowSeries", "flows", flows),
      ues: series("UeSeries", "ues", ues),
      uplinks: series("UplinkSeries", "uplinks", ues),
      routers: series("RouterSeries", "routers", routers),
      cells: series("CellSeries", "cells", cells),
    },
    application: list(data.application).map(object).map((figure) => ({
      name: text(figure.name),
      unit: text(figure.unit),
      values: t_s.map((_, index) => measured(list(figure.values)[index])),
    })),
    beside: besideOf(data.beside),
  };
}
