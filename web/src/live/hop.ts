/** A hop: its rows are directions, each with a link and a queue. */

import { type Column, text } from "../columns.ts";
import { count, fixed, withUnit } from "../format.ts";
import type { HopStatus, WayStatus } from "./fields.ts";
import type { Kind } from "./kind.ts";

const COLUMNS: Column<WayStatus>[] = [
  text("Direction", ({ name }) => name),
  { group: "", head: "Link (Mbit/s)", value: ({ rate_mbps }) => rate_mbps, show: fixed(2), first: true },
  { group: "", head: "Queue p95 (ms)", value: ({ queue_p95_ms }) => queue_p95_ms, show: fixed(1), first: true },
  { group: "Packets", head: "in", value: ({ packets_in }) => packets_in, show: count, first: true },
  { group: "Packets", head: "out", value: ({ packets_out }) => packets_out, show: count, first: true },
  { group: "Packets", head: "marked", value: ({ marked }) => marked, show: count, first: true },
  { group: "Packets", head: "dropped", value: ({ dropped }) => dropped, show: count, first: true },
];

export const HOP: Kind<HopStatus, WayStatus> = {
  program: "hop",
  noun: "direction",
  title: "Directions",
  rows: ({ ways }) => ways,
  nameOf: ({ name }) => name,
  facts: ({ t_s, refused, unreadable, overload, lost_by_ports }) => [
    ["Running for", withUnit(fixed(0)(t_s), "s")],
    ["Refused by the kernel", count(refused)],
    ["Unreadable", count(unreadable)],
    ["Dropped by overload", count(overload)],
    ["Lost by interfaces", count(lost_by_ports)],
  ],
  columns: COLUMNS,
  drawn: [
    { field: "carried_bytes", title: "Throughput, and the link's rate", yLabel: "rate (Mbit/s)", perSecond: 8e-6, ceiling: "rate_mbps" },
    { field: "queue_p95_ms", title: "Queue delay", yLabel: "95th percentile (ms)" },
    { field: "marked", title: "Marks", yLabel: "packets per s", perSecond: 1 },
    { field: "dropped", title: "Drops", yLabel: "packets per s", perSecond: 1 },
  ],
};
