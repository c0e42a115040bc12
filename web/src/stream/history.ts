/** Streams over time, with a point at each query, and their pictures. */

import { fixed, plain } from "../format.ts";
import type { Picture } from "../picture.ts";
import type { Rows } from "../read.ts";
import { extended } from "../series.ts";
import type { Now } from "./player.ts";

/** Series since the page was opened: a row for each stream. */
export interface History {
  t_s: number[];
  streams: Record<keyof Now, Rows>;
}

export const NO_HISTORY: History = {
  t_s: [],
  streams: { target_mbps: [], sent_mbps: [], rtt_ms: [], marks_per_s: [], delay_p95_ms: [], freezes: [] },
};

/** The history with a point appended. */
export function lengthened(past: History, now_s: number, now: Now[]): History {
  const [t_s, streams] = extended(past.t_s, past.streams, now_s, now);
  return { t_s, streams };
}

/** Pictures over the time since the page was opened. */
export function picturesOf({ t_s, streams }: History): Picture[] {
  const common = { xLabel: "time (s)", x: t_s, place: (t: number) => `${t.toFixed(1)} s` };
  const picture = (id: keyof Now, title: string, yLabel: string, more: Partial<Picture> = {}): Picture => ({ ...common, id, title, yLabel, rows: streams[id], ...more });
  return [
    picture("sent_mbps", "Rate sent, and the controller's target", "rate (Mbit/s)", { ceilings: streams.target_mbps, show: fixed(2) }),
    picture("delay_p95_ms", "Frame delay, from drawing to display", "95th percentile (ms)", { delay: true }),
    picture("rtt_ms", "Round trip", "RTT (ms)", { delay: true }),
    picture("marks_per_s", "Marks", "packets per s"),
    picture("freezes", "Freezes", "since the start", { show: plain }),
  ];
}
