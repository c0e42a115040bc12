/** The columns of the tables, with the units in their heads. */

import type { Measured } from "./read.ts";
import type { Anbr, Bearer, Cell, Flow, Live, Quantiles, Report, Router, Ue } from "./report.ts";
import { ABSENT, count, figure, fixed, percent, plain, withUnit } from "./format.ts";
import type { Column } from "./table.ts";

const QUANTILES = [
  ["mean", "mean"],
  ["p50", "p50"],
  ["p95", "p95"],
  ["p99", "p99"],
  ["p999", "p99.9"],
] as const;

const NOTHING: Quantiles = { mean: null, p50: null, p95: null, p99: null, p999: null };

function quantiles<T>(group: string, of: (row: T) => Quantiles): Column<T>[] {
  return QUANTILES.map(([key, head]) => ({ group, head, value: (row) => of(row)[key], show: fixed(1) }));
}

function share(part: Measured, whole: Measured): Measured {
  return part === null || whole === null || whole === 0 ? null : part / whole;
}

export const FLOW_COLUMNS: Column<Flow>[] = [
  { group: "", head: "Flow", value: (f) => f.name },
  { group: "", head: "UE", value: (f) => f.ue },
  { group: "", head: "Controller", value: (f) => f.controller },
  { group: "", head: "Law", value: (f) => f.law },
  { group: "Rate (Mbit/s)", head: "IP", value: (f) => f.throughput_mbps, show: fixed(2) },
  { group: "Rate (Mbit/s)", head: "goodput", value: (f) => f.goodput_mbps, show: fixed(2) },
  ...quantiles<Flow>("One-way delay (ms)", (f) => f.owd_ms),
  ...quantiles<Flow>("Round-trip time (ms)", (f) => f.rtt_ms),
  ...quantiles<Flow>("RLC queue delay (ms)", (f) => f.queue_ms),
  { group: "Packets", head: "sent", value: (f) => f.sent_packets, show: count },
  { group: "Packets", head: "with CE", value: (f) => f.marked, show: count },
  { group: "Packets", head: "CE (%)", value: (f) => share(f.marked, f.sent_packets), show: percent(1) },
  { group: "Packets", head: "dropped", value: (f) => f.dropped, show: count },
  { group: "Packets", head: "resent", value: (f) => f.retransmissions, show: count },
];

/** Word for what is true or not; a dash where nobody knows. */
function yesOrNo(value: boolean | null | undefined): string {
  return value == null ? ABSENT : value ? "yes" : "no";
}

export const FRAME_COLUMNS: Column<Flow>[] = [
  { group: "", head: "Flow", value: (f) => f.name },
  { group: "", head: "Controller", value: (f) => f.controller },
  { group: "", head: "Law", value: (f) => f.law },
  { group: "Frames", head: "sent", value: (f) => f.media?.frames_sent ?? null, show: count },
  { group: "Frames", head: "lost", value: (f) => f.media?.frames_lost ?? null, show: count },
  ...quantiles<Flow>("Frame delay (ms)", (f) => f.media?.delay_ms ?? NOTHING),
  { group: "Freezes", head: "number", value: (f) => f.media?.freezes ?? null, show: count },
  { group: "Freezes", head: "frozen (s)", value: (f) => f.media?.frozen_s ?? null, show: fixed(2) },
  { group: "Delay budget", head: "ms", value: (f) => f.media?.delay_budget_ms ?? null, show: plain },
  { group: "Delay budget", head: "met (%)", value: (f) => f.media?.in_budget ?? null, show: percent(2) },
  { group: "Delay budget", head: "satisfied", value: (f) => yesOrNo(f.media?.satisfied) },
];

export const TRANSFER_COLUMNS: Column<Flow>[] = [
  { group: "", head: "Flow", value: (f) => f.name },
  { group: "", head: "Controller", value: (f) => f.controller },
  { group: "", head: "Law", value: (f) => f.law },
  { group: "", head: "Completed", value: (f) => f.transfers?.completed ?? null, show: count },
  ...quantiles<Flow>("Completion time (ms)", (f) => f.transfers?.completion_ms ?? NOTHING),
];

/** Describes the recommendations of a direction. */
function anbr(of: (ue: Ue) => Anbr | null): Column<Ue>[] {
  return [
    { group: "ANBR", head: "number", value: (u) => of(u)?.recommendations ?? null, show: count },
    { group: "ANBR", head: "mean (Mbit/s)", value: (u) => of(u)?.mean_mbps ?? null, show: fixed(2) },
  ];
}

/** Lists what only a UE of a network has. */
const PLACE_COLUMNS: Column<Ue>[] = [
  { group: "At the end", head: "cell", value: (u) => u.cell || ABSENT },
  { group: "At the end", head: "east (m)", value: (u) => u.position_m?.[0] ?? null, show: fixed(0) },
  { group: "At the end", head: "north (m)", value: (u) => u.position_m?.[1] ?? null, show: fixed(0) },
  { group: "", head: "Handovers", value: (u) => u.handovers, show: count },
  { group: "", head: "Mean SINR (dB)", value: (u) => u.sinr_db, show: fixed(1) },
];

/** Places and recommendations have columns only where there are any. */
export function ueColumns(ues: Ue[]): Column<Ue>[] {
  return [
    ...UE_COLUMNS,
    ...(ues.some((ue) => ue.satisfied !== null) ? [{ group: "", head: "Satisfied", value: (u: Ue) => yesOrNo(u.satisfied) }] : []),
    ...(ues.some((ue) => ue.anbr) ? anbr((ue) => ue.anbr) : []),
    ...(ues.some((ue) => ue.cell !== "") ? PLACE_COLUMNS : []),
  ];
}

export function uplinkColumns(ues: Ue[], down: boolean): Column<Ue>[] {
  return [
    ...UPLINK_COLUMNS,
    ...(ues.some((ue) => ue.uplink_anbr) ? anbr((ue) => ue.uplink_anbr) : []),
    // Where there is no table of downlinks that says it.
    ...(!down && ues.some((ue) => ue.cell !== "") ? PLACE_COLUMNS : []),
  ];
}

const UE_COLUMNS: Column<Ue>[] = [
  { group: "", head: "UE", value: (u) => u.name },
  { group: "", head: "Channel", value: (u) => u.channel },
  { group: "Downlink", head: "Rate (Mbit/s)", value: (u) => u.throughput_mbps, show: fixed(2) },
  ...quantiles<Ue>("RLC queue delay (ms)", (u) => u.queue_ms),
  { group: "Radio", head: "mean MCS", value: (u) => u.mcs_mean, show: fixed(1) },
  { group: "Radio", head: "BLER (%)", value: (u) => u.bler, show: percent(1) },
  { group: "Radio", head: "PRB share (%)", value: (u) => u.prb_share, show: percent(1) },
  { group: "Packets", head: "marked", value: (u) => u.marked, show: count },
  { group: "Packets", head: "dropped", value: (u) => u.dropped, show: count },
];

/** A row for every UE, so that a row names the same UE as in the table of UEs. */
const UPLINK_COLUMNS: Column<Ue>[] = [
  { group: "", head: "UE", value: (u) => u.name },
  { group: "Uplink", head: "Rate (Mbit/s)", value: (u) => u.uplink?.throughput_mbps ?? null, show: fixed(2) },
  ...quantiles<Ue>("Queue delay at the UE (ms)", (u) => u.uplink?.queue_ms ?? NOTHING),
  { group: "Radio", head: "mean MCS", value: (u) => u.uplink?.mcs_mean ?? null, show: fixed(1) },
  { group: "Radio", head: "BLER (%)", value: (u) => u.uplink?.bler ?? null, show: percent(1) },
  { group: "Radio", head: "PRB share (%)", value: (u) => u.uplink?.prb_share ?? null, show: percent(1) },
  { group: "Blocks", head: "granted", value: (u) => u.uplink?.blocks ?? null, show: count },
  { group: "Blocks", head: "HARQ", value: (u) => u.uplink?.harq_retransmissions ?? null, show: count },
  { group: "Blocks", head: "lost", value: (u) => u.uplink?.lost_blocks ?? null, show: count },
  { group: "Packets", head: "marked", value: (u) => u.uplink?.marked ?? null, show: count },
];

export const BEARER_COLUMNS: Column<Bearer>[] = [
  { group: "", head: "UE", value: (b) => b.ue },
  { group: "", head: "DRB", value: (b) => b.drb, show: plain },
  { group: "", head: "Direction", value: (b) => b.direction },
  { group: "QoS flows", head: "QFI", value: (b) => b.qfi.join(" ") },
  { group: "QoS flows", head: "5QI", value: (b) => b.five_qi.join(" ") },
  { group: "", head: "Law", value: (b) => b.law },
  { group: "", head: "Rate (Mbit/s)", value: (b) => b.throughput_mbps, show: fixed(2) },
  ...quantiles<Bearer>("Queue delay (ms)", (b) => b.queue_ms),
  { group: "Packets", head: "marked", value: (b) => b.marked, show: count },
  { group: "Packets", head: "dropped", value: (b) => b.dropped, show: count },
  { group: "Delay budget", head: "ms", value: (b) => b.delay_budget_ms, show: plain },
  { group: "Delay budget", head: "met (%)", value: (b) => b.in_budget, show: percent(2) },
];

export const ROUTER_COLUMNS: Column<Router>[] = [
  { group: "", head: "Router", value: (r) => r.name },
  { group: "", head: "Law", value: (r) => r.law },
  { group: "", head: "Rate (Mbit/s)", value: (r) => r.throughput_mbps, show: fixed(2) },
  { group: "Link", head: "mean (Mbit/s)", value: (r) => r.capacity_mbps, show: fixed(2) },
  { group: "Link", head: "used (%)", value: (r) => r.utilisation, show: percent(1) },
  ...quantiles<Router>("Queue delay (ms)", (r) => r.queue_ms),
  { group: "Packets", head: "marked", value: (r) => r.marked, show: count },
  { group: "Packets", head: "dropped", value: (r) => r.dropped, show: count },
];

/** Satisfied UEs have a column only where some UEs have frames. */
export function cellColumns(cells: Cell[]): Column<Cell>[] {
  const satisfied = { group: "UEs", head: "satisfied (%)", value: (c: Cell) => c.satisfied, show: percent(1) };
  return [...CELL_COLUMNS, ...(cells.some((cell) => cell.satisfied !== null) ? [satisfied] : [])];
}

const CELL_COLUMNS: Column<Cell>[] = [
  { group: "", head: "Cell", value: (c) => c.name },
  { group: "", head: "Rate (Mbit/s)", value: (c) => c.throughput_mbps, show: fixed(2) },
  { group: "", head: "PRB used (%)", value: (c) => c.utilisation, show: percent(1) },
  { group: "UEs", head: "mean", value: (c) => c.ues, show: fixed(1) },
  { group: "UEs", head: "handed in", value: (c) => c.handovers, show: count },
];

/** The bearers of UEs that have several: elsewhere a bearer's row would repeat its UE's. Of downlinks only where there are any. */
export function severalBearers(bearers: Bearer[], down: boolean): Bearer[] {
  const several = new Set(bearers.filter(({ drb }) => drb !== null && drb > 1).map(({ ue }) => ue));
  return bearers.filter(({ ue, direction }) => several.has(ue) && (down || direction === "uplink"));
}

/** The line under the title: what the whole cell did. */
export function cellFacts({ cell, ues }: Report): [string, string][] {
  const facts = (direction: string, utilisation: Measured, rate: Measured): [string, string][] => [
    [`${direction} utilisation`, withUnit(percent(1)(utilisation), "%")],
    [`${direction} throughput`, withUnit(figure(rate), "Mbit/s")],
  ];
  const sent = ues.flatMap(({ uplink }) => uplink?.throughput_mbps ?? []);
  const up = sent.length > 0 ? facts("Uplink", cell.uplink_utilisation, sent.reduce((sum, rate) => sum + rate)) : [];
  const satisfied = ifMeasured("UEs satisfied", cell.satisfied, withUnit(percent(1)(cell.satisfied), "%"));
  return [...facts("Downlink", cell.utilisation, cell.throughput_mbps), ...up, ...satisfied];
}

/** Directions in which UEs had packets; a run without any is shown as one of downloads. */
export function directions({ ues }: Report): { down: boolean; up: boolean } {
  const up = ues.some(({ uplink }) => uplink);
  return { down: !up || ues.some(({ throughput_mbps }) => throughput_mbps !== null && throughput_mbps > 0), up };
}

/** Fact that only a cell has, or only a hop. */
function ifMeasured(name: string, value: Measured, text: string): [string, string][] {
  return value === null ? [] : [[name, text]];
}

/** Figures of a live run besides: whether the machine kept up, on which every other figure hangs. */
export function liveFacts(live: Live): [string, string][] {
  const { p50, p99, p999, max } = live.lateness_us;
  return [
    ["Lateness p50", withUnit(figure(p50), "µs")],
    ["p99", withUnit(figure(p99), "µs")],
    ["p99.9", withUnit(figure(p999), "µs")],
    ["worst", withUnit(figure(max), "µs")],
    ["Thread busy", withUnit(percent(1)(live.busy), "%")],
    ["Priority", live.real_time_priority ? "real time" : "ordinary"],
    ["Packets in", count(live.packets_in)],
    ["Packets out", count(live.packets_out)],
    ["Refused", count(live.refused)],
    ...ifMeasured("Unroutable", live.unroutable, count(live.unroutable)),
    ...ifMeasured("Unreadable", live.unreadable, count(live.unreadable)),
    ["Dropped by overload", count(live.overload)],
    ...ifMeasured("Refused at sockets", live.not_admitted, count(live.not_admitted)),
    ["Lost by devices", count(live.device_drops)],
    ...ifMeasured("Uplink over 90 % used", live.uplink_busy_s, withUnit(plain(live.uplink_busy_s), "s")),
  ];
}
