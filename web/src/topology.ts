/** Connections of a run: senders by controller, routers, the gNB, and the UEs or hosts that flows end at. */

import { plain } from "./format.ts";
import type { Report } from "./report.ts";

export interface Node {
  id: string;
  label: string;
  /** Kind, in a few words. */
  what: string;
}

/** Flow between two nodes, or several that have one colour in the plots. */
export interface Edge {
  from: string;
  to: string;
  /** Place of its colour in the palette; null for flows that have none. */
  colour: number | null;
}

export interface Topology {
  /** Nodes from the servers to the UEs, column by column. */
  columns: Node[][];
  edges: Edge[];
}

const many = (count: number, noun: string): string => `${plain(count)} ${noun}${count === 1 ? "" : "s"}`;

/** Nodes and edges, with at most so many nodes in a column: if there are more, those of one kind become one. */
export function topology({ flows, ues, routers, cells }: Report, colourOf: (flow: number) => number | null, most: number): Topology {
  const controllers = [...new Set(flows.map(({ controller }) => controller))].sort();
  const alone = ues.length > most;
  const ends = ues.length === 0 ? [{ id: "hosts", label: "hosts", what: "on the wire" }] : nodesOfUes(ues, alone);
  const endOf = new Map(ues.map(({ name, channel }) => [name, alone ? `ue ${channel}` : `ue ${name}`]));
  const used = routers.filter(({ name }) => flows.some((flow) => flow.routers.includes(name)));
  const sites = new Set(cells.map(({ name }) => Number.parseInt(name, 10))).size;
  const gnb = cells.length > 0 ? { id: "gnb", label: many(cells.length, "cell"), what: many(sites, "site") } : { id: "gnb", label: "gNB", what: "1 cell" };
  const senders = controllers.map((controller) => ({ id: `sender ${controller}`, label: controller, what: many(flows.filter((flow) => flow.controller === controller).length, "flow") }));
  const edges = new Map<string, Edge>();
  for (const [index, flow] of flows.entries()) {
    const way = [`sender ${flow.controller}`, ...flow.routers.map((router) => `router ${router}`), ...(flow.ue === "" ? ["hosts"] : ["gnb", endOf.get(flow.ue) ?? "hosts"])];
    way.slice(1).forEach((to, step) => {
      const edge = { from: way[step] as string, to, colour: colourOf(index) };
      edges.set(JSON.stringify(edge), edge);
    });
  }
  const links = used.map(({ name, law }) => [{ id: `router ${name}`, label: name, what: law }]);
  const columns = [senders, ...links, ...(ues.length > 0 ? [[gnb]] : []), ends];
  return { columns, edges: [...edges.values()] };
}

/** A node for each UE, or one for all UEs of a channel. */
function nodesOfUes(ues: Report["ues"], alone: boolean): Node[] {
  if (!alone) return ues.map(({ name, channel }) => ({ id: `ue ${name}`, label: name, what: channel }));
  const channels = [...new Set(ues.map(({ channel }) => channel))];
  return channels.map((channel) => ({ id: `ue ${channel}`, label: many(ues.filter((ue) => ue.channel === channel).length, "UE"), what: channel }));
}
