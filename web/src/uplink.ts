/** The uplink beside a downlink: acknowledgements, and what else UEs sent. */

import type { Report } from "./report.ts";
import { el } from "./dom.ts";
import type { Ensemble } from "./ensemble.ts";
import { legend } from "./legend.ts";
import { Panel } from "./panel.ts";
import { overTime, uplinkPanels } from "./series.ts";
import type { Stack } from "./stack.ts";

/** The plots, under the cursor of all plots over time. */
export function uplinkSection(report: Report, ues: Ensemble, stack: Stack): HTMLElement[] {
  const panels = uplinkPanels(report).map((panel) => new Panel({ ...overTime(report), ...panel }, ues, stack).root);
  const columns = [0, 1].map((side) => el("div", { class: "column" }, ...panels.filter((_, index) => index % 2 === side)));
  return [legend("UEs", ues), el("div", { class: "columns" }, ...columns)];
}
