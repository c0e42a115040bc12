/** A live page: name, facts, tables of the current rows, and pictures of the rows since the start. Each kind of program declares its own. */

import type { ComponentChildren } from "preact";
import { anyMeasured } from "../bands.ts";
import type { Column } from "../columns.ts";
import type { Fact } from "../facts.ts";
import type { Picture } from "../picture.ts";
import type { Measured, Rows } from "../read.ts";
import { extended } from "../series.ts";

/** State of any program, one event of its stream. */
export interface Now {
  name: string;
  t_s: number;
  warning?: string | null;
}

/** Field of the rows that is drawn over time. */
export interface Drawn<R> {
  field: keyof R & string;
  title: string;
  yLabel: string;
  /** For a counter, of which its growth per second is drawn: the factor to the unit. */
  perSecond?: number;
  /** Field with the upper limit of each row. */
  ceiling?: keyof R & string;
  delay?: boolean;
  show?: (value: Measured) => string;
}

/** Kind of program: what its page shows of a state. */
export interface Kind<N extends Now, R> {
  /** Program, row, and rows as a heading. */
  program: string;
  noun: string;
  title: string;
  rows: (now: N) => R[];
  nameOf: (row: R) => string;
  facts: (now: N) => Fact[];
  columns: Column<R>[];
  drawn: Drawn<R>[];
  /** Further tables, above the plots and below them. */
  above?: (now: N) => ComponentChildren;
  below?: (now: N) => ComponentChildren;
}

/** Series of the fields that are drawn, since the start: for each field a row for each of the state's rows. */
export interface Past {
  t_s: number[];
  rows: Record<string, Rows>;
}

/** The past of a kind before anything happened. */
export function started<R>(drawn: Drawn<R>[]): Past {
  return { t_s: [], rows: Object.fromEntries(drawn.map(({ field }) => [field, []])) };
}

/** The past with the present state appended; a state that is not later than the last one adds nothing. */
export function followed<R extends object>(past: Past, now_s: number, now: R[]): Past {
  if (now_s <= (past.t_s.at(-1) ?? -1)) return past;
  const [t_s, rows] = extended(past.t_s, past.rows, now_s, now as Record<string, Measured>[]);
  return { t_s, rows };
}

/** Plots over time; a field that no row has gets none. */
export function picturesOf<R>({ t_s, rows }: Past, drawn: Drawn<R>[]): Picture[] {
  const common = { xLabel: "time (s)", x: t_s, place: (t: number) => `${t.toFixed(1)} s` };
  return drawn
    .filter(({ field }) => anyMeasured(rows[field] ?? []))
    .map(({ field, perSecond, ceiling, ...picture }) => {
      const values = rows[field] ?? [];
      const ceilings = ceiling && rows[ceiling];
      return { ...common, ...picture, id: field, rows: perSecond ? values.map((row) => growth(t_s, row, perSecond)) : values, ...(ceilings && { ceilings }) };
    });
}

/** Growth of a counter per second, times this factor; its first value has none. */
function growth(t_s: number[], row: Measured[], factor: number): Measured[] {
  return row.map((value, at) => {
    const [before, from, to] = [row[at - 1] ?? null, t_s[at - 1] ?? 0, t_s[at] ?? 0];
    return value === null || before === null ? null : (factor * (value - before)) / (to - from);
  });
}
