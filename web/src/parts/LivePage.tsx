import type { Signal } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { CellNow, Drawn, FlowNow, MarkNow, Past, UeNow } from "../cell.ts";
import { type Column, text } from "../columns.ts";
import type { Controlled, Send } from "../controls.ts";
import { Ensemble } from "../ensemble.ts";
import type { Fact } from "../facts.ts";
import { count, figure, fixed, percent, plain, withUnit } from "../format.ts";
import type { Picture } from "../picture.ts";
import { View } from "../view.ts";
import { Controls } from "./Controls.tsx";
import { Facts } from "./Facts.tsx";
import { Section } from "./Section.tsx";
import { Wide } from "./Stacks.tsx";
import { Table } from "./Table.tsx";
import { Theme } from "./Theme.tsx";

interface Props {
  now: Signal<CellNow | null>;
  past: Signal<Past>;
  ended: Signal<boolean>;
  controlled: Signal<Controlled | null>;
  /** Sends commands; null for a page that has no token. */
  send: Send | null;
}

/** Page of a live cell: its state, and what it did since its start. */
export function LivePage({ now, past, ended, controlled, send }: Props) {
  const cell = now.value;
  if (cell === null) return <h1>{ended.value ? "The cell can't be reached" : "Connecting to the cell"}</h1>;
  const controls = controlled.value && send && <Controls controlled={controlled.value} send={send} />;
  return <Running cell={cell} past={past.value} hasEnded={ended.value} controls={controls} />;
}

function Running({ cell, past, hasEnded, controls }: { cell: CellNow; past: Past; hasEnded: boolean; controls: ComponentChildren }) {
  const names = cell.ues.map(({ name }) => name);
  const ues = useMemo(() => new Ensemble("UE", names, [], [0]), [String(names)]);
  const view = useMemo(() => new View([0, 1]), []);
  view.grow([0, Math.max(1, past.t_s.at(-1) ?? 1)]);
  return (
    <>
      <header>
        <div class="title">
          <h1>{cell.name}</h1>
          <Theme />
        </div>
        <Facts facts={factsOf(cell)} />
        {hasEnded && <p class="note">The cell has ended, or can't be reached.</p>}
        <div role="status">{cell.warning !== null && <p class="warning">{cell.warning}</p>}</div>
      </header>
      <Section id="ues" title="UEs">
        <Table caption="UEs now" rows={cell.ues} columns={COLUMNS} ensemble={ues} />
      </Section>
      {controls}
      {cell.flows.length > 0 && (
        <Section id="flows" title="Flows">
          <Table caption="Flows now" rows={cell.flows} columns={FLOW_COLUMNS} />
        </Section>
      )}
      <Section id="time" title="Since the start">
        <Wide stack={{ title: "UEs", ensemble: ues, pictures: picturesOf(past) }} view={view} />
      </Section>
      {cell.marks.length > 0 && (
        <Section id="marking" title="Marks">
          <Table caption="Last marks" rows={cell.marks.toReversed()} columns={MARK_COLUMNS} />
        </Section>
      )}
    </>
  );
}

function factsOf({ t_s, busy, uplink_use, lateness_us }: CellNow): Fact[] {
  const by = (name: string, lateness: number): Fact => [name, withUnit(figure(lateness), "µs")];
  const late = lateness_us === null ? [] : [by("Lateness of slots, p50", lateness_us.p50), by("p99", lateness_us.p99), by("p99.9", lateness_us.p999)];
  const uplink: Fact[] = uplink_use === null ? [] : [["Uplink used", withUnit(percent(0)(uplink_use), "%")]];
  return [["Running for", withUnit(fixed(0)(t_s), "s")], ["Thread busy", withUnit(percent(0)(busy), "%")], ...uplink, ...late];
}

/** Plots over time; of what no UE has there is none. */
export function picturesOf({ t_s, ues }: Past): Picture[] {
  const common = { xLabel: "time (s)", x: t_s, place: (t: number) => `${t.toFixed(1)} s` };
  const picture = (key: Drawn, title: string, yLabel: string, more: Partial<Picture> = {}): Picture => ({ ...common, id: key, title, yLabel, rows: ues[key], ...more });
  return [
    picture("down_mbps", "Downlink", "rate (Mbit/s)"),
    picture("queue_p95_ms", "RLC queue delay", "95th percentile (ms)"),
    picture("up_mbps", "Uplink", "rate (Mbit/s)"),
    picture("uplink_queue_p95_ms", "Queue delay at the UE", "95th percentile (ms)"),
    picture("mcs", "MCS", "MCS (index)", { show: plain }),
  ].filter(({ rows }) => rows.some((row) => row.some((value) => value !== null)));
}

const COLUMNS: Column<UeNow>[] = [
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

const FLOW_COLUMNS: Column<FlowNow>[] = [
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

const MARK_COLUMNS: Column<MarkNow>[] = [
  text("time (s)", ({ t_s }) => t_s.toFixed(3)),
  text("flow", ({ flow }) => flow),
  text("verdict", ({ verdict }) => verdict),
  text("law: rule", ({ law, rule }) => `${law}: ${rule}`),
  { group: "", head: "estimated (ms)", value: ({ estimated_ms }) => estimated_ms, show: fixed(1), first: true },
  { group: "", head: "RLC queue (ms)", value: ({ queued_ms }) => queued_ms, show: fixed(1), first: true },
];
