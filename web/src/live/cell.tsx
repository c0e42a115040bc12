/** A live cell, whole or the half with the radio: its rows are UEs. */

import { type Column, text } from "../columns.ts";
import type { Fact } from "../facts.ts";
import { count, figure, fixed, percent, plain, withUnit } from "../format.ts";
import { Section } from "../parts/Section.tsx";
import { Table } from "../parts/Table.tsx";
import type { FlowSnapshot, MarkSnapshot, Snapshot, UeSnapshot } from "./fields.ts";
import type { Kind } from "./kind.ts";

function factsOf({ t_s, busy, uplink_use, lateness_us }: Snapshot): Fact[] {
  const by = (name: string, lateness: number): Fact => [name, withUnit(figure(lateness), "µs")];
  const late = lateness_us === null ? [] : [by("Lateness of slots, p50", lateness_us.p50), by("p99", lateness_us.p99), by("p99.9", lateness_us.p999)];
  const uplink: Fact[] = uplink_use === null ? [] : [["Uplink used", withUnit(percent(0)(uplink_use), "%")]];
  return [["Running for", withUnit(fixed(0)(t_s), "s")], ["Thread busy", withUnit(percent(0)(busy), "%")], ...uplink, ...late];
}

const COLUMNS: Column<UeSnapshot>[] = [
  text("UE", ({ name }) => name),
  text("Channel", ({ channel }) => channel, false),
  text("Law", ({ law }) => law),
  { group: "Downlink", head: "Mbit/s", value: ({ down_mbps }) => down_mbps, show: fixed(2), first: true },
  { group: "Downlink", head: "queue p95 (ms)", value: ({ queue_p95_ms }) => queue_p95_ms, show: fixed(1), first: true, worst: true },
  { group: "Uplink", head: "Mbit/s", value: ({ up_mbps }) => up_mbps, show: fixed(2), first: true },
  { group: "Uplink", head: "queue p95 (ms)", value: ({ uplink_queue_p95_ms }) => uplink_queue_p95_ms, show: fixed(1), first: true },
  { group: "Packets", head: "marked", value: ({ marked }) => marked, show: count, first: true },
  { group: "Packets", head: "with CE", value: ({ ce_packets }) => ce_packets, show: count },
  { group: "Packets", head: "dropped", value: ({ dropped }) => dropped, show: count, first: true },
  { group: "", head: "MCS", value: ({ mcs }) => mcs, show: plain, first: true },
  { group: "ANBR (Mbit/s)", head: "down", value: ({ recommended_down_mbps }) => recommended_down_mbps, show: fixed(1), first: true },
  { group: "ANBR (Mbit/s)", head: "up", value: ({ recommended_up_mbps }) => recommended_up_mbps, show: fixed(1), first: true },
];

const FLOW_COLUMNS: Column<FlowSnapshot>[] = [
  text("Flow", ({ name }) => name),
  text("UE", ({ ue }) => ue),
  { group: "Mbit/s", head: "down", value: ({ down_mbps }) => down_mbps, show: fixed(2), first: true },
  { group: "Mbit/s", head: "up", value: ({ up_mbps }) => up_mbps, show: fixed(2), first: true },
  { group: "", head: "RTT (ms)", value: ({ round_trip_ms }) => round_trip_ms, show: fixed(1), first: true },
  { group: "Packets by ECN on arrival", head: "ECT(1)", value: ({ ect1 }) => ect1, show: count, first: true },
  { group: "Packets by ECN on arrival", head: "ECT(0)", value: ({ ect0 }) => ect0, show: count, first: true },
  { group: "Packets by ECN on arrival", head: "Not-ECT", value: ({ not_ect }) => not_ect, show: count, first: true },
  { group: "Packets by ECN on arrival", head: "CE", value: ({ ce }) => ce, show: count, first: true },
  { group: "Packets", head: "marked", value: ({ marked }) => marked, show: count, first: true },
  { group: "Packets", head: "dropped", value: ({ dropped }) => dropped, show: count, first: true },
];

const MARK_COLUMNS: Column<MarkSnapshot>[] = [
  text("time (s)", ({ t_s }) => t_s.toFixed(3)),
  text("flow", ({ flow }) => flow),
  text("verdict", ({ verdict }) => verdict),
  text("law: rule", ({ law, rule }) => `${law}: ${rule}`),
  { group: "", head: "estimated (ms)", value: ({ estimated_ms }) => estimated_ms, show: fixed(1), first: true },
  { group: "", head: "RLC queue (ms)", value: ({ queued_ms }) => queued_ms, show: fixed(1), first: true },
];

export const CELL: Kind<Snapshot, UeSnapshot> = {
  program: "cell",
  noun: "UE",
  title: "UEs",
  rows: ({ ues }) => ues,
  nameOf: ({ name }) => name,
  facts: factsOf,
  columns: COLUMNS,
  drawn: [
    { field: "down_mbps", title: "Downlink", yLabel: "rate (Mbit/s)" },
    { field: "queue_p95_ms", title: "RLC queue delay", yLabel: "95th percentile (ms)" },
    { field: "up_mbps", title: "Uplink", yLabel: "rate (Mbit/s)" },
    { field: "uplink_queue_p95_ms", title: "Queue delay at the UE", yLabel: "95th percentile (ms)" },
    { field: "mcs", title: "MCS", yLabel: "MCS (index)", show: plain },
  ],
  above: ({ flows }) =>
    flows.length > 0 && (
      <Section id="flows" title="Flows">
        <Table caption="Flows now" rows={flows} columns={FLOW_COLUMNS} />
      </Section>
    ),
  below: ({ marks }) =>
    marks.length > 0 && (
      <Section id="marking" title="Marks">
        <Table caption="Last marks" rows={marks.toReversed()} columns={MARK_COLUMNS} />
      </Section>
    ),
};
