/** Parts of the mean one-way delay, in the order of the packet's way. */

import type { Ensemble } from "./ensemble.ts";
import type { Measured } from "./read.ts";
import type { Flow, Split } from "./report.ts";

export const PARTS: { key: keyof Split; name: string; colour: string }[] = [
  { key: "propagation", name: "propagation", colour: "var(--muted)" },
  { key: "router", name: "routers", colour: "var(--text)" },
  { key: "cu", name: "CU", colour: "var(--series-4)" },
  { key: "queuing", name: "RLC queue", colour: "var(--series-1)" },
  { key: "scheduling", name: "scheduling and air", colour: "var(--series-0)" },
  { key: "harq", name: "HARQ", colour: "var(--series-2)" },
  { key: "rlc", name: "RLC retransmission", colour: "var(--series-3)" },
  { key: "reordering", name: "reordering", colour: "var(--series-5)" },
];

/** The sum of the parts; absent if a part is. */
export function total(split: Split): Measured {
  let sum = 0;
  for (const { key } of PARTS) {
    const part = split[key];
    if (part === null) return null;
    sum += part;
  }
  return sum;
}

/** The mean of each part over the flows that have all of them. */
export function mean(splits: Split[]): Split {
  const whole = splits.filter((split) => total(split) !== null);
  const of = (key: keyof Split): Measured => (whole.length === 0 ? null : whole.reduce((sum, split) => sum + (split[key] ?? 0), 0) / whole.length);
  return Object.fromEntries(PARTS.map(({ key }) => [key, of(key)])) as Split;
}

/** Parts that a run's delays have. */
export function partsOf(flows: Flow[]): typeof PARTS {
  return PARTS.filter(({ key }) => flows.some(({ split_ms }) => (split_ms[key] ?? 0) > 0));
}

/** Bar of a flow, or of the mean of a group. */
export interface Bar {
  name: string;
  split: Split;
  sum: number;
}

/** Bars of measured flows; if there are many, the means of groups and the longest bars. */
export function barsOf(flows: Flow[], { groups, many }: Ensemble, most: number): Bar[] {
  const means = groups.map(({ name, members }) => ({ name: `${name}, mean`, split: mean(members.flatMap((member) => flows[member]?.split_ms ?? [])) }));
  const measured = (bars: { name: string; split: Split }[]): Bar[] => bars.flatMap((bar) => ((sum) => (sum === null ? [] : [{ ...bar, sum }]))(total(bar.split)));
  const single = measured(flows.map(({ name, split_ms }) => ({ name, split: split_ms })));
  if (!many) return single;
  return [...measured(means), ...single.sort((a, b) => b.sum - a.sum).slice(0, most)];
}
