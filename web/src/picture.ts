/** Plot as data: everything that a reader sees or saves is made from it. */

import { extent, max } from "d3-array";
import { type ScaleContinuousNumeric, scaleLinear, scaleLog } from "d3-scale";
import { type Band, band } from "./bands.ts";
import { visible } from "./decimate.ts";
import type { Ensemble, Group, Line } from "./ensemble.ts";
import type { Measured, Rows } from "./read.ts";
import type { Range, View } from "./view.ts";

/** Limit, such as a law's threshold: a horizontal line. */
export interface Level {
  label: string;
  value: number;
}

/** Event of the run: a vertical line. */
export interface Happening {
  t_s: number;
  label: string;
}

export interface Picture {
  /** Name of the picture in links. */
  id: string;
  title: string;
  /** Quantity and unit, along the vertical axis. */
  yLabel: string;
  xLabel: string;
  /** Values of the horizontal axis in ascending order, the same for every row. */
  x: number[];
  rows: Rows;
  /** Upper limit of each row, such as the rate of its link: dashed in its colour. */
  ceilings?: Rows;
  levels?: Level[];
  happenings?: Happening[];
  /** Spans of the horizontal axis in which something happened to an entity: shaded in its colour. */
  spans?: { entity: number; from: number; to: number }[];
  /** End of the part that the statistics leave out, which is shaded. */
  warmup?: number;
  logX?: boolean;
  /** Logarithmic from this value up to 1, for the share of a tail. */
  logYFrom?: number;
  /** True for a delay, whose axis can be switched between linear and logarithmic. */
  delay?: boolean;
  /** The top of a linear vertical axis, if it has a natural one. */
  top?: number;
  /** Formats the cursor's position, e.g. "3.20 s". */
  place: (x: number) => string;
  /** Formats a value; by default with three digits. */
  show?: (value: Measured) => string;
}

export type Scale = ScaleContinuousNumeric<number, number>;

/** Percentiles of each group over the whole picture. */
export type Bands = { group: Group; band: Band }[];

export function bandsOf({ rows, x }: Picture, groups: Group[]): Bands {
  return groups.map((group) => ({ group, band: band(rows, group.members, x.length) }));
}

/** Room around a plot for its axes, in pixels. */
export const MARGIN = { left: 48, right: 10, top: 14, bottom: 36 };

export interface Frame {
  x: Scale;
  y: Scale;
  /** First and last index that is shown. */
  range: [number, number];
  width: number;
  height: number;
}

/** Ratio to the data above which a level or a ceiling is left out: the data would have no room. */
const FAR = 3;
/** Empty queues would stretch a logarithmic axis without end; a tenth of a millisecond is less than a slot. */
const LEAST_DELAY = 0.1;

/** Scales of a picture in a box of this size. */
export function frameOf(picture: Picture, bands: Bands, picked: Line[], view: View, size: { width: number; height: number }): Frame {
  const width = size.width - MARGIN.left - MARGIN.right;
  const height = size.height - MARGIN.top - MARGIN.bottom;
  const range = visible(picture.x, view.shown);
  const x = (picture.logX ? scaleLog() : scaleLinear()).domain(view.shown).range([0, width]);
  const rows = [
    ...picked.map(({ entity }) => picture.rows[entity] ?? []),
    ...bands.map(({ band }) => (bands.length === 1 ? band.max : band.p90)),
  ];
  const [least, most] = extentOf(rows, range);
  const ceilings = picked.flatMap(({ entity }) => picture.ceilings?.[entity]?.slice(range[0], range[1] + 1) ?? []);
  const levels = [...levelsWithin(picture, most).map(({ value }) => value), ...ceilings.filter((value) => value !== null && value <= FAR * most)] as number[];
  return { x, y: vertical(picture, view, least, max([most, ...levels]) ?? most).range([height, 0]), range, width, height };
}

/** Levels that the axis makes room for. */
export function levelsWithin({ levels = [] }: Picture, most: number): Level[] {
  return levels.filter(({ value }) => value <= FAR * most);
}

function extentOf(rows: Rows, [first, last]: [number, number]): Range {
  const ends = rows.flatMap((row) => extent(row.slice(first, last + 1), (value) => value ?? undefined));
  const [least = 0, most = 0] = extent(ends, (end) => end);
  return [least, most];
}

function vertical({ logYFrom, top, delay }: Picture, view: View, least: number, most: number): Scale {
  if (logYFrom) return scaleLog().domain([logYFrom, 1]);
  if (delay && view.logDelay.value) return scaleLog().domain([Math.min(Math.max(LEAST_DELAY, least), (most || 1) / 10), (most || 1) * 1.1]);
  return scaleLinear().domain([0, top ?? (most > 0 ? most * 1.05 : 1)]);
}

/** All data of a picture within the shown range, as cells of a table with a column for each entity and each ceiling. */
export function cellsOf(picture: Picture, ensemble: Ensemble, view: View): (string | number)[][] {
  const [first, last] = visible(picture.x, view.shown);
  const columns = [
    ...picture.rows.map((row, entity) => [ensemble.names[entity] ?? "", row] as const),
    ...(picture.ceilings ?? []).map((row, entity) => [`${ensemble.names[entity]}, at most`, row] as const),
  ];
  const head = [picture.xLabel, ...columns.map(([name]) => `${name}: ${picture.yLabel}`)];
  const rows = picture.x.slice(first, last + 1).map((x, index) => [x, ...columns.map(([, row]) => row[first + index] ?? "")]);
  return [head, ...rows];
}
