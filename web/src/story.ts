/** Story of a run: a few sentences, each of which links to a picture. */

import { Besides, saidOf } from "./beside.ts";
import { share } from "./columns.ts";
import { count, figure, percent, plain, withUnit } from "./format.ts";
import { FULL } from "./levels.ts";
import type { Measured } from "./read.ts";
import type { Flow, Report } from "./report.ts";
import { directions } from "./sets.ts";

export interface Sentence {
  /** Subject of the sentence, a link to the picture. */
  subject: string;
  rest: string;
  /** Picture that shows the fact. */
  panel: string;
  /** Flows or UEs that the picture should show. */
  flows?: string[];
  ues?: string[];
}

const ms = (value: Measured): string => withUnit(figure(value), "ms");
const mbps = (value: Measured): string => withUnit(figure(value), "Mbit/s");
/** Share of one in per cent, with two digits where it is small. */
const percentage = (value: Measured): string => withUnit(percent(value === null || value >= 0.1 ? 0 : value >= 0.001 || value === 0 ? 1 : 2)(value), "%");

/** The entry with the largest value; none if nothing was measured. */
export function largest<T>(of: T[], value: (one: T) => Measured): T | undefined {
  return of.filter((one) => value(one) !== null).reduce<T | undefined>((best, one) => (best === undefined || (value(one) ?? 0) > (value(best) ?? 0) ? one : best), undefined);
}

/** Share of a row's measured values after the warm-up for which `holds`; null where there are none. */
function shareOf({ t_s, warmup_s }: Report, row: Measured[], holds: (value: number, index: number) => boolean): Measured {
  const measured = row.flatMap((value, index) => (value !== null && (t_s[index] ?? 0) > (warmup_s ?? 0) ? [holds(value, index)] : []));
  return measured.length === 0 ? null : measured.filter((held) => held).length / measured.length;
}

const besides = ({ beside }: Report): Besides => new Besides(beside);

/** The story of a run: at most one sentence on each subject. */
export function story(report: Report): Sentence[] {
  return [bottleneck(report), queue(report), marks(report), frames(report), transfers(report), rates(report)].filter((sentence) => sentence !== null).slice(0, 5);
}

function bottleneck(report: Report): Sentence | null {
  const cell = largest(report.cells, ({ utilisation }) => utilisation);
  const link = fullestLink(report);
  const uplink = uplinkOf(report);
  if (uplink) return uplink;
  const used = cell ? cell.utilisation : report.ues.length > 0 ? report.cell.utilisation : null;
  const name = cell ? `cell ${cell.name}` : "the cell";
  const rate = cell ? cell.throughput_mbps : report.cell.throughput_mbps;
  const panel = cell ? "cell-load" : "flow-rate";
  const beside = besides(report).cell(cell?.name, (same) => same.utilisation === null ? null : `${percentage(same.utilisation)}, ${mbps(same.throughput_mbps)}`);
  if (used !== null && used >= FULL) return { subject: `${upper(name)} is a bottleneck`, rest: `: ${percentage(used)} of its resource blocks carried data, ${mbps(rate)} in total${beside}.`, panel };
  if (link && link.full >= 0.1) return { subject: `${link.name} is a bottleneck`, rest: `: its link was full for ${percentage(link.full)} of the time.`, panel: "router-rate" };
  if (used !== null) return { subject: "The radio was not full", rest: `: ${name} used ${percentage(used)} of its resource blocks${cell ? ", more than any other" : ""}${beside}.`, panel };
  if (link) return { subject: "No link was full", rest: ` for long: the fullest, ${link.name}, was full for ${percentage(link.full)} of the time.`, panel: "router-rate" };
  return null;
}

/** Sentence on the uplink, if it is full and fuller than the downlink, or if there is no downlink. */
function uplinkOf(report: Report): Sentence | null {
  const { utilisation, uplink_utilisation: used } = report.cell;
  const { down } = directions(report);
  if (used === null || (down && (used < FULL || used <= (utilisation ?? 0)))) return null;
  const rate = sentOf(report.ues);
  const beside = besides(report).whole(({ cell, ues }) => cell.uplink_utilisation === null ? null : `${percentage(cell.uplink_utilisation)}, ${mbps(sentOf(ues))}`);
  const said = `UEs used ${percentage(used)} of its resource blocks and sent ${mbps(rate)} in total${beside}.`;
  return { subject: used >= FULL ? "The uplink is a bottleneck" : "The uplink was not full", rest: `: ${said}`, panel: "uplink-rate" };
}

/** Rate of what all UEs sent. */
const sentOf = (ues: Pick<Report["ues"][number], "uplink">[]): number => ues.reduce((sum, { uplink }) => sum + (uplink?.throughput_mbps ?? 0), 0);

/** The router whose link was full for the largest share of the time. */
function fullestLink(report: Report): { name: string; full: number } | undefined {
  const { throughput_mbps, capacity_mbps } = report.series.routers;
  const links = report.routers.map(({ name }, router) => {
    const isFull = (rate: number, index: number): boolean => rate >= FULL * (capacity_mbps[router]?.[index] ?? Infinity);
    return { name, full: shareOf(report, throughput_mbps[router] ?? [], isFull) };
  });
  const found = largest(links, ({ full }) => full);
  return found && { name: found.name, full: found.full ?? 0 };
}

function queue(report: Report): Sentence | null {
  const { down } = directions(report);
  const p99 = (ue: Pick<Report["ues"][number], "queue_ms" | "uplink">): Measured => (down ? ue.queue_ms.p99 : (ue.uplink?.queue_ms.p99 ?? null));
  const ue = largest(report.ues, p99);
  if (!ue) {
    const router = largest(report.routers, ({ queue_ms }) => queue_ms.p99);
    if (!router) return null;
    const { p50, p99 } = router.queue_ms;
    const beside = besides(report).router(router.name, ({ queue_ms }) => queue_ms.p99 === null ? null : `${ms(queue_ms.p50)} and ${ms(queue_ms.p99)}`);
    return { subject: `${router.name}'s queue`, rest: ` was the longest: ${ms(p50)} at the median, ${ms(p99)} at the 99th percentile${beside}.`, panel: "router-queue" };
  }
  const row = (down ? report.series.ues.queue_ms : report.series.uplinks.queue_ms)[report.ues.indexOf(ue)] ?? [];
  const thresholds = report.bearers.find((bearer) => bearer.ue === ue.name && bearer.direction === (down ? "downlink" : "uplink"))?.thresholds ?? [];
  // The highest threshold that was passed, or else the lowest one.
  const held = thresholds.findLast(({ delay_ms }) => (delay_ms ?? Infinity) < (p99(ue) ?? 0)) ?? thresholds[0];
  const above = held?.delay_ms != null ? shareOf(report, row, (value) => value > (held.delay_ms ?? 0)) : null;
  const longest = report.ues.length > 1 ? " was the longest" : "";
  const threshold = above === null ? "" : `; it was above ${held?.key} (${ms(held?.delay_ms ?? null)}) for ${percentage(above)} of the time`;
  const beside = besides(report).ue(ue.name, (same) => saidOf(p99(same), "ms"));
  return { subject: `${ue.name}'s queue`, rest: `${longest}: ${ms(p99(ue))} at the 99th percentile${threshold}${beside}.`, panel: down ? "ue-queue" : "uplink-queue", ues: [ue.name] };
}

/** Sum of what was measured. */
const summed = <T,>(of: T[], value: (one: T) => Measured): number => of.reduce((all, one) => all + (value(one) ?? 0), 0);

function marks(report: Report): Sentence | null {
  const { flows } = report;
  const [sent, marked, dropped] = [summed(flows, ({ sent_packets }) => sent_packets), summed(flows, ({ marked }) => marked), summed(flows, ({ dropped }) => dropped)];
  if (sent === 0) return null;
  const lost = dropped === 0 ? "none was dropped" : `${count(dropped)} ${dropped === 1 ? "was" : "were"} dropped`;
  const beside = besides(report).whole(({ flows, isUnmarked }) => `${isUnmarked ? "" : `${count(summed(flows, ({ marked }) => marked))} packets with CE, `}${count(summed(flows, ({ dropped }) => dropped))} dropped`);
  const most = largest(flows, (flow) => share(flow.marked, flow.sent_packets));
  if (!most || marked === 0) return { subject: "No packet was marked", rest: `, and of ${count(sent)} sent packets ${lost}${beside}.`, panel: "flow-rate" };
  const all = flows.length > 1 ? `, the largest share of all flows; over all flows it was ${percentage(marked / sent)} of ${count(sent)} packets` : "";
  return { subject: `${percentage(share(most.marked, most.sent_packets))} of ${most.name}'s packets`, rest: ` carried CE${all}; ${lost}${beside}.`, panel: "flow-marks", flows: [most.name] };
}

function frames(report: Report): Sentence | null {
  const worst = largest(report.flows, ({ media }) => media?.delay_ms.p99 ?? null);
  const media = worst?.media;
  if (!worst || !media) return null;
  const freezes = `${count(media.freezes)} ${media.freezes === 1 ? "freeze" : "freezes"}`;
  const still = (media.freezes ?? 0) === 0 ? "the picture never froze" : `the picture was frozen for ${withUnit(figure(media.frozen_s), "s")} in ${freezes}`;
  const budget = media.in_budget === null ? "" : `; ${percentage(media.in_budget)} met their budget of ${withUnit(plain(media.delay_budget_ms), "ms")}`;
  const lost = `${count(media.frames_lost)} of ${count(media.frames_sent)} were lost`;
  const beside = besides(report).flow(worst.name, ({ media }) => media && `${ms(media.delay_ms.p99)}, ${count(media.frames_lost)} lost, frozen for ${withUnit(figure(media.frozen_s), "s")}`);
  return { subject: `${worst.name}'s frames`, rest: ` took ${ms(media.delay_ms.p99)} at the 99th percentile; ${lost}, and ${still}${budget}${beside}.`, panel: "flow-frames", flows: [worst.name] };
}

function transfers(report: Report): Sentence | null {
  const { flows } = report;
  const slowest = largest(flows, ({ transfers }) => transfers?.completion_ms.p95 ?? null);
  const of = slowest?.transfers;
  if (!slowest || !of) return null;
  const all = flows.reduce((sum, { transfers }) => sum + (transfers?.completed ?? 0), 0);
  const { p50, p95 } = of.completion_ms;
  const beside = besides(report).flow(slowest.name, ({ transfers }) => transfers && `${ms(transfers.completion_ms.p50)} and ${ms(transfers.completion_ms.p95)}`);
  const rest = ` took ${ms(p50)} at the median and ${ms(p95)} at the 95th percentile; this flow completed ${count(of.completed)} of all ${count(all)} transfers${beside}.`;
  return { subject: `${slowest.name}'s transfers`, rest, panel: "transfers", flows: [slowest.name] };
}

function rates(report: Report): Sentence | null {
  const { flows, jain } = report;
  const fastest = largest(flows, ({ throughput_mbps }) => throughput_mbps);
  const slowest = largest(flows, ({ throughput_mbps }) => (throughput_mbps === null ? null : -throughput_mbps));
  if (!fastest || !slowest) return null;
  const rateOf = ({ name, throughput_mbps }: Pick<Flow, "name" | "throughput_mbps">): string => `${mbps(throughput_mbps)} (${name})`;
  const beside = besides(report).whole((run) => [...new Set([slowest.name, fastest.name])].flatMap((same) => run.flows.filter(({ name }) => name === same).map(rateOf)).join(" and "));
  if (flows.length === 1) return { subject: `${fastest.name} got`, rest: ` ${mbps(fastest.throughput_mbps)} with a median one-way delay of ${ms(fastest.owd_ms.p50)}${besides(report).flow(fastest.name, (same) => `${mbps(same.throughput_mbps)}, ${ms(same.owd_ms.p50)}`)}.`, panel: "flow-rate" };
  const fair = jain === null ? "" : `; Jain's index of the rates is ${figure(jain)}`;
  if (fastest.throughput_mbps === slowest.throughput_mbps) return { subject: `All ${flows.length} flows`, rest: ` got ${mbps(fastest.throughput_mbps)}${fair}${beside}.`, panel: "flow-rate" };
  const [least, most] = [slowest, fastest].map(rateOf);
  return { subject: "The rates", rest: ` of the ${flows.length} flows range from ${least} to ${most}${fair}${beside}.`, panel: "flow-rate", flows: [slowest.name, fastest.name] };
}

const upper = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);
