/** The columns of the tables, with the units in their headings; the columns that people decide by come first. */

import type { ComponentChildren } from "preact";
import { fixed, count, percent, plain, ABSENT } from "./format.ts";
import type { Measured } from "./read.ts";
import type { Anbr, Bearer, Cell, Flow, Quantiles, Router, Ue } from "./report.ts";

export interface Column<T> {
  /** Heading over several columns, e.g. "RTT (ms)"; empty over a single one. */
  group: string;
  /** Heading with the unit, where the group does not give it. */
  head: string;
  value: (row: T) => Measured | string;
  /** Formats a number; a text stays as it is. */
  show?: (value: Measured) => string;
  /** Draws the cell, where it is more than a text; rows are sorted by the value. */
  cell?: (row: T) => ComponentChildren;
  isText?: boolean;
  /** True for a column that is shown before anybody asks for all. */
  first?: boolean;
  /** True for the column by which many rows are sorted at first, the largest on top. */
  worst?: boolean;
}

/** Row with the number of its entity. */
export interface Row<T> {
  of: T;
  entity: number;
}

/** Rows and columns of which something was measured; the first column names the row. */
export function rowsOf<T>(rows: T[], columns: Column<T>[]): { data: Row<T>[]; measured: Column<T>[] } {
  const has = (row: T, column: Column<T>): boolean => ![null, ABSENT, ""].includes(column.value(row) as string | null);
  const figures = columns.filter(({ isText }) => !isText);
  const data = rows.map((of, entity) => ({ of, entity })).filter(({ of }) => figures.some((column) => has(of, column)));
  const [name, ...others] = columns;
  const measured = others.filter((column) => data.some(({ of }) => has(of, column)));
  return { data, measured: name ? [name, ...measured] : [] };
}

/** Columns side by side with the same group. */
export function grouped<T>(columns: Column<T>[]): { group: string; of: Column<T>[] }[] {
  const result: { group: string; of: Column<T>[] }[] = [];
  for (const column of columns) {
    const last = result.at(-1);
    if (last && last.group === column.group && column.group !== "") last.of.push(column);
    else result.push({ group: column.group, of: [column] });
  }
  return result;
}

const QUANTILES = [
  ["mean", "mean"],
  ["p50", "p50"],
  ["p95", "p95"],
  ["p99", "p99"],
  ["p999", "p99.9"],
] as const;

/** Quantiles that people decide by. */
function quantiles<T>(group: string, of: (row: T) => Quantiles | null | undefined, first: string[] = [], worst?: string): Column<T>[] {
  return QUANTILES.map(([key, head]) => ({ group, head, value: (row) => of(row)?.[key] ?? null, show: fixed(1), first: first.includes(key), worst: key === worst }));
}

export function text<T>(head: string, value: (row: T) => string, first = true, group = ""): Column<T> {
  return { group, head, value, isText: true, first };
}

export function share(part: Measured, whole: Measured): Measured {
  return part === null || whole === null || whole === 0 ? null : part / whole;
}

/** Word for true or false; a dash if it is unknown. */
function yesOrNo(value: boolean | null | undefined): string {
  return value == null ? ABSENT : value ? "yes" : "no";
}

export const FLOW_COLUMNS: Column<Flow>[] = [
  text("Flow", (f) => f.name),
  text("UE", (f) => f.ue, false),
  text("Controller", (f) => f.controller),
  text("Law", (f) => f.law, false),
  { group: "Rate (Mbit/s)", head: "IP", value: (f) => f.throughput_mbps, show: fixed(2), first: true },
  { group: "Rate (Mbit/s)", head: "goodput", value: (f) => f.goodput_mbps, show: fixed(2) },
  ...quantiles<Flow>("One-way delay (ms)", (f) => f.owd_ms, ["p50", "p99"], "p99"),
  ...quantiles<Flow>("Round-trip time (ms)", (f) => f.rtt_ms),
  ...quantiles<Flow>("RLC queue delay (ms)", (f) => f.queue_ms, ["p99"]),
  ...quantiles<Flow>("Frame delay (ms)", (f) => f.media?.delay_ms, ["p50", "p99"]),
  { group: "Frames", head: "sent", value: (f) => f.media?.frames_sent ?? null, show: count },
  { group: "Frames", head: "lost", value: (f) => f.media?.frames_lost ?? null, show: count, first: true },
  { group: "Freezes", head: "number", value: (f) => f.media?.freezes ?? null, show: count, first: true },
  { group: "Freezes", head: "frozen (s)", value: (f) => f.media?.frozen_s ?? null, show: fixed(2), first: true },
  { group: "Delay budget", head: "ms", value: (f) => f.media?.delay_budget_ms ?? null, show: plain },
  { group: "Delay budget", head: "met (%)", value: (f) => f.media?.in_budget ?? null, show: percent(2), first: true },
  text("satisfied", (f) => yesOrNo(f.media?.satisfied), false, "Delay budget"),
  { group: "Transfers and pages", head: "completed", value: (f) => f.transfers?.completed ?? null, show: count, first: true },
  ...quantiles<Flow>("Transfer or page time (ms)", (f) => f.transfers?.completion_ms, ["p50", "p95"]),
  { group: "Packets by ECN on arrival", head: "ECT(1)", value: (f) => f.ecn?.ect1 ?? null, show: count, first: true },
  { group: "Packets by ECN on arrival", head: "ECT(0)", value: (f) => f.ecn?.ect0 ?? null, show: count },
  { group: "Packets by ECN on arrival", head: "Not-ECT", value: (f) => f.ecn?.not_ect ?? null, show: count, first: true },
  { group: "Packets by ECN on arrival", head: "CE", value: (f) => f.ecn?.ce ?? null, show: count },
  { group: "Packets", head: "sent", value: (f) => f.sent_packets, show: count },
  { group: "Packets", head: "with CE", value: (f) => f.marked, show: count },
  { group: "Packets", head: "CE (%)", value: (f) => share(f.marked, f.sent_packets), show: percent(1), first: true },
  { group: "Packets", head: "dropped", value: (f) => f.dropped, show: count, first: true },
  { group: "Packets", head: "resent", value: (f) => f.retransmissions, show: count },
];

/** Describes the recommendations of a direction. */
function anbr(of: (ue: Ue) => Anbr | null): Column<Ue>[] {
  return [
    { group: "ANBR", head: "number", value: (u) => of(u)?.recommendations ?? null, show: count },
    { group: "ANBR", head: "mean (Mbit/s)", value: (u) => of(u)?.mean_mbps ?? null, show: fixed(2) },
  ];
}

export const UE_COLUMNS: Column<Ue>[] = [
  text("UE", (u) => u.name),
  text("Channel", (u) => u.channel),
  { group: "Downlink", head: "Rate (Mbit/s)", value: (u) => u.throughput_mbps, show: fixed(2), first: true },
  ...quantiles<Ue>("RLC queue delay (ms)", (u) => u.queue_ms, ["p50", "p99"], "p99"),
  { group: "Radio", head: "mean MCS", value: (u) => u.mcs_mean, show: fixed(1), first: true },
  { group: "Radio", head: "BLER (%)", value: (u) => u.bler, show: percent(1) },
  { group: "Radio", head: "PRB share (%)", value: (u) => u.prb_share, show: percent(1), first: true },
  { group: "Packets", head: "marked", value: (u) => u.marked, show: count },
  { group: "Packets", head: "dropped", value: (u) => u.dropped, show: count },
  text("Satisfied", (u) => yesOrNo(u.satisfied)),
  ...anbr((u) => u.anbr),
  text("cell", (u) => u.cell || ABSENT, true, "At the end"),
  { group: "At the end", head: "east (m)", value: (u) => u.position_m?.[0] ?? null, show: fixed(0) },
  { group: "At the end", head: "north (m)", value: (u) => u.position_m?.[1] ?? null, show: fixed(0) },
  { group: "", head: "Handovers", value: (u) => u.handovers, show: count, first: true },
  { group: "", head: "Mean SINR (dB)", value: (u) => u.sinr_db, show: fixed(1), first: true },
];

export const UPLINK_COLUMNS: Column<Ue>[] = [
  text("UE", (u) => u.name),
  { group: "Uplink", head: "Rate (Mbit/s)", value: (u) => u.uplink?.throughput_mbps ?? null, show: fixed(2), first: true },
  ...quantiles<Ue>("Queue delay at the UE (ms)", (u) => u.uplink?.queue_ms, ["p50", "p99"], "p99"),
  { group: "Radio", head: "mean MCS", value: (u) => u.uplink?.mcs_mean ?? null, show: fixed(1) },
  { group: "Radio", head: "BLER (%)", value: (u) => u.uplink?.bler ?? null, show: percent(1) },
  { group: "Radio", head: "PRB share (%)", value: (u) => u.uplink?.prb_share ?? null, show: percent(1), first: true },
  { group: "Blocks", head: "granted", value: (u) => u.uplink?.blocks ?? null, show: count },
  { group: "Blocks", head: "HARQ", value: (u) => u.uplink?.harq_retransmissions ?? null, show: count },
  { group: "Blocks", head: "lost", value: (u) => u.uplink?.lost_blocks ?? null, show: count },
  { group: "Packets", head: "marked", value: (u) => u.uplink?.marked ?? null, show: count, first: true },
  ...anbr((u) => u.uplink_anbr),
];

export const BEARER_COLUMNS: Column<Bearer>[] = [
  text("UE", (b) => b.ue),
  text("DRB", (b) => plain(b.drb)),
  text("Direction", (b) => b.direction),
  text("QFI", (b) => b.qfi.join(" "), false, "QoS flows"),
  text("5QI", (b) => b.five_qi.join(" "), true, "QoS flows"),
  text("Law", (b) => b.law),
  { group: "", head: "Rate (Mbit/s)", value: (b) => b.throughput_mbps, show: fixed(2), first: true },
  ...quantiles<Bearer>("Queue delay (ms)", (b) => b.queue_ms, ["p99"], "p99"),
  { group: "Packets", head: "marked", value: (b) => b.marked, show: count, first: true },
  { group: "Packets", head: "dropped", value: (b) => b.dropped, show: count, first: true },
  { group: "Delay budget", head: "ms", value: (b) => b.delay_budget_ms, show: plain, first: true },
  { group: "Delay budget", head: "met (%)", value: (b) => b.in_budget, show: percent(2), first: true },
];

export const ROUTER_COLUMNS: Column<Router>[] = [
  text("Router", (r) => r.name),
  text("Law", (r) => r.law),
  { group: "", head: "Rate (Mbit/s)", value: (r) => r.throughput_mbps, show: fixed(2), first: true },
  { group: "Link", head: "mean (Mbit/s)", value: (r) => r.capacity_mbps, show: fixed(2), first: true },
  { group: "Link", head: "used (%)", value: (r) => r.utilisation, show: percent(1), first: true },
  ...quantiles<Router>("Queue delay (ms)", (r) => r.queue_ms, ["p50", "p99"]),
  { group: "Packets", head: "marked", value: (r) => r.marked, show: count, first: true },
  { group: "Packets", head: "dropped", value: (r) => r.dropped, show: count, first: true },
];

export const CELL_COLUMNS: Column<Cell>[] = [
  text("Cell", (c) => c.name),
  { group: "", head: "Rate (Mbit/s)", value: (c) => c.throughput_mbps, show: fixed(2), first: true },
  { group: "", head: "PRB used (%)", value: (c) => c.utilisation, show: percent(1), first: true, worst: true },
  { group: "UEs", head: "mean", value: (c) => c.ues, show: fixed(1), first: true },
  { group: "UEs", head: "handovers in", value: (c) => c.handovers, show: count, first: true },
  { group: "UEs", head: "satisfied (%)", value: (c) => c.satisfied, show: percent(1), first: true },
];

/** The bearers of UEs that have several: otherwise a bearer's row would repeat its UE's. Downlink rows appear only if there are any. */
export function severalBearers(bearers: Bearer[], down: boolean): Bearer[] {
  const several = new Set(bearers.filter(({ drb }) => drb !== null && drb > 1).map(({ ue }) => ue));
  return bearers.filter(({ ue, direction }) => several.has(ue) && (down || direction === "uplink"));
}
