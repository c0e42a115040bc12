/** A study in the page: its points by columns, and what tells them apart. */

import type { StudyMetric, StudyPage, StudyPoint } from "./fields.ts";
import { type Estimate, estimate } from "./statistics.ts";
import { SHAPES } from "../shapes.ts";

export type Point = StudyPoint;

/** Style of a point: its indices in the palette and among the shapes. */
export interface Style {
  colour: number;
  shape: number;
}

export const distinct = <T>(values: (T | null)[]): T[] => [...new Set(values.filter((value) => value !== null))];

export const titled = ({ name, unit }: StudyMetric): string => (unit === null ? name : `${name}, ${unit}`);

/** True where less of a metric is better. */
export const isLessBetter = ({ name }: StudyMetric): boolean => !/mbps|satisfied|in_budget|jain|completed|received|utilisation/.test(name);

const UNITS: Record<string, number> = { "": 1, ns: 1e-9, us: 1e-6, ms: 1e-3, s: 1, min: 60, "bit/s": 1, "kbit/s": 1e3, "Mbit/s": 1e6, "Gbit/s": 1e9, B: 1, kB: 1e3, MB: 1e6, GB: 1e9 };

/** Number that a value of a scenario stands for; null for a name. */
export function quantity(text: string): number | null {
  const [, number, unit = ""] = /^(-?[0-9.]+(?:e-?[0-9]+)?)\s*([A-Za-z/]*)$/.exec(text) ?? [];
  const factor = UNITS[unit];
  return number === undefined || factor === undefined ? null : Number(number) * factor;
}

export class Study {
  readonly data: StudyPage;
  /** Varied keys, and the group of flows where these are apart. */
  readonly columns: string[];
  readonly flows: string[];

  constructor(data: StudyPage) {
    this.data = data;
    this.columns = [...data.columns, ...(data.by_flow ? ["flow"] : [])];
    this.flows = distinct(data.points.map(({ flow }) => flow));
  }

  cell(point: Point, name: string): string | null {
    const index = this.data.columns.indexOf(name);
    return index < 0 ? point.flow : (point.values[index] ?? null);
  }

  values(points: Point[], name: string): string[] {
    return distinct(points.map((point) => this.cell(point, name)));
  }

  estimate(point: Point, metric: number): Estimate | null {
    return estimate(point.metrics[metric] ?? [], this.data.quantiles);
  }

  /** Difference of a point from another one, paired by seed. */
  difference(point: Point, base: Point, metric: number): Estimate | null {
    const of = point.seeds.map((seed, index) => {
      const [a, b] = [base.metrics[metric]?.[base.seeds.indexOf(seed)] ?? null, point.metrics[metric]?.[index] ?? null];
      return a === null || b === null ? null : b - a;
    });
    return estimate(of, this.data.quantiles);
  }

  /** Name of a point by some columns. */
  label(point: Point, names: string[]): string {
    const known = names.filter((name) => this.cell(point, name) !== null);
    return known.map((name) => (names.length > 1 ? `${name} = ` : "") + this.cell(point, name)).join(", ");
  }

  /** Columns in which points differ. */
  varied(points: Point[]): string[] {
    return this.columns.filter((name) => new Set(points.map((point) => this.cell(point, name))).size > 1);
  }

  /** Columns that tell lines over `x` apart: those that go in step with others are left out. */
  telling(points: Point[], x: string, names: string[]): string[] {
    return names.toReversed().reduce((kept, name) => {
      const others = kept.filter((other) => other !== name);
      const seen = new Map<string, string | null>();
      const follows = points.every((point) => {
        const key = JSON.stringify([x, ...others].map((other) => this.cell(point, other)));
        if (!seen.has(key)) seen.set(key, this.cell(point, name));
        return seen.get(key) === this.cell(point, name);
      });
      return follows ? others : kept;
    }, names);
  }

  /** Styles of points by some columns. Colour stands for the law, or else for what was varied first; the shape stands for the others. A single column has both. */
  styles(points: Point[], names: string[]): { of: (point: Point) => Style; colour: string | undefined; others: string[]; said: string } {
    const colour = names.find((name) => /(^|\.)law$/.test(name)) ?? names[0];
    const others = names.filter((name) => name !== colour);
    const places = (of: (point: Point) => string | null) => {
      const all = distinct(points.map(of));
      return (point: Point): number => Math.max(0, all.indexOf(of(point) ?? ""));
    };
    const hue = colour === undefined ? () => 0 : places((point) => this.cell(point, colour));
    const shape = others.length === 0 ? hue : places((point) => this.label(point, others));
    const meaning = colour === undefined ? "" : others.length === 0 ? `Colour and marker mean ${colour}. ` : `Colour means ${colour}, marker and dash ${others.join(" and ")}. `;
    const repeated = points.some((point) => shape(point) >= SHAPES.length) ? `Of more than ${SHAPES.length} some look alike; the pointer names each. ` : "";
    return { of: (point) => ({ colour: hue(point), shape: shape(point) }), colour, others, said: meaning + repeated };
  }
}
