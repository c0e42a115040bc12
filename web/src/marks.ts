/** List of the marks nearest to the time that is pointed at, with their reasons. */

import type { Mark } from "./report.ts";
import { el } from "./dom.ts";
import { ABSENT, figure } from "./format.ts";
import type { Stack } from "./stack.ts";

/** Rows of the list; its height stays as it is while the cursor moves. */
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

/** Odds beside the number drawn, or the sum that odds came to. */
export function drawn({ odds, draw, draw_kind }: Mark): string {
  if (draw_kind === "random") return `${figure(odds)}, drawn ${figure(draw)}`;
  return draw_kind === "regular" ? `${figure(odds)}, sum ${figure(draw)}` : figure(odds);
}

/** Columns of text and of numbers. */
const COLUMNS: [heading: string, kind: "text" | "number", value: (mark: Mark) => string][] = [
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

/** List that follows the cursor of the plots; null for a run that kept no marks. */
export function markList(marks: Mark[], stack: Stack): HTMLElement | null {
  if (marks.length === 0) return null;
  const body = el("tbody");
  const note = el("p", { class: "note" });
  const show = (time: number): void => {
    note.textContent = `Marks nearest to ${time.toFixed(2)} s, with what the marker estimated and what the RLC queue was.`;
    const rows = nearestMarks(marks, time).map((mark) => el("tr", {}, ...COLUMNS.map(([, kind, value]) => el("td", { class: kind }, value(mark)))));
    body.replaceChildren(...rows);
  };
  // The list of the last time stays when the pointer leaves: then it can be read.
  stack.listen((time) => time !== null && show(time));
  show((marks[marks.length >> 1] as Mark).t_s);
  const head = el("thead", {}, el("tr", {}, ...COLUMNS.map(([heading, kind]) => el("th", { scope: "col", class: kind }, heading))));
  const table = el("div", { class: "table", tabindex: 0, role: "region", "aria-label": "Marks and their reasons" }, el("table", {}, el("caption", {}, "Marks and their reasons"), head, body));
  return el("div", { id: "marks" }, el("h3", {}, "Why packets were marked"), note, table);
}
