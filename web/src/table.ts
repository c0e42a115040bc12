/** A table that sorts by any column; what was not measured comes last, whichever way it sorts. */

import type { Measured } from "./read.ts";
import { el, swatch } from "./dom.ts";
import type { Ensemble } from "./ensemble.ts";

export interface Column<T> {
  /** Heading over several columns, e.g. "RTT (ms)"; empty over a single one. */
  group: string;
  /** Heading with the unit, where the group does not give it. */
  head: string;
  value: (row: T) => Measured | string;
  /** Formats a number; a text stays as it is. */
  show?: (value: Measured) => string;
}

export type Direction = "ascending" | "descending";

const collator = new Intl.Collator("en", { numeric: true });

/** The order of the rows, as indices; equal rows keep the order they came in. */
export function order<T>(rows: T[], column: Column<T>, direction: Direction): number[] {
  const sign = direction === "ascending" ? 1 : -1;
  const keys = rows.map(column.value);
  return rows
    .map((_, index) => index)
    .sort((a, b) => {
      const [x, y] = [keys[a] ?? null, keys[b] ?? null];
      if (x === null || y === null) return Number(x === null) - Number(y === null);
      if (typeof x === "number" && typeof y === "number") return sign * (x - y);
      return sign * collator.compare(String(x), String(y));
    });
}

/** Columns side by side with the same group, and how many they are. */
export function spans<T>(columns: Column<T>[]): { group: string; columns: number }[] {
  const result: { group: string; columns: number }[] = [];
  for (const { group } of columns) {
    const last = result.at(-1);
    if (last && last.group === group && group !== "") last.columns++;
    else result.push({ group, columns: 1 });
  }
  return result;
}

/** The first column names the row; its box picks the row for the plots, where there are any. */
export function table<T>(caption: string, rows: T[], columns: Column<T>[], ensemble?: Ensemble): HTMLElement {
  let sortedBy: { column: Column<T>; direction: Direction } | null = null;
  const body = el("tbody");
  const heads = columns.map((column) => {
    const text = typeof column.value(rows[0] as T) === "string";
    const sort = (): void => {
      const first: Direction = text ? "ascending" : "descending";
      const other: Direction = text ? "descending" : "ascending";
      const direction = sortedBy?.column === column && sortedBy.direction === first ? other : first;
      sortedBy = { column, direction };
      for (const head of heads) head.removeAttribute("aria-sort");
      heads[columns.indexOf(column)]?.setAttribute("aria-sort", direction);
      write();
    };
    return el("th", { scope: "col", class: text ? "text" : "number" }, el("button", { type: "button", onclick: sort }, column.head));
  });
  const lines = rows.map((row, entity) => {
    const mark = el("span", { class: "mark" });
    const box = el("input", { type: "checkbox", onchange: () => ensemble?.toggle(entity) });
    const line = el("tr", { onmouseenter: () => ensemble?.setHovered(entity), onmouseleave: () => ensemble?.setHovered(null) });
    columns.forEach((column, index) => {
      const value = column.value(row);
      if (index === 0 && ensemble) line.append(el("th", { scope: "row" }, el("label", { title: "Show in the plots" }, box, mark, String(value))));
      else if (index === 0) line.append(el("th", { scope: "row" }, String(value)));
      else if (typeof value === "string") line.append(el("td", { class: "text" }, value));
      else line.append(el("td", { class: "number" }, (column.show ?? String)(value)));
    });
    const update = (): void => {
      const colour = ensemble?.colourOf(entity) ?? null;
      box.checked = colour !== null;
      mark.replaceChildren(swatch(colour));
    };
    update();
    return { line, update };
  });
  const write = (): void => {
    const indices = sortedBy ? order(rows, sortedBy.column, sortedBy.direction) : rows.map((_, index) => index);
    body.replaceChildren(...indices.flatMap((index) => lines[index]?.line ?? []));
  };
  ensemble?.subscribe((picked) => {
    if (picked) for (const { update } of lines) update();
  });
  write();
  const groups = spans(columns).map(({ group, columns: width }) =>
    el("th", { colspan: width, scope: width > 1 ? "colgroup" : undefined, class: group ? "group" : undefined }, group),
  );
  return el(
    "div",
    { class: "table", tabindex: 0, role: "region", "aria-label": caption },
    el("table", {}, el("caption", {}, caption), el("thead", {}, el("tr", {}, ...groups), el("tr", {}, ...heads)), body),
  );
}
