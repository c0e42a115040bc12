/** Places of sites and UEs of a network, and the classes that give UEs their colours. */

import { extent } from "d3-array";
import { scaleLinear, scaleQuantile, scaleQuantize } from "d3-scale";
import { interpolateViridis, schemeTableau10 } from "d3-scale-chromatic";
import { figure } from "./format.ts";
import type { Measured } from "./read.ts";
import type { Report } from "./report.ts";

export const BY = ["queue", "SINR", "cell"] as const;
export type By = (typeof BY)[number];

/** Number of colour steps that an eye can distinguish. */
const STEPS = 6;

/** A class of UEs that have one colour. */
export interface Class {
  label: string;
  /** Absent for UEs without data. */
  colour: string | null;
  ues: number[];
}

/** Room around the map for names, in pixels. */
const MARGIN = 44;

/** True for a run whose UEs have places. */
export function hasMap({ series: { ues } }: Report): boolean {
  return ues.east_m.length > 0;
}

/** Classes of the UEs at a time, given by its index; UEs without data have the last one. */
export function classes({ series: { ues }, cells }: Report, by: By, at: number): Class[] {
  const all = ues.east_m.map((_, ue) => ue);
  if (by === "cell") {
    return cells.map(({ name }, cell) => ({
      label: name,
      colour: schemeTableau10[cell % schemeTableau10.length] as string,
      ues: all.filter((ue) => ues.cell[ue]?.[at] === cell),
    }));
  }
  const rows = by === "queue" ? ues.queue_ms : ues.sinr_db;
  const unit = by === "queue" ? "ms" : "dB";
  const colours = Array.from({ length: STEPS }, (_, step) => interpolateViridis(by === "queue" ? 1 - step / (STEPS - 1) : step / (STEPS - 1)));
  const values = rows.flatMap((row) => row.filter((value) => value !== null));
  const [least = 0, most = 1] = extent(values);
  // A few queues are very long: classes with equally many values show the others too.
  const scale = by === "queue" ? scaleQuantile<string>().domain(values).range(colours) : scaleQuantize<string>().domain([least, most]).range(colours);
  const known = colours.map((colour) => {
    const [from, to] = scale.invertExtent(colour);
    const ofClass = all.filter((ue) => ((value) => value != null && scale(value) === colour)(rows[ue]?.[at]));
    return { label: `${figure(from)} to ${figure(to)} ${unit}`, colour, ues: ofClass };
  });
  return [...known, { label: "no packet then", colour: null, ues: all.filter((ue) => rows[ue]?.[at] == null) }].filter(({ ues, colour }) => colour !== null || ues.length > 0);
}

/** Place on the drawing, in pixels. */
export type Place = [x: number, y: number];

/** Map from metres to pixels with the same scale on both axes; its height follows from its width, up to a maximum. */
export function projection({ series: { ues }, cells }: Report, width: number, most: number): { height: number; place: (east: number, north: number) => Place } {
  const sites = cells.map(({ position_m }) => position_m);
  const span = (rows: Measured[][], site: (Measured | undefined)[]): [number, number] => {
    const [least = 0, largest = 0] = extent([...rows.flatMap((row) => extent(row, (value) => value ?? undefined)), ...site], (value) => value ?? undefined);
    return least < largest ? [least, largest] : [least - 50, least + 50];
  };
  const east = span(ues.east_m, sites.map((site) => site?.[0]));
  const north = span(ues.north_m, sites.map((site) => site?.[1]));
  const scale = Math.min((width - 2 * MARGIN) / (east[1] - east[0]), (most - 2 * MARGIN) / (north[1] - north[0]));
  const height = Math.round(scale * (north[1] - north[0])) + 2 * MARGIN;
  const side = (width - scale * (east[1] - east[0])) / 2;
  const across = scaleLinear(east, [side, width - side]);
  const up = scaleLinear(north, [height - MARGIN, MARGIN]);
  return { height, place: (e, n) => [across(e), up(n)] };
}

/** Path of a UE between two times, given by their indices. It has several parts with wrap-around, where the UE leaves on one side and enters on the other. */
export function track({ series: { ues } }: Report, ue: number, [first, last]: [number, number], place: (east: number, north: number) => Place, jump: number): Place[][] {
  const parts: Place[][] = [[]];
  for (let at = first; at <= last; at++) {
    const [east, north] = [ues.east_m[ue]?.[at], ues.north_m[ue]?.[at]];
    if (east == null || north == null) continue;
    const next = place(east, north);
    const before = parts.at(-1)?.at(-1);
    if (before && Math.hypot(next[0] - before[0], next[1] - before[1]) > jump) parts.push([]);
    parts.at(-1)?.push(next);
  }
  return parts.filter((part) => part.length > 1);
}

/** Indices at which a UE has another cell than before. */
export function handoversOf({ series: { ues } }: Report, ue: number): number[] {
  const row = ues.cell[ue] ?? [];
  return row.flatMap((cell, at) => (at > 0 && cell !== null && row[at - 1] !== null && cell !== row[at - 1] ? [at] : []));
}
