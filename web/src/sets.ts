/** The flows, UEs, routers and cells of a run, as all pictures and tables show them together. */

import { Ensemble, type Grouping, worst } from "./ensemble.ts";
import type { Report } from "./report.ts";

export interface Sets {
  flows: Ensemble;
  ues: Ensemble;
  routers: Ensemble;
  cells: Ensemble;
}

/** The controllers that send to each UE: one name, or "mixed". */
function controllersOf({ ues, flows }: Report): string[] {
  const found = new Map<string, Set<string>>();
  for (const { ue, controller } of flows) found.set(ue, (found.get(ue) ?? new Set()).add(controller));
  return ues.map(({ name }) => {
    const of = [...(found.get(name) ?? ["none"])];
    return of.length === 1 ? (of[0] as string) : "mixed";
  });
}

/** Sets of a run; if there are many entities, the worst one has a line above all others. */
export function setsOf(report: Report): Sets {
  const { flows, ues, routers, cells } = report;
  const ofFlows: Grouping[] = [
    { label: "controller", of: flows.map(({ controller }) => controller) },
    { label: "law", of: flows.map(({ law }) => law) },
  ];
  const ofUes: Grouping[] = [
    { label: "controller", of: controllersOf(report) },
    { label: "channel", of: ues.map(({ channel }) => channel) },
  ];
  const names = (of: { name: string }[]): string[] => of.map(({ name }) => name);
  return {
    flows: new Ensemble("flow", names(flows), ofFlows, worst(flows.map(({ owd_ms }) => owd_ms.p99))),
    ues: new Ensemble("UE", names(ues), ofUes, worst(ues.map(({ queue_ms }) => queue_ms.p99))),
    routers: new Ensemble("router", names(routers), [], worst(routers.map(({ queue_ms }) => queue_ms.p99))),
    cells: new Ensemble("cell", names(cells), [], worst(cells.map(({ utilisation }) => utilisation))),
  };
}

/** Directions in which UEs had packets; a run without any is shown as one of downloads. */
export function directions({ ues }: Report): { down: boolean; up: boolean } {
  const up = ues.some(({ uplink }) => uplink);
  return { down: !up || ues.some(({ throughput_mbps }) => throughput_mbps !== null && throughput_mbps > 0), up };
}
