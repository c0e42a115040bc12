/** Series of some entities that grow by a point at a time. */

import type { Measured, Rows } from "./read.ts";

/** Largest number of points. A page drops the first ones, or asks its server again for all of them, evenly spaced. */
export const MOST = 4_096;

const last = <T>(values: T[]): T[] => values.slice(-MOST);

/** Times and rows with the present values of each entity behind them; an entity that is new has nothing before. */
export function extended<K extends string>(times: number[], rows: Record<K, Rows>, time: number, now: Record<K, Measured>[]): [number[], Record<K, Rows>] {
  const row = (key: K, entity: number): Measured[] => [...(rows[key][entity] ?? times.map(() => null)), now[entity]?.[key] ?? null];
  const all = (Object.keys(rows) as K[]).map((key) => [key, now.map((_, entity) => last(row(key, entity)))]);
  return [last([...times, time]), Object.fromEntries(all) as Record<K, Rows>];
}
