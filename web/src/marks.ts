/** Marks nearest to a chosen moment, with their reasons. */

import type { Mark } from "./report.ts";
import { ABSENT, figure } from "./format.ts";

/** Rows of the list: as many as a reader takes in at a glance. */
const ROWS = 6;

/** Finds the marks nearest to a time, in the order of time; `marks` are in that order. */
export function nearestMarks(marks: Mark[], time: number, count = ROWS): Mark[] {
  let low = 0;
  let high = marks.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((marks[middle] as Mark).t_s < time) low = middle + 1;
    else high = middle;
  }
  let [from, to] = [low, low];
  while (to - from < count && (from > 0 || to < marks.length)) {
    const before = from > 0 ? time - (marks[from - 1] as Mark).t_s : Infinity;
    const after = to < marks.length ? (marks[to] as Mark).t_s - time : Infinity;
    if (before <= after) from -= 1;
    else to += 1;
  }
  return marks.slice(from, to);
}

/** Odds beside the random number, or the sum of the odds. */
export function drawn({ odds, draw, draw_kind }: Mark): string {
  if (draw_kind === "random") return `${figure(odds)}, drawn ${figure(draw)}`;
  return draw_kind === "regular" ? `${figure(odds)}, sum ${figure(draw)}` : figure(odds);
}

/** Columns of text and of numbers. */
export const COLUMNS: [heading: string, kind: "text" | "number", value: (mark: Mark) => string][] = [
  ["time (s)", "number", ({ t_s }) => t_s.toFixed(4)],
  ["flow", "text", ({ flow }) => flow],
  ["packet", "number", ({ packet }) => String(packet ?? ABSENT)],
  ["verdict", "text", ({ verdict }) => verdict],
  ["law: rule", "text", ({ law, rule }) => `${law}: ${rule}`],
  ["odds", "text", drawn],
  ["estimated (ms)", "number", ({ estimated_ms }) => figure(estimated_ms)],
  ["RLC queue (ms)", "number", ({ queued_ms }) => figure(queued_ms)],
  ["one way (ms)", "number", ({ delay_ms }) => figure(delay_ms)],
  ["sender learned (s)", "number", ({ answered_s }) => answered_s?.toFixed(4) ?? ABSENT],
];
