/** The pictures of a run, and what each draws. Every measured quantity has one. */

import { anyMeasured } from "./bands.ts";
import { cdfRows, grid, tailRows } from "./cdf.ts";
import { directions, type Sets } from "./sets.ts";
import { figure, plain, withUnit } from "./format.ts";
import { Ensemble } from "./ensemble.ts";
import { happenings, levelsOf } from "./levels.ts";
import type { Picture } from "./picture.ts";
import type { Cdf, Figure, Report } from "./report.ts";

/** Pictures of the same entities, below each other. */
export interface Stack {
  title: string;
  ensemble: Ensemble;
  pictures: Picture[];
}

/** Share of packets below which a tail has too few samples to say anything. */
const TAIL_FLOOR = 1e-3;

/** Picture over time, without the parts that all have in common. */
type OverTime = Omit<Picture, "x" | "xLabel" | "place" | "warmup" | "happenings">;

/** The usual step of the time axis, for the label of counts; absent where there is but one interval. */
function interval(times: number[]): number | null {
  const steps = times.slice(1).map((t, i) => t - (times[i] ?? 0)).sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] ?? null;
}

/** The length of an interval in words, for counts. */
function perInterval(times: number[]): string {
  const step = interval(times);
  return step === null ? "interval" : `${plain(step * 1000)} ms`;
}

/** Pictures over time that have measured values. */
function overTime(report: Report, pictures: OverTime[]): Picture[] {
  const common = {
    x: report.t_s,
    xLabel: "time (s)",
    place: (t: number) => `${t.toFixed(2)} s`,
    warmup: report.warmup_s ?? undefined,
    happenings: happenings(report),
  };
  return pictures.filter(({ rows }) => anyMeasured(rows)).map((picture) => ({ ...common, ...picture }));
}

/** Pictures of what each flow saw. */
function flowPictures(report: Report): Picture[] {
  const rows = report.series.flows;
  const numbers = new Map(report.flows.map(({ name }, index) => [name, index]));
  const spans = report.freezes.flatMap(({ flow, t_s, frozen_s }) => {
    const entity = numbers.get(flow);
    return entity === undefined ? [] : [{ entity, from: t_s, to: t_s + frozen_s }];
  });
  return overTime(report, [
    { id: "flow-rate", title: "Throughput", yLabel: "rate (Mbit/s)", rows: rows.throughput_mbps, levels: levelsOf(report).capacity },
    { id: "flow-rtt", title: "Round-trip time", yLabel: "RTT (ms)", rows: rows.rtt_ms, delay: true },
    { id: "flow-frames", title: "Frame delay, freezes shaded", yLabel: "delay (ms)", rows: rows.frame_delay_ms, delay: true, spans, levels: levelsOf(report).frames },
    { id: "flow-marks", title: "CE marks", yLabel: `packets per ${perInterval(report.t_s)}`, rows: rows.marks, show: plain },
  ]);
}

/** The state of each flow's controller. */
export function controllerPictures(report: Report): Picture[] {
  const rows = report.series.flows;
  return overTime(report, [
    { id: "flow-window", title: "Congestion window", yLabel: "window (kB)", rows: rows.cwnd_kb },
    { id: "flow-pacing", title: "Pacing rate", yLabel: "rate (Mbit/s)", rows: rows.pacing_mbps },
    { id: "flow-target", title: "Target rate for the encoder", yLabel: "rate (Mbit/s)", rows: rows.target_mbps },
    { id: "flow-alpha", title: "Estimated share of marks", yLabel: "alpha", rows: rows.alpha },
  ]);
}

/** Pictures of what UEs received; their throughput only if it differs from that of a flow. */
function uePictures(report: Report): Picture[] {
  const { ues } = report.series;
  const ofFlows = new Set(report.flows.map(({ ue }) => ue)).size === report.flows.length;
  return overTime(report, [
    { id: "ue-queue", title: "RLC queue delay", yLabel: "delay (ms)", rows: ues.queue_ms, delay: true, levels: levelsOf(report).queue },
    { id: "ue-rate", title: "Throughput", yLabel: "rate (Mbit/s)", rows: ofFlows ? [] : ues.throughput_mbps },
    { id: "ue-recommended", title: "Recommended rate", yLabel: "rate (Mbit/s)", rows: ues.recommended_mbps },
    { id: "ue-mcs", title: "MCS", yLabel: "MCS (index)", rows: ues.mcs, show: plain },
    { id: "ue-sinr", title: "SINR", yLabel: "SINR (dB)", rows: ues.sinr_db },
  ]);
}

/** Pictures of what UEs sent, how long it waited for grants, and what the gNB knew of it. */
export function uplinkPictures(report: Report): Picture[] {
  const { uplinks } = report.series;
  return overTime(report, [
    { id: "uplink-rate", title: "Uplink throughput", yLabel: "rate (Mbit/s)", rows: uplinks.throughput_mbps },
    { id: "uplink-queue", title: "Queue delay at the UE", yLabel: "delay (ms)", rows: uplinks.queue_ms, delay: true },
    { id: "uplink-mcs", title: "Uplink MCS", yLabel: "mean MCS (index)", rows: uplinks.mcs },
    { id: "uplink-reported", title: "Reported buffer", yLabel: "buffer status (kB)", rows: uplinks.reported_kb },
    { id: "uplink-recommended", title: "Recommended uplink rate", yLabel: "rate (Mbit/s)", rows: uplinks.recommended_mbps },
  ]);
}

/** Pictures of what links carried and could carry, of the queues before them, and of marks. */
export function routerPictures(report: Report): Picture[] {
  const { routers } = report.series;
  return overTime(report, [
    { id: "router-rate", title: "Throughput, at most the link's rate", yLabel: "rate (Mbit/s)", rows: routers.throughput_mbps, ceilings: routers.capacity_mbps },
    { id: "router-queue", title: "Queue delay", yLabel: "delay (ms)", rows: routers.queue_ms, delay: true },
    { id: "router-marks", title: "CE marks", yLabel: `packets per ${perInterval(report.t_s)}`, rows: routers.marks, show: plain },
  ]);
}

/** Pictures of the load of each cell, of what it carried, and of UEs that came and went. */
export function cellPictures(report: Report): Picture[] {
  const series = report.series.cells;
  const share = series.utilisation.map((row) => row.map((used) => (used === null ? null : used * 100)));
  return overTime(report, [
    { id: "cell-load", title: "Load", yLabel: "PRB used (%)", rows: share, top: 100 },
    { id: "cell-rate", title: "Throughput", yLabel: "rate (Mbit/s)", rows: series.throughput_mbps },
    { id: "cell-ues", title: "UEs", yLabel: "UEs", rows: series.ues, show: plain },
    { id: "cell-handovers", title: "Handovers", yLabel: `handovers to the cell per ${perInterval(report.t_s)}`, rows: series.handovers, show: plain },
  ]);
}

/** An application's own figures: one stack for each unit, in the order of its files. */
export function applicationStacks(report: Report): Stack[] {
  const units = [...new Set(report.application.map(({ unit }) => unit))];
  return units.map((unit, index) => {
    const figures: Figure[] = report.application.filter((figure) => figure.unit === unit);
    const ensemble = new Ensemble("figure", figures.map(({ name }) => name), [], [0]);
    const picture = { id: `application-${index + 1}`, title: `In ${unit}`, yLabel: unit, rows: figures.map(({ values }) => values), delay: unit === "ms" };
    return { title: "Figures", ensemble, pictures: overTime(report, [picture]) };
  });
}

/** Stacks over time: flows, and beside them UEs, or routers where there are no UEs. */
export function timeStacks(report: Report, { flows, ues, routers }: Sets): Stack[] {
  const { down } = directions(report);
  const ofUes = { title: "UEs", ensemble: ues, pictures: down ? uePictures(report) : uplinkPictures(report) };
  const ofRouters = { title: "Routers", ensemble: routers, pictures: routerPictures(report) };
  const beside = report.ues.length > 0 ? ofUes : ofRouters;
  return [{ title: "Flows", ensemble: flows, pictures: flowPictures(report) }, beside].filter(({ pictures }) => pictures.length > 0);
}

/** Distributions of delays, or their tails. */
export function distributions(report: Report, tail: boolean): Picture[] {
  const of = (id: string, title: string, what: string, cdfs: Cdf[]): Picture => {
    const x = grid(cdfs);
    const rows = cdfRows(cdfs, x);
    const axes = tail ? { yLabel: `share of ${what} above`, rows: tailRows(rows, TAIL_FLOOR), logYFrom: TAIL_FLOOR } : { yLabel: `share of ${what} up to`, rows, top: 1 };
    return { id, title, x, xLabel: "delay (ms), logarithmic", logX: true, place: (delay) => withUnit(figure(delay), "ms"), ...axes };
  };
  const { flows } = report;
  return [
    of("owd", "One-way delay", "packets", flows.map(({ owd_cdf }) => owd_cdf)),
    of("queue", "RLC queue delay", "packets", flows.map(({ queue_cdf }) => queue_cdf)),
    of("frames", "Frame delay", "frames", flows.map(({ frame_cdf }) => frame_cdf)),
    of("transfers", "Transfer or page time", "transfers", flows.map(({ completion_cdf }) => completion_cdf)),
  ].filter(({ rows, x }) => x.length > 0 && anyMeasured(rows));
}
