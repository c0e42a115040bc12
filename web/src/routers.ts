/** Wired bottlenecks: what their links carried and could have, how long packets were queued before them, and what they marked. */

import type { Report } from "./report.ts";
import { el } from "./dom.ts";
import { Ensemble, worst } from "./ensemble.ts";
import { plain } from "./format.ts";
import { legend } from "./legend.ts";
import { Panel } from "./panel.ts";
import { type Common, perInterval, type TimePanel } from "./series.ts";
import type { Stack } from "./stack.ts";
import { ROUTER_COLUMNS } from "./summary.ts";
import { table } from "./table.ts";

/** Routers as the plots show them: of many, the one with the longest queue as a line over all others. */
export function routersOf({ routers }: Report): Ensemble {
  return new Ensemble("router", routers.map((router) => router.name), [], worst(routers.map((router) => router.queue_ms.p99)));
}

/** The plots over time, first those of rates. */
export function routerPanels({ series: { routers }, t_s }: Report): TimePanel[] {
  return [
    { title: "Throughput", yLabel: "rate (Mbit/s)", rows: routers.throughput_mbps },
    { title: "Link rate", yLabel: "rate (Mbit/s)", rows: routers.capacity_mbps },
    { title: "Queue delay", yLabel: "delay (ms)", rows: routers.queue_ms, delay: true },
    { title: "CE marks", yLabel: `packets per ${perInterval(t_s)}`, rows: routers.marks, show: plain },
  ];
}

/** The table and the plots, under the cursor of all plots over time; without UEs the plots stand beside the flows'. */
export function routerSection(report: Report, routers: Ensemble, common: Common, stack: Stack): HTMLElement[] {
  const head = table("Routers", report.routers, ROUTER_COLUMNS, routers);
  if (report.ues.length === 0) return [head];
  const panels = routerPanels(report);
  const columns = [panels.slice(0, 2), panels.slice(2)].map((half) =>
    el("div", { class: "column" }, ...half.map((panel) => new Panel({ ...common, ...panel }, routers, stack).root)),
  );
  return [head, legend("Routers", routers), el("div", { class: "columns" }, ...columns)];
}
