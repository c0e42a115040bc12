/** The plots over time: what the cell did to each UE beside what each flow saw, under one cursor. */

import { anyMeasured } from "./bands.ts";
import type { Rows } from "./read.ts";
import type { Event, Report } from "./report.ts";
import { el } from "./dom.ts";
import type { Ensemble } from "./ensemble.ts";
import { plain } from "./format.ts";
import { legend } from "./legend.ts";
import { Panel, type PanelOptions } from "./panel.ts";
import type { Stack } from "./stack.ts";

/** The usual step of the time axis, for the label of counts; absent where there is but one interval. */
export function interval(times: number[]): number | null {
  const steps = times.slice(1).map((t, i) => t - (times[i] ?? 0)).sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] ?? null;
}

/** The length of an interval in words, for counts. */
export function perInterval(times: number[]): string {
  const step = interval(times);
  return step === null ? "interval" : `${plain(step * 1000)} ms`;
}

/** Events of the cell, each with its time: the dashed lines of the plots. */
export function eventsNote(events: Event[]): string {
  const said = events.map(({ t_s, event, ue, detail }) => [`${t_s.toFixed(1)} s:`, event, ue, detail].filter((part) => part !== "").join(" "));
  return `Dashed lines: ${said.join("; ")}.`;
}

/** Options that all plots over time have in common. */
export type Common = Pick<PanelOptions, "x" | "xLabel" | "place" | "warmup" | "events">;

export function overTime(report: Report): Common {
  return {
    x: report.t_s,
    xLabel: "time (s)",
    place: (t: number) => `${t.toFixed(2)} s`,
    warmup: report.warmup_s ?? undefined,
    events: report.events.map(({ t_s }) => t_s),
  };
}

/** A plot over time, but for what all have in common. */
export type TimePanel = Pick<PanelOptions, "title" | "yLabel" | "rows" | "delay" | "show" | "top" | "spans">;

/** Plot that stands on the page where there is something to draw. */
function ifMeasured(panel: TimePanel): TimePanel[] {
  return anyMeasured(panel.rows) ? [panel] : [];
}

/** Plots of ANBR's recommendations, where there were any. */
function recommended(title: string, rows: Rows): TimePanel[] {
  return ifMeasured({ title, yLabel: "rate (Mbit/s)", rows });
}

/** Plots of the controllers' state beyond the window; of each what any controller of the run has. */
function statePanels({ series }: Report): TimePanel[] {
  return [
    { title: "Pacing rate", yLabel: "rate (Mbit/s)", rows: series.flows.pacing_mbps },
    { title: "Rate asked of the encoder", yLabel: "rate (Mbit/s)", rows: series.flows.target_mbps },
    { title: "Share of marks, as estimated", yLabel: "alpha", rows: series.flows.alpha },
  ].flatMap(ifMeasured);
}

/** Plots of the uplink: what UEs got through, how long it waited for grants, and what the gNB knew of it. */
export function uplinkPanels({ series: { uplinks } }: Report): TimePanel[] {
  return [
    { title: "Uplink throughput", yLabel: "rate (Mbit/s)", rows: uplinks.throughput_mbps },
    { title: "Queue delay at the UE", yLabel: "delay (ms)", rows: uplinks.queue_ms, delay: true },
    { title: "Uplink MCS", yLabel: "mean MCS (index)", rows: uplinks.mcs },
    { title: "Reported buffer", yLabel: "buffer status (kB)", rows: uplinks.reported_kb },
    ...recommended("Recommended uplink rate", uplinks.recommended_mbps),
  ];
}

/** Plot of the delays of frames, with the freezes, where there were frames. */
function framePanels({ flows, series, freezes }: Report): TimePanel[] {
  const numbers = new Map(flows.map(({ name }, index) => [name, index]));
  const spans = freezes.flatMap(({ flow, t_s, frozen_s }) => {
    const entity = numbers.get(flow);
    return entity === undefined ? [] : [{ entity, from: t_s, to: t_s + frozen_s }];
  });
  return ifMeasured({ title: "Frame delay, freezes shaded", yLabel: "delay (ms)", rows: series.flows.frame_delay_ms, delay: true, spans });
}

/** Column beside the flows: its title, whose it is, and its plots. */
export type Beside = [title: string, ensemble: Ensemble, panels: TimePanel[]];

/** Plots of what UEs received; where they received nothing, of what they sent. */
export function uePanels(report: Report, down: boolean): TimePanel[] {
  if (!down) return uplinkPanels(report);
  const { ues } = report.series;
  return [
    { title: "Throughput", yLabel: "rate (Mbit/s)", rows: ues.throughput_mbps },
    { title: "RLC queue delay", yLabel: "delay (ms)", rows: ues.queue_ms, delay: true },
    { title: "MCS", yLabel: "MCS (index)", rows: ues.mcs, show: plain },
    ...recommended("Recommended rate", ues.recommended_mbps),
  ];
}

export function timeSeries(report: Report, flows: Ensemble, beside: Beside, stack: Stack): HTMLElement {
  const common = overTime(report);
  const per = perInterval(report.t_s);
  const column = (title: string, ensemble: Ensemble, panels: TimePanel[]): HTMLElement =>
    el("div", { class: "column" }, legend(title, ensemble), ...panels.map((panel) => new Panel({ ...common, ...panel }, ensemble, stack).root));
  const rows = report.series.flows;
  return el(
    "div",
    { class: "columns" },
    column("Flows", flows, [
      { title: "Throughput", yLabel: "rate (Mbit/s)", rows: rows.throughput_mbps },
      { title: "Round-trip time", yLabel: "RTT (ms)", rows: rows.rtt_ms, delay: true },
      { title: "CE marks", yLabel: `packets per ${per}`, rows: rows.marks, show: plain },
      { title: "Congestion window", yLabel: "window (kB)", rows: rows.cwnd_kb },
      ...statePanels(report),
      ...framePanels(report),
    ]),
    column(...beside),
  );
}
