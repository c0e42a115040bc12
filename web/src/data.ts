/** The data that `tidemark run` puts into the page, checked. What a run could not measure is `null`, never 0. */

import { unreadable } from "./check.ts";
import { csvRows } from "./csv.ts";
import type * as declared from "./fields.ts";

export type Measured = number | null;

export interface Quantiles {
  mean: Measured;
  p50: Measured;
  p95: Measured;
  p99: Measured;
  p999: Measured;
}

/** Mean one-way delay of a flow, taken apart, in milliseconds. */
export interface Split {
  propagation: Measured;
  /** Part in routers and on their links; 0 for a flow that passes none. */
  router: Measured;
  cu: Measured;
  queuing: Measured;
  scheduling: Measured;
  harq: Measured;
  rlc: Measured;
  reordering: Measured;
}

/** (delay in ms, fraction of packets with at most this delay), both rising. */
export type Cdf = [number, number][];

/** Frames of a flow. */
export interface Media {
  frames_sent: Measured;
  frames_lost: Measured;
  freezes: Measured;
  frozen_s: Measured;
  delay_ms: Quantiles;
  delay_budget_ms: Measured;
  /** Share of the frames that met the budget. */
  in_budget: Measured;
  /** True where these are enough; null for frames without a budget. */
  satisfied: boolean | null;
}

/** Transfers of known size, or pages, of a flow. */
export interface Transfers {
  completed: Measured;
  completion_ms: Quantiles;
}

/** Freeze of a flow's picture: from when the frame that stood was shown, for how long. */
export interface Freeze {
  flow: string;
  t_s: number;
  frozen_s: number;
}

export interface Flow {
  name: string;
  ue: string;
  controller: string;
  law: string;
  throughput_mbps: Measured;
  goodput_mbps: Measured;
  owd_ms: Quantiles;
  rtt_ms: Quantiles;
  queue_ms: Quantiles;
  sent_packets: Measured;
  marked: Measured;
  dropped: Measured;
  retransmissions: Measured;
  split_ms: Split;
  /** Frames; null where the flow carries none. */
  media: Media | null;
  /** Null where none completed. */
  transfers: Transfers | null;
  owd_cdf: Cdf;
  queue_cdf: Cdf;
  frame_cdf: Cdf;
  /** Of the completion times of its transfers and pages. */
  completion_cdf: Cdf;
}

export interface Ue {
  name: string;
  channel: string;
  throughput_mbps: Measured;
  queue_ms: Quantiles;
  mcs_mean: Measured;
  bler: Measured;
  marked: Measured;
  dropped: Measured;
  prb_share: Measured;
  /** True where all of its frames' flows are satisfied; null where none has a budget. */
  satisfied: boolean | null;
  /** Recommendations for its downlink and its uplink; null without any. */
  anbr: Anbr | null;
  uplink_anbr: Anbr | null;
  /** Its uplink; null where it sent nothing. */
  uplink: Uplink | null;
  /** Serving cell and position at the end, in a network; null otherwise. */
  cell: string | null;
  position_m: [Measured, Measured] | null;
  handovers: Measured;
  sinr_db: Measured;
}

/** Bit rate recommendations of one direction. */
export interface Anbr {
  recommendations: Measured;
  mean_mbps: Measured;
}

/** Uplink of a UE: packets, acknowledgements, RLC's reports. */
export interface Uplink {
  throughput_mbps: Measured;
  /** Wait of its packets at the UE: behind others, for its grants, and in the block that carried them. */
  queue_ms: Quantiles;
  mcs_mean: Measured;
  bler: Measured;
  prb_share: Measured;
  /** First transmissions of transport blocks, each by a grant. */
  blocks: Measured;
  harq_retransmissions: Measured;
  lost_blocks: Measured;
  marked: Measured;
}

/** A data radio bearer of a UE, one way. */
export interface Bearer {
  ue: string;
  drb: Measured;
  /** `downlink` or `uplink`. */
  direction: string;
  /** QFIs and 5QIs of its QoS flows. */
  qfi: string;
  five_qi: string;
  law: string;
  throughput_mbps: Measured;
  queue_ms: Quantiles;
  marked: Measured;
  dropped: Measured;
  delay_budget_ms: Measured;
  /** Share of its packets that were in time. */
  in_budget: Measured;
}

/** A wired bottleneck. */
export interface Router {
  name: string;
  law: string;
  throughput_mbps: Measured;
  capacity_mbps: Measured;
  utilisation: Measured;
  queue_ms: Quantiles;
  marked: Measured;
  dropped: Measured;
}

/** One cell of a network. */
export interface Cell {
  name: string;
  utilisation: Measured;
  throughput_mbps: Measured;
  ues: Measured;
  handovers: Measured;
  /** Share of the UEs with frames that are satisfied; null where there were none. */
  satisfied: Measured;
}

/** Event: a change of a live cell while it ran. */
export interface Event {
  t_s: number;
  /** `set`, `outage` or `handover`. */
  event: string;
  /** Name of the UE, or empty. */
  ue: string;
  /** Assignments, or the length of an outage. */
  detail: string;
}

/** State of the machine that ran a cell in real time. */
export interface Live {
  lateness_us: { p50: Measured; p99: Measured; p999: Measured; max: Measured };
  busy: Measured;
  real_time_priority: boolean;
  packets_in: Measured;
  packets_out: Measured;
  refused: Measured;
  unroutable: Measured;
  /** Frames that a hop could not read. */
  unreadable: Measured;
  overload: Measured;
  /** Messages and packets refused at GTP-U sockets; null for a cell without them. */
  not_admitted: Measured;
  device_drops: Measured;
  /** Seconds in which UEs used more than nine tenths of the uplink. */
  uplink_busy_s: Measured;
}

/** One row an entity, one value an interval. */
export type Rows = Measured[][];

/** A mark with its reasons, or a drop that a law decided on. */
export interface Mark {
  t_s: number;
  flow: string;
  packet: Measured;
  verdict: string;
  law: string;
  rule: string;
  /** Odds of what happened, a mark or a drop. */
  odds: Measured;
  /** `certain`, `random` or `regular`. */
  draw_kind: string;
  draw: Measured;
  /** Time in the queue that the marker estimated, and the true age of its oldest packet. */
  estimated_ms: Measured;
  queued_ms: Measured;
  /** One-way delay of the packet; null where it did not arrive. */
  delay_ms: Measured;
  answered_s: Measured;
}

export interface Report {
  tidemark: string;
  name: string;
  seed: string;
  duration_s: Measured;
  warmup_s: Measured;
  /** Time at which the run was stopped before its end. */
  interrupted_at_s: Measured;
  /** Warnings for the run's user, a sentence each. */
  warnings: string[];
  scenario: string;
  cell: { utilisation: Measured; uplink_utilisation: Measured; throughput_mbps: Measured; satisfied: Measured; conservation: string };
  /** Events in order; none of a run in virtual time. */
  events: Event[];
  /** Real-time figures; null for a run in virtual time. */
  live: Live | null;
  flows: Flow[];
  ues: Ue[];
  bearers: Bearer[];
  routers: Router[];
  /** Cells of a network; none where there is one cell without a place. */
  cells: Cell[];
  freezes: Freeze[];
  /** In the order of time; none where the run kept none. */
  marks: Mark[];
  t_s: number[];
  flowSeries: { throughput_mbps: Rows; rtt_ms: Rows; marks: Rows; cwnd_kb: Rows; pacing_mbps: Rows; target_mbps: Rows; alpha: Rows; frame_delay_ms: Rows };
  ueSeries: { queue_ms: Rows; mcs: Rows; throughput_mbps: Rows; recommended_mbps: Rows };
  /** Uplink of each UE, and what the gNB took to wait there. */
  uplinkSeries: { throughput_mbps: Rows; queue_ms: Rows; reported_kb: Rows; mcs: Rows; recommended_mbps: Rows };
  routerSeries: { throughput_mbps: Rows; capacity_mbps: Rows; queue_ms: Rows; marks: Rows };
  cellSeries: { throughput_mbps: Rows; utilisation: Rows; ues: Rows; handovers: Rows };
}

type None<T extends never> = T;
type Missing<Read, Result, Own = never> = Exclude<keyof Read, keyof Result | Own>;
/** Compiles only where results declare every field that the page reads; `fields.ts` is written from their declaration. */
export type Undeclared =
  | None<Missing<Quantiles, declared.Quantiles>>
  | None<Missing<Split, declared.Split>>
  | None<Missing<Flow, declared.FlowResult, "owd_cdf" | "queue_cdf" | "frame_cdf" | "completion_cdf">>
  | None<Missing<Media, declared.MediaResult>>
  | None<Missing<Transfers, declared.Transfers>>
  | None<Missing<Freeze, declared.Freeze>>
  | None<Missing<Ue, declared.UeResult & declared.UePlace>>
  | None<Missing<Anbr, declared.AnbrResult>>
  | None<Missing<Uplink, declared.UplinkResult>>
  | None<Missing<Bearer, declared.BearerResult>>
  | None<Missing<Router, declared.RouterResult>>
  | None<Missing<Cell, declared.NetworkCellResult>>
  | None<Missing<Event, declared.Event>>
  | None<Missing<Live, declared.LiveResult>>
  | None<Missing<Report["cell"], declared.CellResult>>
  | None<Missing<Report["flowSeries"], declared.FlowSeries>>
  | None<Missing<Report["ueSeries"], declared.UeSeries>>
  | None<Missing<Report["uplinkSeries"], declared.UplinkSeries>>
  | None<Missing<Report["routerSeries"], declared.RouterSeries>>
  | None<Missing<Report["cellSeries"], declared.CellSeries>>;

/** The page can't be drawn; the message tells the reader what to do. */
export class DataError extends Error {}

type Json = Record<string, unknown>;

const object = (value: unknown): Json => (typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Json) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown): string => (typeof value === "string" ? value : typeof value === "number" ? String(value) : "");
const truth = (value: unknown): boolean | null => (typeof value === "boolean" ? value : null);
const measured = (value: unknown): Measured => (typeof value === "number" && Number.isFinite(value) ? value : null);

function quantiles(value: unknown): Quantiles {
  const q = object(value);
  return { mean: measured(q.mean), p50: measured(q.p50), p95: measured(q.p95), p99: measured(q.p99), p999: measured(q.p999) };
}

function split(value: unknown): Split {
  const s = object(value);
  return {
    propagation: measured(s.propagation),
    // Said only of flows that pass routers.
    router: s.router === undefined ? 0 : measured(s.router),
    cu: measured(s.cu),
    queuing: measured(s.queuing),
    scheduling: measured(s.scheduling),
    harq: measured(s.harq),
    rlc: measured(s.rlc),
    reordering: measured(s.reordering),
  };
}

/** Keeps the points that are numbers and that do not fall. */
function cdf(value: unknown): Cdf {
  const points: Cdf = [];
  for (const entry of list(value)) {
    const [delay, fraction] = list(entry).map(measured);
    if (delay == null || fraction == null) continue;
    const last = points.at(-1);
    if (!last || (delay >= last[0] && fraction >= last[1])) points.push([delay, fraction]);
  }
  return points;
}

function rows(value: unknown, entities: number, intervals: number): Rows {
  const given = list(value);
  return Array.from({ length: entities }, (_, entity) => {
    const row = list(given[entity]);
    return Array.from({ length: intervals }, (_, interval) => measured(row[interval]));
  });
}

function flow(value: unknown): Flow {
  const f = object(value);
  return {
    name: text(f.name),
    ue: text(f.ue),
    controller: text(f.controller),
    law: text(f.law),
    throughput_mbps: measured(f.throughput_mbps),
    goodput_mbps: measured(f.goodput_mbps),
    owd_ms: quantiles(f.owd_ms),
    rtt_ms: quantiles(f.rtt_ms),
    queue_ms: quantiles(f.queue_ms),
    sent_packets: measured(f.sent_packets),
    marked: measured(f.marked),
    dropped: measured(f.dropped),
    retransmissions: measured(f.retransmissions),
    split_ms: split(f.split_ms),
    media: f.media == null ? null : media(object(f.media)),
    transfers: f.transfers == null ? null : transfers(object(f.transfers)),
    owd_cdf: cdf(f.owd_cdf),
    queue_cdf: cdf(f.queue_cdf),
    frame_cdf: cdf(f.frame_cdf),
    completion_cdf: cdf(f.completion_cdf),
  };
}

function media(m: Json): Media {
  return {
    frames_sent: measured(m.frames_sent),
    frames_lost: measured(m.frames_lost),
    freezes: measured(m.freezes),
    frozen_s: measured(m.frozen_s),
    delay_ms: quantiles(m.delay_ms),
    delay_budget_ms: measured(m.delay_budget_ms),
    in_budget: measured(m.in_budget),
    satisfied: truth(m.satisfied),
  };
}

function transfers(t: Json): Transfers {
  return { completed: measured(t.completed), completion_ms: quantiles(t.completion_ms) };
}

/** A freeze without a time could stand nowhere. */
function freeze(value: unknown): Freeze[] {
  const f = object(value);
  const [t_s, frozen_s] = [measured(f.t_s), measured(f.frozen_s)];
  return t_s === null || frozen_s === null ? [] : [{ flow: text(f.flow), t_s, frozen_s }];
}

function ue(value: unknown): Ue {
  const u = object(value);
  return {
    name: text(u.name),
    channel: text(u.channel),
    throughput_mbps: measured(u.throughput_mbps),
    queue_ms: quantiles(u.queue_ms),
    mcs_mean: measured(u.mcs_mean),
    bler: measured(u.bler),
    marked: measured(u.marked),
    dropped: measured(u.dropped),
    prb_share: measured(u.prb_share),
    satisfied: truth(u.satisfied),
    anbr: anbr(u.anbr),
    uplink_anbr: anbr(u.uplink_anbr),
    uplink: u.uplink == null ? null : uplink(object(u.uplink)),
    cell: u.cell == null ? null : text(u.cell),
    position_m: u.position_m == null ? null : [measured(list(u.position_m)[0]), measured(list(u.position_m)[1])],
    handovers: measured(u.handovers),
    sinr_db: measured(u.sinr_db),
  };
}

function uplink(u: Json): Uplink {
  return {
    throughput_mbps: measured(u.throughput_mbps),
    queue_ms: quantiles(u.queue_ms),
    mcs_mean: measured(u.mcs_mean),
    bler: measured(u.bler),
    prb_share: measured(u.prb_share),
    blocks: measured(u.blocks),
    harq_retransmissions: measured(u.harq_retransmissions),
    lost_blocks: measured(u.lost_blocks),
    marked: measured(u.marked),
  };
}

function anbr(value: unknown): Anbr | null {
  if (value == null) return null;
  const a = object(value);
  return { recommendations: measured(a.recommendations), mean_mbps: measured(a.mean_mbps) };
}

function bearer(value: unknown): Bearer {
  const b = object(value);
  const several = (numbers: unknown): string => list(numbers).map(text).join(" ");
  return {
    ue: text(b.ue),
    drb: measured(b.drb),
    direction: text(b.direction),
    qfi: several(b.qfi),
    five_qi: several(b.five_qi),
    law: text(b.law),
    throughput_mbps: measured(b.throughput_mbps),
    queue_ms: quantiles(b.queue_ms),
    marked: measured(b.marked),
    dropped: measured(b.dropped),
    delay_budget_ms: measured(b.delay_budget_ms),
    in_budget: measured(b.in_budget),
  };
}

function router(value: unknown): Router {
  const r = object(value);
  return {
    name: text(r.name),
    law: text(r.law),
    throughput_mbps: measured(r.throughput_mbps),
    capacity_mbps: measured(r.capacity_mbps),
    utilisation: measured(r.utilisation),
    queue_ms: quantiles(r.queue_ms),
    marked: measured(r.marked),
    dropped: measured(r.dropped),
  };
}

function networkCell(value: unknown): Cell {
  const c = object(value);
  return {
    name: text(c.name),
    utilisation: measured(c.utilisation),
    throughput_mbps: measured(c.throughput_mbps),
    ues: measured(c.ues),
    handovers: measured(c.handovers),
    satisfied: measured(c.satisfied),
  };
}

/** An event without a time could stand nowhere. */
function event(value: unknown): Event[] {
  const e = object(value);
  const t_s = measured(e.t_s);
  return t_s === null ? [] : [{ t_s, event: text(e.event), ue: text(e.ue), detail: text(e.detail) }];
}

/** Reads the text of `marks.csv`; a mark without a time could stand nowhere. */
function marks(value: unknown): Mark[] {
  const [heading = [], ...rows] = csvRows(text(value));
  const columns = new Map(heading.map((name, index) => [name, index]));
  return rows.flatMap((row) => {
    const word = (name: keyof declared.MarkResult): string => row[columns.get(name) ?? -1] ?? "";
    const number = (name: keyof declared.MarkResult): Measured => (word(name) === "" ? null : measured(Number(word(name))));
    const [t_s, sent_s, arrived_s] = [number("t_s"), number("sent_s"), number("arrived_s")];
    if (t_s === null) return [];
    return [
      {
        t_s,
        flow: word("flow"),
        packet: number("packet"),
        verdict: word("verdict"),
        law: word("law"),
        rule: word("rule"),
        odds: number(word("verdict") === "drop" ? "drop_odds" : "mark_odds"),
        draw_kind: word("draw_kind"),
        draw: number("draw"),
        estimated_ms: number("estimated_ms"),
        queued_ms: number("queued_ms"),
        delay_ms: sent_s === null || arrived_s === null ? null : (arrived_s - sent_s) * 1e3,
        answered_s: number("answered_s"),
      },
    ];
  });
}

function live(value: unknown): Live | null {
  if (value == null) return null;
  const l = object(value);
  const late = object(l.lateness_us);
  return {
    lateness_us: { p50: measured(late.p50), p99: measured(late.p99), p999: measured(late.p999), max: measured(late.max) },
    busy: measured(l.busy),
    real_time_priority: l.real_time_priority === true,
    packets_in: measured(l.packets_in),
    packets_out: measured(l.packets_out),
    refused: measured(l.refused),
    unroutable: measured(l.unroutable),
    unreadable: measured(l.unreadable),
    overload: measured(l.overload),
    not_admitted: measured(l.not_admitted),
    device_drops: measured(l.device_drops),
    uplink_busy_s: measured(l.uplink_busy_s),
  };
}

/** The times of the series; one left out would shift all that follows. */
function times(value: unknown): number[] {
  let last = -Infinity;
  return list(value).map((entry) => {
    const t = measured(entry);
    if (t === null || t <= last) throw new DataError("The times of the series in this page do not rise, so its data is damaged.");
    last = t;
    return t;
  });
}

/** The seed as written: it has 64 bits, a number of JavaScript only 53. Inside a string the quotes would be escaped. */
function seed(source: string, parsed: unknown): string {
  const written = /(?<!\\)"seed"\s*:\s*(\d+)/.exec(source)?.[1];
  return written !== undefined && Number(written) === parsed ? written : text(parsed);
}

/**
 * Reads the text of the data element.
 * @throws DataError where it is no run of this version, or lacks a field; a figure that was not measured is `null` and no error.
 */
export function parse(source: string): Report {
  const trimmed = source.trim();
  // The placeholder is a comment, which JSON does not have. It is not spelled out here: it may stand in the page only once.
  if (trimmed === "" || trimmed.startsWith("/*")) {
    throw new DataError("This page holds no run. “tidemark run FILE” writes a report with the run's data inside.");
  }
  let parsed: unknown;
  try {
    parsed = JSON.parse(trimmed);
  } catch (error) {
    throw new DataError(`The data in this page is not valid JSON, so the file may be cut short: ${(error as Error).message}`);
  }
  const data = object(parsed);
  if (!Array.isArray(data.flows) || !Array.isArray(data.ues)) {
    throw new DataError("The data in this page has no list of flows and UEs, so it is not a run of Tidemark.");
  }
  const reason = unreadable(data);
  if (reason !== undefined) throw new DataError(reason);
  const flows = data.flows.map(flow);
  const ues = data.ues.map(ue);
  const routers = list(data.routers).map(router);
  const cells = list(data.cells).map(networkCell);
  const cell = object(data.cell);
  const series = object(data.series);
  const ofFlows = object(series.flows);
  const ofUes = object(series.ues);
  const ofUplinks = object(series.uplinks);
  const ofRouters = object(series.routers);
  const ofCells = object(series.cells);
  const t_s = times(series.t_s);
  const perFlow = (value: unknown): Rows => rows(value, flows.length, t_s.length);
  const perUe = (value: unknown): Rows => rows(value, ues.length, t_s.length);
  const perRouter = (value: unknown): Rows => rows(value, routers.length, t_s.length);
  const perCell = (value: unknown): Rows => rows(value, cells.length, t_s.length);
  return {
    tidemark: text(data.tidemark),
    name: text(data.name),
    seed: seed(trimmed, data.seed),
    duration_s: measured(data.duration_s),
    warmup_s: measured(data.warmup_s),
    interrupted_at_s: measured(data.interrupted_at_s),
    warnings: list(data.warnings).map(text),
    scenario: text(data.scenario),
    cell: {
      utilisation: measured(cell.utilisation),
      uplink_utilisation: measured(cell.uplink_utilisation),
      throughput_mbps: measured(cell.throughput_mbps),
      satisfied: measured(cell.satisfied),
      conservation: text(cell.conservation),
    },
    events: list(data.events).flatMap(event),
    live: live(data.live),
    flows,
    ues,
    bearers: list(data.bearers).map(bearer),
    routers,
    cells,
    freezes: list(data.freezes).flatMap(freeze),
    marks: marks(data.marks).sort((a, b) => a.t_s - b.t_s),
    t_s,
    flowSeries: {
      throughput_mbps: perFlow(ofFlows.throughput_mbps),
      rtt_ms: perFlow(ofFlows.rtt_ms),
      marks: perFlow(ofFlows.marks),
      cwnd_kb: perFlow(ofFlows.cwnd_kb),
      pacing_mbps: perFlow(ofFlows.pacing_mbps),
      target_mbps: perFlow(ofFlows.target_mbps),
      alpha: perFlow(ofFlows.alpha),
      frame_delay_ms: perFlow(ofFlows.frame_delay_ms),
    },
    uplinkSeries: {
      throughput_mbps: perUe(ofUplinks.throughput_mbps),
      queue_ms: perUe(ofUplinks.queue_ms),
      reported_kb: perUe(ofUplinks.reported_kb),
      mcs: perUe(ofUplinks.mcs),
      recommended_mbps: perUe(ofUplinks.recommended_mbps),
    },
    routerSeries: {
      throughput_mbps: perRouter(ofRouters.throughput_mbps),
      capacity_mbps: perRouter(ofRouters.capacity_mbps),
      queue_ms: perRouter(ofRouters.queue_ms),
      marks: perRouter(ofRouters.marks),
    },
    cellSeries: {
      throughput_mbps: perCell(ofCells.throughput_mbps),
      utilisation: perCell(ofCells.utilisation),
      ues: perCell(ofCells.ues),
      handovers: perCell(ofCells.handovers),
    },
    ueSeries: {
      queue_ms: perUe(ofUes.queue_ms),
      mcs: perUe(ofUes.mcs),
      throughput_mbps: perUe(ofUes.throughput_mbps),
      recommended_mbps: perUe(ofUes.recommended_mbps),
    },
  };
}
