/** Parts of the mean one-way delay: one bar a flow, in parts that follow the packet's way. */

import type { Measured } from "./read.ts";
import type { Flow, Split } from "./report.ts";
import { el } from "./dom.ts";
import type { Ensemble } from "./ensemble.ts";
import { ABSENT, figure, fixed, plain } from "./format.ts";

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

/** The sum of the parts; absent where a part is. */
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
  const of = (key: keyof Split): Measured =>
    whole.length === 0 ? null : whole.reduce((sum, split) => sum + (split[key] ?? 0), 0) / whole.length;
  return {
    propagation: of("propagation"),
    router: of("router"),
    cu: of("cu"),
    queuing: of("queuing"),
    scheduling: of("scheduling"),
    harq: of("harq"),
    rlc: of("rlc"),
    reordering: of("reordering"),
  };
}

/** Parts that a run's delays may have: routers only where there are some. */
export function partsOf(flows: Flow[]): typeof PARTS {
  const routers = flows.some(({ split_ms }) => split_ms.router !== null && split_ms.router > 0);
  return PARTS.filter(({ key }) => routers || key !== "router");
}

/** Round steps of an axis from 0 to `max`: 1, 2 or 5 times a power of ten, at most seven of them. */
export function ticks(max: number): number[] {
  if (!(max > 0)) return [0];
  const rough = max / 6;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((m) => m * power >= rough) ?? 10);
  return Array.from({ length: Math.floor(max / step + 1e-9) + 1 }, (_, i) => Number((i * step).toPrecision(6)));
}

interface Bar {
  name: string;
  split: Split;
  group: boolean;
}

export function splitChart(flows: Flow[], ensemble: Ensemble): HTMLElement {
  if (flows.every((flow) => total(flow.split_ms) === null)) return el("p", { class: "absent" }, "Not measured in this run.");
  const chart = el("div", { class: "split" });
  const parts = partsOf(flows);
  const write = (): void => {
    const groups = ensemble.groups.map(({ name, members }) => ({
      name: `${name}, mean`,
      split: mean(members.flatMap((member) => flows[member]?.split_ms ?? [])),
      group: true,
    }));
    const single = flows.map((flow) => ({ name: flow.name, split: flow.split_ms, group: false }));
    // Of many, the longest come first; what was not measured comes last.
    if (ensemble.many) single.sort((a, b) => (total(b.split) ?? -1) - (total(a.split) ?? -1));
    const bars: Bar[] = [...groups, ...single];
    const max = Math.max(...bars.map((bar) => total(bar.split) ?? 0)) || 1;
    chart.replaceChildren(key(parts), axis(max), el("div", { class: "bars", tabindex: 0, role: "list" }, ...bars.map((bar) => row(bar, max, parts))));
  };
  ensemble.subscribe((picked) => {
    if (picked) write();
  });
  write();
  return chart;
}

function key(parts: typeof PARTS): HTMLElement {
  return el(
    "ul",
    { class: "entries" },
    ...parts.map(({ name, colour }) => el("li", {}, el("span", { class: "block", style: `--colour: ${colour}` }), name)),
  );
}

function axis(max: number): HTMLElement {
  const marks = ticks(max).map((tick) => el("span", { style: `left: ${(100 * tick) / max}%` }, plain(tick)));
  return el("div", { class: "bar axis" }, el("span", { class: "name" }, ""), el("div", { class: "track" }, ...marks), el("span", {}));
}

function row({ name, split, group }: Bar, max: number, shown: typeof PARTS): HTMLElement {
  const sum = total(split);
  const track = el("div", { class: "track" });
  if (sum !== null) {
    for (const { key, colour } of shown) {
      if (split[key] !== 0) track.append(el("span", { "data-part": key, style: `width: ${(100 * (split[key] ?? 0)) / max}%; --colour: ${colour}` }));
    }
  }
  const parts = shown.map(({ key, name }) => `${name} ${figure(split[key])} ms`).join(", ");
  return el(
    "div",
    { class: group ? "bar group" : "bar", role: "listitem", title: sum === null ? "not measured" : `${name}: ${parts}` },
    el("span", { class: "name" }, name),
    track,
    el("span", { class: "number" }, sum === null ? ABSENT : fixed(1)(sum)),
  );
}
