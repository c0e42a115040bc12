/** One plot: bands per group, lines for what is picked, the cursor's values beside the title. */

import uPlot from "uplot";
import { anyMeasured, type Band, band, nearest } from "./bands.ts";
import type { Measured, Rows } from "./read.ts";
import { el, swatch } from "./dom.ts";
import type { Ensemble } from "./ensemble.ts";
import { figure, logSplits, logTick, plain } from "./format.ts";
import type { Stack } from "./stack.ts";
import { DASHES, palette, translucent } from "./theme.ts";

export interface PanelOptions {
  title: string;
  /** Quantity and unit, along the vertical axis. */
  yLabel: string;
  xLabel: string;
  /** Rising; the same for every row. */
  x: number[];
  rows: Rows;
  logX?: boolean;
  /** Logarithmic from this value up to 1, for the share of a tail. */
  logYFrom?: number;
  /** A delay: its axis may be switched between linear and logarithmic. */
  delay?: boolean;
  /** The top of a linear vertical axis that has a natural one. */
  top?: number;
  /** The part before this is outside the statistics, and shaded. */
  warmup?: number;
  /** Events of the run: dashed lines. */
  events?: number[];
  /** Spans of the horizontal axis in which something befell an entity: shaded in its colour. */
  spans?: { entity: number; from: number; to: number }[];
  /** Formats the cursor's position, e.g. "3.20 s". */
  place: (x: number) => string;
  /** Formats a value; as a figure of three digits unless said. */
  show?: (value: Measured) => string;
  height?: number;
}

const POINTER_REACH = 24;

export class Panel {
  readonly root: HTMLElement;
  private readonly options: PanelOptions;
  private readonly ensemble: Ensemble;
  private readonly stack: Stack;
  private readonly host = el("div", { class: "plot", tabindex: 0, role: "img" });
  private readonly readout = el("p", { class: "readout" });
  private plot: uPlot | null = null;
  private bands: Band[] = [];
  private quiet = false;
  private logDelay = false;

  constructor(options: PanelOptions, ensemble: Ensemble, stack: Stack) {
    this.options = options;
    this.ensemble = ensemble;
    this.stack = stack;
    this.root = el("figure", { class: "panel" }, el("figcaption", {}, el("h3", {}, options.title), this.readout));
    this.host.setAttribute("aria-label", `${options.title}, ${options.yLabel}, over ${options.xLabel}. Arrow keys move the cursor, plus and minus zoom.`);
    if (options.x.length === 0 || !anyMeasured(options.rows)) {
      this.root.append(el("p", { class: "absent" }, "Not measured in this run."));
      return;
    }
    this.root.append(this.host);
    stack.add(this);
    ensemble.subscribe((picked) => (picked ? this.build() : this.redraw()));
    this.host.addEventListener("keydown", (event) => this.handleKey(event));
  }

  /** Draws anew: once the panel is on the page, and when its lines change. */
  build(): void {
    if (!this.host.isConnected) return;
    this.plot?.destroy();
    const { x, rows } = this.options;
    const groups = this.ensemble.groups;
    this.bands = groups.map((group) => band(rows, group.members, x.length));
    const series: uPlot.Series[] = [{}];
    const data: (number | null | undefined)[][] = [x];
    const fills: uPlot.Band[] = [];
    const add = (values: (number | null | undefined)[], options: uPlot.Series): void => {
      series.push({ points: { show: false }, ...options });
      data.push(values);
    };
    groups.forEach(({ colour }, index) => {
      const { min, p10, p90, max } = this.bands[index] as Band;
      const first = series.length;
      const fill = (opacity: number) => () => translucent(palette().series[colour] as string, opacity);
      // Without width, the outer ones are drawn only as the edges of their band, yet the axis makes room for them.
      for (const edge of [max, p90, p10, min]) add(edge, { width: 0 });
      if (groups.length === 1) fills.push({ series: [first, first + 3], fill: fill(0.1) });
      fills.push({ series: [first + 1, first + 2], fill: fill(groups.length === 1 ? 0.22 : 0.17) });
    });
    // After all bands, so that none of them is drawn over a line.
    const lines = [
      ...groups.map(({ colour }, index) => ({ colour, values: this.bands[index]?.median ?? [], dash: undefined })),
      ...this.ensemble.picked.map(({ entity, colour }) => ({ colour, values: rows[entity] ?? [], dash: DASHES[colour] })),
    ];
    for (const { colour, values, dash } of lines) {
      add(values, { width: 1.5, dash, stroke: () => palette().series[colour] as string });
    }
    this.plot = new uPlot(this.uplotOptions(series, fills), data as uPlot.AlignedData, this.host);
    this.plot.over.addEventListener("mousemove", () => this.pointAtNearest());
    this.plot.over.addEventListener("mouseleave", () => this.ensemble.setHovered(null));
    this.plot.over.addEventListener("click", () => this.pickPointedAt());
  }

  /** Delays of L4S and of classic flows differ by orders of magnitude: a logarithmic axis shows both. */
  setLogDelay(on: boolean): void {
    if (!this.options.delay) return;
    this.logDelay = on;
    this.build();
  }

  redraw(): void {
    if (!this.plot || !this.host.isConnected) return;
    this.plot.redraw(false, true);
    this.write(this.plot);
  }

  resize(width = this.room()): void {
    if (!this.plot) this.build();
    else if (width > 0 && width !== this.plot.width) this.plot.setSize({ width, height: this.plot.height });
  }

  showCursor(x: number | null): void {
    const plot = this.plot;
    if (!plot) return;
    this.quiet = true;
    plot.setCursor(x === null ? { left: -10, top: -10 } : { left: plot.valToPos(x, "x"), top: plot.cursor.top ?? -10 });
    this.quiet = false;
    this.write(plot);
  }

  showRange(): void {
    const [min, max] = this.range();
    this.plot?.setScale("x", { min, max });
  }

  private room(): number {
    return Math.floor(this.host.getBoundingClientRect().width);
  }

  private whole(): [number, number] {
    const { x, logX } = this.options;
    return [logX ? (x[0] ?? 1) : Math.min(0, x[0] ?? 0), x.at(-1) ?? 1];
  }

  private range(): [number, number] {
    return this.stack.range ?? this.whole();
  }

  /** Zooms so that the cursor, or the middle where there is none, stays in its place. */
  private zoomBy(factor: number, plot: uPlot): void {
    const { left = -1 } = plot.cursor;
    const width = plot.over.clientWidth;
    const centre = left < 0 ? width / 2 : left;
    const [least, most] = this.whole();
    const from = Math.max(least, plot.posToVal(centre - centre * factor, "x"));
    const to = Math.min(most, plot.posToVal(centre + (width - centre) * factor, "x"));
    const x = left < 0 ? null : plot.posToVal(left, "x");
    this.stack.zoom(from <= least && to >= most ? null : [from, to]);
    this.stack.point(x);
  }

  private yScale(): uPlot.Scale {
    const { logYFrom, top, rows } = this.options;
    if (logYFrom) return { distr: 3, range: () => [logYFrom, 1] };
    if (this.logDelay) {
      const least = rows.reduce((low, row) => row.reduce<number>((l, v) => (v !== null && v > 0 ? Math.min(l, v) : l), low), Infinity);
      // Empty queues would stretch the axis without end; a tenth of a millisecond is less than a slot.
      const from = Math.max(0.1, Number.isFinite(least) ? least : 0.1);
      return { distr: 3, range: (_, __, max) => [Math.min(from, (max || 1) / 10), (max || 1) * 1.1] };
    }
    return { range: (_, __, max) => [0, top ?? (max > 0 ? max * 1.05 : 1)] };
  }

  private uplotOptions(series: uPlot.Series[], bands: uPlot.Band[]): uPlot.Options {
    const { xLabel, yLabel, logX, logYFrom } = this.options;
    const font = "11px system-ui, sans-serif";
    const axis = { stroke: () => palette().muted, grid: { stroke: () => palette().grid, width: 1 }, ticks: { show: false }, font, labelFont: font };
    return {
      width: Math.max(this.room(), 200),
      height: this.options.height ?? 190,
      series,
      bands,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      scales: {
        x: { time: false, distr: logX ? 3 : 1, range: () => this.range() },
        y: this.yScale(),
      },
      axes: [
        { ...axis, label: xLabel, labelSize: 16, size: 22, gap: 3, ...(logX ? logarithmic : {}) },
        { ...axis, label: yLabel, labelSize: 18, size: 44, gap: 4, ...(logYFrom || this.logDelay ? logarithmic : { values: (_, splits) => splits.map(plain) }) },
      ],
      cursor: {
        y: false,
        points: { size: 5 },
        drag: { x: true, y: false, setScale: false },
        bind: { dblclick: () => () => (this.stack.zoom(null), null) },
      },
      hooks: {
        setCursor: [(plot) => this.passOn(plot)],
        setSelect: [(plot) => this.zoomToSelection(plot)],
        drawClear: [(plot) => (this.shadeWarmup(plot), this.shadeSpans(plot), this.markEvents(plot))],
        draw: [(plot) => this.drawHovered(plot)],
      },
    };
  }

  private passOn(plot: uPlot): void {
    if (this.quiet) return;
    const left = plot.cursor.left ?? -1;
    this.stack.point(left < 0 ? null : plot.posToVal(left, "x"));
  }

  private zoomToSelection(plot: uPlot): void {
    const { left, width } = plot.select;
    if (width > 4) this.stack.zoom([plot.posToVal(left, "x"), plot.posToVal(left + width, "x")]);
    plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
  }

  /** The entity under the pointer, where one is near enough. */
  private pointAtNearest(): void {
    const plot = this.plot;
    const index = plot?.cursor.idx;
    const top = plot?.cursor.top ?? -1;
    if (!plot || index == null || top < 0) return;
    const entity = nearest(this.options.rows, index, plot.posToVal(top, "y"));
    const value = entity === null ? null : this.options.rows[entity]?.[index];
    const near = value != null && Math.abs(plot.valToPos(value, "y") - top) <= POINTER_REACH;
    this.ensemble.setHovered(near ? entity : null);
  }

  private pickPointedAt(): void {
    const entity = this.ensemble.hovered;
    if (entity !== null && this.ensemble.many) this.ensemble.toggle(entity);
  }

  private handleKey(event: KeyboardEvent): void {
    const plot = this.plot;
    if (!plot) return;
    const step = { ArrowLeft: -1, ArrowRight: 1, PageUp: -10, PageDown: 10 }[event.key];
    const { x } = this.options;
    if (step !== undefined) {
      const from = plot.cursor.idx ?? (step > 0 ? -1 : x.length);
      this.stack.point(x[Math.max(0, Math.min(x.length - 1, from + step))] ?? null);
    } else if (event.key === "+" || event.key === "-") {
      this.zoomBy(event.key === "+" ? 0.5 : 2, plot);
    } else if (event.key === "Escape") {
      this.stack.point(null);
      this.stack.zoom(null);
    } else return;
    event.preventDefault();
  }

  /** The values at the cursor, in the order of the legend. */
  private write(plot: uPlot): void {
    const index = plot.cursor.idx;
    if (index == null || (plot.cursor.left ?? -1) < 0) {
      this.readout.replaceChildren();
      return;
    }
    const { rows, x, place, show = figure } = this.options;
    const { hovered, names } = this.ensemble;
    const at = (entity: number): string => show(rows[entity]?.[index] ?? null);
    this.readout.replaceChildren(
      el("span", { class: "place" }, place(x[index] ?? 0)),
      ...this.ensemble.groups.map(({ colour }, group) => el("span", {}, swatch(colour), show(this.bands[group]?.median[index] ?? null))),
      ...this.ensemble.picked.map(({ entity, colour }) => el("span", {}, swatch(colour), at(entity))),
      ...(hovered === null ? [] : [el("strong", {}, `${names[hovered]} ${at(hovered)}`)]),
    );
  }

  private shadeWarmup(plot: uPlot): void {
    const { warmup } = this.options;
    if (!warmup) return;
    const { left, top, width, height } = plot.bbox;
    const end = Math.min(plot.valToPos(warmup, "x", true), left + width);
    if (end <= left) return;
    plot.ctx.fillStyle = palette().raised;
    plot.ctx.fillRect(left, top, end - left, height);
  }

  /** Those of an entity without a line are shaded in the colour of the axes. */
  private shadeSpans(plot: uPlot): void {
    const { left, top, width, height } = plot.bbox;
    for (const { entity, from, to } of this.options.spans ?? []) {
      const [start, end] = [from, to].map((x) => Math.min(Math.max(plot.valToPos(x, "x", true), left), left + width)) as [number, number];
      const line = this.ensemble.colourOf(entity);
      plot.ctx.fillStyle = translucent((line === null ? palette().muted : palette().series[line]) as string, 0.25);
      // A freeze of a second in a run of an hour is to be seen as well.
      if (end > start) plot.ctx.fillRect(start, top, Math.max(end - start, uPlot.pxRatio), height);
    }
  }

  private markEvents(plot: uPlot): void {
    const { ctx, bbox } = plot;
    const [from, to] = this.range();
    ctx.save();
    ctx.strokeStyle = palette().muted;
    ctx.lineWidth = uPlot.pxRatio;
    ctx.setLineDash([4 * uPlot.pxRatio, 3 * uPlot.pxRatio]);
    for (const at of (this.options.events ?? []).filter((at) => at >= from && at <= to)) {
      const x = plot.valToPos(at, "x", true);
      ctx.beginPath();
      ctx.moveTo(x, bbox.top);
      ctx.lineTo(x, bbox.top + bbox.height);
      ctx.stroke();
    }
    ctx.restore();
  }

  /** Draws what is pointed at, over all else and in the colour of text. */
  private drawHovered(plot: uPlot): void {
    const { hovered } = this.ensemble;
    if (hovered === null) return;
    const { ctx, bbox } = plot;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.beginPath();
    let drawing = false;
    this.options.rows[hovered]?.forEach((value, index) => {
      if (value !== null) {
        const point = [plot.valToPos(this.options.x[index] ?? 0, "x", true), plot.valToPos(value, "y", true)] as const;
        if (drawing) ctx.lineTo(...point);
        else ctx.moveTo(...point);
      }
      drawing = value !== null;
    });
    ctx.strokeStyle = palette().text;
    ctx.lineWidth = 2 * uPlot.pxRatio;
    ctx.stroke();
    ctx.restore();
  }
}

const logarithmic: uPlot.Axis = {
  filter: (_, splits) => splits,
  splits: (_, __, min, max) => logSplits(min, max),
  values: (_, splits) => {
    const decades = Math.log10((splits.at(-1) ?? 10) / (splits[0] ?? 1));
    return splits.map((split) => logTick(split, decades));
  },
};
