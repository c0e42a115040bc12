/** The cells of a network: how loaded each was, what it carried, and how UEs came and went. */

import type { Report } from "./report.ts";
import { el } from "./dom.ts";
import { Ensemble, worst } from "./ensemble.ts";
import { plain } from "./format.ts";
import { legend } from "./legend.ts";
import { Panel } from "./panel.ts";
import { type Common, perInterval, type TimePanel } from "./series.ts";
import type { Stack } from "./stack.ts";
import { cellColumns } from "./summary.ts";
import { table } from "./table.ts";

/** Cells as the plots show them: of many, those that were used most as lines over all others. */
export function cellsOf(report: Report): Ensemble {
  const { cells } = report;
  return new Ensemble("cell", cells.map((cell) => cell.name), [], worst(cells.map((cell) => cell.utilisation)));
}

/** The table and the plots, under the cursor of all plots over time. */
export function cellSection(report: Report, cells: Ensemble, common: Common, stack: Stack): HTMLElement[] {
  const series = report.series.cells;
  const share = series.utilisation.map((row) => row.map((used) => (used === null ? null : used * 100)));
  const panels: TimePanel[] = [
    { title: "Load", yLabel: "PRB used (%)", rows: share, top: 100 },
    { title: "Throughput", yLabel: "rate (Mbit/s)", rows: series.throughput_mbps },
    { title: "UEs", yLabel: "UEs", rows: series.ues, show: plain },
    { title: "Handovers", yLabel: `UEs handed in per ${perInterval(report.t_s)}`, rows: series.handovers, show: plain },
  ];
  const columns = [panels.slice(0, 2), panels.slice(2)].map((half) =>
    el("div", { class: "column" }, ...half.map((panel) => new Panel({ ...common, ...panel }, cells, stack).root)),
  );
  return [table("Cells", report.cells, cellColumns(report.cells), cells), legend("Cells", cells), el("div", { class: "columns" }, ...columns)];
}
