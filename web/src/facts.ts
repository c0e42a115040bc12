/** Facts of a run in a word and a figure each. */

import { ABSENT, count, figure, percent, plain, withUnit } from "./format.ts";
import type { Measured } from "./read.ts";
import type { Live, Report } from "./report.ts";

export type Fact = [name: string, value: string];

/** Fact that was measured. */
const ifMeasured = (name: string, value: Measured, text: string): Fact[] => (value === null ? [] : [[name, text]]);

/** Length of the run, or the time that an interrupted one reached. */
function duration({ duration_s, interrupted_at_s }: Report): string {
  const whole = withUnit(plain(duration_s), "s");
  return interrupted_at_s === null ? whole : `${withUnit(plain(interrupted_at_s), "s")} of ${whole}, interrupted`;
}

/** Facts of the run, and of the whole cell. */
export function runFacts(report: Report): Fact[] {
  const { cell, ues } = report;
  const direction = (name: string, utilisation: Measured, rate: Measured): Fact[] => [
    ...ifMeasured(`${name} used`, utilisation, withUnit(percent(1)(utilisation), "%")),
    ...ifMeasured(`${name} rate`, rate, withUnit(figure(rate), "Mbit/s")),
  ];
  const sent = ues.flatMap(({ uplink }) => uplink?.throughput_mbps ?? []);
  const up = sent.length > 0 ? direction("Uplink", cell.uplink_utilisation, sent.reduce((sum, rate) => sum + rate)) : [];
  return [
    ["Duration", duration(report)],
    ["Warm-up", withUnit(plain(report.warmup_s), "s")],
    ["Seed", report.seed || ABSENT],
    ["Tidemark", report.tidemark || ABSENT],
    ...(report.beside ? [["Beside", report.beside.folder] satisfies Fact] : []),
    ...(ues.length > 0 ? direction("Downlink", cell.utilisation, cell.throughput_mbps) : []),
    ...up,
    ...ifMeasured("UEs satisfied", cell.satisfied, withUnit(percent(1)(cell.satisfied), "%")),
  ];
}

/** More figures of a live run: whether the machine kept up, on which all other figures depend. */
export function liveFacts(live: Live): Fact[] {
  const { p50, p99, p999, max } = live.lateness_us;
  return [
    ...ifMeasured("Lateness p50", p50, withUnit(figure(p50), "µs")),
    ...ifMeasured("p99", p99, withUnit(figure(p99), "µs")),
    ...ifMeasured("p99.9", p999, withUnit(figure(p999), "µs")),
    ...ifMeasured("worst", max, withUnit(figure(max), "µs")),
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
