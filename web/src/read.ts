/** Reader of results by their declaration: every declared field of a result, and no others. */

import { FIELDS } from "./fields.ts";

/** Number that is null, never 0, where it was not measured. */
export type Measured = number | null;

/** One row for each entity, one value for each interval. */
export type Rows = Measured[][];

type Value<V> = V extends number
  ? Measured
  : V extends string
    ? string
    : V extends boolean
      ? boolean | null
      : V extends [number, number]
        ? [Measured, Measured] | null
        : V extends Measured[][]
          ? Rows
          : V extends Measured[]
            ? Measured[]
            : V extends string[]
              ? string[]
              : V extends (infer E)[]
                ? Read<E>[]
                : Read<V>;
type Part<V> = V extends number | string | boolean | unknown[] ? never : null;
type Absent<T, K extends keyof T> = Record<never, never> extends Pick<T, K> ? Part<NonNullable<T[K]>> : never;

/** Result as it is read: an absent value is null, an empty text or an empty list, and a part that is never absent has all of its fields. */
export type Read<T> = { [K in keyof T]-?: Value<NonNullable<T[K]>> | Absent<T, K> };

export type Json = Record<string, unknown>;

export const object = (value: unknown): Json => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {});
export const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
export const text = (value: unknown): string => (typeof value === "string" ? value : typeof value === "number" ? String(value) : "");
export const measured = (value: unknown): Measured => (typeof value === "number" && Number.isFinite(value) ? value : null);

/** Reads a value of a declared kind. */
function field(kind: string, value: unknown): unknown {
  const [of, absent] = kind.endsWith("?") ? [kind.slice(0, -1), true] : [kind, false];
  if (of.endsWith("[]")) return list(value).map((entry) => field(of.slice(0, -2).replace(/^\((.*)\)$/, "$1"), entry));
  if (FIELDS[of] !== undefined) return value == null && absent ? null : read(of, value);
  switch (of) {
    case "number":
      return measured(value);
    case "boolean":
      return typeof value === "boolean" ? value : null;
    case "[number, number]":
      return value == null ? null : [measured(list(value)[0]), measured(list(value)[1])];
    default:
      return text(value);
  }
}

/** Reads a result of a declared type. */
export function read<T>(type: string, value: unknown): Read<T> {
  const given = object(value);
  return Object.fromEntries(Object.entries(FIELDS[type] ?? {}).map(([name, kind]) => [name, field(kind, given[name])])) as Read<T>;
}

/** Reads series of a declared type: a row for each entity, with a value for each interval. */
export function readSeries<T>(type: string, value: unknown, entities: number, intervals: number): Record<keyof T, Rows> {
  const given = object(value);
  // Series without measured values get no rows: with 500 UEs there are a dozen series each.
  const row = (of: unknown[]): Measured[] => Array.from({ length: intervals }, (_, at) => measured(of[at]));
  const rows = (of: unknown[]): Rows => (of.length === 0 ? [] : Array.from({ length: entities }, (_, entity) => row(list(of[entity]))));
  return Object.fromEntries(Object.keys(FIELDS[type] ?? {}).map((name) => [name, rows(list(given[name]))])) as Record<keyof T, Rows>;
}

/** Reads a row of a CSV file of a declared type, by the columns of its heading. */
export function readRow<T>(type: string, heading: string[], row: string[]): Read<T> {
  const number = (name: string): boolean => FIELDS[type]?.[name]?.startsWith("number") ?? false;
  const cells = heading.map((name, index) => [name, number(name) && row[index] !== "" ? Number(row[index]) : row[index]]);
  return read(type, Object.fromEntries(cells));
}
