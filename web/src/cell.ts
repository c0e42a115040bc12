/** A live cell as its page knows it: its state now, and series since its start, of which the page adds what comes. */

import type { Measured, Rows } from "./read.ts";
import { extended } from "./series.ts";

export interface UeNow {
  name: string;
  channel: string;
  law: string;
  down_mbps: number;
  up_mbps: number;
  queue_p95_ms: Measured;
  uplink_queue_p95_ms: Measured;
  marked: Measured;
  ce_packets: number;
  dropped: number;
  mcs: Measured;
  recommended_down_mbps: Measured;
  recommended_up_mbps: Measured;
}

/** Flow of a program: counters from its start, and what it does now. */
export interface FlowNow {
  name: string;
  ue: string;
  down_mbps: number;
  up_mbps: Measured;
  ect1: number;
  ect0: number;
  not_ect: number;
  ce: number;
  marked: Measured;
  dropped: number;
  round_trip_ms: Measured;
}

export interface MarkNow {
  t_s: number;
  flow: string;
  packet: number;
  verdict: string;
  law: string;
  rule: string;
  estimated_ms: Measured;
  queued_ms: Measured;
}

/** State of a cell, one event of its stream. */
export interface CellNow {
  name: string;
  t_s: number;
  ues: UeNow[];
  flows: FlowNow[];
  lateness_us: { p50: number; p99: number; p999: number } | null;
  busy: number;
  uplink_use: Measured;
  warning: string | null;
  marks: MarkNow[];
}

/** Values of a UE that are drawn. */
export type Drawn = "down_mbps" | "up_mbps" | "queue_p95_ms" | "uplink_queue_p95_ms" | "mcs";

/** Series since the start: a row for each UE. */
export interface Past {
  t_s: number[];
  ues: Record<Drawn, Rows>;
}

export const NO_PAST: Past = { t_s: [], ues: { down_mbps: [], up_mbps: [], queue_p95_ms: [], uplink_queue_p95_ms: [], mcs: [] } };

/** The past with the present behind it; a state that is no later than the last one adds nothing. */
export function followed(past: Past, now: CellNow): Past {
  if (now.t_s <= (past.t_s.at(-1) ?? -1)) return past;
  const [t_s, ues] = extended(past.t_s, past.ues, now.t_s, now.ues);
  return { t_s, ues };
}
