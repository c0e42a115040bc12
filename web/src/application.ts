/** Figures of an application itself, under the cursor of all plots over time: a plot a unit. */

import { el } from "./dom.ts";
import { Ensemble } from "./ensemble.ts";
import { legend } from "./legend.ts";
import { Panel } from "./panel.ts";
import type { Figure, Report } from "./report.ts";
import type { Common } from "./series.ts";
import type { Stack } from "./stack.ts";

/** The figures of each unit, in the order of their files. */
export function byUnit(figures: Figure[]): [unit: string, figures: Figure[]][] {
  const units = [...new Set(figures.map(({ unit }) => unit))];
  return units.map((unit) => [unit, figures.filter((figure) => figure.unit === unit)]);
}

export function applicationSection({ application }: Report, common: Common, stack: Stack): HTMLElement[] {
  const columns = byUnit(application).map(([unit, figures]) => {
    const ensemble = new Ensemble("figure", figures.map(({ name }) => name), [], [0]);
    const rows = figures.map(({ values }) => values);
    const panel = new Panel({ ...common, title: `In ${unit}`, yLabel: unit, rows, delay: unit === "ms" }, ensemble, stack);
    return el("div", { class: "column" }, legend("Figures", ensemble), panel.root);
  });
  return [el("div", { class: "columns" }, ...columns)];
}
