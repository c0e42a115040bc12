/** A CU: its rows are bearers, whose queues are in the DU. */

import { type Column, text } from "../columns.ts";
import { count, fixed, withUnit } from "../format.ts";
import type { BearerStatus, CuStatus } from "./fields.ts";
import type { Kind } from "./kind.ts";

const nameOf = ({ ue, drb }: BearerStatus): string => `${ue}, DRB ${drb}`;

const COLUMNS: Column<BearerStatus>[] = [
  text("Bearer", nameOf),
  text("Law", ({ law }) => law),
  { group: "Estimate of the DU's queue", head: "delay (ms)", value: ({ queue_ms }) => queue_ms, show: fixed(1), first: true, worst: true },
  { group: "Estimate of the DU's queue", head: "bytes", value: ({ backlog_bytes }) => backlog_bytes, show: count },
  { group: "Estimate of the DU's queue", head: "egress (Mbit/s)", value: ({ egress_mbps }) => egress_mbps, show: fixed(2), first: true },
  { group: "Packets", head: "down", value: ({ packets }) => packets, show: count, first: true },
  { group: "Packets", head: "marked", value: ({ marked }) => marked, show: count, first: true },
  { group: "Packets", head: "dropped", value: ({ dropped }) => dropped, show: count, first: true },
  { group: "Packets", head: "lost at F1-U", value: ({ lost }) => lost, show: count, first: true },
  { group: "Bytes", head: "sent", value: ({ sent_bytes }) => sent_bytes, show: count },
  { group: "Bytes", head: "not yet reported", value: ({ standing_bytes }) => standing_bytes, show: count },
  { group: "Bytes", head: "held", value: ({ held_bytes }) => held_bytes, show: count },
  { group: "Reports", head: "number", value: ({ reports }) => reports, show: count, first: true },
  { group: "Reports", head: "age (ms)", value: ({ report_age_ms }) => report_age_ms, show: fixed(0) },
];

export const CU: Kind<CuStatus, BearerStatus> = {
  program: "CU",
  noun: "bearer",
  title: "Bearers",
  rows: ({ bearers }) => bearers,
  nameOf,
  facts: ({ t_s, downlink, uplink, held, overflow, unroutable }) => [
    ["Running for", withUnit(fixed(0)(t_s), "s")],
    ["Packets to the DU", count(downlink)],
    ["Packets from the DU", count(uplink)],
    ["Held", count(held)],
    ["Dropped by overflow", count(overflow)],
    ["Unroutable", count(unroutable)],
  ],
  columns: COLUMNS,
  drawn: [
    { field: "sent_bytes", title: "Sent to the DU", yLabel: "rate (Mbit/s)", perSecond: 8e-6 },
    { field: "queue_ms", title: "Delay in the DU's queue, estimated", yLabel: "longest (ms)" },
    { field: "egress_mbps", title: "Rate out of the DU's queue, estimated", yLabel: "rate (Mbit/s)" },
    { field: "marked", title: "Marks", yLabel: "packets per s", perSecond: 1 },
  ],
};
