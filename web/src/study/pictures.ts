/** The two pictures of a study: a metric against a parameter, and a metric against another. */

import { group } from "d3-array";
import { type Scatter, isWide, type Place, type Trace } from "./scatter.ts";
import { type Estimate, ends, isTie, said } from "./statistics.ts";
import { isLessBetter, type Point, quantity, type Study, titled } from "./study.ts";

/** Picture with its note. */
export interface Noted {
  scatter: Scatter;
  note: string;
}

/** Choices of the picture over a parameter: a metric, the parameter, and the line that others are differences from, empty for means. */
export interface Against {
  metric: number;
  x: string;
  base: string;
}

/** Lines of a picture over a parameter, by their names. */
export function linesOf(study: Study, points: Point[], x: string): { others: string[]; lines: Map<string, Point[]> } {
  const known = points.filter((point) => study.cell(point, x) !== null);
  const others = study.telling(known, x, study.varied(points).filter((name) => name !== x));
  return { others, lines: group(known, (point) => study.label(point, others)) };
}

const placed = (of: Estimate): Place["y"] => [ends(of)[0], of.mean, ends(of)[1]];
const [MEANS, PAIRED] = [
  "Means over seeds; bars are 95 % confidence intervals. All points share their seeds, so that a difference is surer than two bars say: choose differences.",
  "Differences are paired by seed; bars are their 95 % confidence intervals. A hollow mark is a tie: its interval contains 0.",
];

/** Picture of a metric over a parameter, a line for each combination of the others. */
export function against(study: Study, points: Point[], { metric: index, x, base }: Against): Noted {
  const metric = study.data.metrics[index];
  if (!metric) throw new RangeError(`no metric ${index}`);
  const { others, lines } = linesOf(study, points, x);
  const style = study.styles(points, others);
  const isDifference = base !== "";
  const baseline = new Map((lines.get(base) ?? []).map((point) => [study.cell(point, x), point]));
  const names = study.values(points, x);
  const numbers = names.map(quantity);
  const isNumeric = numbers.every((value) => value !== null);
  const at = (point: Point): number => (isNumeric ? (quantity(study.cell(point, x) ?? "") ?? 0) : names.indexOf(study.cell(point, x) ?? ""));
  const estimateOf = (point: Point): Estimate | null => {
    const other = baseline.get(study.cell(point, x));
    return isDifference ? other ? study.difference(point, other, index) : null : study.estimate(point, index);
  };
  const traces = [...lines].map(([name, members]): Trace & { name: string } => ({
    name,
    style: style.of(members[0] as Point),
    places: members.flatMap((point) => {
      const of = estimateOf(point);
      if (of === null) return [];
      const isHollow = isDifference && isTie(of);
      return [{ x: [at(point), at(point), at(point)], y: placed(of), isHollow, title: `${name} at ${study.cell(point, x)}: ${said(of)}${isHollow ? ", a tie" : ""}` }];
    }),
  }));
  const { search } = study.data;
  const isSought = search?.key === x && search.metric === metric.name && !isDifference;
  const logX = isNumeric && isWide(numbers);
  const label = `${isDifference ? "difference of " : ""}${titled(metric)}`;
  const named = names.map((name, place): [number, string] => [isNumeric ? (numbers[place] ?? 0) : place, name]);
  const scatter: Scatter = {
    id: "against",
    title: isDifference ? `Difference from ${base}: ${titled(metric)}` : `${titled(metric)}, against ${x}`,
    xLabel: x + (logX ? ", logarithmic" : ""),
    yLabel: label,
    logX,
    named,
    traces,
    isJoined: isNumeric,
    apart: Math.min(6, 40 / Math.max(1, traces.length)),
    front: [],
    levels: isSought ? [{ label: search.condition, value: search.bound }] : isDifference ? [{ label: "", value: 0 }] : [],
    legend: traces.map(({ name, style }) => ({ name: name || "all points", ...style })),
    cells: () => [
      [...others, x, label, "half-width of its 95 % confidence interval"],
      ...[...lines.values()].flat().map((point) => {
        const of = estimateOf(point);
        return [...[...others, x].map((name) => study.cell(point, name) ?? ""), of?.mean ?? "", of?.half ?? ""];
      }),
    ],
  };
  return { scatter, note: style.said + (isDifference ? PAIRED : MEANS) };
}

/** Choices of the trade-off: the metric across, the one upwards, and a group of flows, empty where these are not apart. */
export interface TradeOff {
  x: number;
  y: number;
  flow: string;
}

/** Picture of two metrics against each other, whose filled marks are those that no other beats. */
export function tradeOff(study: Study, points: Point[], { x, y, flow }: TradeOff): Noted {
  const [across, up] = [study.data.metrics[x], study.data.metrics[y]];
  if (!across || !up) throw new RangeError(`no metrics ${x} and ${y}`);
  const by = study.telling(points, "flow", study.varied(points).filter((name) => name !== "flow"));
  const style = study.styles(points, by);
  const found = points.filter((point) => flow === "" || point.flow === flow).flatMap((point) => {
    const [ofX, ofY] = [study.estimate(point, x), study.estimate(point, y)];
    return ofX && ofY ? [{ point, ofX, ofY }] : [];
  });
  const gain = (metric: typeof up, a: number, b: number): number => (isLessBetter(metric) ? b - a : a - b);
  const isBeaten = (one: (typeof found)[number]): boolean =>
    found.some((other) => {
      const gains = [gain(across, other.ofX.mean, one.ofX.mean), gain(up, other.ofY.mean, one.ofY.mean)];
      return gains.every((of) => of >= 0) && gains.some((of) => of > 0);
    });
  const traces = found.map(
    (one): Trace & { point: Point } => ({
      point: one.point,
      style: style.of(one.point),
      places: [{ x: placed(one.ofX), y: placed(one.ofY), isHollow: isBeaten(one), title: `${study.label(one.point, study.data.columns)}: ${said(one.ofX)} and ${said(one.ofY)}` }],
    }),
  );
  const logX = isWide(found.flatMap(({ ofX }) => ends(ofX)));
  const { colour, others } = style;
  // If names are equal the last one counts.
  const colours = new Map(traces.map(({ point, style: of }) => [colour === undefined ? "all points" : (study.cell(point, colour) ?? "–"), { colour: of.colour, shape: others.length === 0 ? of.shape : 0 }]));
  const shapes = new Map(others.length === 0 ? [] : traces.map(({ point, style: of }) => [study.label(point, others), { colour: null, shape: of.shape }]));
  const better = (metric: typeof up): string => `${isLessBetter(metric) ? "less" : "more"} ${metric.name}`;
  const scatter: Scatter = {
    id: "front",
    title: `${titled(up)}, against ${titled(across)}`,
    xLabel: titled(across) + (logX ? ", logarithmic" : ""),
    yLabel: titled(up),
    logX,
    traces,
    isJoined: false,
    apart: 0,
    front: traces.flatMap(({ places }) => places).filter(({ isHollow }) => !isHollow).sort((a, b) => a.x[1] - b.x[1]),
    levels: [],
    legend: [...colours, ...(shapes.size > 1 ? shapes : [])].map(([name, of]) => ({ name, ...of })),
    cells: () => [
      [...study.columns, titled(across), "half-width of its 95 % confidence interval", titled(up), "half-width of its 95 % confidence interval", "on the front"],
      ...found.map((one) => [...study.columns.map((name) => study.cell(one.point, name) ?? ""), one.ofX.mean, one.ofX.half ?? "", one.ofY.mean, one.ofY.half ?? "", isBeaten(one) ? "no" : "yes"]),
    ],
  };
  const note = `Filled marks are the front: no other point has both ${better(across)} and ${better(up)} in the mean. Bars are 95 % confidence intervals.`;
  return { scatter, note: style.said.replace(", marker and dash", ", marker") + note };
}
