/** State that a link to the page keeps: the range, the moment, what is picked, and the picture that it leads to. */

import { plain } from "./format.ts";
import type { Range } from "./view.ts";

export interface Kept {
  range: Range | null;
  moment: number | null;
  /** Names of what is picked; null where the page chose. */
  flows: string[] | null;
  ues: string[] | null;
  /** Picture to go to. */
  panel: string | null;
}

export const NOTHING: Kept = { range: null, moment: null, flows: null, ues: null, panel: null };

/** Number as a link has it. */
const number = (value: number): string => plain(value).replaceAll("\u2009", "").replace("\u2212", "-");

/** The part of a link behind its `#`; empty where nothing is kept. */
export function fragment({ range, moment, flows, ues, panel }: Kept): string {
  const kept = new URLSearchParams();
  if (panel !== null) kept.set("panel", panel);
  if (range !== null) kept.set("from", number(range[0]));
  if (range !== null) kept.set("to", number(range[1]));
  if (moment !== null) kept.set("at", number(moment));
  for (const [key, names] of [["flow", flows], ["ue", ues]] as const) {
    for (const name of names ?? []) kept.append(key, name);
    // A reader who removed everything from the plots finds them empty again.
    if (names?.length === 0) kept.set(key, "");
  }
  return kept.toString();
}

/** Reads what a link keeps, without values that are not numbers. */
export function read(text: string): Kept {
  const kept = new URLSearchParams(text.replace(/^#/, ""));
  const value = (key: string): number | null => {
    const written = kept.get(key);
    return written === null || written.trim() === "" || !Number.isFinite(Number(written)) ? null : Number(written);
  };
  const [from, to] = [value("from"), value("to")];
  const names = (key: string): string[] | null => (kept.has(key) ? kept.getAll(key).filter((name) => name !== "") : null);
  return { range: from !== null && to !== null && from < to ? [from, to] : null, moment: value("at"), flows: names("flow"), ues: names("ue"), panel: kept.get("panel") };
}
